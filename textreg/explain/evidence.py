"""The evidence of tokens and sentences for a label: one rule for every model, docs/maths.md (V).

A token is a run of characters without a blank between them. What an occurrence of a feature adds to
the score is divided equally among the tokens that it touches, so that those of characters go to
their words, and those of n-grams to all of theirs.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textreg.explain.occurrences import Occurrences, sentence_at
from textreg.records import Floats, Int32s, Int64s
from textreg.records.ragged import row_of, sums

_TOKEN = re.compile(r"\S+")
_FAR = np.int64(1) << 32
"""More than the characters of any text."""

SHRINKAGE = 8
"""Tokens without evidence that every sentence counts beside its own, in (V2)."""

AROUND = 100
"""Tokens on either side whose evidence counts for that of a sentence, in (V2)."""

WIDTH = 3.0
"""Standard deviation in tokens of the weights of neighboring tokens, in (V3)."""

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


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences of documents: their spans (sentences, 2), and the offsets of every document."""

    spans: Int32s
    document_ptr: Int64s


def evidence_of(
    texts: Sequence[str],
    occurrences: Occurrences,
    values: Sequence[Floats],
    sentences: Sentences | None = None,
) -> Evidence:
    """The evidence in every text.

    Parameters
    ----------
    texts : sequence of str
    occurrences : Occurrences
        Of the features in these texts.
    values : sequence of ndarray
        By part of ``occurrences``, what each occurrence adds to the score explained.
    sentences : Sentences, optional
        In order; those of the tokenizer by default. A token belongs to the sentence that begins
        last before its own end, or else to the first one.

    Returns
    -------
    Evidence
    """
    tokens, token_ptr = _tokens(texts)
    own = sentences or Sentences(occurrences.spans, occurrences.document_ptr)
    of_score = _token_values(occurrences, values, tokens, token_ptr)
    squares = np.maximum(of_score, 0.0) ** 2
    document = row_of(token_ptr)
    inside = np.diff(own.document_ptr)[document] > 0
    home = sentence_at(
        document[inside], (tokens[inside, 1] - 1).astype(np.int32), own.document_ptr, own.spans
    )
    n_sentences = len(own.spans)
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
        sentences=own.spans.astype(np.int64),
        sentence_ptr=own.document_ptr,
        of_sentences=of_sentences,
        values=of_score,
        sentence=sentence,
    )


def _tokens(texts: Sequence[str]) -> tuple[Int64s, Int64s]:
    """Spans of the tokens of all texts, and the offsets of every text in them."""
    found = [[match.span() for match in _TOKEN.finditer(text)] for text in texts]
    ptr = np.concatenate([[0], np.cumsum([len(own) for own in found], dtype=np.int64)])
    spans = [span for own in found for span in own]
    return np.array(spans, dtype=np.int64).reshape(-1, 2), ptr


def _token_values(
    occurrences: Occurrences, values: Sequence[Floats], tokens: Int64s, token_ptr: Int64s
) -> Floats:
    """(tokens,) what the occurrences on each add to the score: (V1)."""
    starts, ends = tokens.T + row_of(token_ptr) * _FAR
    total = np.zeros(len(tokens))
    for part, own in zip(occurrences.parts, values, strict=True):
        assert part.features.spans is not None
        base = row_of(part.features.token_document_ptr) * _FAR
        first = np.searchsorted(ends, base + part.features.spans[:, 0], side="right")
        after = np.searchsorted(starts, base + part.features.spans[:, 1], side="left")
        touched = np.maximum(after - first, 0)  # a feature may be of blanks alone
        begins = np.cumsum(touched) - touched
        token = np.repeat(first - begins, touched) + np.arange(int(touched.sum()))
        total += sums(token, np.repeat(own / np.maximum(touched, 1), touched), len(tokens))
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
