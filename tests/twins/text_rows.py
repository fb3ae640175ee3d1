"""Plain twins of ``text_word_rows`` and ``text_char_rows``: by names, and by twins of the parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from twins import text_chars, text_counts, text_grams, text_runs
from twins.text import encode
from twins.text_known import cut

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s

Values = Callable[[int], "Floats"] | None


class _Rows:
    def __init__(
        self, size: int, values: Values, idf: Floats | None, norm: int, unit: bool
    ) -> None:
        self.size, self.values, self.idf, self.norm, self.unit = size, values, idf, norm, unit

    def counted(
        self, ids: Int32s, ptr: Int64s, words: Int32s, sentences: Int64s, documents: Int64s
    ) -> tuple[Int64s, Int32s, Floats]:
        """The rows of features, and of all words if a length is one of these."""
        indptr, indices, data = text_counts.count(ids, ptr, self.size)
        none = np.empty(0)
        norms = text_grams.gram_norms(words, sentences, documents, self.norm) if self.norm else none
        most = int(data.max(initial=0))
        values = np.arange(most + 1.0) if self.values is None else self.values(most)
        idf = none if self.idf is None else self.idf
        text_counts.weigh_rows(data, indices, indptr, values, idf, norms)
        if self.unit:
            text_counts.normalize_rows(data, indptr)
        return indptr, indices, data


class WordRows(_Rows):
    """Twin of :class:`textreg._core.text_word_rows.WordRows`."""

    def __init__(
        self,
        known: tuple[Any, Any, Any],
        dropped: Any,
        children: list[tuple[Int64s, Int32s]],
        numbers: list[Int32s],
        rules: tuple[bool, int, str, bool, bool],
        *how: Any,
    ) -> None:
        super().__init__(*how)
        self.names = {name: at for at, name in enumerate(cut(*known[:2]))}
        self.dropped = dropped
        self.children, self.numbers, self.rules = children, numbers, rules

    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        ids, sentences, _, documents, names, _, _ = encode(texts, *self.rules, False)
        coded = (name.encode("utf-8", "surrogatepass") for name in names)
        known = np.array([self.names.get(name, -1) for name in coded], dtype=np.int32)
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
    """Twin of :class:`textreg._core.text_char_rows.CharRows`."""

    def __init__(
        self,
        known: tuple[Any, Any, Any, Any],
        lengths: tuple[int, int],
        rules: tuple[bool, bool, str],
        *how: Any,
    ) -> None:
        super().__init__(*how)
        self.known, self.lengths, self.rules = known, lengths, rules

    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]:
        spelled, run_ptr, runs, sentences, _, documents, *_ = text_runs.runs(
            texts, *self.rules, False
        )
        more: dict[tuple[int, int], int] = {}
        found = [
            self._node(spelled[first:last].tolist(), more)
            for start, end in pairwise(run_ptr.tolist())
            for first, last in text_chars.pieces(start, end, *self.lengths)
        ]
        sizes = text_chars.sizes(run_ptr, *self.lengths)
        ids, ptr = text_chars.expand(
            np.array(found, dtype=np.int32), np.cumsum([0, *sizes], dtype=np.int64), runs
        )
        features, ends = text_counts.renumber(ids, ptr[sentences], self.known[3])
        return self.counted(features, ends[documents], ids, ptr[sentences], documents)

    def _node(self, characters: list[int], more: dict[tuple[int, int], int]) -> int:
        """The node of an n-gram, or a number of its own beyond those."""
        classes, nodes, rest, name_of = self.known
        others = dict(rest.tolist())
        node = 0
        for c in characters:
            bit = int(classes[c]) if c < len(classes) else 64
            mask, first = map(int, nodes[node]) if node < len(nodes) else (0, 0)
            if bit < 64 and mask >> bit & 1:
                node = first + (mask % 2**bit).bit_count()
            elif node < len(nodes) and bit == 64 and node << 32 | c in others:
                node = others[node << 32 | c]
            else:
                node = more.setdefault((node, c), len(name_of) + len(more))
        return node
