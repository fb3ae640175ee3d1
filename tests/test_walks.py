"""Whoever follows a page from its first line to the last gets what the page shows."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from test_documents import CHECKOUT, run_session
from thoroughness import thorough

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "index.md").is_file(),
    reason="textreg is not installed from a checkout",
)


@pytest.mark.parametrize(
    "page",
    [
        "index",
        "tutorial",
        thorough("coming-from-fasttext"),
        "engineer",
        thorough("researcher"),
        thorough("author"),  # as docs/plugins.md
    ],
)
def test_walk(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Cli,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All commands and programs of a page, from above; one that begins with a path is a file.

    What stands behind a print as a comment is what it prints.
    """
    monkeypatch.chdir(tmp_path)
    text = (CHECKOUT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    page_code = r"^```(console|python|{literalinclude} \S+)\n(.*?)^```$"
    found = re.findall(page_code, text, re.MULTILINE | re.DOTALL)
    found.sort(key=lambda block: "literalinclude" not in block[0])  # a program makes the files
    assert found
    namespace: dict[str, Any] = {"__name__": page}
    for language, block in found:
        if language.startswith("{"):
            runpy.run_path(str(CHECKOUT / "docs" / language.split()[1]))
            continue
        path = re.match(r"# (\S+\.py)\n", block)
        if language == "console":
            run_session(cli, block)
        elif path:
            Path(path[1]).write_text(block, encoding="utf-8")
        else:
            capsys.readouterr()
            exec(compile(block, page, "exec"), namespace)
            printed = capsys.readouterr().out.splitlines()
            wanted = re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)
            assert [line for line in printed if line in wanted] == wanted


@pytest.mark.parametrize("page", ["tutorial", "engineer", "researcher", "author"])
def test_a_page_installs_the_commands_that_it_uses(page: str) -> None:
    text = (CHECKOUT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^\$ textreg (?:--plugin \S+ )?(plugins \w+|\S+)", text, re.MULTILINE))
    needed = set()
    for project in (CHECKOUT / "plugins").glob("*/pyproject.toml"):
        commands = re.findall(r'^"command\.(\S+)"', project.read_text("utf-8"), re.MULTILINE)
        if used & {name.replace(".", " ") for name in commands}:
            needed.add(project.parent.name.removeprefix("textreg-"))
    (extras,) = re.findall(r"^\$ pip install .textreg\[(\S+)\]", text, re.MULTILINE)
    assert needed
    assert needed <= set(extras.split(","))
