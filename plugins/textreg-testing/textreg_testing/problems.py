"""Problems that regularizers are tried on: small and hard ones, large ones, and the same anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg.kinds import Regularizer
from textreg.plugins import calls
from textreg.records import Floats, Graph, Groups, Int64s, Problem

# Documents and features of the small problem.
N, P = 48, 20

# How near weights must be that are found in two ways, relative to the largest.
CLOSE = 5e-3

# Relative gap of solutions that are compared.
TIGHT = 1e-7


def small(seed: int = 0, **changes: Any) -> Problem:
    """Two classes that six of the features tell apart with some noise, groups, graph, weights."""
    rng = np.random.default_rng(seed)
    X = csr_array(rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.3))
    score = X @ np.where(np.arange(P) < 6, 1.5, 0.0) + 0.5 * rng.standard_normal(N) - 0.2
    return _tight(
        changes,
        X=X,
        y=np.where(score > np.median(score), 1.0, -1.0),
        sample_weight=rng.integers(1, 4, N).astype(np.float64),
        groups=groups_of(P, rng),
        graph=graph_of(P, rng),
    )


def _tight(changes: dict[str, Any], **values: Any) -> Problem:
    """A problem of these values, but for the changes, that is solved closely."""
    return Problem(**{"tol": TIGHT, "max_iter": 20_000, **values, **changes})


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
    return _tight(
        changes,
        X=csr_array(dense),
        y=np.where(score > np.quantile(score, 0.7), 1.0, -1.0),
        sample_weight=np.where(np.arange(n) % 20 == 7, 0.0, rng.uniform(0.3, 3.0, n)),
        groups=replace(groups_of(p, rng, 40, most=12), weights=rng.uniform(0.3, 3.0, 42)),
        graph=graph_of(p, rng),
    )


def turned(**changes: Any) -> Problem:
    """The small problem with its labels exchanged."""
    problem = small(**changes)
    return problem.replace(y=-problem.y)


def single_features(**changes: Any) -> Problem:
    """The small problem with every feature in a group of its own."""
    return small(groups=groups_from([np.array([j]) for j in range(P)], P), **changes)


def weighted() -> Problem:
    """The small problem with weights of 0, 1, 4 and 9."""
    problem = small()
    return problem.replace(sample_weight=np.r_[0.0, 0.0, 0.0, problem.sample_weight[3:] ** 2])


def reordered(problem: Any, order: Int64s) -> Problem:
    """The same with its features in another order, in which the new j is the old order[j], and its
    groups from the last to the first."""
    where, groups = np.argsort(order), problem.groups
    rows = [np.sort(where[groups.members(g)]) for g in range(len(groups))][::-1]
    permuted: Problem = problem.replace(
        X=csr_array(problem.X[:, order]),
        groups=replace(groups_from(rows, len(order)), weights=groups.weights[::-1].copy()),
        graph=Graph(csr_array(problem.graph.similar[order][:, order])),
    )
    return permuted


def repeated(problem: Problem) -> Problem:
    """The same with as many copies of every document as its weight says."""
    rows = np.repeat(np.arange(len(problem.y)), problem.sample_weight.astype(int))
    X = csr_array(problem.X[rows])
    return problem.replace(X=X, y=problem.y[rows], sample_weight=np.ones(len(rows)))


def groups_of(p: int, rng: np.random.Generator, count: int = 24, most: int = 5) -> Groups:
    """Overlapping groups of one to ``most`` features, two of them equal, and an empty one."""
    sizes = rng.integers(1, min(most + 1, p + 1), count)
    rows = [np.sort(rng.choice(p, size=size, replace=False)) for size in sizes]
    return groups_from([rows[0], np.empty(0, dtype=np.int64), *rows], p)


def groups_from(rows: Sequence[Int64s], p: int) -> Groups:
    """Groups of these features."""
    return Groups(
        indptr=np.cumsum([0, *map(len, rows)]),
        indices=np.concatenate([np.empty(0, dtype=np.int32), *rows]).astype(np.int32),
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


def large(n: int = 1_500, p: int = 12_000) -> Problem:
    """Ten features a document: a dense copy would need 144 MB, the problem itself less than one."""
    rng = np.random.default_rng(1)
    # Most features are rare and few are frequent, as words are.
    columns = np.minimum((p * rng.random((n, 10)) ** 3).astype(np.int64), p - 1)
    columns.sort(axis=1)
    indptr = np.arange(0, 10 * n + 1, 10)
    X = csr_array((np.ones(10 * n), columns.ravel(), indptr), shape=(n, p))
    return Problem(
        X=X,
        y=rng.choice([-1.0, 1.0], n),
        groups=groups_of(p, rng, count=1000),
        graph=graph_of(p, rng),
        tol=0.05,
        max_iter=1,  # in which a dense copy is made
    )


def prepared(part: Regularizer, problem: Problem | None = None) -> Regularizer:
    """``part`` with its open parameters taken from the middle of its own grid, zeros left out.

    problem: what the grid is made for, by default the small one.
    """
    grid = calls.candidates(part, small() if problem is None else problem)
    wanted = part.undecided()
    nonzero = [one for one in grid if all(one.params().get(key, 0) != 0 for key in wanted)] or grid
    return nonzero[len(nonzero) // 2]


def null_loss(problem: Problem) -> float:
    """The loss at the best intercept and no weights."""
    return loss_at(problem, np.zeros(problem.X.shape[1]), problem.intercept_at_zero())[0]


def loss_at(problem: Problem, w: Floats, b: float) -> tuple[float, Floats]:
    """The loss at weights w (p,) and intercept b, and its gradient in w."""
    r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
    value = problem.loss.derivatives(problem.X @ w + b, problem.y, problem.sample_weight, r, h)
    return value, np.asarray(problem.X.T @ r)


def edges(needs: str) -> dict[str, tuple[Problem, bool]]:
    """Problems in which there is little of something, and whether they may be refused."""
    problem, rng = small(max_iter=200, tol=1e-3), np.random.default_rng(3)
    X, odd = problem.X, np.arange(N) % 2
    cases: dict[str, dict[str, Any]] = {
        "a single feature": {
            "X": X[:, [0]],
            "groups": groups_of(1, rng, 2),
            "graph": graph_of(1, rng),
        },
        "two documents": {"X": X[:2], "y": np.array([1.0, -1.0]), "sample_weight": np.ones(2)},
        "a feature twice": {"X": X[:, np.r_[0, 0, 2:P]]},
        "one label": {"y": np.ones(N)},
        "documents without a feature": {"X": csr_array(X.multiply(odd[:, None]))},
        "columns of zeros": {"X": csr_array(X.multiply(odd[:P]))},
    }
    if needs == "graph":
        del cases["a single feature"]  # nothing to link
    bare: dict[str, dict[str, Any]] = {
        "no group": {"groups": groups_from([], P)},
        "groups without a feature": {"groups": groups_from([np.empty(0, np.int64)] * 3, P)},
        "a graph without a link": {"graph": Graph(csr_array((P, P)))},
    }
    bare = {name: case for name, case in bare.items() if needs in case}
    return {name: (problem.replace(**it), name in bare) for name, it in (cases | bare).items()}


CLASSES = 3


def labeled(**changes: Any) -> tuple[Problem, Int64s]:
    """The small problem with three classes, each of which two of the features speak for."""
    problem = small(**changes)
    speaks = np.zeros((P, CLASSES))
    speaks[np.arange(6), np.arange(6) % CLASSES] = 1.5
    scores = problem.X @ speaks + 0.3 * np.random.default_rng(4).standard_normal((1, CLASSES))
    return problem, np.argmax(scores, axis=1).astype(np.int64)


def one_rest(codes: Int64s, label: int) -> Floats:
    """The y of a class against the rest."""
    return np.where(codes == label, 1.0, -1.0)


def with_others(problem: Problem, needs: str) -> Iterator[tuple[str, Problem]]:
    """The problem with one thing changed in its groups or graph, and what that is."""
    if needs == "groups" and (groups := problem.groups) is not None:
        sizes = np.diff(groups.indptr)
        for at in (0, sizes.argmax(), np.flatnonzero(sizes)[-1]):
            # Smaller: where weights are a sum of parts, groups that have none do not count.
            weights = np.where(np.arange(len(groups)) == at, 1e-2, 1.0) * groups.weights
            yield f"group {at}", problem.replace(groups=replace(groups, weights=weights))
    elif (graph := problem.graph) is not None:
        for at in (0, graph.n_links - 1):
            links = graph.similar.copy()
            links.data[at] *= 2.0
            yield f"link {at}", problem.replace(graph=Graph(links))
