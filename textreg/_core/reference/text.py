"""Plain twin of ``textreg._core.text``: regular expressions over one text at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.text_rules import (
    CLOSERS,
    ELLIPSIS,
    FULL,
    HEADER_LENGTH,
    NUMBER_LENGTH,
    NUMBERED,
    STOP,
    STRONG,
    TITLES,
    with_final_sigmas,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Span = tuple[int, int]

WORD = re.compile(r"\w+")
LINE_END = re.compile(r"\r\n|\r|\n")
HEADER = re.compile(rf"[A-Z][A-Za-z0-9-]{{0,{HEADER_LENGTH - 1}}}:(?=\s|\Z)")
LEAD_IN = re.compile(r":\s*[\r\n]")

_end, _strong, _close = (re.escape(x) for x in (STOP + ELLIPSIS + STRONG, STRONG, CLOSERS))
EVERYWHERE = re.compile(rf"[{re.escape(FULL)}]|[{_end}][{_end}{_close}]*<")
ALONE = re.compile(rf"\s[{re.escape(STOP)}{_strong}][{_strong}{_close}]*\s")
BEFORE_SPACE = re.compile(rf"[{_end}][{_end}{_close}]*\s")
SINGLE_STOP = re.compile(rf"{re.escape(STOP)}[{_close}]*\s")


def split(text: str, lowercase: bool, min_length: int, sentences: str) -> list[list[str]]:
    """The words of ``text``, one list a sentence; sentences without a word are left out."""
    pieces, _, _ = _split(text, lowercase, min_length, sentences)
    return [[word for word, _ in piece] for piece in pieces]


def _split(
    text: str, lowercase: bool, min_length: int, sentences: str
) -> tuple[list[list[tuple[str, Span]]], list[Span], list[int]]:
    """As :func:`split`, with the span of every word and every sentence.

    The last list has the number of sentences up to the end of every paragraph.
    """
    if lowercase and "Σ" in text:
        text = with_final_sigmas(text)
    runs = [match.span() for match in WORD.finditer(text)]
    pieces: list[list[tuple[str, Span]]] = []
    spans: list[Span] = []
    paragraphs = [0]
    begin = 0
    for r, (_, end) in enumerate(runs, 1):
        if r < len(runs) and not ends_sentence(text, runs[r - 1], runs[r][0], r - begin, sentences):
            continue
        words = [
            word
            for run in runs[begin:r]
            for word in _words(text, run, lowercase)
            if len(word[0]) >= min_length
        ]
        if words:
            attached = re.compile(r"[^\s\w<]*").match(text, end)
            pieces.append(words)
            spans.append((runs[begin][0], attached.end() if attached else end))
        closes = r == len(runs) or len(LINE_END.findall(text[end : runs[r][0]])) >= 2
        if closes and len(pieces) > paragraphs[-1]:
            paragraphs.append(len(pieces))
        begin = r
    return pieces, spans, paragraphs[1:]


def _words(text: str, run: Span, lowercase: bool) -> list[tuple[str, Span]]:
    """The words in a run of word characters: one, but for 'İ', whose lower case ends a word."""
    start, end = run
    if not lowercase:
        return [(text[start:end], run)]
    words = []
    for part in re.finditer("[^İ]*İ|[^İ]+", text[start:end]):
        # 'ς' is in its places already, and the dot of a lowered 'İ' is no word character.
        word = part[0].replace("Σ", "σ").lower().replace("\N{COMBINING DOT ABOVE}", "")
        words.append((word, (start + part.start(), start + part.end())))
    return words


def ends_sentence(text: str, run: Span, after: int, words: int, sentences: str) -> bool:
    """Whether a sentence ends between the word at ``run`` and the one that begins at ``after``.

    ``words`` is the number of words in the sentence so far.
    """
    gap, following = text[run[1] : after], text[after]
    lines = len(LINE_END.findall(gap))
    if sentences == "none":
        return False
    if sentences == "lines":
        return lines >= 1
    if lines >= 2:  # between them is a line without a word
        return True
    if sentences == "paragraphs":
        return False
    if lines == 1 and (
        LEAD_IN.search(gap) or (gap[-1] in "\r\n" and HEADER.match(text, after) is not None)
    ):
        return True
    if EVERYWHERE.search(gap) or ALONE.search(gap):
        return True
    if not BEFORE_SPACE.search(gap) or following.islower():
        return False
    return not (SINGLE_STOP.match(gap) and abbreviates(text, run, following, words))


def abbreviates(text: str, run: Span, following: str, words: int) -> bool:
    """Whether the full stop after ``run`` makes an abbreviation or an enumeration of the word."""
    start, end = run
    word = text[start:end]
    small = word.lower()
    if small in TITLES or (small in NUMBERED and following.isdecimal()):
        return True
    if len(word) == 1 and word.isalpha():
        inner = start > 0 and text[start - 1] == STOP  # "e.g.", "U.S."
        initial = word.isupper() and word != "I"
        return inner or initial or words == 1
    return words == 1 and len(word) <= NUMBER_LENGTH and word.isdecimal()


def encode(
    texts: Sequence[str], lowercase: bool, min_length: int, sentences: str, spans: bool
) -> tuple[Any, ...]:
    """Twin of :func:`textreg._core.text.encode`."""
    numbers: dict[str, int] = {}
    ids: list[int] = []
    word_spans: list[Span] = []
    sentence_spans: list[Span] = []
    sentence_ptr, paragraph_ptr, document_ptr = [0], [0], [0]
    for text in texts:
        pieces, piece_spans, ends = _split(text, lowercase, min_length, sentences)
        paragraph_ptr.extend(document_ptr[-1] + end for end in ends)
        for piece in pieces:
            ids.extend(numbers.setdefault(word, len(numbers)) for word, _ in piece)
            word_spans.extend(span for _, span in piece)
            sentence_ptr.append(len(ids))
        sentence_spans.extend(piece_spans)
        document_ptr.append(len(sentence_ptr) - 1)
    names = sorted(numbers)
    rank = {numbers[name]: r for r, name in enumerate(names)}
    pairs: tuple[NDArray[np.int32] | None, NDArray[np.int32] | None] = (None, None)
    if spans:
        pairs = (
            np.array(word_spans, dtype=np.int32).reshape(-1, 2),
            np.array(sentence_spans, dtype=np.int32).reshape(-1, 2),
        )
    return (
        np.array([rank[i] for i in ids], dtype=np.int32),
        np.array(sentence_ptr, dtype=np.int64),
        np.array(paragraph_ptr, dtype=np.int64),
        np.array(document_ptr, dtype=np.int64),
        names,
        *pairs,
    )
