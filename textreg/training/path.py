"""The regularization path of a final fit, on all documents and on those of every split."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Regularizer
from textreg.model.regularization_path import PathPoint, SolutionPath
from textreg.params import AUTO, Choices, LogGrid
from textreg.plugins import calls
from textreg.records import Problem
from textreg.training.fit import FinalFit
from textreg.training.running import ALONE, Run, Work
from textreg.training.trials import Problems, held_weights, solve_chain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Floats


POINTS = 20
"""Points of a path, beside the chosen one."""


def path_parameter(regularizer: Regularizer | type[Regularizer]) -> str:
    """The parameter that changes along the path: ``l1``, or the last that is searched.

    That is a penalty strength with a grid of several values, or a whole number. UsageError if there
    is none.
    """
    every = regularizer.declared()
    last_first = list(every)[::-1]
    for name in sorted(last_first, key=lambda name: name != "l1"):
        declared, grid = every[name], every[name].search
        strength = isinstance(grid, LogGrid) and grid.points > 1 and declared.type is float
        if strength or (isinstance(grid, Choices) and declared.type is int):
            return name
    raise UsageError(
        f"{regularizer.label()} has no path: none of its parameters makes the model larger step by "
        "step. Leave out path, or take a regularizer such as elastic."
    )


def path_settings(regularizer: Regularizer, problem: Problem) -> list[Regularizer]:
    """Versions of a regularizer along its path, the emptiest model first, itself among them.

    Penalty strengths fall from the smallest that empties the model of ``problem`` to the least that
    a search tries, evenly in logarithm (Friedman, Hastie and Tibshirani 2010, section 2.5); whole
    numbers rise from 1 to the greatest.
    """
    name = path_parameter(regularizer)
    declared, chosen = regularizer.declared()[name], getattr(regularizer, name)
    candidates = calls.candidates(regularizer.replace(**{name: AUTO}), problem)
    tried = [getattr(candidate, name) for candidate in candidates]
    if declared.type is int:
        # Whole numbers, close at first: one feature more matters most where there are few.
        grid = np.unique(np.geomspace(1, max(tried), POINTS).round()).astype(int).tolist()
        values = sorted({*grid, chosen})
    else:
        above = [value for value in tried if value > 0.0]  # a path to zero has no end
        highest = max(calls.scale(regularizer, problem, name), *tried)
        # highest * t^k, from the emptiest model to the weakest strength of the search
        strengths = LogGrid(min(above) / highest, 1.0, POINTS).values(highest) if above else []
        values = sorted({*strengths, chosen}, reverse=True)
    return [regularizer.replace(**{name: value}) for value in values]


class _PathFit(NamedTuple):
    """One point of a path: its weight vectors, sparse, and their scores of held-out documents."""

    weights: csr_array
    intercepts: Floats
    gap: float
    scores: Floats


def fit_path(fit: FinalFit, *, metric: str, work: Work = ALONE) -> SolutionPath | None:
    """The path that a final fit lies on; None, and a warning, if Ctrl-C ended it.

    It is measured on the splits of the fit, which keeps its place in the path.
    """
    problems, folds = fit.problems, fit.folds
    settings = path_settings(fit.regularizer, problems.hardest())
    run = work.run("path", len(settings) * len(problems.targets) * (1 + len(folds)))
    pieces: list[tuple[Any, ...]] = [(settings, problems, row, None, run) for row in problems.rows]
    pieces += [(settings, fold, row, fold.X_held, run) for fold in folds for row in fold.rows]
    results = run.map(_fit_along, pieces)
    if run.stopped:
        warnings.warn(
            "interrupted: the model is complete, but its path is left out.",
            ConvergenceWarning,
            stacklevel=3,
        )
        return None
    width = len(problems.rows)
    whole, *held_out = (results[at : at + width] for at in range(0, len(results), width))
    return _assemble(fit, settings, whole, held_out, metric)


def _assemble(
    fit: FinalFit,
    settings: Sequence[Regularizer],
    whole: Sequence[list[_PathFit]],
    held_out: Sequence[Sequence[list[_PathFit]]],
    metric: str,
) -> SolutionPath:
    """The path from its fits.

    whole: the points of every weight vector, or of all together, on the documents of the fit.
    held_out: the same on those of every split, with scores.
    """
    from scipy.sparse import csr_array, vstack

    fitted, names = fit.fitted, fit.data.encoder.names
    task, chosen = fit.problems.task, settings.index(fit.regularizer)
    y_true, counts = np.concatenate([fold.y_held for fold in fit.folds]), held_weights(fit.folds)
    X, fitted_counts = fit.data.rows.matrix(fit.rows), fit.data.counts(fit.rows)
    weights, intercepts, points = [], [], []
    for at, regularizer in enumerate(settings):
        w = vstack([row[at].weights for row in whole], format="csr")
        b = np.concatenate([row[at].intercepts for row in whole])
        # NaN, no bound, is the widest.
        gap = max((row[at].gap for row in whole), key=lambda it: (np.isnan(it), it))
        if at == chosen:
            # The chosen point is the model itself, not a fit that comes near it.
            w, b, gap = csr_array(fitted.w.astype(np.float32)), fitted.b, fitted.gap
        scores = [np.hstack([row[at].scores for row in fold]) for fold in held_out]
        points.append(
            PathPoint(
                params=regularizer.params(),
                nonzero=len(np.unique(w.indices)),
                metrics=task.measure(np.vstack(scores), y_true, counts),
                training_metrics=task.measure(
                    (X @ w.T).toarray() + b, fit.problems.y, fitted_counts
                ),
                gap=None if np.isnan(gap) else float(gap),
            )
        )
        weights.append(w)
        intercepts.append(b)
    stacked = vstack(weights, format="csc")
    used = np.flatnonzero(np.diff(stacked.indptr))
    return SolutionPath(
        parameter=path_parameter(fit.regularizer),
        points=tuple(points),
        chosen=chosen,
        metric=metric,
        names=[names[j] for j in used.tolist()],
        weights=csr_array(stacked[:, used]),
        intercepts=np.array(intercepts),
    )


def _fit_along(
    settings: Sequence[Regularizer],
    problems: Problems,
    row: int | None,
    X: csr_array | None,
    run: Run,
) -> list[_PathFit]:
    """All points for one of ``problems.rows``; fewer if the run was stopped."""
    fits: list[_PathFit] = []
    for w, b, gap in solve_chain(settings, problems, row, None, run.stopper):
        if run.stopped:
            break
        scores = np.empty((0, len(b))) if X is None else X @ w.T + b
        fits.append(_PathFit(_sparse(w), b, gap, scores))
        run.advance(len(w))
    return fits


def _sparse(w: Floats) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array(w.astype(np.float32))
