"""The latent group lasso over the few groups that have a part.

Of all groups, of which text has hundreds of thousands, some tens or hundreds have a part. The
problem over those and their features is small; one product with the whole matrix shows which others
would lower the objective, and gives a lower bound for all (docs/maths.md, J3 to J4).
"""

from __future__ import annotations

import math

import numpy as np

from textreg.penalties import soft
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.report import PartsReport
from textreg.solvers.certificate import dual_scores, dual_value, relative_gap
from textreg.solvers.engine import HOPELESS, IDLE, NOISE, Engine
from textreg.solvers.latent_bound import LatentBound, latent_bound
from textreg.solvers.latent_fit import LatentFit
from textreg.solvers.latent_norms import LatentNorms
from textreg.solvers.latent_parts import latent_parts
from textreg.solvers.outcome import checks_overflow, finish

FEWEST = 50
"""Groups that enter at a time, or as many as have a part."""

ROUNDS = 30
"""Most rounds over a set of groups."""

STEPS = 30
"""Most steps of Newton's method in a round, further ones where parts became zero: many short ones
are quicker than few exact ones, as parts turn round on the way."""

CLOSER, ENOUGH = 0.1, 0.3
"""A set is left at this share of the gap that it began with, or this one of the tolerance."""

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
        run.improve(bound, gap)
        idle = idle + 1 if before - run.value <= NOISE * abs(before) else 0
    solution = run.solution(best, history)
    return finish(problem, solution, UNIT, stopped=stopped)


class _Run:
    """Where the solver stands: weights, intercept, and the norms of all parts."""

    def __init__(self, problem: Problem, penalty: LatentNorms) -> None:
        self.problem, self.penalty = problem, penalty
        self.rounds = 0
        self._set: tuple[Int64s, Int32s] | None = None
        zero, b = np.zeros(penalty.p), problem.intercept_at_zero()
        engine = Engine(problem.replace(start=(zero, b)))
        self.norms, self.value = np.zeros(len(penalty.strengths)), engine.value
        self.engine, self.w = engine, engine.w
        if problem.start is None:
            return
        started = Engine(problem)
        parts = latent_parts(penalty, started.w)
        started.optimize_intercept()
        value = started.value + parts.value + penalty.separable(started.w)
        if value <= HOPELESS * self.value:
            self.engine, self.w, self.value = started, started.w, value
            self.norms = parts.norms

    def bound(self) -> LatentBound:
        """A lower bound for all features and groups."""
        engine = self.engine
        alpha = dual_scores(engine)
        t = self.problem.design.transposed_product(alpha)
        self._left = t - 2.0 * self.penalty.l2 * self.w
        return latent_bound(self.penalty, alpha, t, self.w, lambda one: dual_value(engine, one))

    def improve(self, bound: LatentBound, gap: float) -> None:
        """Rounds over the groups that have a part, and over those that ask for one the loudest."""
        penalty, problem = self.penalty, self.problem
        groups, features = self._chosen()
        part = penalty.select(groups, features)
        fit = LatentFit(
            problem.replace(
                X=Design.by_columns(problem.X_csc[:, features]),
                groups=None, graph=None, validation=None, start=None, callback=None,
            ),
            part, self.w[features], self.engine.b, self.norms[groups],
        )  # fmt: skip
        enough = max(ENOUGH * problem.tol, CLOSER * gap)
        idle = 0
        for _ in range(min(ROUNDS, problem.max_iter - self.rounds)):
            self.rounds += 1
            before = fit.value
            fit.reweight()
            for _ in range(STEPS):
                if not fit.newton():
                    break
            if relative_gap(fit.value, fit.dual().value) <= enough:
                break
            idle = idle + 1 if before - fit.value <= NOISE * abs(before) else 0
            if idle > IDLE:
                break
        self.engine, self.value = fit.engine, fit.value
        self.w = np.zeros(penalty.p)
        self.w[features] = fit.engine.w
        self.norms = np.zeros(len(penalty.strengths))
        self.norms[groups] = fit.norms

    def _chosen(self) -> tuple[Int64s, Int32s]:
        """The groups and the features of the next rounds."""
        penalty, left = self.penalty, self._left
        ratios = penalty.ratios(left)
        old = np.flatnonzero(self.norms)
        new = np.flatnonzero((ratios > 1.0) & (self.norms == 0.0))
        most = max(FEWEST, len(old))
        new = new[np.argsort(-ratios[new], kind="stable")[:most]]
        groups = np.sort(np.concatenate([old, new]))
        inside = penalty.free & ((self.w != 0.0) | (soft(left, penalty.l1) != 0.0))
        inside[penalty.select(groups, self.problem.design.features).indices] = True
        return groups, np.flatnonzero(inside).astype(np.int32)

    def solution(self, bound: LatentBound, history: list[Step]) -> Solution:
        """The solution, whose parts are those of least sum."""
        penalty, engine = self.penalty, self.engine
        parts = latent_parts(penalty, self.w, self.norms)
        value = min(self.value, engine.value + penalty.separable(self.w) + parts.value)
        gap = relative_gap(value, bound.value)
        norms: Floats = penalty.original_norms(parts.norms, self.w)
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
