"""How likely a score is right, learned from documents held out.

A calibration bends scores so that the probabilities made of them come true as often as they say. It
changes no weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import UsageError, did_you_mean
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


def calibrate(method: str, scores: Floats, y_true: Int64s, loss: str) -> Calibration:
    """Learn from documents that the model has not seen.

    scores: (n, k), k being 1 with two labels. y_true: (n,) indices of labels. loss: "logistic" or
    "softmax". The temperature minimizes the log-loss. Isotonic chances stay between 1 / (n + 2) and
    (n + 1) / (n + 2), for n documents are no proof that something never happens.
    """
    check_method(method)
    if method == "temperature":
        from scipy.optimize import minimize_scalar

        def cost(log_temperature: float) -> float:
            return measure(scores / math.exp(log_temperature), y_true, loss)["log-loss"]

        found = minimize_scalar(cost, bounds=(-7.0, 7.0), method="bounded")
        return Calibration(method, math.exp(found.x))
    from sklearn.isotonic import IsotonicRegression

    x = _log_odds(scores) if loss == "softmax" else scores
    least = 1 / (len(y_true) + 2)
    curves = []
    for row in range(x.shape[1]):
        y = y_true == (1 if x.shape[1] == 1 else row)
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
