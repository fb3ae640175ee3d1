"""Files of records with named fields: JSON, JSON lines, Arrow and Parquet."""

from __future__ import annotations

import json
import re
import struct
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import BytesIO
from itertools import islice
from os import SEEK_CUR, SEEK_END
from typing import IO, Any, ClassVar, NamedTuple, TypeVar

from textreg.errors import DataError, TextregError
from textreg.files import MAX_LINE, check_unpacked, limit, needed, too_long
from textreg.reading.columns import Row, TableColumns
from textreg.reading.formats.lines import Format, by_line
from textreg.reading.source import NotDecodable, Source, UnusableRow, keeps_ascii
from textreg.records.documents import FieldedText

_T = TypeVar("_T")

Check = Callable[[int], None]

# Rows that are turned into Python's values at a time, and bytes: twice as many rows gain nothing.
ROWS, PORTION = 1000, 1 << 24


def pyarrow(what: str) -> Any:
    """The module; UsageError where it is not installed and ``what`` needs it."""
    return needed("pyarrow", what, "arrow")


def records(batch: Any, names: list[str]) -> Iterator[Mapping[str, Any] | UnusableRow]:
    """The rows of a record batch, with these names of columns; what is wrong with longer ones."""
    start, rows, most = 0, ROWS, limit(MAX_LINE)
    while start < batch.num_rows:
        part = batch.slice(start, rows)
        size = sum(map(decoded, part.columns))
        if size > PORTION and part.num_rows > 1:
            rows = part.num_rows // 2
            continue
        start, rows = start + part.num_rows, min(2 * rows, ROWS)
        if size > most and part.num_rows == 1:
            yield UnusableRow(*too_long("the record"))
            continue
        columns = [values(column) for column in part.columns]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def decoded(column: Any) -> int:
    """The bytes of the values of a column, each by itself; a dictionary has a text once for all."""
    column = getattr(column, "storage", column)
    types, kind = pyarrow("Arrow").types, column.type
    if types.is_dictionary(kind):
        lengths = lengths_in(column.dictionary)
        return lengths.take(column.indices).sum().as_py() or 0
    if types.is_struct(kind):
        return sum(map(decoded, column.flatten()))
    if types.is_fixed_size_list(kind):
        return decoded(column.flatten())
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return decoded(column.values.slice(first, last - first))
    shared = types.is_run_end_encoded(kind) or "view" in str(kind)
    return int(column.nbytes) * (len(column) if shared else 1)


def lengths_in(dictionary: Any) -> Any:
    """The bytes of every value of a dictionary, as an array; of no text at most as many."""
    import pyarrow
    from pyarrow import compute

    try:
        return compute.cast(compute.binary_length(dictionary), pyarrow.int64())
    except pyarrow.ArrowNotImplementedError:
        fixed = pyarrow.types.is_primitive(dictionary.type)
        return pyarrow.array([8 if fixed else decoded(dictionary)] * len(dictionary))


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
                for number, record in enumerate(self._records(source.name, file, columns), 1):
                    if isinstance(record, UnusableRow):
                        yield record.at(number)
                    else:
                        yield columns.row(number, record)
        except (
            arrow.ArrowException,
            OSError,
            UnicodeDecodeError,
            MemoryError,
            OverflowError,
            struct.error,
        ) as error:
            # Where it is damaged, a file may ask for any amount of memory, and have any names.
            after = f" after record {number:,}" if number else ""
            what = str(error).strip().split("\n")[0].rstrip(".") or "out of memory"
            raise DataError(
                f"{source.name}: the {self.title} data is damaged{after} ({what}). Copy or "
                "download the file again."
            ) from None

    def _records(
        self, name: str, file: IO[bytes], columns: TableColumns
    ) -> Iterator[Mapping[str, Any] | UnusableRow]:
        """All rows of a file."""
        size = file.seek(0, SEEK_END)
        file.seek(0)
        reader = self.reader(file)
        schema = reader.schema_arrow if self.magic == Parquet.magic else reader.schema
        columns.find(schema.names, name)
        columns.types = dict(zip(columns.names, schema.types, strict=True))
        # A nested column may be meant where a name has a dot.
        used = None if columns.keeps or any("." in col for col in columns.used) else columns.used

        def check(unpacked: int) -> None:
            check_unpacked(unpacked, size, lambda: name)

        unpacked = 0
        for batch in self.batches(file, used, check):
            unpacked += batch.num_rows + sum(map(decoded, batch.columns))
            check(unpacked)
            yield from records(batch, columns.names if used is None else batch.schema.names)

    @abstractmethod
    def reader(self, file: IO[bytes]) -> Any:
        """What pyarrow reads the file with."""

    @abstractmethod
    def batches(self, file: IO[bytes], used: list[str] | None, check: Check) -> Iterator[Any]:
        """The record batches of the file, or only some columns of them.

        check: called first with the bytes that compressed data says it unpacks to.
        """


