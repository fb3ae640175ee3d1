"""The solver for penalties that others bring, against the engine where both can do it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

from textreg import train
from textreg.errors import ConvergenceWarning, PluginError, UsageError
from textreg.kinds import Penalized
from textreg.params import AUTO, LogGrid, param
from textreg.penalties import Separable
from textreg.records import Floats, Int64s, Problem, Step
from textreg.solvers.newton import newton
from textreg.solvers.proximal import proximal
from textreg.solvers.softmax import SeparableStep, multinomial, multinomial_proximal, softmax_loss

SEED = st.integers(0, 2**32 - 1)


class Mine:
    """l1 ||w||_1 + l2 ||w||_2^2 as somebody else would write it: no more than value and prox."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = l1, l2

    def value(self, w: Floats) -> float:
        return float(self.l1 * np.abs(w).sum() + self.l2 * (w @ w))

    def prox(self, w: Floats, step: float) -> Floats:
        shrunk = np.maximum(np.abs(w) - step * self.l1, 0.0) / (1.0 + 2.0 * step * self.l2)
        return np.sign(w) * shrunk


class Ball:
    """No weights outside the unit ball: a constraint, which newton cannot do."""

    def value(self, w: Floats) -> float:
        return 0.0 if w @ w <= 1.0 + 1e-9 else math.inf

    def prox(self, w: Floats, step: float) -> Floats:
        return w / max(1.0, float(np.linalg.norm(w)))


def problem(seed: int = 0, n: int = 40, p: int = 12, **options: Any) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, p)).astype(np.float64)
    y = np.where(X @ rng.normal(size=p) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = [-1.0, 1.0]
    weights = rng.choice([0.0, 1.0, 2.0], n)
    weights[:2] = 1.0  # without weight on both sides the intercept has no optimum
    return Problem(X, y, **{"sample_weight": weights, "tol": 1e-7, "max_iter": 20_000, **options})


@pytest.mark.parametrize("strengths", [{"l1": 0.8}, {"l2": 0.4}, {"l1": 0.5, "l2": 0.2}], ids=str)
@draws(20)
@given(seed=SEED, intercept=st.booleans())
def test_optimum_is_that_of_newton(strengths: dict[str, float], seed: int, intercept: bool) -> None:
    given_problem = problem(seed, fit_intercept=intercept)
    expected = newton(given_problem, Separable.constant(12, **strengths))
    found = proximal(given_problem, Mine(**strengths))
    assert found.converged
    assert math.isnan(found.gap)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert intercept or found.b == 0.0
    np.testing.assert_allclose(found.w, expected.w, atol=5e-3)


@pytest.mark.parametrize("strengths", [{"l1": 0.8}, {"l2": 0.4}, {"l1": 0.5, "l2": 0.2}], ids=str)
@draws(20)
@given(seed=SEED)
def test_a_conjugate_brings_a_gap(strengths: dict[str, float], seed: int) -> None:
    given_problem = problem(seed, tol=1e-6)
    penalty = Separable.constant(12, **strengths)
    optimum = newton(given_problem.replace(tol=1e-9), penalty).objective
    found = proximal(given_problem, penalty)
    assert found.converged
    assert 0.0 <= found.gap <= 1e-6
    assert found.objective * (1.0 - found.gap) <= optimum * (1.0 + 1e-9)
    assert found.objective >= optimum * (1.0 - 1e-9)


def test_constraints_are_penalties_too() -> None:
    given_problem = problem()
    found = proximal(given_problem, Ball())
    assert found.converged
    assert np.linalg.norm(found.w) == pytest.approx(1.0)
    z = given_problem.X @ found.w + found.b
    r = -given_problem.sample_weight * given_problem.y / (1.0 + np.exp(given_problem.y * z))
    gradient = given_problem.X.T @ r
    # At the optimum the gradient points straight out of the ball.
    cosine = -gradient @ found.w / np.linalg.norm(gradient)
    assert cosine == pytest.approx(1.0, abs=1e-6)
    assert r.sum() == pytest.approx(0.0, abs=1e-5)


def test_a_start_at_the_optimum_takes_no_step() -> None:
    given_problem = problem(tol=1e-5)
    first = proximal(given_problem.replace(tol=1e-7), Mine(l1=0.8))
    again = proximal(given_problem.replace(start=(first.w, first.b)), Mine(l1=0.8))
    assert again.iterations == 0
    assert again.converged


def test_a_large_strength_empties_the_model() -> None:
    given_problem = problem()
    found = proximal(given_problem, Mine(l1=1e9))
    assert found.nonzero == 0
    assert found.b == pytest.approx(given_problem.intercept_at_zero())


def test_a_single_label_has_no_optimal_intercept() -> None:
    """The loss falls as it moves on, whatever the weights do: no step is refused for that."""
    given_problem = problem()
    found = proximal(given_problem.replace(y=np.ones(40)), Mine(l2=0.4))
    assert found.converged
    assert found.objective < 1e-12
    np.testing.assert_allclose(found.w, 0.0, atol=1e-12)


def test_documents_without_a_feature_need_no_step() -> None:
    empty = problem().replace(X=np.zeros((40, 12)))
    found = proximal(empty, Mine(l1=0.5))
    assert (found.nonzero, found.converged, found.iterations) == (0, True, 0)
    assert found.b == pytest.approx(empty.intercept_at_zero())


def test_callback_sees_every_step_and_may_stop() -> None:
    seen: list[Step] = []
    whole = proximal(problem(callback=seen.append), Mine(l1=0.8))
    assert whole.history == tuple(seen)
    assert [step.iteration for step in seen] == list(range(1, whole.iterations + 1))
    stopped = proximal(problem(callback=lambda step: step.iteration == 3), Mine(l1=0.8))
    assert stopped.iterations == 3
    assert not stopped.converged
    assert stopped.objective == pytest.approx(seen[2].objective)


def test_too_few_iterations_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps of proximal gradient"):
        found = proximal(problem(max_iter=2), Mine(l1=0.8))
    assert not found.converged
    assert found.residual > 0.0


def test_residual_is_that_of_the_weights_returned() -> None:
    given_problem = problem(tol=1e-4)
    penalty = Mine(l1=0.8)
    found = proximal(given_problem, penalty)
    z = given_problem.X @ found.w + found.b
    r = -given_problem.sample_weight * given_problem.y / (1.0 + np.exp(given_problem.y * z))
    gradient = given_problem.X.T @ r
    # For a separable penalty the residual hardly depends on the step.
    moved = penalty.prox(found.w - 1e-3 * gradient, 1e-3)
    residual = max(np.abs(found.w - moved).max() / 1e-3, abs(r.sum()))
    assert residual == pytest.approx(found.residual, rel=0.5)


@pytest.mark.parametrize("answer", [np.zeros(3), np.full(12, np.nan)], ids=["shape", "nan"])
def test_a_wrong_prox_is_refused_by_name(answer: Floats) -> None:
    class Broken(Mine):
        def prox(self, w: Floats, step: float) -> Floats:
            return answer

    with pytest.raises(PluginError, match=r"Broken\.prox returned an array of shape"):
        proximal(problem(), Broken())


def test_a_regularizer_that_is_a_penalty_needs_no_solver() -> None:
    class Mined(Penalized):
        name = "mined"
        l1: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1, 2), help="strength")

        def penalty(self, problem: Problem) -> Mine:
            return Mine(l1=self.l1)

    found = Mined(l1=0.8).solve(problem())
    np.testing.assert_array_equal(found.w, proximal(problem(), Mine(l1=0.8)).w)
    with pytest.raises(UsageError, match="mined: l1 not chosen yet"):
        Mined().solve(problem())


