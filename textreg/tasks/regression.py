"""Regression: the labels are numbers, and scores predict them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.kinds import Loss
from textreg.measure.decisions import Calibration
from textreg.measure.evaluation import RegressionEvaluation, evaluate_numbers
from textreg.measure.metrics import measure_numbers
from textreg.records import Corpus, Floats, Int64s
from textreg.tasks.base import ByLabel, ClassWeight, Metrics, Options, Targets, Task

# Largest number to learn: the sum of the squares of many is still within what records take.
LARGEST = 1e25


@dataclass(frozen=True)
class Regression(Task):
    """One number for each document, predicted by one weight vector."""

    labels: tuple[str, ...] = ()
    loss: str = "squared"
    probabilistic: bool = False

    name = "regression"
    kind = "regression"
    metrics = ("r2", "mse")
    default_loss = "squared"
    discrete = False

    def __post_init__(self) -> None:
        if self.labels:
            raise UsageError(f"a regression has no labels, not {list(self.labels)}.")
        if self.probabilistic:
            raise UsageError("a regression has no probabilities: ask for numbers with predict.")

    @classmethod
    def check_options(cls, options: Options) -> None:
        super().check_options(options)
        if options.loss.binary:
            raise UsageError(
                f"the {options.loss.label()} loss is for labels, not for the numbers of a "
                "regression: leave it out, or take one for numbers, such as squared."
            )
        if options.class_weight is not None:
            raise UsageError("a regression has no classes to weight: leave out class_weight.")
        if options.min_label is not None or options.rare_label is not None:
            raise UsageError("a regression has no labels: leave out min_label and rare_label.")
        cls().check_thresholds(options.threshold or {})

    @classmethod
    def of(cls, corpus: Corpus, loss: Loss, multiclass: str) -> Task:
        return cls(loss=loss.name)

    def targets(self, corpus: Corpus) -> Floats:
        if corpus.labels is None or not len(corpus):
            raise DataError(
                "There are no documents with numbers to learn: give a file with texts and labels "
                "(--label-col)."
            )
        if corpus.multilabel:
            raise DataError(
                f"{corpus.where(0)}: the document has a list of labels, but a regression needs a "
                "number. Correct it, or train without --task regression."
            )
        values = np.empty(len(corpus))
        for row, label in enumerate(corpus.labels):
            try:
                values[row] = float(label)
            except ValueError:
                values[row] = np.nan
            if not np.isfinite(values[row]):
                raise DataError(
                    f"{corpus.where(row)}: the label is '{label}', but a regression needs finite "
                    "numbers, with a decimal point unless --decimal "
                    f"{corpus.column_names.get('label', 'COLUMN')}=comma is given. Correct it, or "
                    "train without --task regression."
                )
            if abs(values[row]) > LARGEST:
                raise DataError(
                    f"{corpus.where(row)}: the label is {values[row]:g}, whose square is too large "
                    f"to compute with; the limit is {LARGEST:g}. Measure labels in a larger unit."
                )
        return values

    def dev_targets(self, dev: Corpus) -> Floats:
        return self.targets(dev)

    def known_targets(self, corpus: Corpus) -> Floats:
        return np.zeros(len(corpus))

    def row(self, y: Targets, number: int) -> Floats:
        return np.asarray(y, dtype=np.float64)

    def strata(self, y: Targets) -> tuple[Int64s, Sequence[str]]:
        return np.zeros(len(y), dtype=np.int64), ("all",)

    def factors(self, y: Targets, sample_weight: Floats, class_weight: ClassWeight) -> Floats:
        return np.ones(1)

    def describe(self, y: Targets) -> dict[str, float]:
        return {"mean": float(y.mean()), "standard_deviation": float(y.std())}

    def label_lines(self, described: Mapping[str, float]) -> tuple[str, list[str]]:
        listed = [f"{name.replace('_', ' ')} {value:.4g}" for name, value in described.items()]
        return "numbers", listed

    def decide(self, scores: Floats, thresholds: ByLabel | None = None) -> Floats:
        return self.as_table(scores)[:, 0]

    def answers(self, y: Targets) -> list[Any]:
        return [float(value) for value in y]

    def text(self, answer: Any) -> str:
        return f"{answer:.4g}"

    def certainty(self, scores: Floats, y_true: Targets, thresholds: ByLabel) -> Floats:
        return np.asarray(-np.abs(self.decide(scores) - y_true))

    def measure(self, scores: Floats, y: Targets, weights: Floats | None = None) -> Metrics:
        return measure_numbers(self.decide(scores), np.asarray(y, dtype=np.float64), weights)

    def evaluate(
        self, corpus: Corpus, scores: Floats, thresholds: ByLabel, calibration: Calibration | None
    ) -> RegressionEvaluation:
        return evaluate_numbers(self.targets(corpus), self.decide(scores))

    @property
    def sides(self) -> tuple[str, ...]:
        return "lower", "higher"

    def side(self, label: str) -> int:
        raise UsageError(f"the model predicts numbers and has no label '{label}': leave it out.")

    def explained(self, y_pred: Targets) -> Int64s:
        return np.ones(len(y_pred), dtype=np.int64)

    def side_name(self, side: int) -> str:
        return ""
