"""``predict`` into tables: every row of the input comes out, with all its columns and an answer."""

from __future__ import annotations

import bz2
import csv
import errno
import gc
import gzip
import io
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hypothesis import example, given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.cli import main
from textreg.cli.tables import ENDINGS, Sheet
from textreg.files import csv_lines

TEXTS = ["good superb", "bad awful", "fine 好", "dull плохо"] * 5
OPTIONS: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "tokenizer": "words"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    kinds: dict[str, tuple[Sequence[Any], dict[str, Any]]] = {
        "two": (["pos", "neg"] * 10, {}),
        "four": (["a", "b", "c", "d"] * 5, {}),
        "several": ([["x", "y"], [], ["x"], ["y"]] * 5, {"task": "multilabel"}),
        "number": (["1.5", "0", "1", "-2"] * 5, {"task": "regression"}),
        "hinge": (["pos", "neg"] * 10, {"loss": "squared-hinge"}),
    }
    for name, (labels, more) in kinds.items():
        textreg.train(TEXTS, labels, **OPTIONS, **more).save(folder / name)
    return folder


@pytest.fixture
def messy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "messy.csv"
    path.write_text(
        "id,text,label,score,score\n"
        '1,"He said ""superb"",\nand left",pos,3,4\n'
        "2,好,,,\n"
        "3,superb\n"
        '4,"two\r\nlines, awful",neg,5,6\n'
    )
    return path


