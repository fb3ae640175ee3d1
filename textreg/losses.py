"""Losses: how far the scores of the documents are from their labels.

A loss is a sum over documents, sum_i c_i l(y_i, z_i) at the scores z = X w + b, never a mean, so
that penalty strengths carry over from the papers (docs/maths.md, L1 to L3).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from textreg._core.arrays import Floats
from textreg._core.logistic import logistic_derivatives, logistic_entropy, logistic_value
from textreg.errors import UsageError, did_you_mean
from textreg.params import Plugin, param

# Largest score at which Loss.constant still looks for a minimum.
_WIDEST = 2.0**40

# In place of smaller scores, where a quotient of two that vanish is 1 to all digits.
_LEAST = 1e-6


class Loss(Plugin):
    """A loss with two derivatives in the score. Subclass it to add one of your own.

    In all methods ``z`` (n,) holds the scores of the documents, ``y`` (n,) their labels and ``c``
    (n,) their weights, 0 or more. None of these may be changed.

    Attributes
    ----------
    binary : bool, default True
        Whether ``y`` holds -1 and +1. False for losses of any numbers, which serve a regression.
    log_odds : bool, default False
        Whether a score is the logarithm of the odds of +1, so that 1 / (1 + exp(-z)) is its
        probability. Only such models give probabilities.
    convex : bool, default True
        Whether l is convex in the score. Of one that is not no :meth:`dual_value` is asked, its
        models have no bound on the gap, and regularizers with a proximal gradient fit it.
    third_derivative_bound : float, default inf
        Bound on the absolute third derivative of l in the score. It limits how far a solver may
        trust second derivatives; infinite where they jump.

    Notes
    -----
    A duality gap needs :meth:`dual_value` at dual variables alpha_i = -c_i l'(y_i, z_i), which the
    solvers change by scaling some of them towards zero and by :meth:`balance`. The conjugate must
    be finite wherever that leads.
    """

    kind: ClassVar[str] = "loss"
    binary: ClassVar[bool] = True
    log_odds: ClassVar[bool] = False
    convex: ClassVar[bool] = True
    third_derivative_bound: ClassVar[float] = math.inf

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if not cls.convex and cls.dual_value is Loss.dual_value:
            cls.dual_value = lambda self, alpha, y, c: -math.inf  # type: ignore[method-assign]
        super().__init_subclass__(**kwargs)

    @abstractmethod
    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """The loss, sum_i c_i l(y_i, z_i).

        Parameters
        ----------
        z, y, c : ndarray of shape (n,)
            Scores, labels and weights of the documents.

        Returns
        -------
        float
        """

    @abstractmethod
    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """The value, and both derivatives by the scores, weights included.

        Parameters
        ----------
        z, y, c : ndarray of shape (n,)
            Scores, labels and weights of the documents.
        r, h : ndarray of shape (n,)
            Where to write the first and the second derivatives, c_i l' and c_i l''.

        Returns
        -------
        float
            As :meth:`value`.
        """

    @abstractmethod
    def curvature_bound(self, c: Floats) -> Floats:
        """Upper bound on the second derivatives over all scores.

        Parameters
        ----------
        c : ndarray of shape (n,)
            Weights of the documents.

        Returns
        -------
        ndarray of shape (n,)
            At least c_i l'' everywhere.
        """

    def curvature_above(self, z: Floats, y: Floats, c: Floats) -> Floats:
        """Curvatures of parabolas that touch the loss at z and lie above it everywhere.

        The default is :meth:`curvature_bound`.

        Parameters
        ----------
        z, y, c : ndarray of shape (n,)
            Scores, labels and weights of the documents.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.curvature_bound(c)

    @abstractmethod
    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Minus the conjugate of the loss at ``-alpha``.

        By Fenchel and Young it is at most value(z) + alpha.z for every z, with equality at
        alpha = -r. It is finite for every alpha between that and zero.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual variables of the documents.
        y, c : ndarray of shape (n,)
            Labels and weights of the documents.

        Returns
        -------
        float
        """

    def balance(self, alpha: Floats, c: Floats) -> None:
        """Make ``alpha`` sum to zero in place, as dual feasibility with an intercept demands.

        The default scales the sign with the larger sum towards zero, which keeps the conjugate
        finite.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual variables of the documents, which are changed.
        c : ndarray of shape (n,)
            Weights of the documents.
        """
        positive = alpha > 0.0
        above, below = float(alpha[positive].sum()), -float(alpha[~positive].sum())
        if above > below:
            alpha[positive] *= below / above
        elif below > 0.0:
            alpha[~positive] *= above / below

    def constant(self, y: Floats, c: Floats) -> float:
        """The best score that is the same for all documents; 0 where there is no minimum.

        The default finds where the derivatives sum to zero, by bisection.

        Parameters
        ----------
        y, c : ndarray of shape (n,)
            Labels and weights of the documents.

        Returns
        -------
        float
        """

        def slope(b: float) -> float:
            r, h = np.empty(len(y)), np.empty(len(y))
            self.derivatives(np.full(len(y), b), y, c, r, h)
            return float(r.sum())

        # The derivative of a convex function never falls, so a change of sign encloses a minimum.
        low, high = -1.0, 1.0
        while slope(low) > 0.0 and low > -_WIDEST:
            low *= 2.0
        while slope(high) < 0.0 and high < _WIDEST:
            high *= 2.0
        if not slope(low) <= 0.0 <= slope(high):
            return 0.0
        while low < (middle := 0.5 * (low + high)) < high:
            at_middle = slope(middle)
            if at_middle == 0.0:
                return middle
            low, high = (middle, high) if at_middle < 0.0 else (low, middle)
        return middle

    def unsmoothed_value(self, z: Floats, y: Floats, c: Floats) -> float:
        """The loss that this one is a smooth lower bound of; by default, its own value.

        Parameters
        ----------
        z, y, c : ndarray of shape (n,)
            Scores, labels and weights of the documents.

        Returns
        -------
        float
        """
        return self.value(z, y, c)

    @property
    def smoothed(self) -> bool:
        """Whether it stands for another loss: see :meth:`unsmoothed_value`."""
        return type(self).unsmoothed_value is not Loss.unsmoothed_value

    def largest_curvature(self) -> float:
        """The largest second derivative in the score that a document of weight 1 can have."""
        return float(self.curvature_bound(np.ones(1))[0])


class Logistic(Loss):
    """Logistic loss, log(1 + exp(-y z)), for labels of -1 and +1.

    Its scores are log odds, so that models give probabilities.
    """

    name = "logistic"
    log_odds = True
    third_derivative_bound = 1.0 / (6.0 * math.sqrt(3.0))

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i log(1 + exp(-y_i z_i))."""
        return float(logistic_value(z, y, c))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -c_i y_i s_i, h_i = c_i s_i (1 - s_i), s_i the probability of the wrong label."""
        return float(logistic_derivatives(z, y, c, r, h))

    def curvature_bound(self, c: Floats) -> Floats:
        """c_i / 4, reached at a score of zero."""
        return 0.25 * c

    def curvature_above(self, z: Floats, y: Floats, c: Floats) -> Floats:
        """That of the parabola which touches it at -z too (docs/maths.md, R3)."""
        half = np.maximum(0.5 * np.abs(z), _LEAST)
        curvature: Floats = 0.25 * c * np.tanh(half) / half
        return curvature

    def constant(self, y: Floats, c: Floats) -> float:
        """The log odds of +1; 0 where one of the labels is missing."""
        positive, negative = float(c[y > 0].sum()), float(c[y < 0].sum())
        if not (positive > 0.0 and negative > 0.0):
            return 0.0
        odds = positive / negative
        # Weights may be too far apart for their ratio.
        if 0.0 < odds < math.inf:
            return float(np.log(odds))
        return math.log(positive) - math.log(negative)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """The entropy of s_i = alpha_i y_i / c_i, weighted by c."""
        return float(logistic_entropy(alpha, y, c))


class SquaredHinge(Loss):
    """Squared hinge loss, max(0, 1 - y z)^2, for labels of -1 and +1.

    Documents beyond the margin have no loss, and no part in the fit.
    """

    name = "squared-hinge"

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i max(0, 1 - y_i z_i)^2."""
        slack = np.maximum(1.0 - y * z, 0.0)
        return float(c @ (slack * slack))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -2 c_i y_i max(0, 1 - y_i z_i), h_i = 2 c_i inside the margin, else 0."""
        slack = np.maximum(1.0 - y * z, 0.0)
        np.multiply(2.0 * c, slack > 0.0, out=h)
        np.multiply(-2.0 * c * y, slack, out=r)
        return float(c @ (slack * slack))

    def curvature_bound(self, c: Floats) -> Floats:
        """2 c_i, reached inside the margin."""
        return 2.0 * c

    def constant(self, y: Floats, c: Floats) -> float:
        """The mean label."""
        return _mean(y, c)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i (s_i - s_i^2 / 4), s_i = alpha_i y_i / c_i >= 0."""
        weighted = c > 0.0
        s = np.maximum(alpha[weighted] * y[weighted] / c[weighted], 0.0)
        return float(c[weighted] @ (s - 0.25 * s * s))


