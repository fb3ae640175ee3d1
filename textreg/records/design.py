"""Designs: sparse matrices of documents and features, in memory, scaled, or in blocks.

What is computed of one block of rows, or of the groups of one block.

These are functions of a block and a few arrays, so that they can be called wherever a block lies.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots, block_sums
from textreg._core.columns import column_curvature
from textreg._core.text_counts import document_frequencies
from textreg._core.threads import share_range
from textreg.errors import RecordError, UsageError
from textreg.records import arrays
from textreg.records.store import ArrayStore, Kept
from textreg.records.structure import Groups

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

    from textreg.records.documents import Documents
    from textreg.records.text import Corpus


# Share of nonzero weights above which a product reads the matrix by rows, which is faster then.
DENSE = 0.25

# Most weights for that: more do not fit into a processor's cache, and columns are faster again.
CACHED = 1 << 18

# Values from this on are kept as float32; that their squares can be summed bounds them from above.
LEAST = 1e-30

# Values that are squared, or compared, at a time.
PIECE = 1 << 20


class CompressedArrays(NamedTuple):
    """A matrix by columns or by rows, as compiled kernels take it: ``indptr[j]:indptr[j + 1]`` are
    the entries of column or row j.

    indptr: int64, one more than there are columns. indices: int32, the row of every entry; or the
    other way round. data: float64. All of them are contiguous and read-only.
    """

    indptr: Int64s
    indices: Int32s
    data: Floats


# Columns of a matrix in blocks that are in memory, and of which features, ascending.
KnownColumns = tuple[Int32s, CompressedArrays]


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
    full : bool
        Whether products are as fast over all features as over a few of them.
    sizes : ndarray, shape (p,)
        Number of values of every column.
    squares : ndarray
        The squared values of ``columns``, for sums of several vectors over them.
    blocks : sequence
        Handles of the blocks that its rows lie in; none where it is in memory.
    elsewhere : bool
        Whether these lie on other machines.
    memory : float
        Bytes that a problem over some of the features should not need more than.
    passes : int
        How often all blocks were read, by this matrix and its copies.
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
    cache: arrays.Cache = field(default_factory=arrays.Cache, init=False, repr=False)
    blocks: Sequence[Any] = field(default=(), init=False, repr=False)
    elsewhere: bool = field(default=False, init=False, repr=False)
    memory: float = field(default=math.inf, init=False, repr=False)
    full: ClassVar[bool] = False

    def __post_init__(self, name: str) -> None:
        X = arrays.checked_csr(name, self.X)
        if not np.isfinite(X.data).all():
            at = int(np.argmin(np.isfinite(X.data)))
            raise RecordError(
                f"{name} has a value that is not finite in {arrays.entry_of(X, at)}: {X.data[at]}. "
                "Correct it, or leave out the document or the feature."
            )
        arrays.check_squares(name, X)
        object.__setattr__(self, "X", X)

    @classmethod
    def of_columns(cls, n: int, indptr: Int64s, indices: Int32s, data: Floats) -> Design:
        """Of a matrix by columns, which is not checked; by rows it is made on first use.

        Parameters
        ----------
        n : int
            Number of documents.
        indptr, indices, data : ndarray
            As of :class:`CompressedArrays`, by columns; sorted in each, with finite values and no
            entry twice, and nobody else's.

        Returns
        -------
        Design
        """
        from scipy.sparse import csc_array

        index = np.int32 if indptr[-1] < 2**31 else np.int64  # SciPy wants both in one type
        whole = data, indices.astype(index, copy=False), indptr.astype(index, copy=False)
        X = csc_array(whole, shape=(n, len(indptr) - 1))
        X.has_canonical_format = True  # spares SciPy a check
        arrays.check_squares("X", X)
        design = object.__new__(cls)
        vars(design).update(cache=arrays.Cache(), X_csc=X)
        return design

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
    def given(self) -> Any:
        """The matrix as it is there, by rows or by columns."""
        return self.X if self.has_rows else self.X_csc

    @arrays.derived
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        n, p = self.given.shape
        return n, p

    @arrays.derived
    def X_csc(self) -> csc_array:
        """The matrix by columns."""
        return self.X.tocsc()

    @arrays.derived
    def columns(self) -> CompressedArrays:
        """The arrays of the matrix by columns."""
        return _arrays(self.X_csc)

    @arrays.derived
    def rows(self) -> CompressedArrays:
        """The arrays of the matrix by rows."""
        return _arrays(self.X)

    @property
    def counts(self) -> Counter[str]:
        """What is counted of this matrix and its copies, such as passes over blocks."""
        return self.cache.get("counts", Counter[str])

    @property
    def passes(self) -> int:
        """How often all blocks were read, by this matrix and its copies."""
        return self.counts["passes"]

    @arrays.derived
    def values(self) -> int:
        """Number of values."""
        return len(self.given.data)

    @arrays.derived
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        return _read_only(np.diff(self.columns.indptr), np.int64)

    @arrays.derived
    def squares(self) -> Floats:
        """The squared values of ``columns``, for curvature of several vectors at once."""
        return _read_only(np.square(self.columns.data), np.float64)

    @arrays.derived
    def features(self) -> Int32s:
        """The index of every feature, for kernels that take a choice of them."""
        return _read_only(np.arange(self.shape[1]), np.int32)

    def take_rows(self, rows: NDArray[np.integer[Any]]) -> Design:
        """The same of some rows.

        Parameters
        ----------
        rows : ndarray of int
            Their indices.

        Returns
        -------
        Design
        """
        return Design(self.X[rows])

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
        indptr, indices, data = self.columns
        taken, rows = arrays.take_rows(indptr, indices, features)
        return CompressedArrays(taken, rows, arrays.take_rows(indptr, data, features)[1])

    def rows_of(self, features: NDArray[np.integer[Any]]) -> tuple[Int64s, Int32s, NDArray[Any]]:
        """Some columns by rows: column k of them is ``features[k]``.

        Parameters
        ----------
        features : ndarray of int
            Their indices, in any order.

        Returns
        -------
        indptr, indices, data : ndarray
            As of a CSR matrix whose columns are in order; values are float32, unless that would
            lose more than digits.
        """
        columns, chosen, factors = self._lines(features.astype(np.int32))
        # In how many of these columns every document is: what is counted of texts, transposed.
        ptr, documents, _ = columns
        counts = document_frequencies(documents, ptr, self.shape[0], chosen.astype(np.int64))
        indptr = arrays.offsets_of(counts)
        indices = np.empty(indptr[-1], dtype=np.int32)
        for kind in (np.float32, np.float64):
            data = np.empty(indptr[-1], dtype=kind)
            arrays.scatter(columns, 0, indptr[:-1].copy(), (indices, data), (chosen, factors))
            starts = range(0, len(data), PIECE)
            if all(np.abs(data[at : at + PIECE]).min() >= LEAST for at in starts):
                break
        return indptr, indices, data

    def _lines(self, features: Int32s) -> tuple[CompressedArrays, Int32s, Floats | None]:
        """Arrays by columns, and which columns of these, times what, are the ``features``."""
        return self.columns, features, None

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
        quicker = self.shape[0] > self.shape[1]
        if w.ndim == 1:
            quicker = len(w) <= CACHED and int(np.count_nonzero(w)) > DENSE * len(w)
        by_rows = quicker and features is None and not intercept
        if w.ndim == 1 and features is None and not by_rows:
            features = np.flatnonzero(w).astype(np.int32)
            w = w[features]
        out = np.full((self.shape[0], *w.shape[1:]), float(intercept))
        # Either way sums run over the features in order: the result is the same.
        if by_rows:
            _dots(self.rows, _block(w), _block(out))
        else:
            block_sums(*self.columns, _block(w), _block(out), features)
        return out

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
        size = self.shape[1] if features is None else len(features)
        products = np.empty((size, *r.shape[1:]))
        _dots(self.columns, _block(r), _block(products), features)
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

    def large_products(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features whose products X'r are larger than ``least`` by absolute value, and these.

        Where blocks lie on other machines, only these are sent.

        Parameters
        ----------
        r : ndarray, shape (n,)
        least : float

        Returns
        -------
        features : ndarray of int32
            Ascending.
        products : ndarray
            One for each.
        """
        products = self.transposed_product(r)
        features = np.flatnonzero(np.abs(products) > least).astype(np.int32)
        return features, products[features]

    def select(self, features: Int32s, known: KnownColumns | None = None) -> Design:
        """The matrix of some features, in memory.

        Parameters
        ----------
        features : ndarray of int32
            Their indices, ascending.
        known : tuple, optional
            Features, ascending, and their columns, which are in memory already where rows lie in
            blocks.

        Returns
        -------
        Design
        """
        return Design.of_columns(self.shape[0], *self.take_columns(features))

    def curvature_product(self, h: Floats, w: Floats, b: float) -> tuple[Floats, Floats]:
        """X'(h z) and z = X w + b.

        Parameters
        ----------
        h : ndarray, shape (n,)
            A curvature for every document.
        w, b : ndarray of shape (p,), and float
            Weights and intercept.

        Returns
        -------
        product : ndarray, shape (p,)
        z : ndarray, shape (n,)
        """
        z = self.product(w) + b
        return self.transposed_product(h * z), z

    def _of_all(self, w: Floats, features: Int32s | None) -> Floats:
        """Weights of all features, where those of some may be given; checked."""
        self._check(w, self.shape[1] if features is None else len(features), features)
        if features is None:
            return w
        whole = np.zeros((self.shape[1], *w.shape[1:]))
        whole[features] = w
        return whole

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