def read(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_every_row_comes_out_with_all_its_columns(cli: Cli, models: Path, messy: Path) -> None:
    result = cli("predict", models / "two", messy, "-o", "out.csv")
    assert result.code == 3
    assert result.out == "saved out.csv (4 rows)\n"
    warning, end = result.err.splitlines()
    assert warning == (
        "Warning: messy.csv:1: several columns have the same name; the further ones are called "
        "score.1."
    ).replace("messy.csv", str(messy))
    reason = "the number of columns is 2, and 5 in the first row."
    assert end == (
        "Error: 1 of 4 rows cannot be read; their answers are empty. The first is row 3, "
        f"{messy}:5: {reason}"
    )
    rows = read(Path("out.csv"))
    assert list(rows[0]) == ["id", "text", "label", "score", "score.1", "predicted", "reason"]
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[0]["text"] == 'He said "superb",\nand left'
    assert rows[3]["text"] == "two\r\nlines, awful"
    assert [row["score.1"] for row in rows] == ["4", "", "", "6"]
    assert [row["predicted"] for row in rows] == ["pos", "pos", "", "neg"]
    assert [row["reason"] for row in rows] == ["", "", reason, ""]
    assert [row["label"] for row in rows] == ["pos", "", "", "neg"]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_standard_output_has_the_same_rows(cli: Cli, models: Path, messy: Path, form: str) -> None:
    shown = cli("predict", models / "two", messy, "--format", form)
    assert shown.code == 3
    assert cli("predict", models / "two", messy, "-o", f"out.{form}").code == 3
    assert Path(f"out.{form}").read_bytes().decode() == shown.out


def test_probabilities_and_the_best_labels(cli: Cli, models: Path, messy: Path) -> None:
    model = textreg.load(models / "four")
    text = 'He said "superb",\nand left'
    scores = model.decision_function([text])
    (shares,) = model.probabilities(scores).tolist()
    options = ("--id-col", "id", "--proba")
    assert cli("predict", models / "four", messy, "-o", "a.csv", *options).code == 3
    row, *_, short, last = read(Path("a.csv"))
    assert list(row) == ["id", "predicted", *(f"proba_{one}" for one in "abcd"), "reason"]
    assert [float(row[f"proba_{one}"]) for one in "abcd"] == shares
    assert short == {**dict.fromkeys(row, ""), "id": "3", "reason": short["reason"]}
    assert last["id"] == "4"

    assert cli("predict", models / "four", messy, "-o", "b.csv", *options, "--top", "2").code == 3
    row, *_ = read(Path("b.csv"))
    names = ["top_1", "score_1", "proba_1", "top_2", "score_2", "proba_2"]
    assert list(row) == ["id", "predicted", *names, "reason"]
    order = sorted(range(4), key=lambda label: -scores[0, label])
    for place, label in enumerate(order[:2], 1):
        assert row[f"top_{place}"] == "abcd"[label]
        assert float(row[f"score_{place}"]) == scores[0, label]
        assert float(row[f"proba_{place}"]) == shares[label]
    assert row["predicted"] == row["top_1"]

    options = ("--id-col", "id", "--format", "jsonl", "--on-error", "skip", "--top", "9")
    first, *_, short, last = cli("predict", models / "four", messy, *options).out.splitlines()
    assert [one["label"] for one in json.loads(first)["top"]] == ["abcd"[it] for it in order]
    assert json.loads(short)["top"] is None
    header, *_ = cli("predict", models / "two", "--text", "superb", "--top", "2").out.splitlines()
    assert header == "label\ttop_1\tscore_1\ttop_2\tscore_2"


def test_the_best_label_is_the_predicted_one(models: Path) -> None:
    from textreg.cli.tables import Answers
    from textreg.reading.corpus import RecordBatch
    from textreg.records import Corpus

    rows = RecordBatch(Corpus(TEXTS[:4]), [{}] * 4, {})
    model = textreg.load(models / "two")
    for thresholds in ({}, {"pos": 1.0}, {"neg": 1.0}, {"pos": -1.0}):
        model.thresholds = thresholds
        (batch,) = Answers(model, proba=False, top=2).to([rows])
        assert batch.answers["top_1"] == model.predict(TEXTS[:4])
        assert batch.answers["score_1"] == [-score for score in batch.answers["score_2"]]


def test_lists_of_labels_and_numbers(cli: Cli, models: Path, messy: Path) -> None:
    options = ("--id-col", "id", "--label-sep", "|", "--on-error", "skip")
    lines = cli("predict", models / "several", messy, *options[2:]).out.splitlines()
    assert cli("predict", models / "several", messy, *options, "-o", "a.csv").code == 3
    rows = read(Path("a.csv"))
    assert [row["predicted"] for row in rows] == lines
    assert any("|" in line for line in lines)
    parsed = cli("predict", models / "several", messy, *options, "--format", "jsonl").out
    assert [json.loads(line)["predicted"] for line in parsed.splitlines()] == [
        None if line["reason"] else list(filter(None, line["predicted"].split("|")))
        for line in rows
    ]
    cli("predict", models / "number", messy, "-o", "b.csv")
    values = textreg.load(models / "number").predict(["好"])
    assert float(read(Path("b.csv"))[1]["predicted"]) == values[0]


def test_what_there_is_no_answer_to(cli: Cli, models: Path, messy: Path) -> None:
    assert "no labels to rank" in cli("predict", models / "number", messy, "--top", "2").err
    assert "no probabilities" in cli("predict", models / "hinge", messy, "--proba").err
    assert cli("predict", models / "hinge", "--text", "superb", "--top", "1").code == 0


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_columns_that_answers_have_too(
    cli: Cli, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert cli("predict", models / "two", "--text", "superb", "-o", "a.csv").code == 0
    refused = cli("predict", models / "four", "a.csv", "-o", f"b.{form}")
    assert refused.code == 2
    assert "the input has a column 'predicted'" in refused.err
    assert "--prefix" in refused.err
    assert os.listdir() == ["a.csv"]
    options = ("--prefix", "four_", "-o", f"b.{form}")
    assert cli("predict", models / "four", "a.csv", *options).code == 0
    if form == "csv":
        names = ["text", "predicted", "reason", "four_predicted", "four_reason"]
        assert list(read(Path("b.csv"))[0]) == names


def test_nothing_is_written_where_it_stops(cli: Cli, models: Path, messy: Path) -> None:
    target = Path("out.csv")
    target.write_text("before")
    stopped = cli("predict", models / "two", messy, "-o", target, "--on-error", "stop")
    assert stopped.code == 1
    assert stopped.err.endswith("No answer was written.\n")
    assert target.read_text() == "before"
    assert sorted(os.listdir()) == ["messy.csv", "out.csv"]
    packed = gzip.compress(b"text\nsuperb\n" * 5000)
    Path("cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    assert "ends too early" in cli("predict", models / "two", "cut.csv.gz", "-o", target).err
    assert target.read_text() == "before"


def test_another_encoding(
    cli: Cli, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["text", *(f"größer und schöner, Nr. {row}".replace(",", "") for row in range(20))]
    Path("a.csv").write_bytes("\n".join(lines).encode("cp1252"))
    nothing = cli("predict", models / "two", "a.csv", "-o", "b.csv")
    assert nothing.code == 1
    assert "20 of 20 rows cannot be read; their answers are empty. The first is" in nothing.err
    assert "pass --encoding cp1252 if it is" in nothing.err
    assert nothing.err.endswith("No file was written.\n")
    assert os.listdir() == ["a.csv"]
    Path("a.csv").write_bytes("\n".join([*lines, "superb"]).encode("cp1252"))
    some = cli("predict", models / "two", "a.csv", "-o", "b.csv")
    assert some.code == 3
    assert some.err.endswith("if it is, or save the file as UTF-8.\n")
    assert read(Path("b.csv"))[0]["text"] == "gr\\xf6\\xdfer und sch\\xf6ner Nr. 0"
    assert cli("predict", models / "two", "a.csv", "-o", "b.csv", "--encoding", "cp1252").code == 0
    assert [row["text"] for row in read(Path("b.csv"))] == [*lines[1:], "superb"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "a.docx"), "no format has the ending"),
        (("-o", "a"), "no format has the ending"),
        (("-o", "a.csv", "--format", "tsv"), "--format tsv does not fit the name a.csv"),
        (("--format", "parquet"), "name a file with -o FILE.parquet"),
        (("-o", "a.parquet.gz"), "leave out .gz"),
        (("-o", "no/a.csv"), "the folder no does not exist"),
        (("-o", "messy.csv"), "would overwrite an input file"),
        (("--id-col", "id"), "--id-col is for tables"),
        (("--prefix", "p_"), "--prefix is for tables"),
        (("--id-col", "ids", "-o", "a.csv"), "no column 'ids'. Did you mean 'id'?"),
        (("--text", "a"), "leave out one of them"),
        (("--json", "-o", "a.jsonl"), "use --format jsonl"),
        (("--top", "0"), "not in the range"),
    ],
)
def test_options_that_cannot_be(
    cli: Cli, models: Path, messy: Path, options: tuple[str, ...], words: str
) -> None:
    result = cli("predict", models / "two", "messy.csv", *options)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert os.listdir() == ["messy.csv"]


def test_texts_of_the_command_line(cli: Cli, models: Path) -> None:
    texts = ("--text", "superb", "--text", "awful,\nbad")
    assert cli("predict", models / "two", *texts) == (0, "pos\nneg\n", "")
    shown = cli("predict", models / "two", *texts, "--format", "csv").out
    assert list(csv.reader(io.StringIO(shown))) == [
        ["text", "predicted", "reason"],
        ["superb", "pos", ""],
        ["awful,\nbad", "neg", ""],
    ]
    assert "--text is empty" in cli("predict", models / "two", "--text", "").err


@pytest.mark.parametrize(
    ("ending", "unpack"),
    [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)],
)
def test_compressed_by_the_name(
    cli: Cli, models: Path, messy: Path, ending: str, unpack: Any
) -> None:
    plain = cli("predict", models / "two", messy, "--format", "csv").out
    cli("predict", models / "two", messy, "-o", f"a.csv{ending}")
    data = Path(f"a.csv{ending}").read_bytes()
    assert unpack(data).decode() == plain
    cli("predict", models / "two", messy, "-o", f"a.csv{ending}")
    assert Path(f"a.csv{ending}").read_bytes() == data
    again = cli("predict", models / "two", f"a.csv{ending}", "--format", "csv", "--id-col", "id")
    assert again.out.splitlines()[1:3] == ["1,pos,", "2,pos,"]


