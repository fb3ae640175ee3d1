"""Newton's method for a ridge, with conjugate gradients preconditioned by the hardest documents.

    min  F(w, b) = sum_i c_i l(y_i, x_i w + b) + 1/2 sum_j q_j w_j^2

A step solves H d = -F' with H = X'DX + Q, where D = diag(h) holds the curvature of the loss. A few
hundred documents, those near the border between the labels, often hold nearly all of it. With these
documents S alone

    M = X_S' D_S X_S + Q,
    M^-1 = Q^-1 - Q^-1 X_S' (X_S Q^-1 X_S' + D_S^-1)^-1 X_S Q^-1

(Sherman, Morrison & Woodbury; docs/maths.md, R1) M^-1 H is near the identity, and two or three
products with X solve a step.
"""

from __future__ import annotations

import math

import numpy as np

from textreg._core.curvature import curvature_product, scaled_gram
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.certificate import relative_gap, separable_bound
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import IDLE, NOISE, Engine
from textreg.solvers.line_search import Advance, backtrack, step_with_fallback
from textreg.solvers.outcome import checks_overflow, finish

ROUNDS = 100
"""Most iterations of conjugate gradients in a step."""

ROUGH, FINE = 0.3, 0.01
"""Largest and smallest share of the gradient that a step may leave."""

CLOSE = 0.02
"""Share of the tolerated gap that a step need not go below."""

DOCUMENTS = 192
"""The most documents that the preconditioner holds."""

HARD = 0.05
"""Curvature, as a share of q, above which a document is worth to be in the preconditioner."""

WORTH = 0.2
"""The least share of all curvature that these documents must hold."""

LEAST = 1e-6
"""The least curvature of the intercept that the other documents are taken to have, as a share."""

SLIGHT = 1.0
"""Curvature of all documents that are left out of the model, as a share of the least of q."""

UNDERFLOW = 1e-12
"""Mean curvature of the loss below which its model is useless."""

NO_SCORES = np.empty(0)
"""In place of scores that nobody asks for."""

SHORT = 0.1
"""Length of a step below which its model is not trusted."""


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
    penalty = Separable.constant(problem.X.shape[1], l2=l2)
    engine = Engine(problem, penalty.value)
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
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
        fall = ridge_step(engine, penalty.q, gradient, share, problem.tol * objective)
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


def ridge_step(engine: Engine, q: Floats, gradient: Floats, share: float, gap: float) -> float:
    """One Newton step; the fall of the objective, 0.0 if it is lost in rounding.

    Parameters
    ----------
    engine : Engine
        Where the fit stands; moved.
    q : ndarray, shape (p,)
        Curvature of the penalty, above 0.
    gradient : ndarray, shape (p,)
        That of the loss.
    share : float
        Of the gradient of the objective, how much the step may leave.
    gap : float
        The tolerated gap, absolute; the step need not be more accurate than that.
    """
    here = engine.z

    def step() -> Advance:
        moved = engine.z is not here
        return _step(engine, q, engine.gradient() if moved else gradient, share, gap)

    return step_with_fallback(
        step, engine.use_curvature_bound, failed=lambda advance: advance.length < SHORT
    )


def _step(engine: Engine, q: Floats, gradient: Floats, share: float, gap: float) -> Advance:
    """The step for the second derivatives as they stand."""
    if engine.h.sum() <= UNDERFLOW * engine.c.sum():
        return Advance(0.0, 0.0)
    residual = -gradient - q * engine.w, -float(engine.r.sum()) if engine.fit_intercept else 0.0
    change = conjugate_gradients(
        RidgeModel(engine, q),
        residual,
        Direction(np.zeros(len(gradient)), 0.0, NO_SCORES),
        rounds=ROUNDS,
        accuracy=share,
        # The gap of a fit with the gradient g is sum_j g_j^2 / 2q_j.
        enough=lambda rest: float((rest / q) @ rest) <= 2.0 * CLOSE * gap,
    )
    slope = -(float(residual[0] @ change.w) + residual[1] * change.b)
    move = engine.design.product(change.w) + change.b
    return _advance(engine, q, change._replace(z=move), slope)


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

    Documents that hold next to no curvature are left out of it.
    """

    def __init__(self, engine: Engine, q: Floats) -> None:
        self._arrays, self._h, self._q = engine.design.rows, engine.h, q
        self._fit_intercept = engine.fit_intercept
        self._h_sum = float(engine.h.sum())
        least = float(q.min())
        self._rows = _curved_documents(engine.h, SLIGHT * least)
        rows = _hard_documents(engine.h, least)
        self._hard = _HardDocuments(engine, rows, q) if len(rows) else None

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b); the scores are left out."""
        out = self._q * w
        b = curvature_product(*self._arrays, self._rows, self._h, w, b, out)
        return out, b if self._fit_intercept else 0.0, NO_SCORES

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of M, or of the diagonal where no documents stand out."""
        if self._hard is None:
            return w / self._q, b / self._h_sum
        return self._hard.precondition(w, b)


def _curved_documents(h: Floats, negligible: float) -> Int32s:
    """The documents but those with the least curvature, as many as hold ``negligible`` of it."""
    order = np.argsort(h, kind="stable")
    first = int(np.searchsorted(np.cumsum(h[order]), negligible))
    return np.sort(order[first:]).astype(np.int32)


def _hard_documents(h: Floats, least: float) -> Int32s:
    """The documents with the most curvature, ascending; none where they hold too little of it.

    least: the smallest curvature of the penalty.
    """
    count = min(DOCUMENTS, len(h))
    most = np.argpartition(-h, count - 1)[:count]
    rows: Int32s = np.sort(most[h[most] > HARD * least]).astype(np.int32)
    return rows if h[rows].sum() >= WORTH * h.sum() else rows[:0]


class _HardDocuments:
    """M^-1 for the documents ``rows``.

    With an intercept every document has one more feature, 1, whose curvature in M is that of the
    other documents.
    """

    def __init__(self, engine: Engine, rows: Int32s, q: Floats) -> None:
        design, h = engine.design, engine.h[rows]
        self._q, self._X, self._others = q, design.X[rows], 0.0
        self._columns = self._X.T
        gram = np.zeros((len(rows), len(rows)))
        scaled_gram(*design.rows, rows, 1.0 / q, gram)
        if engine.fit_intercept:
            others = float(engine.h.sum() - h.sum())
            self._others = 1.0 / max(others, LEAST * float(h.sum()))
            gram += self._others
        gram[np.diag_indices(len(rows))] += 1.0 / h
        self._factor = np.linalg.cholesky(gram)  # of which the lower triangle is read

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """M^-1 (w, b)."""
        from scipy.linalg.lapack import dpotrs

        w, b = w / self._q, b * self._others
        of_rows = dpotrs(self._factor, self._X @ w + b, lower=1)[0]
        return w - (self._columns @ of_rows) / self._q, b - self._others * float(of_rows.sum())
