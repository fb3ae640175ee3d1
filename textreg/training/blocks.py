"""Training on documents that lie in blocks: a search on some of them, the final fit on all.

Texts become features block by block, and the matrix and the groups of each block are arrays that
lie in memory as far as that is allowed, and in a scratch folder beyond (:mod:`textreg.blocks`); or
on the workers of a cluster (:mod:`textreg.cluster`). Hyperparameters are searched on a part of the
documents, in memory.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.threads import allowing
from textreg.blocks.features import BlockFeatures, BlockVectorizer, StoredGroups, StoredRows
from textreg.blocks.scratch import Budget, Scratch, blocks_of, release_memory
from textreg.cluster.blocks import ClusterRows
from textreg.cluster.connection import Connection, connected
from textreg.cluster.features import ClusterFeatures
from textreg.cluster.texts import ClusterTexts
from textreg.errors import DataWarning, UsageError
from textreg.features.vectorize import DocumentRows
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.records import Corpus, Design, Problem
from textreg.records.design import BlockDesign, BlockGroups, GroupBlock, GroupBlocks, RowBlocks
from textreg.records.documents import check_texts
from textreg.tasks import Target
from textreg.training import fit
from textreg.training.fit import Learned
from textreg.training.prepare import Prepared, Training, own_weights, split_corpus
from textreg.training.running import Clock, Work
from textreg.training.search import SearchContext, SearchResult, drawn, run_search, stages_of
from textreg.training.settings import TrainingSettings
from textreg.training.splits import splits_of
from textreg.training.trials import Cluster, Problems

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.encoder import AnyEncoder
    from textreg.records.design import CompressedArrays


# Bytes in memory that a feature needs: its name, its counts, and its numbers in the fit.
A_FEATURE = 100.0

# Texts that are handed over at a time.
BATCH = 1024


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
    iterator: Iterator[Any] = iter(corpus.texts)
    # BATCH texts at a time, until there are none.
    for texts in blocks_of(iter(lambda: list(islice(iterator, BATCH)), [])):
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
    # Groups have dropped the tokens of their blocks themselves.
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
    # Their memory on the workers, before rows are made of the blocks.
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
    # Blocks may go to disk, weights and gradients may not.
    needed = A_FEATURE * p
    if needed > memory:
        warnings.warn(
            f"{p:,} features need about {needed / 1e6:,.0f} MB of memory, more than the "
            f"{memory / 1e6:,.0f} MB that were given: leave out rare ones (--min-df 2), or keep "
            "the most frequent (--max-features).",
            DataWarning,
            stacklevel=5,
        )


def block_problems(
    training: Training, settings: TrainingSettings, features: Featured
) -> tuple[Prepared, Problems]:
    """The fits of all documents."""
    groups = None if features.groups is None else BlockGroups(features.groups)
    design = BlockDesign(features.rows, memory=settings.bytes or math.inf)
    weights = own_weights(training.corpus)
    rows = _BlockRows(design)
    prepared = Prepared.of(training.target, weights, settings, features.encoder, rows)
    problem = Problem(
        X=design,
        y=prepared.task.rows(prepared.y)[0],
        sample_weight=prepared.sample_weight,
        loss=calls.guarded(settings.loss),
        groups=groups,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    return prepared, Problems(problem, prepared.task, prepared.y, row_factors=prepared.row_factors)


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


# Most documents, and characters of theirs, that hyperparameters are searched on.
PART, CHARACTERS = 30_000, 10_000_000

# Documents that tell how long documents are.
MEASURED = 1_000

# Digits of the strengths that are carried over.
DIGITS = 4


def part_context(training: Training, settings: TrainingSettings) -> SearchContext:
    """The search, on some of the documents."""
    corpus, (task, y) = training.corpus, training.target
    most = min(PART, int(CHARACTERS / max(mean_length(training), 1.0)))
    # Some of every label: a label without documents could not be searched.
    rows = drawn(training.target, np.arange(len(corpus)), most, settings.seed)
    part = corpus.select(rows)
    target = Target(task, y[rows])
    splits = splits_of(part, target, settings)
    training = training._replace(corpus=part, target=target, outside=None)
    return SearchContext(split_corpus(training, splits), settings)


def mean_length(training: Training) -> float:
    """The mean number of characters of a document, by some of them."""
    n = len(training.corpus)
    # Evenly spaced, as files may be sorted by label or date.
    rows = np.linspace(0, n - 1, min(n, MEASURED)).astype(np.intp)
    return float(np.mean([len(text) for text in training.corpus.select(rows).texts]))


def search_part(context: SearchContext, work: Work) -> tuple[SearchResult, dict[str, float]]:
    """What the search measured; and the scale of every strength on the documents that it fitted.

    The best setting is one that can be fitted in blocks.
    """
    result = run_search(stages_of(context, by_documents=False), work)
    if result.best is None:
        return result, {}
    # Strengths decide it: a penalty of groups alone needs all rows of a feature at once.
    fitting = [setting for setting in result.measured if setting.regularizer.fits_blocks()]
    if not fitting:
        raise UsageError(
            f"none of the settings that were measured can be fitted in blocks: give "
            f"{result.best.regularizer.label()} other strengths, or leave out memory (--memory)."
        )
    result = replace(result, best=context.best(fitting))
    hardest = context.prepared_for(result.best).folds[0].hardest()
    return result, _scales(context.settings.reg, hardest)


def _scales(reg: Regularizer, problem: Problem) -> dict[str, float]:
    """The scale of every strength that is searched in units of it."""
    declared = reg.declared()
    return {
        name: calls.scale(reg, problem, name)
        for name in reg.undecided()
        if isinstance(declared[name].search, LogGrid)
    }


def carry_over(
    chosen: Regularizer, reg: Regularizer, scales: dict[str, float], problems: Problems
) -> Regularizer:
    """What was chosen on the part, for all documents."""
    if not scales:
        return chosen
    values = chosen.params()
    # strength = fraction * scale: the fraction of the part, times the scale of all documents
    whole = _scales(reg, problems.hardest())
    return chosen.replace(
        **{
            name: float(f"{values[name] * whole[name] / scale:.{DIGITS}g}")
            for name, scale in scales.items()
            if scale > 0.0
        }
    )


# Share of the allowed memory that arrays of blocks may fill before they go to disk.
IN_MEMORY = 0.15

# Bytes on disk that a character of text needs at least, beyond what may lie in memory.
SPACE = 4.0


def check_settings(settings: TrainingSettings) -> None:
    """UsageError for settings that need all documents in memory at once."""
    needs = {
        "fields": settings.fields is not None,
        "dev": settings.dev is not None and settings.refit,
        "no-refit": not settings.refit,
        "graph": settings.graph is not None,
        "multiclass softmax": settings.multiclass == "softmax",
        "threshold": bool(settings.threshold),
        "unknown": settings.unknown is not None,
        "path": settings.path,
        "max_nonzero": settings.tuning.max_nonzero is not None,
        "search_space of features or groups": any(
            dimension.part != "reg" for dimension in settings.dimensions()
        ),
    }
    for name, needed in needs.items():
        if needed:
            raise UsageError(
                f"{name} needs all documents in memory: leave it out, or leave out memory "
                "(--memory)."
            )
    # Out-of-core solvers exist for some penalties only.
    if not settings.reg.fits_blocks():
        raise UsageError(
            f"{settings.reg.label()} cannot fit documents in blocks: take ridge, lasso or elastic, "
            "or sentence or group with l1 above 0 or with group 0; or leave out memory (--memory)."
        )
    # A group must lie in one block, with all its features.
    if settings.groups is not None and not settings.groups.within_documents:
        raise UsageError(
            f"groups of {settings.groups.label()} may hold words of several documents, which lie "
            "in different blocks: take sentences, paragraphs, documents or windows, or leave out "
            "memory (--memory)."
        )


def learn_in_blocks(
    training: Training, settings: TrainingSettings, scratch: Scratch, work: Work
) -> Learned:
    """Search on a part of the documents, then fit the best setting on all of them.

    Parameters
    ----------
    training : Training
        The documents and what is to be learned.
    settings : TrainingSettings
        With ``memory``; checked by :func:`check_settings`.
    scratch : Scratch
        Where blocks go that are not to be in memory.
    work : Work
        How to work.
    """
    clock = Clock()
    with ExitStack() as stack:
        stack.enter_context(allowing(work.threads))
        cluster = stack.enter_context(_cluster(training, settings))
        if cluster is not None:
            if not isinstance(texts := training.corpus.texts, ClusterTexts):
                texts = ClusterTexts.of(cluster, check_texts(texts))
            training = training._replace(corpus=replace(training.corpus, texts=texts))
        context = part_context(training, settings)
        fit.log_begun(context, len(training.corpus))
        searching = None if cluster is None else Cluster(cluster)
        result, scales = search_part(context, replace(work, cluster=searching))
        fit.report_search(context, result, clock.stop("search"))
        part = context.prepared_for(result.best)
        learned = None
        if part.splits and part.task.learns_from_held_out(settings):
            held_by = dict(zip(part.folds, part.splits, strict=True))
            learned = fit.learn_from_held(context, part, result.best, work, held_by)
        del part
        context.release()
        release_memory()
        # The fits need the rest: weights, gradients and the block at work.
        room = int(IN_MEMORY * (settings.bytes or 0))
        arrays = Budget(scratch, room)
        texts = training.corpus.texts
        if isinstance(texts, ClusterTexts):
            features = features_on_cluster(texts, settings, arrays, work)
        else:
            scratch.require(int(SPACE * len(training.corpus) * mean_length(training)) - room)
            features = features_here(training.corpus, settings, arrays, work)
        release_memory()
        fit.LOG.info("%d features in %.2f s", features.rows.shape[1], clock.stop("features"))
        prepared, problems = block_problems(training, settings, features)
        chosen = result.best.regularizer if result.best else settings.reg
        regularizer = carry_over(chosen, settings.reg, scales, problems)
        fitted, stopped = fit.fit_rows(regularizer, problems, None, work)
        fitted, pruned = fit.prune(fitted, regularizer, problems, settings.prune)
        final_fit = fit.FinalFit(
            best=result.best,
            regularizer=regularizer,
            data=prepared,
            folds=[],
            rows=np.arange(len(training.corpus)),
            problems=problems,
            fitted=fitted,
            pruned=pruned,
            stopped=None if fitted.converged else stopped,
            learned=learned or fit.FromHeld(),
        )
        release_memory()
        fit.report_fit(final_fit, settings, clock.stop("fit"))
        # What the network carried: it decides how large a cluster pays.
        if isinstance(rows := features.rows, ClusterRows):
            assert isinstance(problems.problem.design, BlockDesign)
            fit.LOG.info(
                "cluster: blocks of %.0f MB; a pass sent %.2g %% of that, problems in memory took "
                "%.2g %%",
                rows.size / 1e6,
                100.0 * rows.sent / max(rows.size * problems.problem.design.passes, 1.0),
                100.0 * rows.columns / max(rows.size, 1),
            )
    return Learned(context, result, final_fit, None, clock.seconds)


@contextmanager
def _cluster(training: Training, settings: TrainingSettings) -> Iterator[Connection | None]:
    """The workers that have the texts, or those of the address in the settings, if there is one."""
    texts, address = training.corpus.texts, settings.tuning.address
    if isinstance(texts, ClusterTexts):
        yield texts.connection
    elif address is None:
        yield None
    else:
        with connected(address) as connection:
            check_workers(connection, settings)
            yield connection


def check_workers(connection: Connection, settings: TrainingSettings) -> None:
    """UsageError for workers that lack a part, compute otherwise, or may take too much memory."""
    parts = settings.reg, settings.loss, settings.any_tokenizer, settings.groups
    connection.check([part for part in parts if part is not None])
    connection.check_memory(settings.bytes or 0)
