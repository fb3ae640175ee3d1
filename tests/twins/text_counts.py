"""Plain twins of ``textreg._core.text_counts``."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def renumber(ids: Int32s, ptr: Int64s, new: Int32s) -> tuple[Int32s, Int64s]:
    """Twin of :func:`textreg._core.text_counts.renumber`."""
    out = np.where(ids < len(new), np.append(new, np.int32(-1))[np.minimum(ids, len(new))], -1)
    out = out.astype(np.int32)
    kept = np.concatenate([[0], np.cumsum(out >= 0)])
    return out[out >= 0], kept[ptr].astype(np.int64)


def document_frequencies(
    ids: Int32s, ptr: Int64s, n_features: int, documents: Int64s | None = None
) -> Int64s:
    """Twin of :func:`textreg._core.text_counts.document_frequencies`."""
    frequencies = np.zeros(n_features, dtype=np.int64)
    for d in range(len(ptr) - 1) if documents is None else documents:
        here = np.unique(ids[ptr[d] : ptr[d + 1]])
        frequencies[here[here >= 0]] += 1
    return frequencies


def count(ids: Int32s, ptr: Int64s, n_features: int) -> tuple[Int64s, Int32s, Floats]:
    """Twin of :func:`textreg._core.text_counts.count`."""
    rows = [np.unique(ids[ptr[d] : ptr[d + 1]], return_counts=True) for d in range(len(ptr) - 1)]
    indptr = np.cumsum([0, *(len(row[0]) for row in rows)], dtype=np.int64)
    indices = np.concatenate([np.empty(0, dtype=np.int32), *(row[0] for row in rows)])
    data = np.concatenate([np.empty(0), *(row[1] for row in rows)])
    return indptr, indices, data


def normalize_rows(data: Floats, ptr: Int64s) -> None:
    """Twin of :func:`textreg._core.text_counts.normalize_rows`."""
    for d in range(len(ptr) - 1):
        row = data[ptr[d] : ptr[d + 1]]
        row /= np.linalg.norm(row) or 1.0


def sentence_sets(ids: Int32s, ptr: Int64s, n_features: int) -> tuple[Int64s, Int32s]:
    """Twin of :func:`textreg._core.text_counts.sentence_sets`."""
    indptr, indices, _ = count(ids, ptr, n_features)
    return indptr, indices


def row_norms(counts: Floats, ptr: Int64s) -> Floats:
    """Twin of :func:`textreg._core.text_counts.row_norms`."""
    norms = np.zeros(len(ptr) - 1)
    for d in range(len(norms)):
        found, many = np.unique(counts[ptr[d] : ptr[d + 1]], return_counts=True)
        frequencies = zip(found.tolist(), many.tolist(), strict=True)
        norms[d] = math.sqrt(sum(n * (1 + math.log(c)) ** 2 for c, n in frequencies))
    return norms


def gram_norms(words: Int32s, ptr: Int64s, document_ptr: Int64s, n: int) -> Floats:
    """Twin of :func:`textreg._core.text_counts.gram_norms`."""
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


def weigh_rows(
    data: Floats, indices: Int32s, ptr: Int64s, values: Floats, factors: Floats, norms: Floats
) -> None:
    """Twin of :func:`textreg._core.text_counts.weigh_rows`."""
    data[:] = values[data.astype(np.int64)]
    if len(factors):
        data *= factors[indices]
    if len(norms):
        data /= np.repeat(norms, np.diff(ptr))


def place_rows(
    ptr: Int64s,
    indices: Int32s,
    data: Floats,
    shift: int,
    place: Int64s,
    out_indices: Int32s,
    out_data: Floats,
) -> None:
    """Twin of :func:`textreg._core.text_counts.place_rows`."""
    sizes = np.diff(ptr)
    where = np.arange(len(data)) + np.repeat(place - ptr[:-1], sizes)
    out_indices[where] = indices + np.int32(shift)
    out_data[where] = data
    place += sizes
