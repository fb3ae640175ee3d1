"""The builders ``lda`` and ``lsi``, as a user of textreg meets them."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation
from textreg_topics import Lda, Lsi, TopicBuilder
from thoroughness import without_fresh
from threadpoolctl import threadpool_info

import textreg
from textreg.errors import DataError
from textreg.records import Tokens
from textreg.text import count
from textreg_testing import check_group_builder
from textreg_testing.checks import limited
from textreg_testing.texts import with_pairs

WORDS = textreg.tokenizer("textreg:words")

SEA = "ship sail wave harbor anchor"
KITCHEN = "oven flour butter sugar bake"


def texts() -> list[str]:
    """Forty documents about one of two things, in words drawn at random, and fillers."""
    random = np.random.default_rng(0)
    return [
        " ".join([*random.choice(subject.split(), 8), "the", *random.choice(["a", "b", "c"], 2)])
        for subject in [SEA, KITCHEN] * 20
    ]


def words_of(groups: Any, tokens: Tokens) -> list[set[str]]:
    """The groups by the names of their features."""
    return [
        {tokens.vocabulary[j] for j in groups.indices[start:end]}
        for start, end in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]


@pytest.mark.parametrize("cls", [Lda, Lsi])
def test_topics_are_found(cls: Any) -> None:
    tokens = WORDS.encode(texts())
    groups = cls(topics=2, words=5, max_df=0.5).build(tokens)
    found = words_of(groups, tokens)
    assert len(groups) == 2
    if cls is Lda:
        assert sorted(map(sorted, found)) == sorted([sorted(SEA.split()), sorted(KITCHEN.split())])
        assert groups.names[0].startswith("topic 1 (")
    else:  # the second singular vector tells the two apart, the first is their sum
        assert found[1] <= set(SEA.split()) | set(KITCHEN.split())


@pytest.mark.parametrize("cls", [Lda, Lsi])
def test_the_same_seed_gives_the_same_groups(cls: Any) -> None:
    tokens = WORDS.encode(texts())
    one, other = (cls(topics=3, words=4, max_df=0.9, seed=7).build(tokens) for _ in range(2))
    assert np.array_equal(one.indices, other.indices)
    assert np.array_equal(one.indptr, other.indptr)
    assert list(one.names) == list(other.names)


def test_fits_in_threads_leave_the_filters_of_warnings() -> None:
    tokens = WORDS.encode(texts())
    builder = Lda(topics=2, words=5, max_df=0.9, iterations=3)
    builder.build(tokens)  # the first import of scikit-learn adds filters of its own
    before = list(warnings.filters)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(builder.build, [tokens] * 30))
    finally:
        sys.setswitchinterval(interval)
    assert list(warnings.filters) == before


class Given(TopicBuilder):
    """Strengths that are given; keeps what it was asked for."""

    name = "given"
    seen: ClassVar[list[Any]] = []

    def strengths(self, counts: Any) -> Any:
        self.seen[:] = counts, [pool["num_threads"] for pool in threadpool_info()]
        return np.array([[0.5, 0.0, 2.0, 0.5], [0.0, 0.0, 0.0, 1.0]])


def test_groups_are_the_strongest_words_of_a_topic() -> None:
    """Of equal ones the first by name, and none of strength 0."""
    tokens = WORDS.encode(["a b c d", "b c d", "a b c d e", "d c e", "e"])
    groups = Given(words=2, min_df=2, max_df=0.8, ngrams="none").build(tokens)
    assert groups.names is not None
    assert list(groups.names) == ["topic 1 (c, a)", "topic 2 (d)"]
    assert words_of(groups, tokens) == [{"a", "c"}, {"d"}]
    more = Given(words=4, min_df=2, max_df=0.8, ngrams="none").build(tokens)
    assert more.names is not None
    assert list(more.names) == ["topic 1 (c, a, d)", "topic 2 (d)"]
    assert words_of(more, tokens) == [{"a", "c", "d"}, {"d"}]


def test_words_neither_rare_nor_everywhere_are_in_the_model() -> None:
    """In as many documents as the bounds say, too; in one thread, for sums by several differ."""
    tokens = WORDS.encode(["a b c d x", "b c d x", "a b c d x", "d c y x", "x"])
    Given(min_df=2, max_df=0.8).build(tokens)
    counts, threads = Given.seen
    kept = [word for word in tokens.vocabulary if word in "abcd"]
    assert counts.shape == (5, 4)
    assert counts.toarray().tolist() == [
        [text.split().count(word) for word in kept]
        for text in ("a b c d x", "b c d x", "a b c d x", "d c y x", "x")
    ]
    assert set(threads) == {1}


def test_lsi_is_the_singular_value_decomposition() -> None:
    """Of tf-idf with logarithms and rows of length 1."""
    tokens = WORDS.encode(texts())
    counts = count(tokens).toarray()
    idf = 1.0 + np.log((1.0 + len(counts)) / (1.0 + (counts > 0).sum(axis=0)))
    rows = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1)), 0.0) * idf
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    found = np.abs(np.linalg.svd(rows)[2][:3])
    strengths = Lsi(topics=3).strengths(count(tokens))
    np.testing.assert_allclose(strengths, found, atol=1e-7)


def test_lda_is_that_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Asked(LatentDirichletAllocation):
        def fit(self, X: Any, y: Any = None) -> Any:
            asked.append(self.get_params())
            return super().fit(X, y)

    monkeypatch.setattr("sklearn.decomposition.LatentDirichletAllocation", Asked)
    strengths = Lda(topics=2, iterations=3, seed=5).strengths(count(WORDS.encode(texts())))
    usual = LatentDirichletAllocation().get_params()
    changed = {key: it for key, it in asked[0].items() if usual[key] != it}
    assert changed == {
        "n_components": 2, "max_iter": 3, "max_doc_update_iter": 20, "random_state": 5,
    }  # fmt: skip
    assert strengths.shape == (2, len(WORDS.encode(texts()).vocabulary))


def test_what_is_declared() -> None:
    declared = [(it.default, it.min, it.max) for it in Lda.declared().values()]
    assert declared[-6:] == [
        (50, 1, None), (20, 1, None), (5, 1, None), (0.2, 0, 1), (0, 0, None), (10, 1, None),
    ]  # fmt: skip
    assert Lda.order_matters


def test_weights_follow_sizes() -> None:
    tokens = WORDS.encode(texts())
    groups = Lda(topics=2, words=4, max_df=0.5, weight="sqrt").build(tokens)
    assert groups.weights.tolist() == [2.0, 2.0]


def test_ngrams_belong_to_the_topic_of_their_words() -> None:
    tokens = with_pairs(textreg.tokenizer("words").encode(texts()))
    assert "ship sail" in tokens.vocabulary
    (sea,) = [
        group
        for group in words_of(Lda(topics=2, words=5, max_df=0.5).build(tokens), tokens)
        if "ship" in group
    ]
    assert "ship sail" in sea
    assert "ship the" not in sea
    alone = Lda(topics=2, words=5, max_df=0.5, ngrams="none").build(tokens)
    assert np.diff(alone.indptr).tolist() == [5, 5]


@pytest.mark.parametrize("cls", [Lda, Lsi])
def test_no_word_left_is_told(cls: Any) -> None:
    with pytest.raises(DataError, match=r"no word is in at least 50 documents .*--groups-min-df"):
        cls(min_df=50).build(WORDS.encode(texts()))


def test_too_many_lsi_topics_are_told() -> None:
    with pytest.raises(DataError, match=r"lsi: 11 topics are too many .* 11 words"):
        Lsi(topics=11, max_df=0.5, min_df=1).build(WORDS.encode([*texts(), "once"]))


@pytest.mark.parametrize("name", ["lda", "lsi"])
def test_training_finds_the_builder_by_name(name: str) -> None:
    labels = ["sea", "kitchen"] * 20
    group = textreg.Group(group=0.01, l1=0.01, l2=0.01)
    model = textreg.train(
        texts(), labels, reg=group, groups=name, groups_topics=3, groups_max_df=0.5
    )
    assert model.summary.groups.name == name
    assert model.predict(["a ship in the harbor", "butter and sugar"]) == ["sea", "kitchen"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("builder", [Lda, Lsi])
def test_the_contract(builder: type) -> None:
    few = {"iterations": 3} if builder is Lda else {}
    with limited(60.0):  # a fresh interpreter that imports scikit-learn, on a busy machine
        part = builder(topics=3, words=5, min_df=1, max_df=1.0, **few)
        check_group_builder(part, skip=without_fresh("groups"))
