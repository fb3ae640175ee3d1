"""Iterative stratification: documents with several labels dealt out in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import DataError

if TYPE_CHECKING:
    from textreg.records import Bools, Int64s


def deal(has_label: Bools, shares: Sequence[float], seed: int) -> Int64s:
    """The part of every document, such that parts have about their share of every label.

    The rarest label first, each of its documents goes to the part that lacks most of it, then to
    the one that lacks most documents (sechidis2011, algorithm 1); no part stays empty.

    Parameters
    ----------
    has_label : ndarray of bool, shape (n, k)
        Which labels documents have.
    shares : sequence of float
        The share of each part in all documents; their sum is 1.
    seed : int
        Decides the order of the documents.

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    DataError
        If there are fewer documents than parts.
    """
    n, share = len(has_label), np.array(shares)
    if n < len(shares):
        raise DataError(
            f"There are {n} documents, too few for a split into {len(shares)} parts: add some."
        )
    left = has_label.sum(axis=0)
    lacking = share[:, None] * left
    wanted = share * n
    part = np.full(n, -1, dtype=np.int64)
    shuffled = np.random.default_rng(seed).permutation(n)

    def assign(row: int, chosen: int) -> None:
        nonlocal left
        part[row] = chosen
        left -= has_label[row]
        lacking[chosen] -= has_label[row]
        wanted[chosen] -= 1.0

    while left.any():
        label = int(np.argmin(np.where(left > 0, left, n + 1)))
        for row in shuffled[(part[shuffled] < 0) & has_label[shuffled, label]].tolist():
            assign(row, _neediest(lacking[:, label], wanted))
    for row in shuffled[part[shuffled] < 0].tolist():
        assign(row, _neediest(wanted, wanted))
    for empty in set(range(len(share))) - set(part.tolist()):
        sizes = np.bincount(part, minlength=len(share))
        part[next(row for row in shuffled[::-1] if sizes[part[row]] > 1)] = empty
    return part


def _neediest(first: np.ndarray, then: np.ndarray) -> int:
    """The index of the highest value, of equal ones that of the highest in ``then``."""
    values = first.round(9)
    return int(np.argmax(np.where(values == values.max(), then, -np.inf)))
