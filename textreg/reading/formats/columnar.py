"""Parquet and Arrow files, read by pyarrow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from os import SEEK_END
from typing import IO, Any, ClassVar

from textreg.errors import DataError, UsageError
from textreg.files import check_unpacked
from textreg.reading.columns import Row, TableColumns
from textreg.reading.formats.lines import Format
from textreg.reading.source import Source, UnusableRow

ROWS = 1000
"""Rows that are turned into Python's values at a time."""


def pyarrow(what: str) -> Any:
    """The module; UsageError where it is not installed and ``what`` needs it."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError(
            f"{what} needs pyarrow, which is not installed: pip install 'textreg[arrow]'"
        ) from None
    return pyarrow


def records(batch: Any, names: list[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of a record batch, with these names of columns."""
    for start in range(0, batch.num_rows, ROWS):
        part = batch.slice(start, ROWS)
        columns = [values(column) for column in part.columns]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def values(column: Any) -> list[Any]:
    """The values of a column as Python's: texts for times and decimal numbers, which JSON has not.

    Bytes take the place of a text that is not UTF-8.
    """
    arrow = pyarrow("Arrow")
    types = arrow.types
    if isinstance(column, (arrow.ExtensionArray, arrow.lib.BaseExtensionType)):
        column = column.storage
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_duration(column.type):
        column = column.cast(arrow.int64())
    elif types.is_temporal(column.type) or types.is_decimal(column.type):
        column = column.cast(arrow.string())
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_text(value) for value in column.cast(arrow.binary()).to_pylist()]


def _text(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


class Columnar(Format):
    """A table whose columns have types, read in batches of rows."""

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        arrow = pyarrow(f"{source.name}: reading {self.title}")
        number = 0
        try:
            with source.file() as file:
                for record in self._records(source.name, file, columns):
                    number += 1
                    try:
                        yield columns.row(number, record)
                    except UnusableRow as problem:
                        yield problem.at(number)
        except (arrow.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
            # Where it is damaged, a file may ask for any amount of memory, and have any names.
            after = f" after record {number:,}" if number else ""
            what = str(error).strip().split("\n")[0].rstrip(".") or "out of memory"
            raise DataError(
                f"{source.name}: the {self.title} data is damaged{after} ({what}). Copy or "
                "download the file again."
            ) from None

    def _records(
        self, name: str, file: IO[bytes], columns: TableColumns
    ) -> Iterator[Mapping[str, Any]]:
        """All rows of a file."""
        size = file.seek(0, SEEK_END)
        file.seek(0)
        reader = self.reader(file)
        schema = self.schema(reader)
        columns.find(schema.names, name)
        columns.types = dict(zip(columns.names, schema.types, strict=True))
        # A nested column may be meant where a name has a dot.
        some = None if columns.keeps or any("." in one for one in columns.used) else columns.used
        unpacked = 0
        for batch in self.batches(reader, some):
            unpacked += batch.nbytes
            check_unpacked(unpacked, size, lambda: name)
            yield from records(batch, columns.names if some is None else batch.schema.names)

    @abstractmethod
    def reader(self, file: IO[bytes]) -> Any:
        """What pyarrow reads the file with."""

    @abstractmethod
    def schema(self, reader: Any) -> Any:
        """The names and types of the columns."""

    @abstractmethod
    def batches(self, reader: Any, some: list[str] | None) -> Iterator[Any]:
        """The record batches of the file, or only some columns of them."""


class Parquet(Columnar):
    """Columns with types, in groups of rows, as Apache Parquet writes them."""

    name = "parquet"
    title = "Parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    magic = b"PAR1"

    def reader(self, file: IO[bytes]) -> Any:
        from pyarrow.parquet import ParquetFile

        # A row group may be as large as the file: it is read in pieces.
        return ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)

    def schema(self, reader: Any) -> Any:
        return reader.schema_arrow

    def batches(self, reader: Any, some: list[str] | None) -> Iterator[Any]:
        yield from reader.iter_batches(batch_size=ROWS, columns=some)


class Arrow(Columnar):
    """The file format of Arrow, which is Feather's as well."""

    name = "arrow"
    title = "Arrow"
    endings: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")
    magic = b"ARROW1"

    def reader(self, file: IO[bytes]) -> Any:
        from pyarrow.ipc import open_file

        return open_file(file)

    def schema(self, reader: Any) -> Any:
        return reader.schema

    def batches(self, reader: Any, some: list[str] | None) -> Iterator[Any]:
        for number in range(reader.num_record_batches):
            yield _checked(reader.get_batch(number), some)


class ArrowStream(Arrow):
    """Arrow's format for streams, in which the datasets of Hugging Face are kept."""

    name = "arrow stream"
    endings: ClassVar[tuple[str, ...]] = (".arrows",)
    magic = b"\xff\xff\xff\xff"

    def reader(self, file: IO[bytes]) -> Any:
        from pyarrow.ipc import open_stream

        return open_stream(file)

    def batches(self, reader: Any, some: list[str] | None) -> Iterator[Any]:
        for batch in reader:
            yield _checked(batch, some)


def _checked(batch: Any, some: list[str] | None) -> Any:
    """A batch, or some columns of it, whose offsets lead nowhere else, which ends the process."""
    chosen = batch if some is None else batch.select(some)
    chosen.validate(full=True)
    return chosen
