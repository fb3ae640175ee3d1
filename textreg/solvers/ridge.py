"""Newton's method for a ridge, with conjugate gradients preconditioned by the hardest documents.

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

Far from the optimum the scores of documents on the wrong side of the border have to change sign,
and on the way their curvature is much larger than where they are: steps for the second derivatives
lead far beyond. Their curvature is then that of the parabola that touches the loss at their score
and at its negative, and lies above it (Jaakkola & Jordan 2000).
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from textreg._core.curvature import row_scores, row_sums, scaled_gram
from textreg.losses import Logistic
from textreg.penalties import Separable
from textreg.records import Design, Floats, Int32s, Problem, Solution, Step
from textreg.records.block_design import BlockDesign
from textreg.solvers.block_rows import BlockRows
from textreg.solvers.certificate import relative_gap, ridge_bound
from textreg.solvers.compact_rows import CompactRows, compact_rows, significant
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import IDLE, NOISE, Engine, slope_of_intercept
from textreg.solvers.line_search import Advance
from textreg.solvers.outcome import checks_overflow, finish
from textreg.solvers.smooth_step import Parabola, go_along, smooth_step

SMALL = 100_000
"""Values of a matrix for which other steps are quick enough, and solve more exactly than asked."""

ROUNDS = 100
"""Most iterations of conjugate gradients in a step."""

ROUGH, FINE = 0.3, 0.01
"""Largest and smallest share of the gradient that a step may leave."""

CLOSE = 0.3
"""Share of the tolerated gap that a step need not go below."""

DOCUMENTS = 192
"""The most documents that the preconditioner holds."""

PRICE, GATHERED = 4, 8
"""What it may cost, in products with all documents, and how much more a gathered entry costs."""

HARD = 0.05
"""Curvature, as a share of q, above which a document is worth to be in the preconditioner."""

WORTH = 0.2
"""The least share of all curvature that these documents must hold."""

LEAST = 1e-6
"""The least curvature of the intercept that the other documents are taken to have, as a share."""

NEGLIGIBLE = 3e-3
"""Share of all curvature that documents hold which are left out of the model, times that share of
the gradient which the step may leave."""

FAR = 0.1
"""Relative gap above which documents are taken to be on their way to the other side."""


def suits(problem: Problem) -> bool:
    """Whether these steps are the ones to take: the logistic loss, and a matrix that is not small.

    The curvature of other losses jumps, where steps that leave documents out lead nowhere.
    """
    return isinstance(problem.loss, Logistic) and len(problem.design.columns.indices) > SMALL


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
    penalty = Separable.constant(problem.design.shape[1], l2=l2)
    engine = Engine(problem, penalty.value)
    rows = rows_of(problem.design)
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
    else:  # best are weights of parallel columns in proportion to them
        engine.restart(rows.expand(rows.collapse(engine.w)), engine.b)
    history: list[Step] = []
    bound, iteration, idle, exact = -np.inf, 0, 0, True
    while True:
        engine.optimize_intercept()
        gradient = engine.gradient() if exact else rows.gradient(engine.r)
        objective = engine.value + penalty.value(engine.w)
        at_hand = ridge_bound(engine, penalty.q, gradient)
        gap = relative_gap(objective, max(bound, at_hand))
        last = gap <= problem.tol or iteration >= problem.max_iter or idle > IDLE
        if last and not exact:
            engine.restart(engine.w, engine.b)
            exact = True
            continue
        if exact:
            bound = max(bound, at_hand)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if last or stopped:
            break
        iteration, exact = iteration + 1, False
        if gap > FAR:
            use_crossing_curvature(engine)
        share = min(ROUGH, max(FINE, 0.5 * math.sqrt(min(gap, 1.0))))
        enough = Accuracy(share, problem.tol * objective)
        fall = ridge_step(engine, rows, penalty.q, gradient, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    norm = math.sqrt(float(rows.squares.sum()) / len(engine.z))  # see scales.document_norm
    slope_b = norm * slope_of_intercept(engine)
    rest = gradient + penalty.q * engine.w
    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=max(float(np.abs(rest).max(initial=0.0)), slope_b),
        iterations=iteration,
        converged=gap <= problem.tol,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


def rows_of(design: Design) -> CompactRows | BlockRows:
    """The rows as the inner products of a step read them."""
    if not isinstance(design, BlockDesign):
        return compact_rows(design, merge=True)
    return design.cache.get("block rows", lambda: BlockRows(design))


class Accuracy(NamedTuple):
    """When a step is accurate enough.

    share: of the gradient of the objective, how much it may leave. gap: the tolerated gap,
    absolute; the step need not be more accurate than that.
    """

    share: float
    gap: float


def ridge_step(
    engine: Engine,
    rows: CompactRows | BlockRows,
    q: Floats,
    gradient: Floats,
    accuracy: Accuracy,
) -> float:
    """One Newton step; the fall of the objective, 0.0 if it is lost in rounding.

    The scores are moved by what the rows say, where values may be float32: who needs them exactly
    calls ``engine.restart``.

    Parameters
    ----------
    engine : Engine
        Where the fit stands; moved.
    rows : CompactRows
        Those of the matrix; where parallel columns are merged, the weights are those of
        ``rows.expand``.
    q : ndarray, shape (p,)
        Curvature of the penalty, above 0.
    gradient : ndarray, shape (p,)
        That of the loss.
    accuracy : Accuracy
        Of the step.
    """
    here = engine.z

    def step() -> Advance:
        moved = engine.z is not here
        return _step(engine, rows, q, engine.gradient() if moved else gradient, accuracy)

    return smooth_step(engine, step)


def _step(
    engine: Engine,
    rows: CompactRows | BlockRows,
    q: Floats,
    gradient: Floats,
    accuracy: Accuracy,
) -> Advance:
    """The step for the second derivatives as they stand."""
    slope, slope_b = gradient + q * engine.w, float(engine.r.sum()) if engine.fit_intercept else 0.0
    strengths, rest = rows.penalty(q), -rows.collapse(slope)

    def gap(rest: Floats) -> float:
        """That of a fit whose objective has this gradient."""
        return 0.5 * float((rest / strengths) @ rest)

    # A gap that is small from the start is due to the intercept: then move at all.
    tolerated = min(CLOSE * accuracy.gap, 0.5 * gap(rest))

    def enough(rest: Floats, rest_b: float) -> bool:
        return gap(rest) <= tolerated and gap(model.without_intercept(rest, rest_b)) <= tolerated

    model = RidgeModel(engine, rows, strengths, NEGLIGIBLE * accuracy.share)
    change, change_b, move = conjugate_gradients(
        model,
        (rest, -slope_b),
        Direction(np.zeros(rows.size), 0.0, np.zeros(len(engine.z))),
        rounds=ROUNDS,
        accuracy=accuracy.share,
        enough=enough,
    )
    w = rows.expand(change)
    rows.scores(model.flat, change, change_b, move)
    weighted, weights = q * w, q * engine.w
    penalty = Parabola(
        0.5 * float(weights @ engine.w), float(weights @ w), 0.5 * float(weighted @ w)
    )
    slope_along = float(slope @ w) + slope_b * change_b
    return go_along(engine, Direction(w, change_b, move), slope_along, penalty)


def use_crossing_curvature(engine: Engine) -> None:
    """For documents on the wrong side, the curvature on their way to the other one (R2).

    At a score z it is (s(|z|) - 1/2) / |z| for the logistic function s, at most 1/4.
    """
    wrong = engine.y * engine.z < 0.0
    engine.h[wrong] = engine.loss.curvature_above(engine.z[wrong], engine.y[wrong], engine.c[wrong])


class RidgeModel:
    """The Hessian of loss and ridge at the present weights, and its preconditioner.

    Of documents that hold next to no curvature, ``flat``, it has the diagonal alone.
    """

    def __init__(
        self, engine: Engine, rows: CompactRows | BlockRows, q: Floats, negligible: float
    ) -> None:
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

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores, 0 where documents are flat."""
        out, scores = self._q * w, np.zeros(len(self._h))
        total = self._rows.product(self._documents, self._h, w, b, scores, out)
        return out, total + self._flat_b * b if self._fit_intercept else 0.0, scores

    def without_intercept(self, rest: Floats, rest_b: float) -> Floats:
        """What a residual of the weights becomes when the intercept takes its own to zero."""
        return rest - (rest_b / self._h_sum) * self._weighted_sum if rest_b else rest

    @cached_property
    def _weighted_sum(self) -> Floats:
        """sum_i h_i x_i."""
        return self._rows.sums(self._documents, self._h[self._documents])

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of M, or of the diagonal where no documents stand out."""
        if self._hard is None:
            return w / self._diagonal, b / self._h_sum
        return self._hard.precondition(w, b)


def _affordable(rows: CompactRows | BlockRows) -> int:
    """How many documents the preconditioner can hold for the price of some products.

    A pair of documents costs their common columns, each GATHERED times an entry of a product.
    """
    pairs = PRICE * rows.values / (GATHERED * max(rows.shared, 1.0))
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
        self, engine: Engine, rows: CompactRows | BlockRows, documents: Int32s, diagonal: Floats
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
