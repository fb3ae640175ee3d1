"""Files to :class:`~textreg.records.Corpus`: one file, many, a folder for each class, or a pipe.

A :class:`~textreg.reading.source.Source` is the bytes or lines of a file, and one of the
:mod:`textreg.reading.formats` makes documents of it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from textreg.errors import DataError, DataWarning, TextregError, UsageError
from textreg.reading.columns import ColumnNames, Row, TableColumns
from textreg.reading.encodings import check_encoding
from textreg.reading.faults import UnusableRow
from textreg.reading.folders import files_under, read_document
from textreg.reading.formats import detect
from textreg.reading.paths import Paths, listed, name_of, opened
from textreg.reading.skipping import Skipping, check_max_skipped
from textreg.reading.source import Source
from textreg.records import Corpus


def read_corpus(  # noqa: PLR0913  # its options are its interface
    paths: Paths,
    *,
    text_col: str | None = None,
    label_col: str | None = None,
    weight_col: str | None = None,
    group_col: str | None = None,
    time_col: str | None = None,
    on_error: str = "stop",
    max_skipped: float = 0.05,
    labeled: bool = True,
    label_sep: str | None = None,
    multilabel: bool = False,
    encoding: str | None = None,
) -> Corpus:
    """Read documents and their labels from files.

    Parameters
    ----------
    paths : str, path, or sequence of them
        Files, glob patterns, folders, or ``-`` for standard input, read in that order. The format
        of a file is recognized by its ending or its content; see the page Parameters for all
        formats. Files may be compressed with gzip. A folder holds a folder for each class, with a
        file for each document.
    text_col, label_col : str, optional
        Names of columns, or numbers from 1 for CSV without a header. By default they are guessed
        from well-known names; ``Corpus.columns`` holds what was chosen.
    weight_col, group_col, time_col : str, optional
        Columns of the documents' weights, groups (such as authors) and times.
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
        Encoding of the files. By default UTF-8, or detected from a byte order mark.

    Returns
    -------
    Corpus

    Raises
    ------
    UsageError
        If a file is missing or a column has another name.
    DataError
        If the contents of a file cannot be used; the message names file and line. If more rows
        than ``max_skipped`` cannot be used.

    Warns
    -----
    DataWarning
        If rows were left out.
    """
    check_max_skipped(max_skipped)
    names = ColumnNames(text_col, label_col, weight_col, group_col, time_col)
    table = partial(TableColumns, names, label_sep=_separator(label_sep), multilabel=multilabel)
    reader = _CorpusReader(paths, table, labeled=labeled, on_error=on_error, encoding=encoding)
    (corpus,) = reader.batches(None)
    if told := reader.skipping.check(max_skipped):
        warnings.warn(told, DataWarning, stacklevel=2)
    return corpus


def stream_documents(
    paths: Paths,
    batch: int = 1000,
    *,
    text_col: str | None = None,
    label_col: str | None = None,
    on_error: str = "stop",
    encoding: str | None = None,
) -> Iterator[Corpus]:
    """Read documents to be classified in batches, in constant memory.

    From a pipe, the rows that have arrived are returned without waiting for a full batch. An
    error is raised after the documents before it have been returned.

    Parameters
    ----------
    paths, text_col, label_col, encoding
        As in :func:`read_corpus`, with ``labeled=False``.
    batch : int, default 1000
        Maximum number of rows in a batch.
    on_error : {"stop", "skip"}, default "stop"
        What to do with unusable rows: raise DataError for the first one, or list them in
        ``Corpus.skipped``, which says where among the documents each of them stands.

    Yields
    ------
    Corpus
        The next documents.

    Raises
    ------
    UsageError, DataError
        As in :func:`read_corpus`.
    """
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}.")
    names = ColumnNames(text_col, label_col)
    table = partial(TableColumns, names)
    reader = _CorpusReader(paths, table, labeled=False, on_error=on_error, encoding=encoding)
    reader.skipping.offer = "to answer such rows with an empty line"
    return reader.batches(batch)


class _CorpusReader:
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
        self.labeled = labeled
        self.encoding = encoding
        self.skipping = Skipping(skips=on_error == "skip")
        self.formats: list[str] = []
        self.columns: list[TableColumns] = []
        self.source: Source | None = None

    def batches(self, size: int | None) -> Iterator[Corpus]:
        """Corpora of at most ``size`` rows; a single one if that is None."""
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
                if size is not None and (rows == size or not self._more_at_hand()):
                    yield self._corpus(batch)
                    batch, rows = [], 0
            if size is None and not batch:
                raise self.skipping.nothing_left()
        except TextregError as error:
            if size is None:
                raise
            failure = error
        if rows:
            yield self._corpus(batch)
        if failure is not None:
            raise failure

    def _more_at_hand(self) -> bool:
        return self.source is None or self.source.ready()

    def _corpus(self, documents: list[tuple[str, Row]]) -> Corpus:
        sources: list[str] = []
        source_of: list[int] = []
        for name, _ in documents:
            if not sources or sources[-1] != name:
                sources.append(name)
            source_of.append(len(sources) - 1)
        labels = [row.label for _, row in documents if row.label is not None]
        # Labels of texts to be classified are of no use unless all are of one kind.
        mixed = not self.labeled and len({type(label) for label in labels}) > 1
        complete = len(labels) == len(documents) and not mixed
        weights = np.array([row.weight for _, row in documents], dtype=np.float64)
        columns = {"format": _joined(self.formats)}
        for role in ColumnNames._fields:
            names = [table.described()[role] for table in self.columns if role in table.chosen]
            if names and (complete or role != "label"):
                columns[role] = _joined(names)
        return Corpus(
            texts=[row.text for _, row in documents],
            labels=labels if complete else None,
            sample_weight=None if self.wanted["weight"] is None else weights,
            group_of=None if self.wanted["group"] is None else [row.group for _, row in documents],
            time_of=None if self.wanted["time"] is None else [row.time for _, row in documents],
            sources=sources,
            source_of=np.array(source_of, dtype=np.int32),
            line_of=np.array([row.line for _, row in documents], dtype=np.int64),
            skipped=self.skipping.taken(len(documents)),
            columns=columns,
        )

    def _rows(self) -> Iterator[tuple[str, Row | UnusableRow]]:
        for path in self.paths:
            empty = True
            for row in self._folder(path) if os.path.isdir(path) else self._file(path):
                empty = False
                yield row
            if empty:
                raise DataError(f"{name_of(path)}: there are no documents in it.")

    def _file(self, path: str) -> Iterator[tuple[str, Row | UnusableRow]]:
        with opened(path) as stream:
            name = name_of(path)
            self.source = Source(name, stream, self.encoding)
            columns = self.table(labeled=self.labeled)
            format = detect(self.source, columns)
            self.formats.append(format.name)
            self.columns.append(columns)
            for row in format.rows(self.source, columns):
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
        for file in classed if self.labeled else files:
            label = file.split(os.sep)[0] if os.path.dirname(file) else None
            name = os.path.join(folder, file)
            yield name, read_document(name, label, self.encoding)


def _separator(separator: str | None) -> str | None:
    """The separator of labels; UsageError for an empty one."""
    if separator == "":
        raise UsageError("label_sep is empty: name what separates labels, such as ';'.")
    return separator


def _joined(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))
