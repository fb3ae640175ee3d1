"""Forward stagewise against the equations of Hooker & Weng (2004), written out section by section.

What is compared here is dense and slow, and says in NumPy what the paper says in symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from letters import hooker2004
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
    return np.array([run._state.largest(np.array([k]))[1] for k in range(p)])


def path_of(gradient: Any, p: int, steps: int) -> list[int]:
    """Section 4: j = argmax |c_j|, lambda_j += epsilon sign(c_j)."""
    lam, features = np.zeros(p), []
    for _ in range(steps):
        c = gradient(lam)
        j = int(np.argmax(np.abs(c)))
        lam[j] += EPSILON * np.sign(c[j])
        features.append(j)
    return features


def responses(X: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return 3.0 + X[:, :6] @ rng.normal(size=6) + 0.3 * rng.normal(size=len(X))


@pytest.mark.parametrize("lookup", ["random", "queue"])
@pytest.mark.parametrize("likelihood", ["linear", "loss", "exponential"])
def test_the_paths_that_are_written_down(likelihood: str, lookup: str) -> None:
    """Sections 4, 5.1 and 8, as plain code gave them: see letters/hooker2004.py."""
    X, y, labels, W = hooker2004.small()
    known = np.load(hooker2004.FILE)
    problem = {
        "linear": Problem(csr_array(X), y, loss="squared"),
        "loss": Problem(csr_array(X), labels),
        "exponential": Problem(csr_array(X), np.ones(len(X)), W),
    }[likelihood]
    rules = StepRules(
        likelihood=likelihood, lookup=lookup, epsilon=hooker2004.EPSILON, steps=hooker2004.STEPS
    )
    solution = stagewise(problem, rules)
    features = known[f"{likelihood}_features"]
    np.testing.assert_array_equal(solution.report.path.features, features)
    assert solution.report.stopped == ("steps" if len(features) == rules.steps else "loop")
    lam = solution.w / np.where(solution.w != 0.0, solution.report.path.scale, 1.0)
    np.testing.assert_allclose(lam, known[f"{likelihood}_lambda"], atol=1e-12)
    if likelihood == "loss":
        _, mu, _ = centered_and_scaled(X, np.ones(len(X)))
        assert solution.b + mu @ solution.w == pytest.approx(known["loss_intercept"], abs=1e-8)


def test_section_4_the_algorithm() -> None:
    """r = y - G lambda, c = G'r, j = argmax |c_j|, lambda_j += epsilon sign(c_j)."""
    X = patterns()
    y, (G, mu, gamma) = responses(X), centered_and_scaled(X, np.ones(len(X)))
    features = path_of(lambda lam: G.T @ (y - y.mean() - G @ lam), X.shape[1], 150)
    solution = stagewise(
        Problem(csr_array(X), y, loss="squared"), StepRules(epsilon=EPSILON, steps=150)
    )
    assert solution.report.path.features.tolist() == features
    lam = solution.w / gamma
    np.testing.assert_allclose(lam / EPSILON, np.round(lam / EPSILON), atol=1e-9)
    assert solution.b == pytest.approx(y.mean() - mu @ solution.w)


def test_section_5_the_update_of_the_correlations() -> None:
    """c_k -= epsilon gamma_k gamma_j (x_k'x_j - n mu_k mu_j): printed without sign and factor."""
    X = patterns()
    n, p = X.shape
    y, (G, mu, gamma) = responses(X), centered_and_scaled(X, np.ones(len(X)))
    run = StagewiseRun(Problem(csr_array(X), y, loss="squared"), StepRules(epsilon=EPSILON))
    c, lam = G.T @ (y - y.mean()), np.zeros(p)
    for steps in range(1, 130):
        run.advance(steps)
        j, epsilon = run._features[-1], EPSILON * run._sizes[-1]
        c -= epsilon * gamma * gamma[j] * (X.T @ X[:, j] - n * mu * mu[j])
        lam[j] += epsilon
    np.testing.assert_allclose(derivatives(run, p), c, atol=1e-9)
    residual = y - y.mean() - G @ lam
    np.testing.assert_allclose(c, G.T @ residual, atol=1e-9)
    assert run._state.residual_size == pytest.approx(np.sqrt(np.mean(residual**2)))


