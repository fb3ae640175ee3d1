"""Plain twin of ``textreg._core.text``: regular expressions over one text at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.text_ranges import IGNORED, MARKS, SPACELESS
from textreg._core.text_rules import (
    CLOSERS,
    COLONS,
    ELLIPSIS,
    FULL,
    HEADER_LENGTH,
    NUMBER_LENGTH,
    NUMBERED,
    OPENERS,
    STOP,
    STRONG,
    TITLES,
    folded,
    runs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Span = tuple[int, int]

_marks, _ignored, _spaceless = (
    "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in runs(ranges))
    for ranges in (MARKS, IGNORED, SPACELESS)
)
_letter = rf"(?:[{_marks}]|(?![{_ignored}{_spaceless}])\w)"
_more = f"[{_marks}{_ignored}]"
WORD = re.compile(rf"([{_spaceless}]){_more}*|{_letter}(?:{_letter}|{_more})*")
"""Its group is the letter of a script without spaces."""
SILENT = re.compile(f"[{_ignored}]")

LINE_END = re.compile(r"\r\n|\r|\n")
HEADER = re.compile(rf"[A-Z][A-Za-z0-9-]{{0,{HEADER_LENGTH - 1}}}:(?=\s|\Z)")
LEAD_IN = re.compile(rf"[{COLONS}]\s*[\r\n]")

_end, _strong, _full, _close = map(
    re.escape, (STOP + ELLIPSIS + STRONG, STRONG, FULL, CLOSERS + OPENERS)
)
EVERYWHERE = re.compile(rf"[{_full}]|[{_end}][{_end}{_close}]*<")
ALONE = re.compile(rf"\s[{re.escape(STOP)}{_strong}][{_strong}{_close}]*\s")
BEFORE_SPACE = re.compile(rf"[{_end}][{_end}{_close}]*\s")
SINGLE_STOP = re.compile(rf"{re.escape(STOP)}[{_close}]*\s")
TAIL = re.compile(rf"[{_full}][{_full}{_end}{re.escape(CLOSERS)}]*")
ATTACHED = re.compile(rf"(?:(?!{WORD.pattern})[^\s<])*")


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
    found = list(WORD.finditer(text))
    words = [match.span() for match in found]
    pieces: list[list[tuple[str, Span]]] = []
    spans: list[Span] = []
    paragraphs = [0]
    begin = 0
    for w, (_, end) in enumerate(words, 1):
        last = w == len(words)
        after = len(text) if last else words[w][0]
        if not last and (
            end == after or not ends_sentence(text, words[w - 1], after, w - begin, sentences)
        ):
            continue
        piece = [
            (_spelling(match[0], lowercase), match.span())
            for match in found[begin:w]
            if match[1] or len(match[0]) >= min_length
        ]
        if piece:
            tail = TAIL.search(text, end, after) or ATTACHED.match(text, end)
            pieces.append(piece)
            spans.append((words[begin][0], tail.end() if tail else end))
        closes = last or len(LINE_END.findall(text[end:after])) >= 2
        if closes and len(pieces) > paragraphs[-1]:
            paragraphs.append(len(pieces))
        begin = w
    return pieces, spans, paragraphs[1:]


def _spelling(word: str, lowercase: bool) -> str:
    word = SILENT.sub("", word)
    return "".join(map(folded, word)) if lowercase else word


def ends_sentence(text: str, word: Span, after: int, words: int, sentences: str) -> bool:
    """Whether a sentence ends between the word at this span and the one that begins at ``after``.

    ``words`` is the number of words in the sentence so far.
    """
    gap, following = text[word[1] : after], text[after]
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
    return not (SINGLE_STOP.match(gap) and abbreviates(text, word, following, words))


def abbreviates(text: str, span: Span, following: str, words: int) -> bool:
    """Whether the full stop after ``span`` makes an abbreviation or an enumeration of its word."""
    start, end = span
    word = text[start:end]
    small = "".join(folded(c) if len(folded(c)) == 1 else "ß" for c in word)
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
