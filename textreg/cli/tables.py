"""Tables of answers: their rows, columns, formats and files."""

from __future__ import annotations

import io
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from gzip import GzipFile
from importlib import import_module
from itertools import chain
from pathlib import Path, PurePath
from typing import IO, Any, ClassVar, NamedTuple

import click
import numpy as np

from textreg._core.threads import allowing
from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few, shortened
from textreg.files import csv_lines, packing_of_name, replacing, zstd
from textreg.jobs import threads_of
from textreg.model.model import Model
from textreg.reading.corpus import RecordBatch
from textreg.reading.formats.records import pyarrow
from textreg.reading.formats.workbooks import openpyxl
from textreg.records import Corpus, Floats, SkippedRow
from textreg.terminal import json_line, printable, single_line

PREDICTED, REASON = "predicted", "reason"


class AnswerBatch(NamedTuple):
    """Answers to rows, the fields of these, and the columns of all files so far with their types.

    answers: what a model says of every row, by the names of :attr:`Answers.kinds`, and the reason
    where it has no answer. skipped: the rows without one.
    """

    answers: dict[str, list[Any]]
    skipped: Sequence[SkippedRow]
    records: list[Mapping[str, Any]]
    columns: dict[str, Any]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.answers[PREDICTED])

    def column(self, name: str) -> list[Any]:
        """The values of a column of the input."""
        return [record.get(name) for record in self.records]


class Answers:
    """One answer for every row, in the order of the rows.

    Parameters
    ----------
    model : Model
    proba : bool
        Whether to give the probability of every label; with ``top``, of those.
    top : int
        The number of the best labels to give; 0 for none.
    jobs : int, default 1
        The number of threads that score texts; -1 for one per core.

    Attributes
    ----------
    written : int
        The number of answers that the reader of our output has.
    rows, unreadable : int
        The number of rows, and of those without an answer.
    first : str
        Where the first row without an answer is, and what is wrong with it.
    """

    def __init__(self, model: Model, *, proba: bool, top: int, jobs: int = 1) -> None:
        if proba:
            model.task.require_probabilities()
        if top:
            model.task.label_scores(model.intercepts[None])  # refused before long work
        self.model = model
        self.multilabel = model.task.multilabel  # whether an answer is a list of labels
        self.proba = proba
        self._threads = threads_of(jobs)
        self.top = min(top, len(model.labels))
        self.rows = self.unreadable = self.written = 0
        self.first = ""
        self._remedy: Callable[[], str] = str

    def to(self, batches: Iterable[RecordBatch]) -> Iterator[AnswerBatch]:
        """The answers to batches of rows.

        DataError where reading stops says how many answers were written before.
        """
        try:
            for batch in batches:
                skipped = list(batch.documents.skipped)
                if skipped and not self.unreadable:
                    row = skipped[0]
                    number = self.rows + row.position + 1
                    self.first = f"row {number:,}, {row.where}: {row.problem}"
                self.unreadable += len(skipped)
                answers = self._answers(batch.documents, batch.scores, skipped)
                yield AnswerBatch(answers, skipped, batch.records, batch.columns)
                self.rows += len(answers[PREDICTED])
                self._remedy = batch.remedy
        except DataError as error:
            so_far = "No answer was written."
            if self.written:
                so_far = f"Answers written, for the rows before it: {self.written:,}."
            raise DataError(f"{error} {so_far}") from None

    @property
    def kinds(self) -> dict[str, type]:
        """The columns of answers: ``str``, ``float``, or ``list`` for lists of labels."""
        task = self.model.task
        single = str if task.discrete else float
        kinds: dict[str, type] = {PREDICTED: list if self.multilabel else single}
        for place in range(1, self.top + 1):
            kinds |= {f"top_{place}": str, f"score_{place}": float}
            kinds |= {f"proba_{place}": float} if self.proba else {}
        if self.proba and not self.top:
            kinds |= {f"proba_{label}": float for label in self.model.labels}
        return kinds

    def members(self, batch: AnswerBatch) -> Iterator[dict[str, Any]]:
        """Answers as the members of JSON objects."""
        answers = batch.answers
        parts = {"label": "top", "score": "score"}
        parts |= {"proba": "proba"} if self.proba else {}
        for row, reason in enumerate(answers[REASON]):
            members: dict[str, Any] = {PREDICTED: answers[PREDICTED][row]}
            if self.top:
                members["top"] = [
                    {key: answers[f"{name}_{place}"][row] for key, name in parts.items()}
                    for place in range(1, self.top + 1)
                ]
            elif self.proba:
                labels = self.model.labels
                members["proba"] = {label: answers[f"proba_{label}"][row] for label in labels}
            if reason is not None:
                members = {**dict.fromkeys(members), REASON: reason}
            yield members

    def told(self) -> str:
        """How many rows cannot be read, which is the first, and what to do; empty without any."""
        if not self.unreadable:
            return ""
        return (
            f"{self.unreadable:,} of {self.rows:,} rows cannot be read; their answers are empty. "
            f"The first is {single_line(self.first)} {self._remedy()}".rstrip()
        )

    def require_some(self) -> None:
        """DataError unless some row has an answer: nobody wants a file without any."""
        if self.rows and self.unreadable == self.rows:
            raise DataError(f"{self.told()} No file was written.")

    def _answers(
        self, documents: Corpus, scores: Floats | None, skipped: Sequence[SkippedRow]
    ) -> dict[str, list[Any]]:
        """The answers to documents, and among them what is told of rows that cannot be read."""
        model, labels = self.model, self.model.labels
        if scores is None:
            with allowing(self._threads):
                scores = model.decision_function(documents.texts)
        answers: dict[str, list[Any]] = {PREDICTED: list(model.choose(scores))}
        shares = model.probabilities(scores) if self.proba else None
        if self.top:
            ranking = model.task.ranking(scores, model.thresholds)[:, : self.top]
            table = model.task.label_scores(scores)
            rows = np.arange(len(ranking))
            for place, best in enumerate(ranking.T, start=1):
                answers[f"top_{place}"] = [labels[label] for label in best.tolist()]
                answers[f"score_{place}"] = table[rows, best].tolist()
                if shares is not None:
                    answers[f"proba_{place}"] = shares[rows, best].tolist()
        elif shares is not None:
            named = zip(labels, shares.T.tolist(), strict=True)
            answers |= {f"proba_{label}": values for label, values in named}
        answers[REASON] = [None] * len(documents)
        for name, values in answers.items():
            for row in reversed(skipped):
                values.insert(row.position, row.problem if name == REASON else None)
        return answers


