"""The latent group lasso over the groups that have a part.

Of all groups, of which text has hundreds of thousands, few have a part where the strength is large.
The problem over those and their features is small; one product with the whole matrix shows which
others would lower the objective, and gives a lower bound for all (docs/maths.md, J3 to J6).
"""

from __future__ import annotations

import math

import numpy as np

from textreg.penalties import soft
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.report import PartsReport
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.engine import HOPELESS, IDLE, NOISE, Engine
from textreg.solvers.latent_bound import LatentBound, latent_bound, projected
from textreg.solvers.latent_fit import LatentFit
from textreg.solvers.latent_norms import LatentNorms
from textreg.solvers.latent_parts import latent_parts, settled
from textreg.solvers.outcome import checks_overflow, finish

FEWEST = 5000
"""Groups that enter at a time, or twice as many as have a part."""

ROUNDS = 50
"""Most times that the gap of a set of groups is computed."""

REWEIGHTINGS = 3
"""Steps of reweighting between two such times."""

CAREFUL, EFFORT = 1e-4, 3
"""Gap below which these steps are more accurate, and how much, as a small fall of the objective is
lost in rounding."""

PATIENCE = 0.2
"""Steps of reweighting for every part before Newton's method, which costs more with many parts."""

STEPS = 30
"""Most steps of Newton's method in a round, further ones where parts became zero: many short ones
are quicker than few exact ones, as parts turn round on the way."""

SMALLER = 0.1
"""Factor of the parts of new groups when those of the last rounds did not lower the objective."""

CLOSER, ENOUGH = 0.1, 0.8
"""A set is left at this share of the gap that it began with, or this one of the tolerance."""

START = 30
"""Rounds in which parts are found for given weights."""

NEGLIGIBLE = 1e-6
"""Share of the longest part below which those of a start are zero, and weights without any."""

SMALL = (1e-2, 1e-3, 1e-4, 1e-6)
"""Shares of the longest part: shorter parts become zero where the tolerance allows it."""

EXACT = 200
"""Most groups whose parts are those of least sum, not only near them."""

UNIT = "steps over groups"
"""What iterations are called."""


@checks_overflow
def latent_groups(problem: Problem, penalty: LatentNorms) -> Solution:
    """Minimize loss + penalty for the latent group lasso.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : LatentNorms
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
        best = max(best, bound, key=lambda one: one.value)
        gap = relative_gap(run.value, best.value)
        history.append(Step(run.rounds, run.value, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if gap <= problem.tol or stopped or run.rounds >= problem.max_iter or idle > IDLE:
            break
        before = run.value
        run.improve(gap)
        idle = idle + 1 if before - run.value <= NOISE * abs(before) else 0
    if gap <= problem.tol:
        run.drop_small(best)
    solution = run.solution(best, history)
    return finish(problem, solution, UNIT, stopped=stopped)


class _Run:
    """Where the solver stands: weights, intercept, and the norms of all parts."""

    def __init__(self, problem: Problem, penalty: LatentNorms) -> None:
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
        started, norms = Engine(self.problem.replace(start=(w, b))), eta * penalty.strengths
        started.optimize_intercept()
        value = started.value + penalty.separable(w) + float(penalty.strengths @ norms)
        if value <= HOPELESS * self.value:
            self.engine, self.w, self.value, self.norms = started, w, value, norms

    def bound(self) -> LatentBound:
        """A lower bound for all features and groups."""
        engine, penalty = self.engine, self.penalty
        alpha = dual_scores(engine)
        t = self.problem.design.transposed_product(alpha)
        self._left = t - 2.0 * penalty.l2 * self.w
        near = projected(penalty, t, self.norms / penalty.strengths)
        self._eta = near.eta if penalty.l2 > 0.0 else np.full(len(near.eta), math.inf)
        return latent_bound(penalty, alpha, t, near.w, lambda one: dual_value(engine, one))

    def improve(self, gap: float) -> None:
        """Rounds over the groups that have a part, and over those that ask for one the loudest."""
        penalty, problem = self.penalty, self.problem
        groups, features = self._chosen()
        design = problem.design
        if len(features) < penalty.p:
            design = Design.by_columns(problem.X_csc[:, features])
        fit = LatentFit(
            problem.replace(
                X=design, groups=None, graph=None, validation=None, start=None, callback=None
            ),
            penalty.select(groups, features), self.w[features], self.engine.b, self.norms[groups],
        )  # fmt: skip
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
        best, idle, reweighted = -math.inf, 0, 0
        for _ in range(min(ROUNDS, self.problem.max_iter - self.rounds)):
            self.rounds += 1
            before = fit.value
            effort = EFFORT if gap < CAREFUL else 1
            for _ in range(REWEIGHTINGS):
                fit.reweight(effort)
            reweighted += REWEIGHTINGS
            if reweighted > PATIENCE * np.count_nonzero(fit.norms):
                for _ in range(STEPS):
                    if not fit.newton(effort):
                        break
                reweighted = 0
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
        ratios = penalty.ratios(left)
        old = np.flatnonzero(self.norms)
        new = np.flatnonzero((ratios > 1.0) & (self.norms == 0.0))
        most = max(FEWEST, 2 * len(old))
        new = new[np.argsort(-ratios[new], kind="stable")[:most]]
        groups = np.sort(np.concatenate([old, new]))
        inside = penalty.free & ((self.w != 0.0) | (soft(left, penalty.l1) != 0.0))
        inside[penalty.select(groups, self.problem.design.features).indices] = True
        return groups, np.flatnonzero(inside).astype(np.int32)

    def drop_small(self, bound: LatentBound) -> None:
        """Set short parts to zero, as long as the gap stays within the tolerance."""
        penalty, problem = self.penalty, self.problem
        longest = float(self.norms.max(initial=0.0))
        for share in SMALL:
            norms = np.where(self.norms < share * longest, 0.0, self.norms)
            if np.array_equal(norms, self.norms):
                return
            w = np.where((penalty.spread(norms) > 0.0) | penalty.free, self.w, 0.0)
            eta = settled(penalty, w, norms / penalty.strengths, START)
            engine = Engine(problem.replace(start=(w, self.engine.b)))
            engine.optimize_intercept()
            norms = penalty.strengths * eta
            value = engine.value + penalty.separable(w) + float(penalty.strengths @ norms)
            if relative_gap(value, bound.value) <= problem.tol:
                self.engine, self.w, self.norms, self.value = engine, w, norms, value
                return

    def solution(self, bound: LatentBound, history: list[Step]) -> Solution:
        """The solution, whose parts are those of least sum where they are few."""
        penalty, engine = self.penalty, self.engine
        norms, value = self.norms, self.value
        if np.count_nonzero(norms) <= EXACT:
            parts = latent_parts(penalty, self.w, norms)
            least = engine.value + penalty.separable(self.w) + parts.value
            if least <= value:
                norms, value = parts.norms, least
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
