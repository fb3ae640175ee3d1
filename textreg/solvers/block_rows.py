"""The rows of a matrix in blocks, as Newton's method for a ridge reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg.records import Floats, Int32s, Int64s
from textreg.records.block_design import BlockDesign
from textreg.records.block_operations import RowBlock
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

    def _map(
        self, rows: Int32s, operation: Callable[..., Any], *arguments: Callable[[_Part], Any]
    ) -> Iterator[tuple[_Part, Any]]:
        """What is computed of the blocks that hold some of these rows, ascending, in order.

        ``arguments`` make those of the operation, beside the rows, of what is asked of a block.
        """
        starts = self._design.blocks.starts
        ends = np.searchsorted(rows, starts)
        self._design.count_pass(len(rows) / max(len(self.every), 1))
        numbers = np.flatnonzero(np.diff(ends)).tolist()
        parts = [
            _Part(
                number,
                slice(int(ends[number]), int(ends[number + 1])),
                slice(int(starts[number]), int(starts[number + 1])),
            )
            for number in numbers
        ]
        local = (rows[part.some] - np.int32(part.here.start) for part in parts)
        given = (map(make, parts) for make in arguments)
        results = self._design.blocks.map(operation, local, *given, numbers=numbers)
        return zip(parts, results, strict=True)

    def _add(self, part: _Part, sums: Floats, out: Floats) -> None:
        """Add what a block has for each of its features."""
        out[self._design.blocks.features(part.number)] += sums

    def _weights(self, w: Floats) -> Callable[[_Part], Floats]:
        """The weights of the features of a block."""
        return lambda part: w[self._design.blocks.features(part.number)]

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
        results = self._map(
            rows, rows_curvature_product, lambda part: h[part.here], self._weights(w), lambda _: b
        )
        for part, (sums, own, some) in results:
            total += own
            scores[rows[part.some]] = some
            self._add(part, sums, out)
        return total

    def scores(self, rows: Int32s, w: Floats, b: float, out: Floats) -> None:
        """As of CompactRows."""
        for part, some in self._map(rows, rows_scores, self._weights(w), lambda _: b):
            out[rows[part.some]] = some

    def sums(self, rows: Int32s, v: Floats) -> Floats:
        """As of CompactRows."""
        out = np.zeros(self.size)
        for part, sums in self._map(rows, rows_sums, lambda part: v[part.some]):
            self._add(part, sums, out)
        return out

    def add_diagonal(self, rows: Int32s, h: Floats, out: Floats) -> None:
        """As of CompactRows."""
        for part, sums in self._map(rows, rows_diagonal, lambda part: h[part.here]):
            self._add(part, sums, out)

    def take(self, rows: Int32s) -> tuple[Int64s, Int32s, Floats]:
        """Offsets, columns and values of some documents."""
        ends = [np.zeros(1, dtype=np.int64)]
        columns, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for part, (indptr, indices, data) in self._map(rows, rows_taken):
            ends.append(indptr[1:] + ends[-1][-1])
            columns.append(self._design.blocks.features(part.number)[indices])
            values.append(data)
        return np.concatenate(ends), np.concatenate(columns), np.concatenate(values)


class _Part(NamedTuple):
    """What is asked of a block.

    number: which one it is. some: its rows among those that are asked for. here: all its rows.
    """

    number: int
    some: slice
    here: slice


def rows_curvature_product(
    block: RowBlock, rows: Int32s, h: Floats, w: Floats, b: float
) -> tuple[Floats, float, Floats]:
    """X'(h (X w + b)) over some rows of a block, the sum of h (X w + b), and X w + b."""
    sums, scores = np.zeros(len(w)), np.empty(block.end - block.start)
    total = curvature_product(*block.rows, rows, h, w, b, scores, sums)
    return sums, total, scores[rows]


def rows_scores(block: RowBlock, rows: Int32s, w: Floats, b: float) -> Floats:
    """X w + b of some rows of a block."""
    scores = np.empty(block.end - block.start)
    row_scores(*block.rows, rows, w, b, scores)
    return scores[rows]


def rows_sums(block: RowBlock, rows: Int32s, v: Floats) -> Floats:
    """X'v over some rows of a block."""
    sums = np.zeros(len(block.features))
    row_sums(*block.rows, rows, np.ascontiguousarray(v), sums)
    return sums


def rows_diagonal(block: RowBlock, rows: Int32s, h: Floats) -> Floats:
    """sum_i h_i x_ij^2 over some rows of a block; h: of all its rows."""
    sums = np.zeros(len(block.features))
    curvature_diagonal(*block.rows, rows, h, sums)
    return sums


def rows_taken(block: RowBlock, rows: Int32s) -> tuple[Int64s, Int32s, Floats]:
    """Some rows of a block."""
    return take_compressed(*block.rows, rows)
