"""Plain twins of ``textreg._core.text_known_grams``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from twins.text_known import bits_for, cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s

    Tree = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64], Int32s]

COMMON = 64
_WORD, _GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def index_grams(names: NDArray[np.uint8], ptr: Int64s) -> Tree | None:
    """Twin of :func:`textreg._core.text_known_grams.index_grams`."""
    every = [name.decode("utf-8", "surrogatepass") for name in cut(names, ptr)]
    if len(set(every)) < len(every):
        return None
    texts = list(dict.fromkeys(name[:end] for name in every for end in range(1, len(name) + 1)))
    counts = Counter(ord(text[-1]) for text in texts)
    common = sorted(counts, key=lambda c: (-counts[c], c))[:COMMON]
    classes = np.full(max(common, default=-1) + 1, COMMON, dtype=np.uint8)
    classes[common] = np.arange(len(common))
    class_of = dict(zip(common, range(COMMON), strict=False))

    children: dict[str, list[str]] = {"": []}
    for text in texts:
        children[text[:-1]].append(text)
        children[text] = []
    numbers = {"": 0}
    nodes, others = [], []
    inner = [text for text in sorted(children, key=len) if children[text]]
    for text in inner:
        mask, first = 0, len(numbers)
        for below in sorted(children[text], key=lambda one: class_of.get(ord(one[-1]), COMMON)):
            numbers[below] = len(numbers)
            bit = class_of.get(ord(below[-1]), COMMON)
            mask |= 1 << bit
            others += [below] if bit == COMMON else []
        nodes.append((text, mask % 2**COMMON, first))
    n_parents = max((numbers[text] for text in inner), default=-1) + 1
    by_number = [(0, 0)] * n_parents
    for text, mask, first in nodes:
        by_number[numbers[text]] = mask, first

    others.sort(key=texts.index)
    slots = [[_WORD, _WORD] for _ in range(2 ** bits_for(len(others)))]
    for text in others:
        key = numbers[text[:-1]] << 32 | ord(text[-1])
        hash = (key ^ key >> 29) * _GOLDEN & _WORD
        where = hash >> (64 - bits_for(len(others)))
        while slots[where][0] != _WORD:
            where = (where + 1) % len(slots)
        slots[where] = [key, numbers[text]]
    name_of = np.full(len(numbers), -1, dtype=np.int32)
    for at, name in enumerate(every):
        name_of[numbers[name]] = at
    return (
        classes,
        np.array(by_number, dtype=np.uint64).reshape(-1, 2),
        np.array(slots, dtype=np.uint64),
        name_of,
    )