class SmoothedHinge(Loss):
    """Hinge loss, max(0, 1 - y z), with a quadratic in place of the kink; labels of -1 and +1.

    With the margin m = y z and the smoothing g it is

        0                    where m >= 1
        (1 - m)^2 / (2 g)    between
        1 - m - g / 2        where m <= 1 - g

    so that smoothed <= hinge <= smoothed + g / 2 for every document of weight 1.

    Notes
    -----
    A fit converges by the duality gap of the smoothed problem. Its solution also states what that
    implies for the hinge itself (``Solution.unsmoothed_gap``): every lower bound on the smoothed
    minimum is one on the minimum with the hinge, and the objective with the hinge is measured.

    References
    ----------
    rennie2005, section 3.1, for g = 1; shalevshwartz2013, section 1, for any g.
    """

    name = "hinge"
    smoothing: float = param(
        default=0.025,
        min=1e-6,
        max=1.0,
        help="width of the quadratic that replaces the hinge's kink",
    )

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i s_i (1 - m_i - g s_i / 2), s_i = min(1, max(0, (1 - m_i) / g))."""
        slack = 1.0 - y * z
        s = np.clip(slack / self.smoothing, 0.0, 1.0)
        return float(c @ (s * (slack - 0.5 * self.smoothing * s)))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = -c_i y_i s_i, h_i = c_i / g where 0 < s_i < 1, else 0."""
        slack = 1.0 - y * z
        s = np.clip(slack / self.smoothing, 0.0, 1.0)
        np.multiply(c / self.smoothing, (s > 0.0) & (s < 1.0), out=h)
        np.multiply(-c * y, s, out=r)
        return float(c @ (s * (slack - 0.5 * self.smoothing * s)))

    def curvature_bound(self, c: Floats) -> Floats:
        """c_i / g, reached between."""
        return c / self.smoothing

    def curvature_above(self, z: Floats, y: Floats, c: Floats) -> Floats:
        """That of the parabola which touches it as far on the other side of the kink too."""
        middle = 1.0 - 0.5 * self.smoothing
        curvature: Floats = c / np.maximum(2.0 * np.abs(y * z - middle), self.smoothing)
        return curvature

    def constant(self, y: Floats, c: Floats) -> float:
        """1 - g q on the side of the heavier label, q the weight of the other label beside it."""
        positive, negative = float(c[y > 0].sum()), float(c[y < 0].sum())
        if positive == negative:
            return 0.0
        side = 1.0 if positive > negative else -1.0
        return side * (1.0 - self.smoothing * min(positive, negative) / max(positive, negative))

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i (s_i - g s_i^2 / 2), s_i = alpha_i y_i / c_i in [0, 1]."""
        weighted = c > 0.0
        s = np.clip(alpha[weighted] * y[weighted] / c[weighted], 0.0, 1.0)
        return float(c[weighted] @ (s - 0.5 * self.smoothing * s * s))

    def unsmoothed_value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i max(0, 1 - m_i)."""
        return float(c @ np.maximum(1.0 - y * z, 0.0))


