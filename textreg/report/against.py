"""A model beside others: on the same documents, and sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from textreg.comparing.benchmarks import Benchmark
from textreg.comparing.compare import compare
from textreg.errors import UsageError, named_errors
from textreg.explain import RemovalTable, removal_tables
from textreg.report.estimates import Estimate
from textreg.report.predictions import Predictions, mean_interval
from textreg.report.verdict_records import Versus
from textreg.tasks import Regression

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Floats

TABLES, TRIED = 3, 30
"""Documents whose sentences are shown beside each other, and documents looked at for them."""

SENTENCES, LONGEST = (2, 14), 2_000
"""Least and largest number of their sentences, and their characters."""


def versus_models(predictions: Predictions, against: Mapping[str, Model]) -> tuple[Versus, ...]:
    """The model beside others on the documents of its predictions, as ``textreg compare`` does.

    Parameters
    ----------
    predictions : Predictions
        Answers of one model.
    against : mapping of str to Model
        The other models by name.

    Returns
    -------
    tuple of Versus
        In their order; p-values are adjusted for all of them (Holm 1979).

    Raises
    ------
    UsageError
        If one of them is a regression and the model is none, or the other way round.
    """
    model, corpus = predictions.model, predictions.corpus
    for name, other in against.items():
        if other.task.discrete != model.task.discrete:
            raise UsageError(
                f"{name} is a {other.task.name} and the model a {model.task.name}: compare models "
                "of one task."
            )
    if not against:
        return ()
    if isinstance(model.task, Regression):
        return tuple(_of_numbers(predictions, name, other) for name, other in against.items())
    own = "this model"
    while own in against:
        own += "'"
    measured = "the measured documents"
    result = compare({own: model, **against}, Benchmark(measured, test=corpus), baseline=own)
    return tuple(
        Versus(
            name=name,
            metric=result.metric,
            other=result.cell(measured, name).headline[0],
            difference=Estimate("difference", -value, -interval.high, -interval.low),
            won=contrast.lost,
            lost=contrast.won,
            p=contrast.p_adjusted,
            comparisons=contrast.comparisons,
        )
        for name in against
        for contrast in [result.contrast(name)]
        for value, interval in [contrast.headline]
    )


def _of_numbers(predictions: Predictions, name: str, other: Model) -> Versus:
    """The squared errors of the other one, less those of the model."""
    y_true, y_pred = (it.astype(np.float64) for it in (predictions.y_true, predictions.y_pred))
    with named_errors(name):
        theirs = other.decision_function(predictions.corpus.texts)
    own, others = (y_true - y_pred) ** 2, (y_true - theirs) ** 2
    gain = Estimate("difference", float((others - own).mean()), *mean_interval(others - own))
    return Versus(name, "squared error", float(others.mean()), gain)


def tables_of_texts(models: Mapping[str, Model], texts: Sequence[str]) -> tuple[RemovalTable, ...]:
    """What each sentence of given texts is worth to the models.

    Raises UsageError if the models have other labels, fields or sentences.
    """
    return tuple(removal_tables(models, texts))


def tables_of_documents(
    models: Mapping[str, Model], predictions: Predictions, sure: Floats
) -> tuple[RemovalTable, ...]:
    """The same of some of the documents: those that the models answer differently come first.

    sure: (n,) as of :func:`textreg.report.documents.certainty`.
    """
    texts = predictions.corpus.texts
    fit = [row for row, text in enumerate(texts) if isinstance(text, str) and len(text) <= LONGEST]
    rows = np.array(fit, dtype=np.int64)
    some = [texts[row] for row in fit]
    differ = np.zeros(len(some), dtype=bool)
    if not some:
        return ()
    first, *others = (
        model.task.answers(model.decide(model.decision_function(some))) for model in models.values()
    )
    for other in others:
        differ |= np.array([one != two for one, two in zip(first, other, strict=True)])
    # Of others the least certain, where single sentences matter most.
    order = np.lexsort((np.where(differ, -sure[rows], sure[rows]), ~differ))[:TRIED]
    chosen = [some[at] for at in order.tolist()]
    return tuple(islice(_of_some_sentences(models, chosen), TABLES))


def _of_some_sentences(
    models: Mapping[str, Model], texts: Sequence[object]
) -> Iterator[RemovalTable]:
    least, most = SENTENCES
    for text in texts:
        for table in islice(removal_tables(models, [text]), 1):
            if least <= len(table.spans) <= most:
                yield table
