"""Ridge: Newton's method by compact rows, and sweeps of dual coordinate ascent.

A Newton step under a ridge, by conjugate gradients preconditioned by the hardest documents.

    min  F(w, b) = sum_i c_i l(y_i, x_i w + b) + 1/2 sum_j q_j w_j^2

A step solves H d = -F' with H = X'DX + Q, where D = diag(h) holds the curvature of the loss. A few
hundred documents, those near the border between the labels, often hold nearly all of it. With these
documents S alone

    M = X_S' D_S X_S + Q,
    M^-1 = Q^-1 - Q^-1 X_S' (X_S Q^-1 X_S' + D_S^-1)^-1 X_S Q^-1

(Sherman, Morrison & Woodbury; docs/maths.md, R1) M^-1 H is near the identity, and two or three
products with X solve a step. In M Q holds more than the penalty: the diagonal of X'DX of the other
documents, with their mean curvature. Documents with next to none are left out of H but for their
diagonal. Products read the rows of X once (see :mod:`.compact_rows`).

Before, sweeps of dual coordinate ascent come near in a few passes, and end where the ridge is weak
(see :mod:`.dual_ascent`).
Far from the optimum the scores of documents on the wrong side of the border have to change sign,
and on the way their curvature is much larger than where they are: steps for the second derivatives
lead far beyond. Their curvature is then that of the parabola that touches the loss at their score
and at its negative, and lies above it (Jaakkola & Jordan 2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from textreg._core.curvature import row_scores, row_sums, scaled_gram
from textreg.losses import Logistic
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.records.design import BlockDesign
from textreg.solvers import dual_ascent
from textreg.solvers.certificate import dual_value, relative_gap, ridge_bound
from textreg.solvers.compact_rows import CompactRows, compact_rows, significant
from textreg.solvers.dual_ascent import Ascent
from textreg.solvers.engine import (
    IDLE,
    NOISE,
    SHORT,
    Engine,
    Parabola,
    go_along,
    slope_of_intercept,
    underflowed,
)
from textreg.solvers.linear_algebra import Advance, Direction, Rounds, conjugate_rounds
from textreg.solvers.outcome import checks_overflow, finish
from textreg.solvers.parallel_columns import over_merged_columns
from textreg.solvers.requests import (
    Fit,
    Gradient,
    HessianProduct,
    Products,
    Restart,
    Sweeps,
    WeightedSum,
    alone,
    side_by_side,
)

# Most iterations of conjugate gradients in a step.
ROUNDS = 100

# Share of the tolerated gap that a step need not go below.
CLOSE = 0.3

# The most documents that the preconditioner holds.
DOCUMENTS = 192

# What it may cost, in products with all documents, and how much more a gathered entry costs.
COST, GATHERED = 4, 8

# Curvature, as a share of q, above which a document is worth to be in the preconditioner.
HARD = 0.05

# The least share of all curvature that these documents must hold.
WORTH = 0.2

# The least curvature of the intercept that the other documents are taken to have, as a share.
LEAST = 1e-6

# Share of all curvature that documents hold which are left out of the model, times that share of
# the gradient which the step may leave.
NEGLIGIBLE = 3e-3


class Accuracy(NamedTuple):
    """When a step is accurate enough.

    share: of the gradient of the objective, how much it may leave. gap: the tolerated gap,
    absolute; the step need not be more accurate than that.
    """

    share: float
    gap: float


def ridge_step(
    engine: Engine,
    rows: CompactRows,
    q: Floats,
    gradient: Floats,
    accuracy: Accuracy,
) -> Fit[float]:
    """One Newton step; the fall of the objective, 0.0 if it is lost in rounding.

    The scores are moved by what the rows say, where values may be float32: who needs them exactly
    asks for a restart. As :func:`.smooth_step`, it tries again with the bound of the
    curvature.

    Parameters
    ----------
    engine : Engine
        Where the fit stands; moved.
    rows : CompactRows
        Those of the matrix.
    q : ndarray, shape (p,)
        Curvature of the penalty, above 0.
    gradient : ndarray, shape (p,)
        That of the loss.
    accuracy : Accuracy
        Of the step.
    """
    here, made = engine.z, Advance(0.0, 0.0)
    if not underflowed(engine):
        made = yield from _step(engine, rows, q, gradient, accuracy)
    fall = made.fall
    if made.length < SHORT:
        engine.use_curvature_bound()
        if engine.z is not here:
            gradient = yield Gradient(engine)
        made = yield from _step(engine, rows, q, gradient, accuracy)
        fall += made.fall
    return fall


def _step(
    engine: Engine,
    rows: CompactRows,
    q: Floats,
    gradient: Floats,
    accuracy: Accuracy,
) -> Fit[Advance]:
    """The step for the second derivatives as they stand."""
    slope_b = float(engine.r.sum()) if engine.fit_intercept else 0.0
    slope = q * engine.w
    slope += gradient
    change = yield from _direction(engine, rows, q, (slope, slope_b), accuracy)
    return advance(engine, q, (slope, slope_b), change)


def _direction(
    engine: Engine,
    rows: CompactRows,
    q: Floats,
    slope: tuple[Floats, float],
    accuracy: Accuracy,
) -> Fit[Direction]:
    """Where the step leads, by the quadratic model. slope: of the objective."""
    strengths, rest = rows.collapse(q), rows.collapse(slope[0])
    np.negative(rest, out=rest)
    model = RidgeModel(engine, rows, strengths, NEGLIGIBLE * accuracy.share)
    sums: Floats | None = None

    def gap(rest: Floats) -> float:
        """That of a fit whose objective has this gradient."""
        return 0.5 * float((rest / strengths) @ rest)

    # A gap that is small from the start is due to the intercept: then move at all.
    tolerated = min(CLOSE * accuracy.gap, 0.5 * gap(rest))

    def enough(rest: Floats, rest_b: float) -> Fit[bool]:
        nonlocal sums
        if not gap(rest) <= tolerated:
            return False
        if rest_b and sums is None:
            sums = yield model.weighted_sum()
        left = rest if sums is None else model.without_intercept(rest, rest_b, sums)
        return gap(left) <= tolerated

    rounds = conjugate_rounds(
        model.precondition,
        (rest, -slope[1]),
        Direction(np.zeros(rows.size), 0.0, np.zeros(len(engine.z))),
        rounds=ROUNDS,
        accuracy=accuracy.share,
        enough=enough,
    )
    change, change_b, move = yield from model.answering(rounds)
    rows.scores(model.flat, change, change_b, move)
    return Direction(rows.expand(change), change_b, move)


def advance(engine: Engine, q: Floats, slope: tuple[Floats, float], change: Direction) -> Advance:
    """Go along a change while it helps.

    q: curvature of the penalty. slope: of the objective, in the weights (p,) and the intercept.
    """
    weighted = q * engine.w
    value, linear = 0.5 * float(weighted @ engine.w), float(weighted @ change.w)
    np.multiply(q, change.w, out=weighted)
    penalty = Parabola(value, linear, 0.5 * float(weighted @ change.w))
    del weighted
    return go_along(engine, change, float(slope[0] @ change.w) + slope[1] * change.b, penalty)


class RidgeModel:
    """The Hessian of loss and ridge at the present weights, and its preconditioner.

    Of documents that hold next to no curvature, ``flat``, it has the diagonal alone.
    """

    def __init__(self, engine: Engine, rows: CompactRows, q: Floats, negligible: float) -> None:
        self._rows, self._h, self._fit_intercept = rows, engine.h, engine.fit_intercept
        self._documents, self.flat = significant(engine.h, engine.c, negligible)
        self._flat_b, self._q = float(engine.h[self.flat].sum()), q.copy()
        rows.add_diagonal(self.flat, engine.h, self._q)
        hard = _hard_documents(engine.h, float(q.min(initial=np.inf)), _affordable(rows))
        self._h_sum = float(engine.h.sum())
        others = max(len(engine.h) - len(hard), 1)
        curvature = (self._h_sum - float(engine.h[hard].sum())) / others
        self._diagonal = q + max(curvature, 0.0) * rows.squares
        self._hard = None
        if len(hard):
            # Where numbers are too far apart for a factor, the diagonal alone has to do.
            with suppress(np.linalg.LinAlgError):
                self._hard = _HardDocuments(engine, rows, hard, self._diagonal)

    def answering(self, rounds: Rounds) -> Fit[Direction]:
        """What conjugate gradients come to, given the Hessian's products and scores.

        Scores are 0 where documents are flat.
        """
        answer: Any = None
        try:
            while True:
                asked = rounds.send(answer)
                del answer  # makes room
                if isinstance(asked, WeightedSum):
                    answer = yield asked
                else:
                    answer = yield from self._product(*asked)
        except StopIteration as end:
            found: Direction = end.value
            return found

    def _product(self, w: Floats, b: float) -> Fit[tuple[Floats, float, Floats]]:
        """The Hessian times (w, b), and the scores."""
        out, scores = self._q * w, np.zeros(len(self._h))
        total = yield HessianProduct(self._rows, self._documents, self._h, w, b, scores, out)
        total += self._flat_b * b
        return out, total if self._fit_intercept else 0.0, scores

    def weighted_sum(self) -> WeightedSum:
        """sum_i h_i x_i."""
        return WeightedSum(self._rows, self._documents, self._h[self._documents])

    def without_intercept(self, rest: Floats, rest_b: float, sums: Floats) -> Floats:
        """What a residual of the weights becomes when the intercept takes its own to zero.

        sums: what answers :meth:`weighted_sum`.
        """
        return rest - (rest_b / self._h_sum) * sums

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of M, or of the diagonal where no documents stand out."""
        if self._hard is None:
            return w / self._diagonal, b / self._h_sum
        return self._hard.precondition(w, b)


