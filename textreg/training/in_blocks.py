"""Training on documents that lie in blocks: a search on some of them, the final fit on all.

Texts become features block by block, and the matrix and the groups of each block are arrays that
lie in memory as far as that is allowed, and in a scratch folder beyond (:mod:`textreg.blocks`).
Hyperparameters are searched on a part of the documents, in memory. Strengths are measured in units
of :meth:`Regularizer.scale`, so that what suits the part is carried over to all documents.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.threads import allowing
from textreg.blocks.cutting import blocks_of
from textreg.blocks.features import BlockFeatures, BlockVectorizer
from textreg.blocks.heap import release_memory
from textreg.blocks.matrix import StoredGroups, StoredRows
from textreg.blocks.scratch import Budget, Scratch
from textreg.errors import DataWarning, UsageError
from textreg.features.rows import DocumentRows
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.plugins.overdue import limited
from textreg.records import Corpus, Design, Problem, Tokens
from textreg.records.block_design import BlockDesign, BlockGroups, GroupBlock
from textreg.tasks import Target
from textreg.training import logged
from textreg.training.fitting import FinalFit, FromHeld, fit_rows
from textreg.training.posing import Training
from textreg.training.prepare import Prepared, factor_of, own_weights
from textreg.training.pruning import prune
from textreg.training.running import Work
from textreg.training.search.context import SearchContext, journal_of
from textreg.training.search.documents import SplitCorpus
from textreg.training.search.searching import SearchResult, run_search
from textreg.training.search.splitting import splits_of
from textreg.training.search.trials import Problems
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.kinds import Regularizer
    from textreg.records.design import CompressedArrays

PART, CHARACTERS = 30_000, 10_000_000
"""Most documents, and characters of theirs, that hyperparameters are searched on."""

MEASURED = 1_000
"""Documents that tell how long documents are."""

OF_LABEL = 20
"""The least documents of every label among them, if there are as many."""

IN_MEMORY = 0.2
"""Share of the allowed memory that arrays of blocks may fill before they go to disk."""

SPACE = 4.0
"""Bytes on disk that a character of text needs at least, beyond what may lie in memory."""

A_FEATURE = 100.0
"""Bytes in memory that a feature needs: its name, its counts, and its numbers in the fit."""

DIGITS = 4
"""Digits of the strengths that are carried over."""

BATCH = 1024
"""Texts that are handed over at a time."""


class BlocksLearned(NamedTuple):
    """What was learned; as of :class:`textreg.training.learning.Learned`."""

    context: SearchContext
    result: SearchResult
    fit: FinalFit
    seconds: dict[str, float]


def check_settings(settings: TrainingSettings) -> None:
    """UsageError for settings that need all documents in memory at once."""
    needs = {
        "fields": settings.fields is not None,
        "dev": settings.dev is not None and settings.refit,
        "no-refit": not settings.refit,
        "graph": settings.graph is not None,
        "multiclass softmax": settings.multiclass == "softmax",
        "calibrate": settings.calibrate is not None,
        "threshold": bool(settings.threshold),
        "unknown": settings.unknown is not None,
        "path": settings.path,
        "max_nonzero": settings.tuning.max_nonzero is not None,
        "search_space of features or groups": any(
            one.part != "reg" for one in settings.dimensions()
        ),
    }
    for name, needed in needs.items():
        if needed:
            raise UsageError(
                f"{name} needs all documents in memory: leave it out, or leave out memory "
                "(--memory)."
            )
    if not settings.reg.fits_blocks():
        raise UsageError(
            f"{settings.reg.label()} cannot fit documents in blocks: take ridge, lasso or elastic, "
            "or sentence or group with l1 above 0 or with group 0; or leave out memory (--memory)."
        )
    if settings.groups is not None and not settings.groups.within_documents:
        raise UsageError(
            f"groups of {settings.groups.label()} may hold words of several documents, which lie "
            "in different blocks: take sentences, paragraphs, documents or windows, or leave out "
            "memory (--memory)."
        )


def learn_in_blocks(
    training: Training, settings: TrainingSettings, scratch: Scratch, work: Work
) -> BlocksLearned:
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
    clock, seconds = time.perf_counter(), dict[str, float]()

    def ended(stage: str) -> None:
        nonlocal clock
        release_memory()
        seconds[stage], clock = round(time.perf_counter() - clock, 3), time.perf_counter()

    with ExitStack() as stack:
        stack.enter_context(limited(work.deadline, settings.tuning.seconds))
        stack.enter_context(allowing(work.threads))
        context = _part_context(training, settings)
        logged.begun(context, len(training.corpus))
        result, scales = _searched(context, work)
        ended("search")
        context.release()  # makes room
        room = int(IN_MEMORY * (settings.bytes or 0))
        scratch.require(int(SPACE * len(training.corpus) * _length(training)) - room)
        arrays = Budget(scratch, room)
        features = _features(training.corpus, settings, arrays, work)
        _warn_of_features(features.shape[1], settings.bytes or 0)
        ended("features")
        prepared, problems = _problems(training, settings, features, arrays)
        chosen = result.best.regularizer if result.best else settings.reg
        regularizer = _carried_over(chosen, settings.reg, scales, problems)
        fitted, stopped = fit_rows(regularizer, problems, None, work)
        fitted, pruned = prune(fitted, regularizer, problems, settings.prune)
        rows = np.arange(len(training.corpus))
        fit = FinalFit(
            best=result.best,
            regularizer=regularizer,
            data=prepared,
            folds=[],
            rows=rows,
            problems=problems,
            fitted=fitted,
            pruned=pruned,
            stopped=None if fitted.converged else stopped,
            learned=FromHeld(),
        )
        ended("fit")
        logged.fitted(fit, seconds["fit"])
    return BlocksLearned(context, result, fit, seconds)


def _part_context(training: Training, settings: TrainingSettings) -> SearchContext:
    """The search, on some of the documents."""
    corpus, (task, y) = training.corpus, training.target
    rows = _part_of(training, settings.seed)
    part = corpus.select(rows)
    target = Target(task, y[rows])
    splits = splits_of(part, target, settings)
    documents = SplitCorpus(target, splits, training.rare, None, corpus=part, keep=True)
    return SearchContext(documents, settings, None, journal_of(part, settings))


def _part_of(training: Training, seed: int) -> NDArray[np.intp]:
    """The documents of the part, ascending: drawn by chance, with a few of every label."""
    n = len(training.corpus)
    order = np.random.default_rng(seed).permutation(n)
    most = min(PART, int(CHARACTERS / max(_length(training), 1.0)))
    chosen = np.zeros(n, dtype=bool)
    chosen[order[:most]] = True
    has, labels = training.target.task.memberships(training.target.y[order])
    for number in range(len(labels)):
        of_label = has[:, number] if has.ndim == 2 else has == number
        chosen[order[np.flatnonzero(of_label)[:OF_LABEL]]] = True
    return np.flatnonzero(chosen)


def _length(training: Training) -> float:
    """The mean number of characters of a document, by some of them."""
    n = len(training.corpus)
    rows = np.linspace(0, n - 1, min(n, MEASURED)).astype(np.intp)
    return float(np.mean([len(text) for text in training.corpus.select(rows).texts]))


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


def _searched(context: SearchContext, work: Work) -> tuple[SearchResult, dict[str, float]]:
    """What the search measured; and the scale of every strength on the documents that it fitted.

    The best setting is one that can be fitted in blocks.
    """
    result = run_search(context, work)
    logged.searched(context, result, 0.0)
    if result.best is None:
        return result, {}
    fitting = [one for one in result.measured if one.regularizer.fits_blocks()]
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


def _carried_over(
    chosen: Regularizer, reg: Regularizer, scales: dict[str, float], problems: Problems
) -> Regularizer:
    """What was chosen on the part, for all documents."""
    if not scales:
        return chosen
    values = chosen.params()
    whole = _scales(reg, problems.hardest())
    return chosen.replace(
        **{
            name: float(f"{values[name] * whole[name] / scale:.{DIGITS}g}")
            for name, scale in scales.items()
            if scale > 0.0
        }
    )


def _features(
    corpus: Corpus, settings: TrainingSettings, arrays: Budget, work: Work
) -> BlockFeatures:
    """The features of all documents."""
    n = len(corpus)
    vectorizer = BlockVectorizer(settings.any_tokenizer, settings.vectorizer, arrays)
    done = 0
    work.report("features", done, n)
    for texts in blocks_of(_batches(corpus)):
        vectorizer.add(texts)
        done += len(texts)
        work.report("features", done, n)
    return vectorizer.finish()


def _batches(corpus: Corpus) -> Iterator[list[Any]]:
    """The texts, some at a time."""
    texts = iter(corpus.texts)
    while batch := list(islice(texts, BATCH)):
        yield batch


def _problems(
    training: Training, settings: TrainingSettings, features: BlockFeatures, arrays: Budget
) -> tuple[Prepared, Problems]:
    """The fits of all documents."""
    task, y = training.target
    weights = own_weights(training.corpus)
    factors = task.factors(y, weights, settings.class_weight)
    row_factors = task.row_factors(y, weights, settings.class_weight)
    p = features.shape[1]
    groups = None
    if settings.groups is not None:
        groups = BlockGroups(StoredGroups(_groups(settings, features), p, arrays))
    design = BlockDesign(StoredRows(_rows(features), p, arrays))
    prepared = Prepared(
        encoder=features.encoder,
        tokens=_no_tokens(features),
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


def _no_tokens(features: BlockFeatures) -> Tokens:
    """As many documents, none of which has any."""
    ptr = np.zeros(features.shape[0] + 1, dtype=np.int64)
    return Tokens(np.zeros(0, dtype=np.int32), ptr[:1], ptr, features.encoder.parts[0].vocabulary)


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
