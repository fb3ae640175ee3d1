"""Several classes at once: the softmax, or multinomial logistic, loss.

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i) + sum_k penalty(w_k),    z_k = X w_k + b_k

(docs/maths.md, S0). With all other classes fixed, the loss in z_k is the logistic loss of "k or not
k" at the scores z_k - o_k, o_k = log sum_{l != k} exp(z_l). So one step of the solver for two
classes improves a class, and the classes take turns: block coordinate descent, as in Friedman,
Hastie & Tibshirani (2010, section 4.1).

For any S >= 0, (n, classes), whose rows sum to c_i and whose columns sum to the weight of their
class, alpha_k = c y_k - S_k is a dual point, y_k being 1 in the documents of class k. Then

    sum_i c_i H(S_i / c_i) - sum_k penalty*(X'alpha_k),    H the entropy,

is a lower bound of the minimum (docs/maths.md, S2). At the optimum S_i / c_i are the probabilities.

With overlapping groups over words and classes it has the norms of (S3), by reweighting:

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i)
         + sum_g lambda_g ||W_g||_F + l1 sum |W_kj| + l2 sum W_kj^2

A norm has the quadratic of (M1) above it here too, and its curvature q_j is the same in all
classes. So the rounds of :mod:`.reweighting` remain as they are, with the norms ||W_j|| of the rows
in the place of |w_j|; only a step is one over all classes in turn.

The certificate needs no dual variables of every class, either (docs/maths.md, S4): what l1 leaves
of X'alpha in feature j, a vector over the classes, is best removed along its own direction. So its
length is all that counts, and the u of a group are numbers, as for one weight vector.

Classes that take turns follow each other slowly where the penalty is weak: what one gives up, the
others have to take. So a round over the classes, which finds the weights that are not zero and
their signs, ends with a step for all of them at once, by conjugate gradients on

    r . d + 1/2 sum_i c_i (sum_k p_ik d_ik^2 - (sum_k p_ik d_ik)^2),    d_k = X dw_k + db_k

and the penalty. This is the second-order model of the softmax loss with its derivatives r and
probabilities p (docs/maths.md, S1). Weights with an l1 penalty that would change sign become zero.
Without l1 there is nothing to find, and a step alone is Newton's method (:func:`ridge_together`):
in float32 and compact rows, as loss, gradient and gap are computed in float64.

A penalty of which only ``value`` and ``prox`` are known is that of every class, and the solver the
accelerated proximal gradient of :mod:`.proximal`, over all weights at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from textreg._core.blocks import block_dots
from textreg._core.columns import column_damping
from textreg._core.softmax import softmax_product
from textreg.errors import UsageError
from textreg.losses import Logistic
from textreg.penalties import GroupNorms, Penalty, Quadratic, Separable, soft
from textreg.records import Floats, Int32s, Int64s, MultiSolution, Problem, Step
from textreg.records.arrays import as_finite
from textreg.records.problem import checked_codes
from textreg.solvers.certificate import DualPoint, relative_gap
from textreg.solvers.linear_algebra import Direction, backtrack, conjugate_gradients, projected_path
from textreg.solvers.newton import ROUGH, NewtonSteps
from textreg.solvers.proximal import UNIT as PROXIMAL_UNIT
from textreg.solvers.proximal import minimize, sum_of_rows
from textreg.solvers.reduce import compact_rows
from textreg.solvers.reweighting import UNIT, VectorFit, reweight, touching_points
from textreg.solvers.state import (
    CG_TOLERANCE,
    IDLE,
    INTERCEPT_STEPS,
    NOISE,
    PATH_FACTOR,
    ROUGH_GAP,
    SHORT,
    Engine,
    check_finite,
    checks_overflow,
    scales_at,
    told_by,
    warn_unless_converged,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Singles = NDArray[np.float32]


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
    fit, fields, stopped = _take_rounds(problem, codes, step, start)
    return _finished(problem, fit.W, fit.b, "rounds over the classes", fields, stopped=stopped)


# Relative gap at zero weights above which a ridge is weak.
WEAK_GAP = 3.0


def _take_rounds(
    problem: Problem, codes: Int64s, step: ClassStep, start: tuple[Floats, Floats] | None
) -> tuple[Classes, dict[str, Any], bool]:
    """The point of a fit, further fields of a solution, and whether the caller has stopped.

    The curvature at zero weights is that of shares of classes, 1 / classes or so. With a weak ridge
    a step goes so far by it that nearly no curvature is left for the next one. So a weak ridge
    begins where one ten times as strong has come to.
    """

    def penalty(W: Floats) -> float:
        return sum(step.value(w) for w in W)

    ridge = step.penalty if start is None and isinstance(step, SeparableStep) else None
    fit, stopped = Classes(problem, codes, penalty, start), False
    history: list[Step] = []
    bound, gap, before, idle, iteration = -np.inf, math.inf, math.inf, 0, 0
    while True:
        objective = fit.loss() + penalty(fit.W)
        bound = max(bound, _bound(fit, step))
        gap = fit.gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = stopped or problem.stops(history[-1])
        idle = idle + 1 if before - objective <= NOISE * objective else 0
        if gap <= problem.tol or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        before = objective
        if ridge is not None and step.smooth() and ridge.q.all() and WEAK_GAP < gap < math.inf:
            del fit  # makes room for that of a stronger ridge
            rough = problem.replace(tol=max(ROUGH_GAP, problem.tol))
            stronger = Separable(PATH_FACTOR * ridge.q, ridge.mu, ridge.lam)
            fit, fields, stopped = _take_rounds(rough, codes, SeparableStep(rough, stronger), None)
            iteration = fields["iterations"]
        else:
            take_turns(fit, step)
            iteration += 1
        ridge = None
    return fit, told_by(history, converged=gap <= problem.tol), stopped


def _finished(
    problem: Problem, W: Floats, b: Floats, unit: str, fields: dict[str, Any], *, stopped: bool
) -> MultiSolution:
    """The solution, whose intercepts sum to zero; warns unless it converged. fields: its others."""
    solution = MultiSolution(w=W, b=b - b.mean(), **fields)
    check_finite(solution)
    if not stopped:
        warn_unless_converged(problem, solution, unit)
    return solution


def _bound(fit: Classes, step: ClassStep) -> float:
    """A lower bound of the minimum (S2), from the present probabilities."""
    alpha = fit.alpha()
    conjugate, scale = step.conjugate(fit.transposed_product(alpha), fit.W)
    return fit.dual_value(scale * alpha) - conjugate


def softmax_loss(problem: Problem, codes: Int64s, W: Floats, b: Floats) -> float:
    """The loss at weights W (classes, p) and intercepts b (classes,)."""
    from scipy.special import logsumexp

    Z = problem.design.product(np.ascontiguousarray(W.T)) + b
    return float(problem.sample_weight @ (logsumexp(Z, axis=1) - Z[np.arange(len(Z)), codes]))


@checks_overflow
def multinomial_groups(
    problem: Problem,
    codes: Int64s,
    penalty: GroupNorms,
    start: tuple[Floats, Floats] | None = None,
) -> MultiSolution:
    """Minimize the softmax loss of all classes and the norms of groups of words and classes.

    Parameters
    ----------
    problem : Problem
        What to fit; its ``y`` and ``start`` are ignored. ``tol`` is the relative duality gap to
        stop at, ``max_iter`` the most rounds.
    codes : int64 ndarray, shape (n,)
        Class of every document, from 0 to the number of classes - 1. All of them must occur.
    penalty : GroupNorms
        Norms over words and classes.
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
    vincent2014; simon2013; friedman2010, section 4.1, for the classes.
    """
    classes = Classes(problem, codes, penalty.value_over_classes, start)
    fit = ClassesFit(classes, penalty, SeparableStep(problem, penalty.majorizer(penalty.strengths)))
    s = touching_points(penalty, fit, warm=start is not None)
    point = reweight(problem, penalty, fit, s)
    fields = told_by(point.history, converged=point.gap <= problem.tol)
    return _finished(problem, point.w, point.b, UNIT, fields, stopped=point.ended)


@checks_overflow
def multinomial_proximal(
    problem: Problem, codes: Int64s, penalty: Penalty, start: tuple[Floats, Floats] | None = None
) -> MultiSolution:
    """Minimize the softmax loss of all classes + the penalty of every class.

    Parameters
    ----------
    problem : Problem
        What to fit; its ``y`` and ``start`` are ignored.
    codes : int64 ndarray, shape (n,)
        Class of every document, from 0 to the number of classes - 1. All of them must occur.
    penalty : Penalty
        Its ``value`` and ``prox`` of weights (p,), and its ``conjugate`` where there is one.
    start : tuple of ndarray, optional
        Weights (classes, p) and intercepts (classes,) to begin from.

    Returns
    -------
    MultiSolution
        Its intercepts sum to zero. The solver stops as
        :func:`~textreg.solvers.proximal.proximal` does.

    Raises
    ------
    UsageError
        The loss is not the logistic one, which softmax extends.
    RecordError
        ``codes`` or ``start`` do not fit the problem.
    PluginError
        ``prox`` does not return p finite numbers, or ``value`` no number.

    References
    ----------
    beck2009, as :func:`~textreg.solvers.proximal.proximal`; darroch1972 for the intercepts.
    """
    engine = ClassesEngine(Classes(problem, codes, lambda W: sum_of_rows(penalty.value, W), start))
    largest = problem.replace(codes=codes).gradient_sizes_at_zero().max(initial=0.0)
    point, _, stopped, fields = minimize(problem, engine, penalty, float(largest))
    return _finished(problem, point.w, point.b.ravel(), PROXIMAL_UNIT, fields, stopped=stopped)


class ClassesEngine(Engine):
    """The point of a fit: w (classes, p), b (classes, 1), and z, r, h of the shape (classes, n)."""

    def __init__(self, classes: Classes) -> None:
        stand_in: Any = classes
        self.design = self.loss = stand_in
        self._own = classes.own
        self.y, self.c, self.fit_intercept = classes.y, classes.c, classes.has_intercept
        b: Any = classes.b[:, None]
        self.move_to(classes.W, b, classes.Z)

    def _refresh(self) -> None:
        below = self.z - self.z.max(axis=0)
        self._P = np.exp(below)
        total = self._P.sum(axis=0)
        self._P /= total
        self.value = float(self.c @ (np.log(total) - below[self._own]))
        self.r = self.c * self._P
        self.r[self._own] = 0.0
        self.r[self._own] = -self.r.sum(axis=0)  # c (P - 1), without the digits that it would lose
        self.h = self.c * self._P * (1.0 - self._P)

    def optimize_intercept(self, tol: float = 0.0) -> None:
        """Move the intercepts alone to their optimum, where every row of r sums to zero.

        By Newton's method; where that goes too far, by b_k += log(n_k / s_k), with the weights n_k
        of the documents of class k and the sums s_k of its probabilities. This is generalized
        iterative scaling (darroch1972), which lowers the loss from anywhere.
        """
        for _ in range(INTERCEPT_STEPS if self.fit_intercept else 0):
            b, z, value, S = self.b, self.z, self.value, self.c * self._P
            slopes, sums = self.r.sum(axis=1), S.sum(axis=1)
            if not np.abs(slopes).max() > tol * float(np.abs(self.r).sum()):
                return
            newton = np.linalg.lstsq(np.diag(sums) - S @ self._P.T, -slopes, rcond=None)[0]
            for change in newton, np.log((sums - slopes) / sums), 0.0 * sums:
                self.move_to(self.w, b + change[:, None], z + change[:, None])
                if self.value <= value * (1.0 + NOISE):
                    break
            if not change.any():
                return


class ClassesFit(VectorFit):
    """The fit of one weight vector for every class."""

    def __init__(self, classes: Classes, penalty: GroupNorms, step: SeparableStep) -> None:
        self._classes, self._penalty, self._step = classes, penalty, step
        zero, y = np.zeros(len(classes.c)), np.ones(len(classes.c))  # any labels have this unit
        self.unit = scales_at(classes.design, Logistic(), zero, y, classes.c).weight
        self._sum_up()

    def _sum_up(self) -> None:
        """Compute what depends on the weights: sums over the classes, and the loss."""
        W = self._classes.W
        self._squares, self._absolutes = (W * W).sum(axis=0), np.abs(W).sum(axis=0)
        self._loss = self._classes.loss()

    @property
    def w(self) -> Floats:
        """Weights (classes, p)."""
        return self._classes.W

    def improve(self, inner: Separable, effort: int) -> float:
        """A step in every class."""

        def value() -> float:
            return self._loss + float(0.5 * inner.q @ self._squares + inner.lam @ self._absolutes)

        step, before = self._step, value()
        step.penalty, step.effort = inner, effort
        take_turns(self._classes, step)
        self._sum_up()
        return max(before - value(), 0.0)

    def intercept(self) -> Any:
        """A copy of the intercepts (classes,)."""
        return self._classes.b.copy()

    def size(self) -> Floats:
        """(p,) The norm of the weights of every feature."""
        size: Floats = np.sqrt(self._squares)
        return size

    def value(self, norms: Floats | None = None) -> float:
        """The objective at the present weights."""
        return self._loss + self._penalty.value_of_sums(self._squares, self._absolutes, norms)

    def value_at(self, w: Floats) -> float:
        """The objective at other weights, the intercepts unchanged."""
        return self._classes.loss_at(w) + self._penalty.value_over_classes(w)

    def duals(self, rates: Floats, out: Floats) -> None:
        """Dual variables of the groups, ragged: rates_g times row norms; written to ``out``."""
        self._penalty.duals(rates, self.size(), out)

    def dual(self) -> ClassesDual:
        """Dual variables of the loss at the present weights."""
        return ClassesDual(self._classes, self._penalty.lam)


class ClassesDual(DualPoint):
    """Dual variables of all classes, and what l1 leaves of X'alpha.

    Attributes
    ----------
    products : ndarray, shape (p,)
        a_j, the length over the classes of X_j'alpha after soft thresholding by l1.
    lam : ndarray, shape (p,)
        Zeros, as l1 has had its share.
    """

    def __init__(self, classes: Classes, l1: Floats) -> None:
        self._classes, self._l1 = classes, l1
        self.lam = np.zeros(len(l1))
        self._set(classes.alpha())

    def _set(self, alpha: Floats) -> None:
        self.alpha, self._value = alpha, self._classes.dual_value(alpha)
        squares = np.zeros(len(self._l1))
        for row in alpha:
            rest = np.maximum(np.abs(self._classes.design.transposed_product(row)) - self._l1, 0.0)
            squares += rest * rest
        self.products = np.sqrt(squares)

    def value(self, scale: float = 1.0) -> float:
        """At most the entropy at ``scale`` alpha: it is concave, and 0 where alpha is."""
        return scale * self._value

    def damp(self, features: Int32s, excess: Floats) -> None:
        """Lower a_j for some features by ``excess``, in the documents that hold them."""
        features, excess = features[excess > 0.0], excess[excess > 0.0]
        design, alpha = self._classes.design, self.alpha
        X = design.X_csc[:, features]
        direction = soft(design.transposed_product(alpha.T, features).T, self._l1[features])
        lengths = np.sqrt((direction * direction).sum(axis=0))
        direction /= np.maximum(lengths, np.finfo(np.float64).tiny)
        # The terms of a_j, by document.
        terms, entries = np.zeros(X.nnz), np.diff(X.indptr)
        for along, row in zip(direction, alpha, strict=True):
            terms += np.repeat(along, entries) * row[X.indices]
        terms *= X.data
        factor = np.ones(alpha.shape[1])
        positions = np.arange(len(features), dtype=np.int32)
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        column_damping(indptr, indices, terms, np.ones_like(factor), positions, excess, factor)
        self._set(self._classes.balanced(alpha * factor))


# Probability above which the sum over the other classes is not taken from that over all.
LIKELY = 0.5


class Classes:
    """The point of a fit of all classes together.

    Attributes
    ----------
    W, b, Z : ndarray, shapes (classes, p), (classes,) and (classes, n)
        Weights, intercepts and scores of all classes.
    y : ndarray, shape (classes, n)
        1 for the documents of a class, -1 for the others.
    gap : float
        The relative gap at the last check, by which a step is as exact as it needs to be.
    own : tuple of ndarray
        The entry of every document in the row of its class.
    design, c, has_intercept
        The problem: matrix, weights of the documents, whether there are intercepts.

    Raises
    ------
    UsageError
        The loss is not the logistic one, which softmax extends.
    RecordError
        ``codes`` or ``start`` do not fit the problem.
    """

    convex = True  # as a loss is

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
                f"softmax extends the logistic loss and cannot be used with {problem.loss.label()}"
                ": leave out the loss, or multiclass."
            )
        codes = checked_codes(codes, len(problem.y))
        k, (n, p) = int(codes.max()) + 1, problem.design.shape
        self.design, self.c = problem.design, problem.sample_weight
        self.has_intercept, self.gap = problem.fit_intercept, 1.0
        self.own = (codes, np.arange(n))
        self.y = np.where(codes == np.arange(k)[:, None], 1.0, -1.0)  # one row per class
        self.W, self.b = np.zeros((k, p)), np.zeros(k)
        self._class_weights = np.bincount(codes, weights=self.c, minlength=k).astype(np.float64)
        if self.has_intercept:
            self.b = np.log(self._class_weights / self._class_weights.sum())
        self.Z = np.repeat(self.b[:, None], n, axis=1)
        if start is not None:
            zero, at_zero = (self.W, self.b, self.Z), self.loss() + penalty(self.W)
            self.W = as_finite("the weights of start", start[0], (k, p)).copy()
            self.b = as_finite("the intercepts of start", start[1], (k,)) * float(
                self.has_intercept
            )
            self.Z = self.product(self.W) + self.b[:, None]
            if not self.loss() + penalty(self.W) <= at_zero:  # also where it overflowed
                self.W, self.b, self.Z = zero

    def rest(self, k: int, total: Floats) -> Floats:
        """o_k (n,): log sum_{l != k} exp(z_l), where ``total`` is the same over all classes."""
        from scipy.special import logsumexp

        share = np.exp(self.Z[k] - total)
        large = np.flatnonzero(share > LIKELY)  # where the difference would lose digits
        share[large] = 0.0
        rest: Floats = total + np.log1p(-share)
        logits = self.Z[:, large]
        logits[k] = -np.inf
        rest[large] = logsumexp(logits, axis=0)
        return rest

    def product(self, W: Floats) -> Floats:
        """X w_k for every row of W (classes, p)."""
        return np.array([self.design.product(w) for w in W])

    def transposed_product(self, R: Floats) -> Floats:
        """X'r_k for every row of R (classes, n)."""
        return np.ascontiguousarray(self.design.transposed_product(R.T).T)

    def targets(self) -> Floats:
        """(classes, n) The weight of every document, in the row of its class."""
        return self._turned(np.zeros_like(self.Z))

    def loss(self) -> float:
        """The loss of all classes."""
        return self.loss_of(self.Z)

    def loss_at(self, W: Floats) -> float:
        """The loss at other weights (classes, p), the intercepts unchanged."""
        return self.loss_of(self.Z + self.product(W - self.W))

    def loss_of(self, Z: Floats) -> float:
        """The loss at scores (classes, n)."""
        from scipy.special import logsumexp

        return float(self.c @ (logsumexp(Z, axis=0) - Z[self.own]))

    def alpha(self) -> Floats:
        """The dual point c y_k - S_k (classes, n) at the present probabilities."""
        from scipy.special import softmax

        return self.balanced(self._turned(softmax(self.Z, axis=0) * self.c))

    def balanced(self, alpha: Floats) -> Floats:
        """A dual point that the intercepts, if there are any, allow."""
        if not self.has_intercept:
            return alpha
        S = self._turned(alpha)
        _balance(S, self._class_weights)
        return self._turned(S)

    def balance(self, alpha: Floats, c: Floats) -> None:
        """The same in place, as an engine asks its loss for."""
        alpha[:] = self.balanced(alpha)

    def dual_value(self, alpha: Floats, *_: Floats) -> float:
        """The part of the dual value (S2) that is due to the loss, the entropy."""
        from scipy.special import xlogy

        S = self._turned(alpha)
        shares = np.divide(S, self.c, out=np.zeros_like(S), where=self.c > 0.0)
        entropy = -xlogy(shares, np.maximum(shares, 0.0)).sum(axis=0)
        return float(entropy @ self.c)

    def _turned(self, S: Floats) -> Floats:
        """c y - S, which takes S to alpha and alpha to S."""
        turned = -S
        turned[self.own] += self.c
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


