"""The compiled kernels that find known words and n-grams against their plain twins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_text_kernels import RULES, TEXT, TEXTS, equal, frozen
from thoroughness import draws
from twins import text_grams as plain_grams
from twins import text_rows as plain_rows

from textreg._core import text, text_grams, text_rows
from textreg.features.encoder import WEIGHTINGS
from textreg.features.ngrams import NGrams
from textreg.records.text import Names

NAMES = st.lists(TEXT | st.sampled_from(["abcdefgh", "abcdefghi", "b", "b\0", "x" * 40]))


def packed(names: list[str]) -> tuple[Any, Any]:
    packed = Names.of(names)
    return frozen(packed.letters, np.uint8), frozen(packed.ptr, np.int64)


@settings(deadline=None)
@given(NAMES)
def test_names_are_distinct_or_not(names: list[str]) -> None:
    for some in (names, list(dict.fromkeys(names))):
        for kernel, twin in (
            (words_known(some), words_known(some, plain_rows)),
            (chars_known(some), chars_known(some, plain_rows)),
        ):
            assert kernel.distinct == twin.distinct == (len(set(some)) == len(some))


def words_known(names: list[str], module: Any = text_rows) -> Any:
    """Rows of words, each counted."""
    numbers = [np.arange(len(names), dtype=np.int32)]
    rules, how = (True, 1, "none", False, False), (len(names), None, None, 0, False)
    return module.WordRows(packed(names), None, [], numbers, rules, *how)


def chars_known(names: list[str], module: Any = text_rows) -> Any:
    """Rows of n-grams of one or two characters, each counted."""
    how = (len(names), None, None, 0, False)
    return module.CharRows(packed(names), (1, 2), (True, True, "none"), *how)


@settings(deadline=None)
@given(st.lists(st.text("ab\0", max_size=3), unique=True), st.text("ab\0 ", max_size=12))
def test_names_that_no_word_has(names: list[str], one: str) -> None:
    """Empty ones, and those with a NUL: no word of a text is taken for one of them."""
    same_rows(words_known(names), words_known(names, plain_rows), [one, "a", "ab"])


HOWS = st.tuples(
    st.sampled_from(["count", "sublinear", "log"]), st.booleans(), st.booleans(), st.booleans()
)


def how_of(how: tuple[str, bool, bool, bool], size: int, norm: int) -> tuple[Any, ...]:
    """What becomes of counts, as the kernels take it."""
    term, scaled, normed, unit = how
    values = None if term == "count" else WEIGHTINGS[_NAMES[term]].table
    idf = 1.0 + frozen(range(size), np.float64) / 7 if scaled else None
    return size, values, idf, norm if normed else 0, unit


_NAMES = {"sublinear": "unit", "log": "log"}


@draws(150)
@given(TEXTS, NAMES, RULES, HOWS, st.integers(2, 3), st.data())
def test_rows_of_words(
    texts: list[str], names: list[str], rule: str, how: Any, n: int, data: st.DataObject
) -> None:
    lowercase, marks = data.draw(st.tuples(st.booleans(), st.booleans()))
    rules = (lowercase, data.draw(st.integers(1, 3)), rule, marks, marks)
    ids, ptr, _, _, words, *_ = text.encode(texts, *rules, False)
    tree, numbers = NGrams.of_names(sorted({*words[::2], *some_pairs(ids, ptr, words)}), n)
    known = list(dict.fromkeys([*tree.words, *names]))
    dropped = None
    if data.draw(st.booleans()):  # among them are all that are no words of the tree
        dropped = np.array([at % 5 == 0 or name not in tree.words for at, name in enumerate(known)])
        dropped = frozen(dropped, np.uint8)
    else:
        known = list(tree.words)
    size = 1 + max((int(level.max(initial=-1)) for level in numbers), default=-1)
    arguments = (
        packed(known),
        dropped,
        list(zip(tree.child_ptr, tree.last, strict=True)),
        numbers,
        rules,
        *how_of(how, size, n),
    )
    same_rows(text_rows.WordRows(*arguments), plain_rows.WordRows(*arguments), texts)


def some_pairs(ids: Any, ptr: Any, words: list[str]) -> list[str]:
    """Every other pair of words of the sentences."""
    pairs = (
        f"{words[a]} {words[b]}"
        for start, end in pairwise(ptr.tolist())
        for a, b in pairwise(ids[start:end].tolist())
    )
    return list(pairs)[::2]


def same_rows(kernel: Any, twin: Any, texts: list[str]) -> None:
    """Both give the same rows, and the kernel the same bits for each text alone."""
    rows, expected = kernel(texts), twin(texts)
    assert equal(rows[:2], expected[:2])
    np.testing.assert_allclose(rows[2], expected[2], rtol=1e-14)  # but for lengths by NumPy
    for d, one in enumerate(texts):
        here = slice(rows[0][d], rows[0][d + 1])
        assert equal(kernel([one])[1:], (rows[1][here], rows[2][here]))


def test_many_known_words() -> None:
    words = [f"{'w' * (n % 40)}{n:x}" for n in range(20_000)]
    rows = words_known(words[::-2])
    assert rows.distinct
    _, indices, data = rows([" ".join([*words, *words[::2]])])
    assert indices.tolist() == list(range(10_000))
    assert (data == 1).all()
    _, indices, data = rows([f"{words[1]} {words[0]} {words[1]} {words[3]}"])
    assert indices.tolist() == [9998, 9999]
    assert data.tolist() == [1.0, 2.0]


def test_a_tree_of_many_characters() -> None:
    """Some share a bit."""
    names = sorted(
        f"{chr(0x4E00 + n % 97)}{chr(97 + n % 26)}{chr(0x3040 + n % 71)}" for n in range(3000)
    )
    rows_of_chars(["".join(names[:40]), "".join(names[5:9])], set(names), 1, 3, False)
    rows_of_chars(["".join(names)], set(names[::7]), 1, 3, False)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 4), st.integers(0, 5), st.booleans(), RULES, HOWS, st.data())
def test_rows_of_characters(
    texts: list[str], low: int, more: int, lower: bool, rule: str, how: Any, data: st.DataObject
) -> None:
    every = "".join(texts).lower()
    places = st.tuples(st.integers(0, len(every)), st.integers(1, 6))
    names = {every[at : at + n] for at, n in data.draw(st.lists(places))} - {""}
    rows_of_chars(texts, names, low, low + more, lower, rule, how, data.draw(st.booleans()))


def rows_of_chars(
    texts: list[str],
    names: set[str],
    shortest: int,
    longest: int,
    lower: bool,
    rule: str = "punct",
    how: Any = ("sublinear", True, True, True),
    across: bool = False,
) -> None:
    arguments = (
        packed(sorted(names)),
        (shortest, longest),
        (lower, across, rule),
        *how_of(how, len(names), 1),
    )
    same_rows(text_rows.CharRows(*arguments), plain_rows.CharRows(*arguments), texts)


def test_many_unknown_grams() -> None:
    texts = [" ".join(f"{n:06}" for n in range(start, 3000, 7)) for start in range(3)]
    rows_of_chars(texts, {" 00", "000"}, 2, 5, True)


@settings(deadline=None)
@given(NAMES, st.booleans())
def test_in_order(names: list[str], ordered: bool) -> None:
    arguments = packed(sorted(set(names)) if ordered else names)
    assert text_grams.in_order(*arguments) == plain_grams.in_order(*arguments)
    assert text_grams.in_order(*arguments) or not ordered


@settings(deadline=None)
@given(NAMES, NAMES)
def test_merge_names(one: list[str], other: list[str]) -> None:
    one, other = sorted(set(one)), sorted(set(other))
    arguments = (*packed(one), *packed(other))
    merged = text_grams.merge_names(*arguments)
    for places, expected, names in zip(
        merged, plain_grams.merge_names(*arguments), (one, other), strict=True
    ):
        assert equal(places, expected)
        every = sorted({*one, *other})
        assert [every[place] for place in places] == names


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
    numbers = text_grams.number_grams(*arguments)
    assert equal(numbers, plain_grams.number_grams(*arguments))
    assert np.sort(numbers[keep > 0]).tolist() == list(range(int(keep.sum())))


def test_arrays_of_other_types_are_refused() -> None:
    rules, how = (True, 1, "none", False, False), (0, None, None, 0, False)
    with pytest.raises((TypeError, ValueError)):
        text_rows.WordRows((np.zeros(1), None), None, [], [], rules, *how)
    with pytest.raises((TypeError, ValueError)):
        text_rows.CharRows((np.zeros(1), None), (1, 2), (True, True, "none"), *how)


def test_what_is_no_text_is_refused() -> None:
    for rows in (words_known(["a"]), chars_known(["a"])):
        with pytest.raises(TypeError):
            rows(["a", None])
        with pytest.raises(TypeError):
            rows("a")
        assert [array.tolist() for array in rows([])] == [[0], [], []]
