"""Proximal Newton by coordinate descent: lasso, ridge, elastic net, and no penalty at all.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j (w_j - mu_j)^2

Each round determines the active set, the features that are in the model or would enter it, and
makes a step of the engine over it, or several while far from the optimum. The method is that of
Yuan, Ho & Lin (2012) for the l1 part, with a working set in place of their shrinking, and conjugate
gradients for the nonzero weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.certificate import (
    Bound,
    conjugate_bound,
    dual_scores,
    relative_gap,
    separable_bound,
    value_of,
)
from textreg.solvers.engine import IDLE, NOISE, Engine, document_norm, slope_of_intercept
from textreg.solvers.outcome import (
    Approached,
    approach,
    checks_overflow,
    finish,
    strongest_l1,
    strongest_ridge,
)
from textreg.solvers.parallel_columns import merge_parallel_columns

# Most rounds of coordinate descent and iterations of conjugate gradients in a step.
PASSES, POLISH = 5, 10

# The same without an l1 penalty, where conjugate gradients do most of the work.
SMOOTH_PASSES, SMOOTH_POLISH = 1, 60

# Most steps over one active set, as long as each lowers the objective by this share.
STEPS, FAR = 4, 0.03

# A fall below NEAR of the objective and above SLOW of the last one doubles the effort, to MOST.
NEAR, SLOW, MOST = 1e-3, 0.03, 8


def newton(problem: Problem, penalty: Separable) -> Solution:
    """Minimize loss + penalty for a penalty on single weights.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most steps.
    penalty : Separable
        l1 and quadratic penalties of every weight.

    Returns
    -------
    Solution
        If some weight has no penalty there is no useful lower bound: the gap is NaN, and the solver
        stops when the largest violation of the optimality conditions is ``tol`` times the larger of
        the gradient at zero weights and the largest violation seen.

    References
    ----------
    yuan2012; friedman2010 for coordinate descent.
    """
    return newtons([problem], penalty)[0]


@checks_overflow
def newtons(problems: Sequence[Problem], penalty: Separable) -> list[Solution]:
    """The same for problems that share a matrix: their gradients are one product with it.

    Parameters
    ----------
    problems : sequence of Problem
        As of :func:`newton`.
    penalty : Separable
        That of each.

    Returns
    -------
    list of Solution
        One for each, the same with the others and without.
    """
    near = [_approached(problem, penalty) for problem in problems]
    fits = _fitted([one.problem for one in near], penalty)
    solutions = []
    for problem, before, fit in zip(problems, near, fits, strict=True):
        found = fit.solution()
        found = replace(found, iterations=before.iterations + found.iterations)
        stopped = fit.stopped or before.stopped
        solutions.append(finish(problem, found, "Newton steps", stopped=stopped))
    return solutions


def unpenalized(problem: Problem) -> Solution:
    """The same without a penalty, with parallel columns merged: the loss cannot tell them apart."""

    def solve(some: Sequence[Problem]) -> list[Solution]:
        return newtons(some, Separable.constant(some[0].design.shape[1]))

    return merge_parallel_columns(problem).solve([problem], solve)[0]


def _approached(problem: Problem, penalty: Separable) -> Approached:
    """A weak l1 penalty, or a weak ridge of all weights, from stronger ones."""

    def fitted(part: Problem, stronger: Separable) -> Solution:
        return _fitted([part], stronger)[0].solution()

    if penalty.lam.any() or penalty.mu.any() or not penalty.q.all():
        return approach(
            problem,
            lambda part: strongest_l1(part, penalty.lam),
            lambda part, k: fitted(part, penalty.times(k)),
        )
    return approach(
        problem,
        lambda part: strongest_ridge(part, penalty.q),
        lambda part, k: fitted(part, Separable(k * penalty.q, penalty.mu, penalty.lam)),
    )


def _fitted(problems: Sequence[Problem], penalty: Separable) -> list[NewtonFit]:
    """The fits of problems from where they say, after their last step."""
    fits = [NewtonFit(problem, penalty) for problem in problems]
    while left := [fit for fit in fits if not fit.ended]:
        r = np.stack([fit.engine.r for fit in left], axis=1)
        gradients = left[0].engine.design.transposed_product(r)
        for fit, gradient in zip(left, gradients.T, strict=True):
            fit.step(np.ascontiguousarray(gradient))
    return fits


class NewtonFit:
    """The fit of one label, its intercept at its optimum.

    ended, stopped: whether no step is next, and whether the caller wanted that.
    """

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self._problem, self._penalty = problem, penalty
        engine = self.engine = Engine(problem, penalty.value)
        if problem.start is None:
            engine.restart(engine.w, problem.intercept_at_zero())
        engine.optimize_intercept()
        self._free = bool((penalty.lam + penalty.q == 0.0).any())
        self._scale = problem.largest_gradient_at_zero() if self._free else 0.0
        self._norm = document_norm(problem.design)
        self._history, self._bound = list[Step](), Bound(-np.inf, engine.r)
        self._residual, self._fall, self._effort = 0.0, math.inf, 1
        self._iteration = self._idle = 0
        self.ended = self.stopped = self._converged = False

    def step(self, gradient: Floats) -> None:
        """Look at the gap, and take the next steps. gradient: (p,) that of the loss."""
        problem, penalty, engine = self._problem, self._penalty, self.engine
        active = engine.active(penalty, gradient)
        objective = engine.value + penalty.of(active, engine.w[active])
        self._residual = max(
            violation(engine, penalty, gradient, active), self._norm * slope_of_intercept(engine)
        )
        gap = self._gap(objective, gradient, active)
        self._history.append(Step(self._iteration, objective, gap))
        self.stopped = bool(problem.callback and problem.callback(self._history[-1]))
        self._idle = self._idle + 1 if self._fall <= NOISE * objective else 0
        over = self._iteration >= problem.max_iter or self._idle > IDLE
        self.ended = self._converged or self.stopped or over
        if not self.ended:
            self._descend(active, objective)

    def _gap(self, objective: float, gradient: Floats, active: Int32s) -> float:
        """The relative gap, NaN where there is no bound; and whether the fit has converged."""
        problem, penalty, engine = self._problem, self._penalty, self.engine
        if self._free:
            self._scale = max(self._scale, self._residual)
            self._converged = self._residual <= problem.tol * self._scale
            return math.nan
        if penalty.mu.any():
            found = Bound(conjugate_bound(engine, penalty.conjugate), dual_scores(engine))
        else:
            found = separable_bound(engine, penalty, gradient, active)
        self._bound = max(self._bound, found, key=value_of)
        gap = relative_gap(objective, self._bound.value)
        self._converged = gap <= problem.tol
        return gap

    def _descend(self, active: Int32s, objective: float) -> None:
        """Some steps over an active set."""
        engine, penalty, most = self.engine, self._penalty, self._problem.max_iter
        smooth = not penalty.lam.any()
        passes, polish = (SMOOTH_PASSES, SMOOTH_POLISH) if smooth else (PASSES, POLISH)
        for _ in range(STEPS):
            self._iteration += 1
            before = self._fall
            fall = self._fall = engine.step(
                active, penalty, passes=passes, polish=polish, effort=self._effort
            )
            engine.optimize_intercept()
            if fall < FAR * objective or self._iteration >= most:
                break
        # Near the optimum Newton's method converges fast, unless the model is solved too loosely.
        slow = SLOW * before < fall < NEAR * objective
        self._effort = min(2 * self._effort, MOST) if slow else max(self._effort // 2, 1)

    def solution(self) -> Solution:
        """What the steps have come to."""
        end = self._history[-1]
        return Solution(
            w=self.engine.w,
            b=self.engine.b,
            objective=end.objective,
            gap=end.gap,
            residual=self._residual,
            iterations=self._iteration,
            converged=self._converged,
            history=tuple(self._history),
            alpha=None if self._free else self._bound.alpha,
        )


def violation(engine: Engine, penalty: Separable, gradient: Floats, active: Int32s) -> float:
    """Largest violation of the optimality conditions of the weights.

    gradient: (p,) of the loss. active: the active set that it gives.
    """
    w, lam = engine.w[active], penalty.lam[active]
    smooth = gradient[active] + penalty.q[active] * (w - penalty.mu[active])
    off = np.where(w == 0.0, np.abs(smooth) - lam, np.abs(smooth + lam * np.sign(w)))
    return float(off.max(initial=0.0))
