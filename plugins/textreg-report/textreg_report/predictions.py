"""Predictions for labeled documents, and scores with intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import first_few
from textreg.measure.evaluation import Evaluation, RegressionEvaluation
from textreg.measure.metrics import Answers, Interval, bootstrap, measure_numbers, wilson
from textreg.measure.multilabel import LabelScore as SetLabelScore
from textreg.measure.multilabel import MultilabelEvaluation
from textreg.model.model import Model
from textreg.records import Corpus
from textreg_report.records import ConfusedPair, Estimate, LabelScore, Scores

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s
    from textreg.tasks.base import Targets

LABELS = 30
"""Labels listed one by one; of more, those with the most documents."""

MATRIX = 20
"""Labels of a confusion matrix."""

PAIRS, POINTS = 10, 500
"""Pairs of confused labels that are listed; documents of a regression that are drawn."""

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


def scores_of(predictions: Predictions) -> Scores:
    """How good the predictions are."""
    model = predictions.model
    result = model.task.evaluate(
        predictions.corpus, predictions.scores, model.thresholds, model.calibration
    )
    if isinstance(result, MultilabelEvaluation):
        return _set_scores(result, predictions)
    return (
        _number_scores(result, predictions)
        if isinstance(result, RegressionEvaluation)
        else _label_scores(result, predictions)
    )


def _label_scores(result: Evaluation, predictions: Predictions) -> Scores:
    """Scores of a classification."""
    model, y_true = predictions.model, predictions.y_true.astype(np.int64)
    predicted = predictions.y_pred.astype(np.int64)
    names = tuple(one.label for one in result.classes)
    matrix = result.confusion
    shown = np.sort(np.argsort(-matrix.sum(axis=1), kind="stable")[:LABELS])
    in_matrix = np.sort(np.argsort(-matrix.sum(axis=1), kind="stable")[:MATRIX])
    table = model.task.threshold_table(predictions.scores, y_true, model.thresholds)
    return Scores(
        how=predictions.how,
        documents=len(y_true),
        figures=_figures(result, y_true, predicted, predictions),
        result=result,
        labels=tuple(_label_score(result, code) for code in shown.tolist()),
        left_out=len(names) - len(shown),
        matrix=matrix[np.ix_(in_matrix, in_matrix)],
        matrix_labels=tuple(names[code] for code in in_matrix.tolist()),
        confused=_confused(matrix, names),
        reliability=model.task.reliability(predictions.scores, y_true, model.calibration),
        thresholds=tuple(
            (names[code], table[names[code]]) for code in shown.tolist() if names[code] in table
        ),
    )


def _set_scores(result: MultilabelEvaluation, predictions: Predictions) -> Scores:
    """Scores where documents may have several labels; pairs are of one missed and one too many."""
    model, y_true = predictions.model, predictions.y_true.astype(bool)
    names = [one.label for one in result.classes]
    order = np.argsort([-one.support for one in result.classes], kind="stable")
    shown = np.sort(order[:LABELS]).tolist()
    table = model.task.threshold_table(predictions.scores, y_true, model.thresholds)
    y_pred = predictions.y_pred.astype(bool)
    missed, added = (it.astype(np.int64) for it in (y_true & ~y_pred, y_pred & ~y_true))
    log_loss = [] if result.log_loss is None else [Estimate("log-loss", result.log_loss)]
    return Scores(
        how=predictions.how,
        documents=result.documents,
        figures=(
            Estimate("micro-F1", result.micro_f1, *result.micro_f1_interval),
            Estimate("macro-F1", result.macro_f1, *result.macro_f1_interval),
            Estimate("subset accuracy", result.subset_accuracy, *result.subset_accuracy_interval),
            *log_loss,
        ),
        result=result,
        labels=tuple(_set_label_score(result.classes[code]) for code in shown),
        left_out=len(names) - len(shown),
        confused=_confused(missed.T @ added, model.labels),
        reliability=model.task.reliability(predictions.scores, y_true, model.calibration),
        thresholds=tuple(
            (names[code], table[names[code]]) for code in shown if names[code] in table
        ),
    )


def _set_label_score(one: SetLabelScore) -> LabelScore:
    precision = Estimate("precision", one.precision, *one.precision_interval)
    recall = Estimate("recall", one.recall, *one.recall_interval)
    return LabelScore(one.label, precision, recall, one.f1, one.support)


def _figures(
    result: Evaluation, y_true: Int64s, predicted: Int64s, predictions: Predictions
) -> tuple[Estimate, ...]:
    figures = [Estimate("accuracy", result.accuracy, *result.accuracy_interval)]
    macro: tuple[float, float] | tuple[None, None] = (None, None)
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
    return tuple(figures)


def mean_interval(values: Floats) -> Interval:
    """Normal 95 % interval of a mean."""
    spread = 1.96 * float(values.std()) / math.sqrt(len(values))
    return Interval(float(values.mean()) - spread, float(values.mean()) + spread)


def resampled(statistic: Callable[[Int64s], float], n: int) -> Interval:
    """95 % percentile bootstrap interval of a statistic of n documents, called with their rows."""
    random = np.random.default_rng(0)
    samples = [statistic(random.integers(0, n, n)) for _ in range(RESAMPLES)]
    return Interval(*np.quantile(samples, (0.025, 0.975)).tolist())


def _label_score(result: Evaluation, code: int) -> LabelScore:
    one, matrix = result.classes[code], result.confusion
    right, called, support = (int(matrix[code, code]), int(matrix[:, code].sum()), one.support)
    ends = wilson(right, called) if called else (None, None)
    precision = Estimate("precision", one.precision, *ends)
    ends = wilson(right, support) if support else (None, None)
    return LabelScore(one.label, precision, Estimate("recall", one.recall, *ends), one.f1, support)


def _confused(matrix: Int64s, names: Sequence[str]) -> tuple[ConfusedPair, ...]:
    """The pairs of labels that are confused most often."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(place), len(names)) for place in order]
    return tuple(
        ConfusedPair(names[t], names[p], int(wrong[t, p])) for t, p in pairs if wrong[t, p]
    )


def _number_scores(result: RegressionEvaluation, predictions: Predictions) -> Scores:
    """Scores of a regression."""
    y_true, predicted = predictions.y_true.astype(np.float64), predictions.y_pred.astype(np.float64)
    squares = (y_true - predicted) ** 2

    def r2(rows: Int64s) -> float:
        return measure_numbers(predicted[rows], y_true[rows])["r2"]

    rows = np.unique(np.linspace(0, len(y_true) - 1, min(POINTS, len(y_true))).astype(int))
    return Scores(
        how=predictions.how,
        documents=len(y_true),
        figures=(
            Estimate("R²", result.r2, *resampled(r2, len(y_true))),
            Estimate("mean squared error", result.mse, *mean_interval(squares)),
            Estimate("mean absolute error", result.mae, *mean_interval(np.abs(y_true - predicted))),
        ),
        result=result,
        points=tuple(zip(y_true[rows].tolist(), predicted[rows].tolist(), strict=True)),
    )


def predict_on(model: Model, corpus: Corpus) -> Predictions:
    """The model's own predictions; DataError if no document has a label that it has."""
    model_of = np.zeros(len(corpus), dtype=np.int64)
    names = first_few([os.path.basename(source) for source in corpus.sources], 3)
    how = f"the {len(corpus):,} documents of {names or 'a corpus of their own'}"
    scores = model.decision_function(corpus.texts)
    predictions = Predictions(corpus, scores, [model], model_of, how)
    _ = predictions.y_true  # check labels now, before minutes of fits
    return predictions
