"""A document as a page shows it: sentence by sentence, in pieces with their shares of the score."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textreg.report.document_records import Line, Mark

if TYPE_CHECKING:
    from textreg.explain import Explanation

CHARACTERS, LINE_CHARACTERS = 4000, 1200
"""What is shown of a document and of a sentence; what is beyond is counted and summed."""

LEVELS = 5
LEAST = 0.02
"""Share of the strongest piece below which one is not colored."""


class _Sentence(NamedTuple):
    """A part of the text, from the start of a sentence to that of the next."""

    start: int
    end: int
    value: float
    removal: float | None


class _Piece(NamedTuple):
    start: int
    end: int
    value: float


def lines_of(explanation: Explanation) -> tuple[Line, ...]:
    """The text, cut into sentences; of a long one those whose removal matters most.

    Intercept and lines add up to the score, and so do intercept and marks where nothing is hidden.
    """
    text, sentences = explanation.text, _sentences(explanation)
    pieces = _pieces(explanation, [sentence.start for sentence in sentences])
    most = max((abs(piece.value) for piece in pieces), default=0.0)
    chosen = _within_budget(sentences)
    lines: list[Line] = []
    for show, run in itertools.groupby(range(len(sentences)), key=chosen.__contains__):
        numbers = list(run)
        if not show:
            value = sum(sentences[number].value for number in numbers)
            plural = "s" if len(numbers) > 1 else ""
            lines.append(Line((), value, None, f"{len(numbers):,} more sentence{plural}"))
            continue
        for sentence in (sentences[number] for number in numbers):
            end = min(sentence.end, sentence.start + LINE_CHARACTERS)
            first, last = (bisect_left(pieces, (place,)) for place in (sentence.start, end))
            marks = tuple(
                Mark(text[start : min(stop, end)], value, _level(value, most))
                for start, stop, value in pieces[first:last]
            )
            rest = sentence.end - end
            hidden = f"{rest:,} more characters" if rest else ""
            lines.append(Line(marks, sentence.value, sentence.removal, hidden))
    return tuple(lines)


def _sentences(explanation: Explanation) -> list[_Sentence]:
    """The whole text: what stands between two sentences goes with the first of them."""
    found = explanation.sentences
    if not found:
        return [_Sentence(0, len(explanation.text), 0.0, None)]
    borders = [0, *(sentence.start for sentence in found[1:]), len(explanation.text)]
    return [
        _Sentence(start, end, sentence.value, sentence.removal)
        for sentence, (start, end) in zip(found, itertools.pairwise(borders), strict=True)
    ]


def _within_budget(sentences: Sequence[_Sentence]) -> set[int]:
    """Numbers of the sentences to show: all of them, or those of the largest removal."""
    chosen: set[int] = set()
    size = 0
    for number in sorted(range(len(sentences)), key=lambda it: -abs(sentences[it].removal or 0.0)):
        size += min(sentences[number].end - sentences[number].start, LINE_CHARACTERS)
        if chosen and size > CHARACTERS:
            break
        chosen.add(number)
    return chosen


def _pieces(explanation: Explanation, cuts: Sequence[int]) -> list[_Piece]:
    """The text in consecutive pieces, cut wherever a feature begins or ends and at ``cuts``.

    A feature's value is dealt out equally to the pieces it covers that are more than blanks, so
    that nothing counts twice where n-grams overlap.
    """
    text = explanation.text
    ends = {end for word in explanation.words for end in (word.start, word.end)}
    borders = sorted({0, len(text), *cuts, *ends})
    spans = list(itertools.pairwise(borders))
    place = {border: number for number, border in enumerate(borders)}
    values = [0.0] * len(spans)
    for word in explanation.words:
        covered = range(place[word.start], place[word.end])
        solid = [number for number in covered if not text[slice(*spans[number])].isspace()]
        for number in solid or covered:
            values[number] += word.value / len(solid or covered)
    return [_Piece(*span, value) for span, value in zip(spans, values, strict=True)]


def _level(value: float, most: float) -> int:
    """How strongly a piece is colored."""
    if abs(value) <= LEAST * most:
        return 0
    return int(math.copysign(math.ceil(LEVELS * abs(value) / most), value))
