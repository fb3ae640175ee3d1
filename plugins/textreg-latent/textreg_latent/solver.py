"""The latent group lasso over the groups that have a part (docs/maths.md, J2 to J6).

Of all groups, of which text has hundreds of thousands, few have a part where the strength is large.
The problem over those and their features is small; one product with the whole matrix shows which
others would lower the objective, and gives a lower bound for all. On the small problem there are
two kinds of steps:

- reweighting (J2): with eta_g = ||v_g|| / lambda_g fixed the penalty is quadratic in w, one step of
  the engine lowers the objective, and the parts follow. It starts ahead of the last point
  (beck2009), unless that would raise the objective. Most groups vanish quickly;
- Newton's method on all entries of the parts that are not zero (J5), where the objective is smooth,
  as soon as the gap is small. A part that would turn round becomes zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from textreg.penalties import Separable, soft
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.arrays import row_of, sums
from textreg.records.problem import PartsReport
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.linear_algebra import Direction, conjugate_gradients
from textreg.solvers.state import IDLE, NOISE, Engine, checks_overflow, finish
from textreg_latent.certificate import LatentBound, latent_bound, projected
from textreg_latent.penalty import LatentPenalty, latent_parts, settled

# Groups that enter at a time, or twice as many as have a part.
FEWEST = 5000

# Most times that the gap of a set of groups is computed.
ROUNDS = 50

# Steps of reweighting between two such times.
REWEIGHTINGS = 3

# Gap below which Newton's method follows them.
NEWTON_BELOW = 1e-3

# Most steps of Newton's method in a round, further ones where parts became zero: many short ones
# are quicker than few exact ones, as parts turn round on the way.
STEPS = 30

# Factor of the parts of new groups when those of the last rounds did not lower the objective.
SMALLER = 0.1

# A set is left at this share of the gap that it began with, or this one of the tolerance.
CLOSER, ENOUGH = 0.1, 0.8

# Rounds in which parts are found for given weights.
START = 30

# Share of the longest part below which those of a start are zero, and weights without any.
NEGLIGIBLE = 1e-6

# Shares of the longest part: shorter parts become zero where the tolerance allows it.
SMALL = (1e-2, 1e-3, 1e-4, 1e-6)

# What iterations are called.
UNIT = "steps over groups"

# Rounds in which parts follow the weights: each costs a pass over the entries of the groups.
SETTLING = 10

# Most products in a step of Newton's method, and the share of the gradient that it may leave.
PRODUCTS, ACCURACY = 20, 0.2

# Share of the largest eta below which a part is zero.
SMALLEST = 1e-12

# Relative rise of the objective that may be rounding, as its terms are sums of different order.
SLACK = 100.0 * NOISE

# Most times that a step of Newton's method is halved.
HALVINGS = 30

# Share of its value at which an entry, or a part, has become zero.
ROUNDING = 1e-12


@checks_overflow
def latent_groups(problem: Problem, penalty: LatentPenalty) -> Solution:
    """Minimize loss + penalty for the latent group lasso.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : LatentPenalty
        The latent group lasso.

    Returns
    -------
    Solution
        ``group_norms`` are those of the parts of the groups, exactly zero where there is none.
    """
    run = _Run(problem, penalty)
    history: list[Step] = []
    best = LatentBound(-math.inf, np.empty(0), np.empty(0))
    stopped, idle = False, 0
    while True:
        bound = run.bound()
        best = bound if bound.value > best.value else best
        gap = relative_gap(run.value, best.value)
        history.append(Step(run.rounds, run.value, gap))
        stopped = problem.stops(history[-1])
        if gap <= problem.tol or stopped or run.rounds >= problem.max_iter or idle > IDLE:
            break
        before = run.value
        run.improve(gap)
        idle = idle + 1 if before - run.value <= NOISE * abs(before) else 0
    if gap <= problem.tol:
        run.drop_small(best)
    return finish(problem, run.solution(best, history), UNIT, stopped=stopped)


class _Run:
    """Where the solver stands: weights, intercept, and the norms of all parts."""

    def __init__(self, problem: Problem, penalty: LatentPenalty) -> None:
        self.problem, self.penalty = problem, penalty
        self.rounds, self._share = 0, 1.0
        zero, b = np.zeros(penalty.p), problem.intercept_at_zero()
        engine = Engine(problem.replace(start=(zero, b)))
        self.norms, self.value = np.zeros(len(penalty.strengths)), engine.value
        self.engine, self.w = engine, engine.w
        if problem.start is not None:
            self._start(*problem.start)

    def _start(self, w: Floats, b: float) -> None:
        """Begin at other weights, with parts near those of least sum, unless zero is nearer."""
        penalty = self.penalty
        eta = np.where(penalty.free, 0.0, w)
        eta = settled(penalty, w, penalty.norms(eta) / penalty.strengths, START)
        eta[eta < NEGLIGIBLE * eta.max(initial=0.0)] = 0.0
        w = np.where((penalty.spread(eta) > 0.0) | penalty.free, w, 0.0)
        self._move_to(w, b, eta, lambda value: value <= self.value)

    def _move_to(self, w: Floats, b: float, eta: Floats, enough: Callable[[float], bool]) -> bool:
        """Stand at these weights and parts, if the objective there is low enough."""
        penalty, engine = self.penalty, Engine(self.problem.replace(start=(w, b)))
        engine.optimize_intercept()
        norms = penalty.strengths * eta
        value = penalty.objective(engine.value, w, norms)
        if moves := enough(value):
            self.engine, self.w, self.value, self.norms = engine, w, value, norms
        return moves

    def bound(self) -> LatentBound:
        """A lower bound for all features and groups."""
        bound, t, eta = _bound(self.engine, self.problem.design, self.penalty, self.norms)
        self._left = t - 2.0 * self.penalty.l2 * self.w  # what the groups have to balance
        self._eta = eta if self.penalty.l2 > 0.0 else np.full(len(eta), math.inf)
        return bound

    def improve(self, gap: float) -> None:
        """Rounds over the groups that have a part, and over those that ask for one the loudest."""
        penalty, problem = self.penalty, self.problem
        groups, features = self._chosen()
        design = problem.design
        if len(features) < penalty.p:
            design = design.select(features)
        fit = LatentFit(
            problem.over(design, None, callback=None),
            penalty.select(groups, features), self.w[features], self.engine.b, self.norms[groups],
        )  # fmt: skip
        # All new groups enter at once: where that made things worse, they enter with less.
        fit.enter(self._eta[groups], self._share)
        self._rounds(fit, gap)
        fall = self.value - fit.value
        self._share = 1.0 if fall > NOISE * abs(self.value) else SMALLER * self._share
        if not fall >= -NOISE * abs(self.value):  # too many new parts, or too large ones
            return
        self.engine, self.value = fit.engine, fit.value
        self.w = np.zeros(penalty.p)
        self.w[features] = fit.engine.w
        self.norms = np.zeros(len(penalty.strengths))
        self.norms[groups] = fit.norms

    def _rounds(self, fit: LatentFit, gap: float) -> None:
        """Lower the objective of a few groups, from a gap until it is small enough."""
        enough = max(ENOUGH * self.problem.tol, CLOSER * gap)
        best, idle = -math.inf, 0
        for _ in range(min(ROUNDS, self.problem.max_iter - self.rounds)):
            self.rounds += 1
            before = fit.value
            for _ in range(REWEIGHTINGS):
                fit.reweight()
            if gap < NEWTON_BELOW:
                for _ in range(STEPS):
                    if not fit.newton():
                        break
            best = max(best, fit.bound())
            gap = relative_gap(fit.value, best)
            if gap <= enough:
                break
            idle = idle + 1 if before - fit.value <= NOISE * abs(before) else 0
            if idle > IDLE:
                break

    def _chosen(self) -> tuple[Int64s, Int32s]:
        """The groups and the features of the next rounds."""
        penalty, left = self.penalty, self._left
        # A part of a group that has none lowers the objective where ||S(left_g, l1)|| > lambda_g.
        ratios = penalty.ratios(left)
        old = np.flatnonzero(self.norms)
        new = np.flatnonzero((ratios > 1.0) & (self.norms == 0.0))
        new = new[np.argsort(-ratios[new], kind="stable")[: max(FEWEST, 2 * len(old))]]
        groups = np.sort(np.concatenate([old, new]))
        inside = penalty.free & ((self.w != 0.0) | (soft(left, penalty.l1) != 0.0))
        inside[penalty.select(groups, self.problem.design.features).indices] = True
        return groups, np.flatnonzero(inside).astype(np.int32)

    def drop_small(self, bound: LatentBound) -> None:
        """Set short parts to zero, as long as the gap stays within the tolerance."""
        penalty, tol = self.penalty, self.problem.tol
        # The largest share first, as it leaves the fewest groups.
        longest = float(self.norms.max(initial=0.0))
        for share in SMALL:
            norms = np.where(self.norms < share * longest, 0.0, self.norms)
            if np.array_equal(norms, self.norms):
                return
            w = np.where((penalty.spread(norms) > 0.0) | penalty.free, self.w, 0.0)
            eta = settled(penalty, w, norms / penalty.strengths, START)
            if self._move_to(
                w, self.engine.b, eta, lambda value: relative_gap(value, bound.value) <= tol
            ):
                return

    def solution(self, bound: LatentBound, history: list[Step]) -> Solution:
        """The solution, with the parts of least sum where they are few."""
        penalty, engine = self.penalty, self.engine
        norms, omega = latent_parts(penalty, self.w, self.norms)
        value = engine.value + penalty.separable(self.w) + omega
        gap = relative_gap(value, bound.value)
        norms = penalty.original_norms(norms, self.w)
        return Solution(
            w=self.w,
            b=engine.b,
            objective=value,
            gap=gap,
            iterations=self.rounds,
            converged=gap <= self.problem.tol,
            history=tuple(history),
            group_norms=norms,
            alpha=bound.alpha,
            report=PartsReport(tuple(np.flatnonzero(norms).tolist())),
        )


def _bound(
    engine: Engine, design: Design, penalty: LatentPenalty, norms: Floats
) -> tuple[LatentBound, Floats, Floats]:
    """A lower bound for the features of a design, t = X'alpha, and eta of the point near it.

    engine: scores of the documents, whatever features it has. norms: of the parts, to start from.
    """
    alpha = dual_scores(engine)
    t = design.transposed_product(alpha)
    w, eta = projected(penalty, t, norms / penalty.strengths)
    weighted = engine.c > 0.0
    least = float((np.abs(alpha[weighted]) / engine.c[weighted]).max(initial=0.0))
    of_loss = partial(dual_value, engine)
    return latent_bound(penalty, alpha, t, w, of_loss, least), t, eta


class LatentFit:
    """Weights of some features, and their parts in some groups.

    engine: weights and intercept. norms: ||v_g||. value: the objective.
    """

    def __init__(
        self, problem: Problem, penalty: LatentPenalty, w: Floats, b: float, norms: Floats
    ) -> None:
        """problem, penalty: over these features and groups alone."""
        self.engine, self.penalty = Engine(problem.replace(start=(w, b))), penalty
        self.norms = norms
        self._group_of = row_of(penalty.indptr)
        self._last: tuple[Floats, float, Floats] | None = None
        self._steps = 0
        self.engine.optimize_intercept()
        self.value = self._objective()

    def _objective(self) -> float:
        return self.penalty.objective(self.engine.value, self.engine.w, self.norms)

    def bound(self) -> float:
        """A lower bound for these features and groups."""
        return _bound(self.engine, self.engine.design, self.penalty, self.norms)[0].value

    def enter(self, eta: Floats, share: float) -> None:
        """Give parts to the groups without one that would lower the objective.

        eta: what they are to have at most. share: of the part that suits a new group alone, as
        several enter together.
        """
        engine, penalty = self.engine, self.penalty
        left = soft(-engine.gradient() - 2.0 * penalty.l2 * engine.w, penalty.l1)
        sizes = penalty.norms(left)
        over = (self.norms == 0.0) & (sizes > penalty.strengths)
        curvature = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        along = penalty.norms(np.sqrt(curvature) * left)[over] ** 2
        # The minimum along the direction `left`, were features independent of each other.
        lengths = (sizes[over] - penalty.strengths[over]) * sizes[over] ** 2 / along
        self.norms = self.norms.copy()
        self.norms[over] = np.minimum(share * lengths, (eta * penalty.strengths)[over])
        self.value = self._objective()

    def reweight(self) -> None:
        """A step with eta fixed, from ahead of the last one; then the parts follow the weights."""
        engine, last = self.engine, self._last
        w, b, z = before = engine.w.copy(), engine.b, engine.z
        norms, value = self.norms, self.value
        if last is not None and self._steps > 0:
            # From x_k + k / (k + 3) (x_k - x_(k-1)), as in beck2009.
            ahead = self._steps / (self._steps + 3.0)
            engine.move_to(
                w + ahead * (w - last[0]), b + ahead * (b - last[1]), z + ahead * (z - last[2])
            )
        start = engine.w.copy()
        self._step()
        self._settle()
        if not self.value <= value + SLACK * abs(value):
            engine.move_to(*before)
            self.norms, self.value, self._last, self._steps = norms, value, None, 0
            return
        self._last = before
        turns = float((start - engine.w) @ (engine.w - w)) > 0.0
        self._steps = 0 if turns else self._steps + 1

    def _step(self) -> None:
        """A step of the engine with eta fixed."""
        engine, penalty = self.engine, self.penalty
        # 1/2 sum_j w_j^2 / zeta_j + l2 ||w||^2 + l1 ||w||_1: a ridge of its own for every feature.
        zeta = penalty.spread(self.norms / penalty.strengths)
        inside = (zeta > 0.0) | penalty.free
        q = np.divide(1.0, zeta, out=np.zeros(penalty.p), where=zeta > 0.0)
        inner = Separable(q + 2.0 * penalty.l2, np.zeros(penalty.p), np.full(penalty.p, penalty.l1))
        active = np.flatnonzero(inside).astype(np.int32)
        if not len(active):
            return
        engine.step(active, inner)
        engine.optimize_intercept()

    def _settle(self) -> None:
        """Parts of smaller sum for these weights, and no part where it would be next to zero."""
        engine, penalty = self.engine, self.penalty
        eta = settled(penalty, engine.w, self.norms / penalty.strengths, SETTLING)
        eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
        lost = (penalty.spread(eta) == 0.0) & (engine.w != 0.0) & ~penalty.free
        if lost.any():  # with parts that were too small
            engine.restart(np.where(lost, 0.0, engine.w), engine.b)
        self.norms = eta * penalty.strengths
        self.value = self._objective()

    def newton(self) -> bool:
        """A step of Newton's method on the entries that are not zero, if it lowers the value.

        It starts from the parts that reweighting would make of these weights, whose sum is no
        larger. Returns whether parts or entries that would turn round shortened or bent it.
        """
        engine, penalty = self.engine, self.penalty
        eta = self.norms / penalty.strengths
        eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
        t = penalty.duals(engine.w, eta)
        parts = PartsSystem(engine, penalty, eta[self._group_of] * t[penalty.indices])
        if not len(parts.features):
            return False
        slope = parts.slope()
        residual = -slope, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        zero = Direction(np.zeros(len(slope)), 0.0, np.zeros(len(engine.z)))
        change = conjugate_gradients(parts, residual, zero, rounds=PRODUCTS, accuracy=ACCURACY)
        # First the steps beyond the first turn, with what turned set to zero; then shorter ones.
        first = parts.first_turn(change.w)
        halved = 0.5 ** np.arange(HALVINGS)
        for length in (*halved[halved > first], *(min(first, 1.0) * halved)):
            trial = parts.moved(length * change.w)
            w = sums(parts.features, trial, penalty.p)
            moved = engine.design.product(w - engine.w) + length * change.b
            norms = parts.norms(trial)
            loss = engine.loss.value(engine.z + moved, engine.y, engine.c)
            value = penalty.objective(loss, w, norms)
            if value <= self.value + SLACK * abs(self.value):
                engine.move_to(w, engine.b + length * change.b, engine.z + moved)
                engine.optimize_intercept()
                self.norms, self._last, self._steps = norms, None, 0
                self.value = self._objective()
                return first < 1.0
        return False


class PartsSystem:
    """The Hessian in all entries of parts that are not zero, and in the intercept.

    Weights of free features are entries too, of no group, and come last. features: of every entry.
    values: the entries.
    """

    def __init__(self, engine: Engine, penalty: LatentPenalty, values: Floats) -> None:
        """values: one for every entry of the groups."""
        used = np.flatnonzero(values)
        free = np.flatnonzero(penalty.free & (engine.w != 0.0))
        self._engine, self._penalty, self._grouped = engine, penalty, slice(0, len(used))
        self.features = np.concatenate([penalty.indices[used], free])
        self.values = np.concatenate([values[used], engine.w[free]])
        self._groups = row_of(penalty.indptr)[used]
        sizes = self.norms(self.values)
        safe = np.where(sizes > 0.0, sizes, 1.0)
        self._unit, self._eta = np.zeros(len(self.values)), np.ones(len(self.values))
        self._unit[self._grouped] = values[used] / safe[self._groups]
        self._eta[self._grouped] = (safe / penalty.strengths)[self._groups]
        self._bend = np.zeros(len(self.values))
        self._bend[self._grouped] = 1.0 / self._eta[self._grouped]
        self._prepare()

    def _over_groups(self, entries: Floats) -> Floats:
        """Sums of entries over every group."""
        return sums(self._groups, entries[self._grouped], len(self._penalty.strengths))

    def _from_groups(self, values: Floats) -> Floats:
        """(entries,) The value of the group of each, 0 for free features."""
        entries = np.zeros(len(self.values))
        entries[self._grouped] = values[self._groups]
        return entries

    def norms(self, values: Floats) -> Floats:
        """||v_g|| of entries like these."""
        return np.sqrt(self._over_groups(values * values))

    def slope(self) -> Floats:
        """The derivative of the objective in every entry."""
        engine, penalty = self._engine, self._penalty
        # Of v_gj: (gradient + 2 l2 w + l1 sign w)_j + lambda_g v_gj / ||v_g||.
        slope = engine.gradient() + 2.0 * penalty.l2 * engine.w + penalty.l1 * np.sign(engine.w)
        every: Floats = slope[self.features] + self._bend * self.values
        return every

    def first_turn(self, change: Floats) -> float:
        """The share of a change at which the first part turns round, or l1 the first sign."""
        lengths = self._over_groups(self._unit * self.values)
        shares = [_turns(lengths, self._over_groups(self._unit * change))]
        if self._penalty.l1 > 0.0:
            shares.append(_turns(self.values, change))
        return min(shares)

    def moved(self, change: Floats) -> Floats:
        """The entries after a change; zero where a part turns round or l1 would turn a sign."""
        values = self.values + change
        lengths = self._over_groups(self._unit * self.values)
        gone = self._over_groups(self._unit * values) <= ROUNDING * lengths
        turned = self._from_groups(gone.astype(np.float64)) > 0.0
        if self._penalty.l1 > 0.0:
            turned |= values * self.values <= ROUNDING * self.values**2
        return np.where(turned, 0.0, values)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        engine, penalty = self._engine, self._penalty
        weights = sums(self.features, w, penalty.p)
        z = engine.design.product(weights) + b
        weighted = engine.h * z
        image = engine.design.transposed_product(weighted) + 2.0 * penalty.l2 * weights
        # (J5): lambda_g / ||v_g|| (I - u u') with u = v_g / ||v_g||, beside X'HX + 2 l2.
        along = self._from_groups(self._over_groups(self._unit * w))
        entries = image[self.features] + self._bend * (w - self._unit * along)
        return entries, float(weighted.sum()) if engine.fit_intercept else 0.0, z

    def _prepare(self) -> None:
        """What the preconditioner needs: the Hessian as if features and parts were independent.

        Of every feature the entries make a diagonal and one vector; the length of every part adds
        another: the lemma of Sherman, Morrison & Woodbury, twice.
        """
        engine, penalty = self._engine, self._penalty
        curvature = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        features, p = self.features[self._grouped], penalty.p
        # Of a feature: (diag(1 / eta) + d 1 1')^-1 = diag(eta) - d / (1 + d sum eta) eta eta'.
        self._share = curvature / (1.0 + curvature * sums(features, self._eta[self._grouped], p))
        alone = curvature[self.features[self._grouped.stop :]]
        self._alone = np.where(alone > 0.0, alone, 1.0)
        self._h_sum = float(engine.h.sum())
        # Of a length: eta - u' (that) u = sum_j share_j (eta_g u_gj)^2.
        lengths = self._over_groups((self._unit * self._eta) ** 2 * self._share[self.features])
        self._lengths = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0.0)

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """The inverse of that, times (w, b)."""
        scaled = self._by_features(w)
        lengths = self._lengths * self._over_groups(self._unit * scaled)
        scaled += self._by_features(self._unit * self._from_groups(lengths))
        return scaled, b / self._h_sum if self._engine.fit_intercept and self._h_sum else 0.0

    def _by_features(self, w: Floats) -> Floats:
        """The inverse without the lengths."""
        scaled = self._eta * w
        features = self.features[self._grouped]
        taken = self._share * sums(features, scaled[self._grouped], self._penalty.p)
        scaled[self._grouped] -= self._eta[self._grouped] * taken[features]
        scaled[self._grouped.stop :] /= self._alone
        return scaled


def _turns(values: Floats, change: Floats) -> float:
    """The share of the change at which the first value is zero; infinite where none will be."""
    toward = values * change < 0.0
    return float((values[toward] / -change[toward]).min(initial=math.inf))
