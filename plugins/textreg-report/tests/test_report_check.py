"""What a check finds in the documents of a report is in its verdict, in plain words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import textreg
from textreg.records import Corpus
from textreg.records.documents import FieldedText
from textreg.tasks import Regression
from textreg.tasks.classification import Binary
from textreg_report import report
from textreg_report.page import Suggestion
from textreg_report.verdict import NEAR, corpus_advice

TASK = Binary(("neg", "pos"))
TEXTS = [
    f"number {row} says that the {'best' if row % 2 else 'worst'} is over" for row in range(40)
]
LABELS = ["pos" if row % 2 else "neg" for row in range(40)]


def corpus(rows: range, *more: tuple[str, str]) -> Corpus:
    texts = [*(TEXTS[row] for row in rows), *(text for text, _ in more)]
    return Corpus(texts=texts, labels=[*(LABELS[row] for row in rows), *(it for _, it in more)])


def test_clean_documents_need_no_advice() -> None:
    words = [" ".join(f"w{row * 9 + at}" for at in range(9)) for row in range(40)]
    clean = Corpus(texts=words, labels=LABELS)
    assert corpus_advice(TASK, clean.select(range(10)), clean.select(range(10, 40))) == []
    assert corpus_advice(TASK, None, clean) == []
    assert corpus_advice(TASK, None, None) == []


def test_measured_documents_that_were_trained_on() -> None:
    found = corpus_advice(TASK, corpus(range(30, 40), (TEXTS[3], "pos")), corpus(range(30)))
    one = found[0]
    assert one.first
    assert one.what.startswith("Remove them from one of the files")
    assert one.why.startswith("Of the measured documents 1 (9.1\N{NO-BREAK SPACE}%): the text of a")
    assert "such as document 11. So the figures of this page are too good." in one.why


def test_copies_matter_most_where_fits_predict_each_other() -> None:
    copied = corpus(range(30), (TEXTS[3], LABELS[3]))
    (one,) = [it for it in corpus_advice(TASK, None, copied) if "Keep one of each." in it.what]
    assert one.first
    assert "figures of this page are too good" in one.why
    apart = corpus_advice(TASK, corpus(range(30, 40)), copied)
    (one,) = [it for it in apart if "Keep one of each." in it.what]
    assert not one.first
    assert "too good" not in one.why


def test_equal_texts_with_different_labels() -> None:
    different = corpus(range(30), (TEXTS[3], "neg"))
    found = corpus_advice(TASK, different, None)
    (one,) = [it for it in found if it.what.startswith("Decide which label is right.")]
    assert one.why.startswith("Of the measured documents 2 (6.5")
    assert not one.first
    numbers = Corpus(texts=different.texts, labels=[str(row) for row in range(31)])
    assert not [it for it in corpus_advice(Regression(), numbers, None) if "Decide" in it.what]


def test_a_field_that_tells_the_label() -> None:
    rows = [
        FieldedText.of({"body": text, "code": label})
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    (one,) = [
        it
        for it in corpus_advice(TASK, None, Corpus(texts=rows, labels=LABELS))
        if "Do not train on them" in it.what
    ]
    assert one.first
    assert "'code' is the label" in one.why


def test_near_copies_are_looked_for_in_some_documents_only(monkeypatch: pytest.MonkeyPatch) -> None:
    near = corpus(range(30), (f"{TEXTS[3]} now", LABELS[3]))
    assert any("nearly the same" in it.why for it in corpus_advice(TASK, None, near))
    assert len(near) < NEAR
    monkeypatch.setattr("textreg_report.verdict.NEAR", 30)
    assert not any("nearly" in it.why for it in corpus_advice(TASK, None, near))


def test_what_makes_figures_wrong_stands_first() -> None:
    model = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, tokenizer="words")
    advice = [Suggestion("Late.", "it is"), Suggestion("Early.", "it is", first=True)]
    made = report(model, corpus(range(20)), advice=advice)
    assert [one.what for one in made.verdict.suggestions] == ["Early.", "Late."]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        json.dumps({"text": text, "label": label})
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    Path("train.jsonl").write_text("\n".join([*rows, rows[0]]), encoding="utf-8")
    Path("test.jsonl").write_text("\n".join(rows[:4]), encoding="utf-8")
    common = ("--tokenizer", "words", "--reg", "ridge", "--reg-l2", "1", "--quiet")
    assert cli("train", "train.jsonl", *common, "-o", "m").code == 0
    assert cli("report", "m", "--train", "train.jsonl", "-o", "own.html").code == 0
    assert "Keep one of each." in Path("own.html").read_text("utf-8")
    result = cli("report", "m", "test.jsonl", "--train", "train.jsonl", "-o", "page.html")
    assert result.code == 0, result.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Remove them from one of the files" in page
    assert "such as test.jsonl:1, test.jsonl:2 and test.jsonl:3" in page