# The endings of the files of every format.
ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "xlsx": (".xlsx",),
    "lines": (".txt",),
}


# Formats that are no text.
BINARY = {"parquet": "Parquet", "xlsx": "Excel"}


@dataclass(eq=False)
class Table:
    """Writes the rows of the input with their answers.

    Parameters
    ----------
    answers : Answers
    out : file
        Of text; of bytes for Parquet.
    reasons : bool
        Whether rows may be without an answer; then the last column says why.
    ids : sequence of str
        The only columns of the input to keep; all if there are none.
    prefix : str
        What the names of the answers' columns begin with.
    label_sep : str
        What is between labels where texts hold several.
    excel : str or None
        What is between the cells of CSV that Excel is to open.

    Attributes
    ----------
    kinds : dict of str to type
        The columns of the answers: ``str``, ``float``, or ``list`` for lists of labels.
    """

    answers: Answers
    out: IO[Any]
    reasons: bool
    ids: Sequence[str]
    prefix: str
    label_sep: str
    excel: str | None

    # Whether all rows have the same columns.
    fixed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.input: dict[str, Any] = dict.fromkeys(self.ids)
        self.rows = 0
        self.kinds = {f"{self.prefix}{name}": kind for name, kind in self.answers.kinds.items()}
        if self.reasons:
            self.kinds[f"{self.prefix}{REASON}"] = str
        self._known: set[str] = set()

    @property
    def own(self) -> list[str]:
        """The names of the columns of the answers."""
        return list(self.kinds)

    def cells(self, batch: AnswerBatch) -> list[list[Any]]:
        """The columns of answers, in the order of ``kinds``."""
        return list(batch.answers.values())[: len(self.kinds)]

    def add(self, batch: AnswerBatch) -> None:
        """Write a batch of answers; UsageError or DataError for columns that cannot be."""
        names = dict.fromkeys(chain(batch.columns, *batch.records))
        if new := [name for name in names if name not in self._known]:
            self._take(new, batch)
        self.write(batch)
        self.rows += batch.rows

    def columns(self, batch: AnswerBatch) -> list[list[Any]]:
        """The columns of the input and of answers, as numbers and texts."""
        named = [(name, batch.column(name)) for name in self.input]
        for cells in self.cells(batch):
            joined = [self.label_sep.join(it) if isinstance(it, list) else it for it in cells]
            named.append(("", joined))
        return [
            [it if type(it) in (int, float) else cell_of(name, it) for it in values]
            for name, values in named
        ]

    def write(self, batch: AnswerBatch) -> None:
        """Write the rows of a batch."""
        raise NotImplementedError

    def end(self) -> None:
        """Write what is not written yet."""

    def _take(self, new: Sequence[str], batch: AnswerBatch) -> None:
        """Take new columns of the input, or refuse them."""
        first = not self._known
        self._known.update(new)
        if self.ids:
            if first and (missing := [name for name in self.ids if name not in new]):
                name, listed = missing[0], first_few([shortened(column) for column in new], 20)
                raise UsageError(
                    f"--id-col: no column '{name}'.{did_you_mean(name.lower(), new)} There "
                    f"are: {listed}."
                )
            new = self.ids
        elif self.rows and self.fixed:
            row = next(at for at, record in enumerate(batch.records) if new[0] in record)
            raise DataError(
                f"row {self.rows + row + 1:,}: the column '{new[0]}' is not in the first "
                f"{self.rows:,} rows, whose columns the table has. Write --format jsonl, where "
                "every row has its own, or keep those that you need with --id-col."
            )
        if taken := [name for name in self.own if name in new]:
            raise UsageError(
                f"the input has a column '{taken[0]}' as well as the answers: name those otherwise "
                "with --prefix, such as --prefix new_, or keep other columns with --id-col."
            )
        self.input |= {name: batch.columns.get(name) for name in new}


