"""The columns of a problem on one footing: of norm one, and which of them are the same."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.columns import column_dots
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.records.arrays import Cache, first_equal, hash_entries, row_of

NEGLIGIBLE = 1e-150
"""Weights of documents up to this one have squares of zero."""

SAME = 2.0**-40
"""Entries of two columns of norm one that differ by no more are equal, up to rounding."""


def digest(values: Floats) -> bytes:
    """What tells arrays apart by their values."""
    return hashlib.sha256(values.tobytes()).digest()


class DistinctColumns(NamedTuple):
    """Columns of which no two are parallel, and their values by rows.

    columns: (m,) their indices, ascending. next_parallel: (p,), for every column of X the next one
    that is parallel to it, -1 where there is none. position: (p,), in ``columns``, of the column
    parallel to it; -1 for columns that cannot be selected. indptr, positions, values: row i has
    ``values[indptr[i]:indptr[i + 1]]`` at these positions.
    """

    columns: Int32s
    next_parallel: Int32s
    position: Int32s
    indptr: Int64s
    positions: Int32s
    values: Floats


def unit_columns(problem: Problem) -> UnitColumns:
    """The columns of a problem, made once for all labels and ridges that share its matrix."""
    key = "unit columns", digest(problem.sample_weight)
    return problem.design.cache.get(key, lambda: UnitColumns(problem))


class UnitColumns:
    """The columns of X divided by their norms; those of no norm stay as they are.

    norms: (p,), sqrt(sum_i c_i x_ij^2) with the weights c of the documents, so that a weight of two
    is the same as a document twice. All inner products of columns are weighted in this way.
    """

    def __init__(self, problem: Problem) -> None:
        # The arrays and not the Design itself, whose cache holds this: no reference cycle.
        (self.indptr, self.indices, data), c = problem.design.columns, problem.sample_weight
        self.shape = problem.design.shape
        self.cache = Cache()
        column = row_of(self.indptr)
        squares = c[self.indices] * data * data
        self.norms = np.sqrt(np.bincount(column, weights=squares, minlength=self.shape[1]))
        self.data = data / np.where(self.norms > 0.0, self.norms, 1.0)[column]
        self.weights = c
        # Squares of derivatives, which are at most in proportion to c, are zero for smaller ones.
        counts = c > NEGLIGIBLE
        self.inverse = np.divide(1.0, c, out=np.zeros_like(c), where=counts)

    def dots(self, v: Floats, features: Int32s) -> Floats:
        """x_j . v for columns of norm one; v: (n,)."""
        out = np.empty(len(features))
        column_dots(self.indptr, self.indices, self.data, v, features, out)
        return out

    @property
    def matrix(self) -> tuple[Int64s, Int32s, Floats]:
        """The arrays as kernels take them: offsets of the columns, rows, values."""
        return self.indptr, self.indices, self.data

    def dense(self, count: int) -> tuple[Int32s, Floats, Floats]:
        """The ``count`` columns with the most nonzeros, or all, written out with their zeros.

        Returns the row of every column among them, (p,), -1 for the others; the columns times the
        weights of the documents, (count, n); and their weighted products with each other, (count,
        count).
        """
        # Products of two columns that are nearly full are fastest as one dense matrix product.
        selected = np.argsort(np.diff(-self.indptr), kind="stable")[:count]
        row = np.full(self.shape[1], -1, dtype=np.int32)
        row[selected] = np.arange(len(selected))
        values = np.zeros((len(selected), self.shape[0]))
        for k, j in enumerate(selected.tolist()):
            here = slice(self.indptr[j], self.indptr[j + 1])
            values[k, self.indices[here]] = self.data[here]
        weighted = values * self.weights
        return row, weighted, np.asarray(weighted @ values.T, dtype=np.float64)

    def length(self, v: Floats) -> float:
        """The norm of v (n,), derivatives in the scores, for which |x_j . v| <= length(v)."""
        return math.sqrt(float((v * v) @ self.inverse))

    def distinct(self, scale: Floats) -> DistinctColumns:
        """Of parallel columns the one with the largest ``scale`` (p,), if that is above 0.

        Made once for every order of the columns, as labels and ridges share it.
        """

        def make() -> DistinctColumns:
            from scipy.sparse import csc_array

            following = self.next_parallel(scale)
            has_next = following >= 0
            is_first = scale > 0.0
            is_first[following[has_next]] = False
            columns = np.flatnonzero(is_first).astype(np.int32)
            first = np.arange(len(scale), dtype=np.int32)
            first[following[has_next]] = np.flatnonzero(has_next)
            while (first[first] != first).any():  # pointer doubling: twice as far each round
                first = first[first]
            position = np.full(len(scale), -1, dtype=np.int32)
            position[columns] = np.arange(len(columns))
            X = csc_array(self.matrix[::-1], shape=self.shape)
            rows = X[:, columns].tocsr()
            indptr = rows.indptr.astype(np.int64)
            positions = rows.indices.astype(np.int32, copy=False)
            return DistinctColumns(
                columns, following, position[first], indptr, positions, rows.data
            )

        # Only the order counts, and which are 0: columns of norm one all have the same scale.
        ranks = np.unique(np.append(0.0, scale), return_inverse=True)[1]
        return self.cache.get(("distinct columns", digest(ranks.astype(np.float64))), make)

    def next_parallel(self, scale: Floats) -> Int32s:
        """(p,) For every column the next one that is parallel to it; -1 where there is none.

        Parallel columns are sorted by descending ``scale`` (p,), then by index. They are found by a
        hash of the entries, and compared; of columns that are parallel but for rounding, some may
        be missed.
        """
        full = np.flatnonzero(np.diff(self.indptr) > 0)
        indptr = np.append(self.indptr[full], len(self.data))  # empty columns have no entries
        # Of norm one, columns are parallel if they are equal but for the sign of the first entry.
        values = self.data * np.repeat(np.sign(self.data[indptr[:-1]]), np.diff(indptr))
        numbers = hash_entries(self.indices, np.rint(values / SAME).astype(np.int64))

        def equal(one: Int64s, two: Int64s) -> NDArray[np.bool_]:
            near = np.abs(values[one] - values[two]) <= 2.0 * SAME
            same: NDArray[np.bool_] = near & (self.indices[one] == self.indices[two])
            return same

        leader = first_equal(indptr, numbers, equal)
        order = np.lexsort((full, -scale[full], leader))
        before, after = order[:-1], order[1:]
        parallel = leader[before] == leader[after]
        following = np.full(self.shape[1], -1, dtype=np.int32)
        following[full[before[parallel]]] = full[after[parallel]]
        return following
