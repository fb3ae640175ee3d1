"""The softmax loss over several classes: against scikit-learn, with its proof."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from kernel_inputs import random_matrix
from scipy.sparse import csr_array, hstack
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

import textreg
from textreg.errors import ConvergenceWarning, UsageError
from textreg.penalties import Separable
from textreg.plugins import registry
from textreg.records import Graph, MultiSolution, Problem
from textreg.solvers.softmax import Classes, newton_together

N, P, K = 120, 30, 4


def problem(seed: int = 0, **changes: Any) -> tuple[Problem, np.ndarray]:
    """Four classes that the first words tell apart, mostly."""
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.3, rng, rng.standard_normal)
    W_true = rng.standard_normal((K, P))
    scores = X @ W_true.T + 0.5 * rng.standard_normal((N, K)) + np.linspace(0, 1, K)
    codes = scores.argmax(axis=1)
    assert len(set(codes)) == K
    links = random_matrix((P, P), 0.1, rng).toarray()
    np.fill_diagonal(links, 0.0)
    values = {
        "X": X,
        "y": np.where(codes == 0, 1.0, -1.0),
        "graph": Graph(csr_array(links)),
        "tol": 1e-9,
        **changes,
    }
    return Problem(**values), codes


def fit(reg: str, given: Problem, codes: np.ndarray, **params: float) -> MultiSolution:
    solution: MultiSolution = registry.create("regularizer", reg, **params).solve_softmax(
        given, codes
    )
    return solution


def loss(given: Problem, codes: np.ndarray, W: np.ndarray, b: np.ndarray) -> float:
    Z = given.X @ W.T + b
    return float(given.sample_weight @ (logsumexp(Z, axis=1) - Z[np.arange(len(Z)), codes]))


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_is_that_of_scikit_learn(intercept: bool) -> None:
    made, codes = problem(fit_intercept=intercept)
    ours = fit("ridge", made, codes, l2=0.5)
    theirs = LogisticRegression(C=1.0, fit_intercept=intercept, tol=1e-10, max_iter=10_000)
    theirs.fit(made.X, codes)
    np.testing.assert_allclose(ours.w, theirs.coef_, atol=1e-4)
    b = theirs.intercept_ - theirs.intercept_.mean()
    np.testing.assert_allclose(ours.b, b, atol=1e-4)
    assert ours.objective == pytest.approx(
        loss(made, codes, ours.w, ours.b) + 0.5 * (ours.w**2).sum()
    )


def test_lasso_is_that_of_scikit_learn() -> None:
    made, codes = problem(tol=1e-6)
    ours = fit("lasso", made, codes, l1=1.0)
    # Another name for it since scikit-learn 1.8.
    new = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
    lasso = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    theirs = LogisticRegression(C=1.0, solver="saga", tol=1e-8, max_iter=100_000, **lasso)
    theirs.fit(made.X, codes)
    value = loss(made, codes, theirs.coef_, theirs.intercept_) + np.abs(theirs.coef_).sum()
    assert ours.objective <= value * (1 + 1e-6)
    assert ours.objective == pytest.approx(value, rel=1e-4)
    assert np.count_nonzero(ours.w) < np.count_nonzero(theirs.coef_) + 5


CASES = [
    ("ridge", {"l2": 0.1}),
    ("lasso", {"l1": 0.5}),
    ("elastic", {"l1": 0.3, "l2": 0.2}),
    ("network", {"alpha": 0.5, "beta": 0.2}),
    ("laplacian", {"alpha": 0.5, "beta": 0.2}),
]


@pytest.mark.parametrize(("reg", "params"), CASES, ids=lambda case: str(case)[:30])
def test_the_gap_is_a_proof(reg: str, params: dict[str, float]) -> None:
    """No other point found lies below the bound, however loose; weights and repetition agree."""
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 4, N).astype(float)
    made, codes = problem(sample_weight=weights, tol=1e-6)
    tight = fit(reg, made, codes, **params)
    assert tight.converged
    assert 0 <= tight.gap <= 1e-6
    loose = fit(reg, made.replace(tol=0.05), codes, **params)
    assert loose.iterations < tight.iterations
    assert loose.objective * (1 - loose.gap) <= tight.objective
    rows = np.repeat(np.arange(N), weights.astype(int))
    again = made.replace(X=made.X[rows], y=made.y[rows], sample_weight=np.ones(len(rows)))
    repeated = fit(reg, again, codes[rows], **params)
    assert repeated.objective == pytest.approx(tight.objective, rel=1e-6)
    if reg != "lasso":  # which may have many optima
        np.testing.assert_allclose(repeated.w, tight.w, atol=2e-2)


def test_two_classes_are_one_with_half_the_strength_each() -> None:
    """w and -w share the penalty: a ridge of 2 l2 on their half is l2 on the difference's half."""
    made, codes = problem()
    two = (codes > 1).astype(np.int64)
    both = fit("ridge", made, two, l2=0.4)
    one = registry.create("regularizer", "ridge", l2=0.2).solve(
        made.replace(y=np.where(two == 1, 1.0, -1.0))
    )
    np.testing.assert_allclose(both.w[1] - both.w[0], one.w, atol=1e-4)
    np.testing.assert_allclose(both.w[1], -both.w[0], atol=1e-5)
    assert both.b[1] - both.b[0] == pytest.approx(one.b, abs=1e-4)