class Lines(Table):
    """A label per line, without the input; with more of an answer, tabs between that, and a header.

    What is wrong with a row is a warning where no column says it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        answers, names = self.answers, self.own
        self._plain = not (answers.proba or answers.top)
        if answers.proba and not answers.top:
            names[1 : 1 + len(answers.model.labels)] = answers.model.labels
        names[0] = "labels" if answers.multilabel else "label"
        if not self._plain:
            self.out.write("\t".join(map(_field, names)) + "\n")

    def add(self, batch: AnswerBatch) -> None:
        predicted, *other_columns = self.cells(batch)[:1] if self._plain else self.cells(batch)
        columns = [list(map(self._text, predicted))]
        for values in other_columns:
            columns.append([f"{x:.6f}" if isinstance(x, float) else self._text(x) for x in values])
        self.out.writelines("\t".join(cells) + "\n" for cells in zip(*columns, strict=True))
        self.out.flush()  # a program that feeds us through a pipe may wait for the answer
        for row in batch.skipped if self._plain else ():
            click.echo(f"Warning: {single_line(f'{row.where}: {row.problem}')}", err=True)

    def _text(self, cell: Any) -> str:
        if isinstance(cell, list):
            return self.label_sep.join(map(_field, cell))
        return "" if cell is None else _field(str(cell))


@lru_cache(maxsize=1024)  # there are few labels, and many rows
def _field(label: str) -> str:
    """A label without tabs and line breaks, which separate fields and lines, and safe to print."""
    return printable(" ".join(re.split("[\t\r\n]", label)))


# A number with a sign, which is no formula.
_SIGNED = re.compile(r"[-+][\d.,\s]*")


class Csv(Table):
    """Texts with commas between them, and a header."""

    delimiter = ","

    def write(self, batch: AnswerBatch) -> None:
        if not self.rows:
            if self.excel is not None:
                self.out.write("\ufeff")  # by which Excel knows UTF-8
            self._write([[*self.input, *self.own]])
        columns = [list(map(self._cell, values)) for values in self.columns(batch)]
        self._write(zip(*columns, strict=True))

    def _cell(self, value: Any) -> str:
        """A cell; for Excel with four digits, and harmless where it could be a formula."""
        if self.excel is None:
            return cell_of("", value)
        if not isinstance(value, str):
            text = cell_of("", round(value, 4))
            return text.replace(".", "," if self.excel == ";" else ".")
        formula = value[:1] in ("=", "+", "-", "@", "\t", "\r") and not _SIGNED.fullmatch(value)
        return f"'{value}" if formula else value

    def _write(self, rows: Iterable[Sequence[Any]]) -> None:
        # Quotes are put around what ends a line: so around carriage returns, too.
        lines = csv_lines(rows, self.excel or self.delimiter, "\r\n")
        text = "".join(f"{line[:-2]}\n" for line in lines)
        self.out.write(printable(text) if self.out.isatty() else text)
        self.out.flush()  # a program that feeds us through a pipe may wait for the answer


class Tsv(Csv):
    """The same with tabs."""

    delimiter = "\t"


class JsonLines(Table):
    """An object for every row."""

    fixed = False

    @property
    def own(self) -> list[str]:
        names = [f"{self.prefix}{name}" for name in (PREDICTED, "proba", "top", REASON)]
        return [name for name in names if any(column.startswith(name) for column in self.kinds)]

    def objects(self, batch: AnswerBatch) -> Iterator[dict[str, Any]]:
        """The rows of a batch."""
        for record, members in zip(batch.records, self.answers.members(batch), strict=True):
            fields = {name: record.get(name) for name in self.ids} if self.ids else dict(record)
            yield fields | {f"{self.prefix}{name}": value for name, value in members.items()}

    def write(self, batch: AnswerBatch) -> None:
        for row in self.objects(batch):
            try:
                line = json_line(row)
            except (TypeError, ValueError):  # what JSON does not have
                line = json_line({name: _plain(name, value) for name, value in row.items()})
            self.out.write(f"{line}\n")
        self.out.flush()


class Document(JsonLines):
    """All rows in one JSON document, which whoever asks for it prints."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.document: list[dict[str, Any]] = []

    def write(self, batch: AnswerBatch) -> None:
        self.document += self.objects(batch)


