"""The matrix of a problem: checked once, and everything that solvers derive from it."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots, block_sums
from textreg._core.columns import column_curvature, column_dots, column_sums
from textreg.errors import RecordError
from textreg.records.cache import Cache, derived
from textreg.records.convert import check_squares, entry_of
from textreg.records.matrix import checked_csr
from textreg.records.ragged import take_lines

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

DENSE = 0.25
"""Share of nonzero weights above which a product reads the matrix by rows, which is faster then."""

CACHED = 1 << 18
"""Most weights for that: more do not fit into a processor's cache, and columns are faster again."""


class CompressedArrays(NamedTuple):
    """A matrix by columns or by rows, as compiled kernels take it: ``indptr[j]:indptr[j + 1]`` are
    the entries of column or row j.

    indptr: int64, one more than there are columns. indices: int32, the row of every entry; or the
    other way round. data: float64. All of them are contiguous and read-only.
    """

    indptr: Int64s
    indices: Int32s
    data: Floats


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix of documents by features, its products, and what is derived from it.

    Solvers ask for products, for columns and for curvature, and keep no copies: a matrix whose
    rows lie in blocks, on disk or on other machines, can take its place by offering the same
    methods. Everything derived is made on first use, once across threads, and shared by all
    problems with this matrix.

    Parameters
    ----------
    X : sparse or dense matrix, shape (n, p)
        Documents by features. It is kept as float64 CSR with sorted rows and no entry twice; the
        caller's matrix stays as it is.
    name : str, default "X"
        What error messages call it.

    Attributes
    ----------
    shape : tuple of int
        (n, p).
    X_csc : csc_array
        The matrix by columns.
    columns, rows : CompressedArrays
        The arrays of the matrix by columns and by rows, as compiled kernels take them.
    values : int
        Number of values.
    sizes : ndarray, shape (p,)
        Number of values of every column.
    squares : ndarray
        The squared values of ``columns``, for sums of several vectors over them.
    cache : Cache
        What solvers derive, by key.

    Raises
    ------
    RecordError
        X has not two dimensions, not real numbers, a value that is not finite, squares too large to
        be summed, or an index or an offset out of range.
    """

    X: csr_array
    name: InitVar[str] = "X"
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def __post_init__(self, name: str) -> None:
        X = checked_csr(name, self.X)
        if not np.isfinite(X.data).all():
            at = int(np.argmin(np.isfinite(X.data)))
            raise RecordError(
                f"{name} has a value that is not finite in {entry_of(X, at)}: {X.data[at]}. "
                "Correct it, or leave out the document or the feature."
            )
        check_squares(name, X)
        object.__setattr__(self, "X", X)

    @classmethod
    def by_columns(cls, X: csc_array) -> Design:
        """Of a matrix by columns, which is not checked; by rows it is made on first use.

        Parameters
        ----------
        X : csc_array of float64, shape (n, p)
            With sorted columns, finite values and no entry twice, and nobody else's.

        Returns
        -------
        Design
        """
        check_squares("X", X)
        design = object.__new__(cls)
        vars(design).update(cache=Cache(), X_csc=X)
        return design

    @classmethod
    def of_columns(cls, n: int, indptr: Int64s, indices: Int32s, data: Floats) -> Design:
        """The same of the arrays of such a matrix with n rows.

        Parameters
        ----------
        n : int
            Number of documents.
        indptr, indices, data : ndarray
            As of :class:`CompressedArrays`, by columns.

        Returns
        -------
        Design
        """
        from scipy.sparse import csc_array

        index = np.int32 if indptr[-1] < 2**31 else np.int64  # SciPy wants both in one type
        arrays = data, indices.astype(index, copy=False), indptr.astype(index, copy=False)
        X = csc_array(arrays, shape=(n, len(indptr) - 1))
        X.has_canonical_format = True  # spares SciPy a check
        return cls.by_columns(X)

    def __getattr__(self, name: str) -> Any:
        if name != "X":
            raise AttributeError(f"a Design has no attribute '{name}'.")
        with self.cache.lock:
            if not self.has_rows:  # another thread may have made them while this one waited
                vars(self)["X"] = self.X_csc.tocsr()
        return vars(self)["X"]

    @property
    def has_rows(self) -> bool:
        """Whether the matrix by rows is there, and need not be made first."""
        return "X" in vars(self)

    def __repr__(self) -> str:
        (n, p), kind = self.shape, type(self).__name__
        return f"<{kind}: {n:,} documents, {p:,} features, {self.values:,} values>"

    @property
    def _any(self) -> csr_array | csc_array:
        """The matrix as it is there, by rows or by columns."""
        return self.X if self.has_rows else self.X_csc

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        n, p = self._any.shape
        return n, p

    @derived
    def X_csc(self) -> csc_array:
        """The matrix by columns."""
        return self.X.tocsc()

    @derived
    def columns(self) -> CompressedArrays:
        """The arrays of the matrix by columns."""
        return _arrays(self.X_csc)

    @derived
    def rows(self) -> CompressedArrays:
        """The arrays of the matrix by rows."""
        return _arrays(self.X)

    @property
    def values(self) -> int:
        """Number of values."""
        return len(self._any.data)

    @property
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        return np.diff(self.columns.indptr)

    @derived
    def squares(self) -> Floats:
        """The squared values of ``columns``, for curvature of several vectors at once."""
        data = self.columns.data
        return _read_only(data * data, np.float64)

    @derived
    def features(self) -> Int32s:
        """The index of every feature, for kernels that take a choice of them."""
        return _read_only(np.arange(self.shape[1]), np.int32)

    def take_columns(self, features: NDArray[np.integer[Any]]) -> CompressedArrays:
        """Some columns, copied.

        Parameters
        ----------
        features : ndarray of int
            Their indices, in any order.

        Returns
        -------
        CompressedArrays
            By columns; theirs to change.
        """
        return CompressedArrays(*take_lines(*self.columns, features))

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept.

        Parameters
        ----------
        w : ndarray, shape (p,) or (p, k)
            One or several vectors of weights; one row per feature where ``features`` are given.
        features : int32 ndarray, optional
            The features that the weights belong to; all others have none.
        intercept : float, default 0
            Added to every score.

        Returns
        -------
        ndarray, shape (n,) or (n, k)
        """
        self._check(w, self.shape[1] if features is None else len(features), features)
        if w.ndim == 2:
            if features is None and self.shape[0] <= self.shape[1]:
                # By columns, which are there: the same sums in the same order.
                out = np.zeros((self.shape[0], w.shape[1]))
                block_sums(*self.columns, np.ascontiguousarray(w), out)
            elif features is None:
                out = _dots(self.rows, w)
            else:
                out = _dots(_arrays(self.X_csc[:, features].tocsr()), w)
            return out + intercept if intercept else out
        if features is None:
            features = np.flatnonzero(w).astype(np.int32)
            if DENSE * len(w) < len(features) and len(w) <= CACHED and not intercept:
                # Either way sums run over the features in order: the result is the same.
                dense: Floats = self.X @ w
                return dense
            w = w[features]
        scores = np.full(self.shape[0], float(intercept))
        column_sums(*self.columns, w, features, scores)
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r, or its entries for the given ``features`` alone.

        Parameters
        ----------
        r : ndarray, shape (n,) or (n, k)
            One or several vectors over the documents.
        features : int32 ndarray, optional
            All, where they are left out.

        Returns
        -------
        ndarray, shape (p,) or (p, k), or one row per chosen feature
        """
        self._check(r, self.shape[0], features)
        if r.ndim == 2:
            arrays = self.columns if features is None else _arrays(self.X_csc[:, features])
            return _dots(arrays, r)
        features = self.features if features is None else features
        products = np.empty(len(features))
        column_dots(*self.columns, np.ascontiguousarray(r), features, products)
        return products

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for some.

        Parameters
        ----------
        h : ndarray of shape (n,)
            A curvature for every document.
        features : ndarray of int32, optional
            Indices of features; all by default.

        Returns
        -------
        ndarray
            One for each of these features.
        """
        self._check(h, self.shape[0], features)
        features = self.features if features is None else features
        curvature = np.empty(len(features))
        column_curvature(*self.columns, h, features, curvature)
        return curvature

    def _check(self, vector: Floats, size: int, features: Int32s | None) -> None:
        """Refuse what compiled code would read beyond its end for."""
        if len(vector) != size:
            raise RecordError(f"a vector of {len(vector)} entries where {size} are needed.")
        if features is not None and len(features):
            low, high = int(features.min()), int(features.max())
            if low < 0 or high >= self.shape[1]:
                raise RecordError(
                    f"features from {low} to {high} of a matrix with {self.shape[1]} features."
                )


def _arrays(X: csr_array | csc_array) -> CompressedArrays:
    return CompressedArrays(
        _read_only(X.indptr, np.int64),
        _read_only(X.indices, np.int32),
        _read_only(X.data, np.float64),
    )


def _dots(arrays: CompressedArrays, V: Floats) -> Floats:
    """The products of all rows, or columns, with several vectors, the columns of V."""
    out = np.empty((len(arrays.indptr) - 1, V.shape[1]))
    block_dots(*arrays, np.ascontiguousarray(V), out)
    return out


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """A contiguous array of the type that cannot be written to; the given one stays as it is."""
    view: NDArray[Any] = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view