def test_stopping_gives_the_best_so_far() -> None:
    made, codes = problem(callback=lambda step: step.iteration >= 2)
    stopped = fit("elastic", made, codes, l1=0.3, l2=0.2)
    assert stopped.iterations == 2
    assert not stopped.converged
    assert stopped.objective < stopped.history[0].objective


@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e-1, 1e-3]))
def test_a_step_for_all_classes_moves_though_weights_reach_zero_on_the_way(
    seed: int, size: float
) -> None:
    """Of features that are nearly alike one takes from the other: far, and across zero."""
    made, codes = problem(seed)
    random = np.random.default_rng(seed)
    alike = made.X + random_matrix(made.X.shape, 0.1, random, random.standard_normal) * 1e-2
    made = made.replace(X=hstack([made.X, alike]).tocsr(), graph=None)
    classes = Classes(made, codes, lambda _: 0.0, None)
    W = size * random.standard_normal((K, P))
    classes.W = np.hstack([W, W])
    classes.Z = classes.product(classes.W) + classes.b[:, None]
    penalty = Separable.constant(2 * P, l1=0.3)
    for _ in range(3):
        before = classes.loss() + sum(penalty.value(w) for w in classes.W)
        assert newton_together(classes, penalty)
        assert classes.loss() + sum(penalty.value(w) for w in classes.W) < before


TEXTS = ["red hot sun", "red sun sand", "cold blue sea", "blue sea wave", "green tree", "tree leaf"]
LABELS = ["desert", "desert", "sea", "sea", "wood", "wood"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reg", ["ridge", "elastic", "network"])
def test_the_whole_way(reg: str, tmp_path: Path) -> None:
    """Probabilities are the softmax of the scores, in memory and from the file."""
    options: dict[str, Any] = {"cv": 2} if reg != "network" else {"cv": 2, "graph_threshold": 0.0}
    model = textreg.train(TEXTS * 8, LABELS * 8, reg=reg, multiclass="softmax", jobs=2, **options)
    assert model.predict(TEXTS) == LABELS
    assert model.loss == "softmax"
    assert model.summary.multiclass == "softmax"
    assert model.summary.converged
    proba = model.predict_proba(TEXTS)
    logits = model.decision_function(TEXTS) / model.calibration.temperature
    np.testing.assert_allclose(proba, softmax(logits, axis=1))
    held = model.summary.dev.metrics
    assert 0 < held["log-loss"] < np.log(3)
    model.save(tmp_path / "model")
    loaded = textreg.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), proba)
    again = textreg.train(TEXTS * 8, LABELS * 8, reg=reg, multiclass="softmax", jobs=1, **options)
    np.testing.assert_array_equal(again.weights, model.weights)


def test_two_labels_are_fitted_as_two() -> None:
    model = textreg.train(TEXTS[:4] * 8, LABELS[:4] * 8, reg="ridge", multiclass="softmax")
    assert model.loss == "logistic"
    assert model.weights.shape[0] == 1


