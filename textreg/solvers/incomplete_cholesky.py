"""An incomplete Cholesky factor of a graph's quadratic form: a preconditioner.

The links of words make chains: a rare word is linked to a few others, and these to frequent ones.
With a diagonal preconditioner, conjugate gradients carry information along a chain one link per
iteration. A pass through a triangular factor carries it all the way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg._core.cholesky import solve_normal
from textreg.penalties import Links
from textreg.records import Floats


class IncompleteCholesky:
    """Upper triangular T with T'T near A = strength R'R + diag(d), for any strength and d.

    Parameters
    ----------
    links : Links
        R, over features and virtual features.

    Notes
    -----
    Variables are ordered by the number of rows of R they occur in, virtual features last. The
    pivot of a row r of R is its largest entry in absolute value, the first of these in that order;
    entries before the pivot are dropped. With U the part of sum_k r_k,pivot r_k to the right of the
    diagonal, and D the diagonal of A,

        T = D^(-1/2) (D + strength U)        (docs/networks.md, N4)

    Where every row of R holds a pair of linked features, R'R is a Laplacian and A = D + U' + U, so
    T'T = (D + U') D^-1 (D + U) is the symmetric Gauss-Seidel preconditioner. Where a row holds a
    feature with all its neighbors, T is most of R itself.
    """

    def __init__(self, links: Links) -> None:
        from scipy.sparse import csr_array

        rows, self.p = links.rows, links.p
        size = rows.shape[1]
        variables = np.arange(size)
        occurrences = np.bincount(rows.indices, minlength=size)
        self._order = np.lexsort((variables, occurrences, variables >= self.p))
        position = np.empty_like(variables)
        position[self._order] = variables
        column, value = position[rows.indices], rows.data
        self._squares = np.bincount(column, value**2, size)

        nonempty = np.flatnonzero(np.diff(rows.indptr))
        begin, length = rows.indptr[nonempty], np.diff(rows.indptr)[nonempty]
        largest = np.repeat(np.maximum.reduceat(np.abs(value), begin), length)
        candidates = np.where(np.abs(value) == largest, column, size)
        pivot = np.repeat(np.minimum.reduceat(candidates, begin), length)
        factor = np.repeat(value[column == pivot], length)
        right = column > pivot
        # Zeros on the diagonal reserve the first entry of every row for it.
        entries = np.append(np.zeros(size), (factor * value)[right])
        where = np.append(variables, pivot[right]), np.append(variables, column[right])
        U = csr_array((entries, where), shape=(size, size))
        U.sum_duplicates()
        self._indptr, self._indices = U.indptr.astype(np.int64), U.indices.astype(np.int32)
        self._entries, self._length = U.data, np.diff(U.indptr)

    def inverse(self, strength: float, d: Floats) -> Callable[[Floats], Floats]:
        """Multiplication of a vector (p,) by (T'T)^-1; d: (p,), 0 or more."""
        diagonal = self._ordered(d) + strength * self._squares
        diagonal[diagonal <= 0.0] = 1.0  # a variable in no row and without curvature
        root = np.sqrt(diagonal)
        data = strength * self._entries / np.repeat(root, self._length)
        data[self._indptr[:-1]] = root

        def multiply(values: Floats) -> Floats:
            x = self._ordered(values)
            solve_normal(self._indptr, self._indices, data, x)
            solved = np.empty_like(x)
            solved[self._order] = x
            return solved[: self.p]

        return multiply

    def _ordered(self, values: Floats) -> Floats:
        """Values of the features (p,) in the order of the variables.

        Virtual features get zeros: they are at their optimum, so their gradient is zero.
        """
        padded = np.zeros(len(self._order))
        padded[: self.p] = values
        return padded[self._order]
