"""The builder ``communities``, as a user of textreg meets it."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import igraph
import numpy as np
import pytest
from textreg_gow import Communities
from thoroughness import without_fresh

import textreg
from textreg.errors import DataError
from textreg.records import Groups, Tokens
from textreg_testing import check_group_builder
from textreg_testing.texts import with_pairs

WORDS = textreg.tokenizer("textreg:words")

SEA = "ship sail wave harbor anchor"
KITCHEN = "oven flour butter sugar bake"


def texts() -> list[str]:
    """Forty documents about one of two things, in words drawn at random."""
    draw = np.random.default_rng(0)
    return [" ".join(draw.choice(subject.split(), 8)) for subject in [SEA, KITCHEN] * 20]


def at_random() -> Tokens:
    """Ninety documents of thirty words each, drawn from three hundred."""
    words = np.random.default_rng(0).integers(300, size=(90, 30))
    return WORDS.encode([" ".join(f"w{n}" for n in row) for row in words])


def named(groups: Groups, tokens: Tokens) -> list[set[str]]:
    """The groups by the names of their features."""
    return [
        {tokens.vocabulary[j] for j in groups.indices[start:end]}
        for start, end in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]


@pytest.mark.parametrize("algorithm", ["louvain", "leiden"])
def test_communities_are_found(algorithm: str) -> None:
    tokens = WORDS.encode(texts())
    groups = Communities(algorithm=algorithm, max_df=0.5, weight="sqrt").build(tokens)
    found = sorted(map(sorted, named(groups, tokens)))
    assert found == sorted([sorted(SEA.split()), sorted(KITCHEN.split())])
    assert groups.weights.tolist() == [5**0.5] * 2
    assert groups.names is not None
    assert groups.names[0].startswith("community 1 (")


@pytest.mark.parametrize(
    ("algorithm", "method", "how"),
    [
        ("louvain", "community_multilevel", {"resolution": 0.7}),
        ("leiden", "community_leiden", {"resolution": 0.7, "n_iterations": -1}),  # to the end
    ],
)
def test_the_algorithm_is_the_one_asked_for(
    algorithm: str, method: str, how: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    find = getattr(igraph.Graph, method)

    def watched(graph: Any, *arguments: Any, **options: Any) -> Any:
        asked.append(options)
        return find(graph, *arguments, **options)

    monkeypatch.setattr(igraph.Graph, method, watched)
    builder = Communities(algorithm=algorithm, max_df=0.5, resolution=0.7)
    builder.build(WORDS.encode(texts()))
    assert asked == [how]


@pytest.mark.parametrize("algorithm", ["louvain", "leiden"])
def test_the_same_seed_gives_the_same_and_chance_is_left_alone(algorithm: str) -> None:
    tokens = at_random()
    builder = Communities(algorithm=algorithm, max_df=1.0, seed=3)
    random.seed(5)
    one = builder.build(tokens)
    after = random.random()
    other = builder.build(tokens)
    assert np.array_equal(one.indptr, other.indptr)
    assert np.array_equal(one.indices, other.indices)
    random.seed(5)
    assert random.random() == after


@pytest.mark.sampled(1)
@pytest.mark.parametrize("algorithm", ["louvain", "leiden"])
def test_builds_at_the_same_time_do_not_share_their_chance(algorithm: str) -> None:
    tokens, builder = at_random(), Communities(algorithm=algorithm, max_df=1.0, seed=3)
    alone = builder.build(tokens)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda _: builder.build(tokens), range(24)))
    finally:
        sys.setswitchinterval(before)
    for one in together:
        assert np.array_equal(one.indices, alone.indices)


def test_a_larger_resolution_gives_more_communities() -> None:
    few, more = (
        len(Communities(max_df=1.0, resolution=resolution).build(at_random()))
        for resolution in (0.5, 2.0)
    )
    assert few < more


def test_the_window_sets_who_are_neighbors() -> None:
    tokens = WORDS.encode(["a b x y"] * 3)
    groups = Communities(window=2, max_df=1.0).build(tokens)
    assert named(groups, tokens) == [{"a", "b"}, {"x", "y"}]


def test_the_largest_community_comes_first_and_its_hubs_before_others() -> None:
    """Names tell the words with the most neighbors; a community of one word is none."""
    small, large = "x y z", "hub a b c d"
    pairs = [*(f"hub {word}" for word in "abcd"), "a b", "c d"]
    tokens = WORDS.encode([*["x y", "y z"] * 3, *pairs * 3, *["alone"] * 3])
    groups = Communities(window=2, min_df=3, max_df=1.0, resolution=0.5).build(tokens)
    assert named(groups, tokens) == [set(large.split()), set(small.split())]
    assert groups.names is not None
    assert groups.names[0].startswith("community 1 (hub, a, b)")
    assert groups.names[1].startswith("community 2 (y, x, z)")


def test_words_at_the_bounds_are_in_the_graph() -> None:
    tokens = WORDS.encode(["a b"] * 3 + ["c d"] * 2 + ["c d e f"] * 5)
    found = named(Communities(min_df=3, max_df=0.5).build(tokens), tokens)
    assert set().union(*found) == {"a", "b", "e", "f"}


def test_what_is_declared() -> None:
    declared = [(it.default, it.min, it.max) for it in Communities.declared().values()]
    assert declared[-6:] == [
        (4, 2, None), ("louvain", None, None), (1.0, 0, None), (3, 1, None), (0.2, 0, 1),
        (0, 0, None),
    ]  # fmt: skip
    assert Communities.order_matters


def test_ngrams_belong_to_the_community_of_their_words() -> None:
    tokens = with_pairs(textreg.tokenizer("words").encode(texts()))
    assert "ship sail" in tokens.vocabulary
    groups = named(Communities(max_df=0.5).build(tokens), tokens)
    (sea,) = [group for group in groups if "ship" in group]
    assert "ship sail" in sea


def test_no_edge_is_told() -> None:
    with pytest.raises(DataError, match=r"no two words within 4 .*--groups-min-df"):
        Communities(min_df=50).build(WORDS.encode(texts()))


def test_training_finds_the_builder_by_name() -> None:
    model = textreg.train(
        texts(), ["sea", "kitchen"] * 20, reg="group", groups="communities", groups_max_df=0.5
    )
    assert model.summary.groups.before == 2
    assert model.predict(["a ship in the harbor", "butter and sugar"]) == ["sea", "kitchen"]


def test_the_contract() -> None:
    check_group_builder(Communities(min_df=1, max_df=1.0), skip=without_fresh("groups"))
