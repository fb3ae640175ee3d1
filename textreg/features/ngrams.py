"""N-grams: how they are counted, numbered and named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textreg._core import text_counts, text_grams
from textreg.errors import DataError
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Bools, Documents, Int32s, Int64s, Tokens
from textreg.records.arrays import offsets_of
from textreg.records.text import Names
from textreg.text import renumber


@dataclass(frozen=True, eq=False)
class NGrams:
    """A tree of n-grams, in which the children of an n-gram extend it by one word.

    The n-grams of each level are numbered from 0, in the order of their words. Levels count from 0
    where they index a list.

    Attributes
    ----------
    words : sequence of str
        The 1-grams, sorted.
    child_ptr : tuple of ndarray of int64
        One for each level from 2: the children of the (k-1)-gram g are the k-grams
        ``child_ptr[g]`` to ``child_ptr[g + 1]``.
    last : tuple of ndarray of int32
        One for each level from 2: the last word of every k-gram.
    """

    words: Sequence[str]
    child_ptr: tuple[Int64s, ...] = ()
    last: tuple[Int32s, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """Number of n-grams on every level."""
        return [len(self.words), *map(len, self.last)]

    @classmethod
    def collect(cls, tokens: Tokens, n: int, least: float) -> tuple[NGrams, list[Int32s]]:
        """All n-grams of 1 to ``n`` words in the sentences of ``tokens``.

        The ids of ``tokens`` must be in order of name. N-grams with a part in fewer than ``least``
        documents may be left out. Returns the tree and its streams: for every level the n-gram that
        begins at each occurrence, or -1.
        """
        words, ids, ptr = tokens.vocabulary, tokens.ids, tokens.sentence_ptr
        tree, streams = cls(words), [ids]
        if n == 1:
            return tree, streams
        # An n-gram is at most as frequent as its parts, so extend only the frequent ones.
        common = wanted = _without_rare(ids, tokens.token_document_ptr, len(words), least)
        for k in range(2, n + 1):
            stream, child_ptr, last = text_grams.grams(
                wanted, common, ptr, k, tree.sizes[-1], len(words)
            )
            tree = cls(words, (*tree.child_ptr, child_ptr), (*tree.last, last))
            streams.append(stream)
            if k < n:
                wanted = _without_rare(stream, tokens.token_document_ptr, len(last), least)
        return tree, streams

    def find(self, ids: Int32s, ptr: Int64s) -> list[Int32s]:
        """The streams of known n-grams; ``ids`` are numbers of known words, or -1."""
        streams = [ids]
        for k, (child_ptr, last) in enumerate(zip(self.child_ptr, self.last, strict=True), 2):
            streams.append(text_grams.find_grams(streams[-1], ids, ptr, k, child_ptr, last))
        return streams

    def number(self, keep: Bools) -> list[Int32s]:
        """Number the n-grams to keep in order of name, all levels together; others get -1.

        In this order an n-gram precedes its descendants. keep: for all levels, one after the other.
        """
        numbers = text_grams.number_grams(self._children, keep.view(np.uint8), len(self.words))
        return np.split(numbers, np.cumsum(self.sizes)[:-1])

    def names(self, numbers: Sequence[Int32s]) -> Names:
        """Names of the numbered n-grams in order, with spaces between words."""
        words = Names.of(self.words)
        last = np.concatenate([np.empty(0, dtype=np.int32), *self.last])
        every = np.concatenate([np.empty(0, dtype=np.int32), *numbers])
        return Names(*text_grams.gram_names(words.letters, words.ptr, self._children, last, every))

    @property
    def _children(self) -> Int64s:
        """Where the children of every n-gram begin, with all levels one after the other."""
        starts = np.cumsum(self.sizes)
        ends = [ptr[:-1] + start for ptr, start in zip(self.child_ptr, starts, strict=False)]
        return np.concatenate([*ends, starts[-1:]])

    def prune(self, numbers: Sequence[Int32s]) -> tuple[NGrams, list[Int32s]]:
        """Keep the n-grams with a number, and what they begin with; the tree and its numbers."""
        inside = [level >= 0 for level in numbers]
        if all(level.all() for level in inside):
            return self, list(numbers)
        for k in reversed(range(len(self.last))):
            before = offsets_of(inside[k + 1])
            inside[k] |= np.diff(before[self.child_ptr[k]]) > 0
        for last, mask in zip(self.last, inside[1:], strict=True):
            inside[0][last[mask]] = True
        word = np.cumsum(inside[0], dtype=np.int32) - np.int32(1)
        child_ptrs, lasts = [], []
        for k, child_ptr in enumerate(self.child_ptr):
            before = offsets_of(inside[k + 1])
            child_ptrs.append(np.append(before[child_ptr[:-1][inside[k]]], before[-1]))
            lasts.append(word[self.last[k][inside[k + 1]]])
        words = Names.of(self.words).take(np.flatnonzero(inside[0]))
        tree = NGrams(words, tuple(child_ptrs), tuple(lasts))
        return tree, [level[mask] for level, mask in zip(numbers, inside, strict=True)]

    @classmethod
    def of_names(cls, names: Sequence[str], n: int) -> tuple[NGrams, list[Int32s]]:
        """The tree of the n-grams with these names, and the index in ``names`` of each, or -1.

        ``n`` is at least 2. Raises DataError if a name has more words.
        """
        sizes = np.array([name.count(" ") + 1 for name in names], dtype=np.int64)
        if sizes.max(initial=0) > n:
            raise DataError(f"feature '{names[int(sizes.argmax())]}' has more than {n} words.")
        every = " ".join(names).split(" ") if names else []
        words = sorted(set(every))
        rank = {word: number for number, word in enumerate(words)}
        parts = np.full((len(names), n), -1, dtype=np.int32)
        parts[np.arange(n) < sizes[:, None]] = [rank[word] for word in every]
        order = np.lexsort(parts.T[::-1])
        parts, sizes = parts[order], sizes[order]
        numbers = [np.full(len(words), -1, dtype=np.int32)]
        gram = parts[:, 0]  # the k-gram that every row begins with
        numbers[0][gram[sizes == 1]] = order[sizes == 1]
        child_ptrs, lasts = [], []
        # Whether a row differs from the one above in its first k words.
        changes = np.ones(len(names), dtype=bool)
        changes[1:] = parts[1:, 0] != parts[:-1, 0]
        for k in range(1, n):
            changes[1:] |= parts[1:, k] != parts[:-1, k]
            new = changes & (parts[:, k] >= 0)
            children = np.bincount(gram[new], minlength=len(numbers[-1]))
            child_ptrs.append(offsets_of(children))
            lasts.append(parts[new, k])
            gram = np.cumsum(new, dtype=np.int32) - np.int32(1)
            numbers.append(np.full(int(new.sum()), -1, dtype=np.int32))
            numbers[k][gram[sizes == k + 1]] = order[sizes == k + 1]
        return cls(words, tuple(child_ptrs), tuple(lasts)), numbers


class GramNames(Names):
    """Names of n-grams, spelled when they are asked for.

    Parameters
    ----------
    tree : NGrams
    numbers : sequence of ndarray of int32
        For every level the place of each n-gram among the names, or -1.
    """

    def __init__(self, tree: NGrams, numbers: list[Int32s]) -> None:
        self.tree = tree
        self.numbers = numbers
        self._size = sum(int(np.count_nonzero(level >= 0)) for level in numbers)

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _spelled(self) -> Names:
        return self.tree.names(self.numbers)

    @property
    def letters(self) -> NDArray[np.uint8]:  # type: ignore[override]  # nobody sets it
        """As of Names."""
        return self._spelled.letters

    @property
    def ptr(self) -> Int64s:  # type: ignore[override]
        """As of Names."""
        return self._spelled.ptr


def insert_ngrams(
    tokens: Tokens, streams: Sequence[Int32s], numbers: Sequence[Int32s], names: Sequence[str]
) -> Tokens:
    """Insert n-grams into the words: at every occurrence the n-grams that begin there, by length.

    ``tokens`` are the words, one for each place of the streams. The feature of an n-gram is
    ``numbers[gram]`` of its level, an index into ``names``, or negative if it is none.
    """
    ptr = tokens.sentence_ptr
    ids, sentence_ptr = text_grams.insert_ngrams(list(streams), list(numbers), ptr)
    spans = None
    if tokens.spans is not None:
        # The same of how long an n-gram is, and of the place where it is.
        lengths = [np.where(new >= 0, k, -1).astype(np.int32) for k, new in enumerate(numbers)]
        length, _ = text_grams.insert_ngrams(list(streams), lengths, ptr)
        every = np.arange(len(tokens.ids), dtype=np.int32)
        taken = [
            np.where(take(*pair) >= 0, every, -1) for pair in zip(numbers, streams, strict=True)
        ]
        place, _ = text_grams.insert_ngrams(taken, [every] * len(taken), ptr)
        spans = np.stack([tokens.spans[place, 0], tokens.spans[place + length, 1]], axis=1)
    return replace(tokens, ids=ids, sentence_ptr=sentence_ptr, vocabulary=names, spans=spans)


def take(new: Int32s, ids: Int32s) -> Int32s:
    """``new[ids]``, and -1 where an id is -1."""
    if not len(new):
        return np.full(len(ids), -1, dtype=np.int32)
    taken: Int32s = new[ids]
    taken[ids < 0] = -1
    return taken


def _without_rare(ids: Int32s, document_ptr: Int64s, n_features: int, least: float) -> Int32s:
    """``ids`` with -1 for the features of fewer documents than ``least``."""
    if least <= 1:
        return ids
    frequencies = text_counts.document_frequencies(ids, document_ptr, n_features)
    numbers = np.where(frequencies >= least, np.arange(n_features), -1)
    return take(numbers.astype(np.int32), ids)


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
        return np.concatenate(self.tree.number(keep)).astype(np.int64)

    def features(self, keep: Bools) -> tuple[list[Int32s], Sequence[str]]:
        """The n-grams to keep as features: the number of each on every level, or -1; their names.

        Features are in order of name.
        """
        numbers = self.tree.number(keep)
        if len(numbers) > 1:
            return numbers, GramNames(*self.tree.prune(numbers))
        return numbers, self.tree.words if keep.all() else self.tree.names(numbers)


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
        ptr, levels = self.words.token_document_ptr, zip(self.streams, self.tree.sizes, strict=True)
        return np.concatenate([text_counts.document_frequencies(it, ptr, n) for it, n in levels])

    def totals(self) -> Int64s:
        """Number of occurrences of each n-gram, shorter ones first."""
        return np.concatenate(list(map(occurrences, self.streams, self.tree.sizes)))

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
    totals = np.concatenate([counts.totals() for counts in counted])
    ranks, first = [], 0
    for counts, mask in zip(counted, keep, strict=True):
        ranks.append(np.where(mask, counts.ranks(mask) + first, -1))
        first += int(mask.sum())
    rank = np.concatenate(ranks)
    left = np.flatnonzero(rank >= 0)
    chosen = left[np.lexsort((rank[left], -totals[left]))[:most]]
    mask = np.zeros(len(rank), dtype=bool)
    mask[chosen] = True
    return np.split(mask, np.cumsum([counts.size for counts in counted])[:-1])


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
