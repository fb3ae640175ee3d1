"""Decision thresholds: rules, and thresholds of several labels together.

A threshold changes predictions, but neither weights nor probabilities.

A threshold that maximizes the F1 of its label alone overfits labels of few documents: it may call
hundreds of documents positive for the sake of one (yang2001, section 4.2; fan2007). So the labels
share an objective, micro-F1 + 2 macro-F1, which is raised label by label, the most frequent first
(lin2023, section 4.3, has the same with equal parts and in one pass). Labels are smoothed and the
thresholds averaged over subsamples; docs/multilabel.md shows what each of these is worth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textreg.records import Bools, Floats, Int64s


class ThresholdRule(NamedTuple):
    """How to choose a decision threshold: see :func:`parse_rule`."""

    name: str
    values: tuple[float, ...]


def parse_rule(text: str) -> ThresholdRule:
    """The rule that a text names.

    ``f1`` maximizes the F1 of the label. ``precision:P`` maximizes its recall at a precision of at
    least P. ``costs:FP:FN`` minimizes the cost, FP for a false positive and FN for a false
    negative. Raises UsageError for any other text.
    """
    name, *numbers = text.split(":")
    try:
        values = tuple(float(number) for number in numbers)
    except ValueError:
        values = (math.nan,)
    right = {
        "f1": not values,
        "precision": len(values) == 1 and 0 < values[0] <= 1,
        "costs": len(values) == 2 and all(0 < value < math.inf for value in values),
    }
    if not right.get(name, False):
        raise UsageError(
            "the rule of a threshold is f1, precision:P with P above 0 and at most 1, such as "
            f"precision:0.9, or costs:FP:FN with costs above 0, such as costs:1:5, not '{text}'."
        )
    return ThresholdRule(name, values)


class Threshold(NamedTuple):
    """A threshold, and the precision and recall of its label on the documents that chose it."""

    value: float
    precision: float
    recall: float


def choose_threshold(rule: str, curve: ThresholdCurve, label: str) -> Threshold:
    """The threshold of a label by a rule; DataError if none has the precision that it asks for."""
    parsed = parse_rule(rule)
    value = curve.best(parsed)
    if value is None:
        raise DataError(
            f"no threshold gives '{label}' a precision of {parsed.values[0]:g} on the "
            f"{len(curve.margins):,} documents held out; the highest is "
            f"{curve.precision.max():.3f}. Ask for less, or hold out more documents (--holdout, "
            "--cv)."
        )
    return curve.at(value)


class ThresholdCurve(NamedTuple):
    """All thresholds of a label that differ in their predictions.

    A document is predicted to have the label if its margin is above the threshold. The margin is
    the score of the label, less the highest score of the others if there are several.

    Attributes
    ----------
    thresholds : ndarray
        One between any two margins that differ, and one beyond each end; ascending.
    margins : ndarray of shape (n,)
        Margins of all documents, ascending.
    positives : ndarray
        Margins of the documents that have the label, ascending.
    """

    thresholds: Floats
    margins: Floats
    positives: Floats

    @classmethod
    def of(cls, margins: Floats, has_label: Bools) -> ThresholdCurve:
        """From the margins of documents, and whether each has the label, both (n,)."""
        low = np.unique(margins)
        between = low[:-1] + (low[1:] - low[:-1]) / 2
        # The middle of neighboring floats may round up to the higher one.
        between = np.where(between < low[1:], between, low[:-1])
        thresholds = np.concatenate([[low[0] - 1], between, [low[-1] + 1]])
        return cls(thresholds, np.sort(margins), np.sort(margins[has_label]))

    def counts(self, thresholds: Floats) -> tuple[Int64s, Int64s]:
        """Documents predicted to have the label, and how many of them have it."""
        predicted = len(self.margins) - np.searchsorted(self.margins, thresholds, side="right")
        hits = len(self.positives) - np.searchsorted(self.positives, thresholds, side="right")
        return predicted, hits

    @property
    def precision(self) -> Floats:
        """Of every threshold; 0 if no document is predicted to have the label."""
        predicted, hits = self.counts(self.thresholds)
        return np.divide(hits, predicted, out=np.zeros(len(predicted)), where=predicted > 0)

    def best(self, rule: ThresholdRule) -> float | None:
        """The best threshold by a rule, of equal ones the nearest to 0.

        None if no threshold has the precision that the rule asks for.
        """
        predicted, hits = self.counts(self.thresholds)
        if rule.name == "f1":
            score = 2 * hits / np.maximum(predicted + len(self.positives), 1)
        elif rule.name == "costs":
            false_positives, false_negatives = predicted - hits, len(self.positives) - hits
            score = -(rule.values[0] * false_positives + rule.values[1] * false_negatives)
        else:
            # At a given precision, more hits are a higher recall.
            score = np.where(self.precision >= rule.values[0], hits, -1)
            if score.max() <= 0:
                return None
        best = self.thresholds[score == score.max()]
        return float(best[np.argmin(np.abs(best))])

    def at(self, value: float) -> Threshold:
        """A threshold with its precision and recall."""
        predicted, hits = (int(count) for count in self.counts(np.array(value)))
        precision = hits / predicted if predicted else 0.0
        return Threshold(
            value, precision, hits / len(self.positives) if len(self.positives) else 0.0
        )


MACRO = 2.0
"""Weight of the macro-F1 in the objective, beside 1 for the micro-F1."""

SMOOTHING = 4.0
"""Documents added to the denominator of a label's F1, so that one hit alone is no success."""

