"""The fits of a search: settings fitted on the training part of every split, and measured.

Every setting is fitted on the training part of each split and measured on the held-out part. The
grid is cut into chains that are solved from the emptiest model on, each setting warm-started from
the one before (Friedman, Hastie and Tibshirani 2010, section 2.5). Chains, weight vectors and
splits are independent and run in parallel, in threads or by the workers of a backend. All chains
advance a few settings before any advances further, so that a search that is stopped has measured
some settings on all splits. The cuts never depend on the number of jobs, so neither do the results.
Where settings near to one that is solved already are to be measured, each starts from that one.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import ConvergenceWarning
from textreg.jobs import one_thread_in_blas
from textreg.kinds import Regularizer
from textreg.measure.metrics import equal_count, standard_error
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.records import Bools, Floats, Problem, Solution, Step, arrays
from textreg.tasks import Task
from textreg.tasks.base import Held
from textreg.tasks.classification import Multiclass
from textreg.training.running import ALONE, Run, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.tasks.base import Targets

# The most weights of a solution that is kept for a warm start: there is one for every setting,
# split and label.
MAX_START = 100_000

# Settings of a chain that are solved in one go: with more a search that is stopped has seen less
# of the other chains, with fewer threads wait for each other more often.
CHUNK = 3

# Digits of the strengths that are carried over.
DIGITS = 4

# How many weight vectors are fitted side by side, which kernels take in one go, and how many
# weights these may have together: every one takes a dozen vectors as long as that.
SIDE_BY_SIDE = {16: 3_000_000, 4: 6_000_000}


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

    @property
    def rows(self) -> list[int | None]:
        """The weight vectors that are fitted by themselves; [None] if all are fitted together."""
        return [None] if self.task.joint else list(range(self.task.n_rows))

    def of(self, row: int | None) -> Problem:
        """The problem of one of :attr:`rows`; its ``y`` is unused if all are fitted together."""
        if row is None:
            return self.problem
        y = self.task.row(self.y, row)
        if self.row_factors is None:
            return self.problem.replace(y=y)
        # c_i f(y_i): class weights differ by weight vector
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
        positive = self.task.row(self.y, row)[counted] > 0
        if positive.any() and not positive.all():
            return None
        # Laplace's rule: (n + 1) to 1, and the intercept with these odds
        n = float(np.count_nonzero(counted))
        odds = np.array([n * positive.any(), n * (not positive.any())]) + 1.0
        b = self.problem.loss.constant(np.array([1.0, -1.0]), odds)
        w = np.zeros(self.problem.design.shape[1])
        return Solution(w=w, b=b, objective=0.0, gap=0.0, iterations=0, converged=True)

    def hardest(self) -> Problem:
        """The problem of the weight vector that needs the largest penalty strength to vanish.

        Its grid is that of all: they share their hyperparameters, so that one number says what was
        chosen.
        If all are fitted together, it also has the class of every document.
        """
        every = range(self.task.n_rows)
        varying = [row for row in every if self.constant(row) is None] or every
        codes = self.y.astype(np.int64) if self.task.joint else None
        largest, design = list[float](), self.problem.design
        for at in range(0, len(varying), max(SIDE_BY_SIDE)):
            block = varying[at : at + max(SIDE_BY_SIDE)]
            slopes = np.stack([self.of(row).slopes_at_zero() for row in block], axis=1)
            gradients = design.transposed_product(slopes)
            largest += np.abs(gradients, out=gradients).max(axis=0, initial=0.0).tolist()
        return self.of(varying[int(np.argmax(largest))]).replace(codes=codes)


@dataclass(frozen=True, eq=False)
class Fold(Problems):
    """One split, ready to be fitted and measured.

    X_held, y_held: the held-out documents and their targets. weights_held: how much each of them
    counts when they are measured; None if all count the same. shift_weights: (n, k) how much each
    counts in the fit of every weight vector; None where intercepts are not shifted. normed: the
    first and last columns, and one beyond, of blocks of features whose rows are scaled to length 1.
    within: which held-out documents are in the problem, with weight 0; None if it has none of them.
    """

    X_held: csr_array
    y_held: Targets
    weights_held: Floats | None = None
    shift_weights: Floats | None = field(default=None, kw_only=True)
    normed: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    within: Bools | None = field(default=None, kw_only=True)

    @cached_property
    def X_measured(self) -> csr_array:
        """What the search measures: :attr:`X_new` where rows have length 1, else :attr:`X_held`."""
        return self.X_new() if self.normed else self.X_held

    def X_new(self, rows: csr_array | None = None) -> csr_array:
        """Held-out documents as a model meets new ones, which does not know all their features.

        Those that no fitted document has are dropped, and rows are scaled to length 1 again. Else
        their scores are nearer to the intercept than those of new documents will be. rows: other
        documents that are not fitted; by default :attr:`X_held`.
        """
        held = self.X_held[:0] if self.within is None else self.X_held[self.within]
        known = self.problem.design.sizes > np.bincount(held.indices, minlength=held.shape[1])
        X = (self.X_held if rows is None else rows).copy()
        X.data[~known[X.indices]] = 0.0
        document = arrays.row_of(X.indptr)
        for start, end in self.normed:
            block = (X.indices >= start) & (X.indices < end)
            # sum_j x_ij^2 of every document, over the columns of one tokenizer
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

    def dense(self, n_features: int) -> tuple[Floats, float]:
        """The form that ``Problem.start`` takes."""
        w, place = np.zeros(n_features), self.place
        if place.dtype == np.uint8:
            place = np.flatnonzero(np.unpackbits(place))
        w[place] = self.values
        return w, self.b


def together(starts: Sequence[tuple[Floats, float] | None]) -> tuple[Floats, Floats] | None:
    """Several in one, if all are there: weights (k, n_features) and intercepts (k,)."""
    known = [start for start in starts if start is not None]
    if not known or len(known) < len(starts):
        return None
    weights, intercepts = zip(*known, strict=True)
    return np.array(weights), np.array(intercepts)


class Trial(NamedTuple):
    """One setting fitted for one weight vector: scores of the held-out documents, and the weights.

    used: a bit for every feature, set if it has a weight. start: None if there are more than
    MAX_START weights. seconds: how long the fit took.
    """

    scores: Floats
    used: NDArray[np.uint8]
    start: Start | None
    seconds: float


# The trials of a chunk: for every setting one for each weight vector.
Trials = list[list[Trial]]


# Consecutive settings of a chain, for one fold and some of its ``rows``; and for each weight vector
# the solution of another setting to start from, or None to start from zero.
Chunk = tuple[Fold, list["int | None"], list[Regularizer], list["Start | None"]]


def solve_chunk(chunk: Chunk, run: Run) -> Trials:
    """Trials of every setting of a chunk; of the first ones only if the run is stopped.

    A setting that is being fitted at the stop has no trial.
    """
    fold, rows, settings, reduced = chunk
    p, trials = fold.problem.design.shape[1], Trials()
    starts = [None if start is None else start.dense(p) for start in reduced]

    def side_by_side() -> Iterator[Iterable[tuple[Floats, float]]]:
        near: Sequence[tuple[Floats, float] | None] = starts
        for regularizer in settings:
            solved = solve_rows(regularizer, fold, rows, near, run.callback)
            near = pairs = [(solution.w, solution.b) for solution in solved]
            yield pairs

    solutions = side_by_side()
    if not share_passes(settings, fold):
        chain = solve_chain(settings, fold, rows[0], starts, run)
        solutions = (zip(w, b.tolist(), strict=True) for w, b, _ in chain)
    began = time.perf_counter()
    for pairs in solutions:
        if run.stopped:
            break
        seconds = (time.perf_counter() - began) / len(rows)
        # scores of the held-out documents: X w + b
        trials.append([_trial(fold.X_measured, w, b, seconds) for w, b in pairs])
        run.advance(len(rows), seconds)
        began = time.perf_counter()
    return trials


def _trial(X: csr_array, w: Floats, b: float, seconds: float) -> Trial:
    nonzero = w != 0.0
    indices, used = np.flatnonzero(nonzero).astype(np.int32), np.packbits(nonzero)
    start = None
    if len(indices) <= MAX_START:
        place = used if used.nbytes < indices.nbytes else indices
        start = Start(place, w[indices].astype(np.float32), b)
    return Trial(X @ w + b, used, start, seconds)


def solve_chain(
    settings: Sequence[Regularizer],
    problems: Problems,
    row: int | None,
    starts: Sequence[tuple[Floats, float] | None],
    run: Run,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Weights (k, p), intercepts (k,) and gap of every setting, each started from the one before.

    row: one of ``problems.rows``; k is 1 unless all are fitted together. starts: weights and
    intercept of each to start from.
    """
    problem = problems.of(row).replace(callback=run.callback)
    if (constant := problems.constant(row)) is not None:
        for _ in settings:
            yield constant.w[None], np.array([constant.b]), constant.gap
        return
    if not problems.task.joint:
        problem = problem.replace(start=starts[0])
        for solution in calls.path(settings, problem, lambda: run.stopped is not None):
            yield solution.w[None], np.array([solution.b]), solution.gap
        return
    start = together(starts)
    for regularizer in settings:
        fitted = calls.solve_softmax(regularizer, problem, problems.y.astype(np.int64), start)
        start = fitted.w, fitted.b
        yield fitted.w, fitted.b, fitted.gap


