"""The sentence regularizer of Yogatama & Smith (2014)."""

from __future__ import annotations

from typing import Any

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, LogGrid, param
from textreg.penalties import GroupNorms, check_prices
from textreg.records import Problem, Solution
from textreg.solvers.admm import admm
from textreg.solvers.majorize import majorize


class Sentence(Regularizer):
    """Sparse overlapping group lasso with one group for every training sentence.

    Assumes that a few sentences of a document decide, and the rest do not:

        loss + group sum_s ||w_s||_2 + l1 ||w||_1 + l2 ||w||_2^2

    with w_s the weights of the features of sentence s (section 3, eq. (1)). The paper has no ridge;
    a small one helps on normalised features, so the search takes one. Where group and l1 are given
    and l2 is not, l2 is 0, as in the paper.
    """

    name = "sentence"
    needs = "groups"
    default_builder = "sentences"
    group: float = param(
        default=AUTO, min=0, search=LogGrid(1e-5, 1e-3, 4), help="price of each group's norm"
    )
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(3e-3, 3e-2, 3), help="price of the absolute weights"
    )
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 1e-3, 1), help="price of the squared weights"
    )
    solver: str = param(
        default="majorize", choices=("majorize", "admm"), help="how the optimum is found"
    )
    rho: float = param(default=1.0, min=1e-6, help="admm: price of copies that disagree")
    balanced: bool = param(default=True, help="admm: let rho follow the residuals")
    relax: float = param(default=1.6, min=1.0, max=1.9, help="admm: over-relaxation, 1 for none")
    stop: str = param(
        default="gap", choices=("gap", "paper"), help="admm: stop by the gap, or as the paper does"
    )

    def __init__(self, **prices: Any) -> None:
        super().__init__(**prices)
        if self.undecided() == ["l2"]:
            self.__dict__["l2"] = 0.0

    def solve(self, problem: Problem) -> Solution:
        """Minimise the objective; UsageError where the problem has no groups."""
        check_prices(self.name, group=self.group, l1=self.l1, l2=self.l2)
        if problem.groups is None:
            raise UsageError("sentence: the problem has no groups; build them from the sentences.")
        penalty = GroupNorms(problem.groups, self.group, self.l1, self.l2)
        if self.solver == "majorize":
            return majorize(problem, penalty)
        return admm(
            problem, penalty, rho=self.rho, balanced=self.balanced, relax=self.relax, stop=self.stop
        )


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The one."""
    return [Sentence]