def _affordable(rows: CompactRows) -> int:
    """How many documents the preconditioner can hold for the cost of some products.

    A pair of documents costs their common columns, each GATHERED times an entry of a product.
    """
    pairs = COST * rows.values / (GATHERED * max(rows.shared, 1.0))
    return max(1, min(DOCUMENTS, int(math.sqrt(2.0 * pairs))))


def _hard_documents(h: Floats, least: float, most: int) -> Int32s:
    """The documents with the most curvature, ascending; none where they hold too little of it.

    least: the smallest curvature of the penalty. most: how many there may be.
    """
    count = min(most, len(h))
    top = np.argpartition(-h, count - 1)[:count]
    rows: Int32s = np.sort(top[h[top] > HARD * least]).astype(np.int32)
    return rows if h[rows].sum() >= WORTH * h.sum() else rows[:0]


class _HardDocuments:
    """M^-1 for the ``documents``.

    With an intercept every document has one more feature, 1, whose curvature in M is that of the
    other documents.
    """

    def __init__(
        self, engine: Engine, rows: CompactRows, documents: Int32s, diagonal: Floats
    ) -> None:
        """diagonal: Q, (columns,)."""
        h = engine.h[documents]
        self._diagonal, self._arrays, self._others = diagonal, rows.take(documents), 0.0
        self._every = np.arange(len(documents), dtype=np.int32)
        gram = np.zeros((len(documents), len(documents)))
        scaled_gram(*self._arrays, self._every, 1.0 / diagonal, gram)
        if engine.fit_intercept:
            others = float(engine.h.sum() - h.sum())
            self._others = 1.0 / max(others, LEAST * float(h.sum()))
            gram += self._others
        gram[np.diag_indices(len(documents))] += 1.0 / h
        self._factor = np.linalg.cholesky(gram)  # of which the lower triangle is read

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """M^-1 (w, b)."""
        from scipy.linalg.lapack import dpotrs

        w, b = w / self._diagonal, b * self._others
        scores = np.empty(len(self._every))
        row_scores(*self._arrays, self._every, w, b, scores)
        of_documents = dpotrs(self._factor, scores, lower=1)[0]
        sums = np.zeros(len(w))
        row_sums(*self._arrays, self._every, of_documents, sums)
        w -= sums / self._diagonal
        return w, b - self._others * float(of_documents.sum())


