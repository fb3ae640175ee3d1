"""Sparsity inside a selected group: its features one at a time, while they help.

The outlook of skianis2018 (section 6) is to "additionally penalize features inside the groups,
similarly to sparse group lasso". There a feature of an active group has no weight while |x_j . r|
is at most a threshold, r being the derivatives of the loss with all others in the model. So does a
pursuit here: inside a group it goes on as on single columns, with a fit after each, until what is
left is below a share of the group's first (docs/pursuit.md, G4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg.records import Floats, Int32s
from textreg.solvers.active import ActiveFit
from textreg.solvers.unit_columns import UnitColumns


class Best(NamedTuple):
    """The feature of the best score, that score, and whether it is certain to be the best."""

    feature: int
    score: float
    certain: bool


def best_inside(  # noqa: PLR0913  # a fit, columns, and what to look for
    fit: ActiveFit,
    columns: UnitColumns,
    scale: Floats,
    features: Int32s,
    *,
    share: float,
    first: float,
    tie: float,
    rounds: int,
) -> Best | None:
    """The feature of the best scale_j |x_j . r| for the r of an exact fit.

    None where the score is below ``share`` times ``first``, that of the first feature; 0 where this
    is it. features: ascending; of scores that differ by less than the share ``tie`` the first is
    the best. rounds: most Newton steps.
    """
    improving, done = True, 0
    while True:
        scores = scale[features] * np.abs(columns.dots(fit.r, features))
        at = int(np.argmax(scores >= (1.0 - tie) * scores.max()))
        best, others = float(scores[at]), scores[scores < (1.0 - tie) * scores.max()]
        # Every x_j . r is off by the radius at most, and each score by its scale times that.
        error = fit.radius * float(scale[features].max())
        margin = best - float(others.max(initial=-math.inf))
        beyond = best - share * first
        certain = 2.0 * error < margin and (1.0 + share) * error < abs(beyond)
        if beyond < 0.0:  # only that has to be certain
            certain = (1.0 + share) * error < -beyond
        if certain or not improving or done >= rounds:
            return Best(int(features[at]), best, certain) if beyond >= 0.0 else None
        target = 0.25 * min(margin, abs(beyond)) / float(scale[features].max())
        improving = fit.improve(target)
        done += 1
