"""Plain twins of ``textreg._core.neighbors``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def nearest_cosines(
    columns_ptr: Int64s,
    columns: Int32s,
    rows_ptr: Int64s,
    rows: Int32s,
    length: Floats,
    threshold: float,
    most: int,
    shared: Int32s,
    touched: Int32s,
    nearest: Int32s,
    cosines: Floats,
    counts: Int32s,
) -> None:
    """Twin of :func:`textreg._core.neighbors.nearest_cosines`."""
    p = len(length)
    X = np.zeros((len(rows_ptr) - 1, p))
    for i in range(len(X)):
        X[i, rows[rows_ptr[i] : rows_ptr[i + 1]]] = 1.0
    for j in range(p):
        common = X[columns[columns_ptr[j] : columns_ptr[j + 1]]].sum(axis=0)
        others = np.flatnonzero((common > 0.0) & (np.arange(p) != j))
        cosine = common[others] / (length[j] * length[others])
        near = cosine > threshold
        others, cosine = others[near], cosine[near]
        best = np.lexsort((others, -cosine))[:most]
        counts[j] = len(best)
        nearest[j * most : j * most + len(best)] = others[best]
        cosines[j * most : j * most + len(best)] = cosine[best]
