"""Formulas of the documentation become MathML; what would stay TeX stops the build."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import textreg

DOCS = Path(textreg.__file__).parent.parent / "docs"
pytestmark = pytest.mark.skipif(
    not (DOCS / "formulas.py").is_file(), reason="textreg is not installed from a checkout"
)
pytest.importorskip("latex2mathml", reason="the packages of the documentation are not installed")


@pytest.fixture(scope="module")
def formulas() -> dict[str, object]:
    return runpy.run_path(str(DOCS / "formulas.py"))


def test_a_formula_is_an_element(formulas) -> None:  # type: ignore[no-untyped-def]
    assert "<mi>w</mi>" in formulas["mathml"](r"\|w\|_2")
    assert "\\" not in formulas["mathml"](r"\arg\min_w \Bigl\| w \Bigr\|", "block")


def test_its_number_stands_beside_it(formulas) -> None:  # type: ignore[no-untyped-def]
    made = formulas["block"](r"a < b \tag{O1}")
    assert '<span class="number">(O1)</span>' in made
    assert "<mo>&lt;</mo>" in made


@pytest.mark.parametrize("tex", [r"\unheardof{w}", r"w_{g \nosuch v}"])
def test_tex_that_would_stay_is_refused(formulas, tex: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="is not understood"):
        formulas["mathml"](tex)


def test_all_of_the_mathematics(formulas) -> None:  # type: ignore[no-untyped-def]
    page = (DOCS / "maths.md").read_text(encoding="utf-8")
    found = re.findall(r"\$\$(.+?)\$\$", page, re.DOTALL)
    assert len(found) > 30
    for tex in found:
        assert formulas["block"](tex).startswith('<div class="formula"')
