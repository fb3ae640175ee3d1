"""The file formats. To add one, write a class of :class:`Format` and add it to ``FORMATS``."""

from __future__ import annotations

from textreg.errors import DataError
from textreg.files import has_table
from textreg.reading.columns import TableColumns
from textreg.reading.formats.lines import Csv, FastText, Format, PlainText, Tsv
from textreg.reading.formats.records import Arrow, ArrowStream, JsonArray, JsonLines, Parquet
from textreg.reading.formats.workbooks import Workbook
from textreg.reading.source import Source, keeps_ascii, likely_utf16

PLAIN = PlainText()
# All formats, in the order in which their first line is looked at.
FORMATS: tuple[Format, ...] = (
    FastText(),
    PLAIN,
    JsonLines(),
    JsonArray(),
    Csv(),
    Tsv(),
    Parquet(),
    Arrow(),
    ArrowStream(),
    Workbook(),
)

_UNREADABLE = {
    b"PK\x03\x04": "a zip archive or an Excel workbook. Save the sheet as CSV (UTF-8)",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file. Save it as CSV (UTF-8) or xlsx",
    b"PARE": "an encrypted Parquet file. Write it without encryption",
    b"FEA1": "a Feather file of version 1. Write it again, as version 2",
    b"%PDF": "a PDF file. Extract its text first",
}


def detect(source: Source, columns: TableColumns) -> Format:
    """The format of a file: by its first bytes, else by its ending, else by its first line.

    Raises DataError where the file is empty, is binary and in no known format, or holds labeled
    data in no known format.
    """
    for format in FORMATS:
        if format.begins(source):
            return format
    refuse_binary(source)
    if source.lines.empty:
        raise DataError(f"{source.name}: the file is empty. Give a file with documents.")
    for format in FORMATS:
        if source.ending in format.endings:
            return format
    for format in FORMATS:
        if format.fits(source, columns):
            return format
    if not columns.labeled:
        return PLAIN
    texts = [format for format in _by_title() if format.example]
    choices = ", ".join(f"{format.title} ({format.example})" for format in texts)
    raise DataError(
        f"{source.lines.at(1)}: cannot tell text from label here. Give {choices}, or a folder "
        "that has a folder for each class. Columns with names of their own are chosen with "
        "--text-col and --label-col."
    )


def refuse_binary(source: Source) -> None:
    """Raise DataError unless the first bytes may be those of a text."""
    if not keeps_ascii(source.encoding):  # in UTF-16, zero bytes are part of the text
        return
    head = source.head[:8192]
    for magic, description in _UNREADABLE.items():
        if head.startswith(magic):
            raise DataError(f"{source.name}: this is {description}.")
    if b"\0" in head:
        if likely := likely_utf16(head):
            raise DataError(
                f"{source.name}: this is probably {likely.upper()} without a byte order mark: "
                f"pass --encoding {likely} if it is, or save the file as UTF-8."
            )
        if has_table(head[:9]):
            raise DataError(
                f"{source.name}: this is probably a model, and holds no documents. Name files of "
                "documents here; a model is the first argument of most commands."
            )
        raise DataError(
            f"{source.name}: this is a binary file (byte {head.index(0) + 1:,} is zero). Give "
            f"{titles()}."
        )


def titles() -> str:
    """The formats of labeled documents, for help texts and messages: ``CSV, ... or TSV``."""
    *titles, last = dict.fromkeys(format.title for format in _by_title())
    return f"{', '.join(titles)} or {last}"


def _by_title() -> list[Format]:
    labeled = (format for format in FORMATS if format.labeled)
    return sorted(labeled, key=lambda format: format.title.casefold())
