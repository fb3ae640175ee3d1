"""A preconditioner made of a few documents, drawn by chance.

The Hessian of a ridge over text is near its diagonal, but for the features that occur in many
documents: their columns overlap. How, a few percent of the documents tell well enough. With these
S, each as often as it is likely to be drawn less, and the most frequent features F alone

    M = [ X_SF' D_S X_SF + E    0    ]        with the diagonal of the Hessian
        [         0           D_rest ]

(docs/maths.md, R3) conjugate gradients need a third of the products with the Hessian that they need
with its diagonal. The cost is a system over S and F, solved in memory by conjugate gradients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product
from textreg.records import Floats, Int32s
from textreg.records.design import CompressedArrays
from textreg.solvers.conjugate import Direction, conjugate_gradients

ROUNDS, ACCURACY = 40, 0.1
"""Most rounds of conjugate gradients for M^-1, and how exactly they solve its system."""


class Sample(NamedTuple):
    """What M needs of the Hessian.

    Attributes
    ----------
    features : int32 ndarray, shape (m,)
        The most frequent ones, F.
    rows : CompressedArrays
        Documents, with the places of their features in F.
    h : ndarray
        Their curvature, over the chance of each to be drawn.
    """

    features: Int32s
    rows: CompressedArrays
    h: Floats


def draw(sizes: Floats, count: float, seed: int) -> tuple[Int32s, Floats]:
    """About ``count`` documents, ascending, and the chance of each to be drawn.

    sizes: (n,) to which chances are in proportion, but none above 1. Where there are no more
    documents than that, all with a size are drawn.
    """
    total = float(sizes.sum())
    share = count / total if total > 0.0 and count < len(sizes) else np.inf
    chances = np.zeros(len(sizes))
    some = sizes > 0.0
    chances[some] = np.minimum(sizes[some] * share, 1.0)
    drawn = np.random.default_rng(seed).random(len(sizes)) < chances
    return np.flatnonzero(drawn).astype(np.int32), chances[drawn]


class SampledRows:
    """M^-1 for weights and intercept.

    Parameters
    ----------
    diagonal : ndarray, shape (p,)
        That of the Hessian of the loss.
    diagonal_b : float
        Its entry for the intercept; 0 where there is none.
    q : ndarray, shape (p,)
        Curvature of the penalty, above 0.
    sample : Sample
        Of the Hessian of the loss.
    """

    def __init__(self, diagonal: Floats, diagonal_b: float, q: Floats, sample: Sample) -> None:
        features, (indptr, indices, data), h = sample
        self._features, self._h = features, h
        self._diagonal, self._diagonal_b = q + diagonal, diagonal_b
        self._every = np.arange(len(h), dtype=np.int32)
        own, whole = np.zeros(len(features)), diagonal[features]
        curvature_diagonal(indptr, indices, data, self._every, h, own)
        # Columns that were drawn too often are made shorter, so that the diagonal is right.
        factor = np.sqrt(np.divide(whole, own, out=np.ones_like(own), where=own > whole))
        self._rows = indptr, indices, data * factor[indices]
        self._rest = q[features] + np.maximum(whole - factor**2 * own, 0.0)
        self._rest_b = max(diagonal_b - float(h.sum()), 0.0)

    def times(self, w: Floats, b: float) -> tuple[Floats, float]:
        """M^-1 (w, b), about."""
        scaled = w / self._diagonal
        none = Direction(np.zeros(len(self._features)), 0.0, np.zeros(len(self._h)))
        found = conjugate_gradients(
            self, (w[self._features], b), none, rounds=ROUNDS, accuracy=ACCURACY
        )
        scaled[self._features] = found.w
        return scaled, found.b

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The part of M over F and the intercept, times (w, b); and the scores."""
        out, scores = self._rest * w, np.empty(len(self._h))
        total = curvature_product(*self._rows, self._every, self._h, w, b, scores, out)
        return out, total + self._rest_b * b if self._diagonal_b else 0.0, scores

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of its diagonal."""
        scaled_b = b / self._diagonal_b if self._diagonal_b else 0.0
        return w / self._diagonal[self._features], scaled_b
