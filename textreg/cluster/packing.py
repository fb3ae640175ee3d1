"""Arrays of many zeros in few bytes, to be sent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textreg.records import Floats, Int32s


class Packed(NamedTuple):
    """An array of float64 by the places and values of what is not zero."""

    shape: tuple[int, ...]
    places: Int32s
    values: Floats


def pack(value: Any) -> Any:
    """The same, where it is an array of float64 that is mostly zero, as :class:`Packed`."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        return value
    flat = value.reshape(-1)
    places = np.flatnonzero(flat)
    if len(places) * 3 >= len(flat) * 2 or len(flat) > np.iinfo(np.int32).max:
        return np.ascontiguousarray(value)
    return Packed(value.shape, places.astype(np.int32), flat[places])


def unpack(value: Any) -> Any:
    """What was packed."""
    if not isinstance(value, Packed):
        return value
    flat = np.zeros(int(np.prod(value.shape)))
    flat[value.places] = value.values
    return flat.reshape(value.shape)


def size_of(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, value))
    return 0
