"""Search by tree-structured Parzen estimators, which Optuna makes (extra ``tune``).

Settings that did well say where to try next (Bergstra et al. 2011, NIPS 24, section 4). Prices are
drawn between the ends of their grids, where there is more than the grid has; other parameters from
the values that are named for them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.training.search.choice import costs
from textreg.training.search.context import Chosen, SearchContext
from textreg.training.search.narrowing import Plan, Step
from textreg.training.search.selection import Point

TRIALS = 40
"""Settings that are tried when nobody says how many."""

ROUND = 4
"""Settings that are drawn before any of them is measured, whatever the number of jobs."""


def sampled(bench: SearchContext) -> Plan:
    """Settings as Optuna draws them, round by round; UsageError where it is not installed."""
    try:
        import optuna
    except ImportError as error:
        raise UsageError(
            f"search 'tpe' needs optuna ({error}): pip install 'textreg[tune]'."
        ) from None

    settings = bench.settings
    trials = TRIALS if settings.tuning.trials is None else settings.tuning.trials
    space = _Space(bench)
    known: dict[tuple[Chosen, Regularizer], float] = {}
    with _quiet():
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=settings.seed))
    for asked in range(0, trials, ROUND):
        drawn = [study.ask(space.distributions) for _ in range(min(ROUND, trials - asked))]
        placed = [space.setting(trial.params) for trial in drawn]
        fresh: dict[Chosen, list[Regularizer]] = {}
        for chosen, part in dict.fromkeys(placed):
            if (chosen, part) not in known:
                fresh.setdefault(chosen, []).append(part)
        left = trials - asked - len(drawn)
        for number, (chosen, parts) in enumerate(fresh.items(), start=1):
            later = sum(map(len, list(fresh.values())[number:]))
            points = yield Step(chosen, parts, later + left)
            values = _values(points, settings.metric, settings.tuning.max_nonzero)
            known |= {
                (chosen, point.part): value for point, value in zip(points, values, strict=True)
            }
        for trial, place in zip(drawn, placed, strict=True):
            study.tell(trial, known[place])


class _Space:
    """What is drawn: of open prices shares of their scale, of the rest the place of a value."""

    def __init__(self, bench: SearchContext) -> None:
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        self._bench, self._reg = bench, bench.settings.reg
        self.distributions: dict[str, Any] = {}
        for one in (*bench.space, *bench.prices):
            self.distributions[one.key] = CategoricalDistribution(list(range(len(one.values))))
        named = {one.name for one in bench.prices}
        self._grids = {}
        for name in self._reg.undecided():
            grid = self._reg.declared()[name].search
            if name in named:
                continue
            if grid is None:
                raise UsageError(f"{self._reg.label()}: {name} has no default; give it a value.")
            self._grids[name] = grid
            if isinstance(grid, LogGrid):
                drawn: Any = FloatDistribution(grid.low, grid.high, log=True)
            else:
                drawn = CategoricalDistribution(list(range(len(grid.values(1.0)))))
            self.distributions[f"reg_{name}"] = drawn
        self._scales: dict[tuple[Chosen, str], float] = {}

    def setting(self, drawn: Mapping[str, Any]) -> tuple[Chosen, Regularizer]:
        """What was drawn, as values of the space and a regularizer with its prices."""
        chosen = tuple(one.values[drawn[one.key]] for one in self._bench.space)
        prices = {one.name: one.values[drawn[one.key]] for one in self._bench.prices}
        for name, grid in self._grids.items():
            value = drawn[f"reg_{name}"]
            if isinstance(grid, LogGrid):
                (prices[name],) = LogGrid(value, value, 1).values(self._scale(chosen, name))
            else:
                prices[name] = grid.values(1.0)[value]
        return chosen, self._reg.replace(**prices)

    def _scale(self, chosen: Chosen, name: str) -> float:
        if (chosen, name) not in self._scales:
            problem = self._bench.ready(chosen).cut[0].hardest()
            self._scales[chosen, name] = calls.scale(self._reg, problem, name)
        return self._scales[chosen, name]


def _values(points: Sequence[Point], metric: str, most: int | None) -> list[float]:
    """What is to be small: the metric's cost, and by how much a model is too large."""
    excess = [math.log(point.nonzero / most) if most and point.nonzero else 0.0 for point in points]
    return [cost + max(0.0, over) for cost, over in zip(costs(points, metric), excess, strict=True)]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from announcing every study on standard error."""
    logger = logging.getLogger("optuna")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
