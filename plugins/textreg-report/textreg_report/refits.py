"""Fits without a part of the corpus: of the model, of half of the documents, of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError, first_few
from textreg.explain.selection import places
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.plugins import registry
from textreg.records import Corpus, Floats, Int64s, MultiSolution, SkippedRowsBuilder
from textreg.records.arrays import row_of, sums
from textreg.tasks import Target
from textreg.training.fit import fit_rows
from textreg.training.prepare import SEARCH_TOL, Prepared, prepare, read_training
from textreg.training.running import ALONE, Run, Work
from textreg.training.search import choose
from textreg.training.settings import TrainingSettings
from textreg.training.space import Tuning
from textreg.training.splits import splits_of
from textreg.training.trials import Fold, Start, search
from textreg.training.update import joined
from textreg_report.predictions import Targets

_Job = tuple[Regularizer, Fold, Sequence[Start | None] | None, Run]

PARTS, FEWER_PARTS, MANY = 5, 3, 10_000
"""Parts of the corpus that are left out in turn; fewer parts above MANY documents."""

BASELINE = "elastic"
LABELS_LISTED = 5
"""Labels that an error message lists."""


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """A regularizer fitted without each part.

    part: the regularizer with its hyperparameters. sizes: number of features of every fit. scores:
    (rows, k) of every document of ``Refits.rows``, by the fit that has not seen it.
    """

    part: Regularizer
    sizes: tuple[int, ...]
    scores: Floats


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits without each part of the training corpus.

    corpus: all documents of the training. columns: index of each feature of the model among those
    of ``data``, -1 if it is not there. rows: documents that some fit has not seen, ascending: all,
    or with times all but the earliest. fit_of: (rows,) index of that fit. own: of the model's
    regularizer with its hyperparameters; solutions: these fits. baseline: of ``elastic`` with
    hyperparameters of its own; None if the model is an elastic net. halved: of the model's
    regularizer, each fit with half of its documents; sizes: features of these fits.
    """

    corpus: Corpus
    data: Prepared
    columns: Int64s
    rows: Int64s
    fit_of: Int64s
    own: OutOfFold
    solutions: tuple[MultiSolution, ...]
    baseline: OutOfFold | None
    halved: OutOfFold

    @cached_property
    def selected(self) -> NDArray[np.bool_]:
        """Which features of ``data`` the model has."""
        selected = np.zeros(len(self.data.encoder.names), dtype=bool)
        selected[self.columns[self.columns >= 0]] = True
        return selected

    @cached_property
    def sentences(self) -> tuple[Int64s, NDArray[np.bool_]]:
        """Where documents begin among all sentences, and which have a feature of the model."""
        tokens = self.data.tokens.select(np.arange(len(self.corpus)))  # without the unlabeled ones
        ours = self.selected[tokens.ids].astype(np.float64)
        holds = sums(row_of(tokens.sentence_ptr), ours, tokens.n_sentences)
        return tokens.document_ptr, holds > 0

    @property
    def y_true(self) -> Targets:
        """Targets of the documents of ``rows``."""
        return self.data.y[self.rows]


def refit(model: Model, corpus: Corpus, settings: TrainingSettings, work: Work = ALONE) -> Refits:
    """Fit the regularizer of ``model`` and the baseline without each part of its training corpus.

    settings: those of the training, with the choices of its search: see
    :func:`textreg.training.recipe.with_choices`. Documents of ``settings.dev`` belong to the
    corpus if the final model was fitted to them. The parts are those of the cross-validation, or
    PARTS of similar size. Groups of documents stay whole; with times, every fit has seen only
    earlier documents. Features come from the whole corpus, as in training. The hyperparameters of
    the baseline are searched for on the first part, or on all parts after a cross-validation.

    Raises DataError if the labels are not those of the model, and KeyboardInterrupt on Ctrl-C.
    """
    corpus, target = _learned(corpus, settings)
    if target.task.labels != model.labels:
        raise DataError(
            f"the training corpus has the labels {first_few(target.task.labels, LABELS_LISTED)}, "
            f"the model {first_few(model.labels, LABELS_LISTED)}: give the corpus that it was "
            "trained on (--train)."
        )
    plain = settings.replace(
        dev=None,
        holdout=None,
        cv=settings.cv or _parts(corpus),
        calibrate=None,
        threshold=None,
        unknown=None,
        unknown_rule=None,
        path=False,
        refit=True,
        tuning=Tuning(),
    )
    splits = splits_of(corpus, target, plain)
    data = prepare(corpus, target, plain)
    compared = settings.reg.name != BASELINE
    run = work.run("report", len(splits) * (3 if compared else 2))
    folds: list[Fold] = run.map(data.fold, [(split,) for split in splits])
    _check(run)
    strata = target.task.strata(target.y)[0]
    halves = [
        _with_half(data, fold, half_of(split.train, strata))
        for fold, split in zip(folds, splits, strict=True)
    ]
    jobs: list[_Job] = [(settings.reg, fold, None, run) for fold in (*folds, *halves)]
    if compared:
        jobs += _baseline_jobs(folds, settings, work, run)
    fits = run.map(_fit_without, jobs)
    _check(run)

    held = np.concatenate([split.held for split in splits])
    # Documents come split by split: bring them into the order of the corpus.
    order = np.argsort(held)
    k = len(splits)
    return Refits(
        corpus=corpus,
        data=data,
        columns=places(model.encoder.names, data.encoder.names),
        rows=held[order],
        fit_of=np.repeat(np.arange(k), [len(split.held) for split in splits])[order],
        own=_collect(jobs[0][0], fits[:k], order),
        solutions=tuple(fit for fit, _ in fits[:k]),
        baseline=_collect(jobs[2 * k][0], fits[2 * k :], order) if compared else None,
        halved=_collect(jobs[0][0], fits[k : 2 * k], order),
    )


