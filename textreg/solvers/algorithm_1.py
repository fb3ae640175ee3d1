"""Algorithm 1 of Yogatama & Smith (2014) to the letter: ADMM as it is printed.

:func:`textreg.solvers.admm.admm` has the same steps, and changes that bring it to the optimum. Here
are none of them: every sentence has a copy of its own, also one of a single word and one that
occurs twice; the copies are not over-relaxed; rho stays as it is; the run starts from zero, and
ends with the last iterate, by the rule of section 4. The certificate tells how far that is from the
optimum.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from textreg._core.groups import admm_copies
from textreg.errors import ConvergenceWarning
from textreg.params import Parametrized, param
from textreg.penalties import GroupNorms
from textreg.records import Problem, Solution, Step
from textreg.solvers.admm import (
    CHECK,
    PAPER_CHANGE,
    PAPER_ITERATIONS,
    AdmmReport,
    minimize_w,
    relative_norm,
)
from textreg.solvers.certificate import Bound, Target, group_bound, relative_gap, value_of
from textreg.solvers.engine import Engine, scales_of
from textreg.solvers.outcome import checks_overflow, finish, watching
from textreg.solvers.reweighting import VectorFit


class Algorithm1Options(Parametrized):
    """Options of :func:`algorithm_1`: the input of the algorithm, and a number it leaves open."""

    name = "algorithm-1"
    rho: float = param(
        default=1.0, min=1e-6, help="penalty parameter of ADMM; larger ties the copies tighter"
    )
    change: float = param(
        default=PAPER_CHANGE,
        min=0.0,
        help="relative change of the weights at which it stops, if not after 100 iterations",
    )


@checks_overflow
def algorithm_1(problem: Problem, penalty: GroupNorms, **options: Any) -> Solution:
    """Lower loss + penalty over overlapping groups by Algorithm 1 as printed.

    Parameters
    ----------
    problem : Problem
        What to fit; ``start`` is ignored. ``tol`` is the relative duality gap at which the solution
        counts as converged, and ends nothing. ``max_iter`` may lower the limit of 100 iterations.
    penalty : GroupNorms
        The sparse overlapping group lasso, its groups not merged.
    **options
        Those of :class:`Algorithm1Options`.

    Returns
    -------
    Solution
        The last iterate. ``gap`` is its own; ``group_norms`` are those of the copies; ``residual``
        is the larger of the relative primal and dual residual.

    Warns
    -----
    ConvergenceWarning
        The gap is above ``tol``.

    References
    ----------
    yogatama2014, section 4 and Algorithm 1.
    """
    chosen = Algorithm1Options(**options)
    return watching(
        lambda watched: _run(watched.replace(start=None), penalty, chosen), problem, penalty
    )


def _run(problem: Problem, penalty: GroupNorms, chosen: Algorithm1Options) -> Solution:
    """The same, all but features without a penalty."""
    rho, engine = chosen.rho, Engine(problem)
    v = np.zeros(len(penalty.indices))
    u, norms = np.zeros_like(v), np.zeros(len(penalty.strengths))
    copies = penalty.spread(np.ones(len(penalty.strengths)))  # N_i
    target = np.zeros(penalty.p)  # N_i mu_i
    fit, bound = VectorFit(engine, penalty, scales_of(problem).weight), Bound(-np.inf, engine.r)
    limit = min(PAPER_ITERATIONS, problem.max_iter)
    history: list[Step] = []
    iteration, ended, stopped = 0, False, False

    while not ended and not stopped:
        iteration += 1
        before = engine.w.copy()
        minimize_w(engine, penalty, rho, copies, target)  # eq. (2)
        target = np.zeros(penalty.p)
        distance, moved, v_size, u_size = admm_copies(  # eq. (5), then (4)
            penalty.indptr, penalty.indices, penalty.strengths, engine.w, rho, 1.0,
            v, u, norms, target,
        )  # fmt: skip
        change = float(np.linalg.norm(engine.w - before))
        ended = iteration == limit or change <= chosen.change * float(np.linalg.norm(before))
        if iteration % CHECK == 0 or ended:
            objective = fit.value()
            duals = -u  # inside their balls after the v step
            found = group_bound(
                fit.dual(), penalty, fit.size(), duals, Target(objective, problem.tol)
            )
            bound = max(bound, found, key=value_of)
            history.append(Step(iteration, objective, relative_gap(objective, bound.value)))
            stopped = bool(problem.callback and problem.callback(history[-1]))

    solution = Solution(
        w=engine.w.copy(),
        b=engine.b,
        objective=history[-1].objective,
        gap=history[-1].gap,
        residual=max(relative_norm(distance, v_size), rho * relative_norm(moved, u_size)),
        iterations=iteration,
        converged=history[-1].gap <= problem.tol,
        history=tuple(history),
        group_norms=penalty.original_norms(norms, engine.w),
        alpha=bound.alpha,
        report=AdmmReport(rho),
    )
    if not solution.converged and not stopped:
        gap = "an unknown gap" if math.isinf(solution.gap) else f"a gap of {solution.gap:.1e}"
        warnings.warn(
            f"Algorithm 1 as printed ended after {iteration} iterations with {gap}, above the "
            f"tolerance of {problem.tol:.1e}. Another rho may bring it nearer; the solvers "
            "majorize and admm go on to the tolerance.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return finish(problem, solution, "iterations", stopped=True)
