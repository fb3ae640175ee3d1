"""NumPy twins of ``textreg._core.ragged``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s


def copy_rows(
    ptr: Int64s, flat: NDArray[Any], rows: Int64s, new_ptr: Int64s, out: NDArray[Any]
) -> None:
    """Twin of :func:`textreg._core.ragged.copy_rows`."""
    for k, row in enumerate(rows):
        out[new_ptr[k] : new_ptr[k + 1]] = flat[ptr[row] : ptr[row + 1]]


def scatter_rows(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    first: int,
    place: Int64s,
    out_indices: Int32s,
    out_data: NDArray[Any],
    rows: Int32s | None = None,
    factors: Floats | None = None,
    begin: int = 0,
    end: int = -1,
) -> None:
    """Twin of :func:`textreg._core.ragged.scatter_rows`."""
    for k, row in enumerate(range(len(indptr) - 1) if rows is None else rows):
        here = slice(indptr[row], indptr[row + 1])
        for column, value in zip(indices[here], data[here], strict=True):
            if begin <= column < (end if end >= 0 else len(place)):
                at, factor = place[column], 1.0 if factors is None else factors[k]
                out_indices[at], out_data[at] = first + k, factor * value
                place[column] += 1


def hash_rows(ptr: Int64s, flat: Int32s, rows: Int64s, out: NDArray[np.uint64]) -> None:
    """Twin of :func:`textreg._core.ragged.hash_rows`."""
    for k, row in enumerate(rows):
        entries = flat[ptr[row] : ptr[row + 1]]
        bits = (entries.astype(np.int64) + 1).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[k] = (bits ^ (bits >> np.uint64(31))).sum() + np.uint64(len(entries))


def equal_rows(ptr: Int64s, flat: Int32s, one: Int64s, two: Int64s, out: NDArray[np.uint8]) -> None:
    """Twin of :func:`textreg._core.ragged.equal_rows`."""
    for k, (row, other) in enumerate(zip(one, two, strict=True)):
        first, second = flat[ptr[row] : ptr[row + 1]], flat[ptr[other] : ptr[other + 1]]
        out[k] = np.array_equal(first, second)
