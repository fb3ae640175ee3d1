"""NumPy twins of ``textreg._core.columns``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def column_curvature(
    indptr: Int64s, indices: Int32s, data: Floats, h: Floats, features: Int32s, out: Floats
) -> None:
    """Twin of :func:`textreg._core.columns.column_curvature`."""
    for k, j in enumerate(features):
        here = slice(indptr[j], indptr[j + 1])
        out[k] = data[here] ** 2 @ h[indices[here]]


def column_damping(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    alpha: Floats,
    features: Int32s,
    excess: Floats,
    factor: Floats,
) -> None:
    """Twin of :func:`textreg._core.columns.column_damping`."""
    for k, j in enumerate(features):
        rows = indices[indptr[j] : indptr[j + 1]]
        terms = data[indptr[j] : indptr[j + 1]] * alpha[rows]
        pulling = terms * excess[k] > 0.0
        if pulling.any():
            share = max(1.0 - excess[k] / terms[pulling].sum(), 0.0)
            np.minimum.at(factor, rows[pulling], share)
