"""The contract of a regularizer: how it treats the problems that it is given.

They are small and large, extreme, and made anew at every call.
"""

from __future__ import annotations

import math
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import (
    ConvergenceWarning,
    DataError,
    PluginError,
    RecordError,
    TextregError,
    UsageError,
)
from textreg.kinds import Regularizer
from textreg.losses import LOSSES
from textreg.params import LogGrid
from textreg.plugins import registry
from textreg.records import Floats, Graph, Groups, Int64s, MultiSolution, Problem, Solution, Step
from textreg_testing.checks import (
    at_least,
    at_most,
    common_checks,
    elsewhere,
    fail,
    finite,
    near,
    require,
)

S = TypeVar("S", Solution, MultiSolution)

# Documents and features of the small problem.
N, P = 48, 20

# How near weights must be that are found in two ways, relative to the largest.
CLOSE = 5e-3

# Relative gap of solutions that are compared.
TIGHT = 1e-7


def random_matrix(
    shape: tuple[int, int],
    density: float,
    rng: np.random.Generator,
    values: Callable[..., Floats] | None = None,
) -> csr_array:
    """A matrix with values at random places, the same with every SciPy.

    density: the share of values that are not zero. values: draws ``size`` of them; else they are
    uniform between 0 and 1.
    """
    size = round(density * shape[0] * shape[1])
    places = rng.choice(shape[0] * shape[1], size=size, replace=False)
    columns, rows = (part.astype(np.int32) for part in np.divmod(places, shape[0]))
    return csr_array(((values or rng.random)(size=size), (rows, columns)), shape=shape)


def small(seed: int = 0, **changes: Any) -> Problem:
    """Two classes that six of the features tell apart with some noise, groups, graph, weights."""
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.3, rng, rng.standard_normal)
    score = X @ np.where(np.arange(P) < 6, 1.5, 0.0) + 0.5 * rng.standard_normal(N) - 0.2
    values: dict[str, Any] = {
        "X": X,
        "y": np.where(score > np.median(score), 1.0, -1.0),
        "sample_weight": rng.integers(1, 4, N).astype(np.float64),
        "groups": groups_of(P, rng),
        "graph": graph_of(P, rng),
        "tol": TIGHT,
        "max_iter": 20_000,
    }
    return Problem(**{**values, **changes})


def hard(seed: int = 0, **changes: Any) -> Problem:
    """More features than documents, correlated and of unequal sizes; rare labels; all kinds of
    weights. A third of the features matter, so that a budget of 10 leaves out most of them."""
    rng = np.random.default_rng(100 + seed)
    n, p = 60, 90
    shared = rng.standard_normal((n, 6)) @ rng.standard_normal((6, p))
    dense = 0.5 * shared + rng.standard_normal((n, p))
    dense *= (rng.random((n, p)) < rng.uniform(0.3, 0.9, p)) * rng.uniform(0.5, 2.0, p)
    truth = np.where(rng.random(p) < 0.33, rng.standard_normal(p), 0.0)
    score = dense @ truth + rng.standard_normal(n)
    values: dict[str, Any] = {
        "X": csr_array(dense),
        "y": np.where(score > np.quantile(score, 0.7), 1.0, -1.0),
        "sample_weight": np.where(np.arange(n) % 20 == 7, 0.0, rng.uniform(0.3, 3.0, n)),
        "groups": weighted(groups_of(p, rng, 40, most=12), rng),
        "graph": graph_of(p, rng),
        "tol": TIGHT,
        "max_iter": 20_000,
    }
    return Problem(**{**values, **changes})


def weighted(groups: Groups, rng: np.random.Generator) -> Groups:
    """The same groups with unequal weights."""
    return replace(groups, weights=rng.uniform(0.3, 3.0, len(groups)))


def reordered(problem: Problem, order: Int64s) -> Problem:
    """The same problem with its features in another order: the new j is the old order[j]."""
    where = np.argsort(order)
    changes: dict[str, Any] = {"X": csr_array(problem.X[:, order])}
    if (groups := problem.groups) is not None:
        rows = np.split(where[groups.indices], groups.indptr[1:-1])
        indices = np.concatenate([np.sort(row) for row in rows]).astype(np.int32)
        changes["groups"] = replace(groups, indices=indices)
    if (graph := problem.graph) is not None:
        changes["graph"] = Graph(csr_array(graph.similar[order][:, order]))
    return problem.replace(**changes)


