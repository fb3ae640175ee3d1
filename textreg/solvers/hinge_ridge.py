"""A ridge of a hinge: dual coordinate ascent, and Newton steps where that is slow.

    min  sum_i c_i l(y_i, x_i w + b) + l2 ||w||^2

The optimum of a dual variable has a closed form, and one that has come to a bound mostly stays
there (hsieh2008), while steps of Newton's method end at kinks of the loss. So sweeps come first, as
long as they bring the gap down, for several labels in one pass (see :mod:`.dual_ascent`). They are
float32; what is left of the gap is for Newton's method, which is quick where they have led.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textreg.penalties import Separable
from textreg.records import Problem, Solution, Step
from textreg.records.design import BlockDesign
from textreg.solvers import dual_ascent
from textreg.solvers.certificate import relative_gap
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.dual_ascent import HINGES, Ascent, Patience
from textreg.solvers.newton import newton
from textreg.solvers.outcome import checks_overflow
from textreg.solvers.parallel_columns import over_merged_columns
from textreg.solvers.requests import Fit, Gradient, Restart, Sweeps, side_by_side
from textreg.solvers.ridge import beginning, bound_of_sweeps, solution_of

# Largest gap at which Newton steps begin where sweeps have led, not where the problem says.
NEAR = 0.1


def suits(problem: Problem) -> bool:
    """Whether the loss is a hinge, and the matrix is there whole and not empty."""
    design = problem.design
    whole = not isinstance(design, BlockDesign) and 0 not in design.shape
    return whole and isinstance(problem.loss, HINGES)


@checks_overflow
def hinge_ridges(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """Minimize loss + l2 ||w||^2, for l2 above 0, for problems that share their matrix.

    Parameters
    ----------
    problems : sequence of Problem
        What to fit, with a hinge loss; ``tol`` is the relative duality gap to stop at,
        ``max_iter`` the most looks at the gap and Newton steps.
    l2 : float
        The strength.

    Returns
    -------
    list of Solution
        One for each, the same with the others and without.

    References
    ----------
    hsieh2008, for the sweeps.
    """
    return over_merged_columns(
        problems, lambda some: side_by_side([_fit(problem, l2) for problem in some])
    )


def _fit(problem: Problem, l2: float) -> Fit[Solution]:
    """The fit of one problem."""
    penalty, q = Separable.constant(problem.design.shape[1], l2=l2), 2.0 * l2
    rows = compact_rows(problem.design)
    engine = yield from beginning(problem, penalty.value)
    history: list[Step] = []
    bound, patience, start = -np.inf, Patience(), problem.start
    if dual_ascent.in_range(engine, rows, q):
        engine.optimize_intercept()
        gradient = yield Gradient(engine, rows)
        ascent = Ascent(engine, rows, q, gradient)
        ended = False
        while not ended and len(history) < problem.max_iter:
            z = yield Sweeps(rows, ascent)
            engine.move_to(rows.expand(ascent.u.astype(np.float64)), ascent.b, z + ascent.b)
            engine.optimize_intercept()
            at_hand = yield from bound_of_sweeps(engine, ascent)
            bound = max(bound, at_hand)
            gap = relative_gap(engine.value + penalty.value(engine.w), bound)
            if gap <= problem.tol:  # by scores that are rounded
                yield Restart(engine, engine.w, engine.b)
                gap = relative_gap(engine.value + penalty.value(engine.w), bound)
            objective = engine.value + penalty.value(engine.w)
            history.append(Step(len(history) + 1, objective, gap))
            stopped = bool(problem.callback and problem.callback(history[-1]))
            if stopped or gap <= problem.tol:
                gradient = yield Gradient(engine)
                slope = gradient + penalty.q * engine.w
                return solution_of(problem, engine, slope, rows.squares, history, stopped)
            if gap <= min(NEAR, patience.least):
                start = engine.w, engine.b
            ended = patience.ends(gap)
    left = max(problem.max_iter - len(history), 0)
    found = newton(problem.replace(start=start, max_iter=left), penalty)
    return replace(found, iterations=len(history) + found.iterations)
