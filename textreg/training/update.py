"""New documents on top of those that a model was trained on."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, DataWarning, ModelError, UsageError
from textreg.model.origin import UpdateSummary
from textreg.records import Corpus
from textreg.records.columns import as_column
from textreg.training.laplace import approximate, initial_weights
from textreg.training.recipe import settings_of
from textreg.training.splits import HOLDOUT
from textreg.training.train import train_corpus

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.model.summary import TrainingSummary
    from textreg.records import Documents, Floats
    from textreg.training.prepare import Prepared
    from textreg.training.running import Progress
    from textreg.training.settings import TrainingSettings
    from textreg.training.trials import Start


_AS_GIVEN = ("multiclass", "min_label", "rare_label", "metric", "prune", "seed", "max_iter")
"""Options that say more than the summary, where the first documents made no use of them."""


class Added(NamedTuple):
    """What is noted of an update.

    date: the day. files: of the new documents; none in Python.
    """

    date: str
    files: tuple[str, ...] = ()


def update(  # noqa: PLR0913  # its options are its interface
    model: Model,
    texts: Documents,
    labels: Sequence[Any],
    *,
    old: Corpus | tuple[Documents, Sequence[Any]] | None = None,
    sample_weight: Floats | Sequence[float] | None = None,
    unlabeled: Corpus | Documents | None = None,
    jobs: int = 1,
    date: str | None = None,
) -> Model:
    """A model of the documents that a model was trained on, and of new ones.

    With ``old`` it is the model of a training on all of them with the settings and strengths of
    ``model``, up to the tolerance, and is found in less time: nothing is searched, and the fit
    starts from the weights of ``model`` where that is quicker than from zero. Features and
    labels that only the new documents have are added. Without ``old`` it is approximate: see
    :mod:`textreg.updating.approximate`.

    Parameters
    ----------
    model : Model
        A trained model. It stays as it is.
    texts : sequence of str
        The new documents, as :func:`textreg.train` takes them.
    labels : sequence of str, or of lists of str
        Their labels, some of which may be new.
    old : Corpus or (texts, labels), optional
        The documents that the model was trained on, with those of ``dev``.
    sample_weight : array-like of shape (n,), optional
        Weights of the new documents; default 1.
    unlabeled : Corpus or sequence of str, optional
        Unlabeled documents, where the model was trained with some.
    jobs : int, default 1
        Number of threads, -1 for one per core. The model is the same with any.
    date : str, optional
        The day to note in the summary, as an ISO date; default today (UTC).

    Returns
    -------
    Model
        Its ``summary.updates`` tells what was added when.

    Raises
    ------
    ModelError
        If the model does not hold its settings.
    DataError
        If the labels are of another task, or no model can be learned from the documents.
    UsageError
        If the date is none; without ``old`` if there are new labels, or the settings of the model
        need the old documents.

    Warns
    -----
    DataWarning
        If there are fewer old documents than the model was trained on.
    ConvergenceWarning
        If the fit misses its tolerance.

    Examples
    --------
    >>> from textreg import train, update
    >>> old = ["good", "bad", "very good", "so bad"], ["pos", "neg", "pos", "neg"]
    >>> model = train(*old, reg="ridge", reg_l2=1.0)
    >>> newer = update(model, ["fine", "good", "dull"], ["pos", "pos", "neg"], old=old)
    >>> newer.predict(["fine"]), newer.summary.updates[0].documents
    (['pos'], 3)
    """
    documents = model.encoder.documents
    if old is not None and not isinstance(old, Corpus):
        old = Corpus(texts=documents(old[0]), labels=as_column(old[1], "labels"))
    if unlabeled is not None and not isinstance(unlabeled, Corpus):
        unlabeled = Corpus(texts=documents(unlabeled))
    new = Corpus(
        texts=documents(texts),
        labels=as_column(labels, "labels"),
        sample_weight=sample_weight,  # type: ignore[arg-type]  # any array-like
    )
    added = Added(as_date(date))
    return update_corpus(model, new, old, added, jobs=jobs, unlabeled=unlabeled)


def update_corpus(  # noqa: PLR0913  # its options are its interface
    model: Model,
    new: Corpus,
    old: Corpus | None,
    added: Added,
    *,
    jobs: int = 1,
    unlabeled: Corpus | None = None,
    progress: Progress | None = None,
) -> Model:
    """A model of the old and the new documents: see :func:`update`."""
    before = summary_of(model)
    _check(model, new, "the new documents")
    if old is None:
        newer = approximate(model, new, settings_to_update(model, jobs=jobs), progress)
        return _noted(newer, model, added, len(new), None)
    _check(model, old, "the old documents")
    if len(old) < before.documents:
        warnings.warn(
            f"the old documents are {len(old):,}, and the model was fitted on "
            f"{before.documents:,}: what is left out is forgotten.",
            DataWarning,
            stacklevel=3,
        )
    settings = settings_to_update(model, jobs=jobs, unlabeled=unlabeled)

    def initial(data: Prepared) -> list[Start]:
        return initial_weights(model, data.encoder, data.task)

    # The optimum is the same from anywhere, so the start is worth its place only if it is quicker.
    from_start = settings.reg.gains_from_start(settings.loss, softmax=model.task.joint)
    newer = train_corpus(
        joined(old, new, held_out=holds_out(model)),
        settings,
        progress,
        partial=False,
        initial=initial if from_start else None,
    )
    return _noted(newer, model, added, len(new), len(old))


def _noted(newer: Model, model: Model, added: Added, new: int, old: int | None) -> Model:
    """The newer model with what was added; ``new`` and ``old`` are numbers of documents."""
    before, after = summary_of(model), summary_of(newer)
    noted = UpdateSummary(
        date=added.date,
        documents=new,
        old=old,
        labels=tuple(sorted({*newer.labels} - {*model.labels})),
        features=before.features,
        added=after.features - before.features,
        files=added.files,
    )
    # Earlier updates stay on record.
    newer.summary = replace(after, updates=(*before.updates, noted))
    return newer


def settings_to_update(
    model: Model, *, jobs: int = 1, unlabeled: Corpus | None = None
) -> TrainingSettings:
    """The settings of a model with what its search chose, so that nothing is left to search.

    Where it has thresholds or a calibration, documents are held out for these as in a training.
    Raises ModelError for settings that the model does not hold.
    """
    summary = summary_of(model)
    source = summary.source
    if source is not None and source.unlabeled and unlabeled is None:
        raise UsageError(
            "the model was trained with unlabeled documents as well, which its graph needs: give "
            f"them again (--unlabeled {source.unlabeled[0]})."
        )
    settings = settings_of(model, unlabeled)
    # Only rules that a user gave: that of the task comes by itself.
    rules = {
        label: chosen.rule
        for label, chosen in summary.thresholds.items()
        if chosen.rule != model.task.threshold_rule
    }
    calibration, tuned = model.calibration, holds_out(model)
    options = {key: summary.options[key] for key in _AS_GIVEN if key in summary.options}
    # Nothing is searched any more: documents are held out for thresholds and calibration alone.
    split: dict[str, Any] = {"cv": settings.cv if tuned else None}
    if tuned and settings.cv is None:
        split["holdout"] = summary.options.get("holdout", HOLDOUT)
    return settings.replace(
        calibrate=None if calibration is None else calibration.method,
        threshold=rules or None,
        jobs=jobs,
        **{"metric": None, **options, **split},
    )


def holds_out(model: Model) -> bool:
    """Whether an update holds out documents, to choose thresholds or to calibrate anew."""
    return bool(model.thresholds) or model.calibration is not None


def summary_of(model: Model) -> TrainingSummary:
    """The summary of a model; ModelError if it has none."""
    if model.summary is None:
        raise ModelError(
            "the model does not hold the settings of its training, so it cannot be updated: train "
            "one with textreg train."
        )
    return model.summary


def _check(model: Model, corpus: Corpus, what: str) -> None:
    """DataError for documents of another task."""
    if not len(corpus):
        raise DataError(f"{what} are missing: give some.")
    if corpus.labels is None:
        raise DataError(f"{what} have no labels: give a label for each.")
    if corpus.multilabel != model.task.multilabel:
        have, take = "one label each", "lists of labels"
        if corpus.multilabel:
            have, take = take, have
        raise DataError(
            f"{what} have {have}, and those of the model have {take}: give such documents, or "
            "train another model."
        )


def as_date(date: str | None) -> str:
    """An ISO date; today's if there is none. UsageError for anything else."""
    if date is None:
        return datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise UsageError(f"'{date}' is not a date: write it as 2026-01-31.") from None


