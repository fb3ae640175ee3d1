"""How forward stagewise finds its next feature, and the columns that it steps along.

All columns are centered and scaled, G = (X - 1 mu') D(gamma), but no centered matrix is ever made.
Derivatives are of one form, for feature k and up to a common factor

    c_k = A_k + offset B_k,

in which a step along feature j changes A_k only where k shares a row with j, B never, and the one
number ``offset`` stands for what centering does to all the others (hooker2004, section 5: "a
constant offset to all the correlations").
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg._core.columns import column_dots
from textreg._core.stagewise import (
    add_entries,
    add_rows,
    apply_offset,
    gram_column,
    largest_derivative,
)
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.records.arrays import row_of, take_rows
from textreg.solvers.stagewise_rules import GramCacheUse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records.design import Design

# Features lie in blocks of 2^SHIFT, each with bounds on its derivatives.
SHIFT = 7

# Derivatives within this share of the largest, and the noise of rounding, count as equal; the
# first such is selected.
TIE = 1e-10

# A column whose variance is below this share of its mean square is constant: never selected.
CONSTANT = 1e-12


class Steepest(NamedTuple):
    """The feature of the largest derivative, and that derivative; -1 and 0 if there is none."""

    feature: int
    derivative: float


def first_of(features: Int32s | Int64s, derivatives: Floats, noise: float) -> Steepest:
    """The feature of the largest derivative; the first one among equals."""
    size = np.abs(derivatives)
    largest = float(size.max())
    # The first feature, so that neither the order of documents nor that of sums matters. What is
    # left of large sums differs by their rounding, not by its own.
    near = np.flatnonzero(size >= largest - TIE * largest - noise)
    at = near[np.argmin(features[near])]
    return Steepest(int(features[at]), float(derivatives[at]))


def squares_over(r: Floats, c: Floats) -> float:
    """sum_i r_i^2 / c_i over weights c_i above 0, of which 1 / c_i may be too large a number."""
    return float(r @ np.divide(r, c, out=np.zeros(len(r)), where=c > 0.0))


class RowsByPosition(NamedTuple):
    """A matrix by rows, its features as positions; see :class:`DerivativeLookup`."""

    indptr: Int64s
    positions: Int32s
    data: Floats

    @classmethod
    def of(cls, X: csr_array, position: Int32s) -> RowsByPosition:
        """The rows of X, with ``position`` (p,) that of every feature."""
        return cls(X.indptr.astype(np.int64), position[X.indices], X.data)


class Scaling(NamedTuple):
    """mu and gamma (p,): weighted mean and one over the weighted standard deviation.

    spread: the standard deviation of the scaled columns; 0 for constant ones.
    """

    mean: Floats
    factor: Floats
    spread: Floats

    @classmethod
    def of(cls, problem: Problem, *, center: bool, scale: bool) -> Scaling:
        """The scaling of the problem's columns; ``mean`` is zero unless they are to be centered."""
        design, p = problem.design, problem.design.shape[1]
        total = float(problem.sample_weight.sum()) or 1.0
        mean = design.transposed_product(problem.sample_weight) / total
        squares = design.curvature(problem.sample_weight) / total
        variance = squares - mean**2 if center else squares
        varies = variance > CONSTANT * squares
        factor, spread = np.zeros(p), np.zeros(p)
        np.sqrt(variance, out=spread, where=varies)
        np.divide(1.0, spread, out=factor, where=varies)
        if not scale:
            factor = varies.astype(np.float64)
        return cls(mean if center else np.zeros(p), factor, factor * spread)


