"""The rows of a matrix in blocks, as Newton's method for a ridge reads them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg.records import Floats, Int32s, Int64s
from textreg.records.block_design import BlockDesign, RowBlock
from textreg.solvers.transposing import take_compressed


class BlockRows:
    """What :class:`.compact_rows.CompactRows` offers, of the matrix as it is, block by block.

    Sums over documents are those of the sums of every block, in order.

    Parameters
    ----------
    design : BlockDesign
        The matrix.

    Attributes
    ----------
    size, values, shared, every, squares
        As of CompactRows.
    """

    def __init__(self, design: BlockDesign) -> None:
        n, self.size = design.shape
        self._design = design
        sizes = design.blocks.sizes
        self.values = int(sizes.sum(dtype=np.int64))
        self.shared = float(np.square(sizes / max(n, 1)).sum())
        self.every = np.arange(n, dtype=np.int32)
        self.squares = design.curvature(np.ones(n))

    def _each(self, rows: Int32s) -> Iterator[tuple[RowBlock, Int32s, slice]]:
        """The blocks that hold some of these rows, ascending; theirs, counted from their first."""
        starts = self._design.blocks.starts
        ends = np.searchsorted(rows, starts)
        self._design.count_pass(len(rows) / max(len(self.every), 1))
        for number in np.flatnonzero(np.diff(ends)).tolist():
            some = slice(int(ends[number]), int(ends[number + 1]))
            yield self._design.blocks.block(number), rows[some] - np.int32(starts[number]), some

    def collapse(self, v: Floats) -> Floats:
        """Weights, or a gradient: a column is a feature."""
        return v

    def expand(self, u: Floats) -> Floats:
        """The same back."""
        return u

    def penalty(self, q: Floats) -> Floats:
        """The curvature (p,) of a penalty."""
        return q

    def gradient(self, r: Floats) -> Floats:
        """X'r (p,) for r (n,)."""
        return self.sums(self.every, r)

    def product(
        self, rows: Int32s, h: Floats, w: Floats, b: float, scores: Floats, out: Floats
    ) -> float:
        """As of CompactRows."""
        total = 0.0
        for block, local, _ in self._each(rows):
            here, weights = slice(block.start, block.end), w[block.features]
            sums = np.zeros(len(weights))
            total += curvature_product(*block.rows, local, h[here], weights, b, scores[here], sums)
            out[block.features] += sums
        return total

    def scores(self, rows: Int32s, w: Floats, b: float, out: Floats) -> None:
        """As of CompactRows."""
        for block, local, _ in self._each(rows):
            row_scores(*block.rows, local, w[block.features], b, out[block.start : block.end])

    def sums(self, rows: Int32s, v: Floats) -> Floats:
        """As of CompactRows."""
        out = np.zeros(self.size)
        for block, local, some in self._each(rows):
            sums = np.zeros(len(block.features))
            row_sums(*block.rows, local, np.ascontiguousarray(v[some]), sums)
            out[block.features] += sums
        return out

    def add_diagonal(self, rows: Int32s, h: Floats, out: Floats) -> None:
        """As of CompactRows."""
        for block, local, _ in self._each(rows):
            sums = np.zeros(len(block.features))
            curvature_diagonal(*block.rows, local, h[block.start : block.end], sums)
            out[block.features] += sums

    def take(self, rows: Int32s) -> tuple[Int64s, Int32s, Floats]:
        """Offsets, columns and values of some documents."""
        ends = [np.zeros(1, dtype=np.int64)]
        columns, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for block, local, _ in self._each(rows):
            indptr, indices, data = take_compressed(*block.rows, local)
            ends.append(indptr[1:] + ends[-1][-1])
            columns.append(block.features[indices])
            values.append(data)
        return np.concatenate(ends), np.concatenate(columns), np.concatenate(values)
