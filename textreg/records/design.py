"""Designs: sparse matrices of documents and features, in memory, scaled, or in blocks.

What is computed of one block of rows, or of the groups of one block.

These are functions of a block and a few arrays, so that they can be called wherever a block lies.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.blocks import block_dots, block_sums
from textreg._core.columns import column_curvature, column_dots, column_sums
from textreg._core.ragged import scatter_rows
from textreg.errors import RecordError, UsageError
from textreg.records import arrays
from textreg.records.store import ArrayStore, Kept, release_memory
from textreg.records.structure import Groups

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array
    from typing_extensions import Self

    from textreg.records.documents import Documents
    from textreg.records.text import Corpus


# Share of nonzero weights above which a product reads the matrix by rows, which is faster then.
DENSE = 0.25

# Most weights for that: more do not fit into a processor's cache, and columns are faster again.
CACHED = 1 << 18

# Values that are copied at a time, for products with several vectors.
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
        arrays.check_squares("X", X)
        design = object.__new__(cls)
        vars(design).update(cache=arrays.Cache(), X_csc=X)
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
        whole = data, indices.astype(index, copy=False), indptr.astype(index, copy=False)
        X = csc_array(whole, shape=(n, len(indptr) - 1))
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
    def given(self) -> Any:
        """The matrix as it is there, by rows or by columns."""
        return self.X if self.has_rows else self.X_csc

    @property
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
    def values(self) -> int:
        """Number of values."""
        return len(self.given.data)

    @property
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        return np.diff(self.columns.indptr)

    @arrays.derived
    def squares(self) -> Floats:
        """The squared values of ``columns``, for curvature of several vectors at once."""
        data = self.columns.data
        return _read_only(data * data, np.float64)

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
        return CompressedArrays(*arrays.take_lines(*self.columns, features))

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
            out = np.zeros((self.shape[0], w.shape[1]))
            if features is None and self.shape[0] > self.shape[1]:
                block_dots(*self.rows, np.ascontiguousarray(w), out)
            else:  # by columns, which are there: the same sums in the same order
                for some, columns in self._pieces(features):
                    block_sums(*columns, np.ascontiguousarray(w[some]), out)
            return out + intercept if intercept else out
        if features is None:
            features = np.flatnonzero(w != 0.0).astype(np.int32)
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
        r = np.ascontiguousarray(r)
        size = self.shape[1] if features is None else len(features)
        products = np.empty((size, *r.shape[1:]))
        if r.ndim == 2:
            for some, columns in self._pieces(features):
                block_dots(*columns, r, products[some])
        else:
            column_dots(*self.columns, r, self.features if features is None else features, products)
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

    def _pieces(self, features: Int32s | None) -> Iterator[tuple[slice, CompressedArrays]]:
        """All columns at once, or some of them a piece at a time, as they are copied."""
        if features is None:
            yield slice(None), self.columns
            return
        for some in arrays.pieces(self.sizes[features], PIECE):
            yield some, self.take_columns(features[some])

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


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """A contiguous array of the type that cannot be written to; the given one stays as it is."""
    view: NDArray[Any] = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


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

    @property
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

    @property
    def sizes(self) -> Int64s:
        """(p,) Number of values of every column."""
        return self._whole.sizes[self._chosen]

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


def as_design(X: Any, name: str = "X") -> Design:
    """A matrix as solvers take it, which shares a large dense array with the caller.

    Parameters
    ----------
    X : sparse or dense matrix, shape (n, p)
        Not to be changed from now on.
    name : str, default "X"
        What error messages call it.

    Returns
    -------
    Design

    Raises
    ------
    RecordError
        As of :class:`Design`.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.size < MANY_VALUES:
        return Design(X, name)
    return DenseDesign(X, name) if np.count_nonzero(X) >= FILLED * X.size else Design(X, name)


