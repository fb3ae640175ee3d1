"""Weak penalties are approached from stronger ones, where the loss has kinks.

A hinge is flat beyond the margin. With a weak penalty the first steps take all documents there, by
far too many weights, and from then on every step is short: documents beyond the margin do not bend
the model of a step, and come back as soon as it is made. With a stronger penalty they stay before
the margin, and its solution is near that of the next weaker one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from textreg.losses import Loss
from textreg.records import Floats, Problem, Solution, Step

WEAK = 0.03
"""Share of the strength that leaves no weight below which a penalty of sparsity is weak."""

FACTOR = 10.0
"""Strengths fall by this factor at most, from one to the next."""

ROUGH = 0.1
"""Relative gap to which stronger penalties are solved."""


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
