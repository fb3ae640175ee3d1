"""The features of a model: their documents, their stability, and what was dropped."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from textreg.model.model import Model
from textreg_report.documents import sentences_without_features
from textreg_report.page import Section
from textreg_report.predictions import LABELS
from textreg_report.refits import Refits

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Int64s
    from textreg.tasks.base import Targets

TOP = 15
"""Features shown for each label."""

STABLE, UNUSED = 25, 15
"""Features whose stability is shown, and features without a weight."""


def columns_of(X: csr_array, columns: Int64s) -> csr_array:
    """(documents, columns): the given columns of X; empty where the index is -1."""
    from scipy.sparse import csr_array

    present = np.flatnonzero(columns >= 0)
    choice = (np.ones(len(present)), (columns[present], present))
    return X @ csr_array(choice, shape=(X.shape[1], len(columns)))


def label_words(model: Model, X: csr_array, y_true: Targets) -> tuple[tuple[Section, ...], int]:
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
    frequency differs most between labels. sentences: some without a feature of the model;
    empty_sentences, total_sentences: their number, and of all.
    """
    dropped = Section(
        skipped=skipped,
        unknown=unknown,
        features=None if model.summary is None else model.summary.features,
        selected=model.n_features,
        informative=[],
        sentences=(),
        empty_sentences=None,
    )
    if refits is not None:
        table = refits.sentences
        dropped.features = len(refits.selected)
        dropped.informative = _informative(model, refits)
        dropped.sentences = sentences_without_features(model, refits)
        dropped.empty_sentences = int((table.filled & ~table.selected).sum())
        dropped.total_sentences = int(table.filled.sum())
    return dropped


def _informative(model: Model, refits: Refits) -> list[Section]:
    """Features without a weight whose frequency differs most between labels."""
    task = model.task
    if not task.discrete:
        return []
    X, y_true = refits.data.X, refits.data.y
    totals = np.bincount(X.indices, minlength=X.shape[1])
    best = np.zeros(X.shape[1])
    label, inside, outside = (np.zeros(X.shape[1]) for _ in range(3))
    for c in range(len(task.sides)):
        mine = task.documents_of(y_true, c)
        size = int(np.count_nonzero(mine))
        if not 0 < size < len(y_true):  # of several labels one may be everywhere
            continue
        count = np.bincount(X[mine].indices, minlength=X.shape[1])
        share, others = count / size, (totals - count) / (len(y_true) - size)
        better = share - others > best
        best[better] = (share - others)[better]
        for array, value in ((label, np.full(len(best), c)), (inside, share), (outside, others)):
            array[better] = value[better]
    best[refits.selected] = 0.0
    names = refits.data.encoder.names
    order = [j for j in np.argsort(-best, kind="stable")[:UNUSED] if best[j] > 0]
    return [
        Section(
            feature=names[j],
            label=task.sides[int(label[j])],
            inside=float(inside[j]),
            outside=float(outside[j]),
        )
        for j in order
    ]


def stability_of(model: Model, refits: Refits) -> Section:
    """How often the model's features are selected by fits without a part of the corpus.

    histogram: number of the model's features that were selected in 0, 1, ... of the fits. overlap:
    mean Jaccard index of the features of two fits. sizes: features of every fit. strongest: the
    features with the largest weights, the number of fits that selected each (parts), and the mean
    and the deviation of its weights there.
    """
    fits = refits.solutions
    columns = refits.columns
    present = columns >= 0
    used = np.array([fit.w.any(axis=0) for fit in fits])
    times = np.zeros(model.n_features, dtype=np.int64)
    times[present] = used[:, columns[present]].sum(axis=0)
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
