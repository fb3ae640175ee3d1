"""The contract of a regularizer."""

from __future__ import annotations

import json
import math
import pickle
import tracemalloc
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg import registry
from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Regularizer
from textreg.losses import find_loss
from textreg.params import AUTO, LogGrid
from textreg.records import Problem, Solution, Step
from textreg.testing.checks import Check, Checks, fail, near, require
from textreg.testing.problems import N, P, decided, graph_of, groups_of, large, null_loss, small

CLOSE = 5e-3
"""How near weights must be that are found in two ways, relative to the largest."""

MEGABYTES = 300
"""What a fit of the large sparse problem may take at its peak; as dense it would be 16,000."""

HUGE = 1e9
"""A price that no weight is worth."""

_checks = Checks()


def regularizer_checks() -> list[Check]:
    """All of them, in order."""
    return list(_checks.all)


def check_regularizer(
    part: str | type[Regularizer] | Regularizer, *, skip: Mapping[str, str] | None = None
) -> None:
    """Raise ContractError unless ``part`` keeps the contract of a regularizer.

    part: name, class or instance; parameters that are open are taken from its own grid. skip: names
    of checks to leave out, each with the reason why; UsageError for one that does not exist.
    """
    skip = skip or {}
    if unknown := skip.keys() - {check.name for check in _checks.all}:
        raise UsageError(f"there is no check '{min(unknown)}' of regularizers.")
    for check in _checks.all:
        if check.name not in skip:
            check(part)


def _make(part: Any) -> Regularizer:
    made: Regularizer = registry.resolve("regularizer", part)
    return made


def _ready(part: Any, problem: Problem | None = None) -> Regularizer:
    return decided(_make(part), small() if problem is None else problem)


def _solve(part: Regularizer, problem: Problem) -> Solution:
    """Solve it; what did not converge is a matter of one check alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return part.solve(problem)


@_checks.add("parameters")
def _parameters(part: Any) -> None:
    """Every parameter says what it is for, and one without a value has a grid to be searched."""
    for key, declared in _make(part).declared().items():
        require("parameters", bool(declared.help), f"a help text of {key}", "none")
        if declared.default is AUTO:
            require("parameters", declared.search is not None, f"a grid for {key}", "none")


@_checks.add("state")
def _state(part: Any) -> None:
    """Parameters are plain values: JSON gives them back, and a pickled copy is equal."""
    ready = _ready(part)
    try:
        again = type(ready)(**json.loads(json.dumps(ready.params())))
    except TypeError as error:
        fail("state", "parameters that JSON can hold", f"{ready.params()} ({error})")
    require("state", again.params() == ready.params(), f"{ready.params()}", again.params())
    copy = pickle.loads(pickle.dumps(ready))
    require("state", copy.params() == ready.params(), "an equal pickled copy", copy.params())


@_checks.add("solution")
def _solution(part: Any) -> None:
    """The weights are p finite numbers, the intercept is one, and so is the objective."""
    problem = small()
    found = _solve(_ready(part), problem)
    require("solution", isinstance(found, Solution), "a Solution", type(found).__name__)
    require("solution", np.shape(found.w) == (P,), f"w of the shape ({P},)", np.shape(found.w))
    require("solution", bool(np.isfinite(found.w).all()), "finite weights", found.w)
    for name in ("b", "objective"):
        value = getattr(found, name)
        require("solution", np.ndim(value) == 0 and math.isfinite(value), f"a number {name}", value)
    if found.group_norms is not None and problem.groups is not None:
        shape, wanted = np.shape(found.group_norms), (len(problem.groups),)
        require("solution", shape == wanted, f"group_norms of the shape {wanted}", shape)


@_checks.add("use")
def _use(part: Any) -> None:
    """The fit is better than no feature at all, at the prices it would choose for itself."""
    problem = small()
    found = _solve(_ready(part), problem)
    z = problem.X @ found.w + found.b
    loss = find_loss(problem.loss).value(z, problem.y, problem.weights)
    require(
        "use", loss <= null_loss(problem) * (1 + 1e-9), f"a loss below {null_loss(problem)}", loss
    )


@_checks.add("input")
def _input(part: Any) -> None:
    """The problem is as it was: X, y, weights and groups are nobody's to change."""
    problem = small()
    arrays = {"X": problem.X.data, "y": problem.y, "weights": problem.weights}
    if problem.groups is not None:
        arrays["groups.indices"] = problem.groups.indices
    before = {name: array.copy() for name, array in arrays.items()}
    _solve(_ready(part), problem)
    for name, array in arrays.items():
        require("input", np.array_equal(array, before[name]), f"{name} as it was", "another")


