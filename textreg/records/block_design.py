"""A matrix that lies in blocks of rows, of which one at a time is in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots
from textreg._core.curvature import curvature_diagonal, row_scores, row_sums
from textreg._core.ragged import scatter_rows
from textreg.errors import UsageError
from textreg.records.cache import Cache
from textreg.records.design import CompressedArrays, Design
from textreg.records.structure import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array


class ArrayStore(Protocol):
    """Arrays by name, in memory or on disk.

    A name is that of a file: letters, digits, ``-``, ``_`` and ``.``.
    """

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array, which is not to be changed from now on, in place of one of this name."""

    def get(self, name: str) -> NDArray[Any]:
        """An array, read-only; KeyError if there is none of this name."""


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


class RowBlocks(Protocol):
    """A matrix of documents by features in blocks.

    Attributes
    ----------
    shape : tuple of int
        Number of documents and of features.
    starts : ndarray of int64, shape (blocks + 1,)
        The first row of every block.
    sizes : ndarray of int32, shape (p,)
        The number of documents with each feature.
    store : ArrayStore
        Where what is derived of a block may be kept.
    """

    shape: tuple[int, int]
    starts: Int64s
    sizes: Int32s
    store: ArrayStore

    def block(self, number: int) -> RowBlock:
        """One of them."""


class BlockDesign(Design):
    """A matrix of documents by features whose rows lie in blocks.

    Products go over one block after the other. Sums over documents are those of the sums of every
    block, in order, so that they are the same wherever blocks lie and whoever adds them up. The
    matrix is never there as a whole: who needs one of some features takes :meth:`select`.

    Parameters
    ----------
    blocks : RowBlocks
        The rows.
    memory : float, default infinite
        Bytes that a problem over some of the features should not need more than.

    Attributes
    ----------
    passes : float
        How often all blocks were read.
    """

    blocks: RowBlocks
    memory: float
    passes: float

    def __init__(self, blocks: RowBlocks, memory: float = math.inf) -> None:
        vars(self).update(blocks=blocks, memory=memory, cache=Cache(), passes=0.0)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a BlockDesign has no attribute '{name}'.")

    @property
    def has_rows(self) -> bool:
        """Never all of them at a time."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        return self.blocks.shape

    def __repr__(self) -> str:
        (n, p), count = self.shape, len(self.blocks.starts) - 1
        return f"<BlockDesign: {n:,} documents in {count:,} blocks, {p:,} features>"

    def _whole(self) -> NoReturn:
        raise UsageError(
            "the documents lie in blocks, and what is asked for needs the whole matrix: train "
            "without --memory, or by another regularizer."
        )

    @property
    def X(self) -> csr_array:
        """UsageError, as the matrix is nowhere whole; so for all that derives from it."""
        self._whole()

    @property
    def X_csc(self) -> csc_array:
        """See :attr:`X`."""
        self._whole()

    @property
    def columns(self) -> CompressedArrays:
        """See :attr:`X`."""
        self._whole()

    @property
    def rows(self) -> CompressedArrays:
        """See :attr:`X`."""
        self._whole()

    @property
    def squares(self) -> Floats:
        """See :attr:`X`."""
        self._whole()

    def count_pass(self, share: float = 1.0) -> None:
        """Count that all blocks, or a share of their rows, are read once more."""
        with self.cache.lock:
            vars(self)["passes"] += share

    def add_passes(self, other: BlockDesign) -> None:
        """Count the passes of another matrix, made of this one, as its own."""
        with self.cache.lock:
            vars(self)["passes"] += other.passes
            vars(other)["passes"] = 0.0

    def each(self) -> Iterator[RowBlock]:
        """The blocks in order, which is a pass."""
        self.count_pass()
        for number in range(len(self.blocks.starts) - 1):
            yield self.blocks.block(number)

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept; see :meth:`Design.product`."""
        n, p = self.shape
        self._check(w, p if features is None else len(features), features)
        if features is not None:
            whole = np.zeros((p, *w.shape[1:]))
            whole[features] = w
            w = whole
        if not w.any():
            return np.full((n, *w.shape[1:]), float(intercept))
        scores = np.empty((n, *w.shape[1:]))
        for block in self.each():
            some = scores[block.start : block.end]
            if w.ndim == 2:
                block_dots(*block.rows, np.ascontiguousarray(w[block.features]), some)
                some += intercept
            else:
                row_scores(*block.rows, block.every, w[block.features], intercept, some)
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r; see :meth:`Design.transposed_product`."""
        n, p = self.shape
        self._check(r, n, features)
        if r.ndim == 2:
            return np.stack([self.transposed_product(one, features) for one in r.T], axis=1)
        r, products = np.ascontiguousarray(r), np.zeros(p)
        for block in self.each():
            sums = np.zeros(len(block.features))
            row_sums(*block.rows, block.every, r[block.start : block.end], sums)
            products[block.features] += sums
        return products if features is None else products[features]

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for the given ones; h: (n,)."""
        self._check(h, self.shape[0], features)
        curvature = np.zeros(self.shape[1])
        for block in self.each():
            sums = np.zeros(len(block.features))
            curvature_diagonal(*block.rows, block.every, h[block.start : block.end], sums)
            curvature[block.features] += sums
        return curvature if features is None else curvature[features]

    def select(self, features: Int32s) -> Design:
        """The columns of some features, ascending, in memory."""
        place = np.full(self.shape[1], -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        ends = np.concatenate([[0], np.cumsum(self.blocks.sizes[features], dtype=np.int64)])
        indices, data = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1])
        free = ends[:-1].copy()
        for block in self.each():
            columns = _columns_of(block, place[block.features])
            scatter_rows(*columns, block.start, free, indices, data)
        return Design.of_columns(self.shape[0], ends, indices, data)


