"""Words and sentences of texts: what tokenizers and group builders may build on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.records import Tokens
from textreg.records.ragged import row_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int32s, Int64s

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
    sentences without a word are left out. A paragraph is a run of whole sentences between lines
    without a word. The vocabulary is sorted by name, in code point order.
    With ``spans``, a sentence's span runs from its first word to its last and the punctuation
    attached to that. Raises DataError for what is no text.
    """
    from textreg._core.text import encode

    texts = check_texts(texts)
    if spans and any(len(text) >= 2**31 for text in texts):
        raise DataError("character offsets end at 2,147,483,647; cut the longer texts.")
    ids, sentence_ptr, paragraph_ptr, document_ptr, names, word_spans, sentence_spans = encode(
        texts, lowercase, min_length, sentences, spans
    )
    return Tokens(
        ids=ids,
        sentence_ptr=sentence_ptr,
        document_ptr=document_ptr,
        paragraph_ptr=paragraph_ptr,
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


def renumber(tokens: Tokens, new: Int32s, vocabulary: Sequence[str]) -> Tokens:
    """Replace every id by ``new[id]``, an index into ``vocabulary``; drop it if that is below 0."""
    from textreg._core import text_counts

    ids, sentence_ptr = text_counts.renumber(tokens.ids, tokens.sentence_ptr, new)
    return Tokens(
        ids=ids,
        sentence_ptr=sentence_ptr,
        document_ptr=tokens.document_ptr,
        vocabulary=vocabulary,
        spans=None if tokens.spans is None else tokens.spans[new[tokens.ids] >= 0],
        sentence_spans=tokens.sentence_spans,
        paragraph_ptr=tokens.paragraph_ptr,
    )


class CsrArrays(NamedTuple):
    """The arrays of a CSR matrix with sorted columns: prediction does without scipy's import."""

    indptr: Int64s
    indices: Int32s
    data: Floats

    def matrix(self, n_columns: int) -> csr_array:
        """The same as (rows, ``n_columns``)."""
        from scipy.sparse import csr_array

        # Both index arrays must have one type.
        index = np.int32 if len(self.indices) < 2**31 else np.int64
        X = csr_array(
            (self.data, self.indices.astype(index, copy=False), self.indptr.astype(index)),
            shape=(len(self.indptr) - 1, n_columns),
        )
        X.has_canonical_format = True  # saves looking again
        return X


def count(tokens: Tokens) -> csr_array:
    """How often every feature occurs in every document: float64 (documents, features)."""
    return count_rows(tokens).matrix(len(tokens.vocabulary))


def count_rows(tokens: Tokens) -> CsrArrays:
    """The arrays of :func:`count`."""
    from textreg._core import text_counts

    return CsrArrays(
        *text_counts.count(tokens.ids, tokens.token_document_ptr, len(tokens.vocabulary))
    )


def only_words(tokens: Tokens) -> Tokens:
    """The same without n-grams, which are the features with a space in their names."""
    words = [name for name in tokens.vocabulary if " " not in name]
    if len(words) == len(tokens.vocabulary):
        return tokens
    is_word = np.array([" " not in name for name in tokens.vocabulary])
    new = np.where(is_word, np.cumsum(is_word) - 1, -1).astype(np.int32)
    return renumber(tokens, new, words)


def feature_sets(ids: Int32s, ptr: Int64s, n_features: int) -> tuple[Int64s, Int32s]:
    """The distinct features of every piece of ``ids``, sorted: ``indptr`` and ``indices`` of CSR.

    ptr: piece k is ``ids[ptr[k]:ptr[k + 1]]``, as ``Tokens.sentence_ptr`` has it.
    """
    from textreg._core import text_counts

    return text_counts.sentence_sets(ids, ptr, n_features)


def cooccurrences(tokens: Tokens, window: int) -> csr_array:
    """How often two features stand in one window: float64 (features, features), symmetric.

    window: the number of occurrences in it; windows slide over whole documents, and a pair counts
    once, however many windows hold it. A feature beside itself does not count.
    """
    from scipy.sparse import csr_array

    p = len(tokens.vocabulary)
    document = row_of(tokens.token_document_ptr)
    X = csr_array((p, p))
    for distance in range(1, window):
        one, other = tokens.ids[:-distance], tokens.ids[distance:]
        counts = (document[:-distance] == document[distance:]) & (one != other)
        pairs = one[counts], other[counts]
        # Sums duplicates: of one distance at a time, so that never all pairs are held at once.
        X = X + csr_array((np.ones(len(pairs[0])), pairs), shape=(p, p))
    return (X + X.T).tocsr()
