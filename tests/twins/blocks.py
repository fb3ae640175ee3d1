"""NumPy twins of ``textreg._core.blocks``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s


def block_dots(
    indptr: Int64s,
    indices: Int32s,
    data: Floats | NDArray[np.float32],
    V: Floats | NDArray[np.float32],
    out: Floats | NDArray[np.float32],
    lines: Int32s | None = None,
) -> None:
    """Twin of :func:`textreg._core.blocks.block_dots`."""
    values = data.astype(V.dtype)
    for k, line in enumerate(range(len(out)) if lines is None else lines):
        out[k] = 0.0
        for e in range(indptr[line], indptr[line + 1]):  # float32 depends on the order
            out[k] += values[e] * V[indices[e]]


def block_sums(
    indptr: Int64s,
    indices: Int32s,
    data: Floats | NDArray[np.float32],
    V: Floats,
    out: Floats,
    lines: Int32s | None = None,
) -> None:
    """Twin of :func:`textreg._core.blocks.block_sums`."""
    for line, row in zip(range(len(V)) if lines is None else lines, V, strict=True):
        here = slice(indptr[line], indptr[line + 1])
        np.add.at(out, indices[here], np.outer(data[here].astype(np.float64), row))
