"""The compiled text kernels against their plain twins."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import draws
from twins import text as plain
from twins import text_counts as plain_counts
from twins import text_grams as plain_grams

from textreg._core import (
    text,
    text_counts,
    text_grams,
    text_ranges,
    text_rules,
    threads,
)
from textreg.records.text import Names
from textreg.text import SENTENCES

# Everything that the rules look at, dense enough to meet; and any character at all, with the halves
# of surrogate pairs.
TELLING = st.sampled_from(
    [
        *"aAbBiIzZ190 .!?…:;,<>()'\"»-_\n\r\t\0éÉßİıΣσςﬁµ",
        *"的。”“」ｶﾞी้ำ\u0301\xad\u200d！Ж𐐀😀🏽🇩🇪❤\ufe0f©٣\u0307\u2028\u00a0\ud800\u212a",
        *("\r\n", "\n\n", " . ", ".<br", "From: ", "e.g.", "Mr", "No", "no", "p", "abcdefgh"),
    ]
)
TEXT = st.lists(TELLING | st.characters(exclude_categories=())).map("".join)
TEXTS = st.lists(TEXT, max_size=4)
RULES = st.sampled_from(SENTENCES)
MARKS, IGNORED, SPACELESS = (
    frozenset(text_rules.characters(ranges))
    for ranges in (text_ranges.MARKS, text_ranges.IGNORED, text_ranges.SPACELESS)
)


def equal(one: Any, other: Any) -> bool:
    """Whether two results are the same, types of arrays included."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


