"""The columns of a problem on one footing: of norm one, and which of them are the same."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np

from textreg._core.columns import column_dots
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.solvers.memo import remember

SAME = 2.0**-40
"""Entries of two columns of norm one that differ by no more are equal, up to rounding."""


def digest(values: Floats) -> bytes:
    """What tells arrays apart by their values."""
    return hashlib.sha256(values.tobytes()).digest()


class Race(NamedTuple):
    """Columns of which none is parallel to another, by columns and by rows.

    columns: (m,) their indices, rising. following: (p,), for every column of X the next one that is
    parallel to it, which is to take its place; -1 where there is none. place: (p,), the place among
    ``columns`` of the one that is parallel; -1 for columns that are out. indptr, places, values:
    row i has ``values[indptr[i]:indptr[i + 1]]`` at these places.
    """

    columns: Int32s
    following: Int32s
    place: Int32s
    indptr: Int64s
    places: Int32s
    values: Floats


def unit_columns(problem: Problem) -> Columns:
    """The columns of a problem, made once for all classes and prices that share its matrix."""
    key = "unit columns", problem.weights.tobytes()
    return remember(problem.X_csc, key, lambda: Columns(problem))


class Columns:
    """The columns of X divided by their norms; those of no norm stay as they are.

    norms: (p,), sqrt(sum_i c_i x_ij^2) with the weights c of the documents, so that a weight of two
    is the same as a document twice. All inner products of columns are weighted in this way.
    """

    def __init__(self, problem: Problem) -> None:
        X, c = problem.X_csc, problem.weights
        self.shape: tuple[int, int] = X.shape
        self.indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        self.indices = np.ascontiguousarray(X.indices, dtype=np.int32)
        sizes = np.diff(self.indptr)
        of = np.repeat(np.arange(X.shape[1]), sizes)
        squares = c[self.indices] * X.data * X.data
        self.norms = np.sqrt(np.bincount(of, weights=squares, minlength=X.shape[1]))
        self.data = X.data / np.where(self.norms > 0.0, self.norms, 1.0)[of]
        self.weights = c
        with np.errstate(divide="ignore"):
            self.inverse = np.where(c > 0.0, 1.0 / c, 0.0)

    def dots(self, v: Floats, features: Int32s) -> Floats:
        """x_j . v for columns of norm one; v: (n,)."""
        out = np.empty(len(features))
        column_dots(self.indptr, self.indices, self.data, v, features, out)
        return out

    def fullest(self, count: int) -> tuple[Int32s, Floats, Floats]:
        """The ``count`` columns with most entries, or all.

        Returns where a column stands among them, (p,), -1 for the others; the columns times the
        weights of the documents, with all their zeros, (count, n); and their products with each
        other, weighted, (count, count).
        """
        full = np.argsort(np.diff(-self.indptr), kind="stable")[:count]
        place = np.full(self.shape[1], -1, dtype=np.int32)
        place[full] = np.arange(len(full))
        whole = np.zeros((len(full), self.shape[0]))
        for k, j in enumerate(full.tolist()):
            here = slice(self.indptr[j], self.indptr[j + 1])
            whole[k, self.indices[here]] = self.data[here]
        common = whole * self.weights
        return place, common, np.asarray(common @ whole.T, dtype=np.float64)

    def length(self, v: Floats) -> float:
        """The norm of v (n,), derivatives in the scores, for which |x_j . v| <= length(v)."""
        return math.sqrt(float((v * v) @ self.inverse))

    def race(self, scale: Floats) -> Race:
        """Of columns that are parallel the one with the largest ``scale`` (p,), if it is not 0.

        Made once for every order of the columns, as classes and prices share it.
        """

        def make() -> Race:
            from scipy.sparse import csc_array

            following = self.twins(scale)
            first = scale > 0.0
            first[following[following >= 0]] = False
            columns = np.flatnonzero(first).astype(np.int32)
            leads = np.arange(len(scale), dtype=np.int32)
            leads[following[following >= 0]] = np.flatnonzero(following >= 0)
            while (leads[leads] != leads).any():  # twice as far with every round
                leads = leads[leads]
            place = np.full(len(scale), -1, dtype=np.int32)
            place[columns] = np.arange(len(columns))
            whole = csc_array((self.data, self.indices, self.indptr), shape=self.shape)
            rows = whole[:, columns].tocsr()
            indptr, places = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
            return Race(columns, following, place[leads], indptr, places, rows.data)

        # Only the order counts, and all have the same scale where columns of norm one are chosen.
        return remember(self, ("race", digest(scale / (scale.max(initial=0.0) or 1.0))), make)

    def twins(self, scale: Floats) -> Int32s:
        """For every column the next one that is parallel to it; -1 where there is none.

        They come in the order of falling ``scale`` (p,), and of the index where that is the same.

        (p,). Found by a hash of the entries, and compared; of columns that are parallel but for
        rounding, some may be missed.
        """
        full = np.flatnonzero(np.diff(self.indptr) > 0)
        sizes = np.diff(self.indptr)[full]
        starts = np.cumsum(sizes) - sizes  # empty columns have no entries: all others lie together
        sign = np.repeat(np.sign(self.data[starts]), sizes)
        entries = np.rint(sign * self.data / SAME).astype(np.int64)
        numbers = np.random.default_rng(0).integers(2**63, size=self.shape[0], dtype=np.int64)
        keys = np.add.reduceat(entries * (2 * numbers[self.indices] + 1), starts)
        order = np.lexsort((full, -scale[full], keys))
        before, after = order[:-1], order[1:]
        same = (keys[before] == keys[after]) & (sizes[before] == sizes[after])
        before, after = before[same], after[same]
        lengths = sizes[before]
        inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        one, two = (np.repeat(starts[which], lengths) + inside for which in (before, after))
        differ = (self.indices[one] != self.indices[two]) | (
            np.abs(sign[one] * self.data[one] - sign[two] * self.data[two]) > 2.0 * SAME
        )
        equal = np.bincount(np.repeat(np.arange(len(before)), lengths), weights=differ) == 0.0
        following = np.full(self.shape[1], -1, dtype=np.int32)
        following[full[before[equal]]] = full[after[equal]]
        return following
