"""Every loss under every regularizer: against scikit-learn, by identities, with its proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_inputs import random_matrix
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.svm import LinearSVC
from twins import logistic as twin

from textreg._core.logistic import logistic_derivatives, logistic_value
from textreg.builtin.separable import Lasso
from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.losses import LOSSES, Loss, SmoothedHinge, find_loss
from textreg.penalties import Separable
from textreg.plugins import registry
from textreg.records import Floats, Graph, Groups, Problem, Solution
from textreg.solvers.newton import newton
from textreg.solvers.softmax import softmax_loss

N, P = 60, 25


def problem(loss: str, seed: int = 0, **changes: Any) -> Problem:
    """A small problem with groups, a graph and weights; numbers as labels for the squared loss."""
    rng = np.random.default_rng(seed)
    X = random_matrix((N, P), 0.3, rng, rng.standard_normal)
    score = X @ np.where(np.arange(P) < 6, 1.5, 0.0) + 0.4 * rng.standard_normal(N) - 0.3
    y = np.where(score > 0, 1.0, -1.0) if LOSSES[loss].binary else 3.0 * score + 7.0
    rows = [sorted(rng.choice(P, size=size, replace=False)) for size in rng.integers(2, 6, 30)]
    groups = Groups(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.concatenate(rows).astype(np.int32),
        np.ones(len(rows)),
        P,
    )
    links = random_matrix((P, P), 0.1, rng).toarray()
    np.fill_diagonal(links, 0.0)
    values: dict[str, Any] = {
        "X": X,
        "y": y,
        "sample_weight": rng.integers(1, 4, N).astype(float),
        "loss": loss,
        "groups": groups,
        "graph": Graph(csr_array(links)),
        "tol": 1e-7,
        "max_iter": 20_000,
    }
    return Problem(**{**values, **changes})


CONVEX = [
    ("ridge", {"l2": 0.5}),
    ("lasso", {"l1": 0.8}),
    ("elastic", {"l1": 0.5, "l2": 0.3}),
    ("sentence", {"group": 0.3, "l1": 0.2}),
    ("sentence", {"group": 0.3, "l1": 0.2, "solver": "admm"}),
    ("group", {"group": 0.3, "l1": 0.1, "l2": 0.1}),
    ("network", {"alpha": 0.5, "beta": 0.2}),
    ("laplacian", {"alpha": 0.5, "beta": 0.2}),
]
PATHS = [
    ("none", {}),
    ("omp", {"budget": 6, "l2": 0.1}),
    ("gomp", {"budget": 6, "l2": 0.1}),
    ("stagewise", {"steps": 60}),
    ("pcr", {"l2": 0.1, "components": 5}),
    ("lle", {"l2": 0.1, "components": 5}),
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("reg", "params"), CONVEX, ids=lambda case: str(case)[:40])
def test_every_convex_fit_has_a_proof(loss: str, reg: str, params: dict[str, Any]) -> None:
    """The gap closes, and no other point found lies below the bound."""
    part = registry.create("regularizer", reg, **params)
    tight = part.solve(problem(loss))
    loose = part.solve(problem(loss, tol=1e-2))
    assert tight.converged
    assert 0 <= tight.gap <= 1e-7
    assert loose.objective * (1 - loose.gap) <= tight.objective * (1 + 1e-12)
    assert loose.objective >= tight.objective * (1 - 1e-7)


@pytest.mark.sampled(28)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("reg", "params"), CONVEX + PATHS, ids=lambda case: str(case)[:40])
def test_repeating_documents_is_weighting_them(loss: str, reg: str, params: dict[str, Any]) -> None:
    part = registry.create("regularizer", reg, **params)
    weighted = problem(loss, tol=1e-8)
    rows = np.repeat(np.arange(N), weighted.sample_weight.astype(int))
    repeated = weighted.replace(
        X=weighted.X[rows], y=weighted.y[rows], sample_weight=np.ones(len(rows))
    )
    one, other = part.solve(weighted), part.solve(repeated)
    assert np.count_nonzero(one.w)
    scale = np.abs(one.w).max()
    np.testing.assert_allclose(one.w, other.w, atol=2e-3 * scale, rtol=0)
    assert one.b == pytest.approx(other.b, abs=2e-3 * scale)


def fitted(reg: str, given: Problem, **params: Any) -> Solution:
    solution: Solution = registry.create("regularizer", reg, **params).solve(given)
    return solution


def test_squared_lasso_and_ridge_are_those_of_scikit_learn() -> None:
    """Theirs has a mean where ours has a sum."""
    given = problem("squared", tol=1e-12, sample_weight=np.ones(N))
    X = given.X.toarray()
    lasso = SklearnLasso(alpha=2.0 / N, tol=1e-12, max_iter=100_000).fit(X, given.y)
    ours = fitted("lasso", given, l1=2.0)
    np.testing.assert_allclose(ours.w, lasso.coef_, atol=1e-5)
    assert ours.b == pytest.approx(lasso.intercept_, abs=1e-5)
    ridge = SklearnRidge(alpha=2.0, tol=1e-12).fit(X, given.y)
    np.testing.assert_allclose(fitted("ridge", given, l2=1.0).w, ridge.coef_, atol=1e-5)


@pytest.mark.parametrize("l1", [0.3, 1.0, 3.0])
def test_the_default_hinge_is_within_a_percent_of_its_linear_program(l1: float) -> None:
    """sum_i xi_i + l1 sum_j (u_j + v_j), with w = u - v and xi_i >= 1 - y_i (x_i w + b)."""
    rng = np.random.default_rng(5)
    X = rng.poisson(0.4, (120, 30)).astype(float)
    y = np.where(X @ rng.normal(size=30) + rng.normal(size=120) > 0.0, 1.0, -1.0)
    margins = np.hstack([X, -X, np.ones((120, 1)), -np.ones((120, 1))]) * y[:, None]
    least = linprog(
        np.concatenate([np.full(60, l1), [0.0, 0.0], np.ones(120)]),
        A_ub=-np.hstack([margins, np.eye(120)]),
        b_ub=-np.ones(120),
    ).fun
    found = Lasso(l1=l1).solve(Problem(X, y, loss=SmoothedHinge()))
    assert found.unsmoothed is not None
    above = found.unsmoothed.objective / least - 1.0
    assert -1e-9 <= above <= 0.01
    assert above <= found.unsmoothed.gap / (1.0 - found.unsmoothed.gap) + 1e-9


@pytest.mark.filterwarnings("ignore:.getformat. is deprecated")  # scikit-learn 1.3, SciPy 1.12
def test_squared_hinge_ridge_is_that_of_liblinear() -> None:
    given = problem("squared-hinge", tol=1e-12, sample_weight=np.ones(N), fit_intercept=False)
    theirs = LinearSVC(C=1.0, dual=True, fit_intercept=False, tol=1e-10, max_iter=1_000_000)
    theirs.fit(given.X, given.y)
    np.testing.assert_allclose(fitted("ridge", given, l2=0.5).w, theirs.coef_[0], atol=1e-4)


def hinge_optimum(given: Problem, l1: float, l2: float) -> float:
    """The least of sum_i c_i max(0, 1 - y_i z_i) + l1 ||w||_1 + l2 ||w||_2^2, as a program.

    A linear one for l2 = 0; else its dual, max sum_i a_i - ||X'(a y)||^2 / (4 l2) over the box
    0 <= a <= c with a.y = 0.
    """
    X, y, c = given.X.toarray(), given.y, given.sample_weight
    n, p = X.shape
    if l2 == 0.0:  # w = u - v, b = s - t, and the slack of every document
        yX = y[:, None] * np.c_[X, -X, np.ones(n), -np.ones(n)]
        cost = np.r_[np.full(2 * p, l1), 0.0, 0.0, c]
        return float(linprog(cost, A_ub=-np.c_[yX, np.eye(n)], b_ub=-np.ones(n)).fun)
    assert l1 == 0.0
    G = (y[:, None] * X) @ (y[:, None] * X).T / (2.0 * l2)
    found = minimize(
        lambda a: 0.5 * a @ G @ a - a.sum(),
        np.zeros(n),
        jac=lambda a: G @ a - 1.0,
        bounds=[(0.0, weight) for weight in c],
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    return -float(found.fun)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("l1", "l2"), [(0.8, 0.0), (0.0, 0.5)])
def test_the_gap_of_the_hinge_itself_bounds_it(l1: float, l2: float) -> None:
    """Also where the smoothed problem is solved to the last digit, or hardly at all."""
    given = problem("hinge")
    least = hinge_optimum(given, l1, l2)
    penalty = Separable.constant(P, l1=l1, l2=l2)
    gaps = []
    for smoothing, tol in [(1.0, 1e-9), (0.1, 1e-9), (1e-2, 1e-7), (1e-3, 1e-5), (0.1, 0.2)]:
        loss = SmoothedHinge(smoothing=smoothing)
        found = newton(given.replace(loss=loss, tol=tol), penalty)
        assert found.converged
        assert found.unsmoothed is not None
        objective, gap = found.unsmoothed.objective, found.unsmoothed.gap
        slack = 1e-6 * least
        z = given.X @ found.w + found.b
        hinge = float(given.sample_weight @ np.maximum(1.0 - given.y * z, 0.0))
        assert objective == pytest.approx(hinge + penalty.value(found.w))
        assert least - slack <= objective
        assert objective * (1.0 - gap) <= least + slack
        # By the definition of the smoothing it cannot be wider than this.
        widest = found.gap * found.objective + 0.5 * smoothing * given.sample_weight.sum()
        assert gap * objective <= widest * (1.0 + 1e-9)
        gaps.append(gap)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < 2e-3


@pytest.mark.filterwarnings("ignore:.getformat. is deprecated")  # scikit-learn 1.3, SciPy 1.12
def test_the_smoothed_hinge_approaches_that_of_liblinear() -> None:
    given = problem("hinge", sample_weight=np.ones(N), fit_intercept=False)
    theirs = LinearSVC(
        C=1.0, loss="hinge", dual=True, fit_intercept=False, tol=1e-10, max_iter=1_000_000
    )
    theirs.fit(given.X, given.y)
    off = []
    for smoothing in (0.1, 1e-2, 1e-4):
        loss = SmoothedHinge(smoothing=smoothing)
        found = newton(given.replace(loss=loss), Separable.constant(P, l2=0.5))
        off.append(float(np.abs(found.w - theirs.coef_[0]).max()))
    assert off[0] > off[1] > off[2]
    assert off[2] < 1e-3


def test_only_a_smoothed_loss_has_another_gap() -> None:
    assert fitted("ridge", problem("logistic"), l2=1.0).unsmoothed is None
    assert fitted("omp", problem("hinge"), budget=3, l2=0.1).unsmoothed is None  # which has no gap


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10**6))
def test_derivatives_conjugate_and_constant(loss: str, seed: int) -> None:
    """Derivatives are those of the value; Fenchel's inequality is an equality at them."""
    rng = np.random.default_rng(seed)
    part, n = find_loss(loss), 7
    y = np.sign(rng.standard_normal(n)) if part.binary else 5 * rng.standard_normal(n)
    z, c = 2 * rng.standard_normal(n), rng.uniform(0.1, 3, n)
    r, h, step = np.empty(n), np.empty(n), 1e-6
    assert part.derivatives(z, y, c, r, h) == pytest.approx(part.value(z, y, c))
    for i in range(n):
        e = step * np.eye(n)[i]
        slope = (part.value(z + e, y, c) - part.value(z - e, y, c)) / (2 * step)
        assert r[i] == pytest.approx(slope, abs=1e-4)
    assert (h <= part.curvature_bound(c) + 1e-12).all()
    way, other = 0.5 * rng.standard_normal(n), np.empty(n)
    part.derivatives(z + way, y, c, np.empty(n), other)
    assert (np.abs(other - h) <= part.third_derivative_bound * c * np.abs(way) + 1e-12).all()
    # value(z) >= dual_value(alpha) - alpha.z for all alpha, equal at alpha = -r.
    assert part.dual_value(-r, y, c) + r @ z == pytest.approx(part.value(z, y, c), abs=1e-9)
    shrunk = -r * rng.uniform(0, 1, n)
    assert part.dual_value(shrunk, y, c) - shrunk @ z <= part.value(z, y, c) + 1e-9
    best = part.constant(y, c)
    found = minimize(lambda b: part.value(np.full(n, b[0]), y, c), [0.0]).fun
    if len(set(np.sign(y))) == 2:
        assert part.value(np.full(n, best), y, c) <= found * (1 + 1e-6) + 1e-9
    shrunk = shrunk.copy()
    part.balance(shrunk, c)
    if not part.binary or len(set(y)) == 2:
        assert shrunk.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_of_balanced_labels_no_constant_is_better_than_0(loss: str) -> None:
    part, y, c = find_loss(loss), np.array([1.0, -1.0, -1.0]), np.array([2.0, 1.0, 1.0])
    assert part.constant(y, c) == 0.0
    values = [part.value(np.full(3, b), y, c) for b in np.linspace(-1.5, 1.5, 31)]
    assert part.value(np.zeros(3), y, c) <= min(values) + 1e-12


