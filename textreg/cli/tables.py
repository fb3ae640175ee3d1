"""Tables of answers: CSV, TSV, JSON lines and Parquet, with the columns of the input."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textreg.cli.answers import AnswerBatch, AnswerColumns
from textreg.errors import DataError, UsageError, did_you_mean, first_few, shortened
from textreg.files import csv_lines
from textreg.terminal import json_line, printable

if TYPE_CHECKING:
    from typing import IO

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
