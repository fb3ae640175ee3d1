"""Rows for inner products: the same matrix in another order, and the documents that count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg._core.softmax import softmax_product
from textreg.builtin.separable import Ridge
from textreg.records import Design, Problem
from textreg.solvers.reduce import CompactRows, compact_rows

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
    u, (indptr, indices, data) = np.random.default_rng(1).normal(size=P), rows.arrays
    dense = csr_array((data, indices, indptr), shape=(N, P)).toarray()
    np.testing.assert_allclose(dense @ u, given.X @ rows.expand(u), atol=1e-5)
    np.testing.assert_allclose(rows.norms, given.X.power(2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(rows.collapse(rows.expand(u)), u, atol=1e-12)


def test_frequent_columns_come_first() -> None:
    rows = compact_rows(problem(0).design)
    frequency = np.bincount(rows.arrays[1], minlength=P)
    assert (np.diff(frequency) <= 0).all()


@pytest.mark.parametrize(
    ("value", "kept"), [(1e-35, "f8"), (0.1, "f4"), (-0.1, "f4"), (-1e-35, "f8")]
)
def test_values_out_of_range_stay_float64(value: float, kept: str) -> None:
    X = csr_array(np.array([[1.0, value], [0.0, 2.0]]))
    assert CompactRows(Design(X)).arrays[2].dtype == np.dtype(kept)


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
