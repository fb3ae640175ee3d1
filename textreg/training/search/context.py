"""Where settings are measured: documents made ready for each, and the prices to try there.

Documents are made into features once for every setting of tokenizer and vectorizer; groups and
graphs once for every setting of theirs.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any, NamedTuple

from textreg.features.vectorize import Features
from textreg.kinds import Regularizer
from textreg.plugins import registry
from textreg.records import Corpus
from textreg.tasks import Target
from textreg.training.prepare import Prepared, make_features, prepare
from textreg.training.running import Run, Work
from textreg.training.search.choice import choose, promising
from textreg.training.search.journal import Journal, digest_of
from textreg.training.search.selection import Point, grid_of, measure_grid
from textreg.training.search.spaces import changed, combinations
from textreg.training.search.splits import Split
from textreg.training.search.trials import Fold
from textreg.training.search.tuning import Tuning
from textreg.training.settings import TrainingSettings

TIGHTER = 3.0
"""How many times longer the final fit may take, for its tolerance, than the slowest of a search."""

KEPT = 4
"""Settings of features, groups and graph whose documents are kept in memory as numbers, 2 or more.
"""

ABOUT = ("holdout", "cv", "seed", "task", "multiclass", "class_weight", "tol", "max_iter")
"""Settings, beside the parts, that a search which is gone on with has in common."""

Chosen = tuple[Any, ...]
"""A value for each dimension of a space."""


def journal_of(corpus: Corpus, settings: TrainingSettings) -> Journal | None:
    """The file that a search is to go on from, if one is named; see :class:`Journal` for errors."""
    if settings.tuning.resume is None:
        return None
    about = {
        "documents": digest_of((corpus, settings.dev, settings.unlabeled)),
        "textreg": metadata.version("textreg"),
        "plugins": [registry.home(part) for part in settings.parts().values() if part is not None],
    }
    about |= {key: repr(getattr(settings, key)) for key in (*settings.parts(), *ABOUT)}
    return Journal(settings.tuning.resume, about)


class Ready(NamedTuple):
    """Documents as numbers under one setting of the features, whole and cut into folds.

    seconds: how long a fold took to be cut, with its groups and graph.
    """

    data: Prepared
    cut: list[Fold]
    seconds: float


class SearchContext:
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
        journal: Journal | None = None,
    ) -> None:
        self.corpus, self.target, self.settings, self.splits = corpus, target, settings, splits
        self.journal = journal
        dimensions = settings.dimensions()
        self.space = [one for one in dimensions if one.part != "reg"]
        self.prices = [one for one in dimensions if one.part == "reg"]
        # The features made last, and those given, which are of the settings as they are.
        self._features: dict[Any, Features] = {}
        if features is not None:
            self._features[settings.tokenizer, settings.vectorizer] = features
        self._ready: OrderedDict[Chosen, Ready] = OrderedDict()
        self._best: Chosen | None = None

    @property
    def first(self) -> Chosen:
        """The values that are tried first."""
        return tuple(one.values[0] for one in self.space)

    def forget(self) -> None:
        """Let go of all documents that are ready."""
        self._ready.clear()
        self._features.clear()

    def ready(self, chosen: Chosen) -> Ready:
        """Documents under these values of the space; kept for those used last and the best."""
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
            oldest = next(one for one in self._ready if one not in (chosen, self._best))
            del self._ready[oldest]
        return self._ready[chosen]

    def keep(self, best: Point) -> None:
        """Do not let go of the documents of this point, before those of another are kept."""
        self._best = self.chosen(best)

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
            journal=self.journal,
        )

    def changes(self, chosen: Chosen) -> dict[str, Any]:
        """The values by the names of the options."""
        return {one.key: value for one, value in zip(self.space, chosen, strict=True)}

    def winner(self, points: Sequence[Point]) -> Point:
        """The point that the settings choose."""
        return points[choose(points, self.settings.metric, self.settings.tuning.rule)]

    def promising(self, points: Sequence[Point], number: int) -> list[Point]:
        """The best points so far: see :func:`textreg.training.search.choice.promising`."""
        settings = self.settings
        ranked = promising(points, settings.metric, settings.tuning.rule, number)
        return [points[at] for at in ranked]

    def chosen(self, point: Point) -> Chosen:
        """The values of the space that the point has."""
        return tuple(point.changes[one.key] for one in self.space)

    def of(self, point: Point) -> Ready:
        """Documents as the point has them."""
        return self.ready(self.chosen(point))

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
        return self.settings.replace(tuning=Tuning(), **searched)


def _in_order(grid: Sequence[Regularizer]) -> list[Regularizer]:
    """As a grid should be for warm starts: the parameter declared last runs fastest."""
    columns: Mapping[str, list[Any]] = {
        key: list(dict.fromkeys(part.params()[key] for part in grid)) for key in grid[0].params()
    }
    return sorted(
        dict.fromkeys(grid),
        key=lambda part: [columns[key].index(value) for key, value in part.params().items()],
    )
