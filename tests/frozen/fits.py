"""The fits on record: every regularizer, solver and loss, for one label, several and many."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import textreg
from frozen.documents import Labeled, emotions, notes, numbers, reviews, topics
from textreg import Model
from textreg.errors import ConvergenceWarning

SAMPLE = 2000
"""Weights of a fit that are on record one by one; a checksum holds all of them."""


class Fit(NamedTuple):
    """Documents, and the options of a training whose strengths are all given."""

    documents: Callable[[], Labeled]
    options: dict[str, Any]

    def train(self) -> Model:
        """The model."""
        texts, labels, _ = self.documents()
        options = {"tokenizer": "words", "weighting": "unit-idf", "prune": 0.0, **self.options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the record says so as well
            return textreg.train(texts, labels, **options)


def _two(reg: str, **options: Any) -> Fit:
    return Fit(reviews, {"reg": reg, **options})


def _six(reg: str, **options: Any) -> Fit:
    return Fit(topics, {"reg": reg, "ngrams": 1, **options})


def _many(reg: str, **options: Any) -> Fit:
    return Fit(emotions, {"reg": reg, "ngrams": 1, **options})


def _number(reg: str, **options: Any) -> Fit:
    return Fit(numbers, {"reg": reg, "ngrams": 1, "task": "regression", **options})


def _blocks(reg: str, **options: Any) -> Fit:
    return Fit(notes, {"reg": reg, "ngrams": 1, "memory": "1GB", **options})


RIDGE = {"reg_l2": 0.05}
LASSO = {"reg_l1": 0.4}
ELASTIC = {"reg_l1": 0.2, "reg_l2": 0.05}
GROUPS = {"reg_group": 0.05, "reg_l1": 0.2, "reg_l2": 0.01}
DENSE_GROUPS = {"reg_group": 0.05, "reg_l1": 0.0, "reg_l2": 0.02}
TIES = {"reg_alpha": 0.5, "reg_beta": 0.05}
STEPS = {"reg_steps": 150}
SOFTMAX = {"multiclass": "softmax"}
MARGIN, SQUARED_MARGIN = {"loss": "hinge"}, {"loss": "squared-hinge"}

FITS: dict[str, Fit] = {
    # every regularizer and solver, one weight vector
    "none": _two("none", ngrams=1, min_df=40, tol=1e-12),
    "ridge": _two("ridge", **RIDGE),
    "ridge of words and characters": _two("ridge", **RIDGE, tokenizer="words,chars"),
    "lasso": _two("lasso", **LASSO),
    "lasso of words and characters": _two("lasso", **LASSO, tokenizer="words,chars"),
    "elastic": _two("elastic", **ELASTIC),
    "sentence by majorization": _two("sentence", **GROUPS, reg_solver="majorize"),
    "sentence without l1": _two("sentence", **DENSE_GROUPS),
    "sentence without a ridge": _two("sentence", reg_group=0.1, reg_l1=0.1, reg_l2=0.0),
    "sentence of words and characters": _two("sentence", **GROUPS, tokenizer="words,chars"),
    "sentence by ADMM": _two("sentence", **GROUPS, reg_solver="admm", ngrams=1),
    "sentence by ADMM as published": _two(
        "sentence",
        **GROUPS,
        reg_solver="admm",
        reg_balanced=False,
        reg_relax=1.0,
        reg_stop="paper",
        ngrams=1,
    ),
    "sentence by Algorithm 1": _two("sentence", **GROUPS, reg_solver="algorithm-1", ngrams=1),
    "groups of windows": _two("group", **GROUPS, groups="windows", groups_size=6, ngrams=1),
    "groups of documents": _two("group", **DENSE_GROUPS, groups="documents", ngrams=1),
    "latent": _two("latent", reg_group=0.1, reg_l1=0.0, reg_l2=0.02, ngrams=1),
    "latent with l1": _two("latent", reg_group=0.1, reg_l1=0.05, reg_l2=0.02, ngrams=1),
    "network": _two("network", **TIES, ngrams=1),
    "laplacian": _two("laplacian", **TIES, ngrams=1),
    "laplacian, normalized": _two("laplacian", **TIES, reg_normalized=True, ngrams=1),
    "pcr": _two("pcr", reg_components=20, reg_l2=0.05, ngrams=1),
    "lle": _two("lle", reg_components=20, reg_l2=0.05, ngrams=1),
    "stagewise": _two("stagewise", **STEPS),
    "stagewise, linear": _two("stagewise", **STEPS, reg_likelihood="linear"),
    "stagewise, exponential": _two(
        "stagewise", **STEPS, reg_likelihood="exponential", reg_scaled=False
    ),
    "stagewise with a queue": _two("stagewise", **STEPS, reg_lookup="queue"),
    "stagewise of a sample": _two("stagewise", **STEPS, reg_sample=30, reg_keep_best=True),
    "stagewise with patience": _two("stagewise", **STEPS, reg_patience=20, reg_every=10),
    "omp": _two("omp", reg_budget=12, reg_l2=0.1),
    "omp on given columns": _two(
        "omp", reg_budget=12, reg_l2=0.1, reg_columns="given", reg_intercept="feature"
    ),
    "gomp": _two("gomp", reg_budget=20, reg_l2=0.1, ngrams=1),
    "gomp inside groups": _two("gomp", reg_budget=20, reg_l2=0.1, reg_inside=0.9, ngrams=1),
    # every loss
    "ridge, hinge": _two("ridge", **RIDGE, **MARGIN),
    "ridge, squared hinge": _two("ridge", **RIDGE, **SQUARED_MARGIN),
    "lasso, hinge": _two("lasso", **LASSO, **MARGIN),
    "lasso, squared hinge": _two("lasso", **LASSO, **SQUARED_MARGIN),
    "elastic, hinge": _two("elastic", **ELASTIC, **MARGIN),
    "sentence, hinge": _two("sentence", **GROUPS, **MARGIN, ngrams=1),
    "sentence, squared hinge": _two("sentence", **GROUPS, **SQUARED_MARGIN, ngrams=1),
    "latent, squared hinge": _two("latent", reg_group=0.1, reg_l2=0.02, **SQUARED_MARGIN, ngrams=1),
    "numbers, ridge": _number("ridge", **RIDGE),
    "numbers, lasso": _number("lasso", **LASSO),
    "numbers, elastic": _number("elastic", **ELASTIC),
    "numbers, sentence": _number("sentence", **GROUPS),
    "numbers, network": _number("network", **TIES),
    "numbers, stagewise": _number("stagewise", **STEPS),
    "numbers, omp": _number("omp", reg_budget=12, reg_l2=0.1),
    # six labels: each against the rest, and all together
    "six, ridge": _six("ridge", **RIDGE),
    "six, lasso": _six("lasso", **LASSO),
    "six, elastic, balanced": _six("elastic", **ELASTIC, class_weight="balanced"),
    "six, sentence": _six("sentence", **GROUPS),
    "six, sentence without l1": _six("sentence", **DENSE_GROUPS),
    "six, sentence by ADMM": _six("sentence", **GROUPS, reg_solver="admm"),
    "six, latent": _six("latent", reg_group=0.1, reg_l2=0.02),
    "six, weighted documents": _six(
        "elastic", **ELASTIC, sample_weight=[0.5 + at % 3 for at in range(180)]
    ),
    "six, hinge": _six("ridge", **RIDGE, **MARGIN),
    "six, laplacian": _six("laplacian", **TIES),
    "six, omp": _six("omp", reg_budget=12, reg_l2=0.1),
    "six, softmax, ridge": _six("ridge", **RIDGE, **SOFTMAX),
    "six, softmax, lasso": _six("lasso", **LASSO, **SOFTMAX),
    "six, softmax, elastic": _six("elastic", **ELASTIC, **SOFTMAX),
    "six, softmax, network": _six("network", **TIES, **SOFTMAX),
    "six, softmax, laplacian": _six("laplacian", **TIES, **SOFTMAX),
    "six, softmax, sentence": _six("sentence", **GROUPS, **SOFTMAX),
    "six, softmax, sentence without l1": _six("sentence", **DENSE_GROUPS, **SOFTMAX),
    # 28 labels, several for a document
    "many, ridge": _many("ridge", **RIDGE),
    "many, lasso": _many("lasso", **LASSO),
    "many, elastic": _many("elastic", **ELASTIC),
    "many, sentence": _many("sentence", **GROUPS),
    "many, squared hinge": _many("ridge", **RIDGE, **SQUARED_MARGIN),
    # documents in two blocks
    "blocks, ridge": _blocks("ridge", reg_l2=0.5),
    "blocks, lasso": _blocks("lasso", reg_l1=5.0),
    "blocks, elastic, squared hinge": _blocks("elastic", reg_l1=5.0, reg_l2=0.5, **SQUARED_MARGIN),
    "blocks, sentence": _blocks("sentence", reg_group=0.2, reg_l1=5.0, reg_l2=0.1),
    "blocks, six labels": Fit(
        lambda: notes(6), {"reg": "ridge", "reg_l2": 0.5, "ngrams": 1, "memory": "1GB"}
    ),
}


class Fitted(NamedTuple):
    """What is on record of a fit: plain values, and arrays."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[np.float64]]


def sample(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights at equal distances, at most as many as are on record."""
    flat = np.ravel(weights)
    return flat[:: max(1, -(-flat.size // SAMPLE))]


def digest(data: bytes) -> str:
    """A checksum."""
    return hashlib.sha256(data).hexdigest()


def fitted(name: str) -> Fitted:
    """Train, and look at what came out."""
    fit = FITS[name]
    model = fit.train()
    summary = model.summary
    assert summary is not None
    scores = np.asarray(model.decision_function(fit.documents().held_out), dtype=np.float64)
    values = {
        "objective": summary.objective,
        "gap": summary.gap,
        "converged": summary.converged,
        "features": summary.features,
        "nonzero": summary.nonzero,
        "weights": digest(np.ascontiguousarray(model.weights).tobytes()),
        "scores": digest(np.ascontiguousarray(scores).tobytes()),
    }
    if summary.order:
        values["order"] = digest(json.dumps(summary.order).encode())
    arrays = {
        "weights": sample(model.weights),
        "intercepts": np.array(model.intercepts),
        "scores": sample(scores),
    }
    return Fitted(values, arrays)
