"""Regularizers that price every weight by itself: none, ridge, lasso, elastic."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Int64s, MultiSolution, Problem, Solution, Step
from textreg.solvers.newton import newton
from textreg.solvers.parallel_columns import merge_parallel_columns
from textreg.solvers.softmax import SeparableStep, multinomial


class SeparableRegularizer(Penalized):
    """A price on every weight by itself."""

    softmax = True

    @abstractmethod
    def strengths(self) -> dict[str, float]:
        """l1 and l2, as far as there are any."""

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty."""
        penalty = self.penalty(problem)
        if penalty.lam.any():
            return newton(problem, penalty)
        merged = merge_parallel_columns(problem)
        small = merged.merge_problem(problem)
        return merged.expand_solution(newton(small, self.penalty(small)))

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """The same for all classes together."""
        turn = SeparableStep(problem, self.penalty(problem))
        return multinomial(problem, codes, turn, start)

    def penalty(self, problem: Problem) -> Separable:
        """The prices, on every weight of ``problem``."""
        strengths = self.strengths()
        check_decided(self.name, **strengths)
        return Separable.constant(problem.X.shape[1], **strengths)


VANISHING = tuple(10.0**-power for power in range(1, 10))
"""Prices on the way to none, as shares of the largest gradient at zero weights."""


class NoRegularizer(SeparableRegularizer):
    """No penalty: plain logistic regression, for comparison.

    Where the classes can be told apart without error there is no optimum, and with more features
    than documents no single one. So ridge is followed as its price vanishes, which leads to the
    smallest of the optima, or to the widest margin (Rosset, Zhu & Hastie 2004, section 4), until
    the gradient of the loss has vanished to the tolerance.
    """

    name = "none"
    softmax = False  # without a price there is no bound to stop by

    def strengths(self) -> dict[str, float]:
        """None."""
        return {}

    def solve(self, problem: Problem) -> Solution:
        """Minimize the loss; the gap is not known."""
        whole, iterations, start, stopped = problem.largest_gradient_at_zero(), 0, None, False

        def watch(step: Step) -> bool:
            nonlocal stopped
            stopped = bool(problem.callback and problem.callback(step))
            return stopped

        for share in VANISHING if whole > 0.0 else ():
            ridge = Ridge(l2=share * whole)
            found = ridge.solve(problem.replace(start=start, callback=watch))
            if stopped:
                return replace(found, gap=math.nan)
            iterations, start = iterations + found.iterations, (found.w, found.b)
            # At the optimum of ridge the gradient of the loss is that of the penalty.
            if 2.0 * ridge.l2 * np.abs(found.w).max() <= problem.tol * whole:
                break
        last = super().solve(problem.replace(start=start))
        return replace(last, iterations=iterations + last.iterations)


class Ridge(SeparableRegularizer):
    """Ridge: l2 ||w||_2^2 added to the loss. Every feature stays, none grows large."""

    name = "ridge"
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-4, 1.0, 9), help="price of the squared weights"
    )

    def strengths(self) -> dict[str, float]:
        """As given."""
        return {"l2": self.l2}


class Lasso(SeparableRegularizer):
    """Lasso (Tibshirani 1996): l1 ||w||_1 added to the loss. Few features stay."""

    name = "lasso"
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 9), help="price of the absolute weights"
    )

    def strengths(self) -> dict[str, float]:
        """As given."""
        return {"l1": self.l1}


class Elastic(SeparableRegularizer):
    """Elastic net (Zou & Hastie 2005): l1 ||w||_1 + l2 ||w||_2^2. Features that agree stay."""

    name = "elastic"
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-4, 0.1, 4), help="price of the squared weights"
    )
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 6), help="price of the absolute weights"
    )

    def strengths(self) -> dict[str, float]:
        """As given."""
        return {"l1": self.l1, "l2": self.l2}


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The four of them."""
    return [NoRegularizer, Ridge, Lasso, Elastic]
