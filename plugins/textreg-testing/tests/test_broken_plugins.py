"""The contract bites: its checks find the mistakes of a catalogue, and no fault where none is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from broken_plugins import KINDS, Bug, catalogue, fault

MODULES = {kind: module for kind in KINDS if (module := catalogue(kind)) is not None}
ORIGINALS = [(kind, part) for kind, module in MODULES.items() for part in module.ORIGINALS]
BUGS = [(kind, bug) for kind, module in MODULES.items() for bug in module.BUGS]
ONE_OF = {"regularizers": 18, "exporters": 12, "penalties": 3, "losses": 3}
"""Of so many parts of a kind every run tries the first, of the other kinds one of six."""


def cases(parts: list[Any], names: list[str]) -> list[Any]:
    """Parameters of a kind and a part; those that few runs need are marked."""
    seen: Counter[str] = Counter()
    parameters = []
    for part, name in zip(parts, names, strict=True):
        marks = [pytest.mark.thorough] if seen[part[0]] % ONE_OF.get(part[0], 6) else []
        seen[part[0]] += 1
        parameters.append(pytest.param(*part, id=name, marks=marks))
    return parameters


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("kind", "part"),
    cases(ORIGINALS, [f"{kind}-{number}" for number, (kind, _) in enumerate(ORIGINALS)]),
)
def test_no_fault_is_found_where_there_is_none(kind: str, part: Any) -> None:
    assert fault(kind, part) == ""


@pytest.mark.sampled(20)
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
