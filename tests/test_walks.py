"""Whoever follows a page from its first line to the last gets what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from test_documents import CHECKOUT, shape

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "index.md").is_file(),
    reason="textreg is not installed from a checkout",
)
OTHERS = ("pip install ", "pytest ")
"""Commands that are not run: what they install is there, and these are tests themselves."""


def run_session(cli: Cli, session: str) -> None:
    """Commands, each with what it prints; a line ``...`` stands for lines left out."""
    turns = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert turns
    for command, printed in turns:
        if command.startswith(OTHERS):
            continue
        program, *arguments = shlex.split(command)
        assert program == "textreg"
        result = cli(*arguments)
        assert result.code == 0, f"{command}: {result.out}{result.err}"
        said = shape(result.out + result.err)
        for line in shape(printed):
            start, dots, _ = line.partition("...")
            if start:
                found = any(each.startswith(start) if dots else each == line for each in said)
                assert found, f"{command}: {line!r} is not in\n" + "\n".join(said)


@pytest.mark.parametrize("page", ["index", "analyst", "engineer", "researcher", "author"])
def test_walk(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """All commands and programs of a page, from above; one that begins with a path is a file."""
    monkeypatch.chdir(tmp_path)
    text = (CHECKOUT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(console|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found
    namespace: dict[str, Any] = {"__name__": page}
    for language, block in found:
        path = re.match(r"# (\S+\.py)\n", block)
        if language == "console":
            run_session(cli, block)
        elif path:
            Path(path[1]).write_text(block, encoding="utf-8")
        else:
            exec(compile(block, page, "exec"), namespace)
