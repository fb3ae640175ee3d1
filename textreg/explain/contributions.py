"""Exact contributions to a score: intercept, words, sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.explain.evidence import Evidence, Sentences, evidence_of
from textreg.explain.occurrences import Occurrences, Part
from textreg.explain.records import Explanation, SentenceScore, Word
from textreg.explain.removal import scores_without
from textreg.features.fields import first_of_texts
from textreg.model.model import Model
from textreg.records import Documents, Floats, Int64s
from textreg.records.documents import check_texts
from textreg.records.ragged import row_of, sums
from textreg.text import count_rows

BATCH = 1000
"""Number of texts that are explained together; results do not depend on it."""


def gives_offsets(model: Model) -> bool:
    """Whether the model's tokenizers give character offsets, which explanations need."""
    try:
        for part in model.encoder.parts:
            # Of its own words, as some tokenizers state offsets only where they find something.
            part.tokenizer.encode([" ".join(part.vocabulary[:3])], spans=True)
    except UsageError:
        return False
    return True


def sentence_of(model: Model, texts: Documents, document_ptr: Int64s, sentence: int) -> str:
    """The text of a sentence, if those of text d are ``document_ptr[d]:document_ptr[d + 1]``.

    The tokenizer, or the first of several, must give character offsets.
    """
    d = int(np.searchsorted(document_ptr, sentence, side="right")) - 1
    (text,) = check_texts([texts[d]])
    words = [part.words([text], spans=True) for part in first_of_texts(model.encoder)]
    spans = [own.sentence_spans for own in words if own.sentence_spans is not None]
    start, end = np.concatenate(spans)[sentence - int(document_ptr[d])].tolist()
    return text[start:end]


def explain(
    model: Model, texts: Iterable[str] | Documents, of: str | None = None
) -> Iterator[Explanation]:
    """Explain the score of each text, in order and in constant memory.

    Of several labels those of all that are predicted, each by itself, the clearest first.

    A feature adds its weight times its value in the document's row, whatever the term weighting,
    so the sum is exact. With ``tfidf``, ``unit`` and ``unit-idf`` that value includes the scaling
    of the row. A document without known words has the intercept as its score.

    Parameters
    ----------
    model : Model
        The model.
    texts : iterable of str
        The documents.
    of : str, optional
        The label whose score is explained; by default every predicted one of each text, or the one
        that comes nearest to its threshold where there is none.

    Yields
    ------
    Explanation

    Raises
    ------
    UsageError
        If the model has no such label, or its tokenizer gives no character offsets.
    """
    if isinstance(texts, str):
        raise UsageError("give a list of texts, such as [text], not one text.")
    if of is not None:
        model.task.side(of)
    given: Any = texts if isinstance(texts, Iterator) else model.encoder.documents(texts)  # type: ignore[arg-type]
    return _explain(model, iter(given), of)


def _explain(model: Model, texts: Iterator[Any], of: str | None) -> Iterator[Explanation]:
    while batch := list(itertools.islice(texts, BATCH)):
        yield from _explain_batch(model, batch, of)


class ExplainedBatch(NamedTuple):
    """Texts and the scores of theirs that are explained: one for each entry of ``texts``.

    Attributes
    ----------
    texts : sequence of str
    occurrences : Occurrences
    scores : ndarray
        As ``Model.decision_function`` gives them.
    sides, rows : ndarray of int64, shape (texts,)
        The side explained of each, and its row of weights.
    signs : ndarray of float64, shape (texts,)
        -1 where a negative score is one for the side.
    values : sequence of ndarray
        By part of ``occurrences``, what each occurrence adds to the score explained.
    """

    texts: Sequence[str]
    occurrences: Occurrences
    scores: Floats
    sides: Int64s
    rows: Int64s
    signs: Floats
    values: Sequence[Floats]

    def evidence(self, sentences: Sentences | None = None) -> Evidence:
        """The evidence of tokens and sentences, or of other ``sentences`` of the same texts."""
        return evidence_of(self.texts, self.occurrences, self.values, sentences)


def explained_batch(model: Model, documents: Documents, of: str | None = None) -> ExplainedBatch:
    """What is explained of each document: as :func:`explain`, all at once."""
    documents = model.encoder.documents(documents)
    occurrences = Occurrences.of(model.encoder, documents)
    task, texts = model.task, check_texts(documents)
    scores = model.decision_function(texts)
    if of is None:
        explained, sides = task.explained_of(scores, model.thresholds)
    else:
        explained, sides = np.arange(len(texts)), np.full(len(texts), task.side(of))
    if len(explained) > len(texts):  # some have several labels
        texts, scores = [texts[at] for at in explained.tolist()], scores[explained]
        occurrences = Occurrences.of(model.encoder, texts)
    rows, signs = task.row_of(sides)
    values = [_occurrence_values(model, part, rows, signs) for part in occurrences.parts]
    return ExplainedBatch(texts, occurrences, scores, sides, rows, signs, values)


