"""Rules that could define the evidence of a sentence, to be compared by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from textreg.explain.contributions import ExplainedBatch, explained_batch, removals_of
from textreg.explain.evidence import SHRINKAGE
from textreg.model.model import Model
from textreg.records.arrays import sums

Floats = np.ndarray[Any, Any]


class Parts:
    """What rules are made of: arrays over all sentences of some documents for one label."""

    def __init__(self, model: Model, texts: list[str], of: str | None = None) -> None:
        self.batch: ExplainedBatch = explained_batch(model, texts, of)
        self.evidence = self.batch.evidence()
        self.removal = removals_of(model, self.batch)
        self.n = len(self.evidence.of_sentences)
        inside = self.evidence.sentence >= 0
        self._home, self._values = self.evidence.sentence[inside], self.evidence.values[inside]
        self.length = np.bincount(self._home, minlength=self.n).astype(float)
        self.norm = np.sqrt(self._squared_weights(model))

    def tokens(self, change: Callable[[Floats], Floats]) -> Floats:
        """Sums over the tokens of each sentence of their changed values."""
        return np.asarray(sums(self._home, change(self._values), self.n))

    def occurrences(self, change: Callable[[Floats], Floats]) -> Floats:
        """Sums over the occurrences of features in each sentence of their changed values."""
        total = np.zeros(self.n)
        for part, values in zip(self.batch.occurrences.parts, self.batch.values, strict=True):
            total += sums(part.sentence, change(values), self.n)
        return total

    def _squared_weights(self, model: Model) -> Floats:
        """Sums of the squared weights of the distinct features of each sentence."""
        total = np.zeros(self.n)
        for part in self.batch.occurrences.parts:
            size = max(len(part.encoder.vocabulary), 1)
            distinct = np.unique(part.sentence * size + part.features.ids)
            sentence, ids = distinct // size, distinct % size
            column = ids if part.encoder.columns is None else part.encoder.column_of[ids]
            weights = model.weights[0, column + part.first] * (column >= 0)
            total += sums(sentence, weights * weights, self.n)
        return total


def positive(values: Floats) -> Floats:
    """The positive parts."""
    return np.maximum(values, 0.0)


def squared(values: Floats) -> Floats:
    """The squares of the positive parts."""
    return np.maximum(values, 0.0) ** 2


RULES: Mapping[str, Callable[[Parts], Floats]] = {
    "sum of contributions": lambda it: it.tokens(lambda v: v),
    "the same by token": lambda it: it.tokens(lambda v: v) / np.maximum(it.length, 1),
    "the same by root of length": lambda it: (
        it.tokens(lambda v: v) / np.sqrt(np.maximum(it.length, 1))
    ),
    "removal log-odds": lambda it: it.removal,
    "norm of the group's weights": lambda it: it.norm,
    "the same, with the sign of the sum": lambda it: it.norm * np.sign(it.tokens(lambda v: v)),
    "positive parts of occurrences": lambda it: it.occurrences(positive),
    "positive parts of tokens": lambda it: it.tokens(positive),
    "the same by token ": lambda it: it.tokens(positive) / np.maximum(it.length, 1),
    "the same by root of length ": lambda it: (
        it.tokens(positive) / np.sqrt(np.maximum(it.length, 1))
    ),
    "norm of positive parts of occurrences": lambda it: np.sqrt(
        it.occurrences(squared) / (it.length + SHRINKAGE)
    ),
    "norm of positive parts of tokens": lambda it: np.sqrt(
        it.tokens(squared) / (it.length + SHRINKAGE)
    ),
    "the same, less half of that of negative parts": lambda it: (
        np.sqrt(it.tokens(squared) / (it.length + SHRINKAGE))
        - 0.5 * np.sqrt(it.tokens(lambda v: squared(-v)) / (it.length + SHRINKAGE))
    ),
    "evidence: norm of positive parts, and around": lambda it: it.evidence.of_sentences,
}
"""Functions of :class:`Parts` that give a number for every sentence."""
