"""The rows of files and folders, as documents are made of them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, TextregError, UsageError
from textreg.files import MAX_LINE, kind_of_special, limit, too_long
from textreg.reading.columns import ColumnNames, Row, TableColumns
from textreg.reading.encodings import GUESS, GUESSED_FROM, check_encoding, guessed_encoding
from textreg.reading.faults import Skipping, UnusableRow
from textreg.reading.formats import detect, refuse_binary
from textreg.reading.paths import FileChangedError, Paths, listed, name_of, opened, refuse_change
from textreg.reading.source import Source
from textreg.records import Corpus

if TYPE_CHECKING:
    from textreg.records.stored_texts import StoredTexts


def files_under(folder: str) -> list[str]:
    """All files in a folder and its subfolders, sorted by name, without hidden ones.

    A link to a folder above is not followed. Raises DataError for a folder that cannot be listed,
    or that is linked twice.
    """
    files: list[str] = []
    visited: dict[str, str] = {}
    for parent, folders, names in os.walk(folder, followlinks=True, onerror=_unlisted):
        real = os.path.realpath(parent)
        if real in visited:
            folders.clear()
            above = os.path.realpath(os.path.dirname(parent))
            if os.path.commonpath([above, real]) == real:
                continue
            raise DataError(
                f"{parent}: this is the same folder as {visited[real]}; its documents would count "
                "double. Remove the link."
            )
        visited[real] = parent
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files.extend(os.path.join(parent, name) for name in names if not name.startswith("."))
    return sorted(files, key=lambda file: file.split(os.sep))


def read_document(
    file: str, label: str | None, encoding: str | None, otherwise: str = "utf-8"
) -> Row | UnusableRow:
    """The document that a file holds, without its last line end, or what is wrong with it.

    encoding, otherwise: as for :class:`Source`.
    """
    try:
        if kind := kind_of_special(file):  # reading it might wait for ever
            raise UnusableRow(f"this is {kind}, not a file.", "Remove it", f"{kind}, not a file")
        return Row(_text(file, encoding, otherwise), label and _printable(label), 1.0, 0)
    except UnusableRow as problem:
        return problem
    except FileChangedError:
        raise
    except DataError as error:
        what = str(error).removeprefix(f"{file}: ")
        row = UnusableRow(what, reason="not a text file")
        row.error = error
        return row


def first_bytes(files: Sequence[str]) -> bytes:
    """The bytes of files that a guess at their encoding looks at, each on lines of its own."""
    seen, size = list[bytes](), 0
    for file in files:
        if size > GUESSED_FROM or kind_of_special(file):
            continue
        with opened(file) as stream:
            source = Source(file, stream)
            for chunk in source.chunks() if source.encoding == "utf-8" else ():  # no other mark
                seen.append(chunk)
                size += len(chunk)
        seen.append(b"\n")
    return b"".join(seen)


def _text(file: str, encoding: str | None, otherwise: str) -> str:
    with opened(file) as stream:
        source = Source(file, stream, encoding, otherwise=otherwise)
        refuse_binary(source)
        most, size = limit(MAX_LINE), 0
        lines = []
        for line in source.lines:
            if damage := source.lines.damage():
                raise damage
            size += len(line) + 1
            if size > most:
                raise UnusableRow(*too_long("the document"))
            lines.append(line)
        return "\n".join(lines)


def _printable(label: str) -> str:
    """U+FFFD for bytes of the folder's name that are not UTF-8, as no UTF-8 file can hold them."""
    return label.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unlisted(error: OSError) -> None:
    raise DataError(
        f"{error.filename}: this folder cannot be listed: {error.strerror}. Get permission to read "
        "it, or remove it."
    )


KNOWN = 100_000
"""So many different labels, groups and times are kept once each; further ones as often as read."""


class Collected:
    """The documents read so far: their texts, labels, weights and so on, each as one column.

    Parameters
    ----------
    wanted : set of str
        Those of ``weight``, ``group`` and ``time`` to keep.
    labeled : bool
        Whether every document has a label. If not, they are kept only where all have one, and all
        of one kind: labels of texts to be classified are of no use else.
    texts : StoredTexts, optional
        Where texts go to; a list by default.

    Attributes
    ----------
    texts : list of str, or StoredTexts
    labels : list or None
    sources : list of str
        The names of the files.
    """

    def __init__(
        self, wanted: Iterable[str], *, labeled: bool, texts: StoredTexts | None = None
    ) -> None:
        self._wanted = frozenset(wanted)
        self._labeled = labeled
        self.texts: list[str] | StoredTexts = [] if texts is None else texts
        self.labels: list[Any] | None = []
        self.sources: list[str] = []
        self._source_of, self._line_of = array("i"), array("q")
        self._weights = array("d")
        self._groups, self._times = list[str](), list[Any]()
        self._known: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._line_of)

    def add(self, documents: Sequence[tuple[str, Row]]) -> None:
        """Take the next documents, each with the name of its file."""
        self.texts.extend([row.text for _, row in documents])
        if self.labels is not None:
            self._add_labels(self.labels, [row.label for _, row in documents])
        if "weight" in self._wanted:
            self._weights.extend([row.weight for _, row in documents])
        if "group" in self._wanted:
            self._groups += self._once([row.group for _, row in documents])
        if "time" in self._wanted:
            times = [row.time for _, row in documents]
            self._times += [self._same(it) if type(it) is str else it for it in times]
        self._line_of.extend([row.line for _, row in documents])
        last = self.sources[-1] if self.sources else None
        for name, _ in documents:
            if name != last:
                self.sources.append(name)
                last = name
            self._source_of.append(len(self.sources) - 1)

    def columns(self) -> dict[str, Any]:
        """What a :class:`~textreg.records.Corpus` is made of, by the names of its parameters."""
        wanted = self._wanted
        return {
            "texts": self.texts,
            "labels": self.labels,
            "sample_weight": np.asarray(self._weights) if "weight" in wanted else None,
            "group_of": self._groups if "group" in wanted else None,
            "time_of": self._times if "time" in wanted else None,
            "sources": self.sources,
            "source_of": np.asarray(self._source_of, dtype=np.int32),
            "line_of": np.asarray(self._line_of, dtype=np.int64),
        }

    def _add_labels(self, kept: list[Any], labels: list[Any]) -> None:
        mixed = not self._labeled and len({type(label) for label in (*kept[:1], *labels)}) > 1
        if mixed or None in labels:
            self.labels = None
        else:
            kept += self._once(labels)

    def _once(self, values: list[Any]) -> list[Any]:
        """The values, where equal ones are one object."""
        known = self._known
        return [known.get(value) or self._same(value) for value in values]

    def _same(self, value: Any) -> Any:
        """The first value read that equals this one, or itself."""
        if value in self._known:
            return self._known[value]
        if isinstance(value, tuple):
            value = tuple(map(self._same, value))
        if len(self._known) < KNOWN:
            self._known[value] = value
        return value


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
