"""Several classes at once: the softmax, or multinomial logistic, loss.

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i) + sum_k penalty(w_k),    z_k = X w_k + b_k

(docs/maths.md, S0). With all other classes fixed, the loss in z_k is the logistic loss of "k or not
k" at the scores z_k - o_k, o_k = log sum_{l != k} exp(z_l). So one step of the solver for two
classes improves a class, and the classes take turns: block coordinate descent, as in Friedman,
Hastie & Tibshirani (2010, section 4.1).

For any S >= 0, (n, classes), whose rows sum to c_i and whose columns sum to the weight of their
class, alpha_k = c y_k - S_k is a dual point, y_k being 1 in the documents of class k. Then

    sum_i c_i H(S_i / c_i) - sum_k penalty*(X'alpha_k),    H the entropy,

is a lower bound of the minimum (docs/maths.md, S1). At the optimum S_i / c_i are the probabilities.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from textreg.errors import RecordError, UsageError
from textreg.losses import Logistic
from textreg.penalties import Quadratic, Separable
from textreg.records import Floats, Int64s, MultiSolution, Problem, Step
from textreg.records.convert import as_array, as_finite
from textreg.solvers.certificate import relative_gap
from textreg.solvers.engine import HOPELESS, NOISE, Engine
from textreg.solvers.outcome import check_finite, checks_overflow, warn_unless_converged
from textreg.solvers.quadratic import NewtonSteps

PASSES, POLISH = 3, 10
"""Rounds of coordinate descent and of conjugate gradients in a step over one class."""

SHARE = 0.1
"""Share of its gradient that a step over one class leaves, where the penalty is quadratic."""

IDLE = 3
"""Rounds over all classes without progress, after which the tolerance is beyond floating point."""


class ClassStep(Protocol):
    """A solver for two classes that makes single steps, and what is to know of its penalty."""

    engine: Engine

    def step(self) -> None:
        """Improve the weights of the engine."""

    def value(self, w: Floats) -> float:
        """The penalty at w (p,)."""

    def shared(self, ws: Floats) -> Floats:
        """The t (p,) that minimizes the penalty of ws - t, which has the same probabilities."""

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """An upper bound of sum_k penalty*(scale t_k), and the scale in [0, 1] that it is for.

        ts: (classes, p). ws: (classes, p), the present weights, where the bound is tight.
        """


class SeparableStep:
    """For penalties that are sums over single weights."""

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self.engine, self._penalty = Engine(problem.replace(start=None)), penalty

    def step(self) -> None:
        """One proximal Newton step over the active set."""
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
        # Where most classes have a weight of zero, the median is zero.
        features = np.flatnonzero(np.count_nonzero(ws, axis=0) > len(ws) // 2)
        t[features] = best_shift(ws[:, features], penalty.lam[features], penalty.q[features])
        return t

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """Exact; scaled until |t_j| <= lam_j where there is no ridge, as for two classes."""
        penalty, scale = self._penalty, 1.0
        for t in ts:
            over = (np.abs(t) > penalty.lam) & (penalty.q == 0.0)
            if over.any():
                scale = min(scale, float((penalty.lam[over] / np.abs(t[over])).min()))
        total, has_ridge = 0.0, penalty.q > 0.0
        for t in ts:
            excess = np.maximum(scale * np.abs(t) - penalty.lam, 0.0)[has_ridge]
            total += 0.5 * float((excess * excess / penalty.q[has_ridge]).sum())
        return total, scale


class QuadraticStep:
    """For quadratic penalties that couple features."""

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        self._newton, self._penalty = NewtonSteps(problem.replace(start=None), penalty), penalty
        self.engine = self._newton.engine

    def step(self) -> None:
        """One Newton step."""
        newton = self._newton
        self.engine.optimize_intercept()
        newton.product = self._penalty.product(self.engine.w)
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
            product, l2 = self._penalty.product(w), self._penalty.l2
            rest = t - 2.0 * product
            total += float(t @ w) - float(w @ product) + float(rest @ rest) / (4.0 * l2)
        return total, 1.0


def best_shift(ws: Floats, lam: Floats, q: Floats) -> Floats:
    """argmin_t sum_k lam |w_k - t| + q/2 (w_k - t)^2 for every column of ws (classes, p).

    lam, q: (p,). Between two consecutive weights, in sorted order, the sum is a parabola: its
    minimum there is the clipped vertex, or the median where q is 0.
    """
    ws = np.sort(ws, axis=0)
    k, total = len(ws), ws.sum(axis=0)
    best = np.zeros(ws.shape[1])  # unless another is better by more than rounding
    least = (lam * np.abs(ws).sum(axis=0) + 0.5 * q * (ws * ws).sum(axis=0)) * (1.0 - NOISE)
    divisor = np.where(q > 0.0, q, 1.0)
    for below in range(1, k):  # so many weights lie below t
        t = (total + lam * (k - 2 * below) / divisor) / k
        t = np.clip(np.where(q > 0.0, t, ws[k // 2]), ws[below - 1], ws[below])
        shifted = ws - t
        value = lam * np.abs(shifted).sum(axis=0) + 0.5 * q * (shifted * shifted).sum(axis=0)
        better = value < least
        best[better], least[better] = t[better], value[better]
    return best


@checks_overflow
def multinomial(
    problem: Problem, codes: Int64s, step: ClassStep, start: tuple[Floats, Floats] | None = None
) -> MultiSolution:
    """Minimize the softmax loss of all classes and the penalty.

    Parameters
    ----------
    problem : Problem
        What to fit; its ``y`` and ``start`` are ignored. ``tol`` is the relative duality gap to
        stop at.
    codes : int64 ndarray, shape (n,)
        Class of every document, from 0 to the number of classes - 1. All of them must occur.
    step : ClassStep
        The solver for two classes, made for the same problem.
    start : tuple of ndarray, optional
        Weights (classes, p) and intercepts (classes,) to begin from.

    Returns
    -------
    MultiSolution
        Its intercepts sum to zero, as only their differences matter.

    Raises
    ------
    UsageError
        The loss is not the logistic one, which softmax extends.
    RecordError
        ``codes`` or ``start`` do not fit the problem.

    References
    ----------
    friedman2010, section 4.1.
    """
    if not isinstance(problem.loss, Logistic):
        raise UsageError(
            f"softmax extends the logistic loss and cannot be used with {problem.loss.label()}."
        )
    fit = _Classes(problem, _checked_codes(codes, len(problem.y)), step, start)
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
    check_finite(solution)
    if not stopped:
        warn_unless_converged(problem, solution, "rounds over the classes")
    return solution


def _checked_codes(codes: Any, n: int) -> Int64s:
    """The class of every document, all of them occurring; else a RecordError."""
    checked: Int64s = as_array("codes", codes, np.int64, (n,))
    if not n or checked.min() < 0 or len(np.unique(checked)) <= checked.max():
        raise RecordError(
            "codes must be the class of every document, from 0 to the number of classes - 1, and "
            "every class must occur: number them as numpy.unique(..., return_inverse=True) does."
        )
    return checked


class _Classes:
    """Weights W (classes, p), intercepts b and scores Z (classes, n) of all classes."""

    def __init__(
        self,
        problem: Problem,
        codes: Int64s,
        step: ClassStep,
        start: tuple[Floats, Floats] | None,
    ) -> None:
        k, (n, p) = int(codes.max()) + 1, problem.X.shape
        self._step, self._c, self._intercept = step, problem.sample_weight, problem.fit_intercept
        self._own = (codes, np.arange(n))
        self._y = np.where(codes == np.arange(k)[:, None], 1.0, -1.0)  # one row per class
        self.W, self.b = np.zeros((k, p)), np.zeros(k)
        self._class_weights = np.bincount(codes, weights=self._c, minlength=k).astype(np.float64)
        if self._intercept:
            self.b = np.log(self._class_weights / self._class_weights.sum())
        self.Z = np.repeat(self.b[:, None], n, axis=1)
        if start is not None:
            zero, at_zero = (self.W, self.b, self.Z), self.objective()
            self.W = as_finite("the weights of start", start[0], (k, p)).copy()
            self.b = as_finite("the intercepts of start", start[1], (k,)) * float(self._intercept)
            pairs = zip(self.W, self.b, strict=True)
            self.Z = np.array([problem.design.product(w, intercept=float(b)) for w, b in pairs])
            if not self.objective() <= HOPELESS * at_zero:  # also where it overflowed
                self.W, self.b, self.Z = zero

    def round(self) -> None:
        """Improve every class once, and then what all classes have in common."""
        engine = self._step.engine
        for k, y in enumerate(self._y):
            rest = logsumexp(np.delete(self.Z, k, axis=0), axis=0)
            engine.move_to(self.W[k].copy(), float(self.b[k]), self.Z[k] - rest, y)
            self._step.step()
            self.W[k], self.b[k], self.Z[k] = engine.w, engine.b, engine.z + rest
        shared = self._step.shared(self.W)
        self.W -= shared
        self.Z -= engine.design.product(shared)

    def objective(self) -> float:
        """Loss and penalty of all classes."""
        losses = logsumexp(self.Z, axis=0) - self.Z[self._own]
        return float(self._c @ losses) + sum(self._step.value(w) for w in self.W)

    def bound(self) -> float:
        """A lower bound of the minimum (S1), from the present probabilities."""
        S = softmax(self.Z, axis=0) * self._c
        if self._intercept:
            _balance(S, self._class_weights)
        alpha = -S
        alpha[self._own] += self._c
        products = self._step.engine.design.transposed_product(alpha.T)
        conjugate, scale = self._step.conjugate(np.ascontiguousarray(products.T), self.W)
        S = -scale * alpha
        S[self._own] += self._c
        shares = np.divide(S, self._c, out=np.zeros_like(S), where=self._c > 0.0)
        entropy = -xlogy(shares, np.maximum(shares, 0.0)).sum(axis=0)
        return float(entropy @ self._c) - conjugate


def _balance(S: Floats, totals: Floats) -> None:
    """Make the rows of S (classes, n) sum to ``totals`` in place, and keep the sums of columns.

    Classes with a larger sum are scaled down; what they lose goes to the others, in proportion to
    what these lack.
    """
    lack = totals - S.sum(axis=1)
    larger = lack < 0.0
    if not (larger.any() and (lack > 0.0).any()):
        return  # they differ by rounding alone
    factor = totals[larger] / (totals[larger] - lack[larger])
    lost = ((1.0 - factor)[:, None] * S[larger]).sum(axis=0)
    S[larger] *= factor[:, None]
    lack = np.maximum(lack, 0.0)
    S += np.outer(lack / lack.sum(), lost)
