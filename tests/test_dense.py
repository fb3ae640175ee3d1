"""A dense array is kept as one, and gives what the same values give as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone

from textreg import Elastic, LinearClassifier, Ridge
from textreg.errors import RecordError
from textreg.plugins.registry import regularizer
from textreg.records import Graph, Groups, Problem
from textreg.records.design import DenseDesign, Design, as_design

N, P = 640, 420


@pytest.fixture(scope="module")
def X() -> Any:
    return np.random.default_rng(0).standard_normal((N, P))


@pytest.fixture
def small(X: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A part of it, which would be made sparse."""
    monkeypatch.setattr("textreg.records.design.MANY_VALUES", 1)
    assert isinstance(as_design(X[:240, :60]), DenseDesign)
    return X[:240, :60]


@pytest.fixture(scope="module")
def y(X: Any) -> Any:
    rng = np.random.default_rng(1)
    return np.where(X @ rng.standard_normal(P) + 5.0 * rng.standard_normal(N) > 0.0, 1.0, -1.0)


def test_a_large_filled_array_alone_is_kept(X: Any) -> None:
    assert np.shares_memory(as_design(X).given, X)
    for other in (X[:, :40], np.where(X > 1.0, X, 0.0), csr_array(X), X.astype(np.int64).tolist()):
        assert type(as_design(other)) is Design


@pytest.mark.parametrize("k", [None, 1, 5])
@pytest.mark.parametrize("some", [False, True])
def test_products(X: Any, k: int | None, some: bool) -> None:
    rng, features = np.random.default_rng(2), None
    if some:
        features = np.sort(rng.permutation(P)[:50]).astype(np.int32)
    dense, sparse = as_design(X), Design(X)
    w = rng.standard_normal((50 if some else P, *([] if k is None else [k])))
    r, h = rng.standard_normal((N, *w.shape[1:])), rng.random(N)
    for method, vector in (("product", w), ("transposed_product", r), ("curvature", h)):
        found, expected = (getattr(it, method)(vector, features) for it in (dense, sparse))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert (dense.shape, dense.values) == (sparse.shape, sparse.values)
    np.testing.assert_array_equal(dense.X_csc.toarray(), X)
    np.testing.assert_array_equal(dense.take_rows(np.array([3, 1])).given, X[[3, 1]])


def test_several_right_hand_sides_give_the_bits_of_one(X: Any) -> None:
    W = np.random.default_rng(3).standard_normal((P, 6))
    whole = as_design(X).product(W)
    for column in range(6):
        np.testing.assert_array_equal(whole[:, column], as_design(X).product(W[:, column]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("ridge", {"l2": 0.5}),
        ("elastic", {"l1": 2.0, "l2": 0.5}),
        ("none", {}),
        ("lasso", {"l1": 2}),
    ],
)
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
def test_the_optimum_is_that_of_the_sparse_matrix(
    small: Any, y: Any, name: str, params: Any, loss: str
) -> None:
    part, y = regularizer(name, **params), y[: len(small)]
    dense, sparse = (
        part.solve(Problem(it, y, loss=loss, tol=1e-7)) for it in (small, Design(small))
    )
    assert dense.converged
    assert sparse.converged
    bound = 1e-6 * max(sparse.objective, 1e-3 * len(y))
    assert abs(dense.objective - sparse.objective) <= bound
    if name != "none":
        assert dense.gap <= 1e-7


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("group", {"group": 2.0, "l1": 0.0, "l2": 0.1}),
        ("group", {"group": 2.0, "l1": 0.5, "l2": 0.1}),
        ("network", {"beta": 1.0, "alpha": 0.1}),
    ],
)
def test_groups_and_networks(X: Any, y: Any, name: str, params: Any) -> None:
    rows = np.arange(0, P - 9, 5)[:, None] + np.arange(10)
    groups = Groups(10 * np.arange(len(rows) + 1), rows.ravel(), np.ones(len(rows)), P)
    graph = Graph(diags_array([np.ones(P - 1)] * 2, offsets=[-1, 1]).tocsr())
    part = regularizer(name, **params)
    dense, sparse = (
        part.solve(Problem(it, y, groups=groups, graph=graph, tol=1e-6)) for it in (X, Design(X))
    )
    assert dense.gap <= 1e-6
    assert dense.objective == pytest.approx(sparse.objective, rel=2e-6)


def test_classes_together(X: Any, y: Any) -> None:
    codes = np.random.default_rng(5).integers(0, 4, N)
    dense, sparse = (
        Ridge(l2=2.0).solve_softmax(Problem(it, y, tol=1e-6), codes) for it in (X, Design(X))
    )
    assert dense.gap <= 1e-6
    np.testing.assert_allclose(dense.w, sparse.w, atol=1e-3)


def test_an_estimator_of_several_classes(small: Any) -> None:
    X = small[:80]
    y = np.random.default_rng(4).integers(0, 4, len(X))
    for reg in (Ridge(l2=5.0), Elastic(l1=1.0, l2=1.0), "ridge"):
        model = LinearClassifier(reg, tol=1e-6, cv=2)
        dense, sparse = (clone(model).fit(it, y) for it in (X, csr_array(X)))
        np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=2e-3)
    alike = clone(model).set_params(jobs=2).fit(X, y)
    np.testing.assert_array_equal(dense.coef_, alike.coef_)


def test_errors(X: Any) -> None:
    for value, words in ((np.nan, r"X\[.* is nan"), (1e200, "too large to compute with")):
        wrong = X.copy()
        wrong[3, 4] = value
        with pytest.raises(RecordError, match=words):
            as_design(wrong)
    with pytest.raises(RecordError, match="where 420 are needed"):
        DenseDesign(X).product(np.ones(3))
