"""Every backend keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from heavy_plugin import Imports, undeclared

from textreg.builtin.backends import Here, Threads
from textreg.kinds import Workers
from textreg.params import param
from textreg.plugins import registry
from textreg_testing import Check, ContractError
from textreg_testing.repeated import backend_checks

ALL = list(itertools.product(registry.names("backend"), backend_checks()))


@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
def test_every_backend_keeps_the_contract(name: str, check: Check) -> None:
    check(name)


class Wrong(Threads):
    """Threads, but for one thing."""

    name = "wrong"


class Parameters(Wrong):
    """Threads."""

    extra: int = param(default=1, help="has no range")


class State(Wrong):
    extra: int = param(default=1, min=0, help="more")

    def __reduce__(self) -> Any:
        return type(self), ()  # its value is lost


class Backwards(Here):
    def map(self, *arguments: Any) -> Iterator[Any]:
        return reversed([*super().map(*arguments)])


class Work(Wrong):
    @contextmanager
    def open(self, address: Any, parts: Any, memory: Any, store: Any) -> Iterator[Workers]:
        yield Backwards(store)


class Quiet(Here):
    """What fails is None."""

    def submit(self, function: Any, *arguments: Any, outputs: int = 1) -> Any:
        return super().submit(_tried(function), *arguments, outputs=outputs)


class QuietMap(Here):
    """What fails along with others is None."""

    def map(self, function: Any, *arguments: Any) -> Iterator[Any]:
        return super().map(_tried(function), *arguments)


def _tried(function: Any) -> Any:
    def tried(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError:
            return None

    return tried


@pytest.mark.parametrize("workers", [Quiet, QuietMap])
def test_errors_are_raised(workers: type[Here]) -> None:
    class Silent(Wrong):
        @contextmanager
        def open(self, address: Any, parts: Any, memory: Any, store: Any) -> Iterator[Workers]:
            yield workers(store)

    (check,) = (check for check in backend_checks() if check.name == "backend-work")
    with pytest.raises((ContractError, TypeError)):
        check(Silent())


SPOILED: dict[str, Any] = {
    "backend-parameters": Parameters(),
    "backend-manifest": undeclared(Wrong)(),
    "backend-state": State(extra=2),
    "backend-work": Work(),
}


@pytest.mark.parametrize("name", SPOILED)
def test_every_check_can_fail(name: str) -> None:
    (check,) = (check for check in backend_checks() if check.name == name)
    check(Wrong())
    with pytest.raises(ContractError, match=f"{name}: expected"):
        check(SPOILED[name])
    assert {check.name for check in backend_checks()} == {*SPOILED, "backend-imports"}


def test_a_heavy_import_is_found() -> None:
    (check,) = (check for check in backend_checks() if check.name == "backend-imports")
    heavy = type("Heavy", (Wrong,), {"__module__": Imports.__module__})
    with pytest.raises(ContractError, match="backend-imports: expected"):
        check(heavy())
