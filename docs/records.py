"""The page records.md: what the records hold, from the docstrings of their classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from textreg import records
from textreg.losses import Loss

HEAD = """% Written by docs/reference.py from the docstrings in the code: `make reference`.

# Records

What plugins are given, and what they return. All are in `textreg.records`, frozen, and checked when
they are made; `Loss` is in `textreg.kinds`. n is the number of documents, p that of features.
Ragged data has one layout everywhere, a flat array and offsets into it: item `i` is
`flat[ptr[i]:ptr[i + 1]]`. The methods are in the [Python reference](api.md).
"""

SHOWN = (
    "Tokens", "Groups", "Graph", "MergedGroups", "Problem", "Design", "Step", "Solution",
    "MultiSolution", "Unsmoothed", "SolverReport", "SelectionReport", "SelectionStep", "Corpus",
)  # fmt: skip
"""The records in the order in which they are met by who writes a plugin."""

Entry = tuple[str, str, str]
ENTRY = re.compile(r"^(\S.*?)(?: : (.*))?$")


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for cls in [*(getattr(records, name) for name in SHOWN), Loss]:
        lines += [f"## {cls.__name__}", "", plain(summary(cls)), ""]
        if told := [*entries(cls)]:
            lines += ["| field | type | meaning |", "|---|---|---|", *map(row, told), ""]
        if raised := section(cls, "Raises"):
            lines += [f"Raises `{name}`: {plain(it)}\n" for name, _, it in raised]
    return "\n".join(lines).rstrip() + "\n"


def summary(cls: type[Any]) -> str:
    """The docstring up to its first section."""
    return re.split(r"\n\n\w+\n---", inspect.getdoc(cls) or "")[0]


def entries(cls: type[Any]) -> Iterator[Entry]:
    """Name, type and meaning of every field. KeyError for one that the docstring does not have."""
    told = [*section(cls, "Parameters"), *section(cls, "Attributes")]
    names = {name for entry, _, _ in told for name in entry.split(", ")}
    for field in fields(cls) if is_dataclass(cls) else ():
        if field.name not in names:
            raise KeyError(f"{cls.__name__}.{field.name} is not described in the docstring")
    yield from told


def section(cls: type[Any], title: str) -> list[Entry]:
    """The entries of a numpydoc section: name, type and text."""
    text = inspect.getdoc(cls) or ""
    found = re.search(rf"\n{title}\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", text, re.S)
    told: list[Entry] = []
    for line in found[1].splitlines() if found else ():
        if line.startswith(" "):
            name, kind, meaning = told[-1]
            told[-1] = name, kind, f"{meaning} {line.strip()}".strip()
        elif entry := ENTRY.match(line):
            told.append((entry[1], entry[2] or "", ""))
    return told


def row(entry: Entry) -> str:
    """A line of the table."""
    name, kind, meaning = entry
    names = ", ".join(f"`{one}`" for one in name.split(", "))
    return f"| {names} | {plain(kind)} | {plain(meaning)} |".replace("||", "\\|\\|")


def plain(text: str) -> str:
    """Docstring markup as Markdown."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    parts = text.split("`")
    parts[::2] = [part.replace(" * ", " \\* ") for part in parts[::2]]
    return "`".join(parts)
