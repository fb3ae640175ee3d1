"""The public names of the package, and that they cost nothing until they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import textreg
from textreg.plugins import registry


def test_every_public_name_is_there() -> None:
    for name in textreg.__all__:
        assert getattr(textreg, name) is not None
        assert name in dir(textreg)
    assert len(set(textreg.__all__)) == len(textreg.__all__)


def test_names_are_those_of_their_modules() -> None:
    from textreg.model.storage import load_model
    from textreg.training.train import train

    assert textreg.load is load_model
    assert textreg.train is train
    assert textreg.__version__ == version("textreg")
    for name in ("sentence", "lasso", "ridge", "elastic"):
        assert getattr(textreg, name.capitalize()) is registry.find("regularizer", name)


def test_type_checkers_see_the_same_names() -> None:
    names = {"__version__", "explain"}
    for node in ast.parse(Path(textreg.__file__).with_suffix(".pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module != "textreg":
            (imported,) = node.names
            name = imported.asname or imported.name.removesuffix("_model")
            there = import_module(str(node.module))
            assert getattr(textreg, name) is getattr(there, imported.name)
            names.add(name)
    assert sorted(names) == textreg.__all__


def test_parts_by_name() -> None:
    model = textreg.TextClassifier(
        reg=textreg.regularizer("textreg:lasso", l1=0.25),
        tokenizer=textreg.tokenizer("words", min_length=2),
        groups=textreg.group_builder("windows"),
        graph=textreg.graph_builder("cooccurrence", neighbors=4),
    )
    shown = repr(model)
    for part in ("reg=Lasso(l1=0.25)", "tokenizer=Words(min_length=2)", "groups=Windows()"):
        assert part in shown
    assert "Lasso(l1=0.25)" in model._repr_html_()
    assert model.reg == textreg.Lasso(l1=0.25)
    with pytest.raises(textreg.TextregError, match=r"no regularizer 'laso'.*Did you mean 'lasso'"):
        textreg.regularizer("laso")
    with pytest.raises(textreg.TextregError, match="lasso: no parameter 'l3'"):
        textreg.regularizer("lasso", l3=1.0)


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'textreg' has no attribute 'trian'"):
        _ = textreg.trian  # type: ignore[attr-defined]


@pytest.mark.parametrize("use", ["", "textreg.__version__", "dir(textreg)", "textreg.TextregError"])
def test_nothing_heavy_is_imported(use: str) -> None:
    code = (
        f"import sys, textreg\n{use}\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'joblib') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "[]\n", run.stderr
