"""The labels of a classification: which ones a corpus has, and checks of settings by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean

if TYPE_CHECKING:
    from textreg.records import Corpus


def labels_of(corpus: Corpus) -> tuple[str, ...]:
    """The labels of a training corpus, sorted; DataError if nothing can be learned from them."""
    if not len(corpus):
        raise DataError("There are no documents to train on: give a file with labeled texts.")
    if corpus.labels is None:
        raise DataError(
            "The documents have no labels to train on: say which column holds them "
            "(--label-col), or give a label for each text."
        )
    if corpus.multilabel:
        raise DataError(
            f"{corpus.where(0)}: the document has a list of labels, {list(corpus.labels[0])!r:.60},"
            " and in a classification it has one: pass --task multilabel, or give one label each."
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
    return labels


def check_rare_label(rare_label: str | None, labels: Sequence[str]) -> None:
    """UsageError unless rare labels are joined into one of the labels."""
    if rare_label is not None and rare_label not in labels:
        raise UsageError(
            f"rare labels are joined into '{rare_label}', which is not a label of the model: name "
            "one of its labels."
        )


def check_class_weight(class_weight: Mapping[str, float], labels: Sequence[str]) -> None:
    """UsageError for a factor that is not above 0, or is of none of the labels."""
    for label, factor in class_weight.items():
        if label not in labels:
            raise UsageError(
                f"class_weight names the label '{label}', which no document has."
                f"{did_you_mean(label, labels)} There are: {', '.join(labels)}."
            )
        if not (np.isfinite(factor) and factor > 0):
            raise UsageError(f"class_weight of '{label}' must be above 0, not {factor}.")


def check_classes(classes: Sequence[object]) -> None:
    """DataError unless there are two classes or more with a weight above zero."""
    if len(classes) < 2:
        raise DataError(
            f"y has only {len(classes)} class(es), {list(classes)}, with a weight above zero: "
            "there is nothing to tell apart. Add texts with other labels."
        )
