"""Networks of features by the letter of Sandler et al. (2008), equation by equation.

The penalty of every link, class and dissimilarity is in test_network.py, term by term; here is what
the paper derives from them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg.builtin.network import Laplacian, Network
from textreg.builtin.separable import Ridge
from textreg.records import Graph, Problem

ALPHA, BETA, P_FEATURES = 2.0, 0.3, 9
RANDOM = np.random.default_rng(2008)
X = RANDOM.poisson(0.8, size=(40, P_FEATURES)).astype(float)
Y = np.where(X @ RANDOM.normal(size=P_FEATURES) + RANDOM.normal(size=40) > 0.0, 1.0, -1.0)


def links() -> Any:
    """P: two or three links from every feature, rows that sum to one."""
    random = np.random.default_rng(1)
    W = np.zeros((P_FEATURES, P_FEATURES))
    for i in range(P_FEATURES):
        others = random.permutation([j for j in range(P_FEATURES) if j != i])[:3]
        W[i, others] = random.random(3) + 0.1
    return W / W.sum(axis=1, keepdims=True)


def problem(graph: Any = None, features: Any = X) -> Problem:
    """Without an intercept, as in the paper."""
    return Problem(csr_array(features), Y, graph=graph, fit_intercept=False, tol=1e-12)


def log_loss(w: Any, features: Any = X) -> float:
    return float(np.log1p(np.exp(-Y * (features @ w))).sum())


def loss_gradient(w: Any) -> Any:
    return X.T @ (-Y / (1.0 + np.exp(Y * (X @ w))))


def test_equation_1_and_its_matrix() -> None:
    """Feature by feature, and w'Mw with M = alpha (I - P)'(I - P) + beta I, are the objective."""
    P, w = links(), np.random.default_rng(2).normal(size=P_FEATURES)
    by_feature = ALPHA * sum((w[i] - P[i] @ w) ** 2 for i in range(P_FEATURES)) + BETA * (w @ w)
    I_P = np.eye(P_FEATURES) - P
    M = ALPHA * I_P.T @ I_P + BETA * np.eye(P_FEATURES)
    made = problem(Graph(csr_array(P)))
    found = Network(alpha=ALPHA, beta=BETA).objective(made, w, 0.0)
    assert found == pytest.approx(log_loss(w) + by_feature, rel=1e-13)
    assert found == pytest.approx(log_loss(w) + w @ M @ w, rel=1e-13)


def test_the_gradient_vanishes_at_the_solution() -> None:
    """The gradient of section 2: that of the loss, and 2 M w."""
    P = links()
    I_P = np.eye(P_FEATURES) - P
    M = ALPHA * I_P.T @ I_P + BETA * np.eye(P_FEATURES)
    w = Network(alpha=ALPHA, beta=BETA).solve(problem(Graph(csr_array(P)))).w
    np.testing.assert_allclose(loss_gradient(w) + 2.0 * M @ w, 0.0, atol=1e-5)


def test_equations_3_and_4_a_ridge_on_embedded_documents_predicts_the_same() -> None:
    P = links()
    I_P = np.eye(P_FEATURES) - P
    eigenvalues, U = np.linalg.eigh(I_P.T @ I_P)
    embedded = X @ U / np.sqrt(ALPHA * eigenvalues + BETA)
    w = Network(alpha=ALPHA, beta=BETA).solve(problem(Graph(csr_array(P)))).w
    turned = Ridge(l2=1.0).solve(problem(features=embedded)).w
    np.testing.assert_allclose(X @ w, embedded @ turned, atol=1e-5)


def test_section_3_1_weights_are_drawn_to_the_mean_of_their_class() -> None:
    """A virtual feature of each class, of which the penalty is that of its mean."""
    of = np.arange(P_FEATURES) % 2
    W = np.zeros((P_FEATURES + 2, P_FEATURES + 2))
    W[np.arange(P_FEATURES), P_FEATURES + of] = 1.0
    made = problem(Graph(csr_array(W), classes=2))
    w = np.random.default_rng(3).normal(size=P_FEATURES)
    around = sum(((w[of == k] - w[of == k].mean()) ** 2).sum() for k in (0, 1))
    found = Network(alpha=ALPHA, beta=0.0).objective(made, w, 0.0)
    assert found == pytest.approx(log_loss(w) + ALPHA * around, rel=1e-6)


def test_section_3_2_dissimilar_features_are_drawn_to_opposite_weights() -> None:
    P, Q = links(), links()[::-1, ::-1]
    w = np.random.default_rng(4).normal(size=P_FEATURES)
    I_P, I_Q = np.eye(P_FEATURES) - P, np.eye(P_FEATURES) + Q
    made = problem(Graph(csr_array(P), csr_array(Q)))
    penalty = ALPHA * (w @ (I_P.T @ I_P + I_Q.T @ I_Q) @ w) + BETA * (w @ w)
    found = Network(alpha=ALPHA, beta=BETA).objective(made, w, 0.0)
    assert found == pytest.approx(log_loss(w) + penalty, rel=1e-13)


def test_section_3_3_the_laplacian_by_links_and_as_a_matrix() -> None:
    W = links()
    W = (W + W.T) / 2.0
    D = np.diag(W.sum(axis=1))
    w = np.random.default_rng(5).normal(size=P_FEATURES)
    by_links = 0.5 * sum(
        W[i, j] * (w[i] - w[j]) ** 2 for i in range(P_FEATURES) for j in range(P_FEATURES)
    )
    assert by_links == pytest.approx(w @ (D - W) @ w, rel=1e-13)
    found = Laplacian(alpha=ALPHA, beta=BETA).objective(problem(Graph(csr_array(W))), w, 0.0)
    assert found == pytest.approx(log_loss(w) + ALPHA * by_links + BETA * (w @ w), rel=1e-12)


def test_section_3_3_the_normalized_laplacian() -> None:
    W = links()
    W = (W + W.T) / 2.0
    root = np.sqrt(W.sum(axis=1))
    w = np.random.default_rng(6).normal(size=P_FEATURES)
    normalized = np.eye(P_FEATURES) - W / np.outer(root, root)
    reg = Laplacian(alpha=ALPHA, beta=BETA, normalized=True)
    found = reg.objective(problem(Graph(csr_array(W))), w, 0.0)
    expected = log_loss(w) + ALPHA * (w @ normalized @ w) + BETA * (w @ w)
    assert found == pytest.approx(expected, rel=1e-12)