def joined(old: Corpus, new: Corpus, *, held_out: bool) -> Corpus:
    """The old documents, and then the new ones.

    held_out: whether some are to be held out, for which groups and times are kept; both corpora
    must have them then, or none: DataError.
    """
    # One encoder cannot read both.
    if old.tokenized != new.tokenized:
        raise DataError(
            "the old documents and the new ones must all be texts, or all be lists of tokens."
        )
    weights = None
    if old.sample_weight is not None or new.sample_weight is not None:
        # Documents without a weight have the weight 1.
        weights = np.concatenate([_weights(old), _weights(new)])
    return Corpus(
        texts=[*old.texts, *new.texts],
        labels=[*(old.labels or ()), *(new.labels or ())],
        sample_weight=weights,
        group_of=_both("groups", old.group_of, new.group_of) if held_out else None,
        time_of=_both("times", old.time_of, new.time_of) if held_out else None,
        sources=[*old.sources, *new.sources],
        **_places(old, new),
    )


def _weights(corpus: Corpus) -> Floats:
    return np.ones(len(corpus)) if corpus.sample_weight is None else corpus.sample_weight


def _both(what: str, old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any] | None:
    """What each document has, if all have it."""
    if (old is None) != (new is None):
        there, missing = ("new", "old") if old is None else ("old", "new")
        raise DataError(
            f"the {there} documents have {what} and the {missing} ones have none: give them to "
            "all, or to none."
        )
    return None if old is None or new is None else [*old, *new]


def _places(old: Corpus, new: Corpus) -> dict[str, Any]:
    """The file and the line of each document, where all are of files."""
    if old.source_of is None or new.source_of is None:
        return {}
    places: dict[str, Any] = {
        # Sources are numbered on: those of the new documents come after the old ones.
        "source_of": np.concatenate([old.source_of, new.source_of + len(old.sources)])
    }
    if old.line_of is not None and new.line_of is not None:
        places["line_of"] = np.concatenate([old.line_of, new.line_of])
    return places
