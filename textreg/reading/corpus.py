"""Files to :class:`~textreg.records.Corpus`: one file, many, a folder for each class, or a pipe.

The bytes become lines in :mod:`textreg.reading.lines`, and the lines documents in
:mod:`textreg.reading.formats`.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TypeAlias

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.reading.columns import Columns, Row
from textreg.reading.formats import detect, rows
from textreg.reading.lines import Faults, Lines, check_encoding
from textreg.records import Corpus

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]


def read_corpus(
    paths: Paths,
    *,
    text_col: str | None = None,
    label_col: str | None = None,
    weight_col: str | None = None,
    group_col: str | None = None,
    time_col: str | None = None,
    on_error: str = "stop",
    labeled: bool = True,
    encoding: str | None = None,
) -> Corpus:
    """Read documents and their labels.

    paths: files, glob patterns, folders, or ``-`` for standard input, read in that order. Files are
    JSON lines, CSV, TSV or fastText lines, by their ending or else by their first line, and may be
    compressed with gzip. A folder holds a folder for each class, with a file for each document.

    text_col, label_col, weight_col, group_col, time_col: names of columns, or numbers from 1 for
    CSV without a header. Text and label are guessed from well-known names; ``Corpus.columns`` tells
    what was taken.

    on_error: ``"stop"`` raises DataError for the first row that cannot be used; ``"skip"`` leaves
    such rows out and counts them in ``Corpus.skipped``.

    labeled: False reads texts to be classified. Labels are then kept only if every document has
    one, and a file that is none of the above has a document on each line.

    encoding: that of the files; by default UTF-8, or UTF-16 or UTF-32 by the byte order mark.

    Raises UsageError for a missing file or a wrong column name, DataError for what is in the files.
    """
    names = (text_col, label_col, weight_col, group_col, time_col)
    (corpus,) = _Reading(paths, names, labeled, on_error, encoding).batches(None)
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
    """Read documents to be classified, at most ``batch`` at a time, in constant memory.

    As :func:`read_corpus` with ``labeled=False``. From a pipe, the documents at hand are given
    without waiting for a full batch. ``Corpus.skipped`` counts the rows left out since the batch
    before; where such rows come last, a batch without documents ends the reading.
    """
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}.")
    names = (text_col, label_col, None, None, None)
    return _Reading(paths, names, False, on_error, encoding).batches(batch)


class _Reading:
    """One reading of some paths: what it has found so far, and what it has left out."""

    def __init__(
        self,
        paths: Paths,
        names: tuple[str | None, str | None, str | None, str | None, str | None],
        labeled: bool,
        on_error: str,
        encoding: str | None,
    ) -> None:
        if on_error not in ("stop", "skip"):
            raise UsageError(f"on_error must be 'stop' or 'skip', not {on_error!r}.")
        check_encoding(encoding)
        self.paths = _listed([paths] if isinstance(paths, (str, os.PathLike)) else paths)
        self.names = names
        self.labeled = labeled
        self.encoding = encoding
        self.faults = Faults(skips=on_error == "skip")
        self.formats: list[str] = []
        self.columns: list[Columns] = []
        self.lines: Lines | None = None

    def batches(self, size: int | None) -> Iterator[Corpus]:
        """Corpora of at most ``size`` documents; a single one if that is None."""
        batch: list[tuple[str, Row]] = []
        given = skipped = 0
        for document in self._documents():
            batch.append(document)
            if size is not None and (len(batch) == size or not self._more_at_hand()):
                yield self._corpus(batch, self.faults.skipped - skipped)
                given, skipped = given + len(batch), self.faults.skipped
                batch = []
        if not given and not batch:
            raise DataError(
                f"{self.faults.first} None of the {self.faults.skipped:,} rows can be used, and "
                "this is the first. Check that the file is the right one, and its columns."
            )
        if batch or self.faults.skipped > skipped:
            yield self._corpus(batch, self.faults.skipped - skipped)

    def _more_at_hand(self) -> bool:
        return self.lines is None or self.lines.ready()

    def _corpus(self, documents: list[tuple[str, Row]], skipped: int) -> Corpus:
        sources: list[str] = []
        source_of: list[int] = []
        for name, _ in documents:
            if not sources or sources[-1] != name:
                sources.append(name)
            source_of.append(len(sources) - 1)
        labels = [row.label for _, row in documents if row.label is not None]
        complete = len(labels) == len(documents)
        weights = np.array([row.weight for _, row in documents], dtype=np.float64)
        columns = {"format": _joined(self.formats)}
        for role in ("text", "label", "weight", "group", "time"):
            found = [chosen.described()[role] for chosen in self.columns if role in chosen.found]
            if found and (complete or role != "label"):
                columns[role] = _joined(found)
        return Corpus(
            texts=[row.text for _, row in documents],
            labels=labels if complete else None,
            weights=None if self.names[2] is None else weights,
            group_of=None if self.names[3] is None else [row.group for _, row in documents],
            time_of=None if self.names[4] is None else [row.time for _, row in documents],
            sources=sources,
            source_of=np.array(source_of, dtype=np.int32),
            line_of=np.array([row.line for _, row in documents], dtype=np.int64),
            skipped=skipped,
            columns=columns,
        )

    def _documents(self) -> Iterator[tuple[str, Row]]:
        for path in self.paths:
            before = self.faults.skipped
            empty = True
            for document in self._folder(path) if os.path.isdir(path) else self._file(path):
                empty = False
                yield document
            if empty and self.faults.skipped == before:
                raise DataError(f"{_name(path)}: there are no documents in it.")

    def _file(self, path: str) -> Iterator[tuple[str, Row]]:
        with _opened(path) as stream:
            self.lines = lines = Lines(_name(path), stream, self.faults, self.encoding)
            if lines.empty:
                raise DataError(f"{lines.name}: the file is empty.")
            columns = Columns(*self.names, labeled=self.labeled)
            kind = detect(lines, columns)
            self.formats.append(kind)
            self.columns.append(columns)
            for row in rows(kind, lines, columns, self.faults):
                yield lines.name, row

    def _folder(self, folder: str) -> Iterator[tuple[str, Row]]:
        Columns(*self.names).refuse(folder, "a folder for each class")
        self.lines = None
        files = [os.path.relpath(file, folder) for file in _files_under(folder)]
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
            try:
                text = self._whole(name)
            except DataError as error:
                if not self.faults.skips:
                    raise
                self.faults.leave_out(str(error))
            else:
                yield name, Row(text, label, 1.0, 0)

    def _whole(self, file: str) -> str:
        """The text of a file, without its last line end."""
        with _opened(file) as stream:
            lines = Lines(file, stream, Faults(skips=False), self.encoding)
            return "\n".join(lines)


def _listed(paths: Iterable[Path]) -> list[str]:
    """The files and folders that ``paths`` name, patterns replaced by what they match."""
    listed: list[str] = []
    for path in [os.fspath(path) for path in paths]:
        if path == "-" or os.path.exists(path):
            listed.append(path)
            continue
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        if not matches:
            raise _not_there(path)
        listed.extend(matches)
    if not listed:
        raise UsageError("no file to read was named.")
    seen: set[str] = set()
    for path in listed:
        real = path if path == "-" else os.path.realpath(path)
        if real in seen:
            raise UsageError(f"{path}: this is named twice; its documents would count double.")
        seen.add(real)
    return listed


def _not_there(path: str) -> UsageError:
    if glob.has_magic(path):
        return UsageError(f"{path}: no file matches this pattern.")
    folder, name = os.path.split(path)
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return UsageError(f"{path}: there is no folder '{folder}'.")
    close = did_you_mean(name, beside)
    return UsageError(f"{path}: no such file.{close or ' Check the name, and the folder.'}")


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        # Unbuffered, as Lines asks for large pieces itself.
        stream = open(path, "rb", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        raise DataError(f"{path}: cannot be opened: {error.strerror}.") from None
    with stream:
        yield stream


def _files_under(folder: str) -> list[str]:
    """All files in a folder and the folders in it, sorted by name, without hidden ones."""
    files: list[str] = []
    visited: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in visited:  # a link back up: its files are here already
            folders.clear()
            continue
        visited.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        files.extend(os.path.join(parent, name) for name in names if not name.startswith("."))
    return sorted(files, key=lambda file: file.split(os.sep))


def _name(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _joined(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))
