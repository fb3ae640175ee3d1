"""Overlapping groups over working sets: the optimum, and the bound, of all features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from thoroughness import draws

from textreg.builtin.groups import Sentence
from textreg.errors import ConvergenceWarning
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem, Solution, Step
from textreg.solvers import reduce
from textreg.solvers.groups import majorize
from textreg.solvers.state import scales_of

P = 120


def documents(seed: int, loss: str = "logistic", intercept: bool = True) -> Problem:
    """Documents of rare and of common words, labels by some of them, and sentences of five."""
    random = np.random.default_rng(seed)
    common = 2.0 / np.arange(2, P + 2)
    dense = random.random((60, P)) * (random.random((60, P)) < np.maximum(common, 0.06))
    X = csr_array(dense)
    meaning = random.normal(size=P) * (random.random(P) < 0.2)
    y = np.where(X @ meaning + 0.1 * random.normal(size=60) > 0, 1.0, -1.0)
    chance = common / common.sum()
    sets = [np.sort(random.choice(P, 5, replace=False, p=chance)) for _ in range(300)]
    groups = Groups(np.arange(301) * 5, np.concatenate(sets), random.random(300), P)
    c = random.integers(1, 3, 60).astype(float)
    return Problem(
        X, y, c, loss, groups=groups, fit_intercept=intercept, tol=1e-7, max_iter=5000
    )  # fmt: skip


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Working sets for small problems and large shares, too."""
    monkeypatch.setattr(reduce, "SMALL", 0)
    monkeypatch.setattr(reduce, "LARGEST_SHARE", 1.0)


