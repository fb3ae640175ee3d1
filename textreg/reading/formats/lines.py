"""What a file format is; and formats of lines: CSV and TSV, fastText's, and plain text."""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from textreg.errors import DataError, FaultsError, UsageError
from textreg.files import MAX_LINE, limit, too_long
from textreg.reading.columns import Row, TableColumns
from textreg.reading.source import Lines, NotDecodable, Source, UnusableRow

if TYPE_CHECKING:
    from _csv import Reader as CsvReader


class Format(ABC):
    """A format of files that hold documents; all of them stand in ``formats.FORMATS``.

    A text format reads ``source.lines``; a binary one has a ``magic`` number and reads
    ``source.chunks()``. Help texts, messages and the documentation take what they say about the
    format from the attributes of the class.

    Attributes
    ----------
    name : str
        Short name, shown beside the number of documents read.
    title : str
        Name for help texts and messages.
    example : str
        What a file looks like, for the message about an unknown format.
    endings : tuple of str
        Endings of file names, in lower case and without ``.gz``.
    magic : bytes
        The first bytes of every file; empty for a text format.
    labeled : bool
        Whether documents can have labels.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    example: ClassVar[str] = ""
    endings: ClassVar[tuple[str, ...]] = ()
    magic: ClassVar[bytes] = b""
    labeled: ClassVar[bool] = True

    def begins(self, source: Source) -> bool:
        """Whether a file is in this format by its first bytes, ``source.head``."""
        return bool(self.magic) and source.head.startswith(self.magic)

    def fits(self, source: Source, columns: TableColumns) -> bool:
        """Whether a text whose name does not tell is in this format, by ``source.lines.first``."""
        return False

    @abstractmethod
    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        """The documents, one after the other; for each that cannot be used, what is wrong with it.

        A format with columns calls ``columns.find`` with their names, then ``columns.row`` for
        every record; one without calls ``columns.refuse``. What is wrong is given with its line:
        ``problem.at(line)``. What hides an unknown number of rows is a DataError.
        Texts are not changed; a blank line is no document.
        """


TAB = "\t"
DELIMITERS = f",;{TAB}|"

_QUOTING = 'Put the field in quotes, and write a quote inside it twice ("")'
_LINE_ENDS = "Put the field in quotes; if all lines end so, save the file as CSV UTF-8"


class Csv(Format):
    """A header and rows, with commas, semicolons, tabs or bars between the fields."""

    name = "csv"
    title = "CSV"
    example = "with a header: label,text"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return columns.numbered or _is_header(source.lines.first, columns)

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        lines = source.lines
        titles = columns.titles(
            lines.ahead(), lambda line, header: _cells(line, self.delimiter(header))
        )
        header = next(islice(lines.ahead(), titles, None)) if titles else lines.first
        delimiter = self.delimiter(header)
        names: Sequence[str] = ()
        for start, fields in self._records(lines, delimiter, columns, titles):
            if isinstance(fields, UnusableRow):
                yield fields.at(start)
                continue
            if not names:
                names = _names(fields, columns, lines.at(start))
                columns.types = dict.fromkeys(columns.names, str)
                columns.header = start if titles else 0
                if names is fields:
                    continue
            if len(fields) != len(names):
                between = "a tab" if delimiter == TAB else repr(delimiter)
                problem = UnusableRow(
                    f"the number of columns is {len(fields)}, and {len(names)} in the first row.",
                    f"Put quotes around a text that contains {between}",
                    "another number of columns",
                )
                yield problem.at(start, dict(zip(columns.names, fields, strict=False)))
                continue
            yield columns.row(start, dict(zip(columns.names, fields, strict=True)))

    def delimiter(self, header: str) -> str:
        """What stands between the fields: the character that cuts the header into most."""
        return max(DELIMITERS, key=lambda delimiter: len(_cells(header, delimiter)))

    def _records(
        self, lines: Lines, delimiter: str, columns: TableColumns, titles: int
    ) -> Iterator[tuple[int, list[str] | UnusableRow]]:
        """The line where each record begins, and its fields, or what is wrong with it.

        So many lines are ``titles`` above the header.
        """
        bounded = _Bounded(lines)
        for _ in range(titles):
            next(bounded)
        quote = ""
        reader = _reader(bounded, delimiter, strict=True)
        header = True
        while True:
            if not quote and (quote := _quote_of(bounded.peek(), delimiter, columns.names)):
                reader = _reader(bounded, delimiter, strict=True, quote=quote)
            start = bounded.given + 1
            bounded.size = 0
            where = lines.at(start)
            problem: UnusableRow | None
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                bare_return = "new-line character" in str(error)
                reason = "a carriage return outside quotes" if bare_return else str(error)
                what = f"not valid {'TSV' if delimiter == TAB else 'CSV'} ({reason})."
                if bounded.given > start and not bare_return:
                    # Whole rows may lie inside, and skipping them would not count them.
                    raise DataError(
                        f"{where}: {what} It takes in the lines up to {bounded.given}: probably "
                        f"a quote is open. {_QUOTING}."
                    ) from None
                remedy = _LINE_ENDS if bare_return else _QUOTING
                problem = lines.damage() or UnusableRow(what, remedy, f"not valid {self.title}")
            else:
                problem = lines.damage()
                if problem is None:
                    if fields:
                        header = False
                        yield start, fields
                    continue
                problem.record = dict(zip(columns.names, fields, strict=False))
            if header:
                likely = problem.likely if isinstance(problem, NotDecodable) else None
                raise FaultsError(
                    f"{where}: {problem} This row should name the columns. {problem.remedy}.",
                    {"encoding": likely} if likely else {},
                )
            yield start, problem


_QUOTED = re.compile("'(?:[^']|'')*'")
_NUMBER = re.compile(r"\s*[-+\d.][-+\d.,eE%:]*\s*|")


def _quote_of(line: str, delimiter: str, names: Sequence[str]) -> str:
    """The quote that stands around fields: ``"``, or ``'``; empty if this line does not decide.

    The first line decides that has either at the beginning of a field; lines before it are the
    same both ways. Texts begin with an apostrophe as well, so one is a quote only where the line
    has another number of fields otherwise, where it is doubled inside of a field, or where at
    least two fields have it, and all others are numbers. names: of the columns; none in a header.
    """
    if '"' in line:
        return '"'
    if "'" not in line or not re.search(f"(?:^|{re.escape(delimiter)})'", line):
        return ""
    if len(line) > 65536:
        return '"'
    plain = line.split(delimiter)
    try:
        fields = next(_reader([line], delimiter, strict=True, quote="'"))
    except csv.Error:
        return '"'
    if names and len(fields) != len(names):
        return '"'
    if names and len(plain) != len(names):
        return "'"
    quoted = [field for field in plain if _QUOTED.fullmatch(field)]
    unquoted = (field for field in plain if not _QUOTED.fullmatch(field))
    doubled = any("''" in field[1:-1] for field in quoted)
    only = doubled or (len(quoted) > 1 and all(map(_NUMBER.fullmatch, unquoted)))
    return "'" if only else '"'


class _Bounded:
    """Lines for the CSV reader; DataError where a record has more text than is allowed.

    An open quote can take in a whole file.
    """

    def __init__(self, lines: Lines) -> None:
        self.size = 0
        self.given = 0
        self._ahead: str | None = None
        self._lines = lines
        self._given = iter(lines)
        self._most = limit(MAX_LINE)

    def __iter__(self) -> Iterator[str]:
        return self

    def peek(self) -> str:
        """The next line, which is given again; empty at the end."""
        self._ahead = next(self._given, None)
        return self._ahead or ""

    def __next__(self) -> str:
        line = next(self._given) if self._ahead is None else self._ahead
        self._ahead = None
        self.given += 1
        self.size += len(line)
        if self.size > self._most:
            problem, fix = too_long("the record that ends here")
            where = self._lines.at(self._lines.number)
            raise DataError(f"{where}: {problem} Probably a quote is open. {fix}.")
        return f"{line}\n"


class Tsv(Csv):
    """CSV with tabs between the fields."""

    name = "tsv"
    title = "TSV"
    example = "the same with tabs"
    endings = (".tsv", ".tab")

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return False  # a table without an ending is CSV, whose delimiter may be a tab

    def delimiter(self, header: str) -> str:
        return TAB


def _names(fields: list[str], columns: TableColumns, where: str) -> list[str]:
    """Names of the columns: ``fields`` itself if that is the header, else the numbers from 1."""
    if columns.numbered and not columns.fit(fields):
        if TableColumns(labeled=columns.labeled).fit(fields):
            raise UsageError(
                f"{where}: the columns have names ({', '.join(fields)}). Give those, as in "
                "--text-col NAME; numbers are for files without a header."
            )
        names = [str(number) for number in range(1, len(fields) + 1)]
        columns.find(names, where)
        return names
    try:
        columns.find(fields, where)
    except DataError as error:
        if columns.fit(fields):
            raise
        raise DataError(
            f"{error} If the file has no header, give it one such as label,text, or name the "
            "columns by number: --text-col 2 --label-col 1."
        ) from None
    return fields


def _reader(lines: Iterable[str], delimiter: str, *, strict: bool, quote: str = '"') -> CsvReader:
    # The limit belongs to the whole process; a document may well be longer than its 128 KiB.
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=strict)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(_reader([line], delimiter, strict=False), [])
    except csv.Error:
        return []


def _is_header(line: str, columns: TableColumns) -> bool:
    """Whether a line of unknown format is the header of a table with the needed columns.

    Prose has commas as well: unless columns were asked for, a header has two cells or more, each a
    single word.
    """
    cells = _cells(line, Csv().delimiter(line))
    if not columns.fit(cells):
        return False
    words = len(cells) > 1 and not any(re.search(r"\s", cell.strip()) for cell in cells)
    return columns.wanted["text"] is not None or columns.labeled or words


_LABEL = re.compile(r"(?<!\S)__label__(\S*)\s?")


def by_line(
    lines: Lines, document: Callable[[str], Row | UnusableRow | None]
) -> Iterator[Row | UnusableRow]:
    """The documents of the lines that have one; for each that cannot be used, what is wrong."""
    for line in lines:
        try:
            if damage := lines.damage():
                raise damage
            if (row := document(line)) is not None:
                yield row
        except UnusableRow as problem:
            yield problem.at(lines.number)


class LineFormat(Format):
    """A document on every line, without columns."""

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        columns.refuse(source.name, self.title)
        lines = source.lines
        yield from by_line(
            lines, lambda line: self.document(line.removesuffix("\r"), columns, lines.number)
        )

    @abstractmethod
    def document(self, line: str, columns: TableColumns, number: int) -> Row | None:
        """The document on a line; None if there is none."""


class FastText(LineFormat):
    """A line is a text, and its labels are the words of it that begin with ``__label__``."""

    name = "fasttext"
    title = "fastText"
    example = "__label__good ..."

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return bool(_LABEL.match(source.lines.first))

    def document(self, line: str, columns: TableColumns, number: int) -> Row | None:
        if not line or line.isspace():
            return None
        labels = _LABEL.findall(line)
        text = _LABEL.sub("", line)
        record = {"label": " ".join(labels), "text": text} if columns.keeps else {}
        if columns.multilabel:
            unique = tuple(dict.fromkeys(filter(None, labels)))
            return Row(text, unique, 1.0, number, record=record)
        label = labels[0] if len(labels) == 1 else None
        if columns.labeled and not label:
            if len(labels) > 1:
                raise UnusableRow(
                    f"{len(labels)} labels ({', '.join(labels[:3])}); a document has one here.",
                    "Keep one of them, or pass --task multilabel",
                    "more than one label",
                )
            raise UnusableRow(
                "label is empty." if labels else "no label (__label__NAME) on this line."
            )
        return Row(text, label or None, 1.0, number, record=record)


class PlainText(LineFormat):
    """A line is a text without a label; blank lines are empty texts."""

    name = "lines"
    title = "plain text"
    labeled = False

    def fits(self, source: Source, columns: TableColumns) -> bool:
        return source.ending == ".txt" and not columns.labeled

    def document(self, line: str, columns: TableColumns, number: int) -> Row:
        return Row(line, None, 1.0, number)
