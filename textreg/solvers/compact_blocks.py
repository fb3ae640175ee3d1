"""Compact rows (see :mod:`.compact_rows`) of a matrix that lies in blocks of rows.

Features that occur in one block only are merged there where they are parallel, and their columns
are that block's alone: most features of text are in a document or two. The other features have a
column each, which all blocks share. Sums are taken block by block, in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg.records import Design, Floats, Int32s, Int64s
from textreg.records.ragged import sums
from textreg.solvers.parallel_columns import parallel_columns
from textreg.solvers.transposing import rows_of_columns, take_compressed

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from textreg.records.block_design import BlockDesign, RowBlock


class CompactBlock(NamedTuple):
    """The compact rows of a block.

    start, end: its first row, and the one after the last. shared: int32, the shared columns that
    occur in it, which are its first columns. own: the first of its own columns, which follow.
    arrays: offsets, columns and values by rows.
    """

    start: int
    end: int
    shared: Int32s
    own: slice
    arrays: tuple[Int64s, Int32s, Floats]

    def weights(self, w: Floats) -> Floats:
        """Those of its columns."""
        return np.concatenate([w[self.shared], w[self.own]])

    def add(self, part: Floats, out: Floats) -> None:
        """Add something of its columns to that of all columns."""
        out[self.shared] += part[: len(self.shared)]
        out[self.own] += part[len(self.shared) :]


class CompactBlocks:
    """The same methods as of :class:`.compact_rows.CompactRows`, over blocks.

    Parameters
    ----------
    design : BlockDesign
        The matrix.
    merge : bool
        Whether parallel columns become one.

    Attributes
    ----------
    size, values, shared, place, every, squares
        As of CompactRows.
    """

    def __init__(self, design: BlockDesign, merge: bool) -> None:
        n, p = design.shape
        self._design, self._store = design, design.blocks.store
        sizes = design.blocks.sizes
        self.every = np.arange(n, dtype=np.int32)
        self.place = np.full(p, -1, dtype=np.int32)
        self._share = np.ones(p)
        everywhere = _in_several(design)
        self._shared_size = len(everywhere)
        self.place[everywhere] = np.arange(len(everywhere), dtype=np.int32)
        self.shared = float(np.square(sizes[everywhere] / max(n, 1)).sum())
        self.values, self._ends = 0, [len(everywhere)]
        self._bounds: list[tuple[int, int]] = []
        for number, block in enumerate(design.each()):
            self._keep(number, block, merge)
        self.size = self._ends[-1]
        if len(empty := np.flatnonzero(self.place < 0)):  # of features that occur nowhere
            self.place[empty], self._share[empty] = 0, 0.0
        self.squares = np.zeros(self.size)
        self.add_diagonal(self.every, np.ones(n), self.squares)

    def _keep(self, number: int, block: RowBlock, merge: bool) -> None:
        """Store the compact rows of a block, and number its own columns."""
        X = _by_columns(block)
        local = Design.by_columns(X)
        own = np.flatnonzero(self.place[block.features] < 0)
        shared = np.flatnonzero(self.place[block.features] >= 0)
        shared = shared[np.argsort(self.place[block.features[shared]])]
        first, divisors = self._ends[-1], None
        chosen = own
        if merge:
            merged = parallel_columns(Design.by_columns(X[:, own]))
            chosen, divisors = own[merged.representatives], np.ones(len(block.features))
            divisors[own] = merged.share
            self._share[block.features[own]] = merged.share
            self.place[block.features[own]] = first + merged.column.astype(np.int32)
        else:
            self.place[block.features[own]] = first + np.arange(len(own), dtype=np.int32)
        self._ends.append(first + len(chosen))
        arrays = rows_of_columns(local, np.concatenate([shared, chosen]), divisors)
        self.values += len(arrays[1])
        self._bounds.append((block.start, block.end))
        self._store.put(f"{number}-compact-shared", self.place[block.features[shared]])
        indptr, indices, data = arrays
        self._store.put(f"{number}-compact-indptr", indptr)
        self._store.put(f"{number}-compact-indices", indices)
        self._store.put(f"{number}-compact-data", data)

    def _block(self, number: int) -> CompactBlock:
        """One of the blocks."""
        get = self._store.get
        indptr, indices, data = (
            get(f"{number}-compact-{name}") for name in ("indptr", "indices", "data")
        )
        own = slice(self._ends[number], self._ends[number + 1])
        shared = get(f"{number}-compact-shared")
        return CompactBlock(*self._bounds[number], shared, own, (indptr, indices, data))

    def _each(self, rows: Int32s) -> Iterator[tuple[CompactBlock, slice]]:
        """The blocks that hold some of these rows, ascending, each with its part of them."""
        if len(rows) == len(self.every):
            self._design.count_pass()
        for number, (start, end) in enumerate(self._bounds):
            some = slice(*np.searchsorted(rows, (start, end)))
            if some.start < some.stop:
                yield self._block(number), some

    def collapse(self, v: Floats) -> Floats:
        """Weights, or a gradient, (p,) of all features as (size,)."""
        return sums(self.place, self._share * v, self.size)

    def expand(self, u: Floats) -> Floats:
        """The weights, or the gradient, of all features (p,) from those of the columns (size,)."""
        w: Floats = u[self.place] * self._share
        return w

    def penalty(self, q: Floats) -> Floats:
        """The curvature (p,) of a penalty, the same for columns that are one, as (size,)."""
        of = np.empty(self.size)
        of[self.place[self._share > 0.0]] = q[self._share > 0.0]
        return of

    def gradient(self, r: Floats) -> Floats:
        """X'r (p,) for r (n,), as exact as the values are here."""
        return self.expand(self.sums(self.every, r))

    def product(
        self, rows: Int32s, h: Floats, w: Floats, b: float, scores: Floats, out: Floats
    ) -> float:
        """As of CompactRows."""
        total = 0.0
        for block, some in self._each(rows):
            local, here = rows[some] - np.int32(block.start), slice(block.start, block.end)
            weights = block.weights(w)
            part = np.zeros(len(weights))
            total += curvature_product(
                *block.arrays, local, h[here], weights, b, scores[here], part
            )
            block.add(part, out)
        return total

    def scores(self, rows: Int32s, w: Floats, b: float, out: Floats) -> None:
        """As of CompactRows."""
        for block, some in self._each(rows):
            here = out[block.start : block.end]
            row_scores(*block.arrays, rows[some] - np.int32(block.start), block.weights(w), b, here)

    def sums(self, rows: Int32s, v: Floats) -> Floats:
        """As of CompactRows."""
        out = np.zeros(self.size)
        for block, some in self._each(rows):
            part = np.zeros(len(block.shared) + block.own.stop - block.own.start)
            local = rows[some] - np.int32(block.start)
            row_sums(*block.arrays, local, np.ascontiguousarray(v[some]), part)
            block.add(part, out)
        return out

    def add_diagonal(self, rows: Int32s, h: Floats, out: Floats) -> None:
        """As of CompactRows."""
        for block, some in self._each(rows):
            part = np.zeros(len(block.shared) + block.own.stop - block.own.start)
            local = rows[some] - np.int32(block.start)
            curvature_diagonal(*block.arrays, local, h[block.start : block.end], part)
            block.add(part, out)

    def take(self, rows: Int32s) -> tuple[Int64s, Int32s, Floats]:
        """Offsets, columns and values of some documents."""
        ends, columns, values = [np.zeros(1, dtype=np.int64)], [], []
        for block, some in self._each(rows):
            indptr, indices, data = take_compressed(*block.arrays, rows[some] - block.start)
            column = np.concatenate(
                [block.shared, np.arange(block.own.start, block.own.stop, dtype=np.int32)]
            )
            ends.append(indptr[1:] + ends[-1][-1])
            columns.append(column[indices])
            values.append(data.astype(np.float64))
        if not values:
            return ends[0], np.zeros(0, dtype=np.int32), np.zeros(0)
        return np.concatenate(ends), np.concatenate(columns), np.concatenate(values)


def _in_several(design: BlockDesign) -> Int32s:
    """The features that occur in more than one block, the most frequent first."""
    blocks = np.zeros(design.shape[1], dtype=np.int32)
    for block in design.each():
        blocks[block.features] += 1
    several = np.flatnonzero(blocks > 1)
    order = np.argsort(-design.blocks.sizes[several], kind="stable")
    return several[order].astype(np.int32)


def _by_columns(block: RowBlock) -> csc_array:
    """The rows of a block as csc_array."""
    from scipy.sparse import csr_array

    indptr, indices, data = block.rows
    kind = np.int32 if len(indices) < 2**31 else np.int64
    X = csr_array(
        (data, indices.astype(kind, copy=False), indptr.astype(kind, copy=False)),
        shape=(block.end - block.start, len(block.features)),
    )
    return X.tocsc()
