"""NumPy twin of the kernel: the same name and arguments, for correctness and not for speed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textreg.penalties import soft
from textreg.records import Floats

Int32s = NDArray[np.int32]


def link_rounds(
    heads: Int32s,
    tails: Int32s,
    bounds: Floats,
    l1: float,
    u: Floats,
    z: Floats,
    apart: Int32s,
    least: float,
    most: int,
) -> float:
    """Twin of kernel.link_rounds."""
    while True:
        x = soft(z, l1)
        steps = x[heads] - x[tails]
        edges = np.flatnonzero(steps)
        gap = float(bounds @ np.abs(steps) - u @ steps)
        if gap <= least or not most:
            return gap
        most -= 1
        apart[: len(edges)] = edges
        for e in np.tile(edges, 10):
            new = np.clip(u[e] + _meeting(z[heads[e]], z[tails[e]], l1), -bounds[e], bounds[e])
            z[heads[e]] -= new - u[e]
            z[tails[e]] += new - u[e]
            u[e] = new


def _meeting(a: float, c: float, l1: float) -> float:
    """The shortest d with soft(a - d, l1) = soft(c + d, l1)."""
    if abs(a + c) >= 2.0 * l1:
        return 0.5 * (a - c)
    return max(a - l1, -l1 - c, 0.0) if a > c else min(a + l1, l1 - c, 0.0)
