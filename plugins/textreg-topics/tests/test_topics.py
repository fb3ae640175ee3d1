"""The builders ``lda`` and ``lsi``, as a user of textreg meets them."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from textreg_topics import Lda, Lsi
from thoroughness import without_fresh

import textreg
from textreg.errors import DataError
from textreg.records import Tokens
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
