"""What strangers wrote does not act on a terminal or in a page."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pages import Page

import textreg
from textreg.cli import main
from textreg.measure.evaluation import evaluate_numbers, evaluate_sets
from textreg.terminal import MOST_ROWS, Displayed, counted, json_line, single_line, visible

HOSTILE = "\x1b[31mRED\x07\x9b2J\u202e<script>alert(1)</script>"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_one_document_is_no_documents() -> None:
    line = textreg.evaluate(["a"], ["a"], ["a", "b"]).headline()
    assert line.startswith("1 document; accuracy")
    assert [counted(number, "row") for number in (0, 1, 2, 1000)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "1,000 rows",
    ]


def test_json_keeps_what_it_escapes() -> None:
    line = json_line({"label": HOSTILE, "more": ["naïve\n", 1.5]})
    assert not ACTS.search(line)
    assert json.loads(line) == {"label": HOSTILE, "more": ["naïve\n", 1.5]}
    assert not ACTS.search(single_line(HOSTILE))
    with pytest.raises(ValueError, match="JSON compliant"):
        json_line(float("nan"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("new york", "new york"),
        (" go", "␣go"),
        ("go ", "go␣"),
        ("chars:  go ", "chars: ␣go␣"),
        ("chars:  ", "chars:␣␣"),
        ("a  b", "a ␣b"),
        (" ", "␣"),
        ("", ""),
    ],
)
def test_blanks_of_names_are_visible(name: str, shown: str) -> None:
    assert visible(name) == shown


def test_commands_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"{word} {HOSTILE} film{i % 3}", "label": f"{label}{HOSTILE}"}
        for i in range(6)
        for word, label in (("good", "p"), ("bad", "n"))
    ]
    Path("corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    train = "train corpus.jsonl --reg lasso --reg-l1 0.01 --ngrams 1 -o m.textreg"
    commands = [
        train,
        f"{train} --json",
        "predict m.textreg corpus.jsonl",
        "predict m.textreg corpus.jsonl --proba",
        "predict m.textreg corpus.jsonl --json",
        "predict m.textreg corpus.jsonl --format jsonl",
        "evaluate m.textreg corpus.jsonl",
        "explain m.textreg corpus.jsonl",
        "explain m.textreg corpus.jsonl --format jsonl",
        "show m.textreg",
        "show m.textreg --json",
        "groups corpus.jsonl",
        "report m.textreg corpus.jsonl --train corpus.jsonl -o r.html",
    ]
    for command in commands:
        assert main(command.split()) == 0, capsys.readouterr().err
        out, err = capsys.readouterr()
        assert not ACTS.search(out + err), command
    page = Path("r.html").read_text()
    assert "<script>alert" not in page
    assert not ACTS.search(page)


@pytest.fixture(scope="module")
def results() -> dict[str, Displayed]:
    """One of each kind that a notebook shows; labels and words are hostile."""
    # Words in the same texts would share their weight as rounding has it.
    texts, labels = [["good", HOSTILE], ["bad", "good"], ["so"]] * 20, [HOSTILE, "neg", "neg"] * 20
    model = textreg.train(texts, labels, reg="lasso", path=True, cv=2, min_df=1, ngrams=1)
    numbers = textreg.train(texts, [1.5, 0.0, 2.0] * 20, task="regression", cv=2, min_df=1)
    assert model.summary is not None
    assert model.path is not None
    y = np.eye(2, dtype=bool)
    return {
        "Model": model,
        "TrainingSummary": model.summary,
        "SolutionPath": model.path,
        "Evaluation": textreg.evaluate(labels, labels, model.labels),
        "MultilabelEvaluation": evaluate_sets(y, y, [HOSTILE, "b"]),
        "CheckResult": textreg.check([" ".join(words) for words in texts], labels),
        "Model of numbers": numbers,
        "RegressionEvaluation": evaluate_numbers([1.0, 2.0], [1.0, 2.5]),
    }


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Model", "labels '.*', 'neg'; 1 features"),
        (
            "TrainingSummary",
            r"classification by lasso l1 [\d.]+, logistic loss; 1 of 4 features, .*",
        ),
        ("SolutionPath", r"\d+ models; chosen l1 [\d.]+ of 1 features"),
        ("Evaluation", r"60 documents; accuracy 1\.000 .*"),
        ("MultilabelEvaluation", r"2 documents; micro-F1 1\.000 .*"),
        ("CheckResult", "60 documents; duplicates.*"),
        ("Model of numbers", r"regression; \d features"),
        ("RegressionEvaluation", r"2 documents; R² 0\.500  MSE 0\.125  MAE 0\.250"),
    ],
)
def test_results_show_themselves(results: dict[str, Displayed], name: str, line: str) -> None:
    result = results[name]
    text, html = repr(result), result._repr_html_()
    assert re.fullmatch(f"<{name.partition(' ')[0]}: {line}>", text), text
    assert not ACTS.search(text + html)
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= {"div", "p", "b", "table", "tr", "th", "td"}
    assert not {name for _, attributes in page.elements for name in attributes} - {"style"}
    assert "color:#" not in html
    assert len(html) < 20_000


def test_notebooks_show_what_was_learned(results: dict[str, Displayed]) -> None:
    page = Page(results["Model"]._repr_html_()).text
    assert "<script>alert(1)</script> 40" not in page
    assert "<script>alert(1)</script> 20" in page
    assert "converged" in page
    evaluated = Page(results["Evaluation"]._repr_html_()).text
    assert "true labels in rows" in evaluated


def test_long_tables_are_cut() -> None:
    class Long(Displayed):
        def headline(self) -> str:
            return "a line"

        def tables(self) -> list[tuple[str, list[list[int]]]]:
            return [("", [[0], *([one] for one in range(MOST_ROWS + 1_000))])]

    page = Page(Long()._repr_html_())
    assert [tag for tag, _ in page.elements].count("tr") == MOST_ROWS + 1
    assert page.text.endswith("and 1,000 more rows")


def test_a_training_in_a_notebook_shows_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich import console

    shown: list[Any] = []

    class Output:
        def __enter__(self) -> None:
            shown.append(self)

        def __exit__(self, *_: object) -> None: ...

        def clear_output(self, wait: bool) -> None: ...

        def close(self) -> None: ...

    for name, members in {
        "ipykernel": {},
        "ipywidgets": {"Output": Output},
        "IPython": {},
        "IPython.display": {"display": shown.append},
    }.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    texts, labels = ["so good", "so bad"] * 10, ["pos", "neg"] * 10
    textreg.train(texts, labels, reg="lasso")  # by a console that is none of a notebook
    assert not shown
    monkeypatch.setattr(console, "Console", partial(console.Console, force_jupyter=True))
    model = textreg.train(texts, labels, reg="lasso")
    first = len(shown)
    assert first > 2
    assert isinstance(shown[0], Output)
    textreg.update(model, texts, labels)
    assert len(shown) > first
