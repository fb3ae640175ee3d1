"""Film reviews with the passages that people marked as the reason for their label (ERASER)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora import read
from textreg_report.agreement import MarkedDocument

FOLDER = "rationales/movies"


class Split(NamedTuple):
    """Documents with their labels, in the order of the file."""

    documents: list[MarkedDocument]
    labels: list[str]

    @property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [one.text for one in self.documents]

    def take(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> Split:
        """Some of the documents, each as often as it is named."""
        return Split(
            [self.documents[int(at)] for at in rows], [self.labels[int(at)] for at in rows]
        )


def split(data: Path, name: str, most: int | None = None) -> Split:
    """The documents of ``train``, ``dev`` or ``test``; at most ``most``, of all labels."""
    rows = read(data / FOLDER / f"{name}.jsonl.gz")
    if most is not None:
        rows = rows[:: max(len(rows) // most, 1)]
    documents = [MarkedDocument.of(row["text"], row["evidence"], row["sentences"]) for row in rows]
    return Split(documents, [row["label"] for row in rows])


def folds(n: int, k: int) -> list[np.ndarray[Any, Any]]:
    """Numbers of documents in ``k`` parts of almost equal size, drawn once for all."""
    return np.array_split(np.random.default_rng(0).permutation(n), k)
