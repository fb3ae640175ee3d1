"""Greedy pursuits: orthogonal matching pursuit, and its version for overlapping groups.

Skianis, Tziortziotis & Vazirgiannis (2018), Algorithms 1 and 2 (docs/pursuit.md, G1). Begin with
nothing; fit what is active; take the column, or the group of columns, that correlates best with
what the fit leaves over, the derivatives r of the loss in the scores; again, until the budget is
spent.

Every choice is that of an exact fit, though no fit is exact: it is improved until it is certain who
leads. Scores are Lipschitz in r, so a bound on the distance of r from its exact value tells when
that is, and the way that r has gone tells which columns need no new look.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import Separable
from textreg.records import (
    Floats,
    Int32s,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    Step,
)
from textreg.solvers.active import LEAST_RIDGE, ActiveFit
from textreg.solvers.group_scores import GroupScores
from textreg.solvers.newton import newton
from textreg.solvers.scores import NEAR, ColumnScores, Leader, Products
from textreg.solvers.unit_columns import unit_columns

COLUMNS = ("unit", "given")
"""What a pursuit may choose among: columns of norm one, or those of the problem."""

TIE = 1e-12
"""Scores that differ by less, relatively, are equal but for rounding."""

LOOSEST = 5e-3
"""Share of the last score that the radius must have fallen to before a look at the scores."""

HALF = 0.5
"""Share of the room that the radius is brought to."""

ROUNDS = 100
"""Most Newton steps for one choice."""


@dataclass(frozen=True, eq=False)
class PursuitReport(SelectionReport):
    """What a pursuit reports beside its weights.

    Attributes
    ----------
    uncertain : int
        Number of selections for which the fit could not be made exact enough to be certain.
    proven : bool
        Whether all the other selections are certain to be those of exact fits. Where the ridge is
        below 0.0005 the bound is an estimate, and this is False.
    stopped : str
        What ended the run: "budget", "exhausted" (no feature is left), "epsilon" or "callback".
    """

    uncertain: int = 0
    proven: bool = True
    stopped: str = ""


class Pursuit:
    """One run of a pursuit, which can be taken to a budget, asked for its model, and continued.

    order: active features in the order they came. steps: a :class:`SelectionStep` for every
    step. uncertain: number of selections that the fits could not be made exact enough for.
    proven: whether all the others are certain to be those of exact fits; where the ridge is small
    that is an estimate. stopped: why the run has ended ("exhausted", "epsilon",
    "callback"), or empty.
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
        does everything on the given columns, as the paper is written. epsilon: the run ends when
        the best |x_j . r|, or the best score of a group, is no larger. score: how groups are scored
        (see :class:`GroupScores`); empty for a pursuit of columns alone, to which groups do not
        matter. singletons: whether single columns compete with the groups. first: features that are
        active from the outset.
        """
        if columns not in COLUMNS:
            raise UsageError(f"columns must be one of {', '.join(COLUMNS)}, not {columns!r}.")
        self.problem, self.l2, self.epsilon = problem, l2, epsilon
        self.columns = unit = unit_columns(problem)
        size = np.sign(unit.norms) if columns == "unit" else unit.norms
        # With w_j = u_j / size_j the ridge l2 w_j^2 is 1/2 q_j u_j^2.
        q = 2.0 * l2 / np.where(size > 0.0, size, 1.0) ** 2
        self.fit = ActiveFit(problem, unit, q)
        self.proven = bool((q >= LEAST_RIDGE).all())
        self._groups: GroupScores | None = None
        scale = size
        if score:
            if problem.groups is None:
                raise UsageError("a pursuit of groups needs groups, and the problem has none.")
            self._groups = GroupScores(problem.groups, unit, size, score)
            scale = self._groups.of_singles(size) if singletons else np.zeros_like(size)
        products = Products(unit, unit.race(scale))
        if self._groups is not None and self._groups.products.race is products.race:
            products = self._groups.products
        self._singles = ColumnScores(products, scale)
        self.order = self.fit.features
        self.steps: list[SelectionStep] = []
        self.history: list[Step] = []
        self.uncertain, self.stopped = 0, ""
        self._last_r = np.zeros(len(problem.y))
        self._wanted = LOOSEST
        self._models: dict[int, tuple[Floats, float]] = {}
        if len(first):
            self._take(np.array(first, dtype=np.int32), -1)

    def grow(self, budget: int) -> None:
        """Go on until ``budget`` features are active, or the run has stopped.

        After every choice the callback gets a Step: how many features were active, and the
        objective of their fit on the columns that are chosen among.
        """
        callback = self.problem.callback
        while len(self.order) < budget and not self.stopped:
            leader = self._choose()
            value = leader.score if self._groups is None else leader.score**2
            if not len(leader.features):
                self.stopped = "exhausted"
            elif value <= self.epsilon:
                self.stopped = "epsilon"
            else:
                self.history.append(Step(len(self.order), self.fit.objective, math.nan))
                self._take(leader.features, leader.group)
                if callback is not None and callback(self.history[-1]):
                    self.stopped = "callback"

    def _take(self, features: Int32s, group: int) -> None:
        """Make ``features`` active."""
        self.fit.add(features)
        self._singles.remove(features)
        if self._groups is not None:
            self._groups.remove(features)
        self.steps.append(SelectionStep(group, len(self.order)))

    def _choose(self) -> Leader:
        """What an exact fit would take next."""
        fit, rounds, moving = self.fit, 0, True
        while moving and fit.radius > self._wanted and rounds < ROUNDS:
            moving = fit.improve(self._wanted)
            rounds += 1
        while True:
            leader, gone = self._look(), 0.0
            while gone < leader.room:
                # An exact fit's r lies no farther than this from where the scores were looked at.
                certain = gone + fit.radius < leader.room
                stuck = not moving or rounds >= ROUNDS
                if certain or (stuck and gone == 0.0):
                    self.uncertain += not certain
                    self._expect(leader)
                    return leader
                if stuck:  # the last look is the best that can be had
                    break
                moving = fit.improve(HALF * (leader.room - gone))
                rounds += 1
                gone = self.columns.length(fit.r - self._last_r)

    def _expect(self, leader: Leader) -> None:
        """Guess the radius that the next choice needs: scores draw nearer to each other slowly."""
        if leader.reach > 0.0:
            usual = math.sqrt(self._wanted * HALF * leader.room)
            self._wanted = min(usual, LOOSEST * leader.score / leader.reach)

    def _look(self) -> Leader:
        """Whose score is the largest at the present r; groups go before columns they tie with."""
        r, radius = self.fit.r, self.fit.radius
        self._last_r = r.copy()
        leader = self._singles.leader(r, radius, Leader.none(), TIE)
        if self._groups is not None:
            leader = self._groups.leader(r, radius, leader, TIE)
            if leader.group >= 0:
                leader = self._singles.leader(r, radius, leader, TIE)
        if len(leader.features):
            fields = (self._singles, self._groups or self._singles)
            near = NEAR * leader.score / max(field.reach for field in fields)
            for field in fields:
                field.products.near = near
        return leader

    def solution(self, budget: int) -> Solution:
        """The model with ``budget`` features, fitted on the given columns.

        It has fewer where the run stopped before, and more where the last group oversteps. Its
        weights minimize loss + l2 ||w||_2^2 to the relative gap ``problem.tol``. ``report`` is a
        :class:`PursuitReport`.
        """
        self.grow(budget)
        reached = next((at for at, step in enumerate(self.steps) if step.active >= budget), None)
        steps = self.steps if reached is None else self.steps[: reached + 1]
        count = steps[-1].active if steps else 0
        features = np.array(self.order[:count], dtype=np.int64)
        refit = self._refit(features)
        w = np.zeros(self.problem.X.shape[1])
        w[features] = refit.w
        interrupted = self.stopped == "callback" and reached is None
        if self.uncertain:
            warnings.warn(
                f"{self.uncertain} of {len(self.steps)} selections of the pursuit are uncertain: "
                "the fits before them did not converge. A larger ridge (l2) makes them certain.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return Solution(
            w=w,
            b=refit.b,
            objective=refit.objective,
            residual=refit.residual,
            iterations=len(steps),
            converged=refit.converged and not interrupted and not self.uncertain,
            history=tuple(self.history[: len(steps)]),
            report=PursuitReport(
                order=tuple(features.tolist()),
                steps=tuple(steps),
                uncertain=self.uncertain,
                proven=self.proven,
                stopped=self.stopped if reached is None else "budget",
            ),
        )

    def _refit(self, features: NDArray[np.int64]) -> Solution:
        """The fit of the first features on the given columns."""
        count = len(features)
        if not count:
            b, objective = self.fit.b, self.fit.value
            return Solution(w=np.empty(0), b=b, objective=objective, residual=0.0, converged=True)
        small = self.problem.replace(
            X=self.problem.X_csc[:, features],
            groups=None,
            graph=None,
            callback=None,
            start=self._start(count),
        )
        refit = newton(small, Separable.constant(count, l2=self.l2))
        self._models[count] = refit.w, refit.b
        return refit

    def _start(self, count: int) -> tuple[Floats, float]:
        """Where the fit of the first ``count`` features begins: from the last model before."""
        known = max((size for size in self._models if size <= count), default=0)
        if not known:
            return self.fit.w[:count] / self.columns.norms[self.order[:count]], self.fit.b
        before, b = self._models[known]
        return np.concatenate([before, np.zeros(count - known)]), b
