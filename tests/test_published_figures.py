"""Cheap cells of docs/measurements.md, measured again and compared: three in every run."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest
from thoroughness import thorough

import textreg

DATA = Path(os.environ.get("TEXTREG_DATA", ""), "data")
DOCS = Path(textreg.__file__).parent.parent / "docs"


def rows(folder: str, part: str) -> tuple[list[str], list[str]]:
    with gzip.open(DATA / folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [row["text"] for row in read], [row["label"] for row in read]


def published(corpus: str, column: str) -> float:
    """A cell of the table of accuracies that `python -m benchmarks.structure` wrote."""
    page = (DOCS / "measurements.md").read_text(encoding="utf-8")
    table = page.split("**Accuracy in percent**", 1)[1].split("\n\n", 2)[1]
    head, _, *body = (
        [cell.strip() for cell in re.split(r"\|", line)[1:-1]] for line in table.splitlines()
    )
    (row,) = [row for row in body if row[0] == corpus]
    return float(row[head.index(column)])


@pytest.mark.skipif(not DATA.is_dir(), reason="TEXTREG_DATA names no folder with data")
@pytest.mark.parametrize(
    ("corpus", "folder", "column", "options"),
    [
        ("trec", "trec", "auto", {}),
        ("trec", "trec", "sentence", {"reg": "sentence"}),
        thorough("trec", "trec", "ridge", {"reg": "ridge"}),
        thorough("computer", "tasks/computer", "sentence", {"reg": "sentence"}),
        thorough("amazon-books", "tasks/amazon-books", "ridge", {"reg": "ridge"}),
    ],
)
def test_a_published_accuracy(
    corpus: str, folder: str, column: str, options: dict[str, str]
) -> None:
    dev = rows(folder, "dev") if (DATA / folder / "dev.jsonl.gz").is_file() else None
    model = textreg.train(*rows(folder, "train"), dev=dev, **options)  # type: ignore[arg-type]
    texts, labels = rows(folder, "test")
    right = [a == b for a, b in zip(model.predict(texts), labels, strict=True)]
    # Another processor may round otherwise: one document in two hundred.
    assert 100 * sum(right) / len(right) == pytest.approx(published(corpus, column), abs=0.5)