def test_the_first_intercept_ignores_documents_without_weight() -> None:
    given = problem("squared", sample_weight=np.r_[np.ones(N - 1), 0.0])
    given = given.replace(y=np.r_[given.y[:-1], 1e9])
    assert given.intercept_at_zero() == pytest.approx(given.y[:-1].mean())


def test_labels_that_a_loss_cannot_take() -> None:
    with pytest.raises(DataError, match=r"-1 and \+1 only"):
        problem("squared").replace(loss="squared-hinge")
    with pytest.raises(DataError, match="finite"):
        problem("squared", y=np.full(N, np.nan))
    with pytest.raises(UsageError, match="Did you mean"):
        find_loss("squard")


@pytest.mark.parametrize("loss", LOSSES)
def test_parabolas_touch_the_loss_and_lie_above_it(loss: str) -> None:
    one, rng = find_loss(loss), np.random.default_rng(4)
    z, c = np.append(rng.normal(0.0, 3.0, 40), [0.0, 1e-9]), rng.random(42) + 0.5
    y = rng.choice([-1.0, 1.0], 42) if one.binary else rng.normal(size=42)
    curvature = one.curvature_above(z, y, c)
    assert (curvature <= one.curvature_bound(c) * (1.0 + 1e-12)).all()
    for at in range(42):
        own = slice(at, at + 1)
        r, h = np.empty(1), np.empty(1)
        value = one.derivatives(z[own], y[own], c[own], r, h)
        for move in np.linspace(-20.0, 20.0, 81):
            parabola = value + r[0] * move + 0.5 * curvature[at] * move**2
            assert one.value(z[own] + move, y[own], c[own]) <= parabola + 1e-9


