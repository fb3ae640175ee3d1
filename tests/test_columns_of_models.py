"""Commands read the columns that their model was trained on."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from conftest import Cli

from textreg.model.storage import load_model
from textreg.reading.columns import ColumnNames, Likely, TableColumns

FIXED = ("--tokenizer", "words", "--reg", "ridge", "--reg-l2", "1", "--quiet")


def table(path: Path, header: tuple[str, ...], *rows: tuple[str, ...]) -> Path:
    """A CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows * 10])
    return path


@pytest.fixture
def model(cli: Cli, tmp_path: Path) -> Path:
    """A model of the columns ``remark`` and ``mood``, which nobody would guess."""
    file = table(tmp_path / "train.csv", ("remark", "mood"), ("so good", "up"), ("so bad", "down"))
    path = tmp_path / "m.textreg"
    named = ("--text-col", "remark", "--label-col", "mood")
    assert cli("train", file, *named, *FIXED, "-o", path)[0] == 0
    return path


def test_a_model_knows_them(model: Path) -> None:
    expected = {"text_col": "remark", "label_col": "mood"}
    assert load_model(model).columns == expected


def test_they_go_before_what_would_be_guessed(cli: Cli, model: Path, tmp_path: Path) -> None:
    header = ("text", "label", "remark", "mood")
    both = table(tmp_path / "both.csv", header, ("so bad", "x", "so good", "up"))
    code, out, err = cli("evaluate", model, both)
    assert (code, err) == (0, "")
    assert "text = remark, label = mood\naccuracy 1.000" in out
    code, out, err = cli("predict", model, both)
    assert (code, set(out.split()), err) == (0, {"up"}, "")
    code, out, err = cli("predict", model, both, "--text-col", "text")
    assert (code, set(out.split()), err) == (0, {"down"}, "")
    code, out, _ = cli("explain", model, both)
    assert code == 0
    assert out.splitlines()[1].startswith("up ")
    code, out, err = cli("report", model, both, "-o", tmp_path / "r.html")
    assert (code, err) == (0, "")
    assert "text = remark, label = mood\n" in out
    other = tmp_path / "other.textreg"
    other.write_bytes(model.read_bytes())
    code, out, err = cli("compare", model, other, both)
    assert code == 0
    assert out.count(" 1.000 ") >= 2


def test_where_there_are_none_others_are_guessed(cli: Cli, model: Path, tmp_path: Path) -> None:
    usual = table(tmp_path / "usual.csv", ("text", "mood"), ("so good", "up"), ("so bad", "down"))
    code, out, err = cli("evaluate", model, usual)
    assert (code, err) == (0, "")
    guess = "text = text (guessed, as there is no 'remark')"
    assert f"{guess}, label = mood\naccuracy 1.000" in out
    code, out, err = cli(
        "predict", model, usual
    )  # which would else answer another column in silence
    assert (code, out, err) == (0, "up\ndown\n" * 10, f"{guess}\n")
    lines = tmp_path / "lines.txt"
    lines.write_text("so good\nso bad\n", encoding="utf-8")
    code, out, err = cli("predict", model, lines)
    assert (code, out, err) == (0, "up\ndown\n", "")
    neither = table(tmp_path / "neither.csv", ("a", "b"), ("so good", "up"))
    code, _, err = cli("evaluate", model, neither)
    assert code == 1
    assert "no column has a usual name of a text" in err


def test_a_column_by_its_number_is_no_name(cli: Cli, tmp_path: Path) -> None:
    file = table(tmp_path / "bare.csv", ("so good", "up"), ("so bad", "down"))
    path = tmp_path / "m.textreg"
    named = ("--text-col", "1", "--label-col", "2")
    assert cli("train", file, *named, *FIXED, "-o", path)[0] == 0
    usual = table(tmp_path / "usual.csv", ("label", "text"), ("up", "so good"))
    code, out, _ = cli("evaluate", path, usual)
    assert code == 0
    assert "text = text (guessed), label = label (guessed)\n" in out


def test_a_model_in_the_place_of_documents(cli: Cli, model: Path) -> None:
    code, _, err = cli("evaluate", model, model)
    assert (code, err) == (
        1,
        f"Error: {model}: this is probably a model, and holds no documents. Name files of "
        "documents here; a model is the first argument of most commands.\n",
    )


def test_a_likely_column_is_not_asked_for() -> None:
    columns = TableColumns(ColumnNames(text=Likely("remark"), label=Likely("mood")))
    assert columns.wanted["text"] is None
    columns.refuse("a.txt", "text")  # raises for columns that were asked for
    columns.find(["text", "Remark", "label"], "a.csv:1")
    assert columns.chosen == {"text": "Remark", "label": "label"}
    assert columns.guessed == ["label"]