def _columns_of(block: RowBlock, place: Int32s) -> CompressedArrays:
    """The rows of a block with some of their features; place: the new number of each, or -1."""
    indptr, indices, data = block.rows
    new = place[indices]
    kept = new >= 0
    ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[indptr]
    return CompressedArrays(ends, new[kept], data[kept])


class GroupBlock(NamedTuple):
    """The groups of a block of documents: offsets, features and weights, as of Groups."""

    indptr: Int64s
    indices: Int32s
    weights: Floats


class GroupBlocks(Protocol):
    """Groups that lie in blocks, each in the block of its document.

    Attributes
    ----------
    n_features : int
        Number of features.
    counts : ndarray of int64, shape (blocks,)
        Number of groups of every block.
    """

    n_features: int
    counts: Int64s

    def block(self, number: int) -> GroupBlock:
        """Those of one of them."""


class BlockGroups(Groups):
    """Groups in blocks, of which one block at a time is in memory.

    Parameters
    ----------
    blocks : GroupBlocks
        The groups.
    """

    blocks: GroupBlocks

    def __init__(self, blocks: GroupBlocks) -> None:
        vars(self).update(blocks=blocks, n_features=blocks.n_features, names=None)

    def __getattr__(self, name: str) -> Any:
        raise UsageError(
            "the groups lie in blocks, and what is asked for needs all of them: train without "
            "--memory, or by another regularizer."
        )

    def __len__(self) -> int:
        return int(self.blocks.counts.sum())

    def __repr__(self) -> str:
        return f"<BlockGroups: {len(self):,} over {self.n_features:,} features>"

    def each(self) -> Iterator[GroupBlock]:
        """Those of every block, in order."""
        for number in range(len(self.blocks.counts)):
            yield self.blocks.block(number)

    def select(self, features: Int32s) -> Groups:
        """What some features, ascending, leave of them; groups with none of these are left out."""
        place = np.full(self.n_features, -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        sizes, indices, weights = [], [], []
        for block in self.each():
            new = place[block.indices]
            kept = new >= 0
            left = np.diff(np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[block.indptr])
            sizes.append(left[left > 0])
            weights.append(block.weights[left > 0])
            indices.append(new[kept])
        indptr = np.cumsum(np.concatenate([[0], *sizes]))
        return Groups(indptr, np.concatenate(indices), np.concatenate(weights), len(features))

    def norms(self, w: Floats) -> Floats:
        """(groups,) The norms of the weights w (p,) of every group."""
        parts = []
        for block in self.each():
            squares = np.concatenate([[0.0], np.cumsum(w[block.indices] ** 2)])
            parts.append(np.sqrt(np.maximum(np.diff(squares[block.indptr]), 0.0)))
        return np.concatenate(parts)
