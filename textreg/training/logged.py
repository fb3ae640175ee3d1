"""What a training logs: what is learned, what was chosen and why, and how the fit ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textreg.errors import first_few
from textreg.logs import logger
from textreg.training.search.choice import WITHIN

if TYPE_CHECKING:
    from textreg.cluster.blocks import ClusterRows
    from textreg.training.fitting import FinalFit
    from textreg.training.search.context import SearchContext
    from textreg.training.search.searching import SearchResult

LOG = logger("training")

_LABELS = 8
"""Labels that are named."""


def begun(context: SearchContext, count: int) -> None:
    """What is learned from so many documents."""
    documents, settings = context.documents, context.settings
    task = documents.target.task
    LOG.info(
        "%s of %d documents%s; %s, loss %s, tokenizer %s",
        task.name,
        count,
        f", labels {first_few(task.labels, _LABELS)}" if task.labels else "",
        settings.reg,
        settings.loss.label(),
        settings.any_tokenizer.label(),
    )
    for label, count in documents.rare.items():
        LOG.info("label %r has %d documents only: left out, or joined with others", label, count)
    if documents.splits:
        held = sum(len(split.held) for split in documents.splits)
        LOG.info("%d documents held out, in %d parts", held, len(documents.splits))


def searched(context: SearchContext, result: SearchResult, seconds: float) -> None:
    """How a search ended, what it chose and why."""
    best, tuning, metric = result.best, context.settings.tuning, context.metric
    if best is None:
        LOG.info("nothing to search: all hyperparameters are given")
        return
    why = {
        "best": f"it has the best {metric}",
        "1se": f"the smallest model within one standard error of the best {metric}",
        "sparsest": f"the smallest model within {tuning.within or WITHIN:g} of the best {metric}",
    }[tuning.select]
    if tuning.max_nonzero is not None:
        why += f", of those with at most {tuning.max_nonzero} features"
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    LOG.info(
        "search: %d of %d settings in %.2f s%s",
        *(len(result.measured), result.planned, seconds, stopped),
    )
    changes = "".join(f", {key} {value}" for key, value in best.changes.items())
    LOG.info("chosen: %s%s: %s (%.4g)", best.regularizer, changes, why, best.metrics[metric])


def fitted(fit: FinalFit, seconds: float) -> None:
    """How the final fit ended, and what was learned from held-out documents."""
    one = fit.fitted
    LOG.info(
        "fit: %d documents, %d of %d features, %d iterations, gap %.1e, %s, %.2f s",
        *(fit.problems.problem.design.shape[0], fit.nonzero, fit.problems.problem.design.shape[1]),
        *(one.iterations, one.gap, "converged" if one.converged else "not converged", seconds),
    )
    if fit.pruned is not None:
        LOG.info("pruned: %d of %d weights kept", fit.pruned.after, fit.pruned.before)
    for label, cut in fit.cuts.items():
        LOG.info("threshold of %r: %.4f, chosen on held-out documents", label, cut)


def sent(rows: ClusterRows, passes: float) -> None:
    """How much of blocks on workers was sent to and fro."""
    LOG.info(
        "cluster: blocks of %.0f MB; a pass sent %.2g %% of that, problems in memory took %.2g %%",
        *(rows.size / 1e6, 100.0 * rows.sent / max(rows.size * passes, 1.0)),
        100.0 * rows.columns / max(rows.size, 1),
    )
