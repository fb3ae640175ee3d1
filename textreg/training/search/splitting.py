"""Splits of a corpus into fitted and held-out documents, as the settings say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.reading.times import moments
from textreg.records import Corpus
from textreg.tasks import Target
from textreg.training.search.splits import (
    Split,
    folds,
    group_folds,
    group_holdout,
    holdout,
    time_folds,
    time_holdout,
)
from textreg.training.settings import TrainingSettings

HOLDOUT = 0.1
"""Default fraction of the documents to hold out, if hyperparameters are to be chosen."""


def splits_of(corpus: Corpus, target: Target, settings: TrainingSettings) -> list[Split]:
    """The splits to fit and measure on; rows of ``dev`` come after those of the corpus.

    Raises UsageError if the groups or times of the documents contradict the settings, DataError if
    a side of a split would have no document of a class.
    """
    codes, labels = target.task.memberships(target.y)
    _check_order(corpus, settings)
    if settings.dev is not None:
        n = len(codes)
        return [Split(np.arange(n), np.arange(n, n + len(settings.dev)))]
    if settings.cv is not None:
        if not settings.refit:
            raise UsageError(
                "cross-validation fits no single model that could be kept: leave out no-refit."
            )
        if corpus.group_of is not None:
            return group_folds(codes, labels, corpus.group_of, settings.cv, settings.seed)
        if corpus.time_of is not None:
            return time_folds(codes, labels, moments(corpus.time_of, corpus.where), settings.cv)
        return folds(codes, labels, settings.cv, settings.seed)
    tuned = settings.calibrate is not None or settings.threshold or settings.path
    tuned = tuned or settings.unknown is not None
    if settings.holdout is None and not settings.searches and not tuned:
        if corpus.group_of is not None or corpus.time_of is not None:
            raise UsageError(
                "groups or times of documents say what to hold out, but nothing is held out: all "
                "hyperparameters are given. Ask for it with holdout or cv, or leave them out."
            )
        return []
    fraction = HOLDOUT if settings.holdout is None else settings.holdout
    if corpus.group_of is not None:
        return [group_holdout(codes, labels, corpus.group_of, fraction, settings.seed)]
    if corpus.time_of is not None:
        times = moments(corpus.time_of, corpus.where)
        return [time_holdout(codes, labels, times, fraction)]
    return [holdout(codes, labels, fraction, settings.seed)]


def split_by(corpus: Corpus) -> str | None:
    """What splits keep together or in order: "group", "time", or None for the classes alone."""
    if corpus.group_of is not None:
        return "group"
    return None if corpus.time_of is None else "time"


def group_names(groups: Iterable[Any]) -> list[str]:
    """Groups of any type as texts; DataError if one is missing."""
    names = []
    for row, group in enumerate(groups):
        if group is None or group != group or group == "":  # NaN is not itself
            raise DataError(
                f"document {row + 1}: the group is missing. Every document needs one; give a group "
                "of its own to what belongs to none."
            )
        names.append(str(group))
    return names


def _check_order(corpus: Corpus, settings: TrainingSettings) -> None:
    """Refuse ways to split that contradict each other."""
    if corpus.group_of is not None and corpus.time_of is not None:
        raise UsageError(
            "the documents have groups and times, but splits follow only one of them: leave out "
            "--group-col or --time-col (group_of or time_of)."
        )
    if settings.dev is not None and (corpus.group_of is not None or corpus.time_of is not None):
        raise UsageError(
            "dev already says which documents to choose on: leave out groups and times "
            "(--group-col, --time-col), or dev."
        )
