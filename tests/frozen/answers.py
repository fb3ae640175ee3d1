"""What three models answer, on what evidence, and what is exported of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import textreg
from frozen.documents import TICKETS, Labeled, reviews, tickets, topics
from frozen.fits import digest
from textreg import Model

EXPORTERS = ("json", "python", "javascript")

ANSWERED, EXPLAINED = 40, 8
"""Documents held out that are answered, and of them those that are explained."""

TOL = 1e-10
"""Gap of the fits, small as it leaves weights uncertain by about its root."""

UNIT = {"weighting": "unit-idf"}
"""Whatever is taken for so few documents: what is recorded are the fits, answers and files."""

NUMBER = re.compile(rb"-?\d+(\.\d+)?(e[-+]?\d+)?")


def _reviews() -> Model:
    texts, labels, _ = reviews()
    strengths = {"reg_group": 0.02, "reg_l1": 0.1, "reg_l2": 0.01}
    return textreg.train(
        texts, labels, reg="sentence", tokenizer="words", tol=TOL, **UNIT, **strengths
    )


def _topics() -> Model:
    texts, labels, _ = topics()
    options = {"tokenizer": "words,chars", "calibrate": "temperature", "holdout": 0.25}
    return textreg.train(texts, labels, reg="ridge", reg_l2=0.05, tol=TOL, **UNIT, **options)


def _tickets() -> Model:
    rows, labels, _ = tickets()
    options = {"reg_l1": 0.02, "reg_l2": 0.02, "min_df": 2, "fields": TICKETS}
    return textreg.train(rows, labels, reg="elastic", tol=TOL, **UNIT, **options)


MODELS: dict[str, tuple[Callable[[], Labeled], Callable[[], Model]]] = {
    "reviews": (reviews, _reviews),
    "topics": (topics, _topics),
    "tickets": (tickets, _tickets),
}


@cache
def model(name: str) -> Model:
    """One of the three models."""
    return MODELS[name][1]()


def answers(name: str) -> dict[str, Any]:
    """The labels and probabilities of documents, and the evidence of some."""
    documents = MODELS[name][0]().held_out[:ANSWERED]
    of_model = model(name)
    explained = textreg.explain.explain(of_model, documents[:EXPLAINED])
    return {
        "labels": list(of_model.predict(documents)),
        "probabilities": of_model.predict_proba(documents).tolist(),
        "evidence": [explanation.to_dict() for explanation in explained],
    }


def exported(name: str, exporter: str, folder: Path) -> dict[str, Any]:
    """Checksums of an export: of all bytes, and of those that are no digits of a number."""
    from textreg.cli import main

    saved, target = folder / f"{name}.textreg", folder / "exported"
    model(name).save(saved)
    assert main(["export", str(saved), "--to", exporter, "-o", str(target)]) == 0
    content = target.read_bytes()
    return {"bytes": digest(content), "text": digest(NUMBER.sub(b"0", content))}
