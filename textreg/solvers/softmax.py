"""The multinomial loss: its fits under separable penalties, and under groups.

Several classes at once: the softmax, or multinomial logistic, loss.

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i) + sum_k penalty(w_k),    z_k = X w_k + b_k

(docs/maths.md, S0). With all other classes fixed, the loss in z_k is the logistic loss of "k or not
k" at the scores z_k - o_k, o_k = log sum_{l != k} exp(z_l). So one step of the solver for two
classes improves a class, and the classes take turns: block coordinate descent, as in Friedman,
Hastie & Tibshirani (2010, section 4.1).

For any S >= 0, (n, classes), whose rows sum to c_i and whose columns sum to the weight of their
class, alpha_k = c y_k - S_k is a dual point, y_k being 1 in the documents of class k. Then

    sum_i c_i H(S_i / c_i) - sum_k penalty*(X'alpha_k),    H the entropy,

is a lower bound of the minimum (docs/maths.md, S2). At the optimum S_i / c_i are the probabilities.

Overlapping groups over words and classes: the norms of (S3), by reweighting class after class.

    min  sum_i c_i (log sum_k exp(z_ik) - z_i,y_i)
         + sum_g lambda_g ||W_g||_F + l1 sum |W_kj| + l2 sum W_kj^2

A norm has the quadratic of (M1) above it here too, and its curvature q_j is the same in all
classes. So the rounds of :mod:`.reweighting` remain as they are, with the norms ||W_j|| of the rows
in the place of |w_j|; only a step is one over all classes in turn.

The certificate needs no dual variables of every class, either (docs/maths.md, S4): what l1 leaves
of X'alpha in feature j, a vector over the classes, is best removed along its own direction. So its
length is all that counts, and the u of a group are numbers, as for one weight vector.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from textreg._core.columns import column_damping
from textreg.losses import Logistic
from textreg.penalties import GroupNorms, Separable, soft
from textreg.records import Floats, Int32s, Int64s, MultiSolution, Problem, Step
from textreg.solvers.certificate import Excess, relative_gap
from textreg.solvers.classes import Classes, ClassStep, SeparableStep, take_turns
from textreg.solvers.engine import NOISE, scales_at
from textreg.solvers.outcome import check_finite, checks_overflow, warn_unless_converged
from textreg.solvers.reweighting import UNIT, Schedule, reweight, touching_points

# Rounds over all classes without progress, after which the tolerance is beyond floating point.
IDLE = 3


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
        gap = fit.gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        idle = idle + 1 if before - objective <= NOISE * objective else 0
        if gap <= problem.tol or stopped or iteration >= problem.max_iter or idle > IDLE:
            break
        before = objective
        iteration += 1
        take_turns(fit, step)
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
    """A lower bound of the minimum (S2), from the present probabilities."""
    alpha = fit.alpha()
    products = fit.design.transposed_product(alpha.T)
    conjugate, scale = step.conjugate(np.ascontiguousarray(products.T), fit.W)
    return fit.dual_value(scale * alpha) - conjugate


def softmax_loss(problem: Problem, codes: Int64s, W: Floats, b: Floats) -> float:
    """The loss at weights W (classes, p) and intercepts b (classes,)."""
    from scipy.special import logsumexp

    Z = problem.design.product(np.ascontiguousarray(W.T)) + b
    return float(problem.sample_weight @ (logsumexp(Z, axis=1) - Z[np.arange(len(Z)), codes]))


# Rounds before the first check of the gap: fewer than for one weight vector, as each does more.
FIRST_CHECK = 5


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
    found = reweight(problem, penalty, fit, s, Schedule(first_check=FIRST_CHECK))
    solution = MultiSolution(
        w=found.w,
        b=found.b - found.b.mean(),
        objective=found.objective,
        gap=found.gap,
        iterations=found.iterations,
        converged=found.gap <= problem.tol,
        history=found.history,
    )
    return finish_classes(problem, solution, UNIT, stopped=found.ended)


class ClassesFit:
    """The fit of one weight vector for every class; a :class:`~.reweighting.GroupFit`."""

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

    def improve(self, inner: Separable, polish: int, effort: int) -> float:
        """A step in every class."""

        def value() -> float:
            return self._loss + float(0.5 * inner.q @ self._squares + inner.lam @ self._absolutes)

        step, before = self._step, value()
        step.penalty, step.polish, step.effort = inner, polish, effort
        take_turns(self._classes, step)
        self._sum_up()
        return max(before - value(), 0.0)

    def intercept(self) -> Floats:
        """A copy of the intercepts (classes,)."""
        b: Floats = self._classes.b.copy()
        return b

    def size(self) -> Floats:
        """(p,) The norm of the weights of every feature."""
        size: Floats = np.sqrt(self._squares)
        return size

    def value(self, norms: Floats) -> float:
        """The objective at the present weights."""
        return self._loss + self._penalty.value_of_sums(self._squares, self._absolutes, norms)

    def value_at(self, w: Floats) -> float:
        """The objective at other weights, the intercepts unchanged."""
        return self._classes.loss_at(w) + self._penalty.value_over_classes(w)

    def curvature(self) -> Floats:
        """(p,) An upper bound in every class, as no probability q has q (1 - q) above 1/4."""
        return self._bound

    @cached_property
    def _bound(self) -> Floats:
        return self._classes.design.curvature(0.25 * self._classes.c)

    def duals(self, rates: Floats, out: Floats) -> None:
        """Dual variables of the groups, ragged: rates_g times row norms; written to ``out``."""
        self._penalty.duals(rates, self.size(), out)

    def dual(self) -> ClassesDual:
        """Dual variables of the loss at the present weights."""
        return ClassesDual(self._classes, self._penalty.lam)


class ClassesDual:
    """Dual variables of all classes, and what l1 leaves of X'alpha.

    Attributes
    ----------
    products : ndarray, shape (p,)
        a_j, the length over the classes of X_j'alpha after soft thresholding by l1.
    lam : ndarray, shape (p,)
        Zeros, as l1 has had its share.
    """

    left_out = Excess()

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

    def leave_out(self, _penalty: GroupNorms, _u: Floats) -> Floats | None:
        """Nothing is left out."""
        return None

    def used(self, _penalty: GroupNorms, _u: Floats) -> Floats:
        """Nobody asks."""
        return np.empty(0)

    def level(self, features: Int32s) -> None:
        """Not known for several classes: products stay as they are."""

    def damp(self, features: Int32s, excess: Floats) -> None:
        """Lower a_j for some features by ``excess``, in the documents that hold them."""
        features, excess = features[excess > 0.0], excess[excess > 0.0]
        design, alpha = self._classes.design, self.alpha
        X = design.X_csc[:, features]
        direction = soft(design.transposed_product(alpha.T, features).T, self._l1[features])
        direction /= np.maximum(np.sqrt((direction * direction).sum(axis=0)), TINY)
        # The terms of a_j, by document.
        terms, entries = np.zeros(X.nnz), np.diff(X.indptr)
        for along, row in zip(direction, alpha, strict=True):
            terms += np.repeat(along, entries) * row[X.indices]
        terms *= X.data
        factor = np.ones(alpha.shape[1])
        chosen = np.arange(len(features), dtype=np.int32)
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        column_damping(indptr, indices, terms, np.ones_like(factor), chosen, excess, factor)
        self._set(self._classes.balanced(alpha * factor))


# Smallest length that is divided by.
TINY = np.finfo(np.float64).tiny