def _block(V: Floats) -> Floats:
    """One or several vectors as the columns of an array, contiguous."""
    return np.ascontiguousarray(V if V.ndim == 2 else V[:, None])


def _dots(
    matrix: CompressedArrays, V: Floats, out: Floats, lines: NDArray[np.int32] | None = None
) -> None:
    """What :func:`block_dots` computes, of lines that threads share."""
    size = len(matrix.indices) * V.shape[1] * len(out) // max(len(matrix.indptr) - 1, 1)

    def dot_range(begin: int, end: int) -> None:
        if lines is None:
            block_dots(matrix.indptr[begin : end + 1], *matrix[1:], V, out[begin:end])
        else:
            block_dots(*matrix, V, out[begin:end], lines[begin:end])

    share_range(dot_range, len(out), size)


def _arrays(X: csr_array | csc_array) -> CompressedArrays:
    return CompressedArrays(
        _read_only(X.indptr, np.int64),
        _read_only(X.indices, np.int32),
        _read_only(X.data, np.float64),
    )


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """A contiguous array of the type that cannot be written to; the given one stays as it is."""
    return arrays.read_only(np.ascontiguousarray(array, dtype=dtype))


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

    _whole: Design
    _chosen: Int32s
    _factors: Floats

    def __init__(self, whole: Design, chosen: NDArray[np.integer[Any]], factors: Floats) -> None:
        # Not the other matrix itself, which may keep this one: neither would be freed at once.
        alone = object.__new__(Design)
        vars(alone).update(cache=arrays.Cache(), X_csc=whole.X_csc, columns=whole.columns)
        vars(self).update(
            cache=arrays.Cache(), _whole=alone, _chosen=chosen.astype(np.int32), _factors=factors
        )

    @arrays.derived
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        return self._whole.shape[0], len(self._chosen)

    @arrays.derived
    def values(self) -> int:
        """Number of values."""
        return int(self.sizes.sum())

    @arrays.derived
    def X_csc(self) -> csc_array:
        """The matrix by columns."""
        return Design.of_columns(self.shape[0], *self.take_columns(self.features)).X_csc

    @arrays.derived
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        return self._whole.sizes[self._chosen]

    def _lines(self, features: Int32s) -> tuple[CompressedArrays, Int32s, Floats]:
        """Those of the other matrix."""
        return self._whole.columns, self._chosen[features], self._factors[features]

    def take_columns(self, features: NDArray[np.integer[Any]]) -> CompressedArrays:
        """Some columns, copied."""
        indptr, indices, data = self._whole.take_columns(self._chosen[features])
        data *= np.repeat(self._factors[features], np.diff(indptr))
        return CompressedArrays(indptr, indices, data)

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept, for w (p,) or (p, k)."""
        features = self.features if features is None else features
        self._check(w, len(features), features)
        scaled = (w.T * self._factors[features]).T
        return self._whole.product(scaled, self._chosen[features], intercept)

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r for r (n,) or (n, k), or its entries for some features."""
        features = self.features if features is None else features
        self._check(r, self.shape[0], features)
        products = self._whole.transposed_product(r, self._chosen[features])
        products.T[:] *= self._factors[features]
        return products

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for some."""
        features = self.features if features is None else features
        self._check(h, self.shape[0], features)
        curvature = self._whole.curvature(h, self._chosen[features])
        return curvature * self._factors[features] ** 2


# A dense array of so many values is kept as one if at least this share of them is not zero: of a
# smaller or emptier one the values alone take no more time.
MANY_VALUES, FILLED = 1 << 18, 0.5


def as_design(X: Any) -> Design:
    """A matrix as solvers take it, which shares a large dense array with the caller.

    Parameters
    ----------
    X : sparse or dense matrix, shape (n, p)
        Not to be changed from now on.

    Returns
    -------
    Design

    Raises
    ------
    RecordError
        As of :class:`Design`.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.size < MANY_VALUES:
        return Design(X)
    return DenseDesign(X) if np.count_nonzero(X) >= FILLED * X.size else Design(X)