def cell_of(name: str, value: Any) -> str:
    """A field of a record as a cell of a table."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bytes):
        raise _binary(name)
    if isinstance(value, (bool, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _plain(name: str, value: Any) -> Any:
    """A value as JSON can hold it: null for NaN and its like."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        raise _binary(name)
    if isinstance(value, dict):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _binary(name: str) -> DataError:
    return DataError(
        f"the column '{name}' holds binary data, which is no text: write --format parquet, or keep "
        "other columns with --id-col."
    )


# Rows by which the types of JSON columns are told.
SAMPLE = 20_000
# Rows of a row group; also the most that are in memory.
GROUP = 1 << 16


class Parquet(Table):
    """A Parquet file, written in groups of rows.

    Columns of Arrow and Parquet files keep their types, those of CSV are texts, and those of JSON
    have the types of their first values.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._arrow = pyarrow("Parquet")
        self._waiting: list[AnswerBatch] = []
        self._group: list[Any] = []
        self._writer: Any = None
        self._schema: Any = None
        self._first = 1

    def write(self, batch: AnswerBatch) -> None:
        self._waiting.append(batch)
        known = self._schema is not None or None not in self.input.values()
        if not known and sum(pending.rows for pending in self._waiting) < SAMPLE:
            return
        self._convert()
        if sum(map(len, self._group)) >= GROUP:
            self._flush()

    def end(self) -> None:
        self._convert()
        self._flush()
        self._writer.close()

    def _convert(self) -> None:
        """Rows that wait, as Arrow's."""
        if self._schema is None:
            arrow = self._arrow
            fields = {
                name: self._type(kind, [it for batch in self._waiting for it in batch.column(name)])
                for name, kind in self.input.items()
            }
            types = {str: arrow.string(), float: arrow.float64(), list: arrow.list_(arrow.string())}
            fields |= {name: types[kind] for name, kind in self.kinds.items()}
            self._schema = arrow.schema(list(fields.items()))
        for batch in self._waiting:
            columns = [*map(batch.column, self.input), *self.cells(batch)]
            arrays = map(self._array, self._schema, columns)
            self._group.append(self._arrow.record_batch(list(arrays), schema=self._schema))
            self._first += batch.rows
        self._waiting = []

    def _flush(self) -> None:
        if self._writer is None:
            from pyarrow.parquet import ParquetWriter

            self._writer = ParquetWriter(self.out, self._schema)
        if self._group:
            self._writer.write_table(self._arrow.Table.from_batches(self._group))
        self._group = []

    def _type(self, kind: Any, values: Iterable[Any]) -> Any:
        """The type of a column: its own, or that of its first values; texts where there is none."""
        arrow = self._arrow
        if kind is not None:
            return arrow.string() if kind is str else kind
        try:
            inferred = arrow.array([value for value in values if value is not None]).type
        except (arrow.ArrowException, OverflowError, ValueError):  # of several kinds: as JSON
            return arrow.string()
        return arrow.string() if arrow.types.is_null(inferred) else inferred

    def _array(self, field: Any, values: Sequence[Any]) -> Any:
        """Values of one column, from row ``_first`` on, in the type of the column."""
        arrow = self._arrow
        try:
            if arrow.types.is_string(field.type):
                return arrow.array(_texts(values), field.type)
            if arrow.types.is_temporal(field.type) or arrow.types.is_decimal(field.type):
                return arrow.array(values, arrow.string()).cast(field.type)  # read as texts
            return arrow.array(values, field.type)
        except (arrow.ArrowException, OverflowError) as error:
            what = str(error).splitlines()[0].rstrip(".")
            raise DataError(
                f"rows {self._first:,} to {self._first + len(values) - 1:,}: the column "
                f"'{field.name}' has values of another type than the rows before them, "
                f"{field.type} ({what}). Write --format jsonl or csv, or keep other columns with "
                "--id-col."
            ) from None


