"""Every regularizer keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
import json
import math
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli
from heavy_plugin import Imports, undeclared

from textreg import Lasso, Ridge
from textreg.builtin.greedy import Stagewise
from textreg.errors import ConvergenceWarning, DataError, PluginError, RecordError, UsageError
from textreg.kinds import Regularizer, Tokenizer
from textreg.params import AUTO, param
from textreg.plugins import registry
from textreg.records import MultiSolution, Problem, SelectionReport, Solution
from textreg.records.problem import SelectionStep, Step
from textreg_testing import (
    CHECKS,
    Check,
    ContractError,
    check_regularizer,
    problems,
    regularizer_checks,
)
from textreg_testing.checks import (
    Checks,
    Skipped,
    TimeLimitError,
    at_least,
    at_most,
    limited,
    near,
    not_run,
    results,
)
from textreg_testing.commands import _try, kind_and_name
from textreg_testing.regularizer import (
    _moves,
    _require_order,
    lower,
    require_honest,
    require_objective,
    require_stop,
    solved_or_refused,
)
from textreg_testing.repeated import (
    ROUNDS,
    THREADS,
    Effects,
    check_settings,
    in_threads,
    others,
)
from textreg_testing.texts import written

FRESH = ("imports", "processes")
"""Checks that start an interpreter. Each passes below for Ridge, and one for lle."""

ALL = [
    pytest.param(
        *(name, check),
        id=f"{name}-{check}",
        marks=[pytest.mark.thorough] if check.name in FRESH else [],
    )
    for name, check in itertools.product(registry.names("regularizer"), regularizer_checks())
]
REPEATS = ("settings", "determinism", "threads", "processes")


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("name", "check"), ALL)
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
    """Starts every label but the first near half of its weights."""

    name = "wrong"

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        found: list[Solution] = []
        for problem in problems:
            if found:
                whole = self.solve(problem)
                problem = problem.replace(start=(0.5 * whole.w, whole.b))
            found.append(self.solve(problem))
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


class InPlace(Wrong):
    """Changes nothing, but by a way that training forbids, as compiled code may take it."""

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        np.multiply(problem.y, 1.0, out=problem.y)
        return found


def test_the_problem_comes_as_in_training() -> None:
    (check,) = [check for check in regularizer_checks() if check.name == "input"]
    with pytest.raises(ValueError, match="array is read-only"):
        check(InPlace())


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
    failed = cli("plugins", "check", "lasso", "--json")
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


# What regularizers are tried on, and how solutions are judged


def told(problem: Problem) -> str:
    """The shape of a problem, and a sum of each of its arrays that depends on the order."""

    def total(array: Any) -> str:
        values = np.asarray(array, dtype=np.float64).ravel()
        return f"{float(values @ np.cos(np.arange(len(values)))):.4g}"

    groups, graph = problem.groups, problem.graph
    assert groups is not None
    assert graph is not None
    arrays = [problem.X.data, problem.X.indices, problem.y, problem.sample_weight]
    arrays += [groups.indices, groups.indptr, groups.weights]
    arrays += [graph.similar.data, graph.similar.indices]
    shape = "x".join(map(str, problem.X.shape))
    return " ".join([shape, *map(total, arrays), f"{problem.tol:g} {problem.max_iter}"])


def test_problems_that_regularizers_are_tried_on() -> None:
    problem = problems.small()
    order = np.random.default_rng(1).permutation(problems.P)
    cases = {
        "small": problem,
        "small, anew": problems.small(3, tol=0.5),
        "hard": problems.hard(),
        "hard, anew": problems.hard(2),
        "turned": problems.turned(),
        "single features": problems.single_features(),
        "weighted": problems.weighted(),
        "reordered": problems.reordered(problem, order),
        "repeated": problems.repeated(problem),
        "large": problems.large(40, 90),
        "labeled": problems.labeled(tol=0.1)[0],
    }
    for needs in ("groups", "graph"):
        cases |= {f"{needs}: {name}": it for name, (it, _) in problems.edges(needs).items()}
        cases |= dict(problems.with_others(problem, needs))
    lines = [f"{name}: {told(it)}" for name, it in cases.items()]
    assert "\n".join(lines) == PROBLEMS
    groups = replace(problem.groups, weights=np.arange(1.0, 1.0 + len(problem.groups)))
    turned = problems.reordered(problem.replace(groups=groups), order).groups
    for g in range(len(groups)):
        there = len(groups) - 1 - g
        assert set(order[turned.members(there)]) == set(groups.members(g))
        assert turned.weights[there] == groups.weights[g]
    refused = {needs: [it for _, it in problems.edges(needs).values()] for needs in KINDS}
    assert refused == {
        "groups": [*[False] * 6, True, True],
        "graph": [*[False] * 5, True],
        "": [False] * 6,
    }
    codes = problems.labeled()[1]
    assert (int(codes @ np.arange(len(codes))), np.bincount(codes).tolist()) == (1458, [7, 17, 24])
    assert problems.one_rest(np.array([0, 1, 2, 1]), 1).tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert problems.null_loss(problem) == pytest.approx(64.4573113)
    loss, gradient = problems.loss_at(problem, np.arange(problems.P) / 10, 0.5)
    assert loss == pytest.approx(137.1804114)
    assert gradient[:4] == pytest.approx([-5.3818004, -6.1210771, -8.6144836, -19.0974227])
    elastic, lasso, omp = (
        problems.prepared(registry.create("regularizer", name)).params()
        for name in ("elastic", "lasso", "omp")
    )
    assert (elastic["l2"], elastic["l1"]) == pytest.approx((0.01415, 4.244), rel=1e-3)
    assert (lasso["l1"], omp["budget"]) == (pytest.approx(0.245, rel=1e-3), 20)


KINDS = ("groups", "graph", "")


class Quadratic:
    """Half the squared length of all weights and of the intercept."""

    def __call__(self, w: Any, b: Any) -> float:
        return 0.5 * float(np.sum(np.square(w)) + np.sum(np.square(b)))


def solution(w: Sequence[float], b: Any = 0.0, **values: Any) -> Any:
    """One that no record has looked at."""
    return SimpleNamespace(**{"w": np.array(w), "b": b, "gap": 0.0, "converged": True, **values})


def test_the_lowest_objective_nearby() -> None:
    objective = Quadratic()
    value, w, b = lower(objective, solution([3.0, 0.0], 1.0), np.eye(2))
    assert (value, w.tolist(), b) == (pytest.approx(0.5 * (2.99**2 + 1)), [2.99, 0.0], 1.0)
    value, w, b = lower(objective, solution([1.0, 0.0], -4.0), np.eye(2))
    assert (w.tolist(), b) == ([1.0, 0.0], -3.99)
    value, w, b = lower(objective, solution([0.0], np.array([2.0, -5.0])), np.eye(1))
    assert b.tolist() == [1.99, -5.0]


def test_moves_of_weights() -> None:
    problem = problems.small()
    found = solution([0.0, 2.0, *[0.0] * 17, -1.0])
    _, gradient = problems.loss_at(problem, found.w, 0.0)
    own = _moves(found, problem, everywhere=False)
    assert [np.flatnonzero(move).tolist() for move in own] == [[1], [19], [1, 19], [1, 19]]
    assert own[3] == pytest.approx(np.where(found.w != 0.0, -gradient, 0.0))
    every = _moves(found, problem, everywhere=True)
    assert len(every) == 20 + 2 + 2
    assert every[21] == pytest.approx(-gradient)
    assert every[22].tolist() == [0.0, -200.0, *[0.0] * 18]
    assert every[23].tolist() == [*[0.0] * 19, 100.0]


@pytest.mark.parametrize(
    ("values", "warns", "message"),
    [
        ({"gap": 0.01}, False, ""),
        ({"gap": 0.011}, False, "expected a gap within 0.01, but got 0.011"),
        ({"gap": math.nan}, False, ""),
        ({"gap": 0.5, "converged": False}, True, ""),
        ({"gap": 0.0, "converged": False}, False, "expected a ConvergenceWarning, but got none"),
    ],
)
def test_honest_solutions(values: dict[str, Any], warns: bool, message: str) -> None:
    def solve(problem: Problem) -> Solution:
        if warns:
            warnings.warn("not yet", ConvergenceWarning, stacklevel=1)
        return solution([1.0], **values)

    problem = problems.small(tol=0.01)
    if message:
        with pytest.raises(ContractError, match=re.escape(message)):
            require_honest(solve, problem)
    else:
        assert require_honest(solve, problem).gap is values["gap"]
    known = solution([2.0])
    assert require_honest(solve, problem, known=known) is known


class Deaf(Lasso):
    """A lasso of one strength, whatever it is told, so that most weights are zero."""

    def solve(self, problem: Problem) -> Solution:
        heard = self.l1 if self.l1 == 0.0 or self.l1 > 1e3 else 0.2
        return super(Deaf, self.replace(l1=heard)).solve(problem)


class Negative(Regularizer):
    """Says that a norm of a group is negative."""

    name = "negative"
    needs = "groups"
    default_builder = "sentences"

    def solve(self, problem: Problem) -> Solution:
        assert problem.groups is not None
        norms = np.ones(len(problem.groups))
        norms[0] = -1.0
        zeros = np.zeros(problem.X.shape[1])
        return Solution(zeros, 0.0, self.objective(problem, zeros, 0.0), group_norms=norms)


@pytest.mark.parametrize(
    ("name", "wrong", "told"),
    [
        ("strengths", Deaf, "other weights with l1 three times as large"),
        ("report", Negative, "group_norms"),
    ],
)
def test_what_else_a_check_finds(name: str, wrong: type[Regularizer], told: str) -> None:
    (check,) = [check for check in OWN if check.name == name]
    with pytest.raises(ContractError, match=f"(?s)^{name}: expected {told}.*, but got"):
        check(wrong)


class Silent(Regularizer):
    """Declares no objective: what is minimized is taken for the loss."""

    name = "silent"

    def solve(self, problem: Problem) -> Solution:
        zeros = np.zeros(problem.X.shape[1])
        return Solution(zeros, 0.0, self.objective(problem, zeros, 0.0))


@pytest.mark.parametrize(("part", "told"), [(Silent(), True), (Ridge(l2=1.0), False)])
def test_who_declares_no_objective_is_told_what_is_expected(part: Any, told: bool) -> None:
    problem = problems.small()
    found = part.solve(problem)
    require_objective(part, problem, found, " for it")
    wrong = replace(found, objective=2.0 * found.objective)
    with pytest.raises(ContractError) as caught:
        require_objective(part, problem, wrong, " for it")
    assert ("(the loss; what else is right, objective" in str(caught.value)) == told
    assert "not allowed" not in str(caught.value)


def test_weights_that_an_objective_does_not_allow_are_named() -> None:
    class Bounded(Silent):
        def objective(self, problem: Problem, w: Any, b: float) -> float:
            return math.inf

    problem = problems.small()
    with pytest.raises(ContractError, match="for it, at which such weights are not allowed"):
        require_objective(Bounded(), problem, Silent().solve(problem), " for it")


@pytest.mark.parametrize(
    ("calls", "w", "message"),
    [(1, 1.0, ""), (0, 1.0, "expected one Step"), (2, 1.0, "one Step"), (1, math.nan, "finite")],
)
def test_stops_of_a_callback(calls: int, w: float, message: str) -> None:
    def solve(stop: Any) -> Solution:
        assert all(stop(Step(1, 2.0, 0.5)) for _ in range(calls))
        return solution([w])

    with pytest.raises(ContractError, match=message) if message else nullcontext():
        require_stop(solve)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (DataError("why"), ""),
        (UsageError("why"), ""),
        (DataError(""), "expected a solution for it, or a DataError or UsageError that tells why"),
        (RecordError("why"), "but got RecordError: why"),
        (None, "finite weights and intercept for it"),
    ],
)
def test_refusals_tell_why(error: Exception | None, message: str) -> None:
    def solve() -> Solution:
        if error is not None:
            raise error
        return solution([0.0], math.inf)

    with pytest.raises(ContractError, match=message) if message else nullcontext():
        solved_or_refused(solve, "it")


ORDERED = [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("w", "order", "steps", "message"),
    [
        (ORDERED, (3, 1, 2), [(1, 0), (3, 1)], ""),
        (ORDERED, (3, 1, 2), [], ""),
        (ORDERED, (3, 1, 1, 2), [], "each feature once in order"),
        (ORDERED, (3, 1, 4, 2), [], "features of 0 to 3 in order"),
        (ORDERED, (3, -1, 2, 1), [], "features of 0 to 3 in order"),
        (ORDERED, (3, 2), [], "every feature with a weight in order, but got none of"),
        (ORDERED, (3, 1, 2, 0), [], ""),  # one of four may be without a weight
        ([0.0, 0.0, 2.0, 3.0], (3, 1, 2), [], "weights of the features in order, but got 1"),
        (ORDERED, (3, 1, 2), [(1, 0), (2, 1)], "steps whose active rises to 3"),
        (ORDERED, (3, 1, 2), [(2, 1), (1, 1), (3, 1)], "steps whose active rises to 3"),
        (ORDERED, (3, 1, 2), [(1, 1), (3, 1)], "features of group 1, .*, in its step"),
        (ORDERED, (3, 1, 2), [(1, -1), (3, 1)], ""),
    ],
)
def test_orders_of_selections(
    w: list[float], order: tuple[int, ...], steps: list[tuple[int, int]], message: str
) -> None:
    groups = problems.groups_from([np.array([0, 3]), np.array([1, 2])], 4)
    report = SelectionReport(
        order=order,
        steps=tuple(SelectionStep(group, active) for active, group in steps),
    )
    with pytest.raises(ContractError, match=message) if message else nullcontext():
        _require_order(solution(w), report, groups)


def test_other_values_of_parameters() -> None:
    def tried(part: Any) -> dict[str, list[Any]]:
        return {key: list(others(it, getattr(part, key))) for key, it in part.declared().items()}

    assert tried(registry.create("regularizer", "elastic", l1=1.0, l2=2.0)) == {
        "weights": [], "l2": [4.0, 1.0, 0.0, 5.0, 20.0, 0.5], "l1": [2.0, 0.5, 0.0, 5.0, 10.0],
    }  # fmt: skip
    assert tried(registry.create("tokenizer", "words")) == {
        "lowercase": [False],
        "min_length": [2, 1000, 5, 10],
        "sentences": ["lines", "paragraphs", "none"],
        "normalize": ["nfkc", "none"],
        "punctuation": [True],
        "emoji": [True],
    }


def test_calls_meet_in_threads() -> None:
    tasks = ["a", "b"]
    found = in_threads(lambda part, task: part + task, "x", tasks)
    assert len(found) == THREADS * ROUNDS * len(tasks)
    assert all(result == f"x{tasks[place]}" for place, result in found)
    times = THREADS * ROUNDS
    assert sorted(place for place, _ in found) == [0] * times + [1] * times


def test_numbers_are_near_or_told() -> None:
    near("it", [1.0, -2.0], [1.0, -2.002], 1.0e-3)
    with pytest.raises(ContractError, match=re.escape("it equal to 0.001, relatively, but got")):
        near("it", [1.0, -2.0], [1.0, -2.003], 1.0e-3)
    with pytest.raises(ContractError, match=re.escape("it of the shape (2,), but got the shape")):
        near("it", [1.0], [1.0, 2.0], 1.0)
    near("nothing", [1e-13], [0.0], 0.2)
    at_least("it", 1.0, 1.5, 0.5)
    at_most("it", 1.5, 1.0, 0.5)
    with pytest.raises(ContractError, match=r"it of 1\.5 at least, but got 0\.9"):
        at_least("it", 0.9, 1.5, 0.5)
    with pytest.raises(ContractError, match=r"it of 1 at most, but got 1\.6"):
        at_most("it", 1.6, 1.0, 0.5)


class Stub(Checks):
    """Checks that end as their names say, at the levels that these say."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        for name in names:
            level = getattr(self, name.partition("-")[0])
            self.add(name, lambda part, name=name: "no" not in name, level=level)(self.runner(name))

    @staticmethod
    def runner(name: str) -> Any:
        def run(part: Any) -> None:
            """It ends."""
            if "bad" in name:
                raise ContractError("expected good, but got bad.")
            if "late" in name:
                raise TimeLimitError("expected an end, but got none.")
            if "error" in name:
                raise ValueError("odd")
            if "left" in name:
                raise Skipped("it is not for this")

        return run


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (
            ["USUAL-1", "OF_CLASS-bad", "COSTLY-1", "SINGLE-left", "RIGHT-no"],
            ["OF_CLASS-bad FAILED", "SINGLE-left skipped", "USUAL-1 ok", "COSTLY-1 not run"],
        ),
        (
            ["RESULT-bad", "RESULT-1", "SINGLE-1", "OF_CLASS-1", "COSTLY-2"],
            ["OF_CLASS-1 ok", "RESULT-bad FAILED", "RESULT-1 ok", "SINGLE-1 not run",
             "COSTLY-2 not run"],
        ),
        (
            ["SINGLE-late", "SINGLE-1", "COSTLY-1"],
            ["SINGLE-late FAILED", "SINGLE-1 not run", "COSTLY-1 not run"],
        ),
        (
            ["RIGHT-error", "RIGHT-1", "USUAL-1"],
            ["RIGHT-error FAILED", "RIGHT-1 ok", "USUAL-1 not run"],
        ),
        (
            ["OF_PENALTY-bad", "RESULT-1", "OF_PENALTY-1"],
            ["OF_PENALTY-bad FAILED", "OF_PENALTY-1 ok", "RESULT-1 not run"],
        ),
        (["USUAL-bad", "USUAL-1"], ["USUAL-bad FAILED", "USUAL-1 ok"]),
        (["SINGLE-error", "USUAL-error"], ["SINGLE-error FAILED", "USUAL-error not run"]),
    ],
)  # fmt: skip
def test_what_comes_of_checks(names: list[str], told: list[str]) -> None:
    found = list(results(Stub(*names).of(), object(), {}))
    assert [f"{it.check} {it.status}" for it in found] == told
    (first,) = (it for it in found[:2] if it.status == "FAILED")
    wanted = {
        "bad": f"{first.check}: expected good, but got bad. See docs/contract.md, '{first.check}'.",
        "late": f"{first.check}: expected an end, but got none. See docs/contract.md, "
        f"'{first.check}'.",
        "error": f"{first.check}: ValueError: odd",
    }
    assert first.message.startswith(wanted[first.check.partition("-")[2]])
    left = [it.check for it in found if it.status == "not run"]
    lines = [f"not run, as {first.check} failed: {', '.join(left)}"] if left else []
    assert not_run(found) == lines


