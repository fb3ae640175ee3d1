"""How prices are chosen: splits of the documents, the search over a grid, and who wins.

Every point of a regularizer's grid is fitted on the training part of each split and measured on the
part held out. The grid is cut into chains that are solved from the emptiest model down, each point
warm-started from its neighbor; chains, classes and splits are independent pieces of work that run
side by side. The cut never depends on the number of jobs, so neither do the results.
"""

from __future__ import annotations

import itertools
import math
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import ConvergenceWarning, DataError, UsageError, did_you_mean
from textreg.kinds import Regularizer
from textreg.losses import PROBABLE, largest_gradient_at_zero
from textreg.records import Problem, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int64s

METRICS = {
    "classification": ("accuracy", "macro-f1", "log-loss"),
    "regression": ("r2", "mse"),
}
"""What the winner of a search may be chosen by, for each task; the first is the default."""

SMALLER = {"log-loss", "mse"}
"""Metrics that are better when smaller."""

Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``, from any thread but never from two at once."""


class Split(NamedTuple):
    """Rows to fit on and rows to measure on, both ascending."""

    train: NDArray[np.intp]
    held: NDArray[np.intp]


def holdout(codes: Int64s, labels: Sequence[str], fraction: float, seed: int) -> Split:
    """Hold out about ``fraction`` of the documents of every class, at least one and never all.

    codes: (n,) index into ``labels`` for every document. Raises DataError for a class of one.
    """
    if not 0 < fraction < 1:
        raise UsageError(f"holdout must lie between 0 and 1, not {fraction:g}.")
    held = np.zeros(len(codes), dtype=bool)
    for rows in _shuffled_classes(codes, labels, seed):
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held[rows[:count]] = True
    return Split(np.flatnonzero(~held), np.flatnonzero(held))


def folds(codes: Int64s, labels: Sequence[str], count: int, seed: int) -> list[Split]:
    """Cut the documents into ``count`` parts, equal in every class; each is held out once.

    Raises DataError for a class of one, UsageError for fewer than 2 parts or more than documents.
    """
    if not 2 <= count <= len(codes):
        raise UsageError(f"cv must be 2 to {len(codes):,}, the number of documents, not {count}.")
    part = np.empty(len(codes), dtype=np.int64)
    dealt = 0  # deal on where the last class ended, so that the parts differ by one at most
    for rows in _shuffled_classes(codes, labels, seed):
        part[rows] = (dealt + np.arange(len(rows))) % count
        dealt += len(rows)
    return [Split(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(count)]


def _shuffled_classes(
    codes: Int64s, labels: Sequence[str], seed: int
) -> Iterator[NDArray[np.intp]]:
    """The rows of every class in an order that depends on the seed alone."""
    random = np.random.default_rng(seed)
    for code, label in enumerate(labels):
        rows = np.flatnonzero(codes == code)
        if len(rows) < 2:
            raise DataError(
                f"The label '{label}' has one document only, so none can be held out to choose the "
                "prices by. Add documents with this label, or leave it out; or measure on a file "
                "of your own (--dev FILE)."
            )
        yield random.permutation(rows)


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


class Start(NamedTuple):
    """A solution reduced to what a warm start and the size of a model need."""

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
    weight for any class, mean over the splits. starts: solutions of the first split, one a class.
    """

    part: Regularizer
    metrics: dict[str, float]
    nonzero: float
    starts: tuple[Start, ...] = field(repr=False)


