"""Workbooks of Excel and OpenDocument, read row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time
from itertools import tee
from typing import IO, Any, ClassVar
from xml.etree.ElementTree import iterparse

from textreg.errors import DataError, TextregError, UsageError, alternatives
from textreg.files import check_unpacked, needed
from textreg.reading.columns import Row, TableColumns
from textreg.reading.formats.lines import Format
from textreg.reading.source import Source, UnusableRow

# More cells than any sheet of an office has columns are empty ones that a program repeats.
WIDEST = 1 << 14

_TABLE, _OFFICE, _TEXT = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("table", "office", "text")
)


def openpyxl(what: str) -> Any:
    """The module; UsageError where it is not installed and ``what`` needs it."""
    return needed("openpyxl", what, "excel")


class Workbook(Format):
    """The first sheet of a workbook, or one that is asked for; a row below its titles has names."""

    name = "workbook"
    title = "Excel"
    endings: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".ods")
    magic = b"PK\x03\x04"

    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        number, names, sheets = 0, list[str](), list[str]()
        texts = {field.name for field in columns.fields if field.kind == "text"}
        try:
            ahead, rows = tee(map(_values, self._cells(source, columns.sheet, sheets)))
            titles = columns.titles(ahead, lambda row, _: list(map(str, row)))
            del ahead  # else it keeps all rows
            for number, values in enumerate(rows, 1):
                if not values or number <= titles:
                    continue
                if not names:
                    names = [str(value) for value in values]
                    columns.header = number if titles else 0
                    try:
                        columns.find(names, f"{source.name}:{number}")
                    except (DataError, UsageError) as error:
                        raise type(error)(f"{error}{_other_sheets(columns, sheets)}") from None
                    texts |= {columns.chosen.get("text", "")}
                    continue
                values += [""] * (len(names) - len(values))
                record = dict(zip(columns.names, values, strict=False))
                for name in texts & record.keys():
                    record[name] = str(record[name])
                if len(values) > len(names):
                    what = f"a cell stands beside the {len(names)} columns of the first row."
                    problem = UnusableRow(what, reason="a cell beside the columns")
                    yield problem.at(number, record)
                    continue
                yield columns.row(number, record)
            if not names and (hint := _other_sheets(columns, sheets)):
                raise DataError(f"{source.name}: the sheet is empty.{hint}")
        except TextregError:
            raise
        except Exception as error:  # noqa: BLE001  # a damaged workbook has faults of any kind
            raise DataError(
                f"{source.name}: the workbook is damaged after row {number:,} ({error}). Save it "
                "again, or save the sheet as CSV."
            ) from None

    def _cells(
        self, source: Source, sheet: str | None, sheets: list[str]
    ) -> Iterator[Sequence[Any]]:
        """The cells of every row of a sheet; ``sheets`` gets the names of those that are seen."""
        from zipfile import ZipFile  # few files are workbooks

        with source.file() as file, ZipFile(file) as archive:
            sizes = [member.file_size for member in archive.infolist()]
            packed = sum(member.compress_size for member in archive.infolist())
            check_unpacked(sum(sizes), packed, lambda: source.name)
            if "content.xml" in archive.namelist():
                with archive.open("content.xml") as content:
                    yield from _opendocument(content, source.name, sheet, sheets)
            elif "xl/workbook.xml" in archive.namelist():
                module = openpyxl(f"{source.name}: reading Excel")
                book = module.load_workbook(file, read_only=True, data_only=True)
                pages = {page.title: page for page in book.worksheets}
                sheets += pages
                page = pages[_sheet_of(source.name, sheets, sheet)]
                page.reset_dimensions()  # which programs write wrongly
                yield from page.iter_rows(values_only=True)
            else:
                raise DataError(
                    f"{source.name}: this is a zip archive, and no workbook. Unpack it first."
                )


def _other_sheets(columns: TableColumns, sheets: Sequence[str]) -> str:
    """What to say where nothing was found in the first of these sheets, which nobody chose."""
    if columns.sheet is not None or len(sheets) < 2:
        return ""
    return (
        f" This is the first sheet, '{sheets[0]}'. There are also: {', '.join(sheets[1:])}. "
        "Choose one with --sheet NAME."
    )


def _sheet_of(name: str, sheets: Sequence[str], wanted: str | None) -> str:
    """The sheet that is asked for, or the first; UsageError if it is not there."""
    if not sheets or (wanted is not None and wanted not in sheets):
        hint = alternatives(wanted or "", sheets)
        raise UsageError(f"{name}: no sheet is called '{wanted}'.{hint}")
    return sheets[0] if wanted is None else wanted


def _values(cells: Sequence[Any]) -> list[Any]:
    """The values of a row, without the empty cells at its end."""
    values = ["" if cell is None else _plain(cell) for cell in cells]
    while values and values[-1] == "":
        del values[-1]
    return values


def _plain(cell: Any) -> Any:
    """A cell as JSON has it: whole numbers without a point, times as texts."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    return cell if isinstance(cell, (str, int, float)) else str(cell).replace(" ", "T")


def _opendocument(
    content: IO[bytes], name: str, sheet: str | None, sheets: list[str]
) -> Iterator[list[Any]]:
    """The cells of a sheet of OpenDocument, where equal rows and cells stand once for all."""
    inside = False
    for event, element in iterparse(content, ("start", "end")):
        if element.tag == f"{_TABLE}table":
            title = element.get(f"{_TABLE}name", "")
            if event == "end" and inside:
                return
            if event == "start":
                sheets.append(title)
                inside = sheet in (None, title)
        if event == "start" or element.tag != f"{_TABLE}table-row":
            continue
        cells = list[Any]()
        for cell in element if inside else ():
            copies = int(cell.get(f"{_TABLE}number-columns-repeated", 1))
            cells += [_value(cell)] * min(copies, WIDEST - len(cells))
        copies = int(element.get(f"{_TABLE}number-rows-repeated", 1))
        element.clear()
        if inside:
            # Empty rows at the end are repeated a million times.
            yield from [cells] * (copies if any(cell is not None for cell in cells) else 1)
    if not inside:
        _sheet_of(name, sheets, sheet)


def _value(cell: Any) -> Any:
    """The value of a cell: a number, a date or a text; None where there is none."""
    kind = cell.get(f"{_OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        return float(cell.get(f"{_OFFICE}value"))
    if kind == "date":
        return cell.get(f"{_OFFICE}date-value").removesuffix("T00:00:00")
    return "\n".join("".join(it.itertext()) for it in cell.iter(f"{_TEXT}p")) or None
