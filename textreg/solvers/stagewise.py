"""Forward stagewise selection: many small steps, each along the feature that now helps most.

Section 4 of hooker2004 (docs/stagewise.md, T1). With columns centered and scaled, starting from
w = 0, repeat

    j = argmax_k |c_k|,    lambda_j += epsilon sign(c_j),

where c is the derivative of the log-likelihood: the correlations with the residual for Gaussian
noise (section 5), else as in section 8. The number of steps is the regularization: one run
passes through the models of all of them.

No centered matrix is ever made. For feature k and up to a common factor

    c_k = A_k + offset B_k,

in which a step along feature j changes A_k only where k shares a row with j, B never, and the one
number ``offset`` stands for what centering does to all the others (section 5: "a constant offset
to all the correlations").
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from textreg._core.blocks import block_dots, block_sums
from textreg._core.stagewise import (
    add_entries,
    add_rows,
    apply_offset,
    gram_column,
    largest_derivative,
)
from textreg.errors import DataError, UsageError
from textreg.losses import Squared
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.arrays import row_of, take_rows
from textreg.solvers.stagewise_rules import GramCacheUse, StagewisePath, StagewiseReport, StepRules
from textreg.solvers.state import INTERCEPT_SLOPE, Engine, check_finite, checks_overflow

# Features lie in blocks of 2^SHIFT, each with bounds on its derivatives.
SHIFT = 7

# Derivatives within this share of the largest, and the noise of rounding, count as equal; the
# first such is selected.
TIE = 1e-10

# A column whose variance is below this share of its mean square is constant: never selected.
CONSTANT = 1e-12


Matrix = tuple[Int64s, Int32s, Floats]
"""The arrays as kernels take them: offsets, indices, values."""

Steepest = tuple[int, float]
"""The feature of the largest derivative, and that derivative; -1 and 0 if there is none."""


def first_of(features: Int32s | Int64s, derivatives: Floats, noise: float) -> Steepest:
    """The feature of the largest derivative; the first one among equals."""
    size = np.abs(derivatives)
    largest = float(size.max())
    # The first feature, so that neither the order of documents nor that of sums matters. What is
    # left of large sums differs by their rounding, not by its own.
    near = np.flatnonzero(size >= largest - TIE * largest - noise)
    at = near[np.argmin(features[near])]
    return int(features[at]), float(derivatives[at])


def squares_over(r: Floats, c: Floats) -> float:
    """sum_i r_i^2 / c_i over weights c_i above 0, of which 1 / c_i may be too large a number."""
    return float(r @ np.divide(r, c, out=np.zeros(len(r)), where=c > 0.0))


def column(columns: Matrix, feature: int) -> tuple[Int32s, Floats]:
    """The documents of a feature, and its values there."""
    indptr, indices, data = columns
    entries = slice(indptr[feature], indptr[feature + 1])
    return indices[entries], data[entries]


class Scaling(NamedTuple):
    """mu and gamma (p,): weighted mean and one over the weighted standard deviation.

    spread: the standard deviation of the scaled columns; 0 for constant ones.
    """

    mean: Floats
    factor: Floats
    spread: Floats

    @classmethod
    def of(cls, problem: Problem, *, center: bool, scale: bool) -> Scaling:
        """The scaling of the problem's columns; ``mean`` is zero unless they are to be centered."""
        design, p = problem.design, problem.design.shape[1]
        total = float(problem.sample_weight.sum()) or 1.0
        mean = design.transposed_product(problem.sample_weight) / total
        squares = design.curvature(problem.sample_weight) / total
        variance = squares - mean**2 if center else squares
        varies = variance > CONSTANT * squares
        factor, spread = np.zeros(p), np.zeros(p)
        np.sqrt(variance, out=spread, where=varies)
        np.divide(1.0, spread, out=factor, where=varies)
        if not scale:
            factor = varies.astype(np.float64)
        return cls(mean if center else np.zeros(p), factor, factor * spread)


