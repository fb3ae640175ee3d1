"""Documents with the same text, within a corpus and across two."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from textreg.checking.copy_findings import ConflictingLabels, Duplicates, Overlap
from textreg.checking.documents import Documents, is_missing
from textreg.checking.findings import Finding


def plain(text: str) -> str:
    """A text without what nobody sees: in normal form NFC, every run of white space as a blank."""
    line = " ".join(text.split())
    return line if line.isascii() else unicodedata.normalize("NFC", line)


def same_texts(texts: Sequence[str]) -> dict[str, list[int]]:
    """The rows of every text that is not missing, as :func:`plain` writes it."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if not is_missing(key := plain(text)):
            rows.setdefault(key, []).append(row)
    return rows


def copy_findings(documents: Documents, rows_of: Mapping[str, list[int]]) -> Iterator[Finding]:
    """Documents with the same text, and with the same or with other labels."""
    groups = [rows for rows in rows_of.values() if len(rows) > 1]
    labels, n = documents.labels, len(documents)
    repeated = conflicting = conflicts = 0
    same: list[list[int]] = []
    differing: list[list[int]] = []
    for rows in groups:
        by_label: dict[object, list[int]] = {}
        for row in rows:
            by_label.setdefault(None if labels is None else labels[row], []).append(row)
        for alike in by_label.values():
            repeated += len(alike) - 1
            if len(alike) > 1:
                same.append(alike)
        if len(by_label) > 1:
            conflicts += 1
            conflicting += len(rows)
            firsts = [alike[0] for alike in by_label.values()]
            differing.append(firsts)
    same.sort(key=len, reverse=True)
    yield Duplicates(repeated, n, documents.group_examples(same), len(same))
    yield ConflictingLabels(conflicting, n, documents.group_examples(differing), conflicts)


def overlap(documents: Documents, rows_of: Mapping[str, list[int]], other: Documents) -> Finding:
    """Documents of another corpus whose text this one has."""
    places: dict[int, str] = {}
    conflicting = 0
    for row, text in enumerate(other.texts):
        rows = rows_of.get(plain(text))
        if not rows:
            continue
        places[row] = f"is {documents.placed(rows)}"
        if documents.labels is not None and other.labels is not None:
            conflicting += other.labels[row] not in [documents.labels[it] for it in rows]
    examples = other.examples(places, lambda row: places[row])
    return Overlap(len(places), len(other), examples, conflicting)