# Smallest share of the residual that a step may leave.
FINE = 0.01


def ridge_together(classes: Classes, q: Floats) -> bool:
    """Lower the loss and 1/2 sum_j q_j w_j^2, the same for every class; whether a step did."""
    from scipy.special import softmax

    P = np.ascontiguousarray(softmax(classes.Z, axis=0).T)
    R = classes.c[:, None] * P - np.ascontiguousarray(classes.targets().T)
    model = _CompactModel(classes, P, q)
    slope = np.vstack([classes.design.transposed_product(R) + q[:, None] * classes.W.T, R.sum(0)])
    residual = model.compact(-slope).ravel()
    change, _, _ = conjugate_gradients(
        model,
        (residual, 0.0),  # type: ignore[arg-type]  # of float32, and so is all that is made of it
        Direction(np.zeros_like(residual), 0.0, np.empty(0)),
        accuracy=min(ROUGH, max(FINE, classes.gap**0.25)),
    )
    V = model.expand(change)
    move, W = np.ascontiguousarray((classes.design.product(V[:-1]) + V[-1]).T), V[:-1].T

    def value(Z: Floats, W: Floats) -> float:
        return classes.loss_of(Z) + 0.5 * float(np.einsum("kj,kj,j->", W, W, q))

    def decrease_at(length: float) -> float:
        return before - value(classes.Z + length * move, classes.W + length * W)

    before = value(classes.Z, classes.W)
    if length := backtrack(decrease_at, float(np.vdot(slope, V)), 0.0, SHORT).length:
        classes.Z, classes.W = classes.Z + length * move, classes.W + length * W
        classes.b = classes.b + length * V[-1]
    return length > 0.0


