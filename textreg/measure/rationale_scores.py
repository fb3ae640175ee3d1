"""Rationale scores of the documents of a corpus: means, intervals, and differences of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import RecordError
from textreg.measure.rationales import Overlap
from textreg.measure.significance import RESAMPLES

if TYPE_CHECKING:
    from textreg.records import Floats

AGREEMENT = (
    "sentence_auprc",
    "sentence_average_precision",
    "top_1",
    "top_3",
    "r_precision",
    "token_auprc",
    "token_average_precision",
    "token_precision",
    "token_recall",
    "token_f1",
    "iou_precision",
    "iou_recall",
)
"""What each document has: the agreement with marked passages."""

FAITHFULNESS = (
    "comprehensiveness",
    "sufficiency",
    "aopc_comprehensiveness",
    "aopc_sufficiency",
)
"""What each document has beside it, if the model has probabilities."""

TITLES = {
    "sentence_auprc": "sentence AUPRC",
    "sentence_average_precision": "sentence average precision",
    "top_1": "top-1 sentence is marked",
    "top_3": "top-3 sentences are marked",
    "r_precision": "R-precision of sentences",
    "token_auprc": "token AUPRC",
    "token_average_precision": "token average precision",
    "token_precision": "token precision",
    "token_recall": "token recall",
    "token_f1": "token F1",
    "iou_f1": "IOU F1",
    "comprehensiveness": "comprehensiveness",
    "sufficiency": "sufficiency",
    "aopc_comprehensiveness": "comprehensiveness, AOPC",
    "aopc_sufficiency": "sufficiency, AOPC",
}
"""What the measures are called on a page or a screen."""

_BLOCK = 1_000
"""Resamples that are drawn at once."""


class Estimate(NamedTuple):
    """A mean over documents and its 95 % interval."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """A difference of two means, its 95 % interval, and a two-sided p-value."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class RationaleScores:
    """Rationale scores of documents, in their order.

    Attributes
    ----------
    table : ndarray of float64, shape (documents, columns)
        The columns of :data:`AGREEMENT`, and those of :data:`FAITHFULNESS` of a model with
        probabilities.
    marked_sentences, marked_tokens : float
        Mean share of sentences and of tokens that are marked: what a random order has as average
        precision, in the mean.
    rationale_share : float
        The share of tokens that count as the rationale in token F1, IOU F1, comprehensiveness and
        sufficiency.
    left_out : int, default 0
        Documents without a marked token or sentence, which are not in the table.

    Raises
    ------
    RecordError
        If the table has other columns.
    """

    table: Floats
    marked_sentences: float
    marked_tokens: float
    rationale_share: float
    left_out: int = 0

    def __post_init__(self) -> None:
        widths = (len(AGREEMENT), len(AGREEMENT) + len(FAITHFULNESS))
        if self.table.ndim != 2 or self.table.shape[1] not in widths or not len(self.table):
            raise RecordError(
                f"rationale scores of shape {self.table.shape}: give a row for each document, at "
                f"least one, with {widths[0]} or {widths[1]} columns."
            )

    def __len__(self) -> int:
        return len(self.table)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (AGREEMENT + FAITHFULNESS)[: self.table.shape[1]]

    def measures(self, *, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Estimate]:
        """Every measure with its 95 % percentile interval.

        ``iou_f1`` is the harmonic mean of the mean IOU precision and the mean IOU recall
        (deyoung2020, the authors' code); every other measure is a mean over documents.

        Parameters
        ----------
        seed : int, default 0
        resamples : int, default 10000
            Times that the documents are drawn with replacement (efron1993, chapter 13).
        """
        means = _with_f1(self.table.mean(axis=0)[None], self.names)
        drawn = _with_f1(_resampled(self.table, seed, resamples), self.names)
        return {name: Estimate(float(means[name][0]), *_interval(drawn[name])) for name in means}

    def differences(
        self, other: RationaleScores, *, seed: int = 0, resamples: int = RESAMPLES
    ) -> dict[str, Difference]:
        """Every measure less that of another model on the same documents: a paired bootstrap.

        The same documents are drawn for both. The p-value is the smallest level at which the
        percentile interval leaves out 0 (efron1993, chapter 13): twice the share of resamples with
        the rarer sign, where those without a difference count half for each. A bootstrap of few
        documents finds too much, so it is no smaller than that of a sign test that n documents
        pass without exception, 2 to the power of 1 - n.

        Raises
        ------
        RecordError
            If the other one has another number of documents, or another share of marked sentences:
            the models split the documents into different sentences.
        """
        if len(self) != len(other) or self.marked_sentences != other.marked_sentences:
            raise RecordError(
                "the two models split these texts into different sentences, "
                f"{self.marked_sentences:.1%} and {other.marked_sentences:.1%} of them marked: "
                "measure both by the same sentences, given as a column (--sentences-col)."
            )
        names = self.names if len(self.names) < len(other.names) else other.names
        both = np.hstack([self.table[:, : len(names)], other.table[:, : len(names)]])
        means, drawn = both.mean(axis=0)[None], _resampled(both, seed, resamples)
        first, second = (_with_f1(part, names) for part in np.split(means, 2, axis=1))
        one, two = (_with_f1(part, names) for part in np.split(drawn, 2, axis=1))
        found = {}
        for name in first:
            change = one[name] - two[name]
            value = float(first[name][0] - second[name][0])
            p = max(_p_value(change), 2.0 ** (1 - len(self)))
            found[name] = Difference(value, *_interval(change), p)
        return found


def _with_f1(means: Floats, names: tuple[str, ...]) -> dict[str, Floats]:
    """Rows of means (r, columns) by name, with the IOU F1 in place of its two parts."""
    found = dict(zip(names, means.T, strict=True))
    precision, recall = found.pop("iou_precision"), found.pop("iou_recall")
    f1 = [Overlap(*pair).f1 for pair in zip(precision.tolist(), recall.tolist(), strict=True)]
    before = AGREEMENT[: AGREEMENT.index("iou_precision")]
    after = [name for name in found if name not in before]
    return {
        **{name: found[name] for name in before},
        "iou_f1": np.array(f1),
        **{name: found[name] for name in after},
    }


def _resampled(table: Floats, seed: int, resamples: int) -> Floats:
    """(resamples, columns) means of rows drawn with replacement."""
    random, n = np.random.default_rng(seed), len(table)
    sizes = [min(_BLOCK, resamples - start) for start in range(0, resamples, _BLOCK)]
    every = np.full(n, 1.0 / n)
    return np.vstack([random.multinomial(n, every, size=size) @ table / n for size in sizes])


def _interval(drawn: Floats) -> tuple[float, float]:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return low, high


def _p_value(change: Floats) -> float:
    """Two-sided p-value of differences of resamples; at least 1 / (resamples + 1)."""
    ties = np.count_nonzero(change == 0) / 2
    fewer = min(np.count_nonzero(change < 0), np.count_nonzero(change > 0)) + ties
    return float(min(2 * (fewer + 1) / (len(change) + 1), 1.0))
