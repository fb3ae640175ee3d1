"""References of the documentation to names of textreg: what exists is found, and nothing else."""

from __future__ import annotations

import runpy

import pytest
from test_documents import CHECKOUT

import textreg
from textreg.training.settings import TrainingSettings

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs").is_dir(), reason="textreg is not installed from a checkout"
)


@pytest.fixture(scope="module")
def named() -> dict[str, object]:
    return runpy.run_path(str(CHECKOUT / "docs" / "named.py"))


def test_what_exists(named) -> None:  # type: ignore[no-untyped-def]
    existing = named["existing"]
    assert existing("textreg.train") is textreg.train
    assert existing("textreg.training.settings.TrainingSettings") is TrainingSettings
    assert existing("textreg.tasks").__name__ == "textreg.tasks"
    assert existing("str.casefold") is str.casefold
    assert existing("textreg.records.Solution.gap") is not None  # a field of a record


@pytest.mark.parametrize(
    "name",
    ["textreg.tran", "textreg.tasks.None", "textreg.records.Solution.gaap", "os.path", "Model"],
)
def test_what_does_not_exist(named, name: str) -> None:  # type: ignore[no-untyped-def]
    assert named["existing"](name) is None


def test_names_inside_of_their_module_and_class(named) -> None:  # type: ignore[no-untyped-def]
    node = {"reftarget": "fit", "py:module": "textreg", "py:class": "TextClassifier"}
    assert list(named["names"](node)) == ["fit", "textreg.fit", "textreg.TextClassifier.fit"]
