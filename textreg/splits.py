"""Splits of the documents: a part held out, and cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Int64s


class Split(NamedTuple):
    """Rows to fit on and rows to measure on, both ascending."""

    train: NDArray[np.intp]
    held: NDArray[np.intp]


def holdout(codes: Int64s, labels: Sequence[str], fraction: float, seed: int) -> Split:
    """Hold out about ``fraction`` of the documents of every class, at least one and never all.

    codes: (n,) index into ``labels`` for every document. Raises DataError for a class of one.
    """
    if not 0 < fraction < 1:
        raise UsageError(f"holdout must lie between 0 and 1, not {fraction:g}.")
    held = np.zeros(len(codes), dtype=bool)
    for rows in _shuffled_classes(codes, labels, seed):
        count = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held[rows[:count]] = True
    return Split(np.flatnonzero(~held), np.flatnonzero(held))


def folds(codes: Int64s, labels: Sequence[str], count: int, seed: int) -> list[Split]:
    """Cut the documents into ``count`` parts, equal in every class; each is held out once.

    Raises DataError for a class of one, UsageError for fewer than 2 parts or more than documents.
    """
    if not 2 <= count <= len(codes):
        raise UsageError(f"cv must be 2 to {len(codes):,}, the number of documents, not {count}.")
    part = np.empty(len(codes), dtype=np.int64)
    dealt = 0  # deal on where the last class ended, so that the parts differ by one at most
    for rows in _shuffled_classes(codes, labels, seed):
        part[rows] = (dealt + np.arange(len(rows))) % count
        dealt += len(rows)
    return [Split(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(count)]


def _shuffled_classes(
    codes: Int64s, labels: Sequence[str], seed: int
) -> Iterator[NDArray[np.intp]]:
    """The rows of every class in an order that depends on the seed alone."""
    random = np.random.default_rng(seed)
    for code, label in enumerate(labels):
        rows = np.flatnonzero(codes == code)
        if len(rows) < 2:
            raise DataError(
                f"The label '{label}' has one document only, so none can be held out to choose the "
                "prices by. Add documents with this label, or leave it out; or measure on a file "
                "of your own (--dev FILE)."
            )
        yield random.permutation(rows)
