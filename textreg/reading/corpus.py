"""Files to :class:`~textreg.records.Corpus`: one file, many, a folder for each class, or a pipe.

A :class:`~textreg.reading.source.Source` is the bytes or lines of a file, and one of the
:mod:`textreg.reading.formats` makes documents of it.
"""

from __future__ import annotations

import os
import re
import warnings
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from textreg.errors import (
    DataError,
    DataWarning,
    FaultsError,
    TextregError,
    UsageError,
    first_few,
)
from textreg.files import MAX_LINE, kind_of_special, limit, too_long
from textreg.reading import source as sources
from textreg.reading.columns import ColumnNames, Row, TableColumns
from textreg.reading.formats import detect, refuse_binary
from textreg.records import Corpus, Floats, SkippedRows
from textreg.records.documents import Field, FieldedText, StoredTexts
from textreg.records.text import renamed
from textreg.terminal import logger


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
) -> Row | sources.UnusableRow:
    """The document that a file holds, without its last line end, or what is wrong with it.

    encoding, otherwise: as for :class:`Source`.
    """
    try:
        if kind := kind_of_special(file):  # reading it might wait for ever
            raise sources.UnusableRow(
                f"this is {kind}, not a file.", "Remove it", f"{kind}, not a file"
            )
        # U+FFFD for bytes of the folder's name that are not UTF-8: no UTF-8 file can hold them.
        name = label and label.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return Row(_text(file, encoding, otherwise), name, 1.0, 0)
    except sources.UnusableRow as problem:
        return problem
    except sources.FileChangedError:
        raise
    except DataError as error:
        what = str(error).removeprefix(f"{file}: ")
        row = sources.UnusableRow(what, reason="not a text file")
        row.error = error
        return row


def first_bytes(files: Sequence[str]) -> bytes:
    """The bytes of files that a guess at their encoding looks at, each on lines of its own."""
    sample = bytearray()
    for file in files:
        if len(sample) > sources.GUESSED_FROM or kind_of_special(file):
            continue
        with sources.opened(file) as stream:
            source = sources.Source(file, stream)
            for chunk in source.chunks() if source.encoding == "utf-8" else ():  # no other mark
                sample += chunk
        sample += b"\n"
    return bytes(sample)


def _text(file: str, encoding: str | None, otherwise: str) -> str:
    with sources.opened(file) as stream:
        source = sources.Source(file, stream, encoding, otherwise=otherwise)
        refuse_binary(source)
        most, size = limit(MAX_LINE), 0
        lines = []
        for line in source.lines:
            if damage := source.lines.damage():
                raise damage
            size += len(line) + 1
            if size > most:
                raise sources.UnusableRow(*too_long("the document"))
            lines.append(line)
        return "\n".join(lines)


def _unlisted(error: OSError) -> None:
    raise DataError(
        f"{error.filename}: this folder cannot be listed: {error.strerror}. Get permission to read "
        "it, or remove it."
    )


#: So many different labels, groups and times are kept once each; further ones as often as read.
KNOWN = 100_000


