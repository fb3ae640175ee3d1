"""The page plugin-list.md: the distributions in plugins/, from their metadata alone."""

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
HEAD = """% Written by docs/reference.py from plugins/*/pyproject.toml: `make reference`.

# Plugins of the project

These distributions stand in `plugins/` of the source, and each is installed on its own. What a
plugin provides, and the version of textreg's interface that it is made for (API), stand in its
metadata, which `textreg plugins list` reads without importing it.

| distribution | version | provides | API | needs beside textreg | for |
|---|---|---|---|---|---|"""


def page() -> str:
    """The whole page."""
    projects = [_project(path) for path in sorted(PLUGINS.glob("*/pyproject.toml"))]
    return "\n".join([HEAD, *map(_row, projects)]) + "\n"


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