@pytest.mark.thorough
def test_a_lasso_under_a_hard_hinge_does_not_crawl() -> None:
    """With one curvature above that of all scores the gap is 0.72 after 3,000 steps."""
    found = newton(
        problem("hinge", tol=1e-6).replace(loss=SmoothedHinge(smoothing=1e-3)),
        Separable.constant(P, l1=0.5),
    )
    assert found.converged


def test_logistic_loss_of_any_margin() -> None:
    """Powers of e are computed in blocks: their ends, large margins, infinities and NaN."""
    z = np.array([0.0, -0.0, 1e-300, 1e-8, 0.3, 0.88137, 37.0, 709.0, 800.0, 1e300, np.inf])
    z = np.concatenate([z, -z, np.linspace(-40.0, 40.0, 1001)])
    for size in (1, 15, 16, 17, z.size):
        part, ones = z[:size], np.ones(size)
        r, h, true_r, true_h = np.empty((4, size))
        value = logistic_derivatives(part, ones, ones, r, h)
        true_value = twin.logistic_derivatives(part, ones, ones, true_r, true_h)
        assert value == logistic_value(part, ones, ones)
        assert value == pytest.approx(true_value, rel=1e-15)
        np.testing.assert_allclose(r, true_r, rtol=1e-14, atol=1e-307)
        np.testing.assert_allclose(h, true_h, rtol=1e-14, atol=1e-307)
    for m in z[np.isfinite(z)]:
        one, r, h = np.array([m]), np.empty(1), np.empty(1)
        expected = twin.logistic_value(one, np.ones(1), np.ones(1))
        found = logistic_derivatives(one, np.ones(1), np.ones(1), r, h)
        assert found == pytest.approx(expected, rel=1e-15, abs=1e-307)
    assert np.isnan(logistic_value(np.array([np.nan]), np.ones(1), np.ones(1)))