def frozen(values: Any, dtype: type) -> Any:
    """A read-only array."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


@draws(500)
@given(TEXTS, st.booleans(), st.integers(1, 3), RULES, *[st.booleans()] * 3)
def test_encode(
    texts: list[str],
    lowercase: bool,
    shortest: int,
    rule: str,
    punctuation: bool,
    emoji: bool,
    spans: bool,
) -> None:
    arguments = (texts, lowercase, shortest, rule, punctuation, emoji, spans)
    assert equal(text.encode(*arguments), plain.encode(*arguments))


def expected(c: str) -> list[str]:
    """The words of the text that :func:`test_every_character` makes of a character."""
    folded = text_rules.folded(c)
    if c in SPACELESS:
        return [c, c, "bcdefgh", "abcdefg", c, "ijkl", c]
    if c in IGNORED or not (c in MARKS or c == "_" or c.isalnum()):
        return ["bcdefgh", "abcdefg", "ijkl"]
    return [folded, f"{folded}bcdefgh", f"abcdefg{folded}", f"ijkl{folded}"]


@given(TEXT | st.text(st.characters(max_codepoint=0x100)))
def test_is_latin(one: str) -> None:
    assert text.is_latin(one) == plain.is_latin(one)
    assert not text.is_latin(one) or unicodedata.is_normalized("NFC", one)
    with pytest.raises(TypeError):
        text.is_latin(one.encode("utf-16", errors="surrogatepass"))


def test_folding_is_that_of_unicode() -> None:
    # No letter of the last planes has cases.
    for c in map(chr, [*range(0x20000), *range(0x20000, 0x110000, 97)]):
        assert text_rules.folded(c) in (c.casefold(), unicodedata.normalize("NFC", c.casefold()))
        assert len(c.casefold()) > 1 or text_rules.folded(c) == c.casefold()


@pytest.mark.thorough
def test_every_character() -> None:
    """Alone, at both ends of eight characters, which are read at once, and at the end."""
    texts = [f"{c} {c}bcdefgh abcdefg{c} ijkl{c}" for c in map(chr, range(0x110000))]
    ids, sentence_ptr, _, document_ptr, names, _, _ = text.encode(
        texts, True, 1, "none", False, False, False
    )
    names, starts = np.array(names, dtype=object), sentence_ptr[document_ptr].tolist()
    for c, one in enumerate(texts):
        words = names[ids[starts[c] : starts[c + 1]]].tolist()
        assert words == expected(one[0]), hex(c)


def test_no_letter_digit_or_mark_is_dropped() -> None:
    """Of any script, but for the marks that are not seen, which belong to the word before them."""
    every = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c))[0] in "LNM"]
    alone = text.encode(every, False, 1, "none", False, False, False)[4]
    assert set(every) - set(alone) <= IGNORED
    _, sentence_ptr, *_, spans, _ = text.encode(
        [f"a{c}" for c in every], False, 1, "none", False, False, True
    )
    assert spans is not None
    assert (spans[sentence_ptr[1:] - 1, 1] == 2).all()


@settings(deadline=None)
@given(st.lists(TEXT | st.text(st.characters(categories=["L", "N", "M"]))))
def test_every_letter_digit_and_mark_has_a_place(texts: list[str]) -> None:
    *_, document_ptr, _, spans, _ = text.encode(texts, True, 1, "punct", False, False, True)
    sentence_ptr = text.encode(texts, True, 1, "punct", False, False, True)[1]
    assert spans is not None
    for d, one in enumerate(texts):
        low, high = sentence_ptr[document_ptr[d]], sentence_ptr[document_ptr[d + 1]]
        inside = {i for start, end in spans[low:high].tolist() for i in range(start, end)}
        for i, c in enumerate(one):
            if unicodedata.category(c)[0] in "LNM" and c not in IGNORED:
                assert i in inside


@pytest.mark.parametrize("wide", ["", "é", "яй", "𐐨"])
def test_many_and_long_words(wide: str) -> None:
    words = [f"{'w' * (n % 40)}{wide}{n:x}" for n in range(20_000)]
    words += ["x" * 100_000, "x" * 100_001, "x" * 99_999 + wide]
    ids, *_, names, _, _ = text.encode(
        [" ".join(words), " ".join(words)], True, 1, "none", False, False, False
    )
    assert [names[i] for i in ids] == 2 * words
    assert names == sorted(set(words))


def test_encode_takes_any_sequence_of_str() -> None:
    texts = np.array(["one two", "two"])  # its elements are of a class derived from str
    assert text.encode(texts, True, 1, "none", False, False, False)[4] == ["one", "two"]
    assert equal(
        text.encode([], True, 1, "punct", False, False, True),
        plain.encode([], True, 1, "punct", False, False, True),
    )


@pytest.mark.parametrize("wrong", [None, 3.5, b"bytes", ["a"]])
def test_encode_refuses_what_is_no_str(wrong: Any) -> None:
    with pytest.raises(TypeError):
        text.encode(["fine", wrong], True, 1, "punct", False, False, False)


def test_abbreviations_fit_the_scanner() -> None:
    for word in text_rules.TITLES | text_rules.NUMBERED:
        assert re.fullmatch("[a-z]{1,8}", word)


@st.composite
def streams(draw: st.DrawFn, low: int = 0) -> tuple[Any, Any, int]:
    """Ids from ``low``, offsets that cut them, and the number of features."""
    n_features = draw(st.integers(1, 200))
    sizes = draw(st.lists(st.integers(0, 50), max_size=6))
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    total = int(ptr[-1])
    ids = draw(st.lists(st.integers(low, n_features - 1), min_size=total, max_size=total))
    return frozen(ids, np.int32), frozen(ptr, np.int64), n_features


@settings(deadline=None)
@given(streams(), st.randoms(use_true_random=False))
def test_renumber(stream: Any, random: Any) -> None:
    ids, ptr, n = stream
    new = frozen([random.randint(-2, n) for _ in range(n)], np.int32)
    assert equal(text_counts.renumber(ids, ptr, new), plain_counts.renumber(ids, ptr, new))


@settings(deadline=None)
@given(streams(low=-1), st.none() | st.randoms(use_true_random=False))
def test_document_frequencies(stream: Any, random: Any) -> None:
    pieces = len(stream[1]) - 1
    some = random and frozen([random.randrange(pieces) for _ in range(pieces)], np.int64)
    assert equal(
        text_counts.document_frequencies(*stream, some),
        plain_counts.document_frequencies(*stream, some),
    )


@settings(deadline=None)
@given(streams())
def test_count_and_sentence_sets(stream: Any) -> None:
    assert equal(text_counts.count(*stream), plain_counts.count(*stream))
    assert equal(text_counts.sentence_sets(*stream), plain_counts.sentence_sets(*stream))


def test_count_of_features_far_apart() -> None:
    ids = frozen([300_000, 5, 64, 4095, 4096, 64, 299_999, 0, 300_000], np.int32)
    stream = (ids, frozen([0, 6, 6, 9], np.int64), 300_001)
    assert equal(text_counts.count(*stream), plain_counts.count(*stream))


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-9, 9), max_size=4), max_size=4))
def test_normalize_rows(rows: list[list[float]]) -> None:
    ptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
    data = np.array([value for row in rows for value in row], dtype=np.float64)
    other = data.copy()
    text_counts.normalize_rows(data, ptr)
    plain_counts.normalize_rows(other, ptr)
    np.testing.assert_allclose(data, other, rtol=1e-14)


@settings(deadline=None)
@given(streams(low=-1), st.integers(2, 4))
def test_grams(stream: Any, most: int) -> None:
    words, ptr, n_words = stream
    parents, n_parents = words, n_words
    for k in range(2, most + 1):
        arguments = (parents, words, ptr, k, n_parents, n_words)
        ids, child_ptr, last = text_grams.grams(*arguments)
        assert equal((ids, child_ptr, last), plain_grams.grams(*arguments))
        assert equal(text_grams.find_grams(parents, words, ptr, k, child_ptr, last), ids)
        some = frozen(np.where(np.arange(len(words)) % 3, words, 0), np.int32)
        arguments = (parents, some, ptr, k, child_ptr, last)
        assert equal(text_grams.find_grams(*arguments), plain_grams.find_grams(*arguments))
        parents, n_parents = frozen(ids, np.int32), len(last)


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Words, offsets of their sentences, and offsets of the documents in those."""
    words, ptr, _ = draw(streams())
    cuts = draw(st.lists(st.integers(0, len(ptr) - 1), max_size=3))
    return words, ptr, frozen([0, *sorted(cuts), len(ptr) - 1], np.int64)


