"""Whether probabilities come true, and what each threshold would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.measure.metrics import wilson
from textreg.measure.thresholds import Lines, parse_rule

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from textreg.records import Floats

    Bools: TypeAlias = NDArray[np.bool_]

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


def reliability(probability: Floats, came_true: Bools, of: str = "") -> Reliability:
    """Sort documents into bins by a probability and count how often it came true.

    probability, came_true: (n,), n being at least 1. of: see :class:`Reliability`.
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


def threshold_lines(lines: Lines, now: float) -> tuple[ThresholdLine, ...]:
    """The threshold in use, ``now``, and those that the RULES would choose here.

    A threshold that is measured on the documents it was chosen by looks a little better than it is.
    """
    rows = [_line("now", now, lines)]
    rows += [_line(rule, lines.best(parse_rule(rule)), lines) for rule in RULES]
    return tuple(rows)


def _line(rule: str, value: float | None, lines: Lines) -> ThresholdLine:
    if value is None:
        return ThresholdLine(rule, None, 0, 0.0, 0.0, 0.0)
    given, right = (int(count) for count in lines.counts(np.array(value)))
    both = given + len(lines.true)
    _, precision, recall = lines.at(value)
    return ThresholdLine(rule, value, given, precision, recall, 2 * right / both if both else 0.0)
