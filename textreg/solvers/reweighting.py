"""Groups by rounds of reweighting, each of which is a ridge regression.

Overlapping groups by reweighted quadratics, on the engine.

A quadratic lies above a norm and touches it: ||w_g|| <= ||w_g||^2 / (2 s_g) + s_g / 2, with
equality at s_g = ||w_g|| (docs/maths.md, M1). With every s_g fixed the penalty is separable (M2),
and one Newton step lowers the objective; then s_g is set to the new norms. Three things make this
majorization-minimization fast:

- s starts large, so that norms shrink toward the optimum. On the way u_g = lambda_g w_g /
  max(s_g, ||w_g||) stays inside its ball (M3), and it is dual feasible as soon as the inner problem
  is solved: the bound is tight long before w is;
- a group that grows nevertheless grows slowly, by the factor ||w_g|| / s_g per round, so its s is
  multiplied by that factor once more;
- s -> ||w_g|| is a fixed-point iteration with a few slow directions, which Anderson acceleration
  from the last rounds removes (M4).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from textreg.penalties import GroupNorms, Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import (
    Bound,
    DualPoint,
    EngineDual,
    group_bound,
    relative_gap,
    value_of,
)
from textreg.solvers.state import CG_ROUNDS, IDLE, MOST_EFFORT, PASSES, Engine, has_kinks

# Weights below this, in the problem's unit of weights, may be set to zero.
SPARSE = 2e-5

# Where the loss has kinks, and there is l1, a step is short and another one follows: so many at
# most, until one falls by less than this share of all before; each is finer by this factor.
SHORT_STEPS, ENOUGH, FINER = 10, 0.1, 3


class VectorFit:
    """The fit of one weight vector: where a solver for groups stands, and how it moves on.

    unit: that of weights, as in :class:`.state.Scales`.
    """

    def __init__(self, engine: Engine, penalty: GroupNorms, unit: float) -> None:
        self.engine, self._penalty, self.unit = engine, penalty, unit

    @property
    def w(self) -> Floats:
        """Weights (p,)."""
        return self.engine.w

    def improve(self, inner: Separable, effort: int) -> float:
        """Lower the loss and the penalty ``inner`` by a step; returns the decrease of their sum.

        effort: as in :meth:`.state.Engine.step`.
        """
        engine = self.engine
        steps, finer = (
            (SHORT_STEPS, FINER) if has_kinks(engine.loss) and inner.lam.any() else (1, 1)
        )
        passes, cg_rounds, total = finer * PASSES, finer * CG_ROUNDS, 0.0
        for _ in range(steps):
            active = engine.active(inner, engine.gradient())
            decrease = engine.step(active, inner, passes=passes, cg_rounds=cg_rounds, effort=effort)
            total += decrease
            if decrease <= ENOUGH * total:
                break
        return total

    def intercept(self) -> Any:
        """The intercept, or a copy of those of all classes."""
        return self.engine.b

    def size(self) -> Floats:
        """(p,) |w_j|."""
        return np.abs(self.engine.w)

    def value(self, norms: Floats | None = None) -> float:
        """The objective at the present weights, whose groups have these norms."""
        return self.engine.value + self._penalty.value(self.engine.w, norms)

    def value_at(self, w: Floats) -> float:
        """The objective at other weights, the intercept unchanged."""
        return self.engine.loss_at(w) + self._penalty.value(w)

    def duals(self, rates: Floats, out: Floats) -> None:
        """Dual variables of the groups, ragged: rates_g w_g; written to ``out``."""
        self._penalty.duals(rates, self.engine.w, out)

    def dual(self) -> DualPoint:
        """Dual variables of the loss at the present weights."""
        return EngineDual(self.engine, self._penalty.lam)


def rounded(fit: VectorFit, objective: float, tol: float) -> tuple[Floats, float]:
    """A copy of the weights, small ones set to zero; and its objective.

    If that raised their ``objective`` by a relative ``tol`` / 10 or more, they stay as they are.
    """
    w = fit.w
    sparse: Floats = np.where(np.abs(w) < SPARSE * fit.unit, 0.0, w)
    if np.array_equal(sparse, w):
        return sparse, objective
    value = fit.value_at(sparse)
    return (sparse, value) if value <= objective * (1.0 + 0.1 * tol) else (w.copy(), objective)


# Where every s_g starts, in the problem's unit of weights: above the norms of models of text.
S_START = 5.0

# With a given start, s starts at this multiple of its norms, but not below this many units.
S_WARM, S_WARM_LEAST = 1.5, 0.05

# Smallest s_g, in the same unit: a group with a smaller norm is approaching zero.
S_LEAST = 5e-7

# Largest extra factor of s for a growing group in a round.
LARGEST_GROWTH = 2.0

# When a check finds a decrease below STALLED times the tolerance, and s at the norms, the effort of
# the next round doubles: the objective has converged, but the bound still suffers from the error of
# the gradient, which is of first order.
STALLED = 1e-3

# Rounds after which one whose decrease is above SLOW of the last one doubles the effort of the
# next, and any other halves it: features that are alike take turns slowly.
LONG, SLOW = 32, 0.5

# Rounds before the first check of the gap, and where they begin near the optimum.
FIRST_CHECK, LATER_CHECK = 8, 4

# Rounds that Anderson acceleration uses.
MEMORY = 5

# Relative rise of the objective, or the tolerance if smaller, at which acceleration restarts.
WORSE = 1e-6

# What iterations are called.
UNIT = "rounds of reweighting"

# Largest change of the logarithm of any s_g by acceleration.
STRIDE = 0.3


class AndersonAcceleration:
    """Acceleration of x -> g(x): the affine combination of past rounds of smallest residual.

    Anderson (1965), in the form of Walker & Ni (2011), eq. (2.2).
    """

    def __init__(self) -> None:
        self.points: list[Floats] = []
        self.images: list[Floats] = []

    def next(self, point: Floats, image: Floats, importance: Floats) -> Floats:
        """The next point after ``point`` was mapped to ``image`` (groups,), logarithms of s."""
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


class Reweighted(NamedTuple):
    """How a run of :func:`reweight` ended.

    w, b, objective: the best weights and intercepts, and their objective. u: ragged, the dual
    variables of the groups at the last check. s: where the next round would begin. alpha, used:
    dual variables of the loss that give the gap, and what goes with them of groups. ended: whether
    the caller stopped it. The others are as in a Solution.
    """

    w: Floats
    b: Any
    objective: float
    gap: float
    iterations: int
    history: tuple[Step, ...]
    u: Floats
    s: Floats
    alpha: Floats
    used: Floats
    ended: bool

    def solution(
        self, problem: Problem, group_norms: Floats, group_room: Floats | None = None
    ) -> Solution:
        """The solution of one weight vector.

        group_norms: those of the copies of the groups. group_room: as in a Solution.
        """
        return Solution(
            w=self.w,
            b=self.b,
            objective=self.objective,
            gap=self.gap,
            iterations=self.iterations,
            converged=self.gap <= problem.tol,
            history=self.history,
            group_norms=group_norms,
            alpha=self.alpha,
            group_room=group_room,
        )


def touching_points(penalty: GroupNorms, fit: VectorFit, *, warm: bool) -> Floats:
    """Where s starts: above the norms of the fit's weights, if it is ``warm``, at a given start."""
    if not warm:
        return np.full(len(penalty.strengths), S_START * fit.unit)
    norms = penalty.norms(fit.size())
    return np.clip(S_WARM * norms, S_WARM_LEAST * fit.unit, S_START * fit.unit)


