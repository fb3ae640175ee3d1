"""Sentence regularization by the letter of Yogatama & Smith (2014), equation by equation.

Iterates of Algorithm 1 are those of the plain version in letters/yogatama2014.py, which has nothing
of textreg, kept in a file beside it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from letters import yogatama2014 as letter
from scipy.sparse import csr_array

from textreg._core.groups import admm_copies
from textreg.builtin.group_builders import Sentences
from textreg.builtin.groups import Sentence
from textreg.builtin.tokenizers import Words
from textreg.errors import ConvergenceWarning, UsageError
from textreg.features.vectorize import Vectorizer
from textreg.penalties import GroupNorms, Separable
from textreg.records import Groups, Problem, Step
from textreg.solvers import admm

GOLDEN = dict(np.load(letter.FILE))


def problem(**options: Any) -> Problem:
    """The problem of the plain version."""
    X, y, sentences = letter.small()
    groups = Groups(
        np.cumsum([0, *map(len, sentences)]),
        np.concatenate(sentences).astype(np.int32),
        np.ones(len(sentences)),
        X.shape[1],
    )
    return Problem(csr_array(X), y, groups=groups, **options)


def algorithm_1(rho: float, **options: Any) -> Sentence:
    return Sentence(
        group=letter.SENTENCE, l1=letter.LASSO, solver="algorithm-1", rho=rho, **options
    )


@pytest.fixture
def exact_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The w step to the last digits: the paper ends it at 1e-5, footnote 2."""
    monkeypatch.setattr(admm, "W_TOLERANCE", 1e-16)


def test_section_3_a_group_is_the_distinct_features_of_a_training_sentence() -> None:
    texts = ["So good, so very good! I saw it.", "It was bad."]
    features = Vectorizer(weighting="count", ngrams=1).fit(Words(), texts)
    groups = Sentences().build(features.tokens)
    names = list(features.tokens.vocabulary)
    found = [{names[j] for j in groups.members(g).tolist()} for g in range(len(groups))]
    assert found == [{"so", "good", "very"}, {"i", "saw", "it"}, {"it", "was", "bad"}]
    np.testing.assert_array_equal(groups.weights, 1.0)


def test_equation_1_the_objective() -> None:
    X, y, sentences = letter.small()
    w, b = np.random.default_rng(1).normal(size=X.shape[1]), 0.3
    loss = np.log(1.0 + np.exp(-y * (X @ w + b))).sum()  # the bias is not regularized, section 5.2
    sen = letter.SENTENCE * sum(np.sqrt((w[s] ** 2).sum()) for s in sentences)
    las = letter.LASSO * np.abs(w).sum()
    for solver in ("majorize", "admm", "algorithm-1"):
        reg = Sentence(group=letter.SENTENCE, l1=letter.LASSO, solver=solver)
        assert reg.objective(problem(), w, b) == pytest.approx(loss + sen + las, rel=1e-13)


def test_equation_2_the_quadratic_ties_each_weight_to_the_mean_of_its_copies() -> None:
    random, rho = np.random.default_rng(2), 0.7
    penalty = GroupNorms(problem().groups, 1.0, letter.LASSO, merge=False)  # type: ignore[arg-type]
    v, u = random.normal(size=(2, len(penalty.indices)))
    N = penalty.spread(np.ones(len(penalty.strengths)))
    mu = np.divide(penalty.gather(v + u / rho), N, out=np.zeros(penalty.p), where=N > 0)

    def rest(w: Any) -> float:
        """What the two forms differ by, which must be the same for all w."""
        direct = 0.5 * rho * ((w[penalty.indices] - (v + u / rho)) ** 2).sum()
        separable = Separable(rho * N, mu, np.zeros(penalty.p))
        return float(direct - separable.value(w))

    first, second = random.normal(size=(2, penalty.p))
    assert rest(first) == pytest.approx(rest(second), abs=1e-12)


