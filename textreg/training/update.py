"""New documents on top of those that a model was trained on.

**With the old documents** the model is that of a training on all of them, with what was chosen for
the first one.

**Without them** the weights of the model stand for them:

    min  sum_new c_i l(y_i, z_i) + sum_old 1/2 (d_j + 2 l2) (w_j - v_j)^2
         + sum_others l1 |w_j| + l2 w_j^2

The loss of the old documents and the penalty are replaced by their second-order model at the
weights v of the features that have one, with a diagonal Hessian: Laplace's approximation. Its
linear part is zero, as v is the optimum. All other features are penalized by the strengths of the
model.

Nothing is kept for it beside the model: the idf of a feature tells how many of the old documents
have it, and an occurrence is taken to have the mean curvature that one in the new documents has.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg import errors, kinds, penalties
from textreg._core import text_counts
from textreg._core.threads import allowing
from textreg.features.encoder import AnyEncoder, Encoder, JoinedEncoder
from textreg.model import summary as records
from textreg.model.model import Model, as_model
from textreg.plugins import calls
from textreg.records import Corpus, Documents, Floats, Int64s, Problem, Solution
from textreg.records.text import as_corpus, find_names
from textreg.solvers.newton import newton
from textreg.tasks.base import parted
from textreg.training import fit as fitting
from textreg.training import prepare, recipe, running, train, trials
from textreg.training.recipe import summary_of
from textreg.training.splits import HOLDOUT

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.tasks import Task
    from textreg.tasks.base import Targets
    from textreg.training.settings import TrainingSettings


# The least mean curvature of an occurrence, where the loss has none.
LEAST = 1e-9


def approximate(
    model: Model, new: Corpus, settings: TrainingSettings, progress: running.Progress | None = None
) -> Model:
    """The model with new documents, without the old ones; its calibration and thresholds stay.

    What was measured on documents held out is not in its summary, as it tells of ``model``.

    Raises UsageError for what needs the old documents: new labels, a softmax, class weights,
    weightings without idf, documents of several fields, and regularizers without strengths for
    single features. Warns with a ConvergenceWarning where the fit misses its tolerance.
    """
    task, summary = model.task, summary_of(model)
    if task.joint:
        raise errors.UsageError(
            "a softmax cannot be updated without the old documents: give them (--old)."
        )
    if settings.class_weight is not None:
        raise errors.UsageError(
            "class weights follow the labels of all documents, so a model that has some cannot be "
            "updated without the old documents: give them (--old)."
        )
    new = _of_labels(new, model)
    # The old documents stand in the objective as sum_j 1/2 (d_j + 2 l2) (w_j - v_j)^2.
    l1, l2 = strengths_of(settings.reg)
    y = task.targets(new)
    work, clock = running.Work(settings.jobs, progress, partial=False), running.Clock()
    work.report("features", 0, len(new))
    with allowing(work.threads):
        widened = widen(model.encoder, new.texts, summary.documents)
    work.report("features", len(new), len(new))
    clock.stop("features")
    problem = Problem(
        X=widened.X,
        y=task.row(y, 0),
        sample_weight=prepare.own_weights(new),
        loss=calls.guarded(settings.loss),
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    problems = trials.Problems(problem, task, y)
    # The shift for new texts is not of the fit.
    shift = 0.0 if summary.shift is None else np.array(summary.shift.values)
    intercepts = model.intercepts - shift
    p = widened.X.shape[1]
    v = np.zeros((task.n_rows, p))
    # idf has changed: x_ij w_j stays what it was if w_j is scaled the other way.
    v[:, widened.columns] = model.weights * widened.scale

    def fit_row(row: int) -> Solution:
        start = v[row], float(intercepts[row])
        solution = fit(problems.of(row), widened, start, summary.documents, (l1, l2))
        run.advance()
        return solution

    run = work.run("fit", task.n_rows)
    solutions: list[Solution] = run.map(fit_row, [(row,) for row in range(task.n_rows)])
    w = np.array([solution.w for solution in solutions])
    fitted = fitting.join(solutions, w)
    # As after a training: l2 leaves no weight at zero.
    if settings.prune and np.count_nonzero(w) > fitting.LEAST:
        fitting.leave_out(w, widened.squares(), settings.prune)
    newer = replace(
        _unmeasured(summary),
        labels=_described(summary, task, y),
        documents=summary.documents + len(new),
        features=summary.features + int(np.count_nonzero(widened.before == 0.0)),
        nonzero=int(np.count_nonzero(w.any(axis=0))),
        objective=fitted.objective,
        gap=None if np.isnan(fitted.gap) else fitted.gap,
        converged=fitted.converged,
        iterations=fitted.iterations,
    )
    result = Model(
        task,
        widened.encoder,
        w,
        fitted.b + shift,
        newer,
        calibration=model.calibration,
        thresholds=model.thresholds,
    )
    clock.stop("fit")
    result.seconds = {"search": 0.0, **clock.seconds}
    if not newer.converged:
        reached = "no bound" if newer.gap is None else f"a relative gap of {newer.gap:.1e}"
        warnings.warn(
            f"the update stopped before its tolerance: {reached}, where {settings.tol:g} was asked "
            f"for, after {newer.iterations:,} iterations.",
            errors.ConvergenceWarning,
            stacklevel=4,
        )
    return result


def _unmeasured(summary: records.TrainingSummary) -> records.TrainingSummary:
    """The same without what was measured of the model before, and what its fit alone tells."""
    unknown = summary.unknown
    if unknown is not None:
        unknown = unknown._replace(documents=0, coverage=None, risk=None, recall=None)
    thresholds = {
        label: chosen._replace(precision=None, recall=None)
        for label, chosen in summary.thresholds.items()
    }
    # Fields with a default say what only some trainings have.
    stays = ("source", "updates", "shift", "ruled_out", "ruled_out_by", "ruled_out_on")
    usual = {it.name: it.default for it in fields(summary) if it.default is not MISSING}
    forgotten = {name: default for name, default in usual.items() if name not in stays}
    return replace(
        summary, dev=None, search=(), unknown=unknown, thresholds=thresholds, **forgotten
    )


def _of_labels(new: Corpus, model: Model) -> Corpus:
    """The documents that have labels of the model; UsageError for a new label.

    Those of the unknown label are left out, as they are never fitted.
    """
    task = model.task
    if task.unknown is not None:
        new, _ = parted(new, task.outside(task.targets(new)))
    if task.labels and task.rare_label is None:
        unseen = sorted({*new.label_names()} - {*task.labels})
        if unseen:
            raise errors.UsageError(
                f"the model has no label '{unseen[0]}', and a new one needs the old documents, "
                "which do not have it: give them (--old)."
            )
    return new


def _described(summary: records.TrainingSummary, task: Task, y: Targets) -> dict[str, float]:
    """What is told of the labels of all documents."""
    old, new = summary.labels, task.describe(y)
    if task.discrete:
        return {key: old.get(key, 0) + new.get(key, 0) for key in {**old, **new}}
    # Mean and variance of the union: E[y], and E[y^2] - E[y]^2.
    sizes = np.array([summary.documents, len(y)]) / (summary.documents + len(y))
    means, deviations = np.array([[it["mean"], it["standard_deviation"]] for it in (old, new)]).T
    mean = float(sizes @ means)
    deviation = float(np.sqrt(max(sizes @ (deviations**2 + means**2) - mean**2, 0.0)))
    return {"mean": mean, "standard_deviation": deviation}


def anchors(loss: kinds.Loss, b: float, db: float) -> tuple[Floats, Floats]:
    """Empty documents whose loss has its minimum at the intercept b, and there the curvature db.

    Returns their ``y`` and their weights.
    """
    y = np.array([-1.0, 1.0] if loss.binary else [b])
    slopes, curvatures = np.empty(len(y)), np.empty(len(y))
    loss.derivatives(np.full(len(y), b), y, np.ones(len(y)), slopes, curvatures)
    # One of a regression, at y = b, where the loss of one document is least.
    if not loss.binary:
        return y, db / curvatures
    # Two opposite labels whose slopes cancel at b: c_- l'(-1, b) + c_+ l'(1, b) = 0.
    # A loss that is flat on one side (hinge) has no such pair.
    if not (slopes[0] > 0.0 > slopes[1]):
        return y[:0], y[:0]
    shares = np.array([-slopes[1], slopes[0]])
    curvature = float(shares @ curvatures)
    return y, shares * (db / curvature if curvature > 0.0 else 0.0)


def strengths_of(reg: kinds.Regularizer) -> tuple[float, float]:
    """l1 and l2 for new features. The norm of a group of one feature is an absolute value.

    UsageError for regularizers without strengths of this kind.
    """
    params = reg.params() if "l1" in reg.declared() or isinstance(reg, kinds.Penalized) else {}
    l1, l2 = (float(params.get(key, 0.0) or 0.0) for key in ("l1", "l2"))
    if l1 == 0.0 and l2 == 0.0:
        l1 = float(params.get("group", 0.0) or 0.0)
    if (l1 == 0.0 and l2 == 0.0) or params.get("weights", "none") != "none":
        raise errors.UsageError(
            f"{reg.label()} has no penalty that is the same for all single features, so a model of "
            "it cannot be updated without the old documents: give them (--old)."
        )
    return l1, l2


def fit(
    of: Problem,
    widened: Widened,
    start: tuple[Floats, float],
    old: int,
    strengths: tuple[float, float],
) -> Solution:
    """The weights of one weight vector.

    start: the weights of the model over all features, v, and its intercept. old: number of the old
    documents, whose loss has the mean curvature of the new ones': a feature in n_j of them has
    there the curvature n_j times that of an occurrence in the new ones, by the mean over all
    features of its tokenizer, but for idf. strengths: l1 and l2.
    """
    from scipy.sparse import csr_array

    (v, b), (l1, l2), n, X = start, strengths, len(of.y), of.X
    r, h = np.empty(n), np.empty(n)
    # h_i = c_i l''(y_i, x_i v + b)
    of.loss.derivatives(X @ v + b, of.y, of.sample_weight, r, h)
    # d_j = n_j mean(h_i x_ij^2): as many occurrences as idf tells, each of mean curvature.
    d = widened.before * np.maximum(widened.mean_squares(h), LEAST)
    # 1/2 q_j (w_j - v_j)^2 + lam_j |w_j|: weights that the model has are held by the quadratic,
    # l1 is for the others alone.
    penalty = penalties.Separable(q=d + 2.0 * l2, mu=v, lam=np.where(v != 0.0, 0.0, l1))
    y, c = anchors(of.loss, b, max(float(h.mean()), LEAST) * old)
    # Empty rows at the end of X.
    indptr = np.concatenate([X.indptr, np.full(len(y), X.indptr[-1])])
    problem = of.replace(
        X=csr_array((X.data, X.indices, indptr), shape=(n + len(y), X.shape[1])),
        y=np.concatenate([of.y, y]),
        sample_weight=np.concatenate([of.sample_weight, c]),
        start=start,
    )
    return newton(problem, penalty)


class Widened(NamedTuple):
    """The features of a model with those of new documents.

    Attributes
    ----------
    encoder : Encoder or JoinedEncoder
    X : csr_array of shape (n, p)
        The new documents.
    columns : ndarray of int64
        Where the features of the model are, by their order there.
    scale : ndarray of float64
        By what their weights are multiplied, as idf changes.
    before : ndarray of float64, shape (p,)
        The number of old documents with each feature, zero for those that the model does not have.
    """

    encoder: AnyEncoder
    X: csr_array
    columns: Int64s
    scale: Floats
    before: Floats

    def mean_squares(self, c: Floats) -> Floats:
        """(p,) the mean of c_i x_ij^2 over the occurrences of features, but for idf.

        It is that of all features of a tokenizer in the new documents which the model has; c: (n,).
        """
        X, means = self.X, np.zeros(self.X.shape[1])
        idf = np.concatenate([part.idf for part in self.encoder.parts if part.idf is not None])
        # c_i (x_ij / idf_j)^2 of every occurrence
        values = (X.data / idf[X.indices]) ** 2 * np.repeat(c, np.diff(X.indptr))
        known = self.before[X.indices] > 0.0
        # The columns of each tokenizer follow those of the one before it.
        ends = np.cumsum([0, *(len(part.vocabulary) for part in self.encoder.parts)])
        for start, end in pairwise(ends.tolist()):
            inside = known & (X.indices >= start) & (X.indices < end)
            mean = values[inside].mean() if inside.any() else c.mean()
            means[start:end] = mean * idf[start:end] ** 2
        return means

    def squares(self) -> NDArray[np.float32]:
        """(p,) about the mean square of each feature in all documents, but for a factor."""
        n, p = self.X.shape
        counts = self.before + np.bincount(self.X.indices, minlength=p)
        return np.asarray(counts * self.mean_squares(np.ones(n)), dtype=np.float32)


def widen(model_encoder: AnyEncoder, texts: Documents, old: int) -> Widened:
    """The features of a model that was trained on ``old`` documents, and those of new ones.

    The idf of a feature is that of all documents: idf tells how many of the old ones have it.
    Raises UsageError where the model holds no such idf.
    """
    parts = model_encoder.parts
    if model_encoder.fields or any(part.idf is None for part in parts):
        raise errors.UsageError(
            "without the old documents a model can be updated only if its documents are single "
            "texts and its weighting is tfidf or unit-idf, which tell how frequent features are: "
            "give the old documents (--old)."
        )
    every = model_encoder.vectorizer.fit(model_encoder.tokenizer, texts).encoder.parts
    encoders, columns, scales, before, blocks = [], [], [], [], []
    start = 0
    for part, new in zip(parts, every, strict=True):
        assert part.idf is not None
        names, place = _joined(part, new)
        counts = np.zeros(len(names))
        # idf_j = 1 + log((1 + n) / (1 + n_j)), solved for n_j
        counts[place] = np.maximum((1.0 + old) / np.exp(part.idf - 1.0) - 1.0, 1.0)
        plain = part.with_names(names, np.ones(len(names)))
        rows = plain.rows(texts)
        new_counts = np.bincount(rows.indices, minlength=len(names))
        idf = 1.0 + np.log((1.0 + old + len(texts)) / (1.0 + counts + new_counts))
        rows.data[:] *= idf[rows.indices]
        if part.weighting.norm == "features":
            text_counts.normalize_rows(rows.data, rows.indptr)
        selected = slice(None) if part.columns is None else part.columns
        encoders.append(part.with_names(names, idf))
        columns.append(start + place[selected])
        scales.append((part.idf / idf[place])[selected])
        before.append(counts)
        blocks.append(rows.matrix(len(names)))
        start += len(names)
    from scipy.sparse import hstack

    X = hstack(blocks, format="csr")
    X.sort_indices()
    encoder = encoders[0] if len(encoders) == 1 else JoinedEncoder(encoders)
    place, counts = np.concatenate(columns), np.concatenate(before)
    return Widened(encoder, X, place, np.concatenate(scales), counts)


def _joined(old: Encoder, new: Encoder) -> tuple[Sequence[str], Int64s]:
    """The names of both, in order, and where those of the first are."""
    # Columns are sorted as a training sorts them: n-grams by their words.
    words = (lambda name: name.split(" ")) if old.tokenizer.forms_ngrams else None
    names = sorted({*old.vocabulary, *new.vocabulary}, key=words)
    return names, find_names(old.vocabulary, names)


def initial_weights(model: Model, encoder: AnyEncoder, task: Task) -> list[trials.Start]:
    """The weights of a model as solutions to start the weight vectors of a task from.

    Parameters
    ----------
    model : Model
    encoder : Encoder or JoinedEncoder
        Of the same tokenizers.
    task : Task
        Of the same kind; it may have other labels.

    Returns
    -------
    list of Start
        By the columns of the encoder: features of the model that it does not have are left out.
        Zero for labels that the model does not have.
    """
    # -1 for features that the other training does not have
    place = find_names(_full_names(model.encoder), _full_names(encoder))
    known = place >= 0
    order = np.argsort(place[known], kind="stable")
    sides = dict(zip(model.task.sides, range(len(model.task.sides)), strict=True))
    rows = model.task.side_rows(model.weights[:, known][:, order])
    intercepts = model.task.side_rows(model.intercepts[:, None])[:, 0]
    # Two labels share one weight vector, which speaks for the second.
    wanted = task.sides[-1:] if task.n_rows == 1 else task.sides
    columns, starts = place[known][order], []
    for side in wanted:
        w, b = np.zeros(0), 0.0
        if side in sides:
            w, b = rows[sides[side]], float(intercepts[sides[side]])
        used = np.flatnonzero(w)
        starts.append(trials.Start(columns[used].astype(np.int32), w[used].astype(np.float32), b))
    return starts


def _full_names(encoder: AnyEncoder) -> list[tuple[str, str, str]]:
    """Field, tokenizer and name of every feature, which several may have in common."""
    fields = ("" if part.field is None else part.field.name for part in encoder.parts)
    parts = zip(fields, encoder.parts, strict=True)
    return [(field, part.label, name) for field, part in parts for name in part.names]


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
    :func:`approximate`.

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
    documents = as_model(model).encoder.documents
    old = as_corpus(old, "old", documents)
    if unlabeled is not None and not isinstance(unlabeled, Corpus):
        unlabeled = Corpus(texts=documents(unlabeled))
    new = Corpus(
        texts=documents(texts),
        labels=labels,
        sample_weight=sample_weight,  # type: ignore[arg-type]  # any array-like
    )
    day = as_date(date)
    with running.notebook_bars() as progress:
        return update_corpus(
            model, new, old, day, jobs=jobs, unlabeled=unlabeled, progress=progress
        )


def update_corpus(  # noqa: PLR0913  # its options are its interface
    model: Model,
    new: Corpus,
    old: Corpus | None,
    date: str,
    files: tuple[str, ...] = (),
    *,
    jobs: int = 1,
    unlabeled: Corpus | None = None,
    progress: running.Progress | None = None,
) -> Model:
    """A model of the old and the new documents: see :func:`update`. files: of the new ones."""
    before = summary_of(model)
    _check(model, new, "the new documents")
    if old is None:
        if unlabeled is not None:
            raise errors.UsageError(
                "unlabeled documents are of use beside the old ones alone: give these (--old), or "
                "leave the unlabeled ones out, which the weights of the model have learned from."
            )
        newer = approximate(model, new, settings_to_update(model, jobs=jobs), progress)
    else:
        _check(model, old, "the old documents")
        if len(old) < before.documents:
            warnings.warn(
                f"the old documents are {len(old):,}, and the model was fitted on "
                f"{before.documents:,}: what is left out is forgotten.",
                errors.DataWarning,
                stacklevel=3,
            )
        named = () if before.source is None else before.source.unlabeled
        learned = before.vectors is not None and before.vectors.name == "unlabeled"
        if (named or learned) and unlabeled is None:
            raise errors.UsageError(
                "the model was trained with unlabeled documents as well, and learned from them: "
                f"give them again (--unlabeled {named[0] if named else 'FILE'})."
            )
        settings = settings_to_update(model, jobs=jobs, unlabeled=unlabeled)

        def initial(data: prepare.Prepared) -> list[trials.Start]:
            return initial_weights(model, data.encoder, data.task)

        corpus = joined(old, new, held_out=holds_out(model))
        newer = train.train_corpus(corpus, settings, progress, partial=False, initial=initial)
    after = summary_of(newer)
    noted = records.UpdateSummary(
        date=date,
        documents=len(new),
        old=None if old is None else len(old),
        labels=tuple(sorted({*newer.labels} - {*model.labels})),
        features=before.features,
        added=after.features - before.features,
        files=files,
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
    settings = recipe.settings_of(model, unlabeled)
    # Only rules that a user gave: that of the task comes by itself.
    rules = {
        label: chosen.rule
        for label, chosen in summary.thresholds.items()
        if chosen.rule != model.task.threshold_rule
    }
    calibration, tuned = model.calibration, holds_out(model)
    # Nothing is searched any more: documents are held out for thresholds and calibration alone, as
    # a training with these strengths does; it would hold out none for the rule of the task alone.
    usual = None if rules or calibration or summary.shift else HOLDOUT
    holdout = summary.options.get("holdout", usual) if tuned and settings.cv is None else None
    return settings.replace(
        cv=settings.cv if tuned else None,
        holdout=holdout,
        intercept="fitted" if summary.shift is None else "left-out",
        calibrate="none" if calibration is None else calibration.method,
        threshold=rules or None,
        jobs=jobs,
    )


def holds_out(model: Model) -> bool:
    """Whether an update holds out documents, to choose thresholds or to calibrate anew."""
    shifted = model.summary is not None and model.summary.shift is not None
    return shifted or bool(model.thresholds) or model.calibration is not None


def _check(model: Model, corpus: Corpus, what: str) -> None:
    """DataError for documents of another task."""
    if not len(corpus):
        raise errors.DataError(f"{what} are missing: give some.")
    if corpus.labels is None:
        raise errors.DataError(f"{what} have no labels: give a label for each.")
    if corpus.multilabel != model.task.multilabel:
        kinds = "one label each", "lists of labels"
        raise errors.DataError(
            f"{what} have {kinds[corpus.multilabel]}, and those of the model have "
            f"{kinds[model.task.multilabel]}: give such documents, or train another model."
        )


def as_date(date: str | None) -> str:
    """An ISO date; today's if there is none. UsageError for anything else."""
    if date is None:
        return datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except (TypeError, ValueError):
        raise errors.UsageError(f"'{date}' is not a date: write it as 2026-01-31.") from None


