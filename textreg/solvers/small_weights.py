"""Exact zeros: the weights that a solver of overlapping groups has only nearly reached."""

from __future__ import annotations

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Floats
from textreg.solvers.engine import Engine

SMALL = 1e-5
"""Weights below this are on their way to zero."""


def zero_small_weights(engine: Engine, penalty: GroupNorms, tol: float) -> Floats:
    """A copy of the present weights, with dust set to zero where that costs less than tol / 10."""
    w: Floats = engine.w.copy()
    clean: Floats = np.where(np.abs(w) < SMALL, 0.0, w)
    if np.array_equal(clean, w):
        return w
    objective = engine.value + penalty.value(w)
    cheap = engine.loss_at(clean) + penalty.value(clean) <= objective * (1.0 + 0.1 * tol)
    return clean if cheap else w
