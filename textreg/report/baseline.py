"""Comparison of the model's regularizer with the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.metrics import measure_numbers
from textreg.measure.multilabel import f1_scores
from textreg.measure.significance import Answers, SetAnswers, bootstrap, sign_test
from textreg.report.estimates import Estimate
from textreg.report.facts import parameter_facts
from textreg.report.predictions import RESAMPLES, resampled
from textreg.report.records import Baseline
from textreg.report.refits import Refits
from textreg.tasks import Multilabel

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s


def baseline_of(model: Model, refits: Refits) -> Baseline | None:
    """The paired difference over all documents, each predicted by fits that have not seen it.

    Predictions go by the highest score, without thresholds. None if the model is the baseline.
    """
    if refits.baseline is None:
        return None
    own, other, y_true = refits.own, refits.baseline, refits.y_true
    scores = own.scores, other.scores
    sizes = float(np.mean(own.sizes)), float(np.mean(other.sizes))
    facts = parameter_facts(other.part.params())
    hyperparameters = ", ".join(f"{name} {value}" for name, value in facts)
    task = model.task
    if not task.discrete:
        numbers = np.asarray(y_true, dtype=np.float64)
        measured = _measure_numbers(numbers, own.scores[:, 0], other.scores[:, 0])
        return Baseline("R²", len(y_true), hyperparameters, *measured, *sizes)
    if isinstance(task, Multilabel):
        return _of_sets(task, refits, hyperparameters, sizes)
    answers = Answers(*(y.astype(np.int64) for y in (y_true, *map(task.decide, scores))))
    first, second = (float(np.mean(one == answers.y_true)) for one in answers[1:])
    interval = bootstrap([answers], resamples=RESAMPLES)[0]
    difference = Estimate("difference", first - second, *interval)
    won, lost = answers.won, answers.lost
    return Baseline(
        metric="accuracy",
        documents=len(y_true),
        hyperparameters=hyperparameters,
        own=first,
        other=second,
        difference=difference,
        features_own=sizes[0],
        features_other=sizes[1],
        won=won,
        lost=lost,
        p=sign_test(won, lost),
    )


def _of_sets(
    task: Multilabel, refits: Refits, hyperparameters: str, sizes: tuple[float, float]
) -> Baseline:
    """The difference in micro-F1 of several labels; thresholds are of the other half each time."""
    assert refits.baseline is not None
    y_true = refits.y_true.astype(bool)
    both = refits.own.scores, refits.baseline.scores
    answers = SetAnswers(y_true, *(task.decide_by_halves(scores, y_true) for scores in both))
    first, second = (f1_scores(y_true, answer)[0] for answer in answers[1:])
    interval = bootstrap([answers], resamples=RESAMPLES)[2]
    return Baseline(
        metric="micro-F1",
        documents=len(y_true),
        hyperparameters=hyperparameters,
        own=first,
        other=second,
        difference=Estimate("difference", first - second, *interval),
        features_own=sizes[0],
        features_other=sizes[1],
        won=answers.won,
        lost=answers.lost,
        p=sign_test(answers.won, answers.lost),
    )


def _measure_numbers(y_true: Floats, own: Floats, other: Floats) -> tuple[float, float, Estimate]:
    """R² of both, and the difference with a percentile bootstrap interval over documents."""
    first, second = (measure_numbers(scores, y_true)["r2"] for scores in (own, other))

    def gain(rows: Int64s) -> float:
        one, two = (measure_numbers(scores[rows], y_true[rows])["r2"] for scores in (own, other))
        return one - two

    interval = resampled(gain, len(y_true))
    return first, second, Estimate("difference", first - second, *interval)
