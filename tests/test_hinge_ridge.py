"""Ridges of a hinge: sweeps of dual coordinate ascent, and Newton steps where they do not do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_inputs import random_matrix
from scipy.sparse import random_array

from textreg._core.dual import dual_sweep
from textreg.builtin.separable import Ridge
from textreg.losses import Loss, SmoothedHinge, SquaredHinge
from textreg.penalties import Separable
from textreg.records import Problem, Solution, Step
from textreg.solvers import dual_ascent
from textreg.solvers.dual_ascent import ridges, slope_of
from textreg.solvers.newton import newton
from textreg.solvers.reduce import SMALL

LOSSES = [SmoothedHinge(), SmoothedHinge(smoothing=1.0), SquaredHinge()]


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)


def posed(loss: Loss, tol: float = 1e-4, seed: int = 0, *, fit_intercept: bool = True) -> Problem:
    rng = np.random.default_rng(seed)
    X = random_matrix((120, 60), 0.2, rng)
    y = np.where(X @ rng.normal(size=60) + rng.normal(size=120) > 0.5, 1.0, -1.0)
    weights = rng.integers(0, 4, 120).astype(float)
    return Problem(X, y, loss=loss, tol=tol, sample_weight=weights, fit_intercept=fit_intercept)


def by_newton(problem: Problem, l2: float) -> Solution:
    return newton(problem, Separable.constant(problem.design.shape[1], l2=l2))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_move_leads_to_the_best_dual_value(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    slope = slope_of(loss)
    largest = slope[1]
    for cy in (-2.0, 0.7, 0.0):
        x = rng.normal(size=3).astype(np.float32)
        w, q, lag, b = rng.normal(size=3), 0.8, 0.3, 0.2
        alpha = np.array([[0.25 * cy]])
        W, intercept = w[:, None].copy(), np.array([b])
        square = float(x.astype(float) @ x)
        dual_sweep(
            np.array([0, 3]), np.arange(3, dtype=np.int32), x, np.zeros(1, np.int32),
            np.array([square]), np.array([[cy]]), q, lag, alpha, W, intercept,
            np.zeros((1, 1)), np.full(1, -1.0), *slope,
        )  # fmt: skip
        moved = float(alpha[0, 0]) - 0.25 * cy

        def value(step: float, cy: float, score: float, curvature: float) -> float:
            a = np.array([0.25 * cy + step])
            if not 0.0 <= float(a[0] * np.sign(cy)) <= largest * abs(cy):
                return -np.inf
            dual = loss.dual_value(a, np.sign([cy]), np.abs([cy]))
            return dual - step * score - 0.5 * step**2 * curvature

        at = cy, float(x @ w) + b, square / q + lag
        if cy:
            assert value(moved, *at) >= max(value(moved + 1e-4, *at), value(moved - 1e-4, *at))
        else:
            assert moved == 0.0
        assert W[:, 0] == pytest.approx(w + moved * x / q, abs=1e-6)
        assert intercept[0] == pytest.approx(b + lag * moved)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("l2", [30.0, 1.0, 0.03])
def test_sweeps_alone_find_the_optimum(
    monkeypatch: pytest.MonkeyPatch, loss: Loss, l2: float, fit_intercept: bool
) -> None:
    problem = posed(loss, fit_intercept=fit_intercept)
    expected = by_newton(problem.replace(tol=1e-10), l2)
    monkeypatch.setattr(dual_ascent, "newtons", None)
    found = Ridge(l2=l2).solve(problem)
    assert found.converged
    assert 0.0 <= found.gap <= problem.tol
    assert expected.objective <= found.objective * (1 + 1e-12)
    assert found.objective <= expected.objective * (1 + 1.1 * found.gap)
    assert found.iterations == found.history[-1].iteration
    assert fit_intercept or found.b == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_it_goes_on_beyond_single_precision(loss: Loss) -> None:
    problem = posed(loss, tol=1e-11)
    found = Ridge(l2=1.0).solve(problem)
    assert found.converged
    assert found.gap <= 1e-11
    assert found.objective == pytest.approx(by_newton(problem, 1.0).objective, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_values_without_the_range_of_float32_are_left_to_newton(scale: float) -> None:
    problem = posed(SmoothedHinge())
    expected = Ridge(l2=1.0).solve(problem).w
    scaled = problem.replace(X=problem.design.X * scale)
    found = Ridge(l2=scale**2).solve(scaled)
    assert found.converged
    assert found.w * scale == pytest.approx(expected, abs=0.02 * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_labels_side_by_side_are_fitted_as_alone(loss: Loss) -> None:
    problems = [posed(loss, seed=seed) for seed in range(3)]
    problems = [problems[0].replace(y=one.y) for one in problems]
    together = Ridge(l2=0.5).solve_each(problems)
    for one, beside in zip(problems, together, strict=True):
        alone = Ridge(l2=0.5).solve(one)
        assert np.array_equal(alone.w, beside.w)
        assert alone.b == beside.b
        assert alone.history == beside.history


@pytest.mark.parametrize("looks", [1, 2])
def test_a_caller_may_stop_it(looks: int) -> None:
    problem, steps = posed(SmoothedHinge(), tol=1e-9), list[Step]()

    def stop(step: Step) -> bool:
        steps.append(step)
        return len(steps) >= looks

    found = Ridge(l2=0.03).solve(problem.replace(callback=stop))
    assert not found.converged
    assert found.history == tuple(steps)
    assert found.iterations == steps[-1].iteration


def test_a_start_at_the_solution_of_another_strength_serves() -> None:
    problem = posed(SmoothedHinge(), tol=1e-6)
    near = Ridge(l2=0.1).solve(problem)
    found = Ridge(l2=0.01).solve(problem.replace(start=(near.w, near.b)))
    assert found.converged
    assert found.objective == pytest.approx(Ridge(l2=0.01).solve(problem).objective, rel=2e-6)


def test_no_label_at_all_is_no_work() -> None:
    assert ridges([], 1.0) == []


def test_where_many_sweeps_would_be_left_newton_goes_on() -> None:
    rng = np.random.default_rng(0)
    X = random_array(
        (1000, 100), density=0.1, rng=rng, data_sampler=lambda size: rng.choice(2, size) + 1.0
    )
    y = np.where(X @ rng.normal(size=100) + rng.normal(size=1000) > 0.0, 1.0, -1.0)
    problem = Problem(X.tocsr(), y, loss="squared-hinge", tol=1e-8)
    found = Ridge(l2=1.0).solve(problem)
    assert found.converged
    assert found.iterations < 40  # 24 sweeps and some steps, instead of 174 sweeps
    exact = by_newton(problem.replace(tol=1e-10), 1.0)
    assert found.objective == pytest.approx(exact.objective, rel=1e-8)


def test_where_few_are_left_sweeps_end_it() -> None:
    problem = posed(SquaredHinge(), tol=1e-9)
    found = ridges([problem], 1.0)[0]
    assert found.converged
    assert all(after.objective <= before.objective for before, after in pairwise(found.history))
    assert [step.iteration for step in found.history] == [*range(6, found.iterations + 1, 3)]


def test_few_documents_of_many_features_are_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of 100 messages: Newton's steps past the kinks took forty times as long."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", SMALL)
    monkeypatch.setattr(dual_ascent, "newtons", None)
    rng = np.random.default_rng(0)
    X = random_matrix((60, 300), 0.1, rng)
    y = np.where(X @ rng.normal(size=300) > 0.2, 1.0, -1.0)
    for loss in LOSSES:
        for l2 in (10.0, 1.0, 1e-2, 1e-4):
            assert Ridge(l2=l2).solve(Problem(X, y, loss=loss)).converged