def test_checks_that_are_left_out() -> None:
    some = Stub("USUAL-bad", "USUAL-1")
    told = list(results(some.of(), object(), {"USUAL-bad": "known"}))
    assert [(it.status, it.message) for it in told] == [("skipped", "known"), ("ok", "It ends.")]
    with pytest.raises(UsageError, match=r"there is no check 'USUAL-2'\. Did you mean 'USUAL-1'"):
        list(results(some.of(), object(), {"USUAL-2": "known"}))


def row(kind: str, name: str, distribution: str = "acme-tok", file: str = "") -> Any:
    return SimpleNamespace(kind=kind, name=name, distribution=distribution, file=file)


LISTED = [
    row("regularizer", "slope"),
    row("groups", "file"),
    row("graph", "file"),
    row("tokenizer", "dots.and.more"),
    row("tokenizer", "both"),
    row("regularizer", "both"),
    row("loss", "own", "", "/home/me/own.py"),
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("groups.file", ("groups", "file")),
        ("slope", ("regularizer", "slope")),
        ("dots.and.more", ("tokenizer", "dots.and.more")),
        ("both", ("regularizer", "both")),
        ("Acme_Tok:dots.and.more", ("tokenizer", "Acme_Tok:dots.and.more")),
        ("own.py:own", ("loss", "own.py:own")),
        ("/home/me/own.py:own", ("loss", "/home/me/own.py:own")),
    ],
)
def test_kinds_that_names_stand_for(name: str, found: tuple[str, str]) -> None:
    assert kind_and_name(name, LISTED) == found


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("unheard", ""),
        ("groups.", ".* Did you mean 'group"),
        ("other:dots.and.more", ""),
        ("sentense", ".* Did you mean 'sentence'"),
        ("textreg-testing", ".* Did you mean 'textreg[a-z-]*:"),
    ],
)
def test_a_name_of_no_plugin(name: str, meant: str) -> None:
    with pytest.raises(PluginError, match=rf"no plugin '{name}'\.{meant}.* See: textreg plugins"):
        kind_and_name(name, LISTED if not meant else registry.listing())


