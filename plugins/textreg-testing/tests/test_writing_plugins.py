"""What docs/plugins.md shows is what happens."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from sites import Site
from test_distribution import kernels
from test_documents import CHECKOUT, blocks, shape

from textreg_testing.scaffold import write_plugin

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs" / "tour.md").is_file(), reason="textreg is not installed from a checkout"
)
PAGE = "docs/plugins.md"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """With SLOPE, the first block of Python, saved as the page says."""
    (tmp_path / "slope.py").write_text(blocks(PAGE, "python")[0])
    return Site(tmp_path)


def shorten(corpus: Path, documents: int) -> None:
    """Leave the first documents, and of each the first words, ten to forty."""
    with corpus.open() as file:
        rows = [json.loads(next(file)) for _ in range(documents)]
    for at, row in enumerate(rows):
        row["text"] = " ".join(row["text"].split()[: 10 + 10 * (at % 4)])
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_commands(site: Site) -> None:
    said = "".join(blocks(PAGE, "console"))
    turns = re.findall(r"^\$ textreg (.*)\n((?:(?!\$ ).*\n)*)", said, re.MULTILINE)
    assert len(turns) == 5
    (demo, *own, builder) = [shlex.split(command) for command, _ in turns]
    first, last = site.session([demo, builder])
    # What is printed of the plugin's own training is not shown: little text does.
    shorten(site.folder / "demo" / "train.jsonl", 40)
    own[0] += ["--time-limit", "60"]  # on a busy machine
    results = [first, *site.session(own), last]
    for (command, printed), (code, out, err) in zip(turns, results, strict=True):
        assert (code, err) == (0, ""), command
        for line in shape(printed):
            assert line == "..." or line in shape(out), f"{command}: {line!r} is not in\n{out}"
    told = {command: out for (command, _), (_, out, _) in zip(turns, results, strict=True)}
    checked = told["--plugin slope.py plugins check slope"]
    assert {"ok"} == set(re.findall(r"^[\w-]+ +(ok|FAILED)", checked, re.MULTILINE))
    assert "penalty-conjugate" in checked
    assert "--reg-q" in told["--plugin slope.py train --reg slope --help"]


@pytest.mark.thorough
def test_python(site: Site) -> None:
    assert site.run("demo", "demo").returncode == 0
    shorten(site.folder / "demo" / "train.jsonl", 200)
    done = site.python("-c", "\n".join(blocks(PAGE, "python")))
    assert (done.returncode, done.stderr) == (0, "")
    slope, procedure, loss, groups, graph = done.stdout.splitlines()
    assert float(loss.removeprefix("huber: R2 ")) > 0.3
    gap, features = slope.split()
    assert float(gap) <= 1e-4
    assert 20 < int(features) < 1000
    assert procedure.startswith("<Model: labels 'neg', 'pos'; ")
    assert groups.startswith("<Model: labels 'neg', 'pos'; ")
    assert graph.startswith("<Model: labels 'neg', 'pos'; ")


def test_settings(tmp_path: Path) -> None:
    """They are those of `textreg plugins new`."""
    _, block = blocks(PAGE, "toml")
    settings = write_plugin("regularizer", "slope", tmp_path).folder / "pyproject.toml"
    written = settings.read_text(encoding="utf-8").splitlines()
    for line in block.splitlines():
        assert line.partition("  # ")[0] in written


def test_kernels_are_all_told_of() -> None:
    page = (CHECKOUT / "docs" / "kernels.md").read_text(encoding="utf-8")
    for module, names in kernels().items():
        (row,) = re.findall(rf"^\| `{module}` \|(.*)$", page, re.MULTILINE)
        assert {name for name in names if f"`{name}`" not in row} == set()
    declared = (CHECKOUT / "textreg" / "kernels.pxd").read_text(encoding="utf-8")
    shared = re.findall(r"^cdef inline (.*):$", declared, re.MULTILINE)
    assert len(shared) >= 2
    for signature in shared:
        assert f"`{signature}`" in page


def test_the_example_is_the_distribution() -> None:
    """What docs/kernels.md shows is in plugins/textreg-fused, part by part."""
    kernel = CHECKOUT / "plugins" / "textreg-fused" / "textreg_fused" / "kernel.pyx"
    there = kernel.read_text(encoding="utf-8").splitlines()
    shown = blocks("docs/kernels.md", "cython")
    assert shown
    for block in shown:
        for part in block.strip("\n").split("\n\n"):
            lines = [line for line in part.splitlines() if not line.startswith("#")]
            assert [line for line in lines if line not in there] == []
