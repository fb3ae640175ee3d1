"""The work of a search: one setting fitted on the training part of one split, and its scores.

Settings come in chains, solved from the emptiest model down, each started from its neighbor.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from textreg.kinds import Regularizer
from textreg.plugins import calls
from textreg.records import Problem, Step
from textreg.tasks import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats
    from textreg.tasks.base import Targets

KEPT = 100_000
"""Most weights of a solution that is kept to start from."""


@dataclass(frozen=True, eq=False)
class Problems:
    """The fits of all weight vectors on the same documents.

    problem: that of the first weight vector. task: what is learned. y: (n,) its targets.
    """

    problem: Problem
    task: Task
    y: Targets

    @cached_property
    def targets(self) -> Floats:
        """(k, n) the ``Problem.y`` of each weight vector."""
        return self.task.rows(self.y)

    @property
    def rows(self) -> list[int | None]:
        """The weight vectors that are fitted by themselves; [None] if all are fitted together."""
        return [None] if self.task.joint else list(range(self.task.n_rows))

    def of(self, row: int | None) -> Problem:
        """The problem of one of :attr:`rows`; where all are fitted together, its y has no part."""
        return self.problem if row is None else self.problem.replace(y=self.targets[row])

    def hardest(self) -> Problem:
        """The problem of the weight vector that takes the largest price to empty."""
        problems = (self.problem.replace(y=y) for y in self.targets)
        return max(problems, key=Problem.largest_gradient_at_zero)


@dataclass(frozen=True, eq=False)
class Fold(Problems):
    """One split, ready to be fitted and measured.

    X_held, y_held: the documents to measure on, and their targets.
    """

    X_held: csr_array
    y_held: Targets

    @cached_property
    def digest(self) -> str:
        """A digest of everything that fits and scores depend on."""
        problem, found = self.problem, hashlib.sha256()
        loss = problem.loss.label(), problem.loss.params()
        plain = (self.task, loss, problem.tol, problem.max_iter, problem.fit_intercept)
        found.update(repr((*plain, problem.X.shape)).encode())
        parts: list[Any] = [problem.X, problem.weights, self.y]
        parts += [self.X_held, self.y_held]
        if (groups := problem.groups) is not None:
            parts += [groups.indptr, groups.indices, groups.weights]
        if (graph := problem.graph) is not None:
            found.update(repr(graph.classes).encode())
            parts += [graph.similar, graph.dissimilar]
        for part in parts:
            sparse = hasattr(part, "indptr")
            for array in (part.data, part.indices, part.indptr) if sparse else (part,):
                known = np.ascontiguousarray(() if array is None else array)
                found.update(repr((known.dtype.str, known.shape)).encode())
                found.update(known.data)
        return found.hexdigest()


class Start(NamedTuple):
    """A solution reduced to what a warm start needs."""

    indices: NDArray[np.intp]
    values: Floats
    b: float

    def dense(self, n_features: int) -> tuple[Floats, float]:
        """The form that ``Problem.start`` takes."""
        w = np.zeros(n_features)
        w[self.indices] = self.values
        return w, self.b


def dense(starts: Sequence[Start], n_features: int) -> tuple[Floats, Floats]:
    """Several in one: weights (k, n_features) and intercepts (k,)."""
    weights, intercepts = zip(*(start.dense(n_features) for start in starts), strict=True)
    return np.array(weights), np.array(intercepts)


class Trial(NamedTuple):
    """Scores of the documents held out, and of the weights as much as is worth its memory.

    used: a bit for every feature, set where it has a weight. seconds: how long the fit took.
    """

    scores: Floats
    used: NDArray[np.uint8]
    start: Start | None
    seconds: float


Trials = list[list[Trial]]
"""Those of a piece of work: for every setting one a weight vector."""


class Watch(Protocol):
    """Says when to stop."""

    @property
    def stopped(self) -> str | None:
        """Why nothing more is to be begun; None where more is."""

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True to stop."""


class Piece(NamedTuple):
    """A piece of work: settings of a chain, for one fold and one class.

    row: the class, None where all are fitted together. starts: a solution for each class to begin
    from, that of the last of the settings ``before``.
    """

    fold: Fold
    row: int | None
    before: list[Regularizer]
    parts: list[Regularizer]
    starts: list[Start] | None


Done = Callable[[int, list[Trial]], None]
"""Told of every setting of a chain as it is done: its place, and a trial for each class."""


def solve_piece(piece: Piece, watch: Watch, done: Done | None = None) -> Trials:
    """Trials of every setting of a piece; of fewer settings if stopped.

    A setting that was under way at the stop has no trial.
    """
    fold, row, p = piece.fold, piece.row, piece.fold.problem.X.shape[1]
    start = dense(piece.starts, p) if piece.starts else None
    trials: Trials = []
    begin = time.perf_counter()
    for weights, intercepts, _ in solve_chain(piece.parts, fold, row, start, watch):
        if watch.stopped:
            break
        trials.append([])
        seconds = time.perf_counter() - begin
        for w, b in zip(weights, intercepts.tolist(), strict=True):
            used = w != 0.0
            kept = None
            if np.count_nonzero(used) <= KEPT:
                indices = np.flatnonzero(used)
                kept = Start(indices, w[indices], b)
            trials[-1].append(Trial(fold.X_held @ w + b, np.packbits(used), kept, seconds))
        if done is not None:
            done(len(trials) - 1, trials[-1])
        begin = time.perf_counter()
    return trials


def solve_chain(
    parts: Sequence[Regularizer],
    problems: Problems,
    row: int | None,
    start: tuple[Floats, Floats] | None,
    watch: Watch,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Weights (k, p), intercepts (k,) and gap of every setting, each started from the one before.

    row: one of ``problems.rows``; k is 1 unless all are fitted together. start: weights and
    intercepts to begin from.
    """
    problem = problems.of(row).replace(callback=watch.callback)
    if not problems.task.joint:
        if start is not None:
            problem = problem.replace(start=(start[0][0], float(start[1][0])))
        for solution in calls.path(parts, problem, lambda: watch.stopped is not None):
            yield solution.w[None], np.array([solution.b]), solution.gap
        return
    for part in parts:
        fitted = calls.solve_softmax(part, problem, problems.y.astype(np.int64), start)
        start = fitted.w, fitted.b
        yield fitted.w, fitted.b, fitted.gap
