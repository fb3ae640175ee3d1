"""Every exporter keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any, ClassVar

import pytest
from heavy_plugin import Imports, undeclared

from textreg.errors import UsageError
from textreg.params import param
from textreg.plugins import registry
from textreg.records.plain_model import PlainModel
from textreg_testing import Check, ContractError, check_exporter, exporter_checks
from textreg_testing.checks import limited

ALL = list(itertools.product(registry.names("exporter"), exporter_checks()))


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
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
