"""A matrix that lies in blocks of rows, of which one at a time is in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.ragged import scatter_rows
from textreg.errors import UsageError
from textreg.records.block_operations import (
    block_columns,
    block_curvature,
    block_scores,
    block_sums,
    groups_over,
)
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


class RowBlocks(Protocol):
    """A matrix of documents by features in blocks, wherever these lie.

    Attributes
    ----------
    shape : tuple of int
        Number of documents and of features.
    starts : ndarray of int64, shape (blocks + 1,)
        The first row of every block.
    sizes : ndarray of int32, shape (p,)
        The number of documents with each feature.
    elsewhere : bool
        Whether the blocks lie on other machines.
    """

    shape: tuple[int, int]
    starts: Int64s
    sizes: Int32s
    elsewhere: bool

    def features(self, number: int) -> Int32s:
        """The features that occur in one of them, ascending."""

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order.

        operation: a function of :mod:`textreg.records.block_operations`, or another one of a
        module. Arguments are taken one after the other, as results are.
        """

    def derive(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        take: Callable[[Any], Int32s],
    ) -> RowBlocks:
        """Blocks that are made of these: ``operation`` returns the rows, and what is to be told.

        That is given to ``take``, block by block, which returns the features of the new block.
        Shape and sizes of the new blocks are left to whoever asked for them.
        """

    def large_sums(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values."""


class KnownColumns(NamedTuple):
    """Columns of a matrix in blocks that are in memory; of which features, ascending."""

    features: Int32s
    columns: CompressedArrays


class _Passes:
    """A number of passes, the same one of all copies of a matrix."""

    number: float = 0.0


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
    """

    blocks: RowBlocks
    memory: float
    _counted: _Passes

    def __init__(self, blocks: RowBlocks, memory: float = math.inf) -> None:
        vars(self).update(blocks=blocks, memory=memory, cache=Cache(), _counted=_Passes())

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

    @property
    def passes(self) -> float:
        """How often all blocks were read, by this matrix and its copies."""
        return self._counted.number

    def count_pass(self, share: float = 1.0) -> None:
        """Count that all blocks, or a share of their rows, are read once more."""
        with self.cache.lock:
            self._counted.number += share

    def add_passes(self, other: BlockDesign) -> None:
        """Count the passes of another matrix, made of this one, as its own."""
        with self.cache.lock:
            self._counted.number += other.passes
            other._counted.number = 0.0

    def _map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """What is computed of every block, in order, which is a pass."""
        self.count_pass()
        return self.blocks.map(operation, *arguments)

    def _cut(self, values: Floats) -> Iterator[Floats]:
        """Values of documents (n,), for every block its own."""
        for start, end in pairwise(self.blocks.starts.tolist()):
            yield values[start:end]

    def features_of_blocks(self) -> Iterator[Int32s]:
        """The features that occur in every block."""
        return map(self.blocks.features, range(len(self.blocks.starts) - 1))

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
        weights = (w[features] for features in self.features_of_blocks())
        scores = np.empty((n, *w.shape[1:]))
        parts = self._map(block_scores, weights, repeat(intercept))
        for some, part in zip(self._cut(scores), parts, strict=True):
            some[:] = part
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r; see :meth:`Design.transposed_product`."""
        n, p = self.shape
        self._check(r, n, features)
        if r.ndim == 2:
            return np.stack([self.transposed_product(one, features) for one in r.T], axis=1)
        products = self._sum(self._map(block_sums, self._cut(np.ascontiguousarray(r))), p)
        return products if features is None else products[features]

    def large_products(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features, ascending, whose products X'r are larger than ``least``, and these.

        Larger by absolute value; r: (n,). Where blocks lie on other machines, only these are sent.
        """
        self._check(r, self.shape[0], None)
        self.count_pass()
        return self.blocks.large_sums(np.ascontiguousarray(r), least)

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for the given ones; h: (n,)."""
        n, p = self.shape
        self._check(h, n, features)
        curvature = self._sum(self._map(block_curvature, self._cut(h)), p)
        return curvature if features is None else curvature[features]

    def _sum(self, parts: Iterable[Floats], p: int) -> Floats:
        """The sums (p,) of those of every block, added in order."""
        sums = np.zeros(p)
        for features, part in zip(self.features_of_blocks(), parts, strict=True):
            sums[features] += part
        return sums

    def select(self, features: Int32s, known: KnownColumns | None = None) -> Design:
        """The columns of some features, ascending, in memory.

        known: columns that are there already.
        """
        ends = np.concatenate([[0], np.cumsum(self.blocks.sizes[features], dtype=np.int64)])
        indices, data = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1])
        new = np.ones(len(features), dtype=bool)
        if known is not None:
            _, here, there = np.intersect1d(features, known.features, True, return_indices=True)
            new[here] = False
            ptr = known.columns.indptr
            cuts = zip(
                ends[here].tolist(), ptr[there].tolist(), ptr[there + 1].tolist(), strict=True
            )
            for place, first, last in cuts:
                indices[place : place + last - first] = known.columns.indices[first:last]
                data[place : place + last - first] = known.columns.data[first:last]
        free = ends[:-1][new]
        parts: Iterator[CompressedArrays] = self._map(block_columns, repeat(features[new]))
        for start, columns in zip(self.blocks.starts[:-1].tolist(), parts, strict=True):
            scatter_rows(*columns, start, free, indices, data)
        return Design.of_columns(self.shape[0], ends, indices, data)


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

    def map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, in order; see RowBlocks."""


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

    def select(self, features: Int32s) -> Groups:
        """What some features, ascending, leave of them; groups with none of these are left out."""
        parts = self.blocks.map(groups_over, repeat(features), repeat(self.n_features))
        sizes, indices, weights = zip(*parts, strict=True)
        indptr = np.cumsum(np.concatenate([[0], *sizes]))
        return Groups(indptr, np.concatenate(indices), np.concatenate(weights), len(features))
