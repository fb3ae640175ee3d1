"""Training on documents that lie in blocks: a search on some of them, the final fit on all.

Texts become features block by block, and the matrix and the groups of each block are arrays that
are kept by the workers of a backend: in this process in memory as far as that is allowed, and in a
scratch folder beyond; or on a cluster. Hyperparameters are searched on a part of the documents, in
memory.
"""

from __future__ import annotations

import math
import warnings
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.threads import allowing
from textreg.blocks.backends import open_workers
from textreg.blocks.features import BlockFeatures
from textreg.blocks.scratch import Budget, Scratch
from textreg.errors import DataWarning, UsageError
from textreg.features.vectorize import Features, MatrixRows
from textreg.kinds import Regularizer, Workers
from textreg.plugins import calls
from textreg.records import Corpus, Documents
from textreg.records.design import BlockDesign, BlockGroups
from textreg.records.documents import TextsElsewhere
from textreg.records.store import ArrayStore, release_memory
from textreg.structure.joining import parts_of
from textreg.tasks import Target
from textreg.training import fit, prepare, trials
from textreg.training.fit import Learned
from textreg.training.prepare import Training, own_weights, split_corpus
from textreg.training.running import Clock, Work
from textreg.training.search import SearchContext, SearchResult, drawn, run_search, stages_of
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from textreg.features.encoder import AnyEncoder


# Bytes in memory that a feature needs: its name, its counts, and its numbers in the fit.
A_FEATURE = 100.0


