"""Predictions for labeled documents, and scores with intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textreg.errors import first_few
from textreg.measure.evaluation import (
    Evaluation,
    MultilabelEvaluation,
    RegressionEvaluation,
    f1_scores,
)
from textreg.measure.metrics import (
    Answers,
    Interval,
    SetAnswers,
    bootstrap,
    measure_numbers,
    sign_test,
    wilson,
)
from textreg.model.model import Model
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.tasks import Task
from textreg_report.page import Estimate, Section, Versus

Targets = Int64s | Floats | Bools
Ends = tuple[float, float] | tuple[None, None]

LABELS = 30
"""Labels listed one by one; of more, those with the most documents."""

MATRIX = 20
"""Labels of a confusion matrix."""

PAIRS = 10
"""Pairs of confused labels that are listed."""

RESAMPLES = 1000
"""Bootstrap samples of an interval."""

RESAMPLED = 100
"""The mean F1 has a bootstrap interval up to this number of labels; more would take minutes."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labeled documents and the scores that models gave them.

    scores: as of ``Model.decision_function``. models: those that gave the scores; model_of: (n,)
    index of the model of each document. how: which documents these are, in words.
    """

    corpus: Corpus
    scores: Floats
    models: Sequence[Model]
    model_of: Int64s
    how: str

    @property
    def model(self) -> Model:
        """One of the models; labels, loss, calibration and thresholds are the same for all."""
        return self.models[0]

    @cached_property
    def y_true(self) -> Targets:
        """(n,) targets of the documents; DataError if the model has the label of none."""
        return self.model.task.targets(self.corpus)

    @cached_property
    def y_pred(self) -> Targets:
        """(n,) predicted targets."""
        return self.model.decide(self.scores)

    @cached_property
    def proba(self) -> Floats | None:
        """(n, labels) probabilities, if the model has them."""
        return self.model.probabilities(self.scores) if self.model.has_probabilities else None


def scores_of(predictions: Predictions) -> Section:
    """How good the predictions are.

    Returns
    -------
    Section
        how: which documents, in words. documents: their number. figures: the most important scores;
        result: all of them. labels: scores of the labels with the most documents; left_out more are
        not listed. matrix: confusion matrix, true labels in rows, of ``matrix_labels``; None where
        documents may have several labels, and in a regression. confused: the most frequent errors;
        of several labels, one that is missed and one too many. reliability: predicted
        probabilities and observed shares. thresholds: what each rule for them would give.
    """
    model, task = predictions.model, predictions.model.task
    result = task.evaluate(
        predictions.corpus, predictions.scores, model.thresholds, model.calibration
    )
    scores = Section(
        how=predictions.how,
        documents=len(predictions.y_true),
        result=result,
        labels=[],
        left_out=0,
        matrix=None,
        confused=[],
        reliability=None,
        thresholds=[],
    )
    if isinstance(result, RegressionEvaluation):
        scores.figures = _of_numbers(result, predictions)
        return scores
    names = [one.label for one in result.classes]
    order = np.argsort([-one.support for one in result.classes], kind="stable")
    shown = np.sort(order[:LABELS]).tolist()
    y_true = predictions.y_true.astype(bool if task.multilabel else np.int64)
    table = task.threshold_table(predictions.scores, y_true, model.thresholds)
    scores.left_out = len(names) - len(shown)
    scores.reliability = task.reliability(predictions.scores, y_true, model.calibration)
    scores.thresholds = [
        (names[code], table[names[code]]) for code in shown if names[code] in table
    ]
    if isinstance(result, MultilabelEvaluation):
        y_pred = predictions.y_pred.astype(bool)
        # One label missed and another one given in its place: (missed' added) counts such pairs.
        missed, added = (it.astype(np.int64) for it in (y_true & ~y_pred, y_pred & ~y_true))
        scores.confused = _confused(missed.T @ added, model.labels)
        intervals: list[tuple[Ends, Ends]] = [
            (it.precision_interval, it.recall_interval) for it in result.classes
        ]
        scores.figures = [
            Estimate("micro-F1", result.micro_f1, *result.micro_f1_interval),
            Estimate("macro-F1", result.macro_f1, *result.macro_f1_interval),
            Estimate("subset accuracy", result.subset_accuracy, *result.subset_accuracy_interval),
        ]
        if result.log_loss is not None:
            scores.figures.append(Estimate("log-loss", result.log_loss))
    else:
        matrix, most = result.confusion, np.sort(order[:MATRIX])
        scores.matrix = matrix[np.ix_(most, most)]
        scores.matrix_labels = [names[code] for code in most.tolist()]
        scores.confused = _confused(matrix, names)
        right, called = np.diag(matrix).tolist(), matrix.sum(axis=0).tolist()
        intervals = [
            (_wilson(right[code], called[code]), _wilson(right[code], one.support))
            for code, one in enumerate(result.classes)
        ]
        y_pred = predictions.y_pred.astype(np.int64)
        scores.figures = _figures(result, y_true, y_pred, predictions)
    for code in shown:
        one, (precision, recall) = result.classes[code], intervals[code]
        scores.labels.append(
            Section(
                label=one.label,
                precision=Estimate("precision", one.precision, *precision),
                recall=Estimate("recall", one.recall, *recall),
                f1=one.f1,
                support=one.support,
            )
        )
    return scores


def _wilson(right: int, total: int) -> Ends:
    """The interval of a share; none of no documents."""
    return wilson(right, total) if total else (None, None)


def _figures(
    result: Evaluation, y_true: Int64s, predicted: Int64s, predictions: Predictions
) -> list[Estimate]:
    figures = [Estimate("accuracy", result.accuracy, *result.accuracy_interval)]
    macro: Ends = (None, None)
    if len(result.classes) <= RESAMPLED:
        # The difference from predictions that are always wrong is the score itself.
        never = np.full(len(y_true), len(result.classes))
        macro = bootstrap([Answers(y_true, predicted, never)], resamples=RESAMPLES)[1]
    figures.append(Estimate("macro-F1", result.macro_f1, *macro))
    if predictions.proba is not None and result.log_loss is not None:
        known = np.flatnonzero(predictions.model.task.known(y_true))
        probability = predictions.proba[known, y_true[known]]
        losses = -np.log(np.maximum(probability, np.finfo(float).tiny))
        figures.append(Estimate("log-loss", result.log_loss, *mean_interval(losses)))
    return figures


def beside(
    name: str, task: Task, y_true: Targets, first: Targets, second: Targets
) -> tuple[float, Versus]:
    """The metric of the first answers, and how they compare with the second to the same documents.

    The metric is the accuracy, of several labels micro-F1; the difference has a bootstrap interval,
    and p is that of the exact McNemar test, of several labels on documents with a higher F1.
    """
    answers: Answers | SetAnswers
    if task.multilabel:
        answers = SetAnswers(*(it.astype(bool) for it in (y_true, first, second)))
        own, other = (f1_scores(answers.y_true, it)[0] for it in answers[1:])
    else:
        answers = Answers(*(it.astype(np.int64) for it in (y_true, first, second)))
        own, other = (float(np.mean(it == answers.y_true)) for it in answers[1:])
    interval = bootstrap([answers], resamples=RESAMPLES)[2 if task.multilabel else 0]
    return own, Versus(
        name=name,
        metric="micro-F1" if task.multilabel else "accuracy",
        other=other,
        difference=Estimate("difference", own - other, *interval),
        won=answers.won,
        lost=answers.lost,
        p=sign_test(answers.won, answers.lost),
    )


def squared_errors(name: str, predictions: Predictions, other: Floats | float) -> Versus:
    """The squared errors of other numbers, less those of the model."""
    y_true, y_pred = (it.astype(np.float64) for it in (predictions.y_true, predictions.y_pred))
    own, others = (y_true - y_pred) ** 2, (y_true - other) ** 2
    gain = Estimate("difference", float((others - own).mean()), *mean_interval(others - own))
    return Versus(name, "squared error", float(others.mean()), gain)


def mean_interval(values: Floats) -> Interval:
    """Normal 95 % interval of a mean."""
    # mean ± 1.96 s / √n; of 50 documents and more, close to Student's interval.
    spread = 1.96 * float(values.std()) / math.sqrt(len(values))
    return Interval(float(values.mean()) - spread, float(values.mean()) + spread)


def resampled(statistic: Callable[[Int64s], float], n: int) -> Interval:
    """95 % percentile bootstrap interval of a statistic of n documents, called with their rows."""
    random = np.random.default_rng(0)
    # The seed is fixed: the same report has the same intervals.
    samples = [statistic(random.integers(0, n, n)) for _ in range(RESAMPLES)]
    return Interval(*np.quantile(samples, (0.025, 0.975)).tolist())


def _confused(matrix: Int64s, names: Sequence[str]) -> list[Section]:
    """The pairs of labels that are confused most often."""
    # Errors are what is off the diagonal.
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(place), len(names)) for place in order]
    return [
        Section(y_true=names[t], predicted=names[p], documents=int(wrong[t, p]))
        for t, p in pairs
        if wrong[t, p]
    ]


def _of_numbers(result: RegressionEvaluation, predictions: Predictions) -> list[Estimate]:
    """Scores of a regression."""
    y_true, predicted = predictions.y_true.astype(np.float64), predictions.y_pred.astype(np.float64)
    errors = y_true - predicted

    def r2(rows: Int64s) -> float:
        return measure_numbers(predicted[rows], y_true[rows])["r2"]

    return [
        Estimate("R²", result.r2, *resampled(r2, len(y_true))),
        Estimate("mean squared error", result.mse, *mean_interval(errors**2)),
        Estimate("mean absolute error", result.mae, *mean_interval(np.abs(errors))),
    ]


def predict_on(model: Model, corpus: Corpus) -> Predictions:
    """The model's own predictions; DataError if no document has a label that it has."""
    model_of = np.zeros(len(corpus), dtype=np.int64)
    names = first_few([os.path.basename(source) for source in corpus.sources], 3)
    how = f"the {len(corpus):,} documents of {names or 'a corpus of their own'}"
    scores = model.decision_function(corpus.texts)
    predictions = Predictions(corpus, scores, [model], model_of, how)
    _ = predictions.y_true  # check labels now, before minutes of fits
    return predictions
