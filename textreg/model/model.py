"""The model: what prediction needs, and nothing of how the weights were found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.columns import column_dots
from textreg.errors import UsageError, first_few
from textreg.measure.calibration import Calibration
from textreg.tasks import Task

if TYPE_CHECKING:
    from textreg.explain import Explanation
    from textreg.features.encoder import Encoder
    from textreg.model.regularization_path import SolutionPath
    from textreg.model.summary import TrainingSummary
    from textreg.records import Floats
    from textreg.tasks.base import Targets


class Model:
    """A linear text classifier over the features that have a weight.

    task: what is predicted, with its labels and loss: see :mod:`textreg.tasks`. encoder: texts to
    features. weights: (k, p) over the encoder's p features, intercepts: (k,), with k as the task
    has it: 1 for two labels and for a regression, else one for each label. summary: how the model
    was trained, None of a model that was not. calibration: what bends scores before they become
    probabilities; labels do not depend on it. thresholds: by label, what is taken from its score
    before the highest wins; with two labels, of one of them, the score above which it wins. path:
    the path of its fit, where that was asked for.

    Features without any weight are left out at once: :attr:`n_features` counts those that remain.
    """

    def __init__(
        self,
        task: Task,
        encoder: Encoder,
        weights: Floats,
        intercepts: Floats,
        summary: TrainingSummary | None = None,
        *,
        calibration: Calibration | None = None,
        thresholds: Mapping[str, float] | None = None,
        path: SolutionPath | None = None,
    ) -> None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        intercepts = np.ascontiguousarray(intercepts, dtype=np.float64)
        task.check_weights(weights, intercepts, len(encoder.names))
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise UsageError("the weights and intercepts of a model must be finite numbers.")
        thresholds = dict(thresholds or {})
        task.check_thresholds(thresholds)
        if not all(np.isfinite(value) for value in thresholds.values()):
            raise UsageError("the thresholds of a model must be finite numbers.")
        used = np.flatnonzero(weights.any(axis=0))
        if len(used) < weights.shape[1]:
            encoder = encoder.restrict(used)
            weights = np.ascontiguousarray(weights[:, used])
        self.task = task
        self.calibration = calibration
        self.thresholds = thresholds
        self.encoder = encoder
        self.weights = weights
        self.intercepts = intercepts
        self.path = path
        self.summary = summary

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in sorted order; none for a regression."""
        return self.task.labels

    @property
    def loss(self) -> str:
        """Name of the loss that was minimized."""
        return self.task.loss

    @property
    def has_probabilities(self) -> bool:
        """Whether scores stand for probabilities."""
        return self.task.probabilistic

    @property
    def n_features(self) -> int:
        """Number of features with a weight for at least one label."""
        return int(self.weights.shape[1])

    def decision_function(self, texts: Sequence[str]) -> Floats:
        """Scores: (n,) for two labels, positive for ``labels[1]``; else (n, labels).

        Every document's score is a sum over its own features in their order, so it is the same to
        the last bit whatever other documents are scored with it. A document without any known
        feature gets the intercept.
        """
        if isinstance(texts, str):
            raise UsageError("give a list of texts, such as [text], not one text.")
        rows = self.encoder.rows(texts)
        n = len(rows.indptr) - 1
        scores = np.empty((len(self.weights), n))
        every = np.arange(n, dtype=np.int32)
        for w, out in zip(self.weights, scores, strict=True):
            column_dots(*rows, w, every, out)  # X's rows are the columns of its transpose
        scores += self.intercepts[:, None]
        return self.task.as_scores(scores.T)

    def predict(self, texts: Sequence[str]) -> list[str] | list[float]:
        """The label of every text, that of the highest score (less its threshold, if it has one),
        the first one in a tie; or its number where the model is a regression.
        """
        return self.choose(self.decision_function(texts))

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """(n, labels) probabilities, each row summing to one: see :meth:`probabilities`."""
        return self.probabilities(self.decision_function(texts))

    def choose(self, scores: Floats) -> list[str] | list[float]:
        """The labels, or numbers, that :meth:`decision_function`'s ``scores`` stand for."""
        return self.task.answers(self.decide(scores))

    def decide(self, scores: Floats) -> Targets:
        """The same as targets of the task: indices into :attr:`labels`, or numbers."""
        return self.task.decide(scores, self.thresholds)

    def probabilities(self, scores: Floats) -> Floats:
        """Probabilities (n, labels) of :meth:`decision_function`'s ``scores``.

        1 / (1 + exp(-score)) for two labels; with more, the same for every label and then divided
        by the sum over the labels, as scikit-learn does for one against the rest; or the softmax of
        the scores where that was fitted. A calibration comes first.

        UsageError if the loss does not give probabilities.
        """
        return self.task.probabilities(scores, self.calibration)

    def log_probabilities(self, scores: Floats) -> Floats:
        """Natural logarithms of :meth:`probabilities`, exact where those are next to 0."""
        return self.task.log_probabilities(scores, self.calibration)

    def top_features(self, n: int = 10) -> dict[str, list[tuple[str, float]]]:
        """For every label, the ``n`` features that support it most, the strongest first.

        The numbers are what one unit of the feature adds to the score of the label (with two
        labels, the score against the other one); only features that add something are listed.
        In a regression, those that make the number "lower" and "higher".
        """
        top = {}
        for label, row in zip(self.task.sides, self.task.side_rows(self.weights), strict=True):
            order = np.argsort(-row, kind="stable")[:n]
            top[label] = [(self.encoder.names[j], float(row[j])) for j in order if row[j] > 0]
        return top

    def explain(self, text: str, of: str | None = None) -> Explanation:
        """The exact contributions to the score of one text: see :func:`textreg.explain.explain`."""
        from textreg.explain import explain

        return next(explain(self, [text], of))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: see :func:`textreg.model.storage.save_model`."""
        from textreg.model.storage import save_model

        save_model(self, path)

    def __repr__(self) -> str:
        labels = first_few([repr(label) for label in self.labels], 4)
        return f"<Model: labels {labels}; {self.n_features:,} features>"
