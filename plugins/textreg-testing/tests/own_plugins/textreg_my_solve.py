"""At most so many features: hard thresholding, with a solver of its own."""

import warnings

import numpy as np

from textreg.errors import ConvergenceWarning
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, Choices, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.newton import newton


class HardThreshold(Regularizer):
    """The best features of a gradient step, again and again (Blumensath and Davies 2009)."""

    name = "my-solve"
    most: int = param(default=AUTO, min=1, search=Choices((5, 20, 80)), help="features at most")
    l2: float = param(default=0.1, min=0, help="strength of the l2 penalty")

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """The loss, and what is added to it."""
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

    def solve(self, problem: Problem) -> Solution:
        """Steps until the chosen features stay the same, each followed by a fit of these."""
        check_decided(self.label(), **self.params())
        n, p = problem.X.shape
        w, b = np.zeros(p), problem.intercept_at_zero()
        chosen = np.empty(0, dtype=np.intp)
        r, h, history = np.empty(n), np.empty(n), []
        curvature = problem.loss.curvature_bound(problem.sample_weight)
        largest = float(problem.design.curvature(curvature).max()) + 2.0 * self.l2
        objective, converged = np.inf, False
        for iteration in range(problem.max_iter):
            z = problem.X @ w + b
            problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
            moved = w - (problem.X.T @ r + 2.0 * self.l2 * w) / largest
            best = np.sort(np.argsort(-np.abs(moved), kind="stable")[: self.most])
            found = self.among(problem, best)
            history.append(Step(iteration, found.objective, float("nan")))
            better = found.objective < objective * (1.0 - problem.tol)
            settled = not better or np.array_equal(best, chosen)
            converged = settled and found.converged
            if better:
                w, b, objective, chosen = np.zeros(p), found.b, found.objective, best
                w[best] = found.w
            stopped = problem.callback is not None and problem.callback(history[-1])
            if settled or stopped:
                break
        if not converged:
            warnings.warn("my-solve: the features still change.", ConvergenceWarning, stacklevel=2)
        return Solution(w, b, objective, iterations=len(history), converged=converged)

    def among(self, problem: Problem, chosen: np.ndarray) -> Solution:
        """The ridge fit of some features."""
        some = problem.replace(
            X=problem.X[:, chosen], groups=None, graph=None, start=None, callback=None
        )
        return newton(some, Separable.constant(len(chosen), l2=self.l2))


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    return [HardThreshold]
