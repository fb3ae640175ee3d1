"""The formulas of the pages are numbered, and the code cites them by these numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_documents import CHECKOUT

import textreg

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "maths.md").is_file(),
    reason="textreg is not installed from a checkout",
)
PAGES = ("maths", "networks", "pursuit", "stagewise")
NUMBER = r"[A-Z]\d"


def numbered() -> set[str]:
    r"""``\tag{E1}`` of displays, (E1) at the end of a line of a table or of plain text."""
    found: list[str] = []
    for page in PAGES:
        text = (CHECKOUT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        found += re.findall(rf"\\tag{{({NUMBER})}}", text)
        found += re.findall(rf"(?:\| |    )\(({NUMBER})\)(?: \|)?$", text, re.MULTILINE)
    assert len(set(found)) == len(found), "a number stands for two formulas"
    return set(found)


def cited() -> set[str]:
    """``(E1)``, ``(docs/maths.md, E1)`` and ``(..., L1 to L3)`` in the code, kernels too."""
    found: set[str] = set()
    package = Path(textreg.__file__).parent
    satellites = CHECKOUT.glob("plugins/*/textreg_*/**/*.py")
    for path in (*package.rglob("*.py"), *package.rglob("*.pyx"), *satellites):
        text = path.read_text(encoding="utf-8")
        for first, last in re.findall(
            rf"(?:docs/\w+\.md, |\()({NUMBER})(?: to ({NUMBER}))?\)", text
        ):
            ends = int(first[1:]), int((last or first)[1:])
            found |= {f"{first[0]}{number}" for number in range(ends[0], ends[1] + 1)}
    return found


def test_every_formula_is_numbered_and_cited() -> None:
    assert cited() == numbered()
    assert {"O1", "L3", "E3", "M4", "A1", "D3", "P2", "S1", "N2", "G2", "T1"} <= numbered()
