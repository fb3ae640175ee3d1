"""Many labels: settings that a few of the labels rule out are not fitted for the others.

A search fits its settings for some labels only, and measures them on the documents of these alone,
as if there were no other labels. The best few of them are then fitted for twice as many labels, the
best of these for twice as many again, until one is left and fitted for all: successive halving
(Jamieson & Talwalkar 2016) over labels in place of documents, as strengths that fit a part of the
documents do not fit all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.kinds import Regularizer
from textreg.tasks.classification import Multiclass
from textreg.training.running import Run
from textreg.training.search.context import BestSoFar, SearchContext
from textreg.training.search.documents import FeatureValues
from textreg.training.search.selection import (
    MeasuredSetting,
    Measuring,
    Results,
    Solving,
    held_weights,
    measured_setting,
)
from textreg.training.search.trials import Fold

if TYPE_CHECKING:
    from textreg.records import Bools, Floats, Int64s

LABELS, LEAST = 12, 10
"""The fewest labels that settings are ruled out by; or half of all labels, if these are LEAST."""

DOCUMENTS = 200
"""The fewest documents, held out, that settings are ruled out by."""

KEPT = 4
"""How many settings the first labels leave; the next ones leave half of them, and so on."""

Place = tuple[FeatureValues, Regularizer]
"""A setting of the whole space."""


class Race:
    """The settings of a search, each fitted for as many labels as it takes to rule it out.

    Attributes
    ----------
    stages : list of ndarray
        The weight vectors of the labels of every stage, those of the ones before included; the last
        stage has all.
    """

    def __init__(self, context: SearchContext, stages: Sequence[Int64s]) -> None:
        self.stages = stages
        self._context = context
        self._results: dict[Place, Results] = {}
        self._best = BestSoFar(context)

    def measure(
        self, values: FeatureValues, grid: Sequence[Regularizer], run: Run
    ) -> list[MeasuredSetting]:
        """The settings of a grid, measured on the labels of the first stage alone.

        Each starts from the best so far under these values, if there is one.
        """
        places = [(values, one) for one in grid]
        new = self._measure(places, 0, run, self._best.near(values))
        pairs = {one: (setting, self._results[values, one]) for (_, one), setting in new.items()}
        self._best.take(values, pairs)
        return list(new.values())

    def finish(self, run: Run) -> list[MeasuredSetting]:
        """The best settings, measured on all labels; none if the run was stopped before.

        For more labels the best is fitted first, and the others start from there.
        """
        kept, number = list(self._results), KEPT
        ranked = self._measure(kept, 0, run)
        for stage in range(1, len(self.stages)):
            best = self._context.promising(list(ranked.values()), number)[:number]
            kept = sorted(
                (place for place in kept if ranked.get(place) in best),
                key=lambda place: best.index(ranked[place]),
            )
            self._results = {place: self._results[place] for place in kept}
            more = len(self.stages[stage]) - len(self.stages[stage - 1])
            run.counter.total += len(kept) * more * len(self._folds(kept[0][0]))
            ranked = self._measure(kept[:1], stage, run)
            near = self._results[kept[0]]
            for place in kept[1:]:
                same = place[0] == kept[0][0]
                ranked |= self._measure([place], stage, run, near if same else None)
            if run.stopped:
                return []
            number = max(number // 2, 1)
        return list(ranked.values())

    def _measure(
        self, places: Iterable[Place], stage: int, run: Run, near: Results | None = None
    ) -> dict[Place, MeasuredSetting]:
        """The settings that were fitted for all labels of a stage before the run was stopped."""
        measured: dict[Place, MeasuredSetting] = {}
        rows = self.stages[stage].tolist()
        for values, some in groupby(places, key=lambda place: place[0]):
            grid = [regularizer for _, regularizer in some]
            folds, measuring = self._folds(values), self._context.measuring(values)
            own = [self._results.setdefault((values, one), {}) for one in grid]
            new = [row for row in rows if any((0, row) not in results for results in own)]
            if new:
                Solving(folds, run, measuring.journal, near).add_trials(new, grid, own)
            for one, results in zip(grid, own, strict=True):
                if all((at, row) in results for at in range(len(folds)) for row in rows):
                    last = stage == len(self.stages) - 1
                    measured[values, one] = (
                        measured_setting(one, folds, results, measuring)
                        if last
                        else _on_part(one, folds, results, self.stages[stage], measuring)
                    )
        return measured

    def _folds(self, values: FeatureValues) -> Sequence[Fold]:
        return self._context.prepared(values).folds


def race(context: SearchContext) -> Race | None:
    """A race, where there are many labels; None where every setting is measured on all of them.

    They also are where the search rules no setting out.
    """
    if not context.rules_out:
        return None
    stages = label_stages(context.prepared(context.first).folds)
    return None if stages is None else Race(context, stages)


def label_stages(folds: Sequence[Fold]) -> list[Int64s] | None:
    """The weight vectors of every stage of a race, ascending; None where labels are too few.

    Every stage has twice as many as the one before, from the most frequent label to the rarest.
    """
    rows = few_labels(folds)
    if rows is None:
        return None
    order, stages = _by_frequency(folds[0]), [rows]
    while len(rows) < len(order):
        others = order[~np.isin(order, rows)]
        more = np.linspace(0, len(others) - 1, min(len(rows), len(others))).round()
        rows = np.sort(np.concatenate([rows, others[more.astype(np.int64)]]))
        stages.append(rows)
    return stages


def _by_frequency(fold: Fold) -> Int64s:
    """The weight vectors, that of the most frequent label first."""
    counts = (fold.targets > 0).sum(axis=1)
    return np.argsort(-counts, kind="stable")


def few_labels(folds: Sequence[Fold]) -> Int64s | None:
    """The weight vectors of some labels, ascending, from the most frequent to the rarest.

    They are at least :data:`LABELS`, or half of all labels, with :data:`DOCUMENTS` documents held
    out. None where these are more than half, or labels are fewer than twice :data:`LEAST`, or are
    fitted together.
    """
    task, k = folds[0].task, folds[0].task.n_rows
    if task.joint or not isinstance(task, Multiclass):
        return None
    held = np.sum([(task.rows(fold.y_held) > 0).sum(axis=1) for fold in folds], axis=0)
    order = _by_frequency(folds[0])
    half = k // 2
    for number in range(min(LABELS, half), half + 1) if half >= LEAST else ():
        rows: Int64s = np.sort(order[np.linspace(0, k - 1, number).round().astype(np.int64)])
        if held[rows].sum() >= DOCUMENTS:
            return rows
    return None


def _on_part(
    regularizer: Regularizer,
    folds: Sequence[Fold],
    results: Results,
    rows: Int64s,
    measuring: Measuring,
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
        changes=measuring.changes,
    )
