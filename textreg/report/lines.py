"""A document in sentences, whose parts are colored by their shares of the score."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textreg._core.text_ranges import MARKS, SPACELESS
from textreg._core.text_rules import runs
from textreg.report.document_records import Line, Mark

if TYPE_CHECKING:
    from textreg.explain import Explanation, Word
    from textreg.records import Int64s

CHARACTERS, LINE_CHARACTERS = 3000, 1200
"""Characters shown of a document and of a sentence; the rest is counted and summed."""

PART = 3
"""Characters that a part counts at least, as each takes room on the page."""

LEVELS = 5
MIN_SHARE = 0.02
"""A part is colored if its value is at least this share of the largest."""


def _class(ranges: str) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs(ranges))


_WORD = re.compile(rf"(?:[^\W{_class(SPACELESS)}]|[{_class(MARKS)}])+")
"""Letters and digits of one word, in scripts that put spaces between words."""


class _Sentence(NamedTuple):
    """The text from the start of a sentence to the start of the next."""

    start: int
    end: int
    value: float
    removal: float | None
    evidence: float
    field: str
    marked: bool


class _Part(NamedTuple):
    start: int
    end: int
    value: float


def lines_of(
    explanation: Explanation, passages: Int64s | None = None, characters: int = CHARACTERS
) -> tuple[Line, ...]:
    """The text in sentences; of a long text, those with the largest effect of removal.

    Intercept and lines sum to the score; so do intercept and marks if nothing is hidden. passages:
    (p, 2) where those that people marked begin and end. characters: how many are shown.
    """
    text, sentences = explanation.text, _sentences(explanation, passages)
    parts = _parts(explanation, [sentence.start for sentence in sentences])
    largest = max((abs(part.value) for part in parts), default=0.0)
    firsts = [bisect_left(parts, (sentence.start,)) for sentence in sentences]
    counts = [after - first for first, after in itertools.pairwise([*firsts, len(parts)])]
    chosen = _within_budget(sentences, counts, characters)
    longest = min(LINE_CHARACTERS, characters)
    lines: list[Line] = []
    for show, run in itertools.groupby(range(len(sentences)), key=chosen.__contains__):
        numbers = list(run)
        if not show:
            value = sum(sentences[number].value for number in numbers)
            plural = "s" if len(numbers) > 1 else ""
            lines.append(Line((), value, None, f"{len(numbers):,} more sentence{plural}"))
            continue
        for number in numbers:
            sentence, first = sentences[number], firsts[number]
            last = min(first + counts[number], first + longest // PART)
            end = min(sentence.start + longest, parts[last - 1].end)
            marks = tuple(
                Mark(text[start : min(stop, end)], value, _level(value, largest))
                for start, stop, value in parts[first:last]
            )
            rest = sentence.end - end
            hidden = f"{rest:,} more characters" if rest else ""
            of_sentence = sentence.evidence, sentence.field, sentence.marked
            lines.append(Line(marks, sentence.value, sentence.removal, hidden, *of_sentence))
    return tuple(lines)


def telling_words(explanation: Explanation, top: int) -> tuple[tuple[str, float], ...]:
    """The words that speak most for the label explained, as features of whole words tell them.

    Where there is none, by what the characters in every word add to the score.
    """
    text, inside = explanation.text, _word_around(explanation.text)
    whole = [it for it in explanation.words if not (inside(it.start) or inside(it.end))]
    found: Sequence[Word | _Part] = whole
    if not any(word.value > 0 for word in whole):
        found = _parts(explanation, ())
    sums: dict[str, float] = {}
    for one in found:
        words = " ".join(text[one.start : one.end].split()).casefold()
        sums[words] = sums.get(words, 0.0) + one.value
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return tuple(pair for pair in ranked[:top] if pair[1] > 0)


def _word_around(text: str) -> Callable[[int], tuple[int, int] | None]:
    """Gives the word around a place in a text, its start and end; None between words."""
    words = [match.span() for match in _WORD.finditer(text)]
    starts = [start for start, _ in words]

    def around(place: int) -> tuple[int, int] | None:
        start, end = words[bisect_right(starts, place) - 1] if words else (0, 0)
        return (start, end) if start < place < end else None

    return around


def _sentences(explanation: Explanation, passages: Int64s | None) -> list[_Sentence]:
    """The whole text; what lies between two sentences belongs to the first of them."""
    scores, spans = explanation.sentences, [] if passages is None else passages.tolist()
    if not scores:
        return [_Sentence(0, len(explanation.text), 0.0, None, 0.0, "", bool(spans))]
    boundaries = [0, *(sentence.start for sentence in scores[1:]), len(explanation.text)]
    return [
        _Sentence(
            start,
            end,
            one.value,
            one.removal,
            one.evidence,
            one.field,
            any(first < one.end and one.start < last for first, last in spans),
        )
        for one, (start, end) in zip(scores, itertools.pairwise(boundaries), strict=True)
    ]


def _within_budget(
    sentences: Sequence[_Sentence], counts: Sequence[int], characters: int
) -> set[int]:
    """Indices of the sentences to show: all, or those with the largest effect of removal.

    counts: parts of every sentence.
    """
    chosen: set[int] = set()
    size = 0
    for number in sorted(range(len(sentences)), key=lambda it: -abs(sentences[it].removal or 0.0)):
        own = max(sentences[number].end - sentences[number].start, PART * counts[number])
        size += min(own, LINE_CHARACTERS)
        if chosen and size > characters:
            break
        chosen.add(number)
    return chosen


def _parts(explanation: Explanation, cuts: Sequence[int]) -> list[_Part]:
    """The text in consecutive parts, cut where a feature starts or ends and at ``cuts``.

    Words stay whole, so that n-grams of characters count for theirs. A feature's value is divided
    equally among the parts that it touches and that are not blank, so nothing counts twice where
    n-grams overlap.
    """
    text = explanation.text
    word_at = _word_around(text)
    boundaries_of = {0, len(text), *cuts}
    for place in {end for word in explanation.words for end in (word.start, word.end)}:
        boundaries_of.update(word_at(place) or (place,))
    boundaries = sorted(boundaries_of)
    ranges = list(itertools.pairwise(boundaries))
    values = [0.0] * len(ranges)
    for word in explanation.words:
        first = bisect_right(boundaries, word.start) - 1
        touched = range(first, bisect_left(boundaries, word.end))
        solid = [number for number in touched if not text[slice(*ranges[number])].isspace()]
        for number in solid or touched:
            values[number] += word.value / len(solid or touched)
    return [_Part(*span, value) for span, value in zip(ranges, values, strict=True)]


def _level(value: float, largest: float) -> int:
    """The strength of a part's color."""
    if abs(value) <= MIN_SHARE * largest:
        return 0
    return int(math.copysign(math.ceil(LEVELS * abs(value) / largest), value))