def solve_rows(
    regularizer: Regularizer,
    problems: Problems,
    rows: Sequence[int | None],
    starts: Sequence[tuple[Floats, float] | None],
    callback: Callable[[Step], bool],
) -> list[Solution]:
    """Solutions for some of ``problems.rows``, side by side where that is known to be of use.

    starts: weights and intercept of each to start from, or None.
    """
    solutions = {row: problems.constant(row) for row in rows}
    start_of = dict(zip(rows, starts, strict=True))
    varying = [row for row in rows if solutions[row] is None]
    posed = [problems.of(row).replace(callback=callback, start=start_of[row]) for row in varying]
    if posed:
        solutions |= zip(varying, calls.solve_each(regularizer, posed), strict=True)
    return [solution for solution in solutions.values() if solution is not None]


def cut_rows(
    rows: Sequence[int | None], settings: Sequence[Regularizer], problems: Problems, threads: int
) -> list[list[int | None]]:
    """The rows in runs that are fitted side by side, as many as threads or more; or each alone.

    Solutions do not depend on how they are cut.
    """
    width = 1
    if share_passes(settings, problems):
        p = problems.problem.design.shape[1]
        most = next((k for k, weights in SIDE_BY_SIDE.items() if k * p <= weights), 1)
        # No thread should wait while another one has several.
        width = min(most, -(-len(rows) // threads))
    return [list(rows[at : at + width]) for at in range(0, len(rows), width)]


def share_passes(settings: Sequence[Regularizer], problems: Problems) -> bool:
    """Whether fits of several weight vectors share their passes over the matrix.

    A fit that may be side by side with others has other bits than one that may not; so this must
    not depend on how many are, which the number of threads decides.
    """
    # Fits of a path are not one by one.
    if len(problems.rows) < 2 or problems.task.joint or _has_path(settings):
        return False
    return all(map(calls.solves_together, settings))


# By fold and row, the trials of one setting, one for every weight vector of that row.
Results = dict[tuple[int, int | None], list[Trial]]


@dataclass(frozen=True, eq=False)
class MeasuredSetting:
    """One setting, measured on documents held out.

    regularizer: with all hyperparameters given. metrics: values by name. nonzero: features with a
    weight in any weight vector, mean over the splits. starts: solutions of the first split, one for
    each weight vector; None for those that are too large to keep. changes: other searched values,
    by the names of their options. error: standard error of the metric, where that was asked for.
    losses: (n,) of the documents, of which the metric is the mean, where there are such. size: of
    how many documents of equal weight metrics are.
    """

    regularizer: Regularizer
    metrics: dict[str, float]
    nonzero: float
    starts: tuple[Start | None, ...] = field(repr=False)
    changes: Mapping[str, Any] = field(default_factory=dict)
    error: float | None = None
    losses: Floats | None = field(default=None, repr=False)
    size: float = 1.0


def search(
    regularizer: Regularizer, folds: Sequence[Fold], work: Work = ALONE
) -> list[MeasuredSetting]:
    """Measure every setting of the regularizer's grid, in the order of ``candidates``.

    It is made from the training part of the first fold. After Ctrl-C those that were measured on
    all folds; KeyboardInterrupt if there is none.
    """
    grid, rows = calls.candidates(regularizer, folds[0].hardest()), folds[0].rows
    results: list[Results] = [{} for _ in grid]
    add_trials(grid, rows, folds, work.run("search", len(grid) * len(rows) * len(folds)), results)
    measured = [
        measured_setting(setting, folds, trials)
        for setting, trials in zip(grid, results, strict=True)
        if len(trials) == len(folds) * len(rows)  # else it was stopped before
    ]
    if not measured:
        raise KeyboardInterrupt
    return measured


def scales_of(reg: Regularizer, names: Iterable[str], problem: Problem) -> dict[str, float]:
    """The scale of those strengths that are searched in units of it."""
    declared = reg.declared(**reg.params())
    return {
        name: calls.scale(reg, problem, name)
        for name in names
        if isinstance(declared[name].search, LogGrid)
    }


def carried_over(
    regularizer: Regularizer, before: Mapping[str, float], after: Mapping[str, float]
) -> Regularizer:
    """The same fractions of other scales: strength = fraction * scale."""
    values = regularizer.params()
    return regularizer.replace(
        **{
            name: float(f"{values[name] * after[name] / scale:.{DIGITS}g}")
            for name, scale in before.items()
            if scale > 0.0
        }
    )


def add_trials(  # what, on what, how, and where it goes
    grid: Sequence[Regularizer],
    rows: Sequence[int | None],
    folds: Sequence[Fold],
    run: Run,
    results: Sequence[Results],
    near: Results | None = None,
) -> None:
    """Add the trials of every setting of a grid, for some weight vectors, to ``results``.

    near: the trials of a setting near to these, where each starts; without it, chains of them start
    from zero. Trials of the last settings are missing where the run was stopped.
    """
    if near is None or _has_path(grid):
        near, waves = {}, _waves(grid)
    else:
        waves = [[([], [place]) for place in range(len(grid))]]
    for wave in waves:
        cells = [
            (at, piece, places, results[before[-1]] if before else near)
            for before, places in wave
            for at, fold in enumerate(folds)
            for piece in cut_rows(rows, [grid[it] for it in places], fold, run.work.threads)
        ]
        chunks: list[Chunk] = [
            (folds[at], piece, [grid[place] for place in places], _starts(source, at, piece))
            for at, piece, places, source in cells
        ]
        solved = solve_chunks(chunks, run)
        for (at, piece, places, _), by_setting in zip(cells, solved, strict=True):
            for place, trials in zip(places, by_setting, strict=False):
                # Alone, a row may have several weight vectors, which are fitted together.
                of_rows = [trials] if len(piece) == 1 else [[trial] for trial in trials]
                for row, of_row in zip(piece, of_rows, strict=True):
                    results[place][at, row] = of_row
        if run.stopped:
            break


def _starts(source: Results, at: int, rows: Sequence[int | None]) -> list[Start | None]:
    """The solutions of a setting for some rows, where they are kept; None without any trials."""
    starts: list[Start | None] = []
    for row in rows:
        of_row = source.get((at, row))
        starts += [None] if of_row is None else [trial.start for trial in of_row]
    return starts


def solve_chunks(chunks: Sequence[Chunk], run: Run) -> list[Trials]:
    """Trials of every chunk, in threads or by the workers of ``run.work`` that are elsewhere.

    These get a fold once, which chunks then refer to, and solve each chunk in one thread, as is
    done here. Ctrl-C does not reach them: they solve all chunks.
    """
    workers, sent = run.work.workers, run.work.sent
    if workers is None or not workers.elsewhere:
        return list(run.map(solve_chunk, [(chunk, run) for chunk in chunks]))
    folds, *parts = zip(*chunks, strict=True)
    for fold in dict.fromkeys(folds):
        if fold not in sent:
            sent[fold] = workers.send(fold)
    ends = time.time() + run.remaining
    with run.listening():
        solved: list[Trials] = list(
            workers.map(_solve, map(sent.__getitem__, folds), *parts, itertools.repeat(ends))
        )
    for rows, trials in zip(parts[0], solved, strict=True):
        for fitted in trials:
            run.advance(len(rows), fitted[0].seconds)
    return solved


def measured_setting(  # noqa: PLR0913  # what is measured, and how
    regularizer: Regularizer,
    folds: Sequence[Fold],
    results: Results,
    *,
    labels: Sequence[int] | None = None,
    changes: Mapping[str, Any] | None = None,
    metric: str | None = None,
    error: bool = False,
) -> MeasuredSetting:
    """A setting measured, from its trials on all folds.

    labels: some of them, which are measured on their own documents as if there were no others.
    metric: what settings are compared by. error: whether its standard error is wanted.
    """
    task, rows = folds[0].task, folds[0].rows if labels is None else labels
    by_fold = [[trial for row in rows for trial in results[at, row]] for at in range(len(folds))]
    scores = [np.column_stack([trial.scores for trial in trials]) for trials in by_fold]
    y_true: list[Any] = [fold.y_held for fold in folds]
    counts, weights = [fold.weights_held for fold in folds], held_weights(folds)
    if labels is not None:
        assert isinstance(task, Multiclass)
        parts = [task.part(np.asarray(labels), fold.y_held) for fold in folds]
        task, y_true = parts[0][0], [y for _, _, y in parts]
        # Documents of other labels are left out: the fits of these few say nothing of them.
        scores = [table[documents] for table, (_, documents, _) in zip(scores, parts, strict=True)]
        if weights is not None:
            weights = weights[np.concatenate([documents for _, documents, _ in parts])]
    elif (shift := _shift(folds, scores)) is not None:
        scores = [table + shift for table in scores]
    unions = [np.bitwise_or.reduce([trial.used for trial in trials]) for trials in by_fold]
    every, y = np.vstack(scores), np.concatenate(y_true)
    losses = None if metric is None else task.losses(metric, every, y)
    spread = None
    if metric is not None and error:
        spread = standard_error(task.measure, scores, y_true, metric, counts, task.losses)
    return MeasuredSetting(
        regularizer=regularizer,
        metrics=task.measure(every, y, weights),
        nonzero=float(np.mean([int(np.unpackbits(union).sum()) for union in unions])),
        starts=tuple(trial.start for trial in by_fold[0]),
        changes=changes or {},
        error=spread,
        losses=losses if weights is None else None,
        size=equal_count(len(y), weights),
    )


def _shift(folds: Sequence[Fold], scores: Sequence[Floats]) -> Floats | None:
    """(k,) shifts of the intercepts, without which the best strengths are others; or None."""
    weights = [fold.shift_weights for fold in folds if fold.shift_weights is not None]
    if not weights:
        return None
    y = np.concatenate([fold.y_held for fold in folds])
    shift = folds[0].task.shift(np.vstack(scores), y, np.concatenate(weights))
    return None if shift is None else shift.values


def held_of(folds: Sequence[Fold], scores: Sequence[Floats]) -> Held:
    """Everything held out, in one. scores: the tables of the folds."""
    y = np.concatenate([fold.y_held for fold in folds])
    return Held(np.vstack(scores), y, held_weights(folds))


def held_weights(folds: Sequence[Fold]) -> Floats | None:
    """The weights of everything held out, in one; None if all documents count the same."""
    if all(fold.weights_held is None for fold in folds):
        return None
    # Of some folds all documents may have the weight 0.
    weights = ((fold.weights_held, len(fold.y_held)) for fold in folds)
    return np.concatenate([np.zeros(n) if held is None else held for held, n in weights])


def families(grid: Sequence[Regularizer]) -> list[list[int]]:
    """The places of the settings of each class of regularizers, in the order of the first ones."""
    places: dict[type[Regularizer], list[int]] = {}
    for place, regularizer in enumerate(grid):
        places.setdefault(type(regularizer), []).append(place)
    return list(places.values())


def _chains(grid: Sequence[Regularizer]) -> list[list[int]]:
    """Cut the grid wherever another than the last of the parameters that vary changes."""
    chains: list[list[int]] = []
    for places in families(grid):
        settings = {place: list(grid[place].params().values()) for place in places}
        # The last parameter that varies goes from strong to weak within a chain.
        columns = enumerate(zip(*settings.values(), strict=True))
        *outer, _ = [at for at, column in columns if len(set(column)) > 1] or [0]
        keys = {place: [values[at] for at in outer] for place, values in settings.items()}
        chains += [list(chain) for _, chain in itertools.groupby(keys, key=keys.__getitem__)]
    return chains


def _waves(grid: Sequence[Regularizer]) -> list[list[tuple[list[int], list[int]]]]:
    """The first chunks of all chains, then the next chunks, and so on.

    Each chunk has the settings that come before it in its chain. Both ends of the grid come first,
    since time may be up before the last chain. A regularizer with a path of its own gets whole
    chains.
    """
    first, *others = _chains(grid)
    chains = [first, *reversed(others)]
    size = max(map(len, chains)) if _has_path(grid) else CHUNK
    cut = [
        [(chain[:at], chain[at : at + size]) for at in range(0, len(chain), size)]
        for chain in chains
    ]
    return [[chunk for chunk in wave if chunk] for wave in itertools.zip_longest(*cut)]


def _has_path(grid: Sequence[Regularizer]) -> bool:
    """Whether the regularizer has a path of its own."""
    return type(grid[0]).path is not Regularizer.path


def _solve(fold: Fold, rows: Any, parts: Any, starts: Any, ends: float) -> Trials:
    """What a worker does with a piece."""
    with warnings.catch_warnings(), one_thread_in_blas():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # The clock of this machine is thought to be right.
        run = Work(deadline=time.monotonic() + ends - time.time()).run("search", 0)
        return solve_chunk((fold, rows, parts, starts), run)
