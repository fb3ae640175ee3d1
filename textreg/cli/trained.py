"""The summary that ``textreg train`` prints of the model it made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from textreg.cli.output import measures, percent, size
from textreg.errors import first_few
from textreg.measure.metrics import SMALLER
from textreg.model.json_records import to_json
from textreg.model.model import Model
from textreg.model.origin import UpdateSummary
from textreg.model.summary import (
    ChoiceSummary,
    DevMetrics,
    SearchPoint,
    SplitSummary,
    TipSummary,
    TrainingSummary,
)
from textreg.tasks import Task
from textreg.terminal import single_line
from textreg.training.space import WITHIN

MAX_LABELS = 8
"""Labels whose numbers of documents are printed."""

SPLIT_TITLES = {"dev": "--dev", "holdout": "documents held out", "cv": "cross-validation"}


def print_summary(model: Model, saved: Path) -> None:
    """Print how a model was trained, and which files were written."""
    summary, seconds = model.summary, model.seconds
    assert summary is not None
    for line in (
        *_data_lines(summary, model.task, seconds),
        *_search_lines(summary, seconds),
        *_fit_lines(summary, model.task, seconds, saved),
    ):
        click.echo(line)
    click.echo(f"saved {saved} ({size(os.path.getsize(saved))})")
    if summary.tip is not None:
        click.echo(_tip_line(summary, summary.tip))
    click.echo(f"next: textreg evaluate {saved} TEST_FILE, or textreg show {saved}")


def added_text(update: UpdateSummary) -> str:
    """What an update added, and when."""
    parts = [f"{update.date}: {update.documents:,} documents"]
    if update.labels:
        parts.append(f"labels {first_few(list(map(single_line, update.labels)), MAX_LABELS)}")
    parts.append(f"{update.added:+,} features to {update.features:,}")
    if update.old is None:
        parts.append("approximately, without the old documents")
    else:
        parts.append(f"{update.old:,} old documents read again")
    return "; ".join(parts)


def _tip_line(summary: TrainingSummary, tip: TipSummary) -> str:
    assert summary.dev is not None
    assert summary.metric is not None
    value = summary.dev.metrics[summary.metric]
    return (
        f"tip: {summary.reg.name} does as well with {' and '.join(tip.without)} at 0 "
        f"({summary.metric} {value:.3f}; else {tip.best:.3f} at best): --reg {tip.name} fits the "
        "same, and more quickly"
    )


def _data_lines(
    summary: TrainingSummary, task: Task, seconds: Mapping[str, float]
) -> Iterator[str]:
    title, shown = task.label_lines(summary.labels)
    labels = [single_line(label) for label in shown]
    more = f" and {len(labels) - MAX_LABELS} more" if len(labels) > MAX_LABELS else ""
    yield f"{title}: {', '.join(labels[:MAX_LABELS])}{more}"
    if (rare := summary.rare) is not None and rare.label is not None:
        joined = [single_line(f"{label} {count:,}") for label, count in rare.labels.items()]
        told = first_few(joined, MAX_LABELS)
        yield f"joined into {single_line(rare.label)}: {len(rare.labels):,} labels, {told}"
    yield f"features: {summary.features:,} ({seconds['features']:.1f} s)"
    if blocks := summary.blocks:
        yield f"blocks: {blocks.blocks:,}, read {blocks.passes:,} times by the fit"
    if groups := summary.groups:
        differ = "" if groups.after is None else f", {groups.after:,} differ"
        yield f"groups: {groups.before:,} {groups.name}{differ}"
    if graph := summary.graph:
        yield f"graph: {graph.links:,} links of {graph.name}"


def _fit_lines(
    summary: TrainingSummary, task: Task, seconds: Mapping[str, float], saved: Path
) -> Iterator[str]:
    if summary.calibration:
        yield f"calibration: {summary.calibration}, on the documents held out"
    joint = {
        label: chosen
        for label, chosen in summary.thresholds.items()
        if chosen.rule == task.threshold_rule
    }
    if joint:
        values = [chosen.value for chosen in joint.values()]
        yield (
            f"thresholds: {len(joint)} of {task.threshold_rule}, {min(values):+.3f} to "
            f"{max(values):+.3f}, chosen on the documents held out"
        )
    for label, chosen in summary.thresholds.items():
        if label in joint:
            continue
        there = "chosen before the update"
        if chosen.precision is not None and chosen.recall is not None:
            there = f"there precision {chosen.precision:.3f}, recall {chosen.recall:.3f}"
        yield f"threshold of {single_line(label)}: {chosen.value:+.3f} ({chosen.rule}; {there})"
    if (unknown := summary.unknown) is not None:
        there = "chosen before the update"
        if unknown.coverage is not None and unknown.risk is not None:
            there = f"there coverage {unknown.coverage:.3f}, risk {unknown.risk:.3f}"
        if unknown.recall is not None:
            there += f" and {unknown.recall:.3f} of {unknown.documents:,} such documents found"
        yield (
            f"unknown: {single_line(str(task.unknown))} where the highest score is below "
            f"{unknown.value:+.3f} ({unknown.rule}; {there})"
        )
    bound = "no bound on the gap" if summary.gap is None else f"gap {summary.gap:.1e}"
    end = "converged" if summary.converged else "NOT converged"
    yield (
        f"model: {summary.nonzero:,} features ({percent(summary.nonzero, summary.features)}) from "
        f"{summary.documents:,} documents, {bound}, {end} ({seconds['fit']:.1f} s)"
    )
    if pruned := summary.pruned:
        bound = "" if pruned.gap is None else f", gap {pruned.gap:.1e} of these"
        yield (
            f"pruned: {pruned.after:,} of {pruned.before:,} weights kept, with "
            f"{1 - pruned.share:.1%} of the variance of the scores{bound}"
        )
    if unsmoothed := summary.unsmoothed:
        bound = "no bound" if unsmoothed.gap is None else f"gap {unsmoothed.gap:.1e} at most"
        yield f"{summary.loss} before smoothing: objective {unsmoothed.objective:.6g}, {bound}"
    if path := summary.path:
        yield (
            f"path: {path.points} values of {path.parameter} "
            f"({seconds['path']:.1f} s); see it: textreg show {saved} --path"
        )


def _search_lines(summary: TrainingSummary, seconds: Mapping[str, float]) -> Iterator[str]:
    dev, split, choice, metric = summary.dev, summary.split, summary.select, summary.metric
    if not summary.search or dev is None or split is None or choice is None or metric is None:
        return
    name = SPLIT_TITLES[split.kind] + (f", {split.parts} parts" if split.kind == "cv" else "")
    name += f", by {split.by}" if split.by else ""
    settings = len(summary.search) + summary.ruled_out
    if settings > 1:
        few = ""
        if summary.ruled_out:
            few = f", {summary.ruled_out} of them ruled out"
            few += f" by {summary.ruled_out_by} labels" if summary.ruled_out_by else ""
            few += f" on {summary.ruled_out_on:,} documents" if summary.ruled_out_on else ""
        part = ""
        if summary.blocks and summary.blocks.searched is not None:
            part = f" of {summary.blocks.searched:,}"
        yield (
            f"search: {settings} settings of {summary.reg.name} on "
            f"{dev.documents:,}{part} documents ({name}) by {metric}{few} "
            f"({seconds['search']:.1f} s)"
        )
    chosen = {key.replace("_", "-"): value for key, value in summary.chosen.items()}
    params = summary.reg.params
    chosen |= {key: params[key] for key in params if key in summary.reg.searched}
    if chosen:
        yield f"chosen: {', '.join(f'{key} {_setting(it)}' for key, it in chosen.items())}"
    if choice.rule != "best":
        yield _choice_line(choice, metric, summary.search, split, dev)
    yield f"{split.kind}: {measures(to_json(dev))}"


def _choice_line(
    choice: ChoiceSummary,
    metric: str,
    points: tuple[SearchPoint, ...],
    split: SplitSummary,
    dev: DevMetrics,
) -> str:
    """What a rule other than "best" costs in the metric, and saves in features."""
    sign = -1 if metric in SMALLER else 1
    best = max(points, key=lambda point: (sign * point.metrics[metric], -point.nonzero))
    if choice.rule == "1se":
        over = "parts" if split.parts > 1 else "documents"
        slack = f"one standard error, {best.error or 0.0:.3f} over the {over}"
    else:
        slack = f"{WITHIN if choice.within is None else choice.within:g}"
    return (
        f"select {choice.rule}: {metric} {dev.metrics[metric]:.3f} where "
        f"{best.nonzero:,.0f} features reach {best.metrics[metric]:.3f}; within {slack}"
    )


def _setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