class DerivativeLookup:
    """Finds the feature of the largest |A_k + offset B_k| without computing all of them.

    Features have positions in the order of B. ``order``: the feature at every position;
    ``position``: that of every feature. A, B: (p,) by position. Features of similar B lie in one
    block, so that the bounds of a block hold for any offset.
    """

    def __init__(self, B: Floats) -> None:
        self.order = np.argsort(B, kind="stable").astype(np.int32)
        self.position = np.empty_like(self.order)
        self.position[self.order] = np.arange(len(B), dtype=np.int32)
        self.A, self.B, self.offset = np.zeros(len(B)), B[self.order], 0.0
        self._starts = np.arange(0, len(B), 2**SHIFT)
        self.top, self.bottom = np.zeros(len(self._starts)), np.zeros(len(self._starts))
        self.set_slopes(self.B)

    def set_slopes(self, B: Floats) -> None:
        """Take another B, by position. Call :meth:`reset` before the next look-up."""
        self.B[:] = B
        self._low = np.minimum.reduceat(B, self._starts)
        self._high = np.maximum.reduceat(B, self._starts)

    def add_entries(self, positions: Int32s, values: Floats, t: float) -> None:
        """A += t values at the given positions."""
        add_entries(positions, values, t, self.A, self.top, self.bottom, SHIFT)

    def add_rows(self, matrix: Matrix, rows: Int32s, change: Floats) -> None:
        """A += the given rows of the matrix, each times its ``change``."""
        add_rows(*matrix, rows, change, self.A, self.top, self.bottom, SHIFT)

    def reset(self, offset: float) -> None:
        """Continue after A was recomputed."""
        self.offset = offset
        apply_offset(self.A, self.B, 0.0, self.top, self.bottom, SHIFT)

    def apply_offset(self) -> None:
        """Add the offset to all of A, and start again from the offset zero."""
        apply_offset(self.A, self.B, self.offset, self.top, self.bottom, SHIFT)
        self.offset = 0.0

    def largest(self, noise: float, among: Int64s | None = None) -> Steepest:
        """The first feature among those of equal and largest derivative, all or the given ones.

        noise: by how much equal derivatives may differ.
        """
        if among is not None:
            return first_of(among, self.derivatives(self.position[among]), noise)
        position = self._largest(noise)
        if position < 0:
            return -1, 0.0
        return int(self.order[position]), float(self.derivatives(position))

    def near(self, slack: float, among: Int64s | None = None) -> Int32s:
        """Positions whose |A_k + offset B_k| may be the largest, where it is wrong by slack / 2."""
        if among is not None:
            positions = self.position[among]
            size = np.abs(self.derivatives(positions))
            best = float(size.max(initial=0.0))
        else:
            position = self._largest(0.0)
            if position < 0:
                return np.zeros(0, dtype=np.int32)
            best = abs(float(self.derivatives(position)))
            rise, fall = self.offset * self._low, self.offset * self._high
            upper = self.top + np.maximum(rise, fall)
            upper = np.maximum(upper, self.bottom - np.minimum(rise, fall))
            blocks = self._starts[upper >= best - slack - TIE * best]
            grid = blocks[:, None] + np.arange(2**SHIFT)
            positions = grid[grid < len(self.A)].astype(np.int32)
            size = np.abs(self.derivatives(positions))
        near: Int32s = positions[size >= best - slack - TIE * best]
        return near

    def _largest(self, noise: float) -> int:
        return largest_derivative(
            self.A, self.B, self.offset, self._low, self._high, self.top, self.bottom, self.order,
            SHIFT, TIE, noise,
        )  # fmt: skip

    def derivatives(self, positions: Int32s | int) -> Floats:
        """The derivatives at some positions, or at one."""
        return np.asarray(self.A[positions] + self.offset * self.B[positions])


