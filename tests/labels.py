"""Problems of several labels over one matrix."""

from __future__ import annotations

import numpy as np

from textreg.records import Problem


def labels_over(shared: Problem, number: int, rng: np.random.Generator) -> list[Problem]:
    """So many labels, later ones of fewer documents, with weights of the documents of their own."""
    n, p = shared.design.shape
    posed = []
    for label in range(number):
        scores = shared.design.X @ rng.normal(size=p)
        y = np.where(scores > np.quantile(scores, 0.5 + 0.1 * label), 1.0, -1.0)
        weights = rng.integers(0, 4, n).astype(float)
        posed.append(shared.replace(y=y, sample_weight=weights))
    return posed
