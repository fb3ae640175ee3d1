"""The methods that are compared: each trains a model, with everything else at its default."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import textreg
from benchmarks.rationales.corpus import Split
from textreg.model.model import Model
from textreg_papers.protocols import COSTS, SHARES, fit_nbsvm


class Method(NamedTuple):
    """A name, what it is, and the function that trains it on ``train`` and, if need be, ``dev``."""

    name: str
    what: str
    train: Callable[[Split, Split], Model]


def of(**options: Any) -> Callable[[Split, Split], Model]:
    """Training with these options on ``train`` alone, hyperparameters searched."""

    def train(documents: Split, dev: Split) -> Model:
        return textreg.train(documents.texts, documents.labels, jobs=1, **options)

    return train


def nbsvm(documents: Split, dev: Split) -> Model:
    """NB-SVM on words and pairs (wang2012), its two settings chosen on ``dev``."""
    base = textreg.train(
        documents.texts,
        documents.labels,
        reg="ridge",
        reg_l2=1.0,
        tokenizer="words",
        ngrams=2,
        weighting="binary",
        loss="squared-hinge",
        prune=0.0,
        jobs=1,
    )
    X = base.encoder.transform(documents.texts)
    y = np.array(documents.labels) == base.labels[1]
    models = []
    for cost, share in itertools.product(COSTS, SHARES):
        w, b = fit_nbsvm(X, y.astype(int), cost, share)
        models.append(Model(base.task, base.encoder, w[None], np.array([b])))
    right = [np.mean(np.array(one.predict(dev.texts)) == dev.labels) for one in models]
    return models[int(np.argmax(right))]


METHODS = (
    Method("auto", "auto, the default", of()),
    Method("sentence", "groups of sentences", of(reg="sentence")),
    Method("shadow", "the same, shuffled", of(reg="sentence", groups="shuffled:sentences")),
    Method("latent", "latent groups of sentences", of(reg="latent", groups="sentences")),
    Method("paragraphs", "groups of paragraphs", of(reg="group", groups="paragraphs")),
    Method("elastic", "elastic net", of(reg="elastic")),
    Method("ridge", "ridge", of(reg="ridge")),
    Method("lasso", "lasso", of(reg="lasso")),
    Method("omp", "orthogonal matching pursuit", of(reg="omp")),
    Method("NB-SVM", "NB-SVM on words and pairs", nbsvm),
)
REFERENCES = ("ridge", "lasso")
"""The methods that the default is to beat."""
