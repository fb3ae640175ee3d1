"""Sorted numbers of many blocks, merged in little memory."""

from __future__ import annotations

import numpy as np

from textreg.records import Int64s


class MergedKeys:
    """The distinct ones of sorted numbers that come in parts.

    Parts of about the same size are merged, as the digits of a binary counter carry, so that every
    number is copied only a few times however many parts there are.
    """

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
