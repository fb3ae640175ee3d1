"""Whether probabilities agree with observed frequencies, and the effect of thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.measure.metrics import wilson
from textreg.measure.thresholds import ThresholdCurve, parse_rule

if TYPE_CHECKING:
    from textreg.records import Bools, Floats

BINS = 10
"""Bins of equal width from 0 to 1."""

RULES = ("f1", "precision:0.8", "precision:0.9", "precision:0.95", "precision:0.99")
"""The rules of a table of thresholds, as ``--threshold`` takes them."""


class Bin(NamedTuple):
    """Documents with a predicted probability above ``low`` and up to ``high``.

    Attributes
    ----------
    low, high : float
        The first bin contains 0 as well.
    documents : int
        Number of documents in the bin.
    probability : float
        Their mean predicted probability.
    share : float
        Fraction of them for which the prediction is true.
    low_share, high_share : float
        The 95 % interval of that fraction (Wilson 1927).
    """

    low: float
    high: float
    documents: int
    probability: float
    share: float
    low_share: float
    high_share: float


class Reliability(NamedTuple):
    """A reliability diagram: predicted probabilities and observed frequencies.

    Attributes
    ----------
    of : str
        The label whose probability it is, the second of two; empty for the probability of each
        document's predicted label.
    bins : tuple of Bin
        The bins that have documents.
    error : float
        The expected calibration error: the mean over documents of \\|probability - share\\| of
        their bins (Guo et al. 2017, equation 3).
    """

    of: str
    bins: tuple[Bin, ...]
    error: float

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {"of": self.of, "error": self.error, "bins": [one._asdict() for one in self.bins]}


def reliability(probability: Floats, came_true: Bools, of: str = "") -> Reliability:
    """Sort documents into bins by their probability, and count the outcomes.

    Parameters
    ----------
    probability : ndarray of shape (n,)
        Predicted probabilities of one or more documents.
    came_true : ndarray of bool, shape (n,)
        Whether each prediction is true.
    of : str, default ""
        See :class:`Reliability`.
    """
    edges = np.arange(1, BINS) / BINS
    place = np.searchsorted(edges, probability, side="left")
    bins = []
    for b in np.unique(place).tolist():
        here = place == b
        count, right = int(here.sum()), int(came_true[here].sum())
        mean = float(probability[here].mean())
        interval = wilson(right, count)
        bins.append(Bin(b / BINS, (b + 1) / BINS, count, mean, right / count, *interval))
    off = sum(one.documents * abs(one.probability - one.share) for one in bins)
    return Reliability(of, tuple(bins), off / len(probability))


class ThresholdLine(NamedTuple):
    """A decision threshold of a label, and its predictions.

    Attributes
    ----------
    rule : str
        The rule that chooses it, as ``--threshold`` takes it; "now" for the one in use.
    threshold : float or None
        See ``Model.thresholds``. None if no threshold fulfills the rule; the rest is then 0.
    documents : int
        Documents that are predicted to have the label.
    precision, recall, f1 : float
        Of the label.
    """

    rule: str
    threshold: float | None
    documents: int
    precision: float
    recall: float
    f1: float


def threshold_lines(curve: ThresholdCurve, now: float) -> tuple[ThresholdLine, ...]:
    """The threshold in use, ``now``, and those that the RULES choose on the same documents.

    The latter are measured on the documents that they were chosen on, which is a little optimistic.
    """
    chosen = [_line(rule, curve.best(parse_rule(rule)), curve) for rule in RULES]
    return _line("now", now, curve), *chosen


def _line(rule: str, value: float | None, curve: ThresholdCurve) -> ThresholdLine:
    if value is None:
        return ThresholdLine(rule, None, 0, 0.0, 0.0, 0.0)
    predicted, hits = (int(count) for count in curve.counts(np.array(value)))
    total = predicted + len(curve.positives)
    _, precision, recall = curve.at(value)
    f1 = 2 * hits / total if total else 0.0
    return ThresholdLine(rule, value, predicted, precision, recall, f1)
