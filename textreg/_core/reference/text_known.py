"""Plain twins of ``textreg._core.text_known``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.reference.text_chars import _pieces, sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s

_WORD, _LOW = 2**64 - 1, 2**32 - 1
_GOLDEN, _MIX = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def index_names(names: NDArray[np.uint8], ptr: Int64s) -> NDArray[np.uint64] | None:
    """Twin of :func:`textreg._core.text_known.index_names`."""
    every = _cut(names, ptr)
    bits = _bits_for(len(every))
    slots = [0] * 2**bits
    for number, name in enumerate(every, 1):
        hash = _hash(name)
        where = hash >> (64 - bits)
        while slots[where]:
            where = (where + 1) % len(slots)
        slots[where] = (hash & _LOW) << 32 | number
    return np.array(slots, dtype=np.uint64) if len(set(every)) == len(every) else None


def index_grams(names: NDArray[np.uint8], ptr: Int64s) -> tuple[NDArray[np.uint64], Int32s] | None:
    """Twin of :func:`textreg._core.text_known.index_grams`."""
    every = [name.decode("utf-8", "surrogatepass") for name in _cut(names, ptr)]
    if len(set(every)) < len(every):
        return None
    nodes = {"": 0}
    most = 1
    for before, name in zip(["", *every], every, strict=False):
        same = next(
            (at for at, (a, b) in enumerate(zip(before, name, strict=False)) if a != b),
            min(len(before), len(name)),
        )
        most += len(name) - same
        for end in range(1, len(name) + 1):
            nodes.setdefault(name[:end], len(nodes))
    slots = [[_WORD, _WORD] for _ in range(2 ** _bits_for(most))]
    for text, node in nodes.items():
        if node:
            key = nodes[text[:-1]] << 32 | ord(text[-1])
            hash = key * _GOLDEN & _WORD
            where = (hash ^ hash >> 32) % len(slots)
            while slots[where][0] != _WORD:
                where = (where + 1) % len(slots)
            slots[where] = [key, node]
    number = {name: at for at, name in enumerate(every)}
    name_of = [number.get(text, -1) for text in nodes]
    return np.array(slots, dtype=np.uint64), np.array(name_of, dtype=np.int32)


def find_grams(
    spelled: NDArray[np.uint32],
    ptr: Int64s,
    shortest: int,
    longest: int,
    slots: NDArray[np.uint64],
    n_nodes: int,
) -> tuple[Int32s, Int64s]:
    """Twin of :func:`textreg._core.text_known.find_grams`."""
    child = {key: node for key, node in slots.tolist() if key != _WORD}
    ids = []
    for start, end in pairwise(ptr.tolist()):
        for first, last in _pieces(start, end, shortest, longest):
            node = 0
            for character in spelled[first:last].tolist():
                key = node << 32 | character
                node = child.setdefault(key, max(n_nodes, len(child) + 1))
            ids.append(node)
    return np.array(ids, dtype=np.int32), np.cumsum([0, *sizes(ptr, shortest, longest)])


def in_order(names: NDArray[np.uint8], ptr: Int64s) -> bool:
    """Twin of :func:`textreg._core.text_known.in_order`."""
    return all(one < other for one, other in pairwise(_cut(names, ptr)))


def number_grams(children: Int64s, keep: NDArray[np.uint8], n_words: int) -> Int32s:
    """Twin of :func:`textreg._core.text_known.number_grams`."""

    def below(grams: range) -> Iterator[int]:
        for gram in grams:
            yield gram
            if gram < len(children) - 1:
                yield from below(range(children[gram], children[gram + 1]))

    order = [gram for gram in below(range(n_words)) if keep[gram]]
    numbers = np.full(len(keep), -1, dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return numbers


def _cut(names: NDArray[np.uint8], ptr: Int64s) -> list[bytes]:
    every = names.tobytes()
    return [every[start:end] for start, end in pairwise(ptr.tolist())]


def _bits_for(n: int) -> int:
    return max(2, (2 * n - 1).bit_length())


def _hash(name: bytes) -> int:
    first, *others = [name[at : at + 8] for at in range(0, len(name), 8)] or [b""]
    rest = 0
    for block in others:
        rest = ((int.from_bytes(block, "little") ^ rest) * _MIX & _WORD) >> 32 | 1
    key = int.from_bytes(first, "little") ^ rest << 16
    return (key ^ key >> 32) * _GOLDEN & _WORD
