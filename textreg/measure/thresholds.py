"""Decision thresholds: the score above which a label is predicted, from held-out documents.

A threshold changes predictions, but neither weights nor probabilities.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError

if TYPE_CHECKING:
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
