"""Pursuit: the greedy selection of columns, of groups, and of columns inside of groups.

Sparsity inside a selected group: its features one at a time, while they help.

The outlook of skianis2018 (section 6) is to "additionally penalize features inside the groups,
similarly to sparse group lasso". There a feature of an active group has no weight while |x_j . r|
is at most a threshold, r being the derivatives of the loss with all others in the model. So does a
pursuit here: inside a group it goes on as on single columns, with a fit after each, until what is
left is below a share of the group's first (docs/pursuit.md, G4).

Greedy pursuits: orthogonal matching pursuit, and its version for overlapping groups.

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
from typing import NamedTuple

import numpy as np

from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import check_strengths
from textreg.records import (
    Floats,
    Int32s,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    Step,
)
from textreg.records.arrays import as_array
from textreg.solvers.column_scores import (
    TOLERANCE,
    Candidate,
    ColumnDots,
    ColumnScores,
    GroupScores,
    UnitColumns,
    unit_columns,
)
from textreg.solvers.outcome import check_finite, checks_overflow
from textreg.solvers.pursuit_model import INTERCEPTS, LEAST_RIDGE, ActiveFit, Models, with_bias


class Best(NamedTuple):
    """The feature of the best score, that score, and whether it is certain to be the best."""

    feature: int
    score: float
    certain: bool


def best_inside(  # noqa: PLR0913  # a fit, columns, and what to look for
    fit: ActiveFit,
    columns: UnitColumns,
    scale: Floats,
    features: Int32s,
    *,
    share: float,
    first: float,
    tie: float,
    rounds: int,
) -> Best | None:
    """The feature of the best scale_j |x_j . r| for the r of an exact fit.

    None where the score is below ``share`` times ``first``, that of the first feature; 0 where this
    is it. features: ascending; of scores that differ by less than the share ``tie`` the first is
    the best. rounds: most Newton steps.
    """
    improving, done = True, 0
    while True:
        scores = scale[features] * np.abs(columns.dots(fit.r, features))
        at = int(np.argmax(scores >= (1.0 - tie) * scores.max()))
        best, others = float(scores[at]), scores[scores < (1.0 - tie) * scores.max()]
        # Every x_j . r is off by the radius at most, and each score by its scale times that.
        error = fit.radius * float(scale[features].max())
        margin = best - float(others.max(initial=-math.inf))
        beyond = best - share * first
        certain = 2.0 * error < margin and (1.0 + share) * error < abs(beyond)
        if beyond < 0.0:  # only that has to be certain
            certain = (1.0 + share) * error < -beyond
        if certain or not improving or done >= rounds:
            return Best(int(features[at]), best, certain) if beyond >= 0.0 else None
        target = 0.25 * min(margin, abs(beyond)) / float(scale[features].max())
        improving = fit.improve(target)
        done += 1


# What a pursuit may select from: columns of norm one, or those of the problem.
COLUMNS = ("unit", "given")

# What epsilon may be compared with.
EPSILON_OF = ("score", "residual")

# Scores that differ by less, relatively, are equal but for rounding.
TIE = 1e-12

# The radius of a fit must be at most this share of the last score before scores are computed.
MAX_RADIUS = 5e-3

# Share of the margin that the radius is reduced to.
HALF = 0.5

# Most Newton steps for one selection.
ROUNDS = 100

# More features than there are, after which the bias is selected where it is not.
NEVER = 2**62


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
        The run ends when what is compared with it, ``epsilon_of``, is no larger.
    epsilon_of : {"score", "residual"}, default "score"
        "score" is the best |x_j . r|, or the best score of a group (Algorithms 1 and 2, line 3);
        "residual" the norm of r after a fit (section 4).
    intercept : {"free", "ridge", "feature"}, default "free"
        "free" has no penalty. "feature" is a column of ones, a feature like any other but for the
        budget, as in the paper: the run starts with r = y, up to a factor, and there is no
        intercept unless it is selected. "ridge" is that column, selected first, as in the authors'
        code; the intercept of the model that is given in the end is free. None of this holds where
        the problem has no intercept.
    score : str, default ""
        How groups are scored, see :class:`~textreg.solvers.column_scores.GroupScores`. Empty for a
        pursuit of columns alone, which ignores groups.
    singletons : bool, default True
        Whether single columns compete with the groups.
    inside : float, default 0
        Sparsity inside a selected group. 0 adds it as a whole. Else its features are added one at a
        time, the best |x_j . r| first, until that is below this share of the first; the others are
        left to later steps.
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
        epsilon_of: str = "score",
        intercept: str = "free",
        score: str = "",
        singletons: bool = True,
        inside: float = 0.0,
        initial: Sequence[int] = (),
    ) -> None:
        for name, given, known in (
            ("columns", columns, COLUMNS),
            ("epsilon_of", epsilon_of, EPSILON_OF),
            ("intercept", intercept, INTERCEPTS),
        ):
            if given not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {given!r}.")
        check_strengths(l2=l2)
        self._given, self._bias, self._bias_after = problem, -1, NEVER
        if intercept != "free" and problem.fit_intercept:
            self._bias = problem.design.shape[1]
            problem = with_bias(problem)
        self.problem, self.l2, self.epsilon = problem, l2, epsilon
        self._epsilon_of, self._intercept, self._inside = epsilon_of, intercept, inside
        self.columns = unit = unit_columns(problem)
        size = np.sign(unit.norms) if columns == "unit" else unit.norms.copy()
        if self._bias >= 0:
            size[self._bias] = unit.norms[self._bias]  # ones stay ones
        # Fits are on columns of norm one, in both modes: with w_j = u_j / size_j the ridge l2 w_j^2
        # is 1/2 q_j u_j^2.
        q = 2.0 * l2 / np.where(size > 0.0, size, 1.0) ** 2
        self.fit = ActiveFit(problem, unit, q)
        self.proven = bool((q >= LEAST_RIDGE).all())
        self._group_scores: GroupScores | None = None
        self._size = scale = size
        if score:
            if problem.groups is None:
                raise UsageError("a pursuit of groups needs groups, and the problem has none.")
            self._group_scores = GroupScores(problem.groups, unit, size, score)
            scale = self._group_scores.column_scale(size)
            if not singletons:
                scale = np.where(np.arange(len(scale)) == self._bias, scale, 0.0)
        column_dots = ColumnDots(unit, unit.distinct(scale))
        if self._group_scores is not None:
            shared = self._group_scores.column_dots
            column_dots = shared if shared.distinct is column_dots.distinct else column_dots
        self._column_scores = ColumnScores(column_dots, scale)
        self.order: list[int] = []
        self.steps: list[SelectionStep] = []
        self.history: list[Step] = []
        self.uncertain, self.stopped = 0, ""
        self._last_r = np.zeros(len(problem.y))
        self._target_radius = MAX_RADIUS
        own = self.problem if intercept == "feature" else self._given
        self._models = Models(own, l2, self._bias)
        if self._bias >= 0 and intercept == "ridge":
            self._activate(np.array([self._bias], dtype=np.int32), -1)
        if len(initial):
            features = as_array("initial", initial, np.int32)
            largest = self._given.design.shape[1] - 1
            if features.min() < 0 or features.max() > largest:
                raise UsageError(f"initial must be features from 0 to {largest}.")
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
            if self._epsilon_of == "residual" and self.fit.features and self._residual_is_small():
                self.stopped = "epsilon"
                return
            best = self._select()
            value = best.score if self._group_scores is None else best.score**2
            if not len(best.features):
                self.stopped = "exhausted"
            elif self._epsilon_of == "score" and value <= self.epsilon:
                self.stopped = "epsilon"
            elif best.features[0] == self._bias:
                self._activate(best.features, -1)
            else:
                self.history.append(Step(len(self.order), self.fit.objective, math.nan))
                if best.group >= 0 and self._inside > 0.0:
                    self._activate_inside(best)
                else:
                    self._activate(best.features, best.group)
                if callback is not None and callback(self.history[-1]):
                    self.stopped = "callback"

    def _activate(self, features: Int32s, group: int) -> None:
        """Make ``features`` active, as one step."""
        self._add(features)
        if features[0] != self._bias:
            self.steps.append(SelectionStep(group, len(self.order)))

    def _add(self, features: Int32s) -> None:
        self.fit.add(features)
        self._column_scores.remove(features)
        if self._group_scores is not None:
            self._group_scores.remove(features)
        if features[0] == self._bias:
            self._bias_after = len(self.order)
        else:
            self.order.extend(features.tolist())

    def _activate_inside(self, group: Candidate) -> None:
        """Make those features of a group active that help, as one step."""
        left, first, uncertain = group.features, 0.0, False
        while len(left):
            best = best_inside(
                self.fit, self.columns, self._size, left,
                share=self._inside, first=first, tie=TIE, rounds=ROUNDS,
            )  # fmt: skip
            if best is None:
                break
            first = first or best.score
            uncertain = uncertain or not best.certain
            self._add(np.array([best.feature], dtype=np.int32))
            left = left[left != best.feature]
        self.uncertain += uncertain
        self.steps.append(SelectionStep(group.group, len(self.order)))

    def _residual_is_small(self) -> bool:
        """Whether the norm of r, of the exact fit, is at most epsilon."""
        fit, rounds, improving = self.fit, 0, True
        while True:
            beyond = self.columns.length(fit.r) - self.epsilon
            if abs(beyond) > fit.radius or not improving or rounds >= ROUNDS:
                return beyond <= 0.0
            improving = fit.improve(HALF * abs(beyond))
            rounds += 1

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
        order = self.order[:count]
        last = count if reached is None else count - 1
        has_bias = self._intercept == "feature" and self._bias_after <= last
        refit = self._models.fit(order, self.fit, self.columns.norms, has_bias)
        w = np.zeros(self._given.design.shape[1])
        w[order] = refit.w
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
                order=tuple(order),
                steps=tuple(steps),
                uncertain=self.uncertain,
                proven=self.proven,
                stopped=self.stopped if reached is None else "budget",
            ),
        )
        check_finite(found)
        return found
