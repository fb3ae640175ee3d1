"""What every Newton step is made of: conjugate gradients, and how far to go."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg.losses import Squared
from textreg.penalties import Separable
from textreg.records import Floats, Problem
from textreg.solvers.linear_algebra import (
    Advance,
    Direction,
    backtrack,
    conjugate_gradients,
    step_with_fallback,
)
from textreg.solvers.newton import MOST_PASSES, newton
from textreg.solvers.state import MOST_EFFORT, Engine, underflowed

N, P = 30, 12


class System:
    """(X, 1)'(X, 1) + l2 over weights and intercept, preconditioned by its diagonal."""

    def __init__(self, l2: float = 0.1) -> None:
        X = np.random.default_rng(0).standard_normal((N, P))
        self.X = np.column_stack([X, np.ones(N)])
        self.matrix = self.X.T @ self.X + l2 * np.eye(P + 1)
        self.products = 0

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        self.products += 1
        image = self.matrix @ np.append(w, b)
        return image[:P], float(image[P]), self.X @ np.append(w, b)

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        scaled = np.append(w, b) / self.matrix.diagonal()
        return scaled[:P], float(scaled[P])


def begin(system: System, start: Floats) -> tuple[tuple[Floats, float], Direction, Floats]:
    """The residual at ``start``, that, and the solution."""
    target = np.random.default_rng(1).standard_normal(P + 1)
    residual = target - system.matrix @ start
    at = Direction(start[:P], float(start[P]), system.X @ start)
    return (residual[:P], float(residual[P])), at, np.linalg.solve(system.matrix, target)


@pytest.mark.parametrize("seed", [None, 2])
def test_conjugate_gradients_solve(seed: int | None) -> None:
    system = System()
    start = np.zeros(P + 1)
    if seed is not None:
        start = np.random.default_rng(seed).standard_normal(P + 1)
    residual, at, solution = begin(system, start)
    before = [array.copy() for array in (*residual[:1], at.w, at.z)]
    found = conjugate_gradients(system, residual, at, rounds=100, accuracy=1e-14)
    np.testing.assert_allclose(np.append(found.w, found.b), solution, rtol=1e-9)
    np.testing.assert_allclose(found.z, system.X @ solution, atol=1e-9)
    for array, was in zip((residual[0], at.w, at.z), before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_conjugate_gradients_stop() -> None:
    start = np.zeros(P + 1)
    system = System()
    residual, at, _ = begin(system, start)
    conjugate_gradients(system, residual, at, rounds=3)
    assert system.products == 3
    system = System()
    found = conjugate_gradients(system, residual, at, rounds=50, accuracy=0.1)
    assert 0 < system.products < P
    left = residual[0] - system.product(found.w, found.b)[0]
    assert np.linalg.norm(left) < np.linalg.norm(residual[0])
    system = System()
    found = conjugate_gradients(system, residual, at, rounds=50, enough=lambda rest, rest_b: True)
    assert system.products == 0
    assert not found.w.any()


def test_conjugate_gradients_stop_where_there_is_no_curvature() -> None:
    class Flat(System):
        def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
            return 0.0 * w, 0.0, np.zeros(N)

    residual, at, _ = begin(System(), np.zeros(P + 1))
    found = conjugate_gradients(Flat(), residual, at, rounds=50)
    assert (found.w.any(), found.b) == (False, 0.0)


def test_backtracking_takes_the_first_length_that_helps() -> None:
    tried = []

    def decrease_at(length: float) -> float:
        tried.append(length)
        return 1.0 if length < 0.3 else -1.0

    assert backtrack(decrease_at, -1.0, 0.0) == Advance(1.0, 0.25)
    assert tried == [1.0, 0.5, 0.25]
    assert backtrack(lambda length: 0.0, -1.0, 0.0) == Advance(0.0, 0.0)
    assert backtrack(lambda length: -1e-20, 0.0, 1e-14) == Advance(0.0, 1.0)
    assert backtrack(lambda length: 0.001, -1.0, 0.0, shortest=0.2).length == 0.0
    assert backtrack(lambda length: math.nan, -1.0, 0.0).length == 0.0


def test_a_failed_step_is_followed_by_one_with_the_bound() -> None:
    bounded = []
    steps = iter([Advance(0.25, 0.05), Advance(0.5, 1.0)])
    decrease = step_with_fallback(
        lambda: next(steps), lambda: bounded.append(True), lambda advance: advance.length < 0.1
    )
    assert (decrease, bounded) == (0.75, [True])
    decrease = step_with_fallback(
        lambda: Advance(0.5, 1.0),
        lambda: bounded.append(True),
        lambda advance: not advance.decrease,
    )
    assert (decrease, bounded) == (0.5, [True])


def substrings(seed: int, n: int = 200, length: int = 30, longest: int = 4) -> csr_array:
    """Which substrings random texts over few letters contain: columns that nearly repeat others."""
    rng = np.random.default_rng(seed)
    following = rng.dirichlet(np.full(12, 0.3), 12).cumsum(axis=1)
    column: dict[tuple[int, ...], int] = {}
    rows, columns = [], []
    for row in range(n):
        text = [0]
        for chance in rng.random(length):
            text.append(min(int(np.searchsorted(following[text[-1]], chance)), 11))
        starts = {(k, k + size) for size in range(1, longest + 1) for k in range(length - size)}
        found = {tuple(text[k:end]) for k, end in starts}
        rows += [row] * len(found)
        columns += [column.setdefault(one, len(column)) for one in sorted(found)]
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, len(column)))