def half_of(rows: NDArray[np.intp], strata: Int64s) -> NDArray[np.intp]:
    """Half of some documents, ascending: of every stratum half, rounded up.

    strata: (n,) the stratum of every document.
    """
    drawn = np.random.default_rng(0).permutation(rows)
    ordered = drawn[np.argsort(strata[drawn], kind="stable")]
    _, first, counts = np.unique(strata[ordered], return_index=True, return_counts=True)
    # Rank within the stratum; the first ⌈n/2⌉ of each are drawn.
    place = np.arange(len(ordered)) - np.repeat(first, counts)
    return np.sort(ordered[place < np.repeat(-(-counts // 2), counts)])


def _with_half(data: Prepared, fold: Fold, rows: NDArray[np.intp]) -> Fold:
    """The fold with some of its documents to fit to, measured on the same ones."""
    part = data.problems(rows, max(data.settings.tol, SEARCH_TOL))
    return replace(fold, problem=part.problem, y=part.y)


def _learned(corpus: Corpus, settings: TrainingSettings) -> tuple[Corpus, Target]:
    """The documents that a final fit has, and what it learns."""
    posed = read_training(corpus, settings)
    corpus, dev, task = posed.corpus, posed.settings.dev, posed.target.task
    if dev is None or not settings.refit:
        return corpus, posed.target
    y = task.targets(dev)
    if not task.known(y).all():
        known = np.flatnonzero(task.known(y))
        dev, y = dev.select(known), y[known]
    if task.rare_label is not None:
        dev = replace(dev, labels=task.answers(y))
    skipped = SkippedRowsBuilder()
    for row in corpus.skipped:
        skipped.add(row)
    for row in dev.skipped:
        skipped.add(row._replace(position=row.position + len(corpus)))
    corpus = replace(joined(corpus, dev, held_out=False), skipped=skipped.rows())
    return corpus, Target(task, task.targets(corpus))


def _baseline_jobs(
    folds: Sequence[Fold], settings: TrainingSettings, work: Work, run: Run
) -> list[_Job]:
    """Fits of the baseline, with the hyperparameters that a search finds best."""
    simple = [
        replace(fold, problem=fold.problem.replace(groups=None, graph=None)) for fold in folds
    ]
    reg = registry.create("regularizer", f"textreg:{BASELINE}")
    points = search(reg, simple if settings.cv else simple[:1], work)
    best = points[choose(points, settings.metric or folds[0].task.default_metric)]
    starts = [best.starts, *[None] * (len(simple) - 1)]  # those of the first split
    return [
        (best.regularizer, fold, start, run) for fold, start in zip(simple, starts, strict=True)
    ]


def _collect(
    part: Regularizer, fits: Sequence[tuple[MultiSolution, Floats]], order: Int64s
) -> OutOfFold:
    """Collect fits; order: sorts the held-out documents, which come part by part."""
    sizes = tuple(int(np.count_nonzero(fit.w.any(axis=0))) for fit, _ in fits)
    return OutOfFold(part, sizes, np.vstack([scores for _, scores in fits])[order])


def _check(run: Run) -> None:
    """Stop after Ctrl-C."""
    if run.stopped:
        raise KeyboardInterrupt


def _parts(corpus: Corpus) -> int:
    """Number of parts to leave out in turn."""
    wanted = FEWER_PARTS if len(corpus) > MANY else PARTS
    units = len(corpus)
    if corpus.group_of is not None:
        units = len(set(corpus.group_of))
    elif corpus.time_of is not None:
        units = len(set(corpus.time_of)) - 1  # the earliest documents are never held out
    return max(2, min(wanted, units))


def _fit_without(
    part: Regularizer, fold: Fold, starts: Sequence[Start | None] | None, run: Run
) -> tuple[MultiSolution, Floats] | None:
    """A fit and its scores (held out, k) of the part that it has not seen; None if stopped."""
    if run.stopped:
        return None
    fitted, _ = fit_rows(part, fold, starts)
    run.advance()
    return fitted, fold.X_new() @ fitted.w.T + fitted.b
