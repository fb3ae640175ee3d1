"""Counts of texts in blocks: each block's own, merged into those of all.

Sorted lists of many blocks, merged without all of them in memory at once.

Lists of about the same size are merged, as the digits of a binary counter carry: so every entry is
copied only a few times, however many blocks there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from textreg._core import text_counts, text_grams, text_names
from textreg.blocks.scratch import Arrays
from textreg.errors import DataError
from textreg.features.ngrams import (
    Counted,
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
from textreg.records import Int32s, Int64s, Tokens
from textreg.records.arrays import MOST
from textreg.records.text import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Int32s, Int64s


ALWAYS = ("ids", "sentence_ptr", "document_ptr")


class NoNames(Sequence[str]):
    """So many names, of which nobody needs to know more than how many there are."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: object) -> NoReturn:
        raise LookupError("these names were left out")


class BlockTokens:
    """Tokens of every block, over a vocabulary that is kept elsewhere.

    Parameters
    ----------
    arrays : Arrays
    prefix : str
        What the names of the arrays begin with.
    """

    def __init__(self, arrays: Arrays, prefix: str) -> None:
        self._arrays = arrays
        self._prefix = prefix
        self._with_paragraphs: set[int] = set()

    def put(self, block: int, tokens: Tokens) -> None:
        """Keep those of a block, without character offsets."""
        for field in ALWAYS:
            self._arrays.put(self._name(block, field), getattr(tokens, field))
        if tokens.paragraph_ptr is not None:
            self._arrays.put(self._name(block, "paragraph_ptr"), tokens.paragraph_ptr)
            self._with_paragraphs.add(block)

    def get(self, block: int, vocabulary: Sequence[str]) -> Tokens:
        """Those of a block."""
        ids, sentence_ptr, document_ptr = (
            self._arrays.get(self._name(block, field)) for field in ALWAYS
        )
        paragraph_ptr = None
        if block in self._with_paragraphs:
            paragraph_ptr = self._arrays.get(self._name(block, "paragraph_ptr"))
        return Tokens(ids, sentence_ptr, document_ptr, vocabulary, paragraph_ptr=paragraph_ptr)

    def drop(self, block: int) -> None:
        """Forget those of a block."""
        fields = [*ALWAYS, *(["paragraph_ptr"] if block in self._with_paragraphs else [])]
        for field in fields:
            self._arrays.drop(self._name(block, field))

    def _name(self, block: int, field: str) -> str:
        return f"{self._prefix}-{block}-{field}"


class MergedKeys:
    """The distinct ones of sorted numbers."""

    def __init__(self) -> None:
        self._runs: list[Int64s] = []

    def add(self, keys: Int64s) -> None:
        """Add numbers, each greater than the one before."""
        while self._runs and len(self._runs[-1]) < 2 * len(keys):
            keys = _union(self._runs.pop(), keys)
        self._runs.append(keys)

    def take(self) -> Int64s:
        """All numbers in order, which are given up here."""
        keys = np.empty(0, dtype=np.int64)
        while self._runs:
            keys = _union(self._runs.pop(), keys)
        return keys


class MergedNames:
    """The distinct ones of sorted names, and where those of every block are among them.

    Parameters
    ----------
    move : callable
        Called with a block and an array of int64, when names are merged: what had the number i
        among the names that the block was merged into so far now has the number in entry i.
    """

    def __init__(self, move: Callable[[int, Int64s], None]) -> None:
        self._move = move
        self._runs: list[tuple[Names, list[int]]] = []

    def add(self, block: int, names: Names) -> None:
        """Add the names of a block, sorted by their bytes, and none of them twice."""
        run = names, [block]
        while self._runs and len(self._runs[-1][0]) < 2 * len(run[0]):
            run = self._merged(self._runs.pop(), run)
        self._runs.append(run)

    def take(self) -> Names:
        """All names in order, which are given up here."""
        run = Names.of([]), list[int]()
        while self._runs:
            run = self._merged(self._runs.pop(), run)
        return run[0]

    def _merged(
        self, one: tuple[Names, list[int]], other: tuple[Names, list[int]]
    ) -> tuple[Names, list[int]]:
        """Two lists of names as one, each with its blocks."""
        (names, blocks), (more, more_blocks) = one, other
        places, more_places = text_names.merge_names(
            names.letters, names.ptr, more.letters, more.ptr
        )
        for block in blocks:
            self._move(block, places)
        for block in more_blocks:
            self._move(block, more_places)
        size = max(int(at[-1]) + 1 if len(at) else 0 for at in (places, more_places))
        source = np.empty(size, dtype=np.int64)
        source[places] = np.arange(len(names))
        source[more_places] = np.arange(len(names), len(names) + len(more))
        both = Names(
            np.concatenate([names.letters, more.letters]),
            np.concatenate([names.ptr, more.ptr[1:] + names.ptr[-1]]),
        )
        return both.take(source), [*blocks, *more_blocks]


def _union(one: Int64s, other: Int64s) -> Int64s:
    """The distinct ones of two sorted arrays, neither of which has a number twice."""
    if not len(one) or not len(other):
        return one if len(one) else other
    every = np.concatenate([one, other])
    every.sort(kind="stable")  # merges the two in linear time
    new = np.empty(len(every), dtype=bool)
    new[0] = True
    np.not_equal(every[1:], every[:-1], out=new[1:])
    distinct: Int64s = every[new]
    return distinct


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
