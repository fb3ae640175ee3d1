"""How well evidence agrees with the passages that people marked, in one document.

The measures are those of the ERASER benchmark (deyoung2020, section 4.1 and the code that the
authors published), here of one document at a time. Evidence is a number for each sentence or token;
marks say which of these are part of a passage that a person gave as a reason.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from textreg.records import Bools, Floats, Int64s

IOU_THRESHOLD = 0.5
"""Intersection over union from which on a predicted passage counts as found."""


class Overlap(NamedTuple):
    """Precision and recall of what was predicted, and their harmonic mean."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """0 where precision and recall are."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def auprc(marked: Bools, evidence: Floats) -> float:
    """Area under the curve of precision over recall, by trapezoids, as ERASER computes it.

    Parameters
    ----------
    marked : ndarray of bool, shape (n,)
        Which of the n sentences or tokens are marked; at least one.
    evidence : ndarray of float64, shape (n,)
        More is more evidence. Equal values form one point of the curve.

    Returns
    -------
    float
        1 where the marked ones come first.

    Notes
    -----
    Trapezoids from precision 1 at recall 0 favor ties: equal evidence everywhere gives
    (1 + share of marked ones) / 2. :func:`average_precision` does not.

    References
    ----------
    deyoung2020, section 4.1; ``auc(recall, precision)`` of scikit-learn's curve.
    """
    precision, recall = _curve(marked, evidence)
    before = np.append(1.0, precision[:-1])
    return float(np.diff(recall, prepend=0.0) @ (precision + before) / 2)


def average_precision(marked: Bools, evidence: Floats) -> float:
    """The same area by steps: the mean of the precision at each marked one.

    Parameters
    ----------
    marked, evidence
        As of :func:`auprc`.

    Returns
    -------
    float
        The share of marked ones for equal evidence everywhere.
    """
    precision, recall = _curve(marked, evidence)
    return float(np.diff(recall, prepend=0.0) @ precision)


def _curve(marked: Bools, evidence: Floats) -> tuple[Floats, Floats]:
    """Precision and recall down to each distinct value, the largest first."""
    order = np.argsort(-evidence, kind="stable")
    last = np.append(np.flatnonzero(np.diff(evidence[order])), len(order) - 1)
    found = np.cumsum(marked[order])[last].astype(np.float64)
    return found / (last + 1), found / found[-1]


def precision_at(marked: Bools, evidence: Floats, k: int) -> float:
    """The share of marked ones among the ``k`` with the most evidence, or all if there are fewer.

    Of those that are equal at the border it is the mean over all orders, so the place in the
    document does not matter.

    Parameters
    ----------
    marked, evidence
        As of :func:`auprc`.
    k : int

    Returns
    -------
    float
        With ``k`` as the number of marked ones this is the R-precision.
    """
    k = min(k, len(marked))
    border = np.partition(evidence, len(evidence) - k)[len(evidence) - k]
    above, equal = evidence > border, evidence == border
    drawn = k - np.count_nonzero(above)
    return float((marked[above].sum() + drawn * marked[equal].mean()) / k)


def r_precision(marked: Bools, evidence: Floats) -> float:
    """:func:`precision_at` as many as are marked."""
    return precision_at(marked, evidence, int(np.count_nonzero(marked)))


def strongest(evidence: Floats, share: float) -> Bools:
    """The ``share`` of tokens with the most evidence, rounded up; of equal ones the first.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    # A share such as 0.07 times 100 is slightly more than 7.
    k = math.ceil(share * len(evidence) - 1e-9)
    chosen = np.zeros(len(evidence), dtype=np.bool_)
    chosen[np.argsort(-evidence, kind="stable")[:k]] = True
    return chosen


def token_overlap(marked: Bools, predicted: Bools) -> Overlap:
    """Precision and recall of predicted tokens; 0 where none is predicted.

    References
    ----------
    deyoung2020, section 4.1: "token-level precision and recall".
    """
    both, of_predicted, of_marked = (
        int(np.count_nonzero(each)) for each in (marked & predicted, predicted, marked)
    )
    return Overlap(both / max(of_predicted, 1), both / max(of_marked, 1))


def runs(predicted: Bools) -> Int64s:
    """The passages of neighboring tokens that are predicted, as (r, 2) begins and ends."""
    change = np.diff(predicted.astype(np.int8), prepend=0, append=0)
    return np.stack([np.flatnonzero(change > 0), np.flatnonzero(change < 0)], axis=1)


def passage_overlap(marked: Int64s, predicted: Int64s, threshold: float = IOU_THRESHOLD) -> Overlap:
    """Precision and recall of whole passages, by their intersection over union (IOU).

    A predicted passage is right if its tokens and those of some marked one have an IOU of at least
    ``threshold``.

    Parameters
    ----------
    marked, predicted : ndarray of int64, shape (r, 2)
        Distinct passages: the index of the first token, and that after the last.
    threshold : float, default 0.5

    Returns
    -------
    Overlap
        Right passages over predicted ones, and over marked ones. 0 without any.

    References
    ----------
    deyoung2020, section 4.1; ``partial_match_score`` of the authors' code.
    """
    common = np.minimum(marked[None, :, 1], predicted[:, None, 1]) - np.maximum(
        marked[None, :, 0], predicted[:, None, 0]
    )
    common = np.maximum(common, 0)
    union = np.diff(marked)[None, :, 0] + np.diff(predicted)[:, None, 0] - common
    best = (common / union).max(axis=1, initial=0.0)
    right = float(np.count_nonzero(best >= threshold))
    return Overlap(right / max(len(predicted), 1), right / max(len(marked), 1))


def tokens_in(spans: Int64s, tokens: Int64s) -> Int64s:
    """The tokens that passages of characters touch: distinct (r, 2) indices, begin and end.

    Parameters
    ----------
    spans : ndarray of int64, shape (r, 2)
        Offsets of characters.
    tokens : ndarray of int64, shape (n, 2)
        The same of the tokens, in order and without overlap.

    Returns
    -------
    ndarray of int64, shape (at most r, 2)
        Passages without a token are left out.
    """
    first = np.searchsorted(tokens[:, 1], spans[:, 0], side="right")
    after = np.searchsorted(tokens[:, 0], spans[:, 1], side="left")
    return np.unique(np.stack([first, after], axis=1)[after > first], axis=0)


def touched(passages: Int64s, size: int) -> Bools:
    """Which of ``size`` tokens are in a passage (r, 2) of them."""
    change = np.zeros(size + 1, dtype=np.int64)
    np.add.at(change, passages[:, 0], 1)
    np.add.at(change, passages[:, 1], -1)
    return np.cumsum(change)[:size] > 0
