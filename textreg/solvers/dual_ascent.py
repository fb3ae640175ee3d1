"""Dual coordinate ascent, by documents and by features.

Dual coordinate ascent for a ridge of the logistic loss or a hinge, several labels in one pass.

    min  sum_i c_i l(y_i, x_i w + b) + q/2 ||w||^2,    w = X'alpha / q

A sweep moves the dual variable of every document in turn to its optimum (R4), as in yu2011, and a
row of X that is read for one label is there for sixteen. In the dual an intercept is the constraint
sum_i alpha_i = 0, which single moves cannot keep. So b is held near where it was, by the penalty
(b - b')^2 / (2 lag), and b' moves to b after some sweeps: the method of multipliers
(rockafellar1976). Where the ridge is weak and documents contradict each other sweeps are slow, and
Newton steps take over.

Dual coordinate ascent where every feature has a ridge of its own, which changes between sweeps.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j w_j^2

where w_j = S((X'alpha)_j, lam_j) / q_j, and S brings a number nearer to zero by lam_j. As in
:mod:`.dual_ascent`, for the quadratics that stand for the norms of groups (docs/maths.md, M5). What
is kept is X'alpha, which stays as it is where q changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.blocks import block_dots
from textreg._core.dual import dual_sweep, dual_sweep_by_feature
from textreg.losses import Loss, SmoothedHinge, SquaredHinge
from textreg.penalties import Separable, soft
from textreg.records import Floats, Int32s
from textreg.solvers.certificate import balance
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Columns that a kernel takes in one go.
LARGEST = 16


def width(count: int) -> int:
    """A number of columns that the kernels take in one go, or ``count`` where there are more."""
    return 1 << (count - 1).bit_length() if count <= LARGEST else count


# What sweeps need of every label.
COLUMNS = ("cy", "alpha", "u", "b")

# Sweeps before the first look at the gap, and between two of them.
FIRST, NEXT = 5, 3

# Looks at the gap before the rate counts.
PATIENCE = 2

# The largest share of the gap that may be left at the next look; else Newton steps are quicker.
RATE = 0.4

# What the intercept adds to the diagonal of X X' / q, as a share of its mean.
LAG = 0.2

# Mean curvature along a dual variable, in that of its entropy, above which sweeps are slow.
STIFF = 2_000.0

# Largest square of a row, weight in the ridge's curvature, and such curvature, for float32.
RANGE = 1e20

# Losses for which the optimum of a dual variable has a closed form.
HINGES = SmoothedHinge | SquaredHinge

# How often the dual variables to start from are quartered, at most.
QUARTERS = 6


class Patience:
    """Tells when sweeps no longer bring the gap of a hinge down: it falls, but not at every look.

    They end where none of LOOKS in a row has found it below FALL times the least before.
    """

    LOOKS, FALL = 12, 0.8

    def __init__(self) -> None:
        self.least, self._looks = np.inf, 0

    def ends(self, gap: float) -> bool:
        """Whether to look no further. gap: what has been found now."""
        self._looks = 0 if gap <= self.FALL * self.least else self._looks + 1
        self.least = min(self.least, gap)
        return self._looks >= self.LOOKS


class DualVariables:
    """The dual variables of a label, begun at those of its scores, and its intercept.

    Parameters
    ----------
    engine : Engine
        Where the fit stands, its intercept at its optimum.
    conjugate : callable
        That of the penalty, at a multiple of X'r.

    Attributes
    ----------
    cy : ndarray, shape (n,)
        The weights of the documents times their targets.
    alpha : ndarray, shape (n,)
        The dual variables.
    share : float
        Of the derivatives r, with the sign changed, that alpha began as.
    lag : float
        What the intercept adds to the diagonal; 0 without an intercept.
    b : float
        The intercept.
    sweeps : int
        How many there have been.
    """

    def __init__(self, engine: Engine, conjugate: Callable[[float], float]) -> None:
        self.cy = engine.c * engine.y
        self.share = best_share(engine, -engine.r, conjugate)
        self.alpha: Floats = -self.share * engine.r
        self.lag, self.b, self.sweeps = 0.0, engine.b, 0

    def move_to(self, alpha: Floats, b: float, sweeps: int) -> None:
        """Take what some sweeps came to, and move the point that the intercept is held near."""
        self.sweeps += sweeps
        self.alpha = alpha.copy()
        self.b = b + self.lag * float(self.alpha.sum())

    def balanced(self, engine: Engine) -> Floats:
        """alpha (n,) with a sum of zero where there is an intercept: a point of the dual."""
        alpha: Floats = self.alpha.copy()
        balance(engine, alpha)
        return alpha


class Ascent(DualVariables):
    """The dual variables of a label, and the weights that belong to them.

    Parameters
    ----------
    engine : Engine
        Where the fit stands, its intercept at its optimum.
    rows : CompactRows
        Those of the matrix, with float32 values.
    q : float
        Curvature of the penalty.
    gradient : ndarray, shape (p,)
        That of the loss.

    Attributes
    ----------
    u : float32 ndarray, shape (rows.size,)
        X'alpha / q.
    """

    def __init__(self, engine: Engine, rows: CompactRows, q: float, gradient: Floats) -> None:
        super().__init__(engine, squared(0.5 / q * float(gradient @ gradient)))
        self.q, self.slope, self._last = q, slope_of(engine.loss), np.inf
        if engine.fit_intercept:
            self.lag = LAG * float(rows.norms.mean()) / q
        u = -self.share / q * rows.collapse(gradient)
        self.u: NDArray[np.float32] = u.astype(np.float32)

    @property
    def number(self) -> int:
        """How many sweeps are next."""
        return NEXT if self.sweeps else FIRST

    def goes_on(self, gap: float) -> bool:
        """Whether sweeps are quick, by the gap now and at the last look."""
        looks = 0 if not self.sweeps else 1 + (self.sweeps - FIRST) // NEXT
        quick = looks < PATIENCE or gap <= RATE * self._last
        self._last = gap
        return quick


def suits(engine: Engine, rows: CompactRows, q: float) -> bool:
    """Whether sweeps promise to be quick, and values and weights have the range of float32."""
    stiff = float(engine.c @ rows.norms) > 4.0 * STIFF * q * float(engine.c.sum())
    return in_range(engine, rows, q) and not stiff


def in_range(engine: Engine, rows: CompactRows, q: float) -> bool:
    """Whether values and weights have the range of float32."""
    largest = float(rows.norms.max(initial=0.0)), float(engine.c.max(initial=0.0)) / q, q
    return rows.arrays[2].dtype == np.float32 and max(largest) <= RANGE


def sweep(rows: CompactRows, ascents: Sequence[Ascent]) -> list[Floats]:
    """The next sweeps for labels that have had as many; returns the scores of each without b."""
    indptr, indices, data = rows.arrays
    values, first = data.astype(np.float32, copy=False), ascents[0]
    cy, alpha, W, b = (block([getattr(one, at) for one in ascents]) for at in COLUMNS)
    for number in range(first.sweeps, first.sweeps + first.number):
        order = shuffled(number, len(cy))
        dual_sweep(
            indptr, indices, values, order, rows.norms, cy, first.q, first.lag, alpha, W, b,
            *first.slope,
        )  # fmt: skip
    scores = np.empty(cy.shape, dtype=np.float32)
    block_dots(indptr, indices, values, W, scores)
    for at, one in enumerate(ascents):
        one.move_to(alpha[:, at], float(b[at]), one.number)
        one.u = W[:, at].copy()
    return [scores[:, at].astype(np.float64) for at in range(len(ascents))]


def slope_of(loss: Loss) -> tuple[float, float]:
    """How the slope of a loss that sweeps are for depends on the margin (R4 to R5).

    (k, s) for a hinge whose slope at the margin m is -min(s, max(0, k (1 - m))); (0, 1) for the
    logistic loss.
    """
    if isinstance(loss, SmoothedHinge):
        return 1.0 / loss.smoothing, 1.0
    return (2.0, np.inf) if isinstance(loss, SquaredHinge) else (0.0, 1.0)


def shuffled(seed: int | Sequence[int], number: int) -> Int32s:
    """The order in which a sweep takes so many documents."""
    order: Int32s = np.random.default_rng(seed).permutation(number).astype(np.int32)
    return order


def block(columns: Sequence[Any]) -> NDArray[Any]:
    """Side by side, the last again until there are as many as the kernel takes in one go."""
    some = np.array(columns).T
    block = np.empty((*some.shape[:-1], width(len(columns))), dtype=some.dtype)
    block[..., : len(columns)] = some
    block[..., len(columns) :] = some[..., -1:]
    return block


def squared(value: float) -> Callable[[float], float]:
    """The conjugate of a quadratic penalty at a multiple of where it is ``value``."""
    return lambda share: share * share * value


def best_share(engine: Engine, alpha: Floats, conjugate: Callable[[float], float]) -> float:
    """The power of 1/4, times these dual variables, where the dual value is largest.

    conjugate: that of the penalty at a multiple of X'alpha.
    """
    share, best = 1.0, -np.inf
    for _ in range(QUARTERS):
        value = engine.loss.dual_value(share * alpha, engine.y, engine.c)
        value -= conjugate(share)
        if not value > best:
            break
        share, best = 0.25 * share, value
    return 4.0 * share


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
