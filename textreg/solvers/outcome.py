"""How every solver ends: with a solution, and a warning where it has not converged.

Numbers that overflow on the way, as those of a trial point may, are rejected there, or give a bound
that is infinite and certifies nothing. So solvers run without NumPy's warnings of them, and what
they return is checked here instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from math import isfinite, isnan
from typing import ParamSpec, TypeVar

import numpy as np

from textreg.errors import ConvergenceWarning, DataError
from textreg.records import MultiSolution, Problem, Solution

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
