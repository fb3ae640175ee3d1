"""N-grams that were counted elsewhere, block by block, as those of all documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textreg.blocks.counting import BlockCounting, BlockCounts
from textreg.features.ngrams import Counted
from textreg.records import Int32s, Int64s
from textreg.records.names import Names


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
    counts = {what: np.split(one.astype(np.int32), ends) for what, one in every.items()}
    return BlockTree(
        names=Names.of(counted.tree.words),
        children=list(zip(counted.tree.child_ptr, counted.tree.last, strict=True)),
        counts=counts,
        n_documents=len(counted.words.document_ptr) - 1,
        n_words=len(counted.words.ids),
    )


class TreeCounting(BlockCounting):
    """Counts n-grams over all blocks, as its base does, of those counted in every block."""

    def add_tree(self, tree: BlockTree) -> None:
        """Add those of the next block."""
        block = self.n_blocks
        self._put(block, 1, "numbers", np.arange(len(tree.names)))
        for what in self._counted:
            for k, counts in enumerate(tree.counts[what], 1):
                self._put(block, k, what, counts)
        for k, (child_ptr, last) in enumerate(tree.children, 2):
            self._put(block, k, "child_ptr", child_ptr)
            self._put(block, k, "last", last)
        self._names.add(block, tree.names)
        self.n_documents += tree.n_documents
        self.n_words += tree.n_words
        self.n_blocks += 1

    def _extended(self, block: int, k: int, counts: BlockCounts, least: float) -> Int64s:
        """The keys of the k-grams of a block; rare ones are among them."""
        parents, words = self._get(block, k - 1, "numbers"), self._get(block, 1, "numbers")
        child_ptr, last = self._get(block, k, "child_ptr"), self._get(block, k, "last")
        keys = np.repeat(parents, np.diff(child_ptr)).astype(np.int64, copy=False)
        keys *= len(counts.tree.words)
        keys += words[last]
        for what in ("child_ptr", "last"):
            self._drop(block, k, what)
        return keys

    def add(self, texts: Sequence[str]) -> None:
        """Count the n-grams of the next block here."""
        counted = Counted.of(self.tokenizer, texts, self.ngrams, 1, self.stop_words)
        self.add_tree(tree_of(counted, occurrences="occurrences" in self._counted))

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
        """For every length the numbers of the n-grams of a block among those of all."""
        every = (self._get(block, k, "numbers") for k in range(1, self.ngrams + 1))
        return [numbers.astype(np.int32, copy=False) for numbers in every]

    def taken(self, block: int, features: Sequence[Int32s]) -> list[Int32s]:
        """The same of ``features`` of the n-grams of all blocks."""
        return [of[own] for of, own in zip(features, self.numbers(block), strict=True)]

    def drop(self, block: int) -> None:
        """Forget the numbers of a block."""
        for k in range(1, self.ngrams + 1):
            self._drop(block, k, "numbers")