class _CompactModel:
    """The model's Hessian in weights (columns + 1, classes), flat; the last are the intercepts."""

    def __init__(self, classes: Classes, P: Floats, q: Floats) -> None:
        """P: (n, classes), probabilities."""
        design = classes.design
        rows = compact_rows(design)
        indptr, indices, values = rows.arrays
        self._place, self._intercept = rows.place, float(classes.has_intercept)
        self._arrays = indptr, indices, values.astype(np.float32, copy=False)
        self._c, self._P = classes.c.astype(np.float32), P.astype(np.float32)
        self._q = np.zeros(rows.size + 1, dtype=np.float32)
        self._q[self._place] = q
        H = classes.c[:, None] * P * (1.0 - P)
        diagonal = np.empty((rows.size, P.shape[1]))
        block_dots(*design.columns[:2], design.squares, H, diagonal)
        diagonal = np.vstack([diagonal + q[:, None], H.sum(axis=0)])
        diagonal[diagonal <= 0.0] = 1.0  # nothing depends on such a weight
        self._inverse = self.compact(1.0 / diagonal).ravel()

    def compact(self, V: Floats) -> Singles:
        """V (p + 1, classes) in the order of compact rows; without an intercept its row is zero."""
        out = np.empty(V.shape, dtype=np.float32)
        out[self._place], out[-1] = V[:-1], self._intercept * V[-1]
        return out

    def expand(self, flat: Any) -> Floats:
        """The weights of all features and the intercepts (p + 1, classes)."""
        V = flat.reshape(len(self._q), -1).astype(np.float64)
        expanded: Floats = np.vstack([V[self._place], V[-1:]])
        return expanded

    def product(self, flat: Any, b: float) -> tuple[Any, float, Any]:
        """The Hessian times the weights; the scores are left out."""
        V = flat.reshape(len(self._q), -1)
        out = self._q[:, None] * V
        softmax_product(*self._arrays, self._c, self._P, V, out, np.empty(V.shape[1], np.float32))
        out[-1] *= self._intercept
        return out.ravel(), b, np.empty(0)

    def precondition(self, flat: Any, b: float) -> tuple[Any, float]:
        """Divide by the diagonal."""
        return flat * self._inverse, b


