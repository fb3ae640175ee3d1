"""The features of a model: in how many documents, how steadily chosen, and what was left out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from textreg.model.model import Model
from textreg.report.measured import LABELS
from textreg.report.records import Dropped, LabelWords, LeftOut, Stability, Steady, WordRow
from textreg.report.selected import silent_sentences
from textreg.report.study import Study

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Int64s
    from textreg.tasks.base import Targets

TOP = 15
"""Features that are shown of each label."""

STEADY, LEFT_OUT = 25, 15
"""Features whose steadiness is shown, and features without a weight."""


def columns_of(X: csr_array, columns: Int64s) -> csr_array:
    """(documents, columns): some columns of X, empty where their number is -1."""
    from scipy.sparse import csr_array

    known = np.flatnonzero(columns >= 0)
    choice = (np.ones(len(known)), (columns[known], known))
    return X @ csr_array(choice, shape=(X.shape[1], len(columns)))


def label_words(model: Model, X: csr_array, y_true: Targets) -> tuple[tuple[LabelWords, ...], int]:
    """The features that speak most for every label, and the number of labels left out.

    X: (documents, the model's features). y_true: (documents,) as ``Measured.y_true``.
    """
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    whole = np.bincount(X.indices, minlength=X.shape[1])
    sizes = np.array([np.count_nonzero(task.documents_of(y_true, c)) for c in range(len(names))])
    shown = np.sort(np.argsort(-sizes, kind="stable")[:LABELS])
    found = []
    for c in shown.tolist():
        order = [j for j in np.argsort(-rows[c], kind="stable")[:TOP] if rows[c, j] > 0]
        mine = task.documents_of(y_true, c)
        inside = np.bincount(X[mine].indices, minlength=X.shape[1])
        size, others = int(sizes[c]), X.shape[0] - int(sizes[c])
        found.append(
            LabelWords(
                names[c],
                tuple(
                    WordRow(
                        model.encoder.names[j],
                        float(rows[c, j]),
                        int(inside[j]),
                        int(whole[j] - inside[j]),
                    )
                    for j in order
                ),
                size,
                others,
            )
        )
    return tuple(found), len(names) - len(found)


def unknown_documents(X: csr_array) -> int:
    """Documents without any of the model's features."""
    return int(np.count_nonzero(np.diff(X.indptr) == 0))


def dropped_in(model: Model, study: Study, skipped: int, unknown: int) -> Dropped:
    """What training had and the model has not."""
    silent = study.sentences.filled & ~study.sentences.kept
    return Dropped(
        skipped=skipped,
        unknown=unknown,
        features=len(study.kept),
        kept=model.n_features,
        telling=_telling(model, study),
        sentences=silent_sentences(model, study),
        silent=int(silent.sum()),
        of_sentences=int(study.sentences.filled.sum()),
    )


def _telling(model: Model, study: Study) -> tuple[LeftOut, ...]:
    """Features without a weight whose share of documents differs most between labels."""
    task = model.task
    if not task.discrete:
        return ()
    X, y_true = study.data.X, study.data.y
    whole = np.bincount(X.indices, minlength=X.shape[1])
    best = np.zeros(X.shape[1])
    label, inside, outside = (np.zeros(X.shape[1]) for _ in range(3))
    for c in range(len(task.sides)):
        mine = task.documents_of(y_true, c)
        size = int(np.count_nonzero(mine))
        count = np.bincount(X[mine].indices, minlength=X.shape[1])
        share, others = count / size, (whole - count) / (len(y_true) - size)
        better = share - others > best
        best[better] = (share - others)[better]
        for array, value in ((label, np.full(len(best), c)), (inside, share), (outside, others)):
            array[better] = value[better]
    best[study.kept] = 0.0
    names = study.data.encoder.names
    order = [j for j in np.argsort(-best, kind="stable")[:LEFT_OUT] if best[j] > 0]
    return tuple(
        LeftOut(names[j], task.sides[int(label[j])], float(inside[j]), float(outside[j]))
        for j in order
    )


def stability_of(model: Model, study: Study) -> Stability:
    """How steadily the model's features are chosen without each part of the corpus."""
    fits = study.solutions
    columns = study.columns
    known = columns >= 0
    used = np.array([fit.w.any(axis=0) for fit in fits])
    times = np.zeros(model.n_features, dtype=np.int64)
    times[known] = used[:, columns[known]].sum(axis=0)
    shares = [
        int((one & other).sum()) / max(1, int((one | other).sum()))
        for one, other in itertools.combinations(used, 2)
    ]
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    best, size = rows.argmax(axis=0), rows.max(axis=0, initial=0.0)
    there = np.zeros((len(fits), *rows.shape))
    for fit, out in zip(fits, there, strict=True):
        out[:, known] = task.side_rows(fit.w[:, columns[known]])
    order = np.argsort(-size, kind="stable")[:STEADY].tolist()
    return Stability(
        parts=len(fits),
        histogram=tuple(np.bincount(times, minlength=len(fits) + 1).tolist()),
        overlap=float(np.mean(shares)) if shares else 1.0,
        sizes=study.own.sizes,
        strongest=tuple(
            Steady(
                model.encoder.names[j],
                names[best[j]],
                float(size[j]),
                int(times[j]),
                float(there[:, best[j], j].mean()),
                float(there[:, best[j], j].std()),
            )
            for j in order
            if size[j] > 0
        ),
    )
