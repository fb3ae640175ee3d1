"""Greedy pursuits by the letter of Skianis et al. (2018), and of the code published with it.

The paper's algorithms are those of the plain version in letters/skianis2018.py, which has nothing
of textreg, kept in a file beside it. The order of the published code is that of its own runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from letters import skianis2018 as letter
from scipy.sparse import csr_array

from textreg.builtin.greedy import Gomp, Omp
from textreg.errors import UsageError
from textreg.records import Groups, Problem
from textreg.solvers.pursuit import Pursuit

GOLDEN = dict(np.load(letter.FILE))
BIAS = 15
PAPER = {"columns": "given", "intercept": "feature", "epsilon_of": "residual"}


def problem(**options: Any) -> Problem:
    """The problem of the plain version."""
    X, y, sets = letter.small()
    groups = Groups(
        np.cumsum([0, *map(len, sets)]),
        np.concatenate(sets).astype(np.int32),
        np.ones(len(sets)),
        X.shape[1],
    )
    return Problem(csr_array(X), y, groups=groups, tol=1e-13, **options)


def paper(kind: str, **params: Any) -> Omp:
    """The pursuit as the paper has it: of features, or with a score of groups alone."""
    if kind == "omp":
        return Omp(l2=letter.RIDGE, **PAPER, **params)
    return Gomp(l2=letter.RIDGE, score=kind, singletons=False, **PAPER, **params)


@pytest.mark.parametrize("kind", ["omp", "sum", "orthonormal", "mean"])
def test_the_order_is_that_of_the_plain_version(kind: str) -> None:
    """Also where the bias comes late, which is not in the order of features."""
    expected = [j for j in GOLDEN[f"{kind}_order"].tolist() if j != BIAS]
    found = paper(kind, budget=BIAS).solve(problem())
    assert list(found.report.order) == expected  # type: ignore[union-attr]
    assert BIAS in GOLDEN[f"{kind}_order"][1:]


@pytest.mark.parametrize("kind", ["omp", "sum", "orthonormal", "mean"])
def test_equation_7_the_weights_of_every_step(kind: str) -> None:
    """Bias included: it is under the ridge, and none before it is selected."""
    order = GOLDEN[f"{kind}_order"].tolist()
    run = Pursuit(problem(), **{k: v for k, v in paper(kind, budget=1).params().items()
                                if k != "budget"})  # fmt: skip
    for k in range(len(GOLDEN[f"{kind}_norms"])):
        theta = GOLDEN[f"{kind}_theta_{k}"]
        active = order[: len(theta)]
        if active[-1] == BIAS and len(active) < len(order):
            continue  # no budget of features ends just here
        found = run.solution(len([j for j in active if j != BIAS]))
        expected = np.zeros(BIAS + 1)
        expected[active] = theta
        np.testing.assert_allclose(np.append(found.w, found.b), expected, atol=1e-6)
        assert found.objective == pytest.approx(
            paper(kind, budget=1).objective(problem(), found.w, found.b), rel=1e-12
        )


def test_equation_8_the_residual_is_the_derivative_of_the_loss() -> None:
    X, y, _ = letter.small()
    w, b = np.random.default_rng(0).normal(size=BIAS), 0.2
    r, h = np.empty(len(y)), np.empty(len(y))
    made = problem()
    made.loss.derivatives(X @ w + b, y, np.ones(len(y)), r, h)
    A = np.column_stack([X, np.ones(len(y))])
    np.testing.assert_allclose(r, letter.residual(A, y, np.append(w, b)), atol=1e-14)
    made.loss.derivatives(np.zeros(len(y)), y, np.ones(len(y)), r, h)
    np.testing.assert_allclose(r, -y / 2.0, atol=1e-15)  # the start r = y, up to a factor


@pytest.mark.parametrize("kind", ["omp", "sum"])
def test_section_4_a_run_ends_at_the_norm_of_the_residual(kind: str) -> None:
    norms = GOLDEN[f"{kind}_norms"]
    plain = kind if kind != "omp" else ""
    for k in (0, 2, len(norms) - 2):
        for factor in (1.0 + 1e-9, 1.0 - 1e-9):
            epsilon = factor * norms[k]
            expected = [j for j in letter.pursuit(plain, epsilon)[0] if j != BIAS]
            found = paper(kind, budget=BIAS, epsilon=epsilon).solve(problem())
            assert list(found.report.order) == expected  # type: ignore[union-attr]
    assert letter.pursuit(plain, (1.0 + 1e-9) * norms[2])[0] != GOLDEN[f"{kind}_order"].tolist()


@pytest.mark.parametrize("kind", ["omp", "mean"])
def test_line_3_a_run_ends_at_the_correlation(kind: str) -> None:
    plain = kind if kind != "omp" else ""
    for epsilon in (0.05, 0.2, 1.0, 2.0):
        expected = [j for j in letter.pursuit(plain, epsilon, "score")[0] if j != BIAS]
        found = paper(kind, budget=BIAS, epsilon=epsilon).replace(epsilon_of="score")
        report = found.solve(problem()).report
        assert list(report.order) == expected  # type: ignore[union-attr]


@pytest.mark.parametrize("inside", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_section_6_sparsity_inside_a_group(kind: str, inside: float) -> None:
    """The outlook: a group's features one at a time, while they help."""
    order, thetas, _ = letter.pursuit(kind, inside=inside)
    expected = [j for j in order if j != BIAS]
    reg = paper(kind, budget=BIAS, inside=inside)
    report = reg.solve(problem()).report
    assert list(report.order) == expected  # type: ignore[union-attr]
    assert report.uncertain == 0  # type: ignore[union-attr]
    steps = [step.active for step in report.steps]  # type: ignore[union-attr]
    ends = [len([j for j in order[: len(theta)] if j != BIAS]) for theta in thetas]
    assert steps == sorted({*ends} - {0})
    assert len(steps) > 3  # whole groups


