"""Tables as offices write them: numbers, encodings, labels, Excel."""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from textreg.errors import DataError, UsageError
from textreg.reading.columns import ColumnNames, TableColumns
from textreg.reading.corpus import read_corpus
from textreg.records.documents import as_fields, decimals_of, number_in
from textreg.tasks.base import label_variants

openpyxl = pytest.importorskip("openpyxl")

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
        ("--5", None, None),
        ("+\u20ac-5", None, None),
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
    with pytest.raises(UsageError, match="'semicolon' is neither comma nor point"):
        read_corpus(path, fields=fields, encoding="cp1252", decimal={"price": "semicolon"})
    same = read_corpus(path, fields=fields, encoding="cp1252", decimal="comma")
    assert [*same.texts] == [*corpus.texts]
    with pytest.raises(UsageError, match="'comas' is neither comma nor point"):
        read_corpus(path, fields=fields, encoding="cp1252", decimal="comas")


def test_numbers_to_predict_have_the_mark_of_their_column(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    rows = [("very " * (at % 9) + "late", f"{at % 9 + 1}.234,5") for at in range(40)]
    table, model = write(tmp_path / "a.csv", rows, "text;amount"), tmp_path / "a.textreg"
    train = ("train", table, "--label-col", "amount", "--task", "regression", "-o", model)
    assert "with a decimal point unless --decimal amount=comma is given" in cli(*train).err
    assert cli(*train, "--decimal", "amount=comma").code == 0
    assert cli("evaluate", model, table).code == 0  # the model keeps the mark


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
    wrong = (
        '\'price\' is ""5.2"", not a number with a decimal comma; --decimal price=point reads it.'
    )
    assert wrong in answers.out
    again = ("predict", "a.textreg", "b.csv", "--encoding", "cp1252", "--decimal", "point")
    assert cli(*again).code == 0
    assert "'semicolon' is neither comma nor point" in cli(*again[:-1], "semicolon").err
    explained = ("explain", "a.textreg", "--json", '{"text": "reset", "price": "1.234,5"}')
    assert "price" in cli(*explained).out
    assert "not a number" in cli(*explained, "--decimal", "point").err


def test_the_mark_of_one_column_leaves_the_others_to_be_recognized(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(*row, "1,250" if at % 3 else "0,5") for at, row in enumerate(rows_of(40))]
    path = write(tmp_path / "a.csv", rows, "label;text;price;weight")
    fields = as_fields({"text": "text", "price": "number", "weight": "number"})
    corpus = read_corpus(path, fields=fields, encoding="cp1252", decimal={"price": "comma"})
    assert corpus.decimals == {"price": "comma", "weight": "comma"}
    assert corpus.texts[1].field("weight") == "1.25"  # type: ignore[union-attr]
    numbers = ("--text-col", "text", "--number-col", "price", "--number-col", "weight")
    assert cli("train", path, *numbers, "--encoding", "cp1252", "--reg", "ridge").code == 0
    # A mark for one column of new texts leaves the others theirs of the training.
    write(tmp_path / "b.csv", [("Login", "reset", "5.2", "0,5")], "label;text;price;weight")
    again = ("predict", "a.textreg", "b.csv", "--encoding", "cp1252", "--decimal", "price=point")
    assert cli(*again).code == 0


def test_label_maps_of_a_model_and_of_new_documents_add_up(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [*rows_of(40), ("Log in", "password", "1")] * 2
    write(tmp_path / "a.csv", rows)
    read = ("--text-col", "text", "--encoding", "cp1252", "--reg", "ridge", "--quiet")
    assert cli("train", "a.csv", *read, "--label-map", "Log in=Login").code == 0
    write(tmp_path / "b.csv", [("Log in", "password", "1"), ("Bill", "invoice", "1")])
    more = ("b.csv", "--encoding", "cp1252", "--label-map", "Bill=Billing")
    found = json.loads(cli("evaluate", "a.textreg", *more, "--json").out)
    assert [one["label"] for one in found["classes"]] == ["Billing", "Login"]
    assert found["accuracy"] == 1.0
    assert cli("update", "a.textreg", *more, "--old", "a.csv", "-o", "b.textreg").code == 0
    command = cli("show", "b.textreg", "--command").out
    assert "--label-map Bill=Billing" in command
    assert "--label-map 'Log in=Login'" in command


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
    assert refused.err.startswith(
        "Error: The text may be in cp1252: pass --encoding cp1252 if it is. "
    )
    assert "In cp1252 2 of 60 rows (3.3 %) cannot be read: 1 label is empty" in refused.err
    assert "1 'price' is not a number with a decimal comma (a.csv:13)" in refused.err
    assert "Labels with a single document: 'Odd'." in refused.err
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
    write(tmp_path / "a.csv", rows_of(40, "01/02/2026"))
    timed = cli("train", path, "--encoding", "cp1252", "--time-col", "price").err
    assert "such as 2024-03-01T14:30. Fix the row. These are too many to leave out: fix" in timed


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
        "delivery": 130,
        "delivry": 9,
        "Class A": 900,
        "Class B": 9,
    }
    assert label_variants(counts) == {
        **dict.fromkeys(["BILLING", "bil-ling", "Bililng", "Biling "], "Billing"),
        "Return  to_sender": "return to sender",
        "delivry": "delivery",
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
    named = ("--label-col", "price", "--text-col", "text", "--category-col", "label")
    next_one = cli("check", "clean.csv", *named, "--fix", "named.csv").out.splitlines()[1]
    assert next_one.partition("train ")[2] == " ".join(["named.csv", *named])
    two = cli("check", "a.csv", "clean.csv", "--fix", "both.csv")
    assert "--fix writes one table: name one file." in two.err
    assert ".csv, .tsv" in cli("check", "a.csv", "--fix", "clean.parquet").err


@pytest.mark.usefixtures("messy")
def test_a_table_set_right_keeps_the_labels_given(cli: Callable[..., Any]) -> None:
    Path("clean.labels.csv").write_text("Bililng,BILLING\nBill,Billing\n")
    fixed = cli("check", "a.csv", "--label-map", "clean.labels.csv", "--fix", "clean.csv")
    assert "next: textreg train clean.csv --label-map clean.labels.csv\n" in fixed.out
    assert "similar-labels" not in fixed.out
    pairs = Path("clean.labels.csv").read_text().split()
    assert sorted(pairs) == ["BILLING,Billing", "Bililng,Billing", "Bill,Billing"]


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
        "odd.csv is no CSV file of two columns"
        in cli("train", "a.csv", "--label-map", "odd.csv").err
    )
    assert (
        "no.csv cannot be read: No such file" in cli("train", "a.csv", "--label-map", "no.csv").err
    )


ODS = """<office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Notes"><table:table-row><table:table-cell><text:p>none</text:p>
</table:table-cell></table:table-row></table:table>
<table:table table:name="Mails">
<table:table-row><table:table-cell><text:p>label</text:p></table:table-cell>
<table:table-cell><text:p>text</text:p></table:table-cell>
<table:table-cell><text:p>n</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="1000000000"/></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>a</text:p>
</table:table-cell><table:table-cell><text:p>one <text:span>two</text:span></text:p>
<text:p>three</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="2.5"><text:p>2,5</text:p>
</table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>b</text:p></table:table-cell><table:table-cell
 office:value-type="date" office:date-value="2024-03-01T00:00:00"><text:p>1.3.</text:p>
</table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="1000000000"><table:table-cell/></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>"""


def test_opendocument(tmp_path: Path) -> None:
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", ODS)
    fields = as_fields({"text": "text", "n": "number"})
    corpus = read_corpus(path, sheet="Mails", fields=fields)
    assert corpus.labels == ["a", "a", "b"]
    assert [text.field("text") for text in corpus.texts] == [  # type: ignore[union-attr]
        *["one two\nthree"] * 2,
        "2024-03-01",
    ]
    assert [text.field("n") for text in corpus.texts] == ["2.5", "2.5", "missing"]  # type: ignore[union-attr]
    with pytest.raises(UsageError, match=r"no sheet is called 'Mail'\. Did you mean 'Mails'"):
        read_corpus(path, sheet="Mail")
    with pytest.raises(DataError, match="no column has a usual name"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("above", "row"),
    [
        ("Requests of 2026, as of 28 November\n\n", 3),
        ("Requests;;\n;;\n", 3),
        ("sep=;\n", 2),
        ("\n", 2),
        ("", 0),
    ],
)
def test_titles_above_the_header(tmp_path: Path, above: str, row: int) -> None:
    table = f"{above}no;message;category\n1;too late, and dear;a\n2;fine;b\n"
    path = tmp_path / "a.csv"
    path.write_text(table)
    book = openpyxl.Workbook()
    for line in table.splitlines():
        book.active.append(line.replace("sep=;", "sep=").split(";"))
    book.save(tmp_path / "a.xlsx")
    for read in (read_corpus(path), read_corpus(tmp_path / "a.xlsx")):
        assert read.texts == ["too late, and dear", "fine"]
        assert read.labels == ["a", "b"]
        assert read.columns.get("header") == (f"row {row} (guessed)" if row else None)
    path.write_text(f"{above.replace(',', '')}no;note;kind\n1;fine, all,,,,;a\n")
    with pytest.raises(DataError, match=rf"a.csv:{row or 1}: no column .* There are: no, note"):
        read_corpus(path)


def test_a_table_of_one_column_has_no_title(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text\nno comma\none, two\n")
    with pytest.raises(
        DataError, match=r"a\.csv:3: the number of columns is 2, and 1 in the first"
    ):
        read_corpus(path, labeled=False)
    # By numbers no header is looked for: the rows of a pipe may be long in coming.
    unread = iter([["a"], ["b", "c"]])
    assert TableColumns(ColumnNames(text="1")).titles(unread, lambda row, _: row) == 0
    assert next(unread) == ["a"]
    path.write_text("a title\n" * 10 + "text,label\n")
    with pytest.raises(DataError, match=r"a\.csv:1: no column .* There are: a title"):
        read_corpus(path)


def workbook(path: Path, rows: list[tuple[Any, ...]]) -> str:
    """A workbook whose second sheet has these rows."""
    book = openpyxl.Workbook()
    book.active.append(["nothing"])
    sheet = book.create_sheet("Mails")
    for row in rows:
        sheet.append(row)
    book.save(path)
    return str(path)


def test_workbooks_are_read_and_written(tmp_path: Path, cli: Callable[..., Any]) -> None:
    labels = ["Billing", "Login"] * 20
    rows = [(label, WORDS[label], number / 2) for number, label in enumerate(labels)]
    path = workbook(tmp_path / "a.xlsx", [("label", "text", "price"), *rows])
    sheet = ("--sheet", "Mails")
    told = cli("train", path).err
    assert "There are: nothing. Say which one it is with --text-col. This is the first" in told
    assert "sheet, 'Sheet'. There are also: Mails. Choose one with --sheet NAME." in told
    assert "no column 'text'" in (told := cli("train", path, "--text-col", "text").err)
    assert "There are also: Mails." in told
    book = openpyxl.Workbook()
    book.create_sheet("Mails").append(["label", "text"])
    book.save(tmp_path / "empty.xlsx")
    told = cli("check", tmp_path / "empty.xlsx").err
    assert "the sheet is empty. This is the first sheet, 'Sheet'. There are also: Mails." in told
    columns = ("--text-col", "text", "--number-col", "price", "--reg", "ridge", "--quiet")
    model, answers = tmp_path / "m.textreg", tmp_path / "answers.xlsx"
    assert cli("train", path, *sheet, *columns, "-o", model).code == 0
    odd = [("x", "=1+1", None), ("y", 404, 2), ("z", "a b", 1, "more")]
    new = workbook(tmp_path / "b.xlsx", [("id", "text", "price"), (None,), *odd])
    assert cli("predict", model, new, *sheet, "--proba", "-o", answers).code == 3
    read = openpyxl.load_workbook(answers).active
    assert [cell.data_type for cell in read["B"]] == ["s", "n", "s", "s"]
    told = [list(row) for row in read.iter_rows(values_only=True)]
    assert told[0] == [
        *("id", "text", "price", "predicted", "proba_Billing", "proba_Login", "reason")
    ]
    assert told[2][1:3] == ["404", 2]
    assert told[3][-1] == "a cell stands beside the 3 columns of the first row."
    assert 0 < told[2][4] < 1
    assert "no sheet is called" in cli("predict", model, new, "--sheet", "Mail").err
    plain = str(write(tmp_path / "plain.csv", rows))
    assert "plain.csv is not a workbook: leave out --sheet Mails" in cli("train", plain, *sheet).err
    (tmp_path / "folder" / "a").mkdir(parents=True)
    assert "folder is not a workbook" in cli("train", tmp_path / "folder", *sheet).err
    assert "Excel is no text" in cli("predict", model, new, "--format", "xlsx").err
    assert "compressed already" in cli("predict", model, new, "-o", "a.xlsx.gz").err
    clean = tmp_path / "clean.xlsx"
    assert cli("check", path, *sheet, "--fix", clean).code == 0
    assert openpyxl.load_workbook(clean).active.max_row == 3
    long = tmp_path / "long.csv"
    long.write_text(f"text,price\n{'word ' * 7_000},1\n")
    cut = cli("predict", model, long, "-o", answers)
    assert (cut.code, "takes 32,767 characters: 1." in cut.err) == (0, True)
    ids = tmp_path / "ids.jsonl"
    given = [1152921504606846977, 10**15 - 1, 10**400]
    ids.write_text("".join(f'{{"id": {it}, "text": "a", "price": 1}}\n' for it in given))
    assert cli("predict", model, ids, "-o", answers).code == 0
    kept = [cell.value for cell in openpyxl.load_workbook(answers).active["A"]]
    assert kept == ["id", "1152921504606846977", 10**15 - 1, str(10**400)]


def test_damaged_workbooks(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "no workbook")
    with pytest.raises(DataError, match="a zip archive, and no workbook"):
        read_corpus(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<a>")
    with pytest.raises(DataError, match="the workbook is damaged after row 0"):
        read_corpus(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(100_000_000))
    with pytest.raises(DataError, match="unpacks to more than"):
        read_corpus(path)


def test_csv_that_excel_opens(tmp_path: Path, cli: Callable[..., Any]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "label,text\n" + "".join(f"{label},{text}\n" * 9 for label, text in WORDS.items())
    )
    model, out = tmp_path / "m.textreg", tmp_path / "out.csv"
    assert cli("train", path, "-o", model, "--reg", "ridge", "--reg-l2", 1, "--quiet").code == 0
    new = tmp_path / "new.csv"
    new.write_text('text,n\n"=HYPERLINK(1)","-5,2"\n@refund,-x\ninvoice,+49 1\n')
    how = ("--excel", "--sep", ";", "--proba", "-o", out)
    assert cli("predict", model, new, *how).code == 0
    lines = out.read_bytes().decode("utf-8").splitlines()
    assert lines[0] == "\ufefftext;n;predicted;proba_Billing;proba_Login;reason"
    assert lines[1].startswith("'=HYPERLINK(1);-5,2;")
    assert lines[2].startswith("'@refund;'-x;Billing;0,")
    assert lines[3].startswith("invoice;+49 1;Billing;0,")
    assert len(lines[3].split(";")[3]) <= len("0,1234")
    assert cli("predict", model, new, "--excel", "--format", "csv").out[:6] == "\ufefftext,"
    assert "--excel is for CSV" in cli("predict", model, new, "--excel").err
    assert "--sep for --excel" in cli("predict", model, new, "--sep", ";", "-o", out).err


def test_an_explanation_says_which_row_it_is_of(tmp_path: Path, cli: Callable[..., Any]) -> None:
    train, new = tmp_path / "a.csv", tmp_path / "b.csv"
    rows = [f"{label},{text},{at}\n" for at, (label, text) in enumerate([*WORDS.items()] * 10)]
    train.write_text("".join(["label,text,n\n", *rows]))
    new.write_text("ID,text,n\nT7,refund,1\nT8,refund,2\nT9\nT10,reset,3\n")
    model = tmp_path / "m.textreg"
    fixed = ("--reg", "ridge", "--reg-l2", 1, "--quiet", "-o", model)
    assert cli("train", train, *fixed).code == 0
    out = cli("explain", model, new, "--on-error", "skip", "--max-skipped", 1).out
    assert [line for line in out.splitlines() if line.startswith("row ")] == [
        f"row 1, id T7, line {new}:2",
        f"row 2, id T8, line {new}:3",
        f"row 3, id T10, line {new}:5",
    ]
    rows = json.loads(cli("explain", model, new, "--on-error", "skip", "--json").out)
    assert [row["id"] for row in rows["explanations"]] == ["T7", "T8", "T10"]
    assert "row " not in cli("explain", model, "a refund").out
    columns = ("--text-col", "text", "--number-col", "n")
    assert cli("train", train, *columns, *fixed).code == 0
    told = cli("explain", model, "--json", '{"text": "refund/1", "n": "1,5 %"}')
    assert told.code == 1
    assert "'n' is '1,5 %', not a number" in told.err
    told = cli("explain", model, "--json", '{"text": "refund/1", "n": 2}')
    assert json.loads(told.out)["explanations"][0]["label"] == "Billing"
    assert cli("predict", model, "--text", '{"text": "refund", "n": 2}').out == "Billing\n"
    assert "or give an object of JSON, such as '{\"text\": ...}'" in (
        cli("explain", model, "refund").err
    )


def test_a_file_of_groups_is_hinted_at(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.txt").write_text("good great\n")
    told = cli("train", "a.csv", "--groups", "own.txt")
    assert told.code == 2
    assert "To read a file, pass --groups file --groups-path own.txt" in told.err


def test_a_table_where_every_row_is_in_another_encoding(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    path = write(tmp_path / "a.csv", rows_of(20))
    Path(path).write_bytes(Path(path).read_bytes().replace(b" f\xfcr", b" f\xfcr \xe4"))
    told = cli("check", path).err
    assert told.startswith(
        "Error: The text may be in cp1252: pass --encoding cp1252 if it is. 20 of 20 "
    )
    assert "In cp1252 all can be. This command reads the other rows: textreg check" in told
    with pytest.raises(DataError, match=r"20 of 20 rows \(100 %\)"):
        read_corpus(path)
    Path(path).write_bytes(Path(path).read_bytes().replace(b"price", b"gr\xf6\xdfe", 1))
    told = cli("train", path).err
    assert "This row should name the columns. The text may be in cp1252" in told
    assert told.endswith(f"textreg train {path} --encoding cp1252\n")
