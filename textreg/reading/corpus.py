"""Files to :class:`~textreg.records.Corpus`: one file, many, a folder for each class, or a pipe.

A :class:`~textreg.reading.source.Source` is the bytes or lines of a file, and one of the
:mod:`textreg.reading.formats` makes documents of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from textreg.errors import DataWarning, UsageError, first_few
from textreg.logs import logger
from textreg.reading.columns import ColumnNames, TableColumns
from textreg.reading.faults import check_max_skipped
from textreg.reading.paths import Paths
from textreg.reading.reader import CorpusReader
from textreg.records import Corpus
from textreg.records.fields import Field, FieldedText
from textreg.records.stored_texts import StoredTexts

if TYPE_CHECKING:
    from textreg.records import Floats

LOG = logger("reading")


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
    fields: Sequence[Field] = (),
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
    check_max_skipped(max_skipped)
    if texts is not None:
        _check_stored(texts, fields)
    names = ColumnNames(text_col, label_col, weight_col, group_col, time_col)
    reader = corpus_reader(
        paths,
        names,
        on_error=on_error,
        labeled=labeled,
        label_sep=label_sep,
        multilabel=multilabel,
        encoding=encoding,
        fields=fields,
    )
    corpus = reader.whole(texts)
    columns = ", ".join(f"{role} = {what}" for role, what in corpus.columns.items())
    LOG.info("%s: %d documents; %s", first_few(reader.paths, 3), len(corpus), columns)
    if told := reader.skipping.check(max_skipped):
        LOG.info("%s", told)
        warnings.warn(told, DataWarning, stacklevel=2)
    return corpus


def corpus_reader(  # noqa: PLR0913  # its options are those of read_corpus
    paths: Paths,
    names: ColumnNames,
    *,
    on_error: str = "stop",
    labeled: bool = True,
    label_sep: str | None = None,
    multilabel: bool = False,
    encoding: str | None = None,
    fields: Sequence[Field] = (),
) -> CorpusReader:
    """What reads documents with these columns; options and errors as of :func:`read_corpus`."""
    table = partial(
        TableColumns,
        names,
        label_sep=_separator(label_sep),
        multilabel=multilabel,
        fields=fields,
    )
    return CorpusReader(paths, table, labeled=labeled, on_error=on_error, encoding=encoding)


class Readable(NamedTuple):
    """All of some files that can be read.

    Attributes
    ----------
    corpus : Corpus
        The documents; ``corpus.skipped`` lists the other rows.
    others : dict of str to list
        The columns that were not asked for: a value for each document, None where there is none.
    remedy : str
        How to read rows that are not in the encoding of their file; empty if there are none.
    """

    corpus: Corpus
    others: dict[str, list[Any]]
    remedy: str


def read_readable(  # noqa: PLR0913  # its options are its interface
    paths: Paths,
    names: ColumnNames,
    *,
    labeled: bool = True,
    label_sep: str | None = None,
    multilabel: bool = False,
    encoding: str | None = None,
    fields: Sequence[Field] = (),
) -> Readable:
    """Read whatever can be read, however little that is, with all columns and without a warning.

    Parameters, and errors of files as a whole, are as of :func:`read_corpus`. The text of a
    document of several fields is that of its text fields, one after the other.
    """
    table = partial(
        TableColumns,
        names,
        label_sep=_separator(label_sep),
        multilabel=multilabel,
        keep=True,
        fields=fields,
    )
    reader = CorpusReader(paths, table, labeled=labeled, on_error="skip", encoding=encoding)
    corpus = reader.whole()
    records = reader.taken()
    skipped = corpus.skipped.position_of + np.arange(len(corpus.skipped))
    kept = np.delete(np.arange(len(records)), skipped).tolist()
    texts = [field.name for field in fields if field.kind == "text"]
    taken = {*texts, *(name for table in reader.columns for name in table.chosen.values())}
    if fields:
        documents = cast(Sequence[FieldedText], corpus.texts)
        joined = ["\n".join(map(one.field, texts)) for one in documents]
        corpus = replace(corpus, texts=joined)
    columns = dict.fromkeys(name for table in reader.columns for name in table.names)
    others = {
        name: [records[row].get(name) for row in kept] for name in columns if name not in taken
    }
    return Readable(corpus, others, reader.skipping.remedy)


def stream_documents(  # noqa: PLR0913  # its options are its interface
    paths: Paths,
    batch: int = 1000,
    *,
    text_col: str | None = None,
    label_col: str | None = None,
    on_error: str = "stop",
    encoding: str | None = None,
    fields: Sequence[Field] = (),
) -> Iterator[Corpus]:
    """Read documents to be classified in batches, in constant memory.

    From a pipe, the rows that have arrived are returned without waiting for a full batch. An
    error is raised after the documents before it have been returned.

    Parameters
    ----------
    paths, text_col, label_col, encoding, fields
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
    table = partial(TableColumns, names, fields=fields)
    reader = CorpusReader(paths, table, labeled=False, on_error=on_error, encoding=encoding)
    reader.skipping.offer = "to answer such rows with an empty line"
    return reader.batches(batch)


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


def stream_records(  # noqa: PLR0913  # its options are its interface
    paths: Paths,
    batch: int = 1000,
    *,
    text_col: str | None = None,
    on_error: str = "stop",
    encoding: str | None = None,
    fields: Sequence[Field] = (),
    full: bool = False,
) -> Iterator[RecordBatch]:
    """Read documents to be classified and all columns beside them, in constant memory.

    Parameters
    ----------
    paths, batch, text_col, on_error, encoding, fields
        As in :func:`stream_documents`.
    full : bool, default False
        Whether to wait for full batches, also from a pipe.

    Yields
    ------
    RecordBatch
        The next rows.

    Raises
    ------
    UsageError, DataError
        As in :func:`read_corpus`.
    """
    table = partial(TableColumns, ColumnNames(text_col), fields=fields, keep=True)
    reader = CorpusReader(paths, table, labeled=False, on_error=on_error, encoding=encoding)
    reader.skipping.offer = "to answer such rows with an empty line"
    for documents in reader.batches(batch, full=full):
        columns = {name: used.types.get(name) for used in reader.columns for name in used.names}
        yield RecordBatch(documents, reader.taken(), columns, lambda: reader.skipping.remedy)


def _check_stored(texts: StoredTexts, fields: Sequence[Field]) -> None:
    """UsageError if texts cannot go to this file."""
    if fields:
        raise UsageError(
            f"documents of several columns ({', '.join(field.name for field in fields)}) cannot be "
            "kept in a file: read them into memory, without texts, or take one column."
        )
    if len(texts):
        raise UsageError(f"{texts.path} holds {len(texts):,} texts already: name another file.")


def _separator(separator: str | None) -> str | None:
    """The separator of labels; UsageError for an empty one."""
    if separator == "":
        raise UsageError("label_sep is empty: name what separates labels, such as ';'.")
    return separator
