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
"""

from __future__ import annotations

import math

import numpy as np

from textreg.records import Floats, Int64s, MultiSolution, Problem, Step
from textreg.solvers.certificate import relative_gap
from textreg.solvers.class_steps import ClassStep, take_turns
from textreg.solvers.classes import Classes
from textreg.solvers.engine import NOISE
from textreg.solvers.outcome import check_finite, checks_overflow, warn_unless_converged

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
