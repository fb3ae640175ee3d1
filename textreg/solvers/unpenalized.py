"""Features without a penalty: no l1 or l2 penalty, and in no group of a positive weight.

As for the intercept, the dual variables must be orthogonal to their columns; and where they alone
fit all documents, there is nothing that decides about their weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textreg.errors import DataWarning
from textreg.penalties import GroupNorms
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.engine import Engine

EXACT, ROUNDS = 1e-14, 1_000
"""Relative accuracy of the least squares problem, and how many rounds it takes at most."""

LEFT = 1e-10
"""Share of the sum of the sizes of its terms to which a product counts as zero."""

NOTHING = 1e-6
"""Share of the objective at zero weights below which all documents are fitted."""


def level(engine: Engine, alpha: Floats, features: Int32s) -> Floats | None:
    """Dual variables near alpha (n,) that are orthogonal to the columns of some features.

    And to a column of ones, where there is an intercept: alpha - H A v with A'H A v = A'alpha, for
    these columns A and the second derivatives H of the loss (docs/maths.md, W4). None where that is
    not found.
    """
    from scipy.sparse import csr_array, diags_array, hstack
    from scipy.sparse.linalg import lsmr

    columns = engine.design.X_csc[:, features]
    if engine.fit_intercept:
        columns = hstack([columns, csr_array(np.ones((len(alpha), 1)))])
    roots = np.sqrt(np.where(alpha != 0.0, engine.h, 0.0))
    scaled = diags_array(roots) @ columns.tocsr()
    wanted = np.divide(alpha, roots, out=np.zeros(len(alpha)), where=roots > 0.0)
    v = lsmr(scaled, wanted, atol=EXACT, btol=EXACT, maxiter=ROUNDS)[0]
    leveled: Floats = np.where(roots > 0.0, alpha - roots * (scaled @ v), alpha)
    left = np.abs(columns.T @ leveled)
    return leveled if bool((left <= LEFT * (abs(columns).T @ np.abs(leveled))).all()) else None


def watching(
    solve: Callable[[Problem], Solution], problem: Problem, penalty: GroupNorms
) -> Solution:
    """A solution, unless features without a penalty fit all documents: then it says so, and ends.

    Warns with a DataWarning: it is not a matter of iterations.
    """
    if not len(penalty.unpenalized):
        return solve(problem)
    b = problem.intercept_at_zero()
    at_zero = problem.loss.value(np.full(len(problem.y), b), problem.y, problem.sample_weight)
    fitted = False

    def callback(step: Step) -> bool:
        nonlocal fitted
        fitted = step.objective <= NOTHING * at_zero and not step.gap < 1.0
        return fitted or bool(problem.callback and problem.callback(step))

    found = solve(problem.replace(callback=callback))
    if not fitted:
        return found
    warnings.warn(
        f"{len(penalty.unpenalized):,} features have no penalty, as l1 and l2 are 0 and they are "
        "in no group, and they fit all documents: the loss falls to zero, and there is no optimum "
        "that the penalty decides about. Give them a penalty, such as a small l2 (--reg-l2).",
        DataWarning,
        stacklevel=5,
    )
    return replace(found, converged=False)
