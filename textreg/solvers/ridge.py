"""Newton's method for a ridge, with conjugate gradients preconditioned by the hardest documents.

    min  F(w, b) = sum_i c_i l(y_i, x_i w + b) + 1/2 sum_j q_j w_j^2

A step solves H d = -F' with H = X'DX + Q, where D = diag(h) holds the curvature of the loss. A few
hundred documents, those near the border between the labels, often hold nearly all of it. With these
documents S alone

    M = X_S' D_S X_S + Q,
    M^-1 = Q^-1 - Q^-1 X_S' (X_S Q^-1 X_S' + D_S^-1)^-1 X_S Q^-1

(Sherman, Morrison & Woodbury; docs/maths.md, R1) M^-1 H is near the identity, and two or three
products with X solve a step. Of the other documents Q holds the diagonal of their curvature, and
those with next to none are left out but for that. Products read the rows of X once (see
:mod:`.compact_rows`).
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, scaled_gram
from textreg.losses import Logistic
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.certificate import relative_gap, separable_bound
from textreg.solvers.compact_rows import CompactRows, compact_rows, significant
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import IDLE, NOISE, Engine
from textreg.solvers.line_search import Advance, backtrack, step_with_fallback
from textreg.solvers.outcome import checks_overflow, finish

SMALL = 100_000
"""Values of a matrix for which other steps are quick enough, and solve more exactly than asked."""

ROUNDS = 100
"""Most iterations of conjugate gradients in a step."""

ROUGH, FINE = 0.3, 0.01
"""Largest and smallest share of the gradient that a step may leave."""

CLOSE = 0.02
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

UNDERFLOW = 1e-12
"""Mean curvature of the loss below which its model is useless."""

NO_SCORES = np.empty(0)
"""In place of scores that nobody asks for."""

SHORT = 0.1
"""Length of a step below which its model is not trusted."""


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
    rows = compact_rows(problem.design, merge=True)
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
    else:  # best are weights of parallel columns in proportion to them
        engine.restart(rows.expand(rows.collapse(engine.w)), engine.b)
    history: list[Step] = []
    bound, iteration, idle = -np.inf, 0, 0
    while True:
        engine.optimize_intercept()
        gradient, objective = engine.gradient(), engine.value + penalty.value(engine.w)
        bound = max(bound, separable_bound(engine, penalty, gradient, engine.design.features))
        gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        converged = gap <= problem.tol
        if converged or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        iteration += 1
        share = min(ROUGH, max(FINE, 0.5 * math.sqrt(min(gap, 1.0))))
        enough = Accuracy(share, problem.tol * objective)
        fall = ridge_step(engine, rows, penalty.q, gradient, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    slope_b = abs(float(engine.r.sum())) if engine.fit_intercept else 0.0
    rest = gradient + penalty.q * engine.w
    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=objective,
        gap=gap,
        residual=max(float(np.abs(rest).max(initial=0.0)), slope_b),
        iterations=iteration,
        converged=converged,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


class Accuracy(NamedTuple):
    """When a step is accurate enough.

    share: of the gradient of the objective, how much it may leave. gap: the tolerated gap,
    absolute; the step need not be more accurate than that.
    """

    share: float
    gap: float


def ridge_step(
    engine: Engine, rows: CompactRows, q: Floats, gradient: Floats, accuracy: Accuracy
) -> float:
    """One Newton step; the fall of the objective, 0.0 if it is lost in rounding.

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

    return step_with_fallback(
        step, engine.use_curvature_bound, failed=lambda advance: advance.length < SHORT
    )


