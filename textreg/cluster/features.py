"""Features counted and weighed on the workers of a cluster.

N-grams counted by the workers, and merged there in a fixed tree.

    block  block  block  block  block  ...     words of each, and how many documents have them
      └──────┼──────┘      └──────┼──────┘
           merged               merged    ...  at most MERGED at a time, in the order of blocks
             └─────────┬──────────┘
                 here, the last time           all n-grams: which of them are features

The features go the same way back: whoever merged some n-grams knows the number of each among the
merged ones. What is merged with what depends on the blocks alone, and counts are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.blocks.counting import BlockTree, NoNames, TreeCounting, tree_of
from textreg.blocks.features import choose_features, numbered_within
from textreg.blocks.scratch import Arrays, Memory, release_memory
from textreg.cluster.blocks import ClusterBlock
from textreg.features.encoder import Encoder, side_by_side
from textreg.features.markup import stripped_texts
from textreg.features.ngrams import Counted, tokens_of
from textreg.features.vectorize import PartCounts, joined_encoder
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records.design import CompressedArrays, GroupBlock

if TYPE_CHECKING:
    from textreg.blocks.scratch import Arrays
    from textreg.cluster.texts import ClusterTexts
    from textreg.features.encoder import AnyEncoder
    from textreg.features.vectorize import Vectorizer
    from textreg.kinds import GroupBuilder, Tokenizer
    from textreg.records import Int32s, Tokens


# Most lists of n-grams that are merged at a time.
MERGED = 8

# For every tokenizer, and every length of n-grams, a number of each: a feature, or -1 for none.
Numbers = list[list["Int32s"]]


class Counting(NamedTuple):
    """What is counted: by which tokenizers, the longest n-grams and stop words of each."""

    tokenizers: Sequence[tuple[Tokenizer, int, tuple[str, ...]]]
    strip_html: bool
    occurrences: bool

    @classmethod
    def of(cls, vectorizer: Vectorizer, tokenizer: Tokenizer) -> Counting:
        """What the settings ask for."""
        tokenizers = [
            (part, vectorizer.ngrams_of(part), vectorizer.stop_words_of(part))
            for part in vectorizer.parts(tokenizer)
        ]
        return cls(tokenizers, vectorizer.strip_html, vectorizer.max_features is not None)

    def parts(self, arrays: Arrays) -> list[TreeCounting]:
        """What adds up trees of every tokenizer; counts are kept in ``arrays``."""
        return [
            TreeCounting(
                tokenizer,
                stop_words,
                ngrams,
                arrays,
                f"part-{number}",
                occurrences=self.occurrences,
            )
            for number, (tokenizer, ngrams, stop_words) in enumerate(self.tokenizers)
        ]


class Occurrences(NamedTuple):
    """The words of a block, without names, and where in it n-grams are; see NGrams.collect."""

    words: Tokens
    streams: list[Int32s]


@dataclass
class Branch:
    """N-grams on the workers.

    trees: a future of those of every tokenizer. words: of a block alone, a future of the
    :class:`Occurrences` of every tokenizer. numbers, branches: of merged n-grams, a future of what
    those of each branch became.
    """

    trees: Any
    words: Any = None
    numbers: Any = None
    branches: Sequence[Branch] = ()


class ClusterCounts:
    """The n-grams of all documents, counted by the workers.

    Parameters
    ----------
    texts : ClusterTexts
    counting : Counting
    arrays : Arrays
        Where counts are kept here.
    done : callable
        Told the number of documents that were counted.

    Attributes
    ----------
    parts : list of TreeCounting
        For every tokenizer the n-grams of all blocks.
    """

    def __init__(
        self, texts: ClusterTexts, counting: Counting, arrays: Arrays, done: Callable[[int], None]
    ) -> None:
        self._connection = texts.connection
        self._counting = counting
        branches = self._counted(texts, done)
        while len(branches) > MERGED:
            runs = range(0, len(branches), MERGED)
            branches = [self._merged(branches[first : first + MERGED]) for first in runs]
        self._branches = branches
        self.parts = counting.parts(arrays)
        for trees in self._connection.results(branch.trees for branch in branches):
            for part, tree in zip(self.parts, trees, strict=True):
                part.add_tree(tree)
        for branch in branches:
            branch.trees = None

    def take(self, features: Sequence[Sequence[Int32s]]) -> Iterator[tuple[Any, Any]]:
        """Futures of the words of every block, and of the features of its n-grams: ``Numbers``.

        features: for every tokenizer and length the feature of each n-gram of all blocks, or -1.
        Can be asked once.
        """
        branches, self._branches = self._branches, []
        for number, branch in enumerate(branches):
            own = [
                part.taken(number, levels)
                for part, levels in zip(self.parts, features, strict=True)
            ]
            for part in self.parts:
                part.drop(number)
            yield from self._passed_down(branch, own)

    def _counted(self, texts: ClusterTexts, done: Callable[[int], None]) -> list[Branch]:
        """The n-grams of every block."""
        submit, branches = self._connection.submit, list[Branch]()

        def sizes() -> Iterator[Any]:
            for _, _, pieces in texts.blocks():
                both = submit(count_block, self._counting, *pieces)
                branch = Branch(submit(itemgetter(0), both), submit(itemgetter(1), both))
                branches.append(branch)
                yield submit(documents_in, branch.trees)

        documents = 0
        for size in self._connection.results(sizes()):
            documents += size
            done(documents)
        return branches

    def _merged(self, branches: Sequence[Branch]) -> Branch:
        """The n-grams of some of them, in order."""
        if len(branches) == 1:
            return branches[0]
        submit = self._connection.submit
        both = submit(merge, self._counting, *(branch.trees for branch in branches))
        for branch in branches:
            branch.trees = None  # forgotten as soon as they are merged
        return Branch(submit(itemgetter(0), both), None, submit(itemgetter(1), both), branches)

    def _passed_down(self, branch: Branch, features: Any) -> Iterator[tuple[Any, Any]]:
        """What :meth:`take` gives of the blocks of a branch, whose n-grams have these features."""
        if not branch.branches:
            yield branch.words, features
            return
        submit = self._connection.submit
        both = submit(passed_down, branch.numbers, features)
        for number, below in enumerate(branch.branches):
            yield from self._passed_down(below, submit(itemgetter(number), both))


def count_block(
    counting: Counting, *pieces: Sequence[str]
) -> tuple[list[BlockTree], list[Occurrences]]:
    """The n-grams of a block of every tokenizer, by a worker."""
    texts: Sequence[str] = list(chain(*pieces))
    if counting.strip_html:
        texts = stripped_texts(texts)
    trees, words = [], []
    for tokenizer, ngrams, stop_words in counting.tokenizers:
        counted = Counted.of(tokenizer, texts, ngrams, 1, stop_words)
        trees.append(tree_of(counted, occurrences=counting.occurrences))
        nameless = NoNames(len(counted.words.vocabulary))
        words.append(Occurrences(replace(counted.words, vocabulary=nameless), counted.streams))
    del texts
    release_memory()
    return trees, words


def documents_in(trees: Sequence[BlockTree]) -> int:
    """The number of documents that were counted."""
    return trees[0].n_documents


def merge(
    counting: Counting, *branches: Sequence[BlockTree]
) -> tuple[list[BlockTree], list[Numbers]]:
    """N-grams as one tree for every tokenizer; and of each branch their numbers there."""
    parts = counting.parts(Memory())
    for trees in branches:
        for part, tree in zip(parts, trees, strict=True):
            part.add_tree(tree)
    merged = [part.merged() for part in parts]
    numbers = [[part.numbers(number) for part in parts] for number in range(len(branches))]
    release_memory()
    return merged, numbers


def passed_down(numbers: Sequence[Numbers], features: Numbers) -> list[Numbers]:
    """The features of the n-grams of every branch, from those of what they became."""
    return [
        [
            [of[own] for of, own in zip(levels, part, strict=True)]
            for levels, part in zip(features, branch, strict=True)
        ]
        for branch in numbers
    ]


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
