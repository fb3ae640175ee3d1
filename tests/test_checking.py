"""Checks of corpora: every finding is found in a messy table, and only where it is."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.checking import CheckResult, CheckSettings
from textreg.checking.documents import KINDS
from textreg.errors import DataError, UsageError
from textreg.records import Corpus

CLEAN = [
    (f"{'The parcel' if at % 2 else 'My bill'} number {at * at} {what}", ("bill", "post")[at % 2])
    for at, what in enumerate(["came late", "is wrong", "was lost", "never arrived"] * 6)
]
ODD = [
    ("My account is locked", "bill"),
    ("My  account is locked", "post"),
    ("My account is locked ", "bill"),
    ("", "bill"),
    ("help", "bill"),
    ("n/a ", "bill"),
    ("?!", "post"),
    ("<p>Where is it &amp; when", "post"),
    ("Das Paket fÃ¼r MÃ¼ller ist da", "post"),
    ("Caf\N{REPLACEMENT CHARACTER} order is lost", "post"),
    ("A bell \x07 in the text", "bill"),
    (r"A \u00e9 in the text", "bill"),
    ("账户被锁定了。", "post"),
    ("Where was it, and where is it now", "Post "),
    ("word " * 1500, "post"),
]
LATIN = "y1,caf\xe9 lost,post\r\ny2,too few\r\ny3,no label,\r\n".encode("latin-1")


def table(path: Path, rows: list[tuple[str, str]], more: bytes = b"") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "label"])
        writer.writerows([f"x{at}", *row] for at, row in enumerate(rows))
    path.write_bytes(path.read_bytes() + more)
    return path


SOME = ("--max-skipped", "10%")  # more cannot be read than check takes


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    return table(tmp_path / "messy.csv", [*CLEAN, *ODD], LATIN)


@pytest.fixture
def found(cli: Cli, messy: Path) -> dict[str, dict[str, object]]:
    test = table(messy.parent / "test.csv", [*CLEAN[:3], ("brand new text", "return")])
    result = cli("check", messy, *SOME, "--against", test, "--json")
    assert (result.code, result.err) == (0, "")
    return {one["name"]: one for one in json.loads(result.out)["findings"]}


def names(result: CheckResult) -> set[str]:
    return {finding.name for finding in result.findings}


def test_a_clean_corpus_has_no_finding() -> None:
    texts, labels = zip(*CLEAN, strict=True)
    result = textreg.check(texts, labels, skip=["near-duplicates"])
    assert names(result) == set()
    assert result.labels == (("bill", 12), ("post", 12))
    assert result.scripts == (("Latin", 24),)
    assert repr(result) == "<CheckResult: 24 documents; nothing found>"


@pytest.mark.parametrize(
    ("name", "count", "shown"),
    [
        ("unreadable-rows", 3, "byte 7 of line"),
        ("empty-texts", 2, "messy.csv:29"),
        ("one-word-texts", 2, "help"),
        ("long-texts", 1, "1,500 words"),
        ("markup", 1, "holds <p>"),
        ("encoding", 4, "mojibake"),
        ("scripts", 1, "Han"),
        ("duplicates", 1, "also"),
        ("conflicting-labels", 3, "messy.csv:27 (post)"),
        ("overlap", 3, "is "),
        ("similar-labels", 2, "label Post"),
        ("rare-labels", 1, "label Post"),
        ("labels-of-one-file", 2, "brand new text"),
    ],
)
def test_what_is_wrong_with_the_messy_table(
    found: dict[str, dict[str, object]], name: str, count: int, shown: str
) -> None:
    assert name in found
    assert found[name]["count"] == count
    assert shown in json.dumps(found[name]["examples"], ensure_ascii=False)
    assert str(found[name]["advice"]).endswith(".")
    assert name in KINDS


@pytest.mark.parametrize("most", [0, 1, 2])
def test_as_many_examples_as_are_asked_for(cli: Cli, messy: Path, most: int) -> None:
    result = cli("check", messy, *SOME, "--examples", most, "--json")
    shown = {one["name"]: len(one["examples"]) for one in json.loads(result.out)["findings"]}
    assert (shown["unreadable-rows"], shown["empty-texts"]) == (most, most)
    assert max(shown.values()) == most


def test_for_people_the_worst_comes_first(cli: Cli, messy: Path) -> None:
    result = cli("check", messy, *SOME, "--examples", "1")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{messy}: 39 documents; format = csv, text = text (guessed)")
    levels = re.findall(r"^[\w-]+ \((\w+)\), ", result.out, re.MULTILINE)
    assert len(levels) > 9
    assert levels == sorted(levels, key=["error", "warning", "note"].index)
    assert "unreadable-rows (error), 3 of 42 rows (7.1 %): not readable: 1 not valid" in result.out
    assert "Save the file as UTF-8, or name its encoding with --encoding" in result.out
    assert "overlap, " in result.out.split("not looked for")[1]


def test_cut_texts() -> None:
    texts = [f"{'word ' * 20}{number}"[:80] for number in range(9)]
    finding = textreg.check(texts, list("ababababa")).find("cut-texts")
    assert finding is not None
    assert finding.what.startswith("exactly 80 characters")


def test_one_label_for_all_and_labels_that_are_ids() -> None:
    texts = [f"text number {number}" for number in range(30)]
    assert "single-label" in names(textreg.check(texts, ["a"] * 30))
    ids = textreg.check(texts, [f"id-{number}" for number in range(30)])
    assert "look like ids" in str(ids.find("label-column") and ids.find("label-column").advice)
    several = textreg.check(texts, ["a;b", "a", "b"] * 10).find("label-column")
    assert several is not None
    assert "--label-sep ';'" in several.advice


def test_labels_that_stand_for_a_missing_one() -> None:
    texts = [f"text number {number}" for number in range(24)]
    finding = textreg.check(texts, ["a", "b", "nan", "N/A"] * 6).find("missing-labels")
    assert finding is not None
    assert (finding.count, finding.total) == (12, 24)
    assert finding.what.endswith("'N/A' 6, 'nan' 6")


def test_imbalance() -> None:
    texts = [f"text number {number}" for number in range(410)]
    finding = textreg.check(texts, ["a"] * 400 + ["b"] * 10).find("imbalance")
    assert finding is not None
    assert finding.what == "the label 'a', 40 times as many as 'b' (10)"


def test_several_labels_in_another_order_are_no_conflict() -> None:
    texts = ["one text", "one text", "one text"]
    labels = [["a", "b"], ["b", "a"], ["a"]]
    result = textreg.check(texts, labels)
    duplicates, conflicts = result.find("duplicates"), result.find("conflicting-labels")
    assert duplicates is not None
    assert conflicts is not None
    assert (duplicates.count, conflicts.count) == (1, 3)
    assert dict(result.labels) == {"a": 3, "b": 2}


def test_numbers_are_no_classes(cli: Cli, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", [(f"text {at}", str(at / 7)) for at in range(30)])
    result = json.loads(cli("check", path, "--task", "regression", "--json").out)
    assert result["labels"] == {}
    assert {"name": "rare-labels", "why": "the labels are numbers"} in result["unchecked"]
    assert "label-column" not in [one["name"] for one in result["findings"]]
    texts = ["a text", "another", "a third"]
    wrong = textreg.check(texts, ["1", "2.5", "many"], task="regression").find("label-column")
    assert wrong is not None
    assert (wrong.count, wrong.examples[0].where) == (1, "document 3")


def test_texts_alone(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("one text\none  text\nanother\n")
    result = cli("check", path, "--no-labels")
    assert (result.code, result.err) == (0, "")
    assert "duplicates (warning), 1 of 3 documents (33 %)" in result.out
    assert "conflicting-labels, " in result.out
    assert "the documents have no labels" in result.out


def test_several_columns_of_text_are_one_text(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mails.csv"
    path.write_text(
        "subject,body,price,label\nhello,my parcel,1,a\nhello,my bill,2,b\nhello,my parcel,x,a\n"
        "hello,my parcel,3,b\n"
    )
    columns = ("--text-col", "subject", "--text-col", "body")
    result = json.loads(cli("check", path, *columns, "--examples", "1", "--json").out)
    found = {one["name"]: one for one in result["findings"]}
    assert found["conflicting-labels"]["count"] == 3
    assert found["conflicting-labels"]["examples"][0]["text"] == "hello my parcel"
    wrong = json.loads(
        cli("check", path, "--max-skipped", "1", *columns, "--number-col", "price", "--json").out
    )
    assert "'price' is not a number" in json.dumps(wrong["findings"])


def test_exit_codes_for_continuous_integration(cli: Cli, messy: Path) -> None:
    assert cli("check", messy, *SOME, "--fail-on", "markup").code == 1
    assert cli("check", messy, *SOME, "--fail-on", "any").code == 1
    assert cli("check", messy, *SOME, "--fail-on", "overlap").code == 0
    assert cli("check", messy, *SOME, "--fail-on", "markup", "--skip", "markup").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--skip", "duplicate"], "no finding is called 'duplicate'. Did you mean 'duplicates'?"),
        (["--fail-on", "marckup"], "no finding is called 'marckup'. Did you mean 'markup'?"),
        (["--similarity", "0.2"], "similarity must be at least 0.5"),
        (["--examples", "-1"], "examples must be at least 0"),
        (["--task", "ranking"], "'ranking' is not one of"),
        (["--no-labels", "--label-col", "label"], "leave out --label-col"),
        (["--label-col", "labels2"], "no column 'labels2'. Did you mean 'label'?"),
        (["--against", "nothing.csv"], "nothing.csv: no such file"),
        (["--against", "messy.csv"], "--against messy.csv is checked itself"),
        (["--encoding", "utf-9"], "no text encoding is called 'utf-9'"),
    ],
)
def test_wrong_input(
    cli: Cli, messy: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(messy.parent)
    result = cli("check", "messy.csv", *SOME, *options)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_files_without_labels_are_told_how_to_be_checked(cli: Cli, tmp_path: Path) -> None:
    for name, content in {
        "t.txt": "a\n",
        "s.csv": "text,stars\na,5\n",
        "n.csv": "text,label\na,\n",
    }.items():
        (tmp_path / name).write_text(content)
        result = cli("check", tmp_path / name)
        assert result.code == 1
        assert result.err.endswith("To check texts without labels, pass --no-labels.\n")
        assert cli("check", tmp_path / name, "--no-labels").code == 0


def test_wrong_input_in_python() -> None:
    with pytest.raises(UsageError, match="leave out labels"):
        textreg.check(Corpus(["a"], ["b"]), ["b"])
    with pytest.raises(UsageError, match="these documents are tokens"):
        textreg.check([["a", "b"]], ["b"])
    with pytest.raises(DataError, match="1 texts but 2 labels"):
        textreg.check(["a"], ["b", "c"])
    with pytest.raises(UsageError, match="no finding is called 'x'"):
        CheckSettings(skip="x")
    with pytest.raises(UsageError, match=r"against must be a Corpus, or the pair .* not list"):
        textreg.check(["a"], ["b"], against=["c"])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="jobs must be 1 or more"):
        textreg.check(["a"], ["b"], jobs=0)


def test_columns_of_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    texts, labels = zip(*CLEAN, strict=True)
    frame = pandas.DataFrame({"text": texts, "label": labels, "code": labels}, index=range(7, 31))
    result = textreg.check(frame["text"], frame["label"], columns=frame[["code"]])
    assert "giveaway-columns" in names(result)
    assert result.labels == (("bill", 12), ("post", 12))


TEXTS = st.lists(st.sampled_from(["a b", "a  b", "a b c", "c", "", "É", "E\u0301"]), max_size=12)


@draws(30)
@given(TEXTS, TEXTS, st.randoms())
def test_identical_texts_are_always_found(one: list[str], two: list[str], random) -> None:  # type: ignore[no-untyped-def]
    """Whatever the order of rows: the sum of repeated and conflicting ones is that of a set."""

    def count(result: CheckResult, name: str) -> int:
        finding = result.find(name)
        return 0 if finding is None else finding.count

    result = textreg.check(one, against=Corpus(two))
    seen = [" ".join(text.split()).replace("E\u0301", "É") for text in one if text]
    assert count(result, "duplicates") == len(seen) - len(set(seen))
    other = [" ".join(text.split()).replace("E\u0301", "É") for text in two if text]
    assert count(result, "overlap") == sum(text in seen for text in other)
    random.shuffle(one)
    again = textreg.check(one, against=Corpus(two))
    assert [(it.name, it.count) for it in again.findings] == [
        (it.name, it.count) for it in result.findings
    ]
