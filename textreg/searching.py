"""The search as a whole: over prices, and over whatever else is to be searched.

Documents are made into features once for every setting of tokenizer and vectorizer; groups and
graphs once for every setting of theirs. Prices are searched for each of these on its own grid.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from textreg.choice import choose
from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.prepare import Prepared, Target, make_features, prepare
from textreg.records import Corpus
from textreg.running import Run, Work
from textreg.selection import Point, fits, grid_of, measure_grid
from textreg.settings import TrainingSettings
from textreg.spaces import changed, combinations
from textreg.splits import Split
from textreg.trials import Fold
from textreg.tuning import Tuning
from textreg.vectorize import Features

TIGHTER = 3.0
"""How many times longer the final fit may take, for its tolerance, than the slowest of a search."""

KEPT = 4
"""Settings of features, groups and graph whose documents are kept in memory as numbers."""

Chosen = tuple[Any, ...]
"""A value for each dimension of a space."""


class Ready(NamedTuple):
    """Documents as numbers under one setting of the features, whole and cut into folds.

    seconds: how long a fold took to be cut, with its groups and graph.
    """

    data: Prepared
    cut: list[Fold]
    seconds: float


@dataclass(frozen=True, eq=False)
class Found:
    """What a search came to.

    points: what was measured. best: the winner, None where nothing was to be searched. ready: the
    documents as the winner has them. planned: number of settings that were to be measured. stopped:
    "interrupted" or "budget" where some of these were left out.
    """

    points: list[Point]
    best: Point | None
    ready: Ready
    planned: int
    stopped: str | None = None


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
            begin = time.perf_counter()
            cut = [data.fold(split) for split in self.splits]
            seconds = (time.perf_counter() - begin) / max(1, len(cut))
            self._ready[chosen] = Ready(data, cut, seconds)
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

    def last(self, chosen: Chosen, work: Work) -> Callable[[float], float]:
        """Seconds that the final fit is thought to take, by those of the slowest fit so far."""
        ready, settings = self.ready(chosen), self.settings
        growth = 1.0
        if settings.refit:
            growth = ready.data.X.shape[0] / min(len(split.train) for split in self.splits)
        turns = TIGHTER * growth * work.rounds(len(ready.cut[0].rows))
        if settings.calibrate is not None or settings.threshold:
            turns += sum(work.rounds(len(fold.rows)) for fold in ready.cut)
        return lambda slowest: growth * ready.seconds + turns * slowest

    def _with(self, chosen: Chosen) -> TrainingSettings:
        parts = changed(self.settings.parts(), self.space, chosen)
        searched = {one.part: parts[one.part] for one in self.space}
        return replace(self.settings, tuning=Tuning(), **searched)


def find(bench: Bench, work: Work) -> Found:
    """Search the whole space, until time is up but for what the final fit needs.

    Nothing is searched where there is no split; the documents are then those of the settings.
    Raises KeyboardInterrupt where nothing was measured before the first Ctrl-C, and UsageError
    where nothing was before time was up.
    """
    if not bench.splits:
        return Found([], None, bench.ready(()), planned=0)
    run = work.run("search", 0)
    points: list[Point] = []
    planned = 0
    settings = list(combinations(bench.space))
    with run.listening():
        for done, chosen in enumerate(settings):
            grid = bench.grid(chosen)
            run.leave(bench.last(chosen, work))
            planned += len(grid)
            left = len(settings) - done - 1
            run.expect((planned + left * len(grid)) * fits(bench.ready(chosen).cut))
            points += bench.measure(chosen, grid, run)
            if run.stopped:
                planned += left * len(grid)
                break
            if left:
                _ = bench.of(bench.winner(points))  # so that these documents are kept
    if not points and run.interrupted:
        raise KeyboardInterrupt
    if not points:
        seconds = bench.settings.tuning.seconds or 0.0
        raise UsageError(
            f"after {seconds + time.monotonic() - work.deadline:.1f} s no setting was measured yet "
            f"that could be fitted within the budget of {seconds:g} s: allow more time "
            "(--budget), name the prices, or train on fewer documents or features."
        )
    best = bench.winner(points)
    stopped = ("interrupted" if run.interrupted else "budget") if len(points) < planned else None
    return Found(points, best, bench.of(best), planned, stopped)


def _in_order(grid: Sequence[Regularizer]) -> list[Regularizer]:
    """As a grid should be for warm starts: the parameter declared last runs fastest."""
    columns: Mapping[str, list[Any]] = {
        key: list(dict.fromkeys(part.params()[key] for part in grid)) for key in grid[0].params()
    }
    return sorted(
        dict.fromkeys(grid),
        key=lambda part: [columns[key].index(value) for key, value in part.params().items()],
    )
