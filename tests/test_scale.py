"""Units mean nothing: a problem in other units has the same solution in these units.

X times s with l1 and group times s and l2 times s squared has the weights divided by s; y times s
with l1 and group times s, under the squared loss, has them times s; and weights of the documents
times s with all strengths times s have the same. Every convex regularizer proves it by its gap.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from test_block_design import CUTS, Memory, groups_in_blocks, in_blocks
from test_block_design import documents as documents_in_blocks

from textreg.builtin.groups import Group, Sentence
from textreg.builtin.network import Laplacian, Network
from textreg.builtin.separable import Elastic, Lasso, Ridge
from textreg.errors import DataError
from textreg.kinds import Penalized, Regularizer
from textreg.params import param
from textreg.penalties import Separable
from textreg.records import Groups, MultiSolution, Problem, Solution
from textreg.solvers import reduce
from textreg.solvers.state import scales_of
from textreg_testing.problems import hard, small

SCALES = [1e-8, 1e-4, 1e4, 1e8]
TOL = 1e-8


class Proximal(Penalized):
    """A lasso that knows no more than its proximal operator."""

    name = "proximal"
    l1: float = param(default=1.0, min=0, help="strength")

    def penalty(self, problem: Problem) -> Separable:
        return Separable.constant(problem.design.shape[1], l1=self.l1)


LINEAR, SQUARE = {"l1", "group"}, {"l2", "alpha", "beta"}
REGULARIZERS = {
    "lasso": Lasso(l1=0.05),
    "ridge": Ridge(l2=0.05),
    "elastic": Elastic(l1=0.05, l2=0.01),
    "proximal": Proximal(l1=0.05),
    "group": Group(group=0.05, l1=0.02, l2=0.0),
    "group with a ridge": Group(group=0.05, l1=0.0, l2=0.01),
    "sentence": Sentence(group=0.05, l1=0.02, l2=0.01),
    "group by ADMM": Group(group=0.05, l1=0.02, l2=0.0, solver="admm"),
    "group with a ridge by ADMM": Group(group=0.05, l1=0.0, l2=0.01, solver="admm"),
    "network": Network(alpha=0.05, beta=0.01),
    "laplacian": Laplacian(alpha=0.05, beta=0.01),
}
"""Strengths as shares of the largest gradient at zero weights."""

LOSSES = ["logistic", "squared-hinge", "hinge", "squared"]


def times(reg: Regularizer, linear: float, square: float) -> Regularizer:
    """A regularizer with other strengths: of the absolute weights, and of their squares."""
    factors = dict.fromkeys(LINEAR, linear) | dict.fromkeys(SQUARE, square)
    chosen = reg.params()
    return reg.replace(**{name: chosen[name] * factors[name] for name in chosen.keys() & factors})


def posed(make: Callable[..., Problem], loss: str, name: str) -> tuple[Problem, Regularizer]:
    """A problem and a regularizer of strengths that suit it."""
    problem = make(loss=loss, tol=TOL)
    if loss == "squared":
        noise = np.random.default_rng(1).standard_normal(len(problem.y))
        problem = problem.replace(y=2.0 * problem.y + noise + 3.0)
    largest = problem.largest_gradient_at_zero()
    return problem, times(REGULARIZERS[name], largest, largest)


def in_units(unit: str, s: float, problem: Problem, reg: Regularizer) -> tuple[Any, ...]:
    """Both in a unit that is s times as small; and how much larger weights and objective are."""
    if unit == "X":
        return problem.replace(X=csr_array(problem.X * s)), times(reg, s, s * s), 1.0 / s, 1.0
    if unit == "y":
        return problem.replace(y=problem.y * s), times(reg, s, 1.0), s, s * s
    weights = problem.sample_weight * s
    return problem.replace(sample_weight=weights), times(reg, s, s), 1.0, s


def same(one: Any, other: Any, weight: float, objective: float) -> None:
    """``other`` is the solution ``one``, as exactly as the gap of each says, and proves it."""
    assert other.converged
    assert other.gap <= TOL
    assert other.objective == pytest.approx(one.objective * objective, rel=2.1 * TOL)
    size = np.abs(one.w).max()
    assert size > 0.0
    # The loss is curved: weights are as exact as the root of the gap.
    np.testing.assert_allclose(other.w / weight, one.w, rtol=0, atol=20 * TOL**0.5 * size)


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("unit", "loss"),  # labels have no unit, numbers do
    [*itertools.product(["X", "weights"], LOSSES), ("y", "squared")],
)
@pytest.mark.parametrize("name", REGULARIZERS)
def test_units_mean_nothing(unit: str, name: str, loss: str) -> None:
    problem, reg = posed(small, loss, name)
    one = reg.solve(problem)
    for s in SCALES:
        changed, solver, weight, objective = in_units(unit, s, problem, reg)
        other: Solution = solver.solve(changed)
        same(one, other, weight, objective)
        # ADMM begins at a curvature of 1, and has to find that of the problem.
        more = 200 if "ADMM" in name else 10
        assert other.iterations <= 1.5 * one.iterations + more
        if other.group_norms is not None and one.group_norms is not None and "ADMM" not in name:
            assert np.array_equal(other.group_norms > 0.0, one.group_norms > 0.0)
            assert np.array_equal(other.w != 0.0, one.w != 0.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("name", ["group", "sentence", "lasso", "ridge"])
def test_units_mean_nothing_where_features_outnumber_documents(name: str, loss: str) -> None:
    problem, reg = posed(hard, loss, name)
    one = reg.solve(problem)
    for unit in ("X", "y") if loss == "squared" else ("X", "weights"):
        for s in (1e-8, 1e8):
            changed, solver, _, objective = in_units(unit, s, problem, reg)
            other = solver.solve(changed)
            assert other.converged
            assert other.objective == pytest.approx(one.objective * objective, rel=2.1 * TOL)
            assert other.iterations <= 1.5 * one.iterations + 10


@pytest.mark.parametrize("name", ["group", "sentence"])
def test_units_mean_nothing_over_working_sets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce, "SMALL", 0)
    monkeypatch.setattr(reduce, "LARGEST_SHARE", 1.0)
    problem, reg = posed(small, "logistic", name)
    one = reg.solve(problem)
    for s in SCALES:
        changed, solver, weight, objective = in_units("X", s, problem, reg)
        other = solver.solve(changed)
        same(one, other, weight, objective)
        assert np.array_equal(other.group_norms > 0.0, one.group_norms > 0.0)


@pytest.mark.parametrize("name", ["ridge", "group with a ridge"])
def test_units_mean_nothing_to_steps_over_documents(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SMALL", 0)
    problem, reg = posed(small, "logistic", name)
    one = reg.solve(problem)
    for unit in ("X", "weights"):
        for s in SCALES:
            changed, solver, weight, objective = in_units(unit, s, problem, reg)
            same(one, solver.solve(changed), weight, objective)


@pytest.mark.sampled(6)
# The others have no softmax.
@pytest.mark.parametrize(
    "name", [name for name in REGULARIZERS if name != "proximal" and "ADMM" not in name]
)
@pytest.mark.parametrize("unit", ["X", "weights"])
def test_units_mean_nothing_under_softmax(unit: str, name: str) -> None:
    problem, reg = posed(small, "logistic", name)
    codes = np.arange(len(problem.y)) % 3
    codes[problem.y > 0] = 0
    one = reg.solve_softmax(problem, codes)
    for s in SCALES:
        changed, solver, weight, objective = in_units(unit, s, problem, reg)
        other: MultiSolution = solver.solve_softmax(changed, codes)
        same(one, other, weight, objective)
        assert other.iterations <= 1.5 * one.iterations + 10


@pytest.mark.sampled(5)
@pytest.mark.parametrize("s", SCALES)
@pytest.mark.parametrize(
    "reg",
    [Ridge(l2=1.0), Elastic(l1=0.3, l2=0.1), Sentence(group=0.1, l1=0.2, l2=0.0)],
    ids=lambda reg: reg.name,
)
def test_units_mean_nothing_over_blocks(reg: Regularizer, s: float) -> None:
    X, y, groups = documents_in_blocks(9)
    found = []
    for X_s, c, part in (
        (X, None, reg),
        (csr_array(X * s), None, times(reg, s, s * s)),
        (X, np.full(len(y), s), times(reg, s, s)),
    ):
        store = Memory()
        in_parts = groups_in_blocks(groups, CUTS, store) if reg.needs else None
        problem = Problem(in_blocks(X_s, CUTS, store), y, c, groups=in_parts, tol=TOL)
        found.append(part.solve(problem))
    same(found[0], found[1], 1.0 / s, 1.0)
    same(found[0], found[2], 1.0, s)


def test_a_warm_start_is_in_the_units_of_the_problem() -> None:
    problem, reg = posed(small, "squared", "sentence")
    cold = reg.solve(problem)
    for s in SCALES:
        changed, solver, weight, objective = in_units("y", s, problem, reg)
        start = cold.w * weight, cold.b * weight
        warm = solver.solve(changed.replace(start=start))
        same(cold, warm, weight, objective)
        assert warm.iterations <= 2 * cold.iterations


@pytest.mark.parametrize("s", SCALES)
def test_the_largest_gradient_is_that_of_the_lasso(s: float) -> None:
    """In any units the l1 strength that leaves no weight, and a little less leaves some."""
    problem = small(0)
    problem = problem.replace(sample_weight=s * problem.sample_weight)
    largest = problem.largest_gradient_at_zero()
    assert largest == problem.gradient_sizes_at_zero().max()
    assert not Lasso(l1=1.001 * largest).solve(problem).w.any()
    assert Lasso(l1=0.98 * largest).solve(problem).w.any()


def test_the_units_of_a_problem() -> None:
    one = scales_of(Problem(np.eye(4), [1, 1, -1, -1]))
    assert one.weight == pytest.approx(2.0)
    assert one.curvature == pytest.approx(0.25)
    doubled = scales_of(Problem(2.0 * np.eye(4), [1, 1, -1, -1], np.full(4, 3.0)))
    assert doubled.weight == pytest.approx(1.0)
    assert doubled.curvature == pytest.approx(3.0)
    squared = scales_of(Problem(np.eye(4), [7e5, 7e5, 3e5, 3e5], loss="squared"))
    assert squared == pytest.approx((2e5, 1.0))


@pytest.mark.parametrize(
    "changes", [{"X": np.zeros((4, 2))}, {"y": np.full(4, 5.0)}, {"sample_weight": np.zeros(4)}]
)
def test_a_problem_without_units_has_a_solution(changes: dict[str, Any]) -> None:
    values = {"X": np.eye(4)[:, :2], "y": [1.0, 2.0, 3.0, 4.0], "loss": "squared", **changes}
    groups = {"indptr": [0, 2], "indices": [0, 1], "weights": [1.0], "n_features": 2}
    problem = Problem(**values, groups=Groups(**groups))
    for solver in ("majorize", "admm"):
        try:
            found = Group(group=0.1, l1=0.1, l2=0.0, solver=solver).solve(problem)
        except DataError:
            continue
        assert not found.w.any()
