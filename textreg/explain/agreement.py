"""Whether a model finds the evidence that people marked, and whether it is its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.explain.contributions import BATCH, explained_batch
from textreg.explain.evidence import Evidence, Sentences
from textreg.explain.marks import MarkedDocument
from textreg.measure.rationale_scores import RationaleScores
from textreg.measure.rationales import (
    auprc,
    average_precision,
    passage_overlap,
    precision_at,
    r_precision,
    runs,
    strongest,
    token_overlap,
    tokens_in,
    touched,
)
from textreg.model.model import Model
from textreg.records import Bools, Floats, Int64s

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of the tokens that the area over the perturbation curve is taken at (deyoung2020, 4.2)."""


class _Judged(NamedTuple):
    """A document with marked tokens and sentences, and its evidence for the label explained."""

    text: str
    side: int
    tokens: Int64s
    passages: Int64s
    marked_tokens: Bools
    of_tokens: Floats
    marked_sentences: Bools
    of_sentences: Floats


def rationale_scores(
    model: Model,
    documents: Sequence[MarkedDocument],
    of: str | None = None,
    *,
    share: float | None = None,
) -> RationaleScores:
    """Compare the evidence for the predicted label with the passages that people marked.

    A token is a run of characters without blanks, and is marked if a marked passage touches it; so
    is a sentence. Evidence is that of docs/maths.md (V2) for sentences and (V3) for tokens. The
    rationale is the ``share`` of tokens with the most evidence (deyoung2020, section 4.1).
    Comprehensiveness is by how much the probability of the label falls without the rationale,
    sufficiency by how much with nothing but it (section 4.2); the areas over the perturbation
    curve are their means for 1, 5, 10, 20 and 50 % of the tokens.

    Parameters
    ----------
    model : Model
    documents : sequence of MarkedDocument
        Those without a marked token, or without a marked sentence, are left out.
    of : str, optional
        The label whose evidence is taken; by default the predicted one of each document.
    share : float, optional
        By default the mean share of marked tokens in these documents.

    Returns
    -------
    RationaleScores

    Raises
    ------
    DataError
        If no document has a marked passage.
    UsageError
        If documents may have several labels, or consist of several fields, or the model has no
        such label, or its tokenizer gives no character offsets.

    References
    ----------
    deyoung2020
    """
    if model.task.multilabel and of is None:
        raise UsageError(
            "the documents of the model may have several labels: say which one the marked passages "
            "are evidence for, with of (--of LABEL)."
        )
    if model.encoder.fields:
        raise UsageError(
            "the documents of the model have several columns, and marked passages are offsets in "
            "one text: train on one column of texts."
        )
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"share is {share}: give a number above 0, and 1 at most.")
    judged = [
        one
        for start in range(0, len(documents), BATCH)
        for one in _judged(model, documents[start : start + BATCH], of)
    ]
    if not judged:
        raise DataError(
            f"none of the {len(documents):,} documents has a marked passage with a word, in one of "
            "its sentences: name the column that has the passages, and if sentences are given "
            "theirs."
        )
    token_share = float(np.mean([one.marked_tokens.mean() for one in judged]))
    share = token_share if share is None else share
    table = np.array([_agreement(one, share) for one in judged])
    if model.has_probabilities:
        table = np.hstack([table, _faithfulness(model, judged, share)])
    return RationaleScores(
        table,
        marked_sentences=float(np.mean([one.marked_sentences.mean() for one in judged])),
        marked_tokens=token_share,
        rationale_share=share,
        left_out=len(documents) - len(judged),
    )


def _judged(model: Model, documents: Sequence[MarkedDocument], of: str | None) -> Iterator[_Judged]:
    batch = explained_batch(model, [one.text for one in documents], of)
    evidence = batch.evidence(_given_sentences(documents))
    for d, document in enumerate(documents):
        tokens, of_tokens, spans, of_sentences = _of_document(evidence, d)
        if not len(tokens):
            continue
        passages = tokens_in(document.passages, tokens)
        marked_sentences = touched(tokens_in(document.passages, spans), len(spans))
        if len(passages) and marked_sentences.any():
            yield _Judged(
                text=document.text,
                side=int(batch.sides[d]),
                tokens=tokens,
                passages=passages,
                marked_tokens=touched(passages, len(tokens)),
                of_tokens=of_tokens,
                marked_sentences=marked_sentences,
                of_sentences=of_sentences,
            )


def _given_sentences(documents: Sequence[MarkedDocument]) -> Sentences | None:
    """The sentences that come with the documents; None if they do not."""
    given = [one.sentences for one in documents if one.sentences is not None]
    if len(given) != len(documents):
        if given:
            raise UsageError("some documents have sentences and others none: give all or none.")
        return None
    ptr = np.concatenate([[0], np.cumsum([len(own) for own in given], dtype=np.int64)])
    return Sentences(np.concatenate(given).astype(np.int32), ptr)


def _of_document(evidence: Evidence, d: int) -> tuple[Int64s, Floats, Int64s, Floats]:
    tokens = slice(int(evidence.token_ptr[d]), int(evidence.token_ptr[d + 1]))
    sentences = slice(int(evidence.sentence_ptr[d]), int(evidence.sentence_ptr[d + 1]))
    return (
        evidence.tokens[tokens],
        evidence.of_tokens[tokens],
        evidence.sentences[sentences],
        evidence.of_sentences[sentences],
    )


def _agreement(one: _Judged, share: float) -> tuple[float, ...]:
    """The columns of ``AGREEMENT``."""
    rationale = strongest(one.of_tokens, share)
    tokens = token_overlap(one.marked_tokens, rationale)
    passages = passage_overlap(one.passages, runs(rationale))
    sentences = one.marked_sentences, one.of_sentences
    return (
        auprc(*sentences),
        average_precision(*sentences),
        precision_at(*sentences, 1),
        precision_at(*sentences, 3),
        r_precision(*sentences),
        auprc(one.marked_tokens, one.of_tokens),
        average_precision(one.marked_tokens, one.of_tokens),
        *tokens,
        tokens.f1,
        *passages,
    )


def _faithfulness(model: Model, judged: Sequence[_Judged], share: float) -> Floats:
    """The columns of ``FAITHFULNESS`` (deyoung2020, section 4.2)."""
    sides = np.array([one.side for one in judged])
    whole = _probabilities(model, [one.text for one in judged], sides)
    falls = np.zeros((len(judged), len(BINS) + 1, 2))
    for column, part in enumerate((share, *BINS)):
        chosen = [strongest(one.of_tokens, part) for one in judged]
        without = [_without(one, own) for one, own in zip(judged, chosen, strict=True)]
        only = [_without(one, ~own) for one, own in zip(judged, chosen, strict=True)]
        falls[:, column, 0] = whole - _probabilities(model, without, sides)
        falls[:, column, 1] = whole - _probabilities(model, only, sides)
    return np.hstack([falls[:, 0], falls[:, 1:].mean(axis=1)])


def _without(one: _Judged, dropped: Bools) -> str:
    """The text without some tokens; the blanks and line ends around them stay."""
    pieces, end = [], 0
    for start, after in one.tokens[dropped].tolist():
        pieces.append(one.text[end:start])
        end = after
    return "".join([*pieces, one.text[end:]])


def _probabilities(model: Model, texts: Sequence[str], sides: Int64s) -> Floats:
    """The probability of each text's own label."""
    table = model.task.as_table(model.decision_function(texts))
    return np.exp(model.log_probabilities(table)[np.arange(len(texts)), sides])
