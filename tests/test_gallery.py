"""The gallery of the documentation, and the papers' own examples from the real corpora."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import all_of, requests, show
from conftest import Cli
from pages import Page
from thoroughness import thorough

import textreg

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SCRIPT = Path(textreg.__file__).parent.parent / "docs" / "gallery.py"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    if not SCRIPT.is_file():
        pytest.skip("textreg is not installed from a checkout")
    spec = importlib.util.spec_from_file_location("gallery", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "write_demo", partial(module.write_demo, test=60))
        patch.setattr("textreg.training.fit.POINTS", 6)
        patch.setattr(textreg, "train", partial(textreg.train, cv=2, intercept="fitted"))
        pages: list[Path] = module.write(tmp_path_factory.mktemp("gallery"))
    return pages


def test_pages_are_those_of_the_papers(gallery: list[Path]) -> None:
    report, against = (Page(path.read_text(encoding="utf-8")) for path in gallery)
    assert {"selection", "path", "documents", "baseline"} <= set(report.sections())
    assert "Selected sentences in their documents" in report.text
    bold = [tag for tag, _ in report.elements if tag == "strong"]
    assert len(bold) > 4
    assert {"sentences", "documents"} <= set(against.sections())
    assert "No measurable difference from lasso" in against.text


@pytest.mark.thorough
def test_pages_load(gallery: list[Path], browser: Chrome) -> None:
    for path in gallery:
        show(browser, path, width=360)
        assert requests(browser) == {path.as_uri()}
        assert browser.get_log("browser") == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    show(browser, gallery[0])
    check_sentences(browser)


def check_sentences(browser: Chrome) -> None:
    """Those that are selected tell something, the others nothing."""
    rows = browser.execute_script(
        """return [...document.querySelectorAll("#selection caption")].flatMap((caption) =>
             [...caption.parentElement.tBodies[0].rows].map((row) => [
               Number(row.cells[0].textContent.replace("−", "-")),
               row.querySelector("strong") !== null]))"""
    )
    assert {kept for _, kept in rows} == {True, False}
    # counts of words: a sentence without a word of the model changes nothing
    assert all(odds == 0 for odds, kept in rows if not kept)
    assert max(abs(odds) for odds, kept in rows if kept) > 0.01


@pytest.mark.parametrize(
    ("task", "label", "strengths", "least"),
    [
        # Yogatama & Smith (2014), table 4: a message about Mac hardware
        thorough("computer", "comp.sys.mac.hardware", ("0.25", "2.4", "0.25"), 0.8),
        # and table 5: a product review
        thorough("amazon-books", "positive", ("0.0027", "2.6", "0.27"), 0.7),
    ],
)
def test_the_papers_own_examples(
    cli: Cli,
    data_dir: Path,
    tmp_path: Path,
    browser: Chrome,
    task: str,
    label: str,
    strengths: tuple[str, str, str],
    least: float,
) -> None:
    folder, model = data_dir / "data" / "tasks" / task, tmp_path / "m.textreg"
    train = folder / "train.jsonl.gz"
    given = (
        f"--reg-{name}={value}"
        for name, value in zip(("group", "l1", "l2"), strengths, strict=True)
    )
    command = ["train", train, "--reg", "sentence", "--tokenizer", "words", "--ngrams", "1"]
    command += ["--weighting", "count"]
    code, _, err = cli(*command, *given, "-o", model)
    assert (code, err) == (0, "")
    page = tmp_path / f"{task}.html"
    code, _, err = cli("report", model, folder / "test.jsonl.gz", "--train", train, "-o", page)
    assert (code, err) == (0, "")
    assert page.stat().st_size < 2e6

    show(browser, page)
    assert requests(browser) == {page.as_uri()}
    assert browser.get_log("browser") == []
    accuracy = all_of(browser, ".tile .value")[0].text
    assert float(accuracy) > least
    captions = [one.text for one in all_of(browser, "#selection caption")]
    assert any(caption.startswith(label) for caption in captions)
    check_sentences(browser)
