"""How prices are chosen: the search over a grid.

Every point of a regularizer's grid is fitted on the training part of each split and measured on the
part held out. The grid is cut into chains that are solved from the emptiest model down, each point
warm-started from its neighbor; chains, classes and splits are independent and run side by side. All
of them take a few steps before any takes more, so that a search that is stopped has measured some
settings in full. The cuts never depend on the number of jobs, so neither do the results.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textreg.kinds import Regularizer
from textreg.plugins import calls
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.journal import Journal
from textreg.training.search.trials import Fold, Piece, Start, Trial, Trials

STEPS = 3
"""Settings of a chain that are solved in one go."""


@dataclass(frozen=True, eq=False)
class Point:
    """One setting, measured on everything held out.

    part: the regularizer with its prices decided. metrics: values by name. nonzero: features with a
    weight for any class, mean over the splits. starts: solutions of the first split, one a class;
    None for those with many weights, which are not worth their memory. changes: what else was
    searched, by the names of the options. error: standard error of the metric that was asked for.
    """

    part: Regularizer
    metrics: dict[str, float]
    nonzero: float
    starts: tuple[Start | None, ...] = field(repr=False)
    changes: Mapping[str, Any] = field(default_factory=dict)
    error: float | None = None


def search(
    regularizer: Regularizer,
    folds: Sequence[Fold],
    work: Work = ALONE,
) -> list[Point]:
    """Measure every point of the regularizer's grid, in the order of ``Regularizer.candidates``.

    After Ctrl-C the points that were measured in full; KeyboardInterrupt where there is none.
    """
    grid = grid_of(regularizer, folds[0])
    points = measure_grid(grid, folds, work.run("search", len(grid) * fits(folds)))
    if not points:
        raise KeyboardInterrupt
    return points


def grid_of(regularizer: Regularizer, first: Fold) -> list[Regularizer]:
    """The regularizer's grid, made from the training part of the first fold.

    Several classes share its prices, so that one number says what was chosen: the grid of the class
    that takes the most to empty.
    """
    return calls.candidates(regularizer, first.hardest())


def fits(folds: Sequence[Fold]) -> int:
    """Number of fits that measure one setting."""
    return sum(len(fold.rows) for fold in folds)


def measure_grid(
    grid: Sequence[Regularizer],
    folds: Sequence[Fold],
    run: Run,
    *,
    changes: Mapping[str, Any] | None = None,
    error_of: str | None = None,
    journal: Journal | None = None,
) -> list[Point]:
    """The points of a grid that were measured in full before ``run`` was stopped.

    changes: what sets these folds apart from others of the search. error_of: the metric whose
    standard error is wanted, over the folds, or over the documents where there is one fold.
    journal: what it holds is not solved again, and what is solved is kept there.
    """
    rows = folds[0].rows
    # trials[point][fold, row]: one for every weight vector of that row
    trials: list[dict[tuple[int, int | None], list[Trial]]] = [{} for _ in grid]
    for wave in _waves(grid):
        where = [(cut, at, row) for cut in wave for at in range(len(folds)) for row in rows]
        pieces = []
        for (before, places), at, row in where:
            starts = _starts(trials[before[-1]][at, row]) if before else None
            past, parts = ([grid[place] for place in some] for some in (before, places))
            pieces.append(Piece(folds[at], row, past, parts, starts))
        for ((_, places), at, row), solved in zip(where, _solve(pieces, run, journal), strict=True):
            for place, found in zip(places, solved, strict=False):
                trials[place][at, row] = found
        if run.stopped:
            break
    points = []
    for part, tried in zip(grid, trials, strict=True):
        if len(tried) < len(folds) * len(rows):
            continue  # stopped before all of it was measured
        by_fold = [[one for row in rows for one in tried[at, row]] for at in range(len(folds))]
        points.append(_point(part, folds, by_fold, changes or {}, error_of))
    return points


def _solve(pieces: Sequence[Piece], run: Run, journal: Journal | None) -> list[Trials]:
    """Trials of pieces of work, those that the journal holds from there."""
    if journal is None:
        return run.solve_pieces(pieces)
    known = [journal.get(piece) for piece in pieces]
    for place, trials in itertools.chain.from_iterable(enumerate(found or ()) for found in known):
        run.done(place, trials)
    fresh = [piece for piece, found in zip(pieces, known, strict=True) if found is None]
    solved = iter(run.solve_pieces(fresh, journal.put))
    return [next(solved) if found is None else found for found in known]


def _point(
    part: Regularizer,
    folds: Sequence[Fold],
    by_fold: Sequence[Sequence[Trial]],
    changes: Mapping[str, Any],
    error_of: str | None,
) -> Point:
    """A setting measured: its trials are given fold by fold, one a weight vector."""
    scores = [np.column_stack([trial.scores for trial in trials]) for trials in by_fold]
    unions = [np.bitwise_or.reduce([trial.used for trial in trials]) for trials in by_fold]
    task = folds[0].task
    y_true: list[Any] = [fold.y_held for fold in folds]
    error = None
    if error_of is not None:
        error = task.standard_error(scores, y_true, error_of)
    return Point(
        part=part,
        metrics=task.measure(np.vstack(scores), np.concatenate(y_true)),
        nonzero=float(np.mean([int(np.unpackbits(union).sum()) for union in unions])),
        starts=tuple(trial.start for trial in by_fold[0]),
        changes=changes,
        error=error,
    )


def _chains(grid: Sequence[Regularizer]) -> list[list[int]]:
    """Cut the grid wherever another than the last of the parameters that vary changes."""
    settings = [list(part.params().values()) for part in grid]
    varying = [at for at, column in enumerate(zip(*settings, strict=True)) if len(set(column)) > 1]

    def outer(point: int) -> list[Any]:
        return [settings[point][at] for at in varying[:-1]]

    return [list(chain) for _, chain in itertools.groupby(range(len(grid)), key=outer)]


def _waves(grid: Sequence[Regularizer]) -> list[list[tuple[list[int], list[int]]]]:
    """The first steps of all chains, then the next steps of all that have more, and so on.

    Each with the settings that come before it in its chain. Both ends of the grid come first, for
    time may be up before the last chain. Who takes a whole chain in a run of its own gets it whole.
    """
    first, *others = _chains(grid)
    chains = [first, *reversed(others)]
    whole = type(grid[0]).path is not Regularizer.path
    steps = max(map(len, chains)) if whole else STEPS
    cut = [
        [(chain[:at], chain[at : at + steps]) for at in range(0, len(chain), steps)]
        for chain in chains
    ]
    return [[some for some in wave if some] for wave in itertools.zip_longest(*cut)]


def _starts(trials: Sequence[Trial]) -> list[Start] | None:
    """Where the next step begins: at the solutions of the last, if all of them are kept."""
    known = [trial.start for trial in trials if trial.start is not None]
    return known if len(known) == len(trials) else None
