"""What forward stagewise maximizes: likelihoods, here that of Gaussian noise."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg._core.columns import column_sums
from textreg.records import Floats, Int64s, Problem
from textreg.solvers.stagewise_lookup import DerivativeLookup, GramCache, Scaling, Steepest

ROUNDING = 1e-13
"""Derivatives below this share of the sum of their absolute terms are rounding."""

RENEWAL = 100
"""Steps after which what is updated from step to step is computed anew, because of rounding."""

LOST = 1e-2
"""A sum that was updated until less than this share of it was left is computed anew, too."""


class Likelihood(Protocol):
    """A fit in progress, whose derivatives are those of the present weights and intercept.

    noise: absolute derivatives below it are rounding. residual_size: root of the mean squared
    residual; 1 without residuals, as steps are never scaled by them then.
    """

    noise: float

    @property
    def residual_size(self) -> float: ...

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest absolute derivative, of all or of the given ones."""

    def move(self, feature: int, change: float) -> None:
        """Add ``change`` to the weight of a feature, and move the intercept to its optimum."""

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept, the objective and the error per document at the present weights (p,)."""

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The error per document for others with the scores ``z + b``."""


def squares_noise(problem: Problem) -> float:
    """The rounding of derivatives of squared error.

    By Cauchy and Schwarz none exceeds N times the root mean square of y.
    """
    y, c = problem.y, problem.sample_weight
    total = float(c.sum()) or 1.0
    return ROUNDING * total * float(np.sqrt(c @ y**2 / total))


class LinearLikelihood:
    """Gaussian noise: c_k = gamma_k x_k'C (y - mean y - (X - 1 mu')w), sections 4 and 5.

    A step changes c by a column of the Gram matrix. With Xc the centered X, Xc'C Xc w = X'CX w -
    N mu (mu'w), N the sum of the weights: the offset is N mu'w, and B is gamma mu. (In hooker2004
    the update is printed with a sign and a factor missing.)
    """

    def __init__(self, problem: Problem, scaling: Scaling, center: bool, cache: float) -> None:
        y, self._c = problem.y, problem.sample_weight
        self._total = float(self._c.sum()) or 1.0
        self._y_mean = float(self._c @ y) / self._total if center else 0.0
        self._center, self._residual = center, y - self._y_mean
        self._scaling, self._columns = scaling, problem.design.columns
        self._lookup = lookup = DerivativeLookup(scaling.factor * scaling.mean)
        gamma = scaling.factor[lookup.order]
        lookup.A[:] = gamma * problem.design.transposed_product(
            self._c * self._residual, lookup.order
        )
        self.gram = GramCache(problem, lookup, gamma, cache)
        self.noise = squares_noise(problem)
        self._changes: dict[int, float] = {}  # of weights, since the residual was updated
        self._steps = 0
        self._renew()

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest absolute correlation."""
        return self._lookup.largest(self.noise, among)

    def move(self, feature: int, change: float) -> None:
        """c -= change gamma (X'Cx_j - N mu mu_j), the second part by the offset."""
        lookup, scaling = self._lookup, self._scaling
        gamma, spread = float(scaling.factor[feature]), float(scaling.spread[feature])
        correlation = lookup.derivative(int(lookup.position[feature]))
        # With xc the centered column, |r - change xc|^2 = |r|^2 - 2 change xc'r + change^2 |xc|^2.
        step = change / gamma
        self._squares += step * (step * self._total * spread**2 - 2.0 * correlation)
        positions, values = self.gram.column(feature)
        lookup.add_entries(positions, values, -change)
        lookup.offset += change * self._total * float(scaling.mean[feature])
        self._changes[feature] = self._changes.get(feature, 0.0) + change
        self._steps += 1
        if self._steps % RENEWAL == 0 or self._squares < LOST * self._squares_at_renewal:
            self._renew()

    @property
    def residual_size(self) -> float:
        """Root of the mean of the squares, around their mean where there is an intercept."""
        return float(np.sqrt(max(self._squares, 0.0) / self._total))

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """b = mean y - mu'w; half the sum of squares; the mean of squares."""
        # residual -= X change, the running update of section 5.
        features = np.array(sorted(self._changes), dtype=np.int32)
        changes = np.array([-self._changes[j] for j in features.tolist()])
        column_sums(*self._columns, changes, features, self._residual)
        self._changes.clear()
        b = float(self._c @ self._residual) / self._total if self._center else 0.0
        rest = self._residual - b
        squares = float(self._c @ np.square(rest, out=rest))
        return self._y_mean + b, 0.5 * squares, squares / self._total

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean squared error."""
        return float(np.mean((y - z - b) ** 2))

    def _renew(self) -> None:
        """Add the offset to all correlations, and sum the squares anew."""
        self._lookup.apply_offset()
        self._squares = self._squares_at_renewal = 2.0 * self.evaluate(np.empty(0))[1]
