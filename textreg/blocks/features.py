"""Features of texts in blocks: n-grams counted and added up, and the rows and groups of each block.

    block  block  block  block  block  ...     words of each, and how many documents have them
      └──────┼──────┘      └──────┼──────┘
           merged               merged    ...  at most MERGED at a time, in the order of blocks
             └─────────┬──────────┘
                 here, the last time           all n-grams: which of them are features

The features go the same way back: whoever merged some n-grams knows the number of each among the
merged ones. What is merged with what depends on the blocks alone, and counts are whole numbers.
In one process all blocks are added up at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from textreg.blocks.counting import BlockCounts, BlockTree, TreeCounting, tree_of
from textreg.blocks.scratch import blocks_of
from textreg.errors import UsageError
from textreg.features.encoder import AnyEncoder, Encoder, side_by_side
from textreg.features.markup import stripped_texts
from textreg.features.ngrams import Counted, tokens_of
from textreg.features.vectorize import PartCounts, Vectorizer, joined_encoder
from textreg.kinds import GroupBuilder, Tokenizer, Workers
from textreg.plugins import calls
from textreg.records import Bools, Int32s, Tokens
from textreg.records.design import Block, CompressedArrays, GroupBlock, numbered_within
from textreg.records.documents import FieldedText, TextsElsewhere, check_texts, is_tokenized
from textreg.records.store import ArrayStore, Kept, Memory, release_memory, same
from textreg.records.text import Names
from textreg.structure.joining import Pretokenized

# Most lists of n-grams that are merged at a time by workers elsewhere.
MERGED = 8

# For every tokenizer, and every length of n-grams, a number of each: a feature, or -1 for none.
Numbers = list[list[Int32s]]

# Of every tokenizer the words of a block, without names, and its streams of n-grams: see
# NGrams.collect.
Occurrences = list[tuple[Tokens, list[Int32s]]]


class Counting(NamedTuple):
    """What is counted: by which tokenizers, the longest n-grams and stop words of each.

    keeps_texts: whether the words of a block keep its texts, for groups.
    """

    tokenizers: Sequence[tuple[Tokenizer, int, tuple[str, ...]]]
    strip_html: bool
    occurrences: bool
    keeps_texts: bool

    @classmethod
    def of(cls, vectorizer: Vectorizer, tokenizer: Tokenizer, keeps_texts: bool) -> Counting:
        """What the settings ask for; errors as of Vectorizer.fit, also for lists of tokens."""
        vectorizer.limits(0)  # refuse wrong settings before anything is read
        parts = vectorizer.parts(tokenizer)
        if any(isinstance(part, Pretokenized) for part in parts):
            raise UsageError(_NO_TOKENS)
        tokenizers = [
            (part, vectorizer.ngrams_of(part), vectorizer.stop_words_of(part)) for part in parts
        ]
        most = vectorizer.max_features
        return cls(tokenizers, vectorizer.strip_html, most is not None, keeps_texts)

    def parts(self, store: ArrayStore) -> list[TreeCounting]:
        """What adds up trees of every tokenizer; numbers are kept in ``store``."""
        return [
            TreeCounting(*tokenizer, store, occurrences=self.occurrences)
            for tokenizer in self.tokenizers
        ]


@dataclass
class Branch:
    """N-grams that workers have counted or merged.

    trees: a handle of those of every tokenizer. words: of a block alone, a handle of its
    ``Occurrences``; start: its first document. numbers, branches: of merged n-grams, a handle of
    what those of each branch became.
    """

    trees: Any
    words: Any = None
    start: int = 0
    numbers: Any = None
    branches: Sequence[Branch] = ()


class ChosenFeatures(NamedTuple):
    """The features of one tokenizer.

    encoder: makes rows of texts. numbers: for every length of n-grams the feature of each, or -1.
    every: whether all n-grams are features.
    """

    encoder: Encoder
    numbers: list[Int32s]
    every: bool


class BlockFeatures:
    """The features of all documents: what :meth:`Vectorizer.fit` does, in blocks.

    Features, weights and rows are the same, to the last bit. Here are names and counts of the
    different n-grams; all else is with the workers, or in the store.

    Parameters
    ----------
    texts : sequence of str
        In memory or elsewhere.
    tokenizer : Tokenizer
    vectorizer : Vectorizer
    workers : Workers
        Who counts and keeps the blocks.
    store : ArrayStore
        For counts that are kept here.
    done : callable, optional
        Told the number of documents that were counted.
    keeps_texts : bool, default False
        Whether groups are to be made of the texts as well.

    Attributes
    ----------
    encoder : Encoder or JoinedEncoder
        Makes rows with these features of new texts.

    Raises
    ------
    DataError
        If there are no texts or words, if pruning leaves no feature, or if there are more different
        n-grams than numbers of 32 bits.
    UsageError
        For documents that are lists of tokens or have several fields, and for settings that
        :meth:`Vectorizer.fit` refuses.
    """

    def __init__(  # noqa: PLR0913  # what Vectorizer.fit takes, and where blocks go
        self,
        texts: Sequence[str],
        tokenizer: Tokenizer,
        vectorizer: Vectorizer,
        workers: Workers,
        store: ArrayStore,
        done: Callable[[int], None] = lambda documents: None,
        *,
        keeps_texts: bool = False,
    ) -> None:
        self._counting = Counting.of(vectorizer, tokenizer, keeps_texts)
        self._workers = workers
        self._branches = self._counted(texts, done)
        while workers.elsewhere and len(self._branches) > MERGED:
            runs = range(0, len(self._branches), MERGED)
            self._branches = [self._merged(self._branches[at : at + MERGED]) for at in runs]
        self._parts = self._counting.parts(store)
        for trees in self._brought(store):
            for number, part in enumerate(self._parts):
                part.add(partial(tree_in, trees, number))
        self._chosen = choose_features(self._parts, vectorizer, len(texts))
        self.encoder: AnyEncoder = joined_encoder([part.encoder for part in self._chosen])

    def blocks(self, groups: GroupBuilder | None) -> Iterator[Any]:
        """Handles of the blocks, a :class:`~textreg.records.design.Block` each. Can be asked once.

        Words and counts of a block are forgotten when the next one is asked for.
        """
        chosen, self._chosen = self._chosen, []
        parts = [(nameless(part.encoder), part.every) for part in chosen]
        if groups is not None:  # which are made of the features of the first tokenizer, with names
            parts[0] = chosen[0].encoder, chosen[0].every
        weighing = self._workers.send(parts)
        features = [part.numbers for part in chosen]
        del chosen
        branches, self._branches = self._branches, []
        for number in range(len(branches)):
            taken = [
                part.taken(number, levels)
                for part, levels in zip(self._parts, features, strict=True)
            ]
            for start, words, numbers in self._passed_down(branches.pop(0), taken):
                yield self._workers.submit(make_block, weighing, groups, start, words, numbers)

    def _counted(self, texts: Sequence[str], done: Callable[[int], None]) -> list[Branch]:
        """The n-grams of every block."""
        branches, submit = list[Branch](), self._workers.submit

        def counted() -> Iterator[Any]:
            for start, pieces in in_pieces(texts):
                trees, words = submit(count_block, self._counting, *pieces, outputs=2)
                branches.append(Branch(trees, words, start))
                yield trees

        documents = 0
        for size in self._workers.map(documents_in, counted()):
            documents += size
            done(documents)
        return branches

    def _merged(self, branches: Sequence[Branch]) -> Branch:
        """The n-grams of some of them, in order."""
        if len(branches) == 1:
            return branches[0]
        trees, numbers = self._workers.submit(
            merge, self._counting, *(branch.trees for branch in branches), outputs=2
        )
        for branch in branches:
            branch.trees = None  # forgotten as soon as they are merged
        return Branch(trees, numbers=numbers, branches=branches)

    def _brought(self, store: ArrayStore) -> Iterator[Kept]:
        """The trees of every branch, kept here."""
        trees = [branch.trees for branch in self._branches]
        for branch in self._branches:
            branch.trees = None
        if all(isinstance(handle, Kept) for handle in trees):
            yield from trees
        else:
            yield from (Kept(store, tree) for tree in self._workers.map(same, trees))

    def _passed_down(self, branch: Branch, features: Any) -> Iterator[tuple[int, Any, Any]]:
        """The start and words of every block of a branch, and the features of its n-grams.

        features: those of the n-grams of the branch, ``Numbers`` or a handle of them.
        """
        if not branch.branches:
            yield branch.start, branch.words, features
            return
        outputs = len(branch.branches)
        handles = self._workers.submit(passed_down, branch.numbers, features, outputs=outputs)
        for below, taken in zip(branch.branches, handles, strict=True):
            yield from self._passed_down(below, taken)


def in_pieces(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
    """The first document of every block, and its texts: lists, or handles where they are elsewhere.

    Raises UsageError for what cannot be read in blocks.
    """
    if isinstance(texts, TextsElsewhere) and texts.workers is not None:
        yield from ((start, pieces) for start, _, pieces in texts.blocks())
        return
    start = 0
    for block in blocks_of([texts]):
        if is_tokenized(block):
            raise UsageError(_NO_TOKENS)
        checked = check_texts(block)
        if any(isinstance(text, FieldedText) for text in checked):
            raise UsageError(_NO_FIELDS)
        yield start, [checked]
        start += len(block)


def count_block(counting: Counting, *pieces: Sequence[str]) -> tuple[list[BlockTree], Occurrences]:
    """The n-grams of a block of every tokenizer."""
    raw_texts = texts = list[str](chain(*pieces))
    if counting.strip_html:
        texts = stripped_texts(texts)
    trees, words = list[BlockTree](), Occurrences()
    for tokenizer, ngrams, stop_words in counting.tokenizers:
        counted = Counted.of(tokenizer, texts, ngrams, 1, stop_words)
        trees.append(tree_of(counted, occurrences=counting.occurrences))
        packed = Names.of(raw_texts) if counting.keeps_texts and not words else None
        named = replace(counted.words, vocabulary=no_names(counted.words.vocabulary), texts=packed)
        words.append((named, counted.streams))
    del raw_texts, texts
    release_memory()
    return trees, words


def no_names(names: Sequence[str]) -> Any:
    """Numbers in place of names of which nobody needs to know more than how many there are."""
    return range(len(names))


def documents_in(trees: Sequence[BlockTree]) -> int:
    """The number of documents that were counted."""
    return trees[0].n_documents


def tree_in(trees: Kept, number: int) -> BlockTree:
    """That of one tokenizer, of those that are kept."""
    tree: BlockTree = trees.value()[number]
    return tree


def merge(
    counting: Counting, *branches: Sequence[BlockTree]
) -> tuple[list[BlockTree], list[Numbers]]:
    """N-grams as one tree for every tokenizer; and of each branch their numbers there."""
    parts = counting.parts(Memory())
    for trees in branches:
        for part, tree in zip(parts, trees, strict=True):
            part.add(partial(same, tree))
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


def choose_features(
    parts: Sequence[TreeCounting], vectorizer: Vectorizer, n: int
) -> list[ChosenFeatures]:
    """The features of n documents whose n-grams were counted; errors as of Vectorizer.fit."""
    vectorizer = vectorizer.decided(n)
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
        selected = numbers >= 0
        if selected.all():  # spares copies
            frequencies[numbers] = documents
        else:
            frequencies[numbers[selected]] = documents[selected]
    encoder: Encoder = vectorizer.encoder(counts, names, n, frequencies)
    return ChosenFeatures(encoder, every, bool(keep.all()))


def nameless(encoder: Encoder) -> Encoder:
    """An encoder that weighs as this one, without the names of the features."""
    return encoder.with_names(no_names(encoder.vocabulary), encoder.idf)


def make_block(
    weighing: Sequence[tuple[Encoder, bool]],
    builder: GroupBuilder | None,
    start: int,
    words: Occurrences,
    numbers: Numbers,
) -> Block:
    """The rows and groups of a block.

    weighing: of every tokenizer what makes rows, and whether all its n-grams are features. words,
    numbers: what was counted, and the feature of each of its n-grams.
    """
    parts = []
    for (encoder, every), (source, streams), features in zip(weighing, words, numbers, strict=True):
        tokens = tokens_of(source, streams, features, encoder.vocabulary)
        # Where all n-grams are features, their counts give the norms.
        parts.append(PartCounts(tokens, encoder, None if every else encoder.norms(source)))
    columns = np.cumsum([0, *(part.encoder.n_columns for part in parts)])
    arrays = side_by_side([part.rows(None) for part in parts], columns)
    groups = None
    if builder is not None:
        located = weighing[0][0].located  # by the encoder that has names
        tokens = replace(parts[0].tokens, texts=words[0][0].texts, locate=located)
        built = calls.build_groups(builder, tokens)
        groups = GroupBlock(built.indptr, built.indices, built.weights)
    del parts
    block = numbered_within(CompressedArrays(*arrays), start, int(columns[-1]), groups)
    del arrays
    release_memory()
    return block


_NO_TOKENS = (
    "documents that are lists of tokens cannot be read in blocks: give texts, or train in memory."
)
_NO_FIELDS = "documents of several fields cannot be read in blocks: give texts, or train in memory."