def test_a_name_of_several_kinds() -> None:
    with pytest.raises(UsageError, match=r"'file' stands for groups\.file and graph\.file: name"):
        kind_and_name("file", LISTED)


class Quiet(Tokenizer):
    """Words, as often as it says."""

    name = "quiet"
    times: int = param(default=1, min=1, max=3, help="how often")
    loud: bool = param(default=False, help="in capitals, of words with an x")

    def __call__(self, text: str) -> list[list[str]]:
        loud = self.loud
        return [[it.upper() if loud and "x" in it else it for it in text.split()] * self.times]


class Echo(Quiet):
    """The same, and what nothing reads."""

    unused: int = param(default=1, min=1, max=3, help="nothing")


def effects(*texts: str) -> Effects:
    return Effects([Echo()], texts, lambda part, text: part(text))


def test_effects_of_parameters() -> None:
    declared = Echo.declared()
    some = effects("a b", "c")
    assert some.in_vain("times", declared["times"]) == []
    assert some.in_vain("unused", declared["unused"]) == [1, 2, 3]
    assert some.in_vain("loud", declared["loud"]) == [False, True]
    assert effects("a", "xy").in_vain("loud", declared["loud"]) == []
    assert [some.is_read(key) for key in declared] == [True, True, False]


def test_parameters_without_an_effect() -> None:
    message = "an effect of the parameter unused, but got the same result for 1, 2, 3, as nothing"
    with pytest.raises(ContractError, match=message):
        check_settings(effects("a xy"), (SimpleNamespace(texts=()),))