def test_the_intercept_does_not_shorten_steps() -> None:
    # Small features, as tf-idf makes them, beside an intercept that all documents share.
    whole = problem(n=400, tol=1e-6)
    scaled = whole.replace(X=whole.X * 1e-3)
    found, expected = proximal(scaled, Mine(l1=0.8e-3)), proximal(whole, Mine(l1=0.8))
    assert found.converged
    assert found.iterations <= expected.iterations * 1.5
    np.testing.assert_allclose(found.w * 1e-3, expected.w, atol=1e-4)


class Mcp:
    """Minimax concave penalty (Zhang 2010): not convex, and no penalty on large weights."""

    convex = False

    def __init__(self, l1: float, concavity: float) -> None:
        self.l1, self.concavity = l1, concavity

    def value(self, w: Floats) -> float:
        size = np.minimum(np.abs(w), self.concavity * self.l1)
        return float((self.l1 * size - size**2 / (2.0 * self.concavity)).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        free = np.abs(w) > self.concavity * self.l1
        if step >= self.concavity:  # then no weight in between is ever best
            return np.where(w * w > step * self.concavity * self.l1**2, w, 0.0)
        shrunk = np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0)
        return np.where(free, w, shrunk / (1.0 - step / self.concavity))


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_rises_even_where_it_is_not_convex(seed: int) -> None:
    found = proximal(problem(seed), Mcp(0.8, 3.0))
    values = [step.objective for step in found.history]
    assert all(after <= before * (1 + 1e-12) for before, after in itertools.pairwise(values))
    assert found.converged
    assert found.objective == values[-1]


@pytest.mark.parametrize("loss", ["squared-hinge", "squared"])
def test_other_losses(loss: str) -> None:
    given_problem = problem(loss=loss)
    expected = newton(given_problem, Separable.constant(12, l1=0.8))
    found = proximal(given_problem, Mine(l1=0.8))
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert found.b == pytest.approx(expected.b, abs=1e-3)