class Collected:
    """The documents read so far: their texts, labels, weights and so on, each as one column.

    Parameters
    ----------
    wanted : set of str
        Those of ``weight``, ``group``, ``time`` and ``evidence`` to keep.
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
        # What was read for each role; the numbers are weights.
        self._wanted: dict[str, Any] = {
            role: array("d") if role == "weight" else [] for role in wanted
        }
        self._labeled = labeled
        self.texts: list[str] | StoredTexts = [] if texts is None else texts
        self.labels: list[Any] | None = []
        self.sources: list[str] = []
        self._source_of, self._line_of = array("i"), array("q")
        self._known: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._line_of)

    def add(self, documents: Sequence[tuple[str, Row]]) -> None:
        """Take the next documents, each with the name of its file."""
        self.texts.extend([row.text for _, row in documents])
        if self.labels is not None:
            labels = [row.label for _, row in documents]
            mixed = len({type(label) for label in (*self.labels[:1], *labels)}) > 1
            if (mixed and not self._labeled) or None in labels:
                self.labels = None
            else:
                self.labels += map(self._same, labels)
        for role, column in self._wanted.items():
            values = [getattr(row, role) for _, row in documents]
            column.extend(map(self._same, values) if role in ("group", "time") else values)
        self._line_of.extend([row.line for _, row in documents])
        for name, _ in documents:
            if not self.sources or name != self.sources[-1]:
                self.sources.append(name)
            self._source_of.append(len(self.sources) - 1)

    def columns(self) -> dict[str, Any]:
        """What a :class:`~textreg.records.Corpus` is made of, by the names of its parameters."""
        wanted = self._wanted
        return {
            "texts": self.texts,
            "labels": self.labels,
            "sample_weight": np.asarray(wanted["weight"]) if "weight" in wanted else None,
            "group_of": wanted.get("group"),
            "time_of": wanted.get("time"),
            "evidence_of": wanted.get("evidence"),
            "sources": self.sources,
            "source_of": np.asarray(self._source_of, dtype=np.int32),
            "line_of": np.asarray(self._line_of, dtype=np.int64),
        }

    def _same(self, value: Any) -> Any:
        """The first value read that equals this one and has its type, or itself."""
        key = type(value), value
        if key not in self._known:
            if isinstance(value, tuple):
                value = tuple(map(self._same, value))
            if len(self._known) >= KNOWN:
                return value
            self._known[key] = value
        return self._known[key]


ROWS = 4096
#: Rows are taken in that many at a time, or when their texts have that many characters.
CHARACTERS = 1 << 20


class CorpusReader:
    """Reads documents from paths; keeps what it has detected and skipped so far.

    Further options are those of :class:`~textreg.reading.columns.TableColumns`.
    """

    def __init__(
        self,
        paths: sources.Paths,
        names: ColumnNames,
        *,
        labeled: bool = True,
        on_error: str = "stop",
        encoding: str | None = None,
        label_map: Mapping[str, str] | None = None,
        **columns: Any,
    ) -> None:
        if columns.get("label_sep") == "":
            raise UsageError("label_sep is empty: name what separates labels, such as ';'.")
        if on_error not in ("stop", "skip"):
            raise UsageError(f"on_error must be 'stop' or 'skip', not {on_error!r}.")
        sources.check_encoding(encoding)
        self.paths = sources.listed(paths)
        self._label_map = label_map or {}
        self._names, self._options = names, {**columns, "label_map": label_map}
        self.table = partial(TableColumns, names, **columns)
        table = self.table()
        self.keeps = table.keeps
        roles = ("weight", "group", "time", "evidence")
        self._roles = [role for role in roles if table.wanted[role] is not None]
        self.labeled, self._guesses = labeled, True
        self.encoding = encoding
        self.skipping = sources.Skipping(skips=on_error == "skip")
        self.formats: list[str] = []
        self.guessed: list[str] = []
        self.columns: list[TableColumns] = []
        self.source: sources.Source | None = None
        self._records: list[Mapping[str, Any]] = []

    def taken(self) -> list[Mapping[str, Any]]:
        """The records of the rows read since the last call, where the tables keep them."""
        records, self._records = self._records, []
        return records

    def whole(self, texts: StoredTexts | None = None) -> Corpus:
        """All documents; their texts in ``texts``, if that is given.

        Where rows that cannot be read stop it, it stops after all have been looked at.
        """
        collected = Collected(self._roles, labeled=self.labeled, texts=texts)
        batch: list[tuple[str, Row]] = []
        characters = 0
        self.skipping.to_the_end = True
        try:
            for name, item in self._rows():
                self._take(name, item, batch, len(collected))
                characters += len(item.text) if isinstance(item, Row) else 0
                if len(batch) == ROWS or characters > CHARACTERS:
                    collected.add(batch)
                    batch, characters = [], 0
        except sources.FileChangedError:
            raise
        except DataError as error:
            raise self.skipping.stopped or error from None
        collected.add(batch)
        stopped = self.skipping.stopped
        corpus = self._corpus(collected)
        if stopped is not None and len(corpus.skipped) == 1:
            raise stopped
        if stopped is not None or not len(collected):
            raise self.faults(corpus, sources.MAX_SKIPPED)
        return corpus

    def faults(self, corpus: Corpus, max_skipped: float) -> FaultsError:
        """What is wrong with all rows that cannot be read, and how to read the others.

        Where the text is in another encoding, it is read once more in that, if it fits into memory.
        """
        skipped, options = corpus.skipped, dict[str, Any]()
        rows, encoding = len(corpus) + len(skipped), ""

        def count(skipped: SkippedRows) -> str:
            share = float(f"{100 * len(skipped) / rows:.2g}")
            several = f"{len(skipped):,} of {rows:,} rows ({share:g} %)"
            return f"{several} cannot be read: {skipped.told()}."

        message = count(skipped)
        wrong = self.skipping.undecodable
        readable = isinstance(corpus.texts, list) and all(map(os.path.isfile, self.paths))
        if readable and self._guesses and wrong is not None and wrong.likely:
            twin = CorpusReader(
                self.paths,
                self._names,
                labeled=self.labeled,
                on_error="skip",
                encoding=wrong.likely,
                **self._options,
            )
            twin._guesses = False  # what it cannot read either is in no third one
            with suppress(TextregError):
                corpus, options["encoding"] = twin.whole(), wrong.likely
                skipped = corpus.skipped
                encoding = f"The text may be in {wrong.likely}: "
                encoding += f"pass --encoding {wrong.likely} if it is. "
                message += f" In {wrong.likely} {count(skipped) if len(skipped) else 'all can be.'}"
        few = sources.may_skip(len(skipped), len(corpus), max_skipped)
        # Rows without a label or a text do no harm where they are missing; others may.
        empty = all(re.search(" empty| missing", reason) for reason in skipped.reasons)
        offered = few or (empty and len(skipped) < len(corpus))
        if not options:
            first = next(iter(skipped))
            fault = f"{first.where}: {first.problem} {self.skipping.remedy}"
            stopped = self.skipping.stopped if offered else self.skipping.fault
            message += f" The first is {str(stopped or fault).rstrip()}"
        labels = [] if corpus.labels is None or corpus.multilabel else corpus.labels
        rare = [label for label, count in Counter(map(str, labels)).items() if count == 1]
        if len(skipped):
            options["on_error"] = "skip"
        if not offered:
            options = {}
            message += " These are too many to leave out: fix them."
        elif not few:
            options["max_skipped"] = len(skipped)
        if not len(corpus):
            message += " Check that the file is the right one, and its columns."
        return FaultsError(f"{encoding}{message}", options, rare)

    def batches(self, size: int, *, full: bool) -> Iterator[Corpus]:
        """Corpora of at most ``size`` rows.

        full: whether to wait for that many rows, rather than take those that have arrived.
        """
        batch: list[tuple[str, Row]] = []
        rows = 0
        failure: TextregError | None = None
        try:
            for name, item in self._rows():
                rows += 1
                self._take(name, item, batch)
                if rows == size or not (full or self.source is None or self.source.ready()):
                    yield self._batch(batch)
                    batch, rows = [], 0
        except TextregError as error:
            failure = error
        if rows:
            yield self._batch(batch)
        if failure is not None:
            raise failure

    def _take(
        self,
        name: str,
        item: Row | sources.UnusableRow,
        batch: list[tuple[str, Row]],
        before: int = 0,
    ) -> None:
        """Take a row, which stands after ``before`` documents and those of ``batch``."""
        if isinstance(item, Row):
            if item.label is not None and self._label_map:
                item = item._replace(label=renamed(item.label, self._label_map))
            batch.append((name, item))
        else:
            self.skipping.add(name, item, before + len(batch))
        if self.keeps:
            # A row without columns has its text, and its file if it is one of its own.
            fields = {} if item.line else {"file": name}
            text = {"text": item.text} if isinstance(item, Row) else {}
            self._records.append(item.record or fields | text)

    def _batch(self, documents: list[tuple[str, Row]]) -> Corpus:
        collected = Collected(self._roles, labeled=self.labeled)
        collected.add(documents)
        return self._corpus(collected)

    def _corpus(self, collected: Collected) -> Corpus:
        columns, column_names = {"format": _joined(self.formats)}, {}
        if self.guessed:
            columns["encoding"] = f"{_joined(self.guessed)} (guessed)"
        if headers := [f"row {table.header} (guessed)" for table in self.columns if table.header]:
            columns["header"] = _joined(headers)
        descriptions = [table.described() for table in self.columns]
        for role in (*ColumnNames._fields, "fields"):
            named = [its[role] for its in descriptions if role in its]
            if named and (collected.labels is not None or role != "label"):
                columns[role] = _joined(named)
                chosen = {table.chosen[role] for table in self.columns if role in table.chosen}
                if len(chosen) == 1:
                    (column_names[role],) = chosen
        return Corpus(
            **collected.columns(),
            skipped=self.skipping.taken(),
            columns=columns,
            column_names=column_names,
            decimals={name: mark for used in self.columns for name, mark in used.decimals.items()},
        )

    def _rows(self) -> Iterator[tuple[str, Row | sources.UnusableRow]]:
        for path in self.paths:
            empty = True
            for row in self._folder(path) if os.path.isdir(path) else self._file(path):
                empty = False
                yield row
            if empty:
                kind = "folder" if os.path.isdir(path) else "file"
                raise DataError(
                    f"{sources.name_of(path)}: the {kind} has no documents. Give one with some."
                )

    def _file(self, path: str) -> Iterator[tuple[str, Row | sources.UnusableRow]]:
        with sources.opened(path) as stream:
            name = sources.name_of(path)
            self.source = sources.Source(name, stream, self.encoding)
            columns = self.table(labeled=self.labeled)
            format = detect(self.source, columns)
            if columns.sheet is not None and format.name != "workbook":
                raise UsageError(f"{name} is not a workbook: leave out --sheet {columns.sheet}.")
            self.formats.append(format.name)
            if self.encoding == sources.GUESS and not format.magic:
                self.guessed.append(self.source.encoding.replace("_", "-"))
            self.columns.append(columns)
            for row in columns.settled(format.rows(self.source, columns)):
                if isinstance(row, sources.UnusableRow):
                    sources.refuse_change(stream)  # a row may be cut short by it
                yield name, row

    def _folder(self, folder: str) -> Iterator[tuple[str, Row | sources.UnusableRow]]:
        columns = self.table()
        columns.refuse(folder, "a folder for each class")
        if columns.sheet is not None:
            raise UsageError(f"{folder} is not a workbook: leave out --sheet {columns.sheet}.")
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
        if encoding == sources.GUESS:  # of all files together, as one may be short
            bytes_of_all = first_bytes([os.path.join(folder, file) for file in chosen])
            encoding, otherwise = None, sources.guessed_encoding(bytes_of_all)
            self.guessed.append(otherwise)
        for file in chosen:
            label = file.split(os.sep)[0] if os.path.dirname(file) else None
            name = os.path.join(folder, file)
            yield name, read_document(name, label, encoding, otherwise)


def _joined(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))


LOG = logger("reading")


def read_corpus(  # noqa: PLR0913  # its options are its interface
    paths: sources.Paths,
    *,
    text_col: str | None = None,
    label_col: str | None = None,
    weight_col: str | None = None,
    group_col: str | None = None,
    time_col: str | None = None,
    evidence_col: str | None = None,
    on_error: str = "stop",
    max_skipped: float = sources.MAX_SKIPPED,
    labeled: bool = True,
    label_sep: str | None = None,
    multilabel: bool = False,
    encoding: str | None = None,
    fields: Sequence[Field] = (),
    decimal: str | Mapping[str, str] | None = None,
    label_map: Mapping[str, str] | None = None,
    sheet: str | None = None,
    texts: StoredTexts | None = None,
) -> Corpus:
    """Read documents and their labels from files.

    Parameters
    ----------
    paths : str, path, or sequence of them
        Files, glob patterns, folders, or ``-`` for standard input, read in that order. The format
        of a file is recognized by its ending or its content; see the page Parameters for all
        formats. Files may be compressed with gzip, bzip2, xz or zstd. A folder holds a folder for
        each class, with a file for each document.
    text_col, label_col : str, optional
        Names of columns, or numbers from 1 for CSV without a header. By default they are guessed
        from well-known names; ``Corpus.columns`` holds what was chosen.
    weight_col, group_col, time_col : str, optional
        Columns of the documents' weights, groups (such as authors) and times.
    evidence_col : str, optional
        Column of the passages that people marked: lists of pairs of offsets, or of passages.
    on_error : {"stop", "skip"}, default "stop"
        What to do with unusable rows: raise DataError for the first one, or leave them out with a
        DataWarning that says how many, where and why. ``Corpus.skipped`` lists them.
    max_skipped : float or int, default 0.05
        With "skip": the most rows that may be left out, as a share of all (a float from 0.0 to
        1.0) or as a number (an int).
    labeled : bool, default True
        False reads texts to be classified. Labels are then kept only if every document has one,
        and a file in no other format has a document on each line.
    label_sep : str, optional
        What separates the labels of a document in tables, such as ";". Every document may then have
        any number of labels; an empty field is none.
    multilabel : bool, default False
        Whether documents have any number of labels: a list in JSON lines, all labels of a line in
        fastText's format. Lists are read as such anyway.
    encoding : str, optional
        Encoding of the files. By default UTF-8, or detected from a byte order mark; "guess" for
        the likely one of each file's first bytes, which ``Corpus.columns`` names.
    fields : sequence of Field, default ()
        The columns that a document consists of, where these are several; ``text_col`` is then not
        needed.
    decimal : str or mapping of str to str, optional
        The decimal mark of numbers that are texts, "comma" or "point", or those of columns; that of
        the empty name is of all others. By default those of the fields are recognized.
    label_map : mapping of str to str, optional
        Labels that stand for another one, as ``check --fix`` writes them, and that one.
    sheet : str, optional
        The sheet of a workbook; the first by default.
    texts : StoredTexts, optional
        Where the texts go to as they are read, for files that do not fit into memory. It is empty,
        and becomes the texts of the corpus. By default they are kept in memory.

    Returns
    -------
    Corpus

    Raises
    ------
    UsageError
        If a file is missing or a column has another name, or there is no room for ``texts``.
    DataError
        If the contents of a file cannot be used; the message names file and line. If more rows
        than ``max_skipped`` cannot be used. If a file changes while it is read.

    Warns
    -----
    DataWarning
        If rows were left out.
    """
    sources.check_max_skipped(max_skipped)
    if texts is not None and fields:
        raise UsageError(
            f"documents of several columns ({', '.join(field.name for field in fields)}) cannot be "
            "kept in a file: read them into memory, without texts, or take one column."
        )
    if texts:
        raise UsageError(f"{texts.path} holds {len(texts):,} texts already: name another file.")
    reader = CorpusReader(
        paths,
        ColumnNames(text_col, label_col, weight_col, group_col, time_col, evidence_col),
        on_error=on_error,
        labeled=labeled,
        label_sep=label_sep,
        multilabel=multilabel,
        encoding=encoding,
        fields=fields,
        decimal=decimal,
        label_map=label_map,
        sheet=sheet,
    )
    corpus = reader.whole(texts)
    columns = ", ".join(f"{role} = {column}" for role, column in corpus.columns.items())
    LOG.info("%s: %d documents; %s", first_few(reader.paths, 3), len(corpus), columns)
    if not sources.may_skip(len(corpus.skipped), len(corpus), max_skipped):
        raise reader.faults(corpus, max_skipped)
    remedy = reader.skipping.remedy
    if message := sources.told_of(corpus.skipped, len(corpus), max_skipped, remedy):
        LOG.info("%s", message)
        warnings.warn(message, DataWarning, stacklevel=2)
    return corpus


class Readable(NamedTuple):
    """All of some files that can be read.

    Attributes
    ----------
    corpus : Corpus
        The documents; ``corpus.skipped`` lists the other rows.
    others : dict of str to list
        The columns that were not asked for: a value for each document, None where there is none.
    records : list of mapping
        All fields of each document.
    remedy : str
        How to read rows that are not in the encoding of their file; empty if there are none.
    """

    corpus: Corpus
    others: dict[str, list[Any]]
    records: list[Mapping[str, Any]]
    remedy: str


def read_readable(
    paths: sources.Paths,
    names: ColumnNames,
    *,
    fields: Sequence[Field] = (),
    max_skipped: float = 1.0,
    **options: Any,
) -> Readable:
    """Read whatever can be read, with all columns and without a warning.

    FaultsError where more than ``max_skipped`` cannot be. Other options, and errors of files as a
    whole, are as of :func:`read_corpus`. The text of a document of several fields is that of its
    text fields, one after the other.
    """
    reader = CorpusReader(paths, names, on_error="skip", fields=fields, keep=True, **options)
    corpus = reader.whole()
    if not sources.may_skip(len(corpus.skipped), len(corpus), max_skipped):
        raise reader.faults(corpus, max_skipped)
    records = records_of(corpus, reader.taken())
    texts = [field.name for field in fields if field.kind == "text"]
    taken = {*texts, *(name for table in reader.columns for name in table.chosen.values())}
    if fields:
        documents = cast(Sequence[FieldedText], corpus.texts)
        joined = ["\n".join(map(document.field, texts)) for document in documents]
        corpus = replace(corpus, texts=joined)
    columns = dict.fromkeys(name for table in reader.columns for name in table.names)
    others = {
        name: [record.get(name) for record in records] for name in columns if name not in taken
    }
    return Readable(corpus, others, records, reader.skipping.remedy)


def records_of(corpus: Corpus, records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The records of documents, among those of all rows."""
    skipped = corpus.skipped.position_of + np.arange(len(corpus.skipped))
    return [records[row] for row in np.delete(np.arange(len(records)), skipped).tolist()]


