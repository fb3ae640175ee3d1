"""Losses: what it costs to score a document wrongly.

A loss is a sum over documents of c_i l(y_i, z_i) at scores z = X w + b, never a mean, so that
prices carry over from the papers (docs/maths.md, L1 to L3).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from textreg._core.logistic import logistic_derivatives, logistic_entropy, logistic_value
from textreg.errors import UsageError, did_you_mean
from textreg.records import Floats, Problem


class Loss(Protocol):
    """What a solver may ask of a loss. Arrays are (n,), c are the weights of the documents.

    A certificate asks for dual variables alpha_i = -c_i l'(y_i, z_i), and whatever is done to them
    must leave them where the conjugate is finite. Shrinking any of them toward zero always does.
    """

    name: str
    binary: bool
    """Whether y is -1 or +1; else it is any number."""
    third_derivative_bound: float
    """Most that second derivatives change a unit of the score, for a weight of one."""

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """The loss at scores ``z``."""

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """Write first (``r``) and second (``h``) derivatives in ``z``; return the value."""

    def curvature_bound(self, c: Floats) -> Floats:
        """The largest that second derivatives in ``z`` can be anywhere."""

    def constant(self, y: Floats, c: Floats) -> float:
        """The one score for all documents that costs least; 0 where there is none."""

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Minus the conjugate at ``-alpha``: with any dual feasible alpha, a lower bound."""

    def balance(self, alpha: Floats, c: Floats) -> None:
        """Make ``alpha`` sum to zero in place, as an intercept asks."""


class Logistic:
    """Logistic loss, log(1 + exp(-y z)); y is -1 or +1."""

    name = "logistic"
    binary = True
    third_derivative_bound = 1.0 / (6.0 * math.sqrt(3.0))

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i log(1 + exp(-y_i z_i))."""
        return float(logistic_value(z, y, c))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -c_i y_i s_i, h_i = c_i s_i (1 - s_i), s_i the chance given to the wrong label."""
        return float(logistic_derivatives(z, y, c, r, h))

    def curvature_bound(self, c: Floats) -> Floats:
        """c_i / 4, at a score of zero."""
        return 0.25 * c

    def constant(self, y: Floats, c: Floats) -> float:
        """The logarithm of the odds."""
        up, down = float(c[y > 0].sum()), float(c[y < 0].sum())
        return float(np.log(up / down)) if up > 0.0 and down > 0.0 else 0.0

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """The entropy of s_i = alpha_i y_i / c_i, weighted by c."""
        return float(logistic_entropy(alpha, y, c))

    def balance(self, alpha: Floats, c: Floats) -> None:
        """By scaling the heavier sign down."""
        _lighten(alpha)


class SquaredHinge:
    """Squared hinge loss, max(0, 1 - y z)^2; y is -1 or +1.

    Documents on the right side of the margin cost nothing, and have no part in the fit.
    """

    name = "squared-hinge"
    binary = True
    third_derivative_bound = math.inf

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i max(0, 1 - y_i z_i)^2."""
        short = np.maximum(1.0 - y * z, 0.0)
        return float(c @ (short * short))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -2 c_i y_i max(0, 1 - y_i z_i), h_i = 2 c_i inside the margin, else 0."""
        short = np.maximum(1.0 - y * z, 0.0)
        np.multiply(2.0 * c, short > 0.0, out=h)
        np.multiply(-2.0 * c * y, short, out=r)
        return float(c @ (short * short))

    def curvature_bound(self, c: Floats) -> Floats:
        """2 c_i, inside the margin."""
        return 2.0 * c

    def constant(self, y: Floats, c: Floats) -> float:
        """The mean label."""
        return _mean(y, c)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i (s_i - s_i^2 / 4), s_i = alpha_i y_i / c_i >= 0."""
        some = c > 0.0
        s = np.maximum(alpha[some] * y[some] / c[some], 0.0)
        return float(c[some] @ (s - 0.25 * s * s))

    def balance(self, alpha: Floats, c: Floats) -> None:
        """By scaling the heavier sign down, as signs must stay."""
        _lighten(alpha)


class Squared:
    """Half the squared error, (z - y)^2 / 2; y is any number."""

    name = "squared"
    binary = False
    third_derivative_bound = 0.0

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i (z_i - y_i)^2 / 2."""
        off = z - y
        return 0.5 * float(c @ (off * off))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = c_i (z_i - y_i), h_i = c_i."""
        off = z - y
        np.multiply(c, off, out=r)
        h[:] = c
        return 0.5 * float(r @ off)

    def curvature_bound(self, c: Floats) -> Floats:
        """c_i, everywhere."""
        return 1.0 * c

    def constant(self, y: Floats, c: Floats) -> float:
        """The mean."""
        return _mean(y, c)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of alpha_i y_i - alpha_i^2 / (2 c_i)."""
        some = c > 0.0
        return float(alpha[some] @ (y[some] - 0.5 * alpha[some] / c[some]))

    def balance(self, alpha: Floats, c: Floats) -> None:
        """By moving the intercept to its best: alpha_i falls by c_i times the mean."""
        total = float(c.sum())
        if total > 0.0:
            alpha -= c * (float(alpha.sum()) / total)


def _mean(y: Floats, c: Floats) -> float:
    total = float(c.sum())
    return float(c @ y) / total if total > 0.0 else 0.0


def _lighten(alpha: Floats) -> None:
    """Scale the heavier sign of ``alpha`` down in place, so that it sums to zero."""
    up = alpha > 0.0
    rise, drop = float(alpha[up].sum()), -float(alpha[~up].sum())
    if rise > drop:
        alpha[up] *= drop / rise
    elif drop > 0.0:
        alpha[~up] *= rise / drop


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), SquaredHinge(), Squared())}


PROBABLE = {"logistic", "softmax"}
"""Losses whose scores stand for probabilities; softmax is the logistic one over several classes."""


def find_loss(name: str) -> Loss:
    """The loss called ``name``; UsageError if there is none."""
    if name not in LOSSES:
        raise UsageError(
            f"no loss '{name}'.{did_you_mean(name, LOSSES)} Known: {', '.join(LOSSES)}."
        )
    return LOSSES[name]


def largest_curvature(loss: Loss) -> float:
    """The largest second derivative in the score that a document of weight one can have."""
    return float(loss.curvature_bound(np.ones(1))[0])


def intercept_at_zero(problem: Problem) -> float:
    """The best intercept when every weight is zero."""
    if not problem.fit_intercept:
        return 0.0
    return find_loss(problem.loss).constant(problem.y, problem.weights)


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
