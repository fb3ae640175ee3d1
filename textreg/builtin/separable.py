"""Regularizers that penalize every weight by itself: none, ridge, lasso, elastic, auto."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Int64s, MultiSolution, Problem, Solution, Step
from textreg.records.problem import Support
from textreg.solvers.certificate import provable, support_of_features
from textreg.solvers.dual_ascent import ridges
from textreg.solvers.newton import newton, newtons, unpenalized
from textreg.solvers.out_of_core import over_blocks
from textreg.solvers.reduce import merge_parallel_columns
from textreg.solvers.softmax import SeparableStep, multinomial


class SeparableRegularizer(Penalized):
    """l1 |w_j| + l2 w_j^2 for every weight; a subclass says which of the two it has."""

    softmax = True

    def strengths(self) -> dict[str, float]:
        """The strengths ``l1`` and ``l2``, as far as the class has them, by name."""
        return {key: getattr(self, key) for key in ("l1", "l2") if hasattr(self, key)}

    def decided(self) -> tuple[float, float]:
        """l1 and l2, of which the class may lack one; UsageError if one is not chosen."""
        strengths = self.strengths()
        check_decided(self.name, **strengths)
        return strengths.get("l1", 0.0), strengths.get("l2", 0.0)

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty, to the relative duality gap ``problem.tol``."""
        l1, l2 = self.decided()
        if l1 and problem.design.blocks:
            return over_blocks(problem, l1, l2, self.solve)
        if l1:
            return newton(problem, self.penalty(problem))
        return ridges([problem], l2)[0] if l2 else unpenalized(problem)

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        """The same for several labels, which share their passes over the matrix."""
        l1, l2 = self.decided()
        if l1 and not problems[0].design.blocks:
            return newtons(problems, self.penalty(problems[0]))
        return ridges(problems, l2) if l2 and not l1 else super().solve_each(problems)

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Minimize the softmax loss of all classes + penalty."""
        if self.decided()[0]:
            step = SeparableStep(problem, self.penalty(problem))
            return multinomial(problem, codes, step, start)
        merged = merge_parallel_columns(problem.design)
        small = merged.merge_problem(problem)
        if start is not None:
            start = merged.merge_start(start)
        step = SeparableStep(small, self.penalty(small))
        return merged.expand_solution(multinomial(small, codes, step, start))

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """Which features surely have no weight, and which surely have one; None without l1."""
        l1, l2 = self.decided()
        if not l1 or not provable(problem, solution):
            return None
        return support_of_features(problem, solution, l1, l2)

    def fits_blocks(self) -> bool:
        """Whether some strength is not zero."""
        return any(value is AUTO or value > 0.0 for value in self.strengths().values())

    def penalty(self, problem: Problem) -> Separable:
        """The penalty for the features of ``problem``; UsageError if a strength is not chosen."""
        return Separable.constant(problem.design.shape[1], *self.decided())


WEIGHTS = ("none", "documents", "sentences")


def as_weights(value: Any) -> str | tuple[float, ...]:
    """One of :data:`WEIGHTS`, or a vector; UsageError for anything else."""
    if isinstance(value, str):
        if value not in WEIGHTS:
            raise UsageError(
                f"weights must be {', '.join(WEIGHTS)}, or in Python a number for every feature, "
                f"not '{value}'."
            )
        return value
    weights: Any = np.asarray(value)
    if weights.ndim != 1 or weights.dtype.kind not in "fiu" or not (weights >= 0.0).all():
        raise UsageError("weights must be a vector of numbers, 0 or more, one for every feature.")
    return tuple(weights.astype(np.float64).tolist())


# Strengths of ridges for numbers, before those of labels: numbers may be next to pure noise, which
# weaker ones fitted to an R² of -.2 on new texts.
OF_NUMBERS = LogGrid(1.0, 100.0, 3)


class WeightedRegularizer(SeparableRegularizer):
    """The same with a penalty that is stronger for some features: l1 v_j |w_j|, or l2 v_j w_j^2.

    With shares of documents as weights v, or shares of sentences, what is frequent is shrunk more:
    that is what one group for every sentence does to words (docs/sentence.md).
    """

    weights: str | tuple[float, ...] = param(
        default="none",
        convert=as_weights,
        metavar="NAME",
        help="factors of the penalty: the share of documents, or of sentences, with a feature, or "
        "none; in Python any vector. Of l1 where there is one, else of l2",
    )

    def __init__(self, /, **params: Any) -> None:
        super().__init__(**params)
        if self.weights == "sentences":  # the groups tell the number of sentences
            self.__dict__.update(needs="groups", default_builder="sentences")

    def factors(self, problem: Problem) -> Floats | None:
        """(p,) the weights v, None where all are 1; UsageError for another number of them."""
        n, p = problem.design.shape
        if self.weights == "none":
            return None
        if self.weights == "documents":
            return np.maximum(problem.design.sizes, 1) / n
        if self.weights == "sentences":
            groups = problem.groups
            if groups is None:
                raise UsageError(
                    f"{self.name}: the problem has no sentences to count; give Problem(groups=...)."
                )
            counts = np.bincount(groups.indices, minlength=p)
            return np.maximum(counts, 1) / max(len(groups), 1)
        if len(self.weights) != p:
            raise UsageError(
                f"{self.name}: there are {len(self.weights):,} weights, and {p:,} features: give "
                "one for every feature."
            )
        return np.array(self.weights)

    def scale(self, problem: Problem, parameter: str) -> float:
        """As of the base; of weighted strengths the unit suits the weights."""
        factors = self.factors(problem)
        if factors is None or not factors.any() or (parameter == "l2" and "l1" in self.strengths()):
            return super().scale(problem, parameter)
        sizes, weighted = problem.gradient_sizes_at_zero(), factors > 0.0
        if parameter == "l1":
            return float((sizes[weighted] / factors[weighted]).max())
        return float(sizes.max() / factors.mean() / problem.spread())

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """The grid; of ridges for numbers stronger ones as well."""
        grid, strengths = super().candidates(problem), {"l1": 0.0, **self.strengths()}
        if strengths != {"l1": 0.0, "l2": AUTO} or not problem.has_numbers():
            return grid
        stronger = OF_NUMBERS.values(self.scale(problem, "l2"))
        return [*(self.replace(l2=l2) for l2 in stronger), *grid]

    def penalty(self, problem: Problem) -> Separable:
        """The penalty for the features of ``problem``; UsageError if a strength is not chosen."""
        plain, factors = super().penalty(problem), self.factors(problem)
        if factors is None:
            return plain
        if "l1" in self.strengths():
            return Separable(plain.q, plain.mu, plain.lam * factors)
        return Separable(plain.q * factors, plain.mu, plain.lam)

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty, to the relative duality gap ``problem.tol``."""
        if self.weights == "none":
            return super().solve(problem)
        return newton(problem, self.penalty(problem))

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        """As of the base; one after the other with weights."""
        if self.weights == "none":
            return super().solve_each(problems)
        return [self.solve(problem) for problem in problems]

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Minimize the softmax loss of all classes + penalty."""
        if self.weights == "none":
            return super().solve_softmax(problem, codes, start)
        step = SeparableStep(problem, self.penalty(problem))
        return multinomial(problem, codes, step, start)

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """As of the base; with weights nothing is proven."""
        return super().support(problem, solution) if self.weights == "none" else None

    def fits_blocks(self) -> bool:
        """As of the base, without weights."""
        return self.weights == "none" and super().fits_blocks()


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
    >>> from textreg.records import Problem
    >>> X = np.array([[1.0], [1.0], [0.0], [1.0]])
    >>> solution = NoRegularizer().solve(Problem(X, y=[1.0, -1.0, -1.0, 1.0]))
    >>> solution.converged, solution.gap
    (True, nan)
    """

    name = "none"
    softmax = False  # without a penalty there is no lower bound to stop by

    def solve(self, problem: Problem) -> Solution:
        """Minimize the loss; the gap is NaN, as there is no lower bound."""
        largest, iterations, start, stopped = problem.largest_gradient_at_zero(), 0, None, False

        def watch(step: Step) -> bool:
            nonlocal stopped
            stopped = problem.stops(step)
            return stopped

        for share in VANISHING if largest > 0.0 else ():
            ridge = Ridge(l2=share * largest)
            solution = ridge.solve(problem.replace(start=start, callback=watch))
            if stopped:
                objective = self.objective(problem, solution.w, solution.b)
                return replace(solution, objective=objective, gap=math.nan)
            iterations, start = iterations + solution.iterations, (solution.w, solution.b)
            # At the optimum of ridge the gradient of the loss is that of the penalty.
            if 2.0 * ridge.l2 * np.abs(solution.w).max() <= problem.tol * largest:
                break
        last = super().solve(problem.replace(start=start))
        return replace(last, iterations=iterations + last.iterations)


