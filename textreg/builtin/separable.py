"""Regularizers that penalize every weight by itself: none, ridge, lasso, elastic."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.losses import Logistic, Loss
from textreg.params import AUTO, LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Int64s, MultiSolution, Problem, Solution, Step
from textreg.records.design import BlockDesign
from textreg.records.problem import Support
from textreg.solvers import hinge_ridge
from textreg.solvers.certificate import provable, support_of_features
from textreg.solvers.classes import SeparableStep
from textreg.solvers.newton import merged_newton, newton
from textreg.solvers.out_of_core import merged_blocks, over_blocks
from textreg.solvers.parallel_columns import merge_parallel_columns
from textreg.solvers.ridge import can_share, ridge, ridges, suits
from textreg.solvers.ridge_in_blocks import ridge_in_blocks
from textreg.solvers.softmax import multinomial


class SeparableRegularizer(Penalized):
    """l1 |w_j| + l2 w_j^2 for every weight; a subclass says which of the two it has."""

    softmax = True

    @abstractmethod
    def strengths(self) -> dict[str, float]:
        """The strengths ``l1`` and ``l2`` that are not zero, by name."""

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty, to the relative duality gap ``problem.tol``."""
        l1, l2 = (self.strengths().get(name, 0.0) for name in ("l1", "l2"))
        if isinstance(problem.design, BlockDesign) and l1:
            return over_blocks(problem, l1, l2, self.solve)
        if isinstance(problem.design, BlockDesign) and l2:
            blocks = merged_blocks(problem.design)
            small = blocks.merge_problem(problem)
            return blocks.expand_solution(ridge_in_blocks(small, l2, blocks.squares, blocks.norms))
        penalty = self.penalty(problem)
        if penalty.lam.any():
            return newton(problem, penalty)
        if l2 and suits(problem):
            return ridge(problem, l2)
        if l2 and hinge_ridge.suits(problem):
            return hinge_ridge.hinge_ridges([problem], l2)[0]
        return merged_newton(problem, l2)

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        """The same for several labels; those of a ridge share their passes over the matrix."""
        if not all(map(self.shares_passes, problems)):
            return super().solve_each(problems)
        several = ridges if can_share(problems[0]) else hinge_ridge.hinge_ridges
        return several(problems, self.strengths()["l2"])

    def shares_passes(self, problem: Problem) -> bool:
        """Whether it is a ridge of a hinge, or of log loss on a matrix that is not small."""
        strengths = self.strengths()
        check_decided(self.name, **strengths)
        l1, l2 = (strengths.get(name, 0.0) for name in ("l1", "l2"))
        return l1 == 0.0 < l2 and (can_share(problem) or hinge_ridge.suits(problem))

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Minimize the softmax loss of all classes + penalty."""
        penalty = self.penalty(problem)
        if penalty.lam.any():
            return multinomial(problem, codes, SeparableStep(problem, penalty), start)
        merged = merge_parallel_columns(problem)
        small = merged.merge_problem(problem)
        if start is not None:
            start = merged.merge_start(start)
        step = SeparableStep(small, self.penalty(small))
        return merged.expand_solution(multinomial(small, codes, step, start))

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """Which features surely have no weight, and which surely have one; None without l1."""
        l1, l2 = (self.strengths().get(name, 0.0) for name in ("l1", "l2"))
        if not l1 or not provable(problem, solution):
            return None
        return support_of_features(problem, solution, l1, l2)

    def fits_blocks(self) -> bool:
        """Whether some strength is not zero."""
        return any(value is AUTO or value > 0.0 for value in self.strengths().values())

    def gains_from_start(self, loss: Loss, *, softmax: bool) -> bool:
        """Not for a smooth penalty and the logistic loss.

        Dual coordinate ascent is quicker there than a look at the start.
        """
        return bool(self.strengths().get("l1")) or softmax or not isinstance(loss, Logistic)

    def penalty(self, problem: Problem) -> Separable:
        """The penalty for the features of ``problem``; UsageError if a strength is not chosen."""
        strengths = self.strengths()
        check_decided(self.name, **strengths)
        return Separable.constant(problem.design.shape[1], **strengths)


# Ridges on the way to none, as multiples of the largest gradient at zero weights.
VANISHING = tuple(10.0**-power for power in range(1, 10))


class NoRegularizer(SeparableRegularizer):
    """No penalty: plain logistic regression, for comparison.

    If the classes are separable there is no optimum, and with more features than documents it is
    not unique. So ridges of decreasing strength are fitted until the gradient of the loss is zero
    to the tolerance. They lead to the optimum of smallest norm, or to the largest margin (Rosset,
    Zhu & Hastie 2004, section 4).

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Problem
    >>> X = np.array([[1.0], [1.0], [0.0], [1.0]])
    >>> solution = NoRegularizer().solve(Problem(X, y=[1.0, -1.0, -1.0, 1.0]))
    >>> solution.converged, solution.gap
    (True, nan)
    """

    name = "none"
    softmax = False  # without a penalty there is no lower bound to stop by

    def strengths(self) -> dict[str, float]:
        """Neither."""
        return {}

    def solve(self, problem: Problem) -> Solution:
        """Minimize the loss; the gap is NaN, as there is no lower bound."""
        largest, iterations, start, stopped = problem.largest_gradient_at_zero(), 0, None, False

        def watch(step: Step) -> bool:
            nonlocal stopped
            stopped = bool(problem.callback and problem.callback(step))
            return stopped

        for share in VANISHING if largest > 0.0 else ():
            ridge = Ridge(l2=share * largest)
            found = ridge.solve(problem.replace(start=start, callback=watch))
            if stopped:
                objective = self.objective(problem, found.w, found.b)
                return replace(found, objective=objective, gap=math.nan)
            iterations, start = iterations + found.iterations, (found.w, found.b)
            # At the optimum of ridge the gradient of the loss is that of the penalty.
            if 2.0 * ridge.l2 * np.abs(found.w).max() <= problem.tol * largest:
                break
        last = super().solve(problem.replace(start=start))
        return replace(last, iterations=iterations + last.iterations)


class Ridge(SeparableRegularizer):
    """Ridge: l2 ||w||_2^2 added to the loss. All features stay in the model, with small weights.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Ridge(l2=0.5).solve(problem).w.round(2) + 0.0
    array([ 0.67, -0.67,  0.  ])
    """

    name = "ridge"
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-4, 1.0, 9), help="l2 penalty strength")

    def strengths(self) -> dict[str, float]:
        """The parameters."""
        return {"l2": self.l2}


class Lasso(SeparableRegularizer):
    """Lasso (Tibshirani 1996): l1 ||w||_1 added to the loss. Few features stay in the model.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Lasso(l1=0.5).solve(problem).w.round(2) + 0.0
    array([ 1.1, -1.1,  0. ])
    """

    name = "lasso"
    l1: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 9), help="l1 penalty strength")

    def strengths(self) -> dict[str, float]:
        """The parameters."""
        return {"l1": self.l1}


class Elastic(SeparableRegularizer):
    """Elastic net (Zou & Hastie 2005): l1 ||w||_1 + l2 ||w||_2^2. Keeps correlated features.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Elastic(l1=0.2, l2=0.2).solve(problem).w.round(2) + 0.0
    array([ 0.92, -0.92,  0.  ])
    """

    name = "elastic"
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-4, 0.1, 4), help="l2 penalty strength")
    l1: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 6), help="l1 penalty strength")

    def strengths(self) -> dict[str, float]:
        """The parameters."""
        return {"l1": self.l1, "l2": self.l2}

    def reduced(self) -> Regularizer | None:
        """Ridge, lasso or none, where a strength is zero."""
        if self.l1 == 0:
            return NoRegularizer() if self.l2 == 0 else Ridge(l2=self.l2)
        return Lasso(l1=self.l1) if self.l2 == 0 else None


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The four of them."""
    return [NoRegularizer, Ridge, Lasso, Elastic]
