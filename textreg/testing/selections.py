"""Selections of features by our own means, which those of others are compared with."""

from __future__ import annotations

import numpy as np

from textreg.penalties import Separable
from textreg.records import Floats, Int64s, Problem, Solution
from textreg.solvers.newton import newton
from textreg.solvers.pursuit import Pursuit
from textreg.testing.problems import null_loss, quiet

SLIGHT = 1e-3
"""Ridge of the fits that selections are compared by, as a share of the largest gradient."""


def fit_on(problem: Problem, features: Int64s, l2: float) -> tuple[Floats, float, float]:
    """Weights (p,), intercept and objective of a ridge on some features."""
    small = problem.replace(
        X=problem.X[:, features], groups=None, graph=None, callback=None, start=None, tol=1e-5
    )
    with quiet():
        found = newton(small, Separable.constant(len(features), l2=l2))
    w = np.zeros(problem.X.shape[1])
    w[features] = found.w
    return w, found.b, found.objective


def gain(problem: Problem, features: Int64s) -> float:
    """How much the features lower the objective of a slight ridge below that of none."""
    l2 = SLIGHT * problem.largest_gradient_at_zero()
    return null_loss(problem) - fit_on(problem, features, l2)[2]


def pursued(problem: Problem, count: int) -> list[Int64s]:
    """So many features, as both pursuits select them."""
    l2 = SLIGHT * problem.largest_gradient_at_zero()
    found = []
    for columns in ("unit", "given"):
        run = Pursuit(problem.replace(callback=None, start=None), l2=l2, columns=columns)
        with quiet():
            run.grow(count)
        found.append(np.array(run.order[:count], dtype=np.int64))
    return found


def at_random(problem: Problem, count: int, times: int) -> list[Int64s]:
    """So many features of those that occur, drawn at random."""
    rng = np.random.default_rng(7)
    present = np.unique(problem.X.indices)
    return [rng.choice(present, min(count, len(present)), replace=False) for _ in range(times)]


def rivals(problem: Problem, found: Solution) -> list[tuple[Floats, float]]:
    """Weights and intercepts of other selections with as many features, if that is not all."""
    chosen, p = np.flatnonzero(found.w), problem.X.shape[1]
    if not 0 < len(chosen) < p // 2:
        return []
    sets = pursued(problem, len(chosen))
    for first in list(sets):
        sets += _exchanged(problem, first)
    sets += _exchanged(problem, chosen)
    largest = problem.largest_gradient_at_zero()
    return [fit_on(problem, each, l2 * largest)[:2] for each in sets for l2 in (1e-4, 1e-2, 0.1)]


def _exchanged(problem: Problem, chosen: Int64s) -> list[Int64s]:
    """The selection after each of some exchanges of one feature that make it better."""
    best, value = chosen, gain(problem, chosen)
    found = []
    for out in chosen.tolist():
        rest = best[best != out]
        w, b, _ = fit_on(problem, rest, SLIGHT * problem.largest_gradient_at_zero())
        r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
        z = problem.design.product(w) + b
        problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
        slopes = np.abs(problem.X.T @ r)
        slopes[rest] = -1.0
        slopes[out] = -1.0
        other = np.append(rest, int(np.argmax(slopes)))
        if (better := gain(problem, other)) > value:
            best, value = other, better
            found.append(best)
    return found[-2:]
