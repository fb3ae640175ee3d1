"""Hostile corpora, the first of them; ``make fuzz AREA=corpora`` runs more."""

from __future__ import annotations

from frame import check


def test_hostile_corpora() -> None:
    check("corpora", cases=30)