def test_switches_without_an_effect_on_our_texts() -> None:
    some = Effects([Quiet()], ["a b"], lambda part, text: part(text))
    ours, given = SimpleNamespace(texts=()), SimpleNamespace(texts=("a b",))
    with pytest.raises(Skipped, match="no effect of loud is seen: the same result for False, True"):
        check_settings(some, (ours,))
    with pytest.raises(ContractError, match="an effect of the parameter loud"):
        check_settings(some, (given,))
    refused = Effects([Quiet()], ["a"], lambda part, text: ("refused", text))
    with pytest.raises(Skipped, match="nothing is made of what it is tried on"):
        check_settings(refused, (ours,))


class WeightOfNothing(Wrong):
    """Ridge, but for the first feature where there is none."""

    def spoil(self, found: Solution, problem: Problem) -> Solution:
        w = found.w.copy()
        w[0] += 1.0 if problem.X.nnz == 0 else 0.0
        return replace(found, w=w)


def test_features_of_zeros_have_no_weight() -> None:
    (check,) = (one for one in regularizer_checks() if one.name == "intercept")
    with pytest.raises(ContractError, match="no weight where every feature is 0, but got"):
        check(WeightOfNothing)


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("tokenizer", "words", {"reg": "textreg:ridge", "reg_l2": 1.0}),
        ("groups", "sentences", {"reg": "textreg:group", "reg_group": 0.1, "reg_l1": 0.1}),
        ("graph", "cooccurrence", {"reg": "textreg:network"}),
        ("loss", "logistic", {"reg": "textreg:ridge", "reg_l2": 1.0}),
        ("regularizer", "ridge", {}),
    ],
)
def test_what_parts_are_tried_with(
    kind: str, name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("textreg.train", lambda *rows, **given: seen.append((rows, given)))
    _try(row(kind, name, "textreg"))
    ((rows, given),) = seen
    assert rows == (written(60, 2, 4, 1), ["lamps", "kettles"] * 30)
    part = given.pop("reg" if kind == "regularizer" else kind)
    assert (part.name, given) == (name, {"ngrams": 1, **options})


PROBLEMS = """\
small: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 1e-07 20000
small, anew: 48x20 -7.706 -18.31 0.1678 4.409 -80.27 78.14 0.8745 1.094 9.821 0.5 20000
hard: 60x90 108.9 -361.9 5.884 -1.071 320.7 -289.9 0.7529 1.87 -124.5 1e-07 20000
hard, anew: 60x90 -95.24 186.6 2.266 7.77 139.5 -239.9 -2.824 2.239 -322.4 1e-07 20000
turned: 48x20 27.76 53.53 -5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 1e-07 20000
single features: 48x20 27.76 53.53 5.185 0.5163 11.99 20.15 1.132 2.899 -36.5 1e-07 20000
weighted: 48x20 27.76 53.53 5.185 1.914 60.15 88.55 0.8745 2.899 -36.5 1e-07 20000
reordered: 48x20 5.906 10.63 5.185 0.5163 -16.12 89.35 0.8745 1.289 -4.108 1e-07 20000
repeated: 93x20 2.441 136.9 1.123 -0.5266 60.15 88.55 0.8745 2.899 -36.5 1e-07 20000
large: 40x90 -8.288 433 -2.915 1.515 349.7 -1063 1.146 -0.5571 -57.42 0.05 1
labeled: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.1 20000
groups: a single feature: 48x1 3.74 0 5.185 0.5163 0 -3.817 0.1342 0 0 0.001 200
groups: two documents: 2x20 -1.775 13.87 0.4597 1.54 60.15 88.55 0.8745 2.899 -36.5 0.001 200
groups: a feature twice: 48x20 9.283 -97.65 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
groups: one label: 48x20 27.76 53.53 0.1169 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
groups: documents without a feature: 48x20 11.7 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 \
0.001 200
groups: columns of zeros: 48x20 14.54 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
groups: no group: 48x20 27.76 53.53 5.185 0.5163 0 0 0 2.899 -36.5 0.001 200
groups: groups without a feature: 48x20 27.76 53.53 5.185 0.5163 0 0 1.124 2.899 -36.5 0.001 200
group 0: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 -0.1155 2.899 -36.5 1e-07 20000
group 3: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 1.855 2.899 -36.5 1e-07 20000
group 25: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 -0.1068 2.899 -36.5 1e-07 20000
graph: two documents: 2x20 -1.775 13.87 0.4597 1.54 60.15 88.55 0.8745 2.899 -36.5 0.001 200
graph: a feature twice: 48x20 9.283 -97.65 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
graph: one label: 48x20 27.76 53.53 0.1169 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
graph: documents without a feature: 48x20 11.7 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 \
0.001 200
graph: columns of zeros: 48x20 14.54 53.53 5.185 0.5163 60.15 88.55 0.8745 2.899 -36.5 0.001 200
graph: a graph without a link: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 0.8745 0 0 0.001 200
link 0: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 0.8745 3.773 -36.5 1e-07 20000
link 51: 48x20 27.76 53.53 5.185 0.5163 60.15 88.55 0.8745 3.727 -36.5 1e-07 20000"""
