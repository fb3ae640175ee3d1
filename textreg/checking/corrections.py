"""What can be set right in a table without asking: labels, blanks, copies and empty rows."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from textreg.reading.corpus import Readable
from textreg.records.text import renamed
from textreg.tasks.base import label_variants

# What a change is, in the order of the columns of a log.
HEAD = ("where", "what", "before", "after")


Change: TypeAlias = tuple[str, str, str, str]


def corrected(
    table: Readable, label_sep: str | None = None
) -> tuple[list[dict[str, Any]], list[Change], dict[str, str]]:
    """A table without what a check finds and a program can set right.

    Variants of a label become that label; blanks at the ends of texts and labels go, and so do rows
    that cannot be read, those without a text, and all but the first of equal texts with one label.

    Returns the rows that are left, the changes, and the labels that stand for another one.

    label_sep: what separates the labels of a document.
    """
    corpus, changes = table.corpus, list[Change]()
    several = corpus.multilabel
    labels = list(corpus.labels) if corpus.labels is not None else [None] * len(corpus)
    each = (it for names in labels if names is not None for it in (names if several else (names,)))
    label_map = label_variants(Counter(each))
    text_col, label_col = (corpus.column_names.get(role, role) for role in ("text", "label"))
    changes += [(row.where, "row left out", row.problem, "") for row in corpus.skipped]
    records, seen = list[dict[str, Any]](), dict[tuple[str, Any], str]()
    for row, (record, label) in enumerate(zip(table.records, labels, strict=True)):
        where, text = corpus.where(row), str(corpus.texts[row]).strip()
        label = renamed(label, label_map)
        if not text:
            changes.append((where, "row left out", "the text is empty", ""))
            continue
        if (first := seen.setdefault((text, label), where)) != where:
            changes.append((where, "row left out", f"the same as {first}", ""))
            continue
        better = dict(record)
        if isinstance(better.get(text_col), str):
            better[text_col] = better[text_col].strip()
        if label is not None:
            before = better.get(label_col)
            as_text = several and not isinstance(before, list)
            better[label_col] = (label_sep or " ").join(label) if as_text else label
        for name in better:
            if name in (text_col, label_col) and better[name] != record.get(name):
                what = "label" if name == label_col else "blanks"
                changes.append((where, what, str(record.get(name)), str(better[name])))
        records.append(better)
    return records, changes, label_map
