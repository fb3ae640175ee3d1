"""The sentence regularizer: two solvers, one optimum, and a bound that is never above it."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from thoroughness import draws

from textreg.builtin.groups import Sentence
from textreg.builtin.separable import Elastic, Lasso
from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem, Solution, Step
from textreg.solvers import admm as admm_module
from textreg.solvers.admm import admm

SOLVERS = ("majorize", "admm")


def ragged(sets: list[list[int]], p: int, weights: list[float] | None = None) -> Groups:
    """Groups from lists of features."""
    sets = [sorted(set(features)) for features in sets]
    return Groups(
        indptr=np.cumsum([0, *map(len, sets)]).astype(np.int64),
        indices=np.array([j for features in sets for j in features], dtype=np.int32),
        weights=np.ones(len(sets)) if weights is None else np.array(weights, dtype=np.float64),
        n_features=p,
    )


def text_like(seed: int, n: int = 60, p: int = 40, per_document: int = 3) -> Problem:
    """Documents of a few sentences, one group for each; some words mean something."""
    random = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, p + 1)
    chances /= chances.sum()
    X, sentences = np.zeros((n, p)), []
    for document in range(n):
        for _ in range(per_document):
            words = random.choice(p, size=random.integers(1, 7), p=chances)
            np.add.at(X[document], words, 1.0)
            sentences.append(words.tolist())
    meaning = random.normal(size=p) * (random.random(p) < 0.3)
    y = np.where(X @ meaning + 0.3 * random.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Problem(X=csr_array(X), y=y, groups=ragged(sentences, p), tol=1e-7, max_iter=5000)


def objective(problem: Problem, reg: Sentence, w: NDArray[np.float64], b: float) -> float:
    """Loss and penalty, written out as in the paper, over the groups as they were given."""
    groups = problem.groups
    assert groups is not None
    loss = problem.sample_weight @ np.logaddexp(0.0, -problem.y * (problem.X @ w + b))
    norms = [groups.weights[g] * np.linalg.norm(w[groups.members(g)]) for g in range(len(groups))]
    return float(loss + reg.group * sum(norms) + reg.l1 * np.abs(w).sum() + reg.l2 * (w @ w))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("l2", [0.0, 1e-4, 0.1])
@pytest.mark.parametrize(("group", "l1"), [(0.05, 0.1), (0.3, 0.02), (0.01, 0.5), (0.2, 0.0)])
def test_solvers_agree(group: float, l1: float, l2: float) -> None:
    problem = text_like(0)
    regs = [Sentence(group=group, l1=l1, l2=l2, solver=solver) for solver in SOLVERS]
    found = [reg.solve(problem) for reg in regs]
    for reg, solution in zip(regs, found, strict=True):
        assert solution.converged
        assert 0.0 <= solution.gap <= problem.tol
        exact = objective(problem, reg, solution.w, solution.b)
        assert solution.objective == pytest.approx(exact, rel=1e-12)
    assert found[0].objective == pytest.approx(found[1].objective, rel=2e-7)
    np.testing.assert_allclose(found[0].w, found[1].w, atol=5e-3)


@draws(30)
@given(
    seed=st.integers(0, 2**20),
    group=st.sampled_from([0.0, 0.003, 0.05, 0.5]),
    l1=st.sampled_from([0.003, 0.1, 1.0]),
    l2=st.sampled_from([0.0, 0.01]),
    solver=st.sampled_from(SOLVERS),
)
# Without a strength the multipliers are rounding: balancing once took rho to 0 in 1,030 steps.
@example(seed=680, group=0.0, l1=0.003, l2=0.0, solver="admm")
def test_no_bound_is_above_the_optimum(
    seed: int, group: float, l1: float, l2: float, solver: str
) -> None:
    problem = text_like(seed, n=25, p=15)
    reg = Sentence(group=group, l1=l1, l2=l2)
    best = reg.solve(problem).objective
    with warnings.catch_warnings():
        # ADMM may come to its last iteration first; its bounds must hold wherever it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        history = reg.replace(solver=solver).solve(problem).history
    for step in history:
        assert step.objective >= best * (1.0 - problem.tol) - 1e-12
        assert step.objective * (1.0 - step.gap) <= best * (1.0 + 1e-10)


@pytest.mark.parametrize(
    ("seed", "group"),
    [
        (849, 0.0),  # the objective was at its optimum to the last digit, the bound was not
        (146, 0.0),
        (12, 0.5),  # groups that fade away led the extrapolation in circles
    ],
)
def test_a_small_l1_is_solved_to_the_tolerance(seed: int, group: float) -> None:
    problem = text_like(seed, n=25, p=15)
    assert Sentence(group=group, l1=0.003).solve(problem).converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_groups_of_one_are_the_lasso(solver: str) -> None:
    problem = text_like(1)
    p = problem.X.shape[1]
    singles = problem.replace(groups=ragged([[j] for j in range(p)], p))
    reg = Sentence(group=0.2, l1=0.1, solver=solver)
    lasso = Lasso(l1=0.3).solve(problem)
    solution = reg.solve(singles)
    assert solution.objective == pytest.approx(lasso.objective, rel=1e-6)
    np.testing.assert_allclose(solution.w, lasso.w, atol=1e-3)
    assert solution.group_norms is not None
    np.testing.assert_array_equal(solution.group_norms, np.abs(solution.w))


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_group_strength_it_is_elastic(solver: str) -> None:
    problem = text_like(2)
    solution = Sentence(group=0.0, l1=0.1, l2=0.05, solver=solver).solve(problem)
    elastic = Elastic(l1=0.1, l2=0.05).solve(problem)
    assert solution.objective == pytest.approx(elastic.objective, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_groups_are_one_with_the_sum_of_strengths(solver: str) -> None:
    problem = text_like(3)
    p = problem.X.shape[1]
    twice = problem.replace(groups=ragged([[0, 1, 2], [3, 4], [2, 1, 0], [3, 4, 5]], p))
    once = problem.replace(groups=ragged([[0, 1, 2], [3, 4], [3, 4, 5]], p, [2.0, 1.0, 1.0]))
    reg = Sentence(group=0.4, l1=0.05, solver=solver)
    first, second = reg.solve(twice), reg.solve(once)
    np.testing.assert_array_equal(first.w, second.w)
    assert first.group_norms is not None
    assert second.group_norms is not None
    np.testing.assert_array_equal(first.group_norms, second.group_norms[[0, 1, 0, 2]])


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_weight_of_two_repeats_the_document(solver: str) -> None:
    problem = text_like(4)
    n = len(problem.y)
    rows = np.concatenate([np.arange(n), [3, 5]])
    weights = np.ones(n)
    weights[[3, 5]] = 2.0
    reg = Sentence(group=0.1, l1=0.1, solver=solver)
    weighted = reg.solve(problem.replace(sample_weight=weights))
    repeated = reg.solve(
        problem.replace(X=problem.X[rows], y=problem.y[rows], sample_weight=np.ones(n + 2))
    )
    assert weighted.objective == pytest.approx(repeated.objective, rel=2e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_order_of_documents_and_groups_is_irrelevant(solver: str) -> None:
    problem = text_like(5)
    random = np.random.default_rng(0)
    rows = random.permutation(len(problem.y))
    groups = problem.groups
    assert groups is not None
    order = random.permutation(len(groups))
    shuffled = ragged(
        [groups.members(g).tolist() for g in order],
        groups.n_features,
    )
    reg = Sentence(group=0.1, l1=0.1, solver=solver)
    first = reg.solve(problem)
    second = reg.solve(problem.replace(X=problem.X[rows], y=problem.y[rows], groups=shuffled))
    assert first.objective == pytest.approx(second.objective, rel=2e-7)
    assert first.group_norms is not None
    assert second.group_norms is not None
    np.testing.assert_allclose(first.group_norms[order], second.group_norms, atol=5e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("strengths", [{"group": 1e4, "l1": 0.0}, {"group": 0.0, "l1": 1e4}])
def test_a_high_strength_empties_the_model(solver: str, strengths: dict[str, float]) -> None:
    problem = text_like(6)
    solution = Sentence(**strengths, solver=solver).solve(problem)
    in_groups = np.zeros(problem.X.shape[1], dtype=bool)
    assert problem.groups is not None
    in_groups[problem.groups.indices] = True
    penalized = in_groups | bool(strengths["l1"])
    assert not solution.w[penalized].any()
    if penalized.all():
        up = (problem.y > 0).mean()
        assert solution.b == pytest.approx(np.log(up / (1 - up)), abs=1e-4)
        assert solution.group_norms is not None
        assert not solution.group_norms.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_selected_sentences(solver: str) -> None:
    """A sentence is selected when its copy is not zero; without any weight it never is."""
    problem = text_like(7, n=80)
    solution = Sentence(group=0.15, l1=0.1, solver=solver).solve(problem)
    groups = problem.groups
    assert groups is not None
    assert solution.group_norms is not None
    assert solution.group_norms.shape == (len(groups),)
    norms = np.array([np.linalg.norm(solution.w[groups.members(g)]) for g in range(len(groups))])
    chosen = solution.group_norms > 0.0
    assert 0 < chosen.sum() < len(groups)
    np.testing.assert_allclose(solution.group_norms, norms, atol=0.01)
    assert not solution.group_norms[norms == 0.0].any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_changes_the_way_not_the_end(solver: str) -> None:
    problem = text_like(8)
    reg = Sentence(group=0.1, l1=0.05, solver=solver)
    cold = reg.solve(problem)
    warm = reg.solve(problem.replace(start=(cold.w, cold.b)))
    far = reg.solve(problem.replace(start=(np.full(len(cold.w), 0.3), 1.0)))
    assert warm.objective == pytest.approx(cold.objective, rel=2e-7)
    assert far.objective == pytest.approx(cold.objective, rel=2e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_callback_stops_it(solver: str) -> None:
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return len(steps) == 2

    reg = Sentence(group=0.1, l1=0.01, solver=solver)
    solution = reg.solve(text_like(9).replace(callback=stop, tol=1e-13))
    assert len(steps) == 2
    assert not solution.converged
    assert solution.history == tuple(steps)
    assert np.isfinite(solution.objective)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_missed_tolerance_is_said(solver: str) -> None:
    problem = text_like(10).replace(max_iter=3, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        solution = Sentence(group=0.1, l1=0.01, solver=solver).solve(problem)
    assert not solution.converged
    assert solution.gap > problem.tol


def test_no_intercept() -> None:
    problem = text_like(11).replace(fit_intercept=False)
    found = [Sentence(group=0.1, l1=0.1, solver=solver).solve(problem) for solver in SOLVERS]
    assert [solution.b for solution in found] == [0.0, 0.0]
    assert found[0].objective == pytest.approx(found[1].objective, rel=2e-7)


def test_unchosen_strengths_and_missing_groups() -> None:
    problem = text_like(12)
    with pytest.raises(UsageError, match="group and l1 and l2 not chosen yet"):
        Sentence().solve(problem)
    with pytest.raises(UsageError, match="the problem has no groups"):
        Sentence(group=0.1, l1=0.1).solve(problem.replace(groups=None))


def test_the_ridge_is_left_out_where_the_papers_strengths_are_given() -> None:
    assert Sentence(group=0.1, l1=0.1).l2 == 0.0
    assert Sentence(group=0.1).undecided() == ["l1", "l2"]
    assert Sentence(group=0.1, l1=0.1, l2=0.5).l2 == 0.5


def test_the_grid_of_the_papers() -> None:
    tried = Sentence(grid="papers").candidates(text_like(12))
    strengths = [10.0**power for power in range(3, -3, -1)]
    assert {(one.group, one.l1) for one in tried} == set(itertools.product(strengths, repeat=2))
    assert {one.l2 for one in tried} == {0.0}
    assert len(tried) == 36


class TestAlgorithmOne:
    """ADMM against the paper's algorithm, written out in NumPy with an exact w step."""

    rho = 0.7
    group = 0.3

    def twin(
        self, problem: Problem, rounds: int
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """w and the copies v after some rounds of Algorithm 1 with l1 = 0."""
        merged = problem.groups.merged  # type: ignore[union-attr]
        assert not merged.l1.any()
        p = problem.X.shape[1]
        pointers, indices = merged.groups.indptr, merged.groups.indices
        sets = [indices[pointers[g] : pointers[g + 1]] for g in range(len(merged.groups))]
        strengths = self.group * merged.groups.weights
        v = [np.zeros(len(features)) for features in sets]
        u = [np.zeros(len(features)) for features in sets]
        w, b = np.zeros(p), 0.0
        X, y, rho = problem.X.toarray(), problem.y, self.rho

        def augmented(x: NDArray[np.float64]) -> float:  # eq. (2)
            tied = sum(
                rho / 2 * ((x[features] - copy - lag / rho) ** 2).sum()
                for features, copy, lag in zip(sets, v, u, strict=True)
            )
            return float(np.logaddexp(0.0, -y * (X @ x[:p] + x[p])).sum() + tied)

        for _ in range(rounds):
            x = minimize(augmented, np.append(w, b), method="BFGS", options={"gtol": 1e-8}).x
            w, b = x[:p], x[p]
            for g, features in enumerate(sets):
                z = w[features] - u[g] / rho
                size = float(np.linalg.norm(z))
                v[g] = (
                    max(0.0, 1.0 - strengths[g] / (rho * size)) * z if size else 0.0 * z
                )  # eq. (5)
                u[g] = u[g] + rho * (v[g] - w[features])  # eq. (4)
        return w, v

    def test_iterates(self, monkeypatch: pytest.MonkeyPatch) -> None:
        p = 8
        random = np.random.default_rng(0)
        X = random.poisson(0.7, size=(30, p)).astype(float)
        y = np.where(X @ random.normal(size=p) > 0, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        sets = [[0, 1, 2], [2, 3], [3, 4, 5, 6], [6, 7, 0], [1, 5]]
        problem = Problem(X=csr_array(X), y=y, groups=ragged(sets, p), tol=1e-14)
        penalty = GroupNorms(ragged(sets, p), self.group, 0.0)
        monkeypatch.setattr(admm_module, "W_TOLERANCE", 1e-14)
        for rounds in (1, 2, 5):
            w, v = self.twin(problem, rounds)
            with pytest.warns(ConvergenceWarning):
                solution = admm(
                    problem.replace(max_iter=rounds),
                    penalty,
                    rho=self.rho,
                    balanced=False,
                    relax=1.0,
                )
            np.testing.assert_allclose(solution.w, w, atol=2e-5)
            norms = [np.linalg.norm(copy) for copy in v]
            assert solution.group_norms is not None
            np.testing.assert_allclose(solution.group_norms, norms, atol=2e-5)

    def test_the_papers_stop(self) -> None:
        """It ends a run, and says nothing of the optimum: that is for the gap."""
        problem = text_like(13)
        for rho, near in ((0.1, True), (1000.0, False)):
            reg = Sentence(group=0.1, l1=0.1, solver="admm", stop="paper", rho=rho, balanced=False)
            with pytest.warns(ConvergenceWarning, match="relative gap"):
                found = reg.solve(problem)
            assert found.iterations < 100 if near else found.iterations == 100
            assert found.converged is False
            found = reg.solve(problem.replace(tol=2.0 * found.gap))
            assert found.converged
        with pytest.warns(ConvergenceWarning, match="stopped after 7 iterations of ADMM"):
            assert reg.solve(problem.replace(max_iter=7)).iterations == 7

    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("relax", [1.0, 1.5, 1.9])
    @pytest.mark.parametrize("balanced", [True, False])
    @pytest.mark.parametrize("rho", [0.05, 1.0])
    def test_every_variant_ends_at_the_optimum(
        self, rho: float, balanced: bool, relax: float
    ) -> None:
        problem = text_like(14).replace(tol=1e-6, max_iter=20_000)
        reg = Sentence(group=0.1, l1=0.05)
        known = reg.solve(problem.replace(tol=1e-8)).objective
        variant = reg.replace(solver="admm", rho=rho, balanced=balanced, relax=relax)
        solution = variant.solve(problem)
        assert solution.converged
        assert solution.objective == pytest.approx(known, rel=2e-6)


def same(first: Solution, second: Solution) -> bool:
    """Whether two solutions agree to the last bit."""
    return bool(np.array_equal(first.w, second.w)) and first.b == second.b


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_repeats_exactly(solver: str) -> None:
    problem = text_like(15)
    reg = Sentence(group=0.1, l1=0.1, solver=solver)
    assert same(reg.solve(problem), reg.solve(problem))


def test_the_residual_is_the_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the primal and the dual residual, which is rho times how far the copies moved."""
    problem = text_like(0).replace(max_iter=1)
    for primal, moved in ((0.3, 0.0), (0.0, 0.3)):
        sizes = itertools.cycle([primal, moved])
        monkeypatch.setattr(admm_module, "relative_norm", lambda *_, own=sizes: next(own))
        with pytest.warns(ConvergenceWarning):
            found = Sentence(group=0.5, l1=0.1, l2=0.1, solver="admm", rho=2.0).solve(problem)
        assert found.residual == pytest.approx(0.3 if primal else 0.6)
