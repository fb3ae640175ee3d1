"""The engine by what must hold whatever the data: lasso, ridge, elastic and none."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from thoroughness import draws

from textreg.builtin.separable import Elastic, Lasso, NoRegularizer, Ridge
from textreg.errors import ConvergenceWarning
from textreg.kinds import Regularizer
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.newton import newton, newtons

PENALIZED = [Lasso(l1=0.7), Ridge(l2=0.3), Elastic(l1=0.4, l2=0.2)]
ALL = [*PENALIZED, NoRegularizer()]
TIGHT = 1e-9
SEED = st.integers(0, 2**32 - 1)


def name(reg: Regularizer) -> str:
    return reg.name


def counts(rng: np.random.Generator, n: int, p: int) -> Floats:
    """Documents as rows of word counts, most of them 0; some words are in no document."""
    common = rng.random(p) ** 2 * (rng.random(p) < 0.9)
    return rng.poisson(common, (n, p)).astype(np.float64)


def problem(seed: int = 0, n: int = 40, p: int = 25, **options: Any) -> Problem:
    """Documents whose labels hang on some of the words, and on chance."""
    rng = np.random.default_rng(seed)
    X = counts(rng, n, p) * np.linspace(1.0, 1.2, p)  # equal columns could share a weight anyhow
    chance = 1.0 / (1.0 + np.exp(-(X @ rng.normal(size=p)) + 0.5))
    y = np.where(rng.random(n) < chance, 1.0, -1.0)
    y[:2] = [-1.0, 1.0]
    options.setdefault("sample_weight", rng.choice([0.5, 1.0, 2.0], n))
    return Problem(X, y, **{"tol": TIGHT, **options})


def penalty(reg: Regularizer) -> Separable:
    return Separable.constant(25, **reg.params())


def same(one: Solution, other: Solution, **tolerance: float) -> None:
    """Whether the two are one optimum."""
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(one.w, other.w, **{"atol": 2e-4, **tolerance})
    assert one.b == pytest.approx(other.b, abs=5e-4)


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(30)
@given(seed=SEED, intercept=st.booleans())
def test_optimality_conditions(reg: Regularizer, seed: int, intercept: bool) -> None:
    given_problem = problem(seed, fit_intercept=intercept)
    solution = reg.solve(given_problem)
    assert solution.converged
    X, y, c = given_problem.X.toarray(), given_problem.y, given_problem.sample_weight
    r = -c * y / (1.0 + np.exp(y * (X @ solution.w + solution.b)))
    strengths = reg.params()
    pull = X.T @ r + 2.0 * strengths.get("l2", 0.0) * solution.w
    l1 = strengths.get("l1", 0.0)
    assert (np.abs(pull) <= l1 + 1e-3).all()
    used = solution.w != 0.0
    np.testing.assert_allclose(pull[used], -l1 * np.sign(solution.w[used]), atol=1e-3)
    if intercept:
        assert r.sum() == pytest.approx(0.0, abs=1e-6)
    else:
        assert solution.b == 0.0
    assert solution.residual <= 1e-3


@pytest.mark.parametrize("intercept", [True, False])
def test_smooth_optimum_is_that_of_another_solver(intercept: bool) -> None:
    given_problem = problem(fit_intercept=intercept)
    X, y, c = given_problem.X.toarray(), given_problem.y, given_problem.sample_weight

    def objective(v: Floats) -> float:
        z = X @ v[:-1] + intercept * v[-1]
        return float(c @ np.logaddexp(0.0, -y * z) + 0.3 * (v[:-1] @ v[:-1]))

    least = minimize(objective, np.zeros(26), method="L-BFGS-B", options={"ftol": 1e-15}).fun
    assert Ridge(l2=0.3).solve(given_problem).objective == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(20)
@given(seed=SEED)
def test_weight_two_is_a_document_given_twice(reg: Regularizer, seed: int) -> None:
    once = problem(seed, sample_weight=np.where(np.arange(40) < 13, 2.0, 1.0))
    rows = np.r_[0:40, 0:13]
    twice = once.replace(X=once.X[rows], y=once.y[rows], sample_weight=np.ones(53))
    same(reg.solve(once), reg.solve(twice))


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(20)
@given(seed=SEED)
def test_order_of_documents_and_of_features_is_nothing(reg: Regularizer, seed: int) -> None:
    given_problem = problem(seed)
    rng = np.random.default_rng(seed)
    rows, features = rng.permutation(40), rng.permutation(25)
    shuffled = given_problem.replace(
        X=given_problem.X[rows][:, features],
        y=given_problem.y[rows],
        sample_weight=given_problem.sample_weight[rows],
    )
    expected, found = reg.solve(given_problem), reg.solve(shuffled)
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)
    assert isinstance(reg, Lasso) or np.allclose(found.w, expected.w[features], atol=2e-4)


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(20)
@given(seed=SEED)
def test_documents_of_no_weight_are_nothing(reg: Regularizer, seed: int) -> None:
    given_problem = problem(seed)
    keep = np.arange(40) % 3 != 2
    without = given_problem.replace(
        X=given_problem.X[keep],
        y=given_problem.y[keep],
        sample_weight=given_problem.sample_weight[keep],
    )
    muted = given_problem.replace(sample_weight=np.where(keep, given_problem.sample_weight, 0.0))
    same(reg.solve(muted), reg.solve(without))


@draws(20)
@given(seed=SEED)
def test_elastic_without_a_ridge_is_the_lasso(seed: int) -> None:
    given_problem = problem(seed)
    same(Elastic(l1=0.7, l2=0.0).solve(given_problem), Lasso(l1=0.7).solve(given_problem))
    same(Elastic(l1=0.0, l2=0.3).solve(given_problem), Ridge(l2=0.3).solve(given_problem))


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(20)
@given(seed=SEED)
@example(seed=69)  # the first step on the intercept overshoots to -216, where the loss is flat
def test_every_start_ends_at_the_same_optimum(reg: Regularizer, seed: int) -> None:
    given_problem = problem(seed)
    start = (np.random.default_rng(seed).normal(size=25), 3.0)
    same(reg.solve(given_problem.replace(start=start)), reg.solve(given_problem))


def test_a_start_at_the_optimum_takes_no_step() -> None:
    given_problem = problem(tol=1e-6)
    first = Lasso(l1=0.7).solve(given_problem)
    again = Lasso(l1=0.7).solve(given_problem.replace(start=(first.w, first.b)))
    assert again.iterations == 0
    assert again.converged


def test_the_start_stays_as_it_was() -> None:
    start = np.ones(25)
    Lasso(l1=0.7).solve(problem(start=(start, 1.0)))
    np.testing.assert_array_equal(start, np.ones(25))


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
@draws(20)
@given(seed=SEED)
def test_gap_is_a_proof_at_every_step(reg: Regularizer, seed: int) -> None:
    given_problem = problem(seed)
    solution = reg.solve(given_problem)
    for step in solution.history:
        assert step.gap >= 0.0
        assert step.objective * (1.0 - step.gap) <= solution.objective * (1.0 + 1e-12)
    fell = np.diff([step.objective for step in solution.history])
    assert (fell <= 1e-12 * solution.objective).all()


@pytest.mark.parametrize("reg", [Lasso(l1=1e9), Elastic(l1=1e9, l2=1.0)], ids=name)
def test_a_large_strength_empties_the_model(reg: Regularizer) -> None:
    given_problem = problem()
    solution = reg.solve(given_problem)
    assert solution.nonzero == 0
    up = given_problem.sample_weight[given_problem.y > 0].sum()
    assert solution.b == pytest.approx(math.log(up / (given_problem.sample_weight.sum() - up)))


@draws(20)
@given(seed=SEED, intercept=st.booleans())
def test_the_largest_gradient_is_the_smallest_strength_that_empties(
    seed: int, intercept: bool
) -> None:
    given_problem = problem(seed, fit_intercept=intercept)
    edge = given_problem.largest_gradient_at_zero()
    assert Lasso(l1=edge * 1.001).solve(given_problem).nonzero == 0
    assert Lasso(l1=edge * 0.999).solve(given_problem).nonzero > 0


def test_intercept_at_zero_without_one_of_the_labels() -> None:
    assert Problem(np.eye(2), np.array([1.0, 1.0])).intercept_at_zero() == 0.0


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
def test_dense_and_unsorted_input_are_the_same(reg: Regularizer) -> None:
    dense = problem().X.toarray()
    sparse = csr_array(dense)
    for i in range(40):
        row = slice(sparse.indptr[i], sparse.indptr[i + 1])
        sparse.indices[row], sparse.data[row] = sparse.indices[row][::-1], sparse.data[row][::-1]
    sparse = csr_array((sparse.data, sparse.indices, sparse.indptr), shape=dense.shape)
    y = problem().y
    same(reg.solve(Problem(dense, y, tol=TIGHT)), reg.solve(Problem(sparse, y, tol=TIGHT)))


@pytest.mark.parametrize("reg", ALL, ids=name)
def test_a_column_without_entries_keeps_no_weight(reg: Regularizer) -> None:
    X = np.zeros((4, 3))
    X[:, 1] = [1, 2, 0, 1]
    solution = reg.solve(Problem(X, np.array([1.0, -1.0, -1.0, 1.0])))
    assert solution.w[0] == solution.w[2] == 0.0


@pytest.mark.parametrize("reg", ALL, ids=name)
def test_documents_without_words(reg: Regularizer) -> None:
    solution = reg.solve(Problem(np.zeros((3, 2)), np.array([1.0, 1.0, -1.0])))
    assert solution.converged
    assert solution.nonzero == 0
    assert solution.b == pytest.approx(math.log(2.0))


@pytest.mark.parametrize("seed", [5, 9, 10, 12, 18])
def test_weights_whose_documents_have_no_curvature_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(20, 4)) * (rng.random((20, 4)) < 0.5).astype(float)
    y = np.where(X @ [1.0, -1.0, 0.5, -0.5] + rng.normal(size=20) > 0, 1.0, -1.0)
    problem = Problem(X, y, loss="hinge", tol=1e-6)
    for share in (0.3, 0.1, 0.03):
        assert Lasso(l1=share * problem.largest_gradient_at_zero()).solve(problem).converged


@pytest.mark.parametrize("reg", ALL, ids=name)
def test_no_feature_at_all(reg: Regularizer) -> None:
    solution = reg.solve(Problem(np.zeros((3, 0)), np.array([1.0, 1.0, -1.0])))
    assert solution.converged
    assert solution.b == pytest.approx(math.log(2.0))


def test_one_feature() -> None:
    X, y = np.array([[1.0], [2.0], [0.0], [1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    solution = Lasso(l1=0.2).solve(Problem(X, y, tol=TIGHT))
    w, b = float(solution.w[0]), solution.b

    def objective(w: float, b: float) -> float:
        return float(np.logaddexp(0.0, -y * (X[:, 0] * w + b)).sum()) + 0.2 * abs(w)

    for step in (1e-3, -1e-3):
        assert objective(w, b) < min(objective(w + step, b), objective(w, b + step))


def test_callback_sees_every_step_and_may_stop() -> None:
    seen: list[Step] = []
    Lasso(l1=0.05).solve(problem(callback=seen.append))
    numbers = [step.iteration for step in seen]
    assert numbers == sorted(set(numbers))
    assert len(seen) > 3
    stopped = Lasso(l1=0.05).solve(problem(callback=lambda step: step == seen[2]))
    assert stopped.iterations == numbers[2]
    assert not stopped.converged
    assert stopped.history == tuple(seen[:3])


def test_too_few_steps_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 2 Newton steps at a relative gap"):
        solution = Lasso(l1=0.05).solve(problem(max_iter=2))
    assert not solution.converged
    assert solution.gap > TIGHT


def test_a_tolerance_beyond_floating_point_ends() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = Lasso(l1=0.05).solve(problem(tol=1e-300))
    assert solution.iterations < 100
    assert solution.gap < 1e-10


def test_no_penalty_finds_the_maximum_of_the_likelihood() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    given_problem = Problem(X, y, tol=1e-8)
    solution = NoRegularizer().solve(given_problem)
    assert solution.converged
    assert math.isnan(solution.gap)
    r = -y / (1.0 + np.exp(y * (X @ solution.w + solution.b)))
    np.testing.assert_allclose(np.r_[X.T @ r, r.sum()], 0.0, atol=1e-5)


@pytest.mark.parametrize("n", [2, 40])
def test_no_penalty_on_separable_documents_ends(n: int) -> None:
    rng = np.random.default_rng(1)
    X = counts(rng, n, 200)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, 0] = y > 0
    solution = NoRegularizer().solve(Problem(X, y))
    assert solution.converged
    assert np.isfinite(solution.w).all()
    assert (np.sign(X @ solution.w + solution.b) == y).all()


def test_no_penalty_parts_documents_by_the_widest_margin() -> None:
    """Of all directions in which the loss vanishes it takes that of a support vector machine."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(2)
    X = counts(rng, 30, 200)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    solution = NoRegularizer().solve(Problem(X, y, tol=1e-8))
    machine = SVC(kernel="linear", C=1e6).fit(np.asarray(X), y)
    widest = machine.coef_.ravel() / np.linalg.norm(machine.coef_)
    assert widest @ solution.w / np.linalg.norm(solution.w) > 0.98


