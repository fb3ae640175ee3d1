"""A short pass over hostile records."""

from __future__ import annotations

from frame import check


def test_hostile_records() -> None:
    check("records", cases=30)
