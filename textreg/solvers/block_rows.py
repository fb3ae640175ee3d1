"""The rows of a matrix in blocks, as Newton's method for a ridge reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg.records import Floats, Int32s
from textreg.records.block_design import BlockDesign
from textreg.records.block_operations import RowBlock
from textreg.solvers.compact_rows import significant
from textreg.solvers.engine import Engine
from textreg.solvers.frequent_columns import Frequent, frequent_gram

FREQUENT, ENTRIES = 1_000, 4
"""The most columns in the preconditioner; and how many times as many values as products of two of
them there have to be."""


class Reading(NamedTuple):
    """What one pass tells of the documents at their scores.

    Attributes
    ----------
    documents, flat : int32 ndarray
        The documents that products are made of, and those with next to no curvature.
    gradient : ndarray, shape (p,)
        X'r.
    diagonal, flat_diagonal : ndarray, shape (p,)
        sum_i h_i x_ij^2 over all documents, and over the flat ones.
    sums : ndarray, shape (p,)
        sum_i h_i x_ij over the others.
    frequent : Frequent
        What the preconditioner needs of these.
    """

    documents: Int32s
    flat: Int32s
    gradient: Floats
    diagonal: Floats
    flat_diagonal: Floats
    sums: Floats
    frequent: Frequent


class BlockRows:
    """A matrix in blocks, as Newton's method reads it.

    Sums over documents are those of the sums of every block, in order.

    Parameters
    ----------
    design : BlockDesign
        The matrix.
    squares : ndarray, shape (p,)
        The sum of the squared values of every column.

    Attributes
    ----------
    every : int32 ndarray, shape (n,)
        All rows.
    """

    def __init__(self, design: BlockDesign, squares: Floats) -> None:
        n, self._size = design.shape
        self._design = design
        self.every = np.arange(n, dtype=np.int32)
        values = int(design.blocks.sizes.sum(dtype=np.int64))
        self._most = min(FREQUENT, math.isqrt(values // ENTRIES), self._size)
        self._importance = squares

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

    def _frequent(self) -> Int32s:
        """The columns of the preconditioner: those of the most curvature at the last reading."""
        top = np.argpartition(-self._importance, max(self._most - 1, 0))[: self._most]
        return np.sort(top).astype(np.int32)

    def read(self, engine: Engine, negligible: float) -> Reading:
        """What a pass tells at the derivatives r and h of an engine.

        negligible: the share of all curvature that flat documents may hold.
        """
        documents, flat = significant(engine.h, engine.c, negligible)
        flat_h = np.zeros(len(engine.h))
        flat_h[flat] = engine.h[flat]
        sums = [np.zeros(self._size) for _ in range(4)]
        columns = self._frequent()
        gram = np.zeros((len(columns), len(columns)))
        places: list[Int32s] = []

        def frequent(part: _Part) -> Int32s:
            features = self._design.blocks.features(part.number)
            _, own, there = np.intersect1d(features, columns, True, return_indices=True)
            places.append(there.astype(np.int32))
            return own.astype(np.int32)

        derivatives = engine.r, engine.h, flat_h
        cut = (lambda part, of=of: of[part.here] for of in derivatives)
        for part, (own_gram, *own) in self._map(self.every, block_reading, *cut, frequent):
            place = places.pop(0)
            gram[np.ix_(place, place)] += own_gram
            for some, out in zip(own, sums, strict=True):
                self._add(part, some, out)
        gradient, diagonal, flat_diagonal, steep = sums
        self._importance = diagonal
        known = Frequent(columns, gram, steep[columns])
        return Reading(documents, flat, gradient, diagonal, flat_diagonal, steep, known)

    def product(
        self, rows: Int32s, h: Floats, w: Floats, b: float, scores: Floats, out: Floats
    ) -> float:
        """scores_i = x_i . w + b for the documents i of ``rows``; out += sum_i h_i scores_i x_i.

        h, scores: (n,). w, out: (p,). Returns the sum without x_i.
        """
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
        """out_i = x_i . w + b for the documents i of ``rows``. w: (p,), out: (n,)."""
        for part, some in self._map(rows, rows_scores, self._weights(w), lambda _: b):
            out[rows[part.some]] = some


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


def block_reading(
    block: RowBlock, rows: Int32s, r: Floats, h: Floats, flat_h: Floats, frequent: Int32s
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """What a pass tells of a block, of which all ``rows`` are read; see :class:`Reading`.

    h, flat_h: the curvature of its documents, and the same where it is next to nothing, else 0.
    frequent: columns of the preconditioner, as places among the features of the block. Returns
    their products, the gradient, both diagonals, and the sums.
    """
    gradient, diagonal, flat_diagonal, sums = (np.zeros(len(block.features)) for _ in range(4))
    row_sums(*block.rows, rows, np.ascontiguousarray(r), gradient)
    curvature_diagonal(*block.rows, rows, np.ascontiguousarray(h), diagonal)
    flat = rows[flat_h > 0.0]
    curvature_diagonal(*block.rows, flat, flat_h, flat_diagonal)
    steep = h - flat_h
    row_sums(*block.rows, rows, steep, sums)
    gram = frequent_gram(block.rows, len(block.features), frequent, steep)
    return gram, gradient, diagonal, flat_diagonal, sums