def test_what_is_no_penalty_is_refused_by_name() -> None:
    class Forgetful(Penalized):
        name = "forgetful"

        def penalty(self, problem: Problem) -> Any:
            Mine(l1=1.0)

    with pytest.raises(PluginError, match=r"Forgetful\.penalty returned None, which has no value"):
        Forgetful().solve(problem())


@pytest.mark.parametrize("answer", [math.nan, None, "1", np.zeros(12)])
def test_a_value_that_is_no_number_is_refused_by_name(answer: Any) -> None:
    class Broken(Mine):
        def value(self, w: Floats) -> Any:
            return answer

    with pytest.raises(PluginError, match=r"Broken\.value returned .* instead of a number"):
        proximal(problem(), Broken())


def test_a_penalty_cannot_write_to_the_weights() -> None:
    class Sizes(Mine):
        def value(self, w: Floats) -> float:
            np.abs(w, out=w)
            return self.l1 * float(w.sum())

    class Moves(Mine):
        def prox(self, w: Floats, step: float) -> Floats:
            w -= step
            return w

    class Slopes(Mine):
        def conjugate(self, t: Floats) -> float:
            t *= 0.5
            return 0.0

    made, codes = classes()
    for penalty in (Sizes(l1=0.8), Moves(l1=0.8), Slopes(l1=0.8)):
        with pytest.raises(ValueError, match="read-only"):
            proximal(problem(), penalty)
        with pytest.raises(ValueError, match="read-only"):
            multinomial_proximal(made, codes, penalty)


def test_a_prox_may_return_what_it_is_given() -> None:
    class Free(Mine):
        def prox(self, w: Floats, step: float) -> Floats:
            return w

    found = proximal(problem(), Free(l1=0.0))
    assert found.w.flags.writeable
    assert found.objective == pytest.approx(proximal(problem(), Mine(l1=0.0)).objective)


def test_weights_without_a_loss_are_refused_by_name() -> None:
    class Huge(Mine):
        def prox(self, w: Floats, step: float) -> Floats:
            return np.full(len(w), 1e308) * np.where(np.arange(len(w)) % 2, 1.0, -1.0)

    with (
        np.errstate(all="ignore"),
        pytest.raises(PluginError, match=r"Huge\.prox returns weights with a loss of NaN"),
    ):
        proximal(problem(loss="squared"), Huge())


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
@pytest.mark.parametrize("unit", [1.0, 3.0, 1e-6])
def test_fine_tolerances_are_met_where_the_loss_is_rounded(loss: str, unit: float) -> None:
    made = problem(loss=loss, tol=1e-11, max_iter=1000)
    made = made.replace(X=made.X * unit)
    found = proximal(made, Separable.constant(12, l1=0.8 * unit, l2=0.05 * unit**2))
    assert found.converged
    assert 0.0 <= found.gap <= 1e-11


CLASSES = 3


def classes(seed: int = 0, **options: Any) -> tuple[Problem, Int64s]:
    """The same problem with three classes, all of which have documents with a weight."""
    made = problem(seed, **options)
    rng = np.random.default_rng(seed)
    codes = np.argmax(made.X @ rng.normal(size=(12, CLASSES)) + rng.normal(size=CLASSES), axis=1)
    codes[:CLASSES] = range(CLASSES)
    weights = made.sample_weight.copy()
    weights[:CLASSES] = 1.0
    return made.replace(sample_weight=weights), codes.astype(np.int64)


@pytest.mark.parametrize("strengths", [{"l1": 0.8}, {"l2": 0.4}, {"l1": 0.5, "l2": 0.2}], ids=str)
@draws(10)
@given(seed=SEED, intercept=st.booleans())
def test_softmax_has_the_optimum_of_classes_in_turn(
    strengths: dict[str, float], seed: int, intercept: bool
) -> None:
    made, codes = classes(seed, fit_intercept=intercept, tol=1e-6)
    step = SeparableStep(made, Separable.constant(12, **strengths))
    optimum = multinomial(made.replace(tol=1e-7), codes, step).objective
    found = multinomial_proximal(made, codes, Mine(**strengths))
    assert found.converged
    assert math.isnan(found.gap)
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    value = softmax_loss(made, codes, found.w, found.b) + sum(map(Mine(**strengths).value, found.w))
    assert found.objective == pytest.approx(value, rel=1e-9)
    assert found.b.sum() == pytest.approx(0.0, abs=1e-9)
    assert intercept or not found.b.any()
    # With a conjugate there is a gap, which bounds how far it is from the optimum.
    found = multinomial_proximal(made, codes, Separable.constant(12, **strengths))
    assert found.converged
    assert 0.0 <= found.gap <= 1e-6
    assert optimum * (1.0 - 1e-7) <= found.objective
    assert found.objective * (1.0 - found.gap) <= optimum * (1.0 + 1e-9)


