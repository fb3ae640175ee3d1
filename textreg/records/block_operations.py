"""What is computed of one block of rows, or of the groups of one block.

These are functions of a block and a few arrays, so that they can be called wherever a block lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots
from textreg._core.curvature import curvature_diagonal, row_scores, row_sums
from textreg.records.design import CompressedArrays


class RowBlock(NamedTuple):
    """Some consecutive rows of a matrix.

    Attributes
    ----------
    start, end : int
        The first row, and the one after the last.
    features : ndarray of int32
        The features that occur in them, ascending.
    rows : CompressedArrays
        The rows, whose indices are places in ``features``.
    """

    start: int
    end: int
    features: Int32s
    rows: CompressedArrays

    @property
    def every(self) -> Int32s:
        """All rows, counted from the first."""
        return np.arange(self.end - self.start, dtype=np.int32)


class GroupBlock(NamedTuple):
    """The groups of a block of documents: offsets, features and weights, as of Groups."""

    indptr: Int64s
    indices: Int32s
    weights: Floats


def block_scores(block: RowBlock, w: Floats, intercept: float) -> Floats:
    """X w + intercept, for the weights of the features that occur in the block."""
    scores = np.empty((block.end - block.start, *w.shape[1:]))
    if w.ndim == 2:
        block_dots(*block.rows, np.ascontiguousarray(w), scores)
        scores += intercept
    else:
        row_scores(*block.rows, block.every, w, intercept, scores)
    return scores


def block_sums(block: RowBlock, r: Floats) -> Floats:
    """X'r, for the features that occur in the block; r: (rows,)."""
    sums = np.zeros(len(block.features))
    row_sums(*block.rows, block.every, r, sums)
    return sums


def block_curvature(block: RowBlock, h: Floats) -> Floats:
    """sum_i h_i x_ij^2, for the features that occur in the block; h: (rows,)."""
    sums = np.zeros(len(block.features))
    curvature_diagonal(*block.rows, block.every, h, sums)
    return sums


def block_columns(block: RowBlock, features: Int32s) -> CompressedArrays:
    """The rows with some features, ascending, as numbers among these."""
    place = np.searchsorted(features, block.features).astype(np.int32)
    if len(features):
        known = features[np.minimum(place, len(features) - 1)] == block.features
        place[~known] = -1
    else:
        place[:] = -1
    return renumbered(block.rows, place)


def renumbered(rows: CompressedArrays, place: Int32s) -> CompressedArrays:
    """The rows with other numbers of their columns, without those whose ``place`` is -1."""
    indptr, indices, data = rows
    new = place[indices]
    kept = new >= 0
    ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[indptr]
    return CompressedArrays(ends, new[kept], data[kept])


def joined_rows(parts: Sequence[CompressedArrays]) -> CompressedArrays:
    """The rows of some matrices, one after the other."""
    sizes = [np.zeros(1, dtype=np.int64), *(np.diff(part.indptr) for part in parts)]
    indices = [np.zeros(0, dtype=np.int32), *(part.indices for part in parts)]
    data = [np.zeros(0), *(part.data for part in parts)]
    return CompressedArrays(
        np.cumsum(np.concatenate(sizes)), np.concatenate(indices), np.concatenate(data)
    )


def groups_over(
    block: GroupBlock, features: Int32s, n_features: int
) -> tuple[Int64s, Int32s, Floats]:
    """What some features, ascending, leave of the groups, without those that nothing is left of.

    Their sizes, their features as numbers among those given, and their weights.
    """
    place = np.full(n_features, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    new = place[block.indices]
    kept = new >= 0
    left = np.diff(np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[block.indptr])
    return left[left > 0], new[kept], block.weights[left > 0]
