"""The regularizer frozen-solve, for textreg."""

from dataclasses import replace

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, Choices, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution
from textreg.solvers.newton import newton


class FrozenSolve(Regularizer):
    """The features that go best with the labels one by one, then ridge. Put your own here.

    Fan and Lv (2008), "Sure independence screening for ultrahigh dimensional feature space".

    Examples
    --------
    >>> problem = Problem(np.eye(4), [1, -1, 1, -1], sample_weight=[1, 9, 1, 9])
    >>> FrozenSolve(features=2).solve(problem).nonzero
    2
    """

    name = "frozen-solve"
    features: int = param(
        default=AUTO, min=1, search=Choices((10, 30, 100, 300)), help="features in the model"
    )
    l2: float = param(default=0.1, min=0, help="strength of the l2 penalty of their weights")

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """The loss, and what is added to it."""
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

    def solve(self, problem: Problem) -> Solution:
        """Weights of the features with the steepest slopes; all others have none."""
        check_decided(self.label(), **self.params())
        slopes = np.abs(problem.gradient_at_zero())
        chosen = np.sort(np.argsort(-slopes, kind="stable")[: self.features])
        among = problem.replace(X=problem.X[:, chosen], groups=None, graph=None, start=None)
        found = newton(among, Separable.constant(len(chosen), l2=self.l2))
        w = np.zeros(problem.X.shape[1])
        w[chosen] = found.w
        # The duality gap is one among the chosen features. Of better choices it knows nothing.
        return replace(found, w=w, gap=float("nan"))


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The regularizers of this module."""
    return [FrozenSolve]