class ScaledMatrix:
    """X D(gamma): what a change of the residuals, in some rows or in all, does to A.

    columns: the matrix by columns, in the order of positions.
    """

    def __init__(self, design: Design, factor: Floats, lookup: DerivativeLookup) -> None:
        indptr, features, data = design.rows
        self._rows = indptr, lookup.position[features], factor[features] * data
        # By position, columns of one length lie together: products with all of them take less than
        # half of the time that they take in the order of the features.
        columns, every = design.columns, np.arange(len(design.columns.data))
        indptr, entries = take_rows(columns.indptr, every, lookup.order)
        scale = factor[lookup.order][row_of(indptr)]
        self.columns = indptr, columns.indices[entries], scale * columns.data[entries]
        self._lookup = lookup

    def add(self, rows: Int32s, change: Floats, offset: float) -> None:
        """A += D(gamma) X'change, where ``change`` is zero but in the given rows."""
        self._lookup.add_rows(self._rows, rows, change)
        self._lookup.offset += offset

    def reset(self, v: Floats, offset: float) -> None:
        """A = D(gamma) X'v."""
        block_dots(*self.columns, v[:, None], self._lookup.A[:, None])
        self._lookup.reset(offset)


class GramCache:
    """Columns of gamma X'CX, computed when first needed; the least recently used are dropped.

    limit: bytes that all stored columns may take together.
    """

    def __init__(self, problem: Problem, lookup: DerivativeLookup, gamma: Floats, limit: float):
        """gamma: (p,) by position."""
        p = len(gamma)
        indptr, features, data = problem.design.rows
        self._rows = indptr, lookup.position[features], data
        self._columns, self._weights = problem.design.columns, problem.sample_weight
        self._gamma, self._limit = gamma, limit
        self._sums, self._visited = np.zeros(p), np.zeros(p, dtype=np.uint8)
        self._positions, self._values = np.empty(p, dtype=np.int32), np.empty(p)
        self._stored: OrderedDict[int, tuple[Int32s, Floats]] = OrderedDict()
        self._computed = self._bytes = 0

    @property
    def use(self) -> GramCacheUse:
        """How much of it was used."""
        return GramCacheUse(len(self._stored), self._computed, self._bytes)

    def column(self, feature: int) -> tuple[Int32s, Floats]:
        """Positions that share a row with the feature, and gamma_k x_k'C x_j there."""
        column = self._stored.get(feature)
        if column is not None:
            self._stored.move_to_end(feature)
            return column
        count = gram_column(
            *self._columns, *self._rows, self._weights, self._gamma, feature, self._sums,
            self._visited, self._positions, self._values,
        )  # fmt: skip
        column = self._positions[:count].copy(), self._values[:count].copy()
        self._computed += 1
        self._stored[feature] = column
        self._bytes += column[0].nbytes + column[1].nbytes
        # The column just computed stays, even where it alone exceeds the limit.
        while self._bytes > self._limit and len(self._stored) > 1:
            _, (positions, values) = self._stored.popitem(last=False)
            self._bytes -= positions.nbytes + values.nbytes
        return column


