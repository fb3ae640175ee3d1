"""What a plugin claims of a solution is tried where the solution is taken in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

import textreg
from textreg.demo import make_reviews
from textreg.errors import BrokenPluginError
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, Choices, param
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution
from textreg.solvers.newton import newton

LABELS, TEXTS = map(list, zip(*make_reviews(60), strict=True))


class Squares(Regularizer):
    """A ridge of a stranger."""

    name = "squares"
    l2: float = param(default=0.1, min=0, help="strength")
    claims: ClassVar[dict[str, Any]] = {}
    share: ClassVar[float] = 1.0

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

    def solve(self, problem: Problem) -> Solution:
        found = newton(problem, Separable.constant(problem.X.shape[1], l2=self.l2))
        w = self.share * found.w
        value = self.objective(problem, w, found.b)
        return replace(found, w=w, objective=value, **self.claims)


class SquaresByProx(Squares, Penalized):
    """The same by its penalty."""

    name = "squares-by-prox"

    def penalty(self, problem: Problem) -> Separable:
        return Separable.constant(problem.X.shape[1], l2=self.l2)

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        return Penalized.objective(self, problem, w, b)


@pytest.mark.parametrize("base", [Squares, SquaresByProx])
@pytest.mark.parametrize("claims", [{}, {"gap": np.nan}])
def test_right_claims_pass(base: type[Squares], claims: dict[str, Any]) -> None:
    cls = type(base.__name__, (base,), {"claims": claims, "__doc__": base.__doc__})
    assert textreg.train(TEXTS, LABELS, reg=cls()).predict(TEXTS)


@pytest.mark.parametrize("base", [Squares, SquaresByProx])
@pytest.mark.parametrize("share", [0.5, 0.0])
@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"gap": 0.0}, r"solve must give what it claims, a gap of 0, not an objective of .* has "),
        ({"gap": np.nan, "converged": True}, "what it claims, a converged solution, not an obj"),
    ],
)
def test_false_claims_are_refused(
    base: type[Squares], share: float, claims: dict[str, Any], says: str
) -> None:
    if share == 0.0 and base is Squares:
        pytest.skip("without a penalty nobody knows whether other features should have weights")
    body = {"claims": claims, "share": share, "__doc__": base.__doc__}
    with pytest.raises(BrokenPluginError, match=says):
        textreg.train(TEXTS, LABELS, reg=type(base.__name__, (base,), body)())


def test_what_textreg_solves_itself_is_not_asked_whether_it_has_converged() -> None:
    body = {"solve": Penalized.solve, "__doc__": "By textreg."}
    assert textreg.train(TEXTS, LABELS, reg=type("Ours", (SquaresByProx,), body)()).predict(TEXTS)


def test_nothing_is_asked_of_what_minimizes_nothing() -> None:
    body = {"claims": {"gap": np.nan}, "share": 0.5, "minimizes": False, "__doc__": "Shrunk."}
    assert textreg.train(TEXTS, LABELS, reg=type("Shrunk", (Squares,), body)()).predict(TEXTS)


class Backwards(Squares):
    """Gives its solutions in another order than that of the settings."""

    l2: float = param(default=AUTO, min=0, search=Choices((0.1, 10.0)), help="strength")

    def path(self, problem: Problem, candidates: Any = None) -> Iterator[tuple[Any, Solution]]:
        yield from ((each, each.solve(problem)) for each in reversed(candidates))


def test_a_solution_is_that_of_the_setting_it_is_due_for() -> None:
    says = r"'squares' of .* path must give the settings in their order, not Backwards\(l2=10"
    with pytest.raises(BrokenPluginError, match=says):
        textreg.train(TEXTS, LABELS, reg=Backwards())


@pytest.mark.parametrize(
    ("asked", "said", "says"),
    [
        ("support", lambda *_: 7, "is broken: support must give .*Support .*, not of the type int"),
        ("support", lambda *_: [][0], "fails in support: IndexError"),
        ("fits_blocks", lambda reg: reg.l2 > "", "fails in fits_blocks: TypeError"),
        ("rivals", lambda reg: "lasso", "rivals must give list | tuple, not of the type str"),
        ("rivals", lambda reg: 1 / 0, "fails in rivals: ZeroDivisionError"),
        ("solve_each", lambda *_: [], "solve_each must give 1 solutions, one a problem, not 0"),
    ],
)
def test_who_says_something_wrong_of_itself_is_named(asked: str, said: Any, says: str) -> None:
    body = {asked: said, "solve": Squares.solve, "__doc__": "Says something wrong."}
    options = {"memory": "1GB"} if asked == "fits_blocks" else {}
    with pytest.raises(BrokenPluginError, match=f"regularizer 'squares' of .* {says}"):
        textreg.train(TEXTS, LABELS, reg=type("Odd", (Squares,), body)(), **options)
