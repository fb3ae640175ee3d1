"""Newton's method with conjugate gradients, for quadratic penalties that tie weights together.

    min  sum_i c_i l(y_i, x_i w + b) + w.M w,    M = price R'R + l2 I

as the penalties of a graph are (Sandler et al. 2008, eq. (1)). M is never formed: a step needs
products with X, X', R and R' alone. Steps are solved as exactly as the next one can make use of
(Dembo, Eisenstat & Steihaug 1982), preconditioned by a triangle.

For any alpha with sum_i alpha_i = 0, with t = X'alpha and any w,

    sum_i -c_i l*(-alpha_i / c_i) - (t.w - w.M w) - sum_j (t - 2 M w)_j^2 / (4 m_j)

lies below the minimum, since max_w t.w - w.M w is what is subtracted first, and at most the last
term more where w.M w >= sum_j m_j w_j^2: m_j is l2 and what the rows of R with j alone add.
"""

from __future__ import annotations

import math

import numpy as np

from textreg.penalties import Quadratic
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.incomplete_cholesky import IncompleteCholesky
from textreg.solvers.line_search import Advance, backtrack, step_with_fallback
from textreg.solvers.outcome import finish

ROUNDS = 200
"""Most conjugate gradients in a step."""

ROUGH, FINE = 0.3, 1e-3
"""Shares of the gradient that a step may leave: at first, and at least."""

UNDERFLOW = 1e-12
"""Mean curvature of the loss below which it says nothing about where to go."""

SHORT = 0.1
"""Share of a step below which its model is mistrusted."""

IDLE = 3
"""Steps in a row without a visible fall, after which the tolerance is beyond floating point."""


def quadratic(problem: Problem, penalty: Quadratic) -> Solution:
    """Minimize loss + penalty; stops at the relative gap ``problem.tol``.

    Without a ridge there is no bound: the gap is NaN then, and the stop is at a largest gradient of
    ``problem.tol`` times that at the start.
    """
    newton = NewtonSteps(problem, penalty)
    engine, fit_intercept = newton.engine, problem.fit_intercept
    history: list[Step] = []
    bound, gap, first, iteration, idle = -np.inf, math.inf, 0.0, 0, 0
    while True:
        engine.optimize_intercept()
        gradient, objective = newton.look()
        tilt = abs(float(engine.r.sum())) if fit_intercept else 0.0
        residual = max(float(np.abs(gradient).max(initial=0.0)), tilt)
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
    """An engine, the penalty at its weights, and the steps that lower both.

    pull: M w at the engine's weights; whoever moves these changes it too.
    """

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        engine = self.engine = Engine(problem)
        self.penalty = penalty
        self.preconditioner = penalty.links.cache.get(
            "incomplete Cholesky", lambda: IncompleteCholesky(penalty.links)
        )
        b = problem.intercept_at_zero()
        nothing = engine.loss.value(np.full_like(engine.z, b), problem.y, problem.weights)
        if not engine.value + penalty.value(engine.w) < nothing:  # also where the start is poor
            engine.restart(np.zeros_like(engine.w), b)
        self.pull = penalty.product(engine.w)  # M w

    def look(self) -> tuple[Floats, float]:
        """Gradient in w and value of the objective at the present weights."""
        paid = float(self.engine.w @ self.pull)
        return self.engine.gradient() + 2.0 * self.pull, self.engine.value + paid

    def bound(self) -> float:
        """A lower bound of the optimum from the present scores and weights."""
        engine, w = self.engine, self.engine.w
        alpha = dual_scores(engine)
        t = engine.design.transposed_product(alpha)
        rest = t - 2.0 * self.pull
        over = float((rest / self.penalty.floor) @ rest) / 4.0
        most = float(t @ w) - float(w @ self.pull) + over
        return dual_value(engine, alpha) - most

    def step(self, share: float) -> float:
        """One step, the model solved down to ``share`` of its gradient; the objective's fall."""
        return step_with_fallback(
            lambda: self._step(share),
            self.engine.use_curvature_bound,
            failed=lambda advance: advance.length < SHORT,
        )

    def _step(self, share: float) -> Advance:
        """The step for the second derivatives as they stand."""
        engine, h = self.engine, self.engine.h
        if h.sum() <= UNDERFLOW * engine.c.sum():
            return Advance(0.0, 0.0)
        model, (gradient, _) = _NewtonModel(self), self.look()
        residual = -gradient, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        still = Direction(np.zeros(len(gradient)), 0.0, np.zeros(len(h)))
        change = conjugate_gradients(model, residual, still, rounds=ROUNDS, accuracy=share)
        slope = -(float(residual[0] @ change.w) + residual[1] * change.b)
        return self._advance(change.w, change.b, slope)

    def _advance(self, change: Floats, change_b: float, slope: float) -> Advance:
        """Go along the change while it helps; ``slope`` is that of the objective."""
        engine = self.engine
        pull = self.penalty.product(change)
        move = engine.design.product(change) + change_b
        linear, square = 2.0 * float(self.pull @ change), float(change @ pull)
        noise = NOISE * (abs(engine.value) + abs(float(engine.w @ self.pull)))

        def fall_at(length: float) -> float:
            loss = engine.loss.value(engine.z + length * move, engine.y, engine.c)
            return engine.value - loss - length * linear - length * length * square

        advance = backtrack(fall_at, slope, noise)
        if length := advance.length:
            self.pull = self.pull + length * pull
            engine.move_to(
                engine.w + length * change, engine.b + length * change_b, engine.z + length * move
            )
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
