"""Tables as offices write them: numbers, encodings, labels, Excel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from textreg.reading.corpus import read_corpus
from textreg.records.documents import as_fields, decimals_of, number_in
from textreg.tasks.base import label_variants

WORDS = {"Billing": "invoice payment refund", "Login": "password account reset"}


def write(path: Path, rows: list[tuple[Any, ...]], head: str = "label;text;price") -> str:
    """A table with semicolons in cp1252."""
    lines = [head, *(";".join(map(str, row)) for row in rows)]
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return str(path)


def rows_of(n: int, price: str = "5,20") -> list[tuple[Any, ...]]:
    """Rows of both labels in turn."""
    labels = list(WORDS)
    return [(labels[at % 2], f"{WORDS[labels[at % 2]]} für {at}", price) for at in range(n)]


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("5,20", None, 5.2),
        ("1.234,50", None, 1234.5),
        ("1,234.50", 1234.5, None),
        ("12 %", 0.12, 0.12),
        ("€ 5", 5.0, 5.0),
        ("-3,5 EUR", None, -3.5),
        ("€ -5", -5.0, -5.0),
        ("\u22125", -5.0, -5.0),
        ("1'234'567", 1234567.0, 1234567.0),
        ("1\u00a0234,5", None, 1234.5),
        ("1.234", 1.234, 1234.0),
        ("1,234", 1234.0, 1.234),
        ("0.935", 0.935, None),
        ("1e3", 1000.0, None),
        ("12,34,567", None, None),
        ("", None, None),
        ("%", None, None),
        ("5 apples", None, None),
    ],
)
def test_numbers_as_people_write_them(text: str, point: float | None, comma: float | None) -> None:
    for mark, wanted in (("point", point), ("comma", comma)):
        if wanted is None:
            with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
                number_in(text, mark)
        else:
            assert math.isclose(number_in(text, mark), wanted)


def test_a_column_is_judged_as_a_whole() -> None:
    assert decimals_of({"a": ["1.234", "5,20", 3, None], "b": ["1.234"], "c": ["7", ""]}) == {
        "a": "comma"
    }
    assert decimals_of({"a": ["5,20", "5,1"], "b": ["1,234"], "c": ["0.5", "€ 2"]}) == {
        "a": "comma",
        "b": "comma",
        "c": "point",
    }
    assert decimals_of({"a": ["1,234"]}) == {"a": "point"}


def test_decimal_marks_are_recognized_and_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [*rows_of(6), ("Login", "reset", "1.234,50")])
    fields = as_fields({"text": "text", "price": "number"})
    corpus = read_corpus(path, fields=fields, encoding="cp1252")
    assert corpus.columns["fields"] == "text + price (number, decimal comma)"
    assert corpus.decimals == {"price": "comma"}
    assert [text.field("price") for text in corpus.texts[-2:]] == ["5.2", "1234.5"]  # type: ignore[union-attr]
    with pytest.raises(Exception, match="'price' is \"5,20\", not a number"):
        read_corpus(path, fields=fields, encoding="cp1252", decimal={"price": "point"})


def test_a_model_reads_numbers_as_its_training_did(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv", rows_of(40))
    columns = ("--text-col", "text", "--number-col", "price", "--encoding", "cp1252")
    assert cli("train", "a.csv", *columns, "--reg", "ridge", "--quiet").code == 0
    assert "--decimal price=comma" in cli("show", "a.textreg", "--command").out
    assert cli("train", "a.csv", "--config", "a.textreg", "-o", "again.textreg").code == 0
    write(tmp_path / "b.csv", [("Login", "reset", "1.234"), ("Login", "reset", "5.2")])
    answers = cli("predict", "a.textreg", "b.csv", "--encoding", "cp1252", "--format", "csv")
    assert answers.code == 3
    assert '\'price\' is ""5.2"", not a number with a decimal comma' in answers.out
    again = ("predict", "a.textreg", "b.csv", "--encoding", "cp1252", "--decimal", "point")
    assert cli(*again).code == 0
    assert "'semicolon' is neither comma nor point" in cli(*again[:-1], "semicolon").err


def test_all_faults_are_told_at_once(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The encoding first, then what else is wrong, and one command that works."""
    monkeypatch.chdir(tmp_path)
    rows = rows_of(60)
    rows[7] = ("", "no label", "1,0")
    rows[9] = ("Odd", "only one", "1,0")
    rows[11] = ("Login", "password", "n/a")
    write(tmp_path / "a.csv", rows)
    options = ("--text-col", "text", "--number-col", "price", "--reg", "ridge")
    refused = cli("train", "a.csv", *options)
    assert refused.code == 1
    assert refused.err.startswith("Error: The text may be in cp1252: pass --encoding cp1252. ")
    assert "In cp1252 2 of 60 rows (3.3 %) cannot be read: 1 label is empty" in refused.err
    assert "1 'price' is not a number with a decimal comma (a.csv:13)" in refused.err
    assert "Of one document alone are the labels 'Odd'." in refused.err
    command = refused.err.partition("reads the other rows: ")[2].split()
    assert command[-5:] == ["cp1252", "--on-error", "skip", "--min-label", "2"]
    assert cli(*command[1:]).code == 0
    checked = cli("check", "a.csv")
    assert checked.err.endswith("reads the other rows: textreg check a.csv --encoding cp1252\n")
    assert (checked.code, cli("check", "a.csv", "--encoding", "cp1252").code) == (1, 0)


