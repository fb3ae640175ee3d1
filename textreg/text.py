"""Words and sentences of texts: what tokenizers and group builders may build on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textreg.errors import DataError, UsageError
from textreg.records import Tokens

if TYPE_CHECKING:
    from textreg.records import Int32s, Int64s

SENTENCES = ("punct", "lines", "paragraphs", "none")
"""Ways to cut a text into sentences: after end marks (and at blank lines), at the ends of lines, at
lines without a word, not at all."""


def check_texts(texts: Sequence[str]) -> Sequence[str]:
    """Return ``texts`` if it is a sequence of str, else raise UsageError or DataError."""
    if isinstance(texts, (str, bytes)):
        raise UsageError("this is one text where a list of texts is wanted; put it in a list.")
    if not hasattr(texts, "__len__"):
        texts = list(texts)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise DataError(
                f"document {number} is no text but {text!r:.40} ({type(text).__name__}). Leave "
                "such documents out, or replace them by an empty text."
            )
    return texts


def scan_words(
    texts: Sequence[str],
    *,
    lowercase: bool = True,
    min_length: int = 1,
    sentences: str = "punct",
    spans: bool = False,
) -> Tokens:
    """The words of all texts: the matches of ``\\w+``, after :meth:`str.lower` if ``lowercase``.

    min_length: shorter words, in characters, are left out. sentences: one of ``SENTENCES``;
    sentences without a word are left out. The vocabulary is sorted by name, in code point order.
    With ``spans``, a sentence's span runs from its first word to its last and the punctuation
    attached to that. Raises DataError for what is no text.
    """
    from textreg._core.text import encode

    texts = check_texts(texts)
    if spans and any(len(text) >= 2**31 for text in texts):
        raise DataError("character offsets end at 2,147,483,647; cut the longer texts.")
    ids, sentence_ptr, document_ptr, names, word_spans, sentence_spans = encode(
        texts, lowercase, min_length, sentences, spans
    )
    return Tokens(
        ids=ids,
        sentence_ptr=sentence_ptr,
        document_ptr=document_ptr,
        vocabulary=names,
        spans=word_spans,
        sentence_spans=sentence_spans,
    )


def split_words(
    text: str, *, lowercase: bool = True, min_length: int = 1, sentences: str = "punct"
) -> list[list[str]]:
    """The same for one text in plain Python, as lists of words: the definition of the above."""
    from textreg._core.reference.text import split

    return split(text, lowercase, min_length, sentences)


def sentence_sets(tokens: Tokens) -> tuple[Int64s, Int32s]:
    """The distinct features of every sentence, sorted: ``indptr`` and ``indices`` as in CSR."""
    from textreg._core import text_counts

    return text_counts.sentence_sets(tokens.ids, tokens.sentence_ptr, len(tokens.vocabulary))
