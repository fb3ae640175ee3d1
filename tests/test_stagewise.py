"""Forward stagewise: every step against a dense twin, the rules, and the bookkeeping."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_stagewise import dense_path
from hypothesis import given
from hypothesis import strategies as st
from kernel_inputs import random_matrix
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

import textreg
from textreg.errors import DataError, UsageError
from textreg.plugins import registry
from textreg.reading.corpus import read_corpus
from textreg.records import Problem, Step
from textreg.solvers.stagewise import (
    SHIFT,
    TIE,
    DerivativeLookup,
    StagewiseRun,
    stagewise,
    stagewise_path,
)
from textreg.solvers.stagewise_rules import StepRules


def numbers(seed: int = 0, n: int = 80, p: int = 300) -> Any:
    """Sparse X with frequent and rare columns, more of them than a block has."""
    rng = np.random.default_rng(seed)
    often = rng.uniform(0.02, 0.6, p)
    return rng.normal(1.0, 0.5, (n, p)) * (rng.random((n, p)) < often)


def labels(X: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    z = X[:, :10] @ rng.normal(size=10) + rng.logistic(size=len(X))
    return np.where(z > np.median(z), 1.0, -1.0)


def responses(X: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return 3.0 + X[:, :10] @ rng.normal(size=10) + rng.normal(size=len(X))


def weights(n: int) -> Any:
    return np.random.default_rng(5).uniform(0.5, 2.0, n)


def linear(seed: int = 0, **changes: Any) -> Problem:
    X = numbers(seed)
    given = {"X": csr_array(X), "y": responses(X), "loss": "squared", **changes}
    return Problem(**given)


def logistic(seed: int = 0, **changes: Any) -> Problem:
    X = numbers(seed)
    return Problem(**{"X": csr_array(X), "y": labels(X), **changes})


@pytest.mark.sampled(10)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"standardize": False},
        {"scaled": True, "epsilon": 0.05},
        {"sample": 20, "seed": 3},
        {"sample": 20, "seed": 3, "keep_best": True},
        {"sample": 20, "lookup": "queue"},
        {"sample": 20, "lookup": "queue", "keep_best": True},
        {"lookup": "queue"},
        {"lookup": "queue", "standardize": False},
        {"lookup": "queue", "scaled": True, "epsilon": 0.05},
    ],
    ids=str,
)
@pytest.mark.parametrize("likelihood", ["linear", "logistic", "exponential"])
def test_every_step_is_that_of_the_dense_twin(
    likelihood: str, options: dict[str, Any], fit_intercept: bool
) -> None:
    if likelihood == "exponential" and "scaled" in options:
        pytest.skip("an exponential family has no residuals")
    options = {"epsilon": 0.02, "steps": 300, **options}
    X = numbers()
    c = weights(len(X))
    y = responses(X) if likelihood == "linear" else labels(X)
    loss = "squared" if likelihood == "linear" else "logistic"
    features, sizes, w, b = dense_path(
        X, y, c, likelihood=likelihood, fit_intercept=fit_intercept, **options
    )
    problem = Problem(csr_array(X), y, c, loss=loss, fit_intercept=fit_intercept)
    name = "exponential" if likelihood == "exponential" else "loss"
    solution = stagewise(problem, StepRules(likelihood=name, **options))
    path = solution.report.path
    assert len(features) > 150
    assert path.features.tolist() == features
    np.testing.assert_allclose(path.sizes, sizes, rtol=1e-8)
    np.testing.assert_allclose(solution.w, w, rtol=1e-8, atol=1e-12)
    if likelihood != "exponential":
        assert solution.b == pytest.approx(b, rel=1e-7, abs=1e-9)


def test_every_step_on_binary_columns_is_that_of_the_twin() -> None:
    X = (numbers(n=120, p=200) != 0).astype(float)
    y, c = labels(X), np.ones(len(X))
    options = {"epsilon": 0.03, "steps": 200}
    features, _, w, _ = dense_path(X, y, c, likelihood="logistic", fit_intercept=True, **options)
    solution = stagewise(Problem(csr_array(X), y), StepRules(**options))
    assert solution.report.path.features.tolist() == features
    np.testing.assert_allclose(solution.w, w, rtol=1e-8, atol=1e-12)


def test_squared_error_on_labels() -> None:
    problem = logistic()
    ours = stagewise(problem, StepRules(likelihood="linear"))
    same = stagewise(problem.replace(loss="squared"), StepRules())
    np.testing.assert_array_equal(ours.w, same.w)


@given(st.data(), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_the_lookup_finds_the_largest(data: st.DataObject, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lookup = DerivativeLookup(rng.exponential(size=p) ** 3 * data.draw(st.sampled_from([0.0, 1.0])))
    lookup.A[:] = rng.normal(size=p)
    lookup.reset(rng.normal())
    for _ in range(20):
        action = rng.integers(3)
        if action == 0:
            positions = rng.permutation(p)[: rng.integers(1, p + 1)].astype(np.int32)
            lookup.add_entries(positions, rng.normal(size=len(positions)), rng.normal())
        elif action == 1:
            lookup.offset += rng.normal()
        else:
            lookup.apply_offset()
        size = np.abs(lookup.A + lookup.offset * lookup.B)
        equal = np.flatnonzero(size >= size.max() * (1 - TIE))
        assert lookup.largest(0.0)[0] == lookup.order[equal].min()
        assert abs(lookup.largest(0.0)[1]) == pytest.approx(size.max())
        near = np.flatnonzero(size >= size.max() * (1 - TIE) - 0.01)
        assert lookup.largest(0.01)[0] == lookup.order[near].min()
        slack = rng.exponential() * size.max()
        near = np.flatnonzero(size >= size.max() * (1 - TIE) - slack)
        np.testing.assert_array_equal(np.sort(lookup.near(slack)), near)
    assert len(lookup.top) == -(-p // 2**SHIFT)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_ties_are_relative(size: float) -> None:
    lookup = DerivativeLookup(np.zeros(4))
    lookup.A[:] = size * np.array([1.0 - 0.5 * TIE, 1.0, 1.0 - 2.0 * TIE, 0.5])
    lookup.reset(0.0)
    assert np.sort(lookup.near(0.0)).tolist() == [0, 1]


def test_dropped_gram_columns_are_computed_again() -> None:
    problem = linear()
    rules = {"epsilon": 0.05, "steps": 300}
    large_cache = stagewise(problem, StepRules(**rules))
    small_cache = stagewise(problem, StepRules(**rules, cache=0.02))
    chosen = len(set(large_cache.report.path.features.tolist()))
    assert large_cache.report.gram.computed == large_cache.report.gram.stored == chosen
    assert small_cache.report.gram.computed > chosen
    assert small_cache.report.gram.bytes <= 20_000
    np.testing.assert_array_equal(small_cache.w, large_cache.w)


@pytest.mark.parametrize("make", [linear, logistic])
def test_errors_on_the_path_are_those_of_its_models(make: Any) -> None:
    X = numbers(9)
    y = responses(X) if make is linear else labels(X)
    problem = make(sample_weight=weights(80), validation=(csr_array(X), y))
    solution = stagewise(problem, StepRules(epsilon=0.02, every=30, steps=200))
    path = solution.report.path
    assert path.checks.tolist() == [0, 30, 60, 90, 120, 150, 180, 200]
    c = problem.sample_weight / problem.sample_weight.sum()
    for at, step in enumerate(path.checks):
        w, b = path.weights(int(step)), path.intercepts[at]
        z, held = problem.X @ w + b, X @ w + b
        if make is linear:
            errors = (problem.y - z) ** 2, (y - held) ** 2
        else:
            errors = np.logaddexp(0, -problem.y * z), np.logaddexp(0, -y * held)
        assert path.train_error[at] == pytest.approx(c @ errors[0])
        assert path.validation_error[at] == pytest.approx(errors[1].mean())
        assert path.nonzero[at] == np.count_nonzero(w)
    best = int(np.argmin(path.validation_error))
    assert solution.report.best_step == path.checks[best]
    assert [step.iteration for step in solution.history] == path.checks.tolist()
    np.testing.assert_array_equal(solution.w, path.weights(int(path.checks[best])))
    assert solution.b == path.intercepts[best]


def test_the_intercept_is_the_best_one() -> None:
    problem = logistic(sample_weight=weights(80))
    rules = StepRules(epsilon=0.05, every=30, steps=100)  # ends between two checks
    solution = stagewise(problem, rules)
    z = problem.X @ solution.w

    def loss(b: float) -> float:
        return float(problem.sample_weight @ np.logaddexp(0, -problem.y * (z + b)))

    assert loss(solution.b) <= minimize_scalar(loss).fun * (1 + 1e-12)
    assert solution.objective == pytest.approx(loss(solution.b))
    squares = stagewise(linear(sample_weight=weights(80)), rules)
    rest = linear().y - linear().X @ squares.w - squares.b
    assert weights(80) @ rest == pytest.approx(0.0, abs=1e-9)
    assert squares.objective == pytest.approx(0.5 * weights(80) @ rest**2)


def orthogonal() -> tuple[Any, Any]:
    """Eight centered columns at right angles, and what least squares makes of them."""
    H = np.array([[1.0]])
    for _ in range(4):
        H = np.block([[H, H], [H, -H]])
    X = H[:, 1:9]
    return X, np.array([2.0, -1.5, 1.0, 0.7, -0.4, 0.2, 0.05, 0.0])


@pytest.mark.parametrize("threshold", [0.75, 0.3, 0.1])
def test_orthogonal_columns_give_the_lasso(threshold: float) -> None:
    X, best = orthogonal()
    rules = StepRules(epsilon=0.001, threshold=threshold, steps=10**6)
    solution = stagewise(Problem(X, X @ best + 5.0, loss="squared"), rules)
    assert solution.report.stopped == "threshold"
    soft = np.sign(best) * np.maximum(np.abs(best) - threshold * 2.0, 0.0)
    np.testing.assert_allclose(solution.w, soft, atol=0.0015)
    assert solution.b == pytest.approx(5.0)
    assert solution.report.largest <= threshold


def test_a_loop_of_two_stops() -> None:
    X, best = orthogonal()
    solution = stagewise(Problem(X, X @ best, loss="squared"), StepRules(epsilon=0.03))
    assert solution.report.stopped == "loop"
    assert solution.converged
    np.testing.assert_allclose(solution.w, best, atol=0.03)
    sampled = StepRules(epsilon=0.03, sample=2, seed=1, steps=5000)
    random = stagewise(Problem(X, X @ best, loss="squared"), sampled)
    assert random.report.stopped == "loop"  # only after a look at all of them
    np.testing.assert_allclose(random.w, best, atol=0.03)


def test_as_many_steps_back_give_exactly_zero() -> None:
    x = np.array([[1.0], [-1.0]])
    walk = stagewise(Problem(x, np.array([0.7, -0.7]), loss="squared"), StepRules(epsilon=0.1))
    assert walk.w[0] == pytest.approx(0.7, abs=0.1)
    path = walk.report.path
    there_and_back = np.concatenate([path.sizes[:3], -path.sizes[:3]])
    back = replace(path, features=np.zeros(6, dtype=np.int32), sizes=there_and_back)
    assert back.weights(6)[0] == 0.0


@pytest.mark.parametrize("make", [linear, logistic])
def test_the_run_stops_at_a_number_of_features(make: Any) -> None:
    solution = stagewise(make(), StepRules(epsilon=0.05, features=7))
    assert (solution.nonzero, solution.report.stopped, solution.converged) == (7, "features", True)
    assert np.isnan(solution.gap)


def test_the_run_stops_at_a_number_of_steps() -> None:
    solution = stagewise(logistic(), StepRules(epsilon=0.05, steps=33))
    assert (solution.iterations, solution.report.stopped, solution.converged) == (
        33,
        "steps",
        True,
    )


def test_patience_stops_the_run() -> None:
    noise = np.random.default_rng(3).choice([-1.0, 1.0], 80)
    problem = logistic(validation=(numbers(7), noise))
    rules = StepRules(epsilon=0.1, every=10, patience=50)
    solution = stagewise(problem, rules)
    assert solution.report.stopped == "patience"
    assert solution.report.steps == solution.report.best_step + 50
    whole = stagewise(problem, StepRules(epsilon=0.1, every=10))
    assert whole.report.steps > solution.report.steps


def test_patience_needs_held_out_documents() -> None:
    with pytest.raises(UsageError, match="patience needs held-out documents"):
        stagewise(logistic(), StepRules(patience=50))


@pytest.mark.parametrize("seed", [0, 4])
def test_patience_holds_out_a_tenth_and_then_runs_on_all(seed: int) -> None:
    rng = np.random.default_rng(7)
    X = numbers(n=200)
    problem = Problem(csr_array(X), labels(X), rng.integers(0, 3, 200).astype(float))
    reg = registry.create("regularizer", "stagewise", patience=50, steps=1000, every=10, seed=seed)
    solution = reg.solve(problem)
    assert (solution.report.stopped, solution.converged) == ("patience", True)
    whole = reg.replace(patience=None, steps=solution.iterations).solve(problem)
    np.testing.assert_array_equal(solution.w, whole.w)
    assert 0 < solution.iterations < 1000

    train, held = reg._split(problem)
    assert len(held) == -(-np.count_nonzero(problem.sample_weight) // 10)
    both = np.sort(np.r_[train, held])
    np.testing.assert_array_equal(both, np.flatnonzero(problem.sample_weight))
    assert set(problem.y[held]) == {-1.0, 1.0}
    separate = reg.solve(
        Problem(
            X[train],
            problem.y[train],
            problem.sample_weight[train],
            validation=(X[held], problem.y[held]),
        )
    )
    assert separate.report.best_step == solution.iterations


def test_patience_applies_to_each_candidate_and_to_callbacks() -> None:
    reg = registry.create("regularizer", "stagewise", patience=30, every=10)
    parts = [reg.replace(steps=steps) for steps in (20, 1000)]
    for part, solution in reg.path(logistic(), parts):
        np.testing.assert_array_equal(solution.w, part.solve(logistic()).w)
        assert solution.iterations <= part.steps
    stopped = parts[0].solve(logistic(callback=lambda step: step.iteration == 10))
    assert (stopped.report.stopped, stopped.converged) == ("callback", False)
    with pytest.raises(DataError, match="at least two documents"):
        parts[0].solve(logistic(sample_weight=np.eye(80)[0]))


@pytest.mark.parametrize(
    ("changes", "options", "epsilon"),
    [
        ({}, {}, 0.1),
        ({"loss": "squared"}, {}, 0.025),
        ({"loss": "squared-hinge"}, {}, 0.0125),
        ({}, {"likelihood": "linear"}, 0.025),
        ({}, {"likelihood": "exponential", "scaled": False}, 0.1),
        ({"loss": "squared"}, {"epsilon": 0.3}, 0.3),
    ],
)
def test_the_default_epsilon_depends_on_the_curvature(
    changes: dict[str, Any], options: dict[str, Any], epsilon: float
) -> None:
    reg = registry.create("regularizer", "stagewise", steps=20, **options)
    path = reg.solve(logistic(**changes)).report.path
    assert path.epsilon == pytest.approx(epsilon)


def test_steps_must_be_decided() -> None:
    with pytest.raises(UsageError, match="stagewise: steps not chosen yet"):
        registry.create("regularizer", "stagewise").solve(logistic())


def test_the_callback_gets_every_check_and_can_stop() -> None:
    steps: list[Step] = []

    def third(step: Step) -> bool:
        steps.append(step)
        return len(steps) == 3

    solution = stagewise(logistic(callback=third), StepRules(epsilon=0.05, every=10))
    assert [step.iteration for step in steps] == [0, 10, 20]
    assert (solution.iterations, solution.report.stopped) == (20, "callback")
    assert not solution.converged
    assert np.count_nonzero(solution.w) > 0


def test_max_iter_is_ignored() -> None:
    solution = stagewise(logistic(max_iter=1), StepRules(epsilon=0.05, every=1, steps=40))
    assert (solution.iterations, solution.report.stopped) == (40, "steps")
    assert solution.converged


@pytest.mark.parametrize("options", [{}, {"sample": 30}], ids=["all", "random"])
def test_results_repeat(options: dict[str, Any]) -> None:
    how = {"epsilon": 0.05, "steps": 500, **options}
    first, second = (stagewise(logistic(), StepRules(**how)) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    other = stagewise(logistic(), StepRules(**{**how, "seed": 8}))
    assert np.array_equal(first.w, other.w) == (not options)


@pytest.mark.parametrize("likelihood", ["loss", "linear"])
def test_a_weight_of_two_is_a_document_twice(likelihood: str) -> None:
    problem = logistic()
    c = np.random.default_rng(2).integers(0, 3, 80).astype(float)
    rows = np.repeat(np.arange(80), c.astype(int))
    rules = StepRules(likelihood=likelihood, epsilon=0.05, steps=200, every=20)
    weighted = stagewise(problem.replace(sample_weight=c), rules)
    repeated = stagewise(Problem(problem.X[rows], problem.y[rows]), rules)
    np.testing.assert_allclose(weighted.w, repeated.w, rtol=1e-9, atol=1e-12)
    assert weighted.b == pytest.approx(repeated.b, rel=1e-6)


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
def test_the_order_of_documents_does_not_matter_even_with_ties(likelihood: str) -> None:
    rng = np.random.default_rng(4)
    X = (rng.random((60, 200)) < 0.05).astype(float)  # words of one document: equal columns
    y = rng.choice([-1.0, 1.0], 60)
    order = rng.permutation(60)
    rules = StepRules(likelihood=likelihood, epsilon=0.05, steps=300, every=20)
    ours = stagewise(Problem(csr_array(X), y), rules)
    other = stagewise(Problem(csr_array(X[order]), y[order]), rules)
    np.testing.assert_allclose(ours.w, other.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [linear, logistic])
def test_weights_are_in_the_units_of_the_features(make: Any) -> None:
    problem, rules = make(), StepRules(epsilon=0.05, steps=200)
    factor = np.random.default_rng(6).uniform(0.1, 10.0, 300)
    ours = stagewise(problem, rules)
    other = stagewise(problem.replace(X=csr_array(problem.X.toarray() * factor)), rules)
    np.testing.assert_allclose(other.w * factor, ours.w, rtol=1e-8, atol=1e-12)
    assert other.b == pytest.approx(ours.b)
    raw = StepRules(epsilon=0.05, steps=1, standardize=False)
    assert np.abs(stagewise(problem, raw).w).max() == 0.05


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_constant_columns_are_never_selected(likelihood: str, fit_intercept: bool) -> None:
    X = numbers(p=20)
    X[:, 3], X[:, 7] = 0.0, 0.3
    problem = Problem(csr_array(X), labels(X), fit_intercept=fit_intercept)
    solution = stagewise(problem, StepRules(likelihood=likelihood, epsilon=0.02))
    assert solution.w[3] == 0.0
    assert (solution.w[7] == 0.0) == (fit_intercept or likelihood == "exponential")


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
def test_no_feature_no_step(likelihood: str) -> None:
    problem = Problem(csr_array((4, 0)), np.array([1.0, 1.0, 1.0, -1.0]))
    solution = stagewise(problem, StepRules(likelihood=likelihood))
    assert (len(solution.w), solution.iterations, solution.report.stopped) == (0, 0, "threshold")
    expected = 0.5 if likelihood == "linear" else np.log(3.0)
    assert solution.b == pytest.approx(expected)


def test_a_constant_target_needs_no_step() -> None:
    solution = stagewise(linear(y=np.full(80, 0.1)), StepRules())
    assert (solution.iterations, solution.report.stopped) == (0, "threshold")
    assert solution.b == pytest.approx(0.1)


def test_exponentials_do_not_overflow() -> None:
    X = np.zeros((200, 3))
    X[0, 0], X[:100, 1], X[5:9, 2] = 5.0, 1.0, 2.0
    y = np.where(np.arange(200) < 50, 1.0, -1.0)
    rules = StepRules(likelihood="exponential", epsilon=50.0, steps=40, every=50)
    solution = stagewise(Problem(csr_array(X), y), rules)
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.objective)
    assert solution.iterations > 0


@pytest.mark.parametrize("lookup", ["random", "queue"])
def test_exponentials_do_not_vanish(lookup: str) -> None:
    X = np.abs(numbers(n=20, p=30)) + 1.0  # scores can fall everywhere
    W = np.ones(20)
    W[3], X[3] = 0.0, -1e4  # and rise where there is no weight
    rules = StepRules(
        likelihood="exponential", epsilon=300.0, standardize=False, steps=60, lookup=lookup
    )
    solution = stagewise(Problem(csr_array(X), labels(X), W), rules)
    assert np.isfinite(solution.objective)
    assert solution.iterations > 0
    reg = registry.create("regularizer", "stagewise", likelihood="exponential", scaled=False)
    problem = Problem(csr_array(X), labels(X), W)
    assert reg.objective(problem, solution.w, 0.0) == pytest.approx(solution.objective)


def test_the_residual_may_vanish() -> None:
    """Scaled steps of one residual each: what is left is no rounding of what was."""
    X = np.random.default_rng(430).normal(size=(5, 224))
    y = np.random.default_rng(431).normal(size=5)
    rules = StepRules(epsilon=1.0, scaled=True, steps=12)
    problem = Problem(csr_array(X), y, loss="squared")
    run = StagewiseRun(problem, rules)
    for steps in range(1, 13):
        run.advance(steps)
        rest = y - X @ run.w
        size = np.sqrt(np.mean((rest - rest.mean()) ** 2))
        assert run._state.residual_size == pytest.approx(size, rel=1e-6)


def test_sparse_columns_stay_sparse() -> None:
    X = random_matrix((2000, 50_000), 2e-4, np.random.default_rng(0))
    y = np.where(np.arange(2000) % 3 == 0, 1.0, -1.0)
    for likelihood in ("loss", "linear", "exponential"):
        problem = Problem(X, y)
        tracemalloc.start()
        stagewise(problem, StepRules(likelihood=likelihood, steps=200))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2000 * 50_000 * 8 / 50


def test_one_run_gives_all_candidates() -> None:
    regularizer = registry.create("regularizer", "stagewise", every=60, steps=600)
    problem = logistic()
    for part, solution in regularizer.path(problem):
        separate = part.solve(problem)
        np.testing.assert_array_equal(solution.w, separate.w)
        assert (solution.b, solution.objective) == (separate.b, separate.objective)
        assert solution.iterations == separate.iterations <= part.steps
    parts = [regularizer.replace(steps=steps) for steps in (200, 100)]
    solution = dict(regularizer.path(problem, parts))
    assert [solution.iterations for solution in solution.values()] == [200, 100]


def test_the_end_of_a_run_is_the_end_for_all_candidates() -> None:
    rules = StepRules(epsilon=0.05, features=5)
    solutions = list(stagewise_path(logistic(), rules, [2, 900, 1000]))
    assert [solution.report.stopped for solution in solutions] == ["steps", "features", "features"]
    np.testing.assert_array_equal(solutions[1].w, solutions[2].w)


def test_a_start_is_ignored() -> None:
    problem, rules = logistic(), StepRules(epsilon=0.05, steps=50)
    there = stagewise(problem.replace(start=(np.ones(300), 2.0)), rules)
    np.testing.assert_array_equal(there.w, stagewise(problem, rules).w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "poisson"}, "likelihood must be"),
        ({"likelihood": "exponential", "scaled": True}, "no residuals"),
        ({"epsilon": 0.0}, "above 0"),
        ({"every": 0}, "at least 1"),
        ({"threshold": 1.5}, "relative=False"),
        ({"lookup": "stack"}, "lookup must be random or queue"),
        ({"keep_best": True}, "say how many to draw with sample"),
    ],
)
def test_wrong_rules(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        StepRules(**options)


def test_wrong_data() -> None:
    with pytest.raises(DataError, match="validation has X of the shape"):
        stagewise(logistic(validation=(np.ones((3, 299)), np.ones(3))), StepRules())
    held = numbers(7), -np.ones(80)
    with pytest.raises(DataError, match="no document with y > 0"):
        stagewise(logistic(validation=held), StepRules(likelihood="exponential"))
    with pytest.raises(DataError, match="none has a weight"):
        stagewise(logistic(y=-np.ones(80)), StepRules(likelihood="exponential"))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"reg_steps": 800}, id="logistic", marks=pytest.mark.thorough),
        pytest.param({"reg_likelihood": "linear", "reg_steps": 200}, id="linear"),
        pytest.param(
            {"reg_likelihood": "exponential", "reg_scaled": False, "reg_epsilon": 0.03},
            id="exponential",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_good_classifier_of_real_text(data_dir: Path, options: dict[str, Any]) -> None:
    folder = data_dir / "data" / "tasks" / "science"
    train, dev = (read_corpus([str(folder / f"{part}.jsonl.gz")]) for part in ("train", "dev"))
    assert train.labels is not None
    model = textreg.train(train.texts[:600], train.labels[:600], reg="stagewise", **options)
    right = np.mean(np.array(model.predict(dev.texts)) == np.array(dev.labels))
    assert right > 0.95
    assert 50 < model.summary.nonzero < 600


def test_contradicting_parameters_are_refused_when_they_are_set() -> None:
    with pytest.raises(UsageError, match="scaled=False"):
        registry.create("regularizer", "stagewise", likelihood="exponential")


@pytest.mark.parametrize("likelihood", ["linear", "loss"])
def test_the_objective_is_that_of_the_likelihood(likelihood: str) -> None:
    X = numbers(n=30, p=10)
    y, c, w, b = labels(X), weights(30), np.linspace(-1.0, 2.0, 10), -0.7
    part = registry.create("regularizer", "stagewise", likelihood=likelihood)
    z = X @ w + b
    of_documents = (z - y) ** 2 / 2.0 if likelihood == "linear" else np.logaddexp(0.0, -y * z)
    found = part.objective(Problem(X, y, sample_weight=c), w, b)
    assert found == pytest.approx(float(c @ of_documents))


def test_one_feature_may_be_all() -> None:
    X = numbers(n=30, p=10)
    part = registry.create("regularizer", "stagewise", steps=50, features=1)
    assert np.count_nonzero(part.solve(Problem(X, labels(X))).w) == 1
