"""What is wrong with labels: too few documents, two spellings, or no labels at all."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from textreg.checking.documents import Documents, is_missing
from textreg.checking.findings import Example, Finding
from textreg.checking.label_findings import (
    LEAST,
    Imbalance,
    LabelColumn,
    LabelsOfOneFile,
    MissingLabels,
    RareLabels,
    SimilarLabels,
    SingleLabel,
)
from textreg.tasks.labels import several_labels, sounds_like_ids

TIMES = 20
"""The most frequent label has so many times the documents of another one: told."""


def count_labels(documents: Documents) -> Counter[str]:
    """The number of documents of every label."""
    labels = documents.labels or ()
    if documents.corpus.multilabel:
        return Counter(label for several in labels for label in several)
    return Counter(map(str, labels))


def label_findings(documents: Documents, counts: Counter[str]) -> Iterator[Finding]:
    """What is wrong with the labels of one corpus."""
    n = len(documents)
    ranked = ranking(counts)
    if len(counts) == 1:
        yield SingleLabel(n, n, (), ranked[0][0])
        return
    first = _first_rows(documents)

    def examples(labels: list[str]) -> tuple[Example, ...]:
        return documents.examples(dict.fromkeys(first[label] for label in labels))

    none = tuple((label, count) for label, count in ranked if is_missing(label))
    missing = examples([label for label, _ in none])
    yield MissingLabels(sum(count for _, count in none), n, missing, none)
    if not documents.corpus.multilabel:
        whys = (_ids(documents, counts), several_labels(counts))
        if why := next(filter(None, whys), ""):
            yield LabelColumn(len(counts), len(counts), (), why)
            return
    rare = [(label, count) for label, count in ranked if count < LEAST]
    names = [label for label, _ in rare]
    yield RareLabels(len(rare), len(counts), examples(names[::-1]), tuple(rare))
    frequent = [one for one in ranked if one[1] >= LEAST]
    if len(frequent) > 1 and frequent[0][1] >= TIMES * frequent[-1][1]:
        yield Imbalance(frequent[0][1], n, (), frequent[0], frequent[-1])
    alike: dict[str, list[str]] = {}
    for label, _ in ranked:
        alike.setdefault(re.sub(r"[\W_]+", "", label).casefold() or label, []).append(label)
    groups = tuple(tuple(labels) for labels in alike.values() if len(labels) > 1)
    odd = [label for labels in groups for label in labels[1:]]
    yield SimilarLabels(sum(map(len, groups)), len(counts), examples(odd), groups)


def not_numbers(documents: Documents) -> Finding:
    """The documents of a regression whose labels are no finite numbers."""
    wrong = [row for row, label in enumerate(documents.labels or ()) if not _is_number(label)]
    why = (
        "A regression needs a finite number for every document: correct them, or leave out --task "
        "regression."
    )
    return LabelColumn(len(wrong), len(documents), documents.examples(wrong), why)


def labels_of_one(documents: Documents, other: Documents) -> Finding:
    """Labels that only one of two corpora has."""
    one, two = count_labels(documents), count_labels(other)
    first = [label for label, _ in ranking(one) if label not in two]
    second = [label for label, _ in ranking(two) if label not in one]
    where = _first_rows(other)
    examples = other.examples(where[label] for label in second)
    if not second:
        where = _first_rows(documents)
        examples = documents.examples(where[label] for label in first)
    count = len(first) + len(second)
    return LabelsOfOneFile(count, len(one | two), examples, tuple(first), tuple(second))


def ranking(counts: Counter[str]) -> list[tuple[str, int]]:
    """Labels with their numbers of documents, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _is_number(label: Any) -> bool:
    try:
        return math.isfinite(float(label))
    except (TypeError, ValueError):
        return False


def _ids(documents: Documents, counts: Counter[str]) -> str:
    column = documents.corpus.column_names.get("label", "")
    labels = [str(label) for label in documents.labels or ()]
    return sounds_like_ids(labels, len(counts), column)


def _first_rows(documents: Documents) -> dict[str, int]:
    """The first document of every label."""
    rows: dict[str, int] = {}
    several = documents.corpus.multilabel
    for row, label in enumerate(documents.labels or ()):
        for one in label if several else (str(label),):
            rows.setdefault(one, row)
    return rows
