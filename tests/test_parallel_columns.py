"""Parallel columns as one: same scores, same penalty, same minimum."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg.penalties import Links, Quadratic, Separable
from textreg.plugins import registry
from textreg.records import Graph, Problem
from textreg.solvers.newton import newton, quadratic
from textreg.solvers.reduce import (
    MergedColumns,
    merge_linked_columns,
    merge_parallel_columns,
)

N, P = 40, 30

pytestmark = pytest.mark.usefixtures("merged_values")


def problem(seed: int = 0) -> Problem:
    """Columns 0 to 9 are 20 to 29 times a factor, 10 to 12 are in no document."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.3, (N, P)).astype(float)
    X[:, :10] = X[:, 20:] * random.choice([-2.0, 0.5, 1.0, 3.0], 10)
    X[:, 10:13] = 0.0
    y = np.where(random.random(N) < 0.5, -1.0, 1.0)
    return Problem(csr_array(X), y, random.random(N) + 0.5, tol=1e-10)


def graph(classes: int = 0) -> Graph:
    """Links between 13 to 19, and one of 10, which no document holds, to 13."""
    similar = np.zeros((P + classes, P + classes))
    similar[np.arange(13, 19), np.arange(14, 20)] = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0]
    similar[10, 13] = 1.0
    if classes:
        similar[14:17, P] = 1.0
        similar[P, 14:17] = 1.0
    return Graph(csr_array(similar), classes=classes)


def test_scores_and_squares_are_kept():
    given = problem()
    merged = merge_parallel_columns(given.design)
    small = merged.merge_problem(given)
    assert small.X.shape == (N, P - 12)
    random = np.random.default_rng(1)
    w, u = random.standard_normal(P), random.standard_normal(small.X.shape[1])
    np.testing.assert_allclose(small.X @ merged.merge(w), given.X @ w, atol=1e-12)
    np.testing.assert_allclose(given.X @ merged.expand(u), small.X @ u, atol=1e-12)
    np.testing.assert_allclose(merged.merge(merged.expand(u)), u, atol=1e-14)
    assert np.linalg.norm(merged.expand(u)) == pytest.approx(np.linalg.norm(u), rel=1e-14)
    assert not merged.expand(u)[11:13].any()
    both = np.array([u, -u])
    np.testing.assert_array_equal(merged.expand(both)[1], merged.expand(-u))


def test_a_stored_zero_is_no_value():
    given = problem()
    X = given.X.copy()
    X.data[0] = 0.0
    clean = X.copy()
    clean.eliminate_zeros()
    stored = merge_parallel_columns(Problem(X, given.y).design)
    np.testing.assert_array_equal(
        stored.share, merge_parallel_columns(Problem(clean, given.y).design).share
    )
    assert Problem(X, given.y).X.nnz == given.X.nnz


def test_a_thread_keeps_the_matrix_that_it_asked_for_last() -> None:
    given = problem()
    every = np.ones(P, dtype=bool)
    one, two = (MergedColumns(given.design, kind, every) for kind in (np.zeros(P), np.arange(P)))
    ones = one.merge_problem(given).design
    assert one.merge_problem(given).design is ones
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(one.merge_problem, given).result().design is ones
        twos = two.merge_problem(given).design
        assert pool.submit(one.merge_problem, given).result().design is ones
        assert pool.submit(two.merge_problem, given).result().design is twos
        assert one.merge_problem(given).design is not ones
    assert two.merge_problem(given).design is twos  # of a thread that has ended
    assert one.merge_problem(given).design is not ones  # and now there was no room for it
    assert two.merge_problem(given).design is not twos


def test_nearly_parallel_is_not_parallel():
    X = np.array([[1.0, 1.0], [2.0, 2.0 + 1e-11], [0.0, 0.0]])
    assert merge_parallel_columns(
        Problem(csr_array(X), np.array([1.0, -1.0, 1.0])).design
    ).representatives.tolist() == [0, 1]


def test_matrix_without_documents_words_or_values():
    for shape in ((3, 0), (3, 2)):
        merged = merge_parallel_columns(
            Problem(csr_array(shape), np.array([1.0, -1.0, 1.0])).design
        )
        assert merged.expand(np.zeros(len(merged.representatives))).shape == (shape[1],)


def test_ridge_finds_the_same_weights():
    given = problem()
    whole = newton(given, Separable.constant(P, l2=0.3))
    expanded = registry.create("regularizer", "ridge", l2=0.3).solve(given)
    np.testing.assert_allclose(expanded.w, whole.w, atol=1e-4)
    assert expanded.objective == pytest.approx(whole.objective, rel=1e-9)
    assert expanded.gap <= 1e-10


@pytest.mark.parametrize("classes", [0, 1])
@pytest.mark.parametrize("name", ["network", "laplacian"])
def test_links_find_the_same_weights(name: str, classes: int):
    given = problem().replace(graph=graph(classes))
    part = registry.create("regularizer", name, alpha=0.4, beta=0.2)
    penalty = part.penalty(given)
    whole = quadratic(given, penalty)
    expanded = part.solve(given)
    np.testing.assert_allclose(expanded.w, whole.w, atol=1e-5)
    assert expanded.objective == pytest.approx(whole.objective, rel=1e-9)
    merged, links = merge_linked_columns(given, penalty.links)
    assert len(merged.representatives) < P - 10
    u = np.random.default_rng(2).standard_normal(len(merged.representatives))
    assert Quadratic(links, 0.4, 0.2).value(u) == pytest.approx(
        penalty.value(merged.expand(u)), rel=1e-12
    )


def test_features_of_another_strength_stay_apart():
    X = csr_array(np.ones((4, 3)))
    given = Problem(X, np.array([1.0, -1.0, 1.0, 1.0]))
    rows = csr_array(np.diag([1.0, 2.0, 1.0]))
    merged, links = merge_linked_columns(given, Links(rows))
    assert merged.representatives.tolist() == [0, 1]
    np.testing.assert_array_equal(links.diagonal, [1.0, 4.0])


def test_indices_of_64_bits() -> None:
    given = problem()
    X = given.design.X_csc.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    design = given.design.select(given.design.features)
    vars(design)["X_csc"] = X
    wide = merge_parallel_columns(design)
    np.testing.assert_array_equal(wide.column, merge_parallel_columns(given.design).column)
