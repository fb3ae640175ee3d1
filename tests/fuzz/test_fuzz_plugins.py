"""The first hostile plugins; make fuzz AREA=plugins runs them all."""

from __future__ import annotations

from frame import check
from hostile import catalogue


def test_hostile_plugins() -> None:
    outcome = check("plugins", cases=20)
    assert {word.partition(",")[0] for word in outcome.counts} == {"stopped", "harmless", "either"}


def test_the_first_ones_are_of_all_sorts() -> None:
    first = catalogue()[:45]
    assert len({(one.place, one.code) for one in first}) > 35
    assert len({one.kind for one in first}) == 7
