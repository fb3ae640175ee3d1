"""The demonstration corpus: readable, repeatable, neither trivial nor hopeless."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from textreg.demo import grammar, make_reviews, write_demo
from textreg.errors import UsageError
from textreg.reading.corpus import read_corpus


def symbols_in(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_every_symbol_is_defined_and_used() -> None:
    shared, products = grammar()
    parts = [*shared.values(), *(part for product in products for part in product.values())]
    used = {symbol for part in parts for text in part for symbol in symbols_in(text)}
    for product in products:
        assert product.keys() == products[0].keys()
        assert used <= shared.keys() | product.keys()
    roots = {"opening", "aside", "praise", "complaint", "negated_praise", "negated_complaint"}
    assert shared.keys() | products[0].keys() == used | roots | {
        "small_praise",
        "small_complaint",
        "but",
    }
    for part in parts:
        assert len(set(part)) == len(part)


def test_reviews_are_english_sentences() -> None:
    for _, text in make_reviews(2000, seed=3):
        assert not re.search(r"[{}_]|  |\.\.|\ba [aeio]", text), text
        sentences = re.findall(r"[A-Z][^.!]*[.!](?= |$)", text)
        assert " ".join(sentences) == text
        assert 3 <= len(sentences) <= 7, text
        assert len(set(sentences)) == len(sentences)


def test_reviews_are_balanced_different_and_repeatable() -> None:
    reviews = make_reviews(1000)
    assert Counter(label for label, _ in reviews) == {"pos": 500, "neg": 500}
    assert len({text for _, text in reviews}) == 1000
    assert reviews == make_reviews(1000)
    assert reviews[:100] == make_reviews(100)
    assert reviews != make_reviews(1000, seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_a_bag_of_words_does_well_but_not_perfectly(seed: int) -> None:
    labels, texts = zip(*make_reviews(2000, seed=seed), strict=True)
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression(max_iter=1000))
    model.fit(texts[:800], labels[:800])
    assert 0.88 <= model.score(texts[800:], labels[800:]) <= 0.97


def test_files(tmp_path: Path) -> None:
    corpus = write_demo(tmp_path / "new" / "demo")
    assert corpus.train == tmp_path / "new" / "demo" / "train.jsonl"
    train, test = read_corpus(corpus.train), read_corpus(corpus.test)
    assert (len(train), len(test)) == (800, 200)
    assert Counter(train.labels) == {"pos": 400, "neg": 400}
    assert Counter(test.labels) == {"pos": 100, "neg": 100}
    assert not set(train.texts) & set(test.texts)
    written = [path.read_bytes() for path in corpus]
    assert [path.read_bytes() for path in write_demo(tmp_path / "new" / "demo")] == written
    assert b"\r" not in written[0]


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"test\.jsonl exists already, .* name another folder"):
        write_demo(tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("test.jsonl", "mine")
    ]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(
        UsageError, match=r"taken: the folder cannot be created: .* another place\."
    ):
        write_demo(tmp_path / "taken")


def test_a_table_has_the_same_reviews(tmp_path: Path) -> None:
    table, lines = write_demo(tmp_path, format="csv"), write_demo(tmp_path)
    assert [path.name for path in table] == ["train.csv", "test.csv"]
    for one, other in zip(table, lines, strict=True):
        read = [read_corpus([str(path)]) for path in (one, other)]
        assert read[0].texts == read[1].texts
        assert read[0].labels == read[1].labels
    with pytest.raises(UsageError, match="must be one of jsonl, csv, not 'xlsx'"):
        write_demo(tmp_path, format="xlsx")
