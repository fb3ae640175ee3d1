"""Tables in Arrow's memory, by pyarrow: batches of columns to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from textreg.errors import UsageError

ROWS = 1000
"""Rows that are turned into Python's values at a time."""


def pyarrow(what: str) -> Any:
    """The module; UsageError where it is not installed and ``what`` needs it."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError(
            f"{what} needs pyarrow, which is not installed: pip install 'textreg[arrow]'"
        ) from None
    return pyarrow


def records(batch: Any, names: list[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of a record batch, with these names of columns."""
    for start in range(0, batch.num_rows, ROWS):
        part = batch.slice(start, ROWS)
        columns = [values(column) for column in part.columns]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def values(column: Any) -> list[Any]:
    """The values of a column as Python's: texts for times and decimal numbers, which JSON has not.

    Bytes take the place of a text that is not UTF-8.
    """
    arrow = pyarrow("Arrow")
    types = arrow.types
    if isinstance(column, (arrow.ExtensionArray, arrow.lib.BaseExtensionType)):
        column = column.storage
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_duration(column.type):
        column = column.cast(arrow.int64())
    elif types.is_temporal(column.type) or types.is_decimal(column.type):
        column = column.cast(arrow.string())
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_text(value) for value in column.cast(arrow.binary()).to_pylist()]


def _text(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
