"""The search as a whole: over prices, and over whatever else is to be searched.

Documents are made into features once for every setting of tokenizer and vectorizer; groups and
graphs once for every setting of theirs. Prices are searched for each of these on its own grid.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from textreg.choice import choose
from textreg.kinds import Regularizer
from textreg.prepare import Prepared, Target, make_features, prepare
from textreg.records import Corpus
from textreg.running import Run
from textreg.selection import Point, fits, grid_of, measure_grid
from textreg.settings import TrainingSettings
from textreg.spaces import changed, combinations
from textreg.splits import Split
from textreg.trials import Fold
from textreg.tuning import Tuning
from textreg.vectorize import Features

KEPT = 4
"""Settings of features, groups and graph whose documents are kept in memory as numbers."""

Chosen = tuple[Any, ...]
"""A value for each dimension of a space."""


class Ready(NamedTuple):
    """Documents as numbers under one setting of the features, whole and cut into folds."""

    data: Prepared
    cut: list[Fold]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search came to.

    points: what was measured. best: the winner, None where nothing was to be searched. data, cut:
    the documents as the winner has them. planned: number of settings that were to be measured.
    """

    points: list[Point]
    best: Point | None
    data: Prepared
    cut: list[Fold]
    planned: int


class Bench:
    """Makes documents ready for every setting of the features, and measures prices there.

    space: the dimensions that are not prices. prices: those that are.
    """

    def __init__(
        self,
        corpus: Corpus,
        target: Target,
        settings: TrainingSettings,
        splits: Sequence[Split],
        features: Features | None = None,
    ) -> None:
        self.corpus, self.target, self.settings, self.splits = corpus, target, settings, splits
        dimensions = settings.dimensions()
        self.space = [one for one in dimensions if one.part != "reg"]
        self.prices = [one for one in dimensions if one.part == "reg"]
        # The features made last, and those given, which are of the settings as they are.
        self._features: dict[Any, Features] = {}
        if features is not None:
            self._features[settings.tokenizer, settings.vectorizer] = features
        self._ready: OrderedDict[Chosen, Ready] = OrderedDict()

    @property
    def first(self) -> Chosen:
        """The values that are tried first."""
        return tuple(one.values[0] for one in self.space)

    def forget(self) -> None:
        """Let go of all documents that are ready."""
        self._ready.clear()
        self._features.clear()

    def ready(self, chosen: Chosen) -> Ready:
        """Documents under these values of the space; kept for those used last."""
        if chosen not in self._ready:
            settings = self._with(chosen)
            key = settings.tokenizer, settings.vectorizer
            if key not in self._features:
                self._features = {key: make_features(self.corpus, settings)}
            data = prepare(self.corpus, self.target, settings, self._features[key])
            self._ready[chosen] = Ready(data, [data.fold(split) for split in self.splits])
        self._ready.move_to_end(chosen)
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)
        return self._ready[chosen]

    def grid(self, chosen: Chosen) -> list[Regularizer]:
        """The prices to try there: the regularizer's own grid, and the values that are named."""
        first = self.ready(chosen).cut[0]
        reg = self.settings.reg
        grid = [
            part
            for values in combinations(self.prices)
            for part in grid_of(changed({"reg": reg}, self.prices, values)["reg"], first)
        ]
        return _in_order(grid) if self.prices else grid

    def measure(self, chosen: Chosen, grid: Sequence[Regularizer], run: Run) -> list[Point]:
        """The points of a grid that were measured before the run was stopped."""
        settings = self.settings
        return measure_grid(
            grid,
            self.ready(chosen).cut,
            run,
            jobs=settings.jobs,
            changes=self.changes(chosen),
            error_of=settings.metric if settings.tuning.select == "1se" else None,
        )

    def changes(self, chosen: Chosen) -> dict[str, Any]:
        """The values by the names of the options."""
        return {one.key: value for one, value in zip(self.space, chosen, strict=True)}

    def winner(self, points: Sequence[Point]) -> Point:
        """The point that the settings choose."""
        return points[choose(points, self.settings.metric, self.settings.tuning.rule)]

    def of(self, point: Point) -> Ready:
        """Documents as the point has them."""
        return self.ready(tuple(point.changes[one.key] for one in self.space))

    def _with(self, chosen: Chosen) -> TrainingSettings:
        parts = changed(self.settings.parts(), self.space, chosen)
        searched = {one.part: parts[one.part] for one in self.space}
        return replace(self.settings, tuning=Tuning(), **searched)


def find(bench: Bench, run: Run) -> Found:
    """Search the whole space; KeyboardInterrupt where nothing was measured before the first Ctrl-C.

    Nothing is searched where there is no split; the documents are then those of the settings.
    """
    if not bench.splits:
        return Found([], None, *bench.ready(()), planned=0)
    points: list[Point] = []
    planned = 0
    settings = list(combinations(bench.space))
    with run.listening():
        for done, chosen in enumerate(settings):
            grid = bench.grid(chosen)
            planned += len(grid)
            left = len(settings) - done - 1
            run.expect((planned + left * len(grid)) * fits(bench.ready(chosen).cut))
            points += bench.measure(chosen, grid, run)
            if run.stopped:
                planned += left * len(grid)
                break
            if left:
                _ = bench.of(bench.winner(points))  # so that these documents are kept
    if not points:
        raise KeyboardInterrupt
    best = bench.winner(points)
    return Found(points, best, *bench.of(best), planned=planned)


def _in_order(grid: Sequence[Regularizer]) -> list[Regularizer]:
    """As a grid should be for warm starts: the parameter declared last runs fastest."""
    columns: Mapping[str, list[Any]] = {
        key: list(dict.fromkeys(part.params()[key] for part in grid)) for key in grid[0].params()
    }
    return sorted(
        dict.fromkeys(grid),
        key=lambda part: [columns[key].index(value) for key, value in part.params().items()],
    )
