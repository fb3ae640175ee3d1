"""The contract bites: its checks find the mistakes of a catalogue, and no fault where none is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from broken_plugins import KINDS, Bug, catalogue, fault

MODULES = {kind: module for kind in KINDS if (module := catalogue(kind)) is not None}
ORIGINALS = [(kind, part) for kind, module in MODULES.items() for part in module.ORIGINALS]
BUGS = [(kind, bug) for kind, module in MODULES.items() for bug in module.BUGS]
QUICK = ("penalties", "losses")
"""Kinds whose checks take a moment; of the others, every run tries one part of six."""


def cases(parts: list[Any], names: list[str]) -> list[Any]:
    """Parameters of a kind and a part; those that few runs need are marked."""
    costly = [part for part in parts if part[0] not in QUICK]
    rest = [part for number, part in enumerate(costly) if number % 6]
    return [
        pytest.param(*part, id=name, marks=[pytest.mark.thorough] if part in rest else [])
        for part, name in zip(parts, names, strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "part"),
    cases(ORIGINALS, [f"{kind}-{number}" for number, (kind, _) in enumerate(ORIGINALS)]),
)
def test_no_fault_is_found_where_there_is_none(kind: str, part: Any) -> None:
    assert fault(kind, part) == ""


@pytest.mark.parametrize(("kind", "bug"), cases(BUGS, ["-".join(map(str, one)) for one in BUGS]))
def test_a_mistake_is_found(kind: str, bug: Bug) -> None:
    found = fault(kind, bug.part)
    if bug.missed:
        assert not found, f"{bug} is found now, so it is not missed any more: {found}"
    else:
        assert found, f"no check finds {bug}"


def test_names_are_unique() -> None:
    names = Counter((kind, bug.name) for kind, bug in BUGS)
    assert [name for name, times in names.items() if times > 1] == []


def test_there_are_many_and_nearly_all_are_found() -> None:
    missed = [bug.name for _, bug in BUGS if bug.missed]
    assert len(BUGS) >= 300
    assert len(missed) <= 0.05 * len(BUGS), missed