def _texts(values: Sequence[Any]) -> list[str | None]:
    """Values as texts, with an escape for what UTF-8 does not have."""
    texts = []
    for value in values:
        text = value
        if value is not None and not isinstance(value, str):
            text = cell_of("", value) if not isinstance(value, (int, float)) else json.dumps(value)
        if text is not None and not text.isascii():
            text = text.encode("utf-8", "backslashreplace").decode()
        texts.append(text)
    return texts


# The most rows and characters of a cell that Excel takes, and where it rounds numbers.
MOST_ROWS, MOST_CHARACTERS, ROUNDED = 1 << 20, 32_767, 10**15


class Sheet:
    """A workbook of Excel with one sheet, where no text is a formula."""

    def __init__(self) -> None:
        self._module = openpyxl("Excel")
        self._book = self._module.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("textreg")
        self._rows = self._cut = 0

    def add(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows; DataError where the sheet is full."""
        for cells in rows:
            self._rows += 1
            if self._rows > MOST_ROWS:
                raise DataError(f"a sheet has {MOST_ROWS:,} rows at most: write FILE.csv instead.")
            self._sheet.append([self._cell(value) for value in cells])

    def __del__(self) -> None:
        # Before openpyxl loses the file that rows wait in, which prints a traceback.
        with suppress(Exception):  # that file may be what cannot be written
            self._sheet.close()

    def save(self, out: IO[bytes]) -> None:
        """Write the file; DataWarning where texts are too long for a cell."""
        packed = io.BytesIO()  # a file that is full would fail once more where openpyxl lets it go
        self._book.save(packed)
        out.write(packed.getbuffer())
        if self._cut:
            warnings.warn(
                f"texts that are cut, as a cell of Excel takes {MOST_CHARACTERS:,} characters: "
                f"{self._cut:,}. Write -o FILE.csv to keep them whole.",
                DataWarning,
                stacklevel=2,
            )

    def _cell(self, value: Any) -> Any:
        if isinstance(value, (int, float)) and abs(value) < ROUNDED:
            return value
        text = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", cell_of("", value))
        self._cut += len(text) > MOST_CHARACTERS
        cell = self._module.cell.WriteOnlyCell(self._sheet, text[:MOST_CHARACTERS])
        cell.data_type = "s"
        return cell if text else None


# What XML does not have.
_UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Excel(Table):
    """A workbook with one sheet; numbers stay numbers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sheet = Sheet()

    def write(self, batch: AnswerBatch) -> None:
        header = [] if self.rows else [[*self.input, *self.own]]
        self._sheet.add([*header, *zip(*self.columns(batch), strict=True)])

    def end(self) -> None:
        self._sheet.save(self.out)


def save_table(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records as a table, in the format of the name; UsageError where that has none."""
    form = form_of(None, str(path))
    names = list(dict.fromkeys(name for record in records for name in record))
    with opened(str(path), form) as out:
        if form == "jsonl":
            out.writelines(f"{json_line(dict(record))}\n" for record in records)
        elif form in ("csv", "tsv"):
            rows = ([cell_of(name, record.get(name)) for name in names] for record in records)
            out.writelines(csv_lines([names, *rows], "," if form == "csv" else "\t"))
        elif form == "xlsx":
            sheet = Sheet()
            sheet.add([names, *([record.get(name) for name in names] for record in records)])
            sheet.save(out)
        else:
            raise UsageError(f"{path}: name a file that ends in .csv, .tsv, .jsonl or .xlsx.")


FORMS: Mapping[str, type[Table]] = {
    "lines": Lines,
    "csv": Csv,
    "tsv": Tsv,
    "jsonl": JsonLines,
    "parquet": Parquet,
    "xlsx": Excel,
}


def form_of(form: str | None, out: str | None) -> str:
    """The format to write: as asked for, or by the ending of a file's name, else lines.

    Raises UsageError where they contradict each other, or the ending is no known one.
    """
    if out is None:
        return form or "lines"
    packing = packing_of_name(out)
    name = out.lower() if packing is None else out.lower().removesuffix(packing.ending)
    ending = PurePath(name).suffix
    implied = next((known for known, endings in ENDINGS.items() if ending in endings), None)
    if form is None and implied is None:
        known = ", ".join(endings[0] for endings in ENDINGS.values())
        raise UsageError(
            f"-o {out}: no format has the ending '{ending}': name one with --format, or end the "
            f"name with one of {known}."
        )
    if form is not None and implied not in (None, form):
        raise UsageError(
            f"--format {form} does not fit the name {out}, which has the ending of {implied}: "
            "leave out --format, or name another file."
        )
    chosen = form or implied or ""
    if chosen in BINARY and packing is not None:
        raise UsageError(
            f"-o {out}: {BINARY[chosen]} is compressed already: leave out {packing.ending}."
        )
    return chosen


@contextmanager
def opened(path: str | None, form: str) -> Iterator[IO[Any]]:
    """A file to write a table to, compressed as its name says; standard output without a name.

    It takes the place of what was there when the block ends.
    """
    if path is None:
        yield sys.stdout
        return
    with replacing(path) as file:
        if form in BINARY:
            yield file
            return
        packing = packing_of_name(path)
        packed = file if packing is None else _packed(packing.name, file)
        # Halves of surrogate pairs, which JSON can hold and UTF-8 cannot, are written as escapes.
        text = io.TextIOWrapper(packed, "utf-8", errors="backslashreplace", newline="")
        try:
            yield text
            text.flush()
        finally:
            text.detach()
        if packed is not file:
            packed.close()


def _packed(name: str, file: IO[bytes]) -> Any:
    if name == "zstd":
        module = zstd()
        return module.ZstdFile(file, "wb", options={module.CompressionParameter.checksum_flag: 1})
    if name == "gzip":
        return GzipFile("", "wb", fileobj=file, mtime=0)  # equal answers make equal files
    module, writer = {"bzip2": ("bz2", "BZ2File"), "xz": ("lzma", "LZMAFile")}[name]
    return getattr(import_module(module), writer)(file, "wb")
