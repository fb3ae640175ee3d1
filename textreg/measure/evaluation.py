"""Evaluation of predictions, with the metrics of scikit-learn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few
from textreg.measure.metrics import measure_numbers, wilson
from textreg.measure.multilabel import MultilabelEvaluation, evaluate_lists
from textreg.records.columns import as_column, is_missing, label_name

if TYPE_CHECKING:
    from textreg.measure.selective import Selective
    from textreg.records import Floats, Int64s


class ClassScore(NamedTuple):
    """Scores of one label; ``support`` is the number of documents that have it."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, eq=False)
class Evaluation:
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
    classes : tuple of ClassScore
        One for each label of the model, then one for each that only documents have; a ratio with a
        denominator of 0 is 0.
    confusion : ndarray of shape (labels, labels)
        Counts of documents, true labels in rows and predicted ones in columns, as in ``classes``.
    log_loss : float or None
        Mean negative log-probability of the true label, in nats, over the documents whose label the
        model knows; None without probabilities.
    unknown : tuple of str
        The labels of documents that the model does not know, sorted.
    selective : Selective or None
        Coverage against risk, of models that do not answer every text.

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
    classes: tuple[ClassScore, ...]
    confusion: Int64s
    log_loss: float | None = None
    unknown: tuple[str, ...] = ()
    selective: Selective | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        return {
            "documents": self.documents,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss,
            "classes": [score._asdict() for score in self.classes],
            "unknown": list(self.unknown),
            "selective": None if self.selective is None else self.selective.to_dict(),
            "confusion": self.confusion.tolist(),
        }


@dataclass(frozen=True)
class RegressionEvaluation:
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

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, ready for JSON."""
        return asdict(self)


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
    measured = measure_numbers(z, y)
    return RegressionEvaluation(
        len(y), measured["r2"], measured["mse"], float(np.mean(np.abs(y - z)))
    )


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
    labels_true, labels_pred : sequences or columns of str, int or bool, or of lists of str
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
        If there is nothing to measure, a document has no label, or none has one of ``labels``.
    UsageError
        If the lengths disagree.

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
    from sklearn import metrics

    labels_true, labels_pred = (
        _names(labels_true, "labels_true"),
        _names(labels_pred, "labels_pred"),
    )
    if len(labels_pred) != len(labels_true):
        raise UsageError(
            f"{len(labels_true):,} true labels but {len(labels_pred):,} predictions: "
            "give one prediction for each document."
        )
    if not len(labels_true):
        raise DataError("There are no documents to evaluate: give a file with labeled rows.")
    if not isinstance(labels_pred[0], str):
        return evaluate_lists(labels_true, labels_pred, labels, proba)
    y, unknown = coded(labels_true, labels, where)
    warn_of_unknown(labels_true, labels, where)
    known = y < (len(labels) if proba is None else proba.shape[1])
    every = (*labels, *unknown)
    codes = range(len(every))
    code_of = {label: code for code, label in enumerate(labels)}
    predicted = np.array([code_of[label] for label in labels_pred])
    right = int(np.count_nonzero(y == predicted))
    columns = metrics.precision_recall_fscore_support(y, predicted, labels=codes, zero_division=0.0)
    return Evaluation(
        documents=len(y),
        accuracy=right / len(y),
        accuracy_interval=wilson(right, len(y)),
        macro_f1=float(metrics.f1_score(y, predicted, average="macro", zero_division=0.0)),
        classes=tuple(
            ClassScore(label, float(precision), float(recall), float(f1), int(support))
            for label, precision, recall, f1, support in zip(every, *columns, strict=True)
        ),
        confusion=metrics.confusion_matrix(y, predicted, labels=codes),
        log_loss=None
        if proba is None or not known.any()
        else float(metrics.log_loss(y[known], proba[known], labels=range(proba.shape[1]))),
        unknown=unknown,
    )


def _names(labels: Any, name: str) -> list[Any]:
    """The names of labels in a list or column; None for one that is missing."""
    return [None if is_missing(it) else label_name(it) for it in as_column(labels, name)]


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
                f"{where(row)}: no label. Evaluation needs the true label of every document: "
                "fill it in, leave the row out, or use 'textreg predict' for texts without labels."
            )
        if isinstance(label, tuple):
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
    warnings.warn(
        unknown_labels(
            (where or _numbered)(rows[0]),
            (len(rows), len(labels_true)),
            [f"'{label}' ({count:,})" for label, count in counts],
            did_you_mean(counts[0][0], labels),
            count_as,
        ),
        DataWarning,
        stacklevel=3,
    )


def unknown_labels(
    where: str, documents: tuple[int, int], listed: Sequence[str], hint: str, count_as: str | None
) -> str:
    """The message about labels that are not known: where, which ones, and how they count.

    documents: how many have some, and of how many. hint: what may be meant.
    """
    some, all_of_them = documents
    fate = (
        "count as errors, and are left out of log-loss, calibration and thresholds."
        if count_as is None
        else f"count as '{count_as}'."
    )
    return (
        f"{where}: labels that the model does not know, in {some:,} of {all_of_them:,} documents: "
        f"{first_few(listed, 5)}.{hint} They {fate}"
    )


def _numbered(row: int) -> str:
    """A document by its place, where nothing else is known of it."""
    return f"document {row + 1}"
