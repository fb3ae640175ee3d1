"""Whether probabilities come true, and what each threshold would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.measure.metrics import wilson
from textreg.measure.thresholds import Lines, parse_rule

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s

BINS = 10
"""Bins of equal width from 0 to 1."""

RULES = ("f1", "precision:0.8", "precision:0.9", "precision:0.95", "precision:0.99")
"""The rules of a table of thresholds, as ``--threshold`` takes them."""


class Bin(NamedTuple):
    """Documents with a probability above ``low`` and up to ``high`` (of the first bin, from 0).

    probability: their mean. share: of them for whom it came true; low_share, high_share: its 95 %
    Wilson interval.
    """

    low: float
    high: float
    documents: int
    probability: float
    share: float
    low_share: float
    high_share: float


class Reliability(NamedTuple):
    """Probabilities beside what came true.

    of: the label whose probability it is, the second of two; empty where it is that of each
    document's predicted label. bins: those with documents. error: the expected calibration error,
    the mean over documents of \\|probability - share\\| of their bins (Guo et al. 2017, eq. 3).
    """

    of: str
    bins: tuple[Bin, ...]
    error: float

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {"of": self.of, "error": self.error, "bins": [one._asdict() for one in self.bins]}


def reliability(proba: Floats, y_true: Int64s, labels: Sequence[str]) -> Reliability:
    """Sort documents into bins by their probability and count how often it came true.

    proba: (n, labels). y_true: (n,) indices of labels; n is at least 1.
    """
    if len(labels) == 2:
        of, chance, came_true = labels[1], proba[:, 1], y_true == 1
    else:
        best = proba.argmax(axis=1)
        of, chance, came_true = "", proba[np.arange(len(proba)), best], best == y_true
    edges = np.arange(1, BINS) / BINS
    place = np.searchsorted(edges, chance, side="left")
    bins = []
    for b in np.unique(place).tolist():
        here = place == b
        count, right = int(here.sum()), int(came_true[here].sum())
        mean = float(chance[here].mean())
        interval = wilson(right, count)
        bins.append(Bin(b / BINS, (b + 1) / BINS, count, mean, right / count, *interval))
    off = sum(one.documents * abs(one.probability - one.share) for one in bins)
    return Reliability(of, tuple(bins), off / len(proba))


class ThresholdLine(NamedTuple):
    """A threshold of a label, and how the label would fare with it.

    rule: why this one, as ``--threshold`` takes it; "now" is the one in use. threshold: see
    :class:`Model`; None where none does what the rule asks, and then the rest is 0. documents:
    those that would get the label.
    """

    rule: str
    threshold: float | None
    documents: int
    precision: float
    recall: float
    f1: float


def threshold_table(
    scores: Floats, y_true: Int64s, labels: Sequence[str], thresholds: Mapping[str, float]
) -> dict[str, tuple[ThresholdLine, ...]]:
    """For every label the threshold in use, and those that the RULES would choose here.

    scores: (n,) for two labels, else (n, labels). y_true: (n,) indices of labels. thresholds: those
    of the model; the table of a label keeps those of the others. A threshold that is measured on
    the documents it was chosen by looks a little better than it is.
    """
    table = scores[:, None] if scores.ndim == 1 else scores
    found = {}
    for c, label in enumerate(labels):
        # Of two labels one threshold settles both.
        now = 0.0 - thresholds.get(labels[1 - c], 0.0) if len(labels) == 2 else 0.0
        lines = Lines.of(label, table, y_true, labels, thresholds)
        rows = [_line("now", thresholds.get(label, now), lines)]
        rows += [_line(rule, lines.best(parse_rule(rule)), lines) for rule in RULES]
        found[label] = tuple(rows)
    return found


def _line(rule: str, value: float | None, lines: Lines) -> ThresholdLine:
    if value is None:
        return ThresholdLine(rule, None, 0, 0.0, 0.0, 0.0)
    given, right = (int(count) for count in lines.counts(np.array(value)))
    both = given + len(lines.true)
    _, precision, recall = lines.at(value)
    return ThresholdLine(rule, value, given, precision, recall, 2 * right / both if both else 0.0)
