"""Facts about a model: data, settings, search, features, and how to repeat it."""

from __future__ import annotations

import hashlib
import itertools
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from textreg.cli import show
from textreg.explain.selection import path_profiles
from textreg.model.model import Model
from textreg.records import Corpus, Floats, Int64s
from textreg.tasks import Multilabel, Task
from textreg_report.page import Facts, Section
from textreg_report.predictions import LABELS, OutOfFold, Refits, Targets, beside

LIBRARIES = ("textreg", "numpy", "scipy", "scikit-learn")


def _told(params: Mapping[str, Any]) -> str:
    """Parameters and their values, of four digits."""
    values = {key: f"{it:.4g}" if isinstance(it, float) else it for key, it in params.items()}
    return ", ".join(f"{key.replace('_', ' ')} {it}" for key, it in values.items())


def facts_of(model: Model) -> Facts:
    """What ``textreg show`` tells of a model, and the training documents of every label."""
    facts, summary = show.facts_of(model), model.summary
    if summary is not None:
        _, facts["trained on"] = model.task.label_lines(summary.labels)
        if rare := summary.rare:
            fate = "left out" if rare.label is None else f"joined into {rare.label}"
            told = [f"{label} {count:,}" for label, count in rare.labels.items()]
            facts[f"labels of fewer than {rare.least:,} documents, {fate}"] = told
    return tuple(show.told(facts))


# Settings of a search that are shown at most.
TRIED = 300

# Features whose weights are drawn along the path.
PROFILES = 8

SPLITS = {
    "dev": "development documents",
    "holdout": "documents held out",
    "cv": "documents, by cross-validation",
}


def search_section(model: Model) -> Section | None:
    """The search, from the model's summary; None if there was none.

    tried: settings in words, number of features and metric of each; chosen: index of one.
    """
    summary = model.summary
    if summary is None or len(summary.search) < 2 or summary.metric is None or summary.dev is None:
        return None
    rows = summary.search
    params = {key: summary.reg.params.get(key) for key in rows[0].params}
    settings = [(row.params, row.settings) for row in rows]
    if (params, summary.chosen) not in settings:
        return None
    chosen = settings.index((params, summary.chosen))
    shown = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), chosen})
    told = [_told({**rows[at].settings, **rows[at].params}) for at in shown]
    return _trials(model, summary.metric, told, [rows[at] for at in shown], shown.index(chosen))


def path_section(model: Model) -> Section | None:
    """The regularization path of the model; None if it has none (``train --path``).

    curve: size and metric of each model, measured on documents that its fit has not seen, as of
    :func:`search_section`. values: of the parameter, the emptiest model first. whole: whether they
    are whole numbers, otherwise penalty strengths. profiles: weights of the strongest features.
    """
    path = model.path
    if path is None:
        return None
    along = path_profiles(model, PROFILES)
    assert along is not None
    told = [f"{path.parameter} {value:.4g}" for value in path.values]
    return Section(
        curve=_trials(model, path.metric, told, path.points, path.chosen),
        parameter=path.parameter,
        values=along.values,
        whole=all(isinstance(value, int) for value in path.values),
        profiles=along.profiles,
    )


def _trials(
    model: Model, metric: str, told: Sequence[str], rows: Sequence[Any], chosen: int
) -> Section:
    """Points of a search or a path, told in words, and which documents they are measured on."""
    dev, split = (None, None) if model.summary is None else (model.summary.dev, model.summary.split)
    how = SPLITS["holdout"] if split is None else SPLITS.get(split.kind, SPLITS["holdout"])
    return Section(
        metric=metric,
        documents=0 if dev is None else dev.documents,
        how=f"{how} in {split.parts} parts" if split and split.kind == "cv" else how,
        tried=[
            Section(settings=words, features=row.nonzero, value=row.metrics[metric])
            for words, row in zip(told, rows, strict=True)
        ],
        chosen=chosen,
    )


