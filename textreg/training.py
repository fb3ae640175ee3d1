"""The whole way from a corpus to a model, the same for the command line and the estimator."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg import calls
from textreg.calibration import (
    Calibration,
    Threshold,
    calibrate,
    check_thresholds,
    choose_thresholds,
)
from textreg.errors import ConvergenceWarning
from textreg.fitting import fit_classes, held_out
from textreg.kinds import Regularizer
from textreg.metrics import wilson
from textreg.model import Model
from textreg.prepare import Target, prepare
from textreg.records import Corpus, MultiSolution, Problem
from textreg.running import Progress
from textreg.selection import Fold, Point, choose, search
from textreg.settings import TrainingSettings
from textreg.splits import Split
from textreg.splitting import group_names, split_by, splits_of
from textreg.tracing import path_parameter, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats
    from textreg.vectorize import Features

FIRST = 100
"""Features of which a summary says in what order a pursuit took them."""


def train(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    reg: str | type[Regularizer] | Regularizer = "sentence",
    sample_weight: Floats | Sequence[float] | None = None,
    group_of: Sequence[str] | None = None,
    time_of: Sequence[Any] | None = None,
    dev: Corpus | tuple[Sequence[str], Sequence[str]] | None = None,
    unlabeled: Corpus | Sequence[str] | None = None,
    **settings: Any,
) -> Model:
    """Train a model.

    texts, labels: one label a text. sample_weight: importance of every document. group_of: the
    group of every document, such as its author, so that no group is both fitted and held out.
    time_of: when each was written, a number or a date, so that the latest are held out. dev: texts
    and labels to choose the prices by. unlabeled: further texts, for regularizers with a graph.
    settings: see :meth:`TrainingSettings.from_options`.

    Raises DataError for texts or labels that no model can be learned from, UsageError for wrong
    settings; warns with ConvergenceWarning when the final fit misses its tolerance.
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if dev is not None and not isinstance(dev, Corpus):
        dev = Corpus(texts=list(dev[0]), labels=list(dev[1]))
    if unlabeled is not None and not isinstance(unlabeled, Corpus):
        unlabeled = Corpus(texts=list(unlabeled))
    corpus = Corpus(
        texts=list(texts),
        labels=list(labels),
        weights=weights,
        group_of=None if group_of is None else group_names(group_of),
        time_of=None if time_of is None else list(time_of),
    )
    options = TrainingSettings.from_options(reg=reg, dev=dev, unlabeled=unlabeled, **settings)
    return train_corpus(corpus, options)


def train_corpus(
    corpus: Corpus,
    settings: TrainingSettings,
    progress: Progress | None = None,
    features: Features | None = None,
) -> Model:
    """Train a model on a labelled corpus.

    All documents are turned into features once: vocabulary and inverse document frequencies have
    seen the words of held-out documents, never their labels. Groups and graphs come from the
    documents that are fitted. With ``dev`` and without ``refit`` the features come from the corpus
    alone. ``progress`` is called with a stage ("features", "search", "fit"), what is done and the
    total. ``features`` are those of :func:`textreg.prepare.make_features`, where they are known.
    """
    clock = [time.perf_counter()]
    report = progress or _silent
    target = Target.of(corpus, settings.task)
    check_thresholds(settings.threshold or {}, target.labels)
    if settings.path:
        path_parameter(settings.reg)  # refused before long work
    splits = splits_of(corpus, target, settings)
    report("features", 0, len(corpus))
    data = prepare(corpus, target, settings, features)
    report("features", len(corpus), len(corpus))
    clock.append(time.perf_counter())

    cut = [data.fold(split) for split in splits]
    points = search(settings.reg, cut, jobs=settings.jobs, progress=progress) if cut else []
    best = points[choose(points, settings.metric)] if points else None
    interrupted = _interrupted(settings, points, cut)
    calibration, thresholds = _tune(best.part, cut, settings, target) if best else (None, {})
    clock.append(time.perf_counter())

    if cut and not settings.refit:
        rows, problem = splits[0].train, cut[0].problem.replace(tol=settings.tol)
    else:
        if not settings.path:
            cut.clear()  # their matrices are as large as those to come
        rows = np.arange(data.X.shape[0])
        problem = data.problem(rows, settings.tol)
    part = best.part if best else settings.reg
    codes = data.codes(rows)
    fitted, cut_short = fit_classes(
        part,
        problem,
        data.targets[:, rows],
        codes,
        best.starts if best else None,
        jobs=settings.jobs,
        progress=progress,
    )
    clock.append(time.perf_counter())
    path = None
    if settings.path:
        path = trace(
            part,
            problem,
            data.targets[:, rows],
            codes,
            cut,
            fitted,
            data.encoder.names,
            metric=settings.metric,
            jobs=settings.jobs,
            progress=progress,
        )
        clock.append(time.perf_counter())

    spent = [round(after - before, 3) for before, after in itertools.pairwise(clock)]
    summary = {
        "task": settings.task,
        "loss": settings.loss,
        "multiclass": None if len(target.labels) < 3 else settings.multiclass,
        "labels": _label_summary(target.labels, data.truth[rows]),
        **_fit_summary(settings, part, problem, fitted),
        "interrupted": interrupted or ("fit" if cut_short else None),
        **_search_summary(corpus, settings, splits, points, best),
        "calibration": None if calibration is None else calibration.method,
        "thresholds": {
            label: {"rule": (settings.threshold or {})[label], **chosen._asdict()}
            for label, chosen in thresholds.items()
        },
        "plugins": settings.plugins(),
        "seconds": dict(zip(("features", "search", "fit", "path"), spent, strict=False)),
    }
    if path is not None:
        summary["path"] = {"parameter": path.parameter, "points": len(path)}
    if "order" in fitted.info:  # of a pursuit: who came first, for every weight vector
        names = data.encoder.names
        summary["order"] = [[names[j] for j in order[:FIRST]] for order in fitted.info["order"]]
    _warn_unless_converged(summary, settings)
    return Model(
        labels=target.labels,
        loss=settings.loss if codes is None else "softmax",
        encoder=data.encoder,
        weights=fitted.w,
        intercepts=fitted.b,
        calibration=calibration,
        thresholds={label: chosen.value for label, chosen in thresholds.items()},
        path=path,
        summary=summary,
    )


