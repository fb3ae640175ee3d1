"""The page of a check: whole, harmless, and no wider than a phone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browsing import requests, show, start
from conftest import Cli
from pages import HOSTILE, Page

import textreg
from textreg_report import CheckPage

TEXTS = [HOSTILE, HOSTILE, f"<b>{HOSTILE}", *(f"plain text number {at}" for at in range(5))]
LABELS = [HOSTILE, "b", "c", "d", "e", "f", "g", "h"]


def test_every_finding_has_a_section_and_nothing_acts() -> None:
    result = textreg.check(TEXTS, LABELS)
    made = CheckPage(result, ("textreg", "check-page", HOSTILE))
    html = made.to_html()
    page = Page(html)
    names = [one.name for one in result.findings]
    assert {"conflicting-labels", "markup", "rare-labels"} <= set(names)
    assert page.sections() == ["summary", *names, "facts"]
    assert "Conflicting labels conflicting-labels" in page.text  # words before the code
    assert "onerror" not in {name for _, attributes in page.elements for name in attributes}
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert "[U+202E]" in page.text
    assert html == made.to_html()


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    path, page = tmp_path / "rows.jsonl", tmp_path / "page.html"
    pairs = zip(TEXTS, LABELS, strict=True)
    path.write_text("\n".join(json.dumps({"text": text, "label": label}) for text, label in pairs))
    result = cli("check-page", path, "-o", page)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"wrote {page} (")
    written = Page(page.read_text(encoding="utf-8"))
    assert "The command:" in written.text
    found = json.loads(cli("check", path, "--json").out)
    assert found["documents"] == len(TEXTS)
    assert written.sections() == ["summary", *(one["name"] for one in found["findings"]), "facts"]


@pytest.mark.parametrize(
    ("target", "message"),
    [("rows.jsonl", "would overwrite an input"), (".", "is a folder"), ("no/page", "no does not")],
)
def test_wrong_targets(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"text": "a", "label": "b"}\n')
    result = cli("check-page", "rows.jsonl", "-o", target)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_on_a_phone_in_light_and_dark(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(CheckPage(textreg.check(TEXTS, LABELS)).to_html(), encoding="utf-8")
    browser = start()
    try:
        for theme in ("light", "dark"):
            show(browser, path, width=360, theme=theme)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
            assert requests(browser) == {path.as_uri()}
            assert browser.get_log("browser") == []
    finally:
        browser.quit()
