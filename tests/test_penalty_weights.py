"""Penalties that are stronger for some features: --reg-weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg import Elastic, Lasso, Ridge
from textreg.errors import UsageError
from textreg.records import Groups, Problem

RNG = np.random.default_rng(0)
X = (RNG.random((80, 12)) < RNG.uniform(0.05, 0.6, 12)).astype(float)
X[0] = 1.0
Y = np.where(X @ RNG.normal(size=12) + RNG.normal(size=80) > 0.0, 1.0, -1.0)
SHARES = X.mean(axis=0)
GROUPS = Groups([0, 3, 5, 9, 12, 14], [0, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11], np.ones(5), 12)
OF_GROUPS = np.bincount(GROUPS.indices) / 5


def problem(X: Any = X, **more: Any) -> Problem:
    return Problem(X, Y, tol=1e-10, **more)


@pytest.mark.parametrize(
    ("weights", "factors"),
    [("documents", SHARES), ("sentences", OF_GROUPS), (SHARES**2, SHARES**2)],
)
def test_it_is_the_plain_penalty_of_scaled_columns(weights: Any, factors: Any) -> None:
    """With u_j = v_j w_j, l1 v_j |w_j| is l1 |u_j|; with u_j^2 = v_j w_j^2 the same for l2."""
    given = problem(groups=GROUPS)
    lasso = Lasso(l1=2.0, weights=weights).solve(given)
    scaled = Lasso(l1=2.0).solve(problem(X / factors))
    np.testing.assert_allclose(lasso.w, scaled.w / factors, atol=1e-6)
    ridge = Ridge(l2=0.5, weights=weights).solve(given)
    scaled = Ridge(l2=0.5).solve(problem(X / np.sqrt(factors)))
    np.testing.assert_allclose(ridge.w, scaled.w / np.sqrt(factors), atol=1e-4)


def test_of_the_elastic_net_l1_alone_has_weights() -> None:
    given, part = problem(), Elastic(l1=1.0, l2=0.3, weights="documents")
    solution, w = part.solve(given), RNG.normal(size=12)
    assert solution.gap <= 1e-10
    penalty = np.abs(w) @ SHARES + 0.3 * (w @ w)
    loss = given.loss.value(X @ w + 0.1, Y, given.sample_weight)
    assert part.objective(given, w, 0.1) == pytest.approx(loss + penalty)
    assert solution.objective <= part.objective(given, w, 0.1)
    reduced = Elastic(l1=1.0, l2=0.0, weights="documents").reduced()
    assert reduced == Lasso(l1=1.0, weights="documents")


@pytest.mark.parametrize("part", [Lasso(weights="documents"), Elastic(weights=SHARES)], ids=str)
def test_the_unit_of_l1_is_the_least_that_leaves_no_weight(part: Any) -> None:
    given = problem()
    unit = part.scale(given, "l1")
    values = {"l2": 1e-9} if "l2" in part.params() else {}
    for factor, some in ((1.001, False), (0.99, True)):
        w = part.replace(l1=factor * unit, **values).solve(given).w
        assert bool(np.any(w)) == some


def test_softmax_agrees_with_scaled_columns() -> None:
    codes = np.arange(80) % 3
    one = Ridge(l2=0.5, weights="documents").solve_softmax(problem(), codes)
    other = Ridge(l2=0.5).solve_softmax(problem(X / np.sqrt(SHARES)), codes)
    np.testing.assert_allclose(one.w, other.w / np.sqrt(SHARES), atol=1e-4)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("words", "weights must be none, documents, sentences, or in Python a number for every"),
        ([1.0, -1.0], "weights must be a vector of numbers, 0 or more"),
        ([1.0, float("nan")], "weights must be a vector of numbers, 0 or more"),
        ([[1.0]], "weights must be a vector of numbers, 0 or more"),
        (["a"], "weights must be a vector of numbers, 0 or more"),
    ],
    ids=str,
)
def test_wrong_weights(weights: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Ridge(weights=weights)


def test_a_wrong_number_of_weights() -> None:
    with pytest.raises(UsageError, match="ridge: there are 2 weights, and 12 features: give one"):
        Ridge(l2=1.0, weights=[1.0, 2.0]).solve(problem())
    with pytest.raises(UsageError, match="lasso: the problem has no sentences to count"):
        Lasso(l1=1.0, weights="sentences").solve(problem())


@pytest.mark.parametrize("weights", ["documents", "sentences"])
def test_by_the_command(tmp_path: Path, cli: Cli, weights: str) -> None:
    path, model = tmp_path / "corpus.jsonl", tmp_path / "m"
    texts = ["It is red. I love it.", "It is blue. I hate it.", "A red one.", "A blue one. Blue!"]
    rows = [
        {"text": text, "label": label} for text, label in zip(texts * 6, "pnpn" * 6, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    out = cli(
        "train", path, "--reg", "elastic", "--reg-weights", weights, "--cv", 2, "-o", model
    ).out
    assert ("groups: " in out) == (weights == "sentences")
    assert "selected: " not in out
    loaded = textreg.load(model)
    assert loaded.predict(["I love red."]) == ["p"]
    shown = cli("show", model, "--command").out
    assert f"--reg elastic --reg-weights {weights}" in shown
    wrong = cli("train", path, "--reg", "elastic", "--reg-weights", "3")
    assert wrong.code == 2
    assert "weights must be none, documents, sentences" in wrong.err
