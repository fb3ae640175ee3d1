"""The n-grams of training texts, and which of them become features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textreg._core import text_counts
from textreg.features.ngrams import GramNames, NGrams, insert_ngrams
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Tokens
from textreg.text import renumber

if TYPE_CHECKING:
    from textreg.records import Bools, Documents, Int32s, Int64s


@dataclass(frozen=True, eq=False)
class Counted:
    """The n-grams of one tokenizer in training texts.

    Attributes
    ----------
    tokenizer : Tokenizer
    stop_words : tuple of str
        The words that were dropped.
    words : Tokens
        All others, numbered in order of name.
    tree, streams
        The n-grams, and their occurrences: see :meth:`NGrams.collect`.
    """

    tokenizer: Tokenizer
    stop_words: tuple[str, ...]
    words: Tokens
    tree: NGrams
    streams: list[Int32s]

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        texts: Documents,
        ngrams: int,
        least: float,
        stop_words: tuple[str, ...],
    ) -> Counted:
        """N-grams of up to ``ngrams`` words; those of rarer words than ``least`` may be missing."""
        words = _by_name(calls.encode(tokenizer, texts), stop_words)
        tree, streams = NGrams.collect(words, ngrams, least)
        return cls(tokenizer, stop_words, words, tree, streams)

    @property
    def size(self) -> int:
        """Number of n-grams of all lengths."""
        return sum(self.tree.sizes)

    def frequencies(self) -> Int64s:
        """Number of documents with each n-gram, shorter ones first."""
        ptr = self.words.token_document_ptr
        return np.concatenate(
            [
                text_counts.document_frequencies(stream, ptr, size)
                for stream, size in zip(self.streams, self.tree.sizes, strict=True)
            ]
        )

    def totals(self) -> Int64s:
        """Number of occurrences of each n-gram, shorter ones first."""
        return np.concatenate(
            [
                np.bincount(stream[stream >= 0], minlength=size)
                for stream, size in zip(self.streams, self.tree.sizes, strict=True)
            ]
        )

    def ranks(self, keep: Bools) -> Int64s:
        """The place of each n-gram to keep in order of name; -1 of others."""
        return np.concatenate(self.tree.number(self._levels(keep))).astype(np.int64)

    def features(self, keep: Bools) -> Tokens:
        """Every occurrence of an n-gram to keep."""
        numbers = self.tree.number(self._levels(keep))
        if len(numbers) > 1:
            names = GramNames(*self.tree.prune(numbers))
            return insert_ngrams(self.words, self.streams, numbers, names)
        if keep.all():
            return self.words
        return renumber(self.words, numbers[0], self.tree.names(numbers))

    def _levels(self, keep: Bools) -> list[Bools]:
        return np.split(keep, np.cumsum(self.tree.sizes)[:-1])


def most_frequent(counted: Sequence[Counted], keep: Sequence[Bools], most: int) -> list[Bools]:
    """Keep only so many n-grams, those that occur most; ties are broken by name."""
    if sum(int(mask.sum()) for mask in keep) <= most:
        return list(keep)
    totals = np.concatenate([one.totals() for one in counted])
    ranks, first = [], 0
    for one, mask in zip(counted, keep, strict=True):
        ranks.append(np.where(mask, one.ranks(mask) + first, -1))
        first += int(mask.sum())
    rank = np.concatenate(ranks)
    left = np.flatnonzero(rank >= 0)
    chosen = left[np.lexsort((rank[left], -totals[left]))[:most]]
    mask = np.zeros(len(rank), dtype=bool)
    mask[chosen] = True
    return np.split(mask, np.cumsum([one.size for one in counted])[:-1])


def _by_name(tokens: Tokens, stop_words: Sequence[str]) -> Tokens:
    """The tokens without stop words, numbered in order of name."""
    names = sorted(tokens.vocabulary)
    if not stop_words and names == tokens.vocabulary:
        return tokens
    dropped = set(stop_words)
    names = [name for name in names if name not in dropped]
    number = {name: place for place, name in enumerate(names)}
    new = np.array([number.get(name, -1) for name in tokens.vocabulary], dtype=np.int32)
    return renumber(tokens, new, names)
