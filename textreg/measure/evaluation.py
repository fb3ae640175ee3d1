"""Evaluation of predictions, with the metrics of scikit-learn; and labels that they contradict."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few
from textreg.measure.decisions import Selective, plain
from textreg.measure.metrics import measure_numbers, wilson
from textreg.records import Bools, Floats, Int64s
from textreg.records.arrays import as_finite
from textreg.records.documents import as_column, is_missing, label_name
from textreg.records.text import LISTS, named_labels
from textreg.terminal import Displayed, Table, counted, measures

#: Bootstrap samples of documents for the intervals of F1.
RESAMPLES = 1000

# The least probability in a log-loss, as in scikit-learn.
LEAST = np.finfo(np.float64).eps


def f1_scores(y_true: Bools, y_pred: Bools, weights: Floats | None = None) -> tuple[float, float]:
    """Micro-F1 and macro-F1 of predicted labels, both (n, k).

    The micro-F1 is that of all pairs of a document and a label; the macro-F1 the mean over the
    labels that some document has or is predicted to have. Both are 0 where there are none. weights:
    (n,) how much each document counts; once where they are left out.
    """
    counted = np.ones(len(y_true)) if weights is None else weights
    return _f1(counted @ (y_true & y_pred), counted @ y_true + counted @ y_pred)


def _f1(hits: Floats | Int64s, counted: Floats | Int64s) -> tuple[float, float]:
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

    n_true = y_true.sum(axis=1)
    ranks = rankdata(-scores, method="max", axis=1)
    among = rankdata(np.where(y_true, -scores, np.inf), method="max", axis=1)
    shares = np.where(y_true, among / ranks, 0.0).sum(axis=1) / np.maximum(n_true, 1)
    return float(np.where((n_true == 0) | (n_true == y_true.shape[1]), 1.0, shares).mean())


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
        From resampled documents; where these do not vary, as where all are right, that of Wilson.
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    precision_interval: tuple[float, float]
    recall_interval: tuple[float, float]
    f1_interval: tuple[float, float]


class _Measured(Displayed):
    """What an evaluation shows above its tables."""

    documents: int

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        return {name: plain(value) for name, value in vars(self).items()}

    def headline(self) -> str:
        """The metrics."""
        return f"{counted(self.documents, 'document')}; {measures(self.to_dict())}"


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelEvaluation(_Measured):
    """Predicted sets of labels compared with the true ones.

    Attributes
    ----------
    documents : int
        Number of documents.
    micro_f1, macro_f1 : float
        F1 of all pairs of a document and a label, and the mean F1 of the labels that some document
        has or is predicted to have.
    micro_f1_interval, macro_f1_interval : tuple of float
        Their 95 % intervals, as of :class:`LabelScore`.
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

    def tables(self) -> list[Table]:
        """The scores of the labels."""
        rows: list[Sequence[Any]] = [
            ("label", "precision", "95 % CI", "recall", "95 % CI", "F1", "95 % CI", "documents")
        ]
        for score in self.classes:
            intervals = score.precision_interval, score.recall_interval, score.f1_interval
            precision, recall, f1 = (f"{low:.2f}..{high:.2f}" for low, high in intervals)
            figures = score.precision, precision, score.recall, recall, score.f1, f1, score.support
            rows.append((score.label, *figures))
        return [("", rows)]


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
    hits, support, predicted = (it.sum(axis=0) for it in (y_true & y_pred, y_true, y_pred))
    micro, macro = _f1(hits, support + predicted)
    intervals = _f1_intervals(y_true, y_pred)
    right = int((y_true == y_pred).all(axis=1).sum())
    correct, either = (y_true & y_pred).sum(axis=1), y_true.sum(axis=1) + y_pred.sum(axis=1)
    return MultilabelEvaluation(
        documents=n,
        micro_f1=micro,
        micro_f1_interval=intervals[-2],
        macro_f1=macro,
        macro_f1_interval=intervals[-1],
        sample_f1=float(np.where(either > 0, 2 * correct / np.maximum(either, 1), 1.0).mean()),
        subset_accuracy=right / n,
        subset_accuracy_interval=wilson(right, n),
        hamming_loss=float((y_true != y_pred).mean()),
        lrap=None if scores is None else ranking_precision(y_true, scores),
        classes=tuple(
            _label_score(label, int(hits[at]), int(support[at]), int(predicted[at]), intervals[at])
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
    names = {label for listed in (*labels_true, *labels_pred) for label in listed}
    unknown = tuple(sorted(names - set(labels)))
    every = (*labels, *unknown)
    y_true, y_pred = (indicators(lists, every)[:, :-1] for lists in (labels_true, labels_pred))
    log_loss = scores = None
    if proba is not None:
        known = y_true[:, : len(labels)]
        proba = as_finite("proba", proba, known.shape)
        true = np.where(known, proba, 1.0 - proba)
        log_loss = float(0.0 - np.log(np.maximum(true, LEAST)).mean())  # no -0.0
        scores = np.hstack([proba, np.full((len(proba), len(unknown)), -1.0)])
    return replace(evaluate_sets(y_true, y_pred, every, scores, log_loss), unknown=unknown)


def indicators(given: Sequence[Any], labels: Sequence[str], other: str | None = None) -> Bools:
    """(n, labels + 1) which labels the lists hold.

    Those that are not among ``labels`` count as the ``other`` one, or without it as the last
    column.
    """
    code_of = {label: code for code, label in enumerate(labels)}
    rest = len(labels) if other is None else code_of[other]
    y = np.zeros((len(given), len(labels) + 1), dtype=bool)
    for row, listed in enumerate(given):
        y[row, [code_of.get(label, rest) for label in listed]] = True
    return y


def _shares(hits: int, n_true: int, predicted: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of a label; 0 where nothing is counted."""
    counts = (hits, predicted), (hits, n_true), (2 * hits, n_true + predicted)
    precision, recall, f1 = (float(part / of) if of else 0.0 for part, of in counts)
    return precision, recall, f1


def _label_score(
    label: str, hits: int, n_true: int, predicted: int, interval: tuple[float, float]
) -> LabelScore:
    ends = wilson(hits, predicted), wilson(hits, n_true), interval
    return LabelScore(label, *_shares(hits, n_true, predicted), n_true, *ends)


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
        hits, support, predicted = (table @ drawn).reshape(3, k)
        counted = support + predicted
        values[at, :k] = np.divide(2 * hits, counted, out=np.zeros(k), where=counted > 0)
        values[at, k:] = _f1(hits, counted)
    ends = np.quantile(values, (0.025, 0.975), axis=0).T.tolist()
    sizes = *(y_true | y_pred).sum(axis=0).tolist(), n, n
    # Documents that are all right, say, do not vary when resampled: Wilson knows how few they are.
    return [
        (low, high) if low < high else wilson(low * of, of)
        for (low, high), of in zip(ends, sizes, strict=True)
    ]


class ClassScore(NamedTuple):
    """Scores of one label; ``support`` is the number of documents that have it."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


# Labels that a table of confusions may have.
MAX_CONFUSION = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Evaluation(_Measured):
    """Predicted labels compared with the true ones.

    Attributes
    ----------
    documents : int
        Number of documents.
    accuracy : float
        Fraction of correct predictions.
    accuracy_interval : tuple of float
        Its 95 % interval (Wilson 1927).
    macro_f1 : float
        Mean F1 of the labels that some document has or is predicted to have.
    log_loss : float or None
        Mean negative log-probability of the true label, in nats, over the documents whose label the
        model knows; None without probabilities.
    classes : tuple of ClassScore
        One for each label of the model, then one for each that only documents have; a ratio with a
        denominator of 0 is 0.
    unknown : tuple of str
        The labels of documents that the model does not know, sorted.
    selective : Selective or None
        Coverage against risk, of models that do not answer every text.
    confusion : ndarray of shape (labels, labels)
        Counts of documents, true labels in rows and predicted ones in columns, as in ``classes``.

    Examples
    --------
    >>> from textreg import evaluate
    >>> result = evaluate(["pos", "neg", "pos"], ["pos", "neg", "neg"], ["neg", "pos"])
    >>> round(result.accuracy, 3), [score.label for score in result.classes]
    (0.667, ['neg', 'pos'])
    """

    documents: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    log_loss: float | None
    classes: tuple[ClassScore, ...]
    unknown: tuple[str, ...]
    selective: Selective | None = None
    confusion: Int64s

    def tables(self) -> list[Table]:
        """The scores of the labels and, of few labels, the confusions."""
        heads = ("label", "precision", "recall", "F1", "documents")
        tables: list[Table] = [("", [heads, *self.classes])]
        if len(self.classes) <= MAX_CONFUSION:
            names = [score.label for score in self.classes]
            rows = zip(names, self.confusion.tolist(), strict=True)
            confused = [("", *names), *((name, *counts) for name, counts in rows)]
            tables.append(("true labels in rows, predictions in columns", confused))
        return tables


@dataclass(frozen=True, repr=False)
class RegressionEvaluation(_Measured):
    """Predicted numbers compared with the true ones.

    Attributes
    ----------
    documents : int
        Number of documents.
    r2 : float
        Fraction of the variance of the true numbers that is explained; 0 if they do not vary.
    mse, mae : float
        Mean squared and mean absolute error.
    """

    documents: int
    r2: float
    mse: float
    mae: float


def evaluate_numbers(
    y_true: Sequence[float] | Floats, predicted: Sequence[float] | Floats
) -> RegressionEvaluation:
    """Compare predicted numbers with the true ones; both arguments (n,).

    Raises DataError if there is nothing to measure, UsageError if the lengths disagree.
    """
    y, z = np.asarray(y_true, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if y.shape != z.shape or y.ndim != 1:
        raise UsageError(
            f"true numbers of the shape {y.shape} but predictions of the shape {z.shape}: give one "
            "prediction for each document."
        )
    if not len(y):
        raise DataError("There are no documents to evaluate: give a file with labeled rows.")
    return RegressionEvaluation(len(y), **measure_numbers(z, y), mae=float(np.mean(np.abs(y - z))))


def evaluate(
    labels_true: Sequence[Any],
    labels_pred: Sequence[Any],
    labels: Sequence[str],
    proba: Floats | None = None,
    *,
    where: Callable[[int], str] | None = None,
) -> Evaluation | MultilabelEvaluation:
    """Compare predicted labels with the true ones.

    A document whose true label is not in ``labels`` counts as an error: such a label has a line of
    its own, with a recall of 0, and counts in the macro-F1, as in scikit-learn's
    ``classification_report``. The log-loss leaves such documents out.

    Parameters
    ----------
    labels_true, labels_pred : sequences or columns of str, int, float or bool, or lists of str
        One label for each document; or a list, tuple or set of any number for each.
    labels : sequence of str
        The labels of the model, in the order of ``proba``.
    proba : ndarray of shape (documents, labels), optional
        Predicted probabilities, for the log-loss and the LRAP. Last labels may have none: that
        leaves their documents out.
    where : callable, optional
        Names a document by its index in messages, such as ``Corpus.where``; default "document 1"
        and so on.

    Returns
    -------
    Evaluation or MultilabelEvaluation
        The latter for lists of labels.

    Raises
    ------
    DataError
        If there is nothing to measure, a document has no label, or none has one of ``labels``; or
        some have lists of labels, and others one label.
    UsageError
        If the lengths disagree, ``labels`` are not different names for the columns of ``proba``, or
        that has numbers outside 0 to 1.

    Warns
    -----
    DataWarning
        If documents have labels that are not in ``labels``.

    Examples
    --------
    >>> from textreg import evaluate
    >>> evaluate(["pos", "neg", "pos"], ["pos", "neg", "neg"], ["neg", "pos"]).macro_f1
    0.6666666666666666
    """
    labels_true = _names(labels_true, "labels_true")
    labels_pred = _names(labels_pred, "labels_pred")
    labels = _names(labels, "labels")
    if len(labels_pred) != len(labels_true):
        raise UsageError(
            f"{len(labels_true):,} true labels but {len(labels_pred):,} predictions: "
            "give one prediction for each document."
        )
    if not len(labels_true):
        raise DataError("There are no documents to evaluate: give a file with labeled rows.")
    if proba is not None:
        proba = as_finite("proba", proba, (len(labels_true), None))
        if not ((proba >= 0.0) & (proba <= 1.0 + 1e-6)).all():  # sums may be rounded
            raise UsageError("proba must lie between 0 and 1: take predict_proba, not scores.")
    if len({*labels}) < len(labels) or (proba is not None and proba.shape[1] > len(labels)):
        raise UsageError("labels must be different names, one for each column of proba at least.")
    if any(isinstance(it, LISTS) for it in labels_pred):
        both = labels_true, labels_pred
        true, given = (named_labels(it, where or _numbered, lists=True) for it in both)
        return evaluate_lists(true, given, labels, proba)
    y, unknown = coded(labels_true, labels, where)
    warn_of_unknown(labels_true, labels, where)
    code_of = {label: code for code, label in enumerate(labels)}
    if invalid := [it for it in labels_pred if it not in code_of]:
        raise UsageError(f"labels_pred has '{invalid[0]}', which is none of labels: name it there.")
    predicted = np.array([code_of[label] for label in labels_pred])
    k = len(labels) + len(unknown)
    confusion = np.bincount(k * y + predicted, minlength=k * k).reshape(k, k)
    hits, support, counted = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    log_loss = None
    if proba is not None and (known := y < proba.shape[1]).any():
        log_loss = float(0.0 - np.log(np.maximum(proba[known, y[known]], LEAST)).mean())
    right = int(hits.sum())
    return Evaluation(
        documents=len(y),
        accuracy=right / len(y),
        accuracy_interval=wilson(right, len(y)),
        macro_f1=_f1(hits, support + counted)[1],
        classes=tuple(
            ClassScore(label, *_shares(hits[at], support[at], counted[at]), int(support[at]))
            for at, label in enumerate((*labels, *unknown))
        ),
        confusion=confusion,
        log_loss=log_loss,
        unknown=unknown,
    )


def _names(labels: Any, name: str) -> list[Any]:
    """The names of labels in a list or column; None for one that is missing."""
    named = (None if is_missing(it) else label_name(it) for it in as_column(labels, name))
    return [it if it is None or isinstance(it, LISTS) else str(it) for it in named]


def coded(
    labels_true: Sequence[str | None],
    labels: Sequence[str],
    where: Callable[[int], str] | None = None,
) -> tuple[Int64s, tuple[str, ...]]:
    """The index of every document's label in ``labels``, followed by those that are not in them.

    Returns the indices (n,), and the labels that are not in ``labels``, sorted. Raises DataError
    for a document without a label, and where no document has one of ``labels``. where: as for
    :func:`evaluate`.
    """
    where = where or _numbered
    for row, label in enumerate(labels_true):
        if label is None or label == "":
            raise DataError(
                f"{where(row)}: no label, and every document must have one here. Fill it in, "
                "or leave the document out; 'textreg predict' is for texts without labels."
            )
        if isinstance(label, LISTS):
            raise DataError(
                f"{where(row)}: the document has a list of labels, {list(label)!r:.60}, and the "
                "model predicts one: give one label for each document."
            )
    unknown = tuple(sorted({str(label) for label in labels_true} - set(labels)))
    code_of = {label: code for code, label in enumerate((*labels, *unknown))}
    codes = np.array([code_of[str(label)] for label in labels_true], dtype=np.int64)
    if len(codes) and codes.min() >= len(labels):
        raise DataError(
            f"{where(0)}: the model does not know the label '{labels_true[0]}', nor that of any "
            f"other of the {len(codes):,} documents."
            f"{did_you_mean(str(labels_true[0]), labels)} Its labels are: {first_few(labels, 20)}. "
            "Correct the data or the choice of the label column (--label-col)."
        )
    return codes, unknown


def warn_of_unknown(
    labels_true: Sequence[str | None],
    labels: Sequence[str],
    where: Callable[[int], str] | None = None,
    count_as: str | None = None,
) -> None:
    """DataWarning that names the labels that are not in ``labels``, if there are some.

    count_as: the label that they count as; without it they count as errors.
    """
    known = set(labels)
    rows = [row for row, label in enumerate(labels_true) if label not in known]
    if not rows:
        return
    counts = Counter(str(labels_true[row]) for row in rows).most_common()
    listed = [f"'{label}' ({count:,})" for label, count in counts]
    hint, documents = did_you_mean(counts[0][0], labels), (len(rows), len(labels_true))
    tell_unknown((where or _numbered)(rows[0]), documents, listed, hint, count_as)


def tell_unknown(
    where: str, documents: tuple[int, int], listed: Sequence[str], hint: str, count_as: str | None
) -> None:
    """DataWarning about labels that are not known: where, which ones, and how they count.

    documents: how many have some, and of how many. hint: what may be meant.
    """
    affected, total = documents
    fate = (
        "count as errors, and are left out of log-loss, calibration and thresholds."
        if count_as is None
        else f"count as '{count_as}'."
    )
    warnings.warn(
        f"{where}: labels that the model does not know, in {affected:,} of {total:,} documents: "
        f"{first_few(listed, 5)}.{hint} They {fate}",
        DataWarning,
        stacklevel=4,
    )


def _numbered(row: int) -> str:
    """A document by its place, where nothing else is known of it."""
    return f"document {row + 1}"


def self_confidence(probabilities: Floats, y: Int64s) -> Floats:
    """(n,) the probability of each document's own label: the lower, the more suspicious.

    probabilities: (n, k), of fits that have not seen the document. y: (n,) labels as indices.
    """
    return probabilities[np.arange(len(y)), y]


def contradicted(probabilities: Floats, y: Int64s) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The documents whose labels are probably wrong.

    A document is confident of a label whose probability is at least the mean of it over the
    documents that have this label; of several such labels, of the most probable. Those that are
    confident of a label which is not their own estimate how many labels are wrong
    (northcutt2021, section 3.1). So many, with the lowest :func:`self_confidence`, are returned.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, k)
        Of fits that have not seen the document.
    y : ndarray of int, shape (n,)
        The labels as indices. No document is confident of a label that none has.

    Returns
    -------
    tuple of ndarray of int, shape (m,)
        The documents, the most suspicious first, and the most probable label of each.
    """
    confidence = self_confidence(probabilities, y)
    k = probabilities.shape[1]
    sums, counts = np.bincount(y, weights=confidence, minlength=k), np.bincount(y, minlength=k)
    thresholds = np.divide(sums, counts, out=np.full(k, np.inf), where=counts > 0)
    confident = np.where(probabilities >= thresholds - 1e-6, probabilities, -1.0)
    likely = probabilities.argmax(axis=1)
    disputed = (likely != y) & (confidence < probabilities.max(axis=1))
    wrong = (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != y) & disputed
    rows = np.argsort(confidence, kind="stable")[: np.count_nonzero(wrong)]
    rows = rows[disputed[rows]]
    return rows, likely[rows]


def suspects(probabilities: Floats, y: Int64s, labels: Sequence[str]) -> dict[int, str]:
    """Documents whose labels are probably wrong, the most suspicious first, and why in words.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, k)
        Of fits that have not seen the document.
    y : ndarray of int, shape (n,) or (n, k)
        The labels as indices; or 1 for the labels that a document has, and 0 for others, each of
        which is judged by itself.
    labels : sequence of str
        The names of the k labels.

    Returns
    -------
    dict of int to str
    """
    confidence, reasons = (_one_label if y.ndim == 1 else _each_label)(probabilities, y, labels)
    return {at: reasons[at] for at in sorted(reasons, key=lambda at: (confidence[at], at))}


def _one_label(
    probabilities: Floats, y: Int64s, labels: Sequence[str]
) -> tuple[Floats, dict[int, str]]:
    confidence = self_confidence(probabilities, y)
    reasons = {}
    for at, likely in zip(*(it.tolist() for it in contradicted(probabilities, y)), strict=True):
        given, top = labels[int(y[at])], labels[likely]
        reasons[at] = (
            f"label {given} ({confidence[at]:.2f}), rather {top} ({probabilities[at, likely]:.2f})"
        )
    return confidence, reasons


def _each_label(
    probabilities: Floats, y: Int64s, labels: Sequence[str]
) -> tuple[Floats, dict[int, str]]:
    """Every label by itself: whether documents have it or not."""
    least = np.ones(len(y))
    reasons: dict[int, list[str]] = {}
    for code, label in enumerate(labels):
        p = np.column_stack([1 - probabilities[:, code], probabilities[:, code]])
        has = np.asarray(y[:, code], dtype=np.int64)
        for at in contradicted(p, has)[0].tolist():
            what = "hardly" if has[at] else "rather also"
            reasons.setdefault(at, []).append(f"{what} {label} ({p[at, 1]:.2f})")
            least[at] = min(least[at], p[at, has[at]])
    return least, {at: ", ".join(parts) for at, parts in reasons.items()}
