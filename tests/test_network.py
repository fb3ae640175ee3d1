"""Networks of features: known optima, the formulas of the paper, and bounds."""

from __future__ import annotations

import gc
import json
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from textreg.builtin.network import Laplacian, Network, laplacian_rows, network_rows
from textreg.builtin.separable import Ridge
from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Regularizer
from textreg.penalties import Links, Quadratic
from textreg.records import Graph, Problem
from textreg.records.arrays import Cache
from textreg.solvers.newton import quadratic
from textreg.solvers.state import Engine

GOLDEN = {
    "network_a_1_0.1": Network(alpha=1, beta=0.1),
    "network_a_5_0.01": Network(alpha=5, beta=0.01),
    "laplacian_a_1_0.1": Laplacian(alpha=1, beta=0.1),
    "laplacian_a_5_0.01": Laplacian(alpha=5, beta=0.01),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(data_dir: Path, name: str) -> None:
    folder = data_dir / "golden"
    with np.load(folder / f"{name}.npz") as arrays:
        stored = dict(arrays)
    X = csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"])
    p = X.shape[1]
    links = csr_array(
        (stored["graph_data"], stored["graph_indices"], stored["graph_indptr"]), shape=(p, p)
    )
    (known,) = [
        entry
        for entry in json.loads((folder / "convex_index.json").read_text())["problems"]
        if entry["file"] == f"{name}.npz"
    ]
    problem = Problem(X, stored["y"], graph=Graph(links), tol=1e-13)
    solution = GOLDEN[name].solve(problem)
    assert solution.converged
    assert solution.objective == pytest.approx(known["objective"], rel=1e-10)
    np.testing.assert_allclose(solution.w, stored["w"], rtol=0, atol=1e-7)
    assert solution.b == pytest.approx(known["b"], abs=1e-7)
    for step in solution.history:  # every bound on the way is true
        assert step.objective * (1 - step.gap) <= known["objective"] * (1 + 1e-10)
    rough = GOLDEN[name].solve(problem.replace(tol=1e-3))
    assert rough.iterations < solution.iterations
    assert rough.objective == pytest.approx(known["objective"], rel=1e-3)


def random_problem(seed: int, n: int = 12, p: int = 7, **options: Any) -> Problem:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    options = {"tol": 1e-10, "sample_weight": rng.random(n) + 0.5, **options}
    return Problem(np.round(rng.normal(size=(n, p)), 2), y, **options)


def random_links(rng: np.random.Generator, size: int, density: float = 0.4) -> csr_array:
    """Links from some rows, none from a feature to itself."""
    W = rng.random((size, size)) * (rng.random((size, size)) < density)
    np.fill_diagonal(W, 0.0)
    W[rng.integers(size)] = 0.0
    return csr_array(W)


def random_graph(seed: int, p: int = 7, classes: int = 0, opposed: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    size = p + classes
    similar = random_links(rng, size).toarray()
    similar[p:] = 0.0  # virtual features have no links of their own
    opposite = random_links(rng, size) if opposed else None
    return Graph(csr_array(similar), opposite, classes)


def network_penalty(graph: Graph, x: np.ndarray, p: int) -> float:
    """Sections 2, 3.1 and 3.2, feature by feature, at weights of real and virtual features."""
    total = 0.0
    for links, sign in ((graph.similar, -1.0), (graph.dissimilar, 1.0)):
        if links is None:
            continue
        W = links.toarray()
        for i, row in enumerate(W):
            if row.sum() > 0:
                total += (x[i] + sign * (row @ x) / row.sum()) ** 2
            elif sign < 0 and i < p:
                total += x[i] ** 2
    return total


def laplacian_penalty(graph: Graph, x: np.ndarray, normalized: bool) -> float:
    """Section 3.3, pair by pair."""
    total = 0.0
    for links, sign in ((graph.similar, -1.0), (graph.dissimilar, 1.0)):
        if links is None:
            continue
        W = links.toarray()
        W = (W + W.T) / 2
        root = np.sqrt(W.sum(axis=1)) if normalized else np.ones(len(W))
        for i, j in np.argwhere(W):
            total += 0.5 * W[i, j] * (x[i] / root[i] + sign * x[j] / root[j]) ** 2
    return total


@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(0, 3), opposed=st.booleans())
def test_penalties_are_those_of_the_paper(seed: int, classes: int, opposed: bool) -> None:
    p = 7
    graph = random_graph(seed, p, classes, opposed)
    x = np.random.default_rng(seed).normal(size=p + classes)
    rows = network_rows(graph) @ x
    assert rows @ rows == pytest.approx(network_penalty(graph, x, p))
    for normalized in (False, True):
        rows = laplacian_rows(graph, normalized=normalized) @ x
        assert rows @ rows == pytest.approx(laplacian_penalty(graph, x, normalized), abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(1, 3), opposed=st.booleans())
def test_virtual_features_are_at_their_best(seed: int, classes: int, opposed: bool) -> None:
    p = 7
    graph = random_graph(seed, p, classes, opposed)
    rows = network_rows(graph)
    penalty = Quadratic(Links(rows, classes), 2.0, 0.3)
    w = np.random.default_rng(seed).normal(size=p)
    R, S = rows[:, :p].toarray(), rows[:, p:].toarray()
    # the slight ridge of the virtual features is part of what is minimized
    held = np.diag(np.sqrt(Links.SLIGHT * (S**2).sum(axis=0)))
    R, S = np.vstack([R, np.zeros((classes, p))]), np.vstack([S, held])
    v = np.linalg.lstsq(S, -R @ w, rcond=None)[0]
    best = 2.0 * float(((R @ w + S @ v) ** 2).sum()) + 0.3 * float(w @ w)
    assert penalty.value(w) == pytest.approx(best, rel=1e-6, abs=1e-6)
    step = np.eye(p) * 1e-5
    slopes = [(penalty.value(w + e) - penalty.value(w - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(slopes, 2.0 * penalty.product(w), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "regularizer",
    [
        Network(alpha=3.0, beta=0.2),
        Laplacian(alpha=3.0, beta=0.2),
        Laplacian(alpha=3.0, beta=0.2, normalized=True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_optimum_of_the_whole(regularizer: Network | Laplacian, fit_intercept: bool) -> None:
    """The same as a general-purpose minimizer finds for the formulas, virtual weights included."""
    p, classes = 7, 2
    graph = random_graph(5, p, classes, opposed=True)
    problem = random_problem(1, p=p, graph=graph, fit_intercept=fit_intercept)
    X, y, c = problem.X.toarray(), problem.y, problem.sample_weight

    def objective(x: np.ndarray) -> float:
        z = X @ x[:p] + fit_intercept * x[-1]
        if isinstance(regularizer, Network):
            tied = network_penalty(graph, x[:-1], p)
        else:
            tied = laplacian_penalty(graph, x[:-1], regularizer.normalized)
        return float(c @ np.logaddexp(0, -y * z) + 3.0 * tied + 0.2 * x[:p] @ x[:p])

    reference = minimize(objective, np.zeros(p + classes + 1), tol=1e-10)
    solution = regularizer.solve(problem)
    assert solution.converged
    assert solution.objective == pytest.approx(reference.fun, rel=1e-7)
    np.testing.assert_allclose(solution.w, reference.x[:p], atol=1e-3)
    if not fit_intercept:
        assert solution.b == 0.0


@given(seed=st.integers(0, 2**32 - 1))
def test_bounds_are_true_from_anywhere(seed: int) -> None:
    graph = random_graph(seed, classes=1)
    problem = random_problem(seed, graph=graph)
    regularizer = Network(alpha=1.0, beta=0.05)
    optimum = regularizer.solve(problem).objective
    rng = np.random.default_rng(seed)
    start = (3.0 * rng.normal(size=7), float(rng.normal()))
    other = regularizer.solve(problem.replace(start=start))
    assert other.objective == pytest.approx(optimum, rel=1e-9)
    for step in other.history:
        assert step.objective * (1 - step.gap) <= optimum * (1 + 1e-9)


def test_without_links_or_strength_it_is_ridge() -> None:
    problem = random_problem(0, graph=random_graph(0))
    ridge = Ridge(l2=0.4).solve(problem)
    for regularizer in (Network(alpha=0.0, beta=0.4), Laplacian(alpha=0.0, beta=0.4)):
        np.testing.assert_allclose(regularizer.solve(problem).w, ridge.w, atol=1e-5)
    # a feature without neighbors is drawn to zero: alpha and beta add up
    empty = problem.replace(graph=Graph(csr_array((7, 7))))
    both = Network(alpha=0.3, beta=0.1).solve(empty)
    np.testing.assert_allclose(both.w, ridge.w, atol=1e-5)
    only_beta = Laplacian(alpha=0.3, beta=0.4).solve(empty)
    np.testing.assert_allclose(only_beta.w, ridge.w, atol=1e-5)


def test_a_large_strength_makes_linked_weights_equal() -> None:
    pair = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(7, 7))
    problem = random_problem(2, graph=Graph(pair))
    w = Laplacian(alpha=1e6, beta=0.1).solve(problem).w
    assert w[0] == pytest.approx(w[1], abs=1e-4)
    opposed = problem.replace(graph=Graph(csr_array((7, 7)), pair))
    w = Laplacian(alpha=1e6, beta=0.1).solve(opposed).w
    assert abs(w[0]) > 1e-3
    assert w[0] == pytest.approx(-w[1], abs=1e-4)


def test_a_word_in_no_document_takes_the_weight_of_its_neighbors() -> None:
    X = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    links = csr_array(([1.0, 1.0], ([2, 0], [0, 2])), shape=(3, 3))
    problem = Problem(X, np.array([1.0, -1, 1, -1]), graph=Graph(links), tol=1e-8)
    w = Network(alpha=10.0, beta=0.01).solve(problem).w
    assert w[0] > 0.1
    assert w[2] == pytest.approx(w[0], rel=0.02)


def test_without_a_ridge_there_is_no_bound() -> None:
    problem = random_problem(4, graph=random_graph(4), tol=1e-6)
    solution = Network(alpha=1.0, beta=0.0).solve(problem)
    assert np.isnan(solution.gap)
    assert solution.converged
    assert solution.residual < 1e-4


def test_without_a_slope_it_ends() -> None:
    """Of one label alone and no feature: the intercept goes on until the loss is rounded away."""
    problem = Problem(csr_array((2, 0)), y=[-1.0, -1.0])
    with pytest.warns(ConvergenceWarning):
        found = quadratic(problem, Quadratic(Links(csr_array((0, 0))), 0.0, 5.0))
    assert found.iterations == 0
    assert found.objective < 1e-12


def test_it_says_when_it_stops_early() -> None:
    problem = random_problem(3, graph=random_graph(3))
    regularizer = Network(alpha=1.0, beta=0.01)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 Newton steps"):
        solution = regularizer.solve(problem.replace(max_iter=1))
    assert not solution.converged
    assert solution.gap > problem.tol
    stopped = regularizer.solve(problem.replace(callback=lambda step: step.iteration == 2))
    assert (stopped.iterations, stopped.converged) == (2, False)


def test_far_starts_come_home() -> None:
    graph = random_graph(6)
    problem = random_problem(6, graph=graph)
    regularizer = Network(alpha=0.1, beta=1e-3)
    optimum = regularizer.solve(problem).objective
    start = (np.full(7, 500.0), -300.0)
    assert regularizer.solve(problem.replace(start=start)).objective == pytest.approx(optimum)


def test_weights_of_documents_are_repetitions() -> None:
    check_repetitions(Network(alpha=1.0, beta=0.1))


def check_repetitions(regularizer: Regularizer) -> None:
    """A document of weight two is that document twice."""
    problem = random_problem(
        8, graph=random_graph(8), sample_weight=np.array([2.0] * 6 + [1.0] * 6)
    )
    rows = np.concatenate([np.arange(12), np.arange(6)])
    again = Problem(problem.X[rows], problem.y[rows], graph=problem.graph, tol=1e-10)
    one, other = regularizer.solve(problem), regularizer.solve(again)
    np.testing.assert_allclose(one.w, other.w, atol=1e-4)


@pytest.mark.parametrize("regularizer", [Network(), Laplacian()])
def test_strengths_must_be_decided(regularizer: Regularizer) -> None:
    with pytest.raises(UsageError, match="not chosen yet"):
        regularizer.solve(random_problem(0, graph=random_graph(0)))


@pytest.mark.parametrize("regularizer", [Network(alpha=1, beta=1), Laplacian(alpha=1, beta=1)])
def test_a_graph_is_needed(regularizer: Regularizer) -> None:
    with pytest.raises(UsageError, match="the problem has no graph"):
        regularizer.solve(random_problem(0))


def test_scores_are_made_once_for_a_matrix() -> None:
    cache, calls = Cache(), []
    results = []

    def use() -> None:
        # Long enough for the others to ask meanwhile.
        results.append(cache.get("key", lambda: calls.append(time.sleep(0.02)) or object()))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(set(map(id, results))) == 1
    assert cache.get("other", lambda: 2) == 2
    assert Cache().get("key", lambda: 3) == 3


def test_what_was_derived_goes_with_its_owner() -> None:
    check_nothing_stays(Network(alpha=1.0, beta=0.1))


def check_nothing_stays(regularizer: Regularizer) -> None:
    """What a fit derives of a matrix or a graph goes with it."""
    problem = random_problem(12, graph=random_graph(12))
    regularizer.solve(problem)
    gone = weakref.ref(problem.X_csc), weakref.ref(problem.graph)
    del problem
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_the_default_search_finds_strengths() -> None:
    for regularizer in (Network(), Laplacian()):
        check_default_path(regularizer)


def check_default_path(regularizer: Regularizer) -> None:
    """The default search has several strengths, and all fits converge."""
    path = list(regularizer.path(random_problem(13, graph=random_graph(13), tol=1e-4)))
    assert len(path) >= 5
    assert all(solution.converged for _, solution in path)
    assert not any(part.undecided() for part, _ in path)


@pytest.mark.parametrize("classes", [0, 2])
def test_rows_of_one_feature_bound_the_penalty_from_below(classes: int) -> None:
    graph = random_graph(15, classes=classes)
    penalty = Quadratic(Links(network_rows(graph), classes), 3.0, 0.5)
    empty = np.diff(graph.similar.indptr)[:7] == 0
    assert empty.any()
    assert (penalty.floor == np.where(empty, 3.5, 0.5)).all()
    w = np.random.default_rng(15).normal(size=(50, 7))
    assert all(penalty.value(row) >= row @ (penalty.floor * row) for row in w)


def test_the_solver_takes_any_rows() -> None:
    """R = I is ridge with the sum of both strengths."""
    problem = random_problem(14)
    solution = quadratic(problem, Quadratic(Links(csr_array(np.eye(7))), 0.2, 0.3))
    np.testing.assert_allclose(solution.w, Ridge(l2=0.5).solve(problem).w, atol=1e-5)


def test_the_gradient_of_a_point_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    random, asked = np.random.default_rng(3), list[Any]()
    X = csr_array(random.poisson(0.5, (40, 12)).astype(float))
    plain = Engine.gradient

    def noted(self: Engine) -> Any:
        asked.append(self.z)  # kept, so that no other array is taken for it
        return plain(self)

    monkeypatch.setattr(Engine, "gradient", noted)
    rows = csr_array(np.eye(11, 12) - np.eye(11, 12, 1))
    problem = Problem(X, random.choice([-1.0, 1.0], 40), tol=1e-9)
    solution = quadratic(problem, Quadratic(Links(rows), 0.5, 0.1))
    assert solution.converged
    assert solution.iterations > 1
    assert len(asked) == len({id(z) for z in asked}) == solution.iterations + 1
