"""Groups of many labels by dual coordinate ascent: certified, and the same whoever is beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_inputs import random_matrix
from labels import labels_over

from textreg import Group
from textreg.plugins import calls
from textreg.records import Groups, Problem, Solution
from textreg.solvers import groups as group_solvers
from textreg.solvers.reweighting import VectorFit

N, P, LABELS = 80, 120, 5
PART = Group(group=0.3, l1=0.0, l2=0.1)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)


def problems(**options: Any) -> list[Problem]:
    """Labels over the same matrix, with weights of their own, and groups that leave features out.

    One of the groups is of a single feature, and two are the same.
    """
    rng = np.random.default_rng(0)
    members = [np.sort(rng.choice(P - 20, 6, replace=False)) for _ in range(40)]
    members += [np.array([3]), members[0]]
    indptr = np.cumsum([0, *map(len, members)])
    groups = Groups(
        indptr, np.concatenate(members), rng.uniform(0.5, 2.0, len(members)), n_features=P
    )
    X = random_matrix((N, P), 0.1, rng)
    shared = Problem(X, np.ones(N), **{"tol": 1e-5, "groups": groups, **options})
    return labels_over(shared, LABELS, rng)


def bits(solution: Solution) -> tuple[Any, ...]:
    norms = solution.group_norms
    assert norms is not None
    return (
        *(solution.w.tobytes(), norms.tobytes(), solution.b),
        *(solution.objective, solution.gap, solution.iterations),
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("group", "l2"), [(0.02, 0.02), (0.3, 0.1), (2.0, 0.01), (50.0, 1.0)])
def test_each_is_certified_and_what_it_is_alone(
    group: float, l2: float, fit_intercept: bool
) -> None:
    part, posed = Group(group=group, l1=0.0, l2=l2), problems(fit_intercept=fit_intercept)
    for one, found in zip(posed, calls.solve_each(part, posed), strict=True):
        alone = part.solve(one.replace(tol=1e-7))
        assert found.converged
        assert 0.0 <= found.gap <= one.tol
        assert found.objective == pytest.approx(part.objective(one, found.w, found.b))
        lowest = found.objective * (1.0 - found.gap)
        assert lowest <= alone.objective * (1.0 + 1e-9)
        assert found.objective >= alone.objective * (1.0 - 1e-7)
        assert found.group_norms is not None
        if not fit_intercept:
            assert found.b == 0.0


def test_sweeps_are_enough_where_the_ridge_is_not_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_solvers, "continued", None)
    part, posed = Group(group=0.3, l1=0.0, l2=1.0), problems(tol=1e-3)
    for one, found in zip(posed, part.solve_each(posed), strict=True):
        assert found.converged
        assert found.gap <= one.tol


@pytest.mark.parametrize("warm", [False, True])
def test_the_bits_do_not_depend_on_who_is_beside(warm: bool) -> None:
    posed = problems()
    if warm:
        before = Group(group=1.0, l1=0.0, l2=0.1).solve_each(posed)
        posed = [one.replace(start=(it.w, it.b)) for one, it in zip(posed, before, strict=True)]
    together = [bits(one) for one in PART.solve_each(posed)]
    assert [bits(PART.solve_each([one])[0]) for one in posed] == together
    assert [bits(one) for one in PART.solve_each(posed[3:0:-1])] == together[3:0:-1]


def test_a_strong_penalty_leaves_no_group() -> None:
    for found in Group(group=50.0, l1=0.0, l2=0.1).solve_each(problems(tol=1e-6)):
        assert found.group_norms is not None
        assert not found.group_norms.any()


@pytest.mark.parametrize(("l2", "left"), [(1e-5, False), (1e-7, True)])
def test_a_ridge_so_weak_that_sweeps_are_slow_is_left_to_newton(
    monkeypatch: pytest.MonkeyPatch, l2: float, left: bool
) -> None:
    taken, plain = [], VectorFit.improve

    def counted(fit: Any, *args: Any) -> float:
        taken.append(fit)
        return plain(fit, *args)

    monkeypatch.setattr(VectorFit, "improve", counted)
    part, posed = Group(group=1e-4, l1=0.0, l2=l2), problems(tol=1e-4)
    for one, found in zip(posed, part.solve_each(posed), strict=True):
        assert found.converged
        assert found.objective == pytest.approx(part.solve(one).objective, rel=2e-4)
        assert [step.iteration for step in found.history] == sorted(
            {step.iteration for step in found.history}
        )
    assert bool(taken) == left


def test_a_hopeless_start_is_left() -> None:
    posed = problems()
    far = [one.replace(start=(np.full(P, 1e9), 0.0)) for one in posed]
    for found, usual in zip(PART.solve_each(far), PART.solve_each(posed), strict=True):
        assert found.converged
        assert found.objective == pytest.approx(usual.objective, rel=2e-5)


@pytest.mark.parametrize("most", [1, 3, 6])
def test_a_fit_ends_after_its_last_round(most: int) -> None:
    posed = problems(max_iter=most, tol=1e-12)
    with pytest.warns(UserWarning, match="rounds of reweighting"):
        found = PART.solve_each(posed)
    assert [one.iterations for one in found] == [most] * LABELS
    assert all(0.0 < one.gap < 1.0 for one in found[:1])


def test_a_callback_stops_its_own_fit() -> None:
    posed = problems(tol=1e-6)
    posed[1] = posed[1].replace(callback=lambda step: True)
    found = PART.solve_each(posed)
    assert [one.converged for one in found] == [True, False, True, True, True]
    assert len(found[1].history) == 1


@pytest.mark.parametrize("part", [PART.replace(l1=0.1), PART.replace(solver="admm")])
def test_others_are_fitted_one_by_one(part: Group) -> None:
    posed = problems()
    for one, found in zip(posed, part.solve_each(posed), strict=True):
        assert bits(found) == bits(part.solve(one))


def test_a_callback_sees_the_history_as_it_grows() -> None:
    """Also where rounds by Newton steps follow the sweeps."""
    seen: list[Any] = []
    posed = problems(tol=1e-9)[0].replace(callback=lambda step: seen.append(step))
    (found,) = group_solvers.group_ascents(
        [posed], Group(group=0.02, l1=0.0, l2=0.001).penalty(posed)
    )
    assert tuple(seen) == found.history
    assert [step.iteration for step in seen] == sorted({step.iteration for step in seen})
