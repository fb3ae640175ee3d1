"""NB-SVM on words and pairs (Wang & Manning 2012), tuned: the strongest of the usual baselines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import diags_array, vstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
SHARES = (0.25, 1.0)
"""Interpolation between all weights equal to their mean (0) and the SVM (1); the paper: 0.25."""


def fit(X: Any, y: Any, cost: float, share: float) -> tuple[Any, float]:
    """Weights and intercept of a linear SVM on features scaled by their log-count ratios."""
    counts = [np.asarray(X[y == label].sum(axis=0)).ravel() + 1.0 for label in (1, 0)]
    ratio = np.subtract(*(np.log(each / each.sum()) for each in counts))
    svm = LinearSVC(C=cost, dual="auto", max_iter=5000, random_state=0)
    svm.fit(X @ diags_array(ratio), y)
    w = svm.coef_.ravel()
    w = share * w + (1.0 - share) * np.abs(w).mean()  # section 2.3
    return w * ratio, float(svm.intercept_[0])


def nbsvm(
    texts: Sequence[str], y: Any, dev: tuple[Sequence[str], Any], test: Sequence[str]
) -> dict[str, tuple[Any, int, int, float]]:
    """Predictions (0 or 1), features, all features, dev accuracy; fitted with ``dev``, and without.

    y: (n,) of 0 and 1. Cost and share are chosen on ``dev``; ties go to the smaller cost.
    """
    vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True)
    X = vectorizer.fit_transform(texts).astype(float).tocsr()
    X_dev, X_test = (vectorizer.transform(more).astype(float) for more in (dev[0], test))

    def right(setting: tuple[float, float]) -> float:
        w, b = fit(X, y, *setting)
        return float(((X_dev @ w + b > 0) == dev[1]).mean())

    settings = list(itertools.product(COSTS, SHARES))
    accuracies = [right(setting) for setting in settings]
    best = settings[int(np.argmax(accuracies))]
    results = {}
    for name, rows, labels in (
        ("NB-SVM", vstack([X, X_dev], format="csr"), np.concatenate([y, dev[1]])),
        ("NB-SVM, train alone", X, y),
    ):
        w, b = fit(rows, labels, *best)
        answers = (X_test @ w + b > 0).astype(int)
        results[name] = answers, int(np.count_nonzero(w)), len(w), max(accuracies)
    return results
