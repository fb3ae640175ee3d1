"""A preconditioner that knows how the most frequent features go together.

The Hessian of a ridge over text is near its diagonal, but for the features that occur in many
documents: their columns overlap. With these columns F alone

    M = [ H_FF    0   ]        H_FF with a row for the intercept, D the diagonal of H
        [  0    D_rest]

(docs/maths.md, R3) conjugate gradients need a third of the products with H that they need with its
diagonal. H_FF is a sum over documents, and so over blocks of them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from textreg._core.curvature import columns_gram
from textreg.records import Floats, Int32s
from textreg.records.design import CompressedArrays


class Frequent(NamedTuple):
    """What M needs of H.

    Attributes
    ----------
    columns : int32 ndarray, shape (m,)
        The most frequent features, F.
    gram : ndarray, shape (m, m)
        sum_i h_i x_ij x_ik for two of them; of the lower triangle.
    sums : ndarray, shape (m,)
        sum_i h_i x_ij.
    """

    columns: Int32s
    gram: Floats
    sums: Floats


class FrequentColumns:
    """M^-1 for weights and intercept.

    Parameters
    ----------
    diagonal : ndarray, shape (p,)
        That of H, above 0.
    diagonal_b : float
        The entry of H for the intercept; 0 where there is none.
    frequent : Frequent
        Of H without the penalty.
    """

    def __init__(self, diagonal: Floats, diagonal_b: float, frequent: Frequent) -> None:
        self._diagonal, self._diagonal_b = diagonal, diagonal_b
        self._columns, gram, sums = frequent
        self._factor = None
        m = len(self._columns)
        whole = np.zeros((m + 1, m + 1))
        whole[:m, :m] = gram
        whole[np.arange(m), np.arange(m)] = diagonal[self._columns]
        whole[m, :m], whole[m, m] = (sums, diagonal_b) if diagonal_b else (0.0, 1.0)
        # Where numbers are too far apart for a factor, the diagonal alone has to do.
        with suppress(np.linalg.LinAlgError):
            self._factor = np.linalg.cholesky(whole)  # of which the lower triangle is read

    def times(self, w: Floats, b: float) -> tuple[Floats, float]:
        """M^-1 (w, b)."""
        from scipy.linalg.lapack import dpotrs

        scaled = w / self._diagonal
        if self._factor is None:
            return scaled, b / self._diagonal_b if self._diagonal_b else 0.0
        some = dpotrs(self._factor, np.append(w[self._columns], b), lower=1)[0]
        scaled[self._columns] = some[:-1]
        return scaled, float(some[-1]) if self._diagonal_b else 0.0


def frequent_gram(rows: CompressedArrays, width: int, columns: Int32s, h: Floats) -> Floats:
    """sum_i h_i x_ij x_ik for j, k in ``columns``, where k is not after j; 0 elsewhere.

    rows: a matrix of ``width`` columns by rows. h: (n,); rows where it is 0 cost nothing.
    """
    place = np.full(width, -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    gram = np.zeros((len(columns), len(columns)))
    columns_gram(*rows, np.flatnonzero(h).astype(np.int32), h, place, gram)
    return gram
