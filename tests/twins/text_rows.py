"""Plain twins of ``textreg._core.text_rows``: by names, and by twins of the parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from twins import text, text_chars, text_counts, text_grams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s

Values = Callable[[int], "Floats"] | None


def cut(names: NDArray[np.uint8], ptr: Int64s) -> list[bytes]:
    """The names."""
    every = names.tobytes()
    return [every[start:end] for start, end in pairwise(ptr.tolist())]


class _Rows:
    def __init__(
        self,
        known: tuple[Any, Any],
        size: int,
        values: Values,
        idf: Floats | None,
        norm: int,
        unit: bool,
    ) -> None:
        names = cut(*known)
        self.names = {name: at for at, name in enumerate(names)}
        self.distinct = len(self.names) == len(names)
        self.size, self.values, self.idf, self.norm, self.unit = size, values, idf, norm, unit

    def known(self, names: Sequence[str]) -> Int32s:
        """The number of each name, or -1."""
        coded = (name.encode("utf-8", "surrogatepass") for name in names)
        return np.array([self.names.get(name, -1) for name in coded], dtype=np.int32)

    def counted(
        self, ids: Int32s, ptr: Int64s, words: Int32s, sentences: Int64s, documents: Int64s
    ) -> tuple[Int64s, Int32s, Floats]:
        """The rows of features, and of all words if a length is one of these."""
        indptr, indices, data = text_counts.count(ids, ptr, self.size)
        none = np.empty(0)
        norms = (
            text_counts.gram_norms(words, sentences, documents, self.norm) if self.norm else none
        )
        most = int(data.max(initial=0))
        values = np.arange(most + 1.0) if self.values is None else self.values(most)
        idf = none if self.idf is None else self.idf
        text_counts.weigh_rows(data, indices, indptr, values, idf, norms)
        if self.unit:
            text_counts.normalize_rows(data, indptr)
        return indptr, indices, data


class WordRows(_Rows):
    """Twin of :class:`textreg._core.text_rows.WordRows`."""

    def __init__(
        self,
        known: tuple[Any, Any],
        dropped: Any,
        children: list[tuple[Int64s, Int32s]],
        numbers: list[Int32s],
        rules: tuple[bool, int, str, bool, bool],
        *how: Any,
    ) -> None:
        super().__init__(known, *how)
        self.dropped = dropped
        self.children, self.numbers, self.rules = children, numbers, rules

    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        ids, sentences, _, documents, names, _, _ = text.encode(texts, *self.rules, False)
        known = self.known(names)
        if self.dropped is not None:
            new = np.arange(len(known), dtype=np.int32)
            new[[at >= 0 and bool(self.dropped[at]) for at in known]] = -1
            ids, sentences = text_counts.renumber(ids, sentences, new)
        streams = [known[ids]]
        for k, (child_ptr, last) in enumerate(self.children, 2):
            streams.append(
                text_grams.find_grams(streams[-1], streams[0], sentences, k, child_ptr, last)
            )
        features, ends = text_grams.insert_ngrams(streams, self.numbers, sentences)
        return self.counted(features, ends[documents], ids, sentences, documents)


class CharRows(_Rows):
    """Twin of :class:`textreg._core.text_rows.CharRows`."""

    def __init__(
        self,
        known: tuple[Any, Any],
        lengths: tuple[int, int],
        rules: tuple[bool, bool, str],
        *how: Any,
    ) -> None:
        super().__init__(known, *how)
        self.lengths, self.rules = lengths, rules

    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        ids, sentences, _, documents, names, _, _ = text_chars.encode(
            texts, *self.rules, *self.lengths, False
        )
        features, ends = text_counts.renumber(ids, sentences, self.known(names))
        return self.counted(features, ends[documents], ids, sentences, documents)
