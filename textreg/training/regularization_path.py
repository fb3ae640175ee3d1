"""Following a regularizer along its path, on all documents and on those of every split."""

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
from textreg.training.fitting import FinalFit
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.trials import Problems, solve_chain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Floats

POINTS = 20
"""Points of a path, beside the chosen one."""


def path_parameter(part: Regularizer | type[Regularizer]) -> str:
    """The parameter that the path runs along: the last that is searched over many values.

    That is a price with a grid of several, or a whole number. UsageError where there is none.
    """
    for name, declared in reversed(part.declared().items()):
        grid = declared.search
        price = isinstance(grid, LogGrid) and grid.points > 1 and declared.type is float
        if price or (isinstance(grid, Choices) and declared.type is int):
            return name
    raise UsageError(
        f"{part.label()} has no path: none of its parameters makes the model larger step by step. "
        "Leave out path, or take a regularizer such as elastic."
    )


def path_parts(part: Regularizer, problem: Problem) -> list[Regularizer]:
    """Versions of a decided regularizer along its path, the emptiest model first, itself among
    them.

    Prices fall from the one that empties the model of ``problem`` to the least that a search tries,
    evenly in logarithm; whole numbers rise from 1 to the greatest.
    """
    name = path_parameter(part)
    declared, mine = part.declared()[name], getattr(part, name)
    tried = [getattr(one, name) for one in calls.candidates(part.replace(**{name: AUTO}), problem)]
    if declared.type is int:
        grid = np.unique(np.geomspace(1, max(tried), POINTS).round()).astype(int).tolist()
        values = sorted({*grid, mine})
    else:
        highest, lowest = max(calls.scale(part, problem, name), *tried), min(tried)
        prices = LogGrid(lowest / highest, 1.0, POINTS).values(highest) if lowest else []
        values = sorted({*prices, mine}, reverse=True)
    return [part.replace(**{name: value}) for value in values]


class _Found(NamedTuple):
    """A point of a path: weight vectors that are not kept dense, and their scores of documents,
    none of those that were fitted.
    """

    weights: csr_array
    intercepts: Floats
    gap: float
    scores: Floats


def trace(fit: FinalFit, *, metric: str, work: Work = ALONE) -> SolutionPath | None:
    """The path that a final fit lies on; None, and a warning, where Ctrl-C ended it.

    It is measured on the splits of the fit, which stands at its place in the path as it is.
    """
    problems, folds = fit.problems, fit.cut
    parts = path_parts(fit.part, problems.hardest())
    run = work.run("path", len(parts) * len(problems.targets) * (1 + len(folds)))
    pieces: list[tuple[Any, ...]] = [(parts, problems, row, None, run) for row in problems.rows]
    pieces += [(parts, fold, row, fold.X_held, run) for fold in folds for row in fold.rows]
    results = run.map(_walk, pieces)
    if run.stopped:
        warnings.warn(
            "interrupted: the model is whole, but its path is left out.",
            ConvergenceWarning,
            stacklevel=3,
        )
        return None
    width = len(problems.rows)
    ours, *others = (results[at : at + width] for at in range(0, len(results), width))
    return _whole_path(fit, parts, ours, others, metric)


def _whole_path(
    fit: FinalFit,
    parts: Sequence[Regularizer],
    ours: Sequence[list[_Found]],
    others: Sequence[Sequence[list[_Found]]],
    metric: str,
) -> SolutionPath:
    """The path of ``parts`` from what was found of each.

    ours: on the documents of the fit, the points of every weight vector, or of all together.
    others: the same on those of every split, with scores.
    """
    from scipy.sparse import csr_array, vstack

    fitted, names, chosen = fit.fitted, fit.data.encoder.names, parts.index(fit.part)
    y_true = np.concatenate([fold.y_held for fold in fit.cut])
    weights, intercepts, points = [], [], []
    for at, version in enumerate(parts):
        w = vstack([row[at].weights for row in ours], format="csr")
        b = np.concatenate([row[at].intercepts for row in ours])
        gap = max((row[at].gap for row in ours), key=lambda it: (np.isnan(it), it))
        if at == chosen:
            w, b, gap = csr_array(fitted.w.astype(np.float32)), fitted.b, fitted.gap
        scores = [np.hstack([row[at].scores for row in by_fold]) for by_fold in others]
        points.append(
            PathPoint(
                params=version.params(),
                nonzero=len(np.unique(w.indices)),
                metrics=fit.cut[0].task.measure(np.vstack(scores), y_true),
                gap=None if np.isnan(gap) else float(gap),
            )
        )
        weights.append(w)
        intercepts.append(b)
    whole = vstack(weights, format="csc")
    used = np.flatnonzero(np.diff(whole.indptr))
    return SolutionPath(
        parameter=path_parameter(fit.part),
        points=tuple(points),
        chosen=chosen,
        metric=metric,
        names=[names[j] for j in used.tolist()],
        weights=csr_array(whole[:, used]),
        intercepts=np.array(intercepts),
    )


def _walk(
    parts: Sequence[Regularizer],
    problems: Problems,
    row: int | None,
    X: csr_array | None,
    run: Run,
) -> list[_Found]:
    """All points of one weight vector, or of all together; fewer where the run was stopped."""
    found: list[_Found] = []
    for w, b, gap in solve_chain(parts, problems, row, None, run):
        if run.stopped:
            break
        scores = np.empty((0, len(b))) if X is None else X @ w.T + b
        found.append(_Found(_sparse(w), b, gap, scores))
        for _ in range(len(w)):
            run.advance()
    return found


def _sparse(w: Floats) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array(w.astype(np.float32))
