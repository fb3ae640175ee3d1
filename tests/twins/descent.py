"""NumPy twins of ``textreg._core.descent``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def select_active(
    gradient: Floats, w: Floats, q: Floats, mu: Floats, lam: Floats, out: Int32s
) -> int:
    """Twin of :func:`textreg._core.descent.select_active`."""
    features = np.flatnonzero((w != 0.0) | (np.abs(gradient + q * (w - mu)) > lam))
    out[: len(features)] = features
    return len(features)


def coordinate_descent(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    active: Int32s,
    curvature: Floats,
    q: Floats,
    mu: Floats,
    lam: Floats,
    w: Floats,
    b: float,
    fit_intercept: bool,
    passes: int,
) -> float:
    """Twin of :func:`textreg._core.descent.coordinate_descent`."""
    size, used = len(active), 0
    while used < passes:
        used += 1
        crossed = False
        if fit_intercept and h.sum() > 0.0:
            step = -float(v.sum() / h.sum())
            b += step
            v += h * step
        k = 0
        while k < size:
            j = active[k]
            rows, x = indices[indptr[j] : indptr[j + 1]], data[indptr[j] : indptr[j + 1]]
            g = q[j] * (w[j] - mu[j]) + x @ v[rows]
            if w[j] == 0.0 and abs(g) <= lam[j]:
                size -= 1
                active[[k, size]] = active[[size, k]]
                continue
            if used == 1:
                curvature[j] = (x * x) @ h[rows]
            k += 1
            bend = curvature[j] + q[j]
            new = 0.0
            if bend > 0.0:
                goal = w[j] - g / bend
                new = np.sign(goal) * max(abs(goal) - lam[j] / bend, 0.0)
            elif abs(g) >= lam[j]:
                continue
            step = new - w[j]
            if step != 0.0:
                crossed |= bool(w[j] * new <= 0.0)
                w[j] = new
                np.add.at(v, rows, h[rows] * x * step)
        if not crossed:
            break
    return b
