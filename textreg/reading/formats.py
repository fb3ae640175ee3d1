"""Lines of text to rows: JSON lines, CSV and TSV, fastText lines, plain lines.

One generator a format. Each gives a :class:`Row` for every document, and reports rows that cannot
be used to its :class:`~textreg.reading.lines.Faults`. A line with nothing on it is a document in
plain text only. Labels lose the blanks around them; texts are not changed.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from textreg.errors import DataError, TextregError, UsageError
from textreg.reading.columns import Columns, Row
from textreg.reading.lines import Faults, Lines, UnusableRow

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}
TAB = "\t"
DELIMITERS = f",;{TAB}|"

_FASTTEXT = re.compile(r"(?<!\S)__label__(\S*)\s?")
_JSON_BEGINS = re.compile(r'\s*(\{\s*["}]|\[\s*\{)')
_QUOTING = 'Put the field in quotes, and write a quote inside it twice ("")'


def detect(lines: Lines, columns: Columns) -> str:
    """The format: ``jsonl``, ``csv``, ``tsv``, ``fasttext`` or ``lines`` (plain, one a document).

    By the ending of the name, and where that says nothing by the first line. Labeled data that
    looks like none of them raises DataError.
    """
    ending = PurePath(lines.name.lower().removesuffix(".gz")).suffix
    if ending in ENDINGS:
        return ENDINGS[ending]
    if _FASTTEXT.match(lines.first):
        return "fasttext"
    if not columns.labeled and ending == ".txt":
        return "lines"
    if _JSON_BEGINS.match(lines.first):
        return "jsonl"
    if columns.numbered or _is_header(lines.first, columns):
        return "csv"
    if not columns.labeled:
        return "lines"
    raise DataError(
        f"{lines.at(1)}: cannot tell text from label here. Give JSON lines "
        '({"label": "good", "text": "..."}), CSV or TSV with a header (label,text), fastText lines '
        "(__label__good ...), or a folder that has a folder for each class. Columns with names of "
        "their own are chosen with --text-col and --label-col."
    )


def rows(kind: str, lines: Lines, columns: Columns, faults: Faults) -> Iterator[Row]:
    """The documents of ``lines`` in the format ``kind``, one of those that :func:`detect` gives."""
    if kind == "jsonl":
        return _jsonl(lines, columns, faults)
    if kind == "csv":
        return _csv(lines, columns, faults, _delimiter(lines.first))
    if kind == "tsv":
        return _csv(lines, columns, faults, TAB)
    columns.refuse(lines.name, "fastText" if kind == "fasttext" else "plain text")
    return _each_line(lines, columns, faults, _plain if kind == "lines" else _fasttext)


def _jsonl(lines: Lines, columns: Columns, faults: Faults) -> Iterator[Row]:
    unknown: TextregError | None = None
    decode = json.JSONDecoder().decode
    for line in lines:
        if not line or line.isspace():
            continue
        try:
            if damage := lines.damage():
                raise damage
            record = _json_object(line, decode)
            if not columns.found:
                columns.find(list(record), lines.at(lines.number))
            row = columns.row(lines.number, record.get)
        except UnusableRow as trouble:
            faults.report(lines.at(lines.number), trouble)
            continue
        except TextregError as error:
            if not faults.skips:
                raise
            # This record may be one to leave out, and the next have what it lacks.
            unknown = unknown or error
            faults.leave_out(str(error))
            continue
        yield _paired(row) if "\\ud" in line or "\\uD" in line else row
    if unknown is not None and not columns.found:
        raise unknown


def _json_object(line: str, decode: Callable[[str], Any]) -> dict[str, Any]:
    try:
        record = decode(line)
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg}, character {error.colno})."
    except (ValueError, RecursionError):
        what = "JSON with a number of thousands of digits, or nested thousands deep."
    else:
        if isinstance(record, dict):
            return record
        what = 'not a JSON object such as {"label": "good", "text": "..."}.'
    if line.lstrip().startswith("["):
        what = "a JSON array, where every line should be one object."
        raise UnusableRow(what, "Write its objects one a line (jq -c '.[]' FILE does)")
    raise UnusableRow(what)


def _paired(row: Row) -> Row:
    """U+FFFD for every half of a surrogate pair, which JSON can say and no file can hold."""
    text, label = (
        part and part.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        for part in (row.text, row.label)
    )
    return row._replace(text=text or "", label=label)


def _csv(lines: Lines, columns: Columns, faults: Faults, delimiter: str) -> Iterator[Row]:
    names: Sequence[str] = ()
    for start, fields in _csv_records(lines, faults, delimiter):
        if not names:
            names = _csv_names(fields, columns, lines.at(start))
            if names is fields:
                continue
        try:
            if len(fields) != len(names):
                cut = "a tab" if delimiter == TAB else repr(delimiter)
                raise UnusableRow(
                    f"the number of columns is {len(fields)}, and {len(names)} in the first row.",
                    f"Put quotes around a text that contains {cut}",
                )
            row = columns.row(start, dict(zip(names, fields, strict=True)).get)
        except UnusableRow as trouble:
            faults.report(lines.at(start), trouble)
            continue
        yield row


def _csv_records(lines: Lines, faults: Faults, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line where each record begins, and its fields; damaged records are reported."""
    reader = _csv_reader((f"{line}\n" for line in lines), delimiter, strict=True)
    header = True
    while True:
        start = reader.line_num + 1
        where = lines.at(start)
        trouble: UnusableRow | None
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bare_return = "new-line character" in str(error)
            reason = "a carriage return outside quotes" if bare_return else str(error)
            what = f"not valid {'TSV' if delimiter == TAB else 'CSV'} ({reason})."
            if reader.line_num > start and not bare_return:
                # Whole rows may lie inside, and leaving them out would not count them.
                raise DataError(
                    f"{where}: {what} It takes in the lines up to {reader.line_num}: probably a "
                    f"quote is open. {_QUOTING}."
                ) from None
            trouble = lines.damage() or UnusableRow(what, _QUOTING)
        else:
            trouble = lines.damage()
            if trouble is None:
                if fields:
                    header = False
                    yield start, fields
                continue
        if header:
            raise DataError(f"{where}: {trouble} This row should name the columns. {trouble.fix}.")
        faults.report(where, trouble)


