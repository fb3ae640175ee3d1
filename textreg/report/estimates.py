"""A measured value and its interval."""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    """A measured value and its 95 % interval; the ends are None where there is none."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
