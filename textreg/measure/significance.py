"""Whether one model is better than another on the same documents: exact tests and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats, Int64s

RESAMPLES = 10_000
"""Resamples of a bootstrap."""

_BLOCK = 2_000_000
"""Counts of resampled cells that are held at once."""


class Interval(NamedTuple):
    """Both ends of a 95 % interval."""

    low: float
    high: float


class Answers(NamedTuple):
    """What two models answered to the documents of one corpus; (n,) codes of labels each."""

    y_true: Int64s
    first: Int64s
    second: Int64s

    @property
    def won(self) -> int:
        """Documents that only the first has right."""
        return int(np.count_nonzero((self.first == self.y_true) & (self.second != self.y_true)))

    @property
    def lost(self) -> int:
        """Documents that only the second has right."""
        return int(np.count_nonzero((self.first != self.y_true) & (self.second == self.y_true)))


def sign_test(won: int, lost: int) -> float:
    """Two-sided exact binomial p-value of wins against losses; ties are left out.

    For the documents of one corpus that only one of two models predicts correctly, this is the
    exact test of McNemar (1947). For those of several corpora together it is the micro sign test of
    Yang & Liu (1999, section 4), which Yogatama & Smith (2014, table 2) and Skianis et al. (2018,
    table 2) report. For numbers of corpora it is the sign test over corpora. It is 1 if there are
    no wins and no losses.
    """
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


def bootstrap(
    corpora: Sequence[Answers], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Interval, Interval]:
    """95 % percentile intervals of the differences in accuracy and in macro-F1, first less second.

    The documents of every corpus are resampled with replacement, answers and true labels together.
    The difference is the mean of those of the corpora (Efron & Tibshirani 1993, chapters 8 and 13).
    Results depend on the seed and the order of the corpora only.
    """
    random = np.random.default_rng(seed)
    differences = np.zeros((resamples, 2))
    for answers in corpora:
        differences += _differences(answers, random, resamples)
    differences /= len(corpora)
    low, high = np.quantile(differences, (0.025, 0.975), axis=0).tolist()
    return Interval(low[0], high[0]), Interval(low[1], high[1])


def _differences(answers: Answers, random: np.random.Generator, resamples: int) -> Floats:
    """(resamples, 2) differences in accuracy and macro-F1.

    Documents with the same true label and answers are exchangeable, so it suffices to draw how
    often each such cell occurs, which is multinomial.
    """
    cells, counts = np.unique(np.column_stack(answers), axis=0, return_counts=True)
    n = int(counts.sum())
    differences = np.empty((resamples, 2))
    block = max(1, _BLOCK // len(cells))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        occurrences = random.multinomial(n, counts / n, size=size)
        first, second = (_scores(cells[:, [0, column]], occurrences) for column in (1, 2))
        differences[start : start + size] = first - second
    return differences


def _scores(cells: Int64s, occurrences: NDArray[np.int64]) -> Floats:
    """(resamples, 2) accuracy and macro-F1.

    cells: (cells, 2) y_true and answer of each. occurrences: (resamples, cells).
    """
    y_true, answer = cells.T
    labels = np.arange(cells.max() + 1)
    right = occurrences @ ((y_true == answer)[:, None] & (y_true[:, None] == labels))
    # F1 = 2 right / (documents of the label + documents predicted to have it)
    seen = occurrences @ (
        (y_true[:, None] == labels).astype(np.int64) + (answer[:, None] == labels)
    )
    f1 = np.divide(2.0 * right, seen, out=np.zeros(seen.shape), where=seen > 0)
    accuracy = right.sum(axis=1) / occurrences.sum(axis=1)
    return np.column_stack([accuracy, f1.sum(axis=1) / np.count_nonzero(seen, axis=1)])