class Run:
    """Counts finished fits and stops the others when the user interrupts; safe between threads.

    stopped: whether Ctrl-C was pressed. What is done by then can be used; pressed once more, it is
    a KeyboardInterrupt as ever.
    """

    def __init__(self, stage: str, total: int, progress: Progress | None) -> None:
        self._stage, self._total, self._progress = stage, total, progress
        self._done = 0
        self._lock = threading.Lock()
        self.stopped = False

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True once the run was stopped."""
        return self.stopped

    def advance(self) -> None:
        """One more fit is done."""
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._stage, self._done, self._total)

    def map(self, jobs: int, call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> Any:
        """``[call(*piece) for piece in pieces]`` in ``jobs`` threads, stopped by Ctrl-C.

        Warnings of solvers are left to the caller, who knows which of the fits matter.
        """
        from joblib import Parallel, delayed
        from threadpoolctl import threadpool_limits

        try:
            # One thread a piece: BLAS adds in another order when it has several.
            with self._listening(), warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore", ConvergenceWarning)
                return Parallel(n_jobs=jobs, prefer="threads")(
                    delayed(call)(*piece) for piece in pieces
                )
        except KeyboardInterrupt:
            self.stopped = True
            raise

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Take the first Ctrl-C as a wish to stop, where nobody else listens to it."""
        usual = signal.default_int_handler
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not usual:
            yield
            return

        def stop(number: int, frame: Any) -> None:
            self.stopped = True
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


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
    grid = regularizer.candidates(max(problems, key=largest_gradient_at_zero))
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
        sizes = [len(np.unique(np.concatenate([t.start.indices for t in row]))) for row in here]
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
    scores: Floats
    start: Start


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
    problem = fold.problem.replace(callback=run.callback)
    trials: list[list[_Trial]] = []
    for weights in _weights(fold, row, problem, chain):
        if run.stopped:
            break
        trials.append([])
        for w, b in weights:
            indices = np.flatnonzero(w)
            start = Start(indices, w[indices], b)
            trials[-1].append(_Trial(fold.X_held @ w + b, start))
        run.advance()
    return trials + [[]] * (len(chain) - len(trials))


def _weights(
    fold: Fold, row: int | None, problem: Problem, chain: Sequence[Regularizer]
) -> Iterator[list[tuple[Floats, float]]]:
    """Weights and intercepts of one class, or of all, for every point of a chain."""
    if row is not None:
        for _, solution in chain[0].path(problem.replace(y=fold.targets[row]), chain):
            yield [(solution.w, solution.b)]
        return
    assert fold.codes is not None
    start = None
    for part in chain:
        fitted = part.solve_softmax(problem, fold.codes, start)
        start = fitted.w, fitted.b
        yield [(w, float(b)) for w, b in zip(fitted.w, fitted.b, strict=True)]


def measure(scores: Floats, truth: Int64s | Floats, loss: str = "logistic") -> dict[str, float]:
    """Values of all METRICS for scores (n, 1) of the second of two classes or (n, classes).

    truth: (n,) indices of classes; or numbers, which make it a regression. loss: what was fitted;
    only "logistic" and "softmax" give probabilities, and so a log-loss.
    """
    if not np.issubdtype(truth.dtype, np.integer):
        return measure_numbers(scores[:, 0], np.asarray(truth, dtype=np.float64))
    codes = truth.astype(np.int64)
    n, columns = scores.shape
    if columns == 1:
        predicted = (scores[:, 0] > 0).astype(np.int64)
        # log(1 + exp(-margin)) of the true class, without overflow
        margins = np.where(codes == 1, scores[:, 0], -scores[:, 0])
        losses = np.logaddexp(0.0, -margins)
    else:
        predicted = scores.argmax(axis=1)
        # One-vs-rest probabilities, normalized to sum to one: sigmoid(s) = exp(-log(1 + exp(-s))).
        logs = scores if loss == "softmax" else -np.logaddexp(0.0, -scores)
        losses = np.logaddexp.reduce(logs, axis=1) - logs[np.arange(n), codes]
    n_classes = max(2, columns)
    right = np.bincount(codes[predicted == codes], minlength=n_classes)
    seen = np.bincount(codes, minlength=n_classes) + np.bincount(predicted, minlength=n_classes)
    values = {
        "accuracy": float(right.sum() / n),
        "macro-f1": float(np.mean(2 * right[seen > 0] / seen[seen > 0])),
    }
    return {**values, "log-loss": float(losses.mean())} if loss in PROBABLE else values


def measure_numbers(predicted: Floats, truth: Floats) -> dict[str, float]:
    """r2: share of the truth's variance that is explained, below 0 where the mean does better (and
    0 where the truth does not vary); mse: mean squared error. Both arguments (n,).
    """
    mse = float(np.mean((truth - predicted) ** 2))
    variance = float(np.var(truth))
    return {"r2": 1.0 - mse / variance if variance > 0.0 else 0.0, "mse": mse}


def wilson(right: int, total: int) -> tuple[float, float]:
    """95 % score interval of the share ``right / total`` (Wilson 1927, JASA 22:209-212)."""
    z = 1.959963984540054
    share = right / total
    center = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    below = 1 + z * z / total
    return max(0.0, (center - spread) / below), min(1.0, (center + spread) / below)