def make_blocks(
    corpus: Corpus, settings: TrainingSettings, workers: Workers, store: ArrayStore, work: Work
) -> tuple[AnyEncoder, BlockDesign]:
    """What makes rows of new texts, and the documents in blocks, which the workers keep."""
    n = len(corpus)
    work.report("features", 0, n)
    features = BlockFeatures(
        corpus.texts,  # type: ignore[arg-type]  # others are refused there
        settings.any_tokenizer,
        settings.vectorizer,
        workers,
        store,
        lambda done: work.report("features", done // 2, n),
        keeps_texts=any(it is not None and it.wants_texts for it in parts_of(settings.groups)),
    )
    p, memory = features.encoder.n_columns, settings.bytes or 0
    # Blocks may go to disk, weights and gradients may not.
    needed = A_FEATURE * p
    if needed > memory:
        warnings.warn(
            f"{p:,} features need about {needed / 1e6:,.0f} MB of memory, more than the "
            f"{memory / 1e6:,.0f} MB that were given: leave out rare ones (--min-df 2), or keep "
            "the most frequent (--max-features).",
            DataWarning,
            stacklevel=4,
        )
    release_memory()
    design = workers.design(
        workers,
        features.blocks(settings.groups),
        p,
        store,
        settings.bytes or math.inf,
        lambda done: work.report("features", (n + done) // 2, n),
    )
    return features.encoder, design


# Most documents, and characters of theirs, that hyperparameters are searched on.
PART, CHARACTERS = 30_000, 10_000_000

# Documents that tell how long documents are.
MEASURED = 1_000


def part_context(training: Training) -> SearchContext:
    """The search, on some of the documents."""
    corpus, (task, y) = training.corpus, training.target
    most = min(PART, int(CHARACTERS / max(mean_length(training), 1.0)))
    # Where there are too many, those without a weight tell nothing.
    rows = np.flatnonzero(own_weights(corpus)) if len(y) > most else np.arange(len(y))
    # Some of every label: a label without documents could not be searched.
    rows = drawn(training.target, rows, most, training.settings.seed)
    part = training._replace(corpus=corpus.select(rows), target=Target(task, y[rows]), outside=None)
    return SearchContext(split_corpus(part))


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
    fitting = [it for it in result.measured if calls.answer(it.regularizer, "fits_blocks")]
    if not fitting:
        raise UsageError(
            f"none of the settings that were measured can be fitted in blocks: give "
            f"{result.best.regularizer.label()} other strengths, or leave out memory (--memory)."
        )
    best = context.best(fitting)
    hardest, reg = context.prepared_for(best).folds[0].hardest(), context.settings.reg
    names = best.regularizer.params().keys() & reg.undecided()
    return replace(result, best=best), trials.scales_of(reg, names, hardest)


def learn_from_part(
    context: SearchContext, result: SearchResult, regularizer: Regularizer, work: Work
) -> fit.FromHeld:
    """What is learned from documents of the search that are left out: see ``left_out_splits``.

    By the fits of the search where these are the same, or where others were stopped.
    """
    part, held = context.prepared_for(result.best), context.held(result.best)
    given = context, part, regularizer, work
    splits = prepare.left_out_splits(part, context.documents)
    if len(splits) != len(part.splits):
        every = np.arange(len(part.y))
        folds = [part.without(part.whole, every, split) for split in splits]
        if learned := fit.learn_from_held(*given, folds, splits):
            return learned
    return fit.learn_from_held(*given, part.folds, part.splits, held=held) or fit.FromHeld()


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
        "reg_weights": settings.reg.params().get("weights", "none") != "none",
        "search_space of features or groups": any(
            dimension.part != "reg" for dimension in settings.dimensions()
        ),
    }
    if name := next((it for it, given in needs.items() if given), ""):
        raise UsageError(
            f"{name} needs all documents in memory: leave it out, or leave out memory (--memory)."
        )
    # Out-of-core solvers exist for some penalties only.
    if not calls.answer(settings.reg, "fits_blocks"):
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


def learn_in_blocks(training: Training, scratch: Scratch, work: Work) -> Learned:
    """Search on a part of the documents, then fit the best setting on all of them.

    Parameters
    ----------
    training : Training
        The documents and what is to be learned. Its settings are with ``memory``, and checked by
        :func:`check_settings`.
    scratch : Scratch
        Where blocks go that are not to be in memory.
    work : Work
        How to work.
    """
    settings = training.settings
    clock, store = Clock(), store_in(scratch, settings)
    with ExitStack() as stack:
        stack.enter_context(allowing(work.threads))
        workers = stack.enter_context(workers_for(settings, store, training.corpus.texts))
        context = part_context(training)
        fit.log_begun(context, len(training.corpus))
        result, scales = search_part(context, replace(work, workers=workers))
        fit.report_search(context, result, clock.stop("search"))
        regularizer = result.best.regularizer if result.best else settings.reg
        learned = fit.FromHeld()
        if context.documents.splits and training.target.task.learns_from_held_out(settings):
            learned = learn_from_part(context, result, regularizer, work)
        context.release()
        release_memory()
        if not workers.elsewhere:
            characters = len(training.corpus) * mean_length(training)
            scratch.require(int(SPACE * characters) - store.most)
        encoder, design = make_blocks(training.corpus, settings, workers, store, work)
        release_memory()
        fit.LOG.info("%d features in %.2f s", design.shape[1], clock.stop("features"))
        weights, every = own_weights(training.corpus), np.arange(len(training.corpus))
        tokens = prepare.no_tokens(len(every), encoder)
        features = Features(MatrixRows(design), tokens, encoder)
        groups = None if settings.groups is None else BlockGroups(design)
        prepared = prepare.with_targets(features, training.target, weights, settings, groups=groups)
        problems = prepared.problems(every, settings.tol)
        if scales:  # those of all documents in place of those of the part
            whole = trials.scales_of(settings.reg, scales, problems.hardest())
            regularizer = trials.carried_over(regularizer, scales, whole)
        fitted, stopped = fit.fit_rows(regularizer, problems, None, work)
        fitted, pruned = fit.prune(fitted, regularizer, problems, settings.prune)
        why = None if fitted.converged else stopped
        final_fit = fit.FinalFit(
            *(result.best, regularizer, prepared, [], every, problems, fitted, pruned, why, learned)
        )
        release_memory()
        fit.report_fit(final_fit, settings, clock.stop("fit"))
        design.log_traffic(fit.LOG)
    return Learned(context, result, final_fit, None, clock.seconds)


def workers_for(
    settings: TrainingSettings, store: ArrayStore, texts: Documents = ()
) -> AbstractContextManager[Workers]:
    """The workers that have the texts, or else those of the backend in the settings.

    store: see :func:`store_in`.
    """
    if isinstance(texts, TextsElsewhere) and texts.workers is not None:
        return nullcontext(texts.workers)
    tuning = settings.tuning
    parts = settings.reg, settings.loss, settings.any_tokenizer, settings.groups
    return open_workers(tuning.backend, tuning.address, parts, memory=settings.bytes, store=store)


def store_in(scratch: Scratch, settings: TrainingSettings) -> Budget:
    """Where arrays of blocks go: into memory as far as is allowed, and to the scratch folder."""
    # The fits need the rest: weights, gradients and the block at work.
    return Budget(scratch, int(IN_MEMORY * (settings.bytes or 0)))
