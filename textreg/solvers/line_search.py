"""How far to go along a Newton step, and what to do where its model misleads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

SUFFICIENT = 0.01
"""Share of the fall predicted by the slope that a step must achieve (Armijo 1966)."""

SHORTEST = 1e-10
"""Step length at which the search gives up: no progress is possible in floating point."""


class Advance(NamedTuple):
    """How much the objective fell, 0.0 where it is lost in rounding, and by what share of a step.

    A length of 0.0 means that nothing moved.
    """

    fall: float
    length: float


def backtrack(
    fall_at: Callable[[float], float],
    slope: float,
    noise: float,
    shortest: float = SHORTEST,
) -> Advance:
    """The first of the lengths 1, 1/2, 1/4, ... at which the objective falls enough (Armijo 1966).

    Parameters
    ----------
    fall_at : callable
        By how much the objective is lower at the given length.
    slope : float
        Derivative of the objective along the step, 0 or below.
    noise : float
        Rise that is nothing but rounding.
    shortest : float
        Lengths must be above this.
    """
    length = 1.0
    while length > shortest:
        fall = fall_at(length)
        if fall >= -SUFFICIENT * length * slope - noise:
            return Advance(max(fall, 0.0), length)
        length *= 0.5
    return Advance(0.0, 0.0)


def step_with_fallback(
    step: Callable[[], Advance],
    use_curvature_bound: Callable[[], None],
    failed: Callable[[Advance], bool],
) -> float:
    """A step by the second derivatives; where it fails, another one by their upper bound.

    Far from the optimum the loss is nearly straight: its second derivatives vanish, and the minimum
    of the model lies far too far away. A bound of them gives a model that lies above the loss, so
    its minimum always lowers the objective (Boehning & Lindsay 1988). Returns the fall of both.
    """
    advance = step()
    fall = advance.fall
    if failed(advance):
        use_curvature_bound()
        fall += step().fall
    return fall
