"""The preconditioner of quadratic penalties: equation (N4) term by term, and its use."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg.builtin.network import laplacian_rows, network_rows
from textreg.penalties import Links
from textreg.records import Graph
from textreg.solvers.newton import IncompleteCholesky

STRENGTH = 7.0


def followers(seed: int, p: int = 60) -> Graph:
    """Every feature follows five others, most of them the same few."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / (1.0 + rng.permutation(p)) ** 1.5
    W = np.zeros((p, p))
    for i in range(p):
        others = np.delete(np.arange(p), i)
        chosen = rng.choice(others, 5, replace=False, p=popular[others] / popular[others].sum())
        W[i, chosen] = rng.uniform(0.1, 1.0, 5)
    return Graph(csr_array(W))


def inverse(factor: IncompleteCholesky, own: np.ndarray) -> np.ndarray:
    """(T'T)^-1 as a matrix."""
    multiply = factor.inverse(STRENGTH, own)
    return np.array([multiply(unit) for unit in np.eye(len(own))])


def rarest_first(rows: np.ndarray) -> np.ndarray:
    return np.argsort((rows != 0.0).sum(axis=0), kind="stable")


def test_pairs_of_features_are_as_gauss_and_seidel_have_them() -> None:
    rows = laplacian_rows(followers(0))
    own = np.random.default_rng(1).uniform(0.1, 1.0, rows.shape[1])
    order = rarest_first(rows.toarray())
    A = (STRENGTH * (rows.T @ rows).toarray() + np.diag(own))[np.ix_(order, order)]
    D, U = np.diag(np.diag(A)), np.triu(A, 1)
    expected = np.empty_like(A)
    expected[np.ix_(order, order)] = np.linalg.inv((D + U.T) @ np.linalg.inv(D) @ (D + U))
    np.testing.assert_allclose(inverse(IncompleteCholesky(Links(rows)), own), expected, rtol=1e-10)


def test_features_follow_their_more_frequent_neighbors() -> None:
    rows = network_rows(followers(2))
    own = np.random.default_rng(3).uniform(0.1, 1.0, rows.shape[1])
    R = rows.toarray()
    order = rarest_first(R)
    D = np.diag((STRENGTH * (R**2).sum(axis=0) + own)[order])
    T = np.sqrt(np.linalg.inv(D)) @ (D + STRENGTH * np.triu(R[np.ix_(order, order)], 1))
    expected = np.empty_like(R)
    expected[np.ix_(order, order)] = np.linalg.inv(T.T @ T)
    np.testing.assert_allclose(inverse(IncompleteCholesky(Links(rows)), own), expected, rtol=1e-10)


@pytest.mark.parametrize("rows_of", [network_rows, laplacian_rows])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_nearer_than_the_diagonal(rows_of, seed: int) -> None:  # type: ignore[no-untyped-def]
    rows = rows_of(followers(seed))
    own = np.full(rows.shape[1], 0.01)
    A = STRENGTH * (rows.T @ rows).toarray() + np.diag(own)
    half = np.linalg.cholesky(A)

    def spread(near: np.ndarray) -> float:
        return float(np.linalg.cond(half.T @ near @ half))

    scaled = spread(np.diag(1.0 / np.diag(A)))
    assert spread(inverse(IncompleteCholesky(Links(rows)), own)) < 0.5 * scaled


def test_virtual_features_are_left_out_of_the_inverse() -> None:
    """They come last and have no square of their own, as if they were the last real ones."""
    p, classes = 12, 2
    W = np.zeros((p + classes, p + classes))
    W[np.arange(p), p + np.arange(p) % classes] = 1.0
    W[0, 3] = W[5, 4] = 0.5
    rows = network_rows(Graph(csr_array(W), classes=classes))
    own = np.random.default_rng(4).uniform(0.1, 1.0, p)
    whole = inverse(IncompleteCholesky(Links(rows)), np.append(own, np.zeros(classes)))
    near = inverse(IncompleteCholesky(Links(rows, classes)), own)
    np.testing.assert_allclose(near, whole[:p, :p], rtol=1e-12)


def test_what_nothing_holds_is_left_as_it_is() -> None:
    rows = csr_array(np.array([[1.0, -1.0, 0.0]]))
    multiply = IncompleteCholesky(Links(rows)).inverse(STRENGTH, np.array([0.5, 0.5, 0.0]))
    assert multiply(np.array([0.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 3.0]
