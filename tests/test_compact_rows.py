"""Rows for inner products: the same matrix in another order, and the documents that count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg._core.curvature import curvature_product
from textreg._core.softmax import softmax_product
from textreg.builtin.separable import Ridge
from textreg.records import Design, Problem
from textreg.solvers.reduce import CompactRows, compact_rows
from textreg.solvers.ridge_in_blocks import significant

N, P = 30, 20


def problem(parallel: int) -> Problem:
    """The first columns are multiples of the last ones."""
    random = np.random.default_rng(3)
    X = random.poisson(0.4, (N, P)).astype(float)
    X[:, :parallel] = X[:, P - parallel :] * random.choice([0.5, -2.0, 3.0], parallel)
    return Problem(csr_array(X), np.where(random.random(N) < 0.5, -1.0, 1.0))


def test_scores_and_products_are_those_of_the_matrix() -> None:
    given = problem(8)
    rows = compact_rows(given.design)
    assert rows.size == P
    random = np.random.default_rng(1)
    u, h, out = random.normal(size=rows.size), random.random(N), np.zeros(rows.size)
    scores, expected = np.zeros(N), given.X @ rows.expand(u) + 0.25
    total = curvature_product(*rows.arrays, np.arange(N, dtype=np.int32), h, u, 0.25, scores, out)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    weighted = h * expected
    assert total == pytest.approx(weighted.sum(), rel=1e-6)
    np.testing.assert_allclose(out, rows.collapse(given.X.T @ weighted), atol=1e-5)
    np.testing.assert_allclose(rows.collapse(rows.expand(u)), u, atol=1e-12)


def test_frequent_columns_come_first() -> None:
    rows = compact_rows(problem(0).design)
    frequency = np.bincount(rows.arrays[1], minlength=P)
    assert (np.diff(frequency) <= 0).all()


@pytest.mark.parametrize(("value", "kept"), [(1e-35, "f8"), (0.1, "f4")])
def test_values_out_of_range_stay_float64(value: float, kept: str) -> None:
    X = csr_array(np.array([[1.0, value], [0.0, 2.0]]))
    assert CompactRows(Design(X)).arrays[2].dtype == np.dtype(kept)


def test_the_flattest_documents_are_left_out() -> None:
    h = np.array([0.2, 1e-6, 0.25, 1e-4, 0.1])
    large, small = significant(h, np.ones(5), 1e-3)
    assert (large.tolist(), small.tolist()) == ([0, 2, 4], [1, 3])
    assert significant(h, np.ones(5), 0.0)[1].tolist() == []
    large, small = significant(np.full(5, 0.25), np.ones(5), 0.5)
    assert large.tolist() == [0, 1, 2, 3, 4]  # all or none of those that are equal
    assert significant(np.zeros(3), np.zeros(3), 0.1)[0].tolist() == []


def test_a_weight_of_two_is_a_document_twice() -> None:
    h = np.array([0.004, 0.003, 0.25])
    weighted = significant(np.array([2.0, 1.0, 1.0]) * h, np.array([2.0, 1.0, 1.0]), 0.03)
    twice = significant(h[[0, 0, 1, 2]], np.ones(4), 0.03)
    assert weighted[0].tolist() == [0, 2]
    assert twice[0].tolist() == [0, 1, 3]


def test_the_curvature_of_all_classes_in_float32_is_that_in_float64() -> None:
    random = np.random.default_rng(7)
    indptr, indices, data = compact_rows(problem(0).design).arrays
    c, P = random.random(N), random.dirichlet(np.ones(21), N)
    V = random.normal(size=(P.shape[1], P.shape[1]))
    results = []
    for dtype in (np.float32, np.float64):
        out = np.zeros(V.shape, dtype)
        parts = (array.astype(dtype) for array in (data, c, P, V))
        softmax_product(indptr, indices, *parts, out, np.empty(len(V), dtype))
        results.append(out)
    assert results[0].dtype == np.float32
    np.testing.assert_allclose(*results, atol=1e-5)


def test_weights_out_of_range_of_float32_are_fitted_by_turns() -> None:
    given = problem(0)
    codes = np.arange(N) % 3
    small = Problem(csr_array(given.X * 1e-30), given.y, tol=1e-6)
    found = Ridge(l2=1e-58).solve_softmax(small, codes)
    same = Ridge(l2=1e2).solve_softmax(given.replace(tol=1e-6), codes)
    assert found.objective == pytest.approx(same.objective, rel=1e-5)
