"""A report beside other models: the tests of ``textreg compare``, and sentences side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from pages import Page

import textreg
from textreg.demo import write_demo
from textreg.errors import UsageError
from textreg.explain import removal_tables
from textreg.model.model import Model
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg_report import report
from textreg_report.benchmark import Benchmark, compare
from textreg_report.build import versus_models
from textreg_report.predictions import predict_on


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.fixture(scope="module")
def test(demo: Path) -> Corpus:
    return read_corpus([str(demo / "test.jsonl")])


@pytest.fixture(scope="module")
def models(demo: Path) -> dict[str, Model]:
    train = read_corpus([str(demo / "train.jsonl")])
    assert train.labels is not None
    options = {"tokenizer": "words", "ngrams": 1}
    return {
        "good": textreg.train(
            train.texts, train.labels, reg="sentence", reg_group=0.01, reg_l1=0.1, **options
        ),
        "poor": textreg.train(
            train.texts[:40], train.labels[:40], reg="lasso", reg_l1=1.0, **options
        ),
        "fair": textreg.train(train.texts, train.labels, reg="lasso", reg_l1=0.5, **options),
    }


def test_others_are_tested_as_compare_does(models: dict[str, Model], test: Corpus) -> None:
    own, others = models["fair"], {name: models[name] for name in ("good", "poor")}
    found = {one.name: one for one in versus_models(predict_on(own, test), others)}
    result = compare(models, Benchmark("b", test=test), baseline="fair")
    for name, one in found.items():
        contrast = result.contrast(name, "b")
        assert (one.won, one.lost) == (contrast.lost, contrast.won)
        assert (one.p, one.comparisons) == (contrast.p_adjusted, 2)
        assert one.difference.value == pytest.approx(-contrast.accuracy)
        assert one.difference.low == pytest.approx(-contrast.accuracy_interval.high, abs=0.02)
        assert one.verdict == {"better": "worse", "worse": "better"}.get(
            contrast.verdict, contrast.verdict
        )
    assert found["poor"].verdict == "better"


def test_the_verdict_names_them(models: dict[str, Model], test: Corpus) -> None:
    page = report(models["poor"], test, against={"fair": models["fair"], "same": models["poor"]})
    *_, fair, same = page.verdict.quality
    assert fair.startswith("Worse than fair in accuracy (−")
    assert fair.endswith(": keep the other one.")
    assert same == "It is right on the same documents as same."


def test_tables_are_those_of_explain(models: dict[str, Model], test: Corpus) -> None:
    text = "It broke at once. We love the box."
    page = report(models["good"], test, against={"poor": models["poor"]}, texts=[text], title="own")
    named = {"own": models["good"], "poor": models["poor"]}
    assert page.tables == tuple(removal_tables(named, [text]))
    shown = Page(page.to_html())
    assert "sentences" in shown.sections()
    assert "We love the box." in shown.text
    (table,) = page.tables
    selected = table.columns[0].selected
    assert selected is not None
    assert table.columns[1].selected is None
    marks = [tag for tag, found in shown.elements if tag == "abbr" and found["title"] == "selected"]
    assert len(marks) == sum(selected)


def test_documents_that_models_answer_differently_come_first(
    models: dict[str, Model], test: Corpus
) -> None:
    page = report(models["good"], test, against={"poor": models["poor"]})
    assert len(page.tables) == 3
    for table in page.tables:
        one, two = table.columns
        assert one.predicted != two.predicted
        assert 2 <= len(table.spans) <= 14
    assert report(models["good"], test).tables == ()


def test_documents_of_two_sentences_have_tables(models: dict[str, Model]) -> None:
    texts = ["It broke at once. We love the box.", "It broke at once."]
    corpus = Corpus(texts=texts, labels=["neg", "neg"])
    (table,) = report(models["good"], corpus, against={"poor": models["poor"]}).tables
    assert len(table.spans) == 2


def test_models_of_other_sentences_have_no_table_of_documents(
    models: dict[str, Model], test: Corpus
) -> None:
    texts, labels = ["good film", "bad film"] * 10, ["pos", "neg"] * 10
    other = textreg.train(
        texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words", tokenizer_sentences="none"
    )
    page = report(models["good"], test, against={"other": other})
    assert page.tables == ()
    assert any("different sentences" in note for note in page.missing)
    assert "other in accuracy" in page.verdict.quality[-1]
    with pytest.raises(UsageError, match="different sentences"):
        report(models["good"], test, against={"other": other}, texts=["One. Two."])


def test_regressions() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(["good", "bad", "so"], 5)) for _ in range(80)]
    labels = [str(text.count("good")) for text in texts]
    options = {"task": "regression", "tokenizer": "words", "ngrams": 1, "weighting": "count"}
    good, poor = (
        textreg.train(texts, labels, reg="ridge", reg_l2=l2, **options) for l2 in (0.01, 1e4)
    )
    corpus = Corpus(texts=texts, labels=labels)
    for one, other, words in ((good, poor, "Better than it in R²"), (poor, good, "Worse than it")):
        assert report(one, corpus, against={"it": other}).verdict.quality[-1].startswith(words)
    classification = textreg.train(["a b", "c d"] * 5, ["x", "y"] * 5, reg="ridge", reg_l2=1.0)
    with pytest.raises(UsageError, match="it is a classification and the model a regression"):
        report(good, corpus, against={"it": classification})


def test_others_need_documents(models: dict[str, Model], test: Corpus) -> None:
    with pytest.raises(UsageError, match="documents that none of them has seen"):
        report(models["good"], train=test, against={"poor": models["poor"]})


def test_the_command(cli: Cli, demo: Path, tmp_path: Path, models: dict[str, Model]) -> None:
    paths = []
    for name in ("good", "poor"):
        paths.append(tmp_path / f"{name}.textreg")
        models[name].save(paths[-1])
    page = tmp_path / "page.html"
    code, _, err = cli(
        "report", paths[0], demo / "test.jsonl", "--against", paths[1], "--text", "It broke. Yes.",
        "-o", page,
    )  # fmt: skip
    assert (code, err) == (0, "")
    text = Page(page.read_text(encoding="utf-8")).text
    assert "Better than poor in accuracy" in text
    assert "It broke." in text
    code, _, err = cli("report", paths[0], "--train", demo / "train.jsonl", "--against", paths[1])
    assert code == 2
    assert "--against compares on documents that no model has seen: name FILES" in err
    code, _, err = cli(
        "report", paths[0], demo / "test.jsonl", "--against", paths[1], "-o", paths[1]
    )
    assert code == 2
    assert "would overwrite" in err