def repeated(problem: Problem) -> Problem:
    """The same with as many copies of every document as its weight says."""
    rows = np.repeat(np.arange(len(problem.y)), problem.sample_weight.astype(int))
    X = csr_array(problem.X[rows])
    return problem.replace(X=X, y=problem.y[rows], sample_weight=np.ones(len(rows)))


def identical(one: Solution, other: Solution) -> bool:
    """Whether two solutions have the same weights and intercept, bit for bit."""
    return np.array_equal(one.w, other.w) and one.b == other.b


def groups_of(p: int, rng: np.random.Generator, count: int = 24, most: int = 5) -> Groups:
    """Overlapping groups of one to ``most`` features, one of them empty, two of them equal."""
    sizes = rng.integers(1, min(most + 1, p + 1), count)
    rows = [np.sort(rng.choice(p, size=size, replace=False)) for size in sizes]
    rows += [rows[0], np.empty(0, dtype=np.int64)]
    return Groups(
        indptr=np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        indices=np.concatenate(rows).astype(np.int32),
        weights=np.ones(len(rows)),
        n_features=p,
    )


def graph_of(p: int, rng: np.random.Generator) -> Graph:
    """Each feature has up to three neighbors; the last one has none."""
    rows = np.repeat(np.arange(p), 3)
    columns = rng.integers(0, p, len(rows))
    keep = (rows != columns) & (rows != p - 1) & (columns != p - 1)
    values = rng.uniform(0.1, 1.0, len(rows))
    links = csr_array((values[keep], (rows[keep], columns[keep])), shape=(p, p))
    return Graph(links)


def large(n: int = 10_000, p: int = 50_000) -> Problem:
    """Ten features a document: a dense copy would need 4 GB, the problem itself a few MB."""
    rng = np.random.default_rng(1)
    # Most features are rare and few are frequent, as words are.
    columns = np.minimum((p * rng.random((n, 10)) ** 3).astype(np.int64), p - 1)
    columns.sort(axis=1)
    indptr = np.arange(0, 10 * n + 1, 10)
    X = csr_array((np.ones(10 * n), columns.ravel(), indptr), shape=(n, p))
    rows = np.repeat(np.arange(n), 10)
    weight = rng.standard_normal(p)
    score = np.bincount(rows, weights=weight[columns.ravel()], minlength=n)
    return Problem(
        X=X,
        y=np.where(score > 0, 1.0, -1.0),
        groups=groups_of(p, rng, count=5000),
        graph=graph_of(p, rng),
        tol=0.05,
        max_iter=10,  # a dense copy is made in the first of them
    )


