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
    curvature: Floats,
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
            if used == 0:
                curvature[j] = q[j] + (x * x) @ h[rows]
            if g * g <= slack * q[j] or curvature[j] <= 0.0:
                continue
            w[j] -= g / curvature[j]
            v[rows] -= h[rows] * x * (g / curvature[j])
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
    columns: Int32s,
    scale: Floats,
    dots: Floats,
    error: float,
    lipschitz: float,
    radius: float,
    tie: float,
    rival: float,
    rival_lipschitz: float,
    score: Floats,
    candidates: Int32s,
) -> tuple[int, float, float]:
    """Twin of :func:`textreg._core.pursuit.best_column`."""

    def exact_score(k: int) -> float:
        here = slice(indptr[columns[k]], indptr[columns[k] + 1])
        return float(scale[k] * abs(data[here] @ r[indices[here]]))

    inside = np.flatnonzero(scale > 0.0)
    if not len(inside):
        return -1, rival, math.inf
    approximate = scale * np.abs(dots)
    top = max(rival, exact_score(int(inside[np.argmax(approximate[inside])])))
    scores: dict[int, float] = {}
    for k in inside.tolist():
        bound = scale[k] * (abs(dots[k]) + error + radius) + lipschitz * radius
        if bound >= top * (1.0 - tie):
            scores[k] = exact_score(k)
            top = max(top, scores[k])
    tied = [k for k, value in scores.items() if value >= top * (1.0 - tie)]
    best, result, lipschitz_of_best = -1, rival, rival_lipschitz
    if tied and rival < top * (1.0 - tie):
        best = min(tied, key=lambda k: int(columns[k]))
        result, lipschitz_of_best = scores[best], float(scale[best])
    margins = [
        (top - value) / (lipschitz_of_best + scale[k])
        for k, value in scores.items()
        if k not in tied
    ]
    return best, result, min(map(float, margins), default=math.inf)


def update_dots(
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    r: Floats,
    last: Floats,
    inverse: Floats,
    tolerance: float,
    dots: Floats,
) -> tuple[float, float]:
    """Twin of :func:`textreg._core.pursuit.update_dots`."""
    change = r - last
    followed = change * change * inverse * len(r) > tolerance**2
    for i in np.flatnonzero(followed):
        here = slice(row_indptr[i], row_indptr[i + 1])
        np.add.at(dots, positions[here], change[i] * values[here])
    last[followed] = r[followed]
    rest = r - last
    return math.sqrt((r * r) @ inverse), math.sqrt((rest * rest) @ inverse)
