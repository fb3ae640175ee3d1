"""What a model says of its training: JSON-able values, for people and for other programs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.measure.metrics import wilson
from textreg.model.regularization_path import SolutionPath
from textreg.records import SelectionReport
from textreg.training.fitting import FinalFit
from textreg.training.search.context import SearchContext
from textreg.training.search.searching import Found
from textreg.training.search.splitting import split_by
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.training.search.selection import Point

FIRST = 100
"""Features of which a summary says in what order a pursuit took them."""


def training_summary(
    bench: SearchContext,
    found: Found,
    fit: FinalFit,
    path: SolutionPath | None,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """All of it; ``seconds`` are those that each stage took."""
    settings, labels = bench.settings, bench.target.labels
    thresholds = {
        label: {"rule": (settings.threshold or {})[label], **chosen._asdict()}
        for label, chosen in fit.thresholds.items()
    }
    summary = {
        "task": settings.task,
        "loss": settings.loss,
        "multiclass": None if len(labels) < 3 else settings.multiclass,
        "labels": _of_labels(labels, fit.data.y_true[fit.rows]),
        **_of_fit(settings, fit),
        "interrupted": "search" if found.stopped else "fit" if fit.stopped else None,
        **_of_search(bench, found, fit.best),
        "calibration": None if fit.calibration is None else fit.calibration.method,
        "thresholds": thresholds,
        "plugins": settings.plugins(),
        "seconds": dict(seconds),
    }
    if path is not None:
        summary["path"] = {"parameter": path.parameter, "points": len(path)}
    return summary | _of_order(fit)


def _of_labels(labels: Sequence[str], y_true: NDArray[Any]) -> dict[str, float]:
    """How often each label occurs; of the numbers of a regression their mean and spread."""
    if not labels:
        return {"mean": float(y_true.mean()), "standard_deviation": float(y_true.std())}
    counts = np.bincount(y_true, minlength=len(labels)).tolist()
    return dict(zip(labels, counts, strict=True))


def _of_fit(settings: TrainingSettings, fit: FinalFit) -> dict[str, Any]:
    """What the final fit is."""
    chosen, part, problem, fitted = fit.data.settings, fit.part, fit.problems.problem, fit.fitted
    weight = settings.class_weight
    groups = None
    if problem.groups is not None and chosen.groups is not None:
        groups = {
            "name": chosen.groups.label(),
            "params": chosen.groups.params(),
            "before": len(problem.groups),
            "after": len(problem.groups.merged.groups),
        }
    graph = None
    if problem.graph is not None and chosen.graph is not None:
        graph = {
            "name": chosen.graph.label(),
            "params": chosen.graph.params(),
            "links": problem.graph.n_links,
            "classes": problem.graph.classes,
        }
    return {
        "reg": {
            "name": part.label(),
            "params": part.params(),
            "searched": _searched_prices(settings),
        },
        "documents": problem.X.shape[0],
        "features": problem.X.shape[1],
        "nonzero": int(np.count_nonzero(fitted.w.any(axis=0))),
        "groups": groups,
        "graph": graph,
        "objective": fitted.objective,
        # JSON has no NaN: procedures without a bound report none.
        "gap": None if np.isnan(fitted.gap) else fitted.gap,
        "converged": fitted.converged,
        "iterations": fitted.iterations,
        "tol": settings.tol,
        "class_weight": weight if isinstance(weight, (str, type(None))) else dict(weight),
    }


def _of_search(bench: SearchContext, found: Found, best: Point | None) -> dict[str, Any]:
    """How the prices were chosen; ``best`` is the setting that was fitted in the end."""
    if best is None:
        return {"split": None, "dev": None, "search": [], "refit": False}
    settings, splits = bench.settings, bench.splits
    kind = "dev" if settings.dev is not None else "cv" if settings.cv is not None else "holdout"
    held = sum(len(split.held) for split in splits)
    dev: dict[str, Any] = {"documents": held, **_json_names(best.metrics)}
    if "accuracy" in best.metrics:
        dev["accuracy_interval"] = list(wilson(round(best.metrics["accuracy"] * held), held))
    return {
        "split": {
            "kind": kind,
            "parts": len(splits),
            "seed": settings.seed,
            "by": split_by(bench.corpus),
        },
        "metric": settings.metric,
        "select": {
            "rule": settings.tuning.select,
            "within": settings.tuning.within,
            "max_nonzero": settings.tuning.max_nonzero,
            "error": best.error,
        },
        "budget": settings.tuning.seconds,
        "planned": found.planned,
        "chosen": dict(best.changes),
        "dev": dev,
        "search": [
            {
                "params": {key: point.part.params()[key] for key in _searched_prices(settings)},
                "settings": dict(point.changes),
                "nonzero": point.nonzero,
                "error": point.error,
                **_json_names(point.metrics),
            }
            for point in found.points
        ],
        "refit": settings.refit,
    }


def _of_order(fit: FinalFit) -> dict[str, Any]:
    """Of a pursuit: who came first, for every weight vector; nothing of other fits.

    ``order`` has the first features. Where groups take part, ``order_groups`` has the first steps:
    index and name of the group, null of a single feature, and the features that came with it.
    """
    reports = [one for one in fit.fitted.reports if isinstance(one, SelectionReport)]
    names, groups = fit.data.encoder.names, fit.problems.problem.groups
    if not reports:
        return {}
    order = {"order": [[names[j] for j in report.order[:FIRST]] for report in reports]}
    if groups is None or not all(report.steps or not report.order for report in reports):
        return order
    return order | {"order_groups": [_steps_of(report, names, groups.names) for report in reports]}


def _steps_of(
    report: SelectionReport, names: Sequence[str], group_names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """The steps that selected the first features: groups, and the features that they brought."""
    ends = [0, *(step.active for step in report.steps)]
    return [
        {
            "group": None if step.group < 0 else step.group,
            "name": None if step.group < 0 or group_names is None else group_names[step.group],
            "features": [names[j] for j in report.order[before:after]],
        }
        for step, (before, after) in zip(report.steps, itertools.pairwise(ends), strict=True)
        if before < FIRST
    ]


def _searched_prices(settings: TrainingSettings) -> list[str]:
    """Parameters of the regularizer that are searched, in the order they are declared."""
    named = {one.name for one in settings.dimensions() if one.part == "reg"}
    undecided = settings.reg.undecided()
    return [key for key in settings.reg.params() if key in named or key in undecided]


def _json_names(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name.replace("-", "_"): value for name, value in metrics.items()}
