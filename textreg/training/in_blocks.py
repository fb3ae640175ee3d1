"""Training on documents that lie in blocks: a search on some of them, the final fit on all.

Texts become features block by block, and the matrix and the groups of each block are arrays that
lie in memory as far as that is allowed, and in a scratch folder beyond (:mod:`textreg.blocks`); or
on the workers of a cluster (:mod:`textreg.cluster`). Hyperparameters are searched on a part of the
documents, in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from textreg._core.threads import allowing
from textreg.blocks.heap import release_memory
from textreg.blocks.scratch import Budget, Scratch
from textreg.cluster.blocks import ClusterRows
from textreg.cluster.connection import Connection, connected
from textreg.cluster.texts import ClusterTexts
from textreg.errors import UsageError
from textreg.records.block_design import BlockDesign
from textreg.records.documents import check_texts
from textreg.training import logged
from textreg.training.block_problems import (
    block_problems,
    features_here,
    features_on_cluster,
)
from textreg.training.fitting import FinalFit, FromHeld, fit_rows
from textreg.training.kept_fits import KeptFits
from textreg.training.learning import Clock, warn_if_stopped, warn_unless_converged
from textreg.training.part import carry_over, mean_length, part_context, search_part
from textreg.training.posing import Training
from textreg.training.pruning import prune
from textreg.training.running import Work
from textreg.training.search.cluster import Cluster
from textreg.training.search.context import SearchContext
from textreg.training.search.searching import SearchResult
from textreg.training.settings import TrainingSettings

IN_MEMORY = 0.15
"""Share of the allowed memory that arrays of blocks may fill before they go to disk."""

SPACE = 4.0
"""Bytes on disk that a character of text needs at least, beyond what may lie in memory."""


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
    clock = Clock()
    with ExitStack() as stack:
        stack.enter_context(allowing(work.threads))
        cluster = stack.enter_context(_cluster(training, settings))
        if cluster is not None:
            training = _on_cluster(training, cluster)
        context = part_context(training, settings)
        logged.begun(context, len(training.corpus))
        searching = None if cluster is None else Cluster(cluster)
        result, scales = search_part(context, replace(work, cluster=searching))
        warn_if_stopped(result, settings)
        logged.searched(context, result, clock.stop("search"))
        context.release()
        release_memory()
        room = int(IN_MEMORY * (settings.bytes or 0))
        arrays = Budget(scratch, room)
        texts = training.corpus.texts
        if isinstance(texts, ClusterTexts):
            features = features_on_cluster(texts, settings, arrays, work)
        else:
            scratch.require(int(SPACE * len(training.corpus) * mean_length(training)) - room)
            features = features_here(training.corpus, settings, arrays, work)
        release_memory()
        logged.LOG.info("%d features in %.2f s", features.rows.shape[1], clock.stop("features"))
        prepared, problems = block_problems(training, settings, features)
        chosen = result.best.regularizer if result.best else settings.reg
        regularizer = carry_over(chosen, settings.reg, scales, problems)
        journal = context.journal
        kept = None if journal is None else KeptFits(journal, regularizer, problems)
        fitted, stopped = fit_rows(regularizer, problems, None, work, kept)
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
        release_memory()
        logged.fitted(fit, clock.stop("fit"))
        if isinstance(features.rows, ClusterRows):
            assert isinstance(problems.problem.design, BlockDesign)
            logged.sent(features.rows, problems.problem.design.passes)
    warn_unless_converged(fit, settings)
    return BlocksLearned(context, result, fit, clock.seconds)


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


def _on_cluster(training: Training, connection: Connection) -> Training:
    """The same, with the texts on the workers."""
    corpus = training.corpus
    if isinstance(corpus.texts, ClusterTexts):
        return training
    texts = ClusterTexts.of(connection, check_texts(corpus.texts))
    return training._replace(corpus=replace(corpus, texts=texts))
