"""What else training could have chosen: the settings it tried, and the path it passed along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textreg.explain.trajectory import path_of
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
    rows, metric, dev = summary.get("search") or [], summary.get("metric"), summary.get("dev")
    if len(rows) < 2 or metric is None or dev is None:
        return None
    now = {key: summary["reg"]["params"].get(key) for key in rows[0]["params"]}
    chosen = now, summary.get("chosen", {})
    settings = [(row["params"], row.get("settings", {})) for row in rows]
    if chosen not in settings:
        return None
    place = settings.index(chosen)
    keep = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), place})
    key = metric.replace("-", "_")
    tried = []
    for number in keep:
        told = prices({**settings[number][1], **settings[number][0]})
        what = ", ".join(f"{name} {value}" for name, value in told)
        tried.append(Tried(what, rows[number]["nonzero"], rows[number][key]))
    ends = tuple(dev["accuracy_interval"]) if metric == "accuracy" else None
    at = keep.index(place)
    return Searched(metric, dev["documents"], _how(model), tuple(tried), at, ends)


def traced_of(model: Model) -> Traced | None:
    """The path that the model keeps; None where it keeps none (``train --path``)."""
    path = model.path
    if path is None:
        return None
    curve = Searched(
        metric=path.metric,
        documents=(model.summary.get("dev") or {}).get("documents", 0),
        how=_how(model),
        tried=tuple(
            Tried(f"{path.parameter} {value:.4g}", point.nonzero, point.metrics[path.metric])
            for value, point in zip(path.values, path.points, strict=True)
        ),
        chosen=path.chosen,
    )
    along = path_of(model, PROFILES)
    assert along is not None
    whole = all(isinstance(value, int) for value in path.values)
    return Traced(curve, path.parameter, along.values, whole, along.profiles)


def _how(model: Model) -> str:
    split = model.summary.get("split") or {}
    how = SPLITS.get(split.get("kind", ""), "documents held out")
    return f"{how} in {split['parts']} parts" if split.get("kind") == "cv" else how
