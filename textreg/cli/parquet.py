"""Answers as Parquet, by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import IO, Any

from textreg.cli.answers import AnswerBatch, AnswerColumns
from textreg.cli.tables import Kept, Table, cell_of
from textreg.errors import DataError
from textreg.reading.arrow import pyarrow

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
