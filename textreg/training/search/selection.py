"""The settings of a grid, fitted and measured on every split.

Every setting is fitted on the training part of each split and measured on the held-out part. The
grid is cut into chains that are solved from the emptiest model on, each setting warm-started from
the one before. Chains, weight vectors and splits are independent and run in parallel. All chains
advance a few settings before any advances further, so that a search that is stopped has measured
some settings on all splits. The cuts never depend on the number of jobs, so neither do the results.
Where settings near to one that is solved already are to be measured, each starts from that one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.kinds import Regularizer
from textreg.measure.metrics import standard_error
from textreg.plugins import calls
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.trials import (
    Chunk,
    Fold,
    Start,
    Trial,
    Trials,
    cut_rows,
    solve_chunk,
)

if TYPE_CHECKING:
    from textreg.records import Floats

CHUNK = 3
"""Settings of a chain that are solved in one go."""

Results = dict[tuple[int, int | None], list[Trial]]
"""By fold and row, the trials of one setting, one for every weight vector of that row."""


@dataclass(frozen=True, eq=False)
class MeasuredSetting:
    """One setting, measured on everything held out.

    regularizer: with all hyperparameters given. metrics: values by name. nonzero: features with a
    weight in any weight vector, mean over the splits. starts: solutions of the first split, one for
    each weight vector; None for those that are too large to keep. changes: other searched values,
    by the names of their options. error: standard error of the metric that was asked for.
    """

    regularizer: Regularizer
    metrics: dict[str, float]
    nonzero: float
    starts: tuple[Start | None, ...] = field(repr=False)
    changes: Mapping[str, Any] = field(default_factory=dict)
    error: float | None = None


@dataclass(frozen=True)
class Measuring:
    """What :func:`measure_grid` notes of its settings, and where it keeps their trials.

    changes: what sets these folds apart from others of the search. error_of: the metric whose
    standard error is wanted, if any.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    error_of: str | None = None


PLAIN = Measuring()

Measured = dict[Regularizer, tuple[MeasuredSetting, Results]]
"""Settings as they were measured, and their trials."""


def search(
    regularizer: Regularizer,
    folds: Sequence[Fold],
    work: Work = ALONE,
) -> list[MeasuredSetting]:
    """Measure every setting of the regularizer's grid, in the order of ``candidates``.

    After Ctrl-C those that were measured on all folds; KeyboardInterrupt if there is none.
    """
    grid = grid_of(regularizer, folds[0])
    measured = measure_grid(grid, folds, work.run("search", len(grid) * count_fits(folds)))
    if not measured:
        raise KeyboardInterrupt
    return [setting for setting, _ in measured.values()]


def grid_of(regularizer: Regularizer, first: Fold) -> list[Regularizer]:
    """The regularizer's grid, made from the training part of the first fold.

    All weight vectors share their hyperparameters, so that one number says what was chosen. The
    grid is that of the weight vector that needs the largest penalty strength to vanish.
    """
    return calls.candidates(regularizer, first.hardest())


def count_fits(folds: Sequence[Fold]) -> int:
    """Number of fits that measure one setting."""
    return sum(len(fold.rows) for fold in folds)


def measure_grid(
    grid: Sequence[Regularizer],
    folds: Sequence[Fold],
    run: Run,
    measuring: Measuring = PLAIN,
    near: Results | None = None,
) -> Measured:
    """The settings of a grid that were measured on all folds before ``run`` was stopped.

    near: the trials of a setting near to all of these, to start from.
    """
    results: list[Results] = [{} for _ in grid]
    solving = Solving(folds, run, near)
    solving.add_trials(folds[0].rows, grid, results)
    return {
        regularizer: (measured_setting(regularizer, folds, tried, measuring), tried)
        for regularizer, tried in zip(grid, results, strict=True)
        if len(tried) == len(folds) * len(folds[0].rows)  # else it was stopped before
    }


@dataclass(frozen=True, eq=False)
class Solving:
    """How trials are made: on which folds, as part of which run, and from where.

    near: the trials of a setting near to those that are to be solved; without it, chains of them
    start from zero.
    """

    folds: Sequence[Fold]
    run: Run
    near: Results | None = None

    def add_trials(
        self, rows: Sequence[int | None], grid: Sequence[Regularizer], results: Sequence[Results]
    ) -> None:
        """Add the trials of every setting, for some of the weight vectors, to ``results``.

        Those of the last settings are missing where the run was stopped.
        """
        near = None if _paths(grid) else self.near
        places = range(len(grid))
        threads = self.run.work.threads
        for wave in _waves(grid) if near is None else [[([], [place]) for place in places]]:
            cells = [
                Cell(before, own, at, some)
                for before, own in wave
                for at, fold in enumerate(self.folds)
                for some in cut_rows(rows, [grid[place] for place in own], fold, threads)
            ]
            self._solve_cells(cells, grid, results, near or {})
            if self.run.stopped:
                break

    def _solve_cells(
        self,
        cells: Sequence[Cell],
        grid: Sequence[Regularizer],
        results: Sequence[Results],
        near: Results,
    ) -> None:
        """Add the trials of these to ``results``."""
        chunks = []
        for cell in cells:
            before = results[cell.before[-1]] if cell.before else near
            starts = [it for row in cell.rows for it in _starts(before.get((cell.fold, row)))]
            settings = [grid[place] for place in cell.places]
            chunks.append(Chunk(self.folds[cell.fold], cell.rows, settings, starts))
        solved = solve_chunks(chunks, self.run)
        for cell, trials in zip(cells, solved, strict=True):
            for place, found in zip(cell.places, trials, strict=False):
                each = [found] if len(cell.rows) == 1 else [[trial] for trial in found]
                for row, own in zip(cell.rows, each, strict=True):
                    results[place][cell.fold, row] = own