# Most iterations of conjugate gradients.
SUPPORT_ROUNDS = 20

# Share of its diagonal that is added to the Hessian: as the same change of all intercepts moves no
# probability, it is singular, and a residual of rounding alone would lead arbitrarily far.
DIAGONAL_SHARE = 1e-12


def newton_together(classes: Classes, penalty: Separable) -> bool:
    """Lower the loss and the penalty, the same for every class; whether a step did."""
    if not penalty.lam.any():
        return ridge_together(classes, penalty.q)
    model = _SupportModel(classes, penalty)
    start, sign, zero = model.start, np.sign(model.start), np.zeros_like(model.start)
    gradient = model.adjoint(model.P * model.c - classes.targets()) + model.lam * sign
    gradient += model.q * start
    change = conjugate_gradients(
        model,
        (-gradient, 0.0),
        Direction(zero, 0.0, np.zeros_like(classes.Z)),
        rounds=SUPPORT_ROUNDS,
        accuracy=CG_TOLERANCE,
    )

    def value(Z: Floats, w: Floats) -> float:
        return classes.loss_of(Z) + float(w @ (0.5 * model.q * w + model.lam * sign))

    before = value(classes.Z, start)
    for length, w, stopped in projected_path(start, change.w, model.lam > 0.0, SHORT):
        # Where a weight stops, the scores of the whole change may be larger by many digits.
        Z = classes.Z + (model.scores(w - start) if stopped.any() else length * change.z)
        if value(Z, w) < before:
            model.put(classes, w)
            classes.Z = Z
            return True
    return False