# Derivatives below this share of the sum of their absolute terms are rounding.
CANCELLED = 1e-13

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
    return CANCELLED * total * float(np.sqrt(c @ y**2 / total))


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
        correlation = float(lookup.derivatives(lookup.position[feature]))
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
        block_sums(*self._columns, changes[:, None], self._residual[:, None], features)
        self._changes.clear()
        b = float(self._c @ self._residual) / self._total if self._center else 0.0
        centered = self._residual - b
        squares = float(self._c @ np.square(centered, out=centered))
        return self._y_mean + b, 0.5 * squares, squares / self._total

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean squared error."""
        return float(np.mean((y - z - b) ** 2))

    def _renew(self) -> None:
        """Add the offset to all correlations, and sum the squares anew."""
        self._lookup.apply_offset()
        self._squares = self._squares_at_renewal = 2.0 * self.evaluate(np.empty(0))[1]


# Rise of a score after which exponentials are rescaled, well before they overflow.
RISE = 300.0


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
    if len(others := y[~((y >= 0.0) | (y == -1.0))]):
        raise UsageError(
            "likelihood 'exponential' takes labels of -1 and +1, or counts of 0 or more as "
            f"targets, not {others[0]:g}."
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
    :class:`Likelihood`.
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
        self.noise = CANCELLED * self._count
        self._steps = 0
        self._renew()

    @property
    def q(self) -> Floats:
        """n_i - N W_i exp(x_i w) / C, (n,)."""
        return self._observed - self._count / float(self._tilted.sum()) * self._tilted

    def move(self, feature: int, change: float) -> None:
        """z and W_i exp(x_i w) in the rows of the feature."""
        rows, x = column(self._columns, feature)
        z = self._z[rows] + change * x
        self._z[rows] = z
        self._steps += 1
        # Only differences of scores matter: subtract a larger maximum before exp(z) overflows.
        weighted = self._W[rows] > 0.0
        if self._steps % RENEWAL == 0 or float(z[weighted].max(initial=-np.inf)) > self._far:
            self._renew()
            return
        after = self._W[rows] * np.exp(np.minimum(z - self._shift, RISE))
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
        self._far = self._shift + RISE
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
        return feature, derivative / scale

    def _fell(self, rows: Int32s, fall: Floats) -> None:
        """C^1_k changes by the change of W_i exp(x_i w) x_ik, summed over the rows of j."""
        self._scaled.add(rows, fall, -float(fall.sum()) / self._count)

    def _renew(self) -> None:
        super()._renew()
        self._scaled.reset(-self._tilted, float(self._tilted.sum()) / self._count)


# Longest way to look for the best intercept.
FARTHEST = 2.0**20


class LossScores:
    """The scores of a loss along a path, its intercept at the optimum after every step.

    noise, residual_size: as those of a
    :class:`Likelihood`.
    """

    def __init__(self, problem: Problem) -> None:
        self.engine = Engine.begun(problem.replace(start=None))
        self._loss, self._y, self._c = problem.loss, problem.y, problem.sample_weight
        self._total = float(self._c.sum()) or 1.0
        self._columns = problem.design.columns
        squares = isinstance(problem.loss, Squared)  # their error is the mean, not that of halves
        self._per_document = 2.0 if squares else 1.0
        size = CANCELLED * self._total * self.residual_size
        self.noise = squares_noise(problem) if squares else size
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
        rows, x = column(self._columns, feature)
        engine.z[rows] += change * x
        engine.move_to(engine.w, engine.b, engine.z)
        self._optimize_intercept()

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept; the loss, and the loss per document."""
        value = self.engine.value
        return self.engine.b, value, self._per_document * (value / self._total)

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean loss, of squared error the mean of squares."""
        mean = self._loss.value(z + b, y, np.ones(len(y))) / max(len(y), 1)
        return self._per_document * mean

    def _optimize_intercept(self) -> None:
        """Move the intercept to its optimum, by bisection where Newton's method does not get there.

        A hinge may have no curvature anywhere, and yet not be at its minimum.
        """
        engine = self.engine
        engine.optimize_intercept()
        slope = float(engine.r.sum())
        if not engine.fit_intercept or abs(slope) <= INTERCEPT_SLOPE * np.abs(engine.r).sum():
            return
        start, scores = engine.b, engine.z - engine.b

        def slope_at(b: float) -> float:
            engine.move_to(engine.w, b, scores + b)
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
        rows, x = column(self._columns, feature)
        r, h = np.empty((2, len(rows)))
        z = engine.z[rows] + (change * x - engine.b + self._b0)
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
            return -1, 0.0
        derivatives, q = np.empty(len(positions)), self.q
        indptr = self._scaled.columns[0]
        self._computed += int((indptr[positions + 1] - indptr[positions]).sum())
        block_dots(*self._scaled.columns, q[:, None], derivatives[:, None], positions)
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


class QueuedLikelihood:
    """Any scores, with derivatives that are computed when their turn comes.

    Every derivative c_k is kept with the time of its last update. Time is how far q has moved: by
    Cauchy and Schwarz c_k has changed since by at most the time that passed, times the spread of
    its column (T3). Its turn comes when that could make it the largest, so that the path is that of
    a look at all of them.

    lookups: how many derivatives were computed.
    """

    def __init__(
        self,
        scores: LossScores | ExponentialScores,
        problem: Problem,
        scaling: Scaling,
        center: bool,
    ) -> None:
        self._scores, self._scaling = scores, scaling
        self.noise = scores.noise
        c, p = problem.sample_weight, problem.design.shape[1]
        self._c, self._total = c, float(c.sum()) or 1.0
        self._columns, self._center = problem.design.columns, center
        self._q = scores.q
        self._time = 0.0
        self._values, self._updated = np.zeros(p), np.full(p, -1.0)
        self.lookups = 0
        self._update(np.arange(p, dtype=np.int32))

    @property
    def residual_size(self) -> float:
        """As of the scores."""
        return self._scores.residual_size

    def move(self, feature: int, change: float) -> None:
        """Move the scores and the time, and no derivative."""
        self._scores.move(feature, change)
        q = self._scores.q
        moved = q - self._q
        square = squares_over(moved, self._c)
        if self._center:
            # A change of all q_i by the same share of c_i changes no derivative.
            square -= float(moved.sum()) ** 2 / self._total
        # Even a step of no effect passes some time, so that values of the past are known as such.
        self._time += float(np.sqrt(self._total * max(square, 0.0))) + self.noise
        self._q = q

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest derivative, after all that may be it were updated."""
        if among is not None:
            features = among.astype(np.int32)
            self._update(features)
            return first_of(features, self._values[features], self.noise)
        if not len(self._values):
            return -1, 0.0
        # The largest of the last look-ups shows how large a derivative has to be.
        self._update(np.array([np.abs(self._values).argmax()], dtype=np.int32))
        best = float(np.abs(self._values[self._updated == self._time]).max())
        upper = np.abs(self._values) + self._scaling.spread * (self._time - self._updated)
        due = np.flatnonzero(upper >= (1.0 - TIE) * best - self.noise).astype(np.int32)
        self._update(due)
        return first_of(due, self._values[due], self.noise)

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """As of the scores."""
        return self._scores.evaluate(w)

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """As of the scores."""
        return self._scores.held_out(z, b, y)

    def _update(self, features: Int32s) -> None:
        """Compute the derivatives of these features, where they are not of the present time."""
        stale = features[self._updated[features] < self._time]
        dots = np.empty(len(stale))
        block_dots(*self._columns, self._q[:, None], dots[:, None], stale)
        mean, factor = self._scaling.mean[stale], self._scaling.factor[stale]
        self._values[stale] = factor * (dots - float(self._q.sum()) * mean)
        self._updated[stale] = self._time
        self.lookups += len(stale)


