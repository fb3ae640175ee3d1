"""Dual coordinate ascent: it climbs, is certified, and gives up where it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_inputs import random_matrix

from textreg._core.dual import dual_sweep, dual_sweep_by_feature
from textreg.records import Problem
from textreg.solvers import dual_ascent
from textreg.solvers.dual_ascent import ridges


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)


def dual_value(X: Any, cy: Any, q: float, lag: float, alpha: Any, b: float) -> float:
    """That of the problem with the penalty of the intercept, which was b when alpha was zero."""
    c, s = np.abs(cy), np.clip(alpha / cy, 1e-300, 1.0 - 1e-16)
    entropy = -float(c @ (s * np.log(s) + (1.0 - s) * np.log1p(-s)))
    total = float(alpha.sum())
    return (
        entropy - float(np.square(X.T @ alpha).sum()) / (2.0 * q) - b * total - 0.5 * lag * total**2
    )


@pytest.mark.parametrize("q", [1e-4, 0.1, 10.0])
@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_no_sweep_lowers_the_dual_value(q: float, lag: float) -> None:
    rng = np.random.default_rng(1)
    X = random_matrix((40, 20), 0.3, rng)
    X.data = X.data.astype(np.float32)
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data
    norms = np.square(X.toarray().astype(float)).sum(axis=1)
    cy = np.where(rng.random((40, 1)) < 0.3, 1.0, -2.0)
    alpha, W, b = np.zeros((40, 1)), np.zeros((20, 1)), np.array([0.3])
    moved, least, values = np.zeros((40, 1)), np.full(1, -1.0), [-np.inf]
    for _ in range(30):
        order = rng.permutation(40).astype(np.int32)
        dual_sweep(*arrays, order, norms, cy, q, lag, alpha, W, b, moved, least)
        values.append(dual_value(X, cy[:, 0], q, lag, alpha[:, 0], 0.3))
        assert values[-1] >= values[-2] - 1e-9 * abs(values[-2])
    assert W[:, 0] == pytest.approx(X.T @ alpha[:, 0] / q, rel=1e-6, abs=1e-6 / q)
    assert b[0] == pytest.approx(0.3 + lag * alpha.sum())


def posed(n: int = 60, **options: Any) -> list[Problem]:
    """Two labels; every document occurs twice, and one of them once with and once without both."""
    rng = np.random.default_rng(2)
    X = random_matrix((n, 30), 0.3, rng)
    twice = np.repeat(np.arange(n), 2)
    shared = Problem(X[twice], np.ones(2 * n), tol=1e-5, **options)
    problems = []
    for _ in range(2):
        scores = shared.design.X @ rng.normal(size=30)
        y = np.where(scores > np.median(scores), 1.0, -1.0)
        y[0] = -y[1]
        problems.append(shared.replace(y=y))
    return problems


def test_a_ridge_that_is_not_weak_is_solved_by_sweeps_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problems = posed()
    monkeypatch.setattr(dual_ascent, "newtons", None)
    for one, solution in zip(problems, ridges(problems, 5.0), strict=True):
        assert solution.converged
        assert 0.0 <= solution.gap <= one.tol


@pytest.mark.parametrize("start", [False, True])
def test_where_documents_contradict_each_other_newton_goes_on(
    monkeypatch: pytest.MonkeyPatch, start: bool
) -> None:
    problems, l2, taken = posed(), 1e-7, list[Problem]()
    if start:
        found = ridges([one.replace(tol=1e-2) for one in problems], l2)
        problems = [
            one.replace(start=(at.w, at.b)) for one, at in zip(problems, found, strict=True)
        ]
    plain = dual_ascent.newtons

    def counted(problems: Any, penalty: Any) -> Any:
        taken.extend(problems)
        return plain(problems, penalty)

    monkeypatch.setattr(dual_ascent, "newtons", counted)
    for one, solution in zip(problems, ridges(problems, l2), strict=True):
        assert solution.converged
        assert 0.0 <= solution.gap <= one.tol
    assert len(taken) == len(problems)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("every", [True, False])
def test_documents_without_a_value_are_certified_too(
    loss: str, fit_intercept: bool, every: bool
) -> None:
    X = random_matrix((40, 12), 0.3, np.random.default_rng(5)).toarray()
    X[:: 1 if every else 3] = 0.0
    y = np.where(np.arange(40) % 3, 1.0, -1.0)
    (found,) = ridges([Problem(X, y, loss=loss, fit_intercept=fit_intercept, tol=1e-6)], 0.3)
    assert found.converged
    assert 0.0 <= found.gap <= 1e-6


@pytest.mark.parametrize("scale", [1e-32, 1e-25, 1e12])
def test_values_without_the_range_of_float32_are_left_to_newton(
    monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    problems = [one.replace(X=one.design.X * scale) for one in posed()]
    monkeypatch.setattr(dual_ascent, "Ascent", None)
    assert all(one.converged for one in ridges(problems, 5.0 * scale**2))


def test_a_label_moves_alike_alone_and_beside_others() -> None:
    """Labels are moved as vectors; some need more Newton steps than those beside them."""
    rng = np.random.default_rng(3)
    X = random_matrix((30, 12), 0.4, rng)
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    order = rng.permutation(30).astype(np.int32)
    cy = np.where(rng.random((30, 29)) < 0.2, 1.0, -1.0) * rng.random(29) ** 8 * 100.0
    first = cy * rng.random((30, 29))
    lag, inverse = rng.random(29), rng.random((12, 29)).astype(np.float32)
    strengths = np.empty(0, np.float32), np.full(12, 3.0, np.float32)

    def moved(labels: slice) -> list[Any]:
        alpha = [first[:, labels].copy() for _ in range(3)]
        weights = [np.zeros((12, alpha[0].shape[1]), np.float32) for _ in range(3)]
        b = [np.zeros(alpha[0].shape[1]) for _ in range(3)]
        own = np.ascontiguousarray(cy[:, labels])
        still, least = np.zeros(own.shape), np.full(own.shape[1], -1.0)
        for _ in range(2):  # the second time over those that moved by more than the least
            dual_sweep(
                *(*arrays, order, squares, own, 0.3, 0.2),
                *(alpha[0], weights[0], b[0], still, least),
            )
            least[:] = 0.1
        shares = np.ascontiguousarray(inverse[:, labels])
        for lam, at in zip(strengths, (1, 2), strict=True):
            dual_sweep_by_feature(
                *arrays, order, own, lag[labels].copy(), lam, shares, alpha[at], weights[at], b[at]
            )
        return [*alpha, *weights, *(row[None] for row in b)]

    together = moved(slice(None))
    for label in range(29):
        alone = moved(slice(label, label + 1))
        for all_labels, own in zip(together, alone, strict=True):
            assert np.array_equal(all_labels[:, label], own[:, 0])
