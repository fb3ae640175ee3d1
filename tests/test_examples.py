"""The programs of docs/programs run, without a warning, and draw."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from test_documents import CHECKOUT

matplotlib = pytest.importorskip("matplotlib")
EXAMPLES = sorted((CHECKOUT / "docs" / "programs").glob("plot_*.py"))
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs").is_dir(), reason="textreg is not installed from a checkout"
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.close("all")
    runpy.run_path(str(example))
    (figure,) = map(pyplot.figure, pyplot.get_fignums())
    for axis in figure.axes:
        assert axis.has_data()
        assert axis.get_xlabel()
        assert axis.get_ylabel() or axis.get_yticklabels()
    pyplot.close("all")
    assert list(tmp_path.iterdir()) == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5
