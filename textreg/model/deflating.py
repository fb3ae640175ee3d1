"""Arrays of a model file in less space: deflated by zlib (RFC 1950), and never too much so.

Where it helps an array is shuffled before that: whole numbers become the differences of neighbors,
as most are columns or offsets, which ascend; and the first bytes of all numbers are put together,
then the second ones, and so on, as the filter of HDF5 does it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.model.faults import FaultError
from textreg.model.tensors import code, little

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_RATIO = 0.9
"""An array is deflated if that leaves less than this share of its bytes."""

MAX_EXPANSION = 20
"""All arrays of a file together inflate to at most this many times their bytes in the file.

So a small file cannot fill the memory. Arrays of trained models inflate to 3 to 4 times theirs. One
that would exceed the limit has some arrays stored as they are.
"""

SMALL = 16_000_000
"""Bytes that the arrays of any file may inflate to, however small it is."""

_SAMPLE = 1 << 16
"""Entries of an array that tell whether it is to be shuffled: to deflate all twice takes long."""

_STEP = 1 << 14  # bytes that are inflated at a time


def check_expansion(inflated: int, stored: int) -> None:
    """FaultError if arrays of ``stored`` bytes cannot inflate to so many in an honest file."""
    if inflated > _most(stored):
        raise FaultError(
            f"its arrays would inflate from {stored:,} to {inflated:,} bytes, and textreg writes "
            f"none that grow more than {MAX_EXPANSION} times"
        )


def _most(stored: int) -> int:
    return max(SMALL, MAX_EXPANSION * stored)


def deflate(
    arrays: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays to store; and the types and numbers of entries of those that are deflated."""
    stored, deflated = dict(arrays), {}
    for name, array in arrays.items():
        shuffled = _is_better_shuffled(array[:_SAMPLE])
        data = zlib.compress(_shuffled(array) if shuffled else little(array).tobytes())
        if len(data) < MAX_RATIO * array.nbytes:
            stored[name] = np.frombuffer(data, dtype=np.uint8)
            deflated[name] = {
                "dtype": code(array.dtype),
                "entries": array.size,
                "shuffled": shuffled,
            }
    total = sum(array.nbytes for array in arrays.values())
    while total > _most(sum(array.nbytes for array in stored.values())):
        name = max(deflated, key=lambda name: arrays[name].nbytes / stored[name].nbytes)
        stored[name] = arrays[name]
        del deflated[name]
    return stored, deflated


def inflate(
    name: str, data: NDArray[np.uint8], dtype: np.dtype[Any], entries: int, *, shuffled: bool
) -> NDArray[Any]:
    """Inflate an array with this many entries, a few bytes at a time."""
    size = entries * dtype.itemsize
    array = np.empty(entries, dtype=dtype.newbyteorder("<"))
    # The bytes of the numbers, in the order in which they come.
    places = array.view(np.uint8).reshape(entries, -1)
    planes = places.T if shuffled else places.reshape(1, -1)
    done = 0
    inflating = zlib.decompressobj()
    try:
        for start in range(0, len(data), _STEP):
            part = inflating.decompress(data.data[start : start + _STEP], size - done + 1)
            if len(part) > size - done:
                raise cannot_inflate(name)
            _write(planes, done, np.frombuffer(part, dtype=np.uint8))
            done += len(part)
    except zlib.error as error:
        raise cannot_inflate(name) from error
    if done != size or inflating.unused_data or not inflating.eof:
        raise cannot_inflate(name)
    if shuffled and dtype.kind == "i":
        np.cumsum(array, dtype=array.dtype, out=array)
    return array


def _write(planes: NDArray[np.uint8], at: int, part: NDArray[np.uint8]) -> None:
    """Write a part of the planes, one after the other, from the place ``at`` on."""
    while len(part):
        plane, start = divmod(at, planes.shape[1])
        here = part[: planes.shape[1] - start]
        planes[plane, start : start + len(here)] = here
        part = part[len(here) :]
        at += len(here)


def cannot_inflate(name: str) -> FaultError:
    return FaultError(f"the array '{name}' cannot be inflated to the numbers its header says")


def _is_better_shuffled(array: NDArray[Any]) -> bool:
    plain, shuffled = little(array).tobytes(), _shuffled(array)
    return plain != shuffled and len(zlib.compress(shuffled, 1)) < len(zlib.compress(plain, 1))


def _shuffled(array: NDArray[Any]) -> bytes:
    if array.dtype.kind == "i":
        array = np.diff(array, prepend=array.dtype.type(0))
    flat = np.ascontiguousarray(little(array)).ravel()
    planes: NDArray[np.uint8] = flat.view(np.uint8).reshape(-1, array.itemsize).T
    return planes.tobytes()
