"""The latent group lasso: its norm, its optimum, its bound, and what it selects."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from test_bounds import check_bounds
from test_removal_table import TEXT, train
from test_sentence import ragged, same, text_like
from test_support import LOSSES, TOLERANCES, check_at_optimum, check_last_digits
from thoroughness import draws

import textreg
from textreg.builtin.groups import Group
from textreg.builtin.separable import Elastic, Lasso
from textreg.errors import ModelError, UsageError
from textreg.explain import find_selection
from textreg.explain.sentences import removal_tables
from textreg.penalties import soft
from textreg.records import Corpus, Floats, Groups, Problem
from textreg.records.problem import ZERO, PartsReport
from textreg_latent import Latent
from textreg_latent.certificate import (
    clipped,
    latent_bound,
    least_kappa,
    projected,
    support_of_parts,
    tightest,
)
from textreg_latent.penalty import LatentPenalty, latent_parts
from textreg_latent.solver import LatentFit

STRENGTHS = [(0.5, 0.0, 0.1), (0.5, 0.0, 0.0), (0.3, 0.2, 0.01), (1.0, 0.3, 0.0)]
"""group, l1, l2."""


PROVING = {
    "with a ridge": Latent(group=1.0, l1=0.0, l2=0.1),
    "without a ridge": Latent(group=1.0, l1=0.0, l2=0.0),
    "with l1": Latent(group=0.7, l1=0.2, l2=0.1),
}


def members(groups: Groups) -> list[Floats]:
    """The features of every group."""
    return [groups.members(g) for g in range(len(groups))]


def brute_force(problem: Problem, reg: Latent, rounds: int = 4_000) -> tuple[float, Floats]:
    """The least objective and the norms of the parts: the group lasso over one copy of a column
    for every group that has it, by accelerated proximal gradient."""
    groups, X, y = problem.groups, problem.X.toarray(), problem.y
    assert groups is not None
    copies = np.concatenate([*members(groups), np.setdiff1d(np.arange(X.shape[1]), groups.indices)])
    cuts = [*groups.indptr, *range(int(groups.indptr[-1]) + 1, len(copies) + 1)]
    strengths = reg.group * np.append(groups.weights, np.zeros(len(cuts) - 1 - len(groups)))
    A = np.hstack([X[:, copies], np.ones((len(y), 1))])
    M = np.zeros((X.shape[1], len(copies) + 1))
    M[copies, np.arange(len(copies))] = 1.0
    L = 0.25 * np.linalg.norm(A, 2) ** 2 + 2.0 * reg.l2 * np.linalg.norm(M, 2) ** 2

    def smooth(v: Floats) -> float:
        return float(np.logaddexp(0.0, -y * (A @ v)).sum() + reg.l2 * ((M @ v) ** 2).sum())

    def gradient(v: Floats) -> Floats:
        r = -y / (1.0 + np.exp(y * (A @ v)))
        return A.T @ r + 2.0 * reg.l2 * (M.T @ (M @ v))

    def prox(v: Floats) -> Floats:
        v = np.append(soft(v[:-1], reg.l1 / L), v[-1])
        for g, strength in enumerate(strengths):
            part = slice(cuts[g], cuts[g + 1])
            size = float(np.linalg.norm(v[part]))
            v[part] *= max(0.0, 1.0 - strength / L / size) if size else 0.0
        return v

    here = ahead = np.zeros(A.shape[1])
    momentum = 1.0
    for _ in range(rounds):
        new = prox(ahead - gradient(ahead) / L)
        if (ahead - new) @ (new - here) > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        here, ahead = new, new + (momentum - 1.0) / following * (new - here)
        momentum = following
    norms = np.array([np.linalg.norm(here[cuts[g] : cuts[g + 1]]) for g in range(len(cuts) - 1)])
    value = smooth(here) + strengths @ norms + reg.l1 * np.abs(here[:-1]).sum()
    return float(value), norms[: len(groups)]


def few_groups(seed: int, **changes: Any) -> Problem:
    """A small problem with some overlapping groups of unequal weights; two features are in none."""
    problem = text_like(seed, n=40, p=14, per_document=2)
    random = np.random.default_rng(seed)
    sets = [random.choice(12, size=random.integers(1, 6), replace=False).tolist() for _ in range(9)]
    sets.append(list(range(12)))
    weights = random.uniform(0.5, 2.0, len(sets)).tolist()
    groups = ragged(sets, 14, weights)
    return problem.replace(**{"groups": groups, "tol": 1e-9, **changes})


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("group", "l1", "l2"), STRENGTHS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_group_lasso_over_copies(seed: int, group: float, l1: float, l2: float) -> None:
    problem = few_groups(seed)
    if l1 == l2 == 0.0:  # where features of no group could have no weight
        problem = problem.replace(X=csr_array(problem.X * (np.arange(14) < 12)))
    reg = Latent(group=group, l1=l1, l2=l2)
    found, (least, norms) = reg.solve(problem), brute_force(problem, reg)
    assert found.converged
    assert found.objective == pytest.approx(least, rel=1e-8)
    assert found.group_norms is not None
    np.testing.assert_allclose(found.group_norms, norms, atol=1e-3)
    assert reg.objective(problem, found.w, found.b) == pytest.approx(found.objective, rel=1e-9)


def test_steps_of_the_solver() -> None:
    """How far every step gets: with a fault in one the others find the optimum, too, but later."""
    for seed, (group, l1, l2) in enumerate(STRENGTHS):
        problem, reg = few_groups(seed), Latent(group=group, l1=l1, l2=l2)
        if l1 == l2 == 0.0:
            problem = problem.replace(X=csr_array(problem.X * (np.arange(14) < 12)))
        penalty = reg.penalty(problem)
        count = len(penalty.strengths)
        fit = LatentFit(problem, penalty, np.zeros(14), 0.0, np.zeros(count))
        reached = [fit.value, fit.bound()]
        fit.enter(np.full(count, np.inf), 0.9)
        for step in (fit.reweight, fit.newton):
            reached.append(fit.value)
            for _ in range(3):
                step()
                reached.append(fit.value)
            reached.append(fit.bound())
        assert reached == pytest.approx(REACHED[seed], rel=1e-5)


def test_a_weight_whose_parts_are_gone_goes_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = text_like(0).replace(groups=ragged([list(range(20)), list(range(20, 40))], 40))
    penalty = Latent(group=0.1, l1=0.0, l2=0.1).penalty(problem)
    fit = LatentFit(problem, penalty, np.full(40, 0.1), 0.0, np.ones(2))
    monkeypatch.setattr("textreg_latent.solver.settled", lambda *_: np.array([0.0, 1.0]))
    fit._settle()
    assert not fit.engine.w[:20].any()
    assert fit.engine.w[20:].all()
    assert math.isfinite(fit.value)


def test_rounds_of_the_solver() -> None:
    found = {}
    for tol in (3e-2, 1e-9):
        for seed, (group, l1, l2) in enumerate(STRENGTHS):
            problem = few_groups(seed, tol=tol)
            if l1 == l2 == 0.0:
                problem = problem.replace(X=csr_array(problem.X * (np.arange(14) < 12)))
            solution = Latent(group=group, l1=l1, l2=l2).solve(problem)
            assert isinstance(solution.report, PartsReport)
            steps = [f"{it.iteration} {it.objective:.6g}" for it in solution.history]
            found[tol, seed] = [*steps, f"{solution.report.groups} {solution.objective:.6g}"]
    assert found == ROUNDS


REACHED: dict[int, list[float]] = {
    0: [
        27.52555,
        -677.7065,
        30.48035,
        11.59056,
        8.769402,
        8.44927,
        8.415755,
        8.44927,
        8.443617,
        8.440861,
        8.440717,
        8.440699,
    ],
    1: [
        24.43457,
        4.882559,
        26.52545,
        20.30519,
        20.1741,
        20.16955,
        20.14111,
        20.16955,
        20.16949,
        20.16947,
        20.16928,
        20.16744,
    ],
    2: [
        26.46253,
        -1323.406,
        29.77871,
        17.94066,
        17.1286,
        17.05879,
        16.98281,
        17.05879,
        17.05817,
        17.05444,
        17.05259,
        17.04971,
    ],
    3: [
        27.27418,
        12.909,
        31.71466,
        21.08003,
        20.78289,
        20.76984,
        20.74605,
        20.76984,
        20.76976,
        20.76911,
        20.7691,
        20.76833,
    ],
}
ROUNDS: dict[tuple[float, int], list[str]] = {
    (0.03, 0): ["0 27.5256", "1 8.45219", "(9,) 8.45219"],
    (0.03, 1): ["0 24.4346", "1 20.1695", "(0, 3, 9) 20.1695"],
    (0.03, 2): ["0 26.4625", "1 17.0591", "(0, 9) 17.057"],
    (0.03, 3): ["0 27.2742", "1 20.7698", "(9,) 20.7698"],
    (1e-09, 0): ["0 27.5256", "1 8.45219", "2 8.44071", "3 8.44071", "(9,) 8.44071"],
    (1e-09, 1): [
        "0 24.4346",
        "1 20.1695",
        "2 20.1693",
        "3 20.1693",
        "4 20.1693",
        "(0, 3, 9) 20.1693",
    ],
    (1e-09, 2): [
        "0 26.4625",
        "1 17.0591",
        "2 17.0523",
        "3 17.0522",
        "4 17.0522",
        "5 17.0522",
        "(0, 9) 17.0522",
    ],
    (1e-09, 3): ["0 27.2742", "1 20.7698", "2 20.7691", "3 20.7691", "4 20.7691", "(9,) 20.7691"],
}


@pytest.mark.parametrize(("group", "l1", "l2"), STRENGTHS)
def test_groups_that_do_not_overlap_are_the_group_lasso(group: float, l1: float, l2: float) -> None:
    problem = text_like(1)
    cuts = [list(range(k, min(k + 7, 40))) for k in range(0, 40, 7)]
    problem = problem.replace(groups=ragged(cuts, 40, [1.0, 2.0, 0.5, 1.0, 1.0, 3.0]))
    latent = Latent(group=group, l1=l1, l2=l2).solve(problem)
    usual = Group(group=group, l1=l1, l2=l2).solve(problem)
    assert latent.objective == pytest.approx(usual.objective, rel=2e-7)
    np.testing.assert_allclose(latent.w, usual.w, atol=2e-3)


def test_groups_of_one_are_the_lasso() -> None:
    problem = text_like(1)
    singles = problem.replace(groups=ragged([[j] for j in range(40)], 40))
    latent = Latent(group=0.2, l1=0.1, l2=0.0).solve(singles)
    lasso = Lasso(l1=0.3).solve(problem)
    assert latent.objective == pytest.approx(lasso.objective, rel=2e-7)
    np.testing.assert_allclose(latent.w, lasso.w, atol=1e-3)
    assert latent.group_norms is not None
    np.testing.assert_allclose(latent.group_norms, np.abs(latent.w), atol=1e-12)


def test_equal_groups_are_one_of_the_least_weight() -> None:
    problem = text_like(2)
    sets = [[0, 1, 2], [2, 3], list(range(40))]
    once = problem.replace(groups=ragged(sets, 40, [1.0, 1.0, 4.0]))
    twice = problem.replace(groups=ragged([*sets, sets[0], []], 40, [1.5, 1.0, 4.0, 1.0, 1.0]))
    reg = Latent(group=0.5, l2=0.01)
    one, two = reg.solve(once), reg.solve(twice)
    assert np.array_equal(one.w, two.w)
    assert one.group_norms is not None
    assert two.group_norms is not None
    assert two.group_norms[0] == 0.0 < two.group_norms[3] == one.group_norms[0]
    assert two.group_norms[4] == 0.0


def test_without_a_group_penalty_it_is_the_elastic_net() -> None:
    problem = text_like(3)
    reg, elastic = Latent(group=0.0, l1=0.1, l2=0.01), Elastic(l1=0.1, l2=0.01)
    found = reg.solve(problem)
    assert np.array_equal(found.w, elastic.solve(problem).w)
    one, other = reg.support(problem, found), elastic.support(problem, found)
    assert one is not None
    assert other is not None
    assert np.array_equal(one.features, other.features)


def test_what_is_zero_is_told_as_far_as_the_optimum_may_be(monkeypatch: Any) -> None:
    """|t_j - 2 l2 w_j| + the radius + 2 l2 ||w* - w|| must be below l1."""
    problem = text_like(4).replace(groups=ragged([list(range(40))], 40))
    penalty = Latent(group=1e-9, l1=1.0, l2=0.5).penalty(problem)
    products = np.zeros(40)
    products[:4] = 0.7, -0.7, 0.6, -0.6
    balls = SimpleNamespace(
        products=products, w=np.zeros(40), radii=np.full(40, 0.1), far=0.25,
        nonzero=lambda: np.zeros(40, dtype=bool),
    )  # fmt: skip
    monkeypatch.setattr("textreg_latent.certificate.Balls", lambda *_: balls)
    support = support_of_parts(problem, Any, penalty)  # type: ignore[arg-type]
    assert np.flatnonzero(support.features != ZERO).tolist() == [0, 1]


def test_a_group_of_weight_0_costs_nothing() -> None:
    problem = text_like(4)
    rest = list(range(3, 40))
    costless = problem.replace(groups=ragged([[0, 1, 2], [*rest, 2]], 40, [0.0, 1.0]))
    disjoint = problem.replace(groups=ragged([rest], 40))
    reg = Latent(group=0.3, l1=0.1, l2=0.01)
    one, two = reg.solve(costless), reg.solve(disjoint)
    assert one.objective == pytest.approx(two.objective, rel=2e-7)
    assert one.group_norms is not None
    assert one.group_norms[0] == pytest.approx(float(np.linalg.norm(one.w[:3])))
    with pytest.raises(UsageError, match="3 features are in a group of weight 0"):
        Latent(group=0.3, l1=0.0, l2=0.0).solve(costless)


def test_the_support_is_a_union_of_the_selected_groups() -> None:
    problem = text_like(5)
    found = Latent(group=1.0, l2=0.01).solve(problem)
    assert found.group_norms is not None
    assert problem.groups is not None
    selected = np.flatnonzero(found.group_norms)
    assert 0 < len(selected) < len(problem.groups)
    union = np.unique(np.concatenate([problem.groups.members(int(g)) for g in selected]))
    assert np.array_equal(np.flatnonzero(found.w), union)


def test_features_of_no_group() -> None:
    problem = few_groups(6)
    alone = [12, 13]
    assert not Latent(group=0.5, l1=0.0, l2=0.0).solve(problem).w[alone].any()
    assert Latent(group=0.5, l1=0.0, l2=0.01).solve(problem).w[alone].all()
    penalty = Latent(group=0.5, l1=0.0, l2=0.0).penalty(problem)
    assert penalty.value(np.ones(14)) == math.inf


@draws(30)
@given(seed=st.integers(0, 2**20), strengths=st.sampled_from(STRENGTHS))
@example(seed=5758, strengths=(1.0, 0.3, 0.0))  # dual variables that left the loss's conjugate
@example(seed=197, strengths=(1.0, 0.3, 0.0))  # all new groups at once are worse than none
def test_no_bound_is_above_the_optimum(seed: int, strengths: tuple[float, ...]) -> None:
    problem = text_like(seed, n=25, p=15)
    reg = Latent(**dict(zip(("group", "l1", "l2"), strengths, strict=True)))
    best = reg.solve(problem.replace(tol=1e-8))
    for step in best.history:
        assert step.objective >= best.objective * (1.0 - 1e-8)
        assert step.objective * (1.0 - step.gap) <= best.objective * (1.0 + 1e-12)
    assert best.converged


@pytest.mark.sampled(1)
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "hinge", "squared"])
@pytest.mark.parametrize(("l1", "l2"), [(0.1, 0.05), (0.2, 0.0)])
def test_no_bound_on_the_way_exceeds_an_optimum_found_otherwise(
    loss: str, l1: float, l2: float
) -> None:
    check_bounds(loss, Latent(group=0.3, l1=l1, l2=l2), warm=False)  # it begins where it likes


@draws(30)
@given(
    seed=st.integers(0, 2**20),
    name=st.sampled_from(list(PROVING)),
    tol=st.sampled_from(TOLERANCES),
    fit_intercept=st.booleans(),
    loss=st.sampled_from(LOSSES),
)
def test_what_is_proven_of_the_support_holds(
    seed: int, name: str, tol: float, fit_intercept: bool, loss: str
) -> None:
    problem = text_like(seed, n=30, p=15).replace(fit_intercept=fit_intercept, loss=loss)
    check_at_optimum(PROVING[name], problem, tol)


@pytest.mark.parametrize("name", PROVING)
def test_the_last_digits_prove_nearly_all_of_the_support(name: str) -> None:
    check_last_digits(PROVING[name])


@draws(50)
@given(seed=st.integers(0, 2**20), l1=st.sampled_from([0.0, 0.3]), l2=st.sampled_from([0.0, 0.2]))
def test_dual_points_are_feasible_and_below(seed: int, l1: float, l2: float) -> None:
    """S(c_g, l1) is in every ball, and t.c at any weights is at most the penalty there."""
    random = np.random.default_rng(seed)
    penalty = LatentPenalty(few_groups(seed % 1000).groups, 0.5, l1, l2)
    t, w = 2.0 * random.standard_normal((2, penalty.p))
    w[penalty.closed] = 0.0
    kappa = least_kappa(penalty, t)
    points = {1.0: clipped(penalty, t, 1.0), 1.5: clipped(penalty, t, 1.5) / 1.5}
    if l2 == 0.0:
        points[kappa] = t / kappa
    for point in points.values():
        assert penalty.ratios(point).max() <= 1.0 + 1e-12
        assert (np.abs(point[penalty.free]) <= l1 * (1.0 + 1e-12)).all()
        assert point @ w <= (penalty.value(w) - l2 * (w @ w)) * (1.0 + 1e-10)
    found = latent_bound(penalty, np.ones(3), t, w, lambda alpha: float(alpha.sum()), 0.0)
    over = t * found.alpha[0] - found.point
    worth = 3.0 * found.alpha[0] - (over @ over / (4.0 * l2) if l2 else 0.0)
    assert found.value == pytest.approx(worth)
    assert l2 or float(np.abs(over[~penalty.closed]).max()) < 1e-15


@draws(20)
@given(seed=st.integers(0, 2**20), l1=st.sampled_from([0.0, 0.1]), l2=st.sampled_from([0.01, 0.5]))
def test_projected_is_near_the_nearest_dual_point(seed: int, l1: float, l2: float) -> None:
    """At the nearest one the weights are best for t: t.w - penalty(w) is the conjugate at t."""
    random = np.random.default_rng(seed)
    penalty = LatentPenalty(few_groups(seed % 1000).groups, 0.5, l1, l2)
    t = random.standard_normal(penalty.p)
    weights, eta = projected(penalty, t, np.zeros(len(penalty.strengths)))
    for _ in range(15):
        weights, eta = projected(penalty, t, eta)
    point = t - 2.0 * l2 * weights
    assert (eta >= 0.0).all()
    np.testing.assert_allclose(
        point[penalty.free], np.clip(t, -l1, l1)[penalty.free], rtol=0, atol=1e-12
    )
    assert penalty.ratios(point).max() <= 1.03
    conjugate = float((t - point) @ (t - point)) / (4.0 * l2)
    assert t @ weights - penalty.value(weights) == pytest.approx(conjugate, rel=0.05, abs=1e-9)


@draws(30)
@given(seed=st.integers(0, 2**20), l1=st.sampled_from([0.0, 0.3]), size=st.floats(0.5, 1.0))
def test_a_dual_point_inside_is_moved_out_to_a_ball(seed: int, l1: float, size: float) -> None:
    penalty = LatentPenalty(few_groups(seed % 1000).groups, 0.5, l1, 0.0)
    t = np.random.default_rng(seed).standard_normal(penalty.p)
    if l1 == 0.0:
        t[penalty.closed] = 0.0
    t *= size / least_kappa(penalty, t) if least_kappa(penalty, t) > 1.0 else size
    kappa = tightest(penalty, t)
    assert kappa <= 1.0
    assert least_kappa(penalty, t / kappa) <= 1.0 + 1e-12
    assert least_kappa(penalty, t / (0.98 * kappa)) > 1.0


@draws(50)
@given(seed=st.integers(0, 2**20), few=st.booleans())
def test_the_parts_are_those_of_least_sum(seed: int, few: bool) -> None:
    """Their sum is met by a dual point, which no norm can be below."""
    random = np.random.default_rng(seed)
    penalty = LatentPenalty(few_groups(seed % 1000).groups, 0.7, 0.0, 0.1)
    w = random.standard_normal(penalty.p) * (random.random(penalty.p) < (0.3 if few else 1.0))
    norms, omega = latent_parts(penalty, w)
    eta = norms / penalty.strengths
    zeta = np.zeros(penalty.p)
    for g, size in enumerate(eta):
        zeta[penalty.indices[penalty.indptr[g] : penalty.indptr[g + 1]]] += size
    inside = (w != 0.0) & ~penalty.free
    assert (zeta[inside] > 0.0).all()
    t = np.divide(w, zeta, out=np.zeros(penalty.p), where=inside)
    assert penalty.ratios(t).max(initial=0.0) <= 1.0 + 1e-5
    assert t @ w / max(1.0, penalty.ratios(t).max(initial=0.0)) == pytest.approx(omega, rel=1e-5)
    assert omega == pytest.approx(float(penalty.strengths @ norms))
    _, again = latent_parts(penalty, w, norms)
    assert again == pytest.approx(omega, rel=1e-9)


@pytest.mark.parametrize(("group", "l1", "l2"), STRENGTHS)
def test_it_does_not_depend_on_the_scale_of_the_features(
    group: float, l1: float, l2: float
) -> None:
    problem = text_like(7)
    usual = Latent(group=group, l1=l1, l2=l2).solve(problem)
    for size in (2.0**-20, 2.0**20):
        scaled = Latent(group=size * group, l1=size * l1, l2=size * size * l2)
        found = scaled.solve(problem.replace(X=csr_array(size * problem.X)))
        assert found.converged
        np.testing.assert_allclose(size * found.w, usual.w, rtol=1e-6, atol=1e-9)
        assert np.array_equal(found.group_norms > 0, usual.group_norms > 0)  # type: ignore[operator]


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "hinge", "squared"])
def test_every_loss(loss: str) -> None:
    problem = text_like(8).replace(loss=loss)
    assert Latent(group=1.0, l2=0.01).solve(problem).converged


def test_the_scale_is_the_least_strength_without_a_weight() -> None:
    problem = text_like(9)
    scale = Latent().scale(problem, "group")
    assert Latent(group=1.001 * scale, l2=0.01).solve(problem).nonzero == 0
    assert Latent(group=0.99 * scale, l2=0.01).solve(problem).nonzero > 0


def test_a_path_begins_where_the_last_solution_ended() -> None:
    problem = text_like(10)
    candidates = Latent(l2=0.01).candidates(problem)
    for reg, found in Latent(l2=0.01).path(problem, candidates):
        alone = reg.solve(problem)
        assert found.converged
        assert found.objective == pytest.approx(alone.objective, rel=2e-7)


def test_it_repeats_exactly() -> None:
    problem = text_like(11)
    reg = Latent(group=0.5, l2=0.01)
    assert same(reg.solve(problem), reg.solve(problem.replace(threads=2)))


def test_it_stops_when_it_is_told_to() -> None:
    problem = text_like(12)
    reg = Latent(group=0.5, l2=0.01)
    found = reg.solve(problem.replace(callback=lambda step: step.iteration > 0))
    assert not found.converged
    assert found.objective == pytest.approx(reg.objective(problem, found.w, found.b), rel=1e-9)


def test_strengths_must_be_given() -> None:
    problem = text_like(13)
    with pytest.raises(UsageError, match="latent: group"):
        Latent(l2=0.1).solve(problem)
    with pytest.raises(UsageError, match="latent: the problem has no groups"):
        Latent(group=0.1, l2=0.1).solve(problem.replace(groups=None))


def test_train_and_predict(cli: Cli, tmp_path: Path) -> None:
    file, model = tmp_path / "texts.csv", tmp_path / "m.model"
    texts = ["It is red. I love it.", "It is blue. I hate it."]
    file.write_text("label,text\n" + f"p,{texts[0]}\nn,{texts[1]}\n" * 20, encoding="utf-8")
    options = ["--tokenizer", "words", "--reg", "latent", "--path", "--cv", "2", "-o", model]
    code, out, err = cli("train", file, *options)
    assert (code, err) == (0, "")
    assert "settings of latent" in out
    assert textreg.load(model).predict(texts) == ["p", "n"]


def test_explain_shows_the_parts() -> None:
    texts = ["It is red. I love it.", "It is blue. I hate it.", "It is red. I hate it."] * 20
    labels, given = ["p", "n", "n"] * 20, {"reg_group": 2.0, "reg_l2": 0.1, "prune": 0}
    model = textreg.train(texts, labels, reg="latent", tokenizer="words", **given)
    assert model.summary is not None
    (chosen,) = model.summary.parts
    selection = find_selection(model, Corpus(texts, labels))
    assert 0 < selection.selected == len(chosen) < selection.groups == 120
    total: dict[str, float] = {}
    for group in selection.strongest:
        assert group.norm == pytest.approx(math.hypot(*(weight for _, weight in group.words)))
        for word, weight in group.words:
            total[word] = total.get(word, 0.0) + (weight if group.label == "p" else -weight)
    weights = dict(zip(model.encoder.names, model.weights[0], strict=True))
    assert total == pytest.approx({word: weights[word] for word in total}, rel=1e-4)
    assert set(total) == {word for word, weight in weights.items() if weight}
    other = find_selection(model, Corpus(texts[:-3], labels[:-3]))
    assert selection.notes == ()
    assert "other texts" in other.notes[0]


def test_of_other_texts_nothing_is_known() -> None:
    latent = train(reg="latent", groups="sentences", reg_group=0.1)
    assert latent.summary is not None
    assert latent.summary.parts
    (table,) = removal_tables({"latent": latent}, [TEXT])
    assert table.columns[0].selected is None


def test_a_model_without_its_regularizer_predicts_and_names_what_shows_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, labels = ["It is red. I love it.", "It is blue. I hate it."] * 20, ["p", "n"] * 20
    model = textreg.train(texts, labels, reg="latent", reg_group=2.0, reg_l2=0.1)
    monkeypatch.setenv("TEXTREG_DISABLE", "regularizer.latent")
    assert model.predict(texts) == labels
    with pytest.raises(ModelError, match=r"trained with regularizer 'latent', .* is blocked"):
        find_selection(model, Corpus(texts, labels))