@_checks.add("determinism")
def _determinism(part: Any) -> None:
    """The same problem gives the same bits again."""
    ready = _ready(part)
    one, other = _solve(ready, small()), _solve(ready, small())
    same = np.array_equal(one.w, other.w) and one.b == other.b
    require("determinism", same, "the same bits twice", "others")


@_checks.add("workers")
def _workers(part: Any) -> None:
    """Fits side by side in threads give the bits that they give alone."""
    ready, problem = _ready(part), small()
    problems = [problem, problem.replace(y=-problem.y), problem]
    alone = [_solve(ready, small().replace(y=each.y)) for each in problems]
    with warnings.catch_warnings(), ThreadPoolExecutor(3) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)
        beside = list(pool.map(ready.solve, problems))
    same = all(np.array_equal(a.w, b.w) and a.b == b.b for a, b in zip(alone, beside, strict=True))
    require("workers", same, "the same bits in three threads", "others")


@_checks.add("order")
def _order(part: Any) -> None:
    """The order of the documents does not matter, but for rounding."""
    ready, problem = _ready(part), small()
    rows = np.random.default_rng(2).permutation(N)
    mixed = problem.replace(X=problem.X[rows], y=problem.y[rows], weights=problem.weights[rows])
    near("order", "weights", _solve(ready, mixed).w, _solve(ready, problem).w, CLOSE)


@_checks.add("weights")
def _weights(part: Any) -> None:
    """A document of weight 3 is the same as three of it, and one of weight 0 is not there."""
    problem = small()
    ready = _ready(part, problem)
    counts = problem.weights.astype(int)
    counts[:3] = 0
    weighted = problem.replace(weights=counts.astype(np.float64))
    rows = np.repeat(np.arange(N), counts)
    repeated = problem.replace(X=problem.X[rows], y=problem.y[rows], weights=np.ones(len(rows)))
    one, other = _solve(ready, weighted), _solve(ready, repeated)
    near("weights", "weights of repeated documents", one.w, other.w, CLOSE)


@_checks.add("intercept")
def _intercept(part: Any) -> None:
    """Without an intercept b is 0; with one and no weights it is the logarithm of the odds."""
    problem = small()
    ready = _ready(part, problem)
    without = _solve(ready, problem.replace(fit_intercept=False))
    require("intercept", without.b == 0.0, "b = 0 where fit_intercept is off", without.b)
    nothing = problem.replace(
        X=csr_array((N, P)), graph=None if problem.graph is None else problem.graph
    )
    up = float(problem.weights[problem.y > 0].sum())
    down = float(problem.weights[problem.y < 0].sum())
    found = _solve(ready, nothing)
    require("intercept", not found.w.any(), "no weight where every feature is 0", found.w)
    near("intercept", "the intercept alone", [found.b], [math.log(up / down)], 1e-3)


@_checks.add("dense")
def _dense(part: Any) -> None:
    """A dense X gives what the same X gives as a sparse one."""
    ready, problem = _ready(part), small()
    dense = problem.replace(X=problem.X.toarray())
    near("dense", "weights", _solve(ready, dense).w, _solve(ready, problem).w, 1e-9)


@_checks.add("memory")
def _memory(part: Any) -> None:
    """A large sparse X is never made dense."""
    problem = large()
    ready = _make(part)
    sparse = {
        key: min(200, value)
        for key, value in _ready(ready, problem).params().items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 200
    }
    ready = decided(ready.replace(**sparse), problem)
    tracemalloc.start()
    try:
        _solve(ready, problem)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    require("memory", peak < MEGABYTES, f"less than {MEGABYTES} MB", f"{peak:.0f} MB")


@_checks.add("edges")
def _edges(part: Any) -> None:
    """One feature, two documents, a feature twice and labels all the same are no reason to fail."""
    ready, rng = _ready(part), np.random.default_rng(3)
    problem = small()
    cases = {
        "a single feature": problem.replace(
            X=problem.X[:, [0]], groups=groups_of(1, rng, 2), graph=graph_of(1, rng)
        ),
        "two documents": problem.replace(
            X=problem.X[:2], y=np.array([1.0, -1.0]), weights=np.ones(2)
        ),
        "a feature twice": problem.replace(X=problem.X[:, np.r_[0, 0, 2:P]]),
        "one label": problem.replace(y=np.ones(N)),
        "columns of zeros": problem.replace(X=csr_array(problem.X.multiply(np.arange(P) % 2))),
    }
    for name, case in cases.items():
        if ready.needs == "graph" and name == "a single feature":
            continue  # nothing to link
        found = _solve(ready, case.replace(max_iter=200, tol=1e-3))
        finite = bool(np.isfinite(found.w).all()) and math.isfinite(found.b)
        require("edges", finite, f"finite weights for {name}", found.w)


