"""A matrix in blocks of rows, which lie in a store of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from textreg.blocks.heap import release_memory
from textreg.records import Floats, Int32s, Int64s
from textreg.records.block_design import ArrayStore
from textreg.records.block_operations import GroupBlock, RowBlock, block_sums
from textreg.records.design import CompressedArrays


class StoredRows:
    """The rows of all blocks, whose features are numbered within each.

    Parameters
    ----------
    blocks : iterable of CompressedArrays
        The rows of every block, whose indices are features. Each is needed only until the next one
        is asked for.
    n_features : int
        Number of features.
    store : ArrayStore
        Where they are kept.

    Attributes
    ----------
    shape, starts, sizes, elsewhere
        As of :class:`textreg.records.block_design.RowBlocks`.
    """

    elsewhere = False

    def __init__(
        self, blocks: Iterable[CompressedArrays], n_features: int, store: ArrayStore
    ) -> None:
        self._blocks = _StoredBlocks(store, "")
        self.sizes: Int32s = np.zeros(n_features, dtype=np.int32)
        starts = [0]
        for number, rows in enumerate(blocks):
            start = starts[-1]
            block, counts = numbered_within(rows, start, n_features)
            self.sizes[block.features] += counts
            self._blocks.put(number, block.features, block.rows)
            starts.append(block.end)
        self.starts: Int64s = np.array(starts, dtype=np.int64)
        self.shape = starts[-1], n_features

    def features(self, number: int) -> Int32s:
        """The features that occur in one block, ascending."""
        return self._blocks.features(number)

    def block(self, number: int) -> RowBlock:
        """The rows of one block."""
        start, end = self.starts[number : number + 2].tolist()
        return RowBlock(start, end, self.features(number), self._blocks.rows(number))

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order."""
        chosen = range(len(self.starts) - 1) if numbers is None else numbers
        for number, *own in zip(chosen, *arguments, strict=False):
            yield operation(self.block(number), *own)

    def derive(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        take: Callable[[Any], Int32s],
    ) -> StoredRows:
        """Blocks that are made of these, in the same store; see RowBlocks."""
        made: StoredRows = object.__new__(StoredRows)
        made.starts = self.starts
        made._blocks = self._blocks.beside("derived-")
        for number, (rows, told) in enumerate(self.map(operation, *arguments)):
            made._blocks.put(number, take(told), rows)
        return made

    def large_sums(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values."""
        release_memory()  # whoever asks had a problem in memory before
        sums = np.zeros(self.shape[1])
        for number, (start, end) in enumerate(pairwise(self.starts.tolist())):
            block = self.block(number)
            sums[block.features] += block_sums(block, r[start:end])
        features = np.flatnonzero(np.abs(sums) > least).astype(np.int32)
        return features, sums[features]


class _StoredBlocks:
    """Features and rows of blocks in a store, under names that begin with ``prefix``."""

    def __init__(self, store: ArrayStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix

    def beside(self, prefix: str) -> _StoredBlocks:
        """Others in the same store."""
        return _StoredBlocks(self._store, self._prefix + prefix)

    def put(self, number: int, features: Int32s, rows: CompressedArrays) -> None:
        """Keep those of a block."""
        self._store.put(f"{self._prefix}{number}-features", features)
        for name, array in rows._asdict().items():
            self._store.put(f"{self._prefix}{number}-{name}", array)

    def features(self, number: int) -> Int32s:
        """Those of a block."""
        return self._store.get(f"{self._prefix}{number}-features")

    def rows(self, number: int) -> CompressedArrays:
        """Those of a block."""
        get = self._store.get
        return CompressedArrays(
            *(get(f"{self._prefix}{number}-{name}") for name in CompressedArrays._fields)
        )


class StoredGroups:
    """The groups of all blocks.

    Parameters
    ----------
    blocks : iterable of GroupBlock
        Those of every block.
    n_features : int
        Number of features.
    store : ArrayStore
        Where they are kept.

    Attributes
    ----------
    counts : ndarray of int64
        Number of groups of every block.
    """

    def __init__(self, blocks: Iterable[GroupBlock], n_features: int, store: ArrayStore) -> None:
        self.n_features, self._store = n_features, store
        counts = []
        for number, block in enumerate(blocks):
            for name, array in block._asdict().items():
                store.put(f"{number}-groups-{name}", array)
            counts.append(len(block.weights))
        self.counts: Int64s = np.array(counts, dtype=np.int64)

    def map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, in order."""
        for number, *own in zip(range(len(self.counts)), *arguments, strict=False):
            get = (self._store.get(f"{number}-groups-{name}") for name in GroupBlock._fields)
            yield operation(GroupBlock(*get), *own)


def numbered_within(rows: CompressedArrays, start: int, n_features: int) -> tuple[RowBlock, Int32s]:
    """Rows from ``start`` on as a block; and how many of them have each of its features."""
    indptr, indices, data = rows
    counts = np.bincount(indices, minlength=n_features)
    features = np.flatnonzero(counts).astype(np.int32)
    sizes = counts[features].astype(np.int32)
    place = counts  # the number of every feature in the block, from here on
    place[features] = np.arange(len(features))
    arrays = CompressedArrays(indptr, place[indices].astype(np.int32), data)
    return RowBlock(start, start + len(indptr) - 1, features, arrays), sizes


def cut_rows(
    arrays: tuple[Int64s, Int32s, Floats], starts: Iterable[int]
) -> Iterable[CompressedArrays]:
    """The rows of a matrix, cut before these rows; the last is the end."""
    indptr, indices, data = arrays
    for start, end in pairwise(starts):
        first, last = indptr[start], indptr[end]
        yield CompressedArrays(
            indptr[start : end + 1] - first, indices[first:last], data[first:last]
        )