@settings(deadline=None)
@given(documents(), st.integers(1, 4))
def test_gram_norms(stream: Any, n: int) -> None:
    norms = text_counts.gram_norms(*stream, n)
    np.testing.assert_allclose(norms, plain_counts.gram_norms(*stream, n), rtol=1e-14)


@settings(deadline=None)
@given(documents(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_gram_norms_hang_on_nothing_else(stream: Any, n: int, random: Any) -> None:
    """To the last bit: neither on the numbers of the words nor on the other documents."""
    words, ptr, document_ptr = stream
    norms = text_counts.gram_norms(*stream, n).tolist()
    numbers = random.sample(range(2**31), int(words.max(initial=0)) + 1)
    renamed = frozen(np.array(numbers, dtype=np.int64)[words], np.int32)
    assert text_counts.gram_norms(renamed, ptr, document_ptr, n).tolist() == norms
    for d, norm in enumerate(norms):
        cuts = ptr[document_ptr[d] : document_ptr[d + 1] + 1]
        alone = (words[cuts[0] : cuts[-1]], cuts - cuts[0], np.array([0, len(cuts) - 1]))
        assert text_counts.gram_norms(*alone, n).tolist() == [norm]


def test_gram_norms_of_a_long_document() -> None:
    """Every pair of 300 words in a sentence of its own, so each word 600 times."""
    pairs = np.array([(a, b) for a in range(300) for b in range(300)], dtype=np.int32)
    sentences = frozen(np.arange(0, pairs.size + 1, 2), np.int64)
    whole = frozen([0, len(pairs)], np.int64)
    norms = text_counts.gram_norms(pairs.ravel(), sentences, whole, 2)
    assert norms == pytest.approx([np.sqrt(300 * (1 + np.log(600)) ** 2 + 90_000)], rel=1e-14)


@settings(deadline=None)
@given(streams(low=-1), st.integers(1, 3), st.randoms(use_true_random=False))
def test_insert_ngrams(stream: Any, depth: int, random: Any) -> None:
    ids, ptr, n = stream
    levels = [
        frozen(np.where(np.arange(len(ids)) % k, ids, -1), np.int32) for k in range(1, depth + 1)
    ]
    new = [frozen([random.randint(-2, 99) for _ in range(n)], np.int32) for _ in levels]
    assert equal(
        text_grams.insert_ngrams(levels, new, ptr), plain_grams.insert_ngrams(levels, new, ptr)
    )


def test_insert_ngrams_refuses_levels_that_do_not_fit() -> None:
    level, ptr = frozen([0, 0], np.int32), frozen([0, 2], np.int64)
    for kernel in (text_grams.insert_ngrams, plain_grams.insert_ngrams):
        for streams, numbers in (([level], []), ([level[:1]], [level])):
            with pytest.raises(ValueError, match="stream"):
                kernel(streams, numbers, ptr)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 9), max_size=9), max_size=4), st.integers(1, 3))
def test_row_norms(rows: list[list[int]], large: int) -> None:
    counts = frozen([count**large for row in rows for count in row], np.float64)
    ptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
    norms = text_counts.row_norms(counts, ptr)
    np.testing.assert_allclose(norms, plain_counts.row_norms(counts, ptr), rtol=1e-14)


