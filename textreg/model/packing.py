"""Names and sparse rows as flat arrays of a model file, and back, with checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core import text_names
from textreg.model.faults import FaultError
from textreg.records.names import Names
from textreg.records.ragged import row_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays
    from textreg.records import Int64s

_STEP = 1 << 16  # names that are checked at a time


def offsets_of(sizes: Sequence[int] | NDArray[np.int64]) -> Int64s:
    """Offsets of consecutive parts of these sizes."""
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def unpack_names(arrays: Arrays, names: str, ptr: str) -> Names:
    """Names from the arrays called ``names`` and ``ptr``; FaultError unless they are UTF-8.

    The lengths of all arrays here are those that the checks below let pass.
    """
    letters, bounds = arrays[names], arrays[ptr]
    check_offsets(arrays, ptr, max(0, len(bounds) - 1), len(letters))
    found = Names(letters, bounds)
    for start in range(0, len(found), _STEP):
        part = found.cut(start, min(start + _STEP, len(found)))
        try:
            part.letters.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise FaultError(f"the name of a feature is not UTF-8 ({error.reason})") from error
        begins = part.ptr[part.ptr < len(part.letters)]
        if (part.letters[begins] & 0xC0 == 0x80).any():
            raise FaultError("the name of a feature is not UTF-8 (it begins inside a character)")
    return found


def check_distinct(names: Names) -> None:
    """FaultError if two names are the same."""
    if not text_names.in_order(names.letters, names.ptr) and len(set(names)) < len(names):
        raise FaultError("two of its features have the same name")


def check_name_lengths(lengths: Mapping[str, int], names: str, ptr: str) -> None:
    """FaultError if arrays of these lengths cannot hold names that are distinct."""
    # Only one of them can be without a letter.
    if not 1 <= lengths[ptr] <= lengths[names] + 2:
        raise FaultError(f"'{ptr}' does not divide {lengths[names]:,} letters into names")


def check_row_lengths(
    lengths: Mapping[str, int], names: tuple[str, str, str], rows: int, n_features: int
) -> None:
    """FaultError if arrays of these lengths cannot be sparse rows: see :func:`unpack_rows`."""
    values, columns, ptr = (lengths[name] for name in names)
    if values != columns:
        raise FaultError(f"'{names[0]}' has {values:,} weights for {columns:,} features")
    if ptr != rows + 1 or values > rows * n_features:
        raise FaultError(f"'{names[2]}' does not divide {values:,} entries into {rows:,} parts")


def check_offsets(arrays: Arrays, name: str, parts: int, total: int) -> None:
    """FaultError unless the array ``name`` divides ``total`` entries into this many parts."""
    ptr = arrays[name]
    if len(ptr) != parts + 1 or ptr[0] != 0 or ptr[-1] != total or (ptr[1:] < ptr[:-1]).any():
        raise FaultError(f"'{name}' does not divide {total} entries into {parts} parts")


def unpack_rows(
    arrays: Arrays, names: tuple[str, str, str], rows: int, n_features: int
) -> tuple[NDArray[Any], NDArray[np.int32], Int64s]:
    """Values, columns and offsets of sparse rows, from the arrays of these names.

    FaultError unless columns are features in increasing order within every row.
    """
    values, columns, ptr = (arrays[name] for name in names)
    check_offsets(arrays, names[2], rows, len(values))
    if ((columns < 0) | (columns >= n_features)).any():
        raise FaultError(f"a weight is for a feature outside 0 to {n_features - 1}")
    if ((np.diff(columns) <= 0) & (np.diff(row_of(ptr)) == 0)).any():
        raise FaultError("the features of its weights do not increase within a row")
    return values, columns, ptr
