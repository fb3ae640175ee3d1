"""Overlapping groups by reweighted quadratics, on the engine.

A norm lies below a quadratic that touches it: ||w_g|| <= ||w_g||^2 / (2 s_g) + s_g / 2, equal at
s_g = ||w_g|| (docs/maths.md, M1). With every s_g fixed the penalty is a separable one, and one Newton step
lowers the objective; then s_g follows the new norms. Two things make it quick:

- it comes from above. s starts large, so that norms shrink towards the optimum. On that way
  u_g = price_g w_g / max(s_g, ||w_g||) stays inside its ball, and is dual feasible as soon as the
  inner problem is solved: the bound is good long before the last digits of w are;
- a group that grows all the same does so slowly, by the factor ||w_g|| / s_g a round, so its s is moved
  further by a power of that factor.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from textreg.errors import ConvergenceWarning
from textreg.penalties import GroupNorms
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import group_bound, relative_gap
from textreg.solvers.engine import Engine

ABOVE = 10.0
"""Where every s_g starts: above the norms that text brings."""

SMALLEST = 1e-6
"""Least s_g: a group this small is on its way to zero."""

OVERSHOOT = 2.0
"""A growing group's s is moved by this power of its growth ..."""

LEAP = 2.0
"""... but at most by this factor a round."""

PASSES, POLISH = 3, 10
"""Rounds of coordinate descent and of conjugate gradients in a step."""

ROUGH = 3
"""Rounds at the start that do without conjugate gradients."""

FIRST_CHECK = 8
"""Rounds before the first look at the gap."""


def majorize(problem: Problem, penalty: GroupNorms) -> Solution:
    """Minimise loss + penalty over overlapping groups; stops at the relative gap ``problem.tol``."""
    engine = Engine(problem)
    s = np.full(len(penalty.price), ABOVE)
    best_w, best_b, best = engine.w.copy(), engine.b, np.inf
    bound, u = -np.inf, np.zeros(len(penalty.indices))
    history: list[Step] = []
    next_check = FIRST_CHECK
    gap, iteration, stopped = math.inf, 0, False

    while gap > problem.tol and iteration < problem.max_iter and not stopped:
        iteration += 1
        inner = penalty.majorizer(s)
        active = engine.active(inner, engine.gradient(engine.features))
        polish = POLISH if iteration > ROUGH else 0
        fall = engine.step(active, inner, passes=PASSES, polish=polish)
        norms = penalty.norms(engine.w)
        stuck = fall == 0.0 and bool((s <= norms + SMALLEST).all())
        if iteration >= next_check or iteration == problem.max_iter or stuck:
            w = without_dust(engine, penalty, problem.tol)
            objective = engine.loss_at(w) + penalty.value(w)
            if objective < best:
                best_w, best_b, best = w, engine.b, objective
            rates = penalty.price / np.maximum(s, norms)
            lower, its_u = group_bound(
                engine, penalty, penalty.duals(rates, engine.w), problem.tol
            )
            if lower > bound:
                bound, u = lower, its_u
            gap = relative_gap(best, bound)
            history.append(Step(iteration, best, gap))
            stopped = stuck or bool(problem.callback and problem.callback(history[-1]))
            next_check = iteration + min(8, max(2, round(math.log2(max(gap / problem.tol, 1.0)))))
        growth = norms / s
        s = np.where(growth > 1.0, norms * np.minimum(growth**OVERSHOOT, LEAP), norms)
        s = np.maximum(s, SMALLEST)

    converged = gap <= problem.tol
    if not converged and not stopped:
        warnings.warn(
            f"the sentence regularizer stopped after {iteration} rounds at a relative gap of "
            f"{gap:.1e}, above the tolerance of {problem.tol:.1e}; raise max_iter or the tolerance.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Solution(
        w=best_w,
        b=best_b,
        objective=best,
        gap=gap,
        iterations=iteration,
        converged=converged,
        history=tuple(history),
        group_norms=penalty.copies(best_w, u),
    )


def without_dust(engine: Engine, penalty: GroupNorms, tol: float) -> Floats:
    """The present weights, with those set to zero that are only on their way there.

    A weight is dust when even the gradient of everything could not make up a tenth of ``tol`` for it.
    """
    w = engine.w
    dust = np.abs(w) < 10.0 * SMALLEST
    if not dust.any():
        return w.copy()
    clean = np.where(dust, 0.0, w)
    objective = engine.value + penalty.value(w)
    if engine.loss_at(clean) + penalty.value(clean) <= objective * (1.0 + 0.1 * tol):
        return clean
    return w.copy()
