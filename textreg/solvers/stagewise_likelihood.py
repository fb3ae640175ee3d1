"""Stagewise selection by likelihood: of linear scores, of any loss, and the exponential one.

Forward stagewise along the exact gradient of a loss, whose intercept is optimal at every step.

A step changes the optimal intercept, and with it the residual of every document and all
derivatives. These are not computed: they are known up to a bound, and only the few that the bound
leaves as possible choices are computed (docs/maths.md, T2 and T3).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from textreg._core.columns import column_dots, column_sums
from textreg.errors import DataError, UsageError
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.solvers.engine import INTERCEPT_SLOPE, Engine
from textreg.solvers.stagewise_lookup import (
    DerivativeLookup,
    GramCache,
    ScaledMatrix,
    Scaling,
    Steepest,
    first_of,
    squares_over,
)

# Derivatives below this share of the sum of their absolute terms are rounding.
ROUNDING = 1e-13

# Steps after which what is updated from step to step is computed anew, because of rounding.
RENEWAL = 100

# A sum that was updated until less than this share of it was left is computed anew, too.
LOST = 1e-2


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


# Rise of a score after which exponentials are rescaled, well before they overflow.
FAR = 300.0


def observed_counts(y: Floats, W: Floats) -> Floats:
    """How often every document was observed, n_i in (T4).

    Parameters
    ----------
    y : ndarray, shape (n,)
        Labels, +1 for once and -1 for never; or the counts, 0 or more.
    W : ndarray, shape (n,)
        Weights in C. Documents of weight 0 are left out: no weights of features explain them.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    UsageError
        A target is neither -1 nor 0 or more.
    """
    if not ((y >= 0.0) | (y == -1.0)).all():
        raise UsageError(
            "likelihood 'exponential' takes labels of -1 and +1, or counts of 0 or more as "
            f"targets, not {float(y.min()):g}."
        )
    return np.maximum(y, 0.0) * (W > 0.0)


def minus_log_likelihood(z: Floats, observed: Floats, W: Floats) -> float:
    """Minus (T4) at the scores z plus N log sum W, which is 0 at scores of zero; all (n,)."""
    top = float(z[W > 0.0].max(initial=-np.inf))
    if top == -np.inf:
        return 0.0
    log_C = top + float(np.log(W @ np.exp(np.minimum(z - top, 0.0)) / W.sum()))
    return float(observed.sum()) * log_C - float(observed @ z)


class ExponentialScores:
    """The exponential family of hooker2004, section 8: prod_i (W_i exp(x_i w) / C(w))^n_i.

    X is the design matrix. W_i, the weight in C(w) = sum_i W_i exp(x_i w), is the weight of the
    document (``sample_weight``). n_i says how often it was observed: :func:`observed_counts` of the
    targets. What is maximized is eq. (1), with N = sum_i n_i

        sum_i n_i x_i w - N log C(w),    (T4)

    in the paper with n_i = 1 for all documents. With labels, n_i = 0 for those of -1: it models how
    the documents of +1 differ from all. The intercept has no part in it, and is that of the
    problem's loss for these weights.

    noise, residual_size: as those of a
    :class:`~textreg.solvers.stagewise_likelihood.Likelihood`.
    """

    residual_size = 1.0

    def __init__(self, problem: Problem) -> None:
        self._engine = Engine(problem.replace(start=None))
        self._columns, self._W = problem.design.columns, problem.sample_weight
        self._observed = observed_counts(problem.y, self._W)
        self._count = float(self._observed.sum())
        if not self._count > 0.0:
            raise DataError(
                "the exponential family models the documents with y > 0, and none has a weight: "
                "give some, or use another likelihood."
            )
        self._z = np.zeros(problem.design.shape[0])
        self.noise = ROUNDING * self._count
        self._steps = 0
        self._renew()

    @property
    def q(self) -> Floats:
        """n_i - N W_i exp(x_i w) / C, (n,)."""
        return self._observed - self._count / float(self._tilted.sum()) * self._tilted

    def move(self, feature: int, change: float) -> None:
        """z and W_i exp(x_i w) in the rows of the feature."""
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = self._z[rows] + change * self._columns.data[entries]
        self._z[rows] = z
        self._steps += 1
        # Only differences of scores matter: subtract a larger maximum before exp(z) overflows.
        weighted = self._W[rows] > 0.0
        if self._steps % RENEWAL == 0 or float(z[weighted].max(initial=-np.inf)) > self._far:
            self._renew()
            return
        after = self._W[rows] * np.exp(np.minimum(z - self._shift, FAR))
        fall = self._tilted[rows] - after
        self._tilted[rows] = after
        self._sum -= float(fall.sum())
        # And a smaller one before all that is left is rounding, or nothing.
        if self._sum < LOST * self._sum_at_renewal:
            self._renew()
            return
        self._fell(rows, fall)

    def _fell(self, rows: Int32s, fall: Floats) -> None:
        """Follow a fall of W_i exp(x_i w) in some rows."""

    def _renew(self) -> None:
        """Compute all sums anew."""
        self._shift = float(self._z[self._W > 0.0].max())
        self._far = self._shift + FAR
        self._tilted = self._W * np.exp(np.minimum(self._z - self._shift, 0.0))
        self._sum = self._sum_at_renewal = float(self._tilted.sum())

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept; minus (T4) plus N log sum W, which is 0 without weights; that over N."""
        self._engine.restart(w, 0.0)
        self._engine.optimize_intercept()
        value = minus_log_likelihood(self._z, self._observed, self._W)
        return self._engine.b, value, value / self._count

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The same for other documents, with W = 1."""
        observed = observed_counts(y, np.ones(len(y)))
        count = float(observed.sum())
        if not count > 0.0:
            raise DataError("validation has no document with y > 0 to measure the likelihood of.")
        return minus_log_likelihood(z, observed, np.ones(len(y))) / count


class ExponentialLikelihood(ExponentialScores):
    """The same with derivatives: sum_i n_i x_ik - (N / C) C^1_k, C^1_k = sum_i W_i exp(x_i w) x_ik.

    The lookup holds them divided by N / C, so that the offset C / N multiplies the part that never
    changes. What hooker2004 call C^2_jk is computed from the rows of j: their recursions
    (e^epsilon - 1) and e^epsilon hold for columns of zeros and ones, and the last where no other
    feature of the same rows has moved.
    """

    def __init__(self, problem: Problem, scaling: Scaling) -> None:
        observed = observed_counts(problem.y, problem.sample_weight)
        self._lookup = DerivativeLookup(
            scaling.factor * problem.design.transposed_product(observed)
        )
        self._scaled = ScaledMatrix(problem.design, scaling.factor, self._lookup)
        super().__init__(problem)

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest absolute derivative of (T4)."""
        scale = self._lookup.offset
        feature, derivative = self._lookup.largest(self.noise * scale, among)
        return Steepest(feature, derivative / scale)

    def _fell(self, rows: Int32s, fall: Floats) -> None:
        """C^1_k changes by the change of W_i exp(x_i w) x_ik, summed over the rows of j."""
        self._scaled.add(rows, fall, -float(fall.sum()) / self._count)

    def _renew(self) -> None:
        super()._renew()
        self._scaled.reset(-self._tilted, float(self._tilted.sum()) / self._count)


# Longest step of the intercept that is predicted from the rows of a feature alone.
REACH = 1.0

# Longest way to look for the best intercept.
FARTHEST = 2.0**20


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
        """Compute all derivatives at the present intercept, from which others are predicted.

        c(b) = gamma (X - 1 mu')'p + (b - b0) * slopes, slopes those of h / sum_i h_i (T2).
        """
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
        """How far the derivatives of the lookup may be from those at the present intercept.

        |c_k - predicted| <= sqrt(N) spread_k sqrt(sum_i (D_i - mean D)^2 / c_i), D the residuals
        less those predicted (T3).
        """
        self._error = self.noise
        if self.engine.fit_intercept:
            rest = self._sum * self._direction - self.engine.r - self._p
            variance = squares_over(rest, self._c) - float(rest.sum()) ** 2 / self._total
            self._error += self._norm * float(np.sqrt(max(variance, 0.0)))
