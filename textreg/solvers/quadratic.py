"""Newton's method under a quadratic penalty of linked weights.

An incomplete Cholesky factor of a graph's quadratic form: a preconditioner.

The links of words make chains: a rare word is linked to a few others, and these to frequent ones.
With a diagonal preconditioner, conjugate gradients carry information along a chain one link per
iteration. A pass through a triangular factor carries it all the way.

Newton's method with conjugate gradients, for quadratic penalties that tie weights together.

    min  sum_i c_i l(y_i, x_i w + b) + w.M w,    M = strength R'R + l2 I

as the penalties of a graph are (sandler2008, eq. (1)). M is never formed: a step needs products
with X, X', R and R' alone. The equations of a step are solved only as exactly as the next step can
make use of (dembo1982), preconditioned by an incomplete Cholesky factor.

For any alpha with sum_i alpha_i = 0, with t = X'alpha and any w,

    sum_i -c_i l*(-alpha_i / c_i) - (t.w - w.M w) - sum_j (t - 2 M w)_j^2 / (4 m_j)

is a lower bound of the minimum. For sup_v t.v - v.M v, the conjugate of the penalty, is at most the
sum of the last two terms if v.M v >= sum_j m_j v_j^2: expand it at w and bound the quadratic part.
m_j is l2 and what rows of R add that hold feature j alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from textreg._core.cholesky import solve_normal
from textreg.penalties import Links, Quadratic
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.engine import (
    NOISE,
    Engine,
    Parabola,
    document_norm,
    go_along,
    slope_of_intercept,
    smooth_step,
)
from textreg.solvers.linear_algebra import Advance, Direction, conjugate_gradients
from textreg.solvers.outcome import checks_overflow, finish


class IncompleteCholesky:
    """Upper triangular T with T'T near A = strength R'R + diag(d), for any strength and d.

    Parameters
    ----------
    links : Links
        R, over features and virtual features.

    Notes
    -----
    Variables are ordered by the number of rows of R they occur in, virtual features last. The
    pivot of a row r of R is its largest entry in absolute value, the first of these in that order;
    entries before the pivot are dropped. With U the part of sum_k r_k,pivot r_k to the right of the
    diagonal, and D the diagonal of A,

        T = D^(-1/2) (D + strength U)        (docs/networks.md, N4)

    Where every row of R holds a pair of linked features, R'R is a Laplacian and A = D + U' + U, so
    T'T = (D + U') D^-1 (D + U) is the symmetric Gauss-Seidel preconditioner. Where a row holds a
    feature with all its neighbors, T is most of R itself.
    """

    def __init__(self, links: Links) -> None:
        from scipy.sparse import csr_array

        rows, self.p = links.rows, links.p
        size = rows.shape[1]
        variables = np.arange(size)
        occurrences = np.bincount(rows.indices, minlength=size)
        self._order = np.lexsort((variables, occurrences, variables >= self.p))
        position = np.empty_like(variables)
        position[self._order] = variables
        column, value = position[rows.indices], rows.data
        self._squares = np.bincount(column, value**2, size)

        nonempty = np.flatnonzero(np.diff(rows.indptr))
        begin, length = rows.indptr[nonempty], np.diff(rows.indptr)[nonempty]
        largest = np.repeat(np.maximum.reduceat(np.abs(value), begin), length)
        candidates = np.where(np.abs(value) == largest, column, size)
        pivot = np.repeat(np.minimum.reduceat(candidates, begin), length)
        factor = np.repeat(value[column == pivot], length)
        right = column > pivot
        # Zeros on the diagonal reserve the first entry of every row for it.
        entries = np.append(np.zeros(size), (factor * value)[right])
        where = np.append(variables, pivot[right]), np.append(variables, column[right])
        U = csr_array((entries, where), shape=(size, size))
        U.sum_duplicates()
        self._indptr, self._indices = U.indptr.astype(np.int64), U.indices.astype(np.int32)
        self._entries, self._length = U.data, np.diff(U.indptr)

    def inverse(self, strength: float, d: Floats) -> Callable[[Floats], Floats]:
        """Multiplication of a vector (p,) by (T'T)^-1; d: (p,), 0 or more."""
        diagonal = self._ordered(d) + strength * self._squares
        diagonal[diagonal <= 0.0] = 1.0  # a variable in no row and without curvature
        root = np.sqrt(diagonal)
        data = strength * self._entries / np.repeat(root, self._length)
        data[self._indptr[:-1]] = root

        def multiply(values: Floats) -> Floats:
            x = self._ordered(values)
            solve_normal(self._indptr, self._indices, data, x)
            solved = np.empty_like(x)
            solved[self._order] = x
            return solved[: self.p]

        return multiply

    def _ordered(self, values: Floats) -> Floats:
        """Values of the features (p,) in the order of the variables.

        Virtual features get zeros: they are at their optimum, so their gradient is zero.
        """
        padded = np.zeros(len(self._order))
        padded[: self.p] = values
        return padded[self._order]


# Most iterations of conjugate gradients in a step.
ROUNDS = 200

# Largest and smallest share of the gradient that a step may leave.
ROUGH, FINE = 0.3, 1e-3

# Steps in a row without progress, after which the tolerance is beyond floating point.
IDLE = 3


@checks_overflow
def quadratic(problem: Problem, penalty: Quadratic) -> Solution:
    """Minimize loss + penalty for a quadratic penalty.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at.
    penalty : Quadratic
        w.M w.

    Returns
    -------
    Solution
        Without a ridge there is no lower bound: the gap is NaN, and the solver stops when the
        largest entry of the gradient is ``tol`` times the largest at the start.

    References
    ----------
    sandler2008; dembo1982, for the accuracy of a step.
    """
    newton = NewtonSteps(problem, penalty)
    engine, norm = newton.engine, document_norm(problem.design)
    history: list[Step] = []
    bound, gap, first, iteration, idle = -np.inf, math.inf, 0.0, 0, 0
    while True:
        engine.optimize_intercept()
        gradient, objective = newton.gradient_and_objective()
        slope_b = slope_of_intercept(engine)
        residual = max(float(np.abs(gradient).max(initial=0.0)), norm * slope_b)
        first = max(first, residual)
        if penalty.l2 > 0.0:
            bound = max(bound, newton.bound())
            gap = relative_gap(objective, bound)
            converged = gap <= problem.tol
        else:
            gap, converged = math.nan, residual <= problem.tol * first
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if converged or stopped or iteration >= problem.max_iter or idle >= IDLE:
            break
        iteration += 1
        share = min(ROUGH, max(FINE, math.sqrt(residual / first)))
        idle = idle + 1 if newton.step(share) <= NOISE * objective else 0

    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=iteration,
        converged=converged,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


class NewtonSteps:
    """An engine, the penalty at its weights, and steps that lower the sum of both.

    product: M w at the engine's weights w. Code that moves these must update it.
    """

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        engine = self.engine = Engine(problem, penalty.value)
        self.penalty = penalty
        self.preconditioner = penalty.links.cache.get(
            "incomplete Cholesky", lambda: IncompleteCholesky(penalty.links)
        )
        if problem.start is None:
            engine.restart(engine.w, problem.intercept_at_zero())
        self.product = penalty.product(engine.w)

    def gradient_and_objective(self) -> tuple[Floats, float]:
        """Both at the present weights; the gradient (p,) is that in w."""
        penalty = max(float(self.engine.w @ self.product), 0.0)  # below it by rounding alone
        return self.engine.gradient() + 2.0 * self.product, self.engine.value + penalty

    def bound(self) -> float:
        """A lower bound of the optimum from the present scores and weights."""
        engine, w = self.engine, self.engine.w
        alpha = dual_scores(engine)
        t = engine.design.transposed_product(alpha)
        rest = t - 2.0 * self.product
        excess = float((rest / self.penalty.floor) @ rest) / 4.0
        conjugate = float(t @ w) - float(w @ self.product) + excess  # an upper bound of it
        return dual_value(engine, alpha) - conjugate

    def step(self, share: float) -> float:
        """One step, the model solved down to ``share`` of its gradient; the objective's fall."""
        return smooth_step(self.engine, lambda: self.engine.bent(lambda: self._step(share)))

    def _step(self, share: float) -> Advance:
        """The step for the second derivatives as they stand."""
        engine = self.engine
        model, (gradient, _) = _NewtonModel(self), self.gradient_and_objective()
        residual = -gradient, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        zero = Direction(np.zeros(len(gradient)), 0.0, np.zeros(len(engine.z)))
        change = conjugate_gradients(model, residual, zero, rounds=ROUNDS, accuracy=share)
        slope = -(float(residual[0] @ change.w) + residual[1] * change.b)
        return self._advance(change.w, change.b, slope)

    def _advance(self, change: Floats, change_b: float, slope: float) -> Advance:
        """Go along the change while it helps; ``slope`` is that of the objective."""
        engine, product = self.engine, self.penalty.product(change)
        penalty = Parabola(
            value=float(engine.w @ self.product),
            linear=2.0 * float(self.product @ change),
            square=float(change @ product),
        )
        move = engine.design.product(change) + change_b
        advance = go_along(engine, Direction(change, change_b, move), slope, penalty)
        if advance.length:
            self.product = self.product + advance.length * product
        return advance


class _NewtonModel:
    """The Hessian of loss and penalty at the present weights, and its preconditioner."""

    def __init__(self, newton: NewtonSteps) -> None:
        engine, penalty = newton.engine, newton.penalty
        self._design, self._penalty, self._h = engine.design, penalty, engine.h
        self._intercept, self._h_sum = float(engine.fit_intercept), float(engine.h.sum())
        diagonal = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        self._inverse = newton.preconditioner.inverse(2.0 * penalty.strength, diagonal)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        z = self._design.product(w) + self._intercept * b
        weighted = self._h * z
        product = self._design.transposed_product(weighted) + 2.0 * self._penalty.product(w)
        return product, self._intercept * float(weighted.sum()), z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """By the incomplete Cholesky factor of the weights, and the curvature of the intercept."""
        return self._inverse(w), b / self._h_sum
