"""What is likely wrong with a prox or a derivative: the simple mistakes, tried one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from textreg.records import Floats
from textreg.testing.points import lowest

RIGHT = 1e-6
"""Share of the cost by which a search may improve what is right."""

STEPS: dict[str, Callable[[float], float]] = {
    "the prox looks as if it left the step out": lambda step: 1.0,
    "the prox looks scaled by 1/step": lambda step: 1.0 / step,
    "the prox looks scaled by the step squared": lambda step: step * step,
    "the prox looks scaled by the root of the step": lambda step: step**0.5,
    "the prox looks scaled by 2": lambda step: 2.0 * step,
    "the prox looks scaled by 1/2": lambda step: 0.5 * step,
}
"""Mistakes in the step, and the step that the prox then is right for."""

RESULTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "the prox has the wrong sign": lambda w, x: -x,
    "the prox loses the signs of w": lambda w, x: np.copysign(x, w),
    "the prox gives w - prox(w)": lambda w, x: w - x,
    "the prox goes half of the way": lambda w, x: 2.0 * x - w,
    "the prox is rounded, or leaves small weights out": lambda w, x: np.where(x == 0.0, w, x),
}
"""Mistakes in the result, and how the right one follows from it."""


def likely(penalty: Any, points: list[Floats], steps: tuple[float, ...]) -> str:
    """The mistake that explains what prox gives at ``points``; empty where none of these does."""
    pairs = [(w, step) for w in points for step in steps]
    found = {}
    for k, (w, step) in enumerate(pairs):
        found[k] = penalty.prox(w.copy(), step)
    # One that does not change is right where the penalty is nothing, and at a weight of zero.
    moved = [k for k, (w, _) in enumerate(pairs) if w.any()]
    if all(np.array_equal(found[k], pairs[k][0]) for k in moved):
        return "the prox returns its argument"
    if all(not found[k].any() for k in moved):
        return "the prox is always zero"

    def explains(other: Callable[[int], tuple[Floats, float]]) -> bool:
        return all(_is_prox(penalty, pairs[k][0], *other(k)) for k in moved)

    for told, change in STEPS.items():
        if explains(lambda k, change=change: (found[k], change(pairs[k][1]))):  # type: ignore[misc]
            return told
    for told, turn in RESULTS.items():
        if explains(lambda k, turn=turn: (turn(pairs[k][0], found[k]), pairs[k][1])):  # type: ignore[misc]
            return told
    return ""


def _is_prox(penalty: Any, w: Floats, x: Floats, step: float) -> bool:
    """Whether no search finds an x that is better for this step."""

    def cost(u: Floats) -> float:
        return 0.5 * float((u - w) @ (u - w)) + step * float(penalty.value(u))

    here = cost(x)
    if not np.isfinite(here) or cost(0.999 * x) < here * (1.0 - RIGHT) - 1e-12:
        return False
    best = cost(lowest(cost, x.copy(), rounds=8))
    return best >= here - RIGHT * abs(here) - 1e-12


def ratio(expected: Floats, got: Floats) -> str:
    """What ``got`` is, if a plain multiple of what was expected."""
    large = np.abs(expected) > 1e-3 * float(np.abs(expected).max(initial=0.0))
    if not large.any():
        return ""
    shares = got[large] / expected[large]
    share = float(np.median(shares))
    if np.abs(shares - share).max() > 1e-2 * max(abs(share), 1e-3):
        return ""
    if abs(share + 1.0) < 1e-2:
        return "it has the wrong sign"
    if abs(share - 1.0) < 1e-2:
        return ""
    return f"it looks {share:.3g} times as large"