class DenseDesign(Design):
    """A matrix in a dense array, with products by BLAS.

    Vectors are multiplied one by one, so that no product depends on which others are asked for with
    it; nor on the number of jobs, as trainings hold BLAS to one thread. What takes a few columns
    gets the matrix as a sparse one.

    Parameters
    ----------
    X : ndarray, shape (n, p)
    """

    _array: Floats
    full = True

    def __init__(self, X: NDArray[Any]) -> None:
        array = arrays.as_finite("X", X, (None, None))
        arrays.check_squares("X", array.ravel())
        vars(self).update(cache=arrays.Cache(), _array=_read_only(array, np.float64))

    @property
    def given(self) -> Any:
        """The array."""
        return self._array

    @property
    def values(self) -> int:
        """Number of values."""
        return self._array.size

    @arrays.derived
    def X_csc(self) -> csc_array:
        """The matrix by columns."""
        from scipy.sparse import csc_array

        return csc_array(self._array)

    def take_rows(self, rows: NDArray[np.integer[Any]]) -> Design:
        """The same of some rows."""
        return DenseDesign(self._array[rows])

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept; see :meth:`Design.product`."""
        return _by_vector(self._array, self._of_all(w, features)) + intercept

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r; see :meth:`Design.transposed_product`."""
        self._check(r, self.shape[0], features)
        products = _by_vector(self._array.T, r)
        return products if features is None else products[features]

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2; see :meth:`Design.curvature`."""
        self._check(h, self.shape[0], features)
        curvature = np.zeros(self.shape[1])
        for rows in arrays.pieces(np.full(len(h), self.shape[1]), PIECE):
            curvature += h[rows] @ np.square(self._array[rows])
        return curvature if features is None else curvature[features]


def _by_vector(A: Floats, V: Floats) -> Floats:
    """A V, for V (m,) or (m, k)."""
    if V.ndim == 1:
        return np.asarray(A @ V)
    return np.stack([A @ v for v in np.ascontiguousarray(V.T)], axis=1)


class GroupBlock(NamedTuple):
    """The groups of a block of documents: offsets, features and weights, as of Groups."""

    indptr: Int64s = np.zeros(1, dtype=np.int64)
    indices: Int32s = np.zeros(0, dtype=np.int32)
    weights: Floats = np.zeros(0)


class Block(NamedTuple):
    """A block of documents, where that is kept: some consecutive rows of a matrix.

    Attributes
    ----------
    start, end : int
        The first row, and the one after the last.
    features : ndarray of int32
        The features that occur in them, ascending.
    sizes : ndarray of int32
        The number of documents here with each of these.
    rows : CompressedArrays
        The rows, whose indices are places in ``features``.
    groups : GroupBlock
        The groups of these documents.
    """

    start: int
    end: int
    features: Int32s
    sizes: Int32s
    rows: CompressedArrays
    groups: GroupBlock


def block_scores(block: Block, w: Floats, intercept: float) -> Floats:
    """X w + intercept, for the weights of the features that occur in the block."""
    scores = np.empty((block.end - block.start, *w.shape[1:]))
    block_dots(*block.rows, _block(w), _block(scores))
    scores += intercept
    return scores


def block_products(block: Block, r: Floats) -> Floats:
    """X'r, for the features that occur in the block; r: (rows,) or (rows, k)."""
    return _sums(block, block.rows.data, r)


