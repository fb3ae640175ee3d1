"""Forward stagewise against the equations of Hooker & Weng (2004), written out section by section.

What is compared here is dense and slow, and says in NumPy what the paper says in symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

from textreg.errors import UsageError
from textreg.plugins import registry
from textreg.records import Problem
from textreg.solvers.stagewise import StagewiseRun, stagewise
from textreg.solvers.stagewise_rules import StepRules

EPSILON = 0.02


def patterns(n: int = 60, p: int = 200, seed: int = 0) -> Any:
    """A system of zeros and ones, section 5, of columns that vary."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0.05, 0.5, p)).astype(float)
    return X[:, X.var(axis=0) > 0.0]


def labels(X: Any, seed: int = 1) -> Any:
    z = X[:, :6] @ np.array([2.0, -2.0, 1.0, -1.0, 1.0, -0.5])
    return np.where(z + np.random.default_rng(seed).logistic(size=len(X)) > z.mean(), 1.0, -1.0)


def centered_and_scaled(X: Any, W: Any) -> tuple[Any, Any, Any]:
    """Section 5: G = (X - 1 mu') D(gamma), mu and gamma."""
    mu = W @ X / W.sum()
    gamma = 1.0 / np.sqrt(W @ (X - mu) ** 2 / W.sum())
    return (X - mu) * gamma, mu, gamma


def derivatives(run: StagewiseRun, p: int) -> Any:
    """All derivatives as the solver has them."""
    return np.array([run._state.largest(np.array([k])).derivative for k in range(p)])


def path_of(gradient: Any, p: int, steps: int) -> list[int]:
    """Section 4: j = argmax |c_j|, lambda_j += epsilon sign(c_j)."""
    lam, features = np.zeros(p), []
    for _ in range(steps):
        c = gradient(lam)
        j = int(np.argmax(np.abs(c)))
        lam[j] += EPSILON * np.sign(c[j])
        features.append(j)
    return features


def test_section_8_eq_1_with_every_example_observed_once() -> None:
    X = patterns()
    n, p = X.shape
    W = np.random.default_rng(2).uniform(0.1, 3.0, n)
    G, _, gamma = centered_and_scaled(X, W)

    def gradient(lam: Any) -> Any:
        tilted = W * np.exp(G @ lam)
        return G.sum(axis=0) - n * (G.T @ tilted) / tilted.sum()

    def log_likelihood(lam: Any) -> float:
        return float((G @ lam).sum() - n * np.log(W @ np.exp(G @ lam)))

    assert np.abs(gradient(np.zeros(p))).max() > 3.0  # the start is not the maximum
    rules = StepRules(likelihood="exponential", epsilon=EPSILON, steps=120)
    solution = stagewise(Problem(csr_array(X), np.ones(n), W), rules)
    assert solution.report.path.features.tolist() == path_of(gradient, p, 120)
    lam = solution.w / gamma
    risen = log_likelihood(lam) - log_likelihood(np.zeros(p))
    assert risen > 1.0
    assert -solution.objective == pytest.approx(risen)


def test_section_8_counts_other_than_one() -> None:
    X = patterns()
    n, p = X.shape
    rng = np.random.default_rng(3)
    W, counts = rng.uniform(0.1, 3.0, n), rng.integers(0, 4, n).astype(float)
    G, _, _ = centered_and_scaled(X, W)

    def gradient(lam: Any) -> Any:
        tilted = W * np.exp(G @ lam)
        return G.T @ counts - counts.sum() * (G.T @ tilted) / tilted.sum()

    rules = StepRules(likelihood="exponential", epsilon=EPSILON, steps=80)
    problem = Problem(csr_array(X), counts, W, loss="squared")
    solution = stagewise(problem, rules)
    assert solution.report.path.features.tolist() == path_of(gradient, p, 80)
    reg = registry.create("regularizer", "stagewise", likelihood="exponential", scaled=False)
    assert reg.objective(problem, solution.w, 0.0) == pytest.approx(solution.objective)
    # A row twice is one that was observed twice as often, with twice the weight.
    rows = np.repeat(np.arange(n), 2)
    twice = Problem(csr_array(X[rows]), counts[rows], W[rows], loss="squared")
    once = Problem(csr_array(X), 2.0 * counts, 2.0 * W, loss="squared")
    np.testing.assert_allclose(stagewise(twice, rules).w, stagewise(once, rules).w, rtol=1e-9)
    with pytest.raises(UsageError, match="or counts of 0 or more"):
        stagewise(problem.replace(y=counts - 0.5), rules)


