"""The compiled kernels of character n-grams against their plain twins."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_text_kernels import TEXTS, equal, frozen
from twins import text_chars as plain_chars
from twins import text_runs as plain_runs

from textreg._core import text_chars, text_runs
from textreg.text import SENTENCES

RULES = st.sampled_from(SENTENCES)


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.booleans(), st.booleans(), RULES, st.booleans())
@example(["a<。b<。c", "a.<br /> b. <i>", "İ ΑΣ Σ.\n\n  x"], True, False, "punct", True)
@example(["a<。b<。c", "a.<br /> b. <i>", "İ ΑΣ Σ.\n\n  x"], True, True, "punct", True)
def test_runs(texts: list[str], lowercase: bool, across: bool, rule: str, spans: bool) -> None:
    arguments = (texts, lowercase, across, rule, spans)
    assert equal(text_runs.runs(*arguments), plain_runs.runs(*arguments))


def test_runs_of_every_character() -> None:
    """But of unassigned planes only some."""
    texts = [f"{c}b C{c}" for c in map(chr, [*range(0x20000), *range(0x20000, 0x110000, 97)])]
    spelled, run_ptr, ids, sentence_ptr, _, document_ptr, *_ = text_runs.runs(
        texts, True, True, "none", False
    )
    every = "".join(map(chr, spelled.tolist()))
    runs = [every[i:j] for i, j in itertools.pairwise(run_ptr)]
    starts = sentence_ptr[document_ptr].tolist()
    for c, text in enumerate(texts):
        assert [runs[i] for i in ids[starts[c] : starts[c + 1]]] == [" ".join(text.lower().split())]


def test_many_and_long_runs() -> None:
    words = [f"{'w' * (n % 40)}{n:x}" for n in range(20_000)]
    words += ["x" * 100_000, "x" * 100_001, "é" + "x" * 99_999]
    texts = [" ".join(words), " ".join(words)]
    spelled, run_ptr, ids, *_ = text_runs.runs(texts, True, False, "none", False)
    assert len(run_ptr) == len(words) + 1
    assert ids.tolist() == list(range(len(words))) * 2
    assert "".join(map(chr, spelled.tolist())) == "".join(f" {word} " for word in words)


@st.composite
def cut(draw: st.DrawFn, low: int = 1) -> tuple[Any, Any]:
    """Code points, and offsets that cut them into runs of at least ``low``."""
    points = st.sampled_from([0, 32, 97, 98, 99, 0x10FFFF, 0xD800, 0x800])
    runs = draw(st.lists(st.lists(points, min_size=low, max_size=8), max_size=8))
    ptr = np.cumsum([0, *map(len, runs)])
    return frozen([c for run in runs for c in run], np.uint32), frozen(ptr, np.int64)


@settings(deadline=None)
@given(cut(), st.integers(1, 4), st.integers(0, 5))
def test_grams(runs: Any, shortest: int, more: int) -> None:
    spelled, ptr = runs
    arguments = (spelled, ptr, shortest, shortest + more)
    assert equal(text_chars.grams(*arguments), plain_chars.grams(*arguments))
    assert equal(text_chars.sizes(*arguments[1:]), plain_chars.sizes(*arguments[1:]))
    begins = frozen(np.arange(len(spelled)) * 3, np.int32)
    ends = frozen(begins + 2 - 4 * (spelled % 2), np.int32)
    arguments = (begins, ends, *arguments[1:])
    assert equal(text_chars.gram_spans(*arguments), plain_chars.gram_spans(*arguments))


@settings(deadline=None)
@given(cut(low=0), st.data())
def test_expand(pieces: Any, data: st.DataObject) -> None:
    ids, ptr = frozen(pieces[0], np.int32), pieces[1]
    some = st.lists(st.integers(0, len(ptr) - 2)) if len(ptr) > 1 else st.just([])
    runs = frozen(data.draw(some), np.int32)
    assert equal(text_chars.expand(ids, ptr, runs), plain_chars.expand(ids, ptr, runs))


def test_grams_of_many_and_long_runs() -> None:
    rng = np.random.default_rng(0)
    for spelled in (rng.integers(0, 0x110000, 20_000), rng.integers(97, 100, 20_000)):
        runs = (frozen(spelled, np.uint32), frozen([0, 9_000, 9_001, 20_000], np.int64))
        assert equal(text_chars.grams(*runs, 2, 5), plain_chars.grams(*runs, 2, 5))
    long = (frozen(np.full(300, 97), np.uint32), frozen([0, 200, 300], np.int64))
    assert equal(text_chars.grams(*long, 1, 150), plain_chars.grams(*long, 1, 150))
