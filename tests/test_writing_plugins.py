"""What docs/plugins.md shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from sites import Site
from test_documents import CHECKOUT, blocks, shape

from textreg.scaffold import write_plugin

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "tour.md").is_file(), reason="textreg is not installed from a checkout"
)
PAGE = "docs/plugins.md"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """With SLOPE, the first block of Python, saved as the page says."""
    (tmp_path / "slope.py").write_text(blocks(PAGE, "python")[0])
    return Site(tmp_path)


def test_commands(site: Site) -> None:
    said = "".join(blocks(PAGE, "console"))
    turns = re.findall(r"^\$ textreg (.*)\n((?:(?!\$ ).*\n)*)", said, re.MULTILINE)
    assert len(turns) == 7
    results = site.session([shlex.split(command) for command, _ in turns])
    for (command, printed), (code, out, err) in zip(turns, results, strict=True):
        assert (code, err) == (0, ""), command
        for line in shape(printed):
            assert line == "..." or line in shape(out), f"{command}: {line!r} is not in\n{out}"
    told = {command: out for (command, _), (_, out, _) in zip(turns, results, strict=True)}
    checked = told["plugins check slope --plugin slope.py"]
    assert {"ok"} == set(re.findall(r"^[\w-]+ +(ok|FAILED)", checked, re.MULTILINE))
    assert "penalty-conjugate" in checked
    assert "--reg-q" in told["train --plugin slope.py --reg slope --help"]


def test_python(site: Site) -> None:
    assert site.run("demo", "demo").returncode == 0
    done = site.python("-c", "\n".join(blocks(PAGE, "python")))
    assert (done.returncode, done.stderr) == (0, "")
    slope, fused, groups, graph = done.stdout.splitlines()
    gap, features = slope.split()
    assert float(gap) <= 1e-4
    assert 20 < int(features) < 1000
    words, different = map(int, re.findall(r"\d+", fused))
    assert different < words < 200
    assert groups.startswith("<Model: labels 'neg', 'pos'; ")
    assert graph.startswith("<Model: labels 'neg', 'pos'; ")


def test_settings(tmp_path: Path) -> None:
    """They are those of `textreg plugins new`."""
    (block,) = blocks(PAGE, "toml")
    settings = write_plugin("regularizer", "slope", tmp_path).folder / "pyproject.toml"
    written = settings.read_text(encoding="utf-8").splitlines()
    for line in block.splitlines():
        assert line.partition("  # ")[0] in written
