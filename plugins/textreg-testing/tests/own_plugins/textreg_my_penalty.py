"""A penalty without an l1 norm, under another name and with another parameter."""

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, LogGrid, param
from textreg.records import Floats, Problem


class Euclidean:
    """strength ||w||_2."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def value(self, w: Floats) -> float:
        """The penalty of the weights w (p,)."""
        return self.strength * float(np.linalg.norm(w))

    def prox(self, w: Floats, step: float) -> Floats:
        """Shrinks all weights alike."""
        norm = float(np.linalg.norm(w))
        return w * max(0.0, 1.0 - step * self.strength / norm) if norm else np.zeros_like(w)


class WholeModel(Penalized):
    """All features or none."""

    name = "my-penalty"
    strength: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 0.5), help="of the norm")

    def penalty(self, problem: Problem) -> Euclidean:
        """The norm of all weights."""
        return Euclidean(self.strength)

    def scale(self, problem: Problem, parameter: str) -> float:
        """The norm of the gradient."""
        return float(np.linalg.norm(problem.gradient_at_zero()))


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    return [WholeModel]
