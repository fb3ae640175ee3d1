"""Lower bounds lie below the optimum, from wherever they are computed; and NaN certifies nothing.

The optimum is that of SciPy's minimizer, and never below the true one, as it is the objective at a
point. What stands for the old documents in an update has their curvature and the weights of the
model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import random_array

from textreg.kinds import Regularizer
from textreg.losses import LOSSES, find_loss
from textreg.penalties import GroupNorms, Separable
from textreg.plugins import registry
from textreg.records import Floats, Graph, Groups, Problem
from textreg.solvers.certificate import (
    EngineDual,
    conjugate_bound,
    group_bound,
    relative_gap,
    separable_bound,
)
from textreg.solvers.softmax import SeparableStep
from textreg.solvers.state import Engine

N, P = 40, 8
NEAR = 1e-6
"""Relative accuracy of the minimizer."""

SETS = ([0, 1, 2], [2, 3], [4, 5, 6], [6], [1, 5], [0, 7])
"""Groups of features that overlap."""


def groups_of(*sets: list[int]) -> Groups:
    """Groups of weight 1."""
    offsets, features = np.cumsum([0, *map(len, sets)]), np.concatenate(sets)
    return Groups(indptr=offsets, indices=features, weights=np.ones(len(sets)), n_features=P)


GROUPS = groups_of(*SETS)


def problem(loss: str, seed: int, *, intercept: bool = True, **options: Any) -> Problem:
    """Few documents of different weights, more with one label than with the other."""
    rng = np.random.default_rng(seed)
    X = random_array((N, P), density=0.6, rng=rng, format="csr")
    scores = X @ rng.normal(size=P) * 3.0 + 0.7 + rng.normal(size=N)
    y = np.where(scores > 0.0, 1.0, -1.0) if find_loss(loss).binary else scores
    weights = rng.integers(0, 4, N).astype(float)
    return Problem(X, y, sample_weight=weights, loss=loss, fit_intercept=intercept, **options)


def loss_and_slopes(of: Problem, w: Floats, b: float) -> tuple[float, Floats, float]:
    """The loss, and its derivatives by the weights and the intercept."""
    z, r, h = of.X @ w + b, np.empty(N), np.empty(N)
    value = of.loss.derivatives(z, of.y, of.sample_weight, r, h)
    return value, of.X.T @ r, float(r.sum()) if of.fit_intercept else 0.0


def separable_optimum(
    of: Problem, penalty: Separable, most: Floats | None = None
) -> tuple[Floats, float, float]:
    """Weights, intercept and objective; weights as differences of two numbers not below 0.

    most: (p,) the largest absolute weights.
    """

    def objective(x: Floats) -> tuple[float, Floats]:
        above, below, b = x[:P], x[P:-1], float(x[-1])
        value, slope, slope_b = loss_and_slopes(of, above - below, b)
        ridge = penalty.q * (above - below)
        value += float(penalty.lam @ (above + below) + 0.5 * ridge @ (above - below))
        slopes = (penalty.lam + slope + ridge, penalty.lam - slope - ridge, [slope_b])
        return value, np.concatenate(slopes)

    largest = [None] * P if most is None else most.tolist()
    limits = [(0.0, limit) for limit in 2 * largest]
    limits.append((None, None) if of.fit_intercept else (0.0, 0.0))
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    x = np.zeros(2 * P + 1)
    for _ in range(4):  # where a loss is nearly straight, a line search may end it too soon
        x = minimize(objective, x, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    w, b = x[:P] - x[P:-1], float(x[-1])
    return w, b, loss_and_slopes(of, w, b)[0] + penalty.value(w)


def group_optimum(of: Problem, penalty: GroupNorms) -> tuple[Floats, float, float]:
    """The same, as the limit of problems with sqrt(||w_g||^2 + e) and sqrt(w_j^2 + e), e to 0."""
    members = [
        (strength, penalty.indices[start:end])
        for strength, start, end in zip(
            penalty.strengths, penalty.indptr[:-1], penalty.indptr[1:], strict=True
        )
    ]
    members += [(lam, np.array([j])) for j, lam in enumerate(penalty.lam)]
    x = np.zeros(P + 1)
    for e in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14):

        def objective(x: Floats, e: float = e) -> tuple[float, Floats]:
            w, b = x[:-1], float(x[-1])
            value, slope, slope_b = loss_and_slopes(of, w, b)
            value, slope = value + penalty.l2 * float(w @ w), slope + 2.0 * penalty.l2 * w
            for strength, features in members:
                norm = math.sqrt(float(w[features] @ w[features]) + e)
                value += strength * norm
                slope[features] += strength / norm * w[features]
            return value, np.append(slope, slope_b)

        x = minimize(objective, x, jac=True, method="BFGS", options={"maxiter": 2000}).x
    w, b = x[:-1], float(x[-1])
    return w, b, loss_and_slopes(of, w, b)[0] + penalty.value(w)


def engines(of: Problem, w: Floats, b: float) -> Iterator[Engine]:
    """Fits far from the optimum and at it, each with the best intercept and with wrong ones."""
    rng = np.random.default_rng(5)
    shifts = (0.0, 1e-6, 0.01, -0.3, 2.0, -5.0) if of.fit_intercept else (0.0,)
    for weights in (w, np.zeros(P), 0.7 * w, w + rng.normal(size=P), 10.0 * rng.normal(size=P)):
        for shift in shifts:
            engine = Engine(of)
            engine.restart(weights.copy(), b + shift)
            yield engine


def check(bound: float, optimum: float) -> None:
    assert bound <= optimum * (1.0 + NEAR)


SEPARABLE = {
    "lasso": Separable.constant(P, l1=0.5),
    "weak lasso": Separable.constant(P, l1=0.01),
    "ridge": Separable.constant(P, l2=0.3),
    "elastic": Separable.constant(P, l1=0.3, l2=0.05),
    "some ridge": Separable(
        q=np.where(np.arange(P) % 2, 0.4, 0.0), mu=np.zeros(P), lam=np.linspace(0.1, 1.0, P)
    ),
}
EVERY = pytest.mark.parametrize("loss", LOSSES)


@pytest.mark.sampled(7)
@EVERY
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", SEPARABLE)
def test_no_bound_of_a_separable_penalty_exceeds_the_optimum(
    loss: str, intercept: bool, penalty: str
) -> None:
    part = SEPARABLE[penalty]
    for seed in range(3):
        of = problem(loss, seed, intercept=intercept)
        w, b, optimum = separable_optimum(of, part)
        assert optimum > 0.0
        best = -math.inf
        for engine in engines(of, w, b):
            gradient = engine.gradient()
            every = of.design.features
            bounds = [separable_bound(engine, part, gradient, every).value]
            bounds.append(separable_bound(engine, part, gradient, engine.active(part, gradient))[0])
            bounds.append(conjugate_bound(engine, part.conjugate))
            for bound in bounds:
                check(bound, optimum)
            best = max(best, min(bounds))
        # At the optimum each of them is as good as the minimizer.
        assert best >= optimum * (1.0 - 1e-4)


@pytest.mark.sampled(2)
@EVERY
@pytest.mark.parametrize("l1", [0.0, 0.1])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_no_bound_of_groups_exceeds_the_optimum(loss: str, l1: float, l2: float) -> None:
    penalty = GroupNorms(GROUPS, group=0.3, l1=l1, l2=l2)
    rng = np.random.default_rng(0)
    for seed in range(2):
        of = problem(loss, seed)
        w, b, optimum = group_optimum(of, penalty)
        at_optimum = penalty.duals(penalty.strengths / np.maximum(penalty.norms(w), 1e-9), w)
        best = -math.inf
        for engine in engines(of, w, b):
            objective = engine.value + penalty.value(engine.w)
            drawn = rng.normal(size=len(penalty.indices))
            for u in (np.zeros(len(drawn)), drawn, at_optimum):
                for tol in (1e-6, 0.1, 1e3):  # improves u in earnest, hardly, and with ease
                    dual = EngineDual(engine, penalty.lam)
                    inside = clipped(u, penalty.indptr, penalty.strengths)
                    size = np.abs(engine.w)
                    with np.errstate(over="ignore"):  # as the solvers do
                        bound = group_bound(dual, penalty, size, inside, objective, tol)
                    check(bound.value, optimum)
                    if l2 == 0.0:
                        # The dual variables that come with a bound are those that give it.
                        value = engine.loss.dual_value(bound.alpha, of.y, of.sample_weight)
                        assert bound.value == pytest.approx(value, rel=1e-12)
                    norms = np.sqrt(np.add.reduceat(inside * inside, penalty.indptr[:-1]))
                    assert (norms <= penalty.strengths + 1e-12).all()
                    best = max(best, bound.value)
        assert best >= optimum * (1.0 - 1e-3)


@EVERY
def test_damped_dual_variables_are_feasible_for_the_intercept(loss: str) -> None:
    of = problem(loss, 0)
    engine = Engine(of)
    engine.restart(np.full(P, 0.1), -1.0)
    dual = EngineDual(engine, np.zeros(P))
    features = np.array([1, 4], dtype=np.int32)
    before = dual.alpha
    dual.damp(features, 0.3 * dual.products[features])
    assert not np.array_equal(dual.alpha, before)
    assert dual.alpha.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(dual.products, of.X.T @ dual.alpha, atol=1e-12)
    check(dual.value(), engine.loss.value(np.full(N, 0.3), of.y, of.sample_weight))


def clipped(u: Floats, indptr: Floats, limits: Floats) -> Floats:
    """u with every part scaled into the ball of its limit."""
    parts = np.split(u, indptr[1:-1])
    return np.concatenate(
        [
            part * min(1.0, limit / max(float(np.linalg.norm(part)), 1e-300))
            for part, limit in zip(parts, limits, strict=True)
        ]
    )


def of_disjoint_groups(t: Floats) -> float:
    """Conjugate of 0.4 (||w_1|| + ||w_2||) for two groups of features."""
    return 0.0 if max(np.linalg.norm(t[:4]), np.linalg.norm(t[4:])) <= 0.4 else math.inf


def of_nothing(t: Floats) -> float:
    """Conjugate of no penalty at all."""
    return 0.0 if not t.any() else math.inf


def of_a_box(t: Floats) -> float:
    """Conjugate of |w_j| <= 0.2, and 0.1 |w_0|: nowhere infinite, and without a minimum at zero."""
    return 0.2 * float(np.abs(t[1:]).sum() + max(abs(t[0]) - 0.1, 0.0))


def of_a_box_and_the_lasso(t: Floats) -> float:
    """Conjugate of 0.5 |w_j| for some features, and of |w_j| <= 0.2 for the others."""
    return math.inf if np.abs(t[:4]).max() > 0.5 else 0.2 * float(np.abs(t[4:]).sum())


HALVES = GroupNorms(groups_of([0, 1, 2, 3], [4, 5, 6, 7]), group=0.4, l1=0.0)
FIRST, LATER = np.arange(P) == 0, np.arange(P) >= 4
OPTIMA: dict[Callable[[Floats], float], Callable[[Problem], tuple[Floats, float, float]]] = {
    of_disjoint_groups: lambda of: group_optimum(of, HALVES),
    of_nothing: lambda of: separable_optimum(of, Separable.constant(P)),
    of_a_box: lambda of: separable_optimum(of, separable(0.1 * FIRST), np.full(P, 0.2)),
    of_a_box_and_the_lasso: lambda of: separable_optimum(
        of, separable(0.5 * ~LATER), np.where(LATER, 0.2, np.inf)
    ),
}


def separable(lam: Floats) -> Separable:
    """Absolute weights of these strengths."""
    return Separable(q=np.zeros(P), mu=np.zeros(P), lam=lam)


@EVERY
@pytest.mark.parametrize("conjugate", OPTIMA)
def test_no_bound_of_any_conjugate_exceeds_the_optimum(
    loss: str, conjugate: Callable[[Floats], float]
) -> None:
    for seed in range(2):
        of = problem(loss, seed)
        w, b, optimum = OPTIMA[conjugate](of)
        bounds = [conjugate_bound(engine, conjugate) for engine in engines(of, w, b)]
        for bound in bounds:
            check(bound, optimum)
        # Where no dual variables but zero are feasible, there is no better bound than that.
        least = 0.0 if conjugate is of_nothing else optimum * (1.0 - 1e-3)
        assert max(bounds) >= least


@EVERY
def test_a_dual_value_lies_below_the_loss_at_every_score(loss: str) -> None:
    """By Fenchel and Young, with equality at the scores that the dual variables are of."""
    of = problem(loss, 4)
    rng, y, c = np.random.default_rng(2), of.y, of.sample_weight
    for size in (0.1, 1.0, 10.0):
        z, r, h = rng.normal(size=N) * size, np.empty(N), np.empty(N)
        value = of.loss.derivatives(z, y, c, r, h)
        assert of.loss.dual_value(-r, y, c) == pytest.approx(value - float(r @ z), rel=1e-9)
        for factor in (1.0, 0.5, 1e-3, 0.0):
            alpha = -factor * r
            dual = of.loss.dual_value(alpha, y, c)
            for other in (z, 0.0 * z, -z, *(rng.normal(size=N) * size for _ in range(10))):
                above = of.loss.value(other, y, c) + float(alpha @ other)
                assert dual <= above + 1e-9 * (abs(above) + 1.0)


# Whole fits.

SOLVED: dict[str, tuple[str, dict[str, Any]]] = {
    "ridge": ("ridge", {"l2": 0.3}),
    "lasso": ("lasso", {"l1": 0.5}),
    "elastic": ("elastic", {"l1": 0.3, "l2": 0.05}),
    "majorization": ("group", {"group": 0.3, "l1": 0.1, "l2": 0.0}),
    "majorization without l1": ("group", {"group": 0.3, "l1": 0.0, "l2": 0.05}),
    "ADMM": ("group", {"group": 0.3, "l1": 0.1, "l2": 0.0, "solver": "admm"}),
    "network": ("network", {"alpha": 0.5, "beta": 0.2}),
    "laplacian": ("laplacian", {"alpha": 0.5, "beta": 0.2}),
    "loose network": ("network", {"alpha": 0.01, "beta": 0.2}),
}


def descent(value: Callable[[Floats], float], x: Floats) -> float:
    """An objective near its minimum, found without any solver or gap of textreg."""
    # Without slopes, and where there is none: it zigzags for ever.
    x = minimize(value, x, method="L-BFGS-B", options={"maxfun": 1500}).x
    return float(minimize(value, x, method="Powell", options={"maxiter": 3}).fun)


def structured(of: Problem) -> Problem:
    """The same with groups and a graph."""
    from scipy.sparse import csr_array

    chain = np.eye(P, k=1)
    return of.replace(groups=GROUPS, graph=Graph(csr_array(chain + chain.T)))


@pytest.mark.sampled(7)
@EVERY
@pytest.mark.parametrize("name", SOLVED)
def test_no_bound_on_the_way_exceeds_the_optimum(loss: str, name: str) -> None:
    reg, params = SOLVED[name]
    check_bounds(loss, registry.create("regularizer", reg, **params), warm=True)


def check_bounds(loss: str, part: Regularizer, *, warm: bool) -> None:
    """No bound that a fit reports exceeds the optimum; warm: whether it begins where it is told."""
    of = structured(problem(loss, 0, tol=1e-9, max_iter=5000))
    tight = part.solve(of)

    def value(x: Floats) -> float:
        return float(part.objective(of, x[:-1], float(x[-1])))

    x = np.append(tight.w, tight.b)
    least = min(value(x), descent(value, np.zeros(len(x))))
    starts: list[tuple[Floats, float] | None] = [None]
    if warm:
        weights = (tight.w, np.zeros(P), 3.0 * tight.w)
        starts += [(w, b) for w in weights for b in (tight.b, 0.0, 4.0, -4.0)]
    for start in starts:
        solution = part.solve(of.replace(start=start, tol=1e-4))
        assert solution.converged
        for step in solution.history:
            assert step.objective >= least * (1.0 - 1e-8)
            check(step.objective * (1.0 - step.gap), least)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["ridge", "lasso", "elastic", "majorization", "loose network"])
def test_no_bound_of_several_classes_exceeds_the_optimum(name: str) -> None:
    reg, params = SOLVED[name]
    part = registry.create("regularizer", reg, **params)
    of = structured(problem("logistic", 1, tol=1e-9, max_iter=5000))
    scores = of.X @ np.random.default_rng(3).normal(size=(P, 3))
    codes = (scores - scores.mean(axis=0)).argmax(axis=1)
    tight = part.solve_softmax(of, codes)

    def value(x: Floats) -> float:
        W = x.reshape(3, P + 1)
        return float(part.objective_softmax(of, codes, W[:, :P], W[:, P]))

    x = np.column_stack([tight.w, tight.b]).ravel()
    least = min(value(x), descent(value, np.zeros(len(x))))
    for b in (tight.b, np.array([3.0, 0.0, -3.0])):
        for w in (tight.w, np.zeros((3, P)), -tight.w, 5.0 * tight.w):
            solution = part.solve_softmax(of.replace(tol=1e-4), codes, (w, b))
            for step in solution.history:
                check(step.objective * (1.0 - step.gap), least)
            assert solution.gap <= 1e-4


# What is not a number.


@pytest.mark.parametrize("at", [0, P - 1])
@pytest.mark.parametrize("nonsense", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_a_number_certifies_nothing(nonsense: float, at: int) -> None:
    of = problem("logistic", 0)
    for name, penalty in SEPARABLE.items():
        w, b, _ = separable_optimum(of, penalty)
        engine = Engine(of)
        engine.restart(w, b)
        engine.optimize_intercept()
        objective = engine.value + penalty.value(w)
        gradient = engine.gradient()
        gradient[at] = nonsense
        with np.errstate(invalid="ignore"):
            found = separable_bound(engine, penalty, gradient, of.design.features)
            assert nothing(objective, found.value), name


def nothing(objective: float, bound: float) -> bool:
    """Whether a bound tells no more than that no loss is below zero."""
    return relative_gap(objective, bound) == math.inf or bound <= 0.0


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_dual_variables_that_are_not_numbers_certify_nothing(l2: float) -> None:
    of = problem("logistic", 0)
    penalty = GroupNorms(GROUPS, group=0.3, l1=0.1, l2=l2)
    w, b, optimum = group_optimum(of, penalty)
    engine = Engine(of)
    engine.restart(w, b)
    for at in range(P):
        dual = EngineDual(engine, penalty.lam)
        dual.products[at] = math.nan
        u = np.zeros(len(penalty.indices))
        found = group_bound(dual, penalty, np.abs(w), u, optimum, 1e-4)
        assert nothing(optimum, found.value)
    assert nothing(optimum, conjugate_bound(engine, lambda t: math.nan))
    assert not nothing(optimum, conjugate_bound(engine, SEPARABLE["lasso"].conjugate))


@pytest.mark.parametrize("penalty", SEPARABLE)
def test_products_of_classes_that_are_not_numbers_certify_nothing(penalty: str) -> None:
    of, part = problem("logistic", 0), SEPARABLE[penalty]
    step = SeparableStep(of, part)
    products, weights = np.full((3, P), 0.05), np.zeros((3, P))
    assert math.isfinite(sum(step.conjugate(products, weights)))
    for at in np.ndindex(3, P):
        wrong = products.copy()
        wrong[at] = math.nan
        assert math.isnan(sum(step.conjugate(wrong, weights)))


def test_a_gap_of_what_is_not_a_number_is_infinite() -> None:
    for objective, bound in [
        (math.nan, 1.0),
        (1.0, math.nan),
        (math.nan, math.nan),
        (math.inf, 1.0),
        (math.inf, math.inf),
        (1.0, -math.inf),
        (-math.inf, 0.0),
    ]:
        assert relative_gap(objective, bound) == math.inf
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(2.0, 3.0) == 0.0
