"""The work of a search: settings fitted on the training part of a split, and their scores.

Settings come in chains. A chain is solved from the emptiest model on, and each fit starts from the
solution before it (warm starts; Friedman, Hastie and Tibshirani 2010, section 2.5).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.kinds import Regularizer
from textreg.plugins import calls
from textreg.records import Problem, Solution, Step
from textreg.records.ragged import row_of
from textreg.tasks import Task
from textreg.training.stopping import Stopper

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int32s
    from textreg.tasks.base import Targets

MAX_START = 100_000
"""The most weights of a solution that is kept for a warm start."""


@dataclass(frozen=True, eq=False)
class Problems:
    """The fits of all weight vectors on the same documents.

    problem: that of the first weight vector. task: what is learned. y: its targets. row_factors:
    (k, 2) those on the weights of documents in each fit, as of ``Task.row_factors``.
    """

    problem: Problem
    task: Task
    y: Targets
    row_factors: Floats | None = field(default=None, kw_only=True)

    @cached_property
    def targets(self) -> Floats:
        """(k, n) the ``Problem.y`` of each weight vector."""
        return self.task.rows(self.y)

    @property
    def rows(self) -> list[int | None]:
        """The weight vectors that are fitted by themselves; [None] if all are fitted together."""
        return [None] if self.task.joint else list(range(self.task.n_rows))

    def of(self, row: int | None) -> Problem:
        """The problem of one of :attr:`rows`; its ``y`` is unused if all are fitted together."""
        if row is None:
            return self.problem
        y = self.targets[row]
        if self.row_factors is None:
            return self.problem.replace(y=y)
        weights = self.problem.sample_weight * self.row_factors[row][(y > 0).astype(np.int64)]
        return self.problem.replace(y=y, sample_weight=weights)

    def constant(self, row: int | None) -> Solution | None:
        """The fit of a row whose label all documents have, or none has; None for any other row.

        Its score is that of a label that one document less has than there are, or one has: more is
        not known from so many (Laplace's rule of succession).
        """
        if row is None or not self.problem.loss.binary:
            return None
        counted = self.problem.sample_weight > 0.0
        positive = self.targets[row][counted] > 0
        if positive.any() and not positive.all():
            return None
        n = float(np.count_nonzero(counted))
        odds = np.array([n * positive.any(), n * (not positive.any())]) + 1.0
        b = self.problem.loss.constant(np.array([1.0, -1.0]), odds)
        w = np.zeros(self.problem.design.shape[1])
        return Solution(w=w, b=b, objective=0.0, gap=0.0, iterations=0, converged=True)

    def hardest(self) -> Problem:
        """The problem of the weight vector that needs the largest penalty strength to vanish.

        If all are fitted together, it also has the class of every document.
        """
        codes = self.y.astype(np.int64) if self.task.joint else None
        every = range(len(self.targets))
        varying = [row for row in every if self.constant(row) is None] or every
        problems = (self.of(row).replace(codes=codes) for row in varying)
        return max(problems, key=Problem.largest_gradient_at_zero)


@dataclass(frozen=True, eq=False)
class Fold(Problems):
    """One split, ready to be fitted and measured.

    X_held, y_held: the held-out documents and their targets. weights_held: how much each of them
    counts when they are measured; None if all count the same. normed: the first and last columns,
    and one beyond, of blocks of features whose rows are scaled to length 1.
    """

    X_held: csr_array
    y_held: Targets
    weights_held: Floats | None = None
    normed: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)

    def X_new(self, rows: csr_array | None = None) -> csr_array:
        """Held-out documents as a model meets new ones, which does not know all their features.

        Those that no fitted document has are dropped, and rows are scaled to length 1 again. Else
        their scores are nearer to the intercept than those of new documents will be. rows: other
        documents that are not fitted; by default :attr:`X_held`.
        """
        known = np.zeros(self.X_held.shape[1], dtype=bool)
        known[self.problem.design.sizes > 0] = True
        X = (self.X_held if rows is None else rows).copy()
        X.data[~known[X.indices]] = 0.0
        document = row_of(X.indptr)
        for start, end in self.normed:
            block = (X.indices >= start) & (X.indices < end)
            squares = np.bincount(document[block], X.data[block] ** 2, X.shape[0])
            lengths = np.sqrt(np.where(squares > 0.0, squares, 1.0))
            X.data[block] /= lengths[document[block]]
        X.eliminate_zeros()
        return X


class Start(NamedTuple):
    """A solution reduced to what a warm start needs, whose last digits do not matter.

    place: the features that have a weight, ascending, or a bit for every feature where that takes
    less memory.
    """

    place: NDArray[Any]
    values: NDArray[np.float32]
    b: float

    @property
    def indices(self) -> Int32s:
        """The features that have a weight, ascending."""
        if self.place.dtype == np.uint8:
            return np.flatnonzero(np.unpackbits(self.place)).astype(np.int32)
        return self.place

    def dense(self, n_features: int) -> tuple[Floats, float]:
        """The form that ``Problem.start`` takes."""
        w = np.zeros(n_features)
        w[self.indices] = self.values
        return w, self.b


def dense(starts: Sequence[Start], n_features: int) -> tuple[Floats, Floats]:
    """Several in one: weights (k, n_features) and intercepts (k,)."""
    weights, intercepts = zip(*(start.dense(n_features) for start in starts), strict=True)
    return np.array(weights), np.array(intercepts)


def together(starts: Sequence[Start | None], n_features: int) -> tuple[Floats, Floats] | None:
    """The same, where there are any and all of them are there."""
    given = [start for start in starts if start is not None]
    return dense(given, n_features) if given and len(given) == len(starts) else None


class Trial(NamedTuple):
    """One setting fitted for one weight vector: scores of the held-out documents, and the weights.

    used: a bit for every feature, set if it has a weight. start: None if there are more than
    MAX_START weights. seconds: how long the fit took.
    """

    scores: Floats
    used: NDArray[np.uint8]
    start: Start | None
    seconds: float


Trials = list[list[Trial]]
"""The trials of a chunk: for every setting one for each weight vector."""


class Chunk(NamedTuple):
    """Consecutive settings of a chain, for one fold and some of its ``rows``.

    starts: the solution of another setting for each weight vector, to start from; None to start
    from zero, and nothing where all do.
    """

    fold: Fold
    rows: list[int | None]
    settings: list[Regularizer]
    starts: list[Start | None]


def solve_chunk(
    chunk: Chunk, stop: Stopper, done: Callable[[list[Trial]], None] | None = None
) -> Trials:
    """Trials of every setting of a chunk; of the first ones only if stopped.

    A setting that is being fitted at the stop has no trial. done: called with the trials of each
    setting.
    """
    fold, rows, p = chunk.fold, chunk.rows, chunk.fold.problem.design.shape[1]
    trials: Trials = []
    if not share_passes(chunk.settings, fold):
        start = together(chunk.starts, p)
        solutions = solve_chain(chunk.settings, fold, rows[0], start, stop)
    else:
        starts = [None if one is None else one.dense(p) for one in chunk.starts]
        solutions = solve_side_by_side(chunk.settings, fold, rows, starts, stop)
    began = time.perf_counter()
    for weights, intercepts, _ in solutions:
        if stop.stopped:
            break
        seconds = (time.perf_counter() - began) / len(rows)
        pairs = zip(weights, intercepts.tolist(), strict=True)
        trials.append([_trial(fold.X_held, w, b, seconds) for w, b in pairs])
        if done is not None:
            done(trials[-1])
        began = time.perf_counter()
    return trials


def _trial(X_held: csr_array, w: Floats, b: float, seconds: float) -> Trial:
    indices = np.flatnonzero(w).astype(np.int32)
    used = np.packbits(w != 0.0)
    start = None
    if len(indices) <= MAX_START:
        place = used if used.nbytes < indices.nbytes else indices
        start = Start(place, w[indices].astype(np.float32), b)
    return Trial(X_held @ w + b, used, start, seconds)


def solve_chain(
    settings: Sequence[Regularizer],
    problems: Problems,
    row: int | None,
    start: tuple[Floats, Floats] | None,
    stop: Stopper,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Weights (k, p), intercepts (k,) and gap of every setting, each started from the one before.

    row: one of ``problems.rows``; k is 1 unless all are fitted together. start: weights and
    intercepts to start from.
    """
    problem = problems.of(row).replace(callback=stop.callback)
    if (constant := problems.constant(row)) is not None:
        for _ in settings:
            yield constant.w[None], np.array([constant.b]), constant.gap
        return
    if not problems.task.joint:
        if start is not None:
            problem = problem.replace(start=(start[0][0], float(start[1][0])))
        for solution in calls.path(settings, problem, lambda: stop.stopped is not None):
            yield solution.w[None], np.array([solution.b]), solution.gap
        return
    for regularizer in settings:
        fitted = calls.solve_softmax(regularizer, problem, problems.y.astype(np.int64), start)
        start = fitted.w, fitted.b
        yield fitted.w, fitted.b, fitted.gap


def solve_side_by_side(
    settings: Sequence[Regularizer],
    problems: Problems,
    rows: Sequence[int | None],
    starts: Sequence[tuple[Floats, float] | None],
    stop: Stopper,
) -> Iterator[tuple[Floats, Floats, float]]:
    """The same for several of ``problems.rows``; the gap is the widest of them.

    starts: weights and intercept of each to start from; nothing where there are none.
    """
    for regularizer in settings:
        found = solve_rows(regularizer, problems, rows, starts, stop.callback)
        starts = [(one.w, one.b) for one in found]
        weights, intercepts = [one.w for one in found], [one.b for one in found]
        yield np.array(weights), np.array(intercepts), max(one.gap for one in found)


def solve_rows(
    regularizer: Regularizer,
    problems: Problems,
    rows: Sequence[int | None],
    starts: Sequence[tuple[Floats, float] | None],
    callback: Callable[[Step], bool],
) -> list[Solution]:
    """Solutions for some of ``problems.rows``, side by side where that is known to be of use.

    starts: as for :func:`solve_side_by_side`.
    """
    found = {row: problems.constant(row) for row in rows}
    given = dict(zip(rows, starts or [None] * len(rows), strict=True))
    varying = [row for row in rows if found[row] is None]
    posed = [problems.of(row).replace(callback=callback, start=given[row]) for row in varying]
    if posed:
        found |= zip(varying, calls.solve_each(regularizer, posed), strict=True)
    return [one for one in found.values() if one is not None]


SIDE_BY_SIDE = {16: 3_000_000, 8: 3_000_000, 4: 6_000_000}
"""How many weight vectors are fitted side by side, which kernels take in one go, and how many
weights these may have together: every one takes a dozen vectors as long as that."""


def cut_rows(
    rows: Sequence[int | None], settings: Sequence[Regularizer], problems: Problems, threads: int
) -> list[list[int | None]]:
    """The rows in runs that are fitted side by side, as many as threads or more; or each alone.

    Solutions do not depend on how they are cut.
    """
    width = 1
    if share_passes(settings, problems):
        p = problems.problem.design.shape[1]
        most = next((some for some, weights in SIDE_BY_SIDE.items() if some * p <= weights), 1)
        width = min(most, -(-len(rows) // threads))
    return [list(rows[at : at + width]) for at in range(0, len(rows), width)]


def share_passes(settings: Sequence[Regularizer], problems: Problems) -> bool:
    """Whether fits of several weight vectors share their passes over the matrix.

    A fit that may be side by side with others has other bits than one that may not; so this must
    not depend on how many are, which the number of threads decides.
    """
    paths = type(settings[0]).path is not Regularizer.path  # whose fits are not one by one
    return (
        len(problems.rows) > 1
        and not (problems.task.joint or paths)
        and all(calls.shares_passes(part, problems.problem) for part in settings)
    )
