"""Some columns of a matrix, each times a factor, without a copy of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots, block_sums
from textreg._core.columns import column_curvature, column_dots, column_sums
from textreg.records.cache import Cache, derived
from textreg.records.design import CompressedArrays, Design
from textreg.records.ragged import pieces, take_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

PIECE = 1 << 20
"""Values that are copied at a time, for products with several vectors."""


class ScaledColumns(Design):
    """A matrix whose column k is ``factors[k]`` times column ``chosen[k]`` of another one.

    Its products are computed from the arrays of that one, which it shares. Its own arrays are made
    when somebody asks for them.

    Parameters
    ----------
    whole : Design
        The other matrix.
    chosen : ndarray of int, shape (p,)
        Indices of its columns.
    factors : ndarray, shape (p,)
        Such that values and their squares stay finite.
    """

    _documents: int
    _columns: CompressedArrays
    _chosen: Int32s
    _factors: Floats

    def __init__(self, whole: Design, chosen: NDArray[np.integer[Any]], factors: Floats) -> None:
        # Not the other matrix itself, which may keep this one: neither would be freed at once.
        vars(self).update(
            cache=Cache(),
            _documents=whole.shape[0],
            _columns=whole.columns,
            _chosen=chosen.astype(np.int32),
            _factors=factors,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        return self._documents, len(self._chosen)

    @derived
    def values(self) -> int:
        """Number of values."""
        return int(self.sizes.sum())

    @derived
    def X_csc(self) -> csc_array:
        """The matrix by columns."""
        return Design.of_columns(self.shape[0], *self.take_columns(self.features)).X_csc

    @property
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        indptr = self._columns.indptr
        return indptr[self._chosen + 1] - indptr[self._chosen]

    def take_columns(self, features: NDArray[np.integer[Any]]) -> CompressedArrays:
        """Some columns, copied."""
        indptr, indices, data = take_lines(*self._columns, self._chosen[features])
        data *= np.repeat(self._factors[features], np.diff(indptr))
        return CompressedArrays(indptr, indices, data)

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept, for w (p,) or (p, k)."""
        features = self.features if features is None else features
        self._check(w, len(features), features)
        chosen, w = self._chosen[features], (w.T * self._factors[features]).T
        scores = np.full((self.shape[0], *w.shape[1:]), float(intercept))
        if w.ndim == 1:
            column_sums(*self._columns, w, chosen, scores)
        else:
            for some in pieces(self.sizes[features], PIECE):
                columns = take_lines(*self._columns, chosen[some])
                block_sums(*columns, np.ascontiguousarray(w[some]), scores)
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r for r (n,) or (n, k), or its entries for some features."""
        features = self.features if features is None else features
        self._check(r, self.shape[0], features)
        chosen, r = self._chosen[features], np.ascontiguousarray(r)
        products = np.empty((len(features), *r.shape[1:]))
        if r.ndim == 1:
            column_dots(*self._columns, r, chosen, products)
        else:
            for some in pieces(self.sizes[features], PIECE):
                block_dots(*take_lines(*self._columns, chosen[some]), r, products[some])
        products.T[:] *= self._factors[features]
        return products

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for some."""
        features = self.features if features is None else features
        self._check(h, self.shape[0], features)
        curvature = np.empty(len(features))
        column_curvature(*self._columns, h, self._chosen[features], curvature)
        curvature *= self._factors[features] ** 2
        return curvature
