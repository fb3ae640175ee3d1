"""The page of the documentation on which a model runs as one types."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from browsing import all_of, one_of, requests, show

import textreg

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SCRIPT = Path(textreg.__file__).parent.parent / "docs" / "live.py"


@pytest.fixture(scope="module")
def live() -> ModuleType:
    if not SCRIPT.is_file():
        pytest.skip("textreg is not installed from a checkout")
    spec = importlib.util.spec_from_file_location("live", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_evidence_is_highlighted_as_one_types(
    live: ModuleType, browser: Chrome, tmp_path: Path
) -> None:
    model = live.train()
    page = live.write(tmp_path, model)
    show(browser, page)
    assert browser.get_log("browser") == []
    assert one_of(browser, "#answer").text
    field = one_of(browser, "#input")
    field.clear()
    text = "I would buy it again <b>. A bad strap!"
    field.send_keys(text)
    explained = model.explain(text)
    chance = explained.probabilities[explained.label]
    assert one_of(browser, "#answer").text == (
        f"{explained.label}, with a probability of {chance:.3f}"
    )
    assert one_of(browser, "#text").text == text
    marks = [float(str(mark.get_attribute("data-value"))) for mark in all_of(browser, "mark")]
    covered = {one.value for one in explained.words}
    assert marks
    assert covered
    rows = [row.text for row in all_of(browser, "#sentences tr")]
    wanted = [
        f"{text[one.start : one.end]} {one.value:.3f} {one.removal:.3f} {one.evidence:.3f}"
        for one in explained.sentences
    ]
    assert rows == wanted
    best = max(explained.sentences, key=lambda one: one.evidence)
    lines = "".join(one.text for one in all_of(browser, "#text u"))
    assert lines.replace(" ", "") == text[best.start : best.end].replace(" ", "")
    assert (requests(browser), browser.get_log("browser")) == ({page.as_uri()}, [])