def _tune(
    part: Regularizer, cut: Sequence[Fold], settings: TrainingSettings, target: Target
) -> tuple[Calibration | None, dict[str, Threshold]]:
    """The calibration and the thresholds that were asked for, learned from what is held out."""
    if settings.calibrate is None and not settings.threshold:
        return None, {}
    scores, truth = held_out(part, cut, jobs=settings.jobs)
    calibration = None
    if settings.calibrate is not None:
        calibration = calibrate(settings.calibrate, scores, truth, cut[0].loss)
    return calibration, choose_thresholds(settings.threshold or {}, scores, truth, target.labels)


def _label_summary(labels: Sequence[str], truth: NDArray[Any]) -> dict[str, float]:
    """How often each label occurs; of the numbers of a regression their mean and spread."""
    if not labels:
        return {"mean": float(truth.mean()), "standard_deviation": float(truth.std())}
    counts = np.bincount(truth, minlength=len(labels)).tolist()
    return dict(zip(labels, counts, strict=True))


def _interrupted(
    settings: TrainingSettings, points: Sequence[Point], cut: Sequence[Fold]
) -> str | None:
    """ "search" where Ctrl-C left settings unmeasured; says so."""
    total = len(calls.candidates(settings.reg, cut[0].problem)) if cut else 0
    if len(points) == total:
        return None
    warnings.warn(
        f"interrupted: the best of {len(points)} of {total} settings is taken, and fitted.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return "search"


def _silent(stage: str, done: int, total: int) -> None:
    """The progress nobody watches."""


def _fit_summary(
    settings: TrainingSettings,
    part: Regularizer,
    problem: Problem,
    fitted: MultiSolution,
) -> dict[str, Any]:
    """What the final fit is, as JSON-able values."""
    groups = None
    if problem.groups is not None and settings.groups is not None:
        groups = {
            "name": settings.groups.label(),
            "params": settings.groups.params(),
            "before": len(problem.groups),
            "after": len(problem.groups.merged.groups),
        }
    graph = None
    if problem.graph is not None and settings.graph is not None:
        graph = {
            "name": settings.graph.label(),
            "params": settings.graph.params(),
            "links": problem.graph.n_links,
            "classes": problem.graph.classes,
        }
    return {
        "reg": {
            "name": part.label(),
            "params": part.params(),
            "searched": settings.reg.undecided(),
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
    }


def _search_summary(
    corpus: Corpus,
    settings: TrainingSettings,
    splits: Sequence[Split],
    points: Sequence[Point],
    best: Point | None,
) -> dict[str, Any]:
    """How the prices were chosen."""
    if best is None:
        return {"split": None, "dev": None, "search": [], "refit": False}
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
            "by": split_by(corpus),
        },
        "metric": settings.metric,
        "dev": dev,
        "search": [
            {
                "params": {key: point.part.params()[key] for key in settings.reg.undecided()},
                "nonzero": point.nonzero,
                **_json_names(point.metrics),
            }
            for point in points
        ],
        "refit": settings.refit,
    }


def _json_names(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name.replace("-", "_"): value for name, value in metrics.items()}


def _warn_unless_converged(summary: Mapping[str, Any], settings: TrainingSettings) -> None:
    if summary["converged"]:
        return
    if summary["interrupted"] == "fit":
        warnings.warn(
            "interrupted: the model is the best so far, and not the optimum.",
            ConvergenceWarning,
            stacklevel=3,
        )
        return
    gap = "no bound" if summary["gap"] is None else f"a relative gap of {summary['gap']:.1e}"
    warnings.warn(
        f"{settings.reg.label()} stopped before its tolerance: {gap}, where {settings.tol:g} was "
        f"asked for (--tol), after {summary['iterations']:,} iterations. Larger prices, or a "
        "larger tolerance, make it easier.",
        ConvergenceWarning,
        stacklevel=3,
    )
