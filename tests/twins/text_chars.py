"""Plain twins of ``textreg._core.text_chars``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s


def split(run: str, shortest: int, longest: int) -> list[str]:
    """The n-grams of one run."""
    return [run[start:end] for start, end in pieces(0, len(run), shortest, longest)]


def pieces(start: int, end: int, shortest: int, longest: int) -> Iterator[tuple[int, int]]:
    """Where every n-gram of a run begins and ends."""
    least = min(shortest, end - start)
    for first in range(start, end - least + 1):
        for last in range(first + least, min(first + longest, end) + 1):
            yield first, last


def sizes(ptr: Int64s, shortest: int, longest: int) -> Int64s:
    """Twin of :func:`textreg._core.text_chars.sizes`."""
    rows = (len(list(pieces(*run, shortest, longest))) for run in pairwise(ptr.tolist()))
    return np.array(list(rows), dtype=np.int64)


def grams(
    spelled: NDArray[np.uint32], ptr: Int64s, shortest: int, longest: int
) -> tuple[Int32s, list[str]]:
    """Twin of :func:`textreg._core.text_chars.grams`."""
    text = "".join(map(chr, spelled.tolist()))
    found = [
        gram
        for start, end in pairwise(ptr.tolist())
        for gram in split(text[start:end], shortest, longest)
    ]
    names = sorted(set(found))
    rank = {name: number for number, name in enumerate(names)}
    return np.array([rank[gram] for gram in found], dtype=np.int32), names


def expand(ids: Int32s, ptr: Int64s, runs: Int32s) -> tuple[Int32s, Int64s]:
    """Twin of :func:`textreg._core.text_chars.expand`."""
    pieces = [ids[ptr[run] : ptr[run + 1]] for run in runs.tolist()]
    out_ptr = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    return np.concatenate([np.empty(0, dtype=np.int32), *pieces]), out_ptr


def gram_spans(begins: Int32s, ends: Int32s, ptr: Int64s, shortest: int, longest: int) -> Int32s:
    """Twin of :func:`textreg._core.text_chars.gram_spans`."""
    pairs = [
        sorted((begins[first], ends[last - 1]))
        for run in pairwise(ptr.tolist())
        for first, last in pieces(*run, shortest, longest)
    ]
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)