class Ridge(WeightedRegularizer):
    """Ridge: l2 ||w||_2^2 added to the loss. All features stay in the model, with small weights.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg.records import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Ridge(l2=0.5).solve(problem).w.round(2) + 0.0
    array([ 0.67, -0.67,  0.  ])
    """

    name = "ridge"
    l2: float = param(min=0, search=LogGrid(1e-4, 1.0, 9), help="l2 penalty strength")


class Lasso(WeightedRegularizer):
    """Lasso (Tibshirani 1996): l1 ||w||_1 added to the loss. Few features stay in the model.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg.records import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Lasso(l1=0.5).solve(problem).w.round(2) + 0.0
    array([ 1.1, -1.1,  0. ])
    """

    name = "lasso"
    l1: float = param(min=0, search=LogGrid(1e-3, 0.3, 9), help="l1 penalty strength")


class Elastic(WeightedRegularizer):
    """Elastic net (Zou & Hastie 2005): l1 ||w||_1 + l2 ||w||_2^2. Keeps correlated features.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg.records import Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> Elastic(l1=0.2, l2=0.2).solve(problem).w.round(2) + 0.0
    array([ 0.92, -0.92,  0.  ])
    """

    name = "elastic"
    l2: float = param(min=0, search=LogGrid(1e-4, 0.1, 4), help="l2 penalty strength")
    l1: float = param(min=0, search=LogGrid(1e-3, 0.3, 6), help="l1 penalty strength")

    def reduced(self) -> Regularizer | None:
        """Ridge, lasso or none, where a strength is zero."""
        if self.l1 == 0:
            return NoRegularizer() if self.l2 == 0 else Ridge(l2=self.l2)
        return Lasso(l1=self.l1, weights=self.weights) if self.l2 == 0 else None


