"""The work of a search: one setting fitted on the training part of one split, and its scores.

Settings come in chains, solved from the emptiest model down, each started from its neighbor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from textreg import calls
from textreg.kinds import Regularizer
from textreg.records import Problem, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int64s

KEPT = 100_000
"""Most weights of a solution that is kept to start from."""


@dataclass(frozen=True, eq=False)
class Fold:
    """One split, ready to be fitted and measured.

    problem: the training part; its ``y`` is for the first weight vector. targets: (k, n_train), one
    row of ``y`` for each weight vector to find. X_held, truth_held: the part to measure on; the
    truth are indices of classes, or numbers in a regression. codes: (n_train,) index of every class
    where they are fitted together, by softmax; else None.
    """

    problem: Problem
    targets: Floats
    X_held: csr_array
    truth_held: Int64s | Floats
    codes: Int64s | None = None

    @property
    def loss(self) -> str:
        """What the scores mean: see :func:`measure`."""
        return self.problem.loss if self.codes is None else "softmax"

    @property
    def rows(self) -> list[int | None]:
        """The weight vectors that are fitted by themselves; None where all are fitted together."""
        return list(range(len(self.targets))) if self.codes is None else [None]


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


class Trial(NamedTuple):
    """Scores of the documents held out, and of the weights as much as is worth its memory.

    used: a bit for every feature, set where it has a weight. seconds: how long the fit took.
    """

    scores: Floats
    used: NDArray[np.uint8]
    start: Start | None
    seconds: float


class Watch(Protocol):
    """Says when to stop."""

    @property
    def stopped(self) -> str | None:
        """Why nothing more is to be begun; None where more is."""

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True to stop."""


Done = Callable[[int, list[Trial]], None]
"""Told of every setting of a chain as it is done: its place, and a trial for each class."""


def solve_chain(
    fold: Fold,
    row: int | None,
    chain: Sequence[Regularizer],
    starts: Sequence[Start] | None,
    watch: Watch,
    done: Done | None = None,
) -> list[list[Trial]]:
    """Trials of the class ``row``, or of all where that is None; fewer than ``chain`` if stopped.

    starts: a solution for each class to begin from. A setting that was under way at the stop has no
    trial.
    """
    trials: list[list[Trial]] = []
    begin = time.perf_counter()
    for weights in _weights(fold, row, chain, starts, watch):
        if watch.stopped:
            break
        trials.append([])
        seconds = time.perf_counter() - begin
        for w, b in weights:
            used = w != 0.0
            start = None
            if np.count_nonzero(used) <= KEPT:
                indices = np.flatnonzero(used)
                start = Start(indices, w[indices], b)
            trials[-1].append(Trial(fold.X_held @ w + b, np.packbits(used), start, seconds))
        if done is not None:
            done(len(trials) - 1, trials[-1])
        begin = time.perf_counter()
    return trials


def _weights(
    fold: Fold,
    row: int | None,
    chain: Sequence[Regularizer],
    starts: Sequence[Start] | None,
    watch: Watch,
) -> Iterator[list[tuple[Floats, float]]]:
    """Weights and intercepts of one class, or of all, for every setting of a chain."""
    problem = fold.problem.replace(callback=watch.callback)
    p = problem.X.shape[1]
    dense = [start.dense(p) for start in starts or ()]
    if row is not None:
        begin = dense[0] if dense else None
        here = problem.replace(y=fold.targets[row], start=begin)
        for solution in calls.path(chain, here, lambda: watch.stopped is not None):
            yield [(solution.w, solution.b)]
        return
    assert fold.codes is not None
    together = None
    if dense:
        together = np.array([w for w, _ in dense]), np.array([b for _, b in dense])
    for part in chain:
        fitted = calls.solve_softmax(part, problem, fold.codes, together)
        together = fitted.w, fitted.b
        yield [(w, float(b)) for w, b in zip(fitted.w, fitted.b, strict=True)]