# The largest derivative is as many times the rounding, or which one it is would be chance.
STANDS_OUT = 100.0


def stagewise(problem: Problem, rules: StepRules) -> Solution:
    """The end of the path, or with ``Problem.validation`` its point of least error there.

    Parameters
    ----------
    problem : Problem
        What to fit. ``start`` and ``max_iter`` are ignored: a path begins at zero, and the rules
        say how long it is. ``callback`` is called at every check.
    rules : StepRules
        How to step and when to stop.

    Returns
    -------
    Solution
        ``gap`` is NaN, as the method has no dual. ``converged`` is False only where the callback
        stopped the run. ``report`` is a
        :class:`~textreg.solvers.stagewise_rules.StagewiseReport`.

    Raises
    ------
    UsageError
        The rules do not fit the problem: ``patience`` without held-out documents, or an exponential
        family for targets that are neither labels nor counts.
    DataError
        The held-out documents are none, or an exponential family has no positive document.

    References
    ----------
    .. [1] Hooker & Weng (2004), "Subset selection in large, sparse systems" (hooker2004).
    """
    (solution,) = stagewise_path(problem, rules, [rules.steps])
    return solution


def stagewise_path(problem: Problem, rules: StepRules, steps: Iterable[int]) -> Iterator[Solution]:
    """The solutions of :func:`stagewise` for several numbers of steps, from one run.

    Parameters
    ----------
    problem, rules
        As for :func:`stagewise`; ``rules.steps`` is ignored.
    steps : iterable of int
        Numbers of steps, ascending.

    Yields
    ------
    Solution
        One for each number of steps.
    """
    run = StagewiseRun(problem, rules)
    for count in steps:
        run.advance(count)
        yield run.solution()


class _Checkpoint(NamedTuple):
    """What was measured after some step; ``validation_error`` is NaN without held-out documents."""

    step: int
    objective: float
    train_error: float
    validation_error: float
    nonzero: int
    b: float


