"""Sorted lists of many blocks, merged without all of them in memory at once.

Lists of about the same size are merged, as the digits of a binary counter carry: so every entry is
copied only a few times, however many blocks there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from textreg._core import text_names
from textreg.records.names import Names

if TYPE_CHECKING:
    from textreg.records import Int64s


class MergedKeys:
    """The distinct ones of sorted numbers."""

    def __init__(self) -> None:
        self._runs: list[Int64s] = []

    def add(self, keys: Int64s) -> None:
        """Add numbers, each greater than the one before."""
        while self._runs and len(self._runs[-1]) < 2 * len(keys):
            keys = _union(self._runs.pop(), keys)
        self._runs.append(keys)

    def take(self) -> Int64s:
        """All numbers in order, which are given up here."""
        keys = np.empty(0, dtype=np.int64)
        while self._runs:
            keys = _union(self._runs.pop(), keys)
        return keys


class MergedNames:
    """The distinct ones of sorted names, and where those of every block are among them.

    Parameters
    ----------
    move : callable
        Called with a block and an array of int64, when names are merged: what had the number i
        among the names that the block was merged into so far now has the number in entry i.
    """

    def __init__(self, move: Callable[[int, Int64s], None]) -> None:
        self._move = move
        self._runs: list[tuple[Names, list[int]]] = []

    def add(self, block: int, names: Names) -> None:
        """Add the names of a block, sorted by their bytes, and none of them twice."""
        run = names, [block]
        while self._runs and len(self._runs[-1][0]) < 2 * len(run[0]):
            run = self._merged(self._runs.pop(), run)
        self._runs.append(run)

    def take(self) -> Names:
        """All names in order, which are given up here."""
        run = Names.of([]), list[int]()
        while self._runs:
            run = self._merged(self._runs.pop(), run)
        return run[0]

    def _merged(
        self, one: tuple[Names, list[int]], other: tuple[Names, list[int]]
    ) -> tuple[Names, list[int]]:
        """Two lists of names as one, each with its blocks."""
        (names, blocks), (more, more_blocks) = one, other
        places, more_places = text_names.merge_names(
            names.letters, names.ptr, more.letters, more.ptr
        )
        for block in blocks:
            self._move(block, places)
        for block in more_blocks:
            self._move(block, more_places)
        size = max(int(at[-1]) + 1 if len(at) else 0 for at in (places, more_places))
        source = np.empty(size, dtype=np.int64)
        source[places] = np.arange(len(names))
        source[more_places] = np.arange(len(names), len(names) + len(more))
        both = Names(
            np.concatenate([names.letters, more.letters]),
            np.concatenate([names.ptr, more.ptr[1:] + names.ptr[-1]]),
        )
        return both.take(source), [*blocks, *more_blocks]


def _union(one: Int64s, other: Int64s) -> Int64s:
    """The distinct ones of two sorted arrays, neither of which has a number twice."""
    if not len(one) or not len(other):
        return one if len(one) else other
    every = np.concatenate([one, other])
    every.sort(kind="stable")  # merges the two in linear time
    new = np.empty(len(every), dtype=bool)
    new[0] = True
    np.not_equal(every[1:], every[:-1], out=new[1:])
    distinct: Int64s = every[new]
    return distinct
