"""The compiled kernel of character n-grams against its plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_text_kernels import RULES, TEXTS, equal, three_threads
from thoroughness import draws
from twins import text_chars as plain

from textreg._core import text_chars

WHOLE = 10**6
"""A number of characters that no run has: each is its only n-gram."""
HARD = ["a<。b<。c", "a.<br /> b. <i>", "İ ΑΣ Σ.\n\n  x"]


@draws(500)
@given(TEXTS, st.booleans(), st.booleans(), RULES, st.booleans())
@example(HARD, True, False, "punct", True)
@example(HARD, True, True, "punct", True)
def test_runs(texts: list[str], lowercase: bool, across: bool, rule: str, spans: bool) -> None:
    arguments = (texts, lowercase, across, rule, WHOLE, WHOLE, spans)
    assert equal(text_chars.encode(*arguments), plain.encode(*arguments))


@draws(300)
@given(TEXTS, st.booleans(), st.booleans(), st.integers(1, 4), st.integers(0, 5), st.booleans())
@example(HARD, True, False, 1, 2, True)
@example(HARD, True, True, 2, 3, True)
def test_encode(
    texts: list[str], lowercase: bool, across: bool, shortest: int, more: int, spans: bool
) -> None:
    arguments = (texts, lowercase, across, "punct", shortest, shortest + more, spans)
    assert equal(text_chars.encode(*arguments), plain.encode(*arguments))


@draws(50)
@given(st.lists(TEXTS, max_size=3), RULES, st.booleans(), st.booleans())
def test_encode_in_threads(texts: list[list[str]], rule: str, across: bool, spans: bool) -> None:
    arguments = ([one for some in texts for one in some], True, across, rule, 1, 3, spans)
    alone = text_chars.encode(*arguments)
    with three_threads():
        assert equal(text_chars.encode(*arguments), alone)


def test_runs_of_every_character() -> None:
    """But of unassigned planes only some."""
    texts = [f"{c}b C{c}" for c in map(chr, [*range(0x20000), *range(0x20000, 0x110000, 97)])]
    ids, sentence_ptr, _, document_ptr, names, *_ = text_chars.encode(
        texts, True, True, "none", WHOLE, WHOLE, False
    )
    starts = sentence_ptr[document_ptr].tolist()
    for c, text in enumerate(texts):
        runs = [names[i] for i in ids[starts[c] : starts[c + 1]]]
        assert runs == [" ".join(text.lower().split())]


def test_many_and_long_runs() -> None:
    words = [f"{'w' * (n % 40)}{n:x}" for n in range(20_000)]
    words += ["x" * 100_000, "x" * 100_001, "é" + "x" * 99_999]
    texts = [" ".join(words), " ".join(words)]
    ids, *_, names, _, _ = text_chars.encode(texts, True, False, "none", WHOLE, WHOLE, False)
    assert [names[i] for i in ids] == [f" {word} " for word in words] * 2
    assert names == sorted(f" {word} " for word in words)


# One and two code points, of which a run of one, or of two, takes the same memory.
POINTS = st.text(st.sampled_from("\0abc \U0010ffff\ud800\u0800"), max_size=8)


@settings(deadline=None)
@given(st.lists(POINTS, max_size=8), st.booleans(), st.integers(1, 4), st.integers(0, 5))
def test_grams_of_few_characters(texts: list[str], across: bool, shortest: int, more: int) -> None:
    arguments = (texts, False, across, "none", shortest, shortest + more, True)
    assert equal(text_chars.encode(*arguments), plain.encode(*arguments))


def test_grams_of_many_and_long_runs() -> None:
    rng = np.random.default_rng(0)
    for points in (rng.integers(0, 0x110000, 20_000), rng.integers(97, 100, 20_000)):
        text = "".join(map(chr, points.tolist()))
        arguments = ([text[:9_000], text[9_000], text[9_001:]], False, True, "none", 2, 5, False)
        assert equal(text_chars.encode(*arguments), plain.encode(*arguments))
    arguments = (["a" * 200, "a" * 100], False, True, "none", 1, 150, True)
    assert equal(text_chars.encode(*arguments), plain.encode(*arguments))
