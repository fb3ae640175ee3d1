"""What held-out scores teach about a model: how likely a score is right, and where to draw lines.

Neither changes a weight. A calibration bends scores so that the probabilities made of them come
true as often as they say; a threshold moves the line at which one label wins over the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.measure.metrics import measure

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s

METHODS = ("temperature", "isotonic")
"""Ways to calibrate: one number for all scores, or a rising curve for every weight vector."""

Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Calibration:
    """How scores become those of which probabilities are made.

    method: one of METHODS. temperature: what all scores are divided by (Guo et al. 2017). curves:
    of "isotonic", for every weight vector rising scores (log-odds under softmax) and the chances
    there, between 0 and 1, with straight lines between them and level ends (Zadrozny & Elkan 2002).

    Raises UsageError where these do not fit together.
    """

    method: str
    temperature: float = 1.0
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        check_method(self.method)
        if not 0 < self.temperature < math.inf:
            raise UsageError(f"the temperature must be above 0, not {self.temperature}.")
        if bool(self.curves) != (self.method == "isotonic"):
            raise UsageError("there are curves if the calibration is isotonic, and only then.")
        for curve in self.curves:
            x, y = np.array(curve[0]), np.array(curve[1])
            if not (len(x) == len(y) > 0 and np.isfinite(x).all() and (np.diff(x) > 0).all()):
                raise UsageError("the curve of a calibration needs rising scores, a chance each.")
            if not ((y > 0) & (y < 1)).all() or (np.diff(y) < 0).any():
                raise UsageError("a calibration's chances rise, and lie between 0 and 1.")

    def apply(self, scores: Floats, loss: str) -> Floats:
        """Calibrated scores for those of ``Model.decision_function``, in the same shape."""
        if self.method == "temperature":
            return np.asarray(scores / self.temperature)
        table = scores[:, None] if scores.ndim == 1 else scores
        if table.shape[1] != len(self.curves):
            raise UsageError(f"{table.shape[1]} scores a text, but {len(self.curves)} curves.")
        x = _log_odds(table) if loss == "softmax" else table
        chances = [np.interp(x[:, row], *curve) for row, curve in enumerate(self.curves)]
        y = np.column_stack(chances)
        bent = np.log(y) if loss == "softmax" else np.log(y) - np.log1p(-y)
        return np.asarray(bent[:, 0] if scores.ndim == 1 else bent)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON; :meth:`of_dict` reads it."""
        if self.method == "temperature":
            return {"method": self.method, "temperature": self.temperature}
        return {"method": self.method, "curves": [[list(x), list(y)] for x, y in self.curves]}

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Calibration:
        """The calibration that :meth:`to_dict` wrote; UsageError for anything else."""
        try:
            curves = tuple(
                (tuple(map(float, x)), tuple(map(float, y))) for x, y in plain.get("curves", ())
            )
            return cls(str(plain["method"]), float(plain.get("temperature", 1.0)), curves)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError("a calibration has a method and numbers, not this.") from error


def check_method(method: str) -> None:
    """UsageError unless there is a calibration of this name."""
    if method not in METHODS:
        raise UsageError(
            f"calibrate must be one of {', '.join(METHODS)}, not '{method}'."
            f"{did_you_mean(method, METHODS)}"
        )


def calibrate(method: str, scores: Floats, truth: Int64s, loss: str) -> Calibration:
    """Learn from documents that the model has not seen.

    scores: (n, k), k being 1 with two labels. truth: (n,) indices of labels. loss: "logistic" or
    "softmax". The temperature minimises the log-loss. Isotonic chances stay between 1 / (n + 2) and
    (n + 1) / (n + 2), for n documents are no proof that something never happens.
    """
    check_method(method)
    if method == "temperature":
        from scipy.optimize import minimize_scalar

        def cost(log_temperature: float) -> float:
            return measure(scores / math.exp(log_temperature), truth, loss)["log-loss"]

        found = minimize_scalar(cost, bounds=(-7.0, 7.0), method="bounded")
        return Calibration(method, math.exp(found.x))
    from sklearn.isotonic import IsotonicRegression

    x = _log_odds(scores) if loss == "softmax" else scores
    least = 1 / (len(truth) + 2)
    curves = []
    for row in range(x.shape[1]):
        y = truth == (1 if x.shape[1] == 1 else row)
        fitted = IsotonicRegression(y_min=least, y_max=1 - least).fit(x[:, row], y)
        curves.append((tuple(fitted.X_thresholds_.tolist()), tuple(fitted.y_thresholds_.tolist())))
    return Calibration(method, curves=tuple(curves))


def _log_odds(scores: Floats) -> Floats:
    """Of each label's probability under softmax, (n, k)."""
    return np.column_stack(
        [
            scores[:, c] - np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1)
            for c in range(scores.shape[1])
        ]
    )


class Rule(NamedTuple):
    """How to choose a threshold: see :func:`parse_rule`."""

    name: str
    values: tuple[float, ...]


