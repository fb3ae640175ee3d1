"""The n-grams of one tokenizer in blocks of documents, counted over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core import text_counts, text_grams
from textreg.blocks.merging import MergedKeys, MergedNames
from textreg.blocks.scratch import Arrays
from textreg.blocks.tokens import BlockTokens, NoNames
from textreg.errors import DataError
from textreg.features.ngrams import (
    NGramCounts,
    NGrams,
    by_name,
    occurrences,
    take,
    tokens_of,
    where_wanted,
)
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Tokens
from textreg.records.convert import MOST
from textreg.records.names import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Int32s, Int64s


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


class BlockCounting:
    """Counts the n-grams of one tokenizer block by block.

    In the arrays of a block words and n-grams have numbers of that block alone, in order of name as
    everywhere. So they are small, and stay as they are whatever words other blocks bring. An array
    ``numbers`` of every block has the numbers of its n-grams among those of all blocks; it ascends.

    Parameters
    ----------
    tokenizer : Tokenizer
    stop_words : tuple of str
        Words to drop.
    ngrams : int
        The largest number of words in an n-gram.
    arrays : Arrays
    prefix : str
        What the names of the arrays begin with.
    occurrences : bool
        Whether to count occurrences, too, and not only documents.

    Attributes
    ----------
    n_documents, n_blocks : int
    n_words : int
        Number of occurrences of words, without stop words.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        stop_words: tuple[str, ...],
        ngrams: int,
        arrays: Arrays,
        prefix: str,
        *,
        occurrences: bool,
    ) -> None:
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.ngrams = ngrams
        self.n_documents = 0
        self.n_words = 0
        self.n_blocks = 0
        self._arrays = arrays
        self._prefix = prefix
        self._words = BlockTokens(arrays, prefix)
        self._counted = ["documents", "occurrences"] if occurrences else ["documents"]
        self._names = MergedNames(self._move)

    def add(self, texts: Sequence[str]) -> None:
        """Count the words of the next block."""
        words = by_name(calls.encode(self.tokenizer, texts), self.stop_words)
        block, names = self.n_blocks, Names.of(words.vocabulary)
        self._words.put(block, words)
        self._count(block, 1, words.ids, words.token_document_ptr, len(names))
        self._put(block, 1, "numbers", np.arange(len(names)))
        self._names.add(block, names)
        self.n_documents += len(texts)
        self.n_words += len(words.ids)
        self.n_blocks += 1

    def counts(self, least: float) -> BlockCounts:
        """The n-grams of all blocks; those of rarer words than ``least`` may be missing."""
        names = self._names.take()
        if len(names) > MOST:
            raise DataError(_too_many(1))
        counts = BlockCounts(self.tokenizer, self.stop_words, NGrams(names), [], [])
        self._add_up(counts, 1, len(names))
        for k in range(2, self.ngrams + 1):
            keys = self._merged(k, counts, least)
            if sum(counts.tree.sizes) + len(keys) > MOST:
                raise DataError(_too_many(k))
            self._number(k, keys)
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
        return counts

    def words(self, block: int) -> Tokens:
        """The words of a block, without their names."""
        size = len(self._get(block, 1, "numbers"))
        return self._words.get(block, NoNames(size))

    def tokens(
        self, block: int, words: Tokens, features: Sequence[Int32s], names: Sequence[str]
    ) -> Tokens:
        """Every occurrence of a feature in a block, whose words are given.

        ``features`` has for every length the feature of each n-gram of all blocks, or -1.
        """
        streams = [self._stream(block, k) for k in range(1, self.ngrams + 1)]
        numbers = [
            take(level, self._get(block, k, "numbers")) for k, level in enumerate(features, 1)
        ]
        return tokens_of(words, streams, numbers, names)

    def drop(self, block: int) -> None:
        """Forget all arrays of a block."""
        self._words.drop(block)
        for k in range(1, self.ngrams + 1):
            self._drop(block, k, "numbers")
            if k > 1:
                self._drop(block, k, "stream")

    def _move(self, block: int, places: Int64s) -> None:
        """Give the words of a block their numbers among the names that these were merged into."""
        self._put(block, 1, "numbers", places[self._get(block, 1, "numbers")])

    def _merged(self, k: int, counts: BlockCounts, least: float) -> Int64s:
        """The keys of the k-grams of all blocks, sorted."""
        merged = MergedKeys()
        for block in range(self.n_blocks):
            keys = self._extended(block, k, counts, least)
            self._put(block, k, "keys", keys)
            merged.add(keys)
        return merged.take()

    def _extended(self, block: int, k: int, counts: BlockCounts, least: float) -> Int64s:
        """Find and count the k-grams of a block; their keys.

        The key of a k-gram is the number of the (k-1)-gram that it begins with, times the number of
        words, plus its last word: less than 2^62. Keys are in the order of the k-grams, as numbers
        of a block and of all blocks are both in order of name.
        """
        tokens = self.words(block)
        parents, words = self._get(block, k - 1, "numbers"), self._get(block, 1, "numbers")
        wanted, common = self._stream(block, k - 1), tokens.ids
        if least > 1:  # an n-gram is at most as frequent as its parts
            wanted = where_wanted(wanted, counts.documents[-1][parents] >= least)
            common = where_wanted(common, counts.documents[0][words] >= least)
        stream, child_ptr, last = text_grams.grams(
            wanted, common, tokens.sentence_ptr, k, len(parents), len(words)
        )
        self._put(block, k, "stream", stream)
        self._count(block, k, stream, tokens.token_document_ptr, len(last))
        keys = np.repeat(parents, np.diff(child_ptr)).astype(np.int64, copy=False)
        keys *= len(counts.tree.words)
        keys += words[last]
        return keys

    def _number(self, k: int, every: Int64s) -> None:
        """Number the k-grams of every block by their places among all keys."""
        for block in range(self.n_blocks):
            numbers = np.searchsorted(every, self._get(block, k, "keys")).astype(np.int32)
            self._put(block, k, "numbers", numbers)
            self._drop(block, k, "keys")

    def _count(self, block: int, k: int, stream: Int32s, ptr: Int64s, size: int) -> None:
        """Count the k-grams of a block."""
        for what in self._counted:
            counted = (
                text_counts.document_frequencies(stream, ptr, size)
                if what == "documents"
                else occurrences(stream, size)
            )
            self._put(block, k, what, counted)

    def _add_up(self, counts: BlockCounts, k: int, size: int) -> None:
        """Add up the counts of all blocks."""
        for what in self._counted:
            small = what == "documents" and self.n_documents <= MOST
            sums = np.zeros(size, dtype=np.int32 if small else np.int64)
            for block in range(self.n_blocks):
                sums[self._get(block, k, "numbers")] += self._get(block, k, what)
                self._drop(block, k, what)
            getattr(counts, what).append(sums)

    def _stream(self, block: int, k: int) -> Int32s:
        """The k-gram that begins at every place of a block, or -1."""
        if k == 1:
            return self.words(block).ids
        return self._get(block, k, "stream")

    def _name(self, block: int, k: int, what: str) -> str:
        return f"{self._prefix}-{block}-{k}-{what}"

    def _put(self, block: int, k: int, what: str, array: NDArray[Any]) -> None:
        self._arrays.put(self._name(block, k, what), array)

    def _get(self, block: int, k: int, what: str) -> NDArray[Any]:
        return self._arrays.get(self._name(block, k, what))

    def _drop(self, block: int, k: int, what: str) -> None:
        self._arrays.drop(self._name(block, k, what))


def _too_many(k: int) -> str:
    return (
        f"there are more than {MOST:,} different n-grams of up to {k} words, and features have "
        "numbers of 32 bits: raise min_df, or lower ngrams."
    )
