"""Plain twin of ``textreg._core.text``: regular expressions over one text at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.text_ranges import EMOJI, FLAGS, IGNORED, MARKS, SPACELESS
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

_marks, _ignored, _spaceless, _flags, _emoji = (
    "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in runs(ranges))
    for ranges in (MARKS, IGNORED, SPACELESS, FLAGS, EMOJI + FLAGS)
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
CUT = re.compile(rf"[{_end}][{_end}{_close}]*(?=[\s<])")
PICTURE = re.compile(
    rf"(?:[{_flags}]{{2}}|[{_emoji}])"
    rf"(?:[\ufe0f\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]|\u200d[{_emoji}])*"
)
ATTACHED = re.compile(rf"(?:(?!{WORD.pattern})[^\s<])*")


class Rules(NamedTuple):
    """What :func:`encode` is asked for."""

    lowercase: bool
    min_length: int
    sentences: str
    punctuation: bool
    emoji: bool


def split(text: str, *rules: Any) -> list[list[str]]:
    """The tokens of every sentence of ``text`` by :class:`Rules`, but for empty sentences."""
    pieces, _, _ = _split(text, Rules(*rules))
    return [[word for word, _ in piece] for piece in pieces]


def _split(text: str, rules: Rules) -> tuple[list[list[tuple[str, Span]]], list[Span], list[int]]:
    """As :func:`split`, with the span of every token and every sentence.

    The last list has the number of sentences up to the end of every paragraph.
    """
    found = list(WORD.finditer(text))
    pieces: list[list[tuple[str, Span]]] = []
    spans: list[Span] = []
    paragraphs = [0]
    piece: list[tuple[str, Span]] = []
    begin, end, words = -1, 0, 0
    for w in range(len(found) + 1):
        last = w == len(found)
        after = len(text) if last else found[w].start()
        word = found[w - 1].span() if w else (0, 0)
        ended = words > 0 and after > end and not last
        ended = ended and ends_sentence(text, word, after, words, rules.sentences)
        cut = after
        if ended:
            cut = _cut(text, end, after)
        marks = _marks_of(text, end, cut, rules)
        if last or ended:
            if marks and begin < 0:
                begin = marks[0][1][0]
            piece += marks
            if piece:
                tail = TAIL.search(text, end, after) or ATTACHED.match(text, end)
                stops = [span[1] for _, span in marks] + [tail.end() if tail else end]
                pieces.append(piece)
                spans.append((begin, max(stops)))
            if (last or len(LINE_END.findall(text[end:after])) >= 2) and (
                len(pieces) > paragraphs[-1]
            ):
                paragraphs.append(len(pieces))
            piece, begin, words = [], -1, 0
            marks = _marks_of(text, cut, after, rules)
        if last:
            break
        piece += marks
        start, end = found[w].span()
        if begin < 0:
            begin = marks[0][1][0] if marks else start
        words += 1
        if found[w][1] or end - start >= rules.min_length:
            piece.append((_spelling(found[w][0], rules.lowercase), (start, end)))
    return pieces, spans, paragraphs[1:]


def _cut(text: str, start: int, end: int) -> int:
    """Where the sentence that ends in the gap start:end does: after its mark or with the line."""
    mark = TAIL.search(text, start, end) or CUT.search(text, start, end)
    if mark:
        return mark.end()
    line = LINE_END.search(text, start, end)
    if line:
        return line.start()
    mark = ATTACHED.match(text, start)
    return mark.end() if mark else start


def _marks_of(text: str, at: int, end: int, rules: Rules) -> list[tuple[str, Span]]:
    """The runs of punctuation and the emoji of a gap, or of a part of it."""
    found = []
    while at < end:
        start = at
        picture = PICTURE.match(text, at, end)
        if picture:
            at = picture.end()
            wanted = rules.emoji
        else:
            while at < end and _is_punctuation(text[at]):
                at += 1
            wanted = rules.punctuation and at > start
            at = max(at, start + 1)
        if wanted:
            found.append((text[start:at].replace("\ufe0f", ""), (start, at)))
    return found


def _is_punctuation(c: str) -> bool:
    return c.isprintable() and not (c.isspace() or SILENT.match(c) or PICTURE.match(c))


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


def is_latin(text: str) -> bool:
    """Twin of :func:`textreg._core.text.is_latin`."""
    if not isinstance(text, str):
        raise TypeError(f"text is not a str but {type(text).__name__}")
    return max(text, default="") < "\u0100"


def encode(
    texts: Sequence[str],
    lowercase: bool,
    min_length: int,
    sentences: str,
    punctuation: bool,
    emoji: bool,
    spans: bool,
) -> tuple[Any, ...]:
    """Twin of :func:`textreg._core.text.encode`."""
    rules = Rules(lowercase, min_length, sentences, punctuation, emoji)
    numbers: dict[str, int] = {}
    ids: list[int] = []
    word_spans: list[Span] = []
    sentence_spans: list[Span] = []
    sentence_ptr, paragraph_ptr, document_ptr = [0], [0], [0]
    for text in texts:
        pieces, piece_spans, ends = _split(text, rules)
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
