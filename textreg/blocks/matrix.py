"""A matrix in blocks of rows, which lie in a store of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from textreg.records import Floats, Int32s, Int64s
from textreg.records.block_design import ArrayStore, GroupBlock, RowBlock
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
    shape, starts, sizes, store
        As of :class:`textreg.records.block_design.RowBlocks`.
    """

    def __init__(
        self, blocks: Iterable[CompressedArrays], n_features: int, store: ArrayStore
    ) -> None:
        self.store = store
        self.sizes: Int32s = np.zeros(n_features, dtype=np.int32)
        starts = [0]
        for number, (indptr, indices, data) in enumerate(blocks):
            counts = np.bincount(indices, minlength=n_features)
            self.sizes += counts.astype(np.int32)
            features = np.flatnonzero(counts).astype(np.int32)
            place = counts  # the number of every feature in the block, from here on
            place[features] = np.arange(len(features))
            store.put(f"{number}-features", features)
            store.put(f"{number}-indptr", indptr)
            store.put(f"{number}-indices", place[indices].astype(np.int32))
            store.put(f"{number}-data", data)
            starts.append(starts[-1] + len(indptr) - 1)
        self.starts: Int64s = np.array(starts, dtype=np.int64)
        self.shape = starts[-1], n_features

    def block(self, number: int) -> RowBlock:
        """The rows of one block."""
        indptr, indices, data, features = (
            self.store.get(f"{number}-{name}") for name in ("indptr", "indices", "data", "features")
        )
        start, end = self.starts[number : number + 2].tolist()
        return RowBlock(start, end, features, CompressedArrays(indptr, indices, data))


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

    def block(self, number: int) -> GroupBlock:
        """Those of one of them."""
        return GroupBlock(
            *(self._store.get(f"{number}-groups-{name}") for name in GroupBlock._fields)
        )


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
