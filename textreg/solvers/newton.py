"""Proximal Newton by coordinate descent: lasso, ridge, elastic net, and no penalty at all.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j (w_j - mu_j)^2

Each round determines the active set, the features that are in the model or would enter it, and
makes a step of the engine over it, or several while far from the optimum. The method is that of
Yuan, Ho & Lin (2012) for the l1 part, with a working set in place of their shrinking, and conjugate
gradients for the nonzero weights.
"""

from __future__ import annotations

import math
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


@checks_overflow
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
    near = _approached(problem, penalty)
    solution, stopped = _newton(near.problem, penalty)
    solution = replace(solution, iterations=near.iterations + solution.iterations)
    return finish(problem, solution, "Newton steps", stopped=stopped or near.stopped)


def merged_newton(problem: Problem, l2: float) -> Solution:
    """The same for loss + l2 ||w||^2, with parallel columns merged.

    A ridge cannot tell them apart, and most features of text are in one.
    """
    merged = merge_parallel_columns(problem)
    small = merged.merge_problem(problem)
    penalty = Separable.constant(small.design.shape[1], l2=l2)
    return merged.expand_solution(newton(small, penalty))


def _approached(problem: Problem, penalty: Separable) -> Approached:
    """A weak l1 penalty, or a weak ridge of all weights, from stronger ones."""
    if penalty.lam.any() or penalty.mu.any() or not penalty.q.all():
        return approach(
            problem,
            lambda part: strongest_l1(part, penalty.lam),
            lambda part, k: _newton(part, penalty.times(k))[0],
        )
    return approach(
        problem,
        lambda part: strongest_ridge(part, penalty.q),
        lambda part, k: _newton(part, Separable(k * penalty.q, penalty.mu, penalty.lam))[0],
    )


def _newton(problem: Problem, penalty: Separable) -> tuple[Solution, bool]:
    """The same from where the problem says; and whether the caller has stopped it."""
    engine = Engine(problem, penalty.value)
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
    smooth = not penalty.lam.any()
    free = bool((penalty.lam + penalty.q == 0.0).any())
    centered = not penalty.mu.any()
    passes, polish = (SMOOTH_PASSES, SMOOTH_POLISH) if smooth else (PASSES, POLISH)
    history: list[Step] = []
    bound, gap, fall = Bound(-np.inf, engine.r), math.inf, math.inf
    scale = problem.largest_gradient_at_zero() if free else 0.0
    iteration, idle, effort, norm = 0, 0, 1, document_norm(problem.design)

    while True:
        engine.optimize_intercept()
        gradient = engine.gradient()
        active = engine.active(penalty, gradient)
        objective = engine.value + penalty.of(active, engine.w[active])
        residual = max(
            violation(engine, penalty, gradient, active), norm * slope_of_intercept(engine)
        )
        if free:
            scale = max(scale, residual)
            gap, converged = math.nan, residual <= problem.tol * scale
        else:
            if centered:
                found = separable_bound(engine, penalty, gradient, active)
            else:
                found = Bound(conjugate_bound(engine, penalty.conjugate), dual_scores(engine))
            bound = max(bound, found, key=value_of)
            gap = relative_gap(objective, bound.value)
            converged = gap <= problem.tol
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        idle = idle + 1 if fall <= NOISE * objective else 0
        if converged or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        for _ in range(STEPS):
            iteration += 1
            before = fall
            fall = engine.step(active, penalty, passes=passes, polish=polish, effort=effort)
            if fall < FAR * objective or iteration >= problem.max_iter:
                break
            engine.optimize_intercept()
        # Near the optimum Newton's method converges fast, unless the model is solved too loosely.
        slow = SLOW * before < fall < NEAR * objective
        effort = min(2 * effort, MOST) if slow else max(effort // 2, 1)

    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=iteration,
        converged=converged,
        history=tuple(history),
        alpha=None if free else bound.alpha,
    )
    return solution, stopped


def violation(engine: Engine, penalty: Separable, gradient: Floats, active: Int32s) -> float:
    """Largest violation of the optimality conditions of the weights.

    gradient: (p,) of the loss. active: the active set that it gives.
    """
    w, lam = engine.w[active], penalty.lam[active]
    smooth = gradient[active] + penalty.q[active] * (w - penalty.mu[active])
    off = np.where(w == 0.0, np.abs(smooth) - lam, np.abs(smooth + lam * np.sign(w)))
    return float(off.max(initial=0.0))
