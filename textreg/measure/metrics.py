"""How good scores are: what a winner may be chosen by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.losses import PROBABLE

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s

METRICS = {
    "classification": ("accuracy", "macro-f1", "log-loss"),
    "regression": ("r2", "mse"),
}
"""What the winner of a search may be chosen by, for each task; the first is the default."""

SMALLER = {"log-loss", "mse"}
"""Metrics that are better when smaller."""


def measure(scores: Floats, y_true: Int64s | Floats, loss: str = "logistic") -> dict[str, float]:
    """Values of all METRICS for scores (n, 1) of the second of two classes or (n, classes).

    y_true: (n,) indices of classes; or numbers, which make it a regression. loss: what was fitted;
    only "logistic" and "softmax" give probabilities, and so a log-loss.
    """
    if not np.issubdtype(y_true.dtype, np.integer):
        return measure_numbers(scores[:, 0], np.asarray(y_true, dtype=np.float64))
    codes = y_true.astype(np.int64)
    n, columns = scores.shape
    if columns == 1:
        predicted = (scores[:, 0] > 0).astype(np.int64)
        # log(1 + exp(-margin)) of the true class, without overflow
        margins = np.where(codes == 1, scores[:, 0], -scores[:, 0])
        losses = np.logaddexp(0.0, -margins)
    else:
        predicted = scores.argmax(axis=1)
        # One-vs-rest probabilities, normalized to sum to one: sigmoid(s) = exp(-log(1 + exp(-s))).
        logs = scores if loss == "softmax" else -np.logaddexp(0.0, -scores)
        losses = np.logaddexp.reduce(logs, axis=1) - logs[np.arange(n), codes]
    n_classes = max(2, columns)
    right = np.bincount(codes[predicted == codes], minlength=n_classes)
    seen = np.bincount(codes, minlength=n_classes) + np.bincount(predicted, minlength=n_classes)
    values = {
        "accuracy": float(right.sum() / n),
        "macro-f1": float(np.mean(2 * right[seen > 0] / seen[seen > 0])),
    }
    return {**values, "log-loss": float(losses.mean())} if loss in PROBABLE else values


def measure_numbers(predicted: Floats, y_true: Floats) -> dict[str, float]:
    """r2: share of the variance of y_true that is explained, below 0 where the mean does better
    (and 0 where y_true does not vary); mse: mean squared error. Both arguments (n,).
    """
    mse = float(np.mean((y_true - predicted) ** 2))
    variance = float(np.var(y_true))
    return {"r2": 1.0 - mse / variance if variance > 0.0 else 0.0, "mse": mse}


RESAMPLES = 200
"""Bootstrap samples for the standard error of a metric that is no mean over documents."""


def standard_error(
    scores: Sequence[Floats], y_true: Sequence[Int64s | Floats], metric: str, loss: str = "logistic"
) -> float:
    """Standard error of a metric: over the folds, or over the documents where there is one fold.

    scores, y_true: for each fold, as for :func:`measure`. Over k folds it is the standard deviation
    of their metrics over root k; over documents that of resampled documents (Efron 1979, Annals of
    Statistics 7:1-26), from a fixed seed, or the binomial one of an accuracy.
    """
    if len(scores) > 1:
        values = [measure(s, t, loss)[metric] for s, t in zip(scores, y_true, strict=True)]
        return float(np.std(values, ddof=1) / math.sqrt(len(values)))
    (s,), (t,) = scores, y_true
    if metric == "accuracy":
        share = measure(s, t, loss)[metric]
        return math.sqrt(share * (1 - share) / len(t))
    random = np.random.default_rng(0)
    samples = (random.integers(len(t), size=len(t)) for _ in range(RESAMPLES))
    return float(np.std([measure(s[rows], t[rows], loss)[metric] for rows in samples]))


def wilson(right: int, total: int) -> tuple[float, float]:
    """95 % score interval of the share ``right / total`` (Wilson 1927, JASA 22:209-212)."""
    z = 1.959963984540054
    share = right / total
    center = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    below = 1 + z * z / total
    return max(0.0, (center - spread) / below), min(1.0, (center + spread) / below)