class _SupportModel:
    """The model in the weights that are not zero, class after class, and then the intercepts.

    Without l1 all weights are meant.

    Attributes
    ----------
    start, q, lam : ndarray, shape (weights,)
        Their present values and penalties; intercepts have none.
    P : ndarray, shape (classes, n)
        Probabilities.
    c : ndarray, shape (n,)
        Weights of the documents.
    """

    def __init__(self, classes: Classes, penalty: Separable) -> None:
        from scipy.special import softmax

        self._design, k = classes.design, len(classes.b)
        free_of_l1 = np.broadcast_to(penalty.lam == 0.0, classes.W.shape)
        self._rows, places = np.nonzero((classes.W != 0.0) | free_of_l1)
        self._places = places.astype(np.int32)
        self._ends = np.searchsorted(self._rows, np.arange(k + 1))
        self._has_intercept = classes.has_intercept
        self.P, self.c = softmax(classes.Z, axis=0), classes.c
        free = np.zeros(k if self._has_intercept else 0)
        self.start = np.append(classes.W[self._rows, self._places], classes.b[: len(free)])
        self.q = np.append(penalty.q[self._places], free)
        self.lam = np.append(penalty.lam[self._places], free)
        h = self.c * self.P * (1.0 - self.P)
        parts = [self._design.curvature(row, at) for row, at in zip(h, self._parts(), strict=True)]
        if self._has_intercept:
            parts.append(h.sum(axis=1))
        self._diagonal = np.concatenate(parts) + self.q
        self._diagonal[self._diagonal <= 0.0] = 1.0  # nothing depends on such a weight

    def _parts(self) -> list[Int32s]:
        """The features of every class."""
        return [self._places[a:b] for a, b in pairwise(self._ends)]

    def scores(self, w: Floats) -> Floats:
        """(classes, n) The change of the scores by changes w (weights,)."""
        b = w[self._ends[-1] :] if self._has_intercept else np.zeros(len(self.P))
        parts = zip(self._parts(), pairwise(self._ends), b.tolist(), strict=True)
        return np.array(
            [self._design.product(w[begin:end], at, b_k) for at, (begin, end), b_k in parts]
        )

    def adjoint(self, Z: Floats) -> Floats:
        """(weights,) Derivatives in the weights, from those in the scores (classes, n)."""
        pairs = zip(Z, self._parts(), strict=True)
        parts = [self._design.transposed_product(row, at) for row, at in pairs]
        return np.concatenate([*parts, Z.sum(axis=1)] if self._has_intercept else parts)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The damped Hessian times w, and the scores."""
        Z = self.scores(w)
        weighted = self.P * Z
        weighted -= self.P * weighted.sum(axis=0)
        weighted *= self.c
        return self.adjoint(weighted) + (self.q + DIAGONAL_SHARE * self._diagonal) * w, 0.0, Z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Divide by the diagonal."""
        return w / self._diagonal, b

    def put(self, classes: Classes, w: Floats) -> None:
        """Give the classes these weights and intercepts."""
        size = self._ends[-1]
        classes.W[self._rows, self._places] = w[:size]
        if self._has_intercept:
            classes.b = w[size:].copy()