def test_one_label_alone_goes_on_to_the_limit_and_says_so() -> None:
    given_problem = Problem(np.eye(3), np.ones(3), max_iter=5)
    with pytest.warns(ConvergenceWarning):
        solution = Lasso(l1=0.1).solve(given_problem)
    assert solution.nonzero == 0
    assert solution.gap == pytest.approx(1.0)


def test_strengths_may_differ_by_feature() -> None:
    given_problem = problem()
    lam = np.where(np.arange(25) < 12, 0.05, 1e9)
    q = np.where(np.arange(25) % 2 == 0, 0.5, 0.0)
    solution = newton(given_problem, Separable(q, np.zeros(25), lam))
    assert solution.converged
    assert (solution.w[12:] == 0.0).all()
    assert (solution.w[:12] != 0.0).any()


@pytest.mark.parametrize("reg", PENALIZED, ids=name)
def test_path_is_the_same_as_one_by_one(reg: Regularizer) -> None:
    given_problem = problem()
    for part, solution in type(reg)().path(given_problem):
        assert solution.objective == pytest.approx(part.solve(given_problem).objective, rel=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared-hinge"])
@pytest.mark.parametrize("reg", [Lasso(l1=0.7), Elastic(l1=0.4, l2=0.2)], ids=name)
@pytest.mark.parametrize("near", [0.2, 5.0])
def test_any_start_leads_to_the_same_optimum(reg: Regularizer, loss: str, near: float) -> None:
    posed = problem(5, loss=loss)
    from_zero = reg.solve(posed)
    rng = np.random.default_rng(6)
    start = from_zero.w * (1.0 + near * rng.normal(size=len(from_zero.w))), from_zero.b
    found = reg.solve(posed.replace(start=start))
    assert found.converged
    assert found.gap <= TIGHT
    same(found, from_zero)
    assert found.residual < 1e-3
    assert [step.gap for step in found.history][-1] == found.gap


def test_labels_do_not_depend_on_company() -> None:
    first = problem(7, tol=1e-5)
    posed = [first, *(first.replace(y=problem(seed, tol=1e-5).y) for seed in (8, 9))]
    penalty = Separable.constant(25, l1=0.4, l2=0.2)
    together = newtons(posed, penalty)
    for label, found in zip(posed, together, strict=True):
        (alone,) = newtons([label], penalty)
        np.testing.assert_array_equal(alone.w, found.w)
        assert (alone.b, alone.gap, alone.iterations) == (found.b, found.gap, found.iterations)


def test_fits_stop_when_told() -> None:
    seen: list[Step] = []
    stopped = Lasso(l1=0.7).solve(problem(5, callback=lambda step: not seen.append(step)))
    assert not stopped.converged
    assert len(seen) == 1
    assert stopped.history[:1] == tuple(seen)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 Newton steps"):
        Lasso(l1=0.7).solve(problem(5, max_iter=1))
