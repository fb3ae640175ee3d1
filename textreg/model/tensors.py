"""The layout of safetensors: a table of arrays in JSON, then their bytes without gaps.

A file is the length of the table in 8 bytes (little endian), the table, and the data. The table has
a member for each array, ``{"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}``, and texts in
``__metadata__``. It is read here and not by the package safetensors, which reads all of a
file before it compares the table with its size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.model.faults import FaultError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

METADATA = "__metadata__"
_ITEM_SIZES = {"U8": 1, "I32": 4, "I64": 8, "F32": 4, "F64": 8}


class Entry(NamedTuple):
    """An array of the table; its bytes are ``begin`` to ``end`` of the data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    def digest_text(self) -> bytes:
        """What a checksum takes of it besides its bytes."""
        return json.dumps([self.name, self.dtype, self.shape]).encode()


def code(dtype: np.dtype[Any]) -> str:
    """The name of a type of numbers in safetensors, such as F64."""
    return f"{dtype.kind.upper()}{8 * dtype.itemsize}"


def little(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the byte order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def arrange(arrays: Mapping[str, NDArray[Any]]) -> list[Entry]:
    """The table of arrays: those of large numbers first, so that each begins at a multiple."""
    entries: list[Entry] = []
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):
        array, begin = arrays[name], entries[-1].end if entries else 0
        entries.append(Entry(name, code(array.dtype), array.shape, begin, begin + array.nbytes))
    return sorted(entries, key=_place)


def join(metadata: Mapping[str, str], entries: Sequence[Entry], data: Sequence[bytes]) -> bytes:
    """The bytes of a file with these arrays."""
    table: dict[str, Any] = {METADATA: metadata}
    for entry in entries:
        offsets = [entry.begin, entry.end]
        table[entry.name] = {"dtype": entry.dtype, "shape": entry.shape, "data_offsets": offsets}
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *data])


def entries_of(table: Mapping[str, Any], n_bytes: int) -> list[Entry]:
    """The arrays of a table in the order of their bytes, which are ``n_bytes`` together.

    Raises FaultError unless they have one dimension and follow each other from the first byte to
    the last.
    """
    entries = [_entry(name, stated) for name, stated in table.items() if name != METADATA]
    entries.sort(key=_place)
    end = 0
    for entry in entries:
        if entry.begin != end:
            raise FaultError(
                f"the array {shown(entry.name)} begins at byte {entry.begin:,} of the data, and "
                f"not at {end:,} where the one before it ends"
            )
        end = entry.end
    if end != n_bytes:
        raise FaultError(f"its arrays take {end:,} bytes, but it has {n_bytes:,} bytes for them")
    return entries


def _place(entry: Entry) -> tuple[int, int, str]:
    """Where an array is; those without entries are in order of name."""
    return entry.begin, entry.end, entry.name


def _entry(name: str, stated: Any) -> Entry:
    fault = FaultError(f"its table of arrays has no type, shape and offsets of {shown(name)}")
    if type(stated) is not dict or stated.keys() != {"dtype", "shape", "data_offsets"}:
        raise fault
    dtype, shape, offsets = stated["dtype"], stated["shape"], stated["data_offsets"]
    if type(dtype) is not str or not _are_sizes(shape) or not _are_sizes(offsets):
        raise fault
    if dtype not in _ITEM_SIZES or len(shape) != 1 or len(offsets) != 2:
        raise FaultError(
            f"the array {shown(name)} has the type {shown(dtype)} and the shape {shown(shape)}"
        )
    begin, end = offsets
    if end - begin != math.prod(shape) * _ITEM_SIZES[dtype]:
        raise FaultError(f"the shape of the array {shown(name)} does not fit its offsets")
    return Entry(name, dtype, tuple(shape), begin, end)


def _are_sizes(plain: Any) -> bool:
    return type(plain) is list and all(type(one) is int and one >= 0 for one in plain)
