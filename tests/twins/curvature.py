"""NumPy twins of ``textreg._core.curvature``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s

    Values = Floats | NDArray[np.float32]


def curvature_product(
    indptr: Int64s,
    indices: Int32s,
    data: Values,
    rows: Int32s,
    h: Floats,
    w: Floats,
    b: float,
    scores: Floats,
    out: Floats,
) -> float:
    """Twin of :func:`textreg._core.curvature.curvature_product`."""
    total = 0.0
    for i in rows:
        here = slice(indptr[i], indptr[i + 1])
        x = data[here].astype(np.float64)
        scores[i] = x @ w[indices[here]] + b
        weighted = h[i] * scores[i]
        np.add.at(out, indices[here], weighted * x)
        total += weighted
    return float(total)


def row_scores(
    indptr: Int64s,
    indices: Int32s,
    data: Values,
    rows: Int32s,
    w: Floats,
    b: float,
    scores: Floats,
) -> None:
    """Twin of :func:`textreg._core.curvature.row_scores`."""
    for i in rows:
        here = slice(indptr[i], indptr[i + 1])
        scores[i] = data[here].astype(np.float64) @ w[indices[here]] + b


def row_sums(
    indptr: Int64s, indices: Int32s, data: Values, rows: Int32s, v: Floats, out: Floats
) -> None:
    """Twin of :func:`textreg._core.curvature.row_sums`."""
    for k, i in enumerate(rows):
        here = slice(indptr[i], indptr[i + 1])
        np.add.at(out, indices[here], v[k] * data[here].astype(np.float64))


def curvature_diagonal(
    indptr: Int64s, indices: Int32s, data: Values, rows: Int32s, h: Floats, out: Floats
) -> None:
    """Twin of :func:`textreg._core.curvature.curvature_diagonal`."""
    for i in rows:
        here = slice(indptr[i], indptr[i + 1])
        np.add.at(out, indices[here], h[i] * data[here].astype(np.float64) ** 2)
