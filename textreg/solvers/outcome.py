"""How every solver ends: with a solution, and a warning where it has not converged."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import isnan

from textreg.errors import ConvergenceWarning
from textreg.records import MultiSolution, Problem, Solution


def finish(problem: Problem, solution: Solution, unit: str, *, stopped: bool) -> Solution:
    """The solution, with what it says of the loss before smoothing; warns unless it converged.

    unit: what iterations are called. stopped: whether the caller ended the run, which is no reason
    to warn.
    """
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
        stacklevel=4,
    )
