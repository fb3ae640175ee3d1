"""The documents of a training in blocks as features and groups, and the fits of all of them.

Blocks lie here, in memory or on disk, or on the workers of a cluster.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.blocks.cutting import blocks_of
from textreg.blocks.features import BlockFeatures, BlockVectorizer
from textreg.blocks.heap import release_memory
from textreg.blocks.matrix import StoredGroups, StoredRows
from textreg.blocks.scratch import Budget
from textreg.cluster.blocks import ClusterRows
from textreg.cluster.features import ClusterFeatures
from textreg.cluster.texts import ClusterTexts
from textreg.errors import DataWarning
from textreg.features.rows import DocumentRows
from textreg.plugins import calls
from textreg.records import Corpus, Design, Problem
from textreg.records.block_design import BlockDesign, BlockGroups, GroupBlocks, RowBlocks
from textreg.records.block_operations import GroupBlock
from textreg.training.posing import Training
from textreg.training.prepare import Prepared, factor_of, no_tokens, own_weights
from textreg.training.running import Work
from textreg.training.search.trials import Problems
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.joined import AnyEncoder
    from textreg.records.design import CompressedArrays

A_FEATURE = 100.0
"""Bytes in memory that a feature needs: its name, its counts, and its numbers in the fit."""

BATCH = 1024
"""Texts that are handed over at a time."""


class Featured(NamedTuple):
    """All documents as features.

    encoder: makes rows of new texts. rows, groups: the blocks; no groups unless they are needed.
    """

    encoder: AnyEncoder
    rows: RowBlocks
    groups: GroupBlocks | None


def features_here(
    corpus: Corpus, settings: TrainingSettings, arrays: Budget, work: Work
) -> Featured:
    """The documents in blocks in ``arrays``."""
    n = len(corpus)
    vectorizer = BlockVectorizer(settings.any_tokenizer, settings.vectorizer, arrays)
    done = 0
    work.report("features", done, n)
    for texts in blocks_of(_batches(corpus)):
        vectorizer.add(texts)
        done += len(texts)
        work.report("features", done, n)
    features = vectorizer.finish()
    p = features.shape[1]
    _warn_of_features(p, settings.bytes or 0)
    release_memory()
    groups = None
    if settings.groups is not None:
        groups = StoredGroups(_groups(settings, features), p, arrays)
    rows = StoredRows(_rows(features), p, arrays)
    for block in range(len(features.starts) - 1 if groups is None else 0):
        features.drop_tokens(block)
    return Featured(features.encoder, rows, groups)


def features_on_cluster(
    texts: ClusterTexts, settings: TrainingSettings, arrays: Budget, work: Work
) -> Featured:
    """The documents in blocks on the workers that have their texts."""
    n = len(texts)
    work.report("features", 0, n)
    features = ClusterFeatures(
        texts,
        settings.any_tokenizer,
        settings.vectorizer,
        arrays,
        lambda done: work.report("features", done // 2, n),
    )
    encoder = features.encoder
    p = encoder.n_columns
    _warn_of_features(p, settings.bytes or 0)
    blocks = features.blocks(settings.groups)
    del features
    rows, groups = ClusterRows.of(
        texts.connection,
        blocks,
        p,
        arrays,
        lambda done: work.report("features", (n + done) // 2, n),
    )
    return Featured(encoder, rows, None if settings.groups is None else groups)


def _warn_of_features(p: int, memory: int) -> None:
    """DataWarning where so many features alone need more memory than there is to be."""
    needed = A_FEATURE * p
    if needed > memory:
        warnings.warn(
            f"{p:,} features need about {needed / 1e6:,.0f} MB of memory, more than the "
            f"{memory / 1e6:,.0f} MB that were given: leave out rare ones (--min-df 2), or keep "
            "the most frequent (--max-features).",
            DataWarning,
            stacklevel=5,
        )


def _batches(corpus: Corpus) -> Iterator[list[Any]]:
    """The texts, some at a time."""
    texts = iter(corpus.texts)
    while batch := list(islice(texts, BATCH)):
        yield batch


def block_problems(
    training: Training, settings: TrainingSettings, features: Featured
) -> tuple[Prepared, Problems]:
    """The fits of all documents."""
    task, y = training.target
    weights = own_weights(training.corpus)
    factors = task.factors(y, weights, settings.class_weight)
    row_factors = task.row_factors(y, weights, settings.class_weight)
    groups = None if features.groups is None else BlockGroups(features.groups)
    design = BlockDesign(features.rows, memory=settings.bytes or math.inf)
    prepared = Prepared(
        encoder=features.encoder,
        tokens=no_tokens(len(y), features.encoder.parts[0].vocabulary),
        rows=_BlockRows(design),
        task=task,
        y=y,
        sample_weight=weights * factor_of(task, y, factors),
        own_weight=weights,
        settings=settings,
        row_factors=row_factors,
    )
    problem = Problem(
        X=design,
        y=task.rows(y)[0],
        sample_weight=prepared.sample_weight,
        loss=calls.guarded(settings.loss),
        groups=groups,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    return prepared, Problems(problem, task, y, row_factors=row_factors)


def _rows(features: BlockFeatures) -> Iterator[CompressedArrays]:
    """The rows of every block, each forgotten once the next one is asked for."""
    for block in range(len(features.starts) - 1):
        yield features.rows(block)
        features.drop_rows(block)


def _groups(settings: TrainingSettings, features: BlockFeatures) -> Iterator[GroupBlock]:
    """The groups of every block; its tokens are needed for nothing else."""
    assert settings.groups is not None
    for block in range(len(features.starts) - 1):
        groups = calls.build_groups(settings.groups, features.tokens(block))
        yield GroupBlock(groups.indptr, groups.indices, groups.weights)
        features.drop_tokens(block)


class _BlockRows(DocumentRows):
    """Rows that are nowhere together."""

    def __init__(self, design: BlockDesign) -> None:
        self._design, self.shape = design, design.shape

    def matrix(self, documents: NDArray[np.intp] | None = None) -> csr_array:
        """UsageError."""
        return self._design.X

    def design(self, documents: NDArray[np.intp] | None = None) -> Design:
        """That of all documents; UsageError for some of them."""
        return self._design if documents is None else Design(self._design.X[documents])