class ClassStep(Protocol):
    """A solver for two classes that makes single steps, and what is to know of its penalty."""

    engine: Engine

    def step(self) -> None:
        """Improve the weights of the engine."""

    def value(self, w: Floats) -> float:
        """The penalty at w (p,)."""

    def smooth(self) -> bool:
        """Whether :meth:`together` needs no turns before it."""

    def together(self, classes: Classes) -> bool:
        """Improve all classes at once, if that is of use; whether it did."""

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """An upper bound of sum_k penalty*(scale t_k), and the scale in [0, 1] that it is for.

        ts: (classes, p). ws: (classes, p), the present weights, where the bound is tight.
        """


def take_turns(classes: Classes, step: ClassStep) -> None:
    """Improve every class once, then all of them at once.

    Smooth penalties need no turns, except far from the optimum, where Newton's method may fail.
    """
    from scipy.special import logsumexp

    if step.smooth() and step.together(classes):
        return
    engine, total = step.engine, logsumexp(classes.Z, axis=0)
    for k, y in enumerate(classes.y):
        rest = classes.rest(k, total)
        engine.move_to(classes.W[k].copy(), float(classes.b[k]), classes.Z[k] - rest, y)
        step.step()
        classes.W[k], classes.b[k], classes.Z[k] = engine.w, engine.b, engine.z + rest
        total = np.logaddexp(rest, classes.Z[k])
    step.together(classes)


