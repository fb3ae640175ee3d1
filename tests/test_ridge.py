"""The steps that ridges take on large matrices of text find what those on small ones find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg import Ridge
from textreg.builtin.groups import Group
from textreg.losses import SmoothedHinge
from textreg.records import Groups, Problem
from textreg.solvers import ridge as steps
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.engine import Engine
from textreg.solvers.requests import answered
from textreg.solvers.ridge import RidgeModel
from textreg_testing.regularizer import random_matrix

N, P = 80, 200


def problem(seed: int = 0, **options: Any) -> Problem:
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.1, rng)
    y = np.where(X @ rng.normal(size=P) > 0.2, 1.0, -1.0)
    options = {"tol": 1e-9, "sample_weight": rng.integers(0, 3, N).astype(float), **options}
    return Problem(X, y, **options)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr(steps, "SMALL", 0)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0])
def test_a_ridge_is_the_same(monkeypatch: Any, l2: float, fit_intercept: bool) -> None:
    given = problem(fit_intercept=fit_intercept)
    assert steps.suits(given)
    quick = Ridge(l2=l2).solve(given)
    monkeypatch.setattr(steps, "SMALL", 10**9)
    exact = Ridge(l2=l2).solve(given)
    assert quick.gap <= 1e-9
    assert quick.objective == pytest.approx(exact.objective, rel=1e-8)
    np.testing.assert_allclose(quick.w, exact.w, atol=2e-3 * np.abs(exact.w).max())


@pytest.mark.usefixtures("large")
def test_groups_are_the_same(monkeypatch: Any) -> None:
    cuts = np.arange(0, P + 1, 5, dtype=np.int64)
    groups = Groups(cuts, np.arange(P, dtype=np.int32), np.ones(len(cuts) - 1), P)
    given = problem(groups=groups, tol=1e-6)
    part = Group(group=0.05, l1=0.0, l2=0.01)
    quick = part.solve(given)
    monkeypatch.setattr(steps, "SMALL", 10**9)
    exact = part.solve(given)
    assert quick.gap <= 1e-6
    assert quick.objective == pytest.approx(exact.objective, rel=2e-6)


@pytest.mark.usefixtures("large")
def test_a_start_at_the_optimum_needs_no_step() -> None:
    given = problem()
    found = Ridge(l2=0.1).solve(given)
    again = Ridge(l2=0.1).solve(given.replace(start=(found.w, found.b)))
    assert again.iterations <= 1


def test_small_matrices_and_other_losses_take_other_steps() -> None:
    assert not steps.suits(problem())
    assert not steps.suits(problem(loss=SmoothedHinge(smoothing=0.01)))


@pytest.mark.usefixtures("large")
def test_no_features() -> None:
    empty = Problem(csr_array((4, 0)), np.array([1.0, -1.0, 1.0, 1.0]))
    assert Ridge(l2=1.0).solve(empty).gap == pytest.approx(0.0, abs=1e-9)


def test_curvature_of_documents_that_cross_is_that_of_a_parabola_above_their_loss() -> None:
    given = problem(sample_weight=np.ones(N))
    engine = Engine(given)
    engine.restart(np.random.default_rng(1).normal(size=P), 0.5)
    wrong, value = given.y * engine.z < 0.0, np.logaddexp(0.0, -given.y * engine.z)
    before = engine.h.copy()
    steps.use_crossing_curvature(engine)
    assert wrong.any()
    np.testing.assert_array_equal(engine.h[~wrong], before[~wrong])
    for share in (0.0, 0.5, 1.0, 2.0, 3.0):  # of the way to the opposite score
        move = -2.0 * share * engine.z
        parabola = value + engine.r * move + 0.5 * engine.h * move**2
        loss = np.logaddexp(0.0, -given.y * (engine.z + move))
        assert (parabola[wrong] >= loss[wrong] - 1e-12).all()
        if share == 1.0:
            np.testing.assert_allclose(parabola[wrong], loss[wrong], atol=1e-12)


def test_a_residual_without_the_intercept_is_that_after_its_step() -> None:
    given, rng = problem(), np.random.default_rng(2)
    engine, rows = Engine(given), compact_rows(given.design)
    model = RidgeModel(engine, rows, np.full(P, 0.1), 0.0)
    rest, rest_b = rng.normal(size=P), 0.7
    sums = answered(model.weighted_sum())
    change, scores = np.zeros(P), np.zeros(len(engine.h))
    b = rest_b / engine.h.sum()
    change_b = rows.product(rows.every, engine.h, np.zeros(P), b, scores, change)
    assert change_b == pytest.approx(rest_b, rel=1e-6)
    left = model.without_intercept(rest, rest_b, sums)
    np.testing.assert_allclose(left, rest - change, atol=1e-6)
