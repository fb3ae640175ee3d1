"""What a training learns from which documents: rare labels and those of no label taken care of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError
from textreg.tasks import read_target
from textreg.tasks.unknown import parted

if TYPE_CHECKING:
    from textreg.records import Corpus, Floats
    from textreg.records.documents import Documents
    from textreg.tasks import Target
    from textreg.training.search.splits import Split
    from textreg.training.settings import TrainingSettings


class Aside(NamedTuple):
    """Documents that belong to none of the labels, to choose the threshold of the unknown by.

    Attributes
    ----------
    texts : sequence
        Their texts, or lists of tokens.
    weights : ndarray
        How much each counts, where a document held out counts as its own weight.
    """

    texts: Documents
    weights: Floats


class Training(NamedTuple):
    """What is learned from which documents.

    Attributes
    ----------
    corpus : Corpus
        The documents of the labels of ``target``.
    settings : TrainingSettings
        Those given; ``dev`` without documents of the unknown label.
    target : Target
        The task, and the targets of the documents.
    rare : dict of str to int
        The labels that were left out or joined, and their numbers of documents.
    aside : Corpus or None
        The documents of the unknown label: of ``dev`` if that has some, else of the corpus.
    share : float or None
        How much each of them counts; None for the share of the others that is held out.
    """

    corpus: Corpus
    settings: TrainingSettings
    target: Target
    rare: Mapping[str, int]
    aside: Corpus | None
    share: float | None

    def weighed(self, splits: Sequence[Split]) -> Aside | None:
        """The documents set aside, with their weights."""
        if self.aside is None:
            return None
        share, weights = self.share, self.aside.sample_weight
        if share is None:
            share = sum(len(split.held) for split in splits) / len(self.corpus)
        weights = np.ones(len(self.aside)) if weights is None else weights
        return Aside(self.aside.texts, share * weights)


def pose(corpus: Corpus, settings: TrainingSettings) -> Training:
    """What these settings learn from a corpus; errors as for :func:`textreg.tasks.read_target`."""
    how = settings.task, settings.loss, settings.multiclass
    corpus, target, rare, aside = read_target(corpus, *how, settings.rare, settings.unknown)
    target.task.check_options(settings)
    target = target._replace(task=target.task.with_options(settings))
    dev = settings.dev
    if dev is not None and settings.unknown is not None:
        outside = target.task.outside(target.task.dev_targets(dev))
        if outside.all():
            raise DataError(
                f"all documents of dev have the label '{settings.unknown}': give others as well, "
                "to choose hyperparameters by (--dev)."
            )
        dev, own = parted(dev, outside)
        settings = settings.replace(dev=dev)
        return Training(corpus, settings, target, rare, own or aside, 1.0 if own else None)
    return Training(corpus, settings, target, rare, aside, None)
