"""What else training could have chosen: the settings it tried, and the path it passed along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textreg.explain.trajectory import path_profiles
from textreg.report.facts import prices
from textreg.report.records import Searched, Traced, Tried

if TYPE_CHECKING:
    from textreg.model.model import Model

TRIED = 300
"""Settings of a search that are shown."""

PROFILES = 8
"""Features whose weights are drawn along a path."""

SPLITS = {
    "dev": "development documents",
    "holdout": "documents held out",
    "cv": "documents, by cross-validation",
}


def searched_of(model: Model) -> Searched | None:
    """The search as the model's summary tells it; None where there was none."""
    summary = model.summary
    if summary is None or len(summary.search) < 2 or summary.metric is None or summary.dev is None:
        return None
    rows, metric, dev = summary.search, summary.metric, summary.dev
    now = {key: summary.reg.params.get(key) for key in rows[0].params}
    chosen = now, summary.chosen
    settings = [(row.params, row.settings) for row in rows]
    if chosen not in settings:
        return None
    place = settings.index(chosen)
    keep = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), place})
    tried = []
    for number in keep:
        told = prices({**settings[number][1], **settings[number][0]})
        what = ", ".join(f"{name} {value}" for name, value in told)
        tried.append(Tried(what, rows[number].nonzero, rows[number].metrics[metric]))
    ends = dev.accuracy_interval if metric == "accuracy" else None
    at = keep.index(place)
    return Searched(metric, dev.documents, _how(model), tuple(tried), at, ends)


def traced_of(model: Model) -> Traced | None:
    """The path that the model keeps; None where it keeps none (``train --path``)."""
    path = model.path
    if path is None:
        return None
    dev = None if model.summary is None else model.summary.dev
    curve = Searched(
        metric=path.metric,
        documents=0 if dev is None else dev.documents,
        how=_how(model),
        tried=tuple(
            Tried(f"{path.parameter} {value:.4g}", point.nonzero, point.metrics[path.metric])
            for value, point in zip(path.values, path.points, strict=True)
        ),
        chosen=path.chosen,
    )
    along = path_profiles(model, PROFILES)
    assert along is not None
    whole = all(isinstance(value, int) for value in path.values)
    return Traced(curve, path.parameter, along.values, whole, along.profiles)


def _how(model: Model) -> str:
    split = None if model.summary is None else model.summary.split
    if split is None:
        return "documents held out"
    how = SPLITS.get(split.kind, "documents held out")
    return f"{how} in {split.parts} parts" if split.kind == "cv" else how
