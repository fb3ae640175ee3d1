"""The contract bites: its checks find the mistakes of a catalogue, and no fault where none is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from broken_plugins import KINDS, Bug, catalogue, fault

MODULES = {kind: module for kind in KINDS if (module := catalogue(kind)) is not None}
ORIGINALS = [(kind, part) for kind, module in MODULES.items() for part in module.ORIGINALS]
BUGS = [(kind, bug) for kind, module in MODULES.items() for bug in module.BUGS]
COSTLY = [bug for bug in BUGS if bug[0] == "regularizers"]
"""Their checks fit; one of three of them is tried in every run."""


@pytest.mark.parametrize(
    ("kind", "part"),
    ORIGINALS,
    ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(ORIGINALS)],
)
def test_no_fault_is_found_where_there_is_none(kind: str, part: Any) -> None:
    assert fault(kind, part) == ""


@pytest.mark.parametrize(
    ("kind", "bug"),
    [
        pytest.param(
            *one,
            id="-".join(map(str, one)),
            marks=[pytest.mark.thorough] if one in COSTLY and COSTLY.index(one) % 3 else [],
        )
        for one in BUGS
    ],
)
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
    assert len(BUGS) >= 80
    assert len(missed) <= 0.05 * len(BUGS), missed
