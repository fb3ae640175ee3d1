"""Greedy pursuits: orthogonal matching pursuit, and its version for overlapping groups.

Algorithms 1 and 2 of skianis2018 (docs/pursuit.md, G1). Start from the empty model; fit the active
features; add the column, or the group of columns, that correlates best with the residual r, the
derivatives of the loss in the scores; repeat until the budget is reached.

Every selection is that of an exact fit, though no fit is exact: a fit is improved until the best
candidate is certain. Scores are Lipschitz functions of r, so a bound on the distance of r from its
exact value tells when that is, and the change of r since a score was computed bounds the new score.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import Separable, check_strengths
from textreg.records import (
    Floats,
    Int32s,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    Step,
)
from textreg.records.convert import as_array
from textreg.solvers.active import LEAST_RIDGE, ActiveFit
from textreg.solvers.column_scores import TOLERANCE, Candidate, ColumnDots, ColumnScores
from textreg.solvers.group_scores import GroupScores
from textreg.solvers.newton import newton
from textreg.solvers.outcome import check_finite, checks_overflow
from textreg.solvers.unit_columns import unit_columns

COLUMNS = ("unit", "given")
"""What a pursuit may select from: columns of norm one, or those of the problem."""

TIE = 1e-12
"""Scores that differ by less, relatively, are equal but for rounding."""

MAX_RADIUS = 5e-3
"""The radius of a fit must be at most this share of the last score before scores are computed."""

HALF = 0.5
"""Share of the margin that the radius is reduced to."""

ROUNDS = 100
"""Most Newton steps for one selection."""


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
    """One run of a pursuit, which can be grown to a budget, asked for its model, and continued.

    Parameters
    ----------
    problem : Problem
        What to fit.
    l2 : float
        Ridge: strength of the penalty on the squared weights.
    columns : {"unit", "given"}, default "unit"
        "unit" selects among columns of norm one, with the ridge on their weights, and fits the
        selected ones as they are given in the end. "given" does everything on the given columns, as
        in the paper.
    epsilon : float, default 0
        The run ends when the best |x_j . r|, or the best score of a group, is no larger.
    score : str, default ""
        How groups are scored, see :class:`~textreg.solvers.group_scores.GroupScores`. Empty for a
        pursuit of columns alone, which ignores groups.
    singletons : bool, default True
        Whether single columns compete with the groups.
    initial : sequence of int, default ()
        Features that are active from the start.

    Attributes
    ----------
    order : list of int
        Active features, in the order in which they were selected.
    steps : list of SelectionStep
        The steps that selected them.
    history : list of Step
        For every step the number of features active before it, and the objective of their fit on
        the columns that are selected from.
    uncertain : int
        Number of selections for which the fit could not be made exact enough to be certain.
    proven : bool
        Whether all the others are certain to be those of exact fits. Where the ridge is small the
        bound is an estimate, and this is False.
    stopped : str
        Why the run has ended ("exhausted", "epsilon", "callback"), or empty.

    Raises
    ------
    UsageError
        ``columns`` or ``score`` is unknown, or the problem has no groups where they are scored.
    DataError
        A group is too large for its score.

    References
    ----------
    .. [1] Skianis, Tziortziotis & Vazirgiannis (2018), "Orthogonal matching pursuit for text
       classification", Algorithms 1 and 2 (skianis2018).
    """

    @checks_overflow
    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        problem: Problem,
        *,
        l2: float,
        columns: str = "unit",
        epsilon: float = 0.0,
        score: str = "",
        singletons: bool = True,
        initial: Sequence[int] = (),
    ) -> None:
        if columns not in COLUMNS:
            raise UsageError(f"columns must be one of {', '.join(COLUMNS)}, not {columns!r}.")
        check_strengths(l2=l2)
        self.problem, self.l2, self.epsilon = problem, l2, epsilon
        self.columns = unit = unit_columns(problem)
        size = np.sign(unit.norms) if columns == "unit" else unit.norms
        # Fits are on columns of norm one, in both modes: with w_j = u_j / size_j the ridge l2 w_j^2
        # is 1/2 q_j u_j^2.
        q = 2.0 * l2 / np.where(size > 0.0, size, 1.0) ** 2
        self.fit = ActiveFit(problem, unit, q)
        self.proven = bool((q >= LEAST_RIDGE).all())
        self._group_scores: GroupScores | None = None
        scale = size
        if score:
            if problem.groups is None:
                raise UsageError("a pursuit of groups needs groups, and the problem has none.")
            self._group_scores = GroupScores(problem.groups, unit, size, score)
            scale = self._group_scores.column_scale(size) if singletons else np.zeros_like(size)
        column_dots = ColumnDots(unit, unit.distinct(scale))
        if self._group_scores is not None:
            shared = self._group_scores.column_dots
            column_dots = shared if shared.distinct is column_dots.distinct else column_dots
        self._column_scores = ColumnScores(column_dots, scale)
        self.order = self.fit.features
        self.steps: list[SelectionStep] = []
        self.history: list[Step] = []
        self.uncertain, self.stopped = 0, ""
        self._last_r = np.zeros(len(problem.y))
        self._target_radius = MAX_RADIUS
        self._refits: dict[int, tuple[Floats, float]] = {}
        if len(initial):
            features = as_array("initial", initial, np.int32)
            if features.min() < 0 or features.max() >= unit.shape[1]:
                raise UsageError(f"initial must be features from 0 to {unit.shape[1] - 1}.")
            self._activate(features, -1)

    @checks_overflow
    def grow(self, budget: int) -> None:
        """Continue until ``budget`` features are active, or the run has stopped.

        After every selection ``problem.callback`` is called with the last entry of ``history``.

        Parameters
        ----------
        budget : int
            Number of features; the last group may exceed it.
        """
        callback = self.problem.callback
        while len(self.order) < budget and not self.stopped:
            best = self._select()
            value = best.score if self._group_scores is None else best.score**2
            if not len(best.features):
                self.stopped = "exhausted"
            elif value <= self.epsilon:
                self.stopped = "epsilon"
            else:
                self.history.append(Step(len(self.order), self.fit.objective, math.nan))
                self._activate(best.features, best.group)
                if callback is not None and callback(self.history[-1]):
                    self.stopped = "callback"

    def _activate(self, features: Int32s, group: int) -> None:
        """Make ``features`` active."""
        self.fit.add(features)
        self._column_scores.remove(features)
        if self._group_scores is not None:
            self._group_scores.remove(features)
        self.steps.append(SelectionStep(group, len(self.order)))

    def _select(self) -> Candidate:
        """The candidate that an exact fit would add next."""
        fit, rounds, improving = self.fit, 0, True
        while improving and fit.radius > self._target_radius and rounds < ROUNDS:
            improving = fit.improve(self._target_radius)
            rounds += 1
        while True:
            best, distance = self._best(), 0.0
            while distance < best.margin:
                # The exact r lies no farther than this from the one that the scores belong to. As
                # scores are Lipschitz, within the margin the same candidate has the best score.
                certain = distance + fit.radius < best.margin
                stuck = not improving or rounds >= ROUNDS
                if certain or (stuck and distance == 0.0):
                    self.uncertain += not certain
                    self._set_target(best)
                    return best
                if stuck:  # no fit is better than the present one: select by its scores
                    break
                improving = fit.improve(HALF * (best.margin - distance))
                rounds += 1
                distance = self.columns.length(fit.r - self._last_r)

    def _set_target(self, best: Candidate) -> None:
        """Guess the radius that the next selection needs: margins shrink slowly on the way."""
        if best.lipschitz > 0.0:
            usual = math.sqrt(self._target_radius * HALF * best.margin)
            self._target_radius = min(usual, MAX_RADIUS * best.score / best.lipschitz)

    def _best(self) -> Candidate:
        """The best candidate at the present r; groups go before columns of the same score."""
        r, radius = self.fit.r, self.fit.radius
        self._last_r = r.copy()
        best = self._column_scores.best(r, radius, Candidate.none(), TIE)
        if self._group_scores is not None:
            best = self._group_scores.best(r, radius, best, TIE)
            if best.group >= 0:  # columns again, for their margin to the group
                best = self._column_scores.best(r, radius, best, TIE)
        if len(best.features):
            both = (self._column_scores, self._group_scores or self._column_scores)
            tolerance = TOLERANCE * best.score / max(scores.lipschitz for scores in both)
            for scores in both:
                scores.column_dots.tolerance = tolerance
        return best

    @checks_overflow
    def solution(self, budget: int) -> Solution:
        """The model with ``budget`` features, fitted on the given columns.

        Parameters
        ----------
        budget : int
            Number of features. The model has fewer where the run stopped before, and more where the
            last group exceeds it. The run grows to the budget if it has not yet.

        Returns
        -------
        Solution
            Its weights minimize loss + l2 ||w||_2^2 over the selected features, to the relative gap
            ``problem.tol``. ``report`` is a :class:`PursuitReport`.

        Warns
        -----
        ConvergenceWarning
            Some selections are uncertain.
        """
        self.grow(budget)
        reached = next((at for at, step in enumerate(self.steps) if step.active >= budget), None)
        steps = self.steps if reached is None else self.steps[: reached + 1]
        count = steps[-1].active if steps else 0
        features = np.array(self.order[:count], dtype=np.int64)
        # The fits above are exact enough to select by, not to the tolerance of a model.
        refit = self._refit(features)
        w = np.zeros(self.problem.design.shape[1])
        w[features] = refit.w
        interrupted = self.stopped == "callback" and reached is None
        if self.uncertain:
            warnings.warn(
                f"{self.uncertain} of {len(self.steps)} selections of the pursuit are uncertain: "
                "the fits before them did not converge. A larger ridge (l2) makes them certain.",
                ConvergenceWarning,
                stacklevel=3,
            )
        found = Solution(
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
        check_finite(found)
        return found

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
        self._refits[count] = refit.w, refit.b
        return refit

    def _start(self, count: int) -> tuple[Floats, float]:
        """Start for the fit of the first ``count`` features: the last refit with fewer of them."""
        last = max((size for size in self._refits if size <= count), default=0)
        if not last:
            return self.fit.w[:count] / self.columns.norms[self.order[:count]], self.fit.b
        w, b = self._refits[last]
        return np.concatenate([w, np.zeros(count - last)]), b
