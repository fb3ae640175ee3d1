"""Where a model is unsure, in sentences: which answers to have a person look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.explain import gives_offsets
from textreg.measure.metrics import ALPHA, holm, share_test, wilson
from textreg.measure.selective import RiskCurve
from textreg.records.documents import check_texts
from textreg_report.predictions import mean_interval
from textreg_report.records import Estimate
from textreg_report.wording import documents, fixed, listed, number, quoted, share, share_of

if TYPE_CHECKING:
    from textreg.measure.selective import Selective
    from textreg.records import Bools, Floats, Int64s
    from textreg_report.predictions import Predictions

LEAST_SURE = 0.2
"""Share of the documents that are called the least sure."""

FEW = 50
"""Fewer documents do not show where a model is unsure."""

PARTS = 3
"""Parts of the documents by their lengths, or by predicted numbers."""


def unsure(
    predictions: Predictions, sure: Floats, unknown: int, selective: Selective | None
) -> tuple[str, ...]:
    """Where the answers of a model are unsure.

    Parameters
    ----------
    predictions : Predictions
        Its answers.
    sure : ndarray of shape (n,)
        As of :func:`textreg_report.documents.certainty`.
    unknown : int
        Documents without a feature of the model.
    selective : Selective or None
        Coverage against risk, of models that do not answer every text.

    Returns
    -------
    tuple of str
        Sentences.
    """
    task = predictions.model.task
    told = list(_not_answered(selective))
    if unknown:
        told.append(
            f"{documents(unknown).capitalize()} {'has' if unknown == 1 else 'have'} no word that "
            "the model knows: it answers by the intercept alone."
        )
    if len(sure) < FEW:
        return (*told, f"{documents(len(sure)).capitalize()} are too few to tell more.")
    if not task.discrete:
        y_true, y_pred = (it.astype(np.float64) for it in (predictions.y_true, predictions.y_pred))
        return (*told, *of_numbers(y_true, y_pred))
    right = task.right(predictions.y_true, predictions.y_pred)
    told += least_sure(sure, right)
    if not task.multilabel:
        names = [*task.labels, *filter(None, [task.unknown])]
        told += of_labels(sure, predictions.y_pred.astype(np.int64), names)
        told += _of_probabilities(predictions, right)
    if gives_offsets(predictions.model):  # so that documents are texts
        lengths = np.array([len(text) for text in check_texts(predictions.corpus.texts)])
        told += of_lengths(lengths, right)
    return tuple(told)


def _not_answered(selective: Selective | None) -> Iterator[str]:
    """Of a model with an unknown label."""
    if selective is None:
        return
    now = selective.now
    yield (
        f"It answers {share(now.coverage)} of the documents, and calls the others "
        f"{quoted(selective.label)}; {share(now.risk, 1)} of its answers are wrong."
    )
    if now.recall is not None:
        held = round(now.recall * selective.unknown)
        yield (
            f"Of the documents that belong to no label it holds back "
            f"{share_of(held, selective.unknown)}."
        )


def least_places(sure: Floats) -> Bools:
    """(n,) which documents are the least sure, :data:`LEAST_SURE` of them; equal ones together."""
    curve = RiskCurve.of(sure, np.ones(len(sure), dtype=bool), np.ones(len(sure), dtype=bool))
    place = int(np.argmax(curve.coverage >= 1 - LEAST_SURE - 1e-9))
    return np.asarray(sure < curve.threshold(place))


def least_sure(sure: Floats, right: Bools) -> Iterator[str]:
    """How many answers are right where the model is the least sure, and elsewhere."""
    least = least_places(sure)
    count, others = int(np.count_nonzero(least)), int(np.count_nonzero(~least))
    if not count or not others:
        yield "It is equally unsure of too many documents to tell which ones it gets wrong."
        return
    of_least, of_others = int(right[least].sum()), int(right[~least].sum())
    figures = (
        f"{share_of(of_least, count)} right there, and {share_of(of_others, others)} elsewhere"
    )
    if wilson(of_least, count)[1] < wilson(of_others, others)[0]:
        wrong = int(np.count_nonzero(~right))
        there = count - of_least
        knows = "knows when it is unsure" if 2 * there >= wrong else "errs more where it is unsure"
        yield (
            f"It {knows}: {share(there / wrong)} of its errors are among the "
            f"{share(count / len(sure))} of the documents that it is least sure of ({figures})."
        )
    else:
        yield (
            "How sure it is does not measurably tell right answers from wrong ones: among the "
            f"{share(count / len(sure))} that it is least sure of, {figures}."
        )


def of_labels(sure: Floats, y_pred: Int64s, names: Sequence[str]) -> Iterator[str]:
    """The answers that are measurably often among the least sure."""
    least = least_places(sure)
    overall = float(least.mean())
    totals = np.bincount(y_pred, minlength=len(names)).tolist()
    counts = np.bincount(y_pred[least], minlength=len(names)).tolist()
    p = holm(
        [share_test(count, total, overall) for count, total in zip(counts, totals, strict=True)]
    )
    often = [
        code
        for code, value in enumerate(p)
        if value <= ALPHA and counts[code] > overall * totals[code]
    ]
    often.sort(key=lambda code: (-counts[code], code))
    told = [f"{quoted(names[code])} ({counts[code]:,} of {totals[code]:,})" for code in often[:3]]
    if told:
        yield f"It is most often unsure where it answers {listed(told)}."


def _of_probabilities(predictions: Predictions, right: Bools) -> Iterator[str]:
    proba = predictions.proba
    if proba is None:
        return
    answered = np.flatnonzero(predictions.y_pred < proba.shape[1])
    if len(answered) < FEW:
        return
    own = proba[answered, predictions.y_pred.astype(np.int64)[answered]]
    yield of_probabilities(own, right[answered])


def of_probabilities(own: Floats, right: Bools) -> str:
    """Whether probabilities of answers agree, on average, with the share of right ones."""
    mean, observed = float(own.mean()), int(right.sum())
    low, high = wilson(observed, len(right))
    figures = (
        f"{share(mean, 1)} on average, where {share(observed / len(right), 1)} are right "
        f"({fixed(100 * low, 1)} to {fixed(100 * high, 1)})"
    )
    if mean > high:
        return f"Its probabilities are too high: {figures}."
    if mean < low:
        return f"Its probabilities are too low: {figures}."
    return f"Its probabilities are neither measurably too high nor too low: {figures}."


def of_lengths(lengths: Int64s, right: Bools) -> Iterator[str]:
    """Whether short or long texts are wrong measurably more often than all."""
    low, high = np.quantile(lengths, [1 / PARTS, 1 - 1 / PARTS]).astype(int).tolist()
    parts = {
        f"short texts, of up to {low:,} characters": lengths <= low,
        f"long texts, of {high:,} characters or more": lengths >= high,
    }
    overall = float(np.mean(~right))
    counts = [(int((~right)[part].sum()), int(part.sum())) for part in parts.values()]
    p = holm([share_test(wrong, total, overall) for wrong, total in counts])
    for name, (wrong, total), value in zip(parts, counts, p, strict=True):
        if value <= ALPHA and wrong > overall * total:
            yield (
                f"It errs more often on {name}: on {share_of(wrong, total)}, and on "
                f"{share(overall)} of all."
            )


def of_numbers(y_true: Floats, y_pred: Floats) -> Iterator[str]:
    """In a regression: the part of the predicted numbers with measurably larger errors."""
    errors = np.abs(y_true - y_pred)
    ends = np.quantile(y_pred, [1 / PARTS, 1 - 1 / PARTS])
    part_of = np.searchsorted(ends, y_pred)
    means = []
    for part in range(PARTS):
        own = errors[part_of == part]
        if len(own) < 2:
            continue
        means.append((Estimate("error", float(own.mean()), *mean_interval(own)), part))
    if not means:
        return
    most, part = max(means)
    others = [one for one, other in means if other != part]
    if not others or most.low is None or any(most.low <= (one.high or 0.0) for one in others):
        yield "Its errors are not measurably larger for small or large numbers."
        return
    where = ["below {0}", "from {0} to {1}", "above {1}"][part].format(
        *(f"{end:.4g}" for end in ends)
    )
    rest = Estimate("error", float(errors[part_of != part].mean()))
    yield (
        f"It is least exact where it answers {where}: off by {number(most)} on average, and by "
        f"{number(rest)} elsewhere."
    )
