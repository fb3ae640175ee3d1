"""What is proven of the support holds, for every solver and tolerance."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from test_sentence import text_like
from thoroughness import draws

import textreg
from textreg.builtin.groups import Sentence
from textreg.builtin.separable import Elastic, Lasso, Ridge
from textreg.errors import ConvergenceWarning
from textreg.kinds import Regularizer
from textreg.penalties import GroupNorms
from textreg.records import Bools, Floats, Groups, Problem, Solution
from textreg.records.problem import NONZERO, ZERO, Support
from textreg.solvers import certificate as of_support

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
LOSSES = ("logistic", "squared-hinge", "squared")

PARTS = {
    "lasso": Lasso(l1=0.5),
    "elastic": Elastic(l1=0.3, l2=0.1),
    "sentence": Sentence(group=0.3, l1=0.3, l2=0.0),
    "majorize": Sentence(group=0.2, l1=0.1, l2=0.1),
    "without l1": Sentence(group=0.3, l1=0.0, l2=0.1),
}


def proof(reg: Regularizer, problem: Problem) -> tuple[Solution, Support]:
    """A solution, and what it proves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = reg.solve(problem)
    support = reg.support(problem, found)
    assert support is not None
    return found, support


def of(support: Support) -> np.ndarray[Any, Any]:
    """The states of features and groups in one array."""
    return np.concatenate([support.features, [] if support.groups is None else support.groups])


def check_at_optimum(reg: Regularizer, problem: Problem, tol: float) -> None:
    """What a solution within ``tol`` proves holds at the optimum."""
    best, _ = proof(reg, problem.replace(tol=1e-9, max_iter=20_000))
    _, support = proof(reg, problem.replace(tol=tol))
    size = 1e-4 * np.abs(best.w).max(initial=0.0)
    assert (np.abs(best.w[support.features == ZERO]) <= size).all()
    assert best.w[support.features == NONZERO].all()
    if best.group_norms is not None and support.groups is not None:
        assert (best.group_norms[support.groups == ZERO] <= 3.0 * size).all()
        assert best.group_norms[support.groups == NONZERO].all()


def check_last_digits(reg: Regularizer) -> None:
    """Near the optimum a solution proves something, and with a ridge nearly all."""
    problem = text_like(4).replace(tol=1e-9)
    found, support = proof(reg, problem)
    undecided = support.features == 0
    assert not undecided.all()
    if getattr(reg, "l2", 0.0) > 0.0:
        assert np.count_nonzero(undecided) <= 0.4 * len(undecided)
        assert np.array_equal(found.w[~undecided] != 0.0, support.features[~undecided] == NONZERO)


@draws(60)
@given(
    seed=st.integers(0, 2**20),
    name=st.sampled_from(list(PARTS)),
    tol=st.sampled_from(TOLERANCES),
    fit_intercept=st.booleans(),
    loss=st.sampled_from(LOSSES),
)
def test_it_holds_at_the_optimum(
    seed: int, name: str, tol: float, fit_intercept: bool, loss: str
) -> None:
    problem = text_like(seed, n=30, p=15).replace(fit_intercept=fit_intercept, loss=loss)
    check_at_optimum(PARTS[name], problem, tol)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_solvers_and_tolerances_never_contradict_each_other(seed: int, l2: float) -> None:
    problem = text_like(seed)
    supports: list[list[Support]] = []
    for solver in ("majorize", "admm"):
        reg = Sentence(group=0.2, l1=0.2, l2=l2, solver=solver)
        supports.append([proof(reg, problem.replace(tol=tol))[1] for tol in TOLERANCES])
    states = [of(one) for each in supports for one in each]
    zero = np.any([one == ZERO for one in states], axis=0)
    nonzero = np.any([one == NONZERO for one in states], axis=0)
    assert not (zero & nonzero).any()
    for each in supports:
        decided = [np.count_nonzero(of(one)) for one in each]
        assert decided == sorted(decided)
        assert decided[-1] > (0.5 * len(of(each[-1])) if l2 else 0)
        assert not l2 or (each[-1].features == NONZERO).any()