class SeparableStep:
    """For penalties that are sums over single weights.

    Attributes
    ----------
    penalty : Separable
        The same for every class; it may be exchanged between two rounds.
    effort : int
        As in :meth:`Engine.step`.
    """

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self.engine, self.penalty = Engine(problem.replace(start=None)), penalty
        self.effort = 1

    def step(self) -> None:
        """One proximal Newton step over the active set."""
        engine, penalty = self.engine, self.penalty
        engine.optimize_intercept()
        active = engine.active(penalty, engine.gradient())
        engine.step(active, penalty, self.effort)

    def smooth(self) -> bool:
        """Whether there is no l1 penalty."""
        return not self.penalty.lam.any()

    def together(self, classes: Classes) -> bool:
        """One Newton step over the weights that are not zero."""
        return newton_together(classes, self.penalty)

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self.penalty.value(w)

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """Exact; scaled until |t_j| <= lam_j where there is no ridge, as for two classes."""
        penalty, scale = self.penalty, 1.0
        for t in ts:
            # What is not a number certifies nothing.
            over = ~(np.abs(t) <= penalty.lam) & (penalty.q == 0.0)
            scale = float((penalty.lam[over] / np.abs(t[over])).min(initial=scale))
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
        newton.step(CG_TOLERANCE)

    def smooth(self) -> bool:
        """No, as little is done together."""
        return False

    def together(self, classes: Classes) -> bool:
        """Leave out the mean over the classes, which changes no probability."""
        shared = classes.W.mean(axis=0)
        classes.W -= shared
        classes.Z -= classes.design.product(shared)
        return bool(shared.any())

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self._penalty.value(w)

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """t.w - w.Mw + ||t - 2 M w||^2 / (4 l2) for every class; see :mod:`.newton`."""
        total = 0.0
        for t, w in zip(ts, ws, strict=True):
            product, l2 = self._penalty.product(w), self._penalty.l2
            rest = t - 2.0 * product
            total += float(t @ w) - float(w @ product) + float(rest @ rest) / (4.0 * l2)
        return total, 1.0