class DenseDesign(Design):
    """A matrix in a dense array, with products by BLAS.

    Vectors are multiplied one by one, so that no product depends on which others are asked for with
    it; nor on the number of jobs, as trainings hold BLAS to one thread. What takes a few columns
    gets the matrix as a sparse one.

    Parameters
    ----------
    X : ndarray, shape (n, p)
    name : str
        What error messages call it.
    """

    _array: Floats
    full = True

    def __init__(self, X: NDArray[Any], name: str) -> None:
        array = arrays.as_finite(name, X, (None, None))
        arrays.check_squares(name, array.ravel())
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
        return DenseDesign(self._array[rows], "X")

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept; see :meth:`Design.product`."""
        self._check(w, self.shape[1] if features is None else len(features), features)
        if features is not None:
            some, w = w, np.zeros((self.shape[1], *w.shape[1:]))
            w[features] = some
        return _by_vector(self._array, w) + intercept

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


class RowBlock(NamedTuple):
    """Some consecutive rows of a matrix.

    Attributes
    ----------
    start, end : int
        The first row, and the one after the last.
    features : ndarray of int32
        The features that occur in them, ascending.
    rows : CompressedArrays
        The rows, whose indices are places in ``features``.
    """

    start: int
    end: int
    features: Int32s
    rows: CompressedArrays


class GroupBlock(NamedTuple):
    """The groups of a block of documents: offsets, features and weights, as of Groups."""

    indptr: Int64s
    indices: Int32s
    weights: Floats


def block_scores(block: RowBlock, w: Floats, intercept: float) -> Floats:
    """X w + intercept, for the weights of the features that occur in the block."""
    vectors = np.ascontiguousarray(w if w.ndim == 2 else w[:, None])
    scores = np.empty((block.end - block.start, vectors.shape[1]))
    block_dots(*block.rows, vectors, scores)
    scores += intercept
    return scores if w.ndim == 2 else scores[:, 0]


def block_products(block: RowBlock, r: Floats) -> Floats:
    """X'r, for the features that occur in the block; r: (rows,) or (rows, k)."""
    return _sums(block, block.rows.data, r)


def block_curvature(block: RowBlock, h: Floats) -> Floats:
    """sum_i h_i x_ij^2, for the features that occur in the block; h: (rows,)."""
    return _sums(block, np.square(block.rows.data), h)


def _sums(block: RowBlock, data: Floats, r: Floats) -> Floats:
    """The rows of a block times r, with other values at their places."""
    vectors = np.ascontiguousarray(r if r.ndim == 2 else r[:, None])
    sums = np.zeros((len(block.features), vectors.shape[1]))
    block_sums(block.rows.indptr, block.rows.indices, data, vectors, sums)
    return sums if r.ndim == 2 else sums[:, 0]


def block_curvature_product(
    block: RowBlock, h: Floats, w: Floats, b: float
) -> tuple[Floats, Floats]:
    """X'(h z) and z = X w + b, for the features that occur in the block; h: (rows,)."""
    z = block_scores(block, w, b)
    return block_products(block, h * z), z


def block_columns(block: RowBlock, features: Int32s) -> CompressedArrays:
    """The rows with some features, ascending, as numbers among these."""
    place = np.searchsorted(features, block.features).astype(np.int32)
    if len(features):
        known = features[np.minimum(place, len(features) - 1)] == block.features
        place[~known] = -1
    else:
        place[:] = -1
    indptr, indices, data = block.rows
    new = place[indices]
    kept = new >= 0
    ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[indptr]
    return CompressedArrays(ends, new[kept], data[kept])


