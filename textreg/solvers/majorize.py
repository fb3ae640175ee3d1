"""Overlapping groups by reweighted quadratics, on the engine.

A norm lies below a quadratic that touches it: ||w_g|| <= ||w_g||^2 / (2 s_g) + s_g / 2, equal at
s_g = ||w_g|| (docs/maths.md, M1). With every s_g fixed the penalty is a separable one (M2), and one
Newton step lowers the objective; then s_g follows the new norms. Three things make it quick:

- it comes from above. s starts large, so that norms shrink toward the optimum. On that way
  u_g = price_g w_g / max(s_g, ||w_g||) stays inside its ball (M3), and is dual feasible as soon as
  the inner problem is solved: the bound is good long before the last digits of w are;
- a group that grows all the same does so slowly, by the factor ||w_g|| / s_g a round, so its s is
  moved by that factor once more;
- s -> ||w_g|| is a fixed-point iteration with a few slow directions, which Anderson's extrapolation
  from the last rounds removes (M4).
"""

from __future__ import annotations

import math

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import group_bound, relative_gap
from textreg.solvers.engine import IDLE, Engine
from textreg.solvers.outcome import finish
from textreg.solvers.small_weights import zero_small_weights

ABOVE = 10.0
"""Where every s_g starts: above the norms that text brings."""

WARM, WARM_LEAST = 1.5, 0.1
"""Where s starts beside a given solution: above its norms by this factor, and never below this."""

SMALLEST = 1e-6
"""Least s_g: a group this small is on its way to zero."""

LEAP = 2.0
"""A growing group's s is moved by its growth once more, but at most by this factor a round."""

PASSES, POLISH = 3, 10
"""Rounds of coordinate descent and of conjugate gradients in a step."""

ROUGH = 3
"""Rounds at the start that do without conjugate gradients."""

IN_VAIN, MOST = 1e-3, 8
"""Where a look finds a fall below this share of the tolerance, and s where the norms are, the round
after it takes twice the effort of that after the last, to MOST: it is the gradient, whose error the
bound has whole, that must come closer."""

FIRST_CHECK = 8
"""Rounds before the first look at the gap."""

PATIENCE = 4
"""Rounds by which such a look is put off while the objective falls by more than the tolerance."""

MEMORY = 5
"""Rounds that Anderson's extrapolation looks back."""

WORSE, FORGIVEN = 1e-6, 8
"""Relative rise of the objective, if not the tolerance, at which extrapolation begins anew. After
so many times it waits for more and more rounds: groups that only fade lead it in circles."""

STRIDE = 0.3
"""Most that extrapolation moves the logarithm of any s_g away from the plain round's."""


class Extrapolation:
    """Anderson's method on x -> g(x): the combination of past rounds with the smallest residual.

    Anderson (1965), in the form of Walker & Ni (2011), eq. (2.2).
    """

    def __init__(self) -> None:
        self.points: list[Floats] = []
        self.images: list[Floats] = []
        self._failures = self._wait = 0

    def forget(self) -> None:
        """Begin anew, after a round that made things worse; the more often, the later."""
        if self.points:
            self._failures += 1
            self._wait = MEMORY * max(0, self._failures - FORGIVEN)
        self.points.clear()
        self.images.clear()

    def next(self, point: Floats, image: Floats, importance: Floats) -> Floats:
        """Where to go after ``point`` was mapped to ``image``; both (groups,), logarithms of s."""
        if self._wait:
            self._wait -= 1
            return image
        self.points.append(point)
        self.images.append(image)
        del self.points[:-MEMORY], self.images[:-MEMORY]
        if len(self.points) < MEMORY:
            return image
        residuals = (np.array(self.images) - np.array(self.points)) * importance
        products = residuals @ residuals.T
        size = float(np.trace(products))
        if not size > 0.0:
            return image
        products /= size
        share = np.linalg.solve(products + 1e-10 * np.eye(MEMORY), np.ones(MEMORY))
        mixed = (share / share.sum()) @ np.array(self.images)
        if not np.isfinite(mixed).all():
            return image
        stepped: Floats = np.clip(mixed, image - STRIDE, image + STRIDE)
        return stepped


def majorize(problem: Problem, penalty: GroupNorms) -> Solution:
    """Minimize loss + penalty over overlapping groups, to the relative gap ``problem.tol``."""
    engine = Engine(problem)
    s = np.full(len(penalty.strengths), ABOVE)
    if problem.start is not None:
        s = np.clip(WARM * penalty.norms(engine.w), WARM_LEAST, ABOVE)
    best_w, best_b, best = engine.w.copy(), engine.b, np.inf
    bound, u = -np.inf, np.zeros(len(penalty.indices))
    history: list[Step] = []
    gap, least, next_check = math.inf, math.inf, FIRST_CHECK
    extrapolation = Extrapolation()
    iteration, effort, careful, idle, ended = 0, 1, 1, 0, False

    while gap > problem.tol and iteration < problem.max_iter and not ended:
        iteration += 1
        inner = penalty.majorizer(s)
        active = engine.active(inner, engine.gradient())
        polish = POLISH if iteration > ROUGH else 0
        fall = engine.step(active, inner, passes=PASSES, polish=polish, effort=effort)
        norms = penalty.norms(engine.w)
        value = engine.value + penalty.value(engine.w, norms)
        falling = least - value > problem.tol * value
        effort = 1
        idle = idle + 1 if fall == 0.0 and bool((s <= norms + SMALLEST).all()) else 0
        stuck = idle > IDLE
        due = iteration >= next_check + (PATIENCE if falling else 0)
        if due or stuck or iteration == problem.max_iter:
            w = zero_small_weights(engine, penalty, problem.tol)
            objective = engine.loss_at(w) + penalty.value(w)
            if objective < best:
                best_w, best_b, best = w, engine.b, objective
            start = penalty.duals(penalty.strengths / np.maximum(s, norms), engine.w)
            lower, its_u = group_bound(engine, penalty, start, problem.tol, best)
            if lower > bound:
                bound, u = lower, its_u
            gap = relative_gap(best, bound)
            little = IN_VAIN * problem.tol * value
            settled = float(penalty.strengths @ np.maximum(s - norms, 0.0)) < little
            careful = min(2 * careful, MOST) if settled and fall < little else 1
            effort = careful
            history.append(Step(iteration, best, gap))
            ended = bool(problem.callback and problem.callback(history[-1])) or stuck
            next_check = iteration + min(8, max(2, round(math.log2(max(gap / problem.tol, 1.0)))))
        if value > least * (1.0 + min(WORSE, problem.tol)):
            extrapolation.forget()
        least = min(least, value)
        s = _next(extrapolation, s, norms, penalty.strengths, iteration > FIRST_CHECK)

    solution = Solution(
        w=best_w,
        b=best_b,
        objective=best,
        gap=gap,
        iterations=iteration,
        converged=gap <= problem.tol,
        history=tuple(history),
        group_norms=penalty.copies(best_w, u),
    )
    return finish(problem, solution, "rounds of reweighting", stopped=ended and not stuck)


def _next(
    extrapolation: Extrapolation, s: Floats, norms: Floats, strengths: Floats, extrapolate: bool
) -> Floats:
    """Where the quadratics touch in the next round: at the norms, a growing group's beyond them."""
    plain = np.maximum(norms * np.clip(norms / s, 1.0, LEAP), SMALLEST)
    if extrapolate:
        importance = np.sqrt(strengths * plain)
        plain = np.exp(extrapolation.next(np.log(s), np.log(plain), importance))
    return np.maximum(plain, SMALLEST)
