"""HTML in documents: what is left of a text without it, and whether a corpus holds some."""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from textreg.errors import DataWarning, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Corpus, Documents, Int32s, Int64s, Tokens
from textreg.records.arrays import row_of
from textreg.records.documents import check_texts, is_tokenized

# No alternative crosses a '<', so a search takes linear time whatever the text.
_MARKUP = re.compile(
    r"""
    <(?:
        (?P<comment>!--)
        | /?(?P<name>[a-z][a-z0-9:-]*)(?:\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*|/)?>
        | [!?][a-z][^<>]*>
    )
    | &(?:\#\d{1,7}|\#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What is left out ends here; where there is none, only the tag is.
_CLOSERS = {
    "comment": re.compile("-->"),
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
}

# Tags within a line; all others end one.
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt "
    "ruby s samp small span strike strong sub sup time tt u var wbr".split()
)

# A tag or character reference that is HTML beyond doubt: no mathematics, no address as in mails.
TELLING = re.compile(
    r"</?(?:a|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|"
    r"iframe|img|input|li|link|meta|ol|option|p|pre|script|small|span|strong|style|sub|sup|table|"
    r"tbody|td|th|title|tr|u|ul)(?:\s+[a-z-]+\s*=[^<>]*|\s*/?)>"
    r"|&(?:nbsp|amp|lt|gt|quot|apos|#\d{2,6}|#x[0-9a-f]{2,6});",
    re.IGNORECASE,
)

# How many documents are looked at for HTML.
SAMPLE = 1000
# Share of documents with HTML from which on it is told.
SHARE = 0.1


def strip_html(text: str) -> str:
    """A text without its HTML.

    Comments, scripts and style sheets are left out. A tag within a line, such as ``<b>``, is
    nothing, any other a line end; a character reference, such as ``&eacute;``, is its character.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> strip_html("One<br/>caf&eacute; &amp; <b>b</b>ar, 1 < 2 <!-- no -->")
    'One\\ncafé & bar, 1 < 2 '
    """
    parts, last = [], 0
    for start, end, instead in _pieces(text):
        parts += [text[last:start], instead]
        last = end
    return "".join([*parts, text[last:]]) if parts else text


def stripped_texts(documents: Documents) -> list[str]:
    """Texts without their HTML; UsageError if the documents are no texts but tokens."""
    if is_tokenized(documents):
        raise UsageError(
            "features: strip_html removes HTML from texts, but these documents are tokens. Leave "
            "it out, or give texts."
        )
    return [strip_html(text) for text in check_texts(documents)]


def _stripped(text: str) -> tuple[str, Int32s, Int32s]:
    """As :func:`strip_html`, and where in the given text every character begins, and ends.

    Then both have the length of that text.
    """
    parts: list[str] = []
    begins: list[Int32s] = []
    ends: list[Int32s] = []
    last = 0
    for start, end, instead in [*_pieces(text), (len(text), len(text), "")]:
        parts += [text[last:start], instead]
        same = np.arange(last, start, dtype=np.int32)
        begins += [same, np.full(len(instead), start, dtype=np.int32)]
        ends += [same + 1, np.full(len(instead), end, dtype=np.int32)]
        last = end
    close = np.array([len(text)], dtype=np.int32)
    return "".join(parts), np.concatenate([*begins, close]), np.concatenate([*ends, close])


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """What is to be replaced: where it begins and ends, and by what."""
    at = 0
    closed = set(_CLOSERS)  # those that still have a closer
    while match := _MARKUP.search(text, at):
        start, at = match.span()
        if match[0][0] == "&":
            instead = html.unescape(match[0])
            if instead != match[0]:
                yield start, at, instead
            continue
        name = "comment" if match["comment"] else (match["name"] or "").lower()
        if name in closed and match[0][1] != "/":
            closer = _CLOSERS[name].search(text, at)
            if closer is None:
                closed.discard(name)  # nor has what follows
            else:
                at = closer.end()
        yield start, at, "" if name in INLINE or name == "comment" else "\n"


def encode(tokenizer: Tokenizer, texts: Documents, *, strip: bool, spans: bool = False) -> Tokens:
    """Tokens of texts, without their HTML if ``strip``; spans are those in the given texts."""
    if not strip:
        return calls.encode(tokenizer, texts, spans=spans)
    if not spans:
        return calls.encode(tokenizer, stripped_texts(texts))
    if not len(texts):
        return calls.encode(tokenizer, check_texts(texts), spans=True)
    stripped, begins_of, ends_of = zip(*map(_stripped, check_texts(texts)), strict=True)
    tokens = calls.encode(tokenizer, list(stripped), spans=True)
    begins, ends = np.concatenate(begins_of), np.concatenate(ends_of)
    base = np.cumsum([0, *map(len, begins_of)])[:-1]

    def moved(pairs: Int32s | None, ptr: Int64s) -> Int32s | None:
        if pairs is None:
            return None
        first, last = (pairs + base[row_of(ptr)][:, None]).T
        after = np.where(last > first, ends[np.maximum(last - 1, 0)], begins[first])
        return np.stack([begins[first], after], axis=1)

    return replace(
        tokens,
        spans=moved(tokens.spans, tokens.token_document_ptr),
        sentence_spans=moved(tokens.sentence_spans, tokens.document_ptr),
    )


def warn_of_html(corpus: Corpus) -> None:
    """DataWarning if many documents hold HTML, by a sample of them."""
    rows = np.unique(np.linspace(0, len(corpus) - 1, min(SAMPLE, len(corpus))).astype(np.int64))
    count = 0
    first: tuple[int, str] = 0, ""
    for row, text in zip(rows.tolist(), corpus.select(rows).texts, strict=True):
        if isinstance(text, str) and (match := TELLING.search(text)):
            first = first if count else (row, match[0])  # a match would keep its text
            count += 1
    if not count or count < SHARE * len(rows):
        return
    row, tag = first
    warnings.warn(
        f"{count / len(rows):.0%} of the documents hold HTML, such as '{tag:.40}' in "
        f"{corpus.where(row)}; its tags become features like other words. Pass --strip-html "
        "(strip_html=True) to remove it.",
        DataWarning,
        stacklevel=2,
    )
