"""The search as a whole: over hyperparameters, and over whatever else is to be searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textreg.blocks.heap import release_memory
from textreg.errors import UsageError
from textreg.logs import logger
from textreg.training.running import Run, Work
from textreg.training.search.context import SearchContext
from textreg.training.search.documents import FeatureValues
from textreg.training.search.halving import Ranking
from textreg.training.search.narrowing import Plan, narrowed
from textreg.training.search.racing import Race, race
from textreg.training.search.selection import MeasuredSetting

LOG = logger("training")

TIGHTER = 3.0
"""How much longer the final fit may take, for its tolerance, than the slowest of a search."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search measured.

    measured: the settings. best: the chosen one, None if nothing was searched. planned: number of
    settings that were to be measured. stopped: "interrupted" or "budget" if some were left out.
    ruled_out: how many of them were not measured on everything, because a few labels, ``labels`` of
    them, or fits to some of the documents, ``documents`` of them, had ruled them out; 0 where all
    had been there.
    """

    measured: list[MeasuredSetting]
    best: MeasuredSetting | None
    planned: int
    stopped: str | None = None
    ruled_out: int = 0
    labels: int = 0
    documents: int = 0


def run_search(
    context: SearchContext, work: Work, part: SearchContext | None = None
) -> SearchResult:
    """Search the whole space, but leave time for the final fit.

    part: the same search with fewer documents to fit, where settings are to be ranked first.

    Nothing is searched if there is no split. Raises KeyboardInterrupt if nothing was measured
    before the first Ctrl-C, and UsageError if nothing was before time was up.
    """
    if not context.documents.splits:
        return SearchResult([], None, planned=0)
    run = work.run("search", 0)
    ranking, racing = None, None
    measured: list[MeasuredSetting] = []
    with run.stopper.listening():
        if part is not None:
            ranked, planned = _measure(part, narrowed(part), race(part), run)
            ranking = None if run.stopped else Ranking(part, ranked, planned)
            part.drop_folds()
            release_memory()
        if not run.stopped:
            racing = race(context)
            plan = narrowed(context) if ranking is None else ranking.confirmed(context)
            measured, planned = _measure(context, plan, racing, run)
            ruled_out = 0 if ranking is None else ranking.ruled_out
            planned += ruled_out
            if racing is not None:
                measured = [] if run.stopped else racing.finish(run)
                ruled_out = planned - len(measured)
    interrupted = run.stopper.interrupted
    if not measured and interrupted:
        raise KeyboardInterrupt
    if not measured:
        seconds = context.settings.tuning.seconds or 0.0
        raise UsageError(
            f"after {seconds + time.monotonic() - work.deadline:.1f} s no setting was measured yet "
            f"that could be fitted within the budget of {seconds:g} s: allow more time "
            "(--budget), give the hyperparameters, or train on fewer documents or features."
        )
    stopped = (
        ("interrupted" if interrupted else "budget")
        if len(measured) + ruled_out < planned
        else None
    )
    few = len(racing.stages[0]) if racing is not None and ruled_out else 0
    documents = ranking.documents if ranking is not None and ruled_out else 0
    best = context.best(measured)
    return SearchResult(measured, best, planned, stopped, ruled_out, few, documents)


def _measure(
    context: SearchContext, plan: Plan, racing: Race | None, run: Run
) -> tuple[list[MeasuredSetting], int]:
    """The settings of a plan that were measured before the run was stopped; and how many it had."""
    measured: list[MeasuredSetting] = []
    planned, before = 0, run.counter.total
    batch = next(plan)
    while batch is not None:
        planned += len(batch.settings)
        run.stopper.reserve = _final_fit_seconds(context, batch.values, run.work)
        folds = context.prepared(batch.values).folds
        labels = len(folds[0].rows) if racing is None else len(racing.stages[0])
        run.counter.total = before + (planned + batch.remaining) * labels * len(folds)
        new = (racing or context).measure(batch.values, batch.settings, run)
        _log(new, len(measured), planned + batch.remaining, context.metric)
        measured += new
        if run.stopped:
            planned += batch.remaining
            break
        context.keep(context.promising(measured, 1)[0])
        try:
            batch = plan.send(new)
        except StopIteration:
            break
    return measured, planned


def _log(new: Sequence[MeasuredSetting], before: int, planned: int, metric: str) -> None:
    """Log settings that were measured; before: how many were so already."""
    for number, one in enumerate(new, before + 1):
        changes = "".join(f", {key} {value}" for key, value in one.changes.items())
        LOG.info(
            "setting %d of %d: %s%s: %s %.4g, %.0f features",
            *(number, planned, one.regularizer, changes),
            *(metric, one.metrics[metric], one.nonzero),
        )


def _final_fit_seconds(
    context: SearchContext, values: FeatureValues, work: Work
) -> Callable[[float], float]:
    """An estimate of how long the final fit takes, from the seconds of the slowest fit so far."""
    prepared, settings = context.prepared(values), context.settings
    growth = 1.0
    if settings.refit:
        fewest = min(len(split.train) for split in context.documents.splits)
        growth = prepared.data.rows.shape[0] / fewest
    rounds = TIGHTER * growth * work.rounds(len(prepared.folds[0].rows))
    if context.documents.target.task.learns_from_held_out(settings):
        rounds += sum(work.rounds(len(fold.rows)) for fold in prepared.folds)
    return lambda slowest: growth * prepared.seconds + rounds * slowest