class Cell(NamedTuple):
    """Settings of a chain for one fold and some rows, and those before, as places in a grid."""

    before: list[int]
    places: list[int]
    fold: int
    rows: list[int | None]


def solve_chunks(chunks: Sequence[Chunk], run: Run) -> list[Trials]:
    """Trials of every chunk, in threads or on the cluster of ``run.work``.

    Ctrl-C does not reach a cluster, which solves all chunks.
    """
    cluster = run.work.cluster

    def solve(chunk: Chunk) -> Trials:
        return solve_chunk(chunk, run.stopper, lambda tried: _note(run, chunk, tried))

    if cluster is None:
        return list(run.map(solve, [(chunk,) for chunk in chunks]))
    with run.stopper.listening():
        solved = cluster.solve_chunks(chunks, run.stopper.remaining)
    for chunk, trials in zip(chunks, solved, strict=True):
        for tried in trials:
            _note(run, chunk, tried)
    return solved


def _note(run: Run, chunk: Chunk, trials: Sequence[Trial]) -> None:
    """Count the fits of a setting that is done."""
    run.stopper.note(max(trial.seconds for trial in trials))
    for _ in chunk.rows:
        run.counter.advance()


def measured_setting(
    regularizer: Regularizer, folds: Sequence[Fold], results: Results, measuring: Measuring
) -> MeasuredSetting:
    """A setting measured, from its trials on all folds."""
    task, rows = folds[0].task, folds[0].rows
    by_fold = [[trial for row in rows for trial in results[at, row]] for at in range(len(folds))]
    scores = [np.column_stack([trial.scores for trial in trials]) for trials in by_fold]
    unions = [np.bitwise_or.reduce([trial.used for trial in trials]) for trials in by_fold]
    y_true: list[Any] = [fold.y_held for fold in folds]
    counts = [fold.weights_held for fold in folds]
    error = None
    if measuring.error_of is not None:
        error = standard_error(
            task.measure, scores, y_true, measuring.error_of, counts, task.losses
        )
    return MeasuredSetting(
        regularizer=regularizer,
        metrics=task.measure(np.vstack(scores), np.concatenate(y_true), held_weights(folds)),
        nonzero=float(np.mean([int(np.unpackbits(union).sum()) for union in unions])),
        starts=tuple(trial.start for trial in by_fold[0]),
        changes=measuring.changes,
        error=error,
    )


def held_weights(folds: Sequence[Fold]) -> Floats | None:
    """The weights of everything held out, in one; None if all documents count the same."""
    if all(fold.weights_held is None for fold in folds):
        return None
    return np.concatenate(
        [  # of some folds all documents may have the weight 0
            np.zeros(len(fold.y_held)) if fold.weights_held is None else fold.weights_held
            for fold in folds
        ]
    )


def _chains(grid: Sequence[Regularizer]) -> list[list[int]]:
    """Cut the grid wherever another than the last of the parameters that vary changes."""
    settings = [list(regularizer.params().values()) for regularizer in grid]
    varying = [at for at, column in enumerate(zip(*settings, strict=True)) if len(set(column)) > 1]

    def outer(place: int) -> list[Any]:
        return [settings[place][at] for at in varying[:-1]]

    return [list(chain) for _, chain in itertools.groupby(range(len(grid)), key=outer)]


def _waves(grid: Sequence[Regularizer]) -> list[list[tuple[list[int], list[int]]]]:
    """The first chunks of all chains, then the next chunks, and so on.

    Each chunk has the settings that come before it in its chain. Both ends of the grid come first,
    since time may be up before the last chain. A regularizer with a path of its own gets whole
    chains.
    """
    first, *others = _chains(grid)
    chains = [first, *reversed(others)]
    size = max(map(len, chains)) if _paths(grid) else CHUNK
    cut = [
        [(chain[:at], chain[at : at + size]) for at in range(0, len(chain), size)]
        for chain in chains
    ]
    return [[some for some in wave if some] for wave in itertools.zip_longest(*cut)]


def _paths(grid: Sequence[Regularizer]) -> bool:
    """Whether the regularizer has a path of its own."""
    return type(grid[0]).path is not Regularizer.path


def _starts(trials: Sequence[Trial] | None) -> list[Start | None]:
    """The solutions of a setting for one row, where they are kept; None without any trials."""
    return [None] if trials is None else [trial.start for trial in trials]
