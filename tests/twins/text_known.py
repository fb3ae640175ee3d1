"""Plain twins of ``textreg._core.text_known``."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int64s

_WORD, _LOW = 2**64 - 1, 2**32 - 1
_GOLDEN, _MIX = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def index_names(names: NDArray[np.uint8], ptr: Int64s) -> NDArray[np.uint64] | None:
    """Twin of :func:`textreg._core.text_known.index_names`."""
    every = cut(names, ptr)
    bits = bits_for(len(every))
    slots = [0] * 2**bits
    for number, name in enumerate(every, 1):
        hash = _hash(name)
        where = hash >> (64 - bits)
        while slots[where]:
            where = (where + 1) % len(slots)
        slots[where] = (hash & _LOW) << 32 | number
    return np.array(slots, dtype=np.uint64) if len(set(every)) == len(every) else None


def cut(names: NDArray[np.uint8], ptr: Int64s) -> list[bytes]:
    """The names."""
    every = names.tobytes()
    return [every[start:end] for start, end in pairwise(ptr.tolist())]


def bits_for(n: int) -> int:
    """The binary logarithm of a number of slots of which n take half at most."""
    return max(2, (2 * n - 1).bit_length())


def _hash(name: bytes) -> int:
    first, *others = [name[at : at + 8] for at in range(0, len(name), 8)] or [b""]
    rest = 0
    for block in others:
        rest = ((int.from_bytes(block, "little") ^ rest) * _MIX & _WORD) >> 32 | 1
    key = int.from_bytes(first, "little") ^ rest << 16
    return (key ^ key >> 32) * _GOLDEN & _WORD
