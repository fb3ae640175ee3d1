"""Ragged arrays: a flat array and offsets into it, so that row i is ``flat[ptr[i]:ptr[i + 1]]``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg.errors import RecordError


def offsets(name: str, ptr: Int64s, total: int) -> None:
    """Check that ``ptr`` cuts a flat array of ``total`` entries into consecutive pieces."""
    if ptr.ndim != 1 or len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != total:
        raise RecordError(f"{name} must run from 0 to {total}, the number of entries it cuts.")
    if np.any(ptr[1:] < ptr[:-1]):
        raise RecordError(
            f"{name} must never decrease; entry {int(np.argmax(np.diff(ptr) < 0))} does."
        )


def row_of(ptr: NDArray[np.integer[Any]]) -> Int64s:
    """The row of every entry of the flat array; shape (entries,)."""
    return np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))


def sums(bins: NDArray[Any], values: Floats, size: int) -> Floats:
    """The sum of ``values`` in each of ``size`` bins; bincount gives integers where it has none."""
    return np.bincount(bins, weights=values, minlength=size).astype(np.float64)


def take_rows(ptr: Int64s, flat: NDArray[Any], rows: NDArray[Any]) -> tuple[Int64s, NDArray[Any]]:
    """The ragged rows ``rows``, as a new pair of offsets and flat array."""
    sizes = np.diff(ptr)[rows]
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(sizes, out=new[1:])
    return new, flat[np.arange(new[-1]) + np.repeat(ptr[rows] - new[:-1], sizes)]


def distinct_rows(
    ptr: Int64s, flat: Int32s, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the non-empty ragged ``rows`` differ.

    Returns ``first``, positions in ``rows`` of the first of every distinct row in order of
    appearance, and ``same_as``, for every one of ``rows`` its position in ``first``.
    """
    if len(rows) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    ptr, flat = take_rows(ptr, flat, rows)
    sizes = np.diff(ptr)
    # A random 64-bit number for every feature: sums agree for equal rows, and hardly for others.
    numbers = np.random.default_rng(0).integers(2**64, size=int(flat.max()) + 1, dtype=np.uint64)
    keys = np.add.reduceat(numbers[flat], ptr[:-1]) + sizes.astype(np.uint64)
    _, first, same_as = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    first, same_as = first[order], rank[same_as]
    # Never trust a hash: compare every row with the one it is to be merged into.
    twin = first[same_as]
    twin_flat = flat[
        np.minimum(np.arange(len(flat)) + np.repeat(ptr[twin] - ptr[:-1], sizes), len(flat) - 1)
    ]
    if (sizes[twin] != sizes).any() or (twin_flat != flat).any():
        seen: dict[bytes, int] = {}
        first_list: list[int] = []
        same_list: list[int] = []
        for row in range(len(rows)):
            key = flat[ptr[row] : ptr[row + 1]].tobytes()
            if key not in seen:
                seen[key] = len(first_list)
                first_list.append(row)
            same_list.append(seen[key])
        return np.array(first_list, dtype=np.intp), np.array(same_list, dtype=np.intp)
    return first, same_as
