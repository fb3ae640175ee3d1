"""Where the features of all tokenizers occur, in the sentences of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textreg.features.encoder import Encoder
from textreg.features.joined import AnyEncoder
from textreg.records import Documents, Int32s, Int64s, Tokens
from textreg.records.ragged import row_of


class Part(NamedTuple):
    """The words of one tokenizer, and every occurrence of its features.

    Attributes
    ----------
    encoder : Encoder
    first : int
        Its first column in the model.
    words, features : Tokens
        In sentences of its own.
    sentence : ndarray of int64, shape (occurrences,)
        The sentence of every occurrence in ``features``, in :class:`Occurrences`.
    word_sentence : ndarray of int64, shape (words,)
        The same for ``words``.
    """

    encoder: Encoder
    first: int
    words: Tokens
    features: Tokens
    sentence: Int64s
    word_sentence: Int64s


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Texts in sentences, with the occurrences of the features of every tokenizer.

    Sentences are those of the first tokenizer. What others find belongs to the sentence that begins
    last before it, or else to the first one. A document without sentences, where another tokenizer
    finds something, is one sentence. Of several fields, the same holds in each of them.

    Attributes
    ----------
    parts : sequence of Part
    document_ptr : ndarray of int64, shape (documents + 1,)
        Document d has the sentences ``document_ptr[d]`` to ``document_ptr[d + 1]``.
    spans : ndarray of int32, shape (sentences, 2)
        Where sentences begin and end in their documents.
    field_of : sequence of str, default ()
        The name of every sentence's field, where documents have several.
    """

    parts: Sequence[Part]
    document_ptr: Int64s
    spans: Int32s
    field_of: Sequence[str] = ()

    def fields(self) -> Sequence[str]:
        """The name of every sentence's field; empty texts where documents have none."""
        return self.field_of or [""] * len(self.spans)

    @classmethod
    def of(cls, encoder: AnyEncoder, texts: Documents) -> Occurrences:
        """Those of ``texts``; UsageError if a tokenizer gives no character offsets."""
        firsts = np.cumsum([0, *(len(part.names) for part in encoder.parts)]).tolist()
        parts = list(zip(encoder.parts, firsts, strict=False))
        if not encoder.fields:
            return cls._of_parts(parts, texts)
        by_field = [[it for it in parts if it[0].field == field] for field in encoder.fields]
        names = [field.name for field in encoder.fields]
        return _merged([cls._of_parts(own, texts) for own in by_field], names)

    @classmethod
    def _of_parts(cls, encoders: Sequence[tuple[Encoder, int]], texts: Documents) -> Occurrences:
        """Those of tokenizers that read the same, each with its first column."""
        words = [part.words(texts, spans=True) for part, _ in encoders]
        features = [part.features(own) for (part, _), own in zip(encoders, words, strict=True)]
        document_ptr, spans, moved = _sentences(words)
        parts = []
        for number, ((part, first), own, found) in enumerate(
            zip(encoders, words, features, strict=True)
        ):
            if number == 0:
                sentence = moved[row_of(found.sentence_ptr)]
                word_sentence = moved[row_of(own.sentence_ptr)]
            else:
                sentence = _sentence_at(found, document_ptr, spans)
                word_sentence = _sentence_at(own, document_ptr, spans)
            parts.append(Part(part, first, own, found, sentence, word_sentence))
        return cls(parts, document_ptr, spans)


def _merged(found: Sequence[Occurrences], names: Sequence[str]) -> Occurrences:
    """Those of several fields as one: the sentences of a document are those of its fields."""
    counts = np.array([np.diff(one.document_ptr) for one in found])
    document_ptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    begins = document_ptr[:-1] + np.cumsum(counts, axis=0) - counts
    spans = np.empty((int(document_ptr[-1]), 2), dtype=np.int32)
    field_of = [""] * len(spans)
    parts: list[Part] = []
    for name, one, begin, count in zip(names, found, begins, counts, strict=True):
        moved = np.arange(len(one.spans)) + np.repeat(begin - one.document_ptr[:-1], count)
        spans[moved] = one.spans
        for at in moved.tolist():
            field_of[at] = name
        parts += [
            part._replace(sentence=moved[part.sentence], word_sentence=moved[part.word_sentence])
            for part in one.parts
        ]
    return Occurrences(parts, document_ptr, spans, field_of)


def _sentences(words: Sequence[Tokens]) -> tuple[Int64s, Int32s, Int64s]:
    """Offsets of documents, spans of sentences, and the new number of each of the first's own."""
    own, *others = words
    assert own.sentence_spans is not None
    counts = np.diff(own.document_ptr)
    added = counts == 0
    low = np.full(len(counts), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.zeros(len(counts), dtype=np.int32)
    for other in others:
        assert other.spans is not None
        document = row_of(other.token_document_ptr)
        np.minimum.at(low, document, other.spans[:, 0])
        np.maximum.at(high, document, other.spans[:, 1])
    added &= high > 0
    document_ptr = np.concatenate([[0], np.cumsum(counts + added)])
    moved = np.arange(own.n_sentences) + np.cumsum(added)[row_of(own.document_ptr)]
    spans = np.empty((int(document_ptr[-1]), 2), dtype=np.int32)
    spans[moved] = own.sentence_spans
    spans[document_ptr[:-1][added]] = np.stack([low[added], high[added]], axis=1)
    return document_ptr, spans, moved


def _sentence_at(tokens: Tokens, document_ptr: Int64s, spans: Int32s) -> Int64s:
    """The sentence of every occurrence: the last that begins before it, or the first there is."""
    assert tokens.spans is not None
    document = row_of(tokens.token_document_ptr)
    return sentence_at(document, tokens.spans[:, 0], document_ptr, spans)


def sentence_at(document: Int64s, start: Int32s, document_ptr: Int64s, spans: Int32s) -> Int64s:
    """The sentences of places in documents, given by the number of a document and an offset."""
    far = np.int64(1) << 32
    begins = row_of(document_ptr) * far + spans[:, 0]
    at: Int64s = np.searchsorted(begins, document * far + start, side="right") - 1
    return np.maximum(at, document_ptr[document])
