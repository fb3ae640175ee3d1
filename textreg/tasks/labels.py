"""Labels of a training corpus: rare ones, unknown ones, and their codes."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few

if TYPE_CHECKING:
    from textreg.records import Bools, Corpus


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


FEW = 20
"""Documents from which on a column of labels may be told to look like ids."""

REMEDY = (
    "Add documents with this label, leave such labels out (--min-label {least}), or join them into "
    "one (--min-label {least}:other)"
)
"""What to do about a label of too few documents; ``least`` is the number that would do."""

NAMED = 5
"""Labels that a message lists."""

_SEPARATORS = (";", "|", ",")
"""What may stand between the labels of a document."""

_NUMBERED = re.compile(
    r"[-+]?\d[\d.,:_ -]*|[a-z]{0,12}[-_#:./ ]?\d+|(?=.*\d)[0-9a-f]{6,}(-?[0-9a-f]{2,})*", re.I
)
"""Numbers, dates, ``review_17``, hexadecimal digests and UUIDs."""


def documents_of_labels(corpus: Corpus) -> Counter[str]:
    """The number of documents with a weight above zero of every label; 0 if it has no such."""
    labels, weights = corpus.labels or (), corpus.sample_weight
    counts = Counter(labels)
    if weights is not None:
        counts.subtract(label for label, w in zip(labels, weights.tolist(), strict=True) if not w)
    return counts


def rare_labels(counts: Mapping[str, int], least: int, rare_label: str | None) -> dict[str, int]:
    """The labels of fewer than ``least`` documents, the most frequent first, and these numbers.

    Others than ``rare_label``, which such labels are joined into. Raises DataError if there are no
    two labels left, or if the joined one has fewer documents as well.
    """
    rare = {label: n for label, n in counts.items() if n < least and label != rare_label}
    left = len(counts) - len(rare) + (bool(rare) and rare_label not in (None, *counts))
    if rare and left < 2:
        label, most = max(counts.items(), key=lambda item: item[1])
        raise DataError(
            f"{len(rare):,} of {len(counts):,} labels have fewer than {least:,} documents, and "
            f"a model needs two that have as many: the most frequent, '{label}', has {most:,}. "
            "Lower --min-label, or check the choice of the label column (--label-col)."
        )
    joined = sum(rare.values()) + counts.get(rare_label or "", 0)
    if rare and rare_label is not None and joined < least:
        raise DataError(
            f"the labels with fewer than {least:,} documents have {joined:,} together, too few for "
            f"the label '{rare_label}' that joins them. Join more labels (--min-label {least + 1} "
            f"or more), or leave them out (--min-label {least} alone)."
        )
    return dict(sorted(rare.items(), key=lambda item: (-item[1], item[0])))


def warn_of_left_out(rare: Mapping[str, int], least: int, where: str) -> None:
    """DataWarning that names the labels that are left out."""
    listed = first_few([f"'{label}' ({count:,})" for label, count in rare.items()], NAMED)
    what = "label" if len(rare) == 1 else "labels"
    warnings.warn(
        f"left out {len(rare):,} {what} with fewer than {least:,} documents, {where}: {listed}.",
        DataWarning,
        stacklevel=2,
    )


def sounds_like_ids(labels: Sequence[str], distinct: int, column: str) -> str:
    """What to tell where most documents have a label of their own, as in a column of ids.

    labels: of all documents. column: the name of their column, empty if unknown. Empty where labels
    are shared.
    """
    if len(labels) < FEW or 2 * distinct <= len(labels):
        return ""
    whose = f" in the column '{column}'" if column else ""
    looks = "few documents share one"
    if all(_NUMBERED.fullmatch(label) for label in labels):
        looks = "they look like ids"
    return (
        f"the {len(labels):,} documents have {distinct:,} different labels{whose}, such as "
        f"'{labels[0]}' and '{labels[-1]}': {looks}. Check the choice of the label column "
        "(--label-col); numbers to be predicted need --task regression."
    )


def several_labels(counts: Mapping[str, int]) -> str:
    """What to tell where labels are rather lists of labels, such as ``price; support``.

    counts: documents by label. They are, where a tenth of the documents have a separator in their
    label, and the parts are fewer than the labels. Empty where they are not.
    """
    for separator in _SEPARATORS:
        split = {
            label: [part for part in map(str.strip, label.split(separator)) if part]
            for label in counts
        }
        joined = {label: counts[label] for label, parts in split.items() if len(parts) > 1}
        parts = {part for own in split.values() for part in own}
        several = 10 * sum(joined.values()) >= sum(counts.values()) > 0
        if several and len(parts) < len(counts) and not any(map(_NUMBERED.fullmatch, parts)):
            return (
                f"{sum(joined.values()):,} of {sum(counts.values()):,} documents have labels such "
                f"as '{next(iter(joined))}', and {len(counts):,} labels have {len(parts):,} parts: "
                "if a document has several labels, say what separates them (--label-sep "
                f"'{separator}'), or give lists in Python."
            )
    return ""


def warn_of_column(labels: Sequence[str], counts: Mapping[str, int], column: str) -> None:
    """DataWarning if a column of labels rather holds ids, or lists of labels."""
    for told in (sounds_like_ids(labels, len(counts), column), several_labels(counts)):
        if told:
            warnings.warn(told, DataWarning, stacklevel=2)


def parted(corpus: Corpus, aside: Bools) -> tuple[Corpus, Corpus | None]:
    """The documents that are not ``aside``, and those that are, if any."""
    if not aside.any():
        return corpus, None
    rest = replace(corpus.select(np.flatnonzero(~aside)), skipped=corpus.skipped)
    return rest, corpus.select(np.flatnonzero(aside))


def with_label(corpus: Corpus, label: str) -> Bools:
    """(n,) which documents have a label."""
    if corpus.labels is None:
        return np.zeros(len(corpus), dtype=bool)
    return np.array([one == label for one in corpus.labels], dtype=bool)
