"""The final fit: of the chosen setting, all weight vectors side by side or together."""

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
from textreg.records import MultiSolution, Solution, Unsmoothed
from textreg.training.prepare import Prepared
from textreg.training.running import ALONE, Run, Work
from textreg.training.search.context import SearchContext
from textreg.training.search.searching import SearchResult
from textreg.training.search.selection import MeasuredSetting
from textreg.training.search.trials import Fold, Problems, Start, dense
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats


class FinalFit(NamedTuple):
    """The final fit, and what was learned from held-out documents.

    best: the setting, None if nothing was searched. folds: its splits, empty unless they are still
    needed. rows: the documents that were fitted, in ``problems``. stopped: why the fit ended before
    its tolerance, if it did.
    """

    best: MeasuredSetting | None
    regularizer: Regularizer
    data: Prepared
    folds: Sequence[Fold]
    rows: NDArray[np.intp]
    problems: Problems
    fitted: MultiSolution
    stopped: str | None
    calibration: Calibration | None
    thresholds: dict[str, Threshold]

    @property
    def nonzero(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self.fitted.w.any(axis=0)))


def fit_best(context: SearchContext, result: SearchResult, work: Work) -> FinalFit:
    """Fit the best setting; if that has more features than allowed, the next best.

    A model may grow when it is fitted on all documents, so that it was small enough in the search
    does not suffice. Raises UsageError if none is small enough.
    """
    most = context.settings.tuning.max_nonzero
    measured, best = list(result.measured), result.best
    while True:
        fit = _fit_one(context, best, work)
        if best is None or most is None or fit.nonzero <= most:
            return fit
        measured.remove(best)
        if not any(setting.nonzero <= most for setting in measured):
            raise UsageError(
                f"no setting has at most {most:,} features: fitted on all documents, the last one "
                f"has {fit.nonzero:,}. Allow more (--max-nonzero), or name larger penalty "
                "strengths to search."
            )
        best = context.best(measured)


def _fit_one(context: SearchContext, best: MeasuredSetting | None, work: Work) -> FinalFit:
    """Fit one setting on all documents; without ``refit`` on those it was searched on."""
    settings = context.settings
    data, folds, _ = context.prepared_for(best)
    regularizer = best.regularizer if best else settings.reg
    calibration, thresholds = _calibrate(regularizer, folds, settings, work)
    if folds and not settings.refit:
        rows = context.documents.splits[0].train
        problems: Problems = replace(folds[0], problem=folds[0].problem.replace(tol=settings.tol))
    else:
        if settings.tuning.max_nonzero is None and not settings.path:
            # Nothing needs the folds any more, whose matrices are as large as those to come.
            context.release()
            folds = []
        rows = np.flatnonzero(data.task.known(data.y))
        problems = data.problems(rows, settings.tol)
    fitted, stopped = fit_rows(regularizer, problems, best.starts if best else None, work)
    if fitted.converged:
        stopped = None
    return FinalFit(
        best, regularizer, data, folds, rows, problems, fitted, stopped, calibration, thresholds
    )


def _calibrate(
    regularizer: Regularizer, folds: Sequence[Fold], settings: TrainingSettings, work: Work
) -> tuple[Calibration | None, dict[str, Threshold]]:
    """The calibration and the thresholds, from held-out documents."""
    if not folds or not folds[0].task.learns_from_held_out(settings):
        return None, {}
    task = folds[0].task
    scores, y_true = held_out(regularizer, folds, work)
    calibration = None
    if settings.calibrate is not None:
        calibration = task.calibrate(settings.calibrate, scores, y_true)
    return calibration, task.choose_thresholds(settings.threshold or {}, scores, y_true)


def fit_rows(
    regularizer: Regularizer,
    problems: Problems,
    starts: Sequence[Start | None] | None,
    work: Work = ALONE,
) -> tuple[MultiSolution, str | None]:
    """All weight vectors; and why they were stopped, if so: see :attr:`Run.stopped`.

    starts: a solution for each weight vector to start from, or None for some or all.
    """
    run = work.run("fit", len(problems.rows))
    starts = starts or [None] * problems.task.n_rows
    fitted = run.map(_fit, [(regularizer, problems, row, starts, run) for row in problems.rows])
    return fitted[0] if problems.task.joint else _join(fitted), run.stopped


def held_out(
    regularizer: Regularizer, folds: Sequence[Fold], work: Work = ALONE
) -> tuple[Floats, NDArray[Any]]:
    """Scores (n, k) of everything held out, by fits that have not seen it, and its targets."""
    quiet = replace(work, progress=None)
    scores = []
    for fold in folds:
        fitted, _ = fit_rows(regularizer, fold, None, quiet)
        X = fold.X_new() if fold.task.threshold_rule else fold.X_held
        scores.append(X @ fitted.w.T + fitted.b)
    return np.vstack(scores), np.concatenate([fold.y_held for fold in folds])


def _fit(
    regularizer: Regularizer,
    problems: Problems,
    row: int | None,
    starts: Sequence[Start | None],
    run: Run,
) -> Solution | MultiSolution:
    """The fit of one of ``problems.rows``."""
    problem = problems.of(row).replace(callback=run.stopper.callback)
    p = problem.X.shape[1]
    fitted: Solution | MultiSolution
    if row is None:
        given = [start for start in starts if start is not None]
        together = dense(given, p) if len(given) == len(starts) else None
        codes = problems.y.astype(np.int64)
        fitted = calls.solve_softmax(regularizer, problem, codes, together)
    elif (constant := problems.constant(row)) is not None:
        fitted = constant
    else:
        start = starts[row]
        initial = None if start is None else start.dense(p)
        fitted = calls.solve(regularizer, problem.replace(start=initial))
    run.counter.advance()
    return fitted


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
