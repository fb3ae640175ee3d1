"""Exact zeros for weights that a solver for overlapping groups has not quite brought to zero."""

from __future__ import annotations

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Floats
from textreg.solvers.engine import Engine

SMALL = 1e-5
"""Weights below this may be set to zero."""


def zero_small_weights(engine: Engine, penalty: GroupNorms, tol: float) -> Floats:
    """A copy of the engine's weights, the small ones set to zero.

    If that raised the objective by a relative ``tol`` / 10 or more, they stay as they are.
    """
    w: Floats = engine.w.copy()
    sparse: Floats = np.where(np.abs(w) < SMALL, 0.0, w)
    if np.array_equal(sparse, w):
        return w
    objective = engine.value + penalty.value(w)
    negligible = engine.loss_at(sparse) + penalty.value(sparse) <= objective * (1.0 + 0.1 * tol)
    return sparse if negligible else w
