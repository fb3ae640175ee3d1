"""Evaluation of predictions, with the metrics of scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean, first_few
from textreg.measure.metrics import measure_numbers, wilson

if TYPE_CHECKING:
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
        One for each label of the model; a ratio with a denominator of 0 is 0.
    confusion : ndarray of shape (labels, labels)
        Counts of documents, true labels in rows and predicted ones in columns.
    log_loss : float or None
        Mean negative log-probability of the true label, in nats; None without probabilities.
    """

    documents: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    classes: tuple[ClassScore, ...]
    confusion: Int64s
    log_loss: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        return {
            "documents": self.documents,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss,
            "classes": [score._asdict() for score in self.classes],
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
    labels_true: Sequence[str | None],
    labels_pred: Sequence[str],
    labels: Sequence[str],
    proba: Floats | None = None,
    *,
    where: Callable[[int], str] | None = None,
) -> Evaluation:
    """Compare predicted labels with the true ones.

    Parameters
    ----------
    labels_true, labels_pred : sequences of str
        One label for each document.
    labels : sequence of str
        The labels of the model, in the order of ``proba``.
    proba : ndarray of shape (documents, labels), optional
        Predicted probabilities, for the log-loss.
    where : callable, optional
        Names a document by its index in messages, such as ``Corpus.where``; default "document 1"
        and so on.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        If there is nothing to measure, or a document has no label, or one that is not in
        ``labels``.
    UsageError
        If the lengths disagree.

    Examples
    --------
    >>> from textreg import evaluate
    >>> evaluate(["pos", "neg", "pos"], ["pos", "neg", "neg"], ["neg", "pos"]).macro_f1
    0.6666666666666666
    """
    from sklearn import metrics

    if len(labels_pred) != len(labels_true):
        raise UsageError(
            f"{len(labels_true):,} true labels but {len(labels_pred):,} predictions: "
            "give one prediction for each document."
        )
    if not len(labels_true):
        raise DataError("There are no documents to evaluate: give a file with labeled rows.")
    y = known_codes(labels_true, labels, where)
    codes = range(len(labels))
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
            for label, precision, recall, f1, support in zip(labels, *columns, strict=True)
        ),
        confusion=metrics.confusion_matrix(y, predicted, labels=codes),
        log_loss=None if proba is None else float(metrics.log_loss(y, proba, labels=codes)),
    )


def known_codes(
    labels_true: Sequence[str | None],
    labels: Sequence[str],
    where: Callable[[int], str] | None = None,
) -> Int64s:
    """The index in ``labels`` of every document's; DataError for one that is missing or unknown.

    where: as for :func:`evaluate`.
    """
    known = {label: code for code, label in enumerate(labels)}
    where = where or (lambda row: f"document {row + 1}")
    unknown: Counter[str] = Counter()
    first = -1
    for row, label in enumerate(labels_true):
        if label is None or label == "":
            raise DataError(
                f"{where(row)}: no label. Evaluation needs the true label of every document: "
                "fill it in, leave the row out, or use 'textreg predict' for texts without labels."
            )
        if label not in known:
            first = row if first < 0 else first
            unknown[label] += 1
    if not unknown:
        return np.array([known[str(label)] for label in labels_true], dtype=np.int64)
    label, *others = unknown
    shown = first_few([f"'{other}'" for other in others], 5)
    more = f" Also unknown: {shown}." if others else ""
    raise DataError(
        f"{where(first)}: the model does not know the label '{label}' "
        f"({unknown.total():,} of {len(labels_true):,} documents have such a label)."
        f"{did_you_mean(label, known)}{more} Its labels are: {', '.join(known)}. "
        "Correct the data or the choice of the label column, or train on data with this label."
    )
