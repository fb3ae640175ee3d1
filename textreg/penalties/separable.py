"""Penalties of each weight by itself: lasso, elastic net and ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.penalties.base import check_strengths, soft
from textreg.records import Floats, Int32s

if TYPE_CHECKING:
    from typing_extensions import Self


class Separable:
    """A penalty that is a sum over single weights: sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|.

    Lasso, ridge and elastic net are of this form, and so is every inner problem of the solvers for
    groups (docs/maths.md, E1).

    Parameters
    ----------
    q : ndarray, shape (p,)
        Curvature of the quadratic part, 0 or more.
    mu : ndarray, shape (p,)
        Center of the quadratic part.
    lam : ndarray, shape (p,)
        l1 strength, 0 or more.
    """

    def __init__(self, q: Floats, mu: Floats, lam: Floats) -> None:
        self.q, self.mu, self.lam = q, mu, lam

    @classmethod
    def constant(cls, p: int, l1: float = 0.0, l2: float = 0.0) -> Self:
        """l1 ||w||_1 + l2 ||w||_2^2 over ``p`` features.

        Parameters
        ----------
        p : int
            Number of features.
        l1, l2 : float, default 0.0
            Penalty strengths.

        Returns
        -------
        Separable
        """
        check_strengths(l1=l1, l2=l2)
        zeros = np.zeros(p)
        return cls(np.full(p, 2.0 * l2), zeros, np.full(p, float(l1)) if l1 else zeros)

    def value(self, w: Floats) -> float:
        """The penalty.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
        """
        sizes = w - self.mu
        sizes *= sizes
        quadratic = 0.5 * (self.q @ sizes)
        return float(quadratic + self.lam @ np.abs(w, out=sizes))

    def times(self, factor: float) -> Separable:
        """The same with all l1 strengths times ``factor``.

        Parameters
        ----------
        factor : float
            0 or more.

        Returns
        -------
        Separable
        """
        return Separable(self.q, self.mu, factor * self.lam)

    def of(self, features: Int32s, values: Floats) -> float:
        """The part of the penalty due to ``features``, whose weights are ``values``.

        Parameters
        ----------
        features : ndarray of int32
            Indices of features.
        values : ndarray
            Their weights, one for each.

        Returns
        -------
        float
        """
        gap = values - self.mu[features]
        return float(0.5 * (self.q[features] @ (gap * gap)) + self.lam[features] @ np.abs(values))

    def conjugate(self, t: Floats) -> float:
        """The conjugate, sup_w t.w - value(w).

        Parameters
        ----------
        t : ndarray of shape (p,)
            Where to compute it.

        Returns
        -------
        float
            Infinite where |t_j| > lam_j and q_j = 0 for some j.
        """
        over = np.abs(t + self.q * self.mu) - self.lam
        if (over[self.q == 0.0] > 0.0).any():
            return float("inf")
        gain = np.maximum(over, 0.0) ** 2 / np.where(self.q > 0.0, self.q, 1.0)
        return float(0.5 * (gain.sum() - self.q @ (self.mu * self.mu)))

    def prox(self, w: Floats, step: float) -> Floats:
        """Soft thresholding, then shrinking toward mu.

        Parameters
        ----------
        w, step
            As for :meth:`Penalty.prox`.

        Returns
        -------
        ndarray of shape (p,)
        """
        center = w + step * self.q * self.mu
        return soft(center, step * self.lam) / (1.0 + step * self.q)
