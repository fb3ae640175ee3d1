"""What can be set right in a table without asking: labels, blanks, copies and empty rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from textreg.checking.copies import plain
from textreg.checking.labels import count_labels
from textreg.reading.corpus import Readable
from textreg.records.documents import Field
from textreg.records.text import renamed
from textreg.tasks.base import label_variants

# What a change is, in the order of the columns of a log.
HEAD = ("where", "what", "before", "after")


Change: TypeAlias = tuple[str, str, str, str]


def corrected(
    table: Readable, label_sep: str | None = None, fields: Sequence[Field] = (), named: bool = True
) -> tuple[list[dict[str, Any]], list[Change], dict[str, str]]:
    """A table without what a check finds and a program can set right.

    Variants of a label become that label; blanks at the ends of texts and labels go, and so do rows
    that cannot be read, those without a text, and all but the first of equal texts with one label.
    Of several fields, rows are equal where all fields are, and empty where all are.

    Returns the rows that are left, the changes, and the labels that stand for another one.

    label_sep: what separates the labels of a document, which are a list without. fields: its
    columns, where it has several. named: whether labels are names, which may be misspelled.
    """
    corpus, changes = table.corpus, list[Change]()
    labels = list(corpus.labels) if corpus.labels is not None else [None] * len(corpus)
    label_map = label_variants(count_labels(corpus)) if named else {}
    text_col, label_col = (corpus.column_names.get(role, role) for role in ("text", "label"))
    text_cols = [field.name for field in fields if field.kind == "text"] or [text_col]
    changes += [(row.where, "row left out", row.problem, "") for row in corpus.skipped]
    records, seen = list[dict[str, Any]](), dict[Any, str]()
    for row, (record, label) in enumerate(zip(table.records, labels, strict=True)):
        if isinstance(label, tuple) and isinstance(record.get(label_col), str) != bool(label_sep):
            record = {**record, label_col: _written(label, None, label_sep)}
        where, values = corpus.where(row), [record.get(field.name) for field in fields]
        content = [plain("" if it is None else str(it)) for it in values or [corpus.texts[row]]]
        label = renamed(label, label_map)
        if not any(content):
            changes.append((where, "row left out", "the text is empty", ""))
            continue
        which = frozenset(label) if isinstance(label, tuple) else label
        if (first := seen.setdefault((*content, which), where)) != where:
            changes.append((where, "row left out", f"the same as {first}", ""))
            continue
        stripped = {at: record[at].strip() for at in text_cols if isinstance(record.get(at), str)}
        better = {**record, **stripped}
        if label is not None:
            better[label_col] = _written(label, record.get(label_col), label_sep)
        for name in better:
            if better[name] != record.get(name):
                what = "label" if name == label_col else "blanks"
                changes.append((where, what, str(record.get(name)), str(better[name])))
        records.append(better)
    return records, changes, label_map


def _written(label: str | tuple[str, ...], before: Any, label_sep: str | None) -> Any:
    """A label, or those of a document, in the form that the table has them."""
    if not isinstance(label, tuple):
        return label
    if label_sep:
        return label_sep.join(label)
    same = isinstance(before, list) and list(map(str, before)) == list(label)
    return before if same else list(label)