@settings(deadline=None)
@given(documents(), st.integers(1, 200))
def test_row_norms_are_those_of_all_words(stream: Any, n_features: int) -> None:
    """To the last bit."""
    words, ptr, document_ptr = stream
    words = frozen(words % n_features, np.int32)
    row_ptr, _, counts = text_counts.count(words, ptr[document_ptr], n_features)
    norms = text_counts.gram_norms(words, ptr, document_ptr, 1)
    assert text_counts.row_norms(counts, row_ptr).tolist() == norms.tolist()


@settings(deadline=None)
@given(streams(), st.booleans(), st.booleans())
def test_weigh_rows(stream: Any, scaled: bool, normed: bool) -> None:
    ptr, indices, counts = text_counts.count(*stream)
    rng = np.random.default_rng(0)
    values = frozen(rng.normal(size=int(counts.max(initial=0)) + 1), float)
    factors = frozen(rng.normal(size=stream[2] if scaled else 0), float)
    norms = frozen(rng.normal(size=len(ptr) - 1 if normed else 0), float)
    ours, theirs = counts.copy(), counts.copy()
    text_counts.weigh_rows(ours, frozen(indices, np.int32), ptr, values, factors, norms)
    plain_counts.weigh_rows(theirs, indices, ptr, values, factors, norms)
    assert ours.tolist() == theirs.tolist()


@settings(deadline=None)
@given(streams(), st.integers(0, 99), st.integers(0, 3))
def test_place_rows(stream: Any, shift: int, gap: int) -> None:
    ptr, indices, counts = text_counts.count(*stream)
    made = []
    for kernels in (text_counts, plain_counts):
        place = ptr[:-1] + gap * np.arange(1, len(ptr))
        out = (
            np.zeros(len(counts) + gap * len(ptr), np.int32),
            np.zeros(len(counts) + gap * len(ptr)),
        )
        given = frozen(ptr, np.int64), frozen(indices, np.int32), frozen(counts, np.float64)
        kernels.place_rows(*given, shift, place, *out)
        made.append((place, *out))
    assert equal(*made)


@settings(deadline=None)
@given(st.lists(TEXT, max_size=6), streams(low=-1), st.integers(1, 3), st.data())
def test_gram_names(words: list[str], stream: Any, most: int, data: st.DataObject) -> None:
    """Of a tree of n-grams of which some have a name."""
    names = Names.of(words)
    ids, ptr, _ = stream
    ids = frozen(np.minimum(ids, len(words) - 1), np.int32)
    children, lasts, size = [], [], len(words)
    parents, total = ids, len(words)
    for k in range(2, most + 1):
        parents, child_ptr, last = text_grams.grams(parents, ids, ptr, k, size, len(words))
        children.append(child_ptr[:-1] + total)
        lasts.append(last)
        size, total = len(last), total + len(last)
    named = data.draw(st.lists(st.booleans(), min_size=total, max_size=total))
    numbers = frozen(np.where(named, np.cumsum(named) - 1, -1), np.int32)
    arguments = (
        names.letters,
        names.ptr,
        frozen(np.concatenate([*children, [total]]), np.int64),
        frozen(np.concatenate([[], *lasts]), np.int32),
        numbers,
    )
    assert equal(text_grams.gram_names(*arguments), plain_grams.gram_names(*arguments))


@contextmanager
def three_threads() -> Iterator[None]:
    """Work in pieces of a text or two, by threads that take them as they come."""
    with pytest.MonkeyPatch.context() as patch, threads.allowing(3):
        patch.setattr(threads, "LEAST", 1)
        yield


@draws(50)
@given(st.lists(TEXT, max_size=12), RULES, st.booleans(), st.booleans())
def test_encode_in_threads(texts: list[str], rule: str, marks: bool, spans: bool) -> None:
    arguments = (texts, True, 1, rule, marks, marks, spans)
    alone = text.encode(*arguments)
    with three_threads():
        assert equal(text.encode(*arguments), alone)


@draws(50)
@given(streams())
def test_count_and_sentence_sets_in_threads(stream: Any) -> None:
    with three_threads():
        assert equal(text_counts.count(*stream), plain_counts.count(*stream))
        assert equal(text_counts.sentence_sets(*stream), plain_counts.sentence_sets(*stream))


def test_an_error_in_a_thread_ends_the_work() -> None:
    done = []

    def work(worker: int, piece: int) -> None:
        if piece == 3:
            raise ValueError("three")
        done.append(piece)

    for allowed in (1, 3):
        done.clear()
        with threads.allowing(allowed), pytest.raises(ValueError, match="three"):
            threads.share(work, 1000)
        assert len(done) < 999
        assert threads.allowed() == 1