def test_softmax_starts_where_it_is_told_to_and_stops() -> None:
    made, codes = classes(tol=1e-5)
    first = multinomial_proximal(made.replace(tol=1e-7), codes, Mine(l1=0.8))
    again = multinomial_proximal(made, codes, Mine(l1=0.8), (first.w, first.b))
    assert (again.iterations, again.converged) == (0, True)
    seen: list[Step] = []
    whole = multinomial_proximal(made.replace(callback=seen.append), codes, Mine(l1=0.8))
    assert whole.history == tuple(seen)
    assert all(b.objective <= a.objective for a, b in itertools.pairwise(seen))
    stopping = made.replace(callback=lambda step: step.iteration == 3)
    assert multinomial_proximal(stopping, codes, Mine(l1=0.8)).iterations == 3
    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps of proximal gradient"):
        assert not multinomial_proximal(made.replace(max_iter=2), codes, Mine(l1=0.8)).converged


def test_intercepts_come_back_from_where_newton_goes_too_far() -> None:
    made, codes = classes(tol=1e-8)
    expected = multinomial_proximal(made, codes, Mine(l1=0.8))
    away = np.zeros((CLASSES, 12)), np.array([9.0, -9.0, 0.0])
    found = multinomial_proximal(made, codes, Mine(l1=0.8), away)
    assert found.converged
    np.testing.assert_allclose(found.b, expected.b, atol=1e-4)


def test_softmax_refuses_wrong_penalties_by_name() -> None:
    class Broken(Mine):
        def prox(self, w: Floats, step: float) -> Floats:
            return np.zeros(3)

    made, codes = classes()
    with pytest.raises(PluginError, match=r"Broken\.prox returned an array of shape \(3,\)"):
        multinomial_proximal(made, codes, Broken())
    with pytest.raises(UsageError, match="softmax extends the logistic loss"):
        multinomial_proximal(made.replace(loss="squared-hinge"), codes, Mine(l1=0.8))


class OfOthers(Penalized):
    """An l1 penalty by its prox alone."""

    name = "of-others"
    l1: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1, 2), help="strength")

    def penalty(self, problem: Problem) -> Mine:
        return Mine(l1=self.l1)


class OfRows(OfOthers):
    """One that wants the matrix."""

    name = "of-rows"

    def penalty(self, problem: Problem) -> Mine:
        return Mine(l1=self.l1 * float(problem.X.max()))


TEXTS = ["a fine lamp", "a dull lamp", "an odd kettle", "fine", "dull and plain", "odd, very odd"]
LABELS = ["good", "bad", "strange"]


def test_a_regularizer_that_is_a_penalty_fits_all_classes_together() -> None:
    options: dict[str, Any] = {"multiclass": "softmax", "tol": 1e-7, "prune": 0.0}
    model = train(TEXTS * 4, LABELS * 8, reg=OfOthers(l1=0.1), **options)
    lasso = train(TEXTS * 4, LABELS * 8, reg="lasso", reg_l1=0.1, **options)
    assert model.summary is not None
    assert model.summary.converged
    np.testing.assert_allclose(model.predict_proba(TEXTS), lasso.predict_proba(TEXTS), atol=1e-3)
    searched = train(TEXTS * 4, LABELS * 8, reg=OfOthers(), multiclass="softmax")
    assert list(searched.predict(TEXTS)) == LABELS * 2


def test_a_regularizer_that_is_a_penalty_fits_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 10)
    options: dict[str, Any] = {"tol": 1e-7, "prune": 0.0}
    whole = train(TEXTS * 10, LABELS * 20, reg=OfOthers(l1=0.1), **options)
    blocks = train(TEXTS * 10, LABELS * 20, reg=OfOthers(l1=0.1), memory="1GB", **options)
    assert blocks.summary is not None
    assert blocks.summary.converged
    assert blocks.summary.blocks is not None
    assert blocks.summary.blocks.blocks > 1
    np.testing.assert_allclose(
        blocks.decision_function(TEXTS), whole.decision_function(TEXTS), atol=1e-4
    )
    train(TEXTS * 10, LABELS * 20, reg=OfOthers(), memory="1GB")  # strengths that are searched
    train(TEXTS * 10, LABELS * 20, reg=OfRows(l1=0.1))
    with pytest.raises(UsageError, match="lie in blocks, and what is asked for needs the whole"):
        train(TEXTS * 10, LABELS * 20, reg=OfRows(l1=0.1), memory="1GB")


def test_a_penalty_of_groups_does_not_fit_blocks() -> None:
    class OfGroups(OfOthers):
        name = "of-groups"
        needs = "groups"

    assert OfOthers(l1=1.0).fits_blocks()
    assert not OfGroups(l1=1.0).fits_blocks()