def versions() -> Facts:
    """Versions of Python and of the numerical libraries."""
    return (
        ("Python", platform.python_version()),
        *((name, metadata.version(name)) for name in LIBRARIES),
    )


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 of the labels and texts in order; it does not depend on the file format."""
    digest = hashlib.sha256()
    labels = corpus.labels or [""] * len(corpus)
    for label, text in zip(labels, corpus.texts, strict=True):
        digest.update(f"{label}\0{text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


# Features shown for each label.
TOP = 15

# Features whose stability is shown, and features without a weight.
STABLE, UNUSED = 25, 15


def columns_of(X: Any, columns: Int64s) -> Any:
    """(documents, columns): the given columns of X; empty where the index is -1."""
    from scipy.sparse import csr_array

    present = np.flatnonzero(columns >= 0)
    choice = (np.ones(len(present)), (columns[present], present))
    return X @ csr_array(choice, shape=(X.shape[1], len(columns)))


def label_words(model: Model, X: Any, y_true: Targets) -> tuple[tuple[Section, ...], int]:
    """The strongest features of every label, and the number of labels that are not listed.

    X: (documents, the model's features). y_true: (documents,) as ``Predictions.y_true``.
    """
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    totals = np.bincount(X.indices, minlength=X.shape[1])
    sizes = np.array([np.count_nonzero(task.documents_of(y_true, c)) for c in range(len(names))])
    shown = np.sort(np.argsort(-sizes, kind="stable")[:LABELS])
    labels = []
    for c in shown.tolist():
        order = [j for j in np.argsort(-rows[c], kind="stable")[:TOP] if rows[c, j] > 0]
        mine = task.documents_of(y_true, c)
        inside = np.bincount(X[mine].indices, minlength=X.shape[1])
        rows_shown = [
            Section(
                feature=model.encoder.names[j],
                weight=float(rows[c, j]),
                inside=int(inside[j]),
                outside=int(totals[j] - inside[j]),
            )
            for j in order
        ]
        labels.append(Section(label=names[c], rows=rows_shown))
    return tuple(labels), len(names) - len(labels)


def dropped_of(model: Model, refits: Refits | None, skipped: int, unknown: int) -> Section:
    """What training had and the model does not use; more of it from ``refits``.

    skipped: rows of the files that could not be read. unknown: documents without any feature of the
    model. features, selected: in training, and with a weight; informative: those without whose
    frequency differs most between labels.
    """
    dropped = Section(
        skipped=skipped,
        unknown=unknown,
        features=None if model.summary is None else model.summary.features,
        selected=model.n_features,
        informative=[],
    )
    if refits is not None:
        dropped.features = len(refits.selected)
        dropped.informative = _informative(model, refits)
    return dropped


def _informative(model: Model, refits: Refits) -> list[Section]:
    """Features without a weight whose frequency differs most between labels."""
    task = model.task
    if not task.discrete:
        return []
    X, y_true = refits.data.X, refits.data.y
    totals = np.bincount(X.indices, minlength=X.shape[1])
    best, label = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
    for c in range(len(task.sides)):
        mine = task.documents_of(y_true, c)
        size = int(np.count_nonzero(mine))
        if 0 < size < len(y_true):  # of several labels one may be everywhere
            count = np.bincount(X[mine].indices, minlength=X.shape[1])
            # P(feature | label) - P(feature | others), for the label where it is largest.
            apart = count / size - (totals - count) / (len(y_true) - size)
            label[apart > best] = c
            best = np.maximum(apart, best)
    best[refits.selected] = 0.0
    rows = []
    for j in np.argsort(-best, kind="stable")[:UNUSED].tolist():
        if best[j] > 0:
            mine, holds = task.documents_of(y_true, label[j]), X[:, [j]].toarray()[:, 0] != 0
            row = {"feature": refits.data.encoder.names[j], "label": task.sides[label[j]]}
            shares = {"inside": float(holds[mine].mean()), "outside": float(holds[~mine].mean())}
            rows.append(Section(**row, **shares))
    return rows


def stability_of(model: Model, refits: Refits) -> Section:
    """How often the model's features are selected by fits without a part of the corpus.

    histogram: number of the model's features that were selected in 0, 1, ... of the fits. overlap:
    mean Jaccard index of the features of two fits. sizes: features of every fit. strongest: the
    features with the largest weights, the number of fits that selected each (parts), and the mean
    and the deviation of its weights there.
    """
    fits = refits.own.fits
    columns = refits.columns
    present = columns >= 0
    used = np.array([fit.w.any(axis=0) for fit in fits])
    times = np.zeros(model.n_features, dtype=np.int64)
    times[present] = used[:, columns[present]].sum(axis=0)
    # Jaccard index |A ∩ B| / |A ∪ B| of the features of every two fits.
    shares = [
        int((one & other).sum()) / max(1, int((one | other).sum()))
        for one, other in itertools.combinations(used, 2)
    ]
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    best, size = rows.argmax(axis=0), rows.max(axis=0, initial=0.0)
    weights = np.zeros((len(fits), *rows.shape))
    for fit, out in zip(fits, weights, strict=True):
        out[:, present] = task.side_rows(fit.w[:, columns[present]])
    order = np.argsort(-size, kind="stable")[:STABLE].tolist()
    return Section(
        parts=len(fits),
        histogram=np.bincount(times, minlength=len(fits) + 1).tolist(),
        overlap=float(np.mean(shares)) if shares else 1.0,
        sizes=refits.own.sizes,
        strongest=[
            Section(
                feature=model.encoder.names[j],
                label=names[best[j]],
                weight=float(size[j]),
                parts=int(times[j]),
                mean=float(weights[:, best[j], j].mean()),
                deviation=float(weights[:, best[j], j].std()),
            )
            for j in order
            if size[j] > 0
        ],
    )


def baseline_of(refits: Refits, other: OutOfFold | None, name: str) -> Section | None:
    """The model beside another one, each document predicted by fits that have not seen it.

    versus: the comparison; features_own, features_other: mean number of features over the fits.
    Predictions go by the highest score, without thresholds; those of several labels are of the
    other half each time. None if there is no other one.
    """
    if other is None:
        return None
    own, y_true = refits.own, refits.y_true
    answers = answers_of(refits.data.task, y_true, own.scores, other.scores)
    return Section(
        documents=len(y_true),
        hyperparameters=_told(other.part.params()),
        versus=beside(name, refits.data.task, y_true, *answers),
        features_own=float(np.mean(own.sizes)),
        features_other=float(np.mean(other.sizes)),
    )


def answers_of(task: Task, y_true: Targets, *scores: Floats) -> list[Targets]:
    """Predictions by the highest of scores (n, k); of several labels by those of the other half."""
    if not task.discrete:
        return [table[:, 0] for table in scores]
    if isinstance(task, Multilabel):
        return [task.decide_by_halves(table, y_true.astype(bool)) for table in scores]
    return [task.decide(table) for table in scores]
