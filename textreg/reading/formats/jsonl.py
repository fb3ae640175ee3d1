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
from textreg.reading.lines import Lines
from textreg.reading.source import Source

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
        unknown: TextregError | None = None
        decode = json.JSONDecoder().decode
        for line in lines:
            if not line or line.isspace():
                continue
            try:
                if damage := lines.damage():
                    raise damage
                record = _object(line, decode)
                if not columns.chosen:
                    columns.find(list(record), lines.at(lines.number))
                row = columns.row(lines.number, record)
            except UnusableRow as problem:
                yield problem.at(lines.number)
                continue
            except TextregError as error:
                # The first record may lack a column that the next ones have.
                unknown = unknown or error
                yield _without_columns(error, lines, record)
                continue
            yield _paired(row) if "\\ud" in line or "\\uD" in line else row
        if unknown is not None and not columns.chosen:
            raise unknown


def _without_columns(error: TextregError, lines: Lines, record: dict[str, Any]) -> UnusableRow:
    """A record that lacks a column."""
    what = str(error).removeprefix(f"{lines.at(lines.number)}: ")
    problem = UnusableRow(what, reason="a column is missing").at(lines.number)
    problem.error = error
    problem.record = record
    return problem


def _object(line: str, decode: Callable[[str], Any]) -> dict[str, Any]:
    try:
        record = decode(line)
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg}, character {error.colno})."
        problem = UnusableRow(what, reason="not valid JSON")
    except (ValueError, RecursionError):
        problem = UnusableRow("JSON with a number of thousands of digits, or nested too deep.")
    else:
        if isinstance(record, dict):
            return record
        what = 'not a JSON object such as {"label": "good", "text": "..."}.'
        problem = UnusableRow(what, reason="not a JSON object")
    if line.lstrip().startswith("["):
        what = "a JSON array, where every line should be one object."
        problem = UnusableRow(what, "Write its objects one a line (jq -c '.[]' FILE does)")
    raise problem


def _paired(row: Row) -> Row:
    """U+FFFD for every half of a surrogate pair: JSON can hold one, but no UTF-8 file can."""

    def paired(part: str) -> str:
        return part.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    label = row.label
    if label is not None:
        label = tuple(map(paired, label)) if isinstance(label, tuple) else paired(label)
    return row._replace(text=paired(row.text), label=label)
