"""Plain twin of ``textreg._core.text_chars``: one text at a time, without a table or a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from textreg._core.text_rules import with_final_sigmas
from twins.text import ATTACHED, LINE_END, TAIL, WORD, ends_sentence

LINE = re.compile(r"[\r\n]")


class Place(NamedTuple):
    """A character of a run, and where pieces of text begin and end that begin and end with it."""

    character: str
    begin: int
    end: int


class Sentence(NamedTuple):
    """The runs of a sentence, and whether it ends a paragraph."""

    runs: list[list[Place]]
    last: bool


def _sentences(text: str, lowercase: bool, across: bool, sentences: str) -> Iterator[Sentence]:
    """The sentences of a text that are not blank."""
    if lowercase and "Σ" in text:
        text = with_final_sigmas(text)
    start = 0
    for end, last in _ends(text, sentences):
        pieces = [match.span() for match in re.compile(r"\S+").finditer(text, start, end)]
        runs: list[list[Place]] = []
        for number, (first, after) in enumerate(pieces):
            run = [place for i in range(first, after) for place in _places(text[i], i, lowercase)]
            if across and number:
                runs[-1] += [Place(" ", first, pieces[number - 1][1]), *run]
                continue
            if not across and (first == 0 or text[first - 1].isspace()):
                run.insert(0, Place(" ", first, first + 1))
            if not across and (after == len(text) or text[after].isspace()):
                run.append(Place(" ", after - 1, after))
            runs.append(run)
        if runs:
            yield Sentence(runs, last)
        start = end


def _places(character: str, i: int, lowercase: bool) -> list[Place]:
    """What the character at ``i`` becomes: 'İ' two, 'ς' is in its places already."""
    small = "σ" if character == "Σ" else character.lower()
    return [Place(c, i, i + 1) for c in (small if lowercase else character)]


def _ends(text: str, sentences: str) -> Iterator[tuple[int, bool]]:
    """Where sentences end, and whether paragraphs do."""
    words = [match.span() for match in WORD.finditer(text)]
    begin = 0
    for w in range(1, len(words)):
        (_, end), (after, _) = words[w - 1], words[w]
        if end < after and ends_sentence(text, words[w - 1], after, w - begin, sentences):
            yield _in_gap(text, end, after), len(LINE_END.findall(text[end:after])) >= 2
            begin = w
    yield len(text), True


def _in_gap(text: str, start: int, end: int) -> int:
    """Where in the gap between two words a sentence ends."""
    line = LINE.search(text, start, end)
    if line:
        return line.end()
    tail = TAIL.search(text, start, end)
    for i in reversed(range(tail.end() if tail else start, end)):
        if text[i].isspace():
            return i + 1
    found = tail or ATTACHED.match(text, start)
    return found.end() if found else start


def pieces(length: int, shortest: int, longest: int) -> Iterator[tuple[int, int]]:
    """Where every n-gram of a run of that length begins and ends."""
    least = min(shortest, length)
    for first in range(length - least + 1):
        for last in range(first + least, min(first + longest, length) + 1):
            yield first, last


def encode(
    texts: Sequence[str],
    lowercase: bool,
    across: bool,
    sentences: str,
    shortest: int,
    longest: int,
    spans: bool,
) -> tuple[Any, ...]:
    """Twin of :func:`textreg._core.text_chars.encode`."""
    found: list[str] = []
    gram_spans: list[list[int]] = []
    sentence_spans: list[tuple[int, int]] = []
    sentence_ptr, paragraph_ptr, document_ptr = [0], [0], [0]
    for text in texts:
        for sentence in _sentences(text, lowercase, across, sentences):
            for run in sentence.runs:
                name = "".join(place.character for place in run)
                for first, last in pieces(len(run), shortest, longest):
                    found.append(name[first:last])
                    gram_spans.append(sorted((run[first].begin, run[last - 1].end)))
            sentence_spans.append((sentence.runs[0][0].begin, sentence.runs[-1][-1].end))
            sentence_ptr.append(len(found))
            if sentence.last:
                paragraph_ptr.append(len(sentence_ptr) - 1)
        if len(sentence_ptr) - 1 > paragraph_ptr[-1]:
            paragraph_ptr.append(len(sentence_ptr) - 1)
        document_ptr.append(len(sentence_ptr) - 1)
    names = sorted(set(found))
    rank = {name: number for number, name in enumerate(names)}
    pairs = [np.array(some, dtype=np.int32).reshape(-1, 2) for some in (gram_spans, sentence_spans)]
    return (
        np.array([rank[gram] for gram in found], dtype=np.int32),
        np.array(sentence_ptr, dtype=np.int64),
        np.array(paragraph_ptr, dtype=np.int64),
        np.array(document_ptr, dtype=np.int64),
        names,
        *(pairs if spans else (None, None)),
    )
