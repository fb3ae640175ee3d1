"""How solvers begin, at the solutions of stronger penalties, and how they end.

Weak penalties are approached from stronger ones, where the loss has kinks.

A hinge is flat beyond the margin. With a weak penalty the first steps take all documents there, by
far too many weights, and from then on every step is short: documents beyond the margin do not bend
the model of a step, and come back as soon as it is made. With a stronger penalty they stay before
the margin, and its solution is near that of the next weaker one.

How every solver ends: with a solution, and a warning where it has not converged.

Numbers that overflow on the way, as those of a trial point may, are rejected there, or give a bound
that is infinite and certifies nothing. So solvers run without NumPy's warnings of them, and what
they return is checked here instead.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from math import isfinite, isnan
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from textreg.errors import ConvergenceWarning, DataError, DataWarning
from textreg.losses import Loss
from textreg.penalties import GroupNorms
from textreg.records import Floats, MultiSolution, Problem, Solution, Step

# Share of the strength that leaves no weight below which a penalty of sparsity is weak.
WEAK = 0.03

# Strengths fall by this factor at most, from one to the next.
FACTOR = 10.0

# Relative gap to which stronger penalties are solved.
ROUGH = 0.1


class Approached(NamedTuple):
    """The problem, to be begun at the last solution; how many iterations that took; and whether
    the caller has stopped.
    """

    problem: Problem
    iterations: int
    stopped: bool


def has_kinks(loss: Loss) -> bool:
    """Whether second derivatives of the loss jump."""
    return math.isinf(loss.third_derivative_bound)


def strongest_l1(problem: Problem, strengths: Floats) -> float:
    """Times which factor a penalty is no longer weak, if it is at least sum_j m_j |w_j|.

    strengths: (p,), m_j >= 0.
    """
    gradient, penalized = np.abs(problem.gradient_at_zero()), strengths > 0.0
    return WEAK * float((gradient[penalized] / strengths[penalized]).max(initial=0.0))


def strongest_ridge(problem: Problem, q: Floats) -> float:
    """Times which factor a ridge sum_j q_j w_j^2 / 2 holds the scores within the margin.

    q: (p,), positive. That is the largest score after a step from zero weights w_j = -g_j / q_j.
    """
    weights = problem.gradient_at_zero() / q
    return float(np.abs(problem.design.product(weights)).max(initial=0.0))


def approach(
    problem: Problem,
    strongest_for: Callable[[Problem], float],
    solve: Callable[[Problem, float], Solution],
) -> Approached:
    """Solve with stronger penalties first, where that pays.

    Parameters
    ----------
    problem : Problem
        What to fit. A given start with weights is used as it is.
    strongest_for : callable
        The factor of the first penalty; none is stronger if that is 1 or less.
    solve : callable
        Solves a problem whose penalty is multiplied by a factor.
    """
    start = problem.start
    if not has_kinks(problem.loss) or (start is not None and start[0].any()):
        return Approached(problem, 0, False)
    strongest, iterations, stopped = strongest_for(problem), 0, False
    if not 1.0 < strongest < math.inf:
        return Approached(problem, 0, False)

    def watch(step: Step) -> bool:
        nonlocal stopped
        stopped = bool(problem.callback and problem.callback(step))
        return stopped

    stages = math.ceil(math.log(strongest) / math.log(FACTOR))
    for stage in range(stages):
        left = problem.max_iter - iterations - 1  # one is for the penalty itself
        if stopped or left < 1:
            break
        rough = problem.replace(
            start=start, tol=max(ROUGH, problem.tol), max_iter=left, callback=watch
        )
        found = solve(rough, strongest ** (1.0 - stage / stages))
        start, iterations = (found.w, found.b), iterations + found.iterations
    left = problem.max_iter - iterations
    return Approached(problem.replace(start=start, max_iter=left), iterations, stopped)


# Share of the objective at zero weights below which all documents are fitted.
NOTHING = 1e-6


def watching(
    solve: Callable[[Problem], Solution], problem: Problem, penalty: GroupNorms
) -> Solution:
    """A solution, unless features without a penalty fit all documents: then it says so, and ends.

    Warns with a DataWarning: it is not a matter of iterations.
    """
    if not len(penalty.unpenalized):
        return solve(problem)
    b = problem.intercept_at_zero()
    at_zero = problem.loss.value(np.full(len(problem.y), b), problem.y, problem.sample_weight)
    fitted = False

    def callback(step: Step) -> bool:
        nonlocal fitted
        fitted = step.objective <= NOTHING * at_zero and not step.gap < 1.0
        return fitted or bool(problem.callback and problem.callback(step))

    found = solve(problem.replace(callback=callback))
    if not fitted:
        return found
    warnings.warn(
        f"{len(penalty.unpenalized):,} features have no penalty, as l1 and l2 are 0 and they are "
        "in no group, and they fit all documents: the loss falls to zero, and there is no optimum "
        "that the penalty decides about. Give them a penalty, such as a small l2 (--reg-l2).",
        DataWarning,
        stacklevel=5,
    )
    return replace(found, converged=False)


P = ParamSpec("P")
T = TypeVar("T")


def checks_overflow(solve: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that runs without NumPy's warnings, and checks its result: see above."""

    @wraps(solve)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> T:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return solve(*args, **kwargs)

    return quiet


def check_finite(solution: Solution | MultiSolution) -> None:
    """DataError unless weights, intercepts and the objective are finite."""
    whole = isfinite(solution.objective) and np.isfinite(solution.w).all()
    if not (whole and np.isfinite(solution.b).all()):
        raise DataError(
            "the fit overflowed: its weights, or the objective, are too large for floating point "
            "numbers. Bring X, y, sample_weight and the penalty strengths nearer to 1: divide what "
            "is large by its largest value."
        )


def finish(problem: Problem, solution: Solution, unit: str, *, stopped: bool) -> Solution:
    """The solution, with what it says of the loss before smoothing; warns unless it converged.

    unit: what iterations are called. stopped: whether the caller ended the run, which is no reason
    to warn.
    """
    check_finite(solution)
    if not stopped:
        warn_unless_converged(problem, solution, unit)
    w, b, objective, gap = solution.w, solution.b, solution.objective, solution.gap
    return replace(solution, unsmoothed=problem.unsmoothed(w, b, objective, gap))


def warn_unless_converged(problem: Problem, solution: Solution | MultiSolution, unit: str) -> None:
    """The ConvergenceWarning of a solver that ran out of iterations."""
    if solution.converged:
        return
    reached = "no known gap" if isnan(solution.gap) else f"a relative gap of {solution.gap:.1e}"
    violation = ""
    if isinstance(solution, Solution) and not isnan(solution.residual):
        violation = f" and a largest violation of {solution.residual:.1e}"
    warnings.warn(
        f"stopped after {solution.iterations} {unit} at {reached}{violation}, above "
        f"the tolerance of {problem.tol:.1e}; raise max_iter or the tolerance.",
        ConvergenceWarning,
        stacklevel=5,
    )
