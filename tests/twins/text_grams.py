"""Plain twins of ``textreg._core.text_grams``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s


def _pairs(
    parents: Int32s, words: Int32s, ptr: Int64s, k: int
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Every place where a k-gram begins, with its parent and its last word."""
    for s in range(len(ptr) - 1):
        for i in range(ptr[s], ptr[s + 1] - k + 1):
            if parents[i] >= 0 and words[i + k - 1] >= 0:
                yield i, (int(parents[i]), int(words[i + k - 1]))


def grams(
    parents: Int32s, words: Int32s, ptr: Int64s, k: int, n_parents: int, n_words: int
) -> tuple[Int32s, Int64s, Int32s]:
    """Twin of :func:`textreg._core.text_grams.grams`."""
    places = dict(_pairs(parents, words, ptr, k))
    known = sorted(set(places.values()))
    number = {pair: n for n, pair in enumerate(known)}
    ids = np.full(len(words), -1, dtype=np.int32)
    for i, pair in places.items():
        ids[i] = number[pair]
    sizes = np.bincount([parent for parent, _ in known], minlength=n_parents)[:n_parents]
    child_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ids, child_ptr, np.array([word for _, word in known], dtype=np.int32)


def find_grams(
    parents: Int32s, words: Int32s, ptr: Int64s, k: int, child_ptr: Int64s, last: Int32s
) -> Int32s:
    """Twin of :func:`textreg._core.text_grams.find_grams`."""
    ids = np.full(len(words), -1, dtype=np.int32)
    for i, (parent, word) in _pairs(parents, words, ptr, k):
        start, end = int(child_ptr[parent]), int(child_ptr[parent + 1])
        at = bisect_left(last, word, start, end)
        if at < end and last[at] == word:
            ids[i] = at
    return ids


def insert_ngrams(
    streams: list[Int32s], numbers: list[Int32s], ptr: Int64s
) -> tuple[Int32s, Int64s]:
    """Twin of :func:`textreg._core.text_grams.insert_ngrams`."""
    if len(streams) != len(numbers) or any(len(stream) != ptr[-1] for stream in streams):
        raise ValueError("streams and numbers of different lengths")
    levels = [np.append(new, np.int32(-1))[ids] for ids, new in zip(streams, numbers, strict=True)]
    flat = np.array(levels, dtype=np.int32).T.ravel()
    kept = np.concatenate([[0], np.cumsum(flat >= 0)])
    return flat[flat >= 0], kept[ptr * len(levels)].astype(np.int64)


def gram_names(
    letters: NDArray[np.uint8], ptr: Int64s, children: Int64s, last: Int32s, numbers: Int32s
) -> tuple[NDArray[np.uint8], Int64s]:
    """Twin of :func:`textreg._core.text_grams.gram_names`."""
    words = _names(letters, ptr)
    names = list(words)
    for gram, (start, end) in enumerate(pairwise(children.tolist())):
        own = last[start - len(words) : end - len(words)].tolist()
        names += [names[gram] + b" " + words[word] for word in own]
    named = {number: names[gram] for gram, number in enumerate(numbers.tolist()) if number >= 0}
    chosen = [named[number] for number in sorted(named)]
    out = np.frombuffer(b"".join(chosen), dtype=np.uint8)
    return out, np.cumsum([0, *map(len, chosen)], dtype=np.int64)


def in_order(names: NDArray[np.uint8], ptr: Int64s) -> bool:
    """Twin of :func:`textreg._core.text_grams.in_order`."""
    return all(one < other for one, other in pairwise(_names(names, ptr)))


def merge_names(
    letters: NDArray[np.uint8], ptr: Int64s, more: NDArray[np.uint8], more_ptr: Int64s
) -> tuple[Int64s, Int64s]:
    """Twin of :func:`textreg._core.text_grams.merge_names`."""
    one, other = _names(letters, ptr), _names(more, more_ptr)
    place = {name: at for at, name in enumerate(sorted({*one, *other}))}
    places, more_places = (
        np.array([place[name] for name in names], dtype=np.int64) for names in (one, other)
    )
    return places, more_places


def number_grams(children: Int64s, keep: NDArray[np.uint8], n_words: int) -> Int32s:
    """Twin of :func:`textreg._core.text_grams.number_grams`."""

    def below(grams: range) -> Iterator[int]:
        for gram in grams:
            yield gram
            if gram < len(children) - 1:
                yield from below(range(children[gram], children[gram + 1]))

    order = [gram for gram in below(range(n_words)) if keep[gram]]
    numbers = np.full(len(keep), -1, dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return numbers


def _names(letters: NDArray[np.uint8], ptr: Int64s) -> list[bytes]:
    return [letters[start:end].tobytes() for start, end in pairwise(ptr.tolist())]
