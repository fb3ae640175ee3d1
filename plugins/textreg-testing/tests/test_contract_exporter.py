"""Every exporter keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
import json
import os
import random
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from heavy_plugin import Imports, undeclared

from textreg.errors import UsageError
from textreg.params import param
from textreg.plugins import registry
from textreg.records.plain_model import PlainModel
from textreg_export.runtime.predictor import Predictor
from textreg_testing import Check, ContractError, check_exporter, exporter_checks
from textreg_testing.checks import limited
from textreg_testing.exporter import (
    _asked,
    _differences,
    _same,
    answers_of,
    documents_for,
    two_labels,
)
from textreg_testing.texts import OPINIONS

ALL = [
    pytest.param(
        *(name, check),
        id=f"{name}-{check}",
        # It begins interpreters; below one finds nothing in what is right.
        marks=[pytest.mark.thorough] if check.name == "exporter-processes" else [],
    )
    for name, check in itertools.product(registry.names("exporter"), exporter_checks())
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "check"), ALL)
def test_every_exporter_keeps_the_contract(name: str, check: Check) -> None:
    with limited(60.0):  # a fresh interpreter that imports scikit-learn, on a busy machine
        check(name)


JsonExporter: Any = registry.find("exporter", "json")


class Wrong(JsonExporter):
    """JSON, but for one thing."""

    name = "wrong"

    def export(self, model: PlainModel) -> bytes:
        return json.dumps(self.spoil(model.to_dict())).encode()

    def spoil(self, document: dict[str, Any]) -> Any:
        return document


class Parameters(Wrong):
    """JSON."""

    extra: int = param(default=1, help="has no range")


class State(Wrong):
    extra: int = param(default=1, min=0, help="more")

    def __reduce__(self) -> Any:
        return type(self), ()  # its value is lost


class Result(Wrong):
    def spoil(self, document: dict[str, Any]) -> Any:
        for part in document["parts"]:
            del part["weights"]
        return document


class Reasons(Wrong):
    def spoil(self, document: dict[str, Any]) -> Any:
        if document["calibration"]:
            raise UsageError("no.")
        return document


class Labels(Wrong):
    def spoil(self, document: dict[str, Any]) -> Any:
        return {**document, "thresholds": None}


class Determinism(Wrong):
    seen: ClassVar[list[int]] = []

    def spoil(self, document: dict[str, Any]) -> Any:
        self.seen.append(1)
        return {**document, "seen": len(self.seen)}


class RandomNumbers(Wrong):
    """JSON."""

    def spoil(self, document: dict[str, Any]) -> Any:
        random.random()
        return document


class Settings(Wrong):
    extra: int = param(default=1, min=0, max=9, help="nothing")


class Processes(Wrong):
    def spoil(self, document: dict[str, Any]) -> Any:
        return {**document, "process": os.getpid()}


class Answers(Wrong):
    def spoil(self, document: dict[str, Any]) -> Any:
        return {**document, "intercepts": [0.0] * len(document["intercepts"])}


SPOILED = {
    "exporter-answers": Answers,
    "exporter-parameters": Parameters,
    "exporter-manifest": undeclared(Wrong),
    "exporter-state": State,
    "exporter-result": Result,
    "exporter-reasons": Reasons,
    "exporter-labels": Labels,
    "exporter-determinism": Determinism,
    "exporter-settings": Settings,
    "exporter-processes": Processes,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SPOILED)
def test_every_check_can_fail(name: str) -> None:
    (check,) = (check for check in exporter_checks() if check.name == name)
    wrong = SPOILED[name](extra=2) if name == "exporter-state" else SPOILED[name]()
    with limited(60.0):
        check(Wrong())
        with pytest.raises(ContractError, match=rf"(?s){name}: expected .* docs/contract.md"):
            check(wrong)
    assert {check.name for check in exporter_checks()} == {*SPOILED, "exporter-imports"}


def test_random_numbers_are_left_alone() -> None:
    names = {check.name for check in exporter_checks()} - {"exporter-determinism"}
    others = dict.fromkeys(names, "asked of others")
    with pytest.raises(ContractError, match="random numbers of the whole process"):
        check_exporter(RandomNumbers(), skip=others)


def test_a_heavy_import_is_found() -> None:
    (check,) = (check for check in exporter_checks() if check.name == "exporter-imports")
    heavy = type("Heavy", (Wrong,), {"__module__": Imports.__module__})
    with pytest.raises(ContractError, match="exporter-imports: expected"):
        check(heavy())


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (1.0, 1.0 + 9e-10, True),
        (1.0, 1.0 + 2e-9, False),
        (5e-10, 0.0, True),
        (2e-9, 0.0, False),
        (1, 1.0, True),
        ("a", "a", True),
        ("a", "b", False),
        (None, 1.0, False),
        ([1.0, 2.0], {"a": 1.0, "b": 2.0}, True),
        ([2.0, 1.0], {"a": 1.0, "b": 2.0}, False),
        ({"a": 1.0, "start": 7}, {"a": 1.0, "start": 3, "b": 2.0}, True),
        ({"a": 1.5}, {"a": 1.0}, False),
        ("a", {"a": 1.0}, True),
        (2.0, [2.0], True),
        (3.0, [2.0], False),
        ([2.0, 3.0], [2.0], False),
        ((2.0, 3.0), [2.0, 3.0], True),
        ([2.0, 4.0], [2.0, 3.0], False),
        (2.0, [2.0, 3.0], False),
    ],
)
def test_answers_that_are_the_same(got: Any, expected: Any, same: bool) -> None:
    assert _same(got, expected) is same


def test_differences_of_answers() -> None:
    model, documents = two_labels(), list(OPINIONS[:3])
    answers = _asked(
        partial(getattr, Predictor(json.loads(json.dumps(model.to_dict())))), documents
    )
    assert set(answers) == {"scores", "probabilities", "labels", "explanations"}
    assert list(_differences(model, documents, answers)) == []
    assert list(_differences(model, documents, {})) == []
    wrong = {**answers, "scores": answers["scores"][1:], "labels": ["no", None, "no"]}
    count, first, last = _differences(model, documents, wrong)
    assert count == "2 scores of 3 documents"
    right = answers["labels"]
    assert first == f"labels of {documents[0]!r:.60} are 'no' instead of {right[0]!r}"
    assert last == f"labels of {documents[2]!r:.60} are 'no' instead of {right[2]!r}"


def test_documents_of_every_form() -> None:
    def given(fields: str = "", tokenizer: str = "words") -> list[Any]:
        names = [SimpleNamespace(name=name) for name in fields.split()]
        model: Any = SimpleNamespace(fields=names, parts=[SimpleNamespace(tokenizer=tokenizer)])
        return documents_for(model)

    assert (given()[: len(OPINIONS)], len(given())) == (list(OPINIONS), len(OPINIONS) + 14)
    assert given(tokenizer="tokens")[0] == OPINIONS[0].split()
    rows = given("title brand price")
    assert [row["brand"] for row in rows[:4]] == ["Acme", "straße", None, "Acme"]
    assert [row["price"] for row in rows[:4]] == [1.5, None, 20, 1.5]
    assert (len(rows), rows[0]["title"]) == (len(given()), OPINIONS[0])
    assert [set(row) for row in given("title")] == [{"title"}] * len(rows)


def test_answers_of_files(tmp_path: Path) -> None:
    module = tmp_path / "model.py"
    module.write_text(
        "def scores(text):\n    return len(text)\n"
        "def predict(text):\n    raise ValueError(text)\n"
        "def explain(text):\n    return __name__, __file__\n"
    )
    assert answers_of(module, ["a", "bcd"]) == {
        "scores": [1, 3],
        "labels": [None, None],
        "explanations": [("model", str(module))] * 2,
    }
    model = tmp_path / "model.json"
    model.write_text(json.dumps(two_labels().to_dict()))
    assert answers_of(model, ["good"])["labels"] == ["it's good"]
    for text in ("[]", '{"format": "another"}'):
        model.write_text(text)
        assert answers_of(model, ["good"]) == {}
    assert answers_of(tmp_path / "model.bin", ["good"]) == {}
