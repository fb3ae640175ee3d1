"""Plain twins of ``textreg._core.text_grams``."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


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


def gram_norms(words: Int32s, ptr: Int64s, document_ptr: Int64s, n: int) -> Floats:
    """Twin of :func:`textreg._core.text_grams.gram_norms`."""
    norms = np.zeros(len(document_ptr) - 1)
    for d in range(len(norms)):
        counts: Counter[tuple[int, ...]] = Counter()
        for s in range(document_ptr[d], document_ptr[d + 1]):
            sentence = words[ptr[s] : ptr[s + 1]].tolist()
            for k in range(1, n + 1):
                counts.update(tuple(sentence[i : i + k]) for i in range(len(sentence) - k + 1))
        frequencies = sorted(Counter(counts.values()).items())
        norms[d] = math.sqrt(sum(many * (1 + math.log(c)) ** 2 for c, many in frequencies))
    return norms
