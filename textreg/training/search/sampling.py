"""Search by tree-structured Parzen estimators, which Optuna provides (extra ``tune``).

The scores so far say where to try next (bergstra2011, section 4). Hyperparameters are drawn between
the ends of their grids, of which there is a continuum; other parameters from their given values.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.logs import quiet
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.training.search.choice import costs
from textreg.training.search.context import SearchContext
from textreg.training.search.documents import FeatureValues
from textreg.training.search.narrowing import Batch, Plan
from textreg.training.search.selection import MeasuredSetting

TRIALS = 40
"""Default number of settings that are tried."""

ROUND = 4
"""Settings that are drawn before any of them is measured, for any number of jobs."""


def sampled(context: SearchContext) -> Plan:
    """Settings that Optuna draws, round by round; UsageError if it is not installed."""
    try:
        import optuna
    except ImportError as error:
        raise UsageError(
            f"search 'tpe' needs optuna ({error}): pip install 'textreg[tune]'."
        ) from None

    settings = context.settings
    trials = TRIALS if settings.tuning.trials is None else settings.tuning.trials
    space = _Space(context)
    costs_of: dict[tuple[FeatureValues, Regularizer], float] = {}
    with quiet("optuna", logging.WARNING):  # without its message about every study
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=settings.seed))
    for asked in range(0, trials, ROUND):
        drawn = [study.ask(space.distributions) for _ in range(min(ROUND, trials - asked))]
        placed = [space.setting(trial.params) for trial in drawn]
        new: dict[FeatureValues, list[Regularizer]] = {}
        for values, regularizer in dict.fromkeys(placed):
            if (values, regularizer) not in costs_of:
                new.setdefault(values, []).append(regularizer)
        undrawn = trials - asked - len(drawn)
        for number, (values, regularizers) in enumerate(new.items(), start=1):
            later = sum(map(len, list(new.values())[number:]))
            measured = yield Batch(values, regularizers, later + undrawn)
            found = _costs(measured, context.metric, settings.tuning.max_nonzero)
            for one, cost in zip(measured, found, strict=True):
                costs_of[values, one.regularizer] = cost
        for trial, place in zip(drawn, placed, strict=True):
            study.tell(trial, costs_of[place])


class _Space:
    """What is drawn: open hyperparameters as fractions of their scale, others by place."""

    def __init__(self, context: SearchContext) -> None:
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        self._context, self._reg = context, context.settings.reg
        self.distributions: dict[str, Any] = {}
        for one in (*context.space, *context.hyperparameters):
            self.distributions[one.key] = CategoricalDistribution(list(range(len(one.values))))
        given = {one.name for one in context.hyperparameters}
        self._grids = {}
        for name in self._reg.undecided():
            grid = self._reg.declared()[name].search
            if name in given:
                continue
            if grid is None:
                raise UsageError(f"{self._reg.label()}: {name} has no default; give it a value.")
            self._grids[name] = grid
            if isinstance(grid, LogGrid):
                # A fraction below the lowest stands for zero.
                low = grid.low / 2.0 if grid.zero else grid.low
                distribution: Any = FloatDistribution(low, grid.high, log=True)
            else:
                distribution = CategoricalDistribution(list(range(len(grid.values(1.0)))))
            self.distributions[f"reg_{name}"] = distribution
        self._scales: dict[tuple[FeatureValues, str], float] = {}

    def setting(self, drawn: Mapping[str, Any]) -> tuple[FeatureValues, Regularizer]:
        """What was drawn, as values of the space and a regularizer."""
        values = tuple(one.values[drawn[one.key]] for one in self._context.space)
        params = {one.name: one.values[drawn[one.key]] for one in self._context.hyperparameters}
        for name, grid in self._grids.items():
            value = drawn[f"reg_{name}"]
            if isinstance(grid, LogGrid) and grid.zero and value < grid.low:
                params[name] = 0.0
            elif isinstance(grid, LogGrid):
                (params[name],) = LogGrid(value, value, 1).values(self._scale(values, name))
            else:
                params[name] = grid.values(1.0)[value]
        return values, self._reg.replace(**params)

    def _scale(self, values: FeatureValues, name: str) -> float:
        if (values, name) not in self._scales:
            problem = self._context.prepared(values).folds[0].hardest()
            self._scales[values, name] = calls.scale(self._reg, problem, name)
        return self._scales[values, name]


def _costs(
    measured: Sequence[MeasuredSetting], metric: str, max_nonzero: int | None
) -> list[float]:
    """What Optuna minimizes: the cost of the metric, and a penalty on models that are too large."""
    excess = [
        math.log(one.nonzero / max_nonzero) if max_nonzero and one.nonzero else 0.0
        for one in measured
    ]
    return [
        cost + max(0.0, over) for cost, over in zip(costs(measured, metric), excess, strict=True)
    ]
