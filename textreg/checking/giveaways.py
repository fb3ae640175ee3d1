"""Columns of a table that give the label away."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from textreg.checking.documents import Documents
from textreg.checking.findings import Example, Finding
from textreg.checking.label_findings import Giveaway, GiveawayColumns
from textreg.errors import shortened

FEW = 20
"""Documents from which on a column may be told to give the label away."""
SHARE = 0.9
"""Share of labels that such a column tells at least."""
LEFT = 0.2
"""Share of the errors of the best guess without the column that may be left with it."""


def giveaway_columns(documents: Documents, columns: Mapping[str, Sequence[Any]]) -> Finding:
    """The columns that tell the label, by their values or by their order.

    columns: by name, a value for each document. A column is judged by what it tells of the label of
    a document from all others: those with the same value, or where values hardly occur twice, the
    one before in the order of values.
    """
    labels = [documents.label(row) for row in range(len(documents))]
    written = [_plain(label) for label in labels]  # in one way, whatever the case
    found: list[Giveaway] = []
    examples: list[Example] = []
    for name, values in columns.items() if len(labels) >= FEW else ():
        plain = [_plain(value) for value in values]
        if (told := _told(name, plain, written)) is not None:
            found.append(told)
            value = shortened(str(values[0]))
            examples.append(documents.example(0, f"{name} {value}, label {labels[0]}"))
    most = documents.settings.examples
    return GiveawayColumns(len(found), len(columns), tuple(examples[:most]), tuple(found))


def _told(name: str, values: Sequence[str], labels: Sequence[str]) -> Giveaway | None:
    n, counts = len(labels), Counter(labels)
    same = sum(value == label for value, label in zip(values, labels, strict=True)) / n
    if same >= SHARE:
        return Giveaway(name, "is the label", same)
    guess = counts.most_common(1)[0][1] / n
    if _tells(share := _by_value(values, labels), guess):
        return Giveaway(name, "determines the label", share)
    if 2 * len(set(values)) > n:
        chance = sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))
        if _tells(share := _by_order(values, labels), chance):
            return Giveaway(name, "is in the order of the labels", share)
    return None


def _tells(share: float, without: float) -> bool:
    """Whether a share of right answers is far above that without the column."""
    return share >= SHARE and 1 - share <= LEFT * (1 - without)


def _by_value(values: Sequence[str], labels: Sequence[str]) -> float:
    """Share of documents whose label is the most frequent one of others with the same value."""
    tables: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for value, label in zip(values, labels, strict=True):
        tables[value][label] += 1
    right = 0
    for table in tables.values():
        (_, most), *others = [*table.most_common(2), ("", 0)]
        # Without the document itself, its label must still be ahead of the others.
        right += most if most - 1 > others[0][1] else 0
    return right / len(labels)


def _by_order(values: Sequence[str], labels: Sequence[str]) -> float:
    """Share of documents with the label of the one before in the order of values."""
    keys: list[Any] = [_number(value) for value in values]
    if None in keys:
        keys = list(values)
    order = sorted(range(len(keys)), key=lambda row: (keys[row], row))
    return sum(labels[one] == labels[two] for one, two in pairwise(order)) / max(1, len(order) - 1)


def _plain(value: Any) -> str:
    return "" if value is None else str(value).strip().casefold()


def _number(value: str) -> float | None:
    with suppress(ValueError):
        number = float(value)
        return number if number == number else None
    return None