def test_the_proximal_operator_of_the_lasso() -> None:
    w = np.array([2.0, 0.5, 0.2, -0.5, -2.0])
    found = Separable.constant(5, l1=0.5).prox(w, 1.0)
    np.testing.assert_allclose(found, [1.5, 0.0, 0.0, 0.0, -1.5], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("size", [0.2, 0.5, 2.0])
def test_equations_4_and_5_the_copies_and_the_multipliers(size: float) -> None:
    rho, strength = 2.0, 1.0
    w, u = size * np.array([0.6, 0.8]), np.zeros(2)
    z, v, norms, target = w.copy(), np.zeros(2), np.zeros(1), np.zeros(2)
    admm_copies(
        np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([strength]), w, rho, 1.0,
        v, u, norms, target,
    )  # fmt: skip
    norm = np.linalg.norm(z)
    shrunk = 0.0 * z if norm <= strength / rho else (norm - strength / rho) / norm * z
    np.testing.assert_allclose(v, shrunk, atol=1e-15)
    np.testing.assert_allclose(u, rho * (shrunk - w), atol=1e-15)
    np.testing.assert_allclose(target, v + u / rho, atol=1e-15)


@pytest.mark.usefixtures("exact_steps")
@pytest.mark.parametrize("rho", letter.RHOS)
@pytest.mark.parametrize("rounds", letter.ROUNDS)
def test_algorithm_1_has_the_iterates_of_the_plain_version(rho: float, rounds: int) -> None:
    with pytest.warns(ConvergenceWarning, match="Algorithm 1 as printed ended"):
        found = algorithm_1(rho, change=0.0).solve(problem(max_iter=rounds, tol=1e-12))
    expected = GOLDEN[f"w_{rho:g}_{rounds}"]
    assert found.iterations == rounds
    np.testing.assert_allclose(np.append(found.w, found.b), expected, atol=1e-6)
    np.testing.assert_allclose(found.group_norms, GOLDEN[f"norms_{rho:g}_{rounds}"], atol=1e-6)


@pytest.mark.usefixtures("exact_steps")
@pytest.mark.parametrize("rho", letter.RHOS)
@pytest.mark.filterwarnings("ignore::textreg.errors.ConvergenceWarning")
def test_it_stops_where_the_plain_version_does(rho: float) -> None:
    found = algorithm_1(rho).solve(problem(max_iter=1000))
    assert found.iterations == GOLDEN[f"stop_{rho:g}"]
    expected = GOLDEN[f"w_{rho:g}_last"]
    np.testing.assert_allclose(np.append(found.w, found.b), expected, atol=1e-6)
    assert found.report.rho == rho  # type: ignore[union-attr]


@pytest.mark.parametrize("rho", [0.1, 1.0, 10.0, 100.0, 1000.0])
def test_its_gap_is_that_of_the_last_iterate(rho: float) -> None:
    """The objective is that of the weights it returns, and the bound is below the optimum."""
    reg = algorithm_1(rho)
    best = reg.replace(solver="majorize").solve(problem(tol=1e-10)).objective
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        found = reg.solve(problem(tol=1e-4))
    assert found.objective == pytest.approx(reg.objective(problem(), found.w, found.b), rel=1e-12)
    assert found.objective * (1.0 - found.gap) <= best * (1.0 + 1e-9)
    assert found.converged == (found.gap <= 1e-4) == (not told)
    for step in found.history:
        assert step.objective * (1.0 - step.gap) <= best * (1.0 + 1e-9)


def test_a_large_rho_ends_far_from_the_optimum_and_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="after 100 iterations with a gap of"):
        found = algorithm_1(1000.0).solve(problem())
    best = algorithm_1(1.0).replace(solver="majorize").solve(problem())
    assert found.objective > 1.1 * best.objective
    assert not found.converged


@pytest.mark.filterwarnings("ignore::textreg.errors.ConvergenceWarning")
def test_it_starts_from_zero_whatever_it_is_given() -> None:
    far = problem(start=(np.full(12, 3.0), -2.0))
    first, second = algorithm_1(1.0).solve(problem()), algorithm_1(1.0).solve(far)
    np.testing.assert_array_equal(first.w, second.w)


def test_a_callback_ends_it() -> None:
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    found = algorithm_1(100.0).solve(problem(callback=stop, tol=1e-12))
    assert found.iterations == 10
    assert found.history == tuple(steps)
    assert not found.converged


def test_rho_is_for_both_solvers_of_admm() -> None:
    with pytest.raises(UsageError, match="rho is for solver 'admm' or 'algorithm-1'"):
        Sentence(rho=2.0)
    with pytest.raises(UsageError, match="relax is for solver 'admm': leave"):
        Sentence(solver="algorithm-1", relax=1.2)


def test_without_a_strength_of_groups_it_is_algorithm_1_all_the_same() -> None:
    with pytest.warns(ConvergenceWarning, match="Algorithm 1"):
        found = algorithm_1(1.0).replace(group=0.0).solve(problem(tol=1e-14))
    assert found.iterations > 1
