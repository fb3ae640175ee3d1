"""Accelerated proximal gradient: for any penalty with ``value`` and ``prox`` (docs/maths.md, P2).

    x+ = prox(y - s grad f(y), s),    y = x+ + share (x+ - x)

f(w) = min_b loss(w, b): the intercept is at its optimum for every w, so that its curvature does not
limit the step. FISTA (Beck & Teboulle 2009) with backtracking on the step s, which grows again
after every iteration, and with a restart whenever the momentum points uphill (O'Donoghue & Candes
2015, the gradient scheme). A point with a higher objective is rejected, so that the objective never
rises, whatever the penalty. A penalty that also has ``conjugate(t)``, the supremum of t.w -
value(w), gives a duality gap.

:func:`minimize` takes arrays of weights as well, for classes that are fitted together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import PluginError
from textreg.penalties import Penalty
from textreg.records import Floats, Problem, Solution, Step
from textreg.records.arrays import read_only
from textreg.solvers.certificate import conjugate_bound, relative_gap
from textreg.solvers.state import Engine, checks_overflow, document_norm, finish, slope_of_intercept

# What an iteration is called.
UNIT = "steps of proximal gradient"

# Factors of the step s: when backtracking, and after every iteration.
SHRINK, GROW = 0.5, 1.1

# Smallest s, below which every loss is NaN; and largest, beyond which all moves are rounding.
SMALLEST_STEP, LARGEST_STEP = 1e-60, 1e100

# Relative rounding of the loss, which backtracking allows for.
NOISE = 1e-12

# Share of the loss below which the curvature over a step is told from derivatives: the rounding of
# the loss would let s grow until the steps no longer converge (Becker et al. 2011).
BY_DERIVATIVES = 1e-10

# Slope of the loss in the intercept that is taken for zero, near the rounding of its sum: what is
# left of it stays in the gap, however exact the weights are.
INTERCEPT = 1e-13

# Factor of the limit on the residual when it is reached but the gap is still too large.
TIGHTER = 0.3


class FitPoint(NamedTuple):
    """Weights w (p,), the optimal intercept b for them, scores z = Xw + b (n,), and the loss.

    Of several classes w is (classes, p), b (classes, 1), and z (classes, n).
    """

    w: Floats
    b: Any
    z: Floats
    loss: float


@checks_overflow
def proximal(problem: Problem, penalty: Penalty) -> Solution:
    """Minimize loss + penalty for any penalty with a proximal operator.

    It is slower than :func:`~textreg.solvers.newton.newton`, which takes separable penalties only.

    Parameters
    ----------
    problem : Problem
        What to fit.
    penalty : Penalty
        Its ``value`` and ``prox``, and its ``conjugate`` where there is one.

    Returns
    -------
    Solution
        ``residual`` is the largest entry of the proximal gradient, (w - prox(w - s grad f(w), s)) /
        s. The solver stops when it is at most ``problem.tol`` times the largest gradient at zero
        weights; for a penalty with a conjugate, at a relative duality gap of ``problem.tol``.

    Raises
    ------
    PluginError
        ``prox`` does not return p finite numbers, or ``value`` no number.

    References
    ----------
    beck2009; becker2011; odonoghue2015.
    """
    engine = Engine.begun(problem, lambda w: _value(penalty, w))
    largest = problem.largest_gradient_at_zero()
    point, residual, stopped, fields = minimize(problem, engine, penalty, largest)
    solution = Solution(w=point.w, b=point.b, residual=residual, **fields)
    return finish(problem, solution, UNIT, stopped=stopped)


def minimize(
    problem: Problem, engine: Engine, penalty: Penalty, largest: float
) -> tuple[FitPoint, float, bool, dict[str, Any]]:
    """The point, its residual, whether the caller has stopped, and further fields of a solution.

    engine: at the start; its weights are (p,), or (classes, p) with the sum of their penalties.
    largest: the gradient at zero weights, the unit of the residual.
    """
    conjugate = getattr(penalty, "conjugate", None) if engine.loss.convex else None
    limit = problem.tol * largest
    current = ahead = _move(engine, engine.w, engine.b, engine.z)
    value = _value(penalty, current.w)
    length, momentum, norm = _first_length(engine), 1.0, document_norm(problem.design)
    bound, gap, stopped, last = -np.inf, math.nan, False, False
    history: list[Step] = []

    while True:
        new, length, residual, slope = _forward(engine, penalty, ahead, length)
        residual = max(residual, norm * slope)
        if ahead is current and (last or residual <= limit):
            # Without momentum the residual is that of `current` itself.
            met = residual <= limit
            if conjugate is not None:
                engine.move_to(*current[:3])
                bound = max(bound, conjugate_bound(engine, lambda t: sum_of_rows(conjugate, t)))
                gap = relative_gap(current.loss + value, bound)
                met = gap <= problem.tol
                limit *= TIGHTER
            if met or last:
                break
        new_value = _value(penalty, new.w)
        uphill = float(np.vdot(ahead.w - new.w, new.w - current.w)) > 0.0
        if ahead is current or new.loss + new_value <= current.loss + value:
            before, current, value = current, new, new_value
        else:
            before, uphill = current, True
        history.append(Step(len(history) + 1, current.loss + value, gap))
        stopped = problem.stops(history[-1])
        last = stopped or len(history) >= problem.max_iter
        if uphill or residual <= limit or last:
            ahead, momentum = current, 1.0
            continue
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        share, momentum = (momentum - 1.0) / following, following
        ahead = _move(
            engine,
            current.w + share * (current.w - before.w),
            current.b,
            current.z + share * (current.z - before.z - current.b + before.b),
        )

    fields = {
        "objective": current.loss + value,
        "gap": gap,
        "iterations": len(history),
        "converged": met,
        "history": tuple(history),
    }
    return current, residual, stopped, fields


def _move(engine: Engine, w: Floats, b: Any, z: Floats) -> FitPoint:
    """Move the engine to weights w with scores z = Xw + b, and then to the optimal intercept."""
    engine.move_to(w, b, z)
    engine.optimize_intercept(INTERCEPT)
    return FitPoint(w, engine.b, engine.z, engine.value)


def _first_length(engine: Engine) -> float:
    """1 / curvature of f along its gradient; 1 where it is flat."""
    gradient = engine.gradient()
    move, h = engine.design.product(gradient), engine.h
    if engine.fit_intercept and h.any():
        move = move - (h * move).sum(axis=-1, keepdims=True) / h.sum(axis=-1, keepdims=True)
    curvature, square = float(np.vdot(h, move * move)), float(np.vdot(gradient, gradient))
    return square / curvature if curvature > 0.0 and square > 0.0 else 1.0


def sum_of_rows(function: Callable[[Floats], float], w: Floats) -> float:
    """The sum over the classes, where w is (classes, p); the function cannot write to it."""
    w = read_only(w)
    return sum(map(function, w)) if w.ndim == 2 else function(w)


def _value(penalty: Penalty, w: Floats) -> float:
    """The penalty; PluginError where that is not a number, or minus infinity."""
    value = sum_of_rows(penalty.value, w)
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "biuf" or not number > -math.inf:
        raise _fault(penalty, f"value returned {value!r} instead of a number")
    return float(value)


def _prox(penalty: Penalty, w: Floats, step: float) -> Floats:
    """That of the penalty, class by class; PluginError where it is not as many finite numbers."""
    if w.ndim == 2:
        return np.array([_prox(penalty, row, step) for row in w])
    x = np.require(penalty.prox(read_only(w), step), np.float64, "W")  # a copy if it is w itself
    if x.shape != w.shape or not np.isfinite(x).all():
        bad = f"{np.count_nonzero(~np.isfinite(x))} values that are not finite"
        what = f"prox returned an array of shape {x.shape} with {bad}"
        raise _fault(penalty, f"{what}, instead of {len(w)} finite weights")
    return x


def _fault(penalty: Penalty, what: str) -> PluginError:
    return PluginError(f"{type(penalty).__name__}.{what}. Fix that method, or tell its authors.")


def _forward(
    engine: Engine, penalty: Penalty, at: FitPoint, length: float
) -> tuple[FitPoint, float, float, float]:
    """One proximal gradient step from ``at``; the engine is left at the new point.

    Returns the new point, the accepted step s, and at ``at`` the largest entry of the proximal
    gradient and the derivative in the intercept.
    """
    if engine.w is not at.w:
        engine.move_to(*at[:3])
    gradient, r = engine.gradient(), engine.r.copy()
    slope, rounding = slope_of_intercept(engine), NOISE * float(np.abs(engine.r).sum())
    slope = slope if slope > rounding else 0.0  # which is rounding alone
    length = min(GROW * length, LARGEST_STEP)
    while True:
        w = _prox(penalty, at.w - length * gradient, length)
        move = w - at.w
        scores = engine.design.product(move)
        new = _move(engine, w, at.b, at.z + scores)
        square = float(np.vdot(move, move)) / (2.0 * length)
        # An intercept without an optimum, as for a single label, moves on and changes r as well.
        if slope > 0.0 or square > BY_DERIVATIVES * abs(at.loss):
            rise = new.loss - at.loss - float(np.vdot(gradient, move))
            allowed = square + NOISE * abs(at.loss)
        else:
            rise, allowed = 0.5 * float(np.vdot(engine.r - r, scores)), square
        if rise <= allowed:
            break
        length *= SHRINK
        if length < SMALLEST_STEP:
            raise _fault(penalty, "prox returns weights with a loss of NaN for every step size")
    return new, length, float(np.abs(move).max(initial=0.0)) / length, slope