def block_curvature(block: Block, h: Floats) -> Floats:
    """sum_i h_i x_ij^2, for the features that occur in the block; h: (rows,)."""
    return _sums(block, np.square(block.rows.data), h)


def _sums(block: Block, data: Floats, r: Floats) -> Floats:
    """The rows of a block times r, with other values at their places."""
    sums = np.zeros((len(block.features), *r.shape[1:]))
    block_sums(block.rows.indptr, block.rows.indices, data, _block(r), _block(sums))
    return sums


def block_curvature_product(block: Block, h: Floats, w: Floats, b: float) -> tuple[Floats, Floats]:
    """X'(h z) and z = X w + b, for the features that occur in the block; h: (rows,)."""
    z = block_scores(block, w, b)
    return block_products(block, h * z), z


def block_columns(block: Block, features: Int32s) -> CompressedArrays:
    """The rows with some features, ascending, as numbers among these."""
    place = np.full(len(block.features), -1, dtype=np.int32)
    _, numbers, positions = np.intersect1d(features, block.features, True, return_indices=True)
    place[positions] = numbers
    indptr, indices, data = block.rows
    new = place[indices]
    selected = new >= 0
    ends = arrays.offsets_of(selected)[indptr]
    return CompressedArrays(ends, new[selected], data[selected])


