"""Dual coordinate ascent where every feature has a ridge of its own, which changes between sweeps.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j w_j^2

where w_j = S((X'alpha)_j, lam_j) / q_j, and S brings a number nearer to zero by lam_j. As in
:mod:`.dual_ascent`, for the quadratics that stand for the norms of groups (docs/maths.md, M5). What
is kept is X'alpha, which stays as it is where q changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.dual import dual_sweep_by_feature
from textreg.penalties import Separable, soft
from textreg.records import Floats
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.dual_ascent import LAG, DualVariables, block, shuffled, squared
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
    penalty : Separable
        Its strengths; all q above 0, and mu 0.
    gradient : ndarray, shape (p,)
        That of the loss.

    Attributes
    ----------
    sums : float32 ndarray, shape (rows.size,)
        X'alpha.
    lam : float32 ndarray, shape (rows.size,) or (0,)
        Strengths of an l1 penalty, if there is one.
    inverse : float32 ndarray, shape (rows.size,)
        1 / q.
    """

    def __init__(
        self, engine: Engine, rows: CompactRows, penalty: Separable, gradient: Floats
    ) -> None:
        self._rows, self._fit_intercept = rows, engine.fit_intercept
        lam = rows.collapse(penalty.lam) if penalty.lam.any() else np.empty(0)
        self.lam: NDArray[np.float32] = lam.astype(np.float32)
        if len(lam):
            super().__init__(engine, lambda share: penalty.conjugate(share * gradient))
        else:
            super().__init__(engine, squared(0.5 * float((gradient / penalty.q) @ gradient)))
        self.renew(-self.share * gradient)
        self.take(penalty.q)

    def renew(self, products: Floats) -> None:
        """Take X'alpha (p,) from where it is exact."""
        self.sums: NDArray[np.float32] = self._rows.collapse(products).astype(np.float32)

    def take(self, q: Floats) -> None:
        """Change the curvature of the penalty to q (p,)."""
        inverse = 1.0 / self._rows.collapse(q)
        self.inverse: NDArray[np.float32] = inverse.astype(np.float32)
        if self._fit_intercept:
            if len(self.lam):
                inverse[np.abs(self.sums) <= self.lam] = 0.0
            self.lag = LAG * (float(self._rows.squares @ inverse) / max(len(self.alpha), 1))

    def weights(self) -> Floats:
        """(p,)"""
        sums = soft(self.sums, self.lam) if len(self.lam) else self.sums
        return self._rows.expand((sums * self.inverse).astype(np.float64))


def sweep_by_feature(rows: CompactRows, ascents: Sequence[FeatureAscent]) -> None:
    """The next sweep for labels that have had as many, and have the same l1 strengths."""
    indptr, indices, data = rows.arrays
    values = data.astype(np.float32, copy=False)
    cy, alpha, sums, inverse, lag, b = (
        block([getattr(one, at) for one in ascents])
        for at in ("cy", "alpha", "sums", "inverse", "lag", "b")
    )
    order, lam = shuffled(ascents[0].sweeps, len(cy)), ascents[0].lam
    dual_sweep_by_feature(indptr, indices, values, order, cy, lag, lam, inverse, alpha, sums, b)
    for at, one in enumerate(ascents):
        one.move_to(alpha[:, at], float(b[at]), 1)
        one.sums = sums[:, at].copy()
