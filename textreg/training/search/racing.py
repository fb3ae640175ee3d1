"""Many labels: settings that a few of the labels rule out are not fitted for the others.

Every setting is fitted for some labels first, and measured on their documents alone, as if there
were no other labels. The best few of them are then fitted for all labels and measured on
everything, and the search chooses among these: a race (Maron & Moore 1994) over labels in place of
documents, as strengths that fit a part of the documents do not fit all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.kinds import Regularizer
from textreg.tasks.classification import Multiclass
from textreg.training.running import Run
from textreg.training.search.selection import (
    PLAIN,
    MeasuredSetting,
    Measuring,
    Results,
    held_weights,
    measure_grid,
    measured_setting,
    solve_rows,
)
from textreg.training.search.trials import Fold

if TYPE_CHECKING:
    from textreg.records import Bools, Floats, Int64s

LABELS = 12
"""The fewest labels that settings are ruled out by."""

DOCUMENTS = 200
"""The fewest documents, held out, that settings are ruled out by."""

KEPT = 4
"""How many settings are fitted for all labels."""

Ranking = Callable[[Sequence[MeasuredSetting], int], list[int]]
"""The indices of the best of some settings, so many."""


class Race(NamedTuple):
    """The settings that were measured on everything, and by how many labels others were ruled out.

    labels: 0 if none was.
    """

    measured: list[MeasuredSetting]
    labels: int = 0


def measure_race(
    grid: Sequence[Regularizer],
    folds: Sequence[Fold],
    run: Run,
    best: Ranking,
    measuring: Measuring = PLAIN,
) -> Race:
    """Measure the best settings of a grid; all of them where labels or settings are few."""
    rows = None if len(grid) <= KEPT else few_labels(folds)
    if rows is None:
        return Race(measure_grid(grid, folds, run, measuring))
    results: list[Results] = [{} for _ in grid]
    first = rows.tolist()
    solve_rows(first, grid, folds, results, run, measuring.journal)
    tried = [at for at, trials in enumerate(results) if len(trials) == len(folds) * len(first)]
    if run.stopped:
        return Race([])
    ranked = best([_on_part(grid[at], folds, results[at], rows) for at in tried], KEPT)
    kept = sorted(tried[at] for at in ranked[:KEPT])
    others = [row for row in folds[0].rows if row not in first]
    run.counter.total -= (len(grid) - len(kept)) * len(others) * len(folds)
    own = [results[at] for at in kept]
    solve_rows(others, [grid[at] for at in kept], folds, own, run, measuring.journal)
    complete = len(folds) * len(folds[0].rows)
    measured = [
        measured_setting(grid[at], folds, results[at], measuring)
        for at in kept
        if len(results[at]) == complete
    ]
    return Race(measured, len(first))


def few_labels(folds: Sequence[Fold]) -> Int64s | None:
    """The weight vectors of some labels, ascending, from the most frequent to the rarest.

    They are at least :data:`LABELS`, with :data:`DOCUMENTS` documents held out. None where these
    are more than half of all labels, or labels are fitted together.
    """
    task, k = folds[0].task, folds[0].task.n_rows
    if task.joint or not isinstance(task, Multiclass):
        return None
    counts = (folds[0].targets > 0).sum(axis=1)
    held = np.sum([(task.rows(fold.y_held) > 0).sum(axis=1) for fold in folds], axis=0)
    order = np.argsort(-counts, kind="stable")
    for number in range(LABELS, k // 2 + 1):
        rows: Int64s = np.sort(order[np.linspace(0, k - 1, number).round().astype(np.int64)])
        if held[rows].sum() >= DOCUMENTS:
            return rows
    return None


def _on_part(
    regularizer: Regularizer, folds: Sequence[Fold], results: Results, rows: Int64s
) -> MeasuredSetting:
    """A setting measured on the documents of a few labels, by their scores alone."""
    tables: list[Floats] = []
    targets: list[Any] = []
    counts: list[Bools] = []
    every = held_weights(folds)
    for at, fold in enumerate(folds):
        assert isinstance(fold.task, Multiclass)
        task, count, y = fold.task.part(rows, fold.y_held)
        trials = [trial for row in rows.tolist() for trial in results[at, row]]
        tables.append(np.column_stack([trial.scores for trial in trials])[count])
        targets.append(y)
        counts.append(count)
    counted = None if every is None else every[np.concatenate(counts)]
    used = [trial.used for row in rows.tolist() for trial in results[0, row]]
    return MeasuredSetting(
        regularizer=regularizer,
        metrics=task.measure(np.vstack(tables), np.concatenate(targets), counted),
        nonzero=float(np.unpackbits(np.bitwise_or.reduce(used)).sum()),
        starts=(),
    )
