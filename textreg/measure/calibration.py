"""Calibration of probabilities, and how reliable they are.

Calibrated probabilities agree with observed frequencies. A calibration changes scores before they
become probabilities; it changes neither weights nor predictions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.measure.metrics import wilson
from textreg.measure.thresholds import ThresholdCurve, parse_rule

if TYPE_CHECKING:
    from typing import TypeAlias

    from textreg.records import Bools, Floats

    Transform: TypeAlias = Callable[[Floats], Floats]
    from textreg.records import Floats

METHODS = ("temperature", "isotonic")
"""Ways to calibrate: one number for all scores, or a monotone curve for each weight vector."""

HOTTEST = 1e6
"""The highest temperature, and the inverse of the lowest; :func:`calibrate` stays within 1100."""

Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Calibration:
    """How scores change before they become probabilities.

    Attributes
    ----------
    method : str
        One of :data:`METHODS`.
    temperature : float, default 1.0
        What "temperature" divides all scores by (Guo et al. 2017, section 4.2).
    curves : tuple of (x, y)
        For "isotonic", for each weight vector increasing log-odds x and the probabilities y there,
        linear in between and constant beyond (Zadrozny & Elkan 2002, section 3).

    Raises
    ------
    UsageError
        If these do not fit together.
    """

    method: str
    temperature: float = 1.0
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        check_method(self.method)
        if not 1 / HOTTEST <= self.temperature <= HOTTEST:
            raise UsageError(
                f"the temperature must be from {1 / HOTTEST:g} to {HOTTEST:g}, not "
                f"{self.temperature:g}."
            )
        if bool(self.curves) != (self.method == "isotonic"):
            raise UsageError("there are curves if the calibration is isotonic, and only then.")
        for curve in self.curves:
            x, y = np.array(curve[0]), np.array(curve[1])
            within = len(x) == len(y) > 0 and (np.abs(x) < 1e100).all()  # a step cannot overflow
            if not (within and (np.diff(x) > 0).all()):
                raise UsageError(
                    "the curve of a calibration needs increasing scores, with a probability each."
                )
            if not ((y > 0) & (y < 1)).all() or (np.diff(y) < 0).any():
                raise UsageError(
                    "the probabilities of a calibration must increase, and lie between 0 and 1."
                )

    def apply(self, scores: Floats, log_odds: Transform, scores_of: Transform) -> Floats:
        """Calibrated scores (n, k).

        log_odds: gives the log-odds (n, k) that scores stand for, by which the curves are read.
        scores_of: gives scores (n, k) that stand for probabilities.
        """
        if not self.curves:
            return np.asarray(scores / self.temperature)
        x = log_odds(scores)
        rows = [np.interp(x[:, row], *curve) for row, curve in enumerate(self.curves)]
        return scores_of(np.column_stack(rows))


def check_method(method: str) -> None:
    """UsageError unless there is a calibration of this name."""
    if method not in METHODS:
        raise UsageError(
            f"calibrate must be one of {', '.join(METHODS)}, not '{method}'."
            f"{did_you_mean(method, METHODS)}"
        )


def calibrate(
    method: str, log_odds: Floats, came_true: Bools, log_loss: Callable[[float], float]
) -> Calibration:
    """Learn from documents that the model has not seen.

    The temperature minimizes the log-loss. Isotonic probabilities stay between 1 / (n + 2) and
    (n + 1) / (n + 2), since n documents cannot show that something never happens.

    Parameters
    ----------
    method : str
        One of :data:`METHODS`.
    log_odds : ndarray of shape (n, k)
        What the scores of the documents stand for.
    came_true : ndarray of bool, shape (k, n)
        Whether each document is what the score of a row speaks for.
    log_loss : callable
        The log-loss of the documents at a temperature.
    """
    check_method(method)
    if method == "temperature":
        return Calibration(method, temperature(log_loss))
    from sklearn.isotonic import IsotonicRegression

    # The bounds are those of Laplace's rule of succession.
    least = 1 / (len(log_odds) + 2)
    curves = []
    for x, y in zip(log_odds.T, came_true, strict=True):
        fitted = IsotonicRegression(y_min=least, y_max=1 - least).fit(x, y)
        curves.append((tuple(fitted.X_thresholds_.tolist()), tuple(fitted.y_thresholds_.tolist())))
    return Calibration(method, curves=tuple(curves))


def temperature(log_loss: Callable[[float], float]) -> float:
    """The temperature, from 1/1100 to 1100, at which a log-loss is smallest."""
    from scipy.optimize import minimize_scalar

    # Over its logarithm: halving and doubling are as far, and it stays above 0.
    result = minimize_scalar(lambda x: log_loss(math.exp(x)), bounds=(-7.0, 7.0), method="bounded")
    return math.exp(result.x)


def log_odds(scores: Floats) -> Floats:
    """(n, k) log-odds of each label's probability under softmax, from its scores (n, k)."""
    return np.column_stack(
        [
            scores[:, c] - np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1)
            for c in range(scores.shape[1])
        ]
    )


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
