"""NumPy twins of ``textreg._core.cholesky``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def solve_normal(indptr: Int64s, indices: Int32s, data: Floats, x: Floats) -> None:
    """Twin of :func:`textreg._core.cholesky.solve_normal`."""
    T = np.zeros((len(x), len(x)))
    for c in range(len(x)):
        row = slice(indptr[c], indptr[c + 1])
        T[c, indices[row]] = data[row]
    x[:] = np.linalg.solve(T, np.linalg.solve(T.T, x))
