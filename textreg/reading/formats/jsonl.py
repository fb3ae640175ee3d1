"""JSON lines: an object for every document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from textreg.errors import TextregError
from textreg.reading.columns import Row, TableColumns
from textreg.reading.faults import UnusableRow
from textreg.reading.formats.base import Format
from textreg.reading.source import Source
from textreg.records.fields import FieldedText

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
        lines = source.lines
        objects = Objects(source.name, columns)
        decode = json.JSONDecoder().decode
        for line in lines:
            if not line or line.isspace():
                continue
            try:
                if damage := lines.damage():
                    raise damage
                row = objects.row(lines.number, line, _value(line, decode))
            except UnusableRow as problem:
                yield problem.at(lines.number)
                continue
            yield row
        objects.end()


class Objects:
    """Objects of a file as rows. The first ones may lack columns that the next ones have."""

    def __init__(self, name: str, columns: TableColumns) -> None:
        self._name = name
        self._columns = columns
        self._unknown: TextregError | None = None

    def row(self, number: int, raw: str, record: Any) -> Row:
        """The document of an object; UnusableRow if it is none.

        number: of its line or record. raw: how it is written.
        """
        if not isinstance(record, dict):
            what = 'not a JSON object such as {"label": "good", "text": "..."}.'
            raise UnusableRow(what, reason="not a JSON object")
        columns, where = self._columns, f"{self._name}:{number}"
        try:
            if not columns.chosen:
                columns.find(list(record), where)
            row = columns.row(number, record)
        except TextregError as error:
            self._unknown = self._unknown or error
            what = str(error).removeprefix(f"{where}: ")
            problem = UnusableRow(what, reason="a column is missing")
            problem.error, problem.record = error, record
            raise problem from None
        return _paired(row) if "\\ud" in raw or "\\uD" in raw else row

    def end(self) -> None:
        """Raise the error of the first record if none had the columns that are needed."""
        if self._unknown is not None and not self._columns.chosen:
            raise self._unknown


def _value(line: str, decode: Callable[[str], Any]) -> Any:
    problem: UnusableRow | None = None
    value = None
    try:
        value = decode(line)
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg}, character {error.colno})."
        problem = UnusableRow(what, reason="not valid JSON")
    except (ValueError, RecursionError):
        problem = UnusableRow("JSON with a number of thousands of digits, or nested too deep.")
    if isinstance(value, list) or (problem is not None and line.lstrip().startswith("[")):
        what = "a JSON array, where every line should be one object."
        remedy = "Give the file a name that ends in .json, or write one object a line (jq -c '.[]')"
        problem = UnusableRow(what, remedy)
    if problem is not None:
        raise problem
    return value


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