PASSES = 3
"""Most passes over the labels."""

TRIED = 1000
"""Most thresholds that are tried for all labels together."""

SUBSAMPLES, SHARE = 10, 2 / 3
"""Subsamples whose thresholds are averaged, and their share of the documents."""


class _Cuts(NamedTuple):
    """The thresholds of a label that differ in their predictions, from the highest to the lowest.

    hits: documents with the label above each. predicted: all documents above it. positives: the
    number of documents with the label.
    """

    thresholds: Floats
    hits: Int64s
    predicted: Int64s
    positives: int

    @classmethod
    def of(cls, scores: Floats, has_label: Bools) -> _Cuts:
        order = np.argsort(-scores, kind="stable")
        low = scores[order]
        hits = np.concatenate([[0], np.cumsum(has_label[order])])
        cuts = np.flatnonzero(low[:-1] > low[1:]) + 1
        above, below = low[cuts - 1], low[cuts]
        between = below + (above - below) / 2
        # The middle of neighboring floats may round up to the higher one.
        between = np.where(between < above, between, below)
        predicted = np.concatenate([[0], cuts, [len(low)]])
        thresholds = np.concatenate([low[:1], between, low[-1:] - 1.0])
        return cls(thresholds, hits[predicted], predicted, int(hits[-1]))


def joint_thresholds(scores: Floats, has_label: Bools) -> Floats:
    """The threshold of every label: it is predicted where its score is above.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Scores of one or more documents that no fit has seen.
    has_label : ndarray of bool, shape (n, k)
        Which labels the documents have.

    Returns
    -------
    ndarray of shape (k,)
        A label that no document of a subsample has takes the threshold there that is the best for
        all labels together.
    """
    random = np.random.default_rng(0)
    n = len(scores)
    size = max(1, round(SHARE * n))
    samples = (random.permutation(n)[:size] for _ in range(SUBSAMPLES))
    found = [thresholds_of(scores[rows], has_label[rows]) for rows in samples]
    return np.asarray(np.mean(found, axis=0))


def thresholds_of(scores: Floats, has_label: Bools) -> Floats:
    """The same from all of the documents at once, without subsamples."""
    frequency = has_label.sum(axis=0)
    thresholds = np.zeros(len(frequency))
    if not frequency.all():
        thresholds[:] = common_threshold(scores, has_label)
    order = [k for k in np.argsort(-frequency, kind="stable").tolist() if frequency[k]]
    for k, value in _ascend({k: _Cuts.of(scores[:, k], has_label[:, k]) for k in order}).items():
        thresholds[k] = value
    return thresholds


def common_threshold(scores: Floats, has_label: Bools) -> float:
    """The one threshold for all labels that maximizes the micro-F1; 0 if no document has any.

    It lies below the score of a label that a document has; of many, :data:`TRIED` are tried.
    """
    if not has_label.any():
        return 0.0
    positive = np.sort(scores[has_label])
    least = np.unique(np.linspace(0, len(positive) - 1, min(len(positive), TRIED)).astype(int))
    tried = positive[least]
    hits = len(positive) - np.searchsorted(positive, tried)
    predicted = sum(len(it) - np.searchsorted(np.sort(it), tried) for it in scores.T)
    best = tried[np.argmax(2 * hits / (predicted + len(positive)))]
    return float(np.nextafter(best, -np.inf))


def _ascend(labels: dict[int, _Cuts]) -> dict[int, float]:
    """Thresholds by coordinate ascent; at first of the labels so far, then of all of them."""
    chosen: dict[int, int] = {}
    hits = counted = 0
    for _ in range(PASSES):
        before = dict(chosen)
        for k, cuts in labels.items():
            # 2 hits / counted is the micro-F1 of the other labels.
            if k in chosen:
                hits -= int(cuts.hits[chosen[k]])
                counted -= int(cuts.predicted[chosen[k]]) + cuts.positives
            own = cuts.predicted + cuts.positives
            macro = 2 * cuts.hits / (own + SMOOTHING) / len({*chosen, k})
            best = int(np.argmax(2 * (cuts.hits + hits) / (own + counted) + MACRO * macro))
            chosen[k] = best
            hits += int(cuts.hits[best])
            counted += int(own[best])
        if chosen == before:
            break
    return {k: float(labels[k].thresholds[cut]) for k, cut in chosen.items()}


def halves(n: int) -> Sequence[tuple[Int64s, Int64s]]:
    """Rows to choose thresholds on and rows to measure on, both ways; for one document itself."""
    rows = np.random.default_rng(0).permutation(n)
    first, second = np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])
    return [(first, second), (second, first)] if n > 1 else [(rows, rows)]
