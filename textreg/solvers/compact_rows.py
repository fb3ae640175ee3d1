"""Some columns of a matrix as rows of few bytes: as dual ascent reads them, many times.

Columns are sorted by their number of documents, so that the weights of the words that make up most
of a text lie together in the nearest cache. Values are float32 where they have the range: only the
way to the solution depends on them, as the loss and its gradient are computed from the matrix
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.ragged import scatter_rows
from textreg.records import Design, Floats, Int32s, Int64s
from textreg.records.arrays import Cache, derived, pieces, squared_norms

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
    arrays : tuple of ndarray
        Offsets, columns and values by rows.
    place : int32 ndarray, shape (p,)
        The column of every feature.
    """

    def __init__(self, design: Design) -> None:
        sizes = design.sizes
        self.size = len(sizes)
        order = np.argsort(-sizes, kind="stable")
        self.place = np.empty(self.size, dtype=np.int32)
        self.place[order] = np.arange(self.size, dtype=np.int32)
        self.arrays = rows_of_columns(design, order)
        self.cache = Cache()

    @derived
    def norms(self) -> Floats:
        """(n,) the sum of the squared values of every row."""
        indptr, _, data = self.arrays
        return squared_norms(indptr, data)

    @derived
    def squares(self) -> Floats:
        """(size,) the sum of the squared values of every column."""
        _, indices, data = self.arrays
        squares = np.square(data, dtype=np.float64)
        return np.bincount(indices, squares, self.size).astype(np.float64, copy=False)

    def collapse(self, v: Floats) -> Floats:
        """Weights, or a gradient, (p,) of the features in the order of the columns."""
        u = np.empty(self.size)
        u[self.place] = v
        return u

    def expand(self, u: Floats) -> Floats:
        """The same back in the order of the features."""
        w: Floats = u[self.place]
        return w


def compact_rows(design: Design) -> CompactRows:
    """Made once for a matrix."""
    return design.cache.get("compact rows", lambda: CompactRows(design))
