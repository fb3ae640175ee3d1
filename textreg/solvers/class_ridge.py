"""A Newton step for all classes at once under a ridge, in products that read the matrix once.

The model is that of :mod:`.class_newton`. Inside of a step all numbers are float32, in compact rows
(see :mod:`.compact_rows`): it need not be exact, as loss, gradient and gap are computed in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg._core.blocks import block_dots
from textreg._core.softmax import softmax_product
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.conjugate import Direction, conjugate_gradients

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from textreg.records import Floats
    from textreg.solvers.classes import Classes

    Singles = NDArray[np.float32]

ROUNDS = 100
"""Most iterations of conjugate gradients in a step."""

ROUGH, FINE = 0.3, 0.01
"""Largest and smallest share of the residual that a step may leave."""

SHORTEST = 0.1
"""Steps are halved until they are shorter than this; then there is none."""


def ridge_together(classes: Classes, q: Floats) -> bool:
    """Lower the loss and 1/2 sum_j q_j w_j^2, the same for every class; whether a step did."""
    from scipy.special import softmax

    P = np.ascontiguousarray(softmax(classes.Z, axis=0).T)
    R = classes.c[:, None] * P - np.ascontiguousarray(classes.targets().T)
    model = _CompactModel(classes, P, q)
    slope = np.vstack([classes.design.transposed_product(R) + q[:, None] * classes.W.T, R.sum(0)])
    residual = model.compact(-slope).ravel()
    change, _, _ = conjugate_gradients(
        model,
        (residual, 0.0),  # type: ignore[arg-type]  # of float32, and so is all that is made of it
        Direction(np.zeros_like(residual), 0.0, np.empty(0)),
        rounds=ROUNDS,
        accuracy=min(ROUGH, max(FINE, classes.gap**0.25)),
    )
    V = model.expand(change)
    move, W = np.ascontiguousarray((classes.design.product(V[:-1]) + V[-1]).T), V[:-1].T

    def value(Z: Floats, W: Floats) -> float:
        return classes.loss_of(Z) + 0.5 * float(np.einsum("kj,kj,j->", W, W, q))

    before, length = value(classes.Z, classes.W), 1.0
    while length >= SHORTEST:
        Z, trial = classes.Z + length * move, classes.W + length * W
        if value(Z, trial) < before:
            classes.Z, classes.W, classes.b = Z, trial, classes.b + length * V[-1]
            return True
        length *= 0.5
    return False


class _CompactModel:
    """The model's Hessian in weights (columns + 1, classes), flat; the last are the intercepts."""

    def __init__(self, classes: Classes, P: Floats, q: Floats) -> None:
        """P: (n, classes), probabilities."""
        design = classes.design
        rows = compact_rows(design)
        indptr, indices, values = rows.arrays
        self._place, self._intercept = rows.place, float(classes.has_intercept)
        self._arrays = indptr, indices, values.astype(np.float32, copy=False)
        self._c, self._P = classes.c.astype(np.float32), P.astype(np.float32)
        self._q = np.zeros(rows.size + 1, dtype=np.float32)
        self._q[self._place] = q
        H = classes.c[:, None] * P * (1.0 - P)
        diagonal = np.empty((rows.size, P.shape[1]))
        block_dots(*design.columns[:2], design.squares, H, diagonal)
        diagonal = np.vstack([diagonal + q[:, None], H.sum(axis=0)])
        diagonal[diagonal <= 0.0] = 1.0  # nothing depends on such a weight
        self._inverse = self.compact(1.0 / diagonal).ravel()

    def compact(self, V: Floats) -> Singles:
        """V (p + 1, classes) in the order of compact rows; without an intercept its row is zero."""
        out = np.empty(V.shape, dtype=np.float32)
        out[self._place], out[-1] = V[:-1], self._intercept * V[-1]
        return out

    def expand(self, flat: Any) -> Floats:
        """The weights of all features and the intercepts (p + 1, classes)."""
        V = flat.reshape(len(self._q), -1).astype(np.float64)
        expanded: Floats = np.vstack([V[self._place], V[-1:]])
        return expanded

    def product(self, flat: Any, b: float) -> tuple[Any, float, Any]:
        """The Hessian times the weights; the scores are left out."""
        V = flat.reshape(len(self._q), -1)
        out = self._q[:, None] * V
        softmax_product(*self._arrays, self._c, self._P, V, out, np.empty(V.shape[1], np.float32))
        out[-1] *= self._intercept
        return out.ravel(), b, np.empty(0)

    def precondition(self, flat: Any, b: float) -> tuple[Any, float]:
        """Divide by the diagonal."""
        return flat * self._inverse, b
