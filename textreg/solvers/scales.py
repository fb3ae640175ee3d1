"""The units of a problem: what a number has to be compared with to be large or small.

With X times s every weight is divided by s, with y times s it is multiplied by s under the squared
loss, and derivatives grow with the weights of the documents. So solvers have no constants in the
units of weights or of curvature, but multiples of these.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg.losses import Loss
from textreg.records import Design, Floats, Problem


class Scales(NamedTuple):
    """The units of a problem.

    Attributes
    ----------
    weight : float
        A weight that counts, such as 2 for the logistic loss and documents of norm one.
    curvature : float
        The largest second derivative of the loss in a weight, at zero weights.
    """

    weight: float
    curvature: float


def scales_of(problem: Problem) -> Scales:
    """The units of a problem, at zero weights and the best intercept."""
    z = np.full(len(problem.y), problem.intercept_at_zero())
    return scales_at(problem.design, problem.loss, z, problem.y, problem.sample_weight)


def scales_at(design: Design, loss: Loss, z: Floats, y: Floats, c: Floats) -> Scales:
    """The units of a problem whose documents have the scores z at zero weights (docs/maths.md, U1).

    Both are 1 where that is no number above 0, as in a matrix of zeros.
    """
    r = np.empty_like(z)
    loss.derivatives(z, y, c, r, np.empty_like(z))
    h = loss.curvature_above(z, y, c)
    (curvature, largest), total = _curvature(design, h), float(h.sum())
    slopes = np.divide(r * r, c, out=np.zeros_like(r), where=c > 0.0)
    score = math.sqrt(float(slopes.sum()) * float(c.sum())) / total if total > 0.0 else 0.0
    squares = curvature / total if total > 0.0 else 0.0  # of the norms of documents
    weight = score / math.sqrt(squares) if squares > 0.0 else 0.0
    return Scales(_number(weight), _number(largest))


def _curvature(design: Design, h: Floats) -> tuple[float, float]:
    """The sum and the largest of sum_i h_i x_ij^2 over the features j.

    Labels share these where their documents count alike.
    """

    def found(h: Floats) -> tuple[float, float]:
        curvature = design.curvature(h)
        return float(curvature.sum()), float(curvature.max(initial=0.0))

    if not len(h) or (h != h[0]).any():
        return found(h)
    total, largest = design.cache.get("curvature", lambda: found(np.ones(len(h))))
    return float(h[0]) * total, float(h[0]) * largest


def document_norm(design: Design) -> float:
    """The root of the mean squared norm of a document.

    A derivative in the intercept times this has the unit of one in a weight.
    """
    n = design.shape[0]
    return math.sqrt(_curvature(design, np.ones(n))[0] / max(n, 1))


def _number(scale: float) -> float:
    return scale if 0.0 < scale < math.inf else 1.0
