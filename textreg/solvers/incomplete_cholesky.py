"""A triangle that goes near the price of a graph, for conjugate gradients to be scaled by.

The links of words make chains: a rare word follows a few others, and these follow frequent ones.
Where each weight is scaled by itself, what is learned of one end takes as many rounds to reach the
other as the chain is long. A pass through a triangle takes it all the way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg._core.cholesky import solve_normal
from textreg.penalties import Links
from textreg.records import Floats


class IncompleteCholesky:
    """Upper triangles T with T'T near A = price R'R + diag(own), for any price and ``own``.

    The variables, virtual features after all others, stand in the order of how many rows hold them.
    A row r of R is led by its largest entry, of several by the first in that order, and of its
    other entries those before it are left out: then with U the part of sum_k r_k,lead r_k to the
    right of the diagonal and D the diagonal of A,

        T = D^(-1/2) (D + price U)        (docs/networks.md, N4)

    Where R holds pairs of linked features, R'R a Laplacian, U is all of A there, and T'T = (D + U')
    D^-1 (D + U) is the symmetric Gauss-Seidel preconditioner. Where it holds features with all
    their neighbors, T is most of R itself.
    """

    def __init__(self, links: Links) -> None:
        from scipy.sparse import csr_array

        rows, self.p = links.rows, links.p
        size = rows.shape[1]
        variables = np.arange(size)
        held = np.bincount(rows.indices, minlength=size)
        self._order = np.lexsort((variables, held, variables >= self.p))
        position = np.empty_like(variables)
        position[self._order] = variables
        place, value = position[rows.indices], rows.data
        self._squares = np.bincount(place, value**2, size)

        filled = np.flatnonzero(np.diff(rows.indptr))
        begin, length = rows.indptr[filled], np.diff(rows.indptr)[filled]
        largest = np.repeat(np.maximum.reduceat(np.abs(value), begin), length)
        among = np.where(np.abs(value) == largest, place, size)
        lead = np.repeat(np.minimum.reduceat(among, begin), length)
        factor = np.repeat(value[place == lead], length)
        later = place > lead
        # The diagonal goes in as zeros, so that its places are there.
        entries = np.append(np.zeros(size), (factor * value)[later])
        where = np.append(variables, lead[later]), np.append(variables, place[later])
        table = csr_array((entries, where), shape=(size, size))
        table.sum_duplicates()
        self._indptr, self._indices = table.indptr.astype(np.int64), table.indices.astype(np.int32)
        self._entries, self._length = table.data, np.diff(table.indptr)

    def inverse(self, strength: float, own: Floats) -> Callable[[Floats], Floats]:
        """Multiplication by (T'T)^-1; own: (p,), not below zero."""
        diagonal = self._ordered(own) + strength * self._squares
        diagonal[diagonal <= 0.0] = 1.0  # nothing holds this variable
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
        """Numbers of the features (p,) in the order of the variables.

        The virtual features get zeros: they are at their best, and so nothing is asked of them.
        """
        padded = np.zeros(len(self._order))
        padded[: self.p] = values
        return padded[self._order]
