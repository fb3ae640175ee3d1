"""Files that the workers of a cluster read: their texts stay there, or are scored there."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from textreg.blocks.scratch import blocks_of
from textreg.errors import DataWarning, UsageError
from textreg.reading.columns import ColumnNames
from textreg.reading.corpus import CorpusReader, RecordBatch
from textreg.reading.source import Paths, check_max_skipped, listed, told_of
from textreg.records import Corpus, SkippedRows
from textreg.records.documents import TextsElsewhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.model import Model
    from textreg.records import Floats, Int32s, Int64s
    from textreg_dask.connection import Connection


# Texts that are fetched at a time.
FETCHED = 4096


class ClusterTexts(TextsElsewhere):
    """Texts in pieces on the workers, which are fetched where they are asked for.

    Parameters
    ----------
    connection : Connection
    pieces : sequence of futures
        Of lists of texts.
    lengths : sequence of ndarray of int32
        For every piece the number of characters of each text.
    """

    def __init__(
        self, connection: Connection, pieces: Sequence[Any], lengths: Sequence[Int32s]
    ) -> None:
        self.workers = connection
        self._pieces = list(pieces)
        self._ptr: Int64s = np.cumsum([0, *map(len, lengths)], dtype=np.int64)
        self.lengths: Int32s = np.concatenate([np.zeros(0, np.int32), *lengths])
        self._rows: Int64s | None = None  # all

    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> ClusterTexts:
        """Some of the texts, in the order wanted."""
        chosen = np.asarray(rows, dtype=np.int64)
        size = len(self)
        if len(chosen) and not (-size <= chosen.min() and chosen.max() < size):
            raise IndexError(f"there are {size:,} texts, and no text {chosen.max()}")
        chosen = np.where(chosen < 0, chosen + size, chosen)
        subset: ClusterTexts = object.__new__(ClusterTexts)
        subset.workers, subset._pieces, subset._ptr = self.workers, self._pieces, self._ptr
        subset.lengths = self.lengths[chosen]
        subset._rows = chosen if self._rows is None else self._rows[chosen]
        return subset

    def blocks(self) -> Iterator[tuple[int, int, list[Any]]]:
        """The texts in blocks: the first one, the one after the last, and futures of their lists.

        Blocks are those of :func:`textreg.blocks.scratch.blocks_of`.
        """
        length = self.lengths.tolist().__getitem__
        for block in blocks_of([range(len(self))], length):
            start, end = block[0], block[-1] + 1
            yield start, end, self._futures(start, end)

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[str]:
        start, most = 0, 1  # who wants to know what the first one is does not wait for others
        while start < len(self):
            end = min(start + most, len(self))
            for future in self._futures(start, end):
                yield from self.workers.result(future)
            start, most = end, FETCHED

    def __repr__(self) -> str:
        return f"<ClusterTexts: {len(self):,} texts in {len(self._pieces):,} pieces>"

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "texts on a cluster cannot be copied: read them into memory first, with list(texts)."
        )

    def _futures(self, start: int, end: int) -> list[Any]:
        """Futures of the texts from ``start`` to ``end``, by piece."""
        rows = np.arange(start, end) if self._rows is None else self._rows[start:end]
        piece = np.searchsorted(self._ptr, rows, "right") - 1
        cuts = np.flatnonzero(np.diff(piece)) + 1
        futures = []
        for first, last in pairwise([0, *cuts.tolist(), len(rows)]):
            number = int(piece[first])
            local = rows[first:last] - self._ptr[number]
            if len(local) == self._ptr[number + 1] - self._ptr[number] and _in_order(local):
                futures.append(self._pieces[number])
            else:
                wanted = slice(int(local[0]), int(local[-1]) + 1) if _in_order(local) else local
                futures.append(self.workers.submit(taken, self._pieces[number], wanted))
        return futures


def taken(texts: Sequence[str], wanted: slice | Int64s) -> list[str]:
    """Some of the texts of a piece."""
    if isinstance(wanted, slice):
        return list(texts[wanted])
    return [texts[row] for row in wanted.tolist()]


def lengths_of(texts: Sequence[str]) -> Int32s:
    """The number of characters of every text."""
    return np.fromiter(map(len, texts), np.int32, len(texts))


def _in_order(rows: Int64s) -> bool:
    """Whether rows follow one another."""
    return bool((np.diff(rows) == 1).all())


NAMES = ("text_col", "label_col", "weight_col", "group_col", "time_col", "evidence_col")
COLUMNS = ("labels", "sample_weight", "group_of", "time_of", "line_of")


class FileRead(NamedTuple):
    """What is told of a file that was read.

    corpus: its documents, without their texts. lengths: the number of characters of each text.
    remedy: how to read the rows that were left out.
    """

    corpus: Corpus
    lengths: Int32s
    remedy: str


def read_by(connection: Connection, paths: Paths, **options: Any) -> Corpus:
    """See ``Workers.read``: a worker reads a file at a time, and the texts are ClusterTexts.

    UsageError also for standard input, for documents of several fields, and if a worker does not
    find a file.
    """
    most = options.pop("max_skipped", 0.05)
    check_max_skipped(most)
    if options.get("fields"):
        raise UsageError("documents of several columns cannot be read by workers: take one column.")
    if options.get("evidence_col"):
        raise UsageError("marked passages cannot be read by workers: leave out --evidence-col.")
    files = listed(paths)
    if "-" in files:
        raise UsageError("workers cannot read standard input: name files that they can read.")
    names = ColumnNames(*(options.pop(name, None) for name in NAMES))
    read = [
        connection.submit(_read, os.path.abspath(file), file, names, options, outputs=2)
        for file in files
    ]
    pieces, described = zip(*read, strict=True)
    files_read = list(connection.results(described))
    texts = ClusterTexts(connection, pieces, [file.lengths for file in files_read])
    corpus = _joined(files_read, texts)
    remedy = next((file.remedy for file in files_read if file.remedy), "")
    if warning := told_of(corpus.skipped, len(corpus), most, remedy):
        warnings.warn(warning, DataWarning, stacklevel=3)
    return corpus


def _read(
    path: str, name: str, names: ColumnNames, options: dict[str, Any]
) -> tuple[Sequence[str], FileRead]:
    """The documents of a file or folder, by a worker."""
    check_found(path, name)
    reader = CorpusReader(path, names, **options)
    corpus = reader.whole()
    sources = [name + source.removeprefix(path) for source in corpus.sources]
    told = replace(without_texts(corpus, path, name), sources=sources)
    file_read = FileRead(told, lengths_of(corpus.texts), reader.skipping.remedy)  # type: ignore[arg-type]  # files hold texts
    return corpus.texts, file_read  # type: ignore[return-value]


def without_texts(corpus: Corpus, path: str, name: str) -> Corpus:
    """The documents of a file, whose texts stay with the worker."""
    skipped = skipped_under(corpus.skipped, path, name)
    return replace(corpus, texts=[""] * len(corpus), skipped=skipped)


def skipped_under(skipped: SkippedRows, path: str, name: str) -> SkippedRows:
    """Rows that were left out, with the files under these names."""
    return SkippedRows(row._replace(source=name + row.source.removeprefix(path)) for row in skipped)


def check_found(path: str, name: str) -> None:
    """UsageError on a worker that does not see a file or folder."""
    if not os.path.exists(path):
        raise UsageError(
            f"{name}: a worker finds no such file. Workers read the files themselves: put them "
            "where all machines see them under the same name."
        )


def _joined(files: Sequence[FileRead], texts: ClusterTexts) -> Corpus:
    """The documents of all files."""
    corpora = [file.corpus for file in files]
    ends = np.cumsum([0, *(len(corpus.sources) for corpus in corpora)])
    columns = {name: _column([getattr(corpus, name) for corpus in corpora]) for name in COLUMNS}
    roles = dict.fromkeys(role for corpus in corpora for role in corpus.columns)
    described = {
        role: " or ".join(
            dict.fromkeys(corpus.columns[role] for corpus in corpora if role in corpus.columns)
        )
        for role in roles
        if role != "label" or columns["labels"] is not None
    }
    named = {
        role: {corpus.column_names[role] for corpus in corpora if role in corpus.column_names}
        for role in roles
    }
    source_of = [corpus.source_of + end for corpus, end in zip(corpora, ends, strict=False)]
    return Corpus(
        texts=texts,
        **columns,
        sources=[source for corpus in corpora for source in corpus.sources],
        source_of=np.concatenate(source_of, dtype=np.int32),
        skipped=_skipped(corpora),
        columns=described,
        column_names={role: min(names) for role, names in named.items() if len(names) == 1},
    )


def _column(parts: Sequence[Any]) -> Any:
    """A column of all files; None unless all have it."""
    if any(part is None for part in parts):
        return None
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    known: dict[Any, Any] = {}
    return [known.setdefault(value, value) for part in parts for value in part]  # each kept once


def _skipped(corpora: Iterable[Corpus]) -> SkippedRows:
    """The rows of all files that were left out."""
    rows, documents = SkippedRows(), 0
    for corpus in corpora:
        for row in corpus.skipped:
            rows.add(row._replace(position=row.position + documents))
        documents += len(corpus)
    return rows


def score_by(
    connection: Connection, model: Model, how: Any, files: Sequence[str], *, records: bool
) -> Iterator[RecordBatch]:
    """The rows of files with their scores, which workers read and compute, a file at a time.

    records: whether the fields of the rows are wanted.
    """
    if "-" in files:
        raise UsageError("workers cannot read standard input: name files that they can read.")
    names = listed(files)
    paths = map(os.path.abspath, names)
    sent = connection.send(model)
    columns: dict[str, object] = {}
    results = connection.map(scored_file, paths, names, repeat(sent), repeat(how), repeat(records))
    for batches in results:
        for batch, remedy in batches:
            columns |= batch.columns
            yield batch._replace(columns=dict(columns), remedy=lambda remedy=remedy: remedy)


def scored_file(
    path: str, name: str, model: Model, how: Any, records: bool
) -> list[tuple[RecordBatch, str]]:
    """The rows of a file with their scores, and how to read others, by a worker."""
    check_found(path, name)
    batches = []
    for batch in how.records([path], full=True):
        documents = batch.documents
        scores = model.decision_function(documents.texts) if len(documents) else None
        stripped = without_texts(documents, path, name)
        rows = batch.records if records else []
        batches.append((RecordBatch(stripped, rows, batch.columns, scores=scores), batch.remedy()))
    return batches


def scored_texts(texts: Sequence[str], model: Model) -> Floats:
    """The scores of texts, by a worker."""
    scores: Floats = model.decision_function(texts)
    return scores
