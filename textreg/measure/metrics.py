"""Metrics of predictions, with standard errors and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s

SMALLER = {"log-loss", "mse"}
"""Metrics that are better when smaller."""


def measure_labels(y_true: Int64s, y_pred: Int64s, n_labels: int) -> dict[str, float]:
    """Accuracy and macro-F1 of predicted labels; both arguments are (n,) indices.

    The macro-F1 is the mean over the labels that some document has or is predicted to have.
    """
    right = np.bincount(y_true[y_pred == y_true], minlength=n_labels)
    seen = np.bincount(y_true, minlength=n_labels) + np.bincount(y_pred, minlength=n_labels)
    return {
        "accuracy": float(right.sum() / len(y_true)),
        # F1 = 2 right / (documents of the label + documents predicted to have it)
        "macro-f1": float(np.mean(2 * right[seen > 0] / seen[seen > 0])),
    }


def measure_numbers(predicted: Floats, y_true: Floats) -> dict[str, float]:
    """R² and mean squared error of predicted numbers; both arguments (n,).

    ``r2`` is the fraction of the variance of y_true that is explained: negative if the mean
    predicts better, and 0 if y_true does not vary.
    """
    mse = float(np.mean((y_true - predicted) ** 2))
    variance = float(np.var(y_true))
    return {"r2": 1.0 - mse / variance if variance > 0.0 else 0.0, "mse": mse}


RESAMPLES = 200
"""Bootstrap samples for the standard error of a metric that is no mean over documents."""


def standard_error(
    measure: Callable[[Floats, Int64s | Floats], Mapping[str, float]],
    scores: Sequence[Floats],
    y_true: Sequence[Int64s | Floats],
    metric: str,
) -> float:
    """Standard error of a metric: over the folds, or over the documents if there is one fold.

    Over k folds it is the standard deviation of their metrics over root k. Over documents it is the
    binomial one of an accuracy; for any other metric that of resampled documents (Efron 1979),
    from a fixed seed.

    Parameters
    ----------
    measure : callable
        Gives the values of all metrics for scores and targets, such as ``Task.measure``.
    scores, y_true : sequences
        One array for each fold.
    metric : str
        Key of what ``measure`` gives.
    """
    if len(scores) > 1:
        values = [measure(s, t)[metric] for s, t in zip(scores, y_true, strict=True)]
        return float(np.std(values, ddof=1) / math.sqrt(len(values)))
    (s,), (t,) = scores, y_true
    if metric == "accuracy":
        share = measure(s, t)[metric]
        return math.sqrt(share * (1 - share) / len(t))
    random = np.random.default_rng(0)
    samples = (random.integers(len(t), size=len(t)) for _ in range(RESAMPLES))
    return float(np.std([measure(s[rows], t[rows])[metric] for rows in samples]))


def wilson(right: int, total: int) -> tuple[float, float]:
    """95 % score interval of the share ``right / total`` (Wilson 1927, JASA 22:209-212)."""
    z = 1.959963984540054
    share = right / total
    center = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    below = 1 + z * z / total
    return max(0.0, (center - spread) / below), min(1.0, (center + spread) / below)
