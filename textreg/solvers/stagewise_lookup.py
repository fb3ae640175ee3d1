"""Where forward stagewise looks for its next feature, and the columns that it steps along.

All columns are centered and scaled, G = (X - 1 mu') D(gamma), but no centered matrix is ever made.
Derivatives are of one form, for feature k and up to a common factor

    c_k = A_k + offset B_k,

in which a step along feature j changes A_k only where k shares a row with j, B never, and the one
number ``offset`` stands for what centering does to all the others (Hooker & Weng 2004, section 5:
"a constant offset to all the correlations").
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.columns import column_dots
from textreg._core.stagewise import (
    add_entries,
    add_rows,
    gram_column,
    settle_offset,
    strongest,
)
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.solvers.stagewise_rules import GramCacheUse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHIFT = 7
"""Features are looked at in blocks of 2^SHIFT."""

TIE = 1e-10
"""Derivatives within this share of the largest are one; the first feature of them is taken."""

CONSTANT = 1e-12
"""A column whose variance is below this share of its mean square is constant: never chosen."""


class Columns(NamedTuple):
    """The columns of a matrix, as the kernels take them."""

    indptr: Int64s
    indices: Int32s
    data: Floats

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Of any sparse or dense matrix."""
        from scipy.sparse import csc_array

        X = csc_array(X, dtype=np.float64)
        return cls(
            np.ascontiguousarray(X.indptr, dtype=np.int64),
            np.ascontiguousarray(X.indices, dtype=np.int32),
            np.ascontiguousarray(X.data),
        )

    def dots(self, v: Floats, out: Floats | None = None) -> Floats:
        """X'v, in ``out`` where that is given."""
        out = np.empty(len(self.indptr) - 1) if out is None else out
        column_dots(*self, v, np.arange(len(out), dtype=np.int32), out)
        return out


class Rows(NamedTuple):
    """A matrix by rows, its columns as places; see :class:`Lookup`."""

    indptr: Int64s
    places: Int32s
    data: Floats

    @classmethod
    def of(cls, X: csr_array, rank: Int32s) -> Rows:
        """The rows of X, with ``rank`` the place of every feature."""
        return cls(X.indptr.astype(np.int64), rank[X.indices], X.data)


class Scaling(NamedTuple):
    """mu and gamma (p,): weighted mean and one over the weighted standard deviation."""

    mean: Floats
    factor: Floats

    @classmethod
    def of(cls, problem: Problem, columns: Columns, *, center: bool, scale: bool) -> Scaling:
        """The scaling of the problem's columns; ``mean`` is zero unless they are to be centered."""
        p = problem.X.shape[1]
        total = float(problem.weights.sum()) or 1.0
        mean = columns.dots(problem.weights) / total
        squares = columns._replace(data=columns.data**2).dots(problem.weights) / total
        variance = squares - mean**2 if center else squares
        varies = variance > CONSTANT * squares
        factor = np.zeros(p)
        np.sqrt(variance, out=factor, where=varies)
        np.divide(1.0, factor, out=factor, where=varies)
        if not scale:
            factor = varies.astype(np.float64)
        return cls(mean if center else np.zeros(p), factor)


