"""pcr and lle: their directions against NumPy's, what cannot be embedded, and eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_inputs import random_matrix
from scipy.sparse import csr_array, diags
from test_network import (
    check_default_path,
    check_nothing_stays,
    check_repetitions,
    random_graph,
    random_problem,
)
from test_sandler2008 import P_FEATURES, X
from test_sandler2008 import links as links_of_the_paper
from test_sandler2008 import problem as paper_problem

from textreg.builtin.network import network_rows
from textreg.builtin.separable import Ridge
from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.records import Graph, Problem
from textreg_papers.projections import (
    DENSE,
    LocallyLinear,
    PrincipalComponents,
    _embedding,
    _spectrum,
    _start,
    eigenvectors,
)

BOTH = pytest.mark.parametrize("part", [PrincipalComponents, LocallyLinear])


@BOTH
def test_it_is_a_regularizer_as_others_are(part: type[Regularizer]) -> None:
    check_repetitions(part(components=7 if part is PrincipalComponents else 3, l2=0.1))
    check_nothing_stays(part(components=3, l2=0.3))
    check_default_path(part())


@BOTH
def test_strengths_must_be_decided(part: type[Regularizer]) -> None:
    with pytest.raises(UsageError, match="not chosen yet"):
        part().solve(random_problem(0, graph=random_graph(0)))


def test_a_graph_is_needed() -> None:
    with pytest.raises(UsageError, match="the problem has no graph"):
        LocallyLinear(l2=1).solve(random_problem(0))


def test_equation_2_the_baseline_has_the_eigenvectors_of_the_least_eigenvalues() -> None:
    P = links_of_the_paper()
    I_P = np.eye(P_FEATURES) - P
    U = np.linalg.eigh(I_P.T @ I_P)[1][:, :3]
    w = LocallyLinear(components=3, l2=0.1).solve(paper_problem(Graph(csr_array(P)))).w
    np.testing.assert_allclose(U @ (U.T @ w), w, atol=1e-8)
    u = Ridge(l2=0.1).solve(paper_problem(features=X @ U)).w
    np.testing.assert_allclose(U @ u, w, atol=1e-5)


def test_all_components_are_ridge() -> None:
    problem = random_problem(9, graph=random_graph(9))
    ridge = Ridge(l2=0.3).solve(problem)
    for regularizer in (
        PrincipalComponents(components=50, l2=0.3),
        LocallyLinear(components=50, l2=0.3),
    ):
        solution = regularizer.solve(problem)
        np.testing.assert_allclose(solution.w, ridge.w, atol=1e-4)
        assert solution.converged
        again = regularizer.solve(problem.replace(start=(solution.w, solution.b)))
        assert again.iterations <= 1


def test_principal_components() -> None:
    """Singular vectors from numpy, and their combinations."""
    problem = random_problem(10, n=30)
    weighted = np.sqrt(problem.sample_weight)[:, None] * problem.X.toarray()
    V = np.linalg.svd(weighted, full_matrices=False)[2][:3].T
    inner = Ridge(l2=0.5).solve(problem.replace(X=csr_array(problem.X @ V)))
    solution = PrincipalComponents(components=3, l2=0.5).solve(problem)
    np.testing.assert_allclose(solution.w, V @ inner.w, atol=1e-4)
    assert solution.objective == pytest.approx(inner.objective)


@BOTH
def test_a_short_step_beside_the_directions_gains_nothing(part: type[Regularizer]) -> None:
    """Though it lowers the loss: what checks a claimed gap took it for a broken promise."""
    problem = random_problem(9, graph=random_graph(9)).replace(tol=1e-10)
    regularizer = part(components=3, l2=0.1)
    fit = regularizer.solve(problem)
    z = problem.X @ fit.w + fit.b
    downhill = problem.X.T @ (problem.y / (1.0 + np.exp(problem.y * z)))
    step = 5e-7 * np.linalg.norm(fit.w) * downhill / np.linalg.norm(downhill)
    at = regularizer.objective(problem, fit.w + step, fit.b)
    assert fit.objective * (1.0 - 1e-9) <= at < fit.objective * (1.0 + 1e-6)
    assert regularizer.objective(problem, fit.w + 1e4 * step, fit.b) == np.inf


def test_fewer_directions_than_components() -> None:
    X = np.outer(np.arange(1.0, 7.0), [1.0, 2.0, 0.0])
    problem = Problem(X, np.array([1.0, -1, 1, -1, 1, -1]), tol=1e-8)
    w = PrincipalComponents(components=5, l2=0.1).solve(problem).w
    assert w[1] == pytest.approx(2 * w[0])
    assert w[2] == 0.0
    nothing = problem.replace(X=csr_array((6, 3)))
    assert not PrincipalComponents(components=5, l2=0.1).solve(nothing).w.any()


def test_of_a_large_graph_the_most_frequent_features_are_embedded() -> None:
    links = csr_array(np.ones((7, 7)) - np.eye(7))
    problem = random_problem(0, graph=Graph(links))
    X = problem.X.toarray()
    X[2:, 1] = X[1:, 3] = X[3:, 6] = 0.0
    problem = problem.replace(X=csr_array(X))
    solution = LocallyLinear(components=2, l2=0.1, most=4).solve(problem)
    assert np.flatnonzero(solution.w).tolist() == [0, 2, 4, 5]
    heavy = np.where(np.arange(12) < 2, 1000.0, 1.0)  # a document counts by its weight
    solution = LocallyLinear(components=2, l2=0.1, most=6).solve(
        problem.replace(sample_weight=heavy)
    )
    assert np.flatnonzero(solution.w).tolist() == [0, 1, 2, 4, 5, 6]


def cycle(*features: int) -> set[tuple[int, int]]:
    return set(zip(features, (*features[1:], features[0]), strict=True))


def test_small_sets_that_lead_nowhere_are_not_embedded() -> None:
    pairs = cycle(*range(30)) | cycle(30, 31) | cycle(*range(32, 36)) | {(0, 30), (36, 0)}
    where = tuple(np.array(sorted(pairs)).T)
    graph = Graph(csr_array((np.ones(len(pairs)), where), shape=(37, 37)))
    problem = random_problem(1, n=20, p=37, graph=graph)
    w = LocallyLinear(components=2, l2=0.1).solve(problem).w
    assert np.flatnonzero(w).tolist() == [*range(30), *range(32, 36)]
    # each set has its own constant, and no link leads from one to the other
    np.testing.assert_allclose(w[:30], w[0], rtol=1e-6)
    np.testing.assert_allclose(w[32:36], w[32], rtol=1e-6)


def test_a_graph_without_a_way_back_is_embedded_as_it_is() -> None:
    graph = Graph(csr_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(7, 7)))
    w = LocallyLinear(components=1, l2=1e-6).solve(random_problem(2, graph=graph)).w
    direction = np.linalg.eigh(R_of(graph)[:3, :3].T @ R_of(graph)[:3, :3])[1][:, 0]
    np.testing.assert_allclose(w[:3] / w[0], direction / direction[0], rtol=1e-6)
    assert not w[3:].any()


def R_of(graph: Graph) -> np.ndarray:
    return network_rows(graph).toarray()


@pytest.mark.parametrize("links", [3, 12])
def test_large_graphs_are_embedded_as_small_ones_are(links: int) -> None:
    """By products with the matrix as by a decomposition of the whole."""
    p = 1200
    rng = np.random.default_rng(links)
    where = np.repeat(np.arange(p), links), rng.integers(p, size=links * p)
    W = csr_array((rng.random(links * p) + 0.5, where), shape=(p, p))
    graph = Graph(csr_array(W - diags(W.diagonal())))
    features, V = _embedding(graph, np.arange(p), 5)
    P = graph.similar[features][:, features].toarray()
    R = np.eye(len(features)) - P / P.sum(axis=1, keepdims=True)
    M = R.T @ R
    assert len(features) > DENSE
    values = np.linalg.eigvalsh(M)[:5]
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(V.T @ M @ V, np.diag(values), atol=1e-6)


def test_equal_eigenvalues_are_found() -> None:
    """Of a matrix that stands twice on the diagonal of another."""
    n = 510
    where = np.repeat(np.arange(n), 6), np.random.default_rng(0).integers(n, size=6 * n)
    R = csr_array(diags(np.ones(n)) - csr_array((np.full(6 * n, 1.0 / 6.0), where), shape=(n, n)))
    M = R.T @ R

    def product(v: np.ndarray) -> np.ndarray:
        return np.concatenate([M @ v[:n], M @ v[n:]])

    found, vectors = eigenvectors(product, 2 * n, 12, "smallest")
    known = np.repeat(np.linalg.eigvalsh(M.toarray())[:6], 2)
    np.testing.assert_allclose(found, known, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-8)


def test_a_long_ring_has_eigenvalues_next_to_nothing() -> None:
    """All but the first are double, and the next ones below 1e-9."""
    n = 1100
    ring = np.arange(n)
    around = (np.tile(ring, 2), np.concatenate([(ring + 1) % n, (ring - 1) % n]))
    R = csr_array(diags(np.ones(n)) - csr_array((np.full(2 * n, 0.5), around), shape=(n, n)))
    M = (R.T @ R).tocsc()
    found, vectors = eigenvectors(lambda v: M @ v, n, 7, "smallest", lambda: M)
    known = np.append(0.0, np.repeat((1.0 - np.cos(2.0 * np.pi * np.arange(1, 4) / n)) ** 2, 2))
    np.testing.assert_allclose(found, known, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-8)


def test_a_spectrum_has_the_moments_of_its_matrix() -> None:
    """Gauss quadrature of n nodes is exact for polynomials of degree 2n - 1."""
    values = np.linspace(0.5, 3.0, 300)
    start = _start(300) / np.linalg.norm(_start(300))
    spectrum = _spectrum(lambda v: values * v, 300)
    for power in range(9):
        known = start @ (values**power * start)
        assert spectrum.shares @ spectrum.values**power == pytest.approx(known, rel=1e-9)


def test_where_no_cut_is_right_the_eigenvalues_are_found_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("textreg_papers.projections.ROUNDS", 0)
    values = np.linspace(1.0, 3.0, 1100)
    found, _ = eigenvectors(lambda v: (values * v.T).T, 1100, 4, "smallest")
    np.testing.assert_allclose(found, values[:4], rtol=1e-5)


def test_locally_linear_weights_are_near_their_neighbors() -> None:
    p = 40
    ring = np.arange(p)
    links = csr_array(
        (np.ones(2 * p), (np.tile(ring, 2), np.concatenate([(ring + 1) % p, (ring - 1) % p]))),
        shape=(p + 1, p + 1),
    )
    problem = random_problem(11, n=30, p=p + 1, graph=Graph(links))
    w = LocallyLinear(components=3, l2=0.01).solve(problem).w
    assert w[p] == 0.0  # the feature without a link
    # the three smoothest functions on a ring are the constant, a sine and a cosine
    basis = np.column_stack(
        [np.ones(p), np.sin(2 * np.pi * ring / p), np.cos(2 * np.pi * ring / p)]
    )
    fitted = basis @ np.linalg.lstsq(basis, w[:p], rcond=None)[0]
    np.testing.assert_allclose(fitted, w[:p], atol=1e-8)
    assert np.abs(w).max() > 1e-3


def test_graphs_that_cannot_be_embedded() -> None:
    with pytest.raises(UsageError, match="classes cannot be embedded"):
        LocallyLinear(l2=1.0).solve(random_problem(0, graph=random_graph(0, classes=1)))
    with pytest.raises(UsageError, match="no links"):
        LocallyLinear(l2=1.0).solve(random_problem(0, graph=Graph(csr_array((7, 7)))))


def test_large_matrices_are_decomposed_alike() -> None:
    A = random_matrix((1500, 1500), 0.01, np.random.default_rng(0))
    A = csr_array(A @ A.T)
    values = np.linalg.eigvalsh(A.toarray())
    found, vectors = eigenvectors(lambda v: A @ v, 1500, 10, "largest")
    np.testing.assert_allclose(found, values[::-1][:10], rtol=1e-6)
    np.testing.assert_allclose(A @ vectors, vectors * found, atol=1e-3 * found[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-10)
