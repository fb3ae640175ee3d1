"""What solutions are compared with: the objective as anybody can compute it, other selections."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textreg.kinds import Regularizer
from textreg.penalties import Separable
from textreg.records import Floats, Int64s, Problem, Solution
from textreg.solvers.newton import newton
from textreg.solvers.pursuit import Pursuit
from textreg_testing.checks import ContractError
from textreg_testing.problems import hard, null_loss, prepared, quiet, small, solved

Objective = Callable[[Floats, float], float]
"""Of weights (p,) and an intercept."""

SAME = 1e-6
"""Share of the objective that is left to rounding."""

FORMS: dict[str, Callable[[Floats], float]] = {
    "||w||_1": lambda w: float(np.abs(w).sum()),
    "||w||_2^2": lambda w: float(w @ w),
    "||w||_2^2 / 2": lambda w: 0.5 * float(w @ w),
    "count(w)": lambda w: float(np.count_nonzero(w)),
}
"""What is usually added to the loss, times a parameter."""

Terms = tuple[tuple[str, str], ...]
"""Names of parameters, each with one of FORMS."""


def declares(part: Regularizer) -> bool:
    """Whether the regularizer says what its objective is."""
    own = type(part).objective is not Regularizer.objective
    return own or callable(getattr(part, "penalty", None))


def objective_of(part: Regularizer) -> Callable[[Regularizer, Problem], Objective]:
    """The objective of a part with any parameters for any problem.

    It is what the part declares, by ``penalty(problem)`` or ``objective(problem, w, b)``; else the
    loss and some of FORMS, as follows from solutions.

    Raises
    ------
    ContractError
        If there is no declaration and no form fits.
    """
    if declares(part):
        return lambda ready, problem: lambda w, b: ready.objective(problem, w, b)
    terms = _guess(part)
    return lambda ready, problem: lambda w, b: _with_terms(ready, problem, terms, w, b)


def _with_terms(ready: Regularizer, problem: Problem, terms: Terms, w: Floats, b: float) -> float:
    value = Regularizer.objective(ready, problem, w, b)
    return value + sum(float(getattr(ready, key)) * FORMS[form](w) for key, form in terms)


def _guess(part: Regularizer) -> Terms:
    """What was added to the loss in the solutions of two problems, with several parameters."""
    seen: list[tuple[Regularizer, Problem, Solution]] = []
    for problem in (hard(), small(), hard(1)):
        grid = part.candidates(problem)
        for ready in {0: grid[-1], 1: prepared(part, problem)}.values():
            seen.append((ready, problem, solved(ready, problem)))
    numbers = [
        key
        for key, value in part.params().items()
        if isinstance(seen[0][0].params()[key], int | float) and not isinstance(value, bool | str)
    ]
    single: list[Terms] = [((key, form),) for key in numbers for form in FORMS]
    pairs = [
        one + other for one, other in itertools.combinations(single, 2) if one[0][0] != other[0][0]
    ]
    for terms in ((), *single, *pairs):
        if all(_fits(terms, *each) for each in seen):
            return terms
    ready, problem, found = seen[0]
    loss = Regularizer.objective(ready, problem, found.w, found.b)
    raise ContractError(
        f"expected the objective {loss:.8g}, which is the loss at w and b, or more by a parameter "
        f"times {' or '.join(FORMS)}, but got {found.objective:.8g}. Where it is right, write "
        "objective(problem, w, b), which says what it is."
    )


def _fits(terms: Terms, ready: Any, problem: Problem, found: Solution) -> bool:
    value = _with_terms(ready, problem, terms, found.w, found.b)
    return abs(value - found.objective) <= SAME * max(abs(value), 1e-3)


def lower(
    objective: Objective, found: Solution, moves: Sequence[Floats], sizes: Sequence[float]
) -> tuple[float, Floats, float]:
    """The lowest objective that these moves of the weights or the intercept lead to, and where."""
    trials = [(found.w, found.b + size) for size in (-1e-2, 1e-2)]
    trials += [(found.w + size * move, found.b) for move in moves for size in sizes]
    values = [objective(w, b) for w, b in trials]
    best = int(np.argmin(values))
    return values[best], *trials[best]


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
