"""Losses: what it costs to score a document wrongly.

A loss is a sum over documents of c_i l(y_i, z_i) at scores z = X w + b, never a mean, so that
prices carry over from the papers.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg._core.logistic import logistic_derivatives, logistic_entropy, logistic_value
from textreg.errors import UsageError, did_you_mean
from textreg.records import Floats, Problem


class Loss(Protocol):
    """What a solver may ask of a loss. All arrays are (n,)."""

    name: str

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """The loss at scores ``z``."""

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """Write first (``r``) and second (``h``) derivatives in ``z``; return the value."""

    def most_curved(self, c: Floats) -> Floats:
        """The largest that second derivatives in ``z`` can be anywhere."""

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Minus the conjugate at ``-alpha``: with any dual feasible alpha, a lower bound."""


class Logistic:
    """Logistic loss, log(1 + exp(-y z)); y is -1 or +1."""

    name = "logistic"

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i log(1 + exp(-y_i z_i))."""
        return float(logistic_value(z, y, c))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -c_i y_i s_i, h_i = c_i s_i (1 - s_i), s_i the chance given to the wrong label."""
        return float(logistic_derivatives(z, y, c, r, h))

    def most_curved(self, c: Floats) -> Floats:
        """c_i / 4, at a score of zero."""
        return 0.25 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """The entropy of s_i = alpha_i y_i / c_i, weighted by c."""
        return float(logistic_entropy(alpha, y, c))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(),)}


def find_loss(name: str) -> Loss:
    """The loss called ``name``; UsageError if there is none."""
    if name not in LOSSES:
        raise UsageError(
            f"no loss '{name}'.{did_you_mean(name, LOSSES)} Known: {', '.join(LOSSES)}."
        )
    return LOSSES[name]


def intercept_at_zero(problem: Problem) -> float:
    """The best intercept when every weight is zero."""
    if not problem.fit_intercept:
        return 0.0
    up = float(problem.weights[problem.y > 0].sum())
    down = float(problem.weights[problem.y < 0].sum())
    if up == 0.0 or down == 0.0:
        return 0.0
    return float(np.log(up / down))


def gradient_at_zero(problem: Problem) -> Floats:
    """d loss / d w at w = 0 and the best intercept, (p,)."""
    loss = find_loss(problem.loss)
    n = len(problem.y)
    r, h = np.empty(n), np.empty(n)
    loss.derivatives(np.full(n, intercept_at_zero(problem)), problem.y, problem.weights, r, h)
    return np.asarray(problem.X.T @ r)


def largest_gradient_at_zero(problem: Problem) -> float:
    """max_j |d loss / d w_j| there: the smallest l1 price that empties the model."""
    gradient = gradient_at_zero(problem)
    return float(np.abs(gradient).max()) if len(gradient) else 0.0