class Poisson(Loss):
    """exp(z) - y z, for counts: scores and labels are not exchangeable."""

    name = "poisson"
    binary = False

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return float(c @ (np.exp(z) - y * z))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        np.multiply(c, np.exp(z) - y, out=r)
        np.multiply(c, np.exp(z), out=h)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        return np.full(len(c), np.inf)

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        return -np.inf


def test_scores_come_before_labels() -> None:
    posed = Problem(np.eye(3), np.array([0.0, 1.0, 4.0]), loss=Poisson())
    w, b = np.array([0.5, -1.0, 2.0]), 0.25
    loss = float(np.exp(w + b).sum() - posed.y @ (w + b))
    assert posed.loss.unsmoothed_value(w + b, posed.y, np.ones(3)) == pytest.approx(loss)
    ridge = registry.create("regularizer", "ridge", l2=2.0)
    assert Regularizer.objective(ridge, posed, w, b) == pytest.approx(loss + 2.0 * w @ w)
    codes, W = np.array([0, 1, 1]), np.stack([w, -2.0 * w])
    several = Regularizer.objective_softmax(ridge, posed, codes, W, np.array([b, -b]))
    wanted = softmax_loss(posed, codes, W, np.array([b, -b])) + 2.0 * float((W * W).sum())
    assert several == pytest.approx(wanted)
    assert posed.loss.constant(posed.y, np.ones(3)) == pytest.approx(np.log(5 / 3))
    assert posed.loss.constant(np.full(2, -1.0), np.ones(2)) == 0.0  # no minimum
    rare = find_loss("logistic").constant(np.array([1.0, -1.0]), np.array([0.25, 0.5]))
    assert rare == pytest.approx(np.log(0.5))