@_checks.add("prices")
def _prices(part: Any) -> None:
    """A price of 0 can be asked for, and one beyond all worth leaves no weight."""
    ready, problem = _ready(part), small(tol=1e-3, max_iter=100)
    for key, declared in ready.declared().items():
        if not isinstance(declared.search, LogGrid):
            continue
        free = _solve(ready.replace(**{key: 0.0}), problem)
        require("prices", bool(np.isfinite(free.w).all()), f"finite weights at {key}=0", free.w)
    prices = [key for key, it in ready.declared().items() if isinstance(it.search, LogGrid)]
    if prices:
        found = _solve(ready.replace(**dict.fromkeys(prices, HUGE)), problem)
        largest = float(np.abs(found.w).max())
        require("prices", largest < 1e-4, f"no weight where prices are {HUGE:g}", largest)


@_checks.add("start")
def _start(part: Any) -> None:
    """Started from its own solution, it ends no worse."""
    ready, problem = _ready(part), small()
    first = _solve(ready, problem)
    again = _solve(ready, problem.replace(start=(first.w, first.b)))
    slack = abs(first.objective) * 1e-6
    worse = again.objective - first.objective
    require("start", worse <= slack, "an objective as low as before", f"one {worse:g} above")


@_checks.add("callback")
def _callback(part: Any) -> None:
    """The callback gets Steps; when it returns True, the best so far comes back at once."""
    steps: list[Any] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    problem = small(tol=1e-12, callback=stop)
    found = _solve(_ready(part), problem)
    wrong = [step for step in steps if not isinstance(step, Step)]
    require("callback", not wrong, "Steps", wrong)
    require("callback", len(steps) >= 1, "a call at least", "none")
    require("callback", len(steps) == 1, "an end when it returned True", f"{len(steps)} calls")
    require("callback", bool(np.isfinite(found.w).all()), "finite weights", found.w)


@_checks.add("honesty")
def _honesty(part: Any) -> None:
    """What is called converged has a gap within the tolerance, if any; what is not warns."""
    ready = _ready(part)
    for problem in (small(), small(tol=1e-13, max_iter=1)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = ready.solve(problem)
        warned = any(issubclass(item.category, ConvergenceWarning) for item in told)
        if found.converged and not math.isnan(found.gap):
            require("honesty", found.gap <= problem.tol, f"a gap within {problem.tol}", found.gap)
        require("honesty", found.converged or warned, "a ConvergenceWarning", "none")


@_checks.add("bound")
def _bound(part: Any) -> None:
    """Where a gap is given, no other solution lies farther below than it says."""
    ready = _ready(part)
    best = _solve(ready, small())
    for tol in (0.3, 1e-2):
        found = _solve(ready, small(tol=tol))
        if not math.isnan(found.gap):
            require("bound", found.gap >= 0.0, "a gap of 0 or more", found.gap)
            least = found.objective * (1.0 - found.gap)
            enough = least <= best.objective * (1.0 + 1e-9)
            require("bound", enough, f"a bound below {best.objective}", least)


@_checks.add("path")
def _path(part: Any) -> None:
    """The path gives every candidate, in order and decided, with what it finds alone."""
    made, problem = _make(part), small(tol=1e-6)
    grid = made.candidates(problem)
    open_ones = [each for each in grid if each.undecided()]
    require("path", bool(grid) and not open_ones, "candidates with every value", open_ones or grid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        walked = list(made.path(problem, grid))
    parts = [each for each, _ in walked]
    require("path", parts == grid, f"{len(grid)} candidates in order", parts)
    for each, solution in walked[:: max(1, len(walked) // 3)]:
        alone = _solve(each, problem)
        slack = 1e-4 * max(abs(alone.objective), 1e-3)
        off = abs(solution.objective - alone.objective)
        require(
            "path", off <= slack, f"the objective {alone.objective} of {each}", solution.objective
        )
