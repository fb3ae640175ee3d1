"""Features without a penalty: certified as the intercept is, unless they fit everything."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg import train
from textreg.builtin.groups import Group
from textreg.errors import ConvergenceWarning, DataWarning
from textreg.losses import LOSSES
from textreg.penalties import GroupNorms
from textreg.records import Groups, Problem
from textreg.solvers.certificate import level
from textreg.solvers.state import Engine

SOLVERS = ["majorize", "admm"]


def problem(
    n: int, p: int, free: int, loss: str = "logistic", *, intercept: bool = True
) -> Problem:
    """Documents by p features, of which the first ones are in no group."""
    random = np.random.default_rng(n)
    X = random.integers(0, 3, (n, p)) * (random.random((n, p)) < 0.3)
    y = np.where(X @ random.normal(size=p) + 3.0 * random.normal(size=n) > 0.0, 1.0, -1.0)
    members = [np.arange(first, min(first + 5, p)) for first in range(free, p, 4)]
    ends = np.cumsum([0, *map(len, members)])
    groups = Groups(ends, np.concatenate(members), np.ones(len(members)), p)
    return Problem(
        X=csr_array(X.astype(float)),
        y=y,
        groups=groups,
        loss=LOSSES[loss](),
        tol=1e-6,
        max_iter=3000,
        fit_intercept=intercept,
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared-hinge"])
@pytest.mark.parametrize(("n", "p", "free"), [(300, 40, 5), (60, 90, 4)])
def test_the_optimum_is_certified(solver: str, loss: str, n: int, p: int, free: int) -> None:
    found = Group(group=2.0, l1=0.0, l2=0.0, solver=solver).solve(problem(n, p, free, loss))
    assert found.converged
    assert found.gap <= 1e-6
    # A ridge that is next to nothing has nearly the same optimum, and another certificate.
    near = Group(group=2.0, l1=0.0, l2=1e-7).solve(problem(n, p, free, loss))
    np.testing.assert_allclose(found.objective, near.objective, rtol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["logistic", "squared", "squared-hinge"])
def test_where_they_fit_everything_there_is_no_optimum(solver: str, loss: str) -> None:
    reg = Group(group=2.0, l1=0.0, l2=0.0, solver=solver)
    with pytest.warns(DataWarning, match="70 features have no penalty, .* fit all doc"):
        found = reg.solve(problem(60, 90, 70, loss))
    assert not found.converged
    assert found.iterations < 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        penalized = Group(group=2.0, l1=0.0, l2=0.1, solver=solver).solve(problem(60, 90, 70, loss))
    assert penalized.converged


@pytest.mark.parametrize("intercept", [True, False])
def test_leveled_dual_variables_are_orthogonal(intercept: bool) -> None:
    given = problem(80, 30, 6, intercept=intercept)
    engine = Engine(given.replace(start=(np.full(30, 0.01), 0.1)))
    features = np.arange(6, dtype=np.int32)
    alpha = level(engine, -engine.r, features)
    assert alpha is not None
    np.testing.assert_allclose(given.X[:, :6].T @ alpha, 0.0, atol=1e-10)
    assert (abs(alpha.sum()) < 1e-10) == intercept
    assert given.loss.dual_value(alpha, given.y, given.sample_weight) > 0.0  # within its domain


def test_which_features_have_no_price() -> None:
    groups = Groups(np.array([0, 2, 3]), np.array([0, 1, 3]), np.array([1.0, 0.0]), 5)
    assert GroupNorms(groups, 0.5, 0.0, 0.0).unpenalized.tolist() == [2, 3, 4]
    assert GroupNorms(groups, 0.5, 0.1, 0.0).unpenalized.tolist() == []
    assert GroupNorms(groups, 0.5, 0.0, 0.1).unpenalized.tolist() == []


def test_a_penalty_that_is_changed_has_features_without_one_of_its_own() -> None:
    groups = Groups(np.array([0, 2]), np.array([0, 1]), np.ones(1), 4)
    penalty = GroupNorms(groups, 0.5, 0.0, 0.0)
    assert penalty.unpenalized.tolist() == [2, 3]
    assert penalty.times(0.0).unpenalized.tolist() == [0, 1, 2, 3]


def test_characters_beside_sentences_of_words() -> None:
    texts = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 5
    labels = ["pos", "pos", "neg", "neg"] * 5
    options = {"reg_group": 0.1, "reg_l1": 0.0, "tokenizer": ["words", "chars"]}
    with (
        pytest.warns(DataWarning, match="no penalty, as l1 and l2 are 0"),
        pytest.warns(ConvergenceWarning, match="before its tolerance"),
    ):
        train(texts, labels, reg="sentence", reg_l2=0.0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(texts, labels, reg="sentence", reg_l2=0.01, **options)
