"""The final fit: one for every class, side by side, or one for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.plugins import calls
from textreg.records import MultiSolution, Problem, Solution
from textreg.running import ALONE, Run, Work
from textreg.search.trials import Fold, Start, dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.kinds import Regularizer
    from textreg.records import Floats, Int64s


def fit_classes(
    part: Regularizer,
    problem: Problem,
    targets: Floats,
    codes: Int64s | None,
    starts: Sequence[Start | None] | None,
    work: Work = ALONE,
) -> tuple[MultiSolution, str | None]:
    """Weights for all classes; and, where they were stopped, why: see :class:`Run`.

    targets: (k, n), the y of every weight vector. codes: (n,) where all are fitted together.
    starts: one a weight vector, to begin from, as far as they are known. In the ``info`` there are
    orders and steps of a pursuit: see :meth:`textreg.solvers.pursuit.Pursuit.solution`.
    """
    if codes is not None:
        run = work.run("fit", 1)
        begin = None
        known = [start for start in starts or () if start is not None]
        if len(known) == len(targets):
            begin = dense(known, problem.X.shape[1])
        pieces: list[tuple[Any, ...]] = [(part, problem, codes, begin, run)]
        return run.map(_fit_together, pieces)[0], run.stopped
    run = work.run("fit", len(targets))
    pieces = [
        (part, problem.replace(y=y), starts[row] if starts else None, run)
        for row, y in enumerate(targets)
    ]
    return _join(run.map(_fit, pieces)), run.stopped


def held_out(
    part: Regularizer, folds: Sequence[Fold], work: Work = ALONE
) -> tuple[Floats, NDArray[Any]]:
    """Scores (n, k) of everything held out, by fits that have not seen it, and the truth (n,)."""
    quiet = replace(work, progress=None)
    scores = []
    for fold in folds:
        fitted, _ = fit_classes(part, fold.problem, fold.targets, fold.codes, None, quiet)
        scores.append(fold.X_held @ fitted.w.T + fitted.b)
    return np.vstack(scores), np.concatenate([fold.truth_held for fold in folds])


def _fit(part: Regularizer, problem: Problem, start: Start | None, run: Run) -> Solution:
    begin = None if start is None else start.dense(problem.X.shape[1])
    solution = calls.solve(part, problem.replace(start=begin, callback=run.callback))
    run.advance()
    return solution


def _fit_together(
    part: Regularizer,
    problem: Problem,
    codes: Int64s,
    start: tuple[Floats, Floats] | None,
    run: Run,
) -> MultiSolution:
    solution = calls.solve_softmax(part, problem.replace(callback=run.callback), codes, start)
    run.advance()
    return solution


def _join(solutions: Sequence[Solution]) -> MultiSolution:
    """Separate fits as one: sums of objectives and iterations, the widest gap."""
    gaps = [solution.gap for solution in solutions]
    pursuits = [solution.info for solution in solutions if "order" in solution.info]
    came = {"order": [info["order"] for info in pursuits]}
    steps = [info.get("steps") for info in pursuits]
    if all(isinstance(taken, list) for taken in steps):
        came["steps"] = steps
    return MultiSolution(
        w=np.vstack([solution.w for solution in solutions]),
        b=np.array([solution.b for solution in solutions]),
        objective=float(sum(solution.objective for solution in solutions)),
        gap=float("nan") if np.isnan(gaps).any() else float(max(gaps)),
        iterations=sum(solution.iterations for solution in solutions),
        converged=all(solution.converged for solution in solutions),
        info=came if pursuits else {},
    )