class Parquet(Columnar):
    """Columns with types, in groups of rows, as Apache Parquet writes them."""

    name = "parquet"
    title = "Parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    magic = b"PAR1"

    def reader(self, file: IO[bytes], **how: Any) -> Any:
        from pyarrow.parquet import ParquetFile

        # A row group may be as large as the file: it is read in pieces.
        return ParquetFile(file, buffer_size=1 << 20, pre_buffer=False, **how)

    def batches(self, file: IO[bytes], used: list[str] | None, check: Check) -> Iterator[Any]:
        groups = [
            [(column.path, list(pages(file, column))) for column in group]
            for group in column_chunks(file)
        ]
        check(sum(size for group in groups for _, page_sizes in group for size, _ in page_sizes))
        parquet = self.reader(file)
        if len(groups) != parquet.num_row_groups:
            raise struct.error("its structure is none of Parquet")
        leaves = [parquet.schema.column(at) for at in range(len(parquet.schema))]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        reader = cache(lambda *paths: self.reader(file, read_dictionary=paths))
        for number, group in enumerate(groups):
            shared, size = list[str](), 1 + sum(max(0, leaf.length) for leaf in leaves)
            nested = [path for path in texts if "." in path]
            # What a row may have: of values that begin like the last one, one as long as all of a
            # page; and the longest of a dictionary, all of which comes with the first row.
            for path, page_sizes in group:
                alike = [length for length, kind in page_sizes if kind == _PREFIXES]
                size += max(alike, default=0)
                if path in texts and any(kind in _SHARED for _, kind in page_sizes):
                    shared.append(path)
                if alike and path in nested:
                    nested.remove(path)  # pyarrow makes no dictionary of these
            for batch in islice(reader(*shared).iter_batches(1, [number], used), 1):
                dictionaries = [it.dictionary for it in batch.columns if hasattr(it, "dictionary")]
                size += sum(max(lengths_in(it).to_pylist(), default=0) for it in dictionaries)
            rows = max(1, min(ROWS, PORTION // size))
            yield from reader(*nested).iter_batches(rows, [number], used)


class ColumnChunk(NamedTuple):
    """A column of a row group: where its pages are, and how many values they hold."""

    path: str
    start: int
    end: int
    values: int


def column_chunks(file: IO[bytes]) -> list[list[ColumnChunk]]:
    """What the footer says of the columns of every row group.

    pyarrow is not asked: of a damaged column it ends the process.
    """
    file.seek(-8, SEEK_END)
    size = _number("<I", file.read(4))
    file.seek(-8 - size, SEEK_END)
    groups = _part(_thrift(BytesIO(file.read(size))), 4, list)
    return [[_chunk(_part(it, 3, dict)) for it in _part(group, 1, list)] for group in groups]


def _chunk(fields: dict[int, Any]) -> ColumnChunk:
    path = b".".join(part for part in _part(fields, 3, list) if isinstance(part, bytes)).decode()
    start, dictionary = _part(fields, 9, int), _part(fields, 11, int)
    start = min(start, dictionary or start)
    return ColumnChunk(path, max(0, start), start + _part(fields, 7, int), _part(fields, 5, int))


def pages(file: IO[bytes], column: ColumnChunk) -> Iterator[tuple[int, int]]:
    """The bytes that every page of a column may unpack to, and the encoding of its values."""
    left = column.values
    file.seek(column.start)
    while left > 0 and file.tell() < column.end:
        head = _thrift(file)
        part, encoding = {0: (5, 2), 3: (8, 4)}.get(_part(head, 1, int), (0, 0))  # both versions
        page, size = _part(head, part, dict), max(0, _part(head, 2, int))
        count, kind = _part(page, 1, int), _part(page, encoding, int)
        # A list may have all values, and each of them begin like one as long as the page.
        yield size * max(1, count if kind == _PREFIXES and "." in column.path else 1), kind
        left -= count
        file.seek(max(0, _part(head, 3, int)), SEEK_CUR)


def _part(fields: Any, number: int, kind: type[_T]) -> _T:
    """What a struct holds in a field; if that is of another kind, or missing, an empty one."""
    value = fields.get(number) if isinstance(fields, dict) else None
    return value if isinstance(value, kind) else kind()


def _thrift(file: IO[bytes], kind: int = 12, levels: int = 12) -> Any:
    """A value in Thrift's compact protocol; of a struct the fields by their numbers."""
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        value = _varint(file)
        return value >> 1 ^ -(value & 1)
    if kind in (3, 7, 8):
        size = {3: 1, 7: 8}.get(kind) or _varint(file)
        return struct.unpack(f"{size}s", file.read(size))[0]
    if kind in (9, 10) and levels:
        head = _number("<B", file.read(1))
        kind = max(3, head & 15)  # a truth value in a list is a byte
        size = head >> 4 if head >> 4 < 15 else _varint(file)
        return [_thrift(file, kind, levels - 1) for _ in range(size)]
    if kind != 12 or not levels:
        raise struct.error("its structure is none of Parquet")
    fields, number = dict[int, Any](), 0
    while head := _number("<B", file.read(1)):
        number = number + (head >> 4) if head >> 4 else _varint(file) // 2
        fields[number] = _thrift(file, head & 15, levels - 1)
    return fields


def _varint(file: IO[bytes]) -> int:
    """A number of 7 bits in each byte, the lowest first, as long as the eighth is set."""
    value = 0
    for shift in range(0, 63, 7):
        byte = _number("<B", file.read(1))
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise struct.error("a number is too long")


# Encodings of values: by a dictionary, in two versions; as a beginning of the last one and what
# follows (DELTA_BYTE_ARRAY).
_SHARED, _PREFIXES = (2, 8), 7


class Arrow(Columnar):
    """The file format of Arrow, which is Feather's as well."""

    name = "arrow"
    title = "Arrow"
    endings: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")
    magic, start = b"ARROW1", 8

    def reader(self, file: IO[bytes]) -> Any:
        from pyarrow.ipc import open_file, open_stream

        if self.start:
            open_file(file)  # refuses what is cut off
        file.seek(self.start)  # a file has a stream in it, whose sizes are known
        return open_stream(file)

    def batches(self, file: IO[bytes], used: list[str] | None, check: Check) -> Iterator[Any]:
        file.seek(self.start)
        check(sum(_unpacked_of_messages(file)))
        for batch in self.reader(file):
            selected = batch if used is None else batch.select(used)
            selected.validate(full=True)  # offsets that lead elsewhere would end the process
            yield selected


class ArrowStream(Arrow):
    """Arrow's format for streams, in which the datasets of Hugging Face are kept."""

    name = "arrow stream"
    endings: ClassVar[tuple[str, ...]] = (".arrows",)
    magic, start = b"\xff\xff\xff\xff", 0


def _unpacked_of_messages(file: IO[bytes]) -> Iterator[int]:
    """The bytes that every compressed buffer of an Arrow stream says it unpacks to.

    A message is its length, a table of flatbuffers, and a body; a buffer begins with its size.
    """
    while size := _number("<i", file.read(4) or bytes(4)):
        message = file.read(_number("<i", file.read(4)) if size == -1 else size)
        if not message:
            return
        body, root = file.tell(), _number("<I", message)
        kind, header = (_field(message, root, number) for number in (1, 2))
        batch = header + _number("<I", message, header)
        form = _number("<B", message, kind) if kind else 0
        if form == _DICTIONARY:
            batch = _field(message, batch, 1)
            batch += _number("<I", message, batch)
        packed = b"experimental_compression" in message or _field(message, batch, 3)
        if form in (_DICTIONARY, _BATCH) and packed:
            at = _field(message, batch, 2)
            at += _number("<I", message, at)
            buffers = message[at + 4 : at + 4 + 16 * _number("<I", message, at)]
            for offset, length in struct.iter_unpack("<qq", buffers):
                file.seek(body + max(0, offset))
                yield max(0, _number("<q", file.read(8))) if length else 0
        length = _field(message, root, 3)
        file.seek(body + max(0, _number("<q", message, length) if length else 0))


# What the header of a message is.
_DICTIONARY, _BATCH = 2, 3


def _number(form: str, data: bytes, at: int = 0) -> int:
    return int(struct.unpack_from(form, data, at)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a table of flatbuffers is; 0 if it is not there."""
    fields = table - _number("<i", data, table)
    at = fields + 4 + 2 * number
    offset = _number("<H", data, at) if at < fields + _number("<H", data, fields) else 0
    return table + offset if offset else 0


_BEGINS = re.compile(r'\s*(\{\s*["}]|\[\s*\{)')


class JsonLines(Format):
    """One JSON object a line; its keys are the columns."""

    name = "jsonl"
    title = "JSON lines"
    example = '{"label": "good", "text": "..."}'
    endings = (".jsonl", ".ndjson", ".json")

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return bool(_BEGINS.match(source.lines.first))

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        lines, objects = source.lines, Objects(source.name, columns)
        decode = json.JSONDecoder().decode

        def document(line: str) -> Row | UnusableRow | None:
            if not line or line.isspace():
                return None
            return objects.row(lines.number, line, _value(line, decode))

        yield from by_line(lines, document)
        objects.end()


class Objects:
    """Objects of a file as rows. The first ones may lack columns that the next ones have."""

    def __init__(self, name: str, columns: TableColumns) -> None:
        self._name = name
        self._columns = columns
        self._unknown: TextregError | None = None

    def row(self, number: int, raw: str, record: Any) -> Row | UnusableRow:
        """The document of an object, or what is wrong with it.

        number: of its line or record. raw: how it is written.
        """
        if not isinstance(record, dict):
            what = 'not a JSON object such as {"label": "good", "text": "..."}.'
            return UnusableRow(what, reason="not a JSON object").at(number)
        columns, where = self._columns, f"{self._name}:{number}"
        try:
            if not columns.chosen:
                columns.find(list(record), where)
            row = columns.row(number, record)
        except TextregError as error:
            self._unknown = self._unknown or error
            what = str(error).removeprefix(f"{where}: ")
            problem = UnusableRow(what, reason="a column is missing")
            problem.error = error
            return problem.at(number, record)
        if isinstance(row, Row) and ("\\ud" in raw or "\\uD" in raw):
            return _paired(row)
        return row

    def end(self) -> None:
        """Raise the error of the first record if none had the columns that are needed."""
        if self._unknown is not None and not self._columns.chosen:
            raise self._unknown


def _value(line: str, decode: Callable[[str], Any]) -> Any:
    what, reason = "JSON with a number of thousands of digits, or nested too deep.", ""
    try:
        if not isinstance(value := decode(line), list):
            return value
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg}, character {error.colno})."
        reason = "not valid JSON"
    except (ValueError, RecursionError):
        pass
    if line.lstrip().startswith("["):
        what = "a JSON array, where every line should be one object."
        remedy = "Give the file a name that ends in .json, or write one object a line (jq -c '.[]')"
        raise UnusableRow(what, remedy)
    raise UnusableRow(what, reason=reason)


def _paired(row: Row) -> Row:
    """U+FFFD for every half of a surrogate pair: JSON can hold one, but no UTF-8 file can."""

    def paired(part: str) -> str:
        return part.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    label = row.label
    if label is not None:
        label = tuple(map(paired, label)) if isinstance(label, tuple) else paired(label)
    text = row.text
    if isinstance(text, FieldedText):
        text = FieldedText.of({name: paired(text.field(name)) for name in text.spans})
    else:
        text = paired(text)
    return row._replace(text=text, label=label)


_ARRAY_BEGINS = re.compile(r"\ufeff?\s*\[\s*([{\]]|$)")
_BLANK = re.compile(r"[ \t\n\r]*")
_ESCAPED = re.compile("[\udc80-\udcff]")
# Endings of files whose first line may well begin as an array does.
_OTHERS = {".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".txt"}


class JsonArray(Format):
    """A list of objects, whose keys are the columns."""

    name = "json"
    title = "JSON arrays"
    example = '[{"label": "good", "text": "..."}]'
    endings: ClassVar[tuple[str, ...]] = (".json",)

    def begins(self, source: Source) -> bool:
        head = source.head.decode(source.encoding, "ignore")
        return source.ending not in _OTHERS and bool(_ARRAY_BEGINS.match(head))

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        objects = Objects(source.name, columns)
        for number, raw, value in _elements(source):
            if _ESCAPED.search(raw):
                yield _undecodable(raw, source.encoding, number).at(number)
            else:
                yield objects.row(number, raw, value)
        objects.end()


def _elements(source: Source) -> Iterator[tuple[int, str, Any]]:
    """The number of every element of an array, how it is written, and its value.

    Bytes that are no text are escaped.
    """
    number, decode, most = 1, json.JSONDecoder().raw_decode, limit(MAX_LINE)

    def broken(what: str) -> DataError:
        return DataError(
            f"{source.name}:{number}: not a valid JSON array ({what}). Nobody knows how many "
            "records come after that: write the file again, or write JSON lines, an object a line."
        )

    try:
        text = b"".join(source.chunks()).decode(source.encoding, "surrogateescape")
    except UnicodeError:
        raise broken("bytes that are no text") from None
    at = _next(text, text.index("[") + 1)
    while text[at : at + 1] != "]":
        try:
            value, end = decode(text, at)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated") or error.pos + 16 >= len(text)
            raise broken("the array has no end" if cut else error.msg) from None
        except (ValueError, RecursionError):
            raise broken("a number of thousands of digits, or nested too deep") from None
        if end - at > most:
            raise DataError(f"{source.name}:{number}: {' '.join(too_long('the record'))}.")
        yield number, text[at:end], value
        at = _next(text, end)
        if text[at : at + 1] == ",":
            number, at = number + 1, _next(text, at + 1)
            if text[at : at + 1] == "]":
                raise broken("Expecting value")
        elif text[at : at + 1] != "]":
            raise broken(", is missing" if at < len(text) else "the array has no end")
    if _next(text, at + 1) < len(text):
        raise broken("there is more after the end of the array")


def _next(text: str, at: int) -> int:
    """Where the next character is that is not blank."""
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]


def _undecodable(raw: str, encoding: str, number: int) -> UnusableRow:
    """A record with bytes that are not text."""
    # A byte that stands for itself is no unit of two or four.
    data = raw.encode(encoding, "surrogateescape" if keeps_ascii(encoding) else "surrogatepass")
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return NotDecodable(encoding, number, data.split(b"\n"), error, unit="record")
    return UnusableRow(f"not valid {encoding.upper()}.")