class StagewiseRun:
    """One run, which may pause at any step and continue.

    w: (p,) the present weights. stopped: the rule that ended the run, or empty.
    """

    @checks_overflow
    def __init__(self, problem: Problem, rules: StepRules) -> None:
        self._problem, self._rules = problem, rules
        self._p = problem.design.shape[1]
        center = problem.fit_intercept or rules.likelihood == "exponential"
        self._scaling = Scaling.of(problem, center=center, scale=rules.standardize)
        self._state = _likelihood(problem, rules, self._scaling, center)
        self._held_out = held_out = _held_out(problem, rules)
        self._held_out_z = np.zeros(0 if held_out is None else len(held_out[1]))
        self._rng = np.random.default_rng(rules.seed)
        self._queue = np.arange(self._p)  # features, the longest waiting first
        self.w, self._units = np.zeros(self._p), np.zeros(self._p)
        self._nonzero = 0
        self._features: list[int] = []
        self._sizes: list[float] = []
        self._old_weights: dict[int, float] = {}  # at the last check, of all that moved since
        self.stopped = ""
        self._first_size = self._last_size = abs(self._state.largest()[1])
        self._checkpoints: list[_Checkpoint] = []
        self._best = 0  # index of the checkpoint of least validation error
        self._check()

    @checks_overflow
    def advance(self, steps: int) -> None:
        """Continue until ``steps`` steps are done in all, or a rule stops the run."""
        while not self.stopped and len(self._features) < steps:
            steepest = self._select()
            if self.stopped:
                return
            self._step(steepest)
            if len(self._features) % self._rules.every == 0:
                self._check()
            if self._nonzero == self._rules.features and not self.stopped:
                self.stopped = "features"

    @checks_overflow
    def solution(self) -> Solution:
        """The present model; with held-out documents the best one so far."""
        points, steps = self._checkpoints, len(self._features)
        if points[-1].step != steps:
            points = [*points, self._measure()]
        path = StagewisePath(
            features=np.array(self._features, dtype=np.int32),
            sizes=np.array(self._sizes),
            epsilon=self._rules.epsilon,
            scale=self._scaling.factor,
            checks=np.array([point.step for point in points], dtype=np.int64),
            train_error=np.array([point.train_error for point in points]),
            validation_error=np.array([point.validation_error for point in points]),
            nonzero=np.array([point.nonzero for point in points], dtype=np.int64),
            intercepts=np.array([point.b for point in points]),
        )
        best, least = points[-1], points[self._best]
        if self._held_out is not None and least.validation_error <= best.validation_error:
            best = least
        stopped = self.stopped or "steps"
        report = StagewiseReport(
            stopped=stopped,
            steps=steps,
            best_step=best.step,
            largest=self._last_size / self._first_size if self._first_size > 0.0 else 0.0,
            path=path,
            lookups=self._state.lookups if isinstance(self._state, QueuedLikelihood) else None,
            gram=self._state.gram.use if isinstance(self._state, LinearLikelihood) else None,
        )
        solution = Solution(
            w=path.weights(best.step),
            b=best.b,
            objective=best.objective,
            iterations=steps,
            converged=stopped != "callback",
            history=tuple(Step(point.step, point.objective, math.nan) for point in points),
            report=report,
        )
        check_finite(solution)
        return solution

    def _select(self) -> Steepest:
        """The feature of the next step; where there is none, ``stopped`` says why."""
        state, rules = self._state, self._rules
        sampled = rules.sample is not None and rules.sample < self._p
        steepest = self._largest_sampled() if sampled else state.largest()
        if sampled and self._reason_to_stop(steepest):
            # The sample may have missed the best feature: only all of them can end the run.
            steepest = state.largest()
        self.stopped = self._reason_to_stop(steepest)
        self._last_size = abs(steepest[1])
        return steepest

    def _largest_sampled(self) -> Steepest:
        """The best of a few features: drawn at random, or in turn (hooker2004, section 7)."""
        rules = self._rules
        if rules.lookup == "queue":
            features = self._queue[: rules.sample]
        else:
            features = self._rng.choice(self._p, rules.sample, replace=False, shuffle=False)
        if rules.keep_best and self._features:
            features = np.append(features, self._features[-1])
        if rules.lookup == "queue":
            waiting = np.ones(self._p, dtype=bool)
            waiting[features] = False
            self._queue = np.append(self._queue[waiting[self._queue]], np.unique(features))
        return self._state.largest(features)

    def _reason_to_stop(self, steepest: Steepest) -> str:
        """The rule that forbids this step, or an empty text (section 5.1)."""
        feature, derivative = steepest
        size, rules = abs(derivative), self._rules
        threshold = rules.threshold * (self._first_size if rules.relative else 1.0)
        if size <= STANDS_OUT * self._state.noise or size < threshold:
            return "threshold"
        if self._features and self._features[-1] == feature and derivative * self._sizes[-1] < 0.0:
            return "loop"  # it would undo the last step, the next one would undo it, and so on
        return ""

    def _step(self, steepest: Steepest) -> None:
        """lambda_j += epsilon sign(c_j)."""
        (feature, derivative), rules = steepest, self._rules
        unit = self._state.residual_size if rules.scaled else 1.0
        size = math.copysign(unit, derivative)
        old = float(self.w[feature])
        # Weights are products with a sum of steps, so that as many steps back give exactly zero.
        self._units[feature] += size
        new = rules.epsilon * float(self._units[feature]) * float(self._scaling.factor[feature])
        self.w[feature] = new
        self._nonzero += (new != 0.0) - (old != 0.0)
        if self._held_out is not None:
            self._old_weights.setdefault(feature, old)
        self._state.move(feature, new - old)
        self._features.append(feature)
        self._sizes.append(size)

    def _measure(self) -> _Checkpoint:
        """The objective and the errors now."""
        b, objective, error = self._state.evaluate(self.w)
        validation_error = math.nan
        if self._held_out is not None:
            design, y = self._held_out
            # Their scores without the intercept, z += X change since the last check.
            features = np.array(sorted(self._old_weights), dtype=np.int32)
            changes = self.w[features] - [self._old_weights[j] for j in features.tolist()]
            block_sums(*design.columns, changes[:, None], self._held_out_z[:, None], features)
            self._old_weights.clear()
            validation_error = self._state.held_out(self._held_out_z, b, y)
        step = len(self._features)
        return _Checkpoint(step, objective, error, validation_error, self._nonzero, b)

    def _check(self) -> None:
        """Measure, call back, and apply the rules that depend on what was measured."""
        point, rules = self._measure(), self._rules
        self._checkpoints.append(point)
        if point.validation_error < self._checkpoints[self._best].validation_error:
            self._best = len(self._checkpoints) - 1
        if self._problem.stops(Step(point.step, point.objective, math.nan)):
            self.stopped = "callback"
        elif (
            self._held_out is not None
            and rules.patience is not None
            and point.step - self._checkpoints[self._best].step >= rules.patience
        ):
            self.stopped = "patience"


