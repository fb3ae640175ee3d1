"""Where a fit of all classes together stands: weights, scores, loss and dual point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg.errors import UsageError
from textreg.losses import Logistic
from textreg.records import Floats, Int64s, Problem
from textreg.records.arrays import as_finite
from textreg.records.problem import checked_codes
from textreg.solvers.engine import HOPELESS

LARGE = 0.5
"""Probability above which the sum over the other classes is not taken from that over all."""


class Classes:
    """The point of a fit of all classes together.

    Attributes
    ----------
    W, b, Z : ndarray, shapes (classes, p), (classes,) and (classes, n)
        Weights, intercepts and scores of all classes.
    y : ndarray, shape (classes, n)
        1 for the documents of a class, -1 for the others.
    gap : float
        The relative gap at the last check, by which a step is as exact as it needs to be.
    design, c, has_intercept
        The problem: matrix, weights of the documents, whether there are intercepts.

    Raises
    ------
    UsageError
        The loss is not the logistic one, which softmax extends.
    RecordError
        ``codes`` or ``start`` do not fit the problem.
    """

    def __init__(
        self,
        problem: Problem,
        codes: Int64s,
        penalty: Callable[[Floats], float],
        start: tuple[Floats, Floats] | None,
    ) -> None:
        """penalty: its value at weights (classes, p), which tells whether the start is of use."""
        if not isinstance(problem.loss, Logistic):
            raise UsageError(
                f"softmax extends the logistic loss and cannot be used with {problem.loss.label()}"
                ": leave out the loss, or multiclass."
            )
        codes = checked_codes(codes, len(problem.y))
        k, (n, p) = int(codes.max()) + 1, problem.design.shape
        self.design, self.c = problem.design, problem.sample_weight
        self.has_intercept, self.gap = problem.fit_intercept, 1.0
        self._own = (codes, np.arange(n))
        self.y = np.where(codes == np.arange(k)[:, None], 1.0, -1.0)  # one row per class
        self.W, self.b = np.zeros((k, p)), np.zeros(k)
        self._class_weights = np.bincount(codes, weights=self.c, minlength=k).astype(np.float64)
        if self.has_intercept:
            self.b = np.log(self._class_weights / self._class_weights.sum())
        self.Z = np.repeat(self.b[:, None], n, axis=1)
        if start is not None:
            zero, at_zero = (self.W, self.b, self.Z), self.loss() + penalty(self.W)
            self.W = as_finite("the weights of start", start[0], (k, p)).copy()
            self.b = as_finite("the intercepts of start", start[1], (k,)) * float(
                self.has_intercept
            )
            self.Z = self._scores(self.W) + self.b[:, None]
            if not self.loss() + penalty(self.W) <= HOPELESS * at_zero:  # also where it overflowed
                self.W, self.b, self.Z = zero

    def rest(self, k: int, total: Floats) -> Floats:
        """o_k (n,): log sum_{l != k} exp(z_l), where ``total`` is the same over all classes."""
        from scipy.special import logsumexp

        share = np.exp(self.Z[k] - total)
        large = np.flatnonzero(share > LARGE)  # where the difference would lose digits
        share[large] = 0.0
        rest: Floats = total + np.log1p(-share)
        others = self.Z[:, large]
        others[k] = -np.inf
        rest[large] = logsumexp(others, axis=0)
        return rest

    def _scores(self, W: Floats) -> Floats:
        """X w_k for every row of W (classes, p)."""
        return np.array([self.design.product(w) for w in W])

    def targets(self) -> Floats:
        """(classes, n) The weight of every document, in the row of its class."""
        return self._turned(np.zeros_like(self.Z))

    def loss(self) -> float:
        """The loss of all classes."""
        return self.loss_of(self.Z)

    def loss_at(self, W: Floats) -> float:
        """The loss at other weights (classes, p), the intercepts unchanged."""
        return self.loss_of(self.Z + self._scores(W - self.W))

    def loss_of(self, Z: Floats) -> float:
        """The loss at scores (classes, n)."""
        from scipy.special import logsumexp

        return float(self.c @ (logsumexp(Z, axis=0) - Z[self._own]))

    def alpha(self) -> Floats:
        """The dual point c y_k - S_k (classes, n) at the present probabilities."""
        from scipy.special import softmax

        return self.balanced(self._turned(softmax(self.Z, axis=0) * self.c))

    def balanced(self, alpha: Floats) -> Floats:
        """A dual point that the intercepts, if there are any, allow."""
        if not self.has_intercept:
            return alpha
        S = self._turned(alpha)
        _balance(S, self._class_weights)
        return self._turned(S)

    def dual_value(self, alpha: Floats) -> float:
        """The part of the dual value (S2) that is due to the loss, the entropy."""
        from scipy.special import xlogy

        S = self._turned(alpha)
        shares = np.divide(S, self.c, out=np.zeros_like(S), where=self.c > 0.0)
        entropy = -xlogy(shares, np.maximum(shares, 0.0)).sum(axis=0)
        return float(entropy @ self.c)

    def _turned(self, S: Floats) -> Floats:
        """c y - S, which takes S to alpha and alpha to S."""
        turned = -S
        turned[self._own] += self.c
        return turned


def _balance(S: Floats, totals: Floats) -> None:
    """Make the rows of S (classes, n) sum to ``totals`` in place, and keep the sums of columns.

    Classes with a larger sum are scaled down; what they lose goes to the others, in proportion to
    what these lack.
    """
    lack = totals - S.sum(axis=1)
    larger = lack < 0.0
    if not (larger.any() and (lack > 0.0).any()):
        return  # they differ by rounding alone
    factor = totals[larger] / (totals[larger] - lack[larger])
    lost = ((1.0 - factor)[:, None] * S[larger]).sum(axis=0)
    S[larger] *= factor[:, None]
    lack = np.maximum(lack, 0.0)
    S += np.outer(lack / lack.sum(), lost)
