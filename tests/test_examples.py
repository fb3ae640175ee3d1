"""The programs of docs/programs run, without a warning, and draw; an empty picture is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_documents import CHECKOUT

matplotlib = pytest.importorskip("matplotlib")
EXAMPLES = sorted((CHECKOUT / "docs" / "programs").glob("plot_*.py"))
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs").is_dir(), reason="textreg is not installed from a checkout"
)


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CHECKOUT / "docs"))
    import drawn  # type: ignore[import-not-found]

    assert isinstance(drawn, ModuleType)
    return drawn


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "example",
    [  # the gallery runs all of them, this one for a minute
        pytest.param(path, marks=[pytest.mark.thorough] if path.stem == "plot_compare" else [])
        for path in EXAMPLES
    ],
    ids=lambda path: path.stem,
)
def test_example(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyplot: Any, drawn: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    pictures = 0
    names: dict[str, Any] = {"__name__": "__main__"}
    # The gallery runs block by block, and closes all figures after each.
    for block in re.split(r"^# %%$", example.read_text(encoding="utf-8"), flags=re.MULTILINE):
        exec(compile(block, str(example), "exec"), names)
        for figure in map(pyplot.figure, pyplot.get_fignums()):
            pictures += 1
            assert drawn.empty_axes(figure) == []
            for axis in figure.axes:
                assert axis.get_xlabel()
                assert axis.get_ylabel() or axis.get_yticklabels()
        pyplot.close("all")
    assert pictures > 0
    assert list(tmp_path.iterdir()) == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


def test_axes_without_data_are_empty(pyplot: Any, drawn: Any) -> None:
    figure, axes = pyplot.subplots(3, 3)
    empty = axes.ravel()[:4]
    empty[1].axhline(0.5)
    empty[2].plot([], [], label="nothing")
    empty[3].plot([float("nan")], [1.0])
    points, bars, step, picture, errors = axes.ravel()[4:]
    points.scatter([1.0], [2.0])
    bars.barh(["a", "b"], [1.0, -1.0])
    step.step([1, 2], [3, 4])
    picture.imshow([[0.0, 1.0]])
    errors.errorbar([1.0], [2.0], yerr=[[0.1], [0.2]])
    assert drawn.empty_axes(figure) == [0, 1, 2, 3]


PROGRAM = '''"""
A program
=========
"""

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2)
left.plot([1, 2], [3, 4])
{between}
right.plot([1, 2], [3, 4])
plt.show()
'''

CONF = """import runpy
import sys

sys.path.insert(0, {docs!r})
extensions = ["sphinx_gallery.gen_gallery"]
exclude_patterns = ["programs"]
sphinx_gallery_conf = runpy.run_path({docs!r} + "/conf.py")["sphinx_gallery_conf"]
"""


@pytest.mark.thorough  # of the build of the pages alone; what is empty, the test above says
@pytest.mark.parametrize(
    ("between", "words"),
    [
        ("", ""),
        ("# %%\n# Later:", r"plot_it\.py:\d+: panel 2 of 2 has no data"),
    ],
)
def test_an_empty_picture_ends_the_build(tmp_path: Path, between: str, words: str) -> None:
    pytest.importorskip("sphinx_gallery")
    source, result = tmp_path / "source", tmp_path / "result"
    (source / "programs").mkdir(parents=True)
    (source / "programs" / "GALLERY_HEADER.rst").write_text("Programs\n========\n")
    (source / "programs" / "plot_it.py").write_text(PROGRAM.format(between=between))
    (source / "index.rst").write_text("Start\n=====\n\n.. toctree::\n\n   examples/index\n")
    (source / "conf.py").write_text(CONF.format(docs=str(CHECKOUT / "docs")))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(source), str(result)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode != 0) == bool(words), run.stderr
    assert re.search(words, run.stderr)
