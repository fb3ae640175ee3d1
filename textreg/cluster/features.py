"""The features of documents on the workers, and the blocks with these features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.blocks.features import choose_features
from textreg.blocks.heap import release_memory
from textreg.blocks.matrix import numbered_within
from textreg.blocks.tokens import NoNames
from textreg.cluster.blocks import ClusterBlock
from textreg.cluster.counting import ClusterCounts, Counting, Numbers, Occurrences
from textreg.features.encoder import Encoder, side_by_side
from textreg.features.ngrams import tokens_of
from textreg.features.rows import PartCounts
from textreg.features.vectorize import joined_encoder
from textreg.plugins import calls
from textreg.records.block_operations import GroupBlock
from textreg.records.design import CompressedArrays

if TYPE_CHECKING:
    from textreg.blocks.scratch import Arrays
    from textreg.cluster.texts import ClusterTexts
    from textreg.features.encoder import AnyEncoder
    from textreg.features.vectorize import Vectorizer
    from textreg.kinds import GroupBuilder, Tokenizer


class Weighing(NamedTuple):
    """What makes rows of counted n-grams.

    encoders: of every tokenizer, with the names of the features only where groups are made of
    these. every: for each whether all its n-grams are features.
    """

    encoders: Sequence[Encoder]
    every: Sequence[bool]


class ClusterFeatures:
    """The features of all documents: n-grams are counted and merged by the workers.

    Parameters
    ----------
    texts : ClusterTexts
    tokenizer : Tokenizer
    vectorizer : Vectorizer
    arrays : Arrays
        For counts that are kept here.
    done : callable
        Told the number of documents that were counted.

    Attributes
    ----------
    encoder : Encoder or JoinedEncoder
        Makes rows with these features of new texts.

    Raises
    ------
    UsageError, DataError
        As of :meth:`Vectorizer.fit`.
    """

    def __init__(
        self,
        texts: ClusterTexts,
        tokenizer: Tokenizer,
        vectorizer: Vectorizer,
        arrays: Arrays,
        done: Callable[[int], None],
    ) -> None:
        self._texts = texts
        self._counts = ClusterCounts(texts, Counting.of(vectorizer, tokenizer), arrays, done)
        self._chosen = choose_features(self._counts.parts, vectorizer, len(texts))
        self.encoder: AnyEncoder = joined_encoder([one.encoder for one in self._chosen])

    def blocks(self, groups: GroupBuilder | None) -> list[Any]:
        """Futures of the blocks, a :class:`ClusterBlock` each. Can be asked once."""
        chosen, self._chosen = self._chosen, []
        encoders = [
            one.encoder if groups is not None and not number else nameless(one.encoder)
            for number, one in enumerate(chosen)
        ]
        submit = self._texts.connection.submit
        weighing = submit(same, Weighing(encoders, [one.every for one in chosen]))
        counted = self._counts.take([one.numbers for one in chosen])
        return [
            submit(make_block, weighing, groups, start, words, numbers)
            for (start, _, _), (words, numbers) in zip(self._texts.blocks(), counted, strict=True)
        ]


def nameless(encoder: Encoder) -> Encoder:
    """An encoder that weighs as this one, without the names of the features."""
    return Encoder(
        encoder.tokenizer,
        encoder.vectorizer,
        NoNames(len(encoder.vocabulary)),
        encoder.idf,
        stop_words=encoder.stop_words,
    )


def make_block(
    weighing: Weighing,
    builder: GroupBuilder | None,
    start: int,
    words: Sequence[Occurrences],
    numbers: Numbers,
) -> ClusterBlock:
    """The rows and groups of a block, by a worker.

    words, numbers: of every tokenizer what was counted, and the feature of each of its n-grams.
    """
    parts = []
    for encoder, every, one, own in zip(*weighing, words, numbers, strict=True):
        tokens = tokens_of(one.words, one.streams, own, encoder.vocabulary)
        # Where all n-grams are features, their counts give the norms.
        parts.append(PartCounts(tokens, encoder, None if every else encoder.norms(one.words)))
    columns = np.cumsum([0, *(encoder.n_columns for encoder in weighing.encoders)])
    arrays = side_by_side([part.rows(None) for part in parts], columns)
    rows, sizes = numbered_within(CompressedArrays(*arrays), start, int(columns[-1]))
    del arrays
    groups = None
    if builder is not None:
        built = calls.build_groups(builder, parts[0].tokens)
        groups = GroupBlock(built.indptr, built.indices, built.weights)
    del parts
    release_memory()
    return ClusterBlock(rows, groups, sizes)


def same(value: Any) -> Any:
    """What was given, kept by a worker."""
    return value