@pytest.mark.parametrize("seed", range(3))
def test_one_step_finds_the_signs_of_columns_that_are_alike(seed: int) -> None:
    """Under the squared loss, which is its own model, a step with all effort is nearly enough.

    Were weights to become zero one at a time it would end at twice the least objective.
    """
    X = substrings(seed)
    y: Floats = X @ np.random.default_rng(seed).standard_normal(X.shape[1])
    problem = Problem(X, y / float(np.std(y)), loss=Squared(), tol=1e-6)
    penalty = Separable.constant(X.shape[1], l1=0.1)
    engine = Engine(problem)
    engine.restart(engine.w, problem.intercept_at_zero())
    best = newton(problem, penalty).objective
    values = [engine.value]
    for _ in range(2):
        active = engine.active(penalty, engine.gradient())
        engine.step(active, penalty, MOST_EFFORT, passes=MOST_PASSES)
        values.append(engine.value + penalty.value(engine.w))
    assert values[1] <= 1.1 * best, values
    assert all(later < earlier for earlier, later in pairwise(values))


def test_no_step_goes_up() -> None:
    X = np.array([[1.0, 0.5], [-1.0, 0.2], [2.0, -0.3]])
    engine = Engine(Problem(X, np.array([1.0, -1.0, 1.0]), fit_intercept=False))
    penalty = Separable.constant(2, l2=0.1)
    before = engine.w.copy(), engine.value
    down = engine.gradient() * -0.1
    up = engine._advance(np.arange(2, dtype=np.int32), penalty, -down, 0.0)
    assert up == (0.0, 0.0)
    assert (engine.w.tolist(), engine.value) == (before[0].tolist(), before[1])
    assert engine._advance(np.arange(2, dtype=np.int32), penalty, down, 0.0)[0] > 0.0
    assert engine.value < before[1]


@pytest.mark.parametrize("weight", [1e-15, 1.0, 1e9])
def test_what_has_underflowed_is_relative_to_the_weights(weight: float) -> None:
    y = np.array([1.0, -1.0])
    engine = Engine(Problem(np.eye(2), y, sample_weight=np.full(2, weight), fit_intercept=False))
    assert not underflowed(engine)
    engine.restart(60.0 * y, 0.0)
    assert underflowed(engine)
