"""N-grams that were counted elsewhere, block by block, as those of all documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textreg.blocks.counting import BlockCounting, BlockCounts
from textreg.features.counting import Counted
from textreg.kinds import Tokenizer
from textreg.records import Documents, Int32s, Int64s
from textreg.records.names import Names


class BlockTree(NamedTuple):
    """The n-grams of one tokenizer in a block of documents.

    Attributes
    ----------
    names : Names
        The words, in order.
    children : list of tuple
        For n-grams of 2 words and so on: see :class:`textreg.features.ngrams.NGrams`.
    counts : dict of str to list of ndarray
        For every length the number of ``documents`` with each n-gram; and of ``occurrences``, where
        these are wanted.
    n_documents, n_words : int
        The number of documents, and of occurrences of words.
    """

    names: Names
    children: list[tuple[Int64s, Int32s]]
    counts: dict[str, list[Int32s]]
    n_documents: int
    n_words: int


def tree_of(
    tokenizer: Tokenizer,
    texts: Documents,
    ngrams: int,
    stop_words: tuple[str, ...],
    *,
    occurrences: bool,
) -> BlockTree:
    """The n-grams of a block.

    Parameters
    ----------
    tokenizer : Tokenizer
    texts : sequence of str
    ngrams : int
        The largest number of words in an n-gram.
    stop_words : tuple of str
        Words to drop.
    occurrences : bool
        Whether to count occurrences, too.
    """
    counted = Counted.of(tokenizer, texts, ngrams, 1, stop_words)
    ends = np.cumsum(counted.tree.sizes)[:-1]
    every = {"documents": counted.frequencies()}
    if occurrences:
        every["occurrences"] = counted.totals()
    counts = {what: np.split(one.astype(np.int32), ends) for what, one in every.items()}
    return BlockTree(
        names=Names.of(counted.tree.words),
        children=list(zip(counted.tree.child_ptr, counted.tree.last, strict=True)),
        counts=counts,
        n_documents=len(texts),
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
        occurrences = "occurrences" in self._counted
        self.add_tree(
            tree_of(self.tokenizer, texts, self.ngrams, self.stop_words, occurrences=occurrences)
        )

    def drop(self, block: int) -> None:
        """Forget the numbers of a block."""
        for k in range(1, self.ngrams + 1):
            self._drop(block, k, "numbers")
