"""Columns of a matrix as rows, a few of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.ragged import scatter_rows
from textreg.records import Design, Floats, Int32s, Int64s
from textreg.records.arrays import pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20
"""Values that are copied at a time."""

RANGE = 1e30
"""Values between this and its inverse are kept as float32."""


def rows_of_columns(
    design: Design,
    chosen: NDArray[np.intp],
    divisors: Floats | None = None,
    kind: type[np.floating[Any]] = np.float32,
) -> tuple[Int64s, Int32s, Floats]:
    """Some columns of a matrix by rows: column k of them is ``chosen[k]``.

    Parameters
    ----------
    design : Design
        The matrix.
    chosen : ndarray of int
        The columns, in any order.
    divisors : ndarray, shape (p,), optional
        What the values of every column are divided by.
    kind : type, default float32
        That of the values, unless float32 would lose more than digits.

    Returns
    -------
    indptr, indices, data : ndarray
        As of a CSR matrix whose columns are in order.
    """
    counts = np.zeros(design.shape[0], dtype=np.int64)
    least = largest = 1.0
    for _, _, rows, values in _blocks(design, chosen, divisors):
        counts += np.bincount(rows, minlength=len(counts))
        sizes = np.abs(values)
        least, largest = min(least, float(sizes.min())), max(largest, float(sizes.max()))
    indptr = np.append(0, np.cumsum(counts))
    if largest > RANGE or least < 1.0 / RANGE:
        kind = np.float64
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=kind)
    place = indptr[:-1].copy()
    for first, ends, rows, values in _blocks(design, chosen, divisors):
        scatter_rows(ends, rows, values, first, place, indices, data)
    return indptr, indices, data


def _blocks(
    design: Design, chosen: NDArray[np.intp], divisors: Floats | None
) -> Iterator[tuple[int, Int64s, Int32s, Floats]]:
    """Values, not none, at a time: their first column, offsets, rows, and the values themselves."""
    for piece in pieces(design.sizes[chosen], BLOCK):
        some = chosen[piece]
        begins, rows, values = design.take_columns(some)
        if divisors is not None:
            values /= np.repeat(divisors[some], np.diff(begins))
        if len(values):
            yield piece.start, begins, rows, values
