"""Metrics of several labels for each document, with the definitions of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.measure.metrics import wilson

if TYPE_CHECKING:
    from textreg.records import Bools, Floats

RESAMPLES = 1000
"""Bootstrap samples of documents for the intervals of F1."""


def f1_scores(y_true: Bools, y_pred: Bools, weights: Floats | None = None) -> tuple[float, float]:
    """Micro-F1 and macro-F1 of predicted labels, both (n, k).

    The micro-F1 is that of all pairs of a document and a label; the macro-F1 the mean over the
    labels that some document has or is predicted to have. Both are 0 where there are none. weights:
    (n,) how much each document counts; once where they are left out.
    """
    counted = np.ones(len(y_true)) if weights is None else weights
    return _f1(counted @ (y_true & y_pred), counted @ y_true + counted @ y_pred)


def _f1(hits: Floats, counted: Floats) -> tuple[float, float]:
    """Micro- and macro-F1 from the numbers of each label."""
    seen = counted > 0
    if not seen.any():
        return 0.0, 0.0
    return float(2 * hits.sum() / counted.sum()), float(np.mean(2 * hits[seen] / counted[seen]))


def ranking_precision(y_true: Bools, scores: Floats) -> float:
    """Label ranking average precision (LRAP): how high the labels of a document rank.

    For each label of a document, the share of its labels among those with as high a score or a
    higher one; the mean over labels and documents. A document without a label, or with all of them,
    counts as 1.
    """
    from scipy.stats import rankdata

    own = y_true.sum(axis=1)
    ranks = rankdata(-scores, method="max", axis=1)
    among = rankdata(np.where(y_true, -scores, np.inf), method="max", axis=1)
    shares = np.where(y_true, among / ranks, 0.0).sum(axis=1) / np.maximum(own, 1)
    return float(np.where((own == 0) | (own == y_true.shape[1]), 1.0, shares).mean())


class LabelScore(NamedTuple):
    """Scores of one label, with their 95 % intervals.

    Attributes
    ----------
    label : str
        Its name.
    precision, recall, f1 : float
        0 where the denominator is.
    support : int
        Number of documents that have it.
    precision_interval, recall_interval : tuple of float
        Those of Wilson (1927).
    f1_interval : tuple of float
        From resampled documents.
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    precision_interval: tuple[float, float]
    recall_interval: tuple[float, float]
    f1_interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class MultilabelEvaluation:
    """Predicted sets of labels compared with the true ones.

    Attributes
    ----------
    documents : int
        Number of documents.
    micro_f1, macro_f1 : float
        F1 of all pairs of a document and a label, and the mean F1 of the labels that some document
        has or is predicted to have.
    micro_f1_interval, macro_f1_interval : tuple of float
        Their 95 % intervals, from resampled documents.
    sample_f1 : float
        Mean over documents of the F1 of their labels; 1 where there are none, and none is
        predicted.
    subset_accuracy : float
        Fraction of the documents with exactly the right labels.
    subset_accuracy_interval : tuple of float
        Its 95 % interval (Wilson 1927).
    hamming_loss : float
        Fraction of the pairs of a document and a label that are wrong.
    lrap : float or None
        Label ranking average precision: see :func:`ranking_precision`; None without scores.
    classes : tuple of LabelScore
        One for each label of the model, and after them those of the documents that it does not
        have.
    log_loss : float or None
        Mean negative log-probability of what is true of a document and a label, in nats; None
        without probabilities.
    unknown : tuple of str
        The labels of documents that the model does not know, sorted.
    """

    documents: int
    micro_f1: float
    micro_f1_interval: tuple[float, float]
    macro_f1: float
    macro_f1_interval: tuple[float, float]
    sample_f1: float
    subset_accuracy: float
    subset_accuracy_interval: tuple[float, float]
    hamming_loss: float
    lrap: float | None
    classes: tuple[LabelScore, ...]
    log_loss: float | None = None
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        plain = {**vars(self), "classes": [score._asdict() for score in self.classes]}
        return {key: list(it) if isinstance(it, tuple) else it for key, it in plain.items()}


