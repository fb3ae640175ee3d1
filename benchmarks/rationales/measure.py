"""What is measured: agreement on the test documents, and rules by cross-validation on train."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import textreg
from benchmarks.rationales.corpus import Split, folds, split
from benchmarks.rationales.methods import METHODS, REFERENCES, Method
from benchmarks.rationales.rules import RULES, Parts
from textreg.model.model import Model
from textreg_report.agreement import (
    RationaleScores,
    auprc,
    average_precision,
    precision_at,
    rationale_scores,
    tokens_in,
    touched,
)

KINDS = ("sentence", "elastic", "ridge", "lasso")
"""The kinds of models that rules are compared for."""

FOLDS = 3
REFITS = 4
BATCH = 500


def agreement(
    data: Path, methods: Sequence[Method], most: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Figures of every method on the test documents, and its differences from the references."""
    train, dev, test = (split(data, name, most) for name in ("train", "dev", "test"))
    by_tokenizer = [one._replace(sentences=None) for one in test.documents]
    references: dict[str, RationaleScores] = {}
    first = [one for one in METHODS if one.name in REFERENCES]
    for method in [*first, *(one for one in methods if one not in first)]:
        started = time.perf_counter()
        model = method.train(train, dev)
        seconds = time.perf_counter() - started
        right = np.array(model.predict(test.texts)) == test.labels
        scores = rationale_scores(model, test.documents)
        entry = {
            "what": method.what,
            "seconds": seconds,
            "features": model.n_features,
            "accuracy": float(right.mean()),
            "measures": _plain(scores.measures()),
            "own sentences": _plain(rationale_scores(model, by_tokenizer).measures()),
            "marked": [scores.marked_sentences, scores.marked_tokens, len(scores)],
        }
        if method in first:
            references[method.name] = scores
        else:
            entry["differences"] = {
                name: _plain(scores.differences(other)) for name, other in references.items()
            }
        yield method.name, entry


def _plain(measures: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {key: list(one) for key, one in measures.items()}


def line_of(name: str, entry: dict[str, Any]) -> str:
    """A line for the terminal."""
    measures = entry["measures"]
    shown = " ".join(
        f"{key} {measures[key][0]:.3f}" for key in ("sentence_auprc", "top_1", "token_auprc")
    )
    line = f"{name}: accuracy {entry['accuracy']:.3f} {shown} [{entry['seconds']:.0f} s]"
    for reference, measured in entry.get("differences", {}).items():
        value, low, high, p = measured["sentence_auprc"]
        line += f"\n  less {reference}: {value:+.4f} ({low:+.4f} to {high:+.4f}), p = {p:.4f}"
    return line


def rules(data: Path, most: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every kind of model, with the agreement and the stability of every rule for it.

    Agreement is that with the marks of documents of train that no fit has seen, in three parts of
    it. Stability is the mean rank correlation of the sentences of a document of dev between models
    of bootstraps of train, for the document's own label.
    """
    train, dev = split(data, "train", most), split(data, "dev", most)
    every = np.arange(len(train.labels))
    of_kind = {method.name: method for method in METHODS}
    for kind in KINDS:
        figures: dict[str, list[list[float]]] = {rule: [] for rule in RULES}
        for part in folds(len(every), FOLDS):
            fitted = train.take(np.setdiff1d(every, part))
            model = of_kind[kind].train(fitted, dev)
            for rule, own in _judged(model, train.take(part)).items():
                figures[rule] += own
        stable = _stability(model, train, dev)
        yield (
            kind,
            {
                rule: {"measures": np.mean(own, axis=0).tolist(), "stability": stable[rule]}
                for rule, own in figures.items()
            },
        )


def _judged(model: Model, documents: Split) -> dict[str, list[list[float]]]:
    """By rule, the AUPRC, average precision and top-1 of every document with marked sentences."""
    found: dict[str, list[list[float]]] = {rule: [] for rule in RULES}
    for start in range(0, len(documents.labels), BATCH):
        some = documents.documents[start : start + BATCH]
        parts = Parts(model, [one.text for one in some])
        values = {rule: of(parts) for rule, of in RULES.items()}
        ptr = parts.evidence.sentence_ptr
        for one, (first, last) in zip(some, itertools.pairwise(ptr.tolist()), strict=True):
            spans = parts.evidence.sentences[first:last]
            marked = touched(tokens_in(one.passages, spans), len(spans))
            if marked.any():
                for rule, value in values.items():
                    own = marked, value[first:last]
                    found[rule].append(
                        [auprc(*own), average_precision(*own), precision_at(*own, 1)]
                    )
    return found


def _stability(model: Model, train: Split, dev: Split) -> dict[str, float]:
    """By rule, the mean rank correlation between bootstrapped refits with the same settings."""
    from scipy.stats import spearmanr

    assert model.summary is not None
    reg = model.summary.reg
    fixed = {f"reg_{key}": value for key, value in reg.params.items() if key != "solver"}
    random = np.random.default_rng(0)
    refits = []
    for _ in range(REFITS):
        drawn = train.take(random.integers(len(train.labels), size=len(train.labels)))
        refits.append(textreg.train(drawn.texts, drawn.labels, reg=reg.name, jobs=1, **fixed))
    correlations: dict[str, list[float]] = {rule: [] for rule in RULES}
    for label in model.labels:
        texts = [text for text, own in zip(dev.texts, dev.labels, strict=True) if own == label]
        every = [Parts(one, texts, label) for one in refits]
        values = {rule: [of(parts) for parts in every] for rule, of in RULES.items()}
        for rule, first, last in _sentences(every[0]):
            for one, other in itertools.pairwise(values[rule]):
                pair = one[first:last], other[first:last]
                if all(np.ptp(own) > 0 for own in pair):
                    correlations[rule].append(float(spearmanr(*pair).statistic))
    return {rule: float(np.mean(own)) for rule, own in correlations.items()}


def _sentences(parts: Parts) -> Iterator[tuple[str, int, int]]:
    """Every rule with the sentences of every document that has several."""
    for first, last in itertools.pairwise(parts.evidence.sentence_ptr.tolist()):
        if last - first > 1:
            for rule in RULES:
                yield rule, first, last
