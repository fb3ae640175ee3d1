"""Groups with l1 by dual coordinate ascent: certified, and left to rounds where it is slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_inputs import random_matrix
from labels import labels_over

from textreg import Group
from textreg.errors import ConvergenceWarning
from textreg.losses import Squared
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem, Solution, Step
from textreg.solvers import dual_ascent, groups
from textreg.solvers.groups import majorize
from textreg.solvers.reweighting import VectorFit
from textreg.solvers.state import Engine

N, P = 80, 120


def posed(**options: Any) -> Problem:
    """Groups that overlap, one of a single feature, and twenty features that are in none."""
    rng = np.random.default_rng(0)
    members = [np.sort(rng.choice(P - 20, 6, replace=False)) for _ in range(40)]
    members.append(np.array([3]))
    indptr = np.cumsum([0, *map(len, members)])
    weights = rng.uniform(0.5, 2.0, len(members))
    groups = Groups(indptr, np.concatenate(members), weights, n_features=P)
    X = random_matrix((N, P), 0.1, rng)
    shared = Problem(X, np.ones(N), **{"tol": 1e-5, "groups": groups, **options})
    return labels_over(shared, 1, rng)[0]


def solved(problem: Problem, group: float, l1: float, l2: float = 0.0) -> Solution:
    assert problem.groups is not None
    return majorize(problem, GroupNorms(problem.groups, group, l1, l2))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What rounds go on from; a list that fills."""
    seen: list[Any] = []
    plain = groups.continued

    def continued(*args: Any) -> Any:
        seen.append(args)
        return plain(*args)

    monkeypatch.setattr(groups, "continued", continued)
    return seen


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize(
    ("group", "l1"), [(0.02, 0.02), (0.3, 0.1), (0.001, 0.5), (0.5, 1e-4), (2.0, 0.01), (9.0, 9.0)]
)
def test_the_minimum_is_that_of_rounds_alone(
    monkeypatch: pytest.MonkeyPatch, group: float, l1: float, l2: float, fit_intercept: bool
) -> None:
    problem = posed(fit_intercept=fit_intercept)
    found = solved(problem, group, l1, l2)
    monkeypatch.setattr(groups, "Logistic", Squared)  # no loss of this problem
    usual = solved(problem.replace(tol=1e-8), group, l1, l2)
    assert found.converged
    assert 0.0 <= found.gap <= problem.tol
    part = Group(group=group, l1=l1, l2=l2)
    assert found.objective == pytest.approx(part.objective(problem, found.w, found.b), rel=1e-12)
    assert found.objective * (1.0 - found.gap) <= usual.objective * (1.0 + 1e-9)
    assert found.objective >= usual.objective * (1.0 - 1e-8)
    assert fit_intercept or found.b == 0.0


@pytest.mark.parametrize(("group", "l1"), [(0.3, 0.1), (0.1, 0.3)])
def test_sweeps_are_enough_where_groups_are_not_weak(
    monkeypatch: pytest.MonkeyPatch, group: float, l1: float
) -> None:
    monkeypatch.setattr(groups, "continued", None)
    assert solved(posed(tol=1e-3), group, l1, 0.1).converged


def test_weak_groups_are_left_to_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    found = solved(posed(tol=1e-4), 1e-5, 0.1)
    assert taken
    assert found.converged
    steps = [step.iteration for step in found.history]
    assert steps == sorted(set(steps))
    assert steps[-1] == found.iterations > taken[0][3].iterations > groups.TRIAL


def test_certificates_that_fail_are_left_to_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "READY", 1e12)
    taken = counted(monkeypatch)
    problem = posed(tol=1e-6)
    found = solved(problem, 0.1, 0.1)
    assert len(taken[0][3].history) == groups.FAILURES
    assert found.converged


def test_no_round_goes_on_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "READY", 1e12)
    taken = counted(monkeypatch)
    with pytest.warns(ConvergenceWarning, match="stopped after 12 rounds"):
        found = solved(posed(tol=1e-9, max_iter=12), 0.1, 0.1)
    assert [step.iteration for step in found.history] == [8, 10, 12]
    assert len(found.history) == groups.FAILURES
    assert not taken


def test_a_limit_ends_with_a_certificate() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 3 rounds"):
        found = solved(posed(max_iter=3), 0.3, 0.1)
    assert found.iterations == 3
    assert 1e-5 < found.gap < np.inf
    assert [step.iteration for step in found.history] == [3]


def test_the_caller_can_stop_it() -> None:
    seen: list[Step] = []

    def callback(step: Step) -> bool:
        seen.append(step)
        return True

    found = solved(posed(tol=1e-12, callback=callback), 0.3, 0.1)
    assert len(seen) == 1
    assert list(found.history) == seen
    assert not found.converged


def test_a_start_leads_to_the_same_minimum() -> None:
    problem = posed(tol=1e-6)
    first = solved(problem, 0.1, 0.01)
    found = solved(problem.replace(start=(first.w, first.b)), 0.05, 0.01)
    usual = solved(problem, 0.05, 0.01)
    assert found.objective == pytest.approx(usual.objective, rel=2e-6)
    assert found.gap <= problem.tol


def test_numbers_beyond_float32_are_left_to_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    problem = posed()
    large = problem.replace(X=problem.X * 1e25)
    found = solved(large, 0.3e25, 0.1e25)
    assert taken[0][3].iterations == 0
    assert found.converged


def test_sweeps_are_no_worse_than_their_start() -> None:
    problem = posed(tol=1e-6)
    first = solved(problem, 0.1, 0.01)
    again = problem.replace(start=(first.w, first.b), max_iter=1)
    assert again.groups is not None
    penalty = GroupNorms(again.groups, 0.1, 0.01)
    fit = VectorFit(Engine(again), penalty, 1.0)
    found = groups.SparseAscent(again, penalty, fit, np.full(40, 5.0)).run()
    assert found.iterations == 1
    assert found.objective <= first.objective * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("distance", "farther", "left"), [(0.1, 1.0, 4.0), (0.1, 0.1, np.inf), (0.1, 0.0, np.inf)]
)
def test_sweeps_left_at_a_rate(distance: float, farther: float, left: float) -> None:
    assert dual_ascent.sweeps_left(distance, farther, 2, 1e-3) == pytest.approx(left)
