"""Occurrences of features in sentences, what a text is worth without one, and evidence.

A token is a run of characters without a blank between them. What an occurrence of a feature adds to
the score is divided equally among the tokens that it touches, so that those of characters go to
their words, and those of n-grams to all of theirs.

yogatama2014, tables 4 and 5, measure a sentence by how much the log-odds change when it is left
out. With v(c) the value of a feature that occurs c times, c_s of them in sentence s, a
document without s has the score

    b + (Σ_f w_f i_f v(c_f) − Σ_{f in s} w_f i_f (v(c_f) − v(c_f − c_fs))) / norm,

where i_f is the inverse document frequency (1 without ``tfidf``) and norm² is Σ_f (i_f v(c_f))²
less the same difference of squares (1 where rows are not scaled). This is exact, not a
linearization, and all sentences together cost as much as counting their words twice.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textreg._core import text_counts
from textreg.features.encoder import AnyEncoder, Encoder, Weighting
from textreg.features.fields import NumberEncoder
from textreg.features.ngrams import NGrams
from textreg.records import Documents, Floats, Int32s, Int64s, Tokens
from textreg.records.arrays import offsets_of, row_of, sums
from textreg.text import count_rows


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
        return _merged([cls._of_parts(field_parts, texts) for field_parts in by_field], names)

    @classmethod
    def _of_parts(cls, encoders: Sequence[tuple[Encoder, int]], texts: Documents) -> Occurrences:
        """Those of tokenizers that read the same, each with its first column."""
        words = [part.words(texts, spans=True) for part, _ in encoders]
        features = [part.features(own) for (part, _), own in zip(encoders, words, strict=True)]
        document_ptr, spans, moved = _sentences(words)
        parts = []
        for number, ((part, first), tokens, feature_tokens) in enumerate(
            zip(encoders, words, features, strict=True)
        ):
            if number == 0:
                sentence = moved[row_of(feature_tokens.sentence_ptr)]
                word_sentence = moved[row_of(tokens.sentence_ptr)]
            else:
                sentence = _sentence_at(feature_tokens, document_ptr, spans)
                word_sentence = _sentence_at(tokens, document_ptr, spans)
            parts.append(Part(part, first, tokens, feature_tokens, sentence, word_sentence))
        return cls(parts, document_ptr, spans)


def _merged(fields: Sequence[Occurrences], names: Sequence[str]) -> Occurrences:
    """Those of several fields as one: the sentences of a document are those of its fields."""
    counts = np.array([np.diff(field.document_ptr) for field in fields])
    document_ptr = offsets_of(counts.sum(axis=0))
    begins = document_ptr[:-1] + np.cumsum(counts, axis=0) - counts
    spans = np.empty((int(document_ptr[-1]), 2), dtype=np.int32)
    field_of = [""] * len(spans)
    parts: list[Part] = []
    for name, field, begin, count in zip(names, fields, begins, counts, strict=True):
        moved = np.arange(len(field.spans)) + np.repeat(begin - field.document_ptr[:-1], count)
        spans[moved] = field.spans
        for at in moved.tolist():
            field_of[at] = name
        parts += [
            part._replace(sentence=moved[part.sentence], word_sentence=moved[part.word_sentence])
            for part in field.parts
        ]
    return Occurrences(parts, document_ptr, spans, field_of)


def _sentences(words: Sequence[Tokens]) -> tuple[Int64s, Int32s, Int64s]:
    """Offsets of documents, spans of sentences, and the new number of each of the first's own."""
    first, *others = words
    assert first.sentence_spans is not None
    counts = np.diff(first.document_ptr)
    added = counts == 0
    low = np.full(len(counts), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.zeros(len(counts), dtype=np.int32)
    for other in others:
        assert other.spans is not None
        document = row_of(other.token_document_ptr)
        np.minimum.at(low, document, other.spans[:, 0])
        np.maximum.at(high, document, other.spans[:, 1])
    added &= high > 0
    document_ptr = offsets_of(counts + added)
    moved = np.arange(first.n_sentences) + np.cumsum(added)[row_of(first.document_ptr)]
    spans = np.empty((int(document_ptr[-1]), 2), dtype=np.int32)
    spans[moved] = first.sentence_spans
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


_TOKEN = re.compile(r"\S+")
# More than the characters of any text.
_FAR = np.int64(1) << 32

# Tokens without evidence that every sentence counts beside its own, in (V2).
SHRINKAGE = 8

# Tokens on either side whose evidence counts for that of a sentence, in (V2).
AROUND = 100

# Standard deviation in tokens of the weights of neighboring tokens, in (V3).
WIDTH = 3.0

_DISTANCES = range(-int(3 * WIDTH), int(3 * WIDTH) + 1)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Tokens and sentences of documents, and the evidence of each for the label explained.

    Attributes
    ----------
    tokens, sentences : ndarray of int64, shapes (tokens, 2) and (sentences, 2)
        Where they begin and end in their documents.
    token_ptr, sentence_ptr : ndarray of int64, shape (documents + 1,)
        Document d has the tokens ``token_ptr[d]`` to ``token_ptr[d + 1]``, and so for sentences.
    of_tokens, of_sentences : ndarray of float64, shapes (tokens,) and (sentences,)
        Their evidence, 0 or more.
    values : ndarray of float64, shape (tokens,)
        What every token adds to the score: (V1).
    sentence : ndarray of int64, shape (tokens,)
        The sentence of every token; -1 in a document without sentences.
    """

    tokens: Int64s
    token_ptr: Int64s
    of_tokens: Floats
    sentences: Int64s
    sentence_ptr: Int64s
    of_sentences: Floats
    values: Floats
    sentence: Int64s


def evidence_of(
    texts: Sequence[str],
    occurrences: Occurrences,
    values: Sequence[Floats],
    sentences: Occurrences | None = None,
) -> Evidence:
    """The evidence in every text.

    Parameters
    ----------
    texts : sequence of str
    occurrences : Occurrences
        Of the features in these texts.
    values : sequence of ndarray
        By part of ``occurrences``, what each occurrence adds to the score explained.
    sentences : Occurrences, optional
        Other sentences of the same texts, in order; those of the tokenizer by default. A token
        belongs to the sentence that begins last before its own end, or else to the first one.

    Returns
    -------
    Evidence
    """
    tokens, token_ptr = _tokens(texts)
    sentences = sentences or occurrences
    of_score = _token_values(occurrences, values, tokens, token_ptr)
    squares = np.maximum(of_score, 0.0) ** 2
    document = row_of(token_ptr)
    inside = np.diff(sentences.document_ptr)[document] > 0
    last = (tokens[inside, 1] - 1).astype(np.int32)
    home = sentence_at(document[inside], last, sentences.document_ptr, sentences.spans)
    n_sentences = len(sentences.spans)
    lengths = np.bincount(home, minlength=n_sentences)
    around = sums(home, _around(squares, token_ptr)[inside], n_sentences)
    of_sentences = np.sqrt(sums(home, squares[inside], n_sentences) / (lengths + SHRINKAGE))
    of_sentences += np.sqrt(around / np.maximum(lengths, 1))  # (V2)
    of_tokens = np.sqrt(_near(squares, token_ptr))
    of_tokens[inside] += of_sentences[home]  # (V3)
    sentence = np.full(len(tokens), -1, dtype=np.int64)
    sentence[inside] = home
    return Evidence(
        tokens=tokens,
        token_ptr=token_ptr,
        of_tokens=of_tokens,
        sentences=sentences.spans.astype(np.int64),
        sentence_ptr=sentences.document_ptr,
        of_sentences=of_sentences,
        values=of_score,
        sentence=sentence,
    )


def _tokens(texts: Sequence[str]) -> tuple[Int64s, Int64s]:
    """Spans of the tokens of all texts, and the offsets of every text in them."""
    by_text = [[match.span() for match in _TOKEN.finditer(text)] for text in texts]
    ptr = offsets_of([len(matches) for matches in by_text])
    spans = [span for matches in by_text for span in matches]
    return np.array(spans, dtype=np.int64).reshape(-1, 2), ptr


def _token_values(
    occurrences: Occurrences, values: Sequence[Floats], tokens: Int64s, token_ptr: Int64s
) -> Floats:
    """(tokens,) what the occurrences on each add to the score: (V1)."""
    starts, ends = tokens.T + row_of(token_ptr) * _FAR
    total = np.zeros(len(tokens))
    for part, part_values in zip(occurrences.parts, values, strict=True):
        assert part.features.spans is not None
        base = row_of(part.features.token_document_ptr) * _FAR
        first = np.searchsorted(ends, base + part.features.spans[:, 0], side="right")
        after = np.searchsorted(starts, base + part.features.spans[:, 1], side="left")
        touched = np.maximum(after - first, 0)  # a feature may be of blanks alone
        begins = np.cumsum(touched) - touched
        token = np.repeat(first - begins, touched) + np.arange(int(touched.sum()))
        total += sums(token, np.repeat(part_values / np.maximum(touched, 1), touched), len(tokens))
    return total


def _around(squares: Floats, token_ptr: Int64s) -> Floats:
    """(tokens,) means over the tokens of the document up to ``AROUND`` away."""
    means = np.empty(len(squares))
    for start, end in itertools.pairwise(token_ptr.tolist()):
        total = np.concatenate([[0.0], np.cumsum(squares[start:end])])
        every = np.arange(end - start)
        low = np.maximum(every - AROUND, 0)
        high = np.minimum(every + AROUND + 1, end - start)
        means[start:end] = (total[high] - total[low]) / (high - low)
    return means


def _near(squares: Floats, token_ptr: Int64s) -> Floats:
    """(tokens,) means over the tokens of the document, the nearer the more."""
    # Tokens without weight between the documents keep them apart, so that all take one pass.
    far = max(_DISTANCES)
    place = np.arange(len(squares)) + far * (row_of(token_ptr) + 1)
    apart = np.zeros((2, len(squares) + far * (len(token_ptr) + 1)))
    apart[:, place] = squares, np.ones(len(squares))
    total, weights = np.zeros((2, len(squares)))
    for distance in _DISTANCES:
        weight = math.exp(-0.5 * (distance / WIDTH) ** 2)
        total += weight * apart[0, place + distance]
        weights += weight * apart[1, place + distance]
    return np.asarray(total / weights)


class _Change(NamedTuple):
    """What leaving out each sentence does to the features of its document.

    document, feature, before: for every feature of every document, its document, its id and its
    value v(c_f). sentence, entry, after: for every feature of every sentence, its sentence, its
    index in the former arrays, and its value v(c_f - c_fs) in the document without the sentence.
    """

    document: Int64s
    feature: Int64s
    before: Floats
    sentence: Int64s
    entry: Int64s
    after: Floats

    def without(self, values: Floats, changed: Floats, home: Int64s) -> Floats:
        """For each sentence, the sum over the features of its document without the sentence.

        values: for every feature of every document. changed: for every feature of every sentence,
        its value without the sentence. home: the document of every sentence.
        """
        whole = sums(self.document, values, int(home.max(initial=-1)) + 1)
        # Only features of the sentence change, so all sentences take one pass over the words.
        difference = sums(self.sentence, values[self.entry] - changed, len(home))
        return np.asarray(whole[home] - difference)


def scores_without(occurrences: Occurrences, weights: Floats, intercepts: Floats) -> Floats:
    """(k, sentences) scores of the document of each sentence without that sentence.

    weights: (k, names), intercepts: (k,). What several tokenizers find is scaled each for itself.
    """
    scores = np.repeat(intercepts[:, None], len(occurrences.spans), axis=1)
    for part in occurrences.parts:
        part_weights = weights[:, part.first : part.first + len(part.encoder.names)]
        scores += _part_without(part, occurrences, part_weights)
    return scores


def _part_without(part: Part, occurrences: Occurrences, weights: Floats) -> Floats:
    """(k, sentences) the share of one tokenizer in the scores; weights: (k, its names)."""
    encoder, document_ptr = part.encoder, occurrences.document_ptr
    home = row_of(document_ptr)
    weighting = encoder.weighting
    change = _changes(
        *_recut(part.features.ids, part.sentence, len(home)),
        document_ptr,
        len(encoder.vocabulary),
        weighting,
    )
    if isinstance(encoder, NumberEncoder):  # a number itself is what its one occurrence counts
        rows = count_rows(part.features)
        encoder.weigh(rows, part.words)
        change = change._replace(before=rows.data)
    scale, features = np.ones(len(home)), change.feature
    # Of the features that occur alone: a table of all of them, by labels, may be large.
    idf = np.ones(len(features)) if encoder.idf is None else encoder.idf[features]
    columns = features if encoder.columns is None else encoder.column_of[features]
    weighty = columns >= 0  # others count for the norm of a row
    if weighting.norm == "features":
        scale = _lengths(change, *_weighted(change, idf), home)
    elif weighting.norm == "ngrams":
        ids, sentence, size = _every_gram(part)
        all_grams = _changes(*_recut(ids, sentence, len(home)), document_ptr, size, weighting)
        scale = _lengths(all_grams, all_grams.before, all_grams.after, home)
    every = np.zeros((len(weights), len(features)))
    every[:, weighty] = weights[:, columns[weighty]] * idf[weighty]
    return np.stack([change.without(*_weighted(change, own), home) / scale for own in every])


def _recut(ids: Int32s, sentence: Int64s, n_sentences: int) -> tuple[Int32s, Int64s]:
    """Occurrences in order of their sentences, and the offsets of these."""
    order = np.argsort(sentence, kind="stable")
    sizes = np.bincount(sentence, minlength=n_sentences)
    return ids[order], offsets_of(sizes)


def _weighted(change: _Change, by: Floats) -> tuple[Floats, Floats]:
    """Values before and after the change, multiplied by what ``by`` has for each feature."""
    return change.before * by, change.after * by[change.entry]


def _lengths(change: _Change, before: Floats, after: Floats, home: Int64s) -> Floats:
    """Norm of the document's row without each sentence; 1 for an empty row."""
    remaining = change.without((before > 0).astype(float), (after > 0).astype(float), home)
    squares = change.without(before * before, after * after, home)
    # Counts are exact, while rounding may leave a difference of squares of an empty row above 0.
    return np.sqrt(np.where(remaining > 0.5, squares, 1.0))


def _changes(
    ids: Int32s, sentence_ptr: Int64s, document_ptr: Int64s, size: int, weighting: Weighting
) -> _Change:
    """The change for occurrences ``ids`` of ``size`` features."""
    ptr, sentence_features, sentence_counts = text_counts.count(ids, sentence_ptr, size)
    whole_ptr, features, counts = text_counts.count(ids, sentence_ptr[document_ptr], size)
    sentence, document = row_of(ptr), row_of(whole_ptr)
    home = row_of(document_ptr)[sentence]
    entry = np.searchsorted(document * size + features, home * size + sentence_features)
    return _Change(
        document=document,
        feature=features.astype(np.int64),
        before=weighting.values(counts),
        sentence=sentence,
        entry=entry,
        after=weighting.values(counts[entry] - sentence_counts),
    )


def _every_gram(part: Part) -> tuple[Int32s, Int64s, int]:
    """All n-grams of the words: ids, the sentences where they begin, and number of n-grams."""
    words = part.words
    tree, streams = NGrams.collect(words, part.encoder.ngrams, 1)
    known = [np.flatnonzero(ids >= 0) for ids in streams]
    first = offsets_of(tree.sizes).tolist()
    levels = zip(streams, known, first[:-1], strict=True)
    ids = np.concatenate([ids[which] + np.int32(base) for ids, which, base in levels])
    sentence = np.concatenate([part.word_sentence[which] for which in known])
    return ids, sentence, first[-1]
