"""The summary of a training, that its model keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.measure.metrics import wilson
from textreg.model import summary as records
from textreg.model.origin import PartOrigin
from textreg.model.summary import SupportCounts, TrainingSummary
from textreg.records import SelectionReport, Unsmoothed
from textreg.records.block_design import BlockDesign, BlockGroups
from textreg.records.report import PartsReport
from textreg.records.support import NONZERO, ZERO
from textreg.training.search import choose, costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records.support import Support
    from textreg.training.fit import FinalFit, Learned
    from textreg.training.search import SearchContext
    from textreg.training.settings import TrainingSettings
    from textreg.training.trials import MeasuredSetting

MAX_ORDER = 100
"""The most features of which a summary keeps the order of entry."""


def training_summary(learned: Learned, options: dict[str, Any]) -> TrainingSummary:
    """The summary of a search and its final fit; ``options`` are those that were given."""
    context, result, fit, path, _ = learned
    settings, task = context.settings, context.documents.target.task
    problem, fitted, best = fit.problems.problem, fit.fitted, fit.best
    weight, rules = settings.class_weight, settings.threshold or {}
    return TrainingSummary(
        task=task.name,
        loss=problem.loss.label(),
        loss_params=problem.loss.params(),
        multiclass=task.multiclass,
        labels=task.describe(fit.data.y[fit.rows]),
        reg=records.RegularizerSummary(
            fit.regularizer.label(), fit.regularizer.params(), _searched(settings)
        ),
        documents=problem.design.shape[0],
        features=problem.design.shape[1],
        nonzero=fit.nonzero,
        groups=_of_groups(fit),
        graph=_of_graph(fit),
        objective=fitted.objective,
        # JSON has no NaN: procedures without a bound report none.
        gap=None if np.isnan(fitted.gap) else fitted.gap,
        converged=fitted.converged,
        iterations=fitted.iterations,
        tol=settings.tol,
        class_weight=weight if isinstance(weight, (str, type(None))) else dict(weight),
        unknown=fit.learned.unknown and records.UnknownSummary(*fit.learned.unknown),
        rare=records.RareSummary(*settings.rare, dict(context.documents.rare))
        if context.documents.rare
        else None,
        interrupted="search" if result.stopped else "fit" if fit.stopped else None,
        split=None if best is None else _split(context),
        metric=None if best is None else context.metric,
        select=None if best is None else _choice(settings, best),
        budget=settings.tuning.seconds,
        planned=result.planned,
        ruled_out=result.ruled_out,
        ruled_out_by=result.labels,
        ruled_out_on=result.documents,
        chosen={} if best is None else dict(best.changes),
        dev=None if best is None else _dev_metrics(context, best),
        search=() if best is None else _search_points(settings, result.measured),
        refit=best is not None and settings.refit,
        calibration=None if fit.learned.calibration is None else fit.learned.calibration.method,
        thresholds={
            label: records.ThresholdSummary(rules.get(label, task.threshold_rule), *threshold)
            for label, threshold in fit.learned.thresholds.items()
        },
        plugins=tuple(PartOrigin(**origin) for origin in settings.plugins()),
        options=options,
        path=None if path is None else records.PathSummary(path.parameter, len(path)),
        tip=None if best is None else _tip(settings, best, result.measured, context.metric),
        pruned=fit.pruned,
        unsmoothed=_unsmoothed(fitted.unsmoothed),
        blocks=_blocks(context, fit),
        order=_order(fit),
        order_groups=_order_of_groups(fit),
        support=_support(fit.fitted.supports),
        parts=_parts(fit),
    )


def _support(supports: Sequence[Support | None]) -> records.SupportSummary | None:
    known = [support for support in supports if support is not None]
    if not known or len(known) < len(supports):
        return None
    groups = [support.groups for support in known if support.groups is not None]
    return records.SupportSummary(
        features=tuple(_counts(support.features) for support in known),
        groups=tuple(map(_counts, groups)) if len(groups) == len(known) else (),
    )


def _counts(states: NDArray[np.int8]) -> SupportCounts:
    # What is neither is undecided: the gap is too wide to tell.
    zero, nonzero = (int(np.count_nonzero(states == state)) for state in (ZERO, NONZERO))
    return SupportCounts(zero, nonzero, len(states) - zero - nonzero)


def _parts(fit: FinalFit) -> tuple[tuple[int, ...], ...]:
    """The groups that have a part, where all weight vectors are sums of parts."""
    reports = [report for report in fit.fitted.reports if isinstance(report, PartsReport)]
    if len(reports) < len(fit.fitted.reports):
        return ()
    return tuple(report.groups for report in reports)


def _unsmoothed(fit: Unsmoothed | None) -> records.UnsmoothedSummary | None:
    if fit is None:
        return None
    return records.UnsmoothedSummary(fit.objective, None if np.isnan(fit.gap) else fit.gap)


def _blocks(context: SearchContext, fit: FinalFit) -> records.BlocksSummary | None:
    design = fit.problems.problem.design
    if not isinstance(design, BlockDesign):
        return None
    # The search saw a part of the documents alone.
    searched = None if fit.best is None else len(context.documents.target.y)
    return records.BlocksSummary(len(design.blocks.starts) - 1, round(design.passes), searched)


def _of_groups(fit: FinalFit) -> records.GroupsSummary | None:
    groups, builder = fit.problems.problem.groups, fit.data.settings.groups
    if groups is None or builder is None:
        return None
    return records.GroupsSummary(
        name=builder.label(),
        params=builder.params(),
        before=len(groups),
        after=None if isinstance(groups, BlockGroups) else len(groups.merged.groups),
    )


def _of_graph(fit: FinalFit) -> records.GraphSummary | None:
    graph, builder = fit.problems.problem.graph, fit.data.settings.graph
    if graph is None or builder is None:
        return None
    return records.GraphSummary(
        name=builder.label(),
        params=builder.params(),
        links=graph.n_links,
        classes=graph.classes,
    )


def _split(context: SearchContext) -> records.SplitSummary:
    settings = context.settings
    kind = "dev" if settings.dev is not None else "cv" if settings.cv is not None else "holdout"
    documents = context.documents
    return records.SplitSummary(
        kind=kind, parts=len(documents.splits), seed=settings.seed, by=documents.by
    )


def _choice(settings: TrainingSettings, best: MeasuredSetting) -> records.ChoiceSummary:
    tuning = settings.tuning
    return records.ChoiceSummary(
        rule=tuning.select, within=tuning.within, max_nonzero=tuning.max_nonzero, error=best.error
    )


def _dev_metrics(context: SearchContext, best: MeasuredSetting) -> records.DevMetrics:
    documents = sum(len(split.held) for split in context.documents.splits)
    interval = None
    if "accuracy" in best.metrics:
        # Wilson's 95 % interval of a share: right of so many.
        interval = wilson(round(best.metrics["accuracy"] * documents), documents)
    return records.DevMetrics(documents, dict(best.metrics), interval)


def _search_points(
    settings: TrainingSettings, points: Sequence[MeasuredSetting]
) -> tuple[records.SearchPoint, ...]:
    searched = _searched(settings)
    return tuple(
        records.SearchPoint(
            params={key: point.regularizer.params()[key] for key in searched},
            settings=dict(point.changes),
            nonzero=point.nonzero,
            error=point.error,
            metrics=dict(point.metrics),
        )
        for point in points
    )


def _tip(
    settings: TrainingSettings,
    best: MeasuredSetting,
    measured: Sequence[MeasuredSetting],
    metric: str,
) -> records.TipSummary | None:
    """A simpler regularizer, if the search chose one of strength zero among others that are not."""
    simpler = best.regularizer.reduced()
    chosen, tried = (
        best.regularizer.params(),
        [setting.regularizer.params() for setting in measured],
    )
    # Strengths that the choice has at zero, though the search tried others.
    without = [
        key
        for key in _searched(settings)
        if chosen[key] == 0 and any(params[key] != 0 for params in tried)
    ]
    if simpler is None or not without:
        return None
    full = [
        setting
        for setting, params in zip(measured, tried, strict=True)
        if any(params[key] != 0 for key in without)
    ]
    # Only if the best with them is no better: else a rule for small models chose zero.
    best_full = full[choose(full, metric)]
    if costs([best_full], metric) < costs([best], metric):
        return None  # a rule for small models chose it
    return records.TipSummary(simpler.label(), tuple(without), best_full.metrics[metric])


def _selection_reports(fit: FinalFit) -> list[SelectionReport]:
    """One for each weight vector of a pursuit; nothing of other fits."""
    return [report for report in fit.fitted.reports if isinstance(report, SelectionReport)]


def _order(fit: FinalFit) -> tuple[tuple[str, ...], ...]:
    """The first features in order of entry, for each weight vector of a pursuit."""
    reports = _selection_reports(fit)
    names = fit.data.encoder.names if reports else ()  # they are spelled when asked for
    return tuple(tuple(names[j] for j in report.order[:MAX_ORDER]) for report in reports)


def _order_of_groups(fit: FinalFit) -> tuple[tuple[records.GroupStep, ...], ...]:
    """The steps that selected these features, where a pursuit is one of groups."""
    reports, groups = _selection_reports(fit), fit.problems.problem.groups
    if not reports or groups is None:
        return ()
    if not all(report.steps or not report.order for report in reports):
        return ()
    names = fit.data.encoder.names
    return tuple(tuple(_group_steps(report, names, groups.names)) for report in reports)


def _group_steps(
    report: SelectionReport, names: Sequence[str], group_names: Sequence[str] | None
) -> Iterator[records.GroupStep]:
    # order lists features, steps say how many of them there were after each.
    start = 0
    for step in report.steps:
        if start >= MAX_ORDER:
            return
        single = step.group < 0
        yield records.GroupStep(
            group=None if single else step.group,
            name=None if single or group_names is None else group_names[step.group],
            features=tuple(names[j] for j in report.order[start : step.active]),
        )
        start = step.active


def _searched(settings: TrainingSettings) -> tuple[str, ...]:
    """Hyperparameters of the regularizer that are searched, in the order they are declared."""
    named = {dimension.name for dimension in settings.dimensions() if dimension.part == "reg"}
    undecided = settings.reg.undecided()
    return tuple(key for key in settings.reg.params() if key in named or key in undecided)
