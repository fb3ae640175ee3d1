"""Training on documents that come in batches, which are never in memory together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.blocks.scratch import Scratch
from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.records import Corpus
from textreg.records.columns import as_column
from textreg.records.documents import check_texts
from textreg.records.stored_texts import StoredTexts
from textreg.training.in_blocks import check_settings
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.training.keywords import TrainKeywords

Batch = tuple[Sequence[str], Sequence[Any]] | tuple[Sequence[str], Sequence[Any], Sequence[float]]
"""Texts, their labels, and their weights where they have some."""


def train_batches(
    batches: Iterable[Batch],
    *,
    reg: str | type[Regularizer] | Regularizer = "sentence",
    **settings: Unpack[TrainKeywords],
) -> Model:
    """Train a model on documents that come in batches, as from a database or a stream.

    Each batch is read once, and need not stay in memory. The model is that of
    ``train(texts, labels, memory=...)`` with the texts and labels of all batches, however they are
    cut.

    Parameters
    ----------
    batches : iterable of tuple
        ``(texts, labels)``, or ``(texts, labels, weights)`` with a weight of 0 or more for every
        document: all of them the same. As for :func:`textreg.train`, each batch by itself.
    reg : str, Regularizer or class, default "sentence"
        The regularizer: its name, an instance, or a class.
    **settings
        See :meth:`TrainingSettings.from_options`. ``memory`` is how much the blocks of documents
        may take, by default "1GB"; ``scratch`` names the folder for texts and blocks.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        If there is no batch, a batch is no such tuple, or no model can be learned from the texts or
        labels.
    UsageError
        For wrong settings, also for those that need all documents in memory, or without room on
        the disk.

    Examples
    --------
    >>> from textreg import train_batches
    >>> batches = ((["good", "bad"], ["pos", "neg"]) for _ in range(3))
    >>> train_batches(batches, reg="ridge", reg_l2=1.0).predict(["good"])
    ['pos']
    """
    settings.setdefault("memory", "1GB")
    options = TrainingSettings.from_options(reg=reg, **settings)
    check_settings(options)
    labels: list[Any] = []
    weights: list[float] = []
    known: dict[Any, Any] = {}
    with Scratch(options.scratch) as scratch, StoredTexts(scratch.folder / "texts") as texts:
        for number, batch in zip(count(1), batches):
            own, names, own_weights = _parts(number, batch, bool(weights) if labels else None)
            texts.extend(own)
            labels += [known.setdefault(name, name) for name in names]  # each kept once
            weights += own_weights
        if not labels:
            raise DataError(
                "there are no batches of documents: give (texts, labels) at least once."
            )
        corpus = Corpus(
            texts=texts,
            labels=labels,
            sample_weight=np.asarray(weights, dtype=np.float64) if weights else None,
        )
        return train_corpus(corpus, options, scratch=scratch)


def _parts(
    number: int, batch: Any, weighed: bool | None
) -> tuple[Sequence[str], list[Any], list[float]]:
    """Texts, labels and weights of a batch; DataError for anything else.

    weighed: whether batches before have weights; None for the first one.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise DataError(
            f"batch {number} is {batch!r:.60}, which is not a tuple of texts and labels: "
            "give (texts, labels), or (texts, labels, weights)."
        )
    try:
        texts = check_texts(batch[0])
    except (DataError, UsageError) as error:
        raise type(error)(f"batch {number}: {error}") from None
    labels, *weights = (list(as_column(column, "labels")) for column in batch[1:])
    for name, column in zip(("labels", "weights"), (labels, *weights), strict=False):
        if len(column) != len(texts):
            raise DataError(
                f"batch {number}: {len(texts):,} texts but {len(column):,} {name}: give one for "
                "each text."
            )
    if weighed is not None and len(texts) and weighed != bool(weights):
        has = "weights" if weights else "no weights"
        raise DataError(
            f"batch {number} has {has}, unlike those before it: give weights with every batch, or "
            "with none."
        )
    return texts, labels, weights[0] if weights else []