def reweight(
    problem: Problem,
    penalty: GroupNorms,
    fit: VectorFit,
    s: Floats,
    first_check: int = FIRST_CHECK,
) -> Reweighted:
    """The rounds of reweighting, from where ``fit`` stands, and from touching points s (groups,).

    problem: for its options. first_check: rounds before the first check of the gap.
    """
    best_w, best_b, best = fit.w.copy(), fit.intercept(), np.inf
    bound, u = Bound(-np.inf, np.empty(0)), np.zeros(len(penalty.indices))
    history: list[Step] = []
    gap, least, next_check = math.inf, math.inf, first_check
    acceleration = AndersonAcceleration()
    iteration, effort, next_effort, idle, ended, stuck = 0, 1, 1, 0, False, False
    lowest = S_LEAST * fit.unit
    last_decrease, careful = math.inf, 1

    while not gap <= problem.tol and iteration < problem.max_iter and not ended and not stuck:
        iteration += 1
        u = np.empty(0)  # between checks: a number for each entry of the groups takes much memory
        inner = penalty.majorizer(s)
        decrease = fit.improve(inner, effort)
        del inner
        size = fit.size()
        norms = penalty.norms(size)
        value = fit.value(norms)
        slow = iteration > LONG and decrease > SLOW * last_decrease
        last_decrease = decrease
        effort = careful = min(2 * careful, MOST_EFFORT) if slow else max(careful // 2, 1)
        idle = idle + 1 if decrease == 0.0 and bool((s <= norms + lowest).all()) else 0
        stuck = idle > IDLE
        if iteration >= next_check or stuck or iteration == problem.max_iter:
            w, objective = rounded(fit, value, problem.tol)
            if objective < best:
                best_w, best_b, best = w, fit.intercept(), objective
            u = np.empty(len(penalty.indices))
            fit.duals(penalty.strengths / np.maximum(s, norms), u)
            latest = group_bound(fit.dual(), penalty, size, u, best, problem.tol)
            bound = max(bound, latest, key=value_of)
            gap = relative_gap(best, bound.value)
            negligible = STALLED * problem.tol * value
            at_norms = float(penalty.strengths @ np.maximum(s - norms, 0.0)) < negligible
            stalled = at_norms and decrease < negligible
            next_effort = min(2 * next_effort, MOST_EFFORT) if stalled else 1
            effort = max(careful, next_effort)
            history.append(Step(iteration, best, gap))
            ended = problem.stops(history[-1])
            next_check = iteration + min(
                8, max(2, round(math.log2(min(max(gap / problem.tol, 1.0), 256.0))))
            )
        if value > least * (1.0 + min(WORSE, problem.tol)):
            acceleration = AndersonAcceleration()  # what it knows led to a higher objective
        least = min(least, value)
        if iteration > FIRST_CHECK:
            s = _accelerated(acceleration, s, norms, penalty, lowest)
        else:
            s = grown(s, norms, lowest)

    steps = tuple(history)
    return Reweighted(
        best_w, best_b, best, gap, iteration, steps, u, s, bound.alpha, bound.used, ended
    )


def continued(
    problem: Problem, penalty: GroupNorms, fit: VectorFit, after_sweeps: Reweighted
) -> Reweighted:
    """The rounds after sweeps, and both together: that with the better certificate.

    problem: for its options, which hold for both.
    """
    history, before = list(after_sweeps.history), after_sweeps.iterations

    def callback(step: Step) -> bool:
        history.append(step._replace(iteration=before + step.iteration))
        return problem.stops(history[-1])

    options = problem.replace(callback=callback, max_iter=problem.max_iter - before)
    rounds = reweight(options, penalty, fit, after_sweeps.s, LATER_CHECK if before else FIRST_CHECK)
    best = after_sweeps if after_sweeps.gap < rounds.gap else rounds
    iterations, ended = before + rounds.iterations, rounds.ended
    return best._replace(iterations=iterations, history=tuple(history), ended=ended)


def grown(s: Floats, norms: Floats, lowest: float) -> Floats:
    """The norms, or more for a group that is larger than s, and at least ``lowest``."""
    following: Floats = np.maximum(norms * np.clip(norms / s, 1.0, LARGEST_GROWTH), lowest)
    return following


def _accelerated(
    acceleration: AndersonAcceleration, s: Floats, norms: Floats, penalty: GroupNorms, lowest: float
) -> Floats:
    """The s of the next round: what rounds before make of :func:`grown`."""
    following = grown(s, norms, lowest)
    # The logarithms of large groups count most (M4).
    importance = np.sqrt(penalty.strengths * following)
    following = np.exp(acceleration.next(np.log(s), np.log(following), importance))
    return np.maximum(following, lowest)