class RecordBatch(NamedTuple):
    """Documents, and the rows of the files that they were read from.

    Attributes
    ----------
    documents : Corpus
        Those that could be read; ``documents.skipped`` says where the others stand among them.
    records : list of mapping
        The fields of every row by the name of its column, also of rows that could not be used: as
        many as could be read.
    columns : dict of str to object
        The names of the columns of all files so far, in their order, with their types: ``str``, a
        type of Arrow, or None where values may be of several.
    remedy : callable, optional
        How to read rows that are not in the encoding of their file; empty if there were none.
    scores : ndarray, optional
        What a model says of the documents, where whoever read them has asked it.
    """

    documents: Corpus
    records: list[Mapping[str, Any]]
    columns: dict[str, Any]
    remedy: Callable[[], str] = str
    scores: Floats | None = None


def stream_records(
    paths: sources.Paths,
    batch: int = 1000,
    *,
    text_col: str | None = None,
    full: bool = False,
    **options: Any,
) -> Iterator[RecordBatch]:
    """Read documents to be classified and all columns beside them, in constant memory.

    An error is raised after the documents before it have been returned.

    Parameters
    ----------
    paths, text_col
        As in :func:`read_corpus`, with ``labeled=False``.
    batch : int, default 1000
        Maximum number of rows in a batch.
    full : bool, default False
        Whether to wait for full batches from a pipe, rather than return the rows that have arrived.
    **options
        ``encoding``, ``fields``, ``sheet`` and ``decimal`` as in :func:`read_corpus`; without
        a mark, a number has a decimal point. With ``on_error="skip"`` unusable rows are listed in
        ``Corpus.skipped``, which says where among the documents each of them stands; by default the
        first one raises DataError.

    Yields
    ------
    RecordBatch
        The next rows.

    Raises
    ------
    UsageError, DataError
        As in :func:`read_corpus`.
    """
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}.")
    marks = options.get("decimal") or {}
    options["decimal"] = marks if isinstance(marks, str) else {"": "point", **marks}
    reader = CorpusReader(paths, ColumnNames(text_col), labeled=False, keep=True, **options)
    reader.skipping.offer = "to answer such rows with an empty line"
    for documents in reader.batches(batch, full=full):
        columns = {name: table.types.get(name) for table in reader.columns for name in table.names}
        yield RecordBatch(documents, reader.taken(), columns, lambda: reader.skipping.remedy)