def _step(
    engine: Engine, rows: CompactRows, q: Floats, gradient: Floats, accuracy: Accuracy
) -> Advance:
    """The step for the second derivatives as they stand."""
    if engine.h.sum() <= UNDERFLOW * engine.c.sum():
        return Advance(0.0, 0.0)
    slope, slope_b = gradient + q * engine.w, float(engine.r.sum()) if engine.fit_intercept else 0.0
    strengths, rest = rows.penalty(q), -rows.collapse(slope)

    def gap(rest: Floats) -> float:
        """That of a fit whose objective has this gradient."""
        return 0.5 * float((rest / strengths) @ rest)

    # A gap that is small from the start is due to the intercept: then move at all.
    enough = min(CLOSE * accuracy.gap, 0.5 * gap(rest))
    change, change_b, _ = conjugate_gradients(
        RidgeModel(engine, rows, strengths, NEGLIGIBLE * accuracy.share),
        (rest, -slope_b),
        Direction(np.zeros(rows.size), 0.0, NO_SCORES),
        rounds=ROUNDS,
        accuracy=accuracy.share,
        enough=lambda rest: gap(rest) <= enough,
    )
    w = rows.expand(change)
    move = engine.design.product(w) + change_b
    return _advance(engine, q, Direction(w, change_b, move), float(slope @ w) + slope_b * change_b)


def _advance(engine: Engine, q: Floats, change: Direction, slope: float) -> Advance:
    """Go along the change while it helps; ``slope`` is that of the objective."""
    weighted = q * change.w
    linear, square = float(engine.w @ weighted), 0.5 * float(change.w @ weighted)
    noise = NOISE * (abs(engine.value) + 0.5 * float((q * engine.w) @ engine.w))

    def fall_at(length: float) -> float:
        loss = engine.loss.value(engine.z + length * change.z, engine.y, engine.c)
        return engine.value - loss - length * linear - length * length * square

    advance = backtrack(fall_at, slope, noise)
    if length := advance.length:
        w, b = engine.w + length * change.w, engine.b + length * change.b
        engine.move_to(w, b, engine.z + length * change.z)
    return advance


class RidgeModel:
    """The Hessian of loss and ridge at the present weights, and its preconditioner.

    Of documents that hold next to no curvature it has the diagonal alone.
    """

    def __init__(self, engine: Engine, rows: CompactRows, q: Floats, negligible: float) -> None:
        self._arrays, self._h, self._fit_intercept = rows.arrays, engine.h, engine.fit_intercept
        self._documents, flat = significant(engine.h, engine.c, negligible)
        self._flat_b, self._q = float(engine.h[flat].sum()), q.copy()
        curvature_diagonal(*rows.arrays, flat, engine.h, self._q)
        hard = _hard_documents(engine.h, float(q.min(initial=np.inf)), _affordable(rows))
        others = np.setdiff1d(self._documents, hard, assume_unique=True)
        self._diagonal = self._q.copy()
        curvature_diagonal(*rows.arrays, others, engine.h, self._diagonal)
        self._h_sum = float(engine.h.sum())
        self._hard = None
        if len(hard):
            # Where numbers are too far apart for a factor, the diagonal alone has to do.
            with suppress(np.linalg.LinAlgError):
                self._hard = _HardDocuments(engine, rows, hard, self._diagonal)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b); the scores are left out."""
        out = self._q * w
        total = curvature_product(*self._arrays, self._documents, self._h, w, b, out)
        return out, total + self._flat_b * b if self._fit_intercept else 0.0, NO_SCORES

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of M, or of the diagonal where no documents stand out."""
        if self._hard is None:
            return w / self._diagonal, b / self._h_sum
        return self._hard.precondition(w, b)


def _affordable(rows: CompactRows) -> int:
    """How many documents the preconditioner can hold for the price of some products.

    A pair of documents costs their common columns, each GATHERED times an entry of a product.
    """
    pairs = PRICE * len(rows.arrays[1]) / (GATHERED * max(rows.shared, 1.0))
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
        self._diagonal, self._X, self._others = diagonal, rows.select(documents), 0.0
        self._columns = self._X.T
        gram = np.zeros((len(documents), len(documents)))
        scaled_gram(*rows.arrays, documents, 1.0 / diagonal, gram)
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
        of_documents = dpotrs(self._factor, self._X @ w + b, lower=1)[0]
        w -= (self._columns @ of_documents) / self._diagonal
        return w, b - self._others * float(of_documents.sum())
