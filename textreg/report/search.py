"""The settings that training tried, and the regularization path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textreg.explain.trajectory import path_profiles
from textreg.report.facts import parameter_facts
from textreg.report.records import PathSection, SearchSection, SearchTrial

if TYPE_CHECKING:
    from textreg.model.model import Model

TRIED = 300
"""Settings of a search that are shown at most."""

PROFILES = 8
"""Features whose weights are drawn along the path."""

SPLITS = {
    "dev": "development documents",
    "holdout": "documents held out",
    "cv": "documents, by cross-validation",
}


def search_section(model: Model) -> SearchSection | None:
    """The search, from the model's summary; None if there was none."""
    summary = model.summary
    if summary is None or len(summary.search) < 2 or summary.metric is None or summary.dev is None:
        return None
    rows, metric, dev = summary.search, summary.metric, summary.dev
    params = {key: summary.reg.params.get(key) for key in rows[0].params}
    chosen = params, summary.chosen
    settings = [(row.params, row.settings) for row in rows]
    if chosen not in settings:
        return None
    chosen_row = settings.index(chosen)
    shown = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), chosen_row})
    tried = []
    for number in shown:
        facts = parameter_facts({**settings[number][1], **settings[number][0]})
        what = ", ".join(f"{name} {value}" for name, value in facts)
        tried.append(SearchTrial(what, rows[number].nonzero, rows[number].metrics[metric]))
    interval = dev.accuracy_interval if metric == "accuracy" else None
    at = shown.index(chosen_row)
    return SearchSection(metric, dev.documents, _how(model), tuple(tried), at, interval)


def path_section(model: Model) -> PathSection | None:
    """The regularization path of the model; None if it has none (``train --path``)."""
    path = model.path
    if path is None:
        return None
    dev = None if model.summary is None else model.summary.dev
    curve = SearchSection(
        metric=path.metric,
        documents=0 if dev is None else dev.documents,
        how=_how(model),
        tried=tuple(
            SearchTrial(f"{path.parameter} {value:.4g}", point.nonzero, point.metrics[path.metric])
            for value, point in zip(path.values, path.points, strict=True)
        ),
        chosen=path.chosen,
    )
    along = path_profiles(model, PROFILES)
    assert along is not None
    whole = all(isinstance(value, int) for value in path.values)
    return PathSection(curve, path.parameter, along.values, whole, along.profiles)


def _how(model: Model) -> str:
    split = None if model.summary is None else model.summary.split
    if split is None:
        return "documents held out"
    how = SPLITS.get(split.kind, "documents held out")
    return f"{how} in {split.parts} parts" if split.kind == "cv" else how