class DerivativeLookup:
    """Finds the feature of the largest |A_k + offset B_k| without computing all of them.

    Features have positions in the order of B. ``order``: the feature at every position;
    ``position``: that of every feature. A, B: (p,) by position. Features of similar B lie in one
    block, so that the bounds of a block hold for any offset.
    """

    def __init__(self, B: Floats) -> None:
        self.order = np.argsort(B, kind="stable").astype(np.int32)
        self.position = np.empty_like(self.order)
        self.position[self.order] = np.arange(len(B), dtype=np.int32)
        self.A, self.B, self.offset = np.zeros(len(B)), B[self.order], 0.0
        self._starts = np.arange(0, len(B), 2**SHIFT)
        self.top, self.bottom = np.zeros(len(self._starts)), np.zeros(len(self._starts))
        self.set_slopes(self.B)

    def set_slopes(self, B: Floats) -> None:
        """Take another B, by position. Call :meth:`reset` before the next look-up."""
        self.B[:] = B
        some = len(B) > 0
        self._low = np.minimum.reduceat(B, self._starts) if some else np.zeros(0)
        self._high = np.maximum.reduceat(B, self._starts) if some else np.zeros(0)

    def add_entries(self, positions: Int32s, values: Floats, t: float) -> None:
        """A += t values at the given positions."""
        add_entries(positions, values, t, self.A, self.top, self.bottom, SHIFT)

    def add_rows(self, matrix: RowsByPosition, rows: Int32s, change: Floats) -> None:
        """A += the given rows of the matrix, each times its ``change``."""
        add_rows(*matrix, rows, change, self.A, self.top, self.bottom, SHIFT)

    def reset(self, offset: float) -> None:
        """Continue after A was recomputed."""
        self.offset = offset
        apply_offset(self.A, self.B, 0.0, self.top, self.bottom, SHIFT)

    def apply_offset(self) -> None:
        """Add the offset to all of A, and start again from the offset zero."""
        apply_offset(self.A, self.B, self.offset, self.top, self.bottom, SHIFT)
        self.offset = 0.0

    def largest(self, noise: float, among: Int64s | None = None) -> Steepest:
        """The first feature among those of equal and largest derivative, all or the given ones.

        noise: by how much equal derivatives may differ.
        """
        if among is not None:
            return first_of(among, self._derivatives(self.position[among]), noise)
        position = self._largest(noise)
        if position < 0:
            return Steepest(-1, 0.0)
        return Steepest(int(self.order[position]), self.derivative(position))

    def near(self, slack: float, among: Int64s | None = None) -> Int32s:
        """Positions whose |A_k + offset B_k| may be the largest, where it is wrong by slack / 2."""
        if among is not None:
            positions = self.position[among]
            size = np.abs(self._derivatives(positions))
            best = float(size.max(initial=0.0))
        else:
            position = self._largest(0.0)
            if position < 0:
                return np.zeros(0, dtype=np.int32)
            best = abs(self.derivative(position))
            rise, fall = self.offset * self._low, self.offset * self._high
            upper = self.top + np.maximum(rise, fall)
            upper = np.maximum(upper, self.bottom - np.minimum(rise, fall))
            blocks = self._starts[upper >= best - slack - TIE * best]
            grid = blocks[:, None] + np.arange(2**SHIFT)
            positions = grid[grid < len(self.A)].astype(np.int32)
            size = np.abs(self._derivatives(positions))
        near: Int32s = positions[size >= best - slack - TIE * best]
        return near

    def derivative(self, position: int) -> float:
        """The derivative at a position."""
        return float(self.A[position] + self.offset * self.B[position])

    def _largest(self, noise: float) -> int:
        return largest_derivative(
            self.A, self.B, self.offset, self._low, self._high, self.top, self.bottom, self.order,
            SHIFT, TIE, noise,
        )  # fmt: skip

    def _derivatives(self, positions: Int32s) -> Floats:
        derivatives: Floats = self.A[positions] + self.offset * self.B[positions]
        return derivatives


class ScaledMatrix:
    """X D(gamma): what a change of the residuals, in some rows or in all, does to A.

    columns: the matrix by columns, in the order of positions.
    """

    def __init__(self, design: Design, factor: Floats, lookup: DerivativeLookup) -> None:
        rows = RowsByPosition.of(design.X, lookup.position)
        self._rows = rows._replace(data=factor[design.X.indices] * design.X.data)
        # By position, columns of one length lie together: products with all of them take less than
        # half of the time that they take in the order of the features.
        columns, every = design.columns, np.arange(len(design.columns.data))
        indptr, entries = take_rows(columns.indptr, every, lookup.order)
        scale = factor[lookup.order][row_of(indptr)]
        self.columns = indptr, columns.indices[entries], scale * columns.data[entries]
        self._positions, self._lookup = design.features, lookup

    def add(self, rows: Int32s, change: Floats, offset: float) -> None:
        """A += D(gamma) X'change, where ``change`` is zero but in the given rows."""
        self._lookup.add_rows(self._rows, rows, change)
        self._lookup.offset += offset

    def reset(self, v: Floats, offset: float) -> None:
        """A = D(gamma) X'v."""
        column_dots(*self.columns, v, self._positions, self._lookup.A)
        self._lookup.reset(offset)


class GramCache:
    """Columns of gamma X'CX, computed when first needed; the least recently used are dropped.

    limit: bytes that all stored columns may take together.
    """

    def __init__(self, problem: Problem, lookup: DerivativeLookup, gamma: Floats, limit: float):
        """gamma: (p,) by position."""
        p = len(gamma)
        self._rows = RowsByPosition.of(problem.X, lookup.position)
        self._columns, self._weights = problem.design.columns, problem.sample_weight
        self._gamma, self._limit = gamma, limit
        self._sums, self._visited = np.zeros(p), np.zeros(p, dtype=np.uint8)
        self._positions, self._values = np.empty(p, dtype=np.int32), np.empty(p)
        self._stored: OrderedDict[int, tuple[Int32s, Floats]] = OrderedDict()
        self._computed = self._bytes = 0

    @property
    def use(self) -> GramCacheUse:
        """How much of it was used."""
        return GramCacheUse(len(self._stored), self._computed, self._bytes)

    def column(self, feature: int) -> tuple[Int32s, Floats]:
        """Positions that share a row with the feature, and gamma_k x_k'C x_j there."""
        column = self._stored.get(feature)
        if column is not None:
            self._stored.move_to_end(feature)
            return column
        count = gram_column(
            *self._columns, *self._rows, self._weights, self._gamma, feature, self._sums,
            self._visited, self._positions, self._values,
        )  # fmt: skip
        column = self._positions[:count].copy(), self._values[:count].copy()
        self._computed += 1
        self._stored[feature] = column
        self._bytes += column[0].nbytes + column[1].nbytes
        # The column just computed stays, even where it alone exceeds the limit.
        while self._bytes > self._limit and len(self._stored) > 1:
            _, (positions, values) = self._stored.popitem(last=False)
            self._bytes -= positions.nbytes + values.nbytes
        return column
