"""How prices are chosen: the search over a grid, and who wins.

Every point of a regularizer's grid is fitted on the training part of each split and measured on the
part held out. The grid is cut into chains that are solved from the emptiest model down, each point
warm-started from its neighbor; chains, classes and splits are independent pieces of work that run
side by side. The cut never depends on the number of jobs, so neither do the results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg import calls
from textreg.errors import UsageError, did_you_mean
from textreg.kinds import Regularizer
from textreg.losses import largest_gradient_at_zero
from textreg.metrics import SMALLER, measure
from textreg.records import Problem
from textreg.running import Progress, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int64s


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


KEPT = 100_000
"""Most weights of a solution that is kept to start from."""


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


@dataclass(frozen=True, eq=False)
class Point:
    """One setting of the prices, measured on everything held out.

    part: the regularizer with its prices decided. metrics: values by name. nonzero: features with a
    weight for any class, mean over the splits. starts: solutions of the first split, one a class;
    None for those with many weights, which are not worth their memory.
    """

    part: Regularizer
    metrics: dict[str, float]
    nonzero: float
    starts: tuple[Start | None, ...] = field(repr=False)


def search(
    regularizer: Regularizer,
    folds: Sequence[Fold],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Point]:
    """Measure every point of the regularizer's grid, in the order of ``Regularizer.candidates``.

    The grid is made from the training part of the first fold. Several classes share its prices, so
    that one number says what was chosen: the grid of the class that takes the most to empty.

    After Ctrl-C the points that were measured in full; KeyboardInterrupt where there is none.
    """
    first = folds[0]
    problems = [first.problem.replace(y=y) for y in first.targets]
    grid = calls.candidates(regularizer, max(problems, key=largest_gradient_at_zero))
    chains = _chains(regularizer, grid)
    together = first.codes is not None
    rows: Sequence[int | None] = [None] if together else range(len(problems))
    run = Run("search", len(grid) * len(rows) * len(folds), progress)
    pieces = [
        (fold, row, [grid[at] for at in chain], run)
        for fold in folds
        for row in rows
        for chain in chains
    ]
    results = iter(run.map(jobs, _solve_chain, pieces))
    # trials[fold][row][point], whatever order the chains have; each a trial for every class of it
    trials: list[list[list[list[_Trial]]]] = [
        [list(itertools.chain.from_iterable(next(results) for _ in chains)) for _ in rows]
        for _ in folds
    ]
    truth = np.concatenate([fold.truth_held for fold in folds])
    points = []
    for at, part in enumerate(grid):
        found = [[by_row[at] for by_row in by_fold] for by_fold in trials]
        if not all(all(by_fold) for by_fold in found):
            continue  # interrupted before all of it was measured
        here = [list(itertools.chain.from_iterable(by_fold)) for by_fold in found]
        scores = np.vstack([np.column_stack([trial.scores for trial in row]) for row in here])
        unions = [np.bitwise_or.reduce([trial.used for trial in row]) for row in here]
        sizes = [int(np.unpackbits(union).sum()) for union in unions]
        points.append(
            Point(
                part=part,
                metrics=measure(scores, truth, first.loss),
                nonzero=float(np.mean(sizes)),
                starts=tuple(trial.start for trial in here[0]),
            )
        )
    if not points:
        raise KeyboardInterrupt
    return points


def choose(points: Sequence[Point], metric: str) -> int:
    """Index of the best point; among equals the smallest model, then the strongest prices."""
    known = points[0].metrics
    if metric not in known:
        raise UsageError(
            f"metric must be one of {', '.join(known)}, not {metric!r}."
            f"{did_you_mean(metric, known)}"
        )
    sign = 1.0 if metric in SMALLER else -1.0

    def rank(at: int) -> tuple[float, float, int]:
        # Twelve digits: equal counts of right answers must compare equal.
        return round(sign * points[at].metrics[metric], 12), points[at].nonzero, at

    return min(range(len(points)), key=rank)


class _Trial(NamedTuple):
    """Scores of the documents held out, and of the weights as much as is worth its memory.

    used: a bit for every feature, set where it has a weight.
    """

    scores: Floats
    used: NDArray[np.uint8]
    start: Start | None


def _chains(regularizer: Regularizer, grid: Sequence[Regularizer]) -> list[list[int]]:
    """Cut the grid wherever another than the last of its parameters changes."""
    settings = [[getattr(part, key) for key in regularizer.undecided()] for part in grid]
    varying = [at for at, column in enumerate(zip(*settings, strict=True)) if len(set(column)) > 1]

    def outer(point: int) -> list[Any]:
        return [settings[point][at] for at in varying[:-1]]

    return [list(chain) for _, chain in itertools.groupby(range(len(grid)), key=outer)]


def _solve_chain(
    fold: Fold, row: int | None, chain: Sequence[Regularizer], run: Run
) -> list[list[_Trial]]:
    """Trials of the class ``row``, or of all where that is None; none for what was interrupted."""
    trials: list[list[_Trial]] = []
    for weights in _weights(fold, row, chain, run):
        if run.stopped:
            break
        trials.append([])
        for w, b in weights:
            used = w != 0.0
            start = None
            if np.count_nonzero(used) <= KEPT:
                indices = np.flatnonzero(used)
                start = Start(indices, w[indices], b)
            trials[-1].append(_Trial(fold.X_held @ w + b, np.packbits(used), start))
        run.advance()
    return trials + [[]] * (len(chain) - len(trials))


def _weights(
    fold: Fold, row: int | None, chain: Sequence[Regularizer], run: Run
) -> Iterator[list[tuple[Floats, float]]]:
    """Weights and intercepts of one class, or of all, for every point of a chain."""
    problem = fold.problem.replace(callback=run.callback)
    if row is not None:
        problem = problem.replace(y=fold.targets[row])
        for solution in calls.path(chain, problem, lambda: run.stopped):
            yield [(solution.w, solution.b)]
        return
    assert fold.codes is not None
    start = None
    for part in chain:
        fitted = calls.solve_softmax(part, problem, fold.codes, start)
        start = fitted.w, fitted.b
        yield [(w, float(b)) for w, b in zip(fitted.w, fitted.b, strict=True)]
