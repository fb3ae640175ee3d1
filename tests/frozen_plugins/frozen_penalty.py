"""The regularizer frozen-penalty, for textreg."""

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, LogGrid, param
from textreg.records import Floats, Problem


class L1:
    """l1 ||w||_1: put your own penalty here.

    Examples
    --------
    >>> L1(l1=1.0).prox(np.array([3.0, -3.0, 0.5]), 1.0).tolist()
    [2.0, -2.0, 0.0]
    """

    def __init__(self, l1: float) -> None:
        self.l1 = l1

    def value(self, w: Floats) -> float:
        """The penalty of the weights w (p,)."""
        return self.l1 * float(np.abs(w).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        """The x with the least 1/2 ||x - w||^2 + step * value(x)."""
        return np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0)


class FrozenPenalty(Penalized):
    """Say here, in one line, what it assumes about text."""

    name = "frozen-penalty"
    l1: float = param(
        default=AUTO, min=0, search=LogGrid(1e-3, 0.3, 5), help="strength of the l1 penalty"
    )

    def penalty(self, problem: Problem) -> L1:
        """What is added to the loss; problem.groups and problem.graph are there as well."""
        return L1(self.l1)


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The regularizers of this module."""
    return [FrozenPenalty]