def _explain_batch(model: Model, documents: Documents, of: str | None) -> Iterator[Explanation]:
    batch = explained_batch(model, documents, of)
    task, texts, scores = model.task, batch.texts, batch.scores
    answers = task.answers(model.decide(scores))
    labels = [task.text(one) if task.multilabel else str(one) for one in answers]
    table = task.as_table(scores)

    removals = removals_of(model, batch)
    all_probabilities: Sequence[dict[str, float]] = [{}] * len(texts)
    if model.has_probabilities:
        by_label = model.probabilities(scores).tolist()
        all_probabilities = [dict(zip(model.labels, row, strict=True)) for row in by_label]
    parts = zip(
        texts,
        labels,
        all_probabilities,
        batch.sides.tolist(),
        batch.rows.tolist(),
        batch.signs.tolist(),
        strict=True,
    )
    sentences = _sentence_scores(batch, removals)
    weighted_words = _words(model, batch.occurrences, batch.values)
    for d, (text, label, probabilities, side, row, sign) in enumerate(parts):
        yield Explanation(
            text=text,
            label=label,
            probabilities=probabilities,
            of=task.side_name(side),
            intercept=sign * float(model.intercepts[row]),
            score=sign * float(table[d, row]),
            sentences=next(sentences),
            words=next(weighted_words),
        )


def _occurrence_values(model: Model, part: Part, rows: Int64s, signs: Floats) -> Floats:
    """(occurrences,) contributions: weight times value of the feature, divided by its count.

    rows, signs: of every document, as of ``Task.row_of``.
    """
    encoder, features = part.encoder, part.features
    counts = count_rows(features)
    values = counts._replace(data=counts.data.copy())
    encoder.weigh(values, part.words)
    document = row_of(features.token_document_ptr)
    size = len(encoder.vocabulary)
    # Entries are sorted by document and feature: one binary search finds that of each occurrence.
    entries = row_of(counts.indptr) * size + counts.indices
    place = np.searchsorted(entries, document * size + features.ids)
    contributions = (values.data / counts.data)[place] * signs[document]
    if not len(encoder.names):
        return np.zeros_like(contributions)
    column = encoder.column_of[features.ids] if encoder.columns is not None else features.ids
    weights = model.weights[rows[document], column + part.first]
    contributions *= np.where(column >= 0, weights, 0.0)
    return contributions


def removals_of(model: Model, batch: ExplainedBatch) -> Floats:
    """(sentences,) fall of the log-probability without each sentence: (yogatama2014, table 4)."""
    occurrences, sides = batch.occurrences, batch.sides
    table = model.task.as_table(batch.scores)
    without = scores_without(occurrences, model.weights, model.intercepts)
    home = row_of(occurrences.document_ptr)
    return _log_odds(model, table, sides)[home] - _log_odds(model, without.T, sides[home])


def _sentence_scores(
    batch: ExplainedBatch, removals: Floats
) -> Iterator[tuple[SentenceScore, ...]]:
    """The sentences of every document."""
    occurrences = batch.occurrences
    values = np.zeros(len(occurrences.spans))
    for part, own in zip(occurrences.parts, batch.values, strict=True):
        values += sums(part.sentence, own, len(values))
    every = [
        SentenceScore(start, end, value, removal, evidence, field)
        for (start, end), value, removal, evidence, field in zip(
            occurrences.spans.tolist(),
            values.tolist(),
            removals.tolist(),
            batch.evidence().of_sentences.tolist(),
            occurrences.fields(),
            strict=True,
        )
    ]
    for first, last in itertools.pairwise(occurrences.document_ptr.tolist()):
        yield tuple(every[first:last])


def _words(
    model: Model, occurrences: Occurrences, values: Sequence[Floats]
) -> Iterator[tuple[Word, ...]]:
    """The occurrences of every document that contribute to the score, where they begin."""
    names = model.encoder.names
    every: list[Word] = []
    documents: list[Int64s] = []
    for part, own in zip(occurrences.parts, values, strict=True):
        shown, features = np.flatnonzero(own), part.features
        assert features.spans is not None
        ids = features.ids[shown]
        columns = ids if part.encoder.columns is None else part.encoder.column_of[ids]
        every += [
            Word(start, end, names[column], value)
            for (start, end), column, value in zip(
                features.spans[shown].tolist(),
                (columns + part.first).tolist(),
                own[shown].tolist(),
                strict=True,
            )
        ]
        documents.append(row_of(features.token_document_ptr)[shown])
    document = np.concatenate(documents)
    order = np.arange(len(every))
    if len(values) > 1:
        order = np.lexsort((np.array([word.start for word in every], dtype=np.int64), document))
    borders = np.searchsorted(document[order], np.arange(len(occurrences.document_ptr)))
    for first, last in itertools.pairwise(borders.tolist()):
        yield tuple(every[at] for at in order[first:last].tolist())


def _log_odds(model: Model, table: Floats, sides: Int64s) -> Floats:
    """Log-probability of each document's side from scores (n, k); without any, the score itself."""
    every = np.arange(len(sides))
    if not model.has_probabilities:
        rows, signs = model.task.row_of(sides)
        return np.asarray(signs * table[every, rows])
    return np.asarray(model.log_probabilities(table)[every, sides])
