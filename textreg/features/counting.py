"""The n-grams of training texts, and which of them become features."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
class NGramCounts(ABC):
    """In how many training documents, and how often, the n-grams of one tokenizer occur.

    Attributes
    ----------
    tokenizer : Tokenizer
    stop_words : tuple of str
        The words that were dropped.
    tree : NGrams
        All n-grams.
    """

    tokenizer: Tokenizer
    stop_words: tuple[str, ...]
    tree: NGrams

    @property
    def size(self) -> int:
        """Number of n-grams of all lengths."""
        return sum(self.tree.sizes)

    @abstractmethod
    def frequencies(self) -> Int64s:
        """Number of documents with each n-gram, shorter ones first."""

    @abstractmethod
    def totals(self) -> Int64s:
        """Number of occurrences of each n-gram, shorter ones first."""

    def ranks(self, keep: Bools) -> Int64s:
        """The place of each n-gram to keep in order of name; -1 of others."""
        return np.concatenate(self.tree.number(self._levels(keep))).astype(np.int64)

    def features(self, keep: Bools) -> tuple[list[Int32s], Sequence[str]]:
        """The n-grams to keep as features: the number of each on every level, or -1; their names.

        Features are in order of name.
        """
        numbers = self.tree.number(self._levels(keep))
        if len(numbers) > 1:
            return numbers, GramNames(*self.tree.prune(numbers))
        return numbers, self.tree.words if keep.all() else self.tree.names(numbers)

    def _levels(self, keep: Bools) -> list[Bools]:
        return np.split(keep, np.cumsum(self.tree.sizes)[:-1])


@dataclass(frozen=True, eq=False)
class Counted(NGramCounts):
    """The n-grams of one tokenizer in training texts, and all their occurrences.

    Attributes
    ----------
    words : Tokens
        All but the stop words, numbered in order of name.
    streams : list of ndarray of int32
        The occurrences: see :meth:`NGrams.collect`.
    """

    words: Tokens
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
        words = by_name(calls.encode(tokenizer, texts), stop_words)
        tree, streams = NGrams.collect(words, ngrams, least)
        return cls(tokenizer, stop_words, tree, words, streams)

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
                occurrences(stream, size)
                for stream, size in zip(self.streams, self.tree.sizes, strict=True)
            ]
        )

    def tokens(self, keep: Bools) -> Tokens:
        """Every occurrence of an n-gram to keep."""
        if len(self.streams) == 1 and keep.all():
            return self.words
        return tokens_of(self.words, self.streams, *self.features(keep))


def occurrences(stream: Int32s, size: int) -> Int64s:
    """How often each of ``size`` n-grams occurs in a stream, in which -1 is none."""
    return np.bincount(stream[stream >= 0], minlength=size)


def tokens_of(
    words: Tokens, streams: Sequence[Int32s], numbers: Sequence[Int32s], names: Sequence[str]
) -> Tokens:
    """Every occurrence of a feature, whose number is that of its n-gram in ``numbers``."""
    if len(streams) > 1:
        return insert_ngrams(words, streams, numbers, names)
    return renumber(words, numbers[0], names)


def most_frequent(counted: Sequence[NGramCounts], keep: Sequence[Bools], most: int) -> list[Bools]:
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


def by_name(tokens: Tokens, stop_words: Sequence[str]) -> Tokens:
    """The tokens without stop words, numbered in order of name."""
    names = sorted(tokens.vocabulary)
    if not stop_words and names == tokens.vocabulary:
        return tokens
    dropped = set(stop_words)
    names = [name for name in names if name not in dropped]
    number = {name: place for place, name in enumerate(names)}
    new = np.array([number.get(name, -1) for name in tokens.vocabulary], dtype=np.int32)
    return renumber(tokens, new, names)
