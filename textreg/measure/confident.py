"""Confident learning: which labels out-of-sample probabilities contradict."""

from __future__ import annotations

from collections.abc import Sequence
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
        The labels as indices. No document is confident of a label that none has.

    Returns
    -------
    Contradicted
    """
    own = self_confidence(probabilities, y)
    k = probabilities.shape[1]
    sums, counts = np.bincount(y, weights=own, minlength=k), np.bincount(y, minlength=k)
    thresholds = np.divide(sums, counts, out=np.full(k, np.inf), where=counts > 0)
    confident = np.where(probabilities >= thresholds - 1e-6, probabilities, -1.0)
    likely = probabilities.argmax(axis=1)
    disputed = (likely != y) & (own < probabilities.max(axis=1))
    count = np.count_nonzero(
        (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != y) & disputed
    )
    rows = np.argsort(own, kind="stable")[:count]
    rows = rows[disputed[rows]]
    return Contradicted(rows, likely[rows])


def suspects(probabilities: Floats, y: Int64s, labels: Sequence[str]) -> dict[int, str]:
    """Documents whose labels are probably wrong, the most suspicious first, and why in words.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, k)
        Of fits that have not seen the document.
    y : ndarray of int, shape (n,) or (n, k)
        The labels as indices; or 1 for the labels that a document has, and 0 for others, each of
        which is judged by itself.
    labels : sequence of str
        The names of the k labels.

    Returns
    -------
    dict of int to str
    """
    own, told = (_one_label if y.ndim == 1 else _each_label)(probabilities, y, labels)
    return {at: told[at] for at in sorted(told, key=lambda at: (own[at], at))}


def _one_label(
    probabilities: Floats, y: Int64s, labels: Sequence[str]
) -> tuple[Floats, dict[int, str]]:
    own = self_confidence(probabilities, y)
    wrong = contradicted(probabilities, y)
    told = {}
    for at, likely in zip(wrong.rows.tolist(), wrong.likely.tolist(), strict=True):
        given, other = labels[int(y[at])], labels[likely]
        told[at] = (
            f"label {given} ({own[at]:.2f}), rather {other} ({probabilities[at, likely]:.2f})"
        )
    return own, told


def _each_label(
    probabilities: Floats, y: Int64s, labels: Sequence[str]
) -> tuple[Floats, dict[int, str]]:
    """Every label by itself: whether documents have it or not."""
    least = np.ones(len(y))
    told: dict[int, list[str]] = {}
    for code, label in enumerate(labels):
        p = np.column_stack([1 - probabilities[:, code], probabilities[:, code]])
        has = np.asarray(y[:, code], dtype=np.int64)
        own = self_confidence(p, has)
        for at in contradicted(p, has).rows.tolist():
            what = "hardly" if has[at] else "rather also"
            told.setdefault(at, []).append(f"{what} {label} ({p[at, 1]:.2f})")
            least[at] = min(least[at], own[at])
    return least, {at: ", ".join(parts) for at, parts in told.items()}
