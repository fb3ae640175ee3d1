"""The exact account of a score: intercept, words, sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.explain.records import Explanation, SentenceScore, Word
from textreg.explain.removal import scores_without
from textreg.model import Model
from textreg.records import Floats, Int64s
from textreg.records.ragged import sums
from textreg.text import check_texts, count_rows

BATCH = 1000
"""Texts that are explained together; results do not depend on it."""


def gives_offsets(model: Model) -> bool:
    """Whether the model's tokenizer says where words stand, so that texts can be explained."""
    try:
        model.encoder.tokenizer.encode([""], spans=True)
    except UsageError:
        return False
    return True


def explain(model: Model, texts: Iterable[str], of: str | None = None) -> Iterator[Explanation]:
    """Explain the score of each text, in their order and in constant memory.

    of: the label whose score is explained, default each text's predicted one. A feature adds its
    weight times its value in the row, whatever the weighting, so the account is exact; with
    ``tfidf`` and ``unit`` the row's length is part of that value. A document without known words
    has its intercept only.

    UsageError for an unknown label, or a tokenizer that gives no character offsets.
    """
    if isinstance(texts, str):
        raise UsageError("give a list of texts, such as [text], not one text.")
    if of is not None and of not in model.labels:
        known = f"Its labels are: {', '.join(model.labels)}." if model.labels else "It has none."
        raise UsageError(f"the model has no label '{of}'.{did_you_mean(of, model.labels)} {known}")
    return _explain(model, iter(texts), of)


def _explain(model: Model, texts: Iterator[str], of: str | None) -> Iterator[Explanation]:
    while batch := list(itertools.islice(texts, BATCH)):
        yield from _explain_batch(model, check_texts(batch), of)


def _explain_batch(model: Model, texts: Sequence[str], of: str | None) -> Iterator[Explanation]:
    """The same for some texts at once."""
    encoder = model.encoder
    words = encoder.words(texts, spans=True)
    features = encoder.features(words)
    counts = count_rows(features)
    values = counts._replace(data=counts.data.copy())
    encoder.weigh(values, words)

    scores = model.decision_function(texts)
    labels = [str(label) for label in model.choose(scores)]
    chances = model.probabilities(scores).tolist() if model.has_probabilities else None
    targets = labels if of is None else [of] * len(texts)
    rows, signs = _rows(model, targets if model.labels else [""] * len(texts))
    whole = np.atleast_2d(scores.T)
    document = np.repeat(np.arange(len(texts)), np.diff(features.token_document_ptr))

    # Of every occurrence: its feature's value in the row, shared by the occurrences.
    size = len(encoder.vocabulary)
    row_of = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
    place = np.searchsorted(row_of * size + counts.indices, document * size + features.ids)
    column = encoder.column_of[features.ids] if encoder.columns is not None else features.ids
    share = (values.data / counts.data)[place] * signs[document]
    if model.weights.shape[1]:
        share *= np.where(column >= 0, model.weights[rows[document], column], 0.0)
    sentence = np.repeat(np.arange(features.n_sentences), np.diff(features.sentence_ptr))
    sum_of = sums(sentence, share, features.n_sentences)

    without = scores_without(encoder, words, features, model.weights, model.intercepts)
    home = np.repeat(np.arange(len(texts)), np.diff(features.document_ptr))
    removal = _evidence(model, whole, rows, signs)[home] - _evidence(
        model, without, rows[home], signs[home]
    )

    assert features.spans is not None
    assert features.sentence_spans is not None
    shown = np.flatnonzero(share)
    shown_ptr = np.searchsorted(shown, features.token_document_ptr)
    names = encoder.vocabulary
    every_word = [
        Word(start, end, names[feature], value)
        for (start, end), feature, value in zip(
            features.spans[shown].tolist(),
            features.ids[shown].tolist(),
            share[shown].tolist(),
            strict=True,
        )
    ]
    every_sentence = [
        SentenceScore(start, end, value, taken)
        for (start, end), value, taken in zip(
            features.sentence_spans.tolist(), sum_of.tolist(), removal.tolist(), strict=True
        )
    ]
    document_ptr = features.document_ptr.tolist()
    for d, text in enumerate(texts):
        sign, row = float(signs[d]), int(rows[d])
        yield Explanation(
            text=text,
            label=labels[d],
            probabilities={}
            if chances is None
            else dict(zip(model.labels, chances[d], strict=True)),
            of=targets[d] if model.labels else "",
            intercept=sign * float(model.intercepts[row]),
            score=sign * float(whole[row, d]),
            sentences=tuple(every_sentence[document_ptr[d] : document_ptr[d + 1]]),
            words=tuple(every_word[shown_ptr[d] : shown_ptr[d + 1]]),
        )


def _rows(model: Model, targets: Sequence[str]) -> tuple[Int64s, Floats]:
    """Which weight vector speaks for each target, and its sign."""
    if len(model.labels) <= 2:
        against = model.labels[0] if model.labels else None
        signs = [-1.0 if target == against else 1.0 for target in targets]
        return np.zeros(len(targets), dtype=np.int64), np.array(signs)
    code_of = {label: code for code, label in enumerate(model.labels)}
    rows = np.array([code_of[target] for target in targets], dtype=np.int64)
    return rows, np.ones(len(targets))


def _evidence(model: Model, scores: Floats, rows: Int64s, signs: Floats) -> Floats:
    """Log-probability of the target that ``rows`` and ``signs`` stand for; scores: (k, n).

    Where the model has no probabilities, the score itself.
    """
    every = np.arange(len(rows))
    if not model.has_probabilities:
        return np.asarray(signs * scores[rows, every])
    logs = model.log_probabilities(scores[0] if len(scores) == 1 else scores.T)
    return np.asarray(logs[every, rows if len(scores) > 1 else (signs > 0).astype(int)])
