"""Reads documents from paths, one batch after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from textreg.errors import DataError, TextregError, UsageError
from textreg.reading.collecting import Collected
from textreg.reading.columns import ColumnNames, Row, TableColumns
from textreg.reading.encodings import GUESS, check_encoding, guessed_encoding
from textreg.reading.faults import UnusableRow
from textreg.reading.folders import files_under, first_bytes, read_document
from textreg.reading.formats import detect
from textreg.reading.paths import Paths, listed, name_of, opened, refuse_change
from textreg.reading.skipping import Skipping
from textreg.reading.source import Source
from textreg.records import Corpus

if TYPE_CHECKING:
    from textreg.records.stored_texts import StoredTexts

ROWS = 4096
CHARACTERS = 1 << 20
"""Rows are taken in that many at a time, or when their texts have that many characters."""


class CorpusReader:
    """Reads documents from paths; keeps what it has detected and skipped so far."""

    def __init__(
        self,
        paths: Paths,
        table: Callable[..., TableColumns],
        *,
        labeled: bool,
        on_error: str,
        encoding: str | None,
    ) -> None:
        if on_error not in ("stop", "skip"):
            raise UsageError(f"on_error must be 'stop' or 'skip', not {on_error!r}.")
        check_encoding(encoding)
        self.paths = listed(paths)
        self.table = table
        self.wanted = table().wanted
        self.keeps = table().keeps
        self.labeled = labeled
        self.encoding = encoding
        self.skipping = Skipping(skips=on_error == "skip")
        self.formats: list[str] = []
        self.guessed: list[str] = []
        self.columns: list[TableColumns] = []
        self.source: Source | None = None
        self._records: list[Mapping[str, Any]] = []

    def taken(self) -> list[Mapping[str, Any]]:
        """The records of the rows read since the last call, where the tables keep them."""
        records, self._records = self._records, []
        return records

    def whole(self, texts: StoredTexts | None = None) -> Corpus:
        """All documents; their texts in ``texts``, if that is given."""
        collected = self._collected(texts)
        batch: list[tuple[str, Row]] = []
        characters = 0
        for name, item in self._rows():
            if isinstance(item, Row):
                batch.append((name, item))
                characters += len(item.text)
                if len(batch) == ROWS or characters > CHARACTERS:
                    collected.add(batch)
                    batch, characters = [], 0
            else:
                self.skipping.add(name, item, len(collected) + len(batch))
            if self.keeps:
                self._records.append(item.record or _fields(name, item))
        collected.add(batch)
        if not len(collected):
            raise self.skipping.nothing_left()
        return self._corpus(collected)

    def batches(self, size: int, *, full: bool = False) -> Iterator[Corpus]:
        """Corpora of at most ``size`` rows.

        full: whether to wait for that many rows, rather than take those that have arrived.
        """
        batch: list[tuple[str, Row]] = []
        rows = 0
        failure: TextregError | None = None
        try:
            for name, item in self._rows():
                rows += 1
                if isinstance(item, Row):
                    batch.append((name, item))
                else:
                    self.skipping.add(name, item, len(batch))
                if self.keeps:
                    self._records.append(item.record or _fields(name, item))
                if rows == size or not (full or self._more_at_hand()):
                    yield self._batch(batch)
                    batch, rows = [], 0
        except TextregError as error:
            failure = error
        if rows:
            yield self._batch(batch)
        if failure is not None:
            raise failure

    def _more_at_hand(self) -> bool:
        return self.source is None or self.source.ready()

    def _collected(self, texts: StoredTexts | None = None) -> Collected:
        wanted = [role for role in ("weight", "group", "time") if self.wanted[role] is not None]
        return Collected(wanted, labeled=self.labeled, texts=texts)

    def _batch(self, documents: list[tuple[str, Row]]) -> Corpus:
        collected = self._collected()
        collected.add(documents)
        return self._corpus(collected)

    def _corpus(self, collected: Collected) -> Corpus:
        columns, column_names = {"format": _joined(self.formats)}, {}
        if self.guessed:
            columns["encoding"] = f"{_joined(self.guessed)} (guessed)"
        for role in ColumnNames._fields:
            tables = [table for table in self.columns if role in table.chosen]
            if tables and (collected.labels is not None or role != "label"):
                columns[role] = _joined(table.described()[role] for table in tables)
                if len(names := {table.chosen[role] for table in tables}) == 1:
                    (column_names[role],) = names
        told = [table.described() for table in self.columns]
        if fields := [its["fields"] for its in told if "fields" in its]:
            columns["fields"] = _joined(fields)
        return Corpus(
            **collected.columns(),
            skipped=self.skipping.taken(len(collected)),
            columns=columns,
            column_names=column_names,
        )

    def _rows(self) -> Iterator[tuple[str, Row | UnusableRow]]:
        for path in self.paths:
            empty = True
            for row in self._folder(path) if os.path.isdir(path) else self._file(path):
                empty = False
                yield row
            if empty:
                kind = "folder" if os.path.isdir(path) else "file"
                raise DataError(
                    f"{name_of(path)}: the {kind} has no documents. Give one with some."
                )

    def _file(self, path: str) -> Iterator[tuple[str, Row | UnusableRow]]:
        with opened(path) as stream:
            name = name_of(path)
            self.source = Source(name, stream, self.encoding)
            columns = self.table(labeled=self.labeled)
            format = detect(self.source, columns)
            self.formats.append(format.name)
            if self.encoding == GUESS and not format.magic:
                self.guessed.append(self.source.encoding.replace("_", "-"))
            self.columns.append(columns)
            for row in format.rows(self.source, columns):
                if isinstance(row, UnusableRow):
                    refuse_change(stream)  # a row may be cut short by it
                yield name, row

    def _folder(self, folder: str) -> Iterator[tuple[str, Row | UnusableRow]]:
        columns = self.table()
        columns.refuse(folder, "a folder for each class")
        if self.labeled and columns.multilabel:
            raise UsageError(
                f"{folder}: a folder for each class gives every document one label: leave out "
                "--task multilabel and --label-sep, or give a file with lists of labels."
            )
        self.source = None
        files = [os.path.relpath(file, folder) for file in files_under(folder)]
        classed = [file for file in files if os.path.dirname(file)]
        beside = len(files) - len(classed)
        if self.labeled and files and not classed:
            raise DataError(
                f"{folder}: no class folders in it, only files ({beside}). Expected is a folder "
                f"for each class, such as {os.path.join(folder, 'good', '1.txt')}. To read the "
                f"files themselves, name them: '{os.path.join(folder, '*')}'."
            )
        note = f" ({beside} beside them ignored)" if self.labeled and beside else ""
        self.formats.append(f"a folder for each class{note}")
        chosen = classed if self.labeled else files
        encoding, otherwise = self.encoding, "utf-8"
        if encoding == GUESS:  # of all files together, as one may be short
            bytes_of_all = first_bytes([os.path.join(folder, file) for file in chosen])
            encoding, otherwise = None, guessed_encoding(bytes_of_all)
            self.guessed.append(otherwise)
        for file in chosen:
            label = file.split(os.sep)[0] if os.path.dirname(file) else None
            name = os.path.join(folder, file)
            yield name, read_document(name, label, encoding, otherwise)


def _fields(file: str, item: Row | UnusableRow) -> Mapping[str, Any]:
    """What a row without columns has: its text, and its file if it is one of its own."""
    fields = {} if item.line else {"file": file}
    return fields | {"text": item.text} if isinstance(item, Row) else fields


def _joined(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))
