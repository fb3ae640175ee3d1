"""A ridge: sweeps of dual coordinate ascent, then Newton's method (see :mod:`.ridge_step`).

    min  F(w, b) = sum_i c_i l(y_i, x_i w + b) + 1/2 sum_j q_j w_j^2

Sweeps come near in a few passes, and end where the ridge is weak (see :mod:`.dual_ascent`).
Far from the optimum the scores of documents on the wrong side of the border have to change sign,
and on the way their curvature is much larger than where they are: steps for the second derivatives
lead far beyond. Their curvature is then that of the parabola that touches the loss at their score
and at its negative, and lies above it (Jaakkola & Jordan 2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from textreg.losses import Logistic
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.records.design import BlockDesign
from textreg.solvers import dual_ascent
from textreg.solvers.certificate import dual_value, relative_gap, ridge_bound
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.dual_ascent import Ascent
from textreg.solvers.engine import IDLE, NOISE, Engine, slope_of_intercept
from textreg.solvers.outcome import checks_overflow, finish
from textreg.solvers.parallel_columns import over_merged_columns
from textreg.solvers.requests import Fit, Gradient, Products, Restart, Sweeps, alone, side_by_side
from textreg.solvers.ridge_step import Accuracy, ridge_step

SMALL = 100_000
"""Values of a matrix for which other steps are quick enough, and solve more exactly than asked."""

ROUGH, FINE = 0.3, 0.01
"""Largest and smallest share of the gradient that a step may leave."""

FAR = 0.1
"""Relative gap above which documents are taken to be on their way to the other side."""


def suits(problem: Problem) -> bool:
    """Whether these steps are the ones to take: the logistic loss, and a matrix that is not small.

    The curvature of other losses jumps, where steps that leave documents out lead nowhere.
    """
    return isinstance(problem.loss, Logistic) and problem.design.values > SMALL


def can_share(problem: Problem) -> bool:
    """Whether its fit can be side by side with others: the same, and the matrix is there whole."""
    return not isinstance(problem.design, BlockDesign) and suits(problem)


@checks_overflow
def ridge(problem: Problem, l2: float) -> Solution:
    """Minimize loss + l2 ||w||^2, for l2 above 0.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most steps.
    l2 : float
        The strength.

    Returns
    -------
    Solution

    References
    ----------
    dembo1982, for the accuracy of a step.
    """
    return over_merged_columns([problem], lambda one: [alone(_fit(one[0], _penalty(one, l2)))])[0]


@checks_overflow
def ridges(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """The same for several problems that share their matrix, side by side."""

    def solve(some: Sequence[Problem]) -> list[Solution]:
        penalty = _penalty(some, l2)
        return side_by_side([_fit(problem, penalty) for problem in some])

    return over_merged_columns(problems, solve)


def _penalty(problems: Sequence[Problem], l2: float) -> Separable:
    """The penalty, which labels share, as its arrays are as long as their weights."""
    return Separable.constant(problems[0].design.shape[1], l2=l2)


def _fit(problem: Problem, penalty: Separable) -> Fit[Solution]:
    """The fit of one problem: sweeps of dual coordinate ascent, then Newton's steps."""
    q = float(penalty.q.max(initial=0.0)) or 1.0
    rows = compact_rows(problem.design)
    engine = yield from beginning(problem, penalty.value)
    begin = engine.w, engine.b
    history: list[Step] = []
    bound, iteration, idle, exact = -np.inf, 0, 0, True
    sweeps = dual_ascent.suits(engine, rows, q)
    ascent: Ascent | None = None
    while True:
        engine.optimize_intercept()
        objective = engine.value + penalty.value(engine.w)
        swept = None if exact else ascent
        if swept is not None:
            at_hand = yield from bound_of_sweeps(engine, swept)
            bound = max(bound, at_hand)
        else:
            gradient = yield Gradient(engine, None if exact else rows)
            at_hand = ridge_bound(engine, penalty.q, gradient)
        gap = relative_gap(objective, max(bound, at_hand))
        last = gap <= problem.tol or iteration >= problem.max_iter or idle > IDLE
        if last and not exact:
            yield Restart(engine, engine.w, engine.b)
            exact = True
            continue
        if exact:
            bound = max(bound, at_hand)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if sweeps and not (last or stopped):
            ascent = ascent or Ascent(engine, rows, q, gradient)
            if not ascent.goes_on(gap):
                sweeps, ascent = False, None
                if not objective <= history[0].objective:
                    yield Restart(engine, *begin)
                    iteration, exact = iteration + 1, False
                    continue
        if swept is not None and (stopped or ascent is None):
            gradient = yield Gradient(engine, rows)
        if last or stopped:
            break
        iteration, exact = iteration + 1, False
        if ascent is not None:
            z = yield Sweeps(rows, ascent)
            engine.move_to(rows.expand(ascent.u.astype(np.float64)), ascent.b, z + ascent.b)
            continue
        if gap > FAR:
            use_crossing_curvature(engine)
        enough = Accuracy(share_for(gap), problem.tol * objective)
        fall = yield from ridge_step(engine, rows, penalty.q, gradient, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    slope = gradient + penalty.q * engine.w
    return solution_of(problem, engine, slope, rows.squares, history, stopped)


def beginning(problem: Problem, penalty: Callable[[Floats], float]) -> Fit[Engine]:
    """An engine at the start of a problem, or without weights where that is none, or of no use.

    penalty: its value at weights (p,).
    """
    engine = Engine(problem.replace(start=None))
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
        return engine
    w, b = problem.start
    yield Restart(engine, w.copy(), b if problem.fit_intercept else 0.0)
    engine.give_up_if_hopeless(problem, penalty)
    return engine


def bound_of_sweeps(engine: Engine, ascent: Ascent) -> Fit[float]:
    """The dual value of the sweeps' own dual variables: nearer than that of the fit's scores."""
    alpha = ascent.balanced(engine)
    products = yield Products(engine.design, alpha)
    return dual_value(engine, alpha) - 0.5 / ascent.q * float(products @ products)


def share_for(gap: float) -> float:
    """The share of the gradient that a step may leave."""
    return min(ROUGH, max(FINE, 0.5 * math.sqrt(min(gap, 1.0))))


def solution_of(
    problem: Problem,
    engine: Engine,
    slope: Floats,
    squares: Floats,
    history: Sequence[Step],
    stopped: bool,
) -> Solution:
    """What a ridge has come to.

    slope: of the objective, (p,). squares: the sum of the squared values of every column.
    """
    norm = math.sqrt(float(squares.sum()) / len(engine.z))  # see scales.document_norm
    end = history[-1]
    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=end.objective,
        gap=end.gap,
        residual=max(float(np.abs(slope).max(initial=0.0)), norm * slope_of_intercept(engine)),
        iterations=end.iteration,
        converged=end.gap <= problem.tol,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


def use_crossing_curvature(engine: Engine) -> None:
    """For documents on the wrong side, the curvature on their way to the other one (R2).

    At a score z it is (s(|z|) - 1/2) / |z| for the logistic function s, at most 1/4.
    """
    wrong = engine.y * engine.z < 0.0
    engine.h[wrong] = engine.loss.curvature_above(engine.z[wrong], engine.y[wrong], engine.c[wrong])
