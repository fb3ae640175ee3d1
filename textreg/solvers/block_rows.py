"""The rows of a matrix in blocks, as Newton's method for a ridge reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg.records import Floats, Int32s
from textreg.records.arrays import take_lines
from textreg.records.design import BlockDesign, CompressedArrays, RowBlock, joined_rows, renumbered
from textreg.solvers.compact_rows import significant
from textreg.solvers.engine import Engine
from textreg.solvers.sampled_rows import Sample, draw

FREQUENT = 200_000
"""The most features in the preconditioner."""

SHARE, LEAST, MOST = 0.1, 1_000, 4_000_000
"""Documents in the preconditioner: as a share, at least, and at most by their values."""


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
    sample : Sample
        What the preconditioner needs of these.
    """

    documents: Int32s
    flat: Int32s
    gradient: Floats
    diagonal: Floats
    flat_diagonal: Floats
    sums: Floats
    sample: Sample


class BlockRows:
    """A matrix in blocks, as Newton's method reads it.

    Sums over documents are those of the sums of every block, in order.

    Parameters
    ----------
    design : BlockDesign
        The matrix.
    norms : ndarray, shape (n,)
        The sum of the squared values of every row.

    Attributes
    ----------
    norms : ndarray, shape (n,)
        As given.
    every : int32 ndarray, shape (n,)
        All rows.
    """

    def __init__(self, design: BlockDesign, norms: Floats) -> None:
        n, self._size = design.shape
        self._design, self.norms = design, norms
        self.every = np.arange(n, dtype=np.int32)
        sizes, most = design.blocks.sizes, min(FREQUENT, self._size)
        top = np.argpartition(-sizes, most - 1)[:most] if most else np.zeros(0)
        self._frequent = np.sort(top).astype(np.int32)
        values = int(sizes[self._frequent].sum(dtype=np.int64))
        self._count = min(max(SHARE * n, LEAST), MOST / max(values, 1) * n)
        self._readings = 0

    def each(self) -> Iterator[_Part]:
        """All blocks, one after the other, for :meth:`ask`; which is a pass."""
        self._design.count_pass()
        for number, (start, end) in enumerate(pairwise(self._design.blocks.starts.tolist())):
            yield _Part(number, slice(start, end), slice(start, end))

    def features(self, part: _Part) -> Int32s:
        """The features of a block."""
        return self._design.blocks.features(part.number)

    def ask(self, part: _Part, operation: Callable[..., Any], *arguments: Any) -> Any:
        """What is computed of one block."""
        given = ([one] for one in arguments)
        return next(self._design.blocks.map(operation, *given, numbers=[part.number]))

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

    def read(self, engine: Engine, negligible: float) -> Reading:
        """What a pass tells at the derivatives r and h of an engine.

        negligible: the share of all curvature that flat documents may hold.
        """
        documents, flat = significant(engine.h, engine.c, negligible)
        flat_h = np.zeros(len(engine.h))
        flat_h[flat] = engine.h[flat]
        steep = engine.h - flat_h
        drawn, chances = draw(steep * self.norms, self._count, self._readings)
        self._readings += 1
        place = np.full(self._size, -1, dtype=np.int32)
        place[self._frequent] = np.arange(len(self._frequent), dtype=np.int32)
        sums = [np.zeros(self._size) for _ in range(4)]
        rows: list[CompressedArrays] = []

        def sampled(part: _Part) -> Int32s:
            first, last = np.searchsorted(drawn, [part.here.start, part.here.stop]).tolist()
            local: Int32s = drawn[first:last] - np.int32(part.here.start)
            return local

        def frequent(part: _Part) -> Int32s:
            """The place of every feature of the block among the frequent ones, or -1."""
            return place[self._design.blocks.features(part.number)]

        def derivatives(part: _Part) -> tuple[Floats, Floats, Floats]:
            return engine.r[part.here], engine.h[part.here], flat_h[part.here]

        given = derivatives, sampled, frequent
        for part, (own_rows, *own) in self._map(self.every, block_reading, *given):
            rows.append(own_rows)
            for some, out in zip(own, sums, strict=True):
                self._add(part, some, out)
        sample = Sample(self._frequent, joined_rows(rows), steep[drawn] / chances)
        gradient, diagonal, flat_diagonal, weighted = sums
        return Reading(documents, flat, gradient, diagonal, flat_diagonal, weighted, sample)

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
    block: RowBlock,
    rows: Int32s,
    derivatives: tuple[Floats, Floats, Floats],
    sampled: Int32s,
    place: Int32s,
) -> tuple[CompressedArrays, Floats, Floats, Floats, Floats]:
    """What a pass tells of a block, of which all ``rows`` are read; see :class:`Reading`.

    derivatives: r and h of its documents, and h where it is next to nothing, else 0. sampled:
    documents of the preconditioner. place: of every feature of the block there, or -1. Returns
    their rows, the gradient, both diagonals, and the sums.
    """
    r, h, flat_h = map(np.ascontiguousarray, derivatives)
    gradient, diagonal, flat_diagonal, sums = (np.zeros(len(block.features)) for _ in range(4))
    row_sums(*block.rows, rows, r, gradient)
    curvature_diagonal(*block.rows, rows, h, diagonal)
    curvature_diagonal(*block.rows, rows[flat_h > 0.0], flat_h, flat_diagonal)
    row_sums(*block.rows, rows, h - flat_h, sums)
    taken = CompressedArrays(*take_lines(*block.rows, sampled))
    return renumbered(taken, place), gradient, diagonal, flat_diagonal, sums
