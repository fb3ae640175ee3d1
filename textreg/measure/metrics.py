"""Metrics of labels and numbers, and how exactly they are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from textreg.records import Floats, Int64s

#: Metrics of probabilities; the second is the first after temperature scaling.
LOG_LOSSES = ("log-loss", "calibrated-log-loss")

#: Metrics that are better when smaller.
SMALLER = {*LOG_LOSSES, "mse"}


def measure_labels(
    y_true: Int64s, y_pred: Int64s, n_labels: int, weights: Floats | None = None
) -> dict[str, float]:
    """Accuracy and macro-F1 of predicted labels; y_true and y_pred are (n,) indices.

    The macro-F1 is the mean over the labels that some document has or is predicted to have. A
    document counts as many times as its weight says; once where ``weights`` (n,) are left out.
    Indices from ``n_labels`` on are of labels that are not fitted.
    """
    n_labels = max(n_labels, *(int(codes.max(initial=0)) + 1 for codes in (y_true, y_pred)))

    def count(codes: Int64s, of: Floats | None) -> Floats | Int64s:
        return np.bincount(codes, of, n_labels)

    hits = y_pred == y_true
    right = count(y_true[hits], None if weights is None else weights[hits])
    seen = count(y_true, weights) + count(y_pred, weights)
    return {
        "accuracy": float(right.sum() / (len(y_true) if weights is None else weights.sum())),
        # F1 = 2 right / (documents of the label + documents predicted to have it)
        "macro-f1": float(np.mean(2 * right[seen > 0] / seen[seen > 0])),
    }


def measure_numbers(
    predicted: Floats, y_true: Floats, weights: Floats | None = None
) -> dict[str, float]:
    """R² and mean squared error of predicted numbers; all arguments (n,).

    ``r2`` is the fraction of the variance of y_true that is explained: negative if the mean
    predicts better, and 0 if y_true does not vary. weights: as in :func:`measure_labels`.
    """
    mse = mean((y_true - predicted) ** 2, weights)
    variance = mean((y_true - mean(y_true, weights)) ** 2, weights)
    return {"r2": 1.0 - mse / variance if variance > 0.0 else 0.0, "mse": mse}


def mean(values: Floats, weights: Floats | None = None) -> float:
    """The mean of values (n,), which count as their weights say."""
    return float(values.mean() if weights is None else np.average(values, weights=weights))


def equal_count(n: int, weights: Floats | None) -> float:
    """How many documents of equal weight say as much as n of weights (n,) do."""
    return n if weights is None else float(weights.sum() ** 2 / (weights @ weights))


#: Bootstrap samples for the standard error of a metric that is no mean over documents.
RESAMPLES_OF_ERROR = 200


def standard_error(
    measure: Callable[[Floats, Int64s | Floats, Floats | None], Mapping[str, float]],
    scores: Sequence[Floats],
    y_true: Sequence[Int64s | Floats],
    metric: str,
    weights: Sequence[Floats | None] | None = None,
    losses: Callable[[str, Floats, Int64s | Floats], Floats | None] | None = None,
) -> float:
    """Standard error of a metric: over the folds, or over the documents if there is one fold.

    Over k folds it is the standard deviation of their metrics over root k. Over documents it is the
    binomial one of an accuracy, that of a mean of losses that count the same, and for any other
    metric that of resampled documents (Efron 1979), from a fixed seed.

    Parameters
    ----------
    measure : callable
        Gives the values of all metrics for scores, targets and weights, such as ``Task.measure``.
    scores, y_true, weights : sequences
        One array for each fold; documents without weights count once each.
    metric : str
        Key of what ``measure`` gives.
    losses : callable, optional
        Gives the losses of documents that a metric is the mean of, or None, such as
        ``Task.losses``.
    """
    weights = [None] * len(scores) if weights is None else weights
    if len(scores) > 1:
        of_folds = [measure(*it)[metric] for it in zip(scores, y_true, weights, strict=True)]
        return float(np.std(of_folds, ddof=1) / math.sqrt(len(of_folds)))
    (s,), (t,), (c,) = scores, y_true, weights
    count = equal_count(len(t), c)
    if metric == "accuracy":
        share = min(measure(s, t, c)[metric], 1.0)
        return math.sqrt(share * (1 - share) / count)
    values = losses(metric, s, t) if losses is not None and c is None else None
    if values is not None and len(values):
        return float(np.std(values) / math.sqrt(len(values)))
    random = np.random.default_rng(0)
    # With weights too as many documents as count, drawn by their shares of the weight.
    drawn = None if c is None else c / c.sum()
    samples = (random.choice(len(t), round(count), p=drawn) for _ in range(RESAMPLES_OF_ERROR))
    return float(np.std([measure(s[rows], t[rows], None)[metric] for rows in samples]))


def wilson(right: float, total: float) -> tuple[float, float]:
    """95 % score interval of the share ``right / total`` (Wilson 1927, JASA 22:209-212).

    The same as ``scipy.stats.binomtest(...).proportion_ci(method="wilson")``, whose import would
    take 0.5 s of every training. Of nothing the share may be any.
    """
    if not total:
        return 0.0, 1.0
    z = 1.959963984540054
    share = min(right / total, 1.0)  # sums of weights are rounded
    below = 1 + z * z / total
    center = (share + z * z / (2 * total)) / below
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / below
    # Rounding must not leave out the share itself, as where all are right.
    return max(0.0, min(share, center - spread)), min(1.0, max(share, center + spread))