def test_inside_a_group_nothing_helps_less_than_the_share() -> None:
    """On columns of norm one, with an intercept, and for weighted documents."""
    weights = np.random.default_rng(0).integers(1, 4, 50).astype(float)
    made = problem(sample_weight=weights)
    whole = Gomp(l2=1.0, budget=1, singletons=False, score="sum", inside=1e-12).solve(made).report
    plain = Gomp(l2=1.0, budget=1, singletons=False, score="sum").solve(made).report
    assert set(whole.order) == set(plain.order)  # type: ignore[union-attr]
    some = Gomp(l2=1.0, budget=1, singletons=False, score="sum", inside=0.95).solve(made).report
    taken = list(some.order)  # type: ignore[union-attr]
    assert taken == list(whole.order)[: len(taken)]  # type: ignore[union-attr]
    assert 1 <= len(taken) < len(plain.order)  # type: ignore[union-attr]


def test_a_bias_is_there_only_where_an_intercept_is() -> None:
    for how in ("ridge", "feature"):
        reg = Omp(l2=1.0, budget=5, intercept=how)
        without = reg.solve(problem(fit_intercept=False))
        plain = reg.replace(intercept="free").solve(problem(fit_intercept=False))
        np.testing.assert_array_equal(without.w, plain.w)
        assert without.b == 0.0
    with pytest.raises(UsageError, match="intercept must be one of free, ridge, feature"):
        Pursuit(problem(), l2=1.0, intercept="none")


def test_in_regression_the_intercept_is_free_as_zero_means_nothing() -> None:
    """The selection is the same wherever the zero of y is."""
    X, y, _ = letter.small()
    orders = [
        Omp(l2=1.0, budget=8).solve(Problem(csr_array(X), y + shift, loss="squared")).report.order  # type: ignore[union-attr]
        for shift in (0.0, 1000.0)
    ]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("name", ["lam1", "lam0p1"])
def test_omp_alone_has_the_order_of_the_published_code(data_dir: Path, name: str) -> None:
    with np.load(data_dir / "golden" / "omp_religion.npz") as file:
        stored = {key: file[key] for key in file if not key.startswith(("dev", "test"))}
    parts = (stored["train_data"], stored["train_indices"], stored["train_indptr"])
    made = Problem(csr_array(parts, shape=tuple(stored["train_shape"])), stored["train_y"])
    found = Omp(l2=float(stored[f"{name}_lambda"]), budget=300).solve(made).report
    theirs = stored[f"{name}_order"][1:].tolist()  # without the intercept, their first
    assert list(found.order) == stored[f"{name}_exact_order"][1:].tolist()  # type: ignore[union-attr]
    agree = sum(a == b for a, b in zip(found.order, theirs, strict=True))  # type: ignore[union-attr]
    assert agree == (300 if name == "lam1" else 297)  # three are as good as equal there
    assert set(found.order) == set(theirs)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["rand_lam1", "freq_lam0p1"])
def test_gomp_with_a_feature_for_the_intercept_has_that_order(data_dir: Path, kind: str) -> None:
    with np.load(data_dir / "golden" / "gomp_religion.npz") as file:
        stored = {key: file[key] for key in file if not key.startswith(("dev", "test"))}
    parts = (stored["train_data"], stored["train_indices"], stored["train_indptr"])
    X, of = csr_array(parts, shape=tuple(stored["train_shape"])), kind.partition("_")[0]
    indptr = stored[f"groups_{of}_indptr"].astype(np.int64)
    indices = stored[f"groups_{of}_indices"].astype(np.int32)
    groups = Groups(indptr, indices, np.ones(len(indptr) - 1), X.shape[1])
    theirs = [j for j in stored[f"{kind}_order"].tolist() if j >= 0]
    reg = Gomp(l2=float(stored[f"{kind}_lambda"]), budget=len(theirs), intercept="feature")
    found = reg.solve(Problem(X, stored["train_y"], groups=groups, max_iter=5000)).report
    assert list(found.order) == theirs  # type: ignore[union-attr]
