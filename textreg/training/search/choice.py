"""Which setting a search chooses: the best, or a smaller model that is nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from textreg.errors import UsageError
from textreg.measure.metrics import SMALLER
from textreg.params import Parametrized, param

if TYPE_CHECKING:
    from textreg.training.search.selection import MeasuredSetting

WITHIN = 0.01
"""Default of ``within``: how far below the best score the sparsest model may be."""


def _check_within(within: float) -> float:
    if not 0 <= within < 1:
        raise UsageError(f"within must be 0 or more, and below 1, not {within:g}.")
    return within


class SelectionRule(Parametrized):
    """How a search chooses among the settings that it has measured.

    "best" takes the best score; "1se" the smallest model within one standard error of the best
    (Breiman et al. 1984, section 3.4.3); "sparsest" the smallest model within ``within`` of the
    best, in units of the metric, or for mse as a fraction of the best.
    """

    select: str = param(
        default="best",
        choices=("best", "1se", "sparsest"),
        help="setting to choose: the best, the smallest model within one standard error of the "
        "best (1se), or the smallest model within a given distance of the best (sparsest)",
    )
    within: float | None = param(
        default=None,
        convert=_check_within,
        help="distance from the best score that sparsest allows; 0.01 if not given",
    )
    max_nonzero: int | None = param(
        default=None, min=1, help="largest number of features with a nonzero weight"
    )

    @classmethod
    def label(cls) -> str:
        """Empty: messages name the setting alone."""
        return ""

    def __post_init__(self) -> None:
        if self.within is not None and self.select != "sparsest":
            raise UsageError(
                f"within is for select 'sparsest', and has no effect with '{self.select}': leave "
                "one of them out."
            )


BEST = SelectionRule()


def choose(points: Sequence[MeasuredSetting], metric: str, rule: SelectionRule = BEST) -> int:
    """Index of the chosen setting; among equals the smallest model, then the first.

    "1se" needs ``MeasuredSetting.error``. Raises UsageError if no setting is small enough.
    """
    cost = costs(points, metric)
    sizes = [point.nonzero for point in points]
    small = _small_enough(points, rule)
    if not small:
        raise UsageError(
            f"no setting has at most {rule.max_nonzero:,} features: the smallest of {len(points)} "
            f"has {min(sizes):,.0f}. Allow more (--max-nonzero), or search higher penalty "
            "strengths."
        )
    best = min(small, key=lambda index: (cost[index], sizes[index], index))
    if rule.select == "best":
        return best
    tolerance = _tolerance(points[best], cost[best], metric, rule)
    # Sums of rounded costs: a difference of exactly the tolerance must count as near.
    near = [index for index in small if cost[index] <= cost[best] + tolerance + 1e-12]
    return min(near, key=lambda index: (sizes[index], cost[index], index))


def promising(
    points: Sequence[MeasuredSetting], metric: str, rule: SelectionRule, number: int
) -> list[int]:
    """Indices of the points to refine the grid around.

    These are the ``number`` best points that are small enough, or the smallest if none is; before
    them the point that the rule would choose, if it is not among them.
    """
    cost, sizes = costs(points, metric), [point.nonzero for point in points]
    small = _small_enough(points, rule)
    if not small:
        order = sorted(range(len(points)), key=lambda index: (sizes[index], cost[index], index))
        return order[:number]
    best = sorted(small, key=lambda index: (cost[index], sizes[index], index))[:number]
    chosen = choose(points, metric, rule)
    return best if chosen in best else [chosen, *best]


def costs(points: Sequence[MeasuredSetting], metric: str) -> list[float]:
    """The metric of every point, with the sign that makes smaller values better."""
    sign = 1.0 if metric in SMALLER else -1.0
    # Twelve digits: equal counts of correct predictions must compare equal.
    return [round(sign * point.metrics[metric], 12) for point in points]


def _small_enough(points: Sequence[MeasuredSetting], rule: SelectionRule) -> list[int]:
    """Indices of the points that the rule's ``max_nonzero`` allows."""
    most = inf if rule.max_nonzero is None else rule.max_nonzero
    return [index for index, point in enumerate(points) if point.nonzero <= most]


def _tolerance(best: MeasuredSetting, cost: float, metric: str, rule: SelectionRule) -> float:
    """How much worse than the best a smaller model may be."""
    if rule.select == "1se":
        assert best.error is not None  # SearchContext.measure asks for it
        return best.error
    within = WITHIN if rule.within is None else rule.within
    # A squared error has the unit of the labels, squared: a fraction of the best has none.
    return within * abs(cost) if metric == "mse" else within
