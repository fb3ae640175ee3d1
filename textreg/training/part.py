"""The search of a training in blocks: on a part of the documents, which fits into memory.

Strengths are searched in units of :meth:`Regularizer.scale`: so what suits the part is carried over
to all documents.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.records import Problem
from textreg.tasks import Target
from textreg.training.posing import Training
from textreg.training.running import Work
from textreg.training.search.context import SearchContext
from textreg.training.search.documents import SplitCorpus
from textreg.training.search.halving import drawn
from textreg.training.search.searching import SearchResult, run_search
from textreg.training.search.splitting import splits_of
from textreg.training.search.trials import Problems
from textreg.training.settings import TrainingSettings

PART, CHARACTERS = 30_000, 10_000_000
"""Most documents, and characters of theirs, that hyperparameters are searched on."""

MEASURED = 1_000
"""Documents that tell how long documents are."""

DIGITS = 4
"""Digits of the strengths that are carried over."""


def part_context(training: Training, settings: TrainingSettings) -> SearchContext:
    """The search, on some of the documents."""
    corpus, (task, y) = training.corpus, training.target
    most = min(PART, int(CHARACTERS / max(mean_length(training), 1.0)))
    rows = drawn(training.target, np.arange(len(corpus)), most, settings.seed)
    part = corpus.select(rows)
    target = Target(task, y[rows])
    splits = splits_of(part, target, settings)
    documents = SplitCorpus(target, splits, training.rare, None, corpus=part, keep=True)
    return SearchContext(documents, settings)


def mean_length(training: Training) -> float:
    """The mean number of characters of a document, by some of them."""
    n = len(training.corpus)
    rows = np.linspace(0, n - 1, min(n, MEASURED)).astype(np.intp)
    return float(np.mean([len(text) for text in training.corpus.select(rows).texts]))


def search_part(context: SearchContext, work: Work) -> tuple[SearchResult, dict[str, float]]:
    """What the search measured; and the scale of every strength on the documents that it fitted.

    The best setting is one that can be fitted in blocks.
    """
    result = run_search(context, work)
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


def carry_over(
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