class Lookup:
    """Finds the feature of the largest |A_k + offset B_k| without looking at all of them.

    Features stand in ``places`` sorted by B. ``order``: the feature of every place; ``rank``: the
    place of every feature. A, B: (p,) by place.
    """

    def __init__(self, B: Floats) -> None:
        self.order = np.argsort(B, kind="stable").astype(np.int32)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(B), dtype=np.int32)
        self.A, self.B, self.offset = np.zeros(len(B)), B[self.order], 0.0
        blocks = -(-len(B) // 2**SHIFT)
        self.top, self.bottom = np.zeros(blocks), np.zeros(blocks)
        ends = np.arange(1, blocks + 1) * 2**SHIFT - 1
        self._low = self.B[:: 2**SHIFT].copy()
        self._high = self.B[np.minimum(ends, len(B) - 1)]

    def add_entries(self, places: Int32s, values: Floats, t: float) -> None:
        """A += t values at the given places."""
        add_entries(places, values, t, self.A, self.top, self.bottom, SHIFT)

    def add_rows(self, matrix: Rows, rows: Int32s, change: Floats) -> None:
        """A += the given rows of the matrix, each times its ``change``."""
        add_rows(*matrix, rows, change, self.A, self.top, self.bottom, SHIFT)

    def reset(self, offset: float) -> None:
        """Go on from an A that was written anew."""
        self.offset = offset
        settle_offset(self.A, self.B, 0.0, self.top, self.bottom, SHIFT)

    def settle(self) -> None:
        """Add the offset to all of A, so that it starts from zero."""
        settle_offset(self.A, self.B, self.offset, self.top, self.bottom, SHIFT)
        self.offset = 0.0

    def strongest(self) -> int:
        """The place of the largest derivative, of the first feature among equals; -1 if none."""
        return strongest(
            self.A, self.B, self.offset, self._low, self._high, self.top, self.bottom, self.order,
            SHIFT, TIE,
        )  # fmt: skip

    def among(self, features: NDArray[np.int64]) -> int:
        """The same among the given features."""
        places = self.rank[features]
        size = np.abs(self.A[places] + self.offset * self.B[places])
        largest = float(size.max())
        near = np.flatnonzero(size >= largest - TIE * largest)
        return int(places[near[np.argmin(features[near])]])

    def pull(self, place: int) -> float:
        """The derivative there."""
        return float(self.A[place] + self.offset * self.B[place])


class Scaled:
    """X D(gamma), its columns as places: what a change in some rows or in all does to A."""

    def __init__(self, X: csr_array, factor: Floats, lookup: Lookup) -> None:
        from scipy.sparse import csr_array

        rows = Rows.of(X, lookup.rank)
        self._rows = rows._replace(data=factor[X.indices] * X.data)
        self._columns = Columns.of(csr_array((self._rows.data, rows.places, X.indptr), X.shape))
        self._lookup = lookup

    def add(self, rows: Int32s, change: Floats, offset: float) -> None:
        """A += D(gamma) X'change, where ``change`` is zero but in the given rows."""
        self._lookup.add_rows(self._rows, rows, change)
        self._lookup.offset += offset

    def reset(self, v: Floats, offset: float) -> None:
        """A = D(gamma) X'v."""
        self._columns.dots(v, self._lookup.A)
        self._lookup.reset(offset)


class Gram:
    """Columns of gamma X'CX, made when first asked for; the least recently used are dropped.

    limit: bytes that all columns kept may take together.
    """

    def __init__(
        self, problem: Problem, columns: Columns, rank: Int32s, gamma: Floats, limit: float
    ) -> None:
        p = len(rank)
        self._rows = Rows.of(problem.X, rank)
        self._columns, self._weights, self._gamma, self._limit = (
            columns, problem.weights, gamma, limit,
        )  # fmt: skip
        self._sums, self._seen = np.zeros(p), np.zeros(p, dtype=np.uint8)
        self._places, self._values = np.empty(p, dtype=np.int32), np.empty(p)
        self._kept: OrderedDict[int, tuple[Int32s, Floats]] = OrderedDict()
        self._computed = self._size = 0

    @property
    def use(self) -> GramCacheUse:
        """How much of it was used."""
        return GramCacheUse(len(self._kept), self._computed, self._size)

    def column(self, feature: int) -> tuple[Int32s, Floats]:
        """Places that share a row with the feature, and gamma_k x_k'C x_j there."""
        column = self._kept.get(feature)
        if column is not None:
            self._kept.move_to_end(feature)
            return column
        count = gram_column(
            *self._columns, *self._rows, self._weights, self._gamma, feature, self._sums,
            self._seen, self._places, self._values,
        )  # fmt: skip
        column = self._places[:count].copy(), self._values[:count].copy()
        self._computed += 1
        self._kept[feature] = column
        self._size += column[0].nbytes + column[1].nbytes
        while self._size > self._limit and len(self._kept) > 1:
            _, (places, values) = self._kept.popitem(last=False)
            self._size -= places.nbytes + values.nbytes
        return column