def joined(old: Corpus, new: Corpus, *, held_out: bool) -> Corpus:
    """The old documents, and then the new ones.

    held_out: whether some are to be held out, for which groups and times are kept; both corpora
    must have them then, or none: DataError.
    """
    # One encoder cannot read both.
    if old.tokenized != new.tokenized:
        raise errors.DataError(
            "the old documents and the new ones must all be texts, or all be lists of tokens."
        )
    weights = None
    if old.sample_weight is not None or new.sample_weight is not None:
        # Documents without a weight have the weight 1.
        own = [(it.sample_weight, np.ones(len(it))) for it in (old, new)]
        weights = np.concatenate([usual if given is None else given for given, usual in own])
    # The file and the line of each document, where all are of files.
    places: dict[str, Any] = {}
    if old.source_of is not None and new.source_of is not None:
        # Sources are numbered on: those of the new documents come after the old ones.
        places["source_of"] = np.concatenate([old.source_of, new.source_of + len(old.sources)])
        if old.line_of is not None and new.line_of is not None:
            places["line_of"] = np.concatenate([old.line_of, new.line_of])
    return Corpus(
        texts=[*old.texts, *new.texts],
        labels=[*(old.labels or ()), *(new.labels or ())],
        sample_weight=weights,
        group_of=_both("groups", old.group_of, new.group_of) if held_out else None,
        time_of=_both("times", old.time_of, new.time_of) if held_out else None,
        evidence_of=_both("marked passages", old.evidence_of, new.evidence_of),
        sources=[*old.sources, *new.sources],
        **places,
    )


def _both(what: str, old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any] | None:
    """What each document has, if all have it."""
    if (old is None) != (new is None):
        there, missing = ("new", "old") if old is None else ("old", "new")
        raise errors.DataError(
            f"the {there} documents have {what} and the {missing} ones have none: give them to "
            "all, or to none."
        )
    return None if old is None or new is None else [*old, *new]
