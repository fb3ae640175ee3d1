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
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from textreg.errors import UsageError
from textreg.losses import Logistic
from textreg.records import Floats, Int64s, MultiSolution, Problem, Step
from textreg.records.convert import as_finite
from textreg.records.fit import checked_codes
from textreg.solvers.certificate import relative_gap
from textreg.solvers.class_steps import ClassStep
from textreg.solvers.engine import HOPELESS, NOISE
from textreg.solvers.outcome import check_finite, checks_overflow, warn_unless_converged

LARGE = 0.5
"""Probability above which the sum over the other classes is not taken from that over all."""

IDLE = 3
"""Rounds over all classes without progress, after which the tolerance is beyond floating point."""


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

    def penalty(W: Floats) -> float:
        return sum(step.value(w) for w in W)

    fit = Classes(problem, codes, penalty, start)
    history: list[Step] = []
    bound, gap, before, idle, iteration = -np.inf, math.inf, math.inf, 0, 0
    while True:
        objective = fit.loss() + penalty(fit.W)
        bound = max(bound, _bound(fit, step))
        gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        idle = idle + 1 if before - objective <= NOISE * objective else 0
        if gap <= problem.tol or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        before = objective
        iteration += 1
        fit.round(step)
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
    return finish_classes(problem, solution, "rounds over the classes", stopped=stopped)


def finish_classes(
    problem: Problem, solution: MultiSolution, unit: str, *, stopped: bool
) -> MultiSolution:
    """The solution, which is finite; warns unless it converged. Arguments as in ``finish``."""
    check_finite(solution)
    if not stopped:
        warn_unless_converged(problem, solution, unit)
    return solution


def _bound(fit: Classes, step: ClassStep) -> float:
    """A lower bound of the minimum (S1), from the present probabilities."""
    alpha = fit.alpha()
    products = fit.design.transposed_product(alpha.T)
    conjugate, scale = step.conjugate(np.ascontiguousarray(products.T), fit.W)
    return fit.dual_value(scale * alpha) - conjugate


class Classes:
    """The point of a fit of all classes together.

    Attributes
    ----------
    W, b, Z : ndarray, shapes (classes, p), (classes,) and (classes, n)
        Weights, intercepts and scores of all classes.
    design : Design
        The matrix of the problem.

    Raises
    ------
    UsageError
        The loss is not the logistic one, which softmax extends.
    RecordError
        ``codes`` or ``start`` do not fit the problem.
    """

    def __init__(
        self,
        problem: Problem,
        codes: Int64s,
        penalty: Callable[[Floats], float],
        start: tuple[Floats, Floats] | None,
    ) -> None:
        """penalty: its value at weights (classes, p), which tells whether the start is of use."""
        if not isinstance(problem.loss, Logistic):
            raise UsageError(
                f"softmax extends the logistic loss and cannot be used with {problem.loss.label()}."
            )
        codes = checked_codes(codes, len(problem.y))
        k, (n, p) = int(codes.max()) + 1, problem.X.shape
        self.design, self._c = problem.design, problem.sample_weight
        self._intercept = problem.fit_intercept
        self._own = (codes, np.arange(n))
        self._y = np.where(codes == np.arange(k)[:, None], 1.0, -1.0)  # one row per class
        self.W, self.b = np.zeros((k, p)), np.zeros(k)
        self._class_weights = np.bincount(codes, weights=self._c, minlength=k).astype(np.float64)
        if self._intercept:
            self.b = np.log(self._class_weights / self._class_weights.sum())
        self.Z = np.repeat(self.b[:, None], n, axis=1)
        if start is not None:
            zero, at_zero = (self.W, self.b, self.Z), self.loss() + penalty(self.W)
            self.W = as_finite("the weights of start", start[0], (k, p)).copy()
            self.b = as_finite("the intercepts of start", start[1], (k,)) * float(self._intercept)
            self.Z = self._scores(self.W) + self.b[:, None]
            if not self.loss() + penalty(self.W) <= HOPELESS * at_zero:  # also where it overflowed
                self.W, self.b, self.Z = zero

    def round(self, step: ClassStep) -> None:
        """Improve every class once, and then what all classes have in common."""
        engine, total = step.engine, logsumexp(self.Z, axis=0)
        for k, y in enumerate(self._y):
            rest = self._rest(k, total)
            engine.move_to(self.W[k].copy(), float(self.b[k]), self.Z[k] - rest, y)
            step.step()
            self.W[k], self.b[k], self.Z[k] = engine.w, engine.b, engine.z + rest
            total = np.logaddexp(rest, self.Z[k])
        shared = step.shared(self.W)
        self.W -= shared
        self.Z -= self.design.product(shared)

    def _rest(self, k: int, total: Floats) -> Floats:
        """o_k (n,): log sum_{l != k} exp(z_l), where ``total`` is the same over all classes."""
        share = np.exp(self.Z[k] - total)
        large = np.flatnonzero(share > LARGE)  # where the difference would lose digits
        share[large] = 0.0
        rest: Floats = total + np.log1p(-share)
        others = self.Z[:, large]
        others[k] = -np.inf
        rest[large] = logsumexp(others, axis=0)
        return rest

    def _scores(self, W: Floats) -> Floats:
        """X w_k for every row of W (classes, p)."""
        return np.array([self.design.product(w) for w in W])

    def loss(self) -> float:
        """The loss of all classes."""
        return self._loss(self.Z)

    def loss_at(self, W: Floats) -> float:
        """The loss at other weights (classes, p), the intercepts unchanged."""
        return self._loss(self.Z + self._scores(W - self.W))

    def _loss(self, Z: Floats) -> float:
        return float(self._c @ (logsumexp(Z, axis=0) - Z[self._own]))

    def alpha(self) -> Floats:
        """The dual point c y_k - S_k (classes, n) at the present probabilities."""
        return self.balanced(self._turned(softmax(self.Z, axis=0) * self._c))

    def balanced(self, alpha: Floats) -> Floats:
        """A dual point that the intercepts, if there are any, allow."""
        if not self._intercept:
            return alpha
        S = self._turned(alpha)
        _balance(S, self._class_weights)
        return self._turned(S)

    def dual_value(self, alpha: Floats) -> float:
        """The part of the dual value (S1) that is due to the loss, the entropy."""
        S = self._turned(alpha)
        shares = np.divide(S, self._c, out=np.zeros_like(S), where=self._c > 0.0)
        entropy = -xlogy(shares, np.maximum(shares, 0.0)).sum(axis=0)
        return float(entropy @ self._c)

    def _turned(self, S: Floats) -> Floats:
        """c y - S, which takes S to alpha and alpha to S."""
        turned = -S
        turned[self._own] += self._c
        return turned


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


def softmax_loss(problem: Problem, codes: Int64s, W: Floats, b: Floats) -> float:
    """The loss at weights W (classes, p) and intercepts b (classes,)."""
    Z = problem.design.product(np.ascontiguousarray(W.T)) + b
    return float(problem.sample_weight @ (logsumexp(Z, axis=1) - Z[np.arange(len(Z)), codes]))
