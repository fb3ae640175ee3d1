"""Plain twins of ``textreg._core.pursuit``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def ridge_descent(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    features: Int32s,
    q: Floats,
    bend: Floats,
    w: Floats,
    b: float,
    fit_intercept: bool,
    slack: float,
    passes: int,
) -> float:
    """Twin of :func:`textreg._core.pursuit.ridge_descent`."""

    def intercept() -> float:
        if not fit_intercept or not h.sum() > 0.0:
            return b
        shift = float(-v.sum() / h.sum())
        v[:] += h * shift
        return b + shift

    moving = features.tolist()
    for used in range(passes):
        b = intercept()
        moved = []
        for j in moving:
            rows, x = indices[indptr[j] : indptr[j + 1]], data[indptr[j] : indptr[j + 1]]
            g = q[j] * w[j] + x @ v[rows]
            if g * g <= slack * q[j]:
                continue
            if used == 0:
                bend[j] = q[j] + (x * x) @ h[rows]
            if bend[j] <= 0.0:
                continue
            w[j] -= g / bend[j]
            v[rows] -= h[rows] * x * (g / bend[j])
            moved.append(j)
        moving = moved
        if not moved:
            break
    return intercept()


def best_column(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    r: Floats,
    race: Int32s,
    scale: Floats,
    products: Floats,
    error: float,
    reach: float,
    radius: float,
    tie: float,
    floor: float,
    floor_reach: float,
    score: Floats,
    fresh: Int32s,
) -> tuple[int, float, float]:
    """Twin of :func:`textreg._core.pursuit.best_column`."""

    def look(k: int) -> float:
        here = slice(indptr[race[k]], indptr[race[k] + 1])
        return float(scale[k] * abs(data[here] @ r[indices[here]]))

    inside = np.flatnonzero(scale > 0.0)
    if not len(inside):
        return -1, floor, math.inf
    likely = scale * np.abs(products)
    top = max(floor, look(int(inside[np.argmax(likely[inside])])))
    scores: dict[int, float] = {}
    for k in inside.tolist():
        bound = scale[k] * (abs(products[k]) + error + radius) + reach * radius
        if bound >= top * (1.0 - tie):
            scores[k] = look(k)
            top = max(top, scores[k])
    tied = [k for k, value in scores.items() if value >= top * (1.0 - tie)]
    best, result, lead = -1, floor, floor_reach
    if tied and floor < top * (1.0 - tie):
        best = min(tied, key=lambda k: int(race[k]))
        result, lead = scores[best], float(scale[best])
    rooms = [(top - value) / (lead + scale[k]) for k, value in scores.items() if k not in tied]
    return best, result, min(map(float, rooms), default=math.inf)
