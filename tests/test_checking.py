"""Checks of corpora: every finding is found in a messy table, and only where it is."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.checking import CheckResult, CheckSettings
from textreg.checking import documents as documents_module
from textreg.checking.copies import copy_findings, overlap, same_texts
from textreg.checking.corrections import corrected
from textreg.checking.documents import (
    KINDS,
    Documents,
    Finding,
    is_missing,
    lengths_of,
    opening,
    rare_scripts,
    text_findings,
)
from textreg.checking.labels import count_labels, label_findings, labels_of_one
from textreg.errors import DataError, UsageError
from textreg.reading.corpus import Readable
from textreg.records import Corpus
from textreg.records.documents import Field

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


def test_labels_that_are_there_are_not_looked_at_without_labels(cli: Cli, tmp_path: Path) -> None:
    path, fixed = tmp_path / "labeled.csv", tmp_path / "fixed.csv"
    rows = ["one text,good", "another text,bad", "a third,good", "a fourth,Good"]
    path.write_text("\n".join(["text,label", *rows, ""]))
    result = json.loads(cli("check", path, "--json").out)
    assert result["labels"] == {"good": 2, "bad": 1, "Good": 1}
    assert "similar-labels" in {finding["name"] for finding in result["findings"]}
    result = json.loads(cli("check", path, "--no-labels", "--fix", fixed, "--json").out)
    assert (result["labels"], result["findings"]) == ({}, [])
    assert fixed.read_text().splitlines()[1:] == rows


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
        (["--against", "messy.csv"], "messy.csv is named twice, so its documents"),
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


@pytest.mark.parametrize("given", [5, ["a"], (["a"], ["b"], [1.0])])
def test_what_is_no_pair_of_texts_and_labels(given: Any) -> None:
    texts, labels = zip(*CLEAN, strict=True)
    told = rf"must be a Corpus, or the pair \(texts, labels\).* not {type(given).__name__}"
    with pytest.raises(UsageError, match=f"dev {told}"):
        textreg.train(texts, labels, dev=given)
    model = textreg.train(texts, labels, reg="ridge", reg_l2=1.0)
    with pytest.raises(UsageError, match=f"old {told}"):
        textreg.update(model, texts, labels, old=given)
    with pytest.raises(UsageError, match=f"against {told}"):
        textreg.check(texts, labels, against=given)


def test_columns_of_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    texts, labels = zip(*CLEAN, strict=True)
    frame = pandas.DataFrame({"text": texts, "label": labels, "code": labels}, index=range(7, 31))
    result = textreg.check(frame["text"], frame["label"], columns=frame[["code"]])
    assert "giveaway-columns" in names(result)
    assert result.labels == (("bill", 12), ("post", 12))
    with pytest.raises(UsageError, match="columns must be a mapping of names to columns, not"):
        textreg.check(texts, labels, columns=["code"])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a list of code, got 3"):
        textreg.check(texts, labels, columns={"code": 3})  # type: ignore[dict-item]


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


def documents(texts: list[str], labels: list[Any] | None = None, **settings: Any) -> Documents:
    return Documents(Corpus(texts, labels), CheckSettings(**settings))


def of_lengths(words: list[int]) -> Documents:
    return documents([" ".join(["word"] * count) for count in words])


def test_how_texts_are_shown() -> None:
    assert opening(" a\n\nb ") == "a b"
    assert opening("x" * 80) == "x" * 80
    assert opening("x" * 81) == "x" * 77 + "..."
    assert opening(f"a{' ' * 318}b") == "a b"
    assert opening(f"a{' ' * 320}b") == "a..."  # a blank for all that follows
    assert [is_missing(text) for text in (" N/A\n", "NaN", "", "nana")] == [True, True, True, False]
    assert is_missing(" " * 999)
    assert not is_missing(" " * 1000)


def test_how_long_documents_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lengths_of(of_lengths([3, 1, 2, 10, 9, 8, 4, 5, 6, 7])) == (1, 5, 9, 10)
    assert lengths_of(of_lengths(list(range(11)))) == (0, 5, 9, 10)
    assert lengths_of(of_lengths([7])) == (7, 7, 7, 7)
    assert lengths_of(documents([])) == (0, 0, 0, 0)

    def far(words: list[int]) -> list[str]:
        (finding,) = (it for it in text_findings(of_lengths(words)) if it.name == "long-texts")
        assert finding.count == len(finding.examples)
        median = finding.details["median"]
        assert finding.what == f"far longer than the median document, of {median:,} words"
        return [f"{one.where}: {one.detail}" for one in finding.examples]

    monkeypatch.setattr(documents_module, "FAR", 3)
    monkeypatch.setattr(documents_module, "LONG", 9)
    assert far([3, 3, 3, 9, 10, 1200]) == ["document 6: 1,200 words", "document 5: 10 words"]
    assert far([0, 0, 0, 9, 8]) == ["document 4: 9 words"]


def test_texts_that_end_alike() -> None:
    def cut(sizes: list[int]) -> Finding:
        texts = ["x" * (size - 20) + "y" * 20 for size in sizes]
        return next(it for it in text_findings(documents(texts)) if it.name == "cut-texts")

    found = cut([50] * 5 + [49] * 3)
    assert (found.count, found.total, found.details) == (5, 8, {"characters": 50})
    assert found.what == "exactly 50 characters, and none has more"
    assert found.examples[0].detail == "ends ..." + "y" * 20
    assert cut([50] * 4 + [49] * 9).count == 0
    assert cut([49] * 9).count == 0
    # Of many documents five are too few: one of 200 is the least.
    assert [cut([60] * some + [30] * (1200 - some)).count for some in (5, 6)] == [0, 6]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("abc", "Latin"),
        ("123 ?!", ""),
        ("…–", ""),
        ("é1", "Latin"),
        ("аб c", "Cyrillic"),
        ("аc", "Cyrillic"),  # of two with as many letters the first by its name
        ("漢字かな漢字", "kana"),
        ("漢字", "Han"),
        ("ﾊﾛ", "kana"),
        ("Ａｂ", "Latin"),
        ("ꓐꓑ", "other"),
    ],
)
def test_scripts(text: str, script: str) -> None:
    some = documents([text])
    assert some.scripts == [script]
    assert dict(some.script_counts) == ({script: 1} if script else {})


def test_scripts_that_are_rare() -> None:
    def rare(latin: int) -> Finding:
        some = documents([*["abc"] * latin, "αβγ", "абв", "12"], examples=5)
        return rare_scripts(some)

    assert rare(38).count == 2  # 1 of 40, of those with letters
    assert rare(18).count == 0  # 1 of 20
    found = rare(19)
    assert found.what == "in a script that few others are in: Cyrillic 1, Greek 1"
    assert found.details == {"scripts": (("Cyrillic", 1), ("Greek", 1))}
    assert [(one.where, one.detail) for one in found.examples] == [
        *(("document 20", "Greek"), ("document 21", "Cyrillic"))
    ]


def test_signs_of_a_wrong_encoding() -> None:
    texts = [
        "fine: C:\\new and \\d",
        "twenty letters here \N{REPLACEMENT CHARACTER} and as many after",
        "a\x07b",
        "fÃ¼r",
        "a\x08\N{REPLACEMENT CHARACTER}",
        "line\\n",
        "\\u00e9",
    ]
    found = next(it for it in text_findings(documents(texts, examples=9)) if it.name == "encoding")
    assert [f"{one.where[9:]} {one.detail}" for one in found.examples] == [
        "2 replacement character: y letters here \N{REPLACEMENT CHARACTER} and as many a",
        "3 control character: a\x07b",
        "4 mojibake: fÃ¼r",
        "5 replacement character: a\x08\N{REPLACEMENT CHARACTER}",
        "6 escape sequence: line\\n",
        "7 escape sequence: \\u00e9",
    ]
    assert found.what == (
        "signs of a wrong encoding: replacement character 2, escape sequence 2, "
        "control character 1, mojibake 1"
    )


NEAR = ["near-duplicates", "near-overlap"]


def of_labels(counts: dict[str, int], **settings: Any) -> dict[str, Finding]:
    labels = [label for label, count in counts.items() for _ in range(count)]
    some = documents([f"text {row}" for row in range(len(labels))], labels, **settings)
    return {it.name: it for it in label_findings(some, count_labels(some.corpus)) if it.count}


def test_numbers_of_labels() -> None:
    assert of_labels({"north": 199, "south": 10}) == {}
    found = of_labels({"north": 200, "east": 30, "south": 10})["imbalance"]
    assert (found.count, found.total) == (200, 240)
    assert found.what == "the label 'north', 20 times as many as 'south' (10)"
    assert found.details == {"largest": ("north", 200), "smallest": ("south", 10)}
    # Labels that are rare do not count, and those with the fewest documents are shown first.
    rare = of_labels({"north": 200, "south": 9, "east": 1, "west": 9})
    assert list(rare) == ["rare-labels"]
    found = rare["rare-labels"]
    assert (found.count, found.total) == (3, 4)
    assert found.what == "fewer than 10 documents: 'south' 9, 'west' 9, 'east' 1"
    assert [(one.where, one.detail) for one in found.examples] == [
        ("document 210", "label east"),
        ("document 211", "label west"),
        ("document 201", "label south"),
    ]
    alike = of_labels({"north": 30, "North": 20, "south": 20, "south ": 10, "east": 10})
    found = alike["similar-labels"]
    assert (found.count, found.total) == (4, 5)
    assert found.details == {"groups": (("north", "North"), ("south", "south "))}
    assert [one.detail for one in found.examples] == ["label North", "label south "]


def test_labels_of_one_of_two() -> None:
    one = documents(["a", "b", "c", "d"], ["x", "y", "y", "z"])
    two = documents(["e", "f", "g", "h"], ["z", "w", "v", "w"])
    found = labels_of_one(one, two)
    assert (found.count, found.total) == (4, 5)
    assert found.what == (
        "in one of the two files; only in the first file: 'y', 'x'; only in the second: 'w', 'v'"
    )
    assert found.details == {"first": ("y", "x"), "second": ("w", "v")}
    assert [it.text for it in found.examples] == ["f", "g"]
    found = labels_of_one(one, documents(["e"], ["z"]))
    assert found.what == "in one of the two files; only in the first file: 'y', 'x'"
    assert [it.text for it in found.examples] == ["b", "a"]


def test_the_worst_comes_first_and_what_was_not_looked_for() -> None:
    texts = ["<b>one</b> text", "N/A", "one", "<i>more</i> of it", "a text", "a  text"]
    result = textreg.check(texts, list("ababab"), skip=["rare-labels", *NEAR])
    assert [(it.name, it.level, it.count, it.total) for it in result.findings] == [
        ("conflicting-labels", "error", 2, 6),
        ("markup", "warning", 2, 6),
        ("empty-texts", "warning", 1, 6),
        ("one-word-texts", "note", 1, 6),
    ]
    assert [tuple(it) for it in result.unchecked] == [
        ("near-duplicates", "left out (--skip)"),
        ("near-overlap", "left out (--skip)"),
        ("rare-labels", "left out (--skip)"),
        ("labels-of-one-file", "there is no second file (--against FILE)"),
        ("overlap", "there is no second file (--against FILE)"),
        ("giveaway-columns", "there are no further columns"),
        ("suspected-labels", "fewer than two labels have 5 different texts"),
    ]
    numbers = textreg.check(texts, [1, 2, 3, "x", 5, float("inf")], task="regression", skip=NEAR)
    assert numbers.labels == ()
    wrong = numbers.find("label-column")
    assert wrong is not None
    assert [one.where for one in wrong.examples] == ["document 4", "document 6"]
    assert wrong.advice == (
        "A regression needs a finite number for every document: correct them, or leave out --task "
        "regression."
    )
    assert {it.name for it in numbers.unchecked if it.why == "the labels are numbers"} == {
        *("imbalance", "labels-of-one-file", "missing-labels", "rare-labels", "similar-labels"),
        *("single-label", "suspected-labels"),
    }


def test_copies_with_the_same_label_and_with_others() -> None:
    texts = ["a b", "c", "a  b", "a b", "c", "d e", "d e", "n/a", "n/a", "d e", "c"]
    labels = ["x", "x", "y", "x", "x", "y", "y", "x", "x", "y", "x"]
    some = documents(texts, labels)
    same, conflicts = copy_findings(some, same_texts(texts))
    assert (same.count, same.total, same.details) == (5, 11, {"texts": 3})
    assert same.what == "text and label of an earlier document; different texts: 3"
    assert [(it.where, it.detail) for it in same.examples] == [
        ("document 2", "label x, also document 5 (x), document 11 (x)"),
        ("document 6", "label y, also document 7 (y), document 10 (y)"),
        ("document 1", "label x, also document 4 (x)"),
    ]
    assert (conflicts.count, conflicts.details) == (3, {"texts": 1})
    assert [it.detail for it in conflicts.examples] == ["label x, also document 3 (y)"]
    other = documents(["new", "a b", "c ", "d e", "n/a"], ["x", "z", "x", "x", "x"])
    found = overlap(some, same_texts(texts), other)
    assert (found.count, found.total, found.details) == (3, 5, {"conflicting": 2})
    assert found.what == "the text of a document of the first; with another label there: 2"
    assert [(it.where, it.detail) for it in found.examples] == [
        ("document 2", "is document 1 (x), document 3 (y), document 4 (x)"),
        ("document 3", "is document 2 (x), document 5 (x), document 11 (x)"),
        ("document 4", "is document 6 (y), document 7 (y), document 10 (y)"),
    ]


@pytest.mark.parametrize("label_sep", [None, ";"])
def test_what_is_set_right(label_sep: str | None) -> None:
    rows = [
        ("a text", "north"),
        (" a text\n", "North"),
        ("two", "south "),
        (" ", "south"),
        ("two", "north"),
        ("three", "south"),
        ("four", "north"),
        ("three", "south"),
    ]
    texts, labels = map(list, zip(*rows, strict=True))
    records = [{"id": at, "body": text, "label": it} for at, (text, it) in enumerate(rows)]
    several = label_sep is not None
    if several:
        labels = [[it, "x"] for it in labels]
        records = [{**it, "label": f"{it['label']};x"} for it in records]
    corpus = Corpus(texts, labels, column_names={"text": "body"})
    found: Any = corrected(Readable(corpus, {}, records, ""), label_sep)
    left, changes, label_map = found
    assert label_map == {"North": "north", "south ": "south"}
    end = ";x" if several else ""
    assert left == [
        {"id": 0, "body": "a text", "label": f"north{end}"},
        {"id": 2, "body": "two", "label": f"south{end}"},
        {"id": 4, "body": "two", "label": f"north{end}"},
        {"id": 5, "body": "three", "label": f"south{end}"},
        {"id": 6, "body": "four", "label": f"north{end}"},
    ]
    assert changes == [
        ("document 2", "row left out", "the same as document 1", ""),
        ("document 3", "label", f"south {end}", f"south{end}"),
        ("document 4", "row left out", "the text is empty", ""),
        ("document 8", "row left out", "the same as document 6", ""),
    ]


def test_blanks_are_set_right_without_labels() -> None:
    records = [{"text": " a\n"}, {"text": "b"}, {"text": 5}, {"text": "a"}]
    found: Any = corrected(Readable(Corpus([" a\n", "b", "5", "a"]), {}, records, ""))
    assert found == (
        [{"text": "a"}, {"text": "b"}, {"text": 5}],
        [
            ("document 1", "blanks", " a\n", "a"),
            ("document 4", "row left out", "the same as document 1", ""),
        ],
        {},
    )


def test_a_table_set_right_has_no_copies_that_a_check_would_find(cli: Cli, tmp_path: Path) -> None:
    path, clean = tmp_path / "a.jsonl", tmp_path / "clean.jsonl"
    rows = [("It broke.", ["x", "y"]), ("It  broke.", ["y", "x"]), ("caf\u00e9", ["y"])]
    rows += [("cafe\u0301", ["y"]), ("café", ["x"]), ("new", ["X", "y"])]
    lines = (json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows)
    path.write_text("".join(lines), "utf-8")
    assert cli("check", path, "--fix", clean).code == 0
    left = [json.loads(line) for line in clean.read_text("utf-8").splitlines()]
    assert [row["labels"] for row in left] == [["x", "y"], ["y"], ["x"], ["x", "y"]]
    log = list(csv.reader((tmp_path / "clean.changes.csv").read_text("utf-8").splitlines()))
    assert [change[1] for change in log[1:]] == ["row left out", "row left out", "label"]
    assert log[3][2:] == ["['X', 'y']", "['x', 'y']"]
    findings = json.loads(cli("check", clean, "--json").out)["findings"]
    assert "duplicates" not in {finding["name"] for finding in findings}


def test_a_table_is_set_right_for_its_task(cli: Cli, tmp_path: Path) -> None:
    numbers, fixed = tmp_path / "numbers.csv", tmp_path / "fixed.csv"
    rows = ["one two,5", "three four,5", "five six,.5"]
    numbers.write_text("\n".join(["text,score", *rows]) + "\n")
    columns = ("--label-col", "score", "--task", "regression")
    done = cli("check", numbers, *columns, "--fix", fixed)
    assert fixed.read_text().splitlines()[1:] == rows  # .5 is no other spelling of 5
    assert f"next: textreg train {fixed} {' '.join(columns)}" in done.out
    lines = tmp_path / "lines.txt"
    lines.write_text("__label__x __label__y one\n two\n__label__y three\n")
    assert cli("check", lines, "--task", "multilabel", "--fix", fixed).code == 0
    assert fixed.read_text().splitlines()[1:] == ["x;y,one", ",two", "y,three"]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "jsonl"])
def test_lists_of_labels_are_read_again_from_a_table_set_right(
    cli: Cli, tmp_path: Path, ending: str
) -> None:
    path, fixed = tmp_path / "a.jsonl", tmp_path / f"fixed.{ending}"
    sets = [["x", "y;z"], [], ["y;z"], ["x"]]
    rows = [{"text": f"text {at}", "labels": some} for at, some in enumerate(sets)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = cli("check", path, "--fix", fixed)
    command = shlex.split(done.out.partition("next: textreg ")[2].partition("\n")[0])
    assert json.loads(cli("check", *command[1:], "--json").out)["labels"] == {"x": 2, "y;z": 2}
    assert len((tmp_path / "fixed.changes.csv").read_text().splitlines()) == 1


def test_documents_of_several_fields_are_copies_where_all_are_equal() -> None:
    names = ("title", "body", "price")
    rows = [("a", "b ", 1), (" a", "b", 2), ("a", "b", 1), ("", "b", 1), ("", None, 3)]
    rows += [("", None, None), ("a b", "", 1)]
    records = [dict(zip(names, row, strict=True)) for row in rows]
    texts = [f"{title}\n{body or ''}" for title, body, _ in rows]
    fields = [Field("title"), Field("body"), Field("price", "number")]
    left, changes, _ = corrected(Readable(Corpus(texts), {}, records, ""), fields=fields)
    assert [tuple(record.values()) for record in left] == [
        ("a", "b", 1),
        ("a", "b", 2),
        ("", "b", 1),
        ("", None, 3),
        ("a b", "", 1),
    ]
    assert [(where, what) for where, what, _, _ in changes] == [
        ("document 1", "blanks"),
        ("document 2", "blanks"),
        ("document 3", "row left out"),
        ("document 6", "row left out"),
    ]


def test_near_copies_of_another_corpus_by_themselves() -> None:
    texts = ["red green blue black white", "one two three four five six seven eight nine ten"]
    other = ["new", "one two three four five six seven eight nine eleven", "red", "blue"]
    against = Corpus(other, ["y", "y", "x", "x"])
    settings = {"skip": ["near-duplicates"], "similarity": 0.6}
    result = textreg.check(texts, ["x", "y"], against=against, **settings)
    found = result.find("near-overlap")
    assert found is not None
    assert (found.count, found.total) == (1, 4)
    (example,) = found.examples
    assert example.detail == "is near document 2 (y)"
    assert example.text == other[1]


def test_an_example_of_a_giveaway_is_of_one_document() -> None:
    texts, labels = zip(*CLEAN, strict=True)
    codes = [f"{label} {row % 2}" for row, label in enumerate(labels)]
    result = textreg.check(texts, labels, columns={"code": codes}, skip=NEAR)
    found = result.find("giveaway-columns")
    assert found is not None
    assert found.examples[0].detail == f"code {codes[0]}, label {labels[0]}"
    assert found.details["columns"] == (("code", "determines the label", 1.0),)
