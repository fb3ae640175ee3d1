"""The cells of a table as labels, weights, groups and times."""

from __future__ import annotations

import json
import math
from typing import Any

from textreg.errors import shortened
from textreg.reading.faults import UnusableRow
from textreg.reading.times import moment, not_a_time


def as_label(name: str, value: Any) -> str:
    """One label: a text that is not empty, a number, true or false."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    if not isinstance(value, str):
        raise not_text(name, value)
    label = value.strip()
    if not label:
        raise UnusableRow(f"label is empty, in column '{name}'.")
    return label


def as_labels(name: str, values: list[Any]) -> tuple[str, ...]:
    """The labels in a list, each once."""
    labels = [value.strip() if isinstance(value, str) else "" for value in values]
    if not all(labels):
        wrong = values[labels.index("")]
        raise UnusableRow(
            f"the list of labels in '{name}' holds {as_json(wrong)}, and labels there are texts "
            'such as "good".',
            reason=f"'{name}' holds something that is no label",
        )
    return tuple(dict.fromkeys(labels))


def as_weight(name: str, value: Any) -> float:
    """A weight: a number of 0 or more."""
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if isinstance(value, bool) or not (0 <= weight < math.inf):
        raise UnusableRow(
            f"weight {as_json(value)} in '{name}' is not a number of 0 or more.",
            reason=f"'{name}' is not a weight",
        )
    return weight


def as_group(name: str, value: Any) -> str:
    """The name of a group: a text or a number."""
    try:
        return as_label(name, value)
    except UnusableRow:
        raise UnusableRow(
            f"group {as_json(value)} in '{name}' is not a text or a number.",
            reason=f"'{name}' is not a text or a number",
        ) from None


def as_time(value: Any) -> Any:
    """A number or a date, as it is."""
    try:
        moment(value)
    except (TypeError, ValueError, OverflowError):
        raise UnusableRow(not_a_time(value), reason="the time is missing or not one") from None
    return value


def not_text(name: str, value: Any) -> UnusableRow:
    """What is wrong with a cell that should be a text."""
    if value is None:
        return UnusableRow(f"'{name}' is missing.")
    return UnusableRow(
        f"'{name}' is {as_json(value)}, not a text.", reason=f"'{name}' is not a text"
    )


def as_json(value: Any) -> str:
    """``value`` as JSON, shortened."""
    return shortened(json.dumps(value, default=str))
