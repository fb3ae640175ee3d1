"""The final fit: of the setting that won, one for every class, side by side, or one for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.measure.calibration import Calibration
from textreg.measure.thresholds import Threshold
from textreg.plugins import calls
from textreg.records import MultiSolution, Problem, Solution, Unsmoothed
from textreg.training.prepare import Prepared
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.context import Ready, SearchContext
from textreg.training.search.searching import Found
from textreg.training.search.selection import Point
from textreg.training.search.trials import Fold, Problems, Start, dense
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats, Int64s


class FinalFit(NamedTuple):
    """The final fit: of which setting, on which rows, and what was learned beside the weights.

    best: the setting, None where nothing was searched. cut: its splits, as far as they are still at
    hand. rows: the documents that were fitted, in ``problems``. stopped: why it ended before its
    tolerance, if so.
    """

    best: Point | None
    part: Regularizer
    data: Prepared
    cut: list[Fold]
    rows: NDArray[np.intp]
    problems: Problems
    fitted: MultiSolution
    stopped: str | None
    calibration: Calibration | None
    thresholds: dict[str, Threshold]


def fit_winner(bench: SearchContext, found: Found, work: Work) -> FinalFit:
    """Fit the winner; where that has more features than allowed, the next best.

    A model may grow when it is fitted on all documents, so that it was small enough in the search
    is not enough. Raises UsageError where none is small enough.
    """
    most = bench.settings.tuning.max_nonzero
    points, best = list(found.points), found.best
    ready = found.ready
    while True:
        fit = _fit_one(bench, best, ready, work)
        size = int(np.count_nonzero(fit.fitted.w.any(axis=0)))
        if best is None or most is None or size <= most:
            return fit
        points.remove(best)
        if not any(point.nonzero <= most for point in points):
            raise UsageError(
                f"no setting has at most {most:,} features: fitted on all documents, the last one "
                f"has {size:,}. Allow more (--max-nonzero), or name larger prices to search."
            )
        best = bench.winner(points)
        ready = bench.of(best)


def _fit_one(bench: SearchContext, best: Point | None, ready: Ready, work: Work) -> FinalFit:
    """Fit one setting on all documents, or without ``refit`` on those it was searched on."""
    settings, data, cut = bench.settings, ready.data, ready.cut
    part = best.part if best else settings.reg
    calibration, thresholds = _tune(part, cut, settings, work)
    if cut and not settings.refit:
        rows = bench.splits[0].train
        problems: Problems = replace(cut[0], problem=cut[0].problem.replace(tol=settings.tol))
    else:
        if settings.tuning.max_nonzero is None and not settings.path:
            bench.forget()
            cut.clear()  # their matrices are as large as those to come
        rows = np.arange(data.X.shape[0])
        problems = data.problems(rows, settings.tol)
    fitted, stopped = fit_classes(part, problems, best.starts if best else None, work)
    if fitted.converged:
        stopped = None
    return FinalFit(best, part, data, cut, rows, problems, fitted, stopped, calibration, thresholds)


def _tune(
    part: Regularizer,
    cut: Sequence[Fold],
    settings: TrainingSettings,
    work: Work,
) -> tuple[Calibration | None, dict[str, Threshold]]:
    """The calibration and the thresholds that were asked for, learned from what is held out."""
    if not cut or (settings.calibrate is None and not settings.threshold):
        return None, {}
    task = cut[0].task
    scores, y_true = held_out(part, cut, work)
    calibration = None
    if settings.calibrate is not None:
        calibration = task.calibrate(settings.calibrate, scores, y_true)
    return calibration, task.choose_thresholds(settings.threshold or {}, scores, y_true)


def fit_classes(
    part: Regularizer,
    problems: Problems,
    starts: Sequence[Start | None] | None,
    work: Work = ALONE,
) -> tuple[MultiSolution, str | None]:
    """Weights for all classes; and, where they were stopped, why: see :class:`Run`.

    starts: one a weight vector, to begin from, as far as they are known.
    """
    run = work.run("fit", len(problems.rows))
    if problems.task.joint:
        begin = None
        known = [start for start in starts or () if start is not None]
        if len(known) == problems.task.n_rows:
            begin = dense(known, problems.problem.X.shape[1])
        codes = problems.y.astype(np.int64)
        pieces: list[tuple[Any, ...]] = [(part, problems.problem, codes, begin, run)]
        return run.map(_fit_together, pieces)[0], run.stopped
    pieces = [
        (part, problems.of(row), starts[row] if starts else None, run)
        for row in range(problems.task.n_rows)
    ]
    return _join(run.map(_fit, pieces)), run.stopped


def held_out(
    part: Regularizer, folds: Sequence[Fold], work: Work = ALONE
) -> tuple[Floats, NDArray[Any]]:
    """Scores (n, k) of everything held out, by fits that have not seen it, and y_true (n,)."""
    quiet = replace(work, progress=None)
    scores = []
    for fold in folds:
        fitted, _ = fit_classes(part, fold, None, quiet)
        scores.append(fold.X_held @ fitted.w.T + fitted.b)
    return np.vstack(scores), np.concatenate([fold.y_held for fold in folds])


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
    return MultiSolution(
        w=np.vstack([solution.w for solution in solutions]),
        b=np.array([solution.b for solution in solutions]),
        objective=float(sum(solution.objective for solution in solutions)),
        gap=float("nan") if np.isnan(gaps).any() else float(max(gaps)),
        iterations=sum(solution.iterations for solution in solutions),
        converged=all(solution.converged for solution in solutions),
        reports=tuple(solution.report for solution in solutions),
        unsmoothed=_join_unsmoothed([solution.unsmoothed for solution in solutions]),
    )


def _join_unsmoothed(fits: Sequence[Unsmoothed | None]) -> Unsmoothed | None:
    """The same of fits under a smoothed loss; None where one of them has none."""
    known = [fit for fit in fits if fit is not None]
    if len(known) < len(fits):
        return None
    gaps = np.array([fit.gap for fit in known])  # NaN in one of them is NaN in all
    return Unsmoothed(float(sum(fit.objective for fit in known)), float(gaps.max()))
