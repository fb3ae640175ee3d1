"""Columns of data frames and tables, of whatever package they are, as lists of Python's values.

They are known by what they offer, so that none of these packages is needed: pandas, polars,
pyarrow, NumPy, the datasets of Hugging Face.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from textreg.errors import UsageError, first_few
from textreg.records.stored_texts import TextsElsewhere

_TO_LIST = ("to_pylist", "to_list", "tolist")
"""The methods of pyarrow, of pandas and polars, and of NumPy and others."""


def as_column(values: Any, name: str) -> Any:
    """The values of a column as a list.

    Parameters
    ----------
    values : list, tuple, column or one-dimensional array; or a table or array of one column
        One that can be iterated over only is read to its end. A text, texts in a file, and what
        cannot be iterated over, are returned as they are.
    name : str
        What they are, for messages.

    Raises
    ------
    UsageError
        If it is a table of several columns, or a mapping.
    """
    if isinstance(values, (list, tuple, str, bytes, TextsElsewhere)):
        return values
    names = column_names(values)
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if isinstance(values, Mapping) or (isinstance(shape, tuple) and len(shape) > 1):
        if len(shape) != 2 or shape[1] != 1:
            raise _several(name, names, shape)
        column = values.reshape(-1) if names is None else values[names[0]]
        return as_column(column, name)
    for method in _TO_LIST:
        if callable(convert := getattr(values, method, None)):
            listed = convert()
            return listed if isinstance(listed, list) else [listed]
    if isinstance(values, Iterable):
        return list(values)
    if hasattr(values, "__arrow_c_stream__"):
        return _from_stream(values, name)
    return values


def column_names(table: Any) -> list[Any] | None:
    """The names of the columns of a table; None if it is none."""
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "column_names", None)  # pyarrow's columns are no names
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None or callable(names) else list(names)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or what pandas has for these."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def first_missing(values: Sequence[Any]) -> int | None:
    """The index of the first missing value; None if there is none."""
    return next((row for row, value in enumerate(values) if is_missing(value)), None)


def label_name(label: Any) -> Any:
    """The name of a class: of a text, truth value or whole number; lists as such."""
    if isinstance(label, np.ndarray):  # a list, in a column of pandas
        return label.tolist()
    named = isinstance(label, (str, bool, int, np.bool_, np.integer))
    return str(label) if named else label


def _from_stream(values: Any, name: str) -> Any:
    """What only the Arrow protocol gives, by pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError(
            f"{name}: reading a {type(values).__name__} needs pyarrow, which is not installed: "
            "pip install 'textreg[arrow]'"
        ) from None
    try:
        return as_column(pyarrow.table(values), name)
    except (TypeError, ValueError):
        return as_column(pyarrow.chunked_array(values), name)


def _several(name: str, names: list[Any] | None, shape: tuple[int, ...]) -> UsageError:
    """The error for what has not one column."""
    if names is None:
        what, hint = f"of the shape {shape}", "such as array[:, 0]"
    else:
        what = f"a table with the columns {first_few(list(map(str, names)), 8)}"
        hint = "such as frame['text']; fields=[...] takes documents of several"
    return UsageError(f"{name} must be one column, not {what}: choose one, {hint}.")