# Values of a matrix for which other steps are quick enough, and solve more exactly than asked.
SMALL = 100_000

# Largest and smallest share of the gradient that a step may leave.
ROUGH, FINE = 0.3, 0.01

# Relative gap above which documents are taken to be on their way to the other side.
FAR = 0.1


def suits(problem: Problem) -> bool:
    """Whether these steps are the ones to take: the logistic loss, and a matrix that is not small.

    The curvature of other losses jumps, where steps that leave documents out lead nowhere.
    """
    return isinstance(problem.loss, Logistic) and problem.design.values > SMALL


def can_share(problem: Problem) -> bool:
    """Whether its fit can be side by side with others: the same, and the matrix is there whole."""
    return not isinstance(problem.design, BlockDesign) and suits(problem)


@checks_overflow
def ridge(problem: Problem, l2: float) -> Solution:
    """Minimize loss + l2 ||w||^2, for l2 above 0.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most steps.
    l2 : float
        The strength.

    Returns
    -------
    Solution

    References
    ----------
    dembo1982, for the accuracy of a step.
    """
    return over_merged_columns([problem], lambda one: [alone(_fit(one[0], _penalty(one, l2)))])[0]


@checks_overflow
def ridges(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """The same for several problems that share their matrix, side by side."""

    def solve(some: Sequence[Problem]) -> list[Solution]:
        penalty = _penalty(some, l2)
        return side_by_side([_fit(problem, penalty) for problem in some])

    return over_merged_columns(problems, solve)


def _penalty(problems: Sequence[Problem], l2: float) -> Separable:
    """The penalty, which labels share, as its arrays are as long as their weights."""
    return Separable.constant(problems[0].design.shape[1], l2=l2)


def _fit(problem: Problem, penalty: Separable) -> Fit[Solution]:
    """The fit of one problem: sweeps of dual coordinate ascent, then Newton's steps."""
    q = float(penalty.q.max(initial=0.0)) or 1.0
    rows = compact_rows(problem.design)
    engine = yield from beginning(problem, penalty.value)
    begin = engine.w, engine.b
    history: list[Step] = []
    bound, iteration, idle, exact = -np.inf, 0, 0, True
    sweeps = dual_ascent.suits(engine, rows, q)
    ascent: Ascent | None = None
    while True:
        engine.optimize_intercept()
        objective = engine.value + penalty.value(engine.w)
        swept = None if exact else ascent
        if swept is not None:
            at_hand = yield from bound_of_sweeps(engine, swept)
            bound = max(bound, at_hand)
        else:
            gradient = yield Gradient(engine, None if exact else rows)
            at_hand = ridge_bound(engine, penalty.q, gradient)
        gap = relative_gap(objective, max(bound, at_hand))
        last = gap <= problem.tol or iteration >= problem.max_iter or idle > IDLE
        if last and not exact:
            yield Restart(engine, engine.w, engine.b)
            exact = True
            continue
        if exact:
            bound = max(bound, at_hand)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if sweeps and not (last or stopped):
            ascent = ascent or Ascent(engine, rows, q, gradient)
            if not ascent.goes_on(gap):
                sweeps, ascent = False, None
                if not objective <= history[0].objective:
                    yield Restart(engine, *begin)
                    iteration, exact = iteration + 1, False
                    continue
        if swept is not None and (stopped or ascent is None):
            gradient = yield Gradient(engine, rows)
        if last or stopped:
            break
        iteration, exact = iteration + 1, False
        if ascent is not None:
            z = yield Sweeps(rows, ascent)
            engine.move_to(rows.expand(ascent.u.astype(np.float64)), ascent.b, z + ascent.b)
            continue
        if gap > FAR:
            use_crossing_curvature(engine)
        enough = Accuracy(share_for(gap), problem.tol * objective)
        fall = yield from ridge_step(engine, rows, penalty.q, gradient, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    slope = gradient + penalty.q * engine.w
    return solution_of(problem, engine, slope, rows.squares, history, stopped)


def beginning(problem: Problem, penalty: Callable[[Floats], float]) -> Fit[Engine]:
    """An engine at the start of a problem, or without weights where that is none, or of no use.

    penalty: its value at weights (p,).
    """
    engine = Engine(problem.replace(start=None))
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
        return engine
    w, b = problem.start
    yield Restart(engine, w.copy(), b if problem.fit_intercept else 0.0)
    engine.give_up_if_hopeless(problem, penalty)
    return engine


def bound_of_sweeps(engine: Engine, ascent: Ascent) -> Fit[float]:
    """The dual value of the sweeps' own dual variables: nearer than that of the fit's scores."""
    alpha = ascent.balanced(engine)
    products = yield Products(engine.design, alpha)
    return dual_value(engine, alpha) - 0.5 / ascent.q * float(products @ products)


def share_for(gap: float) -> float:
    """The share of the gradient that a step may leave."""
    return min(ROUGH, max(FINE, 0.5 * math.sqrt(min(gap, 1.0))))


def solution_of(
    problem: Problem,
    engine: Engine,
    slope: Floats,
    squares: Floats,
    history: Sequence[Step],
    stopped: bool,
) -> Solution:
    """What a ridge has come to.

    slope: of the objective, (p,). squares: the sum of the squared values of every column.
    """
    norm = math.sqrt(float(squares.sum()) / len(engine.z))  # see scales.document_norm
    end = history[-1]
    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=end.objective,
        gap=end.gap,
        residual=max(float(np.abs(slope).max(initial=0.0)), norm * slope_of_intercept(engine)),
        iterations=end.iteration,
        converged=end.gap <= problem.tol,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


def use_crossing_curvature(engine: Engine) -> None:
    """For documents on the wrong side, the curvature on their way to the other one (R2).

    At a score z it is (s(|z|) - 1/2) / |z| for the logistic function s, at most 1/4.
    """
    wrong = engine.y * engine.z < 0.0
    engine.h[wrong] = engine.loss.curvature_above(engine.z[wrong], engine.y[wrong], engine.c[wrong])
