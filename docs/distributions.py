"""The page plugin-list.md: the distributions in plugins/, and those of others.

Ours are read from their metadata alone, others from plugin-entries.toml.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PLUGINS = Path(__file__).parent.parent / "plugins"
KINDS = {"groups": "group builder", "graph": "graph builder"}
ENTRIES = Path(__file__).parent / "plugin-entries.toml"
HEAD = """% Written by docs/reference.py, with docs/plugin-entries.toml: `make reference`.

# Plugins

## Of others

{others}

A plugin is listed if its license and its source are open, if
`python tools/check_entry.py DISTRIBUTION` passes, which installs it from the package index into a
new environment and runs `textreg plugins check` on each of its parts there, and if the checks that
its `pyproject.toml` leaves out have reasons that a reader can follow. It is taken off the list when
that has failed for two minor releases of textreg. To have yours listed, add a table to
`docs/plugin-entries.toml` in a pull request. On the package index all of them have the keyword
`textreg-plugin`.

## Of the project

These distributions are in `plugins/` of the source, and each is installed separately. What a
plugin provides, and the version of textreg's interface that it is made for (API), are in its
metadata, which `textreg plugins list` reads without importing it.

| distribution | version | provides | API | needs beside textreg | for |
|---|---|---|---|---|---|"""


def page() -> str:
    """The whole page."""
    projects = [_project(path) for path in sorted(PLUGINS.glob("*/pyproject.toml"))]
    return "\n".join([HEAD.format(others=_others()), *map(_row, projects)]) + "\n"


def entries() -> list[dict[str, Any]]:
    """The plugins of others; ValueError for one that lacks something or has too much."""
    found: list[dict[str, Any]] = tomllib.loads(ENTRIES.read_text(encoding="utf-8")).get(
        "plugin", []
    )
    for entry in found:
        if entry.keys() != {"distribution", "parts", "line", "link"}:
            raise ValueError(f"{ENTRIES.name}: {entry} needs distribution, parts, line and link")
    return sorted(found, key=lambda entry: str(entry["distribution"]))


def _others() -> str:
    rows = []
    for entry in entries():
        parts = [part.partition(".") for part in entry["parts"]]
        kinds = ", ".join(f"{KINDS.get(kind, kind)} `{name}`" for kind, _, name in parts)
        rows.append(f"| [`{entry['distribution']}`]({entry['link']}) | {kinds} | {entry['line']} |")
    if not rows:
        return "None yet: yours may be the first."
    return "\n".join(["| distribution | provides | for |", "|---|---|---|", *rows])


def _project(path: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return project


def _row(project: dict[str, Any]) -> str:
    """The line of one distribution."""
    points = project["entry-points"]
    parts = [name.partition(".") for name in points["textreg"]]
    cells = [
        f"`{project['name']}`",
        project["version"],
        ", ".join(f"{KINDS.get(kind, kind)} `{name}`" for kind, _, name in parts),
        ", ".join(points["textreg.api"]),
        ", ".join(need for need in project["dependencies"] if not need.startswith("textreg")),
        project["description"].removesuffix(", for textreg"),
    ]
    return f"| {' | '.join(cells)} |"
