"""A Newton step under a quadratic penalty, where no weight is held at zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textreg.solvers.conjugate import Direction
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.line_search import Advance, backtrack, step_with_fallback

UNDERFLOW = 1e-12
"""Mean curvature of the loss below which its model is useless."""

SHORT = 0.1
"""Length of a step below which its model is not trusted."""


class Parabola(NamedTuple):
    """A quadratic penalty along a direction, value + linear t + square t^2 at length t."""

    value: float
    linear: float
    square: float


def smooth_step(engine: Engine, step: Callable[[], Advance]) -> float:
    """The fall by a ``step`` of the engine, which is tried again with the bound of the curvature.

    The first step is left out where the curvature has underflowed.
    """

    def trusted() -> Advance:
        return Advance(0.0, 0.0) if underflowed(engine) else step()

    return step_with_fallback(
        trusted, engine.use_curvature_bound, failed=lambda advance: advance.length < SHORT
    )


def underflowed(engine: Engine) -> bool:
    """Whether next to nothing is left of the curvature of the loss."""
    return bool(engine.h.sum() <= UNDERFLOW * engine.c.sum())


def go_along(engine: Engine, change: Direction, slope: float, penalty: Parabola) -> Advance:
    """Move along the change, of weights, intercept and scores, while it helps.

    slope: that of the objective. penalty: its values along the change.
    """
    noise = NOISE * (abs(engine.value) + abs(penalty.value))

    def fall_at(length: float) -> float:
        loss = engine.loss.value(engine.z + length * change.z, engine.y, engine.c)
        return engine.value - loss - length * penalty.linear - length * length * penalty.square

    advance = backtrack(fall_at, slope, noise)
    if length := advance.length:
        w = length * change.w
        w += engine.w
        engine.move_to(w, engine.b + length * change.b, engine.z + length * change.z)
    return advance