@pytest.mark.parametrize("name", PARTS)
def test_the_last_digits_decide_nearly_all(name: str) -> None:
    check_last_digits(PARTS[name])


def test_what_cannot_be_proven_is_not_told() -> None:
    problem = text_like(5)
    ridge = Ridge(l2=0.1)
    assert ridge.support(problem, ridge.solve(problem)) is None
    reg = Sentence(group=0.1, l1=0.1)
    rough = problem.replace(callback=lambda step: True)
    found, support = proof(reg, rough)
    assert found.gap > 1e-3
    assert not (support.features == NONZERO).any()


def test_a_model_keeps_it_and_explain_tells_it(cli: Cli, tmp_path: Path) -> None:
    file, model = tmp_path / "texts.csv", tmp_path / "m.model"
    rows = "p,It is red. I love it.\nn,It is blue. I hate it.\n" * 20
    file.write_text(f"label,text\n{rows}", encoding="utf-8")
    options = ["--tokenizer", "words", "--reg", "sentence", "--reg-group", "0.1", "--reg-l1", "1"]
    code, _, err = cli("train", file, *options, "--reg-l2", "0.1", "--tol", "1e-8", "-o", model)
    assert (code, err) == (0, "")
    summary = textreg.load(model).summary
    assert summary is not None
    assert summary.support is not None
    (features,), (groups,) = summary.support.features, summary.support.groups
    assert features.zero + features.nonzero + features.undecided == summary.features
    assert summary.groups is not None
    assert groups.zero + groups.nonzero + groups.undecided == summary.groups.before
    assert features.zero > 0 < features.nonzero
    code, out, err = cli("explain", model, "--train", file)
    assert (code, err) == (0, "")
    assert (
        f"proven of features at the optimum: {features.zero} surely zero, {features.nonzero} "
        f"surely not, {features.undecided} undecided\nproven of sentences at the optimum: "
    ) in out


def undecided(seed: int, l1: float, p: int = 60) -> tuple[GroupNorms, Floats, Bools]:
    """Overlapping groups, the largest products that features may have, and which have no weight."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=80)
    members = [np.sort(rng.choice(p, size, replace=False)) for size in sizes]
    indptr, weights = np.append(0, np.cumsum(sizes)), rng.uniform(0.1, 2.0, len(sizes))
    groups = Groups(indptr, np.concatenate(members), weights, p)
    largest, zero = rng.exponential(0.3, p), rng.random(p) < 0.9
    largest[rng.random(p) < 0.1] = 0.0
    return GroupNorms(groups, 0.1, l1=l1, l2=0.1), largest, zero


@pytest.mark.parametrize("seed", range(12))
def test_groups_that_hold_nothing_else_keep_features_at_zero(seed: int) -> None:
    penalty, largest, zero = undecided(seed, l1=0.2 * (seed % 2))
    p = penalty.p
    found, inside = of_support._kept_at_zero(penalty, largest, zero)
    sure = largest < penalty.lam
    assert found[sure].all()
    assert not found[~sure & ~zero].any()
    by_groups = found & ~sure
    assert by_groups.any()
    assert not found.all()
    # (K2): dual variables of groups within the set, in proportion to all that a feature can get.
    np.testing.assert_array_equal(inside, penalty.norms(np.where(found, 0.0, 1.0)) == 0.0)
    strengths = np.where(inside, penalty.strengths, 0.0)
    reached = penalty.spread(strengths)
    assert (reached[by_groups] > 0.0).all()
    share = np.zeros(p)
    share[by_groups] = (largest - penalty.lam)[by_groups] / reached[by_groups]
    assert (penalty.norms(np.maximum(share, 0.0))[strengths > 0.0] < 1.0).all()
