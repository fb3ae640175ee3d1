"""Arrays in fewer bytes, on their way to the workers and from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.records import Floats, Int32s

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The type of numbers that none is too large for.
SMALL = np.dtype(np.uint16)


class Packed(NamedTuple):
    """An array of float64 by the places and values of what is not zero."""

    shape: tuple[int, ...]
    places: Int32s
    values: Floats


class PackedNumbers(NamedTuple):
    """An array of whole numbers, none of them negative or large, and of which type it was."""

    numbers: NDArray[np.uint16]
    dtype: np.dtype[Any]


def pack(value: Any) -> Any:
    """The same in fewer bytes, for :func:`unpack`.

    Arrays of float64 that are mostly zero, and whole numbers that are small; also in tuples.
    """
    if isinstance(value, tuple):
        return _like(value, map(pack, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == np.float64:
        return _packed_floats(value)
    if value.dtype.kind == "i" and value.dtype.itemsize > SMALL.itemsize and value.size:
        small = value.min() >= 0 and value.max() <= np.iinfo(SMALL).max
        return PackedNumbers(value.astype(SMALL), value.dtype) if small else value
    return value


def unpack(value: Any) -> Any:
    """What was packed."""
    if isinstance(value, PackedNumbers):
        return value.numbers.astype(value.dtype)
    if isinstance(value, Packed):
        flat = np.zeros(int(np.prod(value.shape)))
        flat[value.places] = value.values
        return flat.reshape(value.shape)
    if isinstance(value, tuple):
        return _like(value, map(unpack, value))
    return value


def _packed_floats(value: Floats) -> Any:
    """An array as :class:`Packed`, unless it has few zeros."""
    flat = value.reshape(-1)
    places = np.flatnonzero(flat)
    if len(places) * 3 >= len(flat) * 2 or len(flat) > np.iinfo(np.int32).max:
        return np.ascontiguousarray(value)
    return Packed(value.shape, places.astype(np.int32), flat[places])


def _like(value: tuple[Any, ...], parts: Iterable[Any]) -> Any:
    """A tuple of the same kind."""
    return getattr(type(value), "_make", tuple)(parts)


def size_of(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, value))
    return 0