def _csv_names(fields: list[str], columns: Columns, where: str) -> list[str]:
    """Names of the columns: ``fields`` itself if that is the header, else the numbers from 1."""
    if columns.numbered and not columns.fit(fields):
        if Columns(labeled=columns.labeled).fit(fields):
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


def _csv_reader(lines: Iterable[str], delimiter: str, *, strict: bool) -> CsvReader:
    # The limit belongs to the whole process; a document may well be longer than its 128 KiB.
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def _delimiter(line: str) -> str:
    """What cuts a header into most cells; a comma if nothing does."""
    return max(DELIMITERS, key=lambda delimiter: len(_cells(line, delimiter)))


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(_csv_reader([line], delimiter, strict=False), [])
    except csv.Error:
        return []


def _is_header(line: str, columns: Columns) -> bool:
    """Whether a line of unknown format is the header of a table with the columns in question.

    Prose has commas as well, so without a wish the cells must be two single words or more.
    """
    cells = _cells(line, _delimiter(line))
    if not columns.fit(cells):
        return False
    words = len(cells) > 1 and not any(re.search(r"\s", cell.strip()) for cell in cells)
    return columns.wanted["text"] is not None or columns.labeled or words


def _each_line(
    lines: Lines, columns: Columns, faults: Faults, read: Callable[[str, Columns, int], Row | None]
) -> Iterator[Row]:
    for line in lines:
        try:
            if damage := lines.damage():
                raise damage
            row = read(line.removesuffix("\r"), columns, lines.number)
        except UnusableRow as trouble:
            faults.report(lines.at(lines.number), trouble)
            continue
        if row is not None:
            yield row


def _plain(line: str, columns: Columns, number: int) -> Row:
    return Row(line, None, 1.0, number)


def _fasttext(line: str, columns: Columns, number: int) -> Row | None:
    if not line or line.isspace():
        return None
    labels = _FASTTEXT.findall(line)
    label = labels[0] if len(labels) == 1 else None
    if columns.labeled and not label:
        if len(labels) > 1:
            raise UnusableRow(
                f"{len(labels)} labels ({', '.join(labels[:3])}); a document has one here.",
                "Keep one of them",
            )
        raise UnusableRow("label is empty." if labels else "no label (__label__NAME) on this line.")
    return Row(_FASTTEXT.sub("", line), label or None, 1.0, number)
