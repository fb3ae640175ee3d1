"""Exact zeros for weights that a solver for overlapping groups has not quite brought to zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg.records import Floats

SMALL = 2e-5
"""Weights below this, in the problem's unit of weights, may be set to zero."""


def zero_small_weights(
    w: Floats,
    unit: float,
    objective: float,
    objective_at: Callable[[Floats], float],
    tol: float,
) -> tuple[Floats, float]:
    """A copy of the weights w, of any shape, the small ones set to zero; and its objective.

    If that raised their ``objective`` by a relative ``tol`` / 10 or more, they stay as they are.
    unit: that of weights, as in :class:`textreg.solvers.scales.Scales`.
    """
    sparse: Floats = np.where(np.abs(w) < SMALL * unit, 0.0, w)
    if np.array_equal(sparse, w):
        return sparse, objective
    found = objective_at(sparse)
    return (sparse, found) if found <= objective * (1.0 + 0.1 * tol) else (w.copy(), objective)
