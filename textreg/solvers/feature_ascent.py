"""Dual coordinate ascent where every feature has a ridge of its own, which changes between sweeps.

    min  sum_i c_i l(y_i, x_i w + b) + 1/2 sum_j q_j w_j^2,    w_j = (X'alpha)_j / q_j

As in :mod:`.dual_ascent`, for the quadratics that stand for the norms of groups (docs/maths.md,
M5). What is kept is X'alpha, which stays as it is where q changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.dual import dual_sweep_by_feature
from textreg.records import Floats
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.dual_ascent import LAG, DualVariables, block, shuffled
from textreg.solvers.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FeatureAscent(DualVariables):
    """The dual variables of a label, and the weights that belong to them.

    Parameters
    ----------
    engine : Engine
        Where the fit stands, its intercept at its optimum.
    rows : CompactRows
        Those of the matrix, with float32 values and all of its columns.
    q : ndarray, shape (p,)
        Curvature of the penalty.
    gradient : ndarray, shape (p,)
        That of the loss.

    Attributes
    ----------
    sums : float32 ndarray, shape (rows.size,)
        X'alpha.
    inverse : float32 ndarray, shape (rows.size,)
        1 / q.
    """

    def __init__(self, engine: Engine, rows: CompactRows, q: Floats, gradient: Floats) -> None:
        super().__init__(engine, 0.5 * float((gradient / q) @ gradient))
        self._rows, self._fit_intercept = rows, engine.fit_intercept
        sums = -self.share * rows.collapse(gradient)
        self.sums: NDArray[np.float32] = sums.astype(np.float32)
        self.take(q)

    def take(self, q: Floats) -> None:
        """Change the curvature of the penalty to q (p,)."""
        inverse = 1.0 / self._rows.collapse(q)
        self.inverse: NDArray[np.float32] = inverse.astype(np.float32)
        if self._fit_intercept:
            self.lag = LAG * (float(self._rows.squares @ inverse) / max(len(self.alpha), 1))

    def weights(self) -> Floats:
        """(p,)"""
        return self._rows.expand((self.sums * self.inverse).astype(np.float64))


def sweep_by_feature(rows: CompactRows, ascents: Sequence[FeatureAscent]) -> None:
    """The next sweep for labels that have had as many."""
    indptr, indices, data = rows.arrays
    values = data.astype(np.float32, copy=False)
    cy, alpha, sums, inverse, lag, b = (
        block([getattr(one, at) for one in ascents])
        for at in ("cy", "alpha", "sums", "inverse", "lag", "b")
    )
    order = shuffled(ascents[0].sweeps, len(cy))
    dual_sweep_by_feature(indptr, indices, values, order, cy, lag, inverse, alpha, sums, b)
    for at, one in enumerate(ascents):
        one.move_to(alpha[:, at], float(b[at]), 1)
        one.sums = sums[:, at].copy()
