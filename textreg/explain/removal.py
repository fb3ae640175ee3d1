"""Scores of documents without one of their sentences, for every sentence, in one pass.

yogatama2014, tables 4 and 5, measure a sentence by how much the log-odds change when it is left
out. With v(c) the value of a feature that occurs c times, c_s of them in sentence s, a
document without s has the score

    b + (Σ_f w_f i_f v(c_f) − Σ_{f in s} w_f i_f (v(c_f) − v(c_f − c_fs))) / norm,

where i_f is the inverse document frequency (1 without ``tfidf``) and norm² is Σ_f (i_f v(c_f))²
less the same difference of squares (1 where rows are not scaled). This is exact, not a
linearization, and all sentences together cost as much as counting their words twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textreg._core import text_counts
from textreg.explain.occurrences import Occurrences, Part
from textreg.features.encoder import Encoder
from textreg.features.ngrams import NGrams
from textreg.features.numbers import NumberEncoder
from textreg.features.weighting import Weighting
from textreg.records import Floats, Int32s, Int64s
from textreg.records.ragged import row_of, sums
from textreg.text import count_rows


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
        own = weights[:, part.first : part.first + len(part.encoder.names)]
        if isinstance(part.encoder, NumberEncoder):
            scores += _numbers_without(part.encoder, part, occurrences, own)
        else:
            scores += _part_without(part, occurrences, own)
    return scores


def _numbers_without(
    encoder: NumberEncoder, part: Part, occurrences: Occurrences, weights: Floats
) -> Floats:
    """(k, sentences) the same of a number, which adds nothing to the score when it is left out."""
    home = row_of(occurrences.document_ptr)
    rows = count_rows(part.features)
    encoder.weigh(rows, part.words)
    document = row_of(part.features.token_document_ptr)
    without = []
    for added in weights[:, rows.indices] * rows.data:
        whole = sums(document, added, len(occurrences.document_ptr) - 1)
        without.append(whole[home] - sums(part.sentence, added, len(home)))
    return np.array(without).reshape(len(weights), len(home))


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
    weights = _over_vocabulary(encoder, weights)
    scale = np.ones(len(home))
    idf = np.ones(weights.shape[1]) if encoder.idf is None else encoder.idf
    weights = weights * idf
    if weighting.norm == "features":
        scale = _lengths(change, *_weighted(change, idf), home)
    elif weighting.norm == "ngrams":
        ids, sentence, size = _every_gram(part)
        all_grams = _changes(*_recut(ids, sentence, len(home)), document_ptr, size, weighting)
        scale = _lengths(all_grams, all_grams.before, all_grams.after, home)
    return np.stack([change.without(*_weighted(change, w), home) / scale for w in weights])


def _recut(ids: Int32s, sentence: Int64s, n_sentences: int) -> tuple[Int32s, Int64s]:
    """Occurrences in order of their sentences, and the offsets of these."""
    order = np.argsort(sentence, kind="stable")
    sizes = np.bincount(sentence, minlength=n_sentences)
    return ids[order], np.concatenate([[0], np.cumsum(sizes)])


def _weighted(change: _Change, by: Floats) -> tuple[Floats, Floats]:
    """Values before and after the change, multiplied by the entry of ``by`` for their feature."""
    return change.before * by[change.feature], change.after * by[change.feature[change.entry]]


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
    ptr, own, own_counts = text_counts.count(ids, sentence_ptr, size)
    whole_ptr, features, counts = text_counts.count(ids, sentence_ptr[document_ptr], size)
    sentence, document = row_of(ptr), row_of(whole_ptr)
    home = row_of(document_ptr)[sentence]
    entry = np.searchsorted(document * size + features, home * size + own)
    return _Change(
        document=document,
        feature=features.astype(np.int64),
        before=weighting.values(counts),
        sentence=sentence,
        entry=entry,
        after=weighting.values(counts[entry] - own_counts),
    )


def _over_vocabulary(encoder: Encoder, weights: Floats) -> Floats:
    """Weights over all features that the norm of a row needs; 0 for those without a weight."""
    if encoder.columns is None:
        return weights
    wide = np.zeros((len(weights), len(encoder.vocabulary)))
    wide[:, encoder.columns] = weights
    return wide


def _every_gram(part: Part) -> tuple[Int32s, Int64s, int]:
    """All n-grams of the words: ids, the sentences where they begin, and number of n-grams."""
    words = part.words
    tree, streams = NGrams.collect(words, part.encoder.ngrams, 1)
    first = np.concatenate([[0], np.cumsum(tree.sizes)]).astype(np.int32)
    levels = [
        np.where(ids >= 0, ids + base, -1) for ids, base in zip(streams, first[:-1], strict=True)
    ]
    known = [ids >= 0 for ids in streams]
    ids = np.concatenate([level[which] for level, which in zip(levels, known, strict=True)])
    sentence = np.concatenate([part.word_sentence[which] for which in known])
    return ids.astype(np.int32), sentence, int(first[-1])
