"""Plain twins of ``textreg._core.text_names``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s


def gram_names(
    letters: NDArray[np.uint8], ptr: Int64s, children: Int64s, last: Int32s, numbers: Int32s
) -> tuple[NDArray[np.uint8], Int64s]:
    """Twin of :func:`textreg._core.text_names.gram_names`."""
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
    """Twin of :func:`textreg._core.text_names.in_order`."""
    return all(one < other for one, other in pairwise(_names(names, ptr)))


def merge_names(
    letters: NDArray[np.uint8], ptr: Int64s, more: NDArray[np.uint8], more_ptr: Int64s
) -> tuple[Int64s, Int64s]:
    """Twin of :func:`textreg._core.text_names.merge_names`."""
    one, other = _names(letters, ptr), _names(more, more_ptr)
    place = {name: at for at, name in enumerate(sorted({*one, *other}))}
    places, more_places = (
        np.array([place[name] for name in names], dtype=np.int64) for names in (one, other)
    )
    return places, more_places


def number_grams(children: Int64s, keep: NDArray[np.uint8], n_words: int) -> Int32s:
    """Twin of :func:`textreg._core.text_names.number_grams`."""

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
