"""How a regularizer solves: the second half of its contract."""

from __future__ import annotations

import contextlib
import math
import tracemalloc
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import TextregError
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.records import Graph, Groups, Problem, Step
from textreg.testing.checks import Checks, near, require
from textreg.testing.problems import (
    N,
    P,
    graph_of,
    groups_of,
    large,
    loss_at,
    null_loss,
    prepared,
    quiet,
    require_honest,
    small,
    solved,
)

MEGABYTES = 300
"""What a fit of the large sparse problem may take at its peak; as dense it would be 16,000."""

HUGE = 1e9
"""A penalty strength at which every weight is zero."""

LOWER = 1e-5
"""Share of the objective by which weights nearby may lie below those that were found."""

checks = Checks("regularizer")


def adds_penalty(part: Regularizer) -> bool:
    """Whether a regularizer has the method ``penalty(problem)``: what it adds to the loss."""
    return callable(getattr(part, "penalty", None))


@checks.add("optimality", applies=adds_penalty)
def _optimality(part: Regularizer) -> None:
    """If it has a penalty, the objective is loss + penalty, no weights nearby have a lower
    objective, and the proximal gradient there is 0."""
    problem = small()
    ready: Any = prepared(part, problem)
    found, penalty = solved(ready, problem), ready.penalty(problem)
    least, gradient = loss_at(problem, found.w, found.b)
    least += penalty.value(found.w)
    slack = LOWER * max(abs(least), 1e-3 * null_loss(problem))
    near("an objective", [found.objective], [least], LOWER)
    trials = [(found.w, found.b + move) for move in (-1e-2, 1e-2)]
    moves = [*np.eye(P), found.w, -gradient]
    trials += [(found.w + size * move, found.b) for move in moves for size in (-1e-2, 1e-3, 1e-2)]
    trials += [(np.where(np.arange(P) == j, 0.0, found.w), found.b) for j in range(P)]
    for w, b in trials:
        value = loss_at(problem, w, b)[0] + penalty.value(w)
        require(value >= least - slack, f"no objective below {least:.8g} nearby", f"{value:.8g}")
    if hasattr(penalty, "prox"):
        step = 0.1 / max(float(abs(problem.X).sum()), 1e-9)
        moved = found.w - penalty.prox(found.w - step * gradient, step)
        off = float(np.abs(moved).max()) / step / problem.largest_gradient_at_zero()
        require(off <= 1e-3, "a proximal gradient of 1e-3 at most", f"{off:.2g}")


@checks.add("memory")
def _memory(part: Regularizer) -> None:
    """A large sparse X is never converted to a dense array."""
    problem = large()
    sparse = {
        key: min(200, value)
        for key, value in prepared(part, problem).params().items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 200
    }
    ready = prepared(part.replace(**sparse), problem)
    tracemalloc.start()
    try:
        solved(ready, problem)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    require(peak < MEGABYTES, f"less than {MEGABYTES} MB", f"{peak:.0f} MB")


@checks.add("edges")
def _edges(part: Regularizer) -> None:
    """It solves problems with one feature, two documents, equal features or a single label. Groups
    without features and graphs without links are solved, or refused with a message."""
    ready, rng = prepared(part), np.random.default_rng(3)
    problem = small()
    cases = {
        "a single feature": problem.replace(
            X=problem.X[:, [0]], groups=groups_of(1, rng, 2), graph=graph_of(1, rng)
        ),
        "two documents": problem.replace(
            X=problem.X[:2], y=np.array([1.0, -1.0]), sample_weight=np.ones(2)
        ),
        "a feature twice": problem.replace(X=problem.X[:, np.r_[0, 0, 2:P]]),
        "one label": problem.replace(y=np.ones(N)),
        "documents without a feature": problem.replace(
            X=csr_array(problem.X.multiply((np.arange(N) % 2)[:, None]))
        ),
        "columns of zeros": problem.replace(X=csr_array(problem.X.multiply(np.arange(P) % 2))),
    }
    for name, case in cases.items():
        if ready.needs == "graph" and name == "a single feature":
            continue  # nothing to link
        _is_finite(ready, name, case)
    bare: dict[str, Problem] = {}
    if ready.needs == "groups":
        bare["no group"] = problem.replace(groups=_empty_groups(0))
        bare["groups without a feature"] = problem.replace(groups=_empty_groups(3))
    if ready.needs == "graph":
        bare["a graph without a link"] = problem.replace(graph=Graph(csr_array((P, P))))
    for name, case in bare.items():
        with contextlib.suppress(TextregError):
            _is_finite(ready, name, case)