def over_all(problem: Problem, reg: Sentence) -> Solution:
    """The same without working sets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduce, "SMALL", 10**9)
        return reg.solve(problem)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "hinge"])
@pytest.mark.parametrize("l1", [0.05, 0.2, 0.5])
def test_the_optimum_is_that_of_all_features(loss: str, l1: float, l2: float) -> None:
    for seed in range(2):
        problem = documents(seed, loss, intercept=seed > 0)
        reg = Sentence(group=0.05, l1=l1, l2=l2)
        found, other = reg.solve(problem), over_all(problem, reg)
        assert found.converged
        assert found.objective == pytest.approx(other.objective, rel=3e-7)
        assert found.objective == pytest.approx(reg.objective(problem, found.w, found.b))
        np.testing.assert_allclose(found.group_norms, other.group_norms, atol=0.02)


@pytest.mark.usefixtures("always")
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.4]), st.booleans())
@draws(20)
def test_no_bound_on_the_way_is_above_the_optimum(seed: int, l1: float, ridge: bool) -> None:
    problem = documents(seed)
    reg = Sentence(group=0.1, l1=l1, l2=0.1 * ridge)
    best = over_all(problem.replace(tol=1e-6), reg).objective
    found = reg.solve(problem.replace(tol=1e-5))
    assert [step.iteration for step in found.history] == sorted(
        {step.iteration for step in found.history}
    )
    for step in found.history:
        assert step.objective * (1.0 - min(step.gap, 1.0)) <= best * (1.0 + 1e-9)


@pytest.mark.usefixtures("always")
def test_a_set_that_begins_with_nothing_grows() -> None:
    problem = documents(5)
    reg = Sentence(group=0.05, l1=0.1)
    optimum = reg.solve(problem)
    empty = reg.solve(problem.replace(start=(np.zeros(P), 0.0)))
    wrong = reg.solve(problem.replace(start=(np.where(optimum.w == 0.0, 0.1, 0.0), 0.0)))
    assert empty.objective == pytest.approx(optimum.objective, rel=2e-7)
    assert wrong.objective == pytest.approx(optimum.objective, rel=2e-7)


@pytest.mark.usefixtures("always")
def test_after_many_sets_comes_that_of_all_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.solvers.groups.SETS", 1)
    problem = documents(5)
    reg = Sentence(group=0.05, l1=0.1)
    assert reg.solve(problem).objective == pytest.approx(over_all(problem, reg).objective, rel=3e-7)


@pytest.mark.usefixtures("always")
def test_a_high_strength_leaves_an_empty_set() -> None:
    found = Sentence(group=0.05, l1=1e3).solve(documents(6))
    assert found.converged
    assert not found.w.any()
    assert found.group_norms is not None
    assert not found.group_norms.any()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("checks", [1, 2])
def test_a_callback_stops_it_in_any_set(checks: int) -> None:
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return len(steps) == checks

    problem = documents(7).replace(callback=stop, tol=1e-13)
    found = Sentence(group=0.05, l1=0.05).solve(problem)
    assert found.history == tuple(steps)
    assert len(steps) == checks
    assert not found.converged


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_no_more_rounds_than_allowed(rounds: int) -> None:
    with pytest.warns(ConvergenceWarning, match=f"after {rounds} rounds"):
        found = Sentence(group=0.05, l1=0.05).solve(
            documents(8).replace(tol=1e-12, max_iter=rounds)
        )
    assert found.iterations == rounds
    assert found.gap > 1e-12


@pytest.mark.usefixtures("always")
def test_common_words_are_left_to_their_groups() -> None:
    problem = documents(4)
    reg = Sentence(group=0.05, l1=0.05)
    penalty, found = reg.penalty(problem), reg.solve(problem)
    r, h = np.empty(60), np.empty(60)
    z = problem.design.product(found.w) + found.b
    problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
    products = np.abs(problem.design.transposed_product(r))
    kept = np.flatnonzero((products > 1.01 * penalty.lam) & (found.w == 0.0))
    assert len(kept)  # not by l1
    support = np.flatnonzero(found.w).astype(np.int32)
    part = reduce.WorkingSet(problem, penalty, support, scales_of(problem))
    dual = part.fit(found.w, found.b).dual()
    room = dual.leave_out(part.penalty, np.zeros(len(part.penalty.indices)))
    assert room is not None
    assert np.all(room <= part.penalty.strengths)
    assert len(np.setdiff1d(kept, dual.missing))


def test_groups_keep_at_zero_what_they_have_room_for() -> None:
    groups = Groups([0, 2, 4, 6], [0, 1, 1, 2, 2, 3], [1.0, 2.0, 4.0], 5)
    penalty = GroupNorms(groups, 0.5, 0.1)
    every = np.arange(5, dtype=np.int32)

    def kept(excess: list[float], selected: GroupNorms | None = None) -> list[int]:
        free = penalty.strengths if selected is None else penalty.free_of(selected)
        found = penalty.keep_at_zero(every, np.array(excess), free)
        return np.flatnonzero(found).tolist()

    # The strengths of their groups together are 0.5, 1.5, 3, 2 and 0.
    assert kept([0.49, 1.49, 2.99, 1.99, 1e-9]) == [0, 3]  # the least shares, and no room for more
    assert kept([0.3, 0.9, 1.8, 1.2, 0.0]) == [0, 1, 2, 3]  # 0.6 of each, and 0.72 of a group
    part = penalty.select(np.array([0], dtype=np.int32))
    assert kept([0.1, 0.9, 1.8, 1.2, 0.0], part) == [2, 3]  # of feature 1 0.9 of a group


def test_groups_hold_features_together_within_their_balls() -> None:
    rng = np.random.default_rng(3)
    members = np.sort(np.argsort(rng.random((40, 12)))[:, :4])
    groups = Groups(np.arange(0, 41 * 4, 4), members.ravel(), rng.random(40) + 0.5, 12)
    penalty = GroupNorms(groups, 1.0, 0.1)
    selected = np.array([2, 3], dtype=np.int32)
    others = np.setdiff1d(np.arange(12, dtype=np.int32), selected)
    part = penalty.select(selected)
    u = rng.normal(size=len(part.indices))
    u *= np.repeat(0.6 * part.strengths / np.hypot(*u.reshape(-1, 2).T), 2)
    free = penalty.free_of(part, u)
    np.testing.assert_allclose(np.unique(np.round(free / penalty.strengths, 9)), [0.0, 0.8, 1.0])
    alone = np.array(
        [free[(penalty.indices.reshape(-1, 4) == j).any(axis=1)].sum() for j in others]
    )
    for share in (0.2, 0.5, 0.9, 1.5):
        held, taken = penalty.hold(others, share * alone, 0.99 * share * alone, free)
        assert np.all(taken <= free)
        if share == 0.2:  # all get what they want
            np.testing.assert_array_less(0.99 * share * alone, held)
        elif share == 1.5:  # none can
            assert not held.any()
            assert not taken.any()
        else:
            assert np.all(held > 0.4 * alone)
            assert np.all(held < alone)


def test_selected_groups_are_what_is_left_of_them() -> None:
    groups = Groups([0, 3, 5, 6, 8], [0, 1, 4, 1, 2, 3, 2, 3], [1.0, 2.0, 4.0, 8.0], 5)
    penalty = GroupNorms(groups, 0.5, 0.1, 0.3)  # the group of feature 3 alone is in lam
    part = penalty.select(np.array([1, 3, 4], dtype=np.int32))
    assert part.indptr.tolist() == [0, 2]
    assert part.indices.tolist() == [0, 2]
    assert part.strengths.tolist() == [0.5]
    assert part.lam.tolist() == pytest.approx([0.1 + 1.0, 0.1 + 2.0 + 4.0, 0.1])
    w = np.array([0.0, 2.0, 0.0, -3.0, 1.0])
    few = w[[1, 3, 4]]
    assert part.value(few) == pytest.approx(penalty.value(w))
    merged = part.original_norms(part.norms(few), few)
    norms: NDArray[np.float64] = penalty.original_norms(merged, w)
    assert norms.tolist() == pytest.approx([5**0.5, 2.0, 3.0, 3.0])


def test_small_matrices_have_none() -> None:
    problem = documents(9)
    penalty = Sentence(group=0.05, l1=0.05).penalty(problem)
    assert reduce.first_working_set(problem, penalty) is None
    assert majorize(problem, penalty).converged
