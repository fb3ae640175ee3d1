"""Many labels: settings that a few of the labels rule out are not fitted for the others.

A search fits its settings for some labels only, and measures them on the documents of these alone,
as if there were no other labels. The best few of them, as far as they are not clearly behind, are
then fitted for twice as many labels, the best of these for twice as many again, until one is left
and fitted for all: successive halving
(Jamieson & Talwalkar 2016) over labels in place of documents, as strengths that fit a part of the
documents do not fit all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.kinds import Regularizer
from textreg.tasks.classification import Multiclass
from textreg.training.running import Run
from textreg.training.search.context import BestSoFar, SearchContext
from textreg.training.search.documents import FeatureValues
from textreg.training.search.selection import (
    MeasuredSetting,
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

FIRST = 4
"""Labels of these that rule out a setting which is clearly behind the best so far."""

KEPT = 4
"""How many settings the first labels leave at most; the next ones leave half of them, and so on."""

ERRORS = 2.0
"""Standard errors by which a setting is behind the best where it is left out in any case."""

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
        self._losses: dict[Place, Floats | None] = {}
        self._best = BestSoFar(context)

    def measure(
        self, values: FeatureValues, grid: Sequence[Regularizer], run: Run
    ) -> list[MeasuredSetting]:
        """The settings of a grid, measured on the labels of the first stage alone.

        Each starts from the best so far under these values, if there is one. Those that a few of
        these labels show to be clearly behind it are left out: weak penalties of groups take most
        of the time where they do nothing.
        """
        places, near = [(values, one) for one in grid], self._best.near(values)
        if near is not None:
            places = self._not_behind(places, near, run)
        new = self._measure(places, 0, run, near)
        pairs = {one: (setting, self._results[values, one]) for (_, one), setting in new.items()}
        self._best.take(values, pairs)
        return list(new.values())

    def _not_behind(self, places: Sequence[Place], near: Results, run: Run) -> list[Place]:
        """Those of some settings, under the same values, that the first labels do not rule out."""
        rows, folds = self.stages[0], self._folds(places[0][0])
        first = rows[np.linspace(0, len(rows) - 1, min(FIRST, len(rows))).round().astype(np.int64)]
        self._solve(places, first, run, near)
        if run.stopped:
            return []
        best = _on_labels(folds, near, first).losses(self._context.metric)
        left = []
        for place in places:
            measured = _on_labels(folds, self._results[place], first)
            if behind(measured.losses(self._context.metric), best):
                del self._results[place]
                run.counter.total -= (len(rows) - len(first)) * len(folds)
            else:
                left.append(place)
        return left

    def _solve(
        self, places: Sequence[Place], rows: Int64s, run: Run, near: Results | None
    ) -> Sequence[Results]:
        """Fit settings under the same values for some labels, as far as they are not yet."""
        values, grid = places[0][0], [regularizer for _, regularizer in places]
        own = [self._results.setdefault(place, {}) for place in places]
        new = [row for row in rows.tolist() if any((0, row) not in results for results in own)]
        if new:
            Solving(self._folds(values), run, near).add_trials(new, grid, own)
        return own

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
            first = self._losses[kept[0]]
            kept = [place for place in kept if not behind(self._losses[place], first)]
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
        rows, metric = self.stages[stage], self._context.metric
        for values, some in groupby(places, key=lambda place: place[0]):
            under = list(some)
            folds, measuring = self._folds(values), self._context.measuring(values)
            for place, results in zip(under, self._solve(under, rows, run, near), strict=True):
                if any((at, row) not in results for at in range(len(folds)) for row in rows):
                    continue
                if stage == len(self.stages) - 1:
                    measured[place] = measured_setting(place[1], folds, results, measuring)
                    continue
                found = _on_labels(folds, results, rows)
                self._losses[place] = found.losses(metric)
                measured[place] = MeasuredSetting(
                    regularizer=place[1],
                    metrics=found.task.measure(found.scores, found.y, found.weights),
                    nonzero=found.nonzero,
                    starts=(),
                    changes=measuring.changes,
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


def behind(losses: Floats | None, best: Floats | None) -> bool:
    """Whether a setting is certainly worse than the best, by the losses of the same documents."""
    if losses is None or best is None:
        return False
    worse = losses - best
    return bool(worse.mean() > ERRORS * worse.std() / math.sqrt(len(worse)))


class OnLabels(NamedTuple):
    """Scores of the held-out documents of a few labels, by these alone.

    task, y, weights: what they are measured by; None for weights that are all the same. nonzero:
    features with a weight in the first fold.
    """

    task: Multiclass
    scores: Floats
    y: Any
    weights: Floats | None
    nonzero: float

    def losses(self, metric: str) -> Floats | None:
        """(n,) what a metric is the mean of, where there is such and documents count the same."""
        return self.task.losses(metric, self.scores, self.y) if self.weights is None else None


def _on_labels(folds: Sequence[Fold], results: Results, rows: Int64s) -> OnLabels:
    """The trials of a setting for a few labels."""
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
    used = [trial.used for row in rows.tolist() for trial in results[0, row]]
    return OnLabels(
        task=task,
        scores=np.vstack(tables),
        y=np.concatenate(targets),
        weights=None if every is None else every[np.concatenate(counts)],
        nonzero=float(np.unpackbits(np.bitwise_or.reduce(used)).sum()),
    )