def _is_finite(ready: Regularizer, name: str, case: Problem) -> None:
    found = solved(ready, case.replace(max_iter=200, tol=1e-3))
    finite = bool(np.isfinite(found.w).all()) and math.isfinite(found.b)
    require(finite, f"finite weights for {name}", found.w)


def _empty_groups(count: int) -> Groups:
    """So many groups with nothing in them."""
    nothing = np.empty(0, dtype=np.int32)
    return Groups(np.zeros(count + 1, dtype=np.int64), nothing, np.ones(count), P)


@checks.add("strengths")
def _strengths(part: Regularizer) -> None:
    """A penalty strength of 0 is allowed, and a huge one leaves no weight."""
    ready, problem = prepared(part), small(tol=1e-3, max_iter=100)
    for key, declared in ready.declared().items():
        if not isinstance(declared.search, LogGrid):
            continue
        free = solved(ready.replace(**{key: 0.0}), problem)
        require(bool(np.isfinite(free.w).all()), f"finite weights at {key}=0", free.w)
    strengths = [key for key, it in ready.declared().items() if isinstance(it.search, LogGrid)]
    if strengths:
        found = solved(ready.replace(**dict.fromkeys(strengths, HUGE)), problem)
        largest = float(np.abs(found.w).max())
        require(largest < 1e-4, f"no weight at strengths of {HUGE:g}", largest)


@checks.add("start")
def _start(part: Regularizer) -> None:
    """Started from its own solution, it returns one that is no worse."""
    ready, problem = prepared(part), small()
    first = solved(ready, problem)
    again = solved(ready, problem.replace(start=(first.w, first.b)))
    slack = abs(first.objective) * 1e-6
    worse = again.objective - first.objective
    require(worse <= slack, "an objective as low as before", f"one {worse:g} above")


@checks.add("callback")
def _callback(part: Regularizer) -> None:
    """The callback is called with Steps; when it returns True, the best solution so far is
    returned at once."""
    steps: list[Any] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    problem = small(tol=1e-12, callback=stop)
    found = solved(prepared(part), problem)
    wrong = [step for step in steps if not isinstance(step, Step)]
    require(not wrong, "Steps", wrong)
    require(len(steps) >= 1, "a call at least", "none")
    require(len(steps) == 1, "an end when it returned True", f"{len(steps)} calls")
    require(bool(np.isfinite(found.w).all()), "finite weights", found.w)


@checks.add("honesty")
def _honesty(part: Regularizer) -> None:
    """A converged solution has a gap within the tolerance, if it has one; any other gives a
    ConvergenceWarning."""
    ready = prepared(part)
    for problem in (small(), small(tol=1e-13, max_iter=1)):
        require_honest(ready.solve, problem)


@checks.add("bound")
def _bound(part: Regularizer) -> None:
    """If a gap is given, it is valid: no solution has an objective below the bound."""
    ready = prepared(part)
    best = solved(ready, small())
    for tol in (0.3, 1e-2):
        found = solved(ready, small(tol=tol))
        if not math.isnan(found.gap):
            require(found.gap >= 0.0, "a gap of 0 or more", found.gap)
            least = found.objective * (1.0 - found.gap)
            enough = least <= best.objective * (1.0 + 1e-9)
            require(enough, f"a bound below {best.objective}", least)


@checks.add("path")
def _path(part: Regularizer) -> None:
    """path gives every candidate, in order and without AUTO, with the solution that it has
    alone."""
    problem = small(tol=1e-6)
    grid = part.candidates(problem)
    open_ones = [each for each in grid if each.undecided()]
    require(bool(grid) and not open_ones, "candidates with every value", open_ones or grid)
    with quiet():
        walked = list(part.path(problem, grid))
    parts = [each for each, _ in walked]
    require(parts == grid, f"{len(grid)} candidates in order", parts)
    for each, solution in walked[:: max(1, len(walked) // 3)]:
        alone = solved(each, problem)
        slack = 1e-4 * max(abs(alone.objective), 1e-3)
        off = abs(solution.objective - alone.objective)
        require(off <= slack, f"the objective {alone.objective} of {each}", solution.objective)
