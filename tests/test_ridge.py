"""Ridges by dual ascent find what Newton's method finds, and so do groups without l1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_inputs import random_matrix
from scipy.sparse import csr_array

from textreg import Ridge
from textreg.builtin.groups import Group
from textreg.losses import Logistic, Squared
from textreg.penalties import Links, Quadratic, Separable
from textreg.records import Design, Groups, Problem, Step
from textreg.solvers import dual_ascent
from textreg.solvers import newton as newton_steps
from textreg.solvers.newton import newton

N, P = 80, 200


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)


def problem(seed: int = 0, **options: Any) -> Problem:
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.1, rng)
    y = np.where(X @ rng.normal(size=P) > 0.2, 1.0, -1.0)
    options = {"tol": 1e-9, "sample_weight": rng.integers(0, 3, N).astype(float), **options}
    return Problem(X, y, **options)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_a_ridge_is_the_same(l2: float, fit_intercept: bool, tol: float) -> None:
    given = problem(fit_intercept=fit_intercept, tol=tol)
    assert dual_ascent.suits(given, 2.0 * l2)
    quick = Ridge(l2=l2).solve(given)
    exact = newton(given.replace(tol=1e-12), Separable.constant(P, l2=l2))
    assert quick.gap <= tol
    assert exact.objective <= quick.objective * (1.0 + 1e-12)
    assert quick.objective * (1.0 - quick.gap) <= exact.objective * (1.0 + 1e-12)
    # The objective is strongly convex: |w - w*|^2 l2 is at most what it is above the optimum.
    assert l2 * np.square(quick.w - exact.w).sum() <= 2.0 * tol * exact.objective


def test_groups_are_the_same(monkeypatch: Any) -> None:
    cuts = np.arange(0, P + 1, 5, dtype=np.int64)
    groups = Groups(cuts, np.arange(P, dtype=np.int32), np.ones(len(cuts) - 1), P)
    given = problem(groups=groups, tol=1e-6)
    part = Group(group=0.05, l1=0.0, l2=0.01)
    quick = part.solve(given)
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 10**9)
    exact = part.solve(given)
    assert quick.gap <= 1e-6
    assert quick.objective == pytest.approx(exact.objective, rel=2e-6)


class Own(Logistic):
    """A class of somebody else."""


def test_other_losses_and_empty_matrices_are_left_to_newton() -> None:
    assert not dual_ascent.suits(problem(loss="squared"), 1.0)
    assert not dual_ascent.suits(problem(loss=Own()), 1.0)  # whose slope may be another one
    assert not dual_ascent.suits(Problem(csr_array((4, 0)), np.array([1.0, -1.0, 1.0, 1.0])), 1.0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_weak_ridge_of_squares_is_one_long_step(fit_intercept: bool) -> None:
    """By rounds that each begin anew it would take dozens of steps."""
    rng = np.random.default_rng(3)
    X = random_matrix((700, 600), 0.1, rng)
    X.data += 3.0  # all rows have much in common, so the system is ill-conditioned
    y = X @ rng.normal(size=600) + rng.normal(size=700)
    given = Problem(X, y, loss="squared", tol=1e-6, fit_intercept=fit_intercept)
    quick = Ridge(l2=1e-3).solve(given)
    assert quick.gap <= 1e-6
    assert quick.iterations <= 4
    # The normal equations: (X'X + 2 l2 I) w = X'y, of centered columns and targets.
    dense = X.toarray()
    center = dense.mean(axis=0) if fit_intercept else 0.0
    shift = y.mean() if fit_intercept else 0.0
    gram = (dense - center).T @ (dense - center) + 2e-3 * np.eye(600)
    w = np.linalg.solve(gram, (dense - center).T @ (y - shift))
    b = shift - float(np.sum(center * w))
    value = Squared().value(X @ w + b, y, np.ones(700)) + 1e-3 * w @ w
    assert value <= quick.objective * (1.0 + 1e-9)
    assert quick.objective * (1.0 - quick.gap) <= value


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squares_of_few_documents_are_one_iteration(fit_intercept: bool) -> None:
    rng = np.random.default_rng(3)
    X = random_matrix((400, 600), 0.1, rng)
    X.data += 3.0
    y = X @ rng.normal(size=600) + rng.normal(size=400)
    given = Problem(X, y, loss="squared", fit_intercept=fit_intercept, tol=1e-9)
    found = Ridge(l2=1e-3).solve(given)
    by_steps = newton(given, Separable.constant(600, l2=1e-3))
    assert found.iterations == 1
    assert found.converged
    np.testing.assert_allclose(found.w, by_steps.w, atol=1e-4)
    assert found.objective == pytest.approx(by_steps.objective, rel=2e-9)


def test_a_few_documents_are_solved_exactly_whatever_they_count() -> None:
    """Those of weight 0 too, and as a whole number of copies."""
    rng = np.random.default_rng(4)
    X, y = random_matrix((30, 90), 0.2, rng), rng.normal(size=30)
    counts = rng.integers(0, 3, 30)
    rows = np.repeat(np.arange(30), counts)
    weighted = Problem(X, y, loss="squared", sample_weight=counts.astype(float))
    copied = Problem(X[rows], y[rows], loss="squared")
    one, other = (Ridge(l2=0.1).solve(given) for given in (weighted, copied))
    assert max(one.gap, other.gap) < 1e-12
    np.testing.assert_allclose(one.w, other.w, atol=1e-12)
    assert one.b == pytest.approx(other.b, abs=1e-12)


def test_the_kernel_of_rare_and_of_frequent_features() -> None:
    X = random_matrix((300, 700), 0.1, np.random.default_rng(5)).tocsc()
    counts = np.diff(X.indptr)
    assert (counts < 30).any()
    assert (counts >= 30).sum() > newton_steps.PIECE
    found = newton_steps.kernel(Design(X))
    np.testing.assert_allclose(found, (X @ X.T).toarray(), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("l2", [1e-12, 1e-200])
def test_equations_that_cannot_be_solved_exactly_are_left_to_newton_steps(l2: float) -> None:
    rng = np.random.default_rng(6)
    given = Problem(random_matrix((30, 90), 0.2, rng), rng.normal(size=30), loss="squared")
    strong, weak = (Quadratic(Links(csr_array((0, 90))), 0.0, it) for it in (0.1, l2))
    assert newton_steps._from_kernel(given, strong).problem.start is not None
    assert newton_steps._from_kernel(given, weak).problem is given


def test_a_long_step_ends_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the time limit of a training, which a fit may not overrun by a whole step."""
    monkeypatch.setattr("textreg.solvers.newton.ROUNDS", 5)
    rng = np.random.default_rng(3)
    X = random_matrix((700, 600), 0.1, rng)
    X.data += 3.0
    seen: list[Step] = []

    def callback(step: Step) -> bool:
        seen.append(step)
        return len(seen) > 1

    y = X @ rng.normal(size=600) + rng.normal(size=700)
    given = Problem(X, y, loss="squared", tol=1e-9, callback=callback)
    stopped = Ridge(l2=1e-6).solve(given)
    assert [step.iteration for step in seen] == [0, 0, 1]  # once within the step
    assert not stopped.converged
    assert stopped.objective < seen[0].objective


def test_no_features() -> None:
    empty = Problem(csr_array((4, 0)), np.array([1.0, -1.0, 1.0, 1.0]))
    assert Ridge(l2=1.0).solve(empty).gap == pytest.approx(0.0, abs=1e-9)
