"""The parts of a document on a page: words stay whole, and what each adds to the score is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from textreg.explain import Explanation, SentenceScore, Word
from textreg_report.sections import lines_of


def parts_of(text: str, words: list[tuple[int, int, float]]) -> list[tuple[str, float]]:
    """Colored parts of a text of one sentence, whose occurrences of features are ``words``."""
    found = tuple(Word(start, end, text[start:end], value) for start, end, value in words)
    total = sum(value for *_, value in words)
    sentence = SentenceScore(0, len(text), total, 0.0, 0.0)
    explanation = Explanation(text, "a", {}, "a", 0.0, total, (sentence,), found)
    (line,) = lines_of(explanation)
    assert "".join(mark.text for mark in line.marks) == text
    assert sum(mark.value for mark in line.marks) == pytest.approx(total, abs=1e-12)
    return [(mark.text, mark.value) for mark in line.marks if mark.value]


def test_characters_count_for_their_words() -> None:
    text = "ab cd, ef"
    grams = [(0, 1, 1.0), (1, 2, 2.0), (1, 4, 4.0), (6, 9, 8.0)]  # b␣c touches both words
    assert parts_of(text, grams) == [("ab", 5.0), ("cd", 2.0), (" ef", 8.0)]


@pytest.mark.parametrize("word", ["नमस्ते", "cafe\u0301s", "x2y", "naïve"])
def test_a_word_is_one_part(word: str) -> None:
    grams = [(at, at + 1, 1.0) for at in range(len(word))]
    assert parts_of(word, grams) == [(word, float(len(word)))]


def test_scripts_without_spaces_keep_their_characters() -> None:
    assert parts_of("很好", [(0, 1, 1.0), (1, 2, 2.0)]) == [("很", 1.0), ("好", 2.0)]


def test_what_stands_between_words_parts_them() -> None:
    assert parts_of("don't", [(0, 3, 1.0), (4, 5, 2.0)]) == [("don", 1.0), ("t", 2.0)]


def test_many_parts_count_as_many_characters() -> None:
    text = "很" * 5_000
    found = tuple(Word(at, at + 1, "很", 1.0) for at in range(len(text)))
    spans = range(0, len(text), 100)
    sentences = tuple(SentenceScore(at, at + 100, 100.0, float(at), 0.0) for at in spans)
    explanation = Explanation(text, "a", {}, "a", 0.0, 5000.0, sentences, found)
    for characters in (3000, 900):
        lines = lines_of(explanation, characters=characters)
        assert sum(line.value for line in lines) == 5000.0
        assert sum(len(line.marks) for line in lines) == characters // 3
    whole = replace(explanation, sentences=(SentenceScore(0, 5000, 5000.0, 1.0, 0.0),))
    (line,) = lines_of(whole)
    assert len(line.marks) == 400
    assert line.hidden == "4,600 more characters"