class Squared(Loss):
    """Half the squared error, (z - y)^2 / 2, for any numbers."""

    name = "squared"
    binary = False
    third_derivative_bound = 0.0

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i (z_i - y_i)^2 / 2."""
        error = z - y
        return 0.5 * float(c @ (error * error))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """r_i = c_i (z_i - y_i), h_i = c_i."""
        error = z - y
        np.multiply(c, error, out=r)
        h[:] = c
        return 0.5 * float(r @ error)

    def curvature_bound(self, c: Floats) -> Floats:
        """c_i, everywhere."""
        return 1.0 * c

    def constant(self, y: Floats, c: Floats) -> float:
        """The mean."""
        return _mean(y, c)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of alpha_i y_i - alpha_i^2 / (2 c_i)."""
        weighted = c > 0.0
        return float(alpha[weighted] @ (y[weighted] - 0.5 * alpha[weighted] / c[weighted]))

    def balance(self, alpha: Floats, c: Floats) -> None:
        """Subtract c_i times the mean of alpha, as the best intercept does."""
        total = float(c.sum())
        if total > 0.0:
            alpha -= c * (float(alpha.sum()) / total)


def _mean(y: Floats, c: Floats) -> float:
    total = float(c.sum())
    return float(c @ y) / total if total > 0.0 else 0.0


#: The losses that come with textreg, by name.
LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (Logistic, SquaredHinge, SmoothedHinge, Squared)
}


def find_loss(loss: str | Loss) -> Loss:
    """A loss itself, or the one of :data:`LOSSES` that is called so, with default parameters.

    Parameters
    ----------
    loss : str or Loss
        The name of one of textreg's own, or a loss.

    Returns
    -------
    Loss

    Raises
    ------
    UsageError
        For any other name: losses of plugins are given as objects.
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str):
        raise UsageError(f"loss must be a name or a Loss, not {loss!r}.")
    if loss not in LOSSES:
        raise UsageError(
            f"no loss '{loss}'.{did_you_mean(loss, LOSSES)} By name there are: "
            f"{', '.join(LOSSES)}. Give that of a plugin as an object: textreg.loss('{loss}')."
        )
    return LOSSES[loss]()
