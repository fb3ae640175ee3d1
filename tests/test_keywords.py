"""Keywords of ``train``, ``compare`` and the estimators, as a type checker sees them."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import textreg
from textreg.training import settings
from textreg.training.settings import declared_settings

pytest.importorskip("mypy")

# Only these are read, and what they are made of is anything: seconds in place of a minute.
CONFIG = """
[mypy]
strict = true
follow_imports = skip
cache_dir = /dev/null

[mypy-textreg,textreg.training,textreg.training.train,textreg.training.keywords,textreg_report,\
textreg_report.benchmark,textreg.estimators,textreg.estimators.base,textreg.estimators.text]
follow_imports = silent
"""
PROGRAM = """
from typing import Any
import textreg
import textreg_report

texts, labels = ["a", "b"], ["x", "y"]
textreg.train(texts, labels, regg="lasso")  # "regg" for "train"; did you mean "reg"
textreg.train(texts, labels, reg_ll=1)  # "reg_ll" for "train"
textreg.train(texts, labels, reg_l1="much")  # "reg_l1" .* "str"; expected "float"
textreg.train(texts, labels, multiclass="softmix")  # "multiclass"
textreg.train(texts, labels, seed=0.5)  # "seed"
textreg.train(texts, labels, class_weight=2)  # "class_weight"
textreg_report.compare(["lasso"], [], min_dff=2)  # "min_dff" for "compare"; did you mean "min_df"
textreg.TextClassifier(regg="lasso")  # "regg" for "TextClassifier"
textreg.trian(texts, labels)  # no attribute "trian"; maybe "train"

own: dict[str, Any] = {"reg_rate": 0.1}
textreg.train(texts, labels, reg="acme-slope:slope", **own)
textreg.train(texts, labels, reg=textreg.regularizer("slope", rate=0.1), reg_l1=1, seed=3)
textreg.train(texts, labels, tokenizer=str.split, groups=["lda", "sentences"], groups_size=3)
textreg.train(texts, labels, class_weight={"x": 2}, search_space={"reg_l1": [1, 2]}, cv=None)
textreg.train(texts, labels, fields={"subject": "text", "body": {"ngrams": 1}})
textreg.train(texts, labels, tokenizer_chars_lowercase=False, budget="5m")
textreg_report.compare(["lasso"], [], seed=1, reg_solver="admm")
"""


@pytest.mark.thorough  # mypy reads all of textreg for it
def test_a_type_checker_sees_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text(CONFIG)
    (tmp_path / "program.py").write_text(PROGRAM)
    found_in = Path(textreg.__file__).parents[1]
    checkout = "" if found_in.name == "site-packages" else str(found_in)  # where mypy looks anyway
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--hide-error-context", "program.py"],
        cwd=tmp_path,
        env={"MYPYPATH": checkout, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"^program.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE))
    lines = enumerate(PROGRAM.splitlines(), start=1)
    expected = {str(n): line.partition("  # ")[2] for n, line in lines if "  # " in line}
    assert found.keys() == expected.keys(), done.stdout + done.stderr
    for number, says in expected.items():
        assert re.search(says, found[number]), found[number]


def test_every_setting_has_a_type() -> None:
    stub = Path(settings.__file__).with_name("keywords.pyi").read_text()
    classes = {it.name: it for it in ast.parse(stub).body if isinstance(it, ast.ClassDef)}

    def keys(name: str) -> set[str]:
        if name not in classes:
            return set()
        own = classes[name]
        above = {key for base in own.bases for key in keys(ast.unparse(base))}
        return above | {ast.unparse(it.target) for it in own.body if isinstance(it, ast.AnnAssign)}

    named = {"reg", "dev", "unlabeled"}  # by train itself
    assert named <= inspect.signature(textreg.train).parameters.keys()
    assert declared_settings().keys() - keys("TrainKeywords") == named
    assert keys("TrainKeywords") - keys("SettingsKeywords") == {"seed"}
    assert inspect.signature(textreg.train).parameters["settings"].annotation == (
        "Unpack[TrainKeywords]"
    )