AT = (
    np.array([-30.0, -1.5, -0.98, 0.0, 0.5, 0.99, 1.0, 2.0, 40.0, 0.25]),
    np.array([1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0]),
    np.array([1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 0.0]),
)


def test_what_losses_give_at_some_scores() -> None:
    z, y, c = AT
    found = {}
    for name, loss in LOSSES.items():
        r, h = np.empty(len(z)), np.empty(len(z))
        values = [loss().value(z, y, c), loss().derivatives(z, y, c, r, h)]
        values += [loss().dual_value(-share * r, y, c) for share in (1.0, 0.5)]
        balanced = -r
        loss().balance(balanced, c)
        values += [loss().constant(y, c), loss().unsmoothed_value(z, y, c)]
        values += [loss().largest_curvature(), abs(balanced.sum())]
        arrays = r, h, loss().curvature_bound(c), loss().curvature_above(z, y, c), balanced
        values += [float(array @ np.cos(np.arange(len(z)))) for array in arrays]
        found[name] = values
    assert set(found) == set(GIVEN)
    for name, values in found.items():
        assert values == pytest.approx(GIVEN[name], rel=1e-6, abs=1e-9), name


GIVEN: dict[str, list[float]] = {
    "logistic": [
        44.93023,
        44.93023,
        5.2456666,
        4.9118735,
        0.42488319,
        44.93023,
        0.25,
        0.0,
        -0.28327022,
        0.23725959,
        0.7611255,
        0.42703329,
        -0.062032992,
    ],
    "squared-hinge": [
        1391.0007,
        1391.0007,
        -1300.4007,
        -302.45018,
        0.20930233,
        1391.0007,
        2.0,
        0.0,
        -58.849367,
        2.0074542,
        6.089004,
        6.089004,
        23.488621,
    ],
    "hinge": [
        45.217125,
        45.217125,
        5.689125,
        2.8597813,
        0.98365385,
        45.3,
        40.0,
        0.0,
        0.19285502,
        17.393589,
        121.78008,
        56.075482,
        -0.27836728,
    ],
    "squared": [
        695.75035,
        695.75035,
        -651.45035,
        -151.78759,
        0.20930233,
        695.75035,
        1.0,
        0.0,
        -29.964986,
        3.044502,
        3.044502,
        3.044502,
        24.368766,
    ],
}
