"""What a search moves in: its dimensions, the grids there, and how settings are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textreg.features.vectorize import Features
from textreg.kinds import Regularizer
from textreg.training.running import Run
from textreg.training.search.choice import BEST, choose, promising
from textreg.training.search.documents import (
    DocumentCache,
    FeatureValues,
    PreparedFolds,
    SplitDocuments,
)
from textreg.training.search.selection import (
    Measured,
    MeasuredSetting,
    Measuring,
    Results,
    grid_of,
    measure_grid,
)
from textreg.training.search.spaces import changed, combinations
from textreg.training.search.splits import Split
from textreg.training.search.tuning import Tuning
from textreg.training.settings import TrainingSettings


class SearchContext:
    """The dimensions of a search, and how its settings are measured and compared.

    Attributes
    ----------
    space : list of Dimension
        Searched parameters of the features, groups and graph.
    hyperparameters : list of Dimension
        Searched parameters of the regularizer, by given values.
    """

    def __init__(
        self,
        documents: SplitDocuments,
        settings: TrainingSettings,
        features: Features | None = None,
    ) -> None:
        self.documents, self.settings = documents, settings
        dimensions = settings.dimensions()
        self.space = [one for one in dimensions if one.part != "reg"]
        self.hyperparameters = [one for one in dimensions if one.part == "reg"]
        self._cache = DocumentCache(documents, settings, features)
        self._best = BestSoFar(self)

    @property
    def metric(self) -> str:
        """What settings are compared by: the metric that was asked for, else that of the task."""
        return self.settings.metric or self.documents.target.task.default_metric

    @property
    def rules_out(self) -> bool:
        """Whether settings may be left out that some labels or documents show to be worse.

        Not with another search than "narrow", where the rule of the choice asks for more than the
        best, and where time may be up before any setting is measured on everything.
        """
        tuning = self.settings.tuning
        return tuning.search == "narrow" and tuning.rule == BEST and tuning.budget is None

    def with_splits(self, splits: Sequence[Split]) -> SearchContext:
        """The same search with other splits of the same documents, whose features are shared."""
        documents = replace(self.documents, splits=splits)
        other = SearchContext(documents, self.settings)
        other._cache = self._cache.with_splits(documents)
        return other

    @property
    def first(self) -> FeatureValues:
        """The values that are tried first."""
        return tuple(one.values[0] for one in self.space)

    def prepared(self, values: FeatureValues) -> PreparedFolds:
        """Documents under these values of :attr:`space`."""
        parts = changed(self.settings.parts(), self.space, values)
        searched = {one.part: parts[one.part] for one in self.space}
        return self._cache.get(values, self.settings.replace(tuning=Tuning(), **searched))

    def prepared_for(self, setting: MeasuredSetting | None) -> PreparedFolds:
        """Documents as a setting has them; without one, as the settings are."""
        return self.prepared(self.first if setting is None else self.values_of(setting))

    def keep(self, best: MeasuredSetting) -> None:
        """Keep the documents of this setting in memory until another one is kept."""
        self._cache.best = self.values_of(best)

    def drop_folds(self) -> None:
        """Drop the matrices of all folds from memory, but not the features."""
        self._cache.drop_folds()
        self._best = BestSoFar(self)

    def release(self) -> None:
        """Drop all documents from memory."""
        self._cache.clear()
        self._best = BestSoFar(self)

    def grid(self, values: FeatureValues) -> list[Regularizer]:
        """The regularizer's own grid there, times the given values of its hyperparameters."""
        first = self.prepared(values).folds[0]
        reg = self.settings.reg
        grid = [
            regularizer
            for given in combinations(self.hyperparameters)
            for regularizer in grid_of(
                changed({"reg": reg}, self.hyperparameters, given)["reg"], first
            )
        ]
        return _in_order(grid) if self.hyperparameters else grid

    def measure(
        self, values: FeatureValues, grid: Sequence[Regularizer], run: Run
    ) -> list[MeasuredSetting]:
        """The settings of a grid that were measured before the run was stopped.

        Each starts from the best so far under these values, if there is one.
        """
        folds, measuring = self.prepared(values).folds, self.measuring(values)
        found = measure_grid(grid, folds, run, measuring, self._best.near(values))
        self._best.take(values, found)
        return [setting for setting, _ in found.values()]

    def measuring(self, values: FeatureValues) -> Measuring:
        """What is noted of settings under these values."""
        return Measuring(
            changes={one.key: value for one, value in zip(self.space, values, strict=True)},
            error_of=self.metric if self.settings.tuning.select == "1se" else None,
        )

    def best(self, measured: Sequence[MeasuredSetting]) -> MeasuredSetting:
        """The setting that the rule of the search chooses."""
        return measured[choose(measured, self.metric, self.settings.tuning.rule)]

    def promising(self, measured: Sequence[MeasuredSetting], number: int) -> list[MeasuredSetting]:
        """The best settings so far: see :func:`textreg.training.search.choice.promising`."""
        ranked = promising(measured, self.metric, self.settings.tuning.rule, number)
        return [measured[at] for at in ranked]

    def values_of(self, setting: MeasuredSetting) -> FeatureValues:
        """The values of :attr:`space` that a setting has."""
        return tuple(setting.changes[one.key] for one in self.space)


class BestSoFar:
    """The best setting so far under all values that were tried, which others start from."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._of: dict[FeatureValues, tuple[MeasuredSetting, Results]] = {}

    def near(self, values: FeatureValues) -> Results | None:
        """The trials of the best setting; None where there is none."""
        return self._of[values][1] if values in self._of else None

    def take(self, values: FeatureValues, found: Measured) -> None:
        """Settings that were measured under these values."""
        pairs = [*([self._of[values]] if values in self._of else []), *found.values()]
        if pairs:
            first = self._context.promising([setting for setting, _ in pairs], 1)[0]
            self._of[values] = next(pair for pair in pairs if pair[0] is first)


def _in_order(grid: Sequence[Regularizer]) -> list[Regularizer]:
    """As a grid should be for warm starts: the parameter declared last changes fastest."""
    columns: Mapping[str, list[Any]] = {
        key: list(dict.fromkeys(regularizer.params()[key] for regularizer in grid))
        for key in grid[0].params()
    }
    return sorted(
        dict.fromkeys(grid),
        key=lambda one: [columns[key].index(value) for key, value in one.params().items()],
    )
