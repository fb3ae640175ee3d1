"""The features of documents on the workers, and the blocks with these features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from textreg.blocks.features import choose_features
from textreg.blocks.heap import release_memory
from textreg.blocks.matrix import numbered_within
from textreg.blocks.trees import BlockTree, TreeCounting, tree_of
from textreg.cluster.blocks import ClusterBlock
from textreg.features.markup import stripped_texts
from textreg.features.vectorize import joined_encoder
from textreg.plugins import calls
from textreg.records.block_operations import GroupBlock
from textreg.records.design import CompressedArrays

if TYPE_CHECKING:
    from textreg.blocks.scratch import Arrays
    from textreg.cluster.texts import ClusterTexts
    from textreg.features.joined import AnyEncoder
    from textreg.features.vectorize import Vectorizer
    from textreg.kinds import GroupBuilder, Tokenizer


def encoder_on_cluster(
    texts: ClusterTexts,
    tokenizer: Tokenizer,
    vectorizer: Vectorizer,
    arrays: Arrays,
    done: Callable[[int], None],
) -> AnyEncoder:
    """The features of all documents: n-grams are counted by the workers, and merged here.

    Parameters
    ----------
    texts : ClusterTexts
    tokenizer : Tokenizer
    vectorizer : Vectorizer
    arrays : Arrays
        For the counts of every block.
    done : callable
        Told the number of documents that were counted.

    Raises
    ------
    UsageError, DataError
        As of :meth:`Vectorizer.fit`.
    """
    occurrences = vectorizer.max_features is not None
    parts = [
        TreeCounting(
            part,
            vectorizer.stop_words_of(part),
            vectorizer.ngrams_of(part),
            arrays,
            f"part-{number}",
            occurrences=occurrences,
        )
        for number, part in enumerate(vectorizer.parts(tokenizer))
    ]
    wanted = [(part.tokenizer, part.ngrams, part.stop_words) for part in parts]
    connection, strip = texts.connection, vectorizer.strip_html
    counted = (
        connection.submit(count_block, wanted, strip, occurrences, *pieces)
        for _, _, pieces in texts.blocks()
    )
    documents = 0
    for trees in connection.results(counted):
        for part, tree in zip(parts, trees, strict=True):
            part.add_tree(tree)
        documents += trees[0].n_documents
        done(documents)
    chosen = choose_features(parts, vectorizer, len(texts))
    for part in parts:
        for block in range(part.n_blocks):
            part.drop(block)
    return joined_encoder([one.encoder for one in chosen])


def blocks_on_cluster(
    texts: ClusterTexts, encoder: AnyEncoder, groups: GroupBuilder | None
) -> list[Any]:
    """Futures of the blocks with these features, a :class:`ClusterBlock` each."""
    connection = texts.connection
    sent = connection.submit(same, encoder)
    return [
        connection.submit(make_block, sent, groups, start, *pieces)
        for start, _, pieces in texts.blocks()
    ]


def count_block(
    wanted: Sequence[tuple[Tokenizer, int, tuple[str, ...]]],
    strip: bool,
    occurrences: bool,
    *pieces: Sequence[str],
) -> list[BlockTree]:
    """The n-grams of a block of every tokenizer, by a worker."""
    texts: Sequence[str] = list(chain(*pieces))
    if strip:
        texts = stripped_texts(texts)
    trees = [
        tree_of(tokenizer, texts, ngrams, stop_words, occurrences=occurrences)
        for tokenizer, ngrams, stop_words in wanted
    ]
    del texts
    release_memory()
    return trees


def make_block(
    encoder: AnyEncoder, builder: GroupBuilder | None, start: int, *pieces: Sequence[str]
) -> ClusterBlock:
    """The rows and groups of a block, by a worker."""
    texts = list(chain(*pieces))
    arrays = encoder.rows(texts)
    rows, sizes = numbered_within(CompressedArrays(*arrays), start, encoder.n_columns)
    del arrays
    groups = None
    if builder is not None:
        built = calls.build_groups(builder, encoder.parts[0].tokens(texts))
        groups = GroupBlock(built.indptr, built.indices, built.weights)
    release_memory()
    return ClusterBlock(rows, groups, sizes)


def same(value: Any) -> Any:
    """What was given, kept by a worker."""
    return value
