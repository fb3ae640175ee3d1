"""Fits of several labels side by side: each is its own optimum, to the bit, whoever is beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_inputs import random_matrix
from labels import labels_over

import textreg
from textreg import Ridge
from textreg._core import threads
from textreg.builtin.groups import Sentence
from textreg.plugins import calls
from textreg.records import Groups, Problem, Solution
from textreg.solvers.dual_ascent import ridges

N, P, LABELS = 80, 200, 5


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix counts as large."""
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)


def problems(seed: int = 0, **options: Any) -> list[Problem]:
    """Labels of a few documents each, over the same matrix, with weights of their own."""
    rng = np.random.default_rng(seed)
    shared = Problem(random_matrix((N, P), 0.1, rng), np.ones(N), **{"tol": 1e-6, **options})
    return labels_over(shared, LABELS, rng)


def bits(solution: Solution) -> tuple[Any, ...]:
    return solution.w.tobytes(), solution.b, solution.objective, solution.gap, solution.iterations


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-3, 1e-1, 10.0])
def test_each_is_certified_and_what_it_is_alone(l2: float, fit_intercept: bool) -> None:
    posed = problems(fit_intercept=fit_intercept, tol=1e-8)
    for one, found in zip(posed, ridges(posed, l2), strict=True):
        (alone,) = ridges([one], l2)
        assert found.converged
        assert 0.0 <= found.gap <= one.tol
        assert found.objective == pytest.approx(alone.objective, rel=1e-7)
        assert Ridge(l2=l2).objective(one, found.w, found.b) == pytest.approx(found.objective)
        if not fit_intercept:
            assert found.b == 0.0


def test_the_bits_do_not_depend_on_who_is_beside() -> None:
    posed = problems()
    together = [bits(one) for one in ridges(posed, 0.1)]
    assert [bits(ridges([one], 0.1)[0]) for one in posed] == together
    assert [bits(one) for one in ridges(posed[3:0:-1], 0.1)] == together[3:0:-1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge"])
@pytest.mark.parametrize("count", [2, 3, 17, 37])
def test_nor_on_how_many_there_are(count: int, loss: str) -> None:
    rng = np.random.default_rng(1)
    shared = Problem(random_matrix((N, P), 0.1, rng), np.ones(N), loss=loss)
    targets = np.where(rng.random((count, N)) < 0.3, 1.0, -1.0)
    posed = [shared.replace(y=y, sample_weight=rng.integers(0, 3, N) + 0.0) for y in targets]
    together = [bits(one) for one in ridges(posed, 0.01)]
    for at in (0, count // 2, count - 1):
        assert bits(ridges([posed[at]], 0.01)[0]) == together[at]
    with threads.allowing(3):
        assert [bits(one) for one in ridges(posed, 0.01)] == together


def test_a_start_changes_nothing() -> None:
    posed = problems()
    far = [one.replace(start=(np.full(P, 1e6), 0.0)) for one in posed]
    assert [bits(one) for one in ridges(far, 0.1)] == [bits(one) for one in ridges(posed, 0.1)]


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_weights_of_documents_may_be_of_any_size(scale: float) -> None:
    posed = [one.replace(sample_weight=scale * one.sample_weight) for one in problems()]
    for found, usual in zip(ridges(posed, 0.1 * scale), ridges(problems(), 0.1), strict=True):
        assert found.converged
        assert found.objective == pytest.approx(scale * usual.objective, rel=1e-5)


def test_groups_without_strength_have_the_norms_of_every_solution() -> None:
    groups = Groups([0, 2, 4], [0, 1, 1, 2], np.ones(2), n_features=P)
    posed, part = problems(groups=groups), Sentence(group=0.0, l1=0.0, l2=0.1)
    for one, found in zip(posed, part.solve_each(posed), strict=True):
        alone = part.solve(one)
        assert found.group_norms is not None
        np.testing.assert_allclose(found.group_norms, alone.group_norms, rtol=1e-2)


def test_a_part_that_changes_solve_alone_is_asked_for_each() -> None:
    class Own(Ridge):
        def solve(self, problem: Problem) -> Solution:
            return super().solve(problem.replace(tol=1e-3))

    posed = problems()
    assert calls.solves_together(Ridge(l2=1.0))
    assert not calls.solves_together(Own(l2=1.0))
    found = calls.solve_each(Own(l2=0.1), posed)
    assert [bits(one) for one in found] == [bits(Own(l2=0.1).solve(one)) for one in posed]


def test_a_callback_stops_its_own_fit() -> None:
    posed = problems()
    posed[1] = posed[1].replace(callback=lambda step: True)
    found = ridges(posed, 0.1)
    assert len(found[1].history) == 1
    assert all(one.converged for one in (found[0], *found[2:]))


def test_a_model_is_the_same_with_any_number_of_jobs() -> None:
    rng = np.random.default_rng(0)
    labels = [label for label in "abcdef" for _ in range(10)]
    texts = [f"{label * 2} w{rng.integers(9)} w{rng.integers(9)}" for label in labels]
    options: dict[str, Any] = {"reg": "ridge", "tokenizer": "words", "cv": 2}
    options["search_space"] = {"reg_l2": [0.1, 1.0, 10.0]}
    # With eight threads no fit has another one beside it.
    one, *others = (textreg.train(texts, labels, **options, jobs=jobs) for jobs in (1, 2, 8))
    for other in others:
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.intercepts, other.intercepts)
        assert one.summary.search == other.summary.search
