"""Forward stagewise along the exact gradient of a loss, whose intercept is optimal at every step.

A step changes the optimal intercept, and with it the residual of every document and all
derivatives. These are not computed: they are known up to a bound, and only the few that the bound
leaves as possible choices are computed (docs/maths.md, T2 and T3).
"""

from __future__ import annotations

import math

import numpy as np

from textreg._core.columns import column_dots
from textreg.records import Floats, Int64s, Problem
from textreg.solvers.engine import INTERCEPT_SLOPE, Engine
from textreg.solvers.stagewise_likelihood import ROUNDING
from textreg.solvers.stagewise_lookup import (
    DerivativeLookup,
    ScaledMatrix,
    Scaling,
    Steepest,
    first_of,
    squares_over,
)

REACH = 1.0
"""Longest step of the intercept that is predicted from the rows of a feature alone."""

FARTHEST = 2.0**20
"""Longest way to look for the best intercept."""


class LossScores:
    """The scores of a loss along a path, its intercept at the optimum after every step.

    noise, residual_size: as those of a
    :class:`~textreg.solvers.stagewise_likelihood.Likelihood`.
    """

    def __init__(self, problem: Problem) -> None:
        self.engine = engine = Engine(problem.replace(start=None))
        self._loss, self._y, self._c = problem.loss, problem.y, problem.sample_weight
        self._total = float(self._c.sum()) or 1.0
        self._columns = problem.design.columns
        engine.restart(np.zeros(problem.design.shape[1]), problem.intercept_at_zero())
        self.noise = ROUNDING * self._total * self.residual_size
        self._optimize_intercept()

    @property
    def q(self) -> Floats:
        """Minus the derivatives of the loss in the scores, (n,)."""
        return -self.engine.r

    @property
    def residual_size(self) -> float:
        """Root of the mean squared residual, q_i / c_i."""
        return math.sqrt(squares_over(self.engine.r, self._c) / self._total)

    def move(self, feature: int, change: float) -> None:
        """z in the rows of the feature, then b, so that all residuals are those of the optimum."""
        engine = self.engine
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = engine.z[rows] + change * self._columns.data[entries]
        shift = 0.0
        if engine.fit_intercept:
            # One step of Newton's method, its derivatives updated in these rows only.
            r, h = np.empty_like(z), np.empty_like(z)
            self._loss.derivatives(z, self._y[rows], self._c[rows], r, h)
            slope = float(engine.r.sum()) + float((r - engine.r[rows]).sum())
            curvature = float(engine.h.sum()) + float((h - engine.h[rows]).sum())
            if abs(slope) < REACH * curvature:
                shift = -slope / curvature
        engine.z[rows] = z
        engine.move_to(engine.w, engine.b + shift, engine.z + shift)
        self._optimize_intercept()

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept; the loss, and the loss per document."""
        value = self.engine.value
        return self.engine.b, value, value / self._total

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean loss."""
        return self._loss.value(z + b, y, np.ones(len(y))) / max(len(y), 1)

    def _optimize_intercept(self) -> None:
        """Move the intercept to its optimum, by bisection where Newton's method does not get there.

        A hinge may have no curvature anywhere, and yet not be at its minimum.
        """
        engine = self.engine
        engine.optimize_intercept()
        slope = float(engine.r.sum())
        if not engine.fit_intercept or abs(slope) <= INTERCEPT_SLOPE * np.abs(engine.r).sum():
            return
        start, rest = engine.b, engine.z - engine.b

        def slope_at(b: float) -> float:
            engine.move_to(engine.w, b, rest + b)
            return float(engine.r.sum())

        width = -math.copysign(1.0, slope)
        while slope_at(start + width) * slope > 0.0:
            width *= 2.0
            if abs(width) > FARTHEST:  # documents of one label have no best intercept
                slope_at(start)
                return
        low, high = sorted((start, start + width))
        while low < (middle := 0.5 * (low + high)) < high and (slope := slope_at(middle)) != 0.0:
            low, high = (middle, high) if slope < 0.0 else (low, middle)


class LossLikelihood(LossScores):
    """Any loss of the scores: c_k = gamma_k sum_i q_i (x_ik - mu_k), q minus the loss's derivative.

    Section 8 of hooker2004, first half, with the intercept b at its optimum for the present
    weights, so that sum_i q_i = 0. The lookup holds the derivatives of p, the residuals at the
    earlier intercept b0: a step changes p in the rows of its feature only. To first order in b - b0
    the others follow the second derivatives h of that time (T2); what is left is measured, and by
    Cauchy and Schwarz bounds the error of every derivative (T3).
    """

    def __init__(self, problem: Problem, scaling: Scaling) -> None:
        super().__init__(problem)
        self._lookup = DerivativeLookup(scaling.factor * scaling.mean)
        self._gamma = scaling.factor[self._lookup.order]
        self._mean = scaling.mean[self._lookup.order]
        self._scaled = ScaledMatrix(problem.design, scaling.factor, self._lookup)
        # By Cauchy and Schwarz no derivative of p exceeds this, times the norm of p.
        self._norm = float(np.sqrt(self._total)) * float(scaling.spread.max(initial=0.0))
        self._rebase()

    def move(self, feature: int, change: float) -> None:
        """p in the rows of the feature, and A in the features of these rows; then the scores."""
        engine = self.engine
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = engine.z[rows] + (change * self._columns.data[entries] - engine.b + self._b0)
        r, h = np.empty_like(z), np.empty_like(z)
        self._loss.derivatives(z, self._y[rows], self._c[rows], r, h)
        fall = -r - self._p[rows]
        self._p[rows] = -r
        self._scaled.add(rows, fall, -float(fall.sum()))
        self._sum += float(fall.sum())
        super().move(feature, change)
        self._measure()

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest derivative, by what the derivatives are, not by a bound."""
        # Work until it would have paid to compute all derivatives anew.
        if self._computed > 2 * len(self._columns.data):
            self._rebase()
        lookup = self._lookup
        positions = lookup.near(2.0 * self._error + self.noise, among)
        if not len(positions):
            return Steepest(-1, 0.0)
        derivatives, q = np.empty(len(positions)), self.q
        indptr = self._scaled.columns[0]
        self._computed += int((indptr[positions + 1] - indptr[positions]).sum())
        column_dots(*self._scaled.columns, q, positions, derivatives)
        derivatives -= float(q.sum()) * self._gamma[positions] * self._mean[positions]
        return first_of(lookup.order[positions], derivatives, self.noise)

    def _rebase(self) -> None:
        """Compute all derivatives at the present intercept, from which others are predicted."""
        engine = self.engine
        self._b0, self._p = engine.b, self.q
        h = engine.h if float(engine.h.sum()) > 0.0 else self._c
        self._direction = h / (float(h.sum()) or 1.0)
        self._sum = float(self._p.sum())
        if engine.fit_intercept:
            self._scaled.reset(self._direction, 0.0)
            self._lookup.set_slopes(self._lookup.A)
        self._scaled.reset(self._p, -self._sum)
        self._computed = 0
        self._measure()

    def _measure(self) -> None:
        """How far the derivatives of the lookup may be from those at the present intercept."""
        self._error = self.noise
        if self.engine.fit_intercept:
            rest = self._sum * self._direction - self.engine.r - self._p
            variance = squares_over(rest, self._c) - float(rest.sum()) ** 2 / self._total
            self._error += self._norm * float(np.sqrt(max(variance, 0.0)))
