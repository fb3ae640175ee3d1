"""What is to be learned: the labels of a corpus as indices, or as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, did_you_mean
from textreg.records import Corpus

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s


class Target(NamedTuple):
    """What is to be learned.

    labels: sorted, or none in a regression. y_true: (n,) the index of every document's label, or
    its number.
    """

    labels: tuple[str, ...]
    y_true: Int64s | Floats

    @classmethod
    def of(cls, corpus: Corpus, task: str) -> Target:
        """Read from a corpus; DataError where nothing can be learned from its labels."""
        return cls((), numbers(corpus)) if task == "regression" else cls(*classes(corpus))

    def rows(self) -> Floats:
        """(k, n), the y of each weight vector to find."""
        if not self.labels:
            return np.asarray(self.y_true, dtype=np.float64)[None]
        positives = [1] if len(self.labels) == 2 else range(len(self.labels))
        return np.array([np.where(self.y_true == code, 1.0, -1.0) for code in positives])

    def strata(self) -> tuple[Int64s, Sequence[str]]:
        """Which kind of document each is, where kinds are to be spread evenly, and their names."""
        if not self.labels:
            return np.zeros(len(self.y_true), dtype=np.int64), ("all",)
        return self.y_true.astype(np.int64), self.labels

    def more(self, dev: Corpus) -> Int64s | Floats:
        """The true labels of documents to measure on; DataError for labels that are not known."""
        if not len(dev) or dev.labels is None:
            raise DataError(
                "There are no labeled documents in dev: give some to choose the prices by (--dev)."
            )
        return _known_codes(dev, self.labels) if self.labels else numbers(dev)


def classes(corpus: Corpus) -> tuple[tuple[str, ...], Int64s]:
    """The labels, sorted, and the index of every document's."""
    if not len(corpus):
        raise DataError("There are no documents to train on: give a file with labeled texts.")
    if corpus.labels is None:
        raise DataError(
            "The documents have no labels to train on: say which column holds them "
            "(--label-col), or give a label for each text."
        )
    for row, label in enumerate(corpus.labels):
        if not isinstance(label, str):
            raise DataError(
                f"{corpus.where(row)}: the label is {label!r}, but labels are texts. Pass "
                "[str(label) for label in labels], or use TextClassifier, which keeps other types."
            )
    labels = tuple(sorted(set(corpus.labels)))
    if len(labels) == 1:
        raise DataError(
            f"All {len(corpus):,} documents have the same label, '{labels[0]}': there is nothing "
            "to tell apart. Add documents with another label, or check the choice of the label "
            "column (--label-col)."
        )
    code_of = {label: code for code, label in enumerate(labels)}
    return labels, np.array([code_of[label] for label in corpus.labels], dtype=np.int64)


def numbers(corpus: Corpus) -> Floats:
    """The labels of a regression as numbers; DataError for one that is none."""
    if corpus.labels is None or not len(corpus):
        raise DataError(
            "There are no documents with numbers to learn: give a file with texts and labels "
            "(--label-col)."
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
                "numbers. Correct it, or leave out --task regression."
            )
    return values


def _known_codes(dev: Corpus, labels: Sequence[str]) -> Int64s:
    """Like :func:`classes`, for documents to measure on."""
    code_of = {label: code for code, label in enumerate(labels)}
    for row, label in enumerate(dev.labels or ()):
        if label not in code_of:
            raise DataError(
                f"{dev.where(row)}: no training document has the label '{label}'."
                f"{did_you_mean(str(label), labels)} Those that have one are: {', '.join(labels)}. "
                "Correct it, or add such documents to the training data."
            )
    return np.array([code_of[label] for label in dev.labels or ()], dtype=np.int64)
