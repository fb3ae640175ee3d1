"""Names and sparse rows as flat arrays of a model file, and back, with checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.model.faults import FaultError
from textreg.records.ragged import row_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays
    from textreg.records import Int64s

# Half of a surrogate pair is not UTF-8, but a tokenizer may make one from a broken text.
_SURROGATES = "surrogatepass"


def offsets_of(sizes: Sequence[int] | NDArray[np.int64]) -> Int64s:
    """Offsets of consecutive parts of these sizes."""
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def pack_names(names: Sequence[str]) -> tuple[NDArray[np.uint8], Int64s]:
    """Names in UTF-8, one after the other, and their offsets."""
    coded = [name.encode("utf-8", _SURROGATES) for name in names]
    return np.frombuffer(b"".join(coded), dtype=np.uint8), offsets_of([len(it) for it in coded])


def unpack_names(arrays: Arrays, names: str, ptr: str) -> list[str]:
    """Names from the arrays called ``names`` and ``ptr``; FaultError unless they are UTF-8.

    The lengths of all arrays here are those that the checks below let pass.
    """
    blob = arrays[names].tobytes()
    check_offsets(arrays, ptr, max(0, len(arrays[ptr]) - 1), len(blob))
    bounds = arrays[ptr].tolist()
    try:
        decoded = [blob[start:end].decode("utf-8", _SURROGATES) for start, end in pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise FaultError(f"the name of a feature is not UTF-8 ({error.reason})") from error
    return decoded


def check_distinct(names: Sequence[str]) -> None:
    """FaultError if two names are the same."""
    if len(set(names)) < len(names):
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
