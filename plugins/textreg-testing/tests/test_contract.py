"""Every regularizer keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
import json
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli
from heavy_plugin import Imports, undeclared

from textreg import Ridge
from textreg.builtin.greedy import Stagewise
from textreg.errors import ConvergenceWarning, UsageError
from textreg.params import AUTO, param
from textreg.plugins import registry
from textreg.records import MultiSolution, Problem, SelectionReport, Solution
from textreg_testing import CHECKS, Check, ContractError, check_regularizer, regularizer_checks
from textreg_testing.checks import limited, results

ALL = list(itertools.product(registry.names("regularizer"), regularizer_checks()))
REPEATS = ("settings", "determinism", "threads", "processes")


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
def test_every_regularizer_keeps_the_contract(name: str, check: Check) -> None:
    part: Any = name
    if name == "stagewise" and check.name in REPEATS:
        part = Stagewise(steps=100)  # of its grid they take 400, dozens of times
    with limited(60.0):  # pcr takes 7 s where every allocation is counted, more on a busy machine
        check(part)


def test_a_fresh_interpreter_may_have_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # lle's weights then differed by 1.1e-9
    next(check for check in regularizer_checks() if check.name == "processes")("lle")


class Wrong(Ridge):
    """Ridge, but for one thing."""

    name = "wrong"

    def solve(self, problem: Problem) -> Solution:
        return self.spoil(super().solve(problem), problem)

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return found


class Parameters(Wrong):
    """Ridge."""

    extra: float = param(default=1.0, help="has no range")


class State(Wrong):
    def __reduce__(self) -> Any:
        return type(self), ()


class Builder(Wrong):
    needs = "groups"
    default_builder = "lines"


class WrongSolution(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w[:, None])


class Losses(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return found if problem.loss.name == "logistic" else replace(found, w=-found.w)


class Optimality(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=found.w * 0.98)


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


class Weights(Wrong):
    def solve(self, problem: Problem) -> Solution:
        return super().solve(problem.replace(sample_weight=np.ones(len(problem.y))))


class Intercept(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, b=found.b + 0.1)


class Processes(Ridge):
    """Ridge, which depends on the hash of a text."""

    name = "processes"

    def solve(self, problem: Problem) -> Solution:
        found = super().solve(problem)
        return replace(found, w=found.w * (1.0 + 1e-9 * (hash("word") % 1000)))


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


class Strengths(Wrong):
    def solve(self, problem: Problem) -> Solution:
        return super(Wrong, self.replace(l2=min(self.l2, 10.0))).solve(problem)


class Start(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return found if problem.start is None else replace(found, objective=found.objective * 1.01)


class Callback(Wrong):
    """Ridge, and cannot be stopped."""

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


class Multiclass(Wrong):
    """Keeps the labels that it saw first with a matrix."""

    seen: ClassVar[list[Problem]] = []

    def solve(self, problem: Problem) -> Solution:
        before = [other for other in self.seen if other.X_csc is problem.X_csc]
        self.seen.append(problem)
        return super().solve(problem.replace(y=before[0].y) if before else problem)


class SideBySide(Ridge):
    """Starts every label but the first where the one before it ended."""

    name = "wrong"

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        found: list[Solution] = []
        for problem in problems:
            start = (found[-1].w, found[-1].b) if found else None
            found.append(self.solve(problem.replace(start=start)))
        return found


class Softmax(Wrong):
    """Finds the classes of unlike importance."""

    def solve_softmax(self, problem: Problem, codes: Any, start: Any = None) -> MultiSolution:
        found = super().solve_softmax(problem, codes, start)
        return replace(found, w=found.w * np.arange(1, len(found.w) + 1)[:, None])


class SoftmaxHonesty(Wrong):
    def solve_softmax(self, problem: Problem, codes: Any, start: Any = None) -> MultiSolution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return replace(super().solve_softmax(problem, codes, start), converged=True)


class Objective(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, objective=1.01 * found.objective)


class SoftmaxObjective(Wrong):
    def solve_softmax(self, problem: Problem, codes: Any, start: Any = None) -> MultiSolution:
        found = super().solve_softmax(problem, codes, start)
        return replace(found, objective=1.01 * found.objective)


class Settings(Wrong):
    """Ridge, and a parameter that nothing reads."""

    extra: float = param(default=1.0, min=0.0, help="nothing")


class Columns(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=np.where(np.arange(len(found.w)) == 0, 0.0, found.w))


class Labels(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, w=np.maximum(found.w, 0.0))


class Budget(Wrong):
    """Ridge, with one of the largest weights too many."""

    size: int = param(default=5, min=1, help="number of weights")

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        small = np.argsort(-np.abs(found.w))[self.size + 1 :]
        return replace(found, w=np.where(np.isin(np.arange(len(found.w)), small), 0.0, found.w))


class Report(Wrong):
    def spoil(self, found: Solution, problem: Problem) -> Solution:
        return replace(found, report=SelectionReport(order=(0, 0)))


class Structure(Builder):
    default_builder = "sentences"


class Scale(Wrong):
    def scale(self, problem: Problem, parameter: str) -> float:
        return float(len(problem.y))


WRONG = {
    "objective": Objective,
    "softmax-objective": SoftmaxObjective,
    "labels": Labels,
    "budget": Budget,
    "report": Report,
    "structure": Structure,
    "scale": Scale,
    "multiclass": Multiclass,
    "side-by-side": SideBySide,
    "softmax": Softmax,
    "softmax-honesty": SoftmaxHonesty,
    "parameters": Parameters,
    "state": State,
    "manifest": undeclared(Wrong),
    "imports": Imports,
    "builder": Builder,
    "solution": WrongSolution,
    "losses": Losses,
    "input": Input,
    "determinism": Determinism,
    "processes": Processes,
    "threads": Workers,
    "settings": Settings,
    "order": Columns,
    "weights": Weights,
    "intercept": Intercept,
    "dense": None,
    "memory": Memory,
    "optimality": Optimality,
    "edges": Edges,
    "strengths": Strengths,
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


OWN = [check for check in regularizer_checks() if not check.name.startswith("penalty-")]


@pytest.mark.parametrize("check", OWN, ids=str)
def test_every_check_can_fail(check: Check) -> None:
    wrong = WRONG[check.name] or DenseAware
    with pytest.raises(
        ContractError, match=rf"(?s)^{check.name}: expected .*, but got .*contract\.md"
    ):
        check(wrong)


def test_builders_are_for_what_is_needed() -> None:
    class Idle(Builder):
        needs = ""
        default_builder = "sentences"

    (check,) = [check for check in OWN if check.name == "builder"]
    with pytest.raises(ContractError, match="needs = 'groups' or 'graph', but got ''"):
        check(Idle)
    check("sentence")


@pytest.mark.parametrize("check", OWN, ids=str)
def test_the_same_without_the_mistake_passes(check: Check) -> None:
    check(Ridge if check.name == "imports" else Wrong)  # a module of tests imports a lot


class Numb(Wrong):
    """Its own penalty has a prox that is none."""

    def penalty(self, problem: Problem) -> Any:
        penalty = super().penalty(problem)
        penalty.prox = lambda w, step: w / 2.0
        return penalty


def test_a_penalty_is_checked_with_its_regularizer() -> None:
    (check,) = [check for check in regularizer_checks() if check.name == "penalty-prox"]
    check(Wrong)
    with pytest.raises(ContractError, match="penalty-prox: expected a cost of"):
        check(Numb)
    assert not check.applies("omp")  # which has no penalty
    assert not check.applies("sentence")  # whose penalty has no prox


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (param(default=AUTO, min=0, help="nobody knows"), "a grid for more"),
        (param(default=1.0, help="some"), "a min or a max of more"),
    ],
)
def test_parameters_are_described_and_ranged(declared: Any, message: str) -> None:
    class Lacking(Ridge):
        """Ridge, with a parameter more."""

        name = "lacking"
        more: float = declared

    with pytest.raises(ContractError, match=message):
        OWN[0](Lacking)


def test_a_class_says_what_it_is() -> None:
    class Silent(Ridge):
        name = "silent"

    with pytest.raises(ContractError, match="a docstring of Silent"):
        OWN[0](Silent)


def test_ranges_are_kept_by_the_class() -> None:
    class Deaf(Ridge):
        """Ridge, whatever it is told."""

        name = "deaf"

        def replace(self, **values: Any) -> Any:
            return self

    with pytest.raises(ContractError, match="a UsageError for l2=-1, but got none"):
        OWN[0](Deaf)


def test_what_is_said_of_all_classes_is_asked_only_where_it_holds() -> None:
    (check,) = [check for check in OWN if check.name == "softmax"]
    assert check.applies("ridge")
    assert not check.applies("omp")


def test_no_group_and_no_link_are_no_reason_to_fail() -> None:
    class Divides(Ridge):
        """Ridge, with a strength that depends on the number of groups."""

        name = "divides"
        needs = "groups"

        def solve(self, problem: Problem) -> Solution:
            assert problem.groups is not None
            sizes = np.diff(problem.groups.indptr)
            found = super().solve(problem)
            with np.errstate(all="ignore"):
                return replace(found, w=found.w / sizes.sum() * sizes.sum())

    (check,) = [check for check in OWN if check.name == "edges"]
    with pytest.raises(ContractError, match="weights that are not finite"):
        check(Divides)


def test_checks_can_be_left_out_with_a_reason() -> None:
    asked = ("solution", "callback")  # of the others, each runs for a second
    reasons = {str(each): "not here" for each in regularizer_checks() if str(each) not in asked}
    with pytest.raises(ContractError, match="callback"):
        check_regularizer(Callback, skip=reasons)
    check_regularizer(Callback, skip={**reasons, "callback": "it is over in a moment"})
    with pytest.raises(UsageError, match=r"no check 'calback'\. Did you mean 'callback'"):
        check_regularizer(Callback, skip={"calback": ""})


class Several(Callback):
    """Ridge, with two mistakes."""

    def solve(self, problem: Problem) -> Solution:
        found = super().solve(problem)
        return replace(found, objective=1.01 * found.objective)


def test_what_would_fail_for_the_same_reason_is_not_run() -> None:
    told = {it.check: it for it in results(regularizer_checks(), Several, {})}
    failed = {name for name, it in told.items() if it.status == "FAILED"}
    assert failed == {"callback", "objective"}
    assert {told[name].message for name in ("start", "path", "memory")} == {"as objective failed"}


def test_from_the_shell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("solution", "imports", "callback")  # all of them run for seconds
    lacks = ("builder", "structure", "penalty-gradient")
    few = [each for each in regularizer_checks() if each.name in asked + lacks]
    monkeypatch.setitem(CHECKS, "regularizer", lambda: few)
    done = cli("plugins", "check", "lasso")
    assert done.code == 0
    assert "3 of 3 checks passed" in done.out
    find = registry.find
    wrong = {"regularizer": Callback}
    monkeypatch.setattr(registry, "find", lambda kind, name: wrong.get(kind) or find(kind, name))
    failed = cli("plugins", "check", "wrong", "--json")
    assert failed.code == 1
    told = json.loads(failed.out)
    assert told["failed"] == 1
    rows = [(row["check"], row["status"]) for row in told["checks"]]
    assert rows == [("solution", "ok"), ("callback", "FAILED"), ("imports", "not run")]
    assert told["checks"][-1]["message"] == "as callback failed"


def test_every_check_is_described() -> None:
    page = (Path(__file__).parents[3] / "docs" / "contract.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", page.replace("\\|", "|"), re.MULTILINE)
    described = {name: promise for names, promise in rows for name in re.findall("`(.*?)`", names)}
    assert described == {check.name: check.promise for make in CHECKS.values() for check in make()}
    assert WRONG.keys() == {check.name for check in OWN}
