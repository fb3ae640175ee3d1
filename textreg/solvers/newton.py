"""Proximal Newton by coordinate descent: lasso, ridge, elastic net, and no penalty at all.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j w_j^2

Each round takes the features that are in the model or whose gradient draws them in, and makes one step
of the engine over them. The method is that of Yuan, Ho & Lin (2012) for the l1 part, with a working set
in place of their shrinking and conjugate gradients for the weights that stay.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from textreg.errors import ConvergenceWarning
from textreg.losses import intercept_at_zero
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import relative_gap, separable_bound
from textreg.solvers.engine import Engine

PASSES, POLISH = 5, 10
"""Rounds of coordinate descent and of conjugate gradients in a step."""

SMOOTH_PASSES, SMOOTH_POLISH = 1, 60
"""The same where nothing draws weights to zero, and conjugate gradients do the work."""


def newton(problem: Problem, penalty: Separable) -> Solution:
    """Minimise loss + penalty (mu = 0); stops at the relative gap ``problem.tol``.

    Without any price on some feature there is no useful lower bound: the gap is NaN then, and the
    stop is at a largest gradient of ``problem.tol`` times that at zero weights.
    """
    engine = Engine(problem)
    if problem.start is None:
        engine.restart(engine.w, intercept_at_zero(problem))
    smooth = not penalty.lam.any()
    free = bool((penalty.lam + penalty.q == 0.0).any())
    passes, polish = (SMOOTH_PASSES, SMOOTH_POLISH) if smooth else (PASSES, POLISH)
    history: list[Step] = []
    best_bound, gap, scale = -np.inf, math.inf, 0.0
    iteration, done = 0, False

    while True:
        gradient = engine.gradient(engine.features)
        objective = engine.value + penalty.value(engine.w)
        residual = violation(engine, penalty, gradient)
        if free:
            scale = max(scale, residual)
            gap, converged = math.nan, residual <= problem.tol * scale
        else:
            best_bound = max(best_bound, separable_bound(engine, penalty.lam, penalty.q))
            gap = relative_gap(objective, best_bound)
            converged = gap <= problem.tol
        history.append(Step(iteration, objective, gap))
        done = bool(problem.callback and problem.callback(history[-1]))
        if converged or done or iteration >= problem.max_iter:
            break
        iteration += 1
        active = engine.active(penalty, gradient)
        if engine.step(active, penalty, passes=passes, polish=polish) == 0.0:
            break

    if not converged and not done:
        warnings.warn(
            f"stopped after {iteration} Newton steps at a relative gap of {gap:.1e} and a largest "
            f"violation of {residual:.1e}; raise max_iter or the tolerance ({problem.tol:.1e}).",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Solution(
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=iteration,
        converged=converged,
        history=tuple(history),
    )


def violation(engine: Engine, penalty: Separable, gradient: Floats) -> float:
    """Largest violation of the optimality conditions, the intercept's among them.

    gradient: (p,) of the loss.
    """
    pull = gradient + penalty.q * (engine.w - penalty.mu)
    at_zero = np.maximum(np.abs(pull) - penalty.lam, 0.0)
    off_zero = np.abs(pull + penalty.lam * np.sign(engine.w))
    worst = float(np.where(engine.w == 0.0, at_zero, off_zero).max(initial=0.0))
    return max(worst, abs(float(engine.r.sum()))) if engine.problem.fit_intercept else worst
