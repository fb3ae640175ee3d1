"""The compiled kernels that find known words and n-grams against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chars_kernels import cut
from test_text_kernels import RULES, TEXT, TEXTS, equal, frozen

from textreg._core import text, text_known
from textreg._core.reference import text as plain_text
from textreg._core.reference import text_known as plain
from textreg.records.names import Names

NAMES = st.lists(TEXT | st.sampled_from(["abcdefgh", "abcdefghi", "b", "b\0", "x" * 40]))


def packed(names: list[str]) -> tuple[Any, Any]:
    packed = Names.of(names)
    return frozen(packed.letters, np.uint8), frozen(packed.ptr, np.int64)


@settings(deadline=None)
@given(NAMES)
def test_index_names(names: list[str]) -> None:
    arguments = packed(names)
    slots = text_known.index_names(*arguments)
    assert equal(slots, plain.index_names(*arguments))
    assert (slots is None) == (len(set(names)) < len(names))


@settings(max_examples=150, deadline=None)
@given(TEXTS, NAMES, st.booleans(), st.integers(1, 3), RULES, st.booleans())
def test_encode_of_known_words(
    texts: list[str], names: list[str], lowercase: bool, shortest: int, rule: str, marks: bool
) -> None:
    some = text.encode(texts, lowercase, shortest, rule, marks, marks, False)[4]
    letters, ptr = packed(list(dict.fromkeys([*names, *some[::2]])))
    known = letters, ptr, text_known.index_names(letters, ptr)
    arguments = (texts, lowercase, shortest, rule, marks, marks, False, known)
    assert equal(text.encode(*arguments), plain_text.encode(*arguments))


def test_many_known_words() -> None:
    words = [f"{'w' * (n % 40)}{n:x}" for n in range(20_000)]
    letters, ptr = packed(words[::-2])
    known = letters, ptr, text_known.index_names(letters, ptr)
    number = text.encode([" ".join(words)], True, 1, "none", False, False, False, known)[4]
    assert number[1::2].tolist() == list(range(10_000))[::-1]
    assert (number[::2] == -1).all()


@settings(deadline=None)
@given(NAMES)
def test_index_grams(names: list[str]) -> None:
    assert equal_trees(packed(names))
    distinct = sorted(set(names))
    assert equal_trees(packed(distinct))
    found = text_known.index_grams(*packed(distinct))
    assert found is not None
    assert np.sort(found[1][found[1] >= 0]).tolist() == list(range(len(distinct)))


def equal_trees(arguments: Any) -> bool:
    return equal(text_known.index_grams(*arguments), plain.index_grams(*arguments))


@settings(deadline=None)
@given(cut(), st.integers(1, 4), st.integers(0, 5), st.data())
def test_find_grams(runs: Any, shortest: int, more: int, data: st.DataObject) -> None:
    spelled, ptr = runs
    every = "".join(map(chr, spelled.tolist()))
    places = st.tuples(st.integers(0, len(every)), st.integers(1, 6))
    names = {every[at : at + n] for at, n in data.draw(st.lists(places))}
    slots, name_of = text_known.index_grams(*packed(sorted(names)))  # type: ignore[misc]
    arguments = (spelled, ptr, shortest, shortest + more, slots, len(name_of))
    assert equal(text_known.find_grams(*arguments), plain.find_grams(*arguments))


def test_many_unknown_grams() -> None:
    words = [f" {n:06} " for n in range(3000)]
    spelled = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32)
    ptr = np.arange(0, 8 * 3000 + 1, 8)
    slots, name_of = text_known.index_grams(*packed([" 00", "000"]))  # type: ignore[misc]
    arguments = (spelled, ptr, 2, 5, slots, len(name_of))
    assert equal(text_known.find_grams(*arguments), plain.find_grams(*arguments))


@settings(deadline=None)
@given(NAMES, st.booleans())
def test_in_order(names: list[str], ordered: bool) -> None:
    arguments = packed(sorted(set(names)) if ordered else names)
    assert text_known.in_order(*arguments) == plain.in_order(*arguments)
    assert text_known.in_order(*arguments) or not ordered


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=4), st.data())
def test_number_grams(levels: list[list[int]], data: st.DataObject) -> None:
    """Levels of as many n-grams as those above them have children."""
    n_words, counts = len(levels[0]), list(levels[0])
    size = n_words
    for below in levels[1:]:
        size = sum(counts[-size:]) if size else 0
        counts += (below + [1] * size)[:size]
    children = n_words + np.cumsum([0, *counts])
    total = int(children[-1])
    keep = frozen(data.draw(st.lists(st.integers(0, 1), min_size=total, max_size=total)), np.uint8)
    arguments = (frozen(children, np.int64), keep, n_words)
    numbers = text_known.number_grams(*arguments)
    assert equal(numbers, plain.number_grams(*arguments))
    assert np.sort(numbers[keep > 0]).tolist() == list(range(int(keep.sum())))


def test_arrays_of_other_types_are_refused() -> None:
    with pytest.raises((TypeError, ValueError)):
        text.encode(["a"], True, 1, "none", False, False, False, (np.zeros(1), None, None))
