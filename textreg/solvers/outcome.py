"""How every solver ends: with what it found, and a warning where that is not what was asked for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isnan

from textreg.errors import ConvergenceWarning
from textreg.records import Floats, Problem, Solution, SolverReport, Step


def outcome(
    problem: Problem,
    unit: str,
    history: Sequence[Step],
    *,
    w: Floats,
    b: float,
    objective: float,
    gap: float,
    iterations: int,
    converged: bool,
    stopped: bool,
    residual: float = float("nan"),
    group_norms: Floats | None = None,
    report: SolverReport | None = None,
) -> Solution:
    """The Solution; a ConvergenceWarning unless it ``converged`` or the caller ``stopped`` it.

    unit: what iterations are called.
    """
    if not stopped:
        warn_unless_converged(problem, unit, iterations, converged, gap, residual)
    return Solution(
        w=w,
        b=b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=iterations,
        converged=converged,
        history=tuple(history),
        group_norms=group_norms,
        report=report,
        unsmoothed=problem.unsmoothed(w, b, objective, gap),
    )


def warn_unless_converged(
    problem: Problem,
    unit: str,
    iterations: int,
    converged: bool,
    gap: float,
    residual: float = float("nan"),
) -> None:
    """The ConvergenceWarning of a solver that ran out of iterations."""
    if converged:
        return
    reached = "no known gap" if isnan(gap) else f"a relative gap of {gap:.1e}"
    violation = "" if isnan(residual) else f" and a largest violation of {residual:.1e}"
    warnings.warn(
        f"stopped after {iterations} {unit} at {reached}{violation}, above "
        f"the tolerance of {problem.tol:.1e}; raise max_iter or the tolerance.",
        ConvergenceWarning,
        stacklevel=4,
    )