def test_section_5_1_a_loop_of_length_two() -> None:
    """It stops where the next step would take back the last one, and the one after repeat it."""
    X = patterns(p=8)
    y, (G, _, gamma) = responses(X), centered_and_scaled(X, np.ones(len(X)))
    problem = Problem(csr_array(X), y, loss="squared")
    solution = stagewise(problem, StepRules(epsilon=EPSILON, steps=10**5))
    assert solution.report.stopped == "loop"
    c = G.T @ (y - y.mean() - G @ (solution.w / gamma))
    path = solution.report.path
    assert path.features[-1] == np.argmax(np.abs(c))
    assert path.sizes[-1] == -np.sign(c[path.features[-1]])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("relative", [False, True])
def test_section_5_1_the_largest_correlation_below_a_threshold(loss: str, relative: bool) -> None:
    X = patterns()
    problem = Problem(csr_array(X), labels(X), loss=loss)
    free = StagewiseRun(problem, StepRules(epsilon=EPSILON))
    sizes = [abs(free._state.largest()[1])]
    for steps in range(1, 60):
        free.advance(steps)
        sizes.append(abs(free._state.largest()[1]))
    threshold = 0.7 * sizes[0]
    expected = next(at for at, size in enumerate(sizes) if size < threshold)
    given = 0.7 if relative else threshold
    rules = StepRules(epsilon=EPSILON, threshold=given, relative=relative)
    solution = stagewise(problem, rules)
    assert 5 < solution.iterations == expected
    assert solution.report.stopped == "threshold"


def test_section_5_1_most_iterations_coefficients_and_steps_since_the_best_test_error() -> None:
    X = patterns(n=150)
    problem = Problem(
        csr_array(X[:100]), labels(X)[:100], validation=(X[100:], labels(X, seed=7)[100:])
    )
    assert stagewise(problem, StepRules(steps=17)).report.steps == 17
    some = stagewise(problem, StepRules(features=4, epsilon=0.1))
    assert (some.report.stopped, some.report.path.nonzero[-1]) == ("features", 4)
    patient = stagewise(problem, StepRules(patience=20, epsilon=0.1, every=1))
    errors = patient.report.path.validation_error
    assert patient.report.stopped == "patience"
    assert patient.report.steps == len(errors) - 1 == int(errors.argmin()) + 20


def test_section_6_r_squared_on_the_way() -> None:
    """1 - sum (y_i - X_i lambda)^2 / sum (y_i - mean y)^2, from the errors of the path."""
    X = patterns()
    y = responses(X)
    problem = Problem(csr_array(X), y, loss="squared")
    path = stagewise(problem, StepRules(epsilon=EPSILON, steps=100, every=25)).report.path
    for at, step in enumerate(path.checks.tolist()):
        z = X @ path.weights(step) + path.intercepts[at]
        expected = 1.0 - np.sum((y - z) ** 2) / np.sum((y - y.mean()) ** 2)
        assert 1.0 - path.train_error[at] / path.train_error[0] == pytest.approx(expected)


def test_section_6_scaled_steps_have_no_unit() -> None:
    """Targets in another unit: the same path in that unit, as with no step of a fixed size."""
    X = patterns()
    y = responses(X)
    rules = StepRules(epsilon=EPSILON, scaled=True, steps=150)
    ours, other = (
        stagewise(Problem(csr_array(X), unit * y, loss="squared"), rules) for unit in (1.0, 60.0)
    )
    np.testing.assert_array_equal(ours.report.path.features, other.report.path.features)
    np.testing.assert_allclose(60.0 * ours.w, other.w, rtol=1e-9)