def prepared(part: Regularizer, problem: Problem | None = None) -> Regularizer:
    """``part`` with its open parameters taken from the middle of its own grid, zeros left out.

    problem: what the grid is made for, by default the small one.
    """
    grid = part.candidates(small() if problem is None else problem)
    if not grid:
        raise UsageError(f"{part.label()} has an empty grid of candidates.")
    wanted = part.undecided()
    kept = [one for one in grid if all(one.params().get(key, 0) != 0 for key in wanted)] or grid
    return kept[len(kept) // 2]


@contextmanager
def quiet() -> Iterator[None]:
    """Without ConvergenceWarnings, which one check alone is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def solved(part: Regularizer, problem: Problem) -> Solution:
    """Its solution, without a warning if it did not converge.

    A record that contradicts itself is its own fault, and never an acceptable refusal.
    """
    with quiet():
        try:
            return part.solve(problem)
        except RecordError as error:
            fail("records that do not contradict themselves", f"this RecordError: {error}")


def require_honest(solve: Callable[..., S], problem: Problem, *more: Any) -> S:
    """What ``solve(problem, *more)`` calls converged has a gap within the tolerance, if any; what
    is not warns. Returns it.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        solution = solve(problem, *more)
    warned = any(issubclass(item.category, ConvergenceWarning) for item in told)
    if solution.converged and not math.isnan(solution.gap):
        require(solution.gap <= problem.tol, f"a gap within {problem.tol}", solution.gap)
    require(solution.converged or warned, "a ConvergenceWarning", "none")
    return solution


def require_stop(solve: Callable[[Callable[[Step], bool]], Any]) -> None:
    """A callback is called with one Step, where it returns True, and weights are finite then."""
    steps: list[Any] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    solution = solve(stop)
    wrong = [step for step in steps if not isinstance(step, Step)]
    require(not wrong, "Steps", wrong)
    require(len(steps) == 1, "one call of a callback that returns True", f"{len(steps)} calls")
    finite("weights", solution.w)


def require_refusal(error: TextregError, name: str) -> None:
    """A refusal tells users what to change; RecordError is of wrong records, a fault in code."""
    refused = not isinstance(error, RecordError) and bool(str(error))
    told = f"{type(error).__name__}: {error}"
    require(refused, f"a solution for {name}, or a DataError or UsageError that tells why", told)


def null_loss(problem: Problem) -> float:
    """The loss at the best intercept and no weights."""
    return loss_at(problem, np.zeros(problem.X.shape[1]), problem.intercept_at_zero())[0]


def loss_at(problem: Problem, w: Floats, b: float) -> tuple[float, Floats]:
    """The loss at weights w (p,) and intercept b, and its gradient in w."""
    r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
    value = problem.loss.derivatives(problem.X @ w + b, problem.y, problem.sample_weight, r, h)
    return value, np.asarray(problem.X.T @ r)


# Of weights (p,) and an intercept.
Objective = Callable[[Floats, float], float]

# Share of the objective that is left to rounding.
SAME = 1e-6


def declares(part: Regularizer) -> bool:
    """Whether the regularizer says what its objective is."""
    own = type(part).objective is not Regularizer.objective
    return own or callable(getattr(part, "penalty", None))


def lower(
    objective: Objective, solution: Solution, moves: Sequence[Floats], sizes: Sequence[float]
) -> tuple[float, Floats, float]:
    """The lowest objective that these moves of the weights or the intercept lead to, and where."""
    trials = [(solution.w, solution.b + size) for size in (-1e-2, 1e-2)]
    trials += [(solution.w + size * move, solution.b) for move in moves for size in sizes]
    values = [objective(w, b) for w, b in trials]
    best = int(np.argmin(values))
    return values[best], *trials[best]


# Share of the loss of no feature that a fit must be below.
BETTER = 0.99

# What a fit of the large sparse problem may take at its peak; as dense it would be 4,000.
MEGABYTES = 300

# A penalty strength at which every weight is zero.
HUGE = 1e9

checks = common_checks("regularizer", "", prepared)


@checks.add("builder", applies=lambda part: bool(part.default_builder))
def _builder(part: Regularizer) -> None:
    """If it names a default builder for its groups or graph, that builder exists."""
    needs, name = part.needs, part.default_builder
    require(needs in ("groups", "graph"), "needs = 'groups' or 'graph'", repr(needs))
    try:
        own = registry.origin(part)["distribution"]
        registry.find(needs, registry.preferred(needs, name, own, "textreg"))
    except PluginError as error:
        fail(f"a builder of {needs} called '{name}'", f"this error: {error}")


@checks.add("solution")
def _solution(part: Regularizer) -> None:
    """The solution has p finite weights, a finite intercept and a finite objective."""
    problem = small()
    solution = solved(prepared(part), problem)
    require(isinstance(solution, Solution), "a Solution", type(solution).__name__)
    require(np.shape(solution.w) == (P,), f"w of the shape ({P},)", np.shape(solution.w))
    finite("weights", solution.w)
    for name in ("b", "objective"):
        value = getattr(solution, name)
        require(np.ndim(value) == 0 and math.isfinite(value), f"a number {name}", value)
    if solution.group_norms is not None and problem.groups is not None:
        shape, wanted = np.shape(solution.group_norms), (len(problem.groups),)
        require(shape == wanted, f"group_norms of the shape {wanted}", shape)


@checks.add("use")
def _use(part: Regularizer) -> None:
    """With parameters from the middle of its grid, not zero, the fit is better than no feature."""
    _beats_nothing(part, small())


@checks.add("losses")
def _losses(part: Regularizer) -> None:
    """With every loss, the fit is better than no feature."""
    for loss in LOSSES:
        _beats_nothing(part, small(loss=loss))


def _beats_nothing(part: Regularizer, problem: Problem) -> None:
    solution = solved(prepared(part, problem), problem)
    z = problem.X @ solution.w + solution.b
    loss = problem.loss.value(z, problem.y, problem.sample_weight)
    what = f"a {problem.loss.label()} loss, {BETTER:g} of that of no feature,"
    at_most(what, loss, BETTER * null_loss(problem))


@checks.add("input")
def _input(part: Regularizer) -> None:
    """solve does not modify the problem: X, y, weights, groups, links and start stay as they
    were."""
    problem = hard()
    problem = problem.replace(start=(np.full(problem.X.shape[1], 0.1), 0.1))
    assert problem.groups is not None
    assert problem.graph is not None
    assert problem.start is not None
    arrays = {
        "X": problem.X.data,
        "y": problem.y,
        "sample_weight": problem.sample_weight,
        "groups.indices": problem.groups.indices,
        "groups.weights": problem.groups.weights,
        "graph.similar": problem.graph.similar.data,
        "start": problem.start[0],
    }
    before = {name: array.copy() for name, array in arrays.items()}
    solved(prepared(part, problem), problem)
    for name, array in arrays.items():
        require(np.array_equal(array, before[name]), f"{name} as it was", "another")


@checks.add("determinism")
def _determinism(part: Regularizer) -> None:
    """The same problem gives the same solution, bit for bit."""
    for make in (small, hard):
        ready = prepared(part, make())
        one, other = solved(ready, make()), solved(ready, make())
        require(identical(one, other), "the same bits twice", "others")


@checks.add("workers")
def _workers(part: Regularizer) -> None:
    """Fits in parallel threads give the same solutions as alone, bit for bit."""
    ready, problem = prepared(part), small()
    problems = [problem, problem.replace(y=-problem.y), problem]
    alone = [solved(ready, small().replace(y=each.y)) for each in problems]
    with quiet(), ThreadPoolExecutor(3) as pool:
        beside = list(pool.map(ready.solve, problems))
    require(all(map(identical, alone, beside)), "the same bits in three threads", "others")


@checks.add("order", applies=lambda part: not part.order_matters)
def _order(part: Regularizer) -> None:
    """The order of the documents does not matter, except for rounding, unless the class says
    order_matters = True."""
    ready, problem = prepared(part), small()
    rows = np.random.default_rng(2).permutation(N)
    mixed = problem.replace(
        X=problem.X[rows], y=problem.y[rows], sample_weight=problem.sample_weight[rows]
    )
    near("weights", solved(ready, mixed).w, solved(ready, problem).w, CLOSE)


@checks.add("weights")
def _weights(part: Regularizer) -> None:
    """A document of weight 3 counts as three copies of it, and one of weight 0 does not count."""
    problem = small()
    ready = prepared(part, problem)
    counts = problem.sample_weight.astype(int)
    counts[:3] = 0
    weighted = problem.replace(sample_weight=counts.astype(np.float64))
    one, other = solved(ready, weighted), solved(ready, repeated(weighted))
    near("weights of repeated documents", one.w, other.w, CLOSE)


@checks.add("intercept")
def _intercept(part: Regularizer) -> None:
    """Without an intercept, b is 0; with an intercept and no features, b is the log odds."""
    problem = small()
    ready = prepared(part, problem)
    without = solved(ready, problem.replace(fit_intercept=False))
    require(without.b == 0.0, "b = 0 where fit_intercept is off", without.b)
    nothing = problem.replace(X=csr_array((N, P)))
    up = float(problem.sample_weight[problem.y > 0].sum())
    down = float(problem.sample_weight[problem.y < 0].sum())
    solution = solved(ready, nothing)
    require(not solution.w.any(), "no weight where every feature is 0", solution.w)
    near("the intercept alone", [solution.b], [math.log(up / down)], 1e-3)


@checks.add("dense")
def _dense(part: Regularizer) -> None:
    """A dense and a sparse X give the same solution."""
    ready, problem = prepared(part), small()
    dense = problem.replace(X=problem.X.toarray())
    near("weights", solved(ready, dense).w, solved(ready, problem).w, 1e-9)


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
    at_most("megabytes", peak, MEGABYTES)


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
        try:
            _is_finite(ready, name, case)
        except (DataError, UsageError) as error:
            require_refusal(error, name)


def _is_finite(ready: Regularizer, name: str, case: Problem) -> None:
    solution = solved(ready, case.replace(max_iter=200, tol=1e-3))
    finite(f"weights and intercept for {name}", [*solution.w, solution.b])


def _empty_groups(count: int) -> Groups:
    """So many groups with nothing in them."""
    nothing = np.empty(0, dtype=np.int32)
    return Groups(np.zeros(count + 1, dtype=np.int64), nothing, np.ones(count), P)


def _strengths_of(part: Regularizer) -> list[str]:
    return [key for key, it in part.declared().items() if isinstance(it.search, LogGrid)]


@checks.add("strengths", applies=lambda part: bool(_strengths_of(part)))
def _strengths(part: Regularizer) -> None:
    """A penalty strength of 0 is allowed, and a huge one leaves no weight. Each strength counts: a
    larger one gives other weights, which fit no better."""
    ready, problem = prepared(part), small(tol=1e-3, max_iter=100)
    strengths = _strengths_of(part)
    for key in strengths:
        free = solved(ready.replace(**{key: 0.0}), problem)
        finite(f"weights at {key}=0", free.w)
    solution = solved(ready.replace(**dict.fromkeys(strengths, HUGE)), problem)
    at_most(f"a weight at strengths of {HUGE:g}", float(np.abs(solution.w).max()), 1e-4)
    problem = small()
    first = solved(ready, problem)
    for key in strengths:
        more = solved(ready.replace(**{key: 3.0 * getattr(ready, key)}), problem)
        same = np.array_equal(first.w, more.w) and bool(first.w.any())
        require(not same, f"other weights with {key} three times as large", "the same")
        if part.minimizes:
            before, after = (loss_at(problem, each.w, each.b)[0] for each in (first, more))
            at_least(f"a loss with a larger {key}", after, before, 1e-5 * null_loss(problem))


@checks.add("scale", applies=lambda part: bool(_strengths_of(part)))
def _scale(part: Regularizer) -> None:
    """The scale of a strength is of the size at which weights vanish: a hundredth of it leaves
    some, and of a sparse model ten times as much leaves none. A document of weight 3 counts in it
    as three copies do, and the order of the features does not matter."""
    problem = small()
    copies = repeated(problem)
    strengths = _strengths_of(part)
    scales = {key: part.scale(problem, key) for key in strengths}
    for key, scale in scales.items():
        require(math.isfinite(scale) and scale > 0.0, f"a number above 0 for {key}", scale)
        near(f"the scale of {key} for copies", [part.scale(copies, key)], [scale], 1e-6)
        mixed = part.scale(reordered(problem, np.arange(P)[::-1]), key)
        near(f"the scale of {key} for features in another order", [mixed], [scale], 1e-6)
    ready = prepared(part)
    small_ones = {key: 1e-2 * scale for key, scale in scales.items()}
    solution = solved(ready.replace(**small_ones), problem)
    require(solution.w.any(), "some weight at a hundredth of the scales", "none")
    if not part.needs and solved(ready, problem).nonzero < P:  # it is sparse
        large_ones = {key: 10.0 * scale for key, scale in scales.items()}
        left = solved(ready.replace(**large_ones), problem).nonzero
        require(left == 0, "no weight at ten times the scales", f"{left} weights")


@checks.add("callback")
def _callback(part: Regularizer) -> None:
    """The callback is called with Steps; when it returns True, the best solution so far is
    returned at once."""
    ready = prepared(part)
    require_stop(lambda stop: solved(ready, small(tol=1e-12, callback=stop)))


def _weights_of(part: Regularizer, seed: int) -> list[float]:
    """The solution of a problem, as it is computed in another process: BLAS has one thread, as in
    trainings, where its number here may come from the environment."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        solution = solved(part, hard(seed))
    return [*solution.w.tolist(), solution.b]


@checks.add("processes")
def _processes(part: Regularizer) -> None:
    """A fresh interpreter, in which texts have other hashes, gives the same solution. Skipped where
    the class is not found there, as that of a notebook."""
    ready = prepared(part, hard())
    for seed, there in zip((0, 1), elsewhere(_weights_of, ready, (0, 1)), strict=True):
        # No bits: LAPACK may round in another way where arrays begin at other addresses.
        near("weights of a fresh interpreter", there, _weights_of(ready, seed), 1e-9)