def evaluate_sets(
    y_true: Bools,
    y_pred: Bools,
    labels: Sequence[str],
    scores: Floats | None = None,
    log_loss: float | None = None,
) -> MultilabelEvaluation:
    """Compare predicted sets of labels with the true ones.

    Parameters
    ----------
    y_true, y_pred : ndarray of bool, shape (documents, labels)
        The labels of the documents.
    labels : sequence of str
        Their names.
    scores : ndarray of shape (documents, labels), optional
        What the labels are ranked by.
    log_loss : float, optional
        See :class:`MultilabelEvaluation`.

    Raises
    ------
    DataError
        If there is nothing to measure.
    UsageError
        If the shapes disagree.
    """
    n = len(y_true)
    shapes = {it.shape for it in (y_true, y_pred, scores) if it is not None}
    if shapes != {(n, len(labels))}:
        raise UsageError(
            f"true labels, predictions and scores have the shapes {', '.join(map(str, shapes))}: "
            f"all must be (documents, {len(labels)})."
        )
    if not n:
        raise DataError("There are no documents to evaluate: give a file with labeled rows.")
    hits, own, predicted = (it.sum(axis=0) for it in (y_true & y_pred, y_true, y_pred))
    micro, macro = _f1(hits, own + predicted)
    intervals = _f1_intervals(y_true, y_pred)
    right = int((y_true == y_pred).all(axis=1).sum())
    both, either = (y_true & y_pred).sum(axis=1), y_true.sum(axis=1) + y_pred.sum(axis=1)
    return MultilabelEvaluation(
        documents=n,
        micro_f1=micro,
        micro_f1_interval=intervals[-2],
        macro_f1=macro,
        macro_f1_interval=intervals[-1],
        sample_f1=float(np.where(either > 0, 2 * both / np.maximum(either, 1), 1.0).mean()),
        subset_accuracy=right / n,
        subset_accuracy_interval=wilson(right, n),
        hamming_loss=float((y_true != y_pred).mean()),
        lrap=None if scores is None else ranking_precision(y_true, scores),
        classes=tuple(
            _label_score(label, int(hits[at]), int(own[at]), int(predicted[at]), intervals[at])
            for at, label in enumerate(labels)
        ),
        log_loss=log_loss,
    )


def evaluate_lists(
    labels_true: Sequence[Any],
    labels_pred: Sequence[Any],
    labels: Sequence[str],
    proba: Floats | None = None,
) -> MultilabelEvaluation:
    """The same of lists of labels: see :func:`textreg.measure.evaluation.evaluate`.

    Labels that are not in ``labels`` count as errors, with a line of their own after the others.
    """
    own = {label for some in (*labels_true, *labels_pred) for label in some}
    unknown = tuple(sorted(own - set(labels)))
    every = (*labels, *unknown)
    y_true, y_pred = (indicators(given, every) for given in (labels_true, labels_pred))
    log_loss = scores = None
    if proba is not None:
        known = y_true[:, : len(labels)]
        log_loss = float(-np.log(np.where(known, proba, 1.0 - proba)).mean())
        scores = np.hstack([proba, np.full((len(proba), len(unknown)), -1.0)])
    return replace(evaluate_sets(y_true, y_pred, every, scores, log_loss), unknown=unknown)


def indicators(given: Sequence[Any], labels: Sequence[str]) -> Bools:
    """(n, labels) which labels the lists hold; all of these are among ``labels``."""
    code_of = {label: code for code, label in enumerate(labels)}
    y = np.zeros((len(given), len(labels)), dtype=bool)
    for row, some in enumerate(given):
        y[row, [code_of[label] for label in some]] = True
    return y


def _label_score(
    label: str, hits: int, own: int, predicted: int, interval: tuple[float, float]
) -> LabelScore:
    counted = own + predicted
    return LabelScore(
        label=label,
        precision=hits / predicted if predicted else 0.0,
        recall=hits / own if own else 0.0,
        f1=2 * hits / counted if counted else 0.0,
        support=own,
        precision_interval=wilson(hits, predicted) if predicted else (0.0, 1.0),
        recall_interval=wilson(hits, own) if own else (0.0, 1.0),
        f1_interval=interval,
    )


def _f1_intervals(y_true: Bools, y_pred: Bools) -> list[tuple[float, float]]:
    """95 % percentile intervals of the F1 of every label, then of the micro- and macro-F1."""
    from scipy.sparse import csr_array, hstack

    n, k = y_true.shape
    table = hstack([csr_array(y_true & y_pred), csr_array(y_true), csr_array(y_pred)]).T.tocsr()
    table = table.astype(np.float64)
    random = np.random.default_rng(0)
    values = np.empty((RESAMPLES, k + 2))
    for at in range(RESAMPLES):
        drawn = np.bincount(random.integers(n, size=n), minlength=n)
        hits, own, predicted = (table @ drawn).reshape(3, k)
        counted = own + predicted
        values[at, :k] = np.divide(2 * hits, counted, out=np.zeros(k), where=counted > 0)
        values[at, k:] = _f1(hits, counted)
    low, high = np.quantile(values, (0.025, 0.975), axis=0).tolist()
    return list(zip(low, high, strict=True))
