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
from collections.abc import Callable

import numpy as np

from textreg.losses import intercept_at_zero
from textreg.penalties import Quadratic
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.engine import NOISE, SHORTEST, SUFFICIENT, Engine
from textreg.solvers.incomplete_cholesky import Triangle
from textreg.solvers.outcome import outcome

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
        idle = idle + 1 if newton.step(gradient, share) <= NOISE * objective else 0

    return outcome(
        problem,
        "Newton steps",
        history,
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=iteration,
        converged=converged,
        stopped=stopped,
    )


class NewtonSteps:
    """An engine, the penalty at its weights, and the steps that lower both.

    pull: M w at the engine's weights; whoever moves these changes it too.
    """

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        engine = self.engine = Engine(problem)
        self.penalty = penalty
        self.triangle = penalty.links.cache.get("triangle", lambda: Triangle(penalty.links))
        b = intercept_at_zero(problem)
        nothing = engine.loss.value(np.full_like(engine.z, b), problem.y, problem.weights)
        if not engine.value + penalty.value(engine.w) < nothing:  # also where the start is poor
            engine.restart(np.zeros_like(engine.w), b)
        self.design = problem.design
        self.pull = penalty.product(engine.w)  # M w

    def look(self) -> tuple[Floats, float]:
        """Gradient in w and value of the objective at the present weights."""
        paid = float(self.engine.w @ self.pull)
        return self.engine.gradient() + 2.0 * self.pull, self.engine.value + paid

    def bound(self) -> float:
        """A lower bound of the optimum from the present scores and weights."""
        engine, w = self.engine, self.engine.w
        alpha = dual_scores(engine)
        t = self.design.transposed_product(alpha)
        rest = t - 2.0 * self.pull
        over = float((rest / self.penalty.floor) @ rest) / 4.0
        most = float(t @ w) - float(w @ self.pull) + over
        return dual_value(engine, alpha) - most

    def step(self, gradient: Floats, share: float) -> float:
        """One step, the model solved down to ``share`` of its gradient; the objective's fall."""
        fall, length = self._step(gradient, share)
        if length < SHORT:
            # Far out the loss is nearly straight and its curvature leads astray; a bound does not.
            self.engine.h = self.engine.loss.curvature_bound(self.engine.c)
            fall += self._step(self.look()[0], share)[0]
        return fall

    def _step(self, gradient: Floats, share: float) -> tuple[float, float]:
        """The step for the second derivatives as they stand: the fall, and the share gone of it."""
        engine, h = self.engine, self.engine.h
        p, intercept = len(gradient), float(engine.fit_intercept)
        if h.sum() <= UNDERFLOW * engine.c.sum():
            return 0.0, 0.0
        curvature = self.design.curvature(h)
        penalty, h_sum = self.penalty, float(h.sum())
        inverse = self.triangle.inverse(2.0 * penalty.price, curvature + 2.0 * penalty.l2)

        def product(direction: Floats) -> Floats:
            weighted = h * (self.design.product(direction[:p]) + intercept * direction[p])
            inner = self.design.transposed_product(weighted) + 2.0 * penalty.product(direction[:p])
            return np.append(inner, intercept * weighted.sum())

        def scaled(residual: Floats) -> Floats:
            return np.append(inverse(residual[:p]), residual[p] / h_sum)

        downhill = -np.append(gradient, intercept * engine.r.sum())
        change = conjugate_gradients(product, downhill, scaled, share)
        return self._advance(change[:p], float(change[p]), -float(downhill @ change))

    def _advance(self, change: Floats, change_b: float, slope: float) -> tuple[float, float]:
        """Go along the change while it helps (Armijo); ``slope`` is that of the objective."""
        engine = self.engine
        pull = self.penalty.product(change)
        move = self.design.product(change) + change_b
        linear, square = 2.0 * float(self.pull @ change), float(change @ pull)
        noise = NOISE * (abs(engine.value) + abs(float(engine.w @ self.pull)))
        t = 1.0
        while t > SHORTEST:
            z = engine.z + t * move
            fall = (
                engine.value
                - engine.loss.value(z, engine.y, engine.c)
                - t * linear
                - t * t * square
            )
            if fall >= -SUFFICIENT * t * slope - noise:
                self.pull = self.pull + t * pull
                engine.move_to(engine.w + t * change, engine.b + t * change_b, z)
                return max(fall, 0.0), t
            t *= 0.5
        return 0.0, 0.0


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    target: Floats,
    scaled: Callable[[Floats], Floats],
    share: float,
) -> Floats:
    """x with ``product(x)`` near ``target``: the residual has fallen to ``share`` of it.

    product: a positive semidefinite matrix. scaled: the inverse of a positive definite one near it,
    by whose norm residuals are measured.
    """
    x, residual = np.zeros_like(target), target.copy()
    direction = scaled(residual)
    size = first = float(residual @ direction)
    for _ in range(ROUNDS):
        if size <= share**2 * first:
            break
        image = product(direction)
        bend = float(direction @ image)
        if bend <= 0.0:  # no curvature that way
            break
        x += (size / bend) * direction
        residual -= (size / bend) * image
        change = scaled(residual)
        last, size = size, float(residual @ change)
        direction = change + (size / last) * direction
    return x
