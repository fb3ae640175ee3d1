"""Some columns of a matrix as rows of few bytes.

The matrix by rows as the inner products of Newton's method read it, hundreds of times.

Columns are sorted by their number of documents, so that the weights of the words that make up most
of a text lie together in the nearest cache. Values are float32 where they have the range: only the
way to the solution depends on them, as the loss and its gradient are computed from the matrix
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.curvature import (
    curvature_diagonal,
    curvature_product,
    row_scores,
    row_sums,
)
from textreg._core.ragged import scatter_rows
from textreg.records import Design, Floats, Int32s, Int64s
from textreg.records.arrays import Cache, derived, pieces, squared_norms, take_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Design


# Values that are copied at a time.
BLOCK = 1 << 20

# Values between this and its inverse are kept as float32.
RANGE = 1e30


def rows_of_columns(
    design: Design,
    chosen: NDArray[np.intp],
    divisors: Floats | None = None,
    kind: type[np.floating[Any]] = np.float32,
) -> tuple[Int64s, Int32s, Floats]:
    """Some columns of a matrix by rows: column k of them is ``chosen[k]``.

    Parameters
    ----------
    design : Design
        The matrix.
    chosen : ndarray of int
        The columns, in any order.
    divisors : ndarray, shape (p,), optional
        What the values of every column are divided by.
    kind : type, default float32
        That of the values, unless float32 would lose more than digits.

    Returns
    -------
    indptr, indices, data : ndarray
        As of a CSR matrix whose columns are in order.
    """
    counts = np.zeros(design.shape[0], dtype=np.int64)
    least = largest = 1.0
    for _, _, rows, values in _blocks(design, chosen, divisors):
        counts += np.bincount(rows, minlength=len(counts))
        sizes = np.abs(values)
        least, largest = min(least, float(sizes.min())), max(largest, float(sizes.max()))
    indptr = np.append(0, np.cumsum(counts))
    if largest > RANGE or least < 1.0 / RANGE:
        kind = np.float64
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=kind)
    place = indptr[:-1].copy()
    for first, ends, rows, values in _blocks(design, chosen, divisors):
        scatter_rows(ends, rows, values, first, place, indices, data)
    return indptr, indices, data


def _blocks(
    design: Design, chosen: NDArray[np.intp], divisors: Floats | None
) -> Iterator[tuple[int, Int64s, Int32s, Floats]]:
    """Values, not none, at a time: their first column, offsets, rows, and the values themselves."""
    for piece in pieces(design.sizes[chosen], BLOCK):
        some = chosen[piece]
        begins, rows, values = design.take_columns(some)
        if divisors is not None:
            values /= np.repeat(divisors[some], np.diff(begins))
        if len(values):
            yield piece.start, begins, rows, values


class CompactRows:
    """See above.

    Parameters
    ----------
    design : Design
        The matrix.

    Attributes
    ----------
    size : int
        Number of columns.
    values : int
        Number of values that are not zero.
    arrays : tuple of ndarray
        Offsets, columns and values by rows.
    shared : float
        How many columns two documents have in common, on average.
    place : int32 ndarray, shape (p,)
        The column of every feature.
    every : int32 ndarray, shape (n,)
        All rows.
    squares : ndarray, shape (size,)
        The sum of the squared values of every column.
    """

    def __init__(self, design: Design) -> None:
        n, p = design.shape
        sizes = design.sizes
        self.size = p
        self.shared = float(np.square(sizes / max(n, 1)).sum())
        order = np.argsort(-sizes, kind="stable")
        self.place = np.empty(p, dtype=np.int32)
        self.place[order] = np.arange(p, dtype=np.int32)
        self.arrays = rows_of_columns(design, order)
        self.values = len(self.arrays[1])
        self.every = np.arange(n, dtype=np.int32)
        self.cache = Cache()
        self.squares = np.zeros(p)
        self.add_diagonal(self.every, np.ones(n), self.squares)

    @derived
    def columns(self) -> tuple[Int64s, Int32s, Floats]:
        """Offsets, rows and values by columns, for products with several vectors at once."""
        from scipy.sparse import csr_array

        indptr, indices, data = self.arrays
        X = csr_array((data, indices, indptr), shape=(len(self.every), self.size)).tocsc()
        return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data

    @derived
    def norms(self) -> Floats:
        """(n,) the sum of the squared values of every row."""
        indptr, _, data = self.arrays
        return squared_norms(indptr, data)

    def collapse(self, v: Floats) -> Floats:
        """Weights, or a gradient, (p,) of the features in the order of the columns."""
        u = np.empty(self.size)
        u[self.place] = v
        return u

    def expand(self, u: Floats) -> Floats:
        """The same back in the order of the features."""
        w: Floats = u[self.place]
        return w

    def gradient(self, r: Floats) -> Floats:
        """X'r (p,) for r (n,), as exact as the values are here."""
        return self.expand(self.sums(self.every, r))

    def product(
        self, rows: Int32s, h: Floats, w: Floats, b: float, scores: Floats, out: Floats
    ) -> float:
        """scores_i = x_i . w + b for the documents i of ``rows``; out += sum_i h_i scores_i x_i.

        h, scores: (n,). w, out: (size,). Returns the sum without x_i.
        """
        return curvature_product(*self.arrays, rows, h, w, b, scores, out)

    def scores(self, rows: Int32s, w: Floats, b: float, out: Floats) -> None:
        """out_i = x_i . w + b for the documents i of ``rows``. w: (size,), out: (n,)."""
        row_scores(*self.arrays, rows, w, b, out)

    def sums(self, rows: Int32s, v: Floats) -> Floats:
        """(size,) sum_k v_k x_i for i = rows[k]."""
        out = np.zeros(self.size)
        row_sums(*self.arrays, rows, v, out)
        return out

    def add_diagonal(self, rows: Int32s, h: Floats, out: Floats) -> None:
        """out_j += sum_i h_i x_ij^2 over the documents i of ``rows``. h: (n,), out: (size,)."""
        curvature_diagonal(*self.arrays, rows, h, out)

    def take(self, rows: Int32s) -> tuple[Int64s, Int32s, Floats]:
        """Offsets, columns and values of some documents."""
        return take_lines(*self.arrays, rows)


def compact_rows(design: Design) -> CompactRows:
    """Made once for a matrix."""
    return design.cache.get("compact rows", lambda: CompactRows(design))


def significant(h: Floats, c: Floats, share: float) -> tuple[Int32s, Int32s]:
    """The documents, but for the flattest, which hold at most a ``share`` of the sum of h.

    h, c: (n,), second derivatives and weights of the documents; a weight of 2 is the same as a
    document twice. Returns these documents and the others.
    """
    flatness = np.divide(h, c, out=np.zeros_like(h), where=c > 0.0)
    order = np.argsort(flatness)
    total = np.cumsum(h[order])
    first = int(np.searchsorted(total, share * total[-1], "right")) if len(h) else 0
    least = flatness[order[first]] if first < len(h) else np.inf
    large = flatness >= least
    return np.flatnonzero(large).astype(np.int32), np.flatnonzero(~large).astype(np.int32)
