"""Values that come from outside, as the arrays and numbers that records hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats
from textreg.errors import RecordError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

LARGEST = 1e60
"""Largest sum of weights, and of squares of values: solvers multiply up to five such sums."""

MOST = 2**31 - 1
"""The largest number of features, as their indices have 32 bits."""

REAL = "biuf"
"""Kinds of NumPy types that hold real numbers."""


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
