"""Ragged arrays: a flat array and offsets into it, so that row i is ``flat[ptr[i]:ptr[i + 1]]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Bools, Floats, Int32s, Int64s
from textreg._core.ragged import copy_rows, equal_rows, hash_rows
from textreg.errors import RecordError

SOME = 1 << 10
"""Documents whose values are squared at a time."""


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
    return np.bincount(bins, weights=values, minlength=size).astype(np.float64, copy=False)


def take_rows(ptr: Int64s, flat: NDArray[Any], rows: NDArray[Any]) -> tuple[Int64s, NDArray[Any]]:
    """The ragged rows ``rows``, as a new pair of offsets and flat array."""
    rows = np.asarray(rows)
    if len(rows) and rows.dtype.kind == "i" and 0 <= rows.min() <= rows.max() < len(ptr) - 1:
        chosen = np.ascontiguousarray(rows, dtype=np.int64)
    else:  # masks, from the end, and IndexError for rows that are not there
        chosen = np.arange(len(ptr) - 1)[rows]
    new = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(ptr[chosen + 1] - ptr[chosen], out=new[1:])
    taken = np.empty(int(new[-1]), dtype=flat.dtype)
    copy_rows(ptr, flat, chosen, new, taken)
    return new, taken


def take_lines(
    indptr: Int64s, indices: Int32s, data: NDArray[Any], lines: NDArray[Any]
) -> tuple[Int64s, Int32s, NDArray[Any]]:
    """Some rows, or columns, of a sparse matrix: their offsets, indices and values."""
    taken, places = take_rows(indptr, indices, lines)
    return taken, places, take_rows(indptr, data, lines)[1]


def pieces(sizes: NDArray[np.integer[Any]], most: int) -> Iterator[slice]:
    """Consecutive rows of the given sizes, a few at a time: about ``most`` entries, or one row.

    Where there is no entry at all, all rows are one piece.
    """
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] if len(ends) else 0, most))
    for first, end in pairwise([0, *np.unique(cuts[cuts > 0]).tolist(), len(sizes)]):
        yield slice(first, end)


def first_equal(
    ptr: NDArray[np.integer[Any]],
    numbers: NDArray[np.uint64],
    equal: Callable[[Int64s, Int64s], Bools],
    keys: Floats | None = None,
) -> Int64s:
    """(rows,) For every ragged row the first row that it equals: itself where none before does.

    Candidates are found by a hash, and compared: a hash alone is never trusted.

    Parameters
    ----------
    ptr : integer ndarray, shape (rows + 1,)
        Offsets of the rows, none of which may be empty.
    numbers : uint64 ndarray, shape (entries,)
        Random numbers, equal for equal entries (see :func:`hash_entries`); rows are hashed by
        their sums.
    equal : callable
        Called with two arrays of entries; whether they are equal, pair by pair.
    keys : ndarray, shape (rows,), optional
        Rows are equal only if these are.
    """
    sizes = np.diff(ptr)
    hashes = np.add.reduceat(numbers, ptr[:-1]) if len(sizes) else numbers[:0]
    hashes = hashes + sizes.astype(np.uint64)
    if keys is not None:
        hashes += mix_bits(keys.view(np.uint64))

    def same_rows(rows: Int64s, heads: Int64s) -> Bools:
        same: Bools = sizes[rows] == sizes[heads]
        if keys is not None:
            same &= keys[rows] == keys[heads]
        one, two = rows[same], heads[same]
        if len(one):
            begin, lengths = np.cumsum(sizes[one]) - sizes[one], sizes[one]
            inside = np.arange(lengths.sum()) - np.repeat(begin, lengths)
            entries = (np.repeat(ptr[which], lengths) + inside for which in (one, two))
            same[same] = np.logical_and.reduceat(equal(*entries), begin)
        return same

    return _leaders(hashes, same_rows)


def _leaders(hashes: NDArray[np.uint64], same_rows: Callable[[Int64s, Int64s], Bools]) -> Int64s:
    """(rows,) For every row the first that equals it, where equal rows have equal ``hashes``."""
    leader = left = np.arange(len(hashes))
    while len(left):
        _, first, group = np.unique(hashes[left], return_index=True, return_inverse=True)
        heads = left[first[group]]
        rows, heads = left[heads != left], heads[heads != left]
        same = same_rows(rows, heads)
        leader[rows[same]] = heads[same]
        left = rows[~same]  # different rows of one hash: compare them with each other
    return leader


def mix_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, equal for equal bits (the mixer of Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


def hash_entries(indices: NDArray[np.integer[Any]], values: NDArray[Any]) -> NDArray[np.uint64]:
    """(entries,) Numbers that look random, equal for equal indices and 64-bit values."""
    # The mixer leaves 0 as it is: count from 1.
    return mix_bits(mix_bits(indices.astype(np.uint64) + np.uint64(1)) ^ values.view(np.uint64))


def distinct_rows(
    ptr: Int64s, flat: Int32s, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the non-empty ragged ``rows`` differ.

    Returns ``first``, positions in ``rows`` of the first of every distinct row in order of
    appearance, and ``same_as``, for every one of ``rows`` its position in ``first``.
    """
    rows = np.asarray(rows, dtype=np.int64)
    hashes = np.empty(len(rows), dtype=np.uint64)
    hash_rows(ptr, flat, rows, hashes)

    def same_rows(one: Int64s, two: Int64s) -> Bools:
        same = np.empty(len(one), dtype=np.uint8)
        equal_rows(ptr, flat, rows[one], rows[two], same)
        return same.view(np.bool_)

    leader = _leaders(hashes, same_rows)
    leads = leader == np.arange(len(rows))
    return np.flatnonzero(leads), (np.cumsum(leads) - 1)[leader]


def squared_norms(indptr: NDArray[Any], data: NDArray[Any]) -> Floats:
    """The sum of the squared values of every row, or column, of a compressed matrix."""
    norms = np.zeros(len(indptr) - 1)
    for start in range(0, len(norms), SOME):  # the squares of all values take too much memory
        here = indptr[start : start + SOME + 1]
        squares = np.square(data[here[0] : here[-1]], dtype=np.float64)
        norms[start : start + SOME] = np.add.reduceat(np.append(squares, 0.0), here[:-1] - here[0])
    norms[indptr[:-1] == indptr[1:]] = 0.0
    return norms
