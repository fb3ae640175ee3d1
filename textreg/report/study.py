"""Training once more: the same fit, and the baseline's, without each part of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, first_few
from textreg.explain.selection import places
from textreg.plugins import registry
from textreg.records import Corpus, MultiSolution
from textreg.records.ragged import row_of, sums
from textreg.tasks import read_target
from textreg.training.fitting import fit_rows
from textreg.training.prepare import Prepared, prepare
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.choice import choose
from textreg.training.search.selection import search
from textreg.training.search.splitting import splits_of
from textreg.training.search.trials import Fold, Start
from textreg.training.search.tuning import Tuning
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.kinds import Regularizer
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s
    from textreg.tasks.base import Targets

    _Piece = tuple[Regularizer, Fold, Sequence[Start | None] | None, Run]

PARTS, FEWER_PARTS, MANY = 5, 3, 10_000
"""Parts of the corpus that are left out in turn; fewer of them above so many documents."""

BASELINE = "elastic"
NAMED = 5
"""Labels that a message names."""


class Sentences(NamedTuple):
    """All sentences: those of document d are ``document_ptr[d]`` to ``document_ptr[d + 1]``.

    sizes: features in each. filled: which have some; kept: which have one of the model's.
    """

    document_ptr: Int64s
    sizes: Int64s
    filled: NDArray[np.bool_]
    kept: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Fits:
    """A regularizer fitted without each part. part: with its prices. sizes: features with a weight,
    of every fit. scores: (held out, k) of every document of ``Study.rows``, by the fit that has not
    seen it.
    """

    part: Regularizer
    sizes: tuple[int, ...]
    scores: Floats


@dataclass(frozen=True, eq=False)
class Study:
    """What fits without parts of the training corpus tell.

    corpus: all documents of the training. columns: the place of each of the model's features in
    those of ``data``, -1 where it has none. rows: documents that some fit has not seen, ascending:
    all of them but, in order of time, the earliest. fit_of: (rows,) the number of that fit. own: of
    the model's regularizer, with the prices it was trained with; solutions: these fits. baseline:
    of ``elastic``, with prices of its own; None where the model is one itself.
    """

    corpus: Corpus
    data: Prepared
    columns: Int64s
    rows: Int64s
    fit_of: Int64s
    own: Fits
    solutions: tuple[MultiSolution, ...]
    baseline: Fits | None

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which features of ``data`` the model has."""
        kept = np.zeros(len(self.data.encoder.names), dtype=bool)
        kept[self.columns[self.columns >= 0]] = True
        return kept

    @cached_property
    def sentences(self) -> Sentences:
        """The sentences of the corpus."""
        tokens = self.data.tokens.select(np.arange(len(self.corpus)))  # none without labels
        sizes = np.diff(tokens.sentence_ptr)
        ours = self.kept[tokens.ids].astype(np.float64)
        holds = sums(row_of(tokens.sentence_ptr), ours, tokens.n_sentences)
        return Sentences(tokens.document_ptr, sizes, sizes > 0, holds > 0)

    @property
    def y_true(self) -> Targets:
        """The target of every document of ``rows``."""
        return self.data.y[self.rows]


