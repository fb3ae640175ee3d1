"""Problems for regularizers, and what solutions are compared with: objectives, selections."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import ConvergenceWarning, RecordError, TextregError, UsageError
from textreg.kinds import Regularizer
from textreg.records import Floats, Graph, Groups, Int64s, MultiSolution, Problem, Solution
from textreg_testing.checks import fail, require

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
    weights = rng.uniform(0.3, 3.0, len(groups))
    return Groups(groups.indptr, groups.indices, weights, groups.n_features)


def reordered(problem: Problem, order: Int64s) -> Problem:
    """The same problem with its features in another order: the new j is the old order[j]."""
    where = np.argsort(order)
    changes: dict[str, Any] = {"X": csr_array(problem.X[:, order])}
    if (groups := problem.groups) is not None:
        rows = np.split(where[groups.indices], groups.indptr[1:-1])
        indices = np.concatenate([np.sort(row) for row in rows]).astype(np.int32)
        changes["groups"] = Groups(groups.indptr, indices, groups.weights, groups.n_features)
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
    kept = [one for one in grid if all(getattr(one, key) != 0 for key in part.undecided())] or grid
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