def test_too_many_empty_labels_are_left_out_by_their_number(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    rows = [(label if at % 7 else "", text, 1) for at, (label, text, _) in enumerate(rows_of(40))]
    path = write(tmp_path / "a.csv", rows)
    told = cli("train", path, "--encoding", "cp1252").err
    assert "6 of 40 rows (15 %) cannot be read: 6 label is empty" in told
    assert told.endswith("--encoding cp1252 --on-error skip --max-skipped 6\n")
    rows[3] = ("Login", "too", "many", "fields")
    write(tmp_path / "a.csv", rows)
    told = cli("train", path, "--encoding", "cp1252", "--on-error", "skip").err
    assert told.endswith("These are too many to leave out: fix them.\n")
    assert "--max-skipped" not in told


def test_variants_of_labels() -> None:
    counts = {
        "Billing": 533,
        "BILLING": 20,
        "Bililng": 3,
        "Biling ": 2,
        "bil-ling": 1,
        "class1": 500,
        "class2": 1,
        "C": 400,
        "C++": 2,
        "right": 50,
        "night": 9,
        "cat": 90,
        "car": 1,
        "return to sender": 40,
        "Return  to_sender": 2,
    }
    assert label_variants(counts) == {
        **dict.fromkeys(["BILLING", "bil-ling", "Bililng", "Biling "], "Billing"),
        "Return  to_sender": "return to sender",
    }
    assert label_variants({}) == {}


MESSY = [("BILLING", "invoice sent ", 1), ("Bililng", " refund it", 2), ("", "no label", 3)]


@pytest.fixture
def messy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with variants of a label, blanks, a copy and empty rows."""
    monkeypatch.chdir(tmp_path)
    rows = [*rows_of(80), *MESSY, ("Login", "", 4), ("Billing", "invoice payment refund für 0", 5)]
    write(tmp_path / "a.csv", rows)


@pytest.mark.usefixtures("messy")
def test_variants_are_told_once_and_can_be_set_right(cli: Callable[..., Any]) -> None:
    told = "'Billing' 41 = 'BILLING' 1 = 'Bililng' 1"
    read = ("--encoding", "cp1252", "--on-error", "skip", "--reg", "ridge", "-o", "m.textreg")
    trained = cli("train", "a.csv", *read, "--min-label", 2)
    assert trained.err.count(f"labels that seem to be one: {told}. Write each in one way") == 1
    checked = cli("check", "a.csv", "--encoding", "cp1252")
    assert f"alike but for case, blanks, marks or one letter: {told}" in checked.out
    fixed = cli("check", "a.csv", "--fix", "clean.csv")
    assert fixed.code == 0, fixed.err
    assert "saved clean.csv (82 rows), clean.changes.csv (row left out 3, label 2, blanks 2)" in (
        fixed.out
    )
    assert "next: textreg train clean.csv --label-map clean.labels.csv\n" in fixed.out
    assert "similar-labels" not in fixed.out
    assert Path("clean.labels.csv").read_text() == "BILLING,Billing\nBililng,Billing\n"
    log = Path("clean.changes.csv").read_text().splitlines()
    assert log[:3] == [
        "where,what,before,after",
        "a.csv,encoding,cp1252,utf-8",
        "a.csv:84,row left out,\"label is empty, in column 'label'.\",",
    ]
    assert "a.csv:86,row left out,the same as a.csv:2," in log
    assert "a.csv:82,label,BILLING,Billing" in log
    assert Path("clean.csv").read_text("utf-8").splitlines()[81:] == [
        "Billing,invoice sent,1",
        "Billing,refund it,2",
    ]
    two = cli("check", "a.csv", "clean.csv", "--fix", "both.csv")
    assert "--fix writes one table: name one file." in two.err
    assert ".csv, .tsv" in cli("check", "a.csv", "--fix", "clean.parquet").err


@pytest.mark.usefixtures("messy")
def test_a_model_keeps_its_label_map(cli: Callable[..., Any]) -> None:
    assert cli("check", "a.csv", "--fix", "clean.csv").code == 0
    reg = ("--reg", "ridge", "--reg-l2", 1, "--quiet")
    how = ("--label-map", "clean.labels.csv", "-o", "m.textreg")
    assert cli("train", "clean.csv", *how, *reg).code == 0
    skip = ("--encoding", "cp1252", "--on-error", "skip")
    assert "unknown to the model" not in cli("evaluate", "m.textreg", "a.csv", *skip).out
    newer = cli("update", "m.textreg", "a.csv", "--old", "clean.csv", *skip, "-o", "n.textreg")
    assert newer.code == 0
    assert "BILLING" not in newer.out
    assert "--label-map BILLING=Billing" in cli("show", "n.textreg", "--command").out
    pair = cli("train", "a.csv", *skip, "--label-map", "BILLING=Login", *reg, "--min-label", 2)
    assert pair.code == 0
    Path("odd.csv").write_text("a,b\nc\n")
    assert (
        "odd.csv: row 2 has not two columns" in cli("train", "a.csv", "--label-map", "odd.csv").err
    )
    assert "no.csv cannot be read" in cli("train", "a.csv", "--label-map", "no.csv").err
