"""From documents to a fit: the search, the final fit, the path. Texts and matrices go this way."""

from __future__ import annotations

import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from textreg._core.threads import allowing
from textreg.errors import ConvergenceWarning
from textreg.model.regularization_path import SolutionPath
from textreg.training import logged
from textreg.training.blas import one_thread_in_blas
from textreg.training.fitting import Beginning, FinalFit, fit_best
from textreg.training.regularization_path import fit_path
from textreg.training.running import Work
from textreg.training.search.context import SearchContext
from textreg.training.search.halving import on_part
from textreg.training.search.searching import SearchResult, run_search
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from textreg.kinds import Plugin
    from textreg.training.search.cluster import Cluster


class Learned(NamedTuple):
    """What was learned.

    result: what the search measured. path: None unless it was asked for. seconds: how long each
    stage took, by its name.
    """

    result: SearchResult
    fit: FinalFit
    path: SolutionPath | None
    seconds: dict[str, float]


def _connected(address: str | None, part: Plugin) -> AbstractContextManager[Cluster | None]:
    """The cluster at an address, and None where there is none."""
    if address is None:
        return nullcontext()
    from textreg.training.search.cluster import connected

    return connected(address, part)


def learn(context: SearchContext, work: Work, beginning: Beginning | None = None) -> Learned:
    """Search, fit the best setting on all documents, and its path if that is asked for.

    beginning: gives solutions to start from, where the search has none.

    Warns with a ConvergenceWarning where the search was stopped, or the fit misses its tolerance.
    """
    settings, documents = context.settings, context.documents
    n = len(documents.target.y)
    address = settings.tuning.address if documents.splits else None
    clock = Clock()
    with (
        _connected(address, settings.reg) as cluster,
        allowing(work.threads),
        one_thread_in_blas(),  # which waits for others where the machine is busy
    ):
        work.report("features", 0, n)
        part = on_part(context)
        (context if part is None else part).prepared(context.first).whole()
        n_features = context.prepared(context.first).data.rows.shape[1]
        work.report("features", n, n)
        logged.LOG.info("%d features in %.2f s", n_features, clock.stop("features"))
        result = run_search(context, replace(work, cluster=cluster), part)
    warn_if_stopped(result, settings)
    logged.searched(context, result, clock.stop("search"))
    with allowing(work.threads), one_thread_in_blas():
        fit = fit_best(context, result, work, beginning)
    logged.fitted(fit, clock.stop("fit"))
    path = None
    if settings.path:
        path = fit_path(fit, metric=context.metric, work=work)
        clock.stop("path")
    warn_unless_converged(fit, settings)
    return Learned(result, fit, path, clock.seconds)


class Clock:
    """Measures stages that follow each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()

    def stop(self, stage: str) -> float:
        """The seconds of the stage that ends now; the next one begins."""
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._began, 3)
        self._began = now
        return self.seconds[stage]


def warn_if_stopped(result: SearchResult, settings: TrainingSettings) -> None:
    """Warn where Ctrl-C or the budget left settings unmeasured."""
    if result.stopped is None:
        return
    warnings.warn(
        f"{_why(result.stopped, settings)}: the best of {len(result.measured)} of {result.planned} "
        "settings was chosen, and fitted.",
        ConvergenceWarning,
        stacklevel=4,
    )


def warn_unless_converged(fit: FinalFit, settings: TrainingSettings) -> None:
    """Warn where the final fit misses its tolerance, or was stopped."""
    if fit.fitted.converged:
        return
    message = fit.shortfall(settings.tol)
    if fit.stopped is not None:
        why = _why(fit.stopped, settings)
        message = f"{why}: the model is the best so far, and not the optimum."
    warnings.warn(message, ConvergenceWarning, stacklevel=4)


def _why(stopped: str, settings: TrainingSettings) -> str:
    """Why something was stopped, in words."""
    if stopped == "budget":
        return f"the budget of {settings.tuning.seconds:g} s is used up"
    return "interrupted"
