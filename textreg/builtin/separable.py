"""Regularizers that price every weight by itself: none, ridge, lasso, elastic."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, LogGrid, param
from textreg.penalties import Separable, check_prices
from textreg.records import Problem, Solution
from textreg.solvers.newton import newton


class NoRegularizer(Regularizer):
    """No penalty: plain logistic regression, for comparison.

    Where the classes can be told apart without error there is no optimum; the weights then stop
    where the gradient has vanished to the tolerance.
    """

    name = "none"

    def solve(self, problem: Problem) -> Solution:
        """Minimise the loss alone."""
        return newton(problem, Separable.constant(problem.X.shape[1]))


class Ridge(Regularizer):
    """Ridge: l2 ||w||_2^2 added to the loss. Every feature stays, none grows large."""

    name = "ridge"
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-4, 1.0, 9), help="price of the squared weights"
    )

    def solve(self, problem: Problem) -> Solution:
        """Minimise loss + ridge."""
        check_prices(self.name, l2=self.l2)
        return newton(problem, Separable.constant(problem.X.shape[1], l2=self.l2))


class Lasso(Regularizer):
    """Lasso (Tibshirani 1996): l1 ||w||_1 added to the loss. Few features stay."""

    name = "lasso"
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 9), help="price of the absolute weights"
    )

    def solve(self, problem: Problem) -> Solution:
        """Minimise loss + lasso."""
        check_prices(self.name, l1=self.l1)
        return newton(problem, Separable.constant(problem.X.shape[1], l1=self.l1))


class Elastic(Regularizer):
    """Elastic net (Zou & Hastie 2005): l1 ||w||_1 + l2 ||w||_2^2. Features that agree stay."""

    name = "elastic"
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-4, 0.1, 4), help="price of the squared weights"
    )
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 6), help="price of the absolute weights"
    )

    def solve(self, problem: Problem) -> Solution:
        """Minimise loss + elastic net."""
        check_prices(self.name, l1=self.l1, l2=self.l2)
        return newton(problem, Separable.constant(problem.X.shape[1], l1=self.l1, l2=self.l2))


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The four of them."""
    return [NoRegularizer, Ridge, Lasso, Elastic]
