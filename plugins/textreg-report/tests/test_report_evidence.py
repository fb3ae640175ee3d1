"""Marked passages in a report: the measures of ``textreg explain``, and the documents with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli
from pages import Page

import textreg
from textreg.model.model import Model
from textreg.records import Corpus
from textreg_report import report
from textreg_report.agreement import (
    MarkedDocument,
    MeanEstimate,
    rationale_scores,
)
from textreg_report.build import evidence_of
from textreg_report.page import Section
from textreg_report.verdict import evidence_in_words

TEXTS = ["It came. The film is good. We sat.", "It came. The film is bad. We sat."] * 15
LABELS = ["pos", "neg"] * 15
MARKED = [MarkedDocument.of(text, [[9, 26]]) for text in TEXTS[:20]]


@pytest.fixture(scope="module")
def models() -> tuple[Model, Model]:
    options = {"tokenizer": "words", "ngrams": 1}
    return (
        textreg.train(TEXTS, LABELS, reg="lasso", reg_l1=0.1, **options),
        textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=1.0, **options),
    )


def test_measures_are_those_of_explain(models: tuple[Model, Model]) -> None:
    one, two = models
    found = evidence_of(one, MARKED, {"two": two})
    scores = rationale_scores(one, MARKED)
    other = rationale_scores(two, MARKED, share=scores.rationale_share)
    assert found.means == scores.measures()
    assert found.beside[0].differences == scores.differences(other)
    assert (found.documents, found.left_out) == (20, 0)
    assert found.marked_sentences == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.5, 0.7, "Its reasons agree with those of people: its strongest sentence is one that"),
        (0.2, 0.5, "Its reasons do not measurably agree with those of people"),
        (0.1, 0.2, "Its reasons are not those of people"),
    ],
)
def test_in_words(low: float, high: float, words: str) -> None:
    means = {"top_1": MeanEstimate((low + high) / 2, low, high)}
    told = evidence_in_words(Section(documents=100, marked_sentences=0.3, means=means))
    assert told.startswith(words)
    assert "30\N{NO-BREAK SPACE}%" in told


def test_on_the_page(models: tuple[Model, Model]) -> None:
    corpus = Corpus(texts=TEXTS[:20], labels=LABELS[:20])
    found = report(models[0], corpus, marked=MARKED, against={"two": models[1]})
    assert any("reasons agree with those of people" in line for line in found.verdict.quality)
    for one in found.documents:
        assert one.found is True
        assert [line.marked for line in one.lines] == [False, True, False]
        assert one.evidence == max(line.evidence for line in one.lines) > 0
    page = Page(found.to_html())
    assert "evidence" in page.sections()
    assert "sentence AUPRC" in page.text
    assert len([1 for _, found in page.elements if found.get("class") == "marked"]) == len(
        found.documents
    )
    without = report(models[0], corpus)
    assert without.evidence is None
    assert {one.found for one in without.documents} == {None}
    assert "evidence" not in Page(without.to_html()).sections()


def test_the_command(cli: Cli, tmp_path: Path, models: tuple[Model, Model]) -> None:
    model, corpus, page = tmp_path / "m.textreg", tmp_path / "c.jsonl", tmp_path / "p.html"
    models[0].save(model)
    rows = [
        {"text": text, "label": label, "why": [[9, 26]]}
        for text, label in zip(TEXTS[:4], LABELS[:4], strict=True)
    ]
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    code, _, err = cli("report", model, corpus, "--evidence-col", "why", "-o", page)
    assert (code, err) == (0, "")
    text = " ".join(Page(page.read_text(encoding="utf-8")).text.split())
    assert "4 documents with marked passages, 0 without" in text
    for arguments, said in (
        ([corpus, "--evidence-col", "who"], "no column 'who'"),
        (["--train", corpus, "--evidence-col", "why"], "name FILES"),
        ([corpus, "--sentences-col", "why"], "--sentences-col needs --evidence-col"),
    ):
        code, _, err = cli("report", model, *arguments, "-o", page)
        assert code == 2
        assert said in err


def test_shares_of_fields_are_shown() -> None:
    texts = {"title": ["good", "bad"] * 10, "body": ["It came. We sat.", "It went."] * 10}
    labels = ["pos", "neg"] * 10
    model = textreg.train(
        texts, labels, reg="ridge", reg_l2=0.1, fields=["title", "body"], tokenizer="words"
    )
    found = report(model, Corpus(texts=model.encoder.documents(texts), labels=labels))
    one = found.documents[0]
    assert [line.field for line in one.lines][:2] == ["title", "body"]
    assert one.intercept + sum(value for _, value in one.fields) == pytest.approx(one.score)
    text = Page(found.to_html()).text
    assert "By field: title" in text
    assert "body:" in text
