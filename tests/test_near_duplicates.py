"""Near duplicates: those of a comparison of all pairs, whatever the order of documents."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.checking.copies import (
    CROWD,
    HASHES,
    _compared,
    _groups,
    _rows_of_a_band,
    near_pairs,
)
from textreg.checking.documents import Finding

WORDS = [f"w{number}" for number in range(400)]
Sets = list[np.ndarray]


def article(seed: int, size: int = 40) -> list[str]:
    return random.Random(seed).choices(WORDS, k=size)


def edited(words: list[str], at: int) -> list[str]:
    return [*words[:at], f"other{at}", *words[at + 1 :]]


def near(texts: list[str], labels: list[str] | None = None, **how: object) -> Finding | None:
    return textreg.check(texts, labels, **how).find("near-duplicates")


def test_case_and_marks_make_no_difference() -> None:
    finding = near(["It works well.", "it works WELL!", "It works well", "it never works"])
    assert finding is not None
    assert (finding.count, finding.details["groups"]) == (3, 1)


def test_one_word_of_forty_and_other_labels() -> None:
    words = article(1)
    texts = [" ".join(one) for one in (words, edited(words, 7), edited(words, 20), article(2))]
    finding = near(texts, ["a", "b", "a", "a"])
    assert finding is not None
    assert (finding.count, finding.details["groups"]) == (3, 1)
    assert finding.details["conflicting"] == 3
    assert "with different labels: 3" in finding.what
    assert near(texts, similarity=0.99) is None


def test_copies_and_what_is_near_across_two_files() -> None:
    words = article(3)
    first, second = [" ".join(words)], [" ".join(edited(words, 4))] * 2 + [" ".join(article(9))]
    result = textreg.check(first, ["a"], against=(second, ["a", "a", "b"]))
    finding = result.find("near-overlap")
    assert finding is not None
    assert (finding.count, finding.total) == (2, 3)
    assert finding.examples[0].detail == "is near document 1 (a)"
    assert result.find("near-duplicates") is None  # within the first
    assert result.find("overlap") is None


@draws(25)
@given(st.lists(st.sampled_from(WORDS[:6]), max_size=8), st.integers(0, 2**16), st.randoms())
def test_the_order_of_documents_does_not_matter(
    tail: list[str], seed: int, shuffled: random.Random
) -> None:
    base = article(seed)
    texts = [" ".join(edited(base, at)) for at in range(0, 30, 3)]
    texts += [" ".join(base), " ".join(base).upper(), " ".join(tail), " ".join([*tail, "!"])]

    def groups(of: list[str]) -> tuple[int, int]:
        finding = near(of)
        return (0, 0) if finding is None else (finding.count, finding.details["groups"])

    before = groups(texts)
    shuffled.shuffle(texts)
    assert groups(texts) == before
    assert before[0] >= 12  # each is at most two words from another


@pytest.mark.parametrize("least", [0.5, 0.8, 1.0])
def test_pairs_are_those_of_a_comparison_of_all(least: float) -> None:
    generator = np.random.default_rng(0)
    sets: Sets = []
    for _ in range(30):
        whole = generator.choice(2**32, 60, replace=False).astype(np.uint32)
        sets += [np.unique(whole[generator.random(60) < keep]) for keep in (1.0, 0.97, 0.9)]
    sets += [sets[0].copy(), np.zeros(0, np.uint32), np.zeros(0, np.uint32)]
    every = {
        (one, two)
        for one, two in combinations(range(len(sets)), 2)
        if len(union := np.union1d(sets[one], sets[two]))
        and len(np.intersect1d(sets[one], sets[two])) / len(union) >= least
    }
    found = near_pairs(sets, least)
    pairs = {tuple(pair) for pair in found.tolist()}
    assert pairs <= every
    assert len(pairs) >= 0.97 * len(every) > 0
    assert {pair for pair in every if np.array_equal(sets[pair[0]], sets[pair[1]])} <= pairs


def test_a_crowd_takes_linear_work() -> None:
    base = article(5)
    n = 20 * CROWD
    finding = near([" ".join([*base[:20], f"number{at}", *base[20:]]) for at in range(n)])
    assert finding is not None
    assert (finding.count, finding.details["groups"]) == (n, 1)
    sets = [np.arange(200 + at % 3, dtype=np.uint32) for at in range(n)]
    assert len(near_pairs(sets, 0.8)) < 60 * n  # and not n (n - 1) / 2 = 200 n


def test_pairs_of_a_crowd_do_not_depend_on_the_order_of_documents() -> None:
    n = 3 * CROWD
    sets = [np.append(np.arange(300), 1000 + at).astype(np.uint32) for at in range(n)]
    order = np.random.default_rng(0).permutation(n)
    other = near_pairs([sets[at] for at in order], 0.8)
    assert {frozenset(order[pair].tolist()) for pair in other} == {
        frozenset(pair) for pair in near_pairs(sets, 0.8).tolist()
    }


def test_how_many_hashes_a_band_has() -> None:
    """As many as miss 2 % of the pairs of the least similarity: (1 - s^r)^(128 / r)."""
    assert [_rows_of_a_band(least) for least in (0.5, 0.6, 0.8, 0.9, 0.99, 1.0)] == [
        *(3, 4, 7, 11, 32, 64),
    ]
    for least in (0.5, 0.8, 0.9):
        rows = _rows_of_a_band(least)
        missed = [(1 - least**r) ** (HASHES // r) for r in (rows, rows + 1)]
        assert missed[0] <= 0.02 < missed[1]


def test_whom_a_crowd_is_compared_with() -> None:
    assert len(list(_compared(range(CROWD)))) == CROWD * (CROWD - 1) // 2
    crowd = list(_compared(range(10, 11 + CROWD)))
    assert sorted(crowd) == sorted(
        {(at, at + 1) for at in range(10, 10 + CROWD)} | {(10, at) for at in range(12, 11 + CROWD)}
    )
    assert len(crowd) == len(set(crowd))


def test_groups_of_pairs() -> None:
    pairs = np.array([[7, 2], [3, 9], [2, 5], [9, 4], [11, 3]])
    assert _groups(pairs) == [[2, 5, 7], [3, 4, 9, 11]]
    assert _groups(np.zeros((0, 2), dtype=np.int64)) == []


def test_groups_with_other_labels_come_first_and_then_large_ones() -> None:
    first, second, third = (article(seed) for seed in (1, 2, 3))
    rows = [
        *((first, "a"), (edited(first, 3), "a")),
        *((second, "a"), (edited(second, 3), "a"), (edited(second, 4), "a")),
        *((third, "a"), (edited(third, 3), "b"), (third, "a"), (article(4), "b")),
    ]
    texts, labels = [" ".join(words) for words, _ in rows], [label for _, label in rows]
    finding = near(texts, labels, skip=["suspected-labels"])
    assert finding is not None
    assert (finding.count, finding.total) == (8, 9)
    assert finding.details == {"groups": 3, "similarity": 0.8, "conflicting": 3}
    assert finding.what == (
        "nearly the same as another (similarity 0.8 or more); groups: 3; with different labels: 3"
    )
    assert [f"{one.where}: {one.detail}" for one in finding.examples] == [
        "document 6: label a, also document 7 (b), document 8 (a)",
        "document 3: label a, also document 4 (a), document 5 (a)",
        "document 1: label a, also document 2 (a)",
    ]
