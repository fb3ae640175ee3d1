"""The parts of a document on a page: words stay whole, and what each adds to the score is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from textreg.explain import Explanation, SentenceScore, Word
from textreg_report.sections import _by_turns, _level, lines_of, preview, take, telling_words


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


def film() -> Explanation:
    """Four sentences, a feature of two words, and one on the border of what has a color."""
    sentences = (
        SentenceScore(0, 10, 3.0, 2.0, 0.5),
        SentenceScore(12, 20, -1.0, -1.0, 0.1),
        SentenceScore(21, 27, 0.02, 0.0, 0.2),
        SentenceScore(28, 33, 0.5, 0.4, 0.3),
    )
    words = (
        Word(0, 4, "Good", 2.0),
        Word(0, 9, "Good film", 1.0),
        Word(12, 15, "Bad", -1.0),
        Word(21, 23, "So", 0.02),
        Word(28, 32, "Fine", 0.5),
    )
    text = "Good film.  Bad end. So so. Fine."
    return Explanation(text, "a", {"a": 0.8}, "a", 0.25, 2.77, sentences, words)


def shown(characters: int) -> list[str]:
    """The lines of that text: its marks with their values and levels, then what is hidden."""
    lines = lines_of(film(), np.array([[13, 15], [27, 29]]), characters)
    return [
        "|".join(f"{mark.text}:{mark.value:g}:{mark.level}" for mark in line.marks)
        + f" {line.value:g} {line.removal} {line.evidence} {line.marked} {line.hidden}"
        for line in lines
    ]


def test_lines_as_a_whole() -> None:
    assert shown(3000) == [
        "Good:2.5:5| film:0.5:1|.  :0:0 3 2.0 0.5 False ",
        "Bad:-1:-2| end. :0:0 -1 -1.0 0.1 True ",
        "So:0.02:0| so. :0:0 0.02 0.0 0.2 False ",
        "Fine:0.5:1|.:0:0 0.5 0.4 0.3 True ",
    ]
    assert shown(21) == [*shown(3000)[:2], " 0.52 None 0.0 False 2 more sentences"]
    assert shown(20) == [shown(3000)[0], " -0.48 None 0.0 False 3 more sentences"]
    assert shown(5) == [
        "Good:2.5:5 3 2.0 0.5 False 8 more characters",
        " -0.48 None 0.0 False 3 more sentences",
    ]
    (whole,) = lines_of(replace(film(), sentences=()))
    assert (whole.start, whole.end, whole.value, whole.marked) == (0, 33, 0.0, False)
    levels = [(0.0, 0), (0.02, 0), (0.021, 1), (0.2, 1), (0.21, 2), (1.0, 5), (-0.5, -3)]
    assert [(value, _level(value, 1.0)) for value, _ in levels] == levels


def test_words_that_tell_most() -> None:
    assert telling_words(film(), 2) == (("good", 2.0), ("good film", 1.0))
    assert telling_words(film(), 9)[2:] == (("fine", 0.5), ("so", 0.02))
    turned = replace(film(), words=tuple(it._replace(value=-it.value) for it in film().words))
    assert telling_words(turned, 9) == (("bad", 1.0),)
    # Of characters the words around them tell it.
    grams = (Word(0, 3, "Goo", 1.0), Word(3, 6, "d f", 2.0), Word(29, 31, "in", 0.5))
    assert telling_words(replace(film(), words=grams), 9) == (
        ("good", 2.0),
        ("film", 1.0),
        ("fine", 0.5),
    )


def test_documents_of_every_kind_and_label_in_turn() -> None:
    orders = {"wrong": [3, 1, 0], "unsure": [0, 2, 4, 5, 6], "right": [6, 5, 7]}
    every = {kind: np.array(rows) for kind, rows in orders.items()}
    strata = np.array([0, 0, 1, 1, 0, 1, 0, 0])
    some = {"wrong": 2, "unsure": 2, "right": 3}
    # Rows 0 and 5 have the same text, and rows that are taken once are not taken again.
    assert list(take(every, some, strata, list("abcdeafh")).items()) == [
        (3, "wrong"), (1, "wrong"), (0, "unsure"), (2, "unsure"), (6, "right"), (7, "right"),
    ]  # fmt: skip
    few = {"wrong": 5, "unsure": 0, "right": 1}
    assert list(take(every, few, strata, list("abcdefgh")).items()) == [
        (3, "wrong"), (1, "wrong"), (0, "wrong"), (2, "unsure"), (4, "unsure"), (6, "right"),
    ]  # fmt: skip
    assert list(_by_turns([0, 1, 2, 3, 4], strata)) == [0, 2, 1, 3, 4]


def test_beginnings_of_texts() -> None:
    assert preview("ab " * 53) == " ".join(["ab"] * 53)
    assert preview("ab\n" * 53 + "xy") == " ".join(["ab"] * 53) + " …"
    assert preview("a  b\n" * 200) == ("a b " * 40)[:159] + "…"
