"""Accelerated proximal gradient: for any penalty with ``value`` and ``prox``.

    x+ = prox(y - s grad f(y), s),    y = x+ + share (x+ - x)

FISTA (Beck & Teboulle 2009) with backtracking on the step s, and restarts whenever the momentum
points uphill (O'Donoghue & Candes 2015, the gradient scheme). A penalty that also has
``conjugate(t)``, the largest t.w - value(w) over all w, gets a duality gap as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg.errors import PluginError
from textreg.losses import intercept_at_zero, largest_gradient_at_zero
from textreg.penalties import Penalty
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.certificate import conjugate_bound, relative_gap
from textreg.solvers.engine import Engine
from textreg.solvers.outcome import outcome

SHRINK, GROW = 0.5, 1.1
"""Factors of the step s: when its bound fails, and after every iteration."""

LONGEST = 1e100
"""Greatest s: where all moves are rounding, every bound holds and s would grow without end."""

NOISE = 1e-12
"""Relative rounding of the loss, which the test of s has to allow for."""

TIGHTER = 0.3
"""Factor of the limit on the residual when it was met and the gap is still too wide."""


class Point(NamedTuple):
    """Weights w (p,), intercept b and scores z = Xw + b (n,)."""

    w: Floats
    b: float
    z: Floats


def proximal(problem: Problem, penalty: Penalty) -> Solution:
    """Minimise loss + penalty, the intercept free; slower than ``newton``, but takes any penalty.

    Stops when no entry of the proximal gradient, (x - prox(x - s grad f(x), s)) / s, is larger
    than ``problem.tol`` times the largest gradient at zero weights; where the penalty has a
    conjugate, at a relative gap of ``problem.tol`` instead. PluginError where ``prox`` gives
    anything but p finite numbers.
    """
    engine = Engine(problem)
    if problem.start is None:
        engine.restart(engine.w, intercept_at_zero(problem))
    conjugate = getattr(penalty, "conjugate", None)
    limit = problem.tol * largest_gradient_at_zero(problem)
    here = ahead = Point(engine.w, engine.b, engine.z)
    length, momentum = 1.0, 1.0
    bound, gap, met, stopped, last = -np.inf, math.nan, False, False, False
    history: list[Step] = []

    while True:
        new, value, length, residual = _forward(engine, penalty, ahead, length)
        if ahead is here and (last or residual <= limit):
            # Without momentum the residual is that of ``here`` itself.
            objective = engine.value + penalty.value(here.w)
            met = residual <= limit
            if conjugate is not None:
                bound = max(bound, conjugate_bound(engine, conjugate))
                gap = relative_gap(objective, bound)
                met = gap <= problem.tol
                limit *= TIGHTER
            if met or last:
                break
        history.append(Step(len(history) + 1, value + penalty.value(new.w), gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        last = stopped or len(history) >= problem.max_iter
        uphill = (ahead.w - new.w) @ (new.w - here.w) + (ahead.b - new.b) * (new.b - here.b)
        if uphill > 0.0 or residual <= limit or last:
            here = ahead = new
            momentum = 1.0
            continue
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        share, momentum = (momentum - 1.0) / following, following
        ahead = Point(
            new.w + share * (new.w - here.w),
            new.b + share * (new.b - here.b),
            new.z + share * (new.z - here.z),
        )
        here = new

    return outcome(
        problem,
        "steps of proximal gradient",
        history,
        w=here.w,
        b=here.b,
        objective=objective,
        gap=gap,
        residual=residual,
        iterations=len(history),
        converged=met,
        stopped=stopped,
    )


def _forward(
    engine: Engine, penalty: Penalty, at: Point, length: float
) -> tuple[Point, float, float, float]:
    """One proximal gradient step; the engine is left at ``at``.

    Returns the new point, the loss there, the length of step that held, and the largest entry of
    the proximal gradient at ``at``.
    """
    loss, y, c = engine.loss, engine.problem.y, engine.problem.weights
    engine.move_to(*at)
    gradient = engine.gradient(engine.features)
    slope = float(engine.r.sum()) if engine.problem.fit_intercept else 0.0
    length = min(GROW * length, LONGEST)
    while True:
        w = np.asarray(penalty.prox(at.w - length * gradient, length), dtype=np.float64)
        if w.shape != at.w.shape or not np.isfinite(w).all():
            raise PluginError(
                f"{type(penalty).__name__}.prox gave an array of the shape {w.shape} with "
                f"{np.count_nonzero(~np.isfinite(w))} values that are not finite, where "
                f"{len(at.w)} finite weights are due. Mend that method, or tell its authors."
            )
        move, move_b = w - at.w, -length * slope
        z = at.z + engine.scores(move, move_b)
        value = loss.value(z, y, c)
        square = float(move @ move) + move_b**2
        model = engine.value + float(gradient @ move) + slope * move_b + square / (2.0 * length)
        if value <= model + NOISE * abs(engine.value):
            break
        length *= SHRINK
    residual = max(float(np.abs(move).max(initial=0.0)), abs(move_b)) / length
    return Point(w, at.b + move_b, z), value, length, residual