def study(model: Model, corpus: Corpus, settings: TrainingSettings, work: Work = ALONE) -> Study:
    """Fit what ``model`` was trained with anew, without each part of its training ``corpus``.

    settings: those of the training, decided: see :func:`textreg.report.again.decided`; documents of
    its ``dev`` that were refitted belong to the corpus. The parts are those of its cross-validation
    or PARTS of about the same size; groups stay whole, and with times every fit has seen only what
    is earlier. Features come from the whole corpus, as in training. The prices of the baseline are
    searched for on the first part, or on all where training cross-validated.

    DataError where its labels are not those of the model; KeyboardInterrupt on Ctrl-C.
    """
    if settings.dev is not None and settings.refit:
        corpus = _together(corpus, settings.dev)
    target = read_target(corpus, settings.task, settings.loss, settings.multiclass)
    if target.task.labels != model.labels:
        raise DataError(
            f"the training corpus has the labels {first_few(target.task.labels, NAMED)}, the model "
            f"{first_few(model.labels, NAMED)}: give the corpus that it was trained on (--train)."
        )
    plain = settings.replace(
        dev=None,
        holdout=None,
        cv=settings.cv or _parts(corpus),
        calibrate=None,
        threshold=None,
        path=False,
        refit=True,
        tuning=Tuning(),
    )
    splits = splits_of(corpus, target, plain)
    data = prepare(corpus, target, plain)
    compared = settings.reg.name != BASELINE
    run = work.run("report", len(splits) * (2 if compared else 1))
    folds: list[Fold] = run.map(data.fold, [(split,) for split in splits])
    _check(run)
    pieces: list[_Piece] = [(settings.reg, fold, None, run) for fold in folds]
    if compared:
        pieces += _baseline_pieces(folds, settings, work, run)
    found = run.map(_fit_without, pieces)
    _check(run)

    held = np.concatenate([split.held for split in splits])
    order = np.argsort(held)
    k = len(splits)
    return Study(
        corpus=corpus,
        data=data,
        columns=places(model.encoder.names, data.encoder.names),
        rows=held[order],
        fit_of=np.repeat(np.arange(k), [len(split.held) for split in splits])[order],
        own=_gathered(pieces[0][0], found[:k], order),
        solutions=tuple(fit for fit, _ in found[:k]),
        baseline=_gathered(pieces[k][0], found[k:], order) if compared else None,
    )


def _baseline_pieces(
    folds: Sequence[Fold], settings: TrainingSettings, work: Work, run: Run
) -> list[_Piece]:
    """Fits of the baseline, at the prices that a search finds best."""
    simple = [
        replace(fold, problem=fold.problem.replace(groups=None, graph=None)) for fold in folds
    ]
    reg = registry.create("regularizer", BASELINE)
    points = search(reg, simple if settings.cv else simple[:1], work)
    best = points[choose(points, settings.metric)]
    starts = [best.starts, *[None] * (len(simple) - 1)]  # those of the first split
    return [
        (best.regularizer, fold, start, run) for fold, start in zip(simple, starts, strict=True)
    ]


def _gathered(
    part: Regularizer, found: Sequence[tuple[MultiSolution, Floats]], order: Int64s
) -> Fits:
    """Fits without each part; order: of the documents held out, one part after the other."""
    sizes = tuple(int(np.count_nonzero(fit.w.any(axis=0))) for fit, _ in found)
    return Fits(part, sizes, np.vstack([scores for _, scores in found])[order])


def _check(run: Run) -> None:
    """Go no further after Ctrl-C."""
    if run.stopped:
        raise KeyboardInterrupt


def _parts(corpus: Corpus) -> int:
    """How many parts to leave out in turn."""
    wanted = FEWER_PARTS if len(corpus) > MANY else PARTS
    pieces = len(corpus)
    if corpus.group_of is not None:
        pieces = len(set(corpus.group_of))
    elif corpus.time_of is not None:
        pieces = len(set(corpus.time_of)) - 1  # the earliest are never held out
    return max(2, min(wanted, pieces))


def _together(corpus: Corpus, more: Corpus) -> Corpus:
    """The documents of both."""
    weights = None
    if corpus.weights is not None or more.weights is not None:
        both = [
            one.weights if one.weights is not None else np.ones(len(one)) for one in (corpus, more)
        ]
        weights = np.concatenate(both)
    source_of = line_of = None
    if corpus.source_of is not None and more.source_of is not None:
        source_of = np.concatenate([corpus.source_of, more.source_of + len(corpus.sources)])
        if corpus.line_of is not None and more.line_of is not None:
            line_of = np.concatenate([corpus.line_of, more.line_of])
    return Corpus(
        texts=[*corpus.texts, *more.texts],
        labels=[*(corpus.labels or ()), *(more.labels or ())],
        weights=weights,
        sources=[*corpus.sources, *more.sources],
        source_of=source_of,
        line_of=line_of,
        skipped=corpus.skipped + more.skipped,
    )


def _fit_without(
    part: Regularizer, fold: Fold, starts: Sequence[Start | None] | None, run: Run
) -> tuple[MultiSolution, Floats] | None:
    """One fit, and its scores (held out, k) of the part that it has not seen; None if stopped."""
    if run.stopped:
        return None
    fitted, _ = fit_rows(part, fold, starts)
    run.counter.advance()
    return fitted, fold.X_held @ fitted.w.T + fitted.b
