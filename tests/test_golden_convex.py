"""Optima that other people's solvers agree on, reached to six digits with a bound that is true.

Objectives are those of ``golden/*_index.json``, known to about ten digits there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg.builtin.groups import Sentence
from textreg.builtin.separable import Elastic, Lasso, Ridge
from textreg.kinds import Regularizer
from textreg.records import Groups, Problem

KNOWN = 1e-9
"""Relative accuracy of the known optima themselves."""

CASES = {
    "lasso_a_1_0": [Lasso(l1=1.0)],
    "lasso_a_0.2_0": [Lasso(l1=0.2)],
    "elastic_a_0.1_1": [Elastic(l1=0.1, l2=1.0)],
    "elastic_a_0.5_0.1": [Elastic(l1=0.5, l2=0.1)],
    "ridge_a_0_0.05": [Ridge(l2=0.05)],
    "ridge_a_0_0.5": [Ridge(l2=0.5)],
    **{
        f"sentence_a_{group}_{l1}": [
            Sentence(group=group, l1=l1, l2=0.0, solver="majorize"),
            Sentence(group=group, l1=l1, l2=0.0, solver="admm"),
        ]
        for group, l1 in ((0.1, 0.1), (0.5, 0.2), (1, 0.05))
    },
}
RUNS = [
    pytest.param(name, reg, id=f"{name}-{reg.params().get('solver', 'newton')}")
    for name, regs in CASES.items()
    for reg in regs
]


def read(folder: Path, name: str, **options: Any) -> tuple[Problem, dict[str, Any]]:
    """The problem called ``name``, and what is known of its optimum."""
    with np.load(folder / f"{name}.npz") as arrays:
        stored = dict(arrays)
    X = csr_array(
        (stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"])
    )
    groups = None
    if "group_indptr" in stored:
        indptr = stored["group_indptr"].astype(np.int64)
        groups = Groups(
            indptr=indptr,
            indices=stored["group_indices"].astype(np.int32),
            weights=np.ones(len(indptr) - 1),
            n_features=X.shape[1],
        )
    index = "sentence" if groups else "convex"
    (known,) = [
        entry
        for entry in json.loads((folder / f"{index}_index.json").read_text())["problems"]
        if entry["file"] == f"{name}.npz"
    ]
    return Problem(X, stored["y"], groups=groups, max_iter=5000, **options), known


@pytest.mark.parametrize(("name", "reg"), RUNS)
def test_optimum(data_dir: Path, name: str, reg: Regularizer) -> None:
    problem, known = read(data_dir / "golden", name, tol=1e-6)
    optimum = known["objective"]
    solution = reg.solve(problem)
    assert solution.converged
    assert solution.objective <= optimum * (1 + 1e-6)
    assert solution.objective >= optimum * (1 - KNOWN)
    bound = solution.objective * (1 - solution.gap)
    assert optimum * (1 - 2e-6) <= bound <= optimum * (1 + KNOWN)


@pytest.mark.parametrize(("name", "reg"), RUNS)
def test_every_bound_on_the_way_is_true(data_dir: Path, name: str, reg: Regularizer) -> None:
    problem, known = read(data_dir / "golden", name, tol=1e-6)
    history = reg.solve(problem).history
    assert history
    for step in history:
        assert step.objective * (1 - step.gap) <= known["objective"] * (1 + KNOWN)
        assert step.objective >= known["objective"] * (1 - KNOWN)


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("sentence")])
def test_weights(data_dir: Path, name: str) -> None:
    (reg,) = CASES[name]
    problem, known = read(data_dir / "golden", name, tol=1e-10)
    with np.load(data_dir / "golden" / f"{name}.npz") as stored:
        expected = stored["w"]
    solution = reg.solve(problem)
    np.testing.assert_allclose(solution.w, expected, atol=1e-4)
    assert solution.b == pytest.approx(known["b"], abs=1e-4)
    if name.startswith("lasso"):
        assert solution.nonzero == known["nnz_w"]
