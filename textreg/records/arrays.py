"""Arrays as records hold them: checked numbers, flat arrays with offsets, compressed rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Bools, Floats, Int32s, Int64s
from textreg._core.ragged import copy_rows, equal_rows, hash_rows, scatter_rows
from textreg._core.threads import share_range
from textreg.errors import RecordError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array
    from typing_extensions import Self


T = TypeVar("T")


class Cache:
    """Values by key, each made once: threads that ask at the same time wait for the first.

    Classes, folds and points of a grid share their matrix and their graph, and with them whatever
    was derived. A copy of the record shares its cache; a pickled one starts with an empty cache.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._values: dict[Hashable, Any] = {}
        self._last: dict[tuple[int, Hashable], tuple[Hashable, Any]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, which ``make`` returns if there is none yet."""
        with self.lock:
            if key not in self._values:
                self._values[key] = make()
            value: T = self._values[key]
            return value

    def last(self, key: Hashable, variant: Hashable, make: Callable[[], T]) -> T:
        """The value of one variant of ``key``, where all of them would take too much memory.

        Each thread keeps the variant that it asked for last, and shares it with the others; those
        of threads that have ended are kept until another one is to be made.
        """
        with self.lock:
            thread_key = threading.get_ident(), key
            hits = [it for (_, of), it in self._last.items() if (of, it[0]) == (key, variant)]
            if thread_key in self._last and self._last[thread_key][0] != variant:
                del self._last[thread_key]
            if not hits:  # first make room
                running = {thread.ident for thread in threading.enumerate()}
                self._last = {at: it for at, it in self._last.items() if at[0] in running}
            value: T = hits[0][1] if hits else make()
            self._last[thread_key] = variant, value
            return value

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()


class derived(cached_property[T]):  # noqa: N801  read like functools.cached_property
    """A cached property of an object with a ``cache``, made once across threads.

    It is a field of the object like any other, so that plugins get it sealed.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        with instance.cache.lock:
            # Another thread may have made it while this one waited.
            value = vars(instance).get(self.attrname, self)
            return super().__get__(instance, owner) if value is self else value


# Largest sum of weights, and of squares of values: solvers multiply up to five such sums.
LARGEST = 1e60

# The largest number of features, as their indices have 32 bits.
MOST = 2**31 - 1

# Kinds of NumPy types that hold real numbers.
REAL = "biuf"


def as_array(
    name: str, value: Any, kind: type[Any], shape: tuple[int | None, ...] = (None,)
) -> NDArray[Any]:
    """An array of one type and shape: the value itself where it is one, else a converted copy.

    Takes lists, tuples, arrays of any type of real numbers, and whatever NumPy can convert, such as
    a column of a data frame. No value is changed by a conversion, but for the rounding to float64.

    Parameters
    ----------
    name : str
        The field, for messages.
    value : array-like
        What the caller gave.
    kind : type
        ``np.float64``, ``np.int32`` or ``np.int64``.
    shape : tuple of int or None, default one dimension
        The length of every dimension; None for any.

    Returns
    -------
    ndarray
        Contiguous, aligned, and not a subclass.

    Raises
    ------
    RecordError
        It does not hold real numbers, has another shape, or a value does not fit the type: a
        fraction or NaN as an integer, or an integer that is too large.
    """
    array = _numbers(name, value, np.dtype(kind))
    if array.ndim != len(shape) or any(
        size not in (None, length) for size, length in zip(shape, array.shape, strict=True)
    ):
        sizes = " by ".join("any number" if size is None else str(size) for size in shape)
        dimensions = "one dimension" if len(shape) == 1 else f"{len(shape)} dimensions"
        raise RecordError(
            f"{name} has the shape {array.shape}, but must have {dimensions} of {sizes}: reshape "
            "it, as by numpy.ravel, or give the array that was meant."
        )
    if array.dtype != kind and np.issubdtype(kind, np.integer):
        return _whole(name, array, np.dtype(kind))
    with np.errstate(over="ignore"):  # from longer floats: infinity is refused where it matters
        return np.require(array, kind, ["C", "A"])


def _numbers(name: str, value: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    """Any array-like as a plain array of real numbers."""
    if type(value) is np.ndarray and value.dtype == kind:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise RecordError(f"{name} is a masked array with masked entries: fill or drop them.")
    try:
        array = np.asarray(value)
        if array.dtype == object:  # as of a data frame: the numbers decide, not their container
            array = np.asarray(array.tolist())
    except (TypeError, ValueError, OverflowError) as error:
        raise RecordError(f"{name} must be an array of numbers: {error}.") from error
    if not array.size and array.dtype.kind != "c":
        array = array.astype(kind)
    if array.dtype.kind not in REAL:
        got = "complex numbers" if array.dtype.kind == "c" else "text"
        if array.dtype.kind not in "cSU":
            got = f"{array.dtype} values" if array.ndim else f"{type(value).__name__}"
        raise RecordError(
            f"{name} must hold real numbers ({kind}), not {got}: convert it to numbers first."
        )
    return np.asarray(array)


def _whole(name: str, array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Whole numbers of any type as integers of one type, none of them changed."""
    limits = np.iinfo(kind)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)  # a shorter float cannot hold the limits
    fits = (array >= limits.min) & (array <= limits.max)
    if array.dtype.kind == "f":
        fits &= (array == np.floor(array)) & (np.abs(array) <= 2**53)
    if not fits.all():
        place, value = _first(array, ~fits)
        raise RecordError(
            f"{name}[{place}] is {value}, which is no {kind}: give whole numbers from "
            f"{limits.min} to {limits.max}."
        )
    return np.require(array, kind, ["C", "A"])


def _first(array: NDArray[Any], wrong: NDArray[np.bool_]) -> tuple[str, Any]:
    """The first place that is ``wrong``, as an index is written, and what is there."""
    at = np.argwhere(wrong)[0]
    return ", ".join(map(str, at.tolist())), array[tuple(at)]


def as_finite(name: str, value: Any, shape: tuple[int | None, ...] = (None,)) -> Floats:
    """Finite float64 numbers; RecordError that names the first that is not finite."""
    array = as_array(name, value, np.float64, shape)
    finite = np.isfinite(array)
    if not finite.all():
        place, value = _first(array, ~finite)
        raise RecordError(f"{name}[{place}] is {value}, but must be finite: correct or drop it.")
    return array


def check_weights(name: str, weights: Floats) -> None:
    """Refuse weights (n,) that are negative or not finite, or whose sum cannot be computed with."""
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise RecordError(
            f"{name} must be {len(weights)} finite numbers, 0 or more; {name}[{at}] is "
            f"{weights[at]}. Correct it, or leave it out."
        )
    with np.errstate(over="ignore"):  # an infinite sum is refused below
        total = float(weights.sum())
    if total > LARGEST or 0.0 < total < 1.0 / LARGEST:
        size, limit = ("small", 1.0 / LARGEST) if total < 1.0 else ("large", LARGEST)
        at = int(weights.argmax())
        raise RecordError(
            f"{name} is too {size} to compute with: its sum is {total:.3g} and the limit "
            f"{limit:.0e}; the largest is {name}[{at}]. Divide all of them by {weights[at]:.3g}."
        )


def entry_of(matrix: csr_array | csc_array, at: int) -> str:
    """The row and the column of an entry of a matrix, for messages."""
    line, other = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
    row, column = (other, line) if matrix.format == "csc" else (line, other)
    return f"row {row}, column {column}"


def check_squares(name: str, given: Floats | csr_array | csc_array) -> None:
    """Refuse finite values, (n,) or of a matrix, whose squares are too large to be summed."""
    values = given if isinstance(given, np.ndarray) else given.data
    with np.errstate(over="ignore"):  # an infinite sum is refused below
        total = float(values @ values)
    if total > LARGEST:
        at = int(np.argmax(np.abs(values)))
        place = f"entry {at}" if given is values else entry_of(given, at)
        raise RecordError(
            f"{name} is too large to compute with: its squares sum to {total:.3g} and the limit is "
            f"{LARGEST:.0e}; the largest value is {values[at]:.3g} in {place}. Measure it "
            f"in a larger unit: divide it by {abs(values[at]):.3g}."
        )


def as_number(name: str, value: Any) -> float:
    """A Python float, which may be infinite or NaN; RecordError for anything else."""
    array = _numbers(name, value, np.dtype(np.float64))
    if array.ndim:
        raise RecordError(f"{name} must be one number, not an array of the shape {array.shape}.")
    return float(array)


def as_whole(name: str, value: Any) -> int:
    """A Python int from 0 to that of 32 bits; RecordError for anything else."""
    number = as_number(name, value)
    if not 0 <= number <= MOST or number != int(number):
        raise RecordError(f"{name} must be a whole number from 0 to {MOST}, not {value!r:.60}.")
    return int(number)


# Documents whose values are squared at a time.
SOME = 1 << 10


def offsets(name: str, ptr: Int64s, total: int) -> None:
    """Check that ``ptr`` cuts a flat array of ``total`` entries into consecutive pieces."""
    if ptr.ndim != 1 or len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != total:
        raise RecordError(f"{name} must run from 0 to {total}, the number of entries it cuts.")
    if np.any(ptr[1:] < ptr[:-1]):
        raise RecordError(
            f"{name} must never decrease; entry {int(np.argmax(np.diff(ptr) < 0))} does."
        )


def offsets_of(sizes: Sequence[int] | NDArray[Any]) -> Int64s:
    """Offsets of consecutive pieces of these sizes."""
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, dtype=np.int64, out=ptr[1:])
    return ptr


def row_of(ptr: NDArray[np.integer[Any]]) -> Int64s:
    """The row of every entry of the flat array; shape (entries,)."""
    return np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))


def used_columns(table: Floats | csr_array) -> Int64s:
    """The columns of a table, dense or sparse, that hold something else than zeros; ascending."""
    if isinstance(table, np.ndarray):
        return np.flatnonzero(table.any(axis=0))
    return np.unique(table.indices).astype(np.int64)


def dense_rows(table: Floats | csr_array) -> Iterator[Floats]:
    """The rows of a table, dense or sparse, one after the other."""
    if isinstance(table, np.ndarray):
        yield from table
        return
    for start, end in pairwise(table.indptr.tolist()):
        row = np.zeros(table.shape[1])
        row[table.indices[start:end]] = table.data[start:end]
        yield row


def sums(bins: NDArray[Any], values: Floats, size: int) -> Floats:
    """The sum of ``values`` in each of ``size`` bins; bincount gives integers where it has none."""
    return np.bincount(bins, weights=values, minlength=size).astype(np.float64, copy=False)


def take_rows(ptr: Int64s, flat: NDArray[Any], rows: NDArray[Any]) -> tuple[Int64s, NDArray[Any]]:
    """The ragged rows ``rows``, as a new pair of offsets and flat array."""
    rows = np.asarray(rows)
    if len(rows) and rows.dtype.kind == "i" and 0 <= rows.min() <= rows.max() < len(ptr) - 1:
        chosen = np.ascontiguousarray(rows, dtype=np.int64)
    else:  # masks, from the end, and IndexError for rows that are not there
        chosen = np.arange(len(ptr) - 1)[rows]
    new = offsets_of(ptr[chosen + 1] - ptr[chosen])
    taken = np.empty(int(new[-1]), dtype=flat.dtype)
    copy_rows(ptr, flat, chosen, new, taken)
    return new, taken


def scatter(
    matrix: tuple[Int64s, Int32s, Floats],
    first: int,
    place: Int64s,
    columns: tuple[Int32s, NDArray[Any]],
    rows: tuple[Int32s | None, Floats | None] = (None, None),
) -> None:
    """Rows into columns, see :func:`scatter_rows`, which threads share; each reads all rows."""

    def scatter_range(begin: int, end: int) -> None:
        scatter_rows(*matrix, first, place, *columns, *rows, begin, end)

    share_range(scatter_range, len(place), len(matrix[1]), 1)


def pieces(sizes: NDArray[np.integer[Any]], most: int) -> Iterator[slice]:
    """Consecutive rows of the given sizes, a few at a time: about ``most`` entries, or one row.

    Where there is no entry at all, all rows are one piece.
    """
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] if len(ends) else 0, most))
    for first, end in pairwise([0, *np.unique(cuts[cuts > 0]).tolist(), len(sizes)]):
        yield slice(first, end)


def first_equal(
    ptr: NDArray[np.integer[Any]],
    numbers: NDArray[np.uint64],
    equal: Callable[[Int64s, Int64s], Bools],
    keys: Floats | None = None,
) -> Int64s:
    """(rows,) For every ragged row the first row that it equals: itself where none before does.

    Candidates are found by a hash, and compared: a hash alone is never trusted.

    Parameters
    ----------
    ptr : integer ndarray, shape (rows + 1,)
        Offsets of the rows, none of which may be empty.
    numbers : uint64 ndarray, shape (entries,)
        Random numbers, equal for equal entries (see :func:`hash_entries`); rows are hashed by
        their sums.
    equal : callable
        Called with two arrays of entries; whether they are equal, pair by pair.
    keys : ndarray, shape (rows,), optional
        Rows are equal only if these are.
    """
    sizes = np.diff(ptr)
    hashes = np.add.reduceat(numbers, ptr[:-1]) if len(sizes) else numbers[:0]
    hashes = hashes + sizes.astype(np.uint64)
    if keys is not None:
        hashes += mix_bits(keys.view(np.uint64))

    def same_rows(rows: Int64s, heads: Int64s) -> Bools:
        same: Bools = sizes[rows] == sizes[heads]
        if keys is not None:
            same &= keys[rows] == keys[heads]
        candidates, leaders = rows[same], heads[same]
        if len(candidates):
            begin, lengths = np.cumsum(sizes[candidates]) - sizes[candidates], sizes[candidates]
            inside = np.arange(lengths.sum()) - np.repeat(begin, lengths)
            entries = (np.repeat(ptr[which], lengths) + inside for which in (candidates, leaders))
            same[same] = np.logical_and.reduceat(equal(*entries), begin)
        return same

    return _leaders(hashes, same_rows)


def _leaders(hashes: NDArray[np.uint64], same_rows: Callable[[Int64s, Int64s], Bools]) -> Int64s:
    """(rows,) For every row the first that equals it, where equal rows have equal ``hashes``."""
    leader = left = np.arange(len(hashes))
    while len(left):
        _, first, group = np.unique(hashes[left], return_index=True, return_inverse=True)
        heads = left[first[group]]
        rows, heads = left[heads != left], heads[heads != left]
        same = same_rows(rows, heads)
        leader[rows[same]] = heads[same]
        left = rows[~same]  # different rows of one hash: compare them with each other
    return leader


def mix_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, equal for equal bits (the mixer of Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


def hash_entries(indices: NDArray[np.integer[Any]], values: NDArray[Any]) -> NDArray[np.uint64]:
    """(entries,) Numbers that look random, equal for equal indices and 64-bit values."""
    # The mixer leaves 0 as it is: count from 1.
    return mix_bits(mix_bits(indices.astype(np.uint64) + np.uint64(1)) ^ values.view(np.uint64))


def distinct_rows(
    ptr: Int64s, flat: Int32s, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the non-empty ragged ``rows`` differ.

    Returns ``first``, positions in ``rows`` of the first of every distinct row in order of
    appearance, and ``same_as``, for every one of ``rows`` its position in ``first``.
    """
    rows = np.asarray(rows, dtype=np.int64)
    hashes = np.empty(len(rows), dtype=np.uint64)
    hash_rows(ptr, flat, rows, hashes)

    def same_rows(candidates: Int64s, leaders: Int64s) -> Bools:
        same = np.empty(len(candidates), dtype=np.uint8)
        equal_rows(ptr, flat, rows[candidates], rows[leaders], same)
        return same.view(np.bool_)

    leader = _leaders(hashes, same_rows)
    leads = leader == np.arange(len(rows))
    return np.flatnonzero(leads), (np.cumsum(leads) - 1)[leader]


def squared_norms(indptr: NDArray[Any], data: NDArray[Any]) -> Floats:
    """The sum of the squared values of every row, or column, of a compressed matrix."""
    norms = np.zeros(len(indptr) - 1)
    for start in range(0, len(norms), SOME):  # the squares of all values take too much memory
        ptr = indptr[start : start + SOME + 1]
        squares = np.square(data[ptr[0] : ptr[-1]], dtype=np.float64)
        norms[start : start + SOME] = np.add.reduceat(np.append(squares, 0.0), ptr[:-1] - ptr[0])
    norms[indptr[:-1] == indptr[1:]] = 0.0
    return norms


def checked_csr(name: str, matrix: Any) -> csr_array:
    """The matrix as float64 CSR, with sorted rows and no entry twice; the caller's stays as it is.

    SciPy does not check index arrays, and its compiled routines, like ours, trust them: with an
    index out of range they would read or write foreign memory. So every index and offset is
    compared with the shape here, before any conversion.

    Raises RecordError, which names the matrix ``name``, if it has not two dimensions, not real
    numbers, or an index or an offset out of range.
    """
    from scipy.sparse import csr_array, issparse

    if issparse(matrix):
        _check_indices(name, matrix)
        if matrix.dtype.kind not in REAL:
            raise RecordError(
                f"{name} must hold real numbers, not {matrix.dtype}: convert it first."
            )
    else:
        matrix = as_array(name, matrix, np.float64, (None, None))
    with np.errstate(over="ignore"):  # from longer floats: infinity is refused later
        csr = csr_array(matrix, dtype=np.float64)
    if not csr.has_canonical_format or len(csr.data) > csr.indptr[-1]:
        csr = csr.copy()  # summing duplicates in place would change the caller's matrix
        csr.prune()
        csr.sum_duplicates()
    csr.indptr, csr.indices = frozen(csr.indptr), frozen(csr.indices)
    return csr


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to; the array stays as it is."""
    view: NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Indices or offsets that nobody can change once they are checked: compiled code trusts them.

    A copy, unless neither the array nor what it is a view of can be written to.
    """
    base: Any = array
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    array = array.copy() if isinstance(base, np.ndarray) else array
    array.flags.writeable = False
    return array


def _check_indices(name: str, matrix: Any) -> None:
    """Refuse indices and offsets of a sparse matrix that lie outside of it."""
    if len(matrix.shape) != 2:
        raise RecordError(f"{name} must have two dimensions, not the shape {matrix.shape}.")
    rows, columns = matrix.shape
    if matrix.format in ("csr", "csc", "bsr"):
        major, minor = (columns, rows) if matrix.format == "csc" else (rows, columns)
        if matrix.format == "bsr":
            height, width = matrix.blocksize
            major, minor = rows // height, columns // width
        if len(matrix.indptr) != major + 1:
            raise RecordError(
                f"{name}.indptr has {len(matrix.indptr)} entries, not {major + 1} for the shape "
                f"{matrix.shape}."
            )
        entries = len(matrix.indices)
        if len(matrix.data) != entries:
            raise RecordError(f"{name} has {len(matrix.data)} values for {entries} indices.")
        # SciPy reads no further than the last offset, and lets arrays be longer.
        last = int(matrix.indptr[-1])
        offsets(f"{name}.indptr", matrix.indptr, min(max(last, 0), entries))
        _check_range(f"{name}.indices", matrix.indices[:last], minor)
    elif matrix.format == "coo":
        row, column = matrix.row, matrix.col
        if not len(row) == len(column) == len(matrix.data):
            raise RecordError(f"{name} has {len(matrix.data)} values for {len(row)} entries.")
        _check_range(f"{name}.row", row, rows)
        _check_range(f"{name}.col", column, columns)


def _check_range(name: str, indices: Any, size: int) -> None:
    """Refuse indices that are not 0 to ``size`` - 1."""
    if not len(indices):
        return
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= size:
        wrong = least if least < 0 else most
        at = int(np.argmax(indices == wrong))
        raise RecordError(f"{name}[{at}] is {wrong}, but indices run from 0 to {size - 1}.")
