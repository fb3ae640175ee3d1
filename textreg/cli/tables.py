"""Tables of answers: their rows, columns, formats and files."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple

from textreg._core.threads import allowing
from textreg.errors import DataError, UsageError, did_you_mean, first_few, shortened
from textreg.files import csv_lines
from textreg.jobs import threads_of
from textreg.limits import packing_of_name, zstd
from textreg.model.model import Model
from textreg.reading.corpus import RecordBatch
from textreg.reading.formats.columnar import pyarrow
from textreg.records import Corpus, SkippedRow
from textreg.terminal import json_line, printable, single_line

if TYPE_CHECKING:
    from typing import IO

    from textreg.records import Floats

PREDICTED, REASON = "predicted", "reason"


class Ranked(NamedTuple):
    """One of the best labels of a text; without ``proba`` where nobody asked for it."""

    label: str
    score: float
    proba: float | None

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        shown = {"label": self.label, "score": self.score}
        return shown if self.proba is None else shown | {"proba": self.proba}


class Answer(NamedTuple):
    """What a model says of a row.

    predicted: a label, a list of labels, or a number; None without an answer. proba: the
    probability of every label, or nothing. top: the best labels, or nothing. skipped: why there is
    no answer.
    """

    predicted: Any
    proba: Sequence[float] = ()
    top: Sequence[Ranked] = ()
    skipped: SkippedRow | None = None


class AnswerBatch(NamedTuple):
    """Answers, the fields of their rows, and the columns of all files so far with their types."""

    answers: list[Answer]
    records: list[Mapping[str, Any]]
    columns: dict[str, Any]


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
        self.proba = proba
        self._threads = threads_of(jobs)
        self.top = min(top, len(model.labels))
        self.rows = self.unreadable = self.written = 0
        self.first = ""
        self._remedy: Callable[[], str] = str

    @property
    def multilabel(self) -> bool:
        """Whether an answer is a list of labels."""
        return self.model.task.multilabel

    def to(self, batches: Iterable[RecordBatch]) -> Iterator[AnswerBatch]:
        """The answers to batches of rows.

        DataError where reading stops says how many answers were written before.
        """
        try:
            for batch in batches:
                answers = list(self._answers(batch.documents, batch.scores))
                yield AnswerBatch(answers, batch.records, batch.columns)
                self.rows += len(answers)
                self._remedy = batch.remedy
        except DataError as error:
            so_far = "No answer was written."
            if self.written:
                so_far = f"Answers written, for the rows before it: {self.written:,}."
            raise DataError(f"{error} {so_far}") from None

    def told(self) -> str:
        """How many rows cannot be read, which is the first, and what to do; empty without any."""
        if not self.unreadable:
            return ""
        remedy = self._remedy()
        return (
            f"{self.unreadable:,} of {self.rows:,} rows cannot be read; their answers are empty. "
            f"The first is {single_line(self.first)}{f' {remedy}' if remedy else ''}"
        )

    def require_some(self) -> None:
        """DataError unless some row has an answer: nobody wants a file without any."""
        if self.rows and self.unreadable == self.rows:
            raise DataError(f"{self.told()} No file was written.")

    def _answers(self, batch: Corpus, scores: Floats | None) -> Iterator[Answer]:
        """The answers to documents, and among them those to rows that cannot be read."""
        predicted = self._predicted(batch, scores)
        before = 0
        for row in batch.skipped:
            yield from itertools.islice(predicted, row.position - before)
            if not self.unreadable:
                number = self.rows + row.position + 1
                self.first = f"row {number:,}, {row.where}: {row.problem}"
            self.unreadable += 1
            before = row.position
            yield Answer(None, skipped=row)
        yield from predicted

    def _predicted(self, batch: Corpus, scores: Floats | None) -> Iterator[Answer]:
        if not len(batch):
            return
        if scores is None:
            with allowing(self._threads):
                scores = self.model.decision_function(batch.texts)
        predicted = self.model.choose(scores)
        if self.proba:
            shares = self.model.probabilities(scores)
        if not self.top:
            rows = shares.tolist() if self.proba else itertools.repeat(())
            yield from map(Answer, predicted, rows)
            return
        ranking = self.model.task.ranking(scores, self.model.thresholds)[:, : self.top]
        table = self.model.task.label_scores(scores)
        for row, (answer, best) in enumerate(zip(predicted, ranking.tolist(), strict=True)):
            yield Answer(
                answer,
                top=[
                    Ranked(
                        self.model.labels[label],
                        float(table[row, label]),
                        float(shares[row, label]) if self.proba else None,
                    )
                    for label in best
                ],
            )


class AnswerColumns:
    """The columns of answers, for tables.

    Parameters
    ----------
    answers : Answers
    reasons : bool
        Whether rows may be without an answer; then the last column says why.

    Attributes
    ----------
    kinds : dict of str to type
        By their names, ``str``, ``float``, or ``list`` for lists of labels.
    """

    def __init__(self, answers: Answers, *, reasons: bool) -> None:
        task = answers.model.task
        kind = list if task.multilabel else str if task.discrete else float
        kinds: dict[str, type] = {PREDICTED: kind}
        if answers.top:
            for place in range(1, answers.top + 1):
                kinds |= {f"top_{place}": str, f"score_{place}": float}
                kinds |= {f"proba_{place}": float} if answers.proba else {}
        elif answers.proba:
            kinds |= {f"proba_{label}": float for label in answers.model.labels}
        if reasons:
            kinds[REASON] = str
        self.kinds = kinds
        self._reasons = reasons
        self._top = answers.top
        self._labels = answers.model.labels if answers.proba else ()
        self._none = [None] * (len(kinds) - 2)

    def cells(self, answer: Answer) -> list[Any]:
        """The values of an answer, in the order of the columns."""
        if answer.skipped is not None:
            return [None, *self._none, answer.skipped.problem]
        cells = [answer.predicted, *answer.proba]
        for one in answer.top:
            cells += one[:2] if one.proba is None else one
        if self._reasons:
            cells.append(None)
        return cells

    def members(self, answer: Answer) -> dict[str, Any]:
        """The same as the members of a JSON object."""
        given: dict[str, Any] = {PREDICTED: answer.predicted}
        skipped = answer.skipped
        if self._top:
            given["top"] = None if skipped else [one.to_dict() for one in answer.top]
        elif self._labels:
            given["proba"] = None if skipped else dict(zip(self._labels, answer.proba, strict=True))
        if skipped:
            given[REASON] = skipped.problem
        return given


ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "lines": (".txt",),
}
"""The endings of the files of every format."""


class Kept(NamedTuple):
    """What is kept of the input, and how answers are called beside it.

    ids: the only columns of the input to keep; all if there are none. prefix: what the names of the
    answers' columns begin with.
    """

    ids: tuple[str, ...] = ()
    prefix: str = ""


class Table:
    """Writes the rows of the input with their answers.

    Parameters
    ----------
    columns : AnswerColumns
        The columns of the answers.
    kept : Kept
        What is kept of the input.
    """

    fixed: ClassVar[bool] = True
    """Whether all rows have the same columns."""

    def __init__(self, columns: AnswerColumns, kept: Kept) -> None:
        self.columns = columns
        self._kept = kept
        self.input: dict[str, Any] = dict.fromkeys(kept.ids)
        self.rows = 0
        self._known: set[str] = set()
        self.own = [f"{kept.prefix}{name}" for name in columns.kinds]

    def add(self, batch: AnswerBatch) -> None:
        """Write a batch of answers."""
        self.check(batch)
        self.write(batch)
        self.rows += len(batch.answers)

    def check(self, batch: AnswerBatch) -> None:
        """Take the columns of the input in a batch; UsageError or DataError for wrong ones."""
        found = dict.fromkeys(chain(batch.columns, *batch.records))
        if new := [name for name in found if name not in self._known]:
            self._take(new, batch)

    def write(self, batch: AnswerBatch) -> None:
        """Write the rows of a batch."""
        raise NotImplementedError

    def end(self) -> None:
        """Write what is not written yet."""

    def _take(self, new: Sequence[str], batch: AnswerBatch) -> None:
        """Take new columns of the input, or refuse them."""
        first = not self._known
        self._known.update(new)
        if self._kept.ids:
            if first and (missing := [name for name in self._kept.ids if name not in new]):
                name, listed = missing[0], first_few([shortened(one) for one in new], 20)
                raise UsageError(
                    f"--id-col: no column '{name}'.{did_you_mean(name.lower(), new)} There "
                    f"are: {listed}."
                )
            new = self._kept.ids
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


class Delimited(Table):
    """CSV, or TSV."""

    def __init__(
        self,
        columns: AnswerColumns,
        kept: Kept,
        out: IO[str],
        *,
        delimiter: str = ",",
        label_sep: str = ";",
    ) -> None:
        super().__init__(columns, kept)
        self._out = out
        self._label_sep = label_sep
        self._delimiter = delimiter
        self._clean = out.isatty()

    def write(self, batch: AnswerBatch) -> None:
        names = list(self.input)
        if not self.rows:
            self._written([[*names, *self.own]])
        own = zip(*map(self.columns.cells, batch.answers), strict=True)
        columns = [_cells(name, [record.get(name) for record in batch.records]) for name in names]
        columns += [_cells("", self._joined(cells)) for cells in own]
        self._written(zip(*columns, strict=True))

    def _joined(self, cells: Sequence[Any]) -> Sequence[Any]:
        """Lists of labels as texts."""
        if list in set(map(type, cells)):
            return [self._label_sep.join(it) if isinstance(it, list) else it for it in cells]
        return cells

    def _written(self, rows: Iterable[Sequence[Any]]) -> None:
        # Quotes are put around what ends a line: so around carriage returns, too.
        lines = csv_lines(rows, self._delimiter, "\r\n")
        text = "".join(f"{line[:-2]}\n" for line in lines)
        self._out.write("\n".join(map(printable, text.split("\n"))) if self._clean else text)
        self._out.flush()  # a program that feeds us through a pipe may wait for the answer


class JsonLines(Table):
    """An object for every row."""

    fixed = False

    def __init__(self, columns: AnswerColumns, kept: Kept, out: IO[str]) -> None:
        super().__init__(columns, kept)
        self._out = out
        members = ("predicted", "proba", "top", "reason")
        self.own = [f"{kept.prefix}{name}" for name in members]

    def objects(self, batch: AnswerBatch) -> Iterable[dict[str, Any]]:
        """The rows of a batch."""
        prefix = self._kept.prefix
        for record, answer in zip(batch.records, batch.answers, strict=True):
            fields = dict(record)
            if self._kept.ids:
                fields = {name: record.get(name) for name in self._kept.ids}
            yield fields | {
                f"{prefix}{name}": value for name, value in self.columns.members(answer).items()
            }

    def write(self, batch: AnswerBatch) -> None:
        self._out.writelines(f"{_json(row)}\n" for row in self.objects(batch))
        self._out.flush()


_WRITTEN = {str, int, float, type(None)}
"""What a CSV writer writes as :func:`cell_of` does, but for NaN."""


def _cells(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """The cells of a column, for a CSV writer."""
    kinds = set(map(type, values))
    if kinds <= _WRITTEN and not (float in kinds and any(value != value for value in values)):
        return values
    return [cell_of(name, value) for value in values]


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


def _json(row: Mapping[str, Any]) -> str:
    try:
        return json_line(row)
    except (TypeError, ValueError):  # what JSON does not have
        return json_line({name: _plain(name, value) for name, value in row.items()})


def _plain(name: str, value: Any) -> Any:
    """A value as JSON can hold it: null for NaN and its like."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        raise _binary(name)
    if isinstance(value, dict):
        return {str(key): _plain(name, one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, one) for one in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _binary(name: str) -> DataError:
    return DataError(
        f"the column '{name}' holds binary data, which is no text: write --format parquet, or keep "
        "other columns with --id-col."
    )


SAMPLE = 20_000
"""Rows by which the types of JSON columns are told."""
GROUP = 1 << 16
"""Rows of a row group; also the most that are in memory."""


class Parquet(Table):
    """A Parquet file, written in groups of rows.

    Columns of Arrow and Parquet files keep their types, those of CSV are texts, and those of JSON
    have the types of their first values.
    """

    def __init__(self, columns: AnswerColumns, kept: Kept, out: IO[bytes]) -> None:
        super().__init__(columns, kept)
        self._arrow = pyarrow("Parquet")
        self._out = out
        self._waiting: list[AnswerBatch] = []
        self._sampled = 0
        self._group: list[Any] = []
        self._writer: Any = None
        self._schema: Any = None
        self._first = 1

    def write(self, batch: AnswerBatch) -> None:
        self._waiting.append(batch)
        self._sampled += len(batch.answers)
        known = self._schema is not None or None not in self.input.values()
        if not known and self._sampled < SAMPLE:
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
            records = [record for batch in self._waiting for record in batch.records]
            fields = {
                name: self._type(kind, [record.get(name) for record in records])
                for name, kind in self.input.items()
            }
            self._schema = self._arrow.schema([*fields.items(), *self._own().items()])
        for batch in self._waiting:
            cells = zip(*map(self.columns.cells, batch.answers), strict=True)
            columns = [[record.get(name) for record in batch.records] for name in self.input]
            columns += [list(column) for column in cells]
            arrays = map(self._array, self._schema, columns)
            self._group.append(self._arrow.record_batch(list(arrays), schema=self._schema))
            self._first += len(batch.answers)
        self._waiting = []

    def _flush(self) -> None:
        if self._writer is None:
            from pyarrow.parquet import ParquetWriter

            self._writer = ParquetWriter(self._out, self._schema)
        if self._group:
            self._writer.write_table(self._arrow.Table.from_batches(self._group))
        self._group = []

    def _own(self) -> dict[str, Any]:
        """The types of the answers' columns."""
        arrow = self._arrow
        types = {str: arrow.string(), float: arrow.float64(), list: arrow.list_(arrow.string())}
        kinds = [types[kind] for kind in self.columns.kinds.values()]
        return dict(zip(self.own, kinds, strict=True))

    def _type(self, kind: Any, values: Iterable[Any]) -> Any:
        """The type of a column: its own, or that of its first values; texts where there is none."""
        arrow = self._arrow
        if kind is not None:
            return arrow.string() if kind is str else kind
        present = [value for value in values if value is not None]
        kinds = {type(value) for value in present}
        if kinds <= {bool}:
            return arrow.bool_() if kinds else arrow.string()
        if kinds <= {str}:
            return arrow.string()
        try:
            return arrow.float64() if kinds == {int, float} else arrow.array(present).type
        except (arrow.ArrowException, OverflowError):  # of several kinds: as JSON
            return arrow.string()

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


def form_of(form: str | None, out: str | None) -> str:
    """The format to write: as asked for, or by the ending of a file's name, else lines.

    Raises UsageError where they contradict each other, or the ending is no known one.
    """
    if out is None:
        return form or "lines"
    packing = packing_of_name(out)
    name = out.lower() if packing is None else out.lower().removesuffix(packing.ending)
    ending = PurePath(name).suffix
    told = next((known for known, endings in ENDINGS.items() if ending in endings), None)
    if form is None and told is None:
        known = ", ".join(endings[0] for endings in ENDINGS.values())
        raise UsageError(
            f"-o {out}: no format has the ending '{ending}': name one with --format, or end the "
            f"name with one of {known}."
        )
    if form is not None and told not in (None, form):
        raise UsageError(
            f"--format {form} does not fit the name {out}, which has the ending of {told}: leave "
            "out --format, or name another file."
        )
    chosen = form or told or ""
    if chosen == "parquet" and packing is not None:
        raise UsageError(f"-o {out}: Parquet is compressed already: leave out {packing.ending}.")
    return chosen


@contextmanager
def opened_text(file: IO[bytes], name: str) -> Iterator[IO[str]]:
    """A file to write UTF-8 text to, compressed as its name says."""
    packing = packing_of_name(name)
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
    if name == "gzip":
        from gzip import GzipFile

        return GzipFile("", "wb", fileobj=file, mtime=0)  # equal answers make equal files
    if name == "bzip2":
        from bz2 import BZ2File

        return BZ2File(file, "wb")
    if name == "xz":
        from lzma import LZMAFile

        return LZMAFile(file, "wb")
    module = zstd()
    return module.ZstdFile(file, "wb", options={module.CompressionParameter.checksum_flag: 1})
