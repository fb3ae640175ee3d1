"""Features of texts in blocks: the chosen ones, and the matrix of their rows, kept in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.blocks.counting import BlockCounting, BlockCounts, BlockTokens
from textreg.blocks.scratch import Arrays, release_memory
from textreg.errors import UsageError
from textreg.features.encoder import AnyEncoder, side_by_side
from textreg.features.markup import stripped_texts
from textreg.features.vectorize import PartCounts, Vectorizer, joined_encoder
from textreg.kinds import Tokenizer
from textreg.records import Floats, Int32s, Int64s, Tokens
from textreg.records.design import (
    ArrayStore,
    CompressedArrays,
    GroupBlock,
    RowBlock,
    block_products,
)
from textreg.records.documents import FieldedText, check_texts, is_tokenized
from textreg.structure.joining import Pretokenized

if TYPE_CHECKING:
    from textreg.features.encoder import Encoder
    from textreg.records import Bools, Int32s, Int64s
    from textreg.text import CsrArrays


class StoredRows:
    """The rows of all blocks, whose features are numbered within each.

    Parameters
    ----------
    blocks : iterable of CompressedArrays
        The rows of every block, whose indices are features. Each is needed only until the next one
        is asked for.
    n_features : int
        Number of features.
    store : ArrayStore
        Where they are kept.

    Attributes
    ----------
    shape, starts, sizes, elsewhere
        As of :class:`textreg.records.design.RowBlocks`.
    """

    elsewhere = False

    def __init__(
        self, blocks: Iterable[CompressedArrays], n_features: int, store: ArrayStore
    ) -> None:
        self._blocks = _StoredBlocks(store, "")
        self.sizes: Int32s = np.zeros(n_features, dtype=np.int32)
        starts = [0]
        for number, rows in enumerate(blocks):
            start = starts[-1]
            block, counts = numbered_within(rows, start, n_features)
            self.sizes[block.features] += counts
            self._blocks.put(number, block.features, block.rows)
            starts.append(block.end)
        self.starts: Int64s = np.array(starts, dtype=np.int64)
        self.shape = starts[-1], n_features

    def features(self, number: int) -> Int32s:
        """The features that occur in one block, ascending."""
        return self._blocks.features(number)

    def block(self, number: int) -> RowBlock:
        """The rows of one block."""
        start, end = self.starts[number : number + 2].tolist()
        return RowBlock(start, end, self.features(number), self._blocks.rows(number))

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order."""
        chosen = range(len(self.starts) - 1) if numbers is None else numbers
        for number, *own in zip(chosen, *arguments, strict=False):
            yield operation(self.block(number), *own)

    def derive(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        take: Callable[[Any], Int32s],
    ) -> StoredRows:
        """Blocks that are made of these, in the same store; see RowBlocks."""
        made: StoredRows = object.__new__(StoredRows)
        made.starts = self.starts
        made._blocks = self._blocks.beside("derived-")
        for number, (rows, told) in enumerate(self.map(operation, *arguments)):
            made._blocks.put(number, take(told), rows)
        return made

    def large_sums(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values."""
        release_memory()  # whoever asks had a problem in memory before
        sums = np.zeros(self.shape[1])
        for number, (start, end) in enumerate(pairwise(self.starts.tolist())):
            block = self.block(number)
            sums[block.features] += block_products(block, r[start:end])
        features = np.flatnonzero(np.abs(sums) > least).astype(np.int32)
        return features, sums[features]


class _StoredBlocks:
    """Features and rows of blocks in a store, under names that begin with ``prefix``."""

    def __init__(self, store: ArrayStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix

    def beside(self, prefix: str) -> _StoredBlocks:
        """Others in the same store."""
        return _StoredBlocks(self._store, self._prefix + prefix)

    def put(self, number: int, features: Int32s, rows: CompressedArrays) -> None:
        """Keep those of a block."""
        self._store.put(f"{self._prefix}{number}-features", features)
        for name, array in rows._asdict().items():
            self._store.put(f"{self._prefix}{number}-{name}", array)

    def features(self, number: int) -> Int32s:
        """Those of a block."""
        return self._store.get(f"{self._prefix}{number}-features")

    def rows(self, number: int) -> CompressedArrays:
        """Those of a block."""
        get = self._store.get
        return CompressedArrays(
            *(get(f"{self._prefix}{number}-{name}") for name in CompressedArrays._fields)
        )


class StoredGroups:
    """The groups of all blocks.

    Parameters
    ----------
    blocks : iterable of GroupBlock
        Those of every block.
    n_features : int
        Number of features.
    store : ArrayStore
        Where they are kept.

    Attributes
    ----------
    counts : ndarray of int64
        Number of groups of every block.
    """

    def __init__(self, blocks: Iterable[GroupBlock], n_features: int, store: ArrayStore) -> None:
        self.n_features, self._store = n_features, store
        counts = []
        for number, block in enumerate(blocks):
            for name, array in block._asdict().items():
                store.put(f"{number}-groups-{name}", array)
            counts.append(len(block.weights))
        self.counts: Int64s = np.array(counts, dtype=np.int64)

    def map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, in order."""
        for number, *own in zip(range(len(self.counts)), *arguments, strict=False):
            get = (self._store.get(f"{number}-groups-{name}") for name in GroupBlock._fields)
            yield operation(GroupBlock(*get), *own)


def numbered_within(rows: CompressedArrays, start: int, n_features: int) -> tuple[RowBlock, Int32s]:
    """Rows from ``start`` on as a block; and how many of them have each of its features."""
    indptr, indices, data = rows
    counts = np.bincount(indices, minlength=n_features)
    features = np.flatnonzero(counts).astype(np.int32)
    sizes = counts[features].astype(np.int32)
    place = counts  # the number of every feature in the block, from here on
    place[features] = np.arange(len(features))
    arrays = CompressedArrays(indptr, place[indices].astype(np.int32), data)
    return RowBlock(start, start + len(indptr) - 1, features, arrays), sizes


def cut_rows(
    arrays: tuple[Int64s, Int32s, Floats], starts: Iterable[int]
) -> Iterable[CompressedArrays]:
    """The rows of a matrix, cut before these rows; the last is the end."""
    indptr, indices, data = arrays
    for start, end in pairwise(starts):
        first, last = indptr[start], indptr[end]
        yield CompressedArrays(
            indptr[start : end + 1] - first, indices[first:last], data[first:last]
        )


ROWS = ("indptr", "indices", "data")


class BlockVectorizer:
    """What :meth:`Vectorizer.fit` does, for documents that come in blocks.

    Features, weights and rows are the same, to the last bit. In memory are one block at a time, and
    names and counts of the different n-grams; all else is in the arrays.

    Parameters
    ----------
    tokenizer : Tokenizer
    vectorizer : Vectorizer
    arrays : Arrays
        For the blocks. The names of those that are kept begin with ``rows-`` and ``tokens-``; those
        of others, which are dropped by :meth:`finish`, with ``part-``.

    Raises
    ------
    UsageError
        If the tokenizer takes lists of tokens, or for settings that :meth:`Vectorizer.fit` refuses.
    """

    def __init__(self, tokenizer: Tokenizer, vectorizer: Vectorizer, arrays: Arrays) -> None:
        vectorizer.limits(0)  # refuse wrong settings before anything is read
        parts = vectorizer.parts(tokenizer)
        if any(isinstance(part, Pretokenized) for part in parts):
            raise UsageError(_NO_TOKENS)
        self._vectorizer = vectorizer
        self._arrays = arrays
        self._parts = [
            BlockCounting(
                part,
                vectorizer.stop_words_of(part),
                vectorizer.ngrams_of(part),
                arrays,
                f"part-{number}",
                occurrences=vectorizer.max_features is not None,
            )
            for number, part in enumerate(parts)
        ]
        self._starts = [0]

    def add(self, texts: Sequence[str]) -> None:
        """Count the n-grams of the next block of documents.

        Parameters
        ----------
        texts : sequence of str

        Raises
        ------
        DataError
            If one of them is no text.
        UsageError
            If they are lists of tokens, or have several fields.
        """
        if is_tokenized(texts):
            raise UsageError(_NO_TOKENS)
        texts = check_texts(texts)
        if any(isinstance(text, FieldedText) for text in texts):
            raise UsageError(_NO_FIELDS)
        if self._vectorizer.strip_html:
            texts = stripped_texts(texts)
        for part in self._parts:
            part.add(texts)
        self._starts.append(self._starts[-1] + len(texts))

    def finish(self) -> BlockFeatures:
        """The features of all documents. Nothing can be added afterwards.

        Raises
        ------
        DataError
            If there are no texts or words, if pruning leaves no feature, or if there are more
            different n-grams than numbers of 32 bits.
        """
        chosen = choose_features(self._parts, self._vectorizer, self._starts[-1])
        writers = [_PartFeatures(*pair) for pair in zip(self._parts, chosen, strict=True)]
        del chosen
        encoder = joined_encoder([writer.encoder for writer in writers])
        columns = np.cumsum([0, *(writer.encoder.n_columns for writer in writers)])
        tokens = BlockTokens(self._arrays, "tokens")
        for block in range(len(self._starts) - 1):
            first, *others = (writer.encoded(block) for writer in writers)
            tokens.put(block, first.tokens)
            rows = side_by_side([part.rows(None) for part in (first, *others)], columns)
            del first, others
            self._put_rows(block, rows)
            for part in self._parts:
                part.drop(block)
        return BlockFeatures(encoder, np.array(self._starts, dtype=np.int64), self._arrays, tokens)

    def _put_rows(self, block: int, rows: CsrArrays) -> None:
        for field in ROWS:
            self._arrays.put(f"rows-{block}-{field}", getattr(rows, field))


class ChosenFeatures(NamedTuple):
    """The features of one tokenizer.

    encoder: makes rows of texts. numbers: for every length of n-grams the feature of each, or -1.
    every: whether all n-grams are features.
    """

    encoder: Encoder
    numbers: list[Int32s]
    every: bool


def choose_features(
    parts: Sequence[BlockCounting], vectorizer: Vectorizer, n: int
) -> list[ChosenFeatures]:
    """The features of n documents whose n-grams were counted; errors as of Vectorizer.fit."""
    least, _ = vectorizer.limits(n)
    counts = []
    for part in parts:
        counts.append(part.counts(least))
        vectorizer.check_words(counts[-1], n, part.n_words)
    keep = vectorizer.keep(counts, n)
    return [_chosen(one, mask, vectorizer, n) for one, mask in zip(counts, keep, strict=True)]


def _chosen(counts: BlockCounts, keep: Bools, vectorizer: Vectorizer, n: int) -> ChosenFeatures:
    """The n-grams to keep as features."""
    every, names = counts.features(keep)
    frequencies = np.empty(len(names), dtype=np.int64)
    for numbers, documents in zip(every, counts.documents, strict=True):
        kept = numbers >= 0
        if kept.all():  # spares copies
            frequencies[numbers] = documents
        else:
            frequencies[numbers[kept]] = documents[kept]
    encoder: Encoder = vectorizer.encoder(counts, names, n, frequencies)
    return ChosenFeatures(encoder, every, bool(keep.all()))


class _PartFeatures:
    """The features of one tokenizer, by block."""

    def __init__(self, counting: BlockCounting, chosen: ChosenFeatures) -> None:
        self._counting = counting
        self.encoder, self._numbers, self._all = chosen

    def encoded(self, block: int) -> PartCounts:
        """The features in a block, and how they are weighed."""
        words = self._counting.words(block)
        tokens = self._counting.tokens(block, words, self._numbers, self.encoder.vocabulary)
        # Where all n-grams are features, their counts give the norms.
        return PartCounts(tokens, self.encoder, None if self._all else self.encoder.norms(words))


class BlockFeatures:
    """The features of documents in blocks, from :class:`BlockVectorizer`.

    Attributes
    ----------
    encoder : Encoder or JoinedEncoder
        Makes rows with these features of new texts.
    starts : ndarray of int64, shape (blocks + 1,)
        The first document of every block, and the number of documents.
    shape : tuple of int
        Number of documents and of features.
    """

    def __init__(
        self, encoder: AnyEncoder, starts: Int64s, arrays: Arrays, tokens: BlockTokens
    ) -> None:
        self.encoder = encoder
        self.starts = starts
        self.shape = int(starts[-1]), encoder.n_columns
        self._arrays = arrays
        self._tokens = tokens

    def rows(self, block: int) -> CompressedArrays:
        """The weighted rows of a block, with sorted columns: mapped, if its arrays are in files."""
        return CompressedArrays(*(self._arrays.get(f"rows-{block}-{field}") for field in ROWS))

    def drop_rows(self, block: int) -> None:
        """Forget the rows of a block."""
        for field in ROWS:
            self._arrays.drop(f"rows-{block}-{field}")

    def drop_tokens(self, block: int) -> None:
        """Forget the tokens of a block."""
        self._tokens.drop(block)

    def tokens(self, block: int) -> Tokens:
        """Every occurrence of a feature of the first tokenizer in a block, n-grams included.

        Ids are columns, whose first ones are these features. Sentences without features are
        included.
        """
        return self._tokens.get(block, self.encoder.parts[0].vocabulary)


_NO_TOKENS = (
    "documents that are lists of tokens cannot be read in blocks: give texts, or train in memory."
)
_NO_FIELDS = "documents of several fields cannot be read in blocks: give texts, or train in memory."
