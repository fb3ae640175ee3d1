"""Whether two models differ: exact tests, adjusted p-values, and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg.records import Bools, Floats, Int64s

#: Two models differ if the p-value, adjusted if there are several, is at most this.
ALPHA = 0.05

#: Resamples of a bootstrap.
RESAMPLES = 10_000

# Counts of resampled cells that are held at once.
_BLOCK = 2_000_000


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

    def differences(self, random: np.random.Generator, resamples: int) -> Floats:
        """(resamples, 2) differences in accuracy and macro-F1, first less second."""
        cells, counts = np.unique(np.column_stack(self), axis=0, return_counts=True)
        return resampled(
            counts,
            resamples,
            random,
            lambda occurrences: (
                _scores(cells[:, [0, 1]], occurrences) - _scores(cells[:, [0, 2]], occurrences)
            ),
        )


class SetAnswers(NamedTuple):
    """What two models answered where a document may have several labels; (n, labels) each."""

    y_true: Bools
    first: Bools
    second: Bools

    @property
    def won(self) -> int:
        """Documents whose labels have the higher F1 in the answer of the first."""
        return int(np.count_nonzero(self._f1(self.first) > self._f1(self.second)))

    @property
    def lost(self) -> int:
        """Documents whose labels have the higher F1 in the answer of the second."""
        return int(np.count_nonzero(self._f1(self.first) < self._f1(self.second)))

    def _f1(self, answer: Bools) -> Floats:
        """(n,) F1 of each document's labels; 1 where there are none, and none is answered."""
        hits = (self.y_true & answer).sum(axis=1)
        counted = self.y_true.sum(axis=1) + answer.sum(axis=1)
        f1 = np.divide(2.0 * hits, counted, out=np.ones(len(hits)), where=counted > 0)
        return np.asarray(f1)

    def differences(self, random: np.random.Generator, resamples: int) -> Floats:
        """(resamples, 3) differences in subset accuracy, macro-F1 and micro-F1."""
        from scipy.sparse import csr_array

        cells, counts = np.unique(np.stack(self, axis=1), axis=0, return_counts=True)
        y_true = cells[:, 0]
        tables = []
        for answer in (cells[:, 1], cells[:, 2]):
            right = (y_true == answer).all(axis=1, keepdims=True)
            seen = y_true.astype(np.int64) + answer
            tables.append(csr_array(np.hstack([right, y_true & answer, seen]).astype(np.float64)))

        def scores(table: csr_array, occurrences: Int64s) -> Floats:
            right, hits, seen = np.split(occurrences @ table, [1, 1 + y_true.shape[1]], axis=1)
            f1 = np.divide(2.0 * hits, seen, out=np.zeros(seen.shape), where=seen > 0)
            macro = f1.sum(axis=1) / np.maximum(np.count_nonzero(seen, axis=1), 1)
            micro = 2.0 * hits.sum(axis=1) / np.maximum(seen.sum(axis=1), 1.0)
            return np.column_stack([right[:, 0] / counts.sum(), macro, micro])

        first, second = tables
        return resampled(
            counts, resamples, random, lambda it: scores(first, it) - scores(second, it)
        )


def sign_test(won: int, lost: int) -> float:
    """Two-sided exact binomial p-value of wins against losses; ties are left out.

    For the documents of one corpus that only one of two models predicts correctly, or better where
    they may have several labels, this is the
    exact test of McNemar (1947). For those of several corpora together it is the micro sign test of
    Yang & Liu (1999, section 4), which Yogatama & Smith (2014, table 2) and Skianis et al. (2018,
    table 2) report. For numbers of corpora it is the sign test over corpora. It is 1 if there are
    no wins and no losses.
    """
    return share_test(won, won + lost, 0.5)


def share_test(count: int, total: int, share: float) -> float:
    """Two-sided exact binomial p-value of ``count`` of ``total`` where ``share`` is expected.

    It is 1 if there is nothing to count.
    """
    from scipy.stats import binomtest

    return float(binomtest(count, total, share).pvalue) if total else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for several comparisons by the step-down method of Holm (1979).

    With m of them, the smallest is multiplied by m, the next one by m - 1 and so on; none is below
    the one before it, or above 1. The probability that any of the differences found at a level is
    none is at most that level, however the tests depend on each other.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty(len(p))
    result[order] = np.minimum(steps, 1.0)
    return [float(value) for value in result]


def p_text(p: float) -> str:
    """A p-value of two digits, or of as many as show on which side of ``ALPHA`` it is."""
    digits = 2
    while (float(f"{p:.{digits}g}") <= ALPHA) != (p <= ALPHA):
        digits += 1
    return f"{p:.{digits}g}"


def bootstrap(
    corpora: Sequence[Answers | SetAnswers], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Interval, ...]:
    """95 % percentile intervals of the differences in accuracy and in macro-F1, first less second.

    Where documents may have several labels, accuracy is that of their sets, and the interval of the
    difference in micro-F1 follows.

    The documents of every corpus are resampled with replacement, answers and true labels together.
    The difference is the mean of those of the corpora (Efron & Tibshirani 1993, chapters 8 and 13).
    Results depend on the seed and the order of the corpora only.
    """
    random = np.random.default_rng(seed)
    differences = np.mean([corpus.differences(random, resamples) for corpus in corpora], axis=0)
    low, high = np.quantile(differences, (0.025, 0.975), axis=0).tolist()
    return tuple(map(Interval, low, high))


def resampled(
    counts: Int64s, resamples: int, random: np.random.Generator, measure: Callable[[Int64s], Floats]
) -> Floats:
    """What ``measure`` gives for (resamples, cells) occurrences of documents, block by block.

    Documents with the same true label and answers are exchangeable, so it suffices to draw how
    often each such cell occurs, which is multinomial. counts: the documents of each cell.
    """
    n = int(counts.sum())
    block = max(1, _BLOCK // len(counts))
    sizes = [min(block, resamples - start) for start in range(0, resamples, block)]
    return np.vstack([measure(random.multinomial(n, counts / n, size=size)) for size in sizes])


def _scores(cells: Int64s, occurrences: NDArray[np.int64]) -> Floats:
    """(resamples, 2) accuracy and macro-F1.

    cells: (cells, 2) y_true and answer of each. occurrences: (resamples, cells).
    """
    from scipy.sparse import csr_array  # a cell has two labels at most

    y_true, answer = cells.T
    own, given = (codes[:, None] == np.arange(cells.max() + 1) for codes in (y_true, answer))
    right = occurrences @ csr_array(own & given)
    # F1 = 2 right / (documents of the label + documents predicted to have it)
    seen = occurrences @ csr_array(own.astype(np.int64) + given)
    f1 = np.divide(2.0 * right, seen, out=np.zeros(seen.shape), where=seen > 0)
    accuracy = right.sum(axis=1) / occurrences.sum(axis=1)
    return np.column_stack([accuracy, f1.sum(axis=1) / np.count_nonzero(seen, axis=1)])
