"""Confident learning: which labels out-of-sample probabilities contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats, Int64s


class Contradicted(NamedTuple):
    """Documents whose labels are probably wrong, the most suspicious first.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The documents.
    likely : ndarray of int, shape (m,)
        The most probable label of each.
    """

    rows: NDArray[np.intp]
    likely: NDArray[np.intp]


def self_confidence(probabilities: Floats, y: Int64s) -> Floats:
    """(n,) the probability of each document's own label: the lower, the more suspicious.

    probabilities: (n, k), of fits that have not seen the document. y: (n,) labels as indices.
    """
    return probabilities[np.arange(len(y)), y]


def contradicted(probabilities: Floats, y: Int64s) -> Contradicted:
    """The documents whose labels are probably wrong.

    A document is confident of a label whose probability is at least the mean of it over the
    documents that have this label; of several such labels, of the most probable. Those that are
    confident of a label which is not their own estimate how many labels are wrong
    (northcutt2021, section 3.1). So many, with the lowest :func:`self_confidence`, are returned.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, k)
        Of fits that have not seen the document.
    y : ndarray of int, shape (n,)
        The labels as indices; each of the k has a document.

    Returns
    -------
    Contradicted
    """
    own = self_confidence(probabilities, y)
    k = probabilities.shape[1]
    thresholds = np.bincount(y, weights=own, minlength=k) / np.bincount(y, minlength=k)
    confident = np.where(probabilities >= thresholds - 1e-6, probabilities, -1.0)
    likely = probabilities.argmax(axis=1)
    disputed = (likely != y) & (own < probabilities.max(axis=1))
    count = np.count_nonzero(
        (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != y) & disputed
    )
    rows = np.argsort(own, kind="stable")[:count]
    rows = rows[disputed[rows]]
    return Contradicted(rows, likely[rows])
