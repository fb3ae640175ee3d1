"""Which setting a search chooses: the best, or a smaller model that is nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from textreg.errors import UsageError, did_you_mean
from textreg.measure.metrics import SMALLER
from textreg.params import Parametrized, param

if TYPE_CHECKING:
    from textreg.training.search.selection import Point

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


def choose(points: Sequence[Point], metric: str, rule: SelectionRule = BEST) -> int:
    """Index of the winner; among equals the smallest model, then the strongest prices.

    "1se" needs ``Point.error``. Raises UsageError for an unknown metric, and where no setting is
    small enough.
    """
    known = points[0].metrics
    if metric not in known:
        raise UsageError(
            f"metric must be one of {', '.join(known)}, not {metric!r}."
            f"{did_you_mean(metric, known)}"
        )
    cost = costs(points, metric)
    sizes = [point.nonzero for point in points]
    most = rule.max_nonzero
    small = [at for at in range(len(points)) if most is None or sizes[at] <= most]
    if not small:
        raise UsageError(
            f"no setting has at most {most:,} features: the smallest of {len(points)} has "
            f"{min(sizes):,.0f}. Allow more (--max-nonzero), or name larger prices to search."
        )
    best = min(small, key=lambda at: (cost[at], sizes[at], at))
    if rule.select == "best":
        return best
    if rule.select == "1se":
        error = points[best].error
        if error is None:
            raise UsageError("select '1se' needs the standard errors of the settings.")
        slack = error
    else:
        slack = WITHIN if rule.within is None else rule.within
        slack *= abs(cost[best]) if metric == "mse" else 1.0
    near = [at for at in small if cost[at] <= cost[best] + slack + 1e-12]
    return min(near, key=lambda at: (sizes[at], cost[at], at))


def promising(points: Sequence[Point], metric: str, rule: SelectionRule, number: int) -> list[int]:
    """Places of the points to look around: the best that are small enough, or else the smallest.

    Where the rule would take a smaller one, that comes first.
    """
    cost, sizes = costs(points, metric), [point.nonzero for point in points]
    most = inf if rule.max_nonzero is None else rule.max_nonzero
    small = [at for at in range(len(points)) if sizes[at] <= most]
    if not small:
        return sorted(range(len(points)), key=lambda at: (sizes[at], cost[at], at))[:number]
    best = sorted(small, key=lambda at: (cost[at], sizes[at], at))[:number]
    winner = choose(points, metric, rule)
    return best if winner in best else [winner, *best]


def costs(points: Sequence[Point], metric: str) -> list[float]:
    """The metric of every point, smaller being better."""
    sign = 1.0 if metric in SMALLER else -1.0
    # Twelve digits: equal counts of right answers must compare equal.
    return [round(sign * point.metrics[metric], 12) for point in points]