@pytest.mark.parametrize(
    "options",
    [{"reg": "stagewise"}, {"reg": "none"}, {"reg": "ridge", "loss": "squared-hinge"}],
)
def test_what_has_no_softmax(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot go with softmax"):
        textreg.train(TEXTS, LABELS, multiclass="softmax", **options)


def test_classes_that_are_alike_but_for_rounding() -> None:
    """The bound stays a number where no class has too little."""
    texts = [f"{color} {n % 5} and more" for n in range(15) for color in ("red", "green", "blue")]
    model = textreg.train(texts, list("abc") * 15, reg="elastic", multiclass="softmax", ngrams=1)
    assert 0 <= model.summary.gap < 1e-4


@pytest.mark.parametrize("reg", ["network", "laplacian"])
def test_without_a_ridge_links_have_no_softmax(reg: str) -> None:
    texts = ["good film", "bad film", "so so"] * 4
    with pytest.raises(UsageError, match=f"{reg}: softmax needs a beta above 0"):
        textreg.train(
            texts,
            ["up", "down", "level"] * 4,
            reg=reg,
            reg_alpha=1.0,
            reg_beta=0.0,
            graph_min_df=1,
            multiclass="softmax",
        )


@pytest.mark.parametrize(("reg", "params"), [CASES[0], CASES[2]], ids=["ridge", "elastic"])
def test_weak_penalties_take_few_rounds(reg: str, params: dict[str, float]) -> None:
    """One Newton step for all classes ends a round; taking turns alone takes hundreds of rounds."""
    made, codes = problem(tol=1e-7)
    found = fit(reg, made, codes, **{name: 1e-3 * value for name, value in params.items()})
    assert found.converged
    assert found.iterations <= 25
    for start in [(found.w, found.b), (np.full_like(found.w, 30.0), np.ones(K))]:
        part = registry.create("regularizer", reg, **{name: 1e-3 * v for name, v in params.items()})
        again = part.solve_softmax(made, codes, start)
        assert again.objective == pytest.approx(found.objective, rel=2e-7)


def test_parallel_columns_share_their_weight_under_a_ridge() -> None:
    made, codes = problem(tol=1e-8)
    doubled = csr_array(hstack([made.X, 2.0 * made.X]))
    twice = fit("ridge", Problem(doubled, made.y, tol=1e-8), codes, l2=0.5)
    once = fit("ridge", made, codes, l2=0.1)  # 2 w_1 and w_2 = w_1 * 2: five times the square
    np.testing.assert_allclose(twice.w[:, P:], 2.0 * twice.w[:, :P], atol=1e-9)
    np.testing.assert_allclose(twice.w[:, :P] + 2.0 * twice.w[:, P:], once.w, atol=1e-4)


def test_newton_follows_a_weak_ridge_of_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    # From zero weights it would go too far, and classes in turn would have to do the rest.
    monkeypatch.delattr(Classes, "rest")
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(60), 20)
    words = [
        [*(6 * k + rng.choice(6, 3, replace=False)), *(360 + rng.choice(100, 7, replace=False))]
        for k in classes
    ]
    wrong = rng.random(len(classes)) < 0.1
    codes = np.where(wrong, rng.integers(0, 60, len(classes)), classes)
    X = np.zeros((len(codes), 460))
    np.put_along_axis(X, np.array(words), 1.0, axis=1)
    made = Problem(X=csr_array(X), y=np.where(codes == 0, 1.0, -1.0), tol=1e-4)
    ours = fit("ridge", made, codes, l2=1e-3)
    theirs = LogisticRegression(C=500.0, solver="newton-cg", tol=1e-8).fit(X, codes)
    optimum = loss(made, codes, theirs.coef_, theirs.intercept_) + 1e-3 * (theirs.coef_**2).sum()
    assert ours.objective == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize(("max_iter", "calls"), [(1, 100), (2, 100), (100, 1), (100, 3)])
def test_rounds_of_stronger_ridges_count_and_may_be_stopped(max_iter: int, calls: int) -> None:
    made, codes = problem(max_iter=max_iter)
    steps: list[Any] = []

    def stops(step: Any) -> bool:
        steps.append(step)
        return len(steps) == calls

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = fit("ridge", made.replace(callback=stops), codes, l2=1e-5)
    assert not ours.converged
    assert ours.iterations <= max_iter
    if max_iter < 100:  # out of rounds: one warning, though several fits are
        assert [warning.category for warning in caught] == [ConvergenceWarning]
    else:
        assert len(steps) == calls
        assert not caught


@pytest.mark.parametrize("seed", range(5))
def test_scores_stay_those_of_the_weights(seed: int) -> None:
    """Where probabilities are nearly 0 or 1, a step goes 1e12 too far, and stops at zero."""
    rng = np.random.default_rng(seed)
    codes, l1 = np.arange(40) % 3, 0.003
    given = Problem(random_matrix((40, 150), 0.08, rng), np.ones(40), tol=1e-6)
    best = fit("lasso", given, codes, l1=l1)
    far = 0.7 * 40 * np.log(3) / (l1 * np.abs(best.w).sum())  # still better than zero weights
    start = far * best.w, far * best.b
    found = registry.create("regularizer", "lasso", l1=l1).solve_softmax(given, codes, start)
    objective = loss(given, codes, found.w, found.b) + l1 * np.abs(found.w).sum()
    assert found.objective == pytest.approx(objective, rel=1e-9)
    assert objective == pytest.approx(best.objective, rel=1e-5)
