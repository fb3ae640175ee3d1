"""Every regularizer keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli

from textreg import registry
from textreg.builtin.separable import Ridge
from textreg.errors import ConvergenceWarning, UsageError
from textreg.params import AUTO, LogGrid, param
from textreg.records import Problem, Solution, Step
from textreg.testing import CHECKS, Check, ContractError, check_regularizer, regularizer_checks
from textreg.testing.checks import describe

SKIPPED = {
    ("lle", "memory"): "200 eigenvectors of a graph of 100,000 features take minutes",
}
ALL = list(itertools.product(registry.names("regularizer"), regularizer_checks()))


@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
def test_every_regularizer_keeps_the_contract(name: str, check: Check) -> None:
    if reason := SKIPPED.get((name, str(check))):
        pytest.skip(reason)
    check(name)


class Wrong(Ridge):
    """Ridge, but for one thing."""

    name = "wrong"

    def solve(self, problem: Problem) -> Solution:
        return self.spoil(super().solve(problem), problem)

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return found


class Parameters(Wrong):
    extra: float = param(default=1.0, help="")


class State(Wrong):
    def __reduce__(self) -> Any:
        return type(self), ()


class WrongSolution(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w[:, None])


class Use(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=-found.w)


class Input(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        problem.X.data[0] += 1.0
        return found


class Determinism(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w + 1e-12 * np.random.default_rng().random(len(found.w)))


class Workers(Wrong):
    busy: ClassVar[list[int]] = []

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        self.busy.append(1)
        time.sleep(0.05)
        off = 1e-9 * (len(self.busy) - 1)
        self.busy.pop()
        return replace(found, w=found.w + off)


class Order(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w + 0.01 * problem.y @ np.arange(len(problem.y)))


class Weights(Wrong):
    def solve(self, problem: Problem) -> Solution:
        return super().solve(problem.replace(weights=np.ones(len(problem.y))))


class Intercept(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, b=found.b + 0.1)


class Dense(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w * (1 + 1e-3 * (problem.X.nnz % 2)))


class Memory(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        if problem.X.shape[1] > 1000:
            problem.X[:1000].toarray()
        return found


class Edges(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        norms = np.asarray(abs(problem.X).sum(axis=0))
        with np.errstate(all="ignore"):
            return replace(found, w=found.w / norms * norms)


class Prices(Wrong):
    def solve(self, problem: Problem) -> Solution:
        return super(Wrong, self.replace(l2=min(self.l2, 10.0))).solve(problem)


class Start(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return found if problem.start is None else replace(found, objective=found.objective * 1.01)


class Callback(Wrong):
    def solve(self, problem: Problem) -> Solution:
        return super().solve(problem.replace(callback=None))


class Honesty(Wrong):
    def solve(self, problem: Problem) -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return replace(super().solve(problem), converged=True)


class Bound(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        higher = found.objective * (1 + problem.tol)
        return replace(found, gap=min(found.gap, 1e-9), objective=higher)


class Backwards(Wrong):
    def path(self, problem: Problem, candidates: Any = None) -> Iterator[tuple[Any, Solution]]:
        yield from reversed(list(super().path(problem, candidates)))


WRONG = {
    "parameters": Parameters,
    "state": State,
    "solution": WrongSolution,
    "use": Use,
    "input": Input,
    "determinism": Determinism,
    "workers": Workers,
    "order": Order,
    "weights": Weights,
    "intercept": Intercept,
    "dense": None,
    "memory": Memory,
    "edges": Edges,
    "prices": Prices,
    "start": Start,
    "callback": Callback,
    "honesty": Honesty,
    "bound": Bound,
    "path": Backwards,
}


class DenseAware(Wrong):
    """Looks at how the problem was made, which a regularizer has no business with."""

    seen: ClassVar[list[int]] = []

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        self.seen.append(1)
        return replace(found, w=found.w * (1 + 1e-6 * len(self.seen)))


@pytest.mark.parametrize("check", regularizer_checks(), ids=str)
def test_every_check_can_fail(check: Check) -> None:
    wrong = WRONG[check.name] or DenseAware
    with pytest.raises(
        ContractError, match=rf"(?s)^{check.name}: expected .*, but got .*contract\.md"
    ):
        check(wrong)


@pytest.mark.parametrize("check", regularizer_checks(), ids=str)
def test_the_same_without_the_mistake_passes(check: Check) -> None:
    check(Wrong)


def test_checks_can_be_left_out_with_a_reason() -> None:
    with pytest.raises(ContractError, match="callback"):
        check_regularizer(Callback)
    check_regularizer(Callback, skip={"callback": "it is over in a moment"})
    with pytest.raises(UsageError, match="no check 'calback'"):
        check_regularizer(Callback, skip={"calback": ""})


def test_a_parameter_without_value_or_grid_is_found() -> None:
    class Undecided(Ridge):
        name = "undecided"
        more: float = param(default=AUTO, min=0, help="nobody knows")

    with pytest.raises(ContractError, match="a grid for more"):
        regularizer_checks()[0](Undecided)
    assert LogGrid(0.1, 1, 2)
    assert Step(0, 1.0, 0.5).gap == 0.5


def test_from_the_shell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("plugins", "check", "lasso")
    assert done.code == 0
    assert f"{len(WRONG)} of {len(WRONG)} checks passed" in done.out
    monkeypatch.setattr(registry, "find", lambda kind, name: Callback)
    failed = cli("plugins", "check", "wrong", "--json")
    assert failed.code == 1
    told = json.loads(failed.out)
    assert told["failed"] == 1
    assert [row["check"] for row in told["checks"] if row["status"] != "ok"] == ["callback"]


def test_every_check_is_described() -> None:
    page = Path(__file__).parent.parent / "docs" / "contract.md"
    assert describe([check for make in CHECKS.values() for check in make()]) in page.read_text(
        encoding="utf-8"
    )
    assert WRONG.keys() == {check.name for check in regularizer_checks()}
