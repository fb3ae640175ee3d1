"""Times of documents: numbers, or ISO dates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError

if TYPE_CHECKING:
    from textreg.records import Floats

_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d:?\d\d)?"
)


def moment(value: Any) -> tuple[float, bool]:
    """A time as a number, and whether it was a date, as seconds since 1970.

    Dates are ``2024-03-01``, optionally with ``T14:30``, seconds and an offset, which is UTC by
    default. Raises ValueError for anything else.
    """
    if hasattr(value, "isoformat"):  # datetime.date and its children
        value = value.isoformat()
    if isinstance(value, (bool, np.bool_)):
        raise ValueError("true or false is no time")
    if isinstance(value, (str, np.datetime64)):
        text = str(value).strip()
        if match := _DATE.fullmatch(text):
            return _seconds(*match.groups()), True
        value = text
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number, False


def moments(values: Sequence[Any], where: Callable[[int], str]) -> Floats:
    """All times as numbers (n,).

    ``where`` returns the place of a document, for messages. Raises DataError for a value that is
    not a time, and for dates mixed with numbers.
    """
    numbers = np.empty(len(values))
    dated = None
    for row, value in enumerate(values):
        try:
            numbers[row], date = moment(value)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{where(row)}: {not_a_time(value)}") from None
        if dated is None:
            dated = date
        elif dated != date:
            kinds = ("a date", "a number") if date else ("a number", "a date")
            raise DataError(
                f"{where(row)}: the time {value} is {kinds[0]}, but that of {where(0)} is "
                f"{kinds[1]}. Use either dates or numbers for all."
            )
    return numbers


def not_a_time(value: Any) -> str:
    """What is wrong with a value that is not a time."""
    if value is None or value == "":
        return "the time is missing. Every document needs one."
    return f"the time {value!r:.40} is neither a number nor an ISO date such as 2024-03-01T14:30."


def _seconds(day: str, clock: str | None, fraction: str | None, offset: str | None) -> float:
    """Seconds since 1970 of the parts of a date."""
    text = f"{day}T{clock or '00:00'}"
    if offset and offset != "Z":
        text += f"{offset[:3]}:{offset[-2:]}"
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return when.timestamp() + float(f"0.{fraction or 0}")