def test_records_with_keys_of_their_own(
    cli: Cli, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records: list[dict[str, Any]] = [{"text": "superb", "n": 1}] * 1500
    records[3] = {"n": None, "text": "awful", "tags": ["a", 2], "bad": "\ud800"}
    Path("a.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert cli("predict", models / "two", "a.jsonl", "-o", "a.csv").code == 0
    rows = read(Path("a.csv"))
    assert list(rows[0]) == ["text", "n", "tags", "bad", "predicted", "reason"]
    assert rows[3] == {
        "text": "awful",
        "n": "",
        "tags": '["a", 2]',
        "bad": "\\ud800",
        "predicted": "neg",
        "reason": "",
    }
    records[1200] = {"text": "superb", "late": 1}
    Path("a.jsonl").write_text("\n".join(map(json.dumps, records)))
    late = cli("predict", models / "two", "a.jsonl", "-o", "b.csv")
    assert late.code == 1
    assert "row 1,201: the column 'late' is not in the first 1,000 rows" in late.err
    assert not Path("b.csv").exists()
    if find_spec("openpyxl") is not None:  # whose rows wait in a file of their own
        told: list[Any] = []
        monkeypatch.setattr(sys, "unraisablehook", told.append)
        assert cli("predict", models / "two", "a.jsonl", "-o", "b.xlsx").err == late.err
        gc.collect()
        assert told == []
    assert cli("predict", models / "two", "a.jsonl", "-o", "b.jsonl").code == 0
    lines = Path("b.jsonl").read_text().splitlines()
    assert json.loads(lines[1200]) == {"text": "superb", "late": 1, "predicted": "pos"}
    assert json.loads(lines[3])["bad"] == "\ud800"
    assert cli("predict", models / "two", "a.jsonl", "-o", "b.csv", "--id-col", "n").code == 0


class FullDisk(io.BytesIO):
    """A file that takes nothing."""

    def write(self, _: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_workbook_that_finds_no_space_prints_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl")
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    sheet = Sheet()
    sheet.add([["a"]])
    with FullDisk() as out, pytest.raises(OSError, match="No space left"):
        sheet.save(out)
    waiting = Sheet()  # nor where its rows wait
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="nowhere"):
        waiting.add([["a"]])
    del sheet, out, waiting
    gc.collect()
    assert told == []


def test_members_that_are_not_asked_for_may_be_in_the_input(
    cli: Cli, models: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "superb", "top": 3, "proba": 1}\n')
    answered = cli("predict", models / "two", path, "--format", "jsonl")
    assert json.loads(answered.out) == json.loads(path.read_text()) | {"predicted": "pos"}
    for option in ("--proba", "--top=1"):
        refused = cli("predict", models / "two", path, "--format", "jsonl", option)
        assert f"the input has a column '{option[2:7].split('=')[0]}'" in refused.err


@pytest.mark.parametrize("read", ["*.csv", "**/messy.csv", ".."])
def test_what_a_pattern_or_a_folder_reads_is_not_overwritten(
    cli: Cli, models: Path, messy: Path, read: str
) -> None:
    before = messy.read_bytes()
    refused = cli("predict", models / "two", read, "-o", "messy.csv")
    assert (refused.code, messy.read_bytes()) == (2, before)
    assert "-o messy.csv would overwrite an input file" in refused.err


def test_documents_without_columns(
    cli: Cli, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in (("d/pos/1.txt", b"superb"), ("d/neg/2.txt", b"\xff"), ("d/3.txt", b"bad")):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    assert cli("predict", models / "two", "d", "-o", "a.csv").code == 3
    rows = [(row["file"], row["text"], row["predicted"]) for row in read(Path("a.csv"))]
    assert rows == [
        ("d/3.txt", "bad", "neg"),
        ("d/neg/2.txt", "", ""),
        ("d/pos/1.txt", "superb", "pos"),
    ]
    Path("b").write_text("__label__x __label__y superb\nawful\n")
    lines = cli("predict", models / "two", "b", "--format", "jsonl").out.splitlines()
    assert json.loads(lines[0]) == {"label": "x y", "text": "superb", "predicted": "pos"}


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@draws(30)
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4), form=st.sampled_from("ct"))
@example(rows=[("", "\r0")], form="c")
def test_cells_come_out_as_they_went_in(models: Path, rows: Any, form: str) -> None:
    ending, delimiter = {"c": ("csv", ","), "t": ("tsv", "\t")}[form]
    source, target = models / f"in.{ending}", models / f"out.{ending}"
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows(
            [("text", "x"), *rows]
        )
    assert main(["predict", str(models / "two"), str(source), "-o", str(target)]) == 0
    with target.open(newline="", encoding="utf-8") as file:
        assert [
            (row["text"], row["x"]) for row in csv.DictReader(file, delimiter=delimiter)
        ] == rows


def test_every_format_has_an_ending() -> None:
    (option,) = [
        param
        for param in __import__("textreg.cli.predict").cli.predict.command.params
        if param.name == "form"
    ]
    assert set(option.type.choices) == set(ENDINGS)


def test_zero_bytes_and_quotes_in_csv() -> None:
    """The same with every Python, of which 3.10 refuses to write a zero byte."""
    rows = [["a\0b", 'c"d', "e,f", "\ufdd0", 1.5, None], ["", "g\nh", "\ufdd1\0"]]
    assert csv_lines(rows) == ['a\0b,"c""d","e,f",\ufdd0,1.5,\n', ',"g\nh",\ufdd1\0\n']
    assert csv_lines(iter(rows), "\t", "\r\n")[1] == '\t"g\nh"\t\ufdd1\0\r\n'
    assert csv_lines([]) == []
