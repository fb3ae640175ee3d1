"""What docs/using-plugins.md and docs/promises.md show is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from sites import Site
from test_documents import CHECKOUT, blocks, shape

from textreg.plugins.distributions import read_config

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "tour.md").is_file(), reason="textreg is not installed from a checkout"
)
PAGE = "docs/using-plugins.md"


def test_the_file_and_the_commands(tmp_path: Path) -> None:
    """The first block of Python, saved as the page says, and every command that can be run here."""
    site = Site(tmp_path)
    (tmp_path / "shout.py").write_text(blocks(PAGE, "python")[0])
    turns = re.findall(
        r"^\$ textreg (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks(PAGE, "console")), re.MULTILINE
    )
    turns = [turn for turn in turns if "reviews.csv" not in turn[0]]
    assert len(turns) == 7
    results = site.session([shlex.split(command) for command, _ in turns])
    for (command, printed), (code, out, err) in zip(turns, results, strict=True):
        assert (code, err) == (0, ""), command
        for line in shape(printed):
            assert line == "..." or line in shape(out), f"{command}: {line!r} is not in\n{out}"
    program = "\n".join(blocks(PAGE, "python"))
    done = site.python("-c", program)
    assert done.stdout == "[['great!', 'plot']] Lasso(l1=0.5)\n", done.stderr
    (tmp_path / "shout.py").unlink()
    assert site.python("-c", program).stdout == done.stdout


def test_the_settings(tmp_path: Path) -> None:
    (block,) = blocks(PAGE, "toml")
    path = tmp_path / "textreg.toml"
    path.write_text(block)
    config = read_config(path)
    assert config.disable == ("acme-slope", "regularizer.shrink")
    assert config.allow == ("textreg-topics",)


def test_promises() -> None:
    """Its hooks are taken as the page says."""
    from textreg.plugins.registry import Registry

    namespace: dict[str, Any] = {}
    for block in blocks("docs/promises.md", "python"):
        exec(compile(block, "docs/promises.md", "exec"), namespace)
    registry = Registry()
    registry.register(type("Module", (), {"__name__": "page", **hooks(namespace)})())
    assert registry.create("tokenizer", "spaces")("a b") == [["a", "b"]]


def hooks(namespace: dict[str, Any]) -> dict[str, Any]:
    return {
        name: staticmethod(value)
        for name, value in namespace.items()
        if name.startswith("textreg_")
    }