def groups_over(
    block: GroupBlock, features: Int32s, n_features: int
) -> tuple[Int64s, Int32s, Floats]:
    """What some features, ascending, leave of the groups, without those that nothing is left of.

    Their sizes, their features as numbers among those given, and their weights.
    """
    place = np.full(n_features, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    new = place[block.indices]
    kept = new >= 0
    left = np.diff(np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[block.indptr])
    return left[left > 0], new[kept], block.weights[left > 0]


class Block(NamedTuple):
    """A block of documents, where that is kept.

    Attributes
    ----------
    rows : RowBlock
    groups : GroupBlock or None
    sizes : ndarray of int32
        The number of documents here with each of its features.
    """

    rows: RowBlock
    groups: GroupBlock | None
    sizes: Int32s


class RowBlocks:
    """A matrix of documents by features in blocks, which workers keep.

    Parameters
    ----------
    workers : Workers
        Who keeps the blocks.
    store : ArrayStore
        Where the features of every block are kept here.

    Attributes
    ----------
    blocks : list
        A handle of every :class:`Block`.
    shape : tuple of int
        Number of documents and of features.
    starts : ndarray of int64, shape (blocks + 1,)
        The first row of every block.
    sizes : ndarray of int32, shape (p,)
        The number of documents with each feature.
    """

    shape: tuple[int, int]
    starts: Int64s
    sizes: Int32s

    def __init__(self, workers: Workers, store: ArrayStore) -> None:
        self.workers, self._store = workers, store
        self.blocks: list[Any] = []
        self._features: list[Kept] = []

    @classmethod
    def of(
        cls,
        workers: Workers,
        blocks: Iterable[Any],
        n_features: int,
        store: ArrayStore,
        done: Callable[[int], None] = lambda rows: None,
    ) -> tuple[Self, GroupBlocks]:
        """The rows and groups of handles of blocks; ``done`` is told how many rows are there."""
        made = cls(workers, store)
        made.sizes = np.zeros(n_features, dtype=np.int32)
        starts, counts = [0], []

        def noted() -> Iterator[Any]:
            for block in blocks:
                made.blocks.append(block)
                yield block

        for end, features, sizes, groups in workers.map(facts_of, noted()):
            made._features.append(Kept(store, features))
            made.sizes[features] += sizes
            starts.append(end)
            counts.append(groups)
            done(end)
        made.starts, made.shape = np.array(starts, dtype=np.int64), (starts[-1], n_features)
        return made, GroupBlocks(made, np.array(counts, dtype=np.int64))

    @property
    def elsewhere(self) -> bool:
        """Whether the blocks lie on other machines."""
        return self.workers.elsewhere

    def features(self, number: int) -> Int32s:
        """The features that occur in one of them, ascending."""
        features: Int32s = self._features[number].value()
        return features

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order.

        operation: a function of :mod:`textreg.records.design`, or another one of a
        module. Arguments are taken one after the other, as results are.
        """
        blocks = self.blocks if numbers is None else [self.blocks[number] for number in numbers]
        return self.computed(of_rows, blocks, operation, *arguments)

    def computed(
        self,
        part: Callable[..., Any],
        blocks: Iterable[Any],
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
    ) -> Iterator[Any]:
        """What is computed of a part of blocks, such as their groups, by :func:`of_groups`."""
        return self.workers.map(part, blocks, repeat(operation), *arguments)

    def large_sums(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values."""
        release_memory()  # whoever asks had a problem in memory before
        sums = self.summed(self.map(block_products, self.cut(r)))
        features = np.flatnonzero(np.abs(sums) > least).astype(np.int32)
        return features, sums[features]

    def summed(self, parts: Iterable[Floats], columns: tuple[int, ...] = ()) -> Floats:
        """The sums (p, *columns) of those of every block, added in order."""
        sums = np.zeros((self.shape[1], *columns))
        every = map(self.features, range(len(self.starts) - 1))
        for features, part in zip(every, parts, strict=True):
            sums[features] += part
        return sums

    def cut(self, values: Floats) -> Iterator[Floats]:
        """Values of documents (n,), for every block its own."""
        for start, end in pairwise(self.starts.tolist()):
            yield values[start:end]

    def log_traffic(self, log: logging.Logger, passes: float) -> None:
        """Log what so many passes have sent; nothing where all is here."""


class GroupBlocks:
    """Groups that lie in blocks, each in the block of its document.

    Attributes
    ----------
    n_features : int
        Number of features.
    counts : ndarray of int64, shape (blocks,)
        Number of groups of every block.
    """

    def __init__(self, rows: RowBlocks, counts: Int64s) -> None:
        self._rows, self.n_features, self.counts = rows, rows.shape[1], counts

    def map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, in order; see RowBlocks."""
        return self._rows.computed(of_groups, self._rows.blocks, operation, *arguments)


def facts_of(block: Block) -> tuple[int, Int32s, Int32s, int]:
    """What is known of a block elsewhere: its last row, features, their sizes, its groups."""
    count = 0 if block.groups is None else len(block.groups.weights)
    return block.rows.end, block.rows.features, block.sizes, count


def of_rows(block: Block, operation: Callable[..., Any], *arguments: Any) -> Any:
    """What is computed of rows."""
    return operation(block.rows, *arguments)


def of_groups(block: Block, operation: Callable[..., Any], *arguments: Any) -> Any:
    """What is computed of groups."""
    return operation(block.groups, *arguments)


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
    return Block(RowBlock(start, start + len(indptr) - 1, features, numbered), groups, sizes)


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
    rows : type, default RowBlocks
        The class of matrices whose blocks they keep; one of its own may send less.
    """

    elsewhere: ClassVar[bool] = True
    reads: ClassVar[bool] = False
    rows: ClassVar[type[RowBlocks]] = RowBlocks

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
        scores: Floats = model.decision_function(texts)
        return scores


class KnownColumns(NamedTuple):
    """Columns of a matrix in blocks that are in memory; of which features, ascending."""

    features: Int32s
    columns: CompressedArrays


class _Passes:
    """A number of passes, the same one of all copies of a matrix."""

    number: float = 0.0


class BlockDesign(Design):
    """A matrix of documents by features whose rows lie in blocks.

    Products go over one block after the other. Sums over documents are those of the sums of every
    block, in order, so that they are the same wherever blocks lie and whoever adds them up. The
    matrix is never there as a whole: who needs one of some features takes :meth:`select`.

    Parameters
    ----------
    blocks : RowBlocks
        The rows.
    memory : float, default infinite
        Bytes that a problem over some of the features should not need more than.
    """

    blocks: RowBlocks
    memory: float
    _counted: _Passes

    def __init__(self, blocks: RowBlocks, memory: float = math.inf) -> None:
        vars(self).update(blocks=blocks, memory=memory, cache=arrays.Cache(), _counted=_Passes())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a BlockDesign has no attribute '{name}'.")

    @property
    def has_rows(self) -> bool:
        """Never all of them at a time."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of features."""
        return self.blocks.shape

    def __repr__(self) -> str:
        (n, p), count = self.shape, len(self.blocks.starts) - 1
        return f"<BlockDesign: {n:,} documents in {count:,} blocks, {p:,} features>"

    def _whole(self) -> NoReturn:
        raise UsageError(
            "the documents lie in blocks, and what is asked for needs the whole matrix: train "
            "without --memory, or by another regularizer."
        )

    X = X_csc = columns = rows = squares = property(_whole)
    values = property(lambda self: int(self.blocks.sizes.sum()))

    @property
    def passes(self) -> float:
        """How often all blocks were read, by this matrix and its copies."""
        return self._counted.number

    def count_pass(self, share: float = 1.0) -> None:
        """Count that all blocks, or a share of their rows, are read once more."""
        with self.cache.lock:
            self._counted.number += share

    def _map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """What is computed of every block, in order, which is a pass."""
        self.count_pass()
        return self.blocks.map(operation, *arguments)

    def features_of_blocks(self) -> Iterator[Int32s]:
        """The features that occur in every block."""
        return map(self.blocks.features, range(len(self.blocks.starts) - 1))

    def product(self, w: Floats, features: Int32s | None = None, intercept: float = 0.0) -> Floats:
        """X w + intercept; see :meth:`Design.product`."""
        n, p = self.shape
        self._check(w, p if features is None else len(features), features)
        if features is not None:
            whole = np.zeros((p, *w.shape[1:]))
            whole[features] = w
            w = whole
        if not w.any():
            return np.full((n, *w.shape[1:]), float(intercept))
        weights = (w[features] for features in self.features_of_blocks())
        scores = np.empty((n, *w.shape[1:]))
        parts = self._map(block_scores, weights, repeat(intercept))
        for some, part in zip(self.blocks.cut(scores), parts, strict=True):
            some[:] = part
        return scores

    def transposed_product(self, r: Floats, features: Int32s | None = None) -> Floats:
        """X'r; see :meth:`Design.transposed_product`."""
        self._check(r, self.shape[0], features)
        parts = self._map(block_products, self.blocks.cut(np.ascontiguousarray(r)))
        products = self.blocks.summed(parts, r.shape[1:])
        return products if features is None else products[features]

    def curvature_product(self, h: Floats, w: Floats, b: float) -> tuple[Floats, Floats]:
        """X'(h z) and z = X w + b, in one pass; see :meth:`Design.curvature_product`."""
        self._check(h, self.shape[0], None)
        weights = (w[features] for features in self.features_of_blocks())
        z: list[Floats] = []

        def sums() -> Iterator[Floats]:
            for own, some in self._map(
                block_curvature_product, self.blocks.cut(h), weights, repeat(b)
            ):
                z.append(some)
                yield own

        return self.blocks.summed(sums()), np.concatenate([np.zeros(0), *z])

    def large_products(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features, ascending, whose products X'r are larger than ``least``, and these.

        Larger by absolute value; r: (n,). Where blocks lie on other machines, only these are sent.
        """
        self._check(r, self.shape[0], None)
        self.count_pass()
        return self.blocks.large_sums(np.ascontiguousarray(r), least)

    def curvature(self, h: Floats, features: Int32s | None = None) -> Floats:
        """sum_i h_i x_ij^2 for every feature j, or for the given ones; h: (n,)."""
        self._check(h, self.shape[0], features)
        curvature = self.blocks.summed(self._map(block_curvature, self.blocks.cut(h)))
        return curvature if features is None else curvature[features]

    def select(self, features: Int32s, known: KnownColumns | None = None) -> Design:
        """The columns of some features, ascending, in memory.

        known: columns that are there already.
        """
        ends = np.concatenate([[0], np.cumsum(self.blocks.sizes[features], dtype=np.int64)])
        indices, data = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1])
        new = np.ones(len(features), dtype=bool)
        if known is not None:
            _, here, there = np.intersect1d(features, known.features, True, return_indices=True)
            new[here] = False
            ptr = known.columns.indptr
            cuts = zip(
                ends[here].tolist(), ptr[there].tolist(), ptr[there + 1].tolist(), strict=True
            )
            for place, first, last in cuts:
                indices[place : place + last - first] = known.columns.indices[first:last]
                data[place : place + last - first] = known.columns.data[first:last]
        free = ends[:-1][new]
        parts: Iterator[CompressedArrays] = self._map(block_columns, repeat(features[new]))
        for start, columns in zip(self.blocks.starts[:-1].tolist(), parts, strict=True):
            scatter_rows(*columns, start, free, indices, data)
        return Design.of_columns(self.shape[0], ends, indices, data)


class BlockGroups(Groups):
    """Groups in blocks, of which one block at a time is in memory.

    Parameters
    ----------
    blocks : GroupBlocks
        The groups.
    """

    blocks: GroupBlocks

    def __init__(self, blocks: GroupBlocks) -> None:
        vars(self).update(blocks=blocks, n_features=blocks.n_features, names=None)

    def __getattr__(self, name: str) -> Any:
        raise UsageError(
            "the groups lie in blocks, and what is asked for needs all of them: train without "
            "--memory, or by another regularizer."
        )

    def __len__(self) -> int:
        return int(self.blocks.counts.sum())

    def __repr__(self) -> str:
        return f"<BlockGroups: {len(self):,} over {self.n_features:,} features>"

    def select(self, features: Int32s) -> Groups:
        """What some features, ascending, leave of them; groups with none of these are left out."""
        parts = self.blocks.map(groups_over, repeat(features), repeat(self.n_features))
        sizes, indices, weights = zip(*parts, strict=True)
        indptr = np.cumsum(np.concatenate([[0], *sizes]))
        return Groups(indptr, np.concatenate(indices), np.concatenate(weights), len(features))
