"""Weak penalties under losses with kinks: the optimum in few rounds, by way of stronger ones."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_inputs import random_matrix
from thoroughness import thorough

from textreg.builtin.groups import Group
from textreg.builtin.separable import Elastic, Lasso, Ridge
from textreg.errors import ConvergenceWarning
from textreg.kinds import Regularizer
from textreg.losses import find_loss
from textreg.records import Problem, Solution, Step
from textreg.solvers import state
from textreg_testing.problems import hard

LOSSES = ["squared-hinge", "hinge"]


def posed(loss: str, seed: int = 0, share: float = 1e-4) -> tuple[Problem, float]:
    """More features than documents, and an l1 strength that is a small share of the largest."""
    problem = hard(seed, loss=loss, tol=1e-6, max_iter=1000)
    return problem, share * problem.largest_gradient_at_zero()


@pytest.mark.parametrize(
    ("loss", "seed", "share"),
    [
        ("squared-hinge", 0, 1e-4),
        thorough("hinge", 0, 1e-3),
        *(thorough(loss, seed, 1e-5) for loss in LOSSES for seed in range(3)),
    ],
)
def test_a_hard_lasso_converges_in_every_solver(loss: str, seed: int, share: float) -> None:
    problem, l1 = posed(loss, seed, share)
    lasso = Lasso(l1=l1).solve(problem)
    assert lasso.converged
    # Groups that cost next to nothing.
    for solver in ("majorize", "admm") if seed != 1 else ("majorize",):  # ADMM needs 3,000 there
        reg = Group(group=1e-9 * l1, l1=l1, l2=0.0, solver=solver)
        found = reg.solve(problem)
        assert found.converged
        assert found.gap <= 1e-6
        assert found.objective == pytest.approx(lasso.objective, rel=3e-6)


@pytest.mark.parametrize("share", [1e-7, 1e-4])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_weak_ridge_converges(loss: str, share: float) -> None:
    """Of seeds 0 to 59, 21 and 8 had a gap of 1 after 1,000 steps with the hinge."""
    for seed in (6, 14, 21, 27):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(5, 60)), int(rng.integers(2, 40))
        X, y = random_matrix((n, p), 0.3, rng), np.where(rng.random(n) < 0.5, 1.0, -1.0)
        problem = Problem(X, y, loss=find_loss(loss), max_iter=300)
        found = Ridge(l2=share * problem.largest_gradient_at_zero()).solve(problem)
        assert found.converged
        assert found.gap <= problem.tol


@pytest.mark.parametrize("share", [0.1, 0.03])
def test_steps_are_not_held_up_at_the_kinks_of_a_hinge(share: float) -> None:
    """Without curvature where the loss is straight these took 210 and 134, not 20 and 23."""
    rng = np.random.default_rng(4)
    X = random_matrix((800, 100), 0.03, rng)
    X.data[:] = 1.0
    y = np.where(X @ rng.normal(size=100) + 0.5 * rng.normal(size=800) > 1.5, 1.0, -1.0)
    problem = Problem(X, y, loss=find_loss("hinge"), max_iter=50)
    assert Lasso(l1=share * problem.largest_gradient_at_zero()).solve(problem).converged


@pytest.mark.parametrize(
    ("loss", "group", "share"),
    [
        ("hinge", 0.1, 1e-3),
        *(thorough(loss, group, 1e-5) for loss in LOSSES for group in (0.1, 1.0)),
    ],
)
def test_weak_groups_converge(loss: str, group: float, share: float) -> None:
    problem, l1 = posed(loss, share=share)
    one, other = (
        Group(group=group * l1, l1=l1, l2=0.0, solver=solver).solve(problem)
        for solver in ("majorize", "admm")
    )
    assert one.converged
    assert other.converged
    assert other.objective == pytest.approx(one.objective, rel=3e-6)


def solved(reg: Regularizer, problem: Problem) -> tuple[Solution, list[Step]]:
    steps: list[Step] = []
    return reg.solve(problem.replace(callback=steps.append)), steps


def test_other_losses_and_starts_take_no_way_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> float:
        raise AssertionError("a stronger penalty")

    problem, l1 = posed("squared-hinge")
    best = Lasso(l1=l1).solve(problem)
    monkeypatch.setattr(state.math, "ceil", refuse)
    with pytest.raises(AssertionError, match="a stronger"):
        Lasso(l1=l1).solve(problem)
    again = Lasso(l1=l1).solve(problem.replace(start=(best.w, best.b)))
    assert again.iterations < 0.2 * best.iterations
    strong = 0.5 * problem.largest_gradient_at_zero()
    for reg, loss in (
        (Lasso(l1=strong), "squared-hinge"),
        (Lasso(l1=l1), "logistic"),
        (Elastic(l1=l1, l2=1.0), "logistic"),
        (Group(group=0.1 * l1, l1=l1, l2=0.0), "logistic"),
    ):
        assert reg.solve(problem.replace(loss=loss)).converged


@pytest.mark.parametrize(
    "make", [Lasso, lambda l1: Group(group=0.1 * l1, l1=l1, l2=0.0)], ids=["lasso", "group"]
)
def test_iterations_of_all_stages_count(make: type[Lasso]) -> None:
    problem, l1 = posed("squared-hinge")
    found, _ = solved(make(l1=l1), problem)
    assert found.converged
    for most in (1, 3, 10):
        with pytest.warns(ConvergenceWarning, match=f"stopped after {most} "):
            less = make(l1=l1).solve(problem.replace(max_iter=most))
        assert less.iterations == most
        assert np.isfinite(less.objective)


def test_a_callback_stops_a_stage() -> None:
    problem, l1 = posed("squared-hinge")
    for reg in (Lasso(l1=l1), Group(group=0.1 * l1, l1=l1, l2=0.0)):
        calls: list[Step] = []

        def stop(step: Step, calls: list[Step] = calls) -> bool:
            calls.append(step)
            return True

        found = reg.solve(problem.replace(callback=stop))  # without a warning
        assert not found.converged
        assert found.objective == pytest.approx(reg.objective(problem, found.w, found.b))
        assert len(calls) == 2  # the stage, and the last one


def test_a_start_far_from_the_optimum_of_a_hinge_is_left_alone() -> None:
    """From the weights of a ridge it took 64 steps, and 43 from none."""
    problem, l1 = posed("hinge", share=0.03)
    reg, ridge = Elastic(l1=l1, l2=0.1 * l1), Ridge(l2=0.3 * l1).solve(problem)
    begun = reg.solve(problem.replace(start=(ridge.w, ridge.b)))
    from_zero, steps = solved(reg, problem)
    assert begun.iterations == from_zero.iterations
    assert begun.w.tolist() == from_zero.w.tolist()
    again = reg.solve(problem.replace(start=(from_zero.w, from_zero.b)))
    assert again.iterations < 3
    assert len(steps) > again.iterations
