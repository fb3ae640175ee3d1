"""Counts of n-grams in blocks: each block's own, added up to those of all.

Sorted lists of many blocks are merged without all of them in memory at once. Lists of about the
same size are merged, as the digits of a binary counter carry: so every entry is copied only a few
times, however many blocks there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from textreg._core import text_grams
from textreg.errors import DataError
from textreg.features.ngrams import Counted, NGramCounts, NGrams, take
from textreg.kinds import Tokenizer
from textreg.records import Bools, Int32s, Int64s
from textreg.records.arrays import MOST
from textreg.records.store import ArrayStore, Kept
from textreg.records.text import Names

R = TypeVar("R")


class Runs(Generic[R]):
    """Sorted lists without repetitions, merged as the digits of a binary counter carry.

    Parameters
    ----------
    merge : callable
        Makes one of two lists.
    size : callable
        Gives the length of one.
    """

    def __init__(self, merge: Callable[[R, R], R], size: Callable[[R], int]) -> None:
        self._merge, self._size = merge, size
        self._runs: list[R] = []

    def add(self, run: R) -> None:
        """Add a list."""
        while self._runs and self._size(self._runs[-1]) < 2 * self._size(run):
            run = self._merge(self._runs.pop(), run)
        self._runs.append(run)

    def take(self, run: R) -> R:
        """All lists and this one as one; they are given up here."""
        while self._runs:
            run = self._merge(self._runs.pop(), run)
        return run


# Names sorted by their bytes, and the blocks that have some of them.
NamesOfBlocks = tuple[Names, list[int]]


@dataclass(frozen=True, eq=False)
class BlockCounts(NGramCounts):
    """How often the n-grams of all blocks occur.

    Attributes
    ----------
    documents : list of ndarray of int32 or int64
        For every length of n-grams the number of documents with each.
    occurrences : list of ndarray of int64
        And the number of occurrences; empty unless these were counted.
    """

    documents: list[Int32s | Int64s]
    occurrences: list[Int64s]

    def frequencies(self) -> Int64s:
        """Number of documents with each n-gram, shorter ones first."""
        return np.concatenate(self.documents, dtype=np.int64)

    def totals(self) -> Int64s:
        """Number of occurrences of each n-gram, shorter ones first."""
        return np.concatenate(self.occurrences)


class BlockTree(NamedTuple):
    """The n-grams of one tokenizer in a block of documents, or in several.

    Attributes
    ----------
    names : Names
        The words, in order.
    children : list of tuple
        For n-grams of 2 words and so on: see :class:`textreg.features.ngrams.NGrams`.
    counts : dict of str to list of ndarray
        For every length the number of ``documents`` with each n-gram; and of ``occurrences``, where
        these are wanted. Whole numbers of 32 or 64 bits.
    n_documents, n_words : int
        The number of documents, and of occurrences of words.
    """

    names: Names
    children: list[tuple[Int64s, Int32s]]
    counts: dict[str, list[Any]]
    n_documents: int
    n_words: int


def tree_of(counted: Counted, *, occurrences: bool) -> BlockTree:
    """The n-grams of a block, of which all were counted; also ``occurrences``, if these are."""
    ends = np.cumsum(counted.tree.sizes)[:-1]
    every = {"documents": counted.frequencies()}
    if occurrences:
        every["occurrences"] = counted.totals()
    counts = {what: np.split(totals.astype(np.int32), ends) for what, totals in every.items()}
    return BlockTree(
        names=Names.of(counted.tree.words),
        children=list(zip(counted.tree.child_ptr, counted.tree.last, strict=True)),
        counts=counts,
        n_documents=len(counted.words.document_ptr) - 1,
        n_words=len(counted.words.ids),
    )


class TreeCounting:
    """Adds up the n-grams of one tokenizer that were counted in every block.

    In a block words and n-grams have numbers of that block alone, in order of name as everywhere.
    So they are small, and stay as they are whatever words other blocks bring. The numbers of a
    block's n-grams among those of all blocks ascend.

    Parameters
    ----------
    tokenizer : Tokenizer
    ngrams : int
        The largest number of words in an n-gram.
    stop_words : tuple of str
        The words that were dropped.
    store : ArrayStore
        For the numbers of every block.
    occurrences : bool
        Whether occurrences were counted, too, and not only documents.

    Attributes
    ----------
    n_documents : int
    n_words : int
        Number of occurrences of words, without stop words.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        ngrams: int,
        stop_words: tuple[str, ...],
        store: ArrayStore,
        *,
        occurrences: bool,
    ) -> None:
        self.tokenizer, self.ngrams, self.stop_words = tokenizer, ngrams, stop_words
        self.n_documents = self.n_words = 0
        self._store = store
        self._counted = ["documents", "occurrences"] if occurrences else ["documents"]
        self._trees: list[Callable[[], BlockTree]] = []
        self._numbers: list[list[Kept]] = []  # of every block, for every length
        self._names = Runs(self._joined, lambda run: len(run[0]))

    def add(self, load: Callable[[], BlockTree]) -> None:
        """Add the n-grams of the next block, which ``load`` gives whenever they are needed."""
        tree, block = load(), len(self._trees)
        self._trees.append(load)
        self._numbers.append([Kept(self._store, np.arange(len(tree.names)))])
        self._names.add((tree.names, [block]))
        self.n_documents += tree.n_documents
        self.n_words += tree.n_words

    def counts(self, least: float) -> BlockCounts:
        """The n-grams of all blocks; those of rarer words than ``least`` may be missing.

        Can be asked once.
        """
        names, _ = self._names.take((Names.of([]), []))
        if len(names) > MOST:
            raise DataError(_too_many(1))
        counts = BlockCounts(self.tokenizer, self.stop_words, NGrams(names), [], [])
        self._add_up(counts, 1, len(names))
        for k in range(2, self.ngrams + 1):
            keys = self._number(k, counts, least)
            starts = np.arange(counts.tree.sizes[-1] + 1) * len(names)
            child_ptr = np.searchsorted(keys, starts)
            keys %= max(len(names), 1)
            tree = NGrams(
                names,
                (*counts.tree.child_ptr, child_ptr),
                (*counts.tree.last, keys.astype(np.int32)),
            )
            counts = replace(counts, tree=tree)
            self._add_up(counts, k, len(keys))
        self._trees.clear()
        return counts

    def merged(self) -> BlockTree:
        """The n-grams of all blocks as those of one."""
        counts = self.counts(1)
        tree = counts.tree
        return BlockTree(
            names=Names.of(tree.words),
            children=list(zip(tree.child_ptr, tree.last, strict=True)),
            counts={what: getattr(counts, what) for what in self._counted},
            n_documents=self.n_documents,
            n_words=self.n_words,
        )

    def numbers(self, block: int) -> list[Int32s]:
        """For every length the numbers of the n-grams of a block among those of all, or -1."""
        return [kept.value().astype(np.int32, copy=False) for kept in self._numbers[block]]

    def taken(self, block: int, features: Sequence[Int32s]) -> list[Int32s]:
        """The same of ``features`` of the n-grams of all blocks; the numbers are given up here."""
        taken = [take(of, own) for of, own in zip(features, self.numbers(block), strict=True)]
        self._numbers[block] = []
        return taken

    def _joined(self, left: NamesOfBlocks, right: NamesOfBlocks) -> NamesOfBlocks:
        """Two lists of names as one; the words of their blocks get their numbers there."""
        (names, blocks), (more, more_blocks) = left, right
        places, more_places = text_grams.merge_names(
            names.letters, names.ptr, more.letters, more.ptr
        )
        for members, to in ((blocks, places), (more_blocks, more_places)):
            for numbers in map(self._numbers.__getitem__, members):
                numbers[0] = Kept(self._store, to[numbers[0].value()])
        size = max(int(at[-1]) + 1 if len(at) else 0 for at in (places, more_places))
        source = np.empty(size, dtype=np.int64)
        source[places] = np.arange(len(names))
        source[more_places] = np.arange(len(names), len(names) + len(more))
        both = Names(
            np.concatenate([names.letters, more.letters]),
            np.concatenate([names.ptr, more.ptr[1:] + names.ptr[-1]]),
        )
        return both.take(source), [*blocks, *more_blocks]

    def _number(self, k: int, counts: BlockCounts, least: float) -> Int64s:
        """Number the k-grams of every block by their places among all; the keys of all, sorted."""
        merged: Runs[Int64s] = Runs(np.union1d, len)
        stored, frequent = [], None
        if least > 1:  # an n-gram is at most as frequent as its parts
            parts = counts.documents[-1], counts.documents[0]
            frequent = [np.append(documents >= least, False) for documents in parts]  # of -1: no
        for block in range(len(self._trees)):
            keys = self._keys(block, k, len(counts.tree.words), frequent)
            stored.append(Kept(self._store, keys))
            merged.add(keys if frequent is None else keys[keys >= 0])
        every = merged.take(np.empty(0, dtype=np.int64))
        if sum(counts.tree.sizes) + len(every) > MOST:
            raise DataError(_too_many(k))
        for numbers in self._numbers:
            keys = stored.pop(0).value()
            places = np.searchsorted(every, keys).astype(np.int32)
            places[keys < 0] = -1
            numbers.append(Kept(self._store, places))
        return every

    def _keys(self, block: int, k: int, n_words: int, frequent: list[Bools] | None) -> Int64s:
        """The keys of the k-grams of a block; -1 where a part is not frequent.

        The key of a k-gram is the number of the (k-1)-gram that it begins with, times the number of
        words, plus its last word: less than 2^62. Keys are in the order of the k-grams, as numbers
        of a block and of all blocks are both in order of name.
        """
        parents, words = (self._numbers[block][at].value() for at in (k - 2, 0))
        child_ptr, last = self._trees[block]().children[k - 2]
        children = np.diff(child_ptr)
        keys = np.repeat(parents, children).astype(np.int64, copy=False)
        keys *= n_words
        keys += words[last]
        if frequent is not None:
            begins, ends = frequent[0][parents], frequent[1][words]
            keys[~(np.repeat(begins, children) & ends[last])] = -1
        return keys

    def _add_up(self, counts: BlockCounts, k: int, size: int) -> None:
        """Add up the counts of all blocks."""
        for what in self._counted:
            small = what == "documents" and self.n_documents <= MOST
            sums = np.zeros(size, dtype=np.int32 if small else np.int64)
            for load, levels in zip(self._trees, self._numbers, strict=True):
                numbers, values = levels[-1].value(), load().counts[what][k - 1]
                numbered = numbers >= 0
                if not numbered.all():
                    numbers, values = numbers[numbered], values[numbered]
                sums[numbers] += values
            getattr(counts, what).append(sums)


def _too_many(k: int) -> str:
    return (
        f"there are more than {MOST:,} different n-grams of up to {k} words, and features have "
        "numbers of 32 bits: raise min_df, or lower ngrams."
    )
