"""Which labels a model confuses, with examples, and which it finds least of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.explain import explain, gives_offsets
from textreg.measure.significance import ALPHA, holm, share_test
from textreg.records.documents import check_texts
from textreg.report.lines import telling_words
from textreg.report.text import clip
from textreg.report.verdict_records import Confusion, Example
from textreg.report.wording import quoted, share_of

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s
    from textreg.report.predictions import Predictions
    from textreg.report.records import Scores

CONFUSED, EXAMPLES = 3, 3
"""Pairs of labels that the verdict names, and documents of each."""

WORDS = 4
"""Words of an example that spoke for the wrong answer."""

PREVIEW = 160
"""Characters of an example."""

WEAK = 3
"""Labels found least of that a sentence names."""


class LabelCount(NamedTuple):
    """A label, its documents, and how many of them the model finds."""

    label: str
    found: int
    support: int


def counts_of(scores: Scores) -> list[LabelCount]:
    """The documents of every label of the result; empty in a regression."""
    return [
        LabelCount(one.label, round(one.recall * one.support), one.support)
        for one in getattr(scores.result, "classes", ())
    ]


def weak_labels(counts: Sequence[LabelCount]) -> list[LabelCount]:
    """Labels of which a model finds measurably fewer documents than of all together.

    By exact binomial tests, adjusted for all labels (Holm 1979); those with the most documents that
    are not found first.
    """
    some = [one for one in counts if one.support]
    total = sum(one.support for one in some)
    if len(some) < 2 or not total:
        return []
    overall = sum(one.found for one in some) / total
    p = holm([share_test(one.found, one.support, overall) for one in some])
    weak = [
        one
        for one, value in zip(some, p, strict=True)
        if value <= ALPHA and one.found / one.support < overall
    ]
    return sorted(weak, key=lambda one: (one.found - one.support, one.label))


def errors_in_words(scores: Scores) -> str:
    """Which labels it finds least of; empty in a regression."""
    counts = counts_of(scores)
    if sum(1 for one in counts if one.support) < 2:
        return ""
    weak = weak_labels(counts)
    if not weak:
        return "It misses no label measurably more often than the others."
    told = [f"{quoted(it.label)}, found {share_of(it.found, it.support)}" for it in weak[:WEAK]]
    more = len(weak) - len(told)
    rest = f"; and {more:,} more labels" if more > 0 else ""
    return f"Labels that it misses most: {'; '.join(told)}{rest}."


def confusions_of(
    predictions: Predictions, scores: Scores, sure: Floats
) -> tuple[tuple[Confusion, ...], tuple[int, ...]]:
    """The labels that are confused most often, and the rows of all their examples.

    sure: (n,) as of :func:`textreg.report.documents.certainty`; examples are the most certain
    errors.
    """
    support = {one.label: one.support for one in counts_of(scores)}
    answerable = [one.label for one in getattr(scores.result, "classes", ())]
    explained = gives_offsets(predictions.model)
    found, rows = [], []
    for pair in scores.confused[:CONFUSED]:
        codes = answerable.index(pair.y_true), answerable.index(pair.predicted)
        own = _examples(predictions, *codes, sure) if explained else []
        examples = tuple(_example(predictions, row, pair.predicted) for row in own)
        found.append(
            Confusion(
                y_true=pair.y_true,
                predicted=pair.predicted,
                documents=pair.documents,
                support=support[pair.y_true],
                examples=examples,
            )
        )
        rows += own
    return tuple(found), tuple(dict.fromkeys(rows))


def _examples(predictions: Predictions, y_true: int, predicted: int, sure: Floats) -> list[int]:
    """The most certain errors of a pair of labels, of different texts."""
    if predictions.model.task.multilabel:
        truly, given = predictions.y_true.astype(bool), predictions.y_pred.astype(bool)
        if max(y_true, predicted) >= truly.shape[1]:
            return []  # a label that the model does not know
        wrong = truly[:, y_true] & ~given[:, y_true] & given[:, predicted] & ~truly[:, predicted]
    else:
        codes: Int64s = predictions.y_true.astype(np.int64)
        wrong = (codes == y_true) & (predictions.y_pred == predicted)
    order = np.argsort(-sure, kind="stable")
    ranked = order[wrong[order]].tolist()
    texts = check_texts([predictions.corpus.texts[row] for row in ranked])
    return list(dict(zip(reversed(texts), reversed(ranked), strict=True)).values())[::-1][:EXAMPLES]


def _example(predictions: Predictions, row: int, predicted: str) -> Example:
    """A wrong answer with the words that spoke for it."""
    corpus = predictions.corpus
    (text,) = check_texts([corpus.texts[row]])
    words: tuple[tuple[str, float], ...] = ()
    model = predictions.models[predictions.model_of[row]]
    if predicted in model.task.sides:
        (explanation,) = explain(model, [corpus.texts[row]], of=predicted)
        words = telling_words(explanation, WORDS)
    return Example(
        number=row + 1,
        where=os.path.basename(corpus.where(row)) if corpus.source_of is not None else "",
        preview=clip(" ".join(text[: 2 * PREVIEW].split()), PREVIEW),
        words=words,
    )
