"""Orthogonal matching pursuit, of columns and of overlapping groups (skianis2018).

Algorithms 1 and 2 (docs/pursuit.md, G1). Start from the empty model; fit the active features; add
the column, or the group of columns, that correlates best with the residual r, the derivatives of
the loss in the scores; repeat until the budget is reached.

Every selection is that of an exact fit, though no fit is exact: a fit is improved until the best
candidate is certain. Scores are Lipschitz functions of r, so a bound on the distance of r from its
exact value tells when that is, and the change of r since a score was computed bounds the new score.

Inside of a group (section 6, the outlook) a pursuit may go on as on single columns: with a fit
after each, until what is left is below a share of the group's first (G4).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from textreg._core.blocks import block_dots, block_sums
from textreg._core.columns import column_curvature
from textreg._core.pursuit import ridge_descent
from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import Separable, check_strengths
from textreg.records import (
    Design,
    Floats,
    Int32s,
    Int64s,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    Step,
)
from textreg.records.arrays import as_array
from textreg.solvers.column_scores import (
    NO_CANDIDATE,
    TOLERANCE,
    Candidate,
    ColumnDots,
    ColumnScores,
    GroupScores,
    UnitColumns,
    unit_columns,
)
from textreg.solvers.linear_algebra import (
    Advance,
    Direction,
    Hessian,
    backtrack,
    conjugate_gradients,
    step_with_fallback,
)
from textreg.solvers.newton import newton
from textreg.solvers.state import INTERCEPT_STEPS, PASSES, SHORT, check_finite, checks_overflow

# What a pursuit may select from: columns of norm one, or those of the problem.
COLUMNS = ("unit", "given")

# How it may treat the intercept.
INTERCEPTS = ("free", "ridge", "feature")

# What epsilon may be compared with.
EPSILON_OF = ("score", "residual")

# Scores that differ by less, relatively, are equal but for rounding.
TIE = 1e-12

# The radius of a fit must be at most this share of the last score before scores are computed.
MAX_RADIUS = 5e-3

# Share of the margin that the radius is reduced to.
OF_MARGIN = 0.5

# Most Newton steps for one selection.
NEWTON_STEPS = 100

# Conjugate gradients are used once a step leaves more than this share of the radius. With nearly as
# many features as documents, coordinate descent alone leaves selections uncertain.
CG_FROM = 0.5

# Share of the target radius that weights which are not moved, being nearly optimal, may leave.
UNMOVED = 0.3

# Share of the target radius that the intercept may leave.
INTERCEPT_SHARE = 0.2

# Relative rounding of the objective; a rise below it does not undo a step.
NOISE = 1e-11

# Curvature that is assumed where the ridge has less; distances are estimates then.
LEAST_RIDGE = 1e-3


class ActiveColumns:
    """Copies of the active columns, in the order in which they were added.

    They lie together in memory because every round of coordinate descent reads all of them.
    """

    def __init__(self, columns: UnitColumns) -> None:
        self._columns = columns
        self._indptr = np.zeros(1, dtype=np.int64)
        self._indices, self._data = np.empty(0, dtype=np.int32), np.empty(0)
        self.every = np.empty(0, dtype=np.int32)

    @property
    def matrix(self) -> tuple[Int64s, Int32s, Floats]:
        """The arrays as kernels take them: offsets of the columns, rows, values."""
        return self._indptr, self._indices, self._data

    def add(self, features: Int32s) -> None:
        """Append the columns of ``features``."""
        indptr, indices, data = self._columns.matrix
        for j in features.tolist():
            begin, size = int(self._indptr[-1]), int(indptr[j + 1] - indptr[j])
            if begin + size > len(self._data):  # doubling: the copies cost O(1) for each entry
                capacity = max(begin + size, 2 * len(self._data))
                self._indices = np.resize(self._indices, capacity)
                self._data = np.resize(self._data, capacity)
            self._indices[begin : begin + size] = indices[indptr[j] : indptr[j + 1]]
            self._data[begin : begin + size] = data[indptr[j] : indptr[j + 1]]
            self._indptr = np.append(self._indptr, begin + size)
        self.every = np.arange(len(self._indptr) - 1, dtype=np.int32)

    def product(self, w: Floats, b: float) -> Floats:
        """The scores of the weights of all columns, and of an intercept."""
        z = np.full(self._columns.shape[0], b)
        block_sums(*self.matrix, w[:, None], z[:, None])
        return z

    def transposed_product(self, v: Floats) -> Floats:
        """The inner products of all columns with v (n,)."""
        dots = np.empty(len(self.every))
        block_dots(*self.matrix, v[:, None], dots[:, None])
        return dots

    def curvature(self, h: Floats) -> Floats:
        """sum_i h_i x_ij^2 for every column."""
        curvature = np.empty(len(self.every))
        column_curvature(*self.matrix, h, self.every, curvature)
        return curvature


class ActiveFit:
    """Weights of the active features on columns of norm one, in the order they were added.

    features: their indices. w: their weights. b: intercept. z: scores (n,). r: derivatives of the
    loss there (n,), by which the next feature is selected. radius: a bound on the distance of r
    from that of the exact fit.
    """

    def __init__(self, problem: Problem, columns: UnitColumns, q: Floats) -> None:
        """q: (p,), the ridge of every feature: strength of its halved squared weight."""
        self.problem, self._ridge = problem, q
        self.loss = problem.loss
        self._largest_curvature = self.loss.largest_curvature()
        n = columns.shape[0]
        self._root_n = math.sqrt(float(problem.sample_weight.sum()))
        self.b = problem.intercept_at_zero()
        self.z, self.r, self.h = np.full(n, self.b), np.empty(n), np.empty(n)
        self.features: list[int] = []
        self._columns = ActiveColumns(columns)
        self.w, self._q, self._inverse = np.empty(0), np.empty(0), np.empty(0)
        self.radius, self._intercept_radius, self._slow = 0.0, 1e-9, False
        self._refresh()
        self._measure()

    @property
    def objective(self) -> float:
        """F at the present weights."""
        return self.value + 0.5 * float(self._q @ (self.w * self.w))

    def add(self, features: Int32s) -> None:
        """Make more features active, with weights of zero."""
        self._columns.add(features)
        self.w = np.append(self.w, np.zeros(len(features)))
        q = self._ridge[features]
        self._q = np.append(self._q, q)
        self._inverse = np.append(self._inverse, 1.0 / np.maximum(q, LEAST_RIDGE))
        self.features.extend(features.tolist())
        self.radius, self._slow = math.inf, False

    def improve(self, target: float) -> bool:
        """One Newton step toward the radius ``target``; False where it is lost in rounding."""
        self._intercept_radius = INTERCEPT_SHARE * target
        start, before = (self.w.copy(), self.b, self.z), self.objective
        last_radius, bounded = self.radius, False

        def step() -> Advance:
            self._minimize_model(UNMOVED * target, bounded)
            return self._search(start, before)

        def use_curvature_bound() -> None:
            nonlocal bounded
            bounded = True
            self.w[:], self.b, self.z = start
            self._derive()
            self.h = self.loss.curvature_bound(self.problem.sample_weight)

        decrease = step_with_fallback(
            step, use_curvature_bound, failed=lambda advance: advance.length == 0.0
        )
        self._measure()
        self._slow = self._slow or self.radius > CG_FROM * last_radius
        return not bounded or decrease > NOISE * abs(before)

    def _minimize_model(self, target: float, bounded: bool) -> None:
        """Move w and b toward the minimum of the quadratic model, by r and h as they are."""
        k = len(self.features)
        slack = target**2 / (0.25 * self._largest_curvature * max(k, 1))
        # Coordinate descent, the newest weights first: they have the longest way to go.
        newest = self._columns.every[::-1].copy()
        self.b = ridge_descent(
            *self._columns.matrix, self.h, self.r, newest, self._q, np.empty(k),
            self.w, self.b, self.problem.fit_intercept, 0.0 if bounded else slack, PASSES,
        )  # fmt: skip
        if self._slow and not bounded:
            self._conjugate(target)

    def _conjugate(self, target: float) -> None:
        """Conjugate gradients, until r is within ``target`` of the minimum of the model.

        They start at the present weights, and r holds the derivatives of the model there.
        """
        columns, q, intercept = self._columns, self._q, self.problem.fit_intercept
        parts = self.h, q, columns.curvature(self.h) + q, intercept
        model = Hessian(columns.product, columns.transposed_product, *parts)
        if model.of_intercept() <= 0.0 or not model.diagonal.all():
            return
        enough = target**2 / (0.25 * self._largest_curvature)
        residual = -self._gradient(), -float(self.r.sum()) if intercept else 0.0
        # The bound of docs/pursuit.md, G2, tells when it is near enough.
        self.w[:], self.b, _ = conjugate_gradients(
            model,
            residual,
            Direction(self.w, self.b, self.z),
            enough=lambda rest, _: float((rest * rest) @ self._inverse) <= enough,
        )

    def _gradient(self) -> Floats:
        """The derivatives of F, or of its model, in the weights."""
        return self._columns.transposed_product(self.r) + self._q * self.w

    def _search(self, start: tuple[Floats, float, Floats], before: float) -> Advance:
        """Go from ``start`` to the present weights, or half or a quarter of that way."""
        w, b, z = start
        change, change_b = self.w - w, self.b - b
        move = self._columns.product(change, change_b)

        def decrease_at(length: float) -> float:
            self.w[:] = w + length * change
            self.b, self.z = b + length * change_b, z + length * move
            self._refresh()
            return before - self.objective

        return backtrack(decrease_at, 0.0, NOISE * abs(before), SHORT)

    def _derive(self) -> None:
        """Compute the loss and its derivatives at the present scores."""
        problem = self.problem
        self.value = self.loss.derivatives(self.z, problem.y, problem.sample_weight, self.r, self.h)

    def _refresh(self) -> None:
        """Compute the loss and its derivatives, with the intercept moved to its optimum.

        r is wrong by at most ``_intercept_error``: that is no farther than two steps of Newton's.
        """
        self._derive()
        self._intercept_error = 0.0
        for _ in range(INTERCEPT_STEPS if self.problem.fit_intercept else 0):
            curvature = float(self.h.sum())
            if curvature <= 0.0:
                return
            shift = -float(self.r.sum()) / curvature
            self._intercept_error = 2.0 * self._largest_curvature * self._root_n * abs(shift)
            if self._intercept_error <= self._intercept_radius:
                return
            value, b, z = self.value, self.b, self.z
            self.b, self.z = b + shift, z + shift
            self._derive()
            if not self.value <= value * (1.0 + NOISE):  # too far, where the loss is flat
                self.b, self.z = b, z
                self._derive()
                return

    def _measure(self) -> None:
        """Bound the distance of r from that of the exact fit (docs/pursuit.md, G2).

        With g the gradient of F and L the largest curvature of the loss, (r - r*).(z - z*) +
        sum_j q_j d_j^2 = g.d for d = u - u*, and the first term is at least |r - r*|^2 / L; so
        |r - r*|^2 <= L/4 sum_j g_j^2 / q_j, whatever d is.
        """
        g = self._gradient()
        share = float((g * g) @ self._inverse)
        self.radius = math.sqrt(0.25 * self._largest_curvature * share) + self._intercept_error


def with_bias(problem: Problem) -> Problem:
    """The problem with a last feature that is 1 in every document, in the place of an intercept.

    Made once for all labels and ridges that share its matrix and groups.
    """
    n, p = problem.design.shape

    def design() -> Design:
        from scipy.sparse import csr_array, hstack

        return Design(hstack([problem.X, csr_array(np.ones((n, 1)))], format="csr"))

    groups, cache = problem.groups, problem.design.cache
    if groups is not None:
        # The value holds the groups, so that their id stays theirs.
        key, original = ("with a bias", id(groups)), groups
        _, groups = cache.get(key, lambda: (original, original.widened(p + 1)))
    return problem.replace(
        X=cache.get("with a bias", design),
        groups=groups,
        graph=None,
        start=None,
        validation=None,
        fit_intercept=False,
    )


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
        for name, value, choices in (
            ("columns", columns, COLUMNS),
            ("epsilon_of", epsilon_of, EPSILON_OF),
            ("intercept", intercept, INTERCEPTS),
        ):
            if value not in choices:
                raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
        check_strengths(l2=l2)
        self._given, self._bias, self._bias_after = problem, -1, math.inf  # of features: never
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
        self._refits: dict[int, tuple[Floats, float]] = {}  # weights and intercept, by their number
        if self._bias >= 0 and intercept == "ridge":
            self._activate(np.array([self._bias], dtype=np.int32), -1)
        if len(initial):
            features = as_array("initial", initial, np.int32)
            largest, once = self._given.design.shape[1] - 1, np.unique(features)
            if once[0] < 0 or once[-1] > largest or len(once) < len(features):
                raise UsageError(f"initial must be features from 0 to {largest}, none twice.")
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
                if self.problem.stops(self.history[-1]):
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
        left, first, uncertain = group.features, 0.0, self.uncertain
        while len(left) and (best := self._best_inside(left, self._inside * first)) is not None:
            feature, score = best
            first = first or score
            self._add(np.array([feature], dtype=np.int32))
            left = left[left != feature]
        self.uncertain = min(self.uncertain, uncertain + 1)  # of the step, not of its features
        self.steps.append(SelectionStep(group.group, len(self.order)))

    def _best_inside(self, features: Int32s, least: float) -> tuple[int, float] | None:
        """The feature of the best size_j |x_j . r| for the r of an exact fit, and this score.

        None where it is below ``least``, a share of that of the first feature (G4). features:
        ascending; of equal scores the first is the best.
        """
        size = self._size[features]
        self._begin()
        while True:
            scores = size * np.abs(self.columns.dots(self.fit.r, features))
            at = int(np.argmax(scores >= (1.0 - TIE) * scores.max()))
            best, lower = float(scores[at]), scores[scores < (1.0 - TIE) * scores.max()]
            # Every x_j . r is off by the radius at most, and each score by its size times that.
            largest = float(size.max())
            error = self.fit.radius * largest
            margin, beyond = best - float(lower.max(initial=-math.inf)), best - least
            certain = (1.0 + self._inside) * error < abs(beyond)
            if beyond >= 0.0:  # else only that has to be certain
                certain = certain and 2.0 * error < margin
            if certain or not self._improve(0.25 * min(margin, abs(beyond)) / largest):
                self.uncertain += not certain and beyond >= 0.0
                return (int(features[at]), best) if beyond >= 0.0 else None

    def _residual_is_small(self) -> bool:
        """Whether the norm of r, of the exact fit, is at most epsilon."""
        self._begin()
        while True:
            beyond = self.columns.length(self.fit.r) - self.epsilon
            if abs(beyond) > self.fit.radius or not self._improve(OF_MARGIN * abs(beyond)):
                return beyond <= 0.0

    def _begin(self) -> None:
        """Allow Newton steps for one more decision."""
        self._left = NEWTON_STEPS

    def _improve(self, target: float) -> bool:
        """One Newton step toward the radius ``target``; False where no more would help."""
        if not self._left:
            return False
        self._left = self._left - 1 if self.fit.improve(target) else 0
        return True

    def _select(self) -> Candidate:
        """The candidate that an exact fit would add next."""
        fit = self.fit
        self._begin()
        while fit.radius > self._target_radius and self._improve(self._target_radius):
            pass
        while True:
            best, distance = self._best(), 0.0
            while distance < best.margin:
                # The exact r lies no farther than this from the one that the scores belong to. As
                # scores are Lipschitz, within the margin the same candidate has the best score.
                certain = distance + fit.radius < best.margin
                if certain or (not self._left and distance == 0.0):
                    self.uncertain += not certain
                    self._set_target(best)
                    return best
                if not self._improve(OF_MARGIN * (best.margin - distance)):
                    break  # no fit is better than the present one: select by its scores
                distance = self.columns.length(fit.r - self._last_r)

    def _set_target(self, best: Candidate) -> None:
        """Guess the radius that the next selection needs: margins shrink slowly on the way."""
        if best.lipschitz > 0.0:
            usual = math.sqrt(self._target_radius * OF_MARGIN * best.margin)
            self._target_radius = min(usual, MAX_RADIUS * best.score / best.lipschitz)

    def _best(self) -> Candidate:
        """The best candidate at the present r; groups go before columns of the same score."""
        r, radius = self.fit.r, self.fit.radius
        self._last_r = r.copy()
        best = self._column_scores.best(r, radius, NO_CANDIDATE, TIE)
        if self._group_scores is not None:
            best = self._group_scores.best(r, radius, best, TIE)
            if best.group >= 0:  # columns again, for their margin to the group
                best = self._column_scores.best(r, radius, best, TIE)
        if len(best.features):
            scorers = (self._column_scores, self._group_scores or self._column_scores)
            tolerance = TOLERANCE * best.score / max(scores.lipschitz for scores in scorers)
            for scores in scorers:
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
        refit = self._refit(order, has_bias)
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
        solution = Solution(
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
        check_finite(solution)
        return solution

    def _refit(self, order: list[int], has_bias: bool) -> Solution:
        """The weights of the features in ``order`` on the given columns, and the intercept.

        The fits that select are exact enough for that, not to the tolerance of a model. Each one
        here starts from the last with fewer features. has_bias: whether the feature that stands for
        the intercept is in the model.
        """
        problem = self.problem if self._intercept == "feature" else self._given
        features = [*order, self._bias] if has_bias else order
        if not features:
            b = problem.intercept_at_zero()
            value = problem.loss.value(np.full(len(problem.y), b), problem.y, problem.sample_weight)
            return Solution(w=np.empty(0), b=b, objective=value, residual=0.0, converged=True)
        last = max((size for size in self._refits if 0 < size <= len(order)), default=0)
        if last:
            w, b = self._refits[last]
            w = np.append(w, np.zeros(len(order) - last))
        else:
            active = self.fit.features
            weights = dict(zip(active, self.fit.w / self.columns.norms[active], strict=True))
            w, b = np.array([weights[j] for j in order]), weights.get(self._bias, self.fit.b)
        start = (np.append(w, b), 0.0) if has_bias else (w, b)
        small = problem.over(problem.X_csc[:, features], start, callback=None)
        solution = newton(small, Separable.constant(len(features), l2=self.l2))
        w, b = (solution.w[:-1], float(solution.w[-1])) if has_bias else (solution.w, solution.b)
        self._refits[len(order)] = w, b
        return replace(solution, w=w, b=b)
