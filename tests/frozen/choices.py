"""What the default search chooses on some documents of real corpora, and how well that does."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import textreg

CORPORA = {
    "subj": "subj/all",
    "sms": "sms/all",
    "trec": "trec/train",
    "science": "tasks/science/train",
    "religion": "tasks/religion/train",
    "computer": "tasks/computer/train",
    "amazon-books": "tasks/amazon-books/train",
    "amazon-electronics": "tasks/amazon-electronics/train",
    "germeval": "languages/germeval2018/train",
    "chnsenticorp": "languages/chnsenticorp/train",
    "masakhane-yor": "languages/masakhane-yor/train",
    "banking77": "intents/banking77/train",
    "goemotions": "multilabel/goemotions/dev",
}
"""Corpora that the project is measured on, none of which belongs to it, by their files."""

TRAIN, TEST = 240, 240
"""Documents of each, drawn by a seed; nothing of them is on record."""

LABELS = 20
"""Most labels, the first by name, as each needs documents; of corpora with one a document."""

LONGEST = 2000
"""Most characters of a document, for a test of seconds."""


def documents(file: Path) -> tuple[list[str], list[Any]]:
    """The documents drawn of a corpus."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "label" in rows[0]:
        names = sorted({row["label"] for row in rows})[:LABELS]
        rows = [row for row in rows if row["label"] in names]
    drawn = random.Random(0).sample(rows, min(TRAIN + TEST, len(rows)))
    labels = [row["labels"] if "labels" in row else row["label"] for row in drawn]
    return [row["text"][:LONGEST] for row in drawn], labels


def choice(folder: Path, name: str) -> dict[str, Any]:
    """The strengths and settings that the default chooses, with the weighting for many documents,
    and the accuracy of its model."""
    texts, labels = documents(folder / f"{CORPORA[name]}.jsonl.gz")
    model = textreg.train(texts[:TRAIN], labels[:TRAIN], weighting="unit-idf")
    summary = model.summary
    assert summary is not None
    assert summary.dev is not None
    right = [
        sorted(answer) == sorted(label) if isinstance(label, list) else answer == label
        for answer, label in zip(model.predict(texts[TRAIN:]), labels[TRAIN:], strict=True)
    ]
    return {
        "reg": summary.reg.name,
        "params": summary.reg.params,
        "chosen": summary.chosen,
        "metric": summary.metric,
        "held out": summary.dev.metrics[summary.metric or ""],
        "accuracy": sum(right) / len(right),
    }
