"""Formats with a document on every line and no columns: fastText's, and plain text."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator

from textreg.reading.columns import Row, TableColumns
from textreg.reading.faults import UnusableRow
from textreg.reading.formats.base import Format
from textreg.reading.source import Source

_LABEL = re.compile(r"(?<!\S)__label__(\S*)\s?")


class LineFormat(Format):
    """A document on every line, without columns."""

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        columns.refuse(source.name, self.title)
        lines = source.lines
        for line in lines:
            try:
                if damage := lines.damage():
                    raise damage
                row = self.document(line.removesuffix("\r"), columns, lines.number)
            except UnusableRow as problem:
                yield problem.at(lines.number)
                continue
            if row is not None:
                yield row

    @abstractmethod
    def document(self, line: str, columns: TableColumns, number: int) -> Row | None:
        """The document on a line; None if there is none."""


class FastText(LineFormat):
    """A line is a text, and its labels are the words of it that begin with ``__label__``."""

    name = "fasttext"
    title = "fastText"
    example = "__label__good ..."

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return bool(_LABEL.match(source.lines.first))

    def document(self, line: str, columns: TableColumns, number: int) -> Row | None:
        if not line or line.isspace():
            return None
        labels = _LABEL.findall(line)
        text = _LABEL.sub("", line)
        record = {"label": " ".join(labels), "text": text} if columns.keeps else {}
        if columns.multilabel:
            every = tuple(dict.fromkeys(filter(None, labels)))
            return Row(text, every, 1.0, number, record=record)
        label = labels[0] if len(labels) == 1 else None
        if columns.labeled and not label:
            if len(labels) > 1:
                raise UnusableRow(
                    f"{len(labels)} labels ({', '.join(labels[:3])}); a document has one here.",
                    "Keep one of them, or pass --task multilabel",
                    "more than one label",
                )
            raise UnusableRow(
                "label is empty." if labels else "no label (__label__NAME) on this line."
            )
        return Row(text, label or None, 1.0, number, record=record)


class PlainText(LineFormat):
    """A line is a text without a label; blank lines are empty texts."""

    name = "lines"
    title = "plain text"
    labeled = False

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return source.ending == ".txt" and not columns.labeled

    def document(self, line: str, columns: TableColumns, number: int) -> Row:
        return Row(line, None, 1.0, number)
