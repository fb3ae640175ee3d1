"""Several classes at once: the softmax, or multinomial logistic, loss.

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i) + sum_k penalty(w_k),    z_k = X w_k + b_k

(docs/maths.md, S0). With all other classes fixed, the loss in z_k is the logistic loss of "k or not
k" at the scores z_k - o_k, o_k = log sum_{l != k} exp(z_l). So a class is improved by one step of
the solver for two classes, and the classes take turns, as in Friedman, Hastie & Tibshirani (2010,
section 4.1).

For any S, (n, classes) and 0 or more, with rows that sum to c_i and columns that sum to the weight
of their class, alpha_k = c y_k - S_k is a dual point, y_k being 1 in the documents of class k. Then

    sum_i c_i H(S_i / c_i) - sum_k penalty*(X'alpha_k),    H the entropy,

lies below the minimum (docs/maths.md, S1). At the optimum S_i / c_i are the probabilities.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from textreg.errors import UsageError
from textreg.losses import Logistic
from textreg.penalties import Quadratic, Separable
from textreg.records import Floats, Int64s, MultiSolution, Problem, Step
from textreg.solvers.certificate import relative_gap
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.outcome import warn_unless_converged
from textreg.solvers.quadratic import NewtonSteps

PASSES, POLISH = 3, 10
"""Rounds of coordinate descent and of conjugate gradients in a step over one class."""

SHARE = 0.1
"""Share of its gradient that a step over one class leaves, where the penalty is quadratic."""

IDLE = 3
"""Rounds over all classes without a visible fall, after which the tolerance is out of reach."""


class Turn(Protocol):
    """A solver for two classes, of which single steps are asked."""

    engine: Engine

    def step(self) -> None:
        """Improve the weights that the engine is at."""

    def value(self, w: Floats) -> float:
        """The penalty."""

    def shared(self, ws: Floats) -> Floats:
        """The t (p,) for which weights ws - t, which mean the same, cost least."""

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """At most sum_k penalty*(scale t_k), and the scale, 0 to 1, that makes it finite.

        ts: (classes, p). ws: (classes, p), the present weights.
        """


class SeparableTurn:
    """Prices on single weights."""

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self.engine, self._penalty = Engine(problem.replace(start=None)), penalty

    def step(self) -> None:
        """One proximal Newton step over the features that matter."""
        engine, penalty = self.engine, self._penalty
        engine.optimize_intercept()
        active = engine.active(penalty, engine.gradient())
        passes = PASSES if penalty.lam.any() else 1  # conjugate gradients do the work without
        engine.step(active, penalty, passes=passes, polish=POLISH)

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self._penalty.value(w)

    def shared(self, ws: Floats) -> Floats:
        """Between the median and the mean of every feature's weights."""
        penalty, t = self._penalty, np.zeros(ws.shape[1])
        features = np.flatnonzero(np.count_nonzero(ws, axis=0) > len(ws) // 2)
        t[features] = cheapest(ws[:, features], penalty.lam[features], penalty.q[features])
        return t

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """As in the bound for two classes: scaled down as far as there is no ridge to meet it."""
        penalty, scale = self._penalty, 1.0
        for t in ts:
            over = (np.abs(t) > penalty.lam) & (penalty.q == 0.0)
            if over.any():
                scale = min(scale, float((penalty.lam[over] / np.abs(t[over])).min()))
        paid, ridged = 0.0, penalty.q > 0.0
        for t in ts:
            excess = np.maximum(scale * np.abs(t) - penalty.lam, 0.0)[ridged]
            paid += 0.5 * float((excess * excess / penalty.q[ridged]).sum())
        return paid, scale


class QuadraticTurn:
    """A quadratic penalty that ties weights together."""

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        self._newton, self._penalty = NewtonSteps(problem.replace(start=None), penalty), penalty
        self.engine = self._newton.engine

    def step(self) -> None:
        """One Newton step."""
        newton = self._newton
        self.engine.optimize_intercept()
        newton.pull = self._penalty.product(self.engine.w)
        newton.step(SHARE)

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self._penalty.value(w)

    def shared(self, ws: Floats) -> Floats:
        """The mean."""
        return np.asarray(ws.mean(axis=0))

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """t.w - w.Mw + ||t - 2 M w||^2 / (4 l2) for every class; see :mod:`.quadratic`."""
        total = 0.0
        for t, w in zip(ts, ws, strict=True):
            pull = self._penalty.product(w)
            rest = t - 2.0 * pull
            total += float(t @ w) - float(w @ pull) + float(rest @ rest) / (4.0 * self._penalty.l2)
        return total, 1.0


def cheapest(ws: Floats, lam: Floats, q: Floats) -> Floats:
    """argmin_t sum_k lam |w_k - t| + q/2 (w_k - t)^2 for every column of ws (classes, p).

    lam, q: (p,). Between two neighbors in the order of weights the sum is a parabola.
    """
    ws = np.sort(ws, axis=0)
    k, total = len(ws), ws.sum(axis=0)
    best = np.zeros(ws.shape[1])  # unless another is cheaper: zeros stay zeros
    least = (lam * np.abs(ws).sum(axis=0) + 0.5 * q * (ws * ws).sum(axis=0)) * (1.0 - NOISE)
    curved = np.where(q > 0.0, q, 1.0)
    for below in range(1, k):
        t = (total + lam * (k - 2 * below) / curved) / k
        t = np.clip(np.where(q > 0.0, t, ws[k // 2]), ws[below - 1], ws[below])
        off = ws - t
        cost = lam * np.abs(off).sum(axis=0) + 0.5 * q * (off * off).sum(axis=0)
        better = cost < least
        best[better], least[better] = t[better], cost[better]
    return best


def multinomial(
    problem: Problem, codes: Int64s, turn: Turn, start: tuple[Floats, Floats] | None = None
) -> MultiSolution:
    """Minimize the loss of all classes and the penalty, to the relative gap ``problem.tol``.

    codes: (n,) class of every document, 0 to the number of classes - 1, all of which occur. The
    problem's own y and start have no part in it. start: weights (classes, p) and intercepts to
    begin from. Intercepts sum to zero, as they matter only by their differences.

    UsageError for another loss than the logistic one, which softmax extends.
    """
    if not isinstance(problem.loss, Logistic):
        raise UsageError(
            f"softmax extends the logistic loss: it cannot go with {problem.loss.label()}."
        )
    fit = _Classes(problem, codes, turn, start)
    history: list[Step] = []
    bound, gap, before, idle, iteration = -np.inf, math.inf, math.inf, 0, 0
    while True:
        objective = fit.objective()
        bound = max(bound, fit.bound())
        gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        idle = idle + 1 if before - objective <= NOISE * objective else 0
        if gap <= problem.tol or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        before = objective
        iteration += 1
        fit.round()
    converged = gap <= problem.tol
    solution = MultiSolution(
        w=fit.W,
        b=fit.b - fit.b.mean(),
        objective=objective,
        gap=gap,
        iterations=iteration,
        converged=converged,
        history=tuple(history),
    )
    if not stopped:
        warn_unless_converged(problem, solution, "rounds over the classes")
    return solution


class _Classes:
    """Weights W (classes, p), intercepts b and scores Z (classes, n) of all classes."""

    def __init__(
        self,
        problem: Problem,
        codes: Int64s,
        turn: Turn,
        start: tuple[Floats, Floats] | None,
    ) -> None:
        k, (n, p) = int(codes.max()) + 1, problem.X.shape
        self._turn, self._c, self._intercept = turn, problem.weights, problem.fit_intercept
        self._own = (codes, np.arange(n))
        self._y = np.where(codes == np.arange(k)[:, None], 1.0, -1.0)  # one row per class
        self.W, self.b = np.zeros((k, p)), np.zeros(k)
        self._shares = np.bincount(codes, weights=self._c, minlength=k).astype(np.float64)
        if self._intercept:
            self.b = np.log(self._shares / self._shares.sum())
        self.Z = np.repeat(self.b[:, None], n, axis=1)
        if start is not None:
            self.W, self.b = start[0].copy(), start[1] * float(self._intercept)
            pairs = zip(self.W, self.b, strict=True)
            self.Z = np.array([problem.design.product(w, intercept=float(b)) for w, b in pairs])

    def round(self) -> None:
        """Improve every class once."""
        engine = self._turn.engine
        for k, y in enumerate(self._y):
            rest = logsumexp(np.delete(self.Z, k, axis=0), axis=0)
            engine.move_to(self.W[k].copy(), float(self.b[k]), self.Z[k] - rest, y)
            self._turn.step()
            self.W[k], self.b[k], self.Z[k] = engine.w, engine.b, engine.z + rest
        shared = self._turn.shared(self.W)
        self.W -= shared
        self.Z -= engine.design.product(shared)

    def objective(self) -> float:
        """Loss and penalty of all classes."""
        losses = logsumexp(self.Z, axis=0) - self.Z[self._own]
        return float(self._c @ losses) + sum(self._turn.value(w) for w in self.W)

    def bound(self) -> float:
        """A lower bound of the optimum."""
        S = softmax(self.Z, axis=0) * self._c
        if self._intercept:
            _balance(S, self._shares)
        alpha = -S
        alpha[self._own] += self._c
        products = self._turn.engine.design.transposed_product(alpha.T)
        paid, scale = self._turn.conjugate(np.ascontiguousarray(products.T), self.W)
        S = -scale * alpha
        S[self._own] += self._c
        shares = np.divide(S, self._c, out=np.zeros_like(S), where=self._c > 0.0)
        return float(-(xlogy(shares, np.maximum(shares, 0.0)).sum(axis=0) @ self._c)) - paid


def _balance(S: Floats, totals: Floats) -> None:
    """Make the rows of S (classes, n) sum to ``totals`` in place, its columns as they were.

    Classes that have too much give up a share, which the others divide by what they lack.
    """
    lack = totals - S.sum(axis=1)
    heavy = lack < 0.0
    if not (heavy.any() and (lack > 0.0).any()):
        return  # what is too much is rounding where nobody lacks anything
    factor = totals[heavy] / (totals[heavy] - lack[heavy])
    given = ((1.0 - factor)[:, None] * S[heavy]).sum(axis=0)
    S[heavy] *= factor[:, None]
    wanted = np.maximum(lack, 0.0)
    S += np.outer(wanted / wanted.sum(), given)