def test_section_8_documents_without_weight_are_left_out() -> None:
    X = patterns()
    W = np.random.default_rng(4).integers(0, 3, len(X)).astype(float)
    rules = StepRules(likelihood="exponential", epsilon=EPSILON, steps=60)
    ours = stagewise(Problem(csr_array(X), labels(X), W), rules)
    some = W > 0.0
    other = stagewise(Problem(csr_array(X[some]), labels(X)[some], W[some]), rules)
    np.testing.assert_allclose(ours.w, other.w, rtol=1e-9, atol=1e-12)


def test_section_8_updates_of_the_normalizing_sums() -> None:
    """C^0 and C^1 after a step, by the recursions of the paper with C^2 from the rows of j."""
    X = patterns()
    n, p = X.shape
    W = np.random.default_rng(5).uniform(0.1, 3.0, n)
    rules = StepRules(likelihood="exponential", epsilon=EPSILON, standardize=False)
    run = StagewiseRun(Problem(csr_array(X), np.ones(n), W), rules)
    lam = np.zeros(p)
    for steps in range(1, 30):
        run.advance(steps)
        j, sign = run._features[-1], np.sign(run._sizes[-1])
        tilted = W * np.exp(X @ lam)
        factor = np.exp(sign * EPSILON) - 1.0
        C0 = tilted.sum() + factor * (X[:, j] @ tilted)
        C1 = X.T @ tilted + factor * (X.T @ (X[:, j] * tilted))
        lam[j] += sign * EPSILON
        np.testing.assert_allclose(derivatives(run, p), X.sum(axis=0) - n * C1 / C0, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
@pytest.mark.parametrize("standardize", [True, False])
def test_section_8_the_gradient_of_a_loss_at_the_best_intercept(
    loss: str, standardize: bool
) -> None:
    """After every step the derivatives are those of the loss minimized over the intercept."""
    X = patterns(p=40)
    y = labels(X)
    _, _, gamma = centered_and_scaled(X, np.ones(len(X)))
    problem = Problem(csr_array(X), y, loss=loss)
    rules = StepRules(epsilon=0.05, scaled=True, standardize=standardize)
    run = StagewiseRun(problem, rules)
    for steps in (1, 2, 7, 30, 60):
        run.advance(steps)
        z = X @ run.w
        b = minimize_scalar(
            lambda b, z=z: problem.loss.value(z + b, y, np.ones(len(y))), tol=1e-12
        ).x
        r, h = np.empty(len(y)), np.empty(len(y))
        problem.loss.derivatives(z + b, y, np.ones(len(y)), r, h)
        c = -X.T @ r * (gamma if standardize else 1.0)
        np.testing.assert_allclose(derivatives(run, X.shape[1]), c, atol=2e-6 * len(X))
        assert run._state.residual_size == pytest.approx(np.sqrt(np.mean(r**2)), rel=1e-5)


def test_section_8_the_intercept_of_a_hinge_is_a_minimum_though_not_the_only_one() -> None:
    X = patterns(p=40)
    y = labels(X)
    problem = Problem(csr_array(X), y, loss="hinge")
    run = StagewiseRun(problem, StepRules(epsilon=0.05, scaled=True))
    for steps in range(1, 60, 4):
        run.advance(steps)
        r, h = np.empty(len(y)), np.empty(len(y))
        b = run.solution().b
        problem.loss.derivatives(X @ run.w + b, y, np.ones(len(y)), r, h)
        assert r.sum() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_path_does_not_depend_on_when_errors_are_measured(
    likelihood: str, fit_intercept: bool
) -> None:
    X = patterns()
    problem = Problem(csr_array(X), labels(X), fit_intercept=fit_intercept)
    rules = {"likelihood": likelihood, "epsilon": 0.1, "scaled": likelihood != "exponential"}
    ends = [stagewise(problem, StepRules(**rules, every=every)) for every in (1, 7, 50)]
    assert ends[0].iterations > 50
    for end in ends[1:]:
        np.testing.assert_array_equal(end.report.path.features, ends[0].report.path.features)
        np.testing.assert_allclose(end.w, ends[0].w, rtol=1e-12, atol=1e-14)
        assert end.b == pytest.approx(ends[0].b, rel=1e-9)