def parse_rule(text: str) -> Rule:
    """The rule that a text names.

    ``f1``: the best F1 of the label. ``precision:P``: the most documents found with a precision of
    at least P. ``costs:FP:FN``: the least cost, FP for every document wrongly given the label and
    FN for every one that is missed. Raises UsageError for any other.
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
    return Rule(name, values)


def check_thresholds(thresholds: Mapping[str, object], labels: Sequence[str]) -> None:
    """UsageError for a label that is not there, or for both of two labels."""
    for label in thresholds:
        if label not in labels:
            raise UsageError(
                f"threshold names the label '{label}', which is not there."
                f"{did_you_mean(label, labels)} There are: {', '.join(labels)}."
            )
    if len(labels) == 2 and len(thresholds) == 2:
        raise UsageError("of two labels only one can have a threshold: it settles the other's too.")


def codes(scores: Floats, thresholds: Mapping[str, float], labels: Sequence[str]) -> Int64s:
    """(n,) which label wins: the highest of scores less thresholds (0 by default), the first of
    equal ones. scores: (n,) for two labels, else (n, labels).
    """
    if scores.ndim == 2:
        return np.asarray((scores - _offsets(thresholds, labels)).argmax(axis=1))
    if labels[0] in thresholds:
        return np.asarray(-scores <= thresholds[labels[0]], dtype=np.int64)
    return np.asarray(scores > thresholds.get(labels[1], 0.0), dtype=np.int64)


def _offsets(thresholds: Mapping[str, float], labels: Sequence[str]) -> Floats:
    return np.array([thresholds.get(label, 0.0) for label in labels])


class Threshold(NamedTuple):
    """A threshold, and how its label fared with it on the documents it was chosen by."""

    value: float
    precision: float
    recall: float


def choose_thresholds(
    rules: Mapping[str, str], scores: Floats, truth: Int64s, labels: Sequence[str]
) -> dict[str, Threshold]:
    """The threshold of every label that has a rule, each chosen given those before it.

    scores: (n, k), truth: (n,), as for :func:`calibrate`. Raises DataError where no threshold gives
    the precision that was asked for.
    """
    check_thresholds(rules, labels)
    found: dict[str, Threshold] = {}
    for label, text in rules.items():
        so_far = {name: one.value for name, one in found.items()}
        lines = Lines.of(label, scores, truth, labels, so_far)
        rule = parse_rule(text)
        value = lines.best(rule)
        if value is None:
            raise DataError(
                f"no threshold gives '{label}' a precision of {rule.values[0]:g} on the "
                f"{len(truth):,} documents held out; the highest is {lines.precision.max():.3f}. "
                "Ask for less, or hold out more documents (--holdout, --cv)."
            )
        found[label] = lines.at(value)
    return found


class Lines(NamedTuple):
    """Every line that could be drawn for a label: between two margins, or beyond them all.

    value: the lines, rising. margins: of all documents, rising; true: of those that truly have the
    label. A margin is the score of the label, less the highest of the others where there are
    several; documents with a margin above the line get the label.
    """

    value: Floats
    margins: Floats
    true: Floats

    @classmethod
    def of(
        cls,
        label: str,
        scores: Floats,
        truth: Int64s,
        labels: Sequence[str],
        thresholds: Mapping[str, float],
    ) -> Lines:
        """scores: (n, k), k being 1 with two labels. thresholds: those of the other labels."""
        c = list(labels).index(label)
        if scores.shape[1] == 1:
            margins = scores[:, 0] if c == 1 else -scores[:, 0]
        else:
            others = np.delete(scores - _offsets(thresholds, labels), c, axis=1)
            margins = scores[:, c] - others.max(axis=1)
        low = np.unique(margins)
        between = low[:-1] + (low[1:] - low[:-1]) / 2
        between = np.where(between < low[1:], between, low[:-1])
        value = np.concatenate([[low[0] - 1], between, [low[-1] + 1]])
        return cls(value, np.sort(margins), np.sort(margins[truth == c]))

    def counts(self, value: Floats) -> tuple[Int64s, Int64s]:
        """How many documents would get the label, and how many of them rightly, for each value."""
        given = len(self.margins) - np.searchsorted(self.margins, value, side="right")
        right = len(self.true) - np.searchsorted(self.true, value, side="right")
        return given, right

    @property
    def precision(self) -> Floats:
        """Of every line; 0 where no document gets the label."""
        given, right = self.counts(self.value)
        return np.divide(right, given, out=np.zeros(len(given)), where=given > 0)

    def best(self, rule: Rule) -> float | None:
        """The best line by a rule, of equal ones that nearest to 0; None where none gives the
        precision that is asked for.
        """
        given, right = self.counts(self.value)
        if rule.name == "f1":
            worth = 2 * right / np.maximum(given + len(self.true), 1)
        elif rule.name == "costs":
            wrong, missed = given - right, len(self.true) - right
            worth = -(rule.values[0] * wrong + rule.values[1] * missed)
        else:
            worth = np.where(self.precision >= rule.values[0], right, -1)
            if worth.max() <= 0:
                return None
        best = self.value[worth == worth.max()]
        return float(best[np.argmin(np.abs(best))])

    def at(self, value: float) -> Threshold:
        """A line as a record."""
        given, right = (int(count) for count in self.counts(np.array(value)))
        precision = right / given if given else 0.0
        return Threshold(value, precision, right / len(self.true) if len(self.true) else 0.0)