@pytest.mark.parametrize("lookup", ["random", "queue"])
@pytest.mark.parametrize("keep_best", [False, True])
def test_section_7_steps_that_look_at_some(lookup: str, keep_best: bool) -> None:
    """The best of those looked at; a queue looks at all in turn before at one again."""
    X = patterns()
    n, p = X.shape
    y, (G, _, _) = responses(X), centered_and_scaled(X, np.ones(n))
    looked: list[Any] = []
    rules = StepRules(
        epsilon=EPSILON, sample=30, lookup=lookup, keep_best=keep_best, steps=3 * -(-p // 30)
    )
    run = StagewiseRun(Problem(csr_array(X), y, loss="squared"), rules)
    original = run._state.largest
    run._state.largest = lambda among=None: looked.append(among) or original(among)  # type: ignore[method-assign]
    run.advance(rules.steps)
    lam = np.zeros(p)
    for step, features in enumerate(looked):
        c = G.T @ (y - y.mean() - G @ lam)
        j = run._features[step]
        assert np.abs(c[features]).max() == pytest.approx(abs(c[j]))
        if keep_best and step:
            assert features[-1] == run._features[step - 1]
        lam[j] += EPSILON * np.sign(c[j])
    turn = np.unique(np.concatenate(looked[: -(-p // 30)]))
    assert (len(turn) == p) == (lookup == "queue")


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
def test_section_7_a_queue_without_a_sample_finds_the_best_of_all(likelihood: str) -> None:
    X = patterns(n=100, p=400)
    problem = Problem(csr_array(X), labels(X))
    rules = {"likelihood": likelihood, "epsilon": 0.01, "steps": 100, "every": 30}
    ours = stagewise(problem, StepRules(**rules, lookup="queue"))
    other = stagewise(problem, StepRules(**rules))
    np.testing.assert_array_equal(ours.report.path.features, other.report.path.features)
    np.testing.assert_allclose(ours.report.path.train_error, other.report.path.train_error)
    assert ours.b == pytest.approx(other.b, rel=1e-6)
    assert ours.report.lookups < 0.7 * 100 * X.shape[1]
    assert other.report.lookups is None


@pytest.mark.parametrize("likelihood", ["loss", "linear", "exponential"])
def test_section_7_equal_derivatives_are_decided_alike(likelihood: str) -> None:
    """Of a column, its complement and copies the first one is best, down to where all fits.

    Their derivatives are equal but for the rounding of sums that are a million times as large.
    """
    rng = np.random.default_rng(1)
    half = (rng.random((6, 90)) < rng.uniform(0.1, 0.9, 90)).astype(float)
    X = np.hstack([half, 1.0 - half, half])[:, rng.permutation(270)]
    problem = Problem(csr_array(X), np.array([1.0, 1.0, -1.0, 1.0, -1.0, -1.0]))
    rules = {"likelihood": likelihood, "epsilon": 1.0, "steps": 200, "threshold": 0.0}
    rules["scaled"] = likelihood == "linear"
    ours = stagewise(problem, StepRules(**rules)).report
    queue = stagewise(problem, StepRules(**rules, lookup="queue")).report
    mixed = problem.replace(X=csr_array(X[::-1]), y=problem.y[::-1])
    assert len(ours.path.features) > 15
    assert ours.largest < 1e-10
    for other in (queue, stagewise(mixed, StepRules(**rules)).report):
        assert ours.path.features.tolist() == other.path.features.tolist()
    first = [
        next(
            k
            for k in range(270)
            if np.array_equal(X[:, k], X[:, j]) or np.array_equal(X[:, k], 1.0 - X[:, j])
        )
        for j in ours.path.features
    ]
    assert ours.path.features.tolist() == first


def test_section_8_gaussian_noise_gives_the_correlations() -> None:
    """The derivative of minus half the squared error is c."""
    X = patterns(p=30)
    y, (G, _, _) = responses(X), centered_and_scaled(X, np.ones(len(X)))
    lam = np.random.default_rng(6).normal(size=G.shape[1])

    def log_likelihood(lam: Any) -> float:
        return -0.5 * float(np.sum((y - G @ lam) ** 2))

    for k in range(0, G.shape[1], 7):
        step = 1e-5 * np.eye(G.shape[1])[k]
        slope = (log_likelihood(lam + step) - log_likelihood(lam - step)) / 2e-5
        assert slope == pytest.approx(G[:, k] @ (y - G @ lam), rel=1e-6)
    # With labels as numbers the likelihood "linear" is squared error, whatever the loss.
    problem = Problem(csr_array(X), labels(X))
    np.testing.assert_array_equal(
        stagewise(problem, StepRules(likelihood="linear")).w,
        stagewise(problem.replace(loss="squared"), StepRules()).w,
    )


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
    with pytest.raises(UsageError, match=r"or counts of 0 or more as targets, not -0\.5"):
        stagewise(problem.replace(y=np.where(np.arange(n) == 0, -1.0, -0.5)), rules)


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
    rules = {
        "likelihood": likelihood,
        "epsilon": 0.1,
        "scaled": likelihood != "exponential",
        "steps": 300,
    }
    ends = [stagewise(problem, StepRules(**rules, every=every)) for every in (1, 7, 50)]
    assert ends[0].iterations > 50
    for end in ends[1:]:
        np.testing.assert_array_equal(end.report.path.features, ends[0].report.path.features)
        np.testing.assert_allclose(end.w, ends[0].w, rtol=1e-12, atol=1e-14)
        assert end.b == pytest.approx(ends[0].b, rel=1e-9)