def groups_over(block: Block, features: Int32s, n_features: int) -> tuple[Int64s, Int32s, Floats]:
    """What some features, ascending, leave of the groups, without those that nothing is left of.

    Their sizes, their features as numbers among those given, and their weights.
    """
    place = np.full(n_features, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    indptr, indices, weights = block.groups
    new = place[indices]
    selected = new >= 0
    left = np.diff(arrays.offsets_of(selected)[indptr])
    return left[left > 0], new[selected], weights[left > 0]


def norms_of_block(block: Block) -> Floats:
    """The squared norms of the rows of a block."""
    return arrays.squared_norms(block.rows.indptr, block.rows.data)


def facts_of(block: Block) -> tuple[int, Int32s, Int32s, int]:
    """What is known of a block elsewhere: its last row, features, their sizes, its groups."""
    return block.end, block.features, block.sizes, len(block.groups.weights)


def numbered_within(
    rows: CompressedArrays, start: int, n_features: int, groups: GroupBlock | None = None
) -> Block:
    """Rows from ``start`` on, and their groups, as a block."""
    indptr, indices, data = rows
    counts = np.bincount(indices, minlength=n_features)
    features = np.flatnonzero(counts).astype(np.int32)
    sizes = counts[features].astype(np.int32)
    place = counts  # the number of every feature in the block, from here on
    place[features] = np.arange(len(features))
    numbered = CompressedArrays(indptr, place[indices].astype(np.int32), data)
    end = start + len(indptr) - 1
    return Block(start, end, features, sizes, numbered, GroupBlock() if groups is None else groups)


class BlockDesign(Design):
    """A matrix of documents by features whose rows lie in blocks, which workers keep.

    Products go over one block after the other. Sums over documents are those of the sums of every
    block, in order, so that they are the same wherever blocks lie and whoever adds them up. The
    matrix is never there as a whole: who needs one of some features takes :meth:`select`.

    Parameters
    ----------
    workers : Workers
        Who keeps the blocks.
    blocks : iterable
        A handle of every :class:`Block`.
    n_features : int
        Number of features.
    store : ArrayStore
        Where the features of every block are kept here.
    memory : float, default infinite
        Bytes that a problem over some of the features should not need more than.
    done : callable, optional
        Told how many rows are there, after every block.

    Attributes
    ----------
    starts : ndarray of int64, shape (blocks + 1,)
        The first row of every block.
    group_counts : list of int
        Number of groups of every block.
    """

    workers: Workers
    starts: Int64s
    group_counts: list[int]
    _features: list[Kept]

    def __init__(
        self,
        workers: Workers,
        blocks: Iterable[Any],
        n_features: int,
        store: ArrayStore,
        memory: float = math.inf,
        done: Callable[[int], None] = lambda rows: None,
    ) -> None:
        handles, features, counts, starts = list[Any](), list[Kept](), list[int](), [0]
        sizes = np.zeros(n_features, dtype=np.int32)

        def noted() -> Iterator[Any]:
            for block in blocks:
                handles.append(block)
                yield block

        for end, occurring, documents, groups in workers.map(facts_of, noted()):
            features.append(Kept(store, occurring))
            sizes[occurring] += documents
            starts.append(end)
            counts.append(groups)
            done(end)
        vars(self).update(
            cache=arrays.Cache(),
            workers=workers,
            elsewhere=workers.elsewhere,
            blocks=handles,
            memory=memory,
            starts=np.array(starts, dtype=np.int64),
            sizes=sizes,
            group_counts=counts,
            _features=features,
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a BlockDesign has no attribute '{name}'.")

    @property
    def has_rows(self) -> bool:
        """Never all of them at a time."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        return int(self.starts[-1]), len(self.sizes)

    def __repr__(self) -> str:
        (n, p), count = self.shape, len(self.blocks)
        return f"<BlockDesign: {n:,} documents in {count:,} blocks, {p:,} features>"

    def _whole(self) -> NoReturn:
        raise UsageError(
            "the documents lie in blocks, and what is asked for needs the whole matrix: train "
            "without --memory, or by another regularizer."
        )

    X = X_csc = columns = rows = squares = property(_whole)

    @property
    def values(self) -> int:
        """Number of values, of all blocks."""
        return int(self.sizes.sum(dtype=np.int64))

    def count_pass(self) -> None:
        """Count that all blocks are read once more."""
        with self.cache.lock:
            self.counts["passes"] += 1

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        blocks: Iterable[Any] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order.

        operation: a function of a module. Arguments are taken one after the other, as results are.
        """
        return self.workers.map(operation, self.blocks if blocks is None else blocks, *arguments)

    def _pass(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """What is computed of every block, in order, which is a pass."""
        self.count_pass()
        return self.map(operation, *arguments)

    def features_of_blocks(self) -> Iterator[Int32s]:
        """The features that occur in every block, ascending."""
        return (kept.value() for kept in self._features)

    def cut(self, values: Floats) -> Iterator[Floats]:
        """Values of documents (n,), for every block its own."""
        return (values[start:end] for start, end in pairwise(self.starts.tolist()))

    def _summed(self, parts: Iterable[Floats], columns: tuple[int, ...] = ()) -> Floats:
        """The sums (p, *columns) of those of every block, added in order."""
        sums = np.zeros((self.shape[1], *columns))
        for features, part in zip(self.features_of_blocks(), parts, strict=True):
            sums[features] += part
        return sums

    def row_norms(self) -> Floats:
        """(n,) The squared norms of the rows, read once."""
        return self.cache.get(
            "norms of rows", lambda: np.concatenate([np.zeros(0), *self._pass(norms_of_block)])
        )

    def log_traffic(self, log: logging.Logger) -> None:
        """Log what passes have sent; nothing where all is here."""

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept; see :meth:`Design.product`."""
        n, w = self.shape[0], self._of_all(w, features)
        if not w.any():
            return np.full((n, *w.shape[1:]), float(intercept))
        weights = (w[features] for features in self.features_of_blocks())
        scores = np.empty((n, *w.shape[1:]))
        parts = self._pass(block_scores, weights, repeat(intercept))
        for rows, part in zip(self.cut(scores), parts, strict=True):
            rows[:] = part
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r; see :meth:`Design.transposed_product`."""
        self._check(r, self.shape[0], features)
        parts = self._pass(block_products, self.cut(np.ascontiguousarray(r)))
        products = self._summed(parts, r.shape[1:])
        return products if features is None else products[features]

    def curvature_product(self, h: Floats, w: Floats, b: float) -> tuple[Floats, Floats]:
        """X'(h z) and z = X w + b, in one pass; see :meth:`Design.curvature_product`."""
        self._check(h, self.shape[0], None)
        weights = (w[features] for features in self.features_of_blocks())
        z: list[Floats] = []

        def sums() -> Iterator[Floats]:
            for part, rows in self._pass(block_curvature_product, self.cut(h), weights, repeat(b)):
                z.append(rows)
                yield part

        return self._summed(sums()), np.concatenate([np.zeros(0), *z])

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for the given ones; h: (n,)."""
        self._check(h, self.shape[0], features)
        curvature = self._summed(self._pass(block_curvature, self.cut(h)))
        return curvature if features is None else curvature[features]

    def select(self, features: Int32s, known: KnownColumns | None = None) -> Design:
        """The columns of some features, ascending, in memory.

        known: columns that are there already.
        """
        ends = arrays.offsets_of(self.sizes[features])
        indices, data = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1])
        new = np.ones(len(features), dtype=bool)
        if known is not None:
            _, reused, origin = np.intersect1d(features, known[0], True, return_indices=True)
            new[reused] = False
            ptr, rows, values = known[1]
            cuts = zip(
                ends[reused].tolist(), ptr[origin].tolist(), ptr[origin + 1].tolist(), strict=True
            )
            for place, first, last in cuts:
                indices[place : place + last - first] = rows[first:last]
                data[place : place + last - first] = values[first:last]
        free = ends[:-1][new]
        parts: Iterator[CompressedArrays] = self._pass(block_columns, repeat(features[new]))
        for start, columns in zip(self.starts[:-1].tolist(), parts, strict=True):
            arrays.scatter(columns, start, free, (indices, data))
        return Design.of_columns(self.shape[0], ends, indices, data)


class BlockGroups(Groups):
    """Groups in blocks, of which one block at a time is in memory.

    Parameters
    ----------
    design : BlockDesign
        The matrix whose blocks have them, each those of its documents.
    """

    design: BlockDesign

    def __init__(self, design: BlockDesign) -> None:
        vars(self).update(design=design, n_features=design.shape[1], names=None)

    def __getattr__(self, name: str) -> Any:
        raise UsageError(
            "the groups lie in blocks, and what is asked for needs all of them: train without "
            "--memory, or by another regularizer."
        )

    def __len__(self) -> int:
        return sum(self.design.group_counts)

    def __repr__(self) -> str:
        return f"<BlockGroups: {len(self):,} over {self.n_features:,} features>"

    def select(self, features: Int32s) -> Groups:
        """What some features, ascending, leave of them; groups with none of these are left out."""
        parts = self.design.map(groups_over, repeat(features), repeat(self.n_features))
        sizes, indices, weights = zip(*parts, strict=True)
        indptr = np.cumsum(np.concatenate([[0], *sizes]))
        return Groups(indptr, np.concatenate(indices), np.concatenate(weights), len(features))


class Workers(ABC):
    """Who keeps blocks of documents, and computes what is asked of them; see ``Backend.open``.

    A result is the same to the last bit whoever computes it: functions are called with the
    arguments that are given, once for each block, and their results are put together in order by
    whoever asked. Functions are those of modules.

    Attributes
    ----------
    elsewhere : bool, default True
        Whether they are other processes, so that arguments and results have to be sent.
    reads : bool, default False
        Whether they read files themselves: then :meth:`read` and :meth:`score_files` are written.
    design : type, default BlockDesign
        The class of matrices whose blocks they keep; one of its own may send less.
    """

    elsewhere: ClassVar[bool] = True
    reads: ClassVar[bool] = False
    design: ClassVar[type[BlockDesign]] = BlockDesign

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        """Have something computed, and kept where that is done.

        Parameters
        ----------
        function : callable
        *arguments
            Values, or handles in place of them.
        outputs : int, default 1
            If it is more, the function returns so many values, which are kept one by one.

        Returns
        -------
        object or list
            A handle, or one of each output. What it stands for is kept until it is forgotten.
        """

    @abstractmethod
    def map(
        self, function: Callable[..., Any], handles: Iterable[Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        """``function(value, *its arguments)`` of every handle, brought here in order.

        Parameters
        ----------
        function : callable
        handles : iterable
            Of values that are kept, or of values. They are taken one after the other, as results
            are; not many ahead.
        *arguments : iterable
            The further arguments, for every handle its own, as for :meth:`submit`.

        Yields
        ------
        object
        """

    def send(self, value: Any) -> Any:
        """Have a value at hand that many calls take.

        Parameters
        ----------
        value : object

        Returns
        -------
        object
            A handle of it; by default the value itself.
        """
        return value

    def read(self, paths: Any, **options: Any) -> Corpus:
        """Read files as :func:`textreg.reading.corpus.read_corpus` does.

        Parameters
        ----------
        paths : str, path, or sequence of them
            Files, patterns and folders, which workers see under the same names.
        **options
            As of ``read_corpus``, without ``texts``.

        Returns
        -------
        Corpus
            Its texts may stay with the workers: then they are a
            :class:`~textreg.records.documents.TextsElsewhere` with these ``workers``.

        Raises
        ------
        UsageError, DataError
            As of ``read_corpus``.
        """
        raise NotImplementedError

    def score_files(
        self, model: Any, reading: Any, files: Sequence[str], *, records: bool
    ) -> Iterator[Any]:
        """Read files, and score their texts.

        Parameters
        ----------
        model : Model
        reading : textreg.cli.inputs.Reading
            How files are read.
        files : sequence of str
            Files, patterns and folders.
        records : bool
            Whether the fields of the rows are wanted.

        Yields
        ------
        RecordBatch
            Some rows with their scores; see :mod:`textreg.reading.corpus`.

        Raises
        ------
        UsageError, DataError
            As of :meth:`read`.
        """
        raise NotImplementedError

    def scores(self, model: Any, texts: Documents) -> Floats:
        """Score texts.

        Parameters
        ----------
        model : Model
        texts : sequence of str
            In memory, or as :meth:`read` gives them.

        Returns
        -------
        ndarray, shape (documents, labels)
        """
        return np.asarray(model.decision_function(texts))
