"""Greedy pursuits: orthogonal matching pursuit and its version for overlapping groups.

Skianis, Tziortziotis & Vazirgiannis (2018), Algorithms 1 and 2. Begin with nothing; fit what is active;
take the column, or group of columns, that correlates best with what the fit leaves over, the
derivatives r of the loss in the scores; again, until the budget is spent.

Every choice is that of an exact fit, though no fit is exact: it is improved until it is certain
which column leads. Scores are Lipschitz in r, so a bound on the distance of r from its exact value
tells when that is, and the way r has gone tells which columns need no new look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.active import LEAST_RIDGE, ActiveFit
from textreg.solvers.newton import newton
from textreg.solvers.scores import SMOOTHING, ColumnScores, GroupScores, Leader
from textreg.solvers.unit import Columns

TIE = 1e-12
"""Scores that differ by less, relatively, are equal: parallel columns, up to rounding."""

FIRST_LOOK = 5e-3
HALF = 0.5
"""Share of the last score that the radius must have fallen to before the first look."""

ROUNDS = 100
"""Most Newton steps for one choice; where they are not enough, the choice is not proven."""

COLUMNS = ("unit", "given")
"""What a pursuit may run on."""


class Pursuit:
    """One run of a pursuit, which can be stopped at a budget, asked for its model, and continued.

    order: active features in the order they came. steps: for every step the group that was taken, -1
    for a single column, and the number of features active after it. proven: how many of the choices
    are certain to be those of exact fits. ended: why there is nothing more to take, or empty.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        l2: float,
        columns: str = "unit",
        epsilon: float = 0.0,
        score: str = "",
        singletons: bool = True,
        first: Sequence[int] = (),
    ) -> None:
        """Prepare a run; nothing is chosen yet.

        l2: price of the squared weights. columns: "unit" chooses among columns of norm one, with
        the ridge on their weights, and fits the chosen ones as they are given in the end; "given"
        does everything on the given columns, as the paper is written. epsilon: a best score of this
        or less ends the run. score: how groups are scored (see :class:`GroupScores`); empty for a
        pursuit of columns alone, which ``problem.groups`` do not matter to. singletons: whether
        single columns compete with the groups. first: features that are active from the outset.
        """
        if columns not in COLUMNS:
            raise UsageError(f"columns must be one of {', '.join(COLUMNS)}, not {columns!r}.")
        self.problem, self.l2, self.epsilon = problem, l2, epsilon
        self.columns = unit = Columns(problem)
        given = unit.norms > 0.0 if columns == "unit" else unit.norms
        size = given.astype(np.float64)
        # On given columns the ridge is l2 w_j^2 with w_j = u_j / |x_j|.
        q = 2.0 * l2 / np.where(unit.norms > 0.0, size, 1.0) ** 2
        self.fit = ActiveFit(problem, unit, q)
        self._bounded = bool((q >= LEAST_RIDGE).all())
        self._groups = None
        if score:
            if problem.groups is None:
                raise UsageError("gomp: the problem has no groups; build some, or use omp.")
            self._groups = GroupScores(problem.groups, unit, size, score)
            if score == "projection":
                size = size / np.sqrt(size * size + SMOOTHING)
            elif score == "orthonormal":
                size = np.sign(size)
        self._singles = ColumnScores(unit, size if singletons or not score else np.zeros_like(size))
        self.order = self.fit.features
        self.steps: list[tuple[int, int]] = []
        self.history: list[Step] = []
        self.proven, self.ended = 0, ""
        self._last_r = np.zeros(len(problem.y))
        self._drift, self._wanted = 0.0, 1e-3
        self._models: dict[int, tuple[Floats, float]] = {}
        if len(first):
            self._take(np.array(first, dtype=np.int32), -1)

    def grow(self, budget: int) -> None:
        """Go on until ``budget`` features are active, or the run has ended."""
        callback = self.problem.callback
        while len(self.order) < budget and not self.ended:
            leader = self._choose()
            if not len(leader.features):
                self.ended = "exhausted"
            elif self._measure(leader) <= self.epsilon:
                self.ended = "epsilon"
            else:
                self.history.append(Step(len(self.order), self.fit.objective, math.nan))
                self._take(leader.features, leader.group)
                if callback is not None and callback(self.history[-1]):
                    self.ended = "stopped"

    def _measure(self, leader: Leader) -> float:
        """What epsilon is compared with: |x_j . r| in Algorithm 1, a squared norm in Algorithm 2."""
        return leader.score if self._groups is None else leader.score**2

    def _take(self, features: Int32s, group: int) -> None:
        """Make ``features`` active."""
        self.fit.add(features)
        self._singles.remove(features)
        if self._groups is not None:
            self._groups.remove(features)
        self.steps.append((group, len(self.order)))

    def _choose(self) -> Leader:
        """What an exact fit would take next."""
        fit = self.fit
        rounds, moving = 0, True
        while moving and fit.radius > self._wanted and rounds < ROUNDS:
            moving = fit.improve(self._wanted)
            rounds += 1
        while True:
            leader, gone = self._leader(fit.radius), 0.0
            while gone < leader.room:
                # An exact fit's r is no farther than this from where the scores were looked at.
                certain = gone + fit.radius < leader.room
                if certain or not moving or rounds >= ROUNDS or not len(leader.features):
                    self.proven += certain and self._bounded
                    most = FIRST_LOOK * leader.score / leader.reach
                    self._wanted = min(math.sqrt(self._wanted*HALF * leader.room), most)
                    return leader
                moving = fit.improve(0.5 * (leader.room - gone))
                rounds += 1
                gone = self.columns.length(fit.r - self._last_r)

    def _leader(self, radius: float) -> Leader:
        """Whose score is the largest at the present r; groups go before columns they tie with."""
        r = self.fit.r
        self._drift += self.columns.length(r - self._last_r)
        self._last_r = r.copy()
        single = self._singles.leader(r, self._drift, radius, Leader.none(), TIE)
        if self._groups is None:
            return single
        leader = self._groups.leader(r, self._drift, radius, single, TIE)
        if leader.group < 0:
            return leader
        return self._singles.leader(r, self._drift, radius, leader, TIE)

    def solution(self, budget: int) -> Solution:
        """The model with ``budget`` features, or as many as the run has, fitted on given columns.

        Where a group oversteps the budget, the model has all of it. The fit minimises loss +
        l2 ||w||_2^2 over the chosen features to the relative gap ``problem.tol``.
        """
        self.grow(budget)
        counts = [count for _, count in self.steps]
        at = min(int(np.searchsorted(counts, budget)), len(counts) - 1)
        steps = self.steps[: at + 1]
        count = steps[-1][1] if steps else 0
        features = np.array(self.order[:count], dtype=np.int64)
        small = self.problem.replace(
            X=self.problem.X[:, features], groups=None, graph=None, callback=None,
            start=self._start(count),
        )  # fmt: skip
        refit = newton(small, Separable.constant(count, l2=self.l2))
        self._models[count] = refit.w, refit.b
        w = np.zeros(self.problem.X.shape[1])
        w[features] = refit.w
        ended = self.ended if count == len(self.order) else ""
        return Solution(
            w=w,
            b=refit.b,
            objective=refit.objective,
            residual=refit.residual,
            iterations=len(steps),
            converged=refit.converged and ended != "stopped",
            history=tuple(self.history[: len(steps)]),
            info=self._info(features, steps, ended),
        )

    def _start(self, count: int) -> tuple[Floats, float]:
        """Where the fit of the first ``count`` features begins: at the largest model before."""
        w = self.fit.w[:count] / self.columns.norms[self.order[:count]]
        known = max((size for size in self._models if size <= count), default=0)
        if not known:
            return w, self.fit.b
        before, b = self._models[known]
        w[:known] = before
        return w, b

    def _info(
        self, features: Any, steps: Sequence[tuple[int, int]], ended: str
    ) -> dict[str, Any]:
        return {
            "order": features.tolist(),
            "steps": list(steps),
            "proven": self.proven,
            "ended": ended or "budget",
        }