# l2 of the elastic nets that are tried, in units of the scale: others did no better on dev.
BESIDE_L1 = LogGrid(1e-3, 1e-3, 1)


class Auto(Elastic):
    """Ridge or elastic net, whichever does better on held-out documents.

    A few ridges are measured first, then an elastic net, and more of these only where that is
    better than all ridges. A model of it names the one that was chosen.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["red", "a red one", "blue", "a blue one"] * 9, ["r", "r", "b", "b"] * 9
    >>> textreg.train(texts, labels, reg="auto").summary.reg.name
    'elastic'
    """

    name = "auto"
    # The strongest is for wrong labels, which the others fit: with a fifth of them wrong it gains
    # .9 points of accuracy on eight corpora, and with none it changes nothing.
    l2: float = param(
        min=0, search=LogGrid(3e-4, 3e-2, 2, strongest=0.3), help="l2 penalty strength"
    )
    l1: float = param(min=0, search=LogGrid(1e-3, 1e-2, 3), help="l1 penalty strength; 0: ridges")
    also: str = param(
        default="", help="further regularizers to try, such as one of a plugin, with commas"
    )

    def rivals(self) -> list[str]:
        """The names in ``also``."""
        return [name.strip() for name in self.also.split(",") if name.strip()]

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """Ridges, then elastic nets; all with the strengths that are given."""
        nets: list[Any] = []
        if self.l1 is AUTO or self.l1 == 0.0:
            nets += super(Auto, self.replace(l1=0.0)).candidates(problem)
        if self.l1 is AUTO or self.l1 > 0.0:
            (l2,) = BESIDE_L1.values(self.scale(problem, "l2"))
            beside = self.replace(l2=l2) if self.l2 is AUTO else self
            nets += super(Auto, beside).candidates(problem)
        elastic = [Elastic(l1=net.l1, l2=net.l2, weights=self.weights) for net in nets]
        return [net.reduced() or net for net in elastic]


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The five of them."""
    return [NoRegularizer, Ridge, Lasso, Elastic, Auto]
