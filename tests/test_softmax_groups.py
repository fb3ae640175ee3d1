"""Softmax with groups of words and classes: against proximal gradient, with its proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_inputs import random_matrix
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from thoroughness import draws, thorough

import textreg
from textreg.builtin.groups import Group, Sentence
from textreg.builtin.separable import Elastic
from textreg.errors import RecordError, UsageError
from textreg.records import Groups, MultiSolution, Problem

Array = NDArray[np.float64]
N, P, K = 90, 24, 4


def groups_of(sets: list[list[int]], weights: list[float] | None = None) -> Groups:
    """Groups from lists of features."""
    indptr = np.cumsum([0, *map(len, sets)])
    indices = [j for features in sets for j in sorted(features)]
    return Groups(indptr, indices, np.ones(len(sets)) if weights is None else weights, P)


OVERLAPPING = groups_of([list(range(at, min(at + 5, P))) for at in range(0, P, 3)])


def problem(seed: int = 0, **changes: Any) -> tuple[Problem, NDArray[np.int64]]:
    """Four classes that a third of the features tell apart, mostly."""
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.4, rng, rng.standard_normal)
    truth = rng.standard_normal((K, P)) * (np.arange(P) < 8)
    codes = (X @ truth.T + 0.7 * rng.standard_normal((N, K)) + np.linspace(0, 1, K)).argmax(axis=1)
    codes[:K] = np.arange(K)
    values = {"X": X, "y": np.where(codes == 0, 1.0, -1.0), "groups": OVERLAPPING, "tol": 1e-7}
    return Problem(**{**values, "max_iter": 5000, **changes}), codes


def objective(reg: Group, given: Problem, codes: Any, W: Array, b: Array) -> float:
    """Loss and penalty, written out over the groups as they were given."""
    Z = given.X @ W.T + b
    loss = given.sample_weight @ (logsumexp(Z, axis=1) - Z[np.arange(len(Z)), codes])
    groups: Any = given.groups
    norms = [
        groups.weights[g] * np.linalg.norm(W[:, groups.members(g)]) for g in range(len(groups))
    ]
    return float(loss + reg.group * sum(norms) + reg.l1 * np.abs(W).sum() + reg.l2 * (W**2).sum())


def proximal_gradient(
    reg: Group, given: Problem, codes: Any, sets: list[list[int]]
) -> tuple[Array, Array]:
    """FISTA for groups that do not overlap: soft thresholding, then shrinking of every block."""
    X, c = given.X.toarray(), given.sample_weight
    Y = np.eye(K)[codes]
    step = 1.0 / (0.5 * c.max() * np.linalg.norm(np.column_stack([X, np.ones(N)]), 2) ** 2)
    step = 1.0 / (1.0 / step + 2 * reg.l2)
    group_of = np.concatenate([np.full(len(each), g) for g, each in enumerate(sets)])
    W, b, V, a, t = np.zeros((K, P)), np.zeros(K), np.zeros((K, P)), np.zeros(K), 1.0
    for _ in range(2500):
        R = c[:, None] * (softmax(X @ V.T + a, axis=1) - Y)
        new = V - step * (R.T @ X + 2 * reg.l2 * V)
        new = np.sign(new) * np.maximum(np.abs(new) - step * reg.l1, 0.0)
        lengths = np.sqrt(np.bincount(group_of, (new * new).sum(axis=0)))
        new *= np.maximum(0.0, 1.0 - step * reg.group / np.maximum(lengths, 1e-300))[group_of]
        b_new = a - step * R.sum(axis=0)
        t_new = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        if ((V - new) * (new - W)).sum() > 0:
            t_new = 1.0
        momentum = (t - 1) / t_new
        V, a = new + momentum * (new - W), b_new + momentum * (b_new - b)
        still = max(np.abs(new - W).max(), np.abs(b_new - b).max()) < 1e-13
        W, b, t = new, b_new, t_new
        if still:
            break
    return W, b - b.mean()


WORDS = [[j] for j in range(P)]
BLOCKS = [list(range(at, at + 6)) for at in range(0, P, 6)]


@pytest.mark.parametrize("sets", [WORDS, BLOCKS, [list(range(P))]], ids=["rows", "blocks", "all"])
@pytest.mark.parametrize(("group", "l1", "l2"), [(2.0, 0.0, 0.0), (1.0, 0.5, 0.05)])
def test_disjoint_groups_are_those_of_proximal_gradient(
    sets: list[list[int]], group: float, l1: float, l2: float
) -> None:
    rng = np.random.default_rng(1)
    made, codes = problem(groups=groups_of(sets), sample_weight=rng.integers(1, 3, N).astype(float))
    reg = Group(group=group, l1=l1, l2=l2)
    ours = reg.solve_softmax(made, codes)
    W, b = proximal_gradient(reg, made, codes, sets)
    best = objective(reg, made, codes, W, b)
    assert ours.converged
    assert ours.objective == pytest.approx(objective(reg, made, codes, ours.w, ours.b), rel=1e-10)
    assert ours.objective == pytest.approx(best, rel=2e-7)
    np.testing.assert_allclose(ours.w, W, atol=2e-3)
    np.testing.assert_allclose(ours.b, b, atol=2e-3)
    if sets is WORDS:  # a word is in for all classes or for none, but for the lasso
        large = [np.abs(each).max(axis=0) > 1e-3 for each in (ours.w, W)]
        np.testing.assert_array_equal(*large)
        assert not large[0].all()


@draws(12)
@given(
    seed=st.integers(0, 10**6),
    group=st.floats(0.01, 3.0),
    l1=st.sampled_from([0.0, 0.05, 0.5]),
    l2=st.sampled_from([0.0, 0.01, 0.5]),
    tol=st.sampled_from([0.3, 1e-2, 1e-4]),
    intercept=st.booleans(),
)
def test_the_gap_is_a_proof(
    seed: int, group: float, l1: float, l2: float, tol: float, intercept: bool
) -> None:
    """However loose a solution is, the optimum and points near it are not below its bound."""
    made, codes = problem(seed, fit_intercept=intercept, tol=1e-6)
    reg = Sentence(group=group, l1=l1, l2=l2)
    loose, tight = (reg.solve_softmax(made.replace(tol=each), codes) for each in (tol, 1e-6))
    assert tight.converged
    rng = np.random.default_rng(seed)
    others = [(tight.w * size, tight.b) for size in (0.9, 0.99, 1.01)]
    others += [(tight.w + 1e-3 * rng.standard_normal((K, P)), tight.b) for _ in range(3)]
    least = min(tight.objective, *(objective(reg, made, codes, *other) for other in others))
    for found in (loose, tight):
        assert found.gap >= 0.0
        assert found.objective * (1 - found.gap) <= least * (1 + 1e-12)
    assert least >= tight.objective * (1 - 1e-6)


def test_no_group_penalty_is_the_elastic_net() -> None:
    made, codes = problem(tol=1e-5)
    mine = Group(group=0.0, l1=0.3, l2=0.1).solve_softmax(made, codes)
    elastic = Elastic(l1=0.3, l2=0.1).solve_softmax(made, codes)
    np.testing.assert_array_equal(mine.w, elastic.w)
    np.testing.assert_array_equal(mine.b, elastic.b)
    almost = Group(group=1e-9, l1=0.3, l2=0.1).solve_softmax(made, codes)
    assert almost.objective == pytest.approx(elastic.objective, rel=2e-5)


def test_duplicates_of_a_group_add_up() -> None:
    sets = [[0, 1, 2], [2, 3], [5], [0, 1, 2], [5], []]
    once = groups_of([[0, 1, 2], [2, 3], [5]], [3.0, 0.5, 1.5])
    twice = groups_of(sets, [1.0, 0.5, 0.5, 2.0, 1.0, 4.0])
    reg = Group(group=0.8, l1=0.1, l2=0.01)
    (made, codes), (again, _) = problem(groups=once), problem(groups=twice)
    one, two = (reg.solve_softmax(each, codes) for each in (made, again))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.objective == two.objective


def test_two_classes_are_the_logistic_loss_of_their_difference() -> None:
    """w and -w, each half of the difference d: ||W_g||_F is ||d_g|| / sqrt(2), the l1 norm that of
    d, and the ridge half of it."""
    made, codes = problem()
    two = (codes > 1).astype(np.int64)
    both = Group(group=1.0, l1=0.2, l2=0.1).solve_softmax(made, two)
    y = np.where(two == 1, 1.0, -1.0)
    one = Group(group=1.0 / np.sqrt(2.0), l1=0.2, l2=0.05).solve(made.replace(y=y))
    np.testing.assert_allclose(both.w[1] - both.w[0], one.w, atol=2e-3)
    np.testing.assert_allclose(both.w.sum(axis=0), 0.0, atol=1e-3)
    assert both.objective == pytest.approx(one.objective, rel=3e-7)


def test_a_warm_start_leads_to_the_same_optimum() -> None:
    made, codes = problem()
    strong, weak = (Sentence(group=g, l1=0.05, l2=0.01) for g in (3.0, 0.3))
    first, cold = (reg.solve_softmax(made, codes) for reg in (strong, weak))
    for start in [(first.w, first.b), (cold.w, cold.b), (np.full((K, P), 1e200), np.zeros(K))]:
        warm = weak.solve_softmax(made, codes, start)
        assert warm.converged
        assert warm.objective == pytest.approx(cold.objective, rel=2e-7)
        np.testing.assert_allclose(warm.w, cold.w, atol=5e-3)
    with pytest.raises(RecordError, match="the weights of start"):
        weak.solve_softmax(made, codes, (cold.w[:2], cold.b))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_scale_is_the_least_strength_without_a_weight(intercept: bool) -> None:
    rng = np.random.default_rng(3)
    made, codes = problem(groups=groups_of(BLOCKS), fit_intercept=intercept)
    made = made.replace(sample_weight=rng.integers(1, 4, N).astype(float), codes=codes)
    scale = Group().scale(made, "group")
    strengths = {0.97: True, 1.01: False}
    for share, selected in strengths.items():
        found = Group(group=share * scale, l1=0.0, l2=0.0).solve_softmax(made, codes)
        assert found.w.any() == selected
    assert Group().scale(made, "l1") == Elastic().scale(made, "l1")
    assert Sentence().scale(made, "group") == Elastic().scale(made, "l1")


def test_the_search_has_the_scale_of_all_classes_together() -> None:
    from textreg.tasks.classification import classification
    from textreg.training.trials import Problems

    made, codes = problem()
    names = tuple("abcd")
    joint = Problems(made, classification(names, multiclass="softmax"), codes)
    apart = Problems(made, classification(names, multiclass="ovr"), codes)
    np.testing.assert_array_equal(joint.hardest().codes, codes)
    assert apart.hardest().codes is None
    both = [Group().scale(each.hardest(), "group") for each in (joint, apart)]
    assert both[0] > both[1]


def test_groups_that_are_not_selected_have_no_weight() -> None:
    made, codes = problem(groups=groups_of(BLOCKS))
    found = Group(
        group=0.7 * Group().scale(made.replace(codes=codes), "group"), l1=0.0, l2=0.0
    ).solve_softmax(made, codes)
    selected = [bool(found.w[:, block].any()) for block in BLOCKS]
    assert True in selected
    assert False in selected
    assert all(found.w[:, block].all() for block, has in zip(BLOCKS, selected, strict=True) if has)


def test_the_objective_of_the_contract_is_written_out() -> None:
    made, codes = problem()
    reg, rng = Sentence(group=0.7, l1=0.2, l2=0.1), np.random.default_rng(2)
    W, b = rng.standard_normal((K, P)), rng.standard_normal(K)
    expected = objective(reg, made, codes, W, b)
    assert reg.objective_softmax(made, codes, W, b) == pytest.approx(expected, rel=1e-12)
    ridge = textreg.regularizer("ridge", l2=0.3)
    loss = objective(Group(group=0.0, l1=0.0, l2=0.0), made, codes, W, b)
    value = ridge.objective_softmax(made, codes, W, b)
    assert value == pytest.approx(loss + 0.3 * (W**2).sum(), rel=1e-12)


def test_what_is_refused() -> None:
    made, codes = problem()
    with pytest.raises(UsageError, match="the solver 'admm' has no softmax"):
        Group(group=1.0, l1=0.1, solver="admm").solve_softmax(made, codes)
    with pytest.raises(UsageError, match="the problem has no groups"):
        Group(group=1.0, l1=0.1).solve_softmax(made.replace(groups=None), codes)
    with pytest.raises(UsageError, match="cannot be used with squared-hinge"):
        Group(group=1.0, l1=0.1).solve_softmax(made.replace(loss="squared-hinge"), codes)
    for wrong in (codes[:-1], codes + 1, codes - 1):
        with pytest.raises(RecordError, match="codes"):
            Group(group=1.0, l1=0.1).solve_softmax(made, wrong)
        with pytest.raises(RecordError, match="codes"):
            made.replace(codes=wrong)


TEXTS = ["red hot sun. It is dry.", "red sun. Sand, sand!", "cold blue sea. Wet.", "blue sea wave."]
TEXTS += ["green tree. A leaf falls.", "tree leaf. It is green."]
LABELS = ["desert", "desert", "sea", "sea", "wood", "wood"]


@pytest.mark.parametrize(
    "options",
    [
        thorough({"reg": "sentence", "path": True}),
        {"reg": "group", "groups": "windows", "reg_l1": 0.05, "reg_l2": 0.0, "cv": 3},
    ],
)
def test_the_whole_way(options: dict[str, Any], tmp_path: Path) -> None:
    options = {**options, "multiclass": "softmax"}
    options |= {"tokenizer": "words", "ngrams": 1}
    model = textreg.train(TEXTS * 8, LABELS * 8, jobs=2, **options)
    assert model.predict(TEXTS) == LABELS
    summary: Any = model.summary
    assert (model.loss, summary.multiclass, summary.converged) == ("softmax", "softmax", True)
    assert 0.0 <= summary.gap <= 1e-4
    assert model.calibration is not None
    logits = model.decision_function(TEXTS) / model.calibration.temperature
    proba = softmax(logits, axis=1)
    np.testing.assert_allclose(model.predict_proba(TEXTS), proba)
    model.save(tmp_path / "model")
    np.testing.assert_allclose(textreg.load(tmp_path / "model").predict_proba(TEXTS), proba)
    again = textreg.train(TEXTS * 8, LABELS * 8, jobs=1, **options)
    np.testing.assert_array_equal(again.weights, model.weights)
    if model.path is not None:
        sizes = [point.nonzero for point in model.path.points]
        assert sizes[0] <= sizes[-1]
        assert again.path is not None
        assert [point.nonzero for point in again.path.points] == sizes


def test_the_callback_ends_it() -> None:
    made, codes = problem(tol=1e-12)
    steps: list[Any] = []
    stopped: MultiSolution = Sentence(group=0.3, l1=0.05).solve_softmax(
        made.replace(callback=lambda step: not steps.append(step)), codes
    )
    assert len(steps) == 1
    assert not stopped.converged
    assert stopped.history == tuple(steps)


@pytest.mark.parametrize("seed", range(12))
def test_without_a_weight_intercepts_stay_where_they_are(seed: int) -> None:
    made, codes = problem(seed)
    solution = Group(group=1.0, l1=1e3, l2=0.1).solve_softmax(made, codes)
    shares = np.bincount(codes) / N
    np.testing.assert_allclose(softmax(solution.b), shares, rtol=1e-6)
    assert solution.objective == pytest.approx(-N * (shares @ np.log(shares)), rel=1e-9)
