"""The features of a corpus that is read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.blocks.counting import BlockCounting, BlockCounts
from textreg.blocks.scratch import Arrays
from textreg.blocks.tokens import BlockTokens
from textreg.errors import UsageError
from textreg.features.encoder import AnyEncoder, side_by_side
from textreg.features.markup import stripped_texts
from textreg.features.rows import PartCounts
from textreg.features.vectorize import Vectorizer, joined_encoder
from textreg.kinds import Tokenizer
from textreg.records import Tokens
from textreg.records.design import CompressedArrays
from textreg.records.documents import check_texts, is_tokenized
from textreg.records.fields import FieldedText
from textreg.structure.joining import Pretokenized

if TYPE_CHECKING:
    from textreg.features.encoder import Encoder
    from textreg.records import Bools, Int32s, Int64s
    from textreg.text import CsrArrays

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
