"""Figures in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from textreg.measure.metrics import wilson
from textreg.plotting.number_format import fixed, short, signed
from textreg.report.estimates import Estimate
from textreg.report.text import clip

LONGEST = 40
"""Characters of a label in a sentence."""


def quoted(label: str) -> str:
    """A label in quotation marks, not too long."""
    return f"“{clip(label, LONGEST)}”"


def listed(items: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def documents(count: int) -> str:
    """1 document, 2 documents."""
    return f"{count:,} document{'' if count == 1 else 's'}"


def share(value: float, digits: int = 0) -> str:
    """A share in percent; with another digit where all of them would be 0 or 100."""
    text = fixed(100 * value, digits)
    if 0 < value < 1 and float(text) in (0.0, 100.0) and digits < 3:
        return share(value, digits + 1)
    return f"{text}\N{NO-BREAK SPACE}%"


def share_of(count: int, total: int) -> str:
    """A share of documents with its 95 % interval (Wilson 1927)."""
    low, high = wilson(count, total)
    return f"{share(count / total)} of {total:,} ({fixed(100 * low, 0)} to {fixed(100 * high, 0)})"


def points(difference: Estimate) -> str:
    """A difference in points of percent with its interval."""
    value = signed(100 * difference.value, 1)
    if difference.low is None or difference.high is None:
        return f"{value} points"
    low, high = (signed(100 * end, 1) for end in (difference.low, difference.high))
    return f"{value} points, 95\N{NO-BREAK SPACE}% interval {low} to {high}"


def number(figure: Estimate) -> str:
    """A number with its interval."""
    if figure.low is None or figure.high is None:
        return _number(figure.value)
    return f"{_number(figure.value)} ({_number(figure.low)} to {_number(figure.high)})"


def _number(value: float) -> str:
    return fixed(value) if abs(value) < 10 else short(value)
