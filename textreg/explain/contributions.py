"""Contributions of words and sentences to the score of a text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.explain.evidence import Evidence, Occurrences, Part, evidence_of, scores_without
from textreg.features.fields import first_of_texts
from textreg.model.model import Model, as_model
from textreg.records import Documents, Floats, Int64s
from textreg.records.arrays import row_of, sums
from textreg.records.documents import check_texts
from textreg.terminal import printable, single_line
from textreg.text import count_rows


class Word(NamedTuple):
    """One occurrence of a feature, ``text[start:end]``, and its contribution to the score.

    Attributes
    ----------
    start, end : int
        Character offsets. An n-gram covers several words, so occurrences may overlap.
    feature : str
        The feature.
    value : float
        What the feature adds to the score, divided equally among its occurrences in the document.
    inferred : bool, default False
        Whether no training text holds it, so that word vectors alone gave it a weight.
    """

    start: int
    end: int
    feature: str
    value: float
    inferred: bool = False


class SentenceScore(NamedTuple):
    """One sentence, ``text[start:end]``, its contribution in two senses, and its evidence.

    Attributes
    ----------
    start, end : int
        Character offsets.
    value : float
        The sum of the values of its words.
    removal : float
        By how much the log-probability of the explained label falls when the sentence is left out
        and the rest is vectorized as a document of its own (yogatama2014, tables 4 and 5). For
        models without probabilities, by how much the score falls.
    evidence : float
        How strong the evidence in the sentence is, 0 or more: (V2) of docs/maths.md, which agrees
        best with the sentences that people mark. Sentences are ranked by it.
    field : str
        Its field, where documents have several; else empty.
    """

    start: int
    end: int
    value: float
    removal: float
    evidence: float
    field: str = ""


@dataclass(frozen=True, repr=False)
class Explanation:
    """The score of one document as a sum: intercept + values of the words.

    Attributes
    ----------
    text : str
        The document.
    label : str
        The predicted label, or labels with commas between them; of a regression, the predicted
        number as text.
    probabilities : dict of str to float
        By label; empty for models without probabilities.
    of : str
        The label whose score is explained; empty for a regression. With two labels, a positive
        score supports this label and a negative one the other.
    intercept : float
        The intercept for this label.
    score : float
        The score for this label.
    sentences : tuple of SentenceScore
        Sentences with at least one word, in order.
    words : tuple of Word
        Occurrences of features with a weight for this label, in order.
    """

    text: str
    label: str
    probabilities: dict[str, float]
    of: str
    intercept: float
    score: float
    sentences: tuple[SentenceScore, ...]
    words: tuple[Word, ...]

    @property
    def fields(self) -> dict[str, float]:
        """The sum of the values of every field's words; empty where documents have no fields."""
        sums: dict[str, float] = {}
        for sentence in self.sentences:
            if sentence.field:
                sums[sentence.field] = sums.get(sentence.field, 0.0) + sentence.value
        return sums

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers, texts, lists and dicts, ready for JSON."""
        sentences = [_without_defaults(sentence) for sentence in self.sentences]
        words = [_without_defaults(word) for word in self.words]
        plain = {**vars(self), "text": str(self.text), "sentences": sentences, "words": words}
        return {**plain, "fields": self.fields} if self.fields else plain

    def __repr__(self) -> str:
        return f"<Explanation: {headline(self)}>"

    def _repr_html_(self) -> str:
        """The document for a notebook, its words colored by their contributions."""

        return as_html(self)


def _without_defaults(part: Word | SentenceScore) -> dict[str, Any]:
    """A part of a text as a dict, which says nothing of a field where there is none, and so on."""
    usual = part._field_defaults
    return {key: it for key, it in part._asdict().items() if key not in usual or it != usual[key]}


def text_parts(explanation: Explanation) -> Iterator[tuple[int, int, float]]:
    """The whole text in consecutive parts, split wherever a word begins or ends.

    Each is given by its start and end, with the sum of the values of the words that cover it.
    Where n-grams overlap, each counts in full for every part that it covers.
    """
    change: dict[int, float] = {0: 0.0, len(explanation.text): 0.0}
    open_at: dict[int, int] = {}
    for start, end, _, value, _ in explanation.words:
        for place, sign in ((start, 1), (end, -1)):
            change[place] = change.get(place, 0.0) + sign * value
            open_at[place] = open_at.get(place, 0) + sign
    value, n_open, before = 0.0, 0, 0
    for place in sorted(change):
        if place > before:
            yield before, place, value if n_open else 0.0
        value, n_open, before = value + change[place], n_open + open_at.get(place, 0), place


def strongest(explanation: Explanation, top: int = 10) -> list[tuple[str, float]]:
    """The ``top`` features with the largest contributions, over all occurrences, and these."""
    sums: dict[str, float] = {}
    for word in explanation.words:
        sums[word.feature] = sums.get(word.feature, 0.0) + word.value
    return sorted(sums.items(), key=lambda item: (-abs(item[1]), item[0]))[:top]


def headline(explanation: Explanation) -> str:
    """Label or number, probability, and the score as a sum, on one line."""
    label = single_line(explanation.label) if explanation.of else f"{explanation.score:.4g}"
    if explanation.label in explanation.probabilities:
        label += f" ({explanation.probabilities[explanation.label]:.3f})"
    words = sum(word.value for word in explanation.words)
    what = f"score of {single_line(explanation.of)}" if explanation.of else "prediction"
    return (
        f"{label}   {what} {explanation.score:+.3f} = intercept {explanation.intercept:+.3f} "
        f"{'+' if words >= 0 else '-'} words {abs(words):.3f}"
    )


def as_html(explanation: Explanation) -> str:
    """One self-contained HTML element, without scripts or style sheets; the text is escaped."""
    parts = list(text_parts(explanation))
    most = max((abs(value) for _, _, value in parts), default=0.0) or 1.0
    shown = []
    for start, end, value in parts:
        text = escape(printable(explanation.text[start:end]))
        if value:
            color = (
                "0,114,178" if value > 0 else "213,94,0"
            )  # distinct for color-blind readers: okabe2008
            strength = 0.1 + 0.5 * abs(value) / most
            text = (
                f'<span style="background:rgba({color},{strength:.2f})" '
                f'title="{value:+.4f}">{text}</span>'
            )
        shown.append(text)
    return (
        f"<div><p><b>{escape(headline(explanation))}</b></p>"
        f'<p dir="auto" style="white-space:pre-wrap">{"".join(shown)}</p></div>'
    )


# Number of texts that are explained together; results do not depend on it.
BATCH = 30


def gives_offsets(model: Model) -> bool:
    """Whether the model's tokenizers give character offsets, which explanations need."""
    for part in as_model(model).encoder.parts:
        try:
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
    spans = [tokens.sentence_spans for tokens in words if tokens.sentence_spans is not None]
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
    model = as_model(model)
    if of is not None:
        model.task.side(of)
    documents: Any = texts if isinstance(texts, Iterator) else model.encoder.documents(texts)  # type: ignore[arg-type]
    return _explain(model, iter(documents), of)


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

    def evidence(self, sentences: Occurrences | None = None) -> Evidence:
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
    labels = [task.text(answer) if task.multilabel else str(answer) for answer in answers]
    table = task.as_table(scores)

    removals = removals_of(model, batch)
    all_probabilities: Sequence[dict[str, float]] = [{}] * len(texts)
    if model.has_probabilities:
        by_label = model.probabilities(scores).tolist()
        all_probabilities = [dict(zip(model.labels, row, strict=True)) for row in by_label]
    sentences, words = _sentence_scores(batch, removals), _words(model, batch)
    for d, parts in enumerate(zip(sentences, words, strict=True)):
        row, sign = int(batch.rows[d]), float(batch.signs[d])
        of = task.side_name(int(batch.sides[d]))
        intercept, score = sign * float(model.intercepts[row]), sign * float(table[d, row])
        yield Explanation(texts[d], labels[d], all_probabilities[d], of, intercept, score, *parts)


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
    for part, part_values in zip(occurrences.parts, batch.values, strict=True):
        values += sums(part.sentence, part_values, len(values))
    figures = np.stack([values, removals, batch.evidence().of_sentences], axis=1).tolist()
    rows = zip(occurrences.spans.tolist(), figures, occurrences.fields(), strict=True)
    every = [
        SentenceScore(start, end, value, removal, evidence, field)
        for (start, end), (value, removal, evidence), field in rows
    ]
    for first, last in itertools.pairwise(occurrences.document_ptr.tolist()):
        yield tuple(every[first:last])


def _words(model: Model, batch: ExplainedBatch) -> Iterator[tuple[Word, ...]]:
    """The occurrences of every document that contribute to the score, where they begin."""
    names, occurrences, values = model.encoder.names, batch.occurrences, batch.values
    inferred = model.inferred
    every: list[Word] = []
    documents: list[Int64s] = []
    for part, part_values in zip(occurrences.parts, values, strict=True):
        shown, features = np.flatnonzero(part_values), part.features
        assert features.spans is not None
        ids = features.ids[shown]
        columns = ids if part.encoder.columns is None else part.encoder.column_of[ids]
        added = zip((columns + part.first).tolist(), part_values[shown].tolist(), strict=True)
        spans = features.spans[shown].tolist()
        every += [
            Word(start, end, names[column], value, bool(inferred[column]))
            for (start, end), (column, value) in zip(spans, added, strict=True)
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
