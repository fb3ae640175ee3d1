"""NumPy twins of ``textreg._core.dual``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s

TRIES, NEAR, LEAST, TINY = 8, 1e-3, 1e-8, 1e-300


def dual_sweep(
    indptr: Int64s,
    indices: Int32s,
    data: NDArray[np.float32],
    order: Int32s,
    squares: Floats,
    cy: Floats,
    q: float,
    lag: float,
    alpha: Floats,
    W: NDArray[Any],
    b: Floats,
    moved: Floats,
    least: Floats,
    curvature: float = 0.0,
    largest: float = 1.0,
    first: int = 0,
    last: int = -1,
) -> None:
    """Twin of :func:`textreg._core.dual.dual_sweep`."""
    here = np.arange(len(b))
    within = (here >= first) & (here < (len(b) if last < 0 else last))
    for i in order:
        rate, moves = squares[i] / q + lag, within & (moved[i] >= least)
        if rate <= 0.0 or not moves.any():
            continue
        here = slice(indptr[i], indptr[i + 1])
        places, values = indices[here], data[here].astype(W.dtype)
        scores = (values[:, None] * W[places]).sum(axis=0) + b
        y = np.where(cy[i] > 0.0, 1.0, -1.0)
        own = zip(y * scores, y * alpha[i], np.abs(cy[i]), strict=True)
        if curvature > 0.0:
            steps = [_hinge_step(*one, rate, curvature, largest) for one in own]
        else:
            steps = [_step(*one, rate) for one in own]
        change = np.where(moves, y * np.array(steps), 0.0)
        moved[i] = np.where(moves, np.abs(change), moved[i])
        alpha[i] += change
        b += lag * change
        np.add.at(W, places, np.outer(values, (change / q).astype(W.dtype)))


def dual_sweep_by_feature(
    indptr: Int64s,
    indices: Int32s,
    data: NDArray[np.float32],
    order: Int32s,
    cy: Floats,
    lag: Floats,
    lam: NDArray[np.float32],
    inverse: NDArray[np.float32],
    alpha: Floats,
    T: NDArray[np.float32],
    b: Floats,
) -> None:
    """Twin of :func:`textreg._core.dual.dual_sweep_by_feature`."""
    for i in order:
        here = slice(indptr[i], indptr[i + 1])
        places, values = indices[here], data[here][:, None]
        least = lam[places][:, None] if len(lam) else np.float32(0.0)
        left = np.abs(T[places]) - least
        parts = np.where((left > 0.0) | (len(lam) == 0), values * inverse[places], np.float32(0.0))
        scores = (parts * np.copysign(left, T[places])).sum(axis=0) + b
        rates = (parts * values).sum(axis=0) + lag
        if len(lam):
            c = np.abs(cy[i])
            rates = np.where((c > 0.0) & (rates * c < LEAST), LEAST / np.maximum(c, TINY), rates)
        y = np.where(cy[i] > 0.0, 1.0, -1.0)
        own = zip(y * scores, y * alpha[i], np.abs(cy[i]), rates, strict=True)
        moves = y * np.array(
            [_step(margin, a, c, rate) if rate > 0.0 else 0.0 for margin, a, c, rate in own]
        )
        alpha[i] += moves
        b += lag * moves
        np.add.at(T, places, values * moves.astype(np.float32))


def column_losses(
    Z: Floats,
    cy: Floats,
    b: Floats,
    value: Floats,
    slope: Floats,
    bend: Floats,
    curvature: float = 0.0,
    largest: float = 1.0,
) -> None:
    """Twin of :func:`textreg._core.dual.column_losses`."""
    c, y = np.abs(cy), np.where(cy > 0.0, 1.0, -1.0)
    m = y * (Z + b)
    if curvature > 0.0:
        s = np.clip(curvature * (1.0 - m), 0.0, largest)
        value[:] = (c * (s * (1.0 - m) - 0.5 * s**2 / curvature)).sum(axis=0)
        bend[:] = (c * curvature * ((s > 0.0) & (s < largest))).sum(axis=0)
    else:
        s = 1.0 / (1.0 + np.exp(m))
        value[:] = (c * np.logaddexp(0.0, -m)).sum(axis=0)
        bend[:] = (c * s * (1.0 - s)).sum(axis=0)
    slope[:] = -(cy * s).sum(axis=0)


def column_conjugates(
    alpha: Floats, cy: Floats, out: Floats, curvature: float = 0.0, largest: float = 1.0
) -> None:
    """Twin of :func:`textreg._core.dual.column_conjugates`."""
    c = np.abs(cy)
    s = np.divide(alpha, cy, out=np.zeros_like(alpha), where=c > 0.0)
    if curvature > 0.0:
        s = np.clip(s, 0.0, largest)
        out[:] = (c * (s - 0.5 * s**2 / curvature)).sum(axis=0)
    else:
        inside = np.clip(s, TINY, 1.0 - 1e-16)
        entropy = -inside * np.log(inside) - (1.0 - inside) * np.log1p(-inside)
        out[:] = (c * np.where((s > 0.0) & (s < 1.0), entropy, 0.0)).sum(axis=0)


def _step(margin: float, a: float, c: float, rate: float) -> float:
    """How far a goes to where a = c s(-m), for the logistic function s and the margin m then."""
    m, positive = margin, margin + rate * (0.5 * c - a) > 0.0
    for _ in range(TRIES):
        if positive != (m > 0.0):
            m = 0.0
        e = math.exp(-abs(m))
        s = (e if m > 0.0 else 1.0) / (1.0 + e)
        step = (m - margin - rate * (c * s - a)) / (1.0 + rate * c * e / ((1.0 + e) * (1.0 + e)))
        m -= step
        if abs(step) < NEAR:
            break
    return min(max(a + (m - margin) / rate, 0.0), c) - a


def _hinge_step(
    margin: float, a: float, c: float, rate: float, curvature: float, largest: float
) -> float:
    """The same to a = c min(largest, max(0, curvature (1 - m)))."""
    if c == 0.0:
        return -a
    best = c * curvature * (1.0 - margin + rate * a) / (1.0 + c * curvature * rate)
    return min(max(best, 0.0), c * largest) - a