def _held_out(problem: Problem, rules: StepRules) -> tuple[Design, Floats] | None:
    """The held-out documents, None where there are none; raises where a rule needs them."""
    if problem.validation is None and rules.patience is not None:
        raise UsageError(
            "patience needs held-out documents to measure the error on: give "
            "Problem.validation, or leave patience out."
        )
    if problem.validation is not None and not len(problem.validation[1]):
        raise DataError("validation has no documents to measure the error on: give some.")
    return problem.validation


def _likelihood(problem: Problem, rules: StepRules, scaling: Scaling, center: bool) -> Likelihood:
    """The likelihood that the rules name, at weights of zero; linear as well for squared error."""
    queue = rules.lookup == "queue" and rules.sample is None
    if rules.likelihood == "exponential":
        if queue:
            return QueuedLikelihood(ExponentialScores(problem), problem, scaling, center)
        return ExponentialLikelihood(problem, scaling)
    linear = rules.likelihood == "linear" or isinstance(problem.loss, Squared)
    if queue:
        scores = LossScores(problem.replace(loss="squared") if linear else problem)
        return QueuedLikelihood(scores, problem, scaling, center)
    if linear:
        return LinearLikelihood(problem, scaling, problem.fit_intercept, 1e6 * rules.cache)
    return LossLikelihood(problem, scaling)
