"""Penalties: the prices of weights. Each knows its value, and what a solver or a certificate asks.

Formulas are numbered as in docs/maths.md.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from textreg._core.groups import ball_sweeps, group_gather, group_norms, group_scale, group_spread
from textreg.records import Floats, Groups, Int32s, Int64s
from textreg.records.cache import Cache

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from typing_extensions import Self


class Penalty(Protocol):
    """What the general-purpose solvers know of a penalty.

    It may offer more: ``conjugate(t)``, the largest t.w - value(w) over all w, which brings a
    duality gap; ``gradient(w)``, where it is smooth; ``convex = False``, where it is not.
    """

    def value(self, w: Floats) -> float:
        """The penalty at w (p,); infinite where w is not allowed."""

    def prox(self, w: Floats, step: float) -> Floats:
        """argmin_x 1/2 ||x - w||^2 + step * value(x), step > 0; a new array (P1)."""


def soft(w: Floats, threshold: Floats | float) -> Floats:
    """Soft thresholding: move w toward zero by ``threshold``, and no further."""
    shrunk: Floats = np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)
    return shrunk


class Separable:
    """sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|, the penalty of one inner problem.

    q, mu, lam: (p,).
    """

    def __init__(self, q: Floats, mu: Floats, lam: Floats) -> None:
        self.q, self.mu, self.lam = q, mu, lam

    @classmethod
    def constant(cls, p: int, l1: float = 0.0, l2: float = 0.0) -> Self:
        """l1 |w_j| + l2 w_j^2 on all of ``p`` features."""
        return cls(np.full(p, 2.0 * l2), np.zeros(p), np.full(p, float(l1)))

    def value(self, w: Floats) -> float:
        """The penalty of all features."""
        gap = w - self.mu
        return float(0.5 * (self.q @ (gap * gap)) + self.lam @ np.abs(w))

    def of(self, features: Int32s, values: Floats) -> float:
        """The share of ``features`` when their weights are ``values``."""
        gap = values - self.mu[features]
        return float(0.5 * (self.q[features] @ (gap * gap)) + self.lam[features] @ np.abs(values))

    def conjugate(self, t: Floats) -> float:
        """max over w of t.w - value(w); infinite where |t_j| > lam_j and q_j = 0."""
        over = np.abs(t + self.q * self.mu) - self.lam
        if (over[self.q == 0.0] > 0.0).any():
            return float("inf")
        gain = np.maximum(over, 0.0) ** 2 / np.where(self.q > 0.0, self.q, 1.0)
        return float(0.5 * (gain.sum() - self.q @ (self.mu * self.mu)))

    def prox(self, w: Floats, step: float) -> Floats:
        """Soft thresholding, then shrinking toward mu."""
        center = w + step * self.q * self.mu
        return soft(center, step * self.lam) / (1.0 + step * self.q)


class GroupNorms:
    """sum_g price_g ||w_g||_2 + sum_j lam_j |w_j| + l2 w_j^2 over overlapping groups.

    The sparse overlapping group lasso of Yogatama & Smith (2014), eq. (1), with an optional ridge
    (docs/maths.md, O1).
    Identical groups are merged and groups of one feature become part of lam, both exactly.

    groups: as the user gave them. group: price of every group's norm, times its own weight. l1, l2:
    prices of the absolute and of the squared weights.
    """

    def __init__(self, groups: Groups, group: float, l1: float, l2: float = 0.0) -> None:
        merged = groups.merged
        self.original = groups
        self.origin = merged.origin
        self.indptr, self.indices = merged.groups.indptr, merged.groups.indices
        self.strengths = group * merged.groups.weights
        self.lam = l1 + group * merged.l1
        self.l2 = float(l2)
        self.sizes = np.diff(self.indptr)
        self.p = groups.n_features

    def norms(self, w: Floats) -> Floats:
        """||w_g||_2 of every merged group."""
        out = np.empty(len(self.strengths))
        group_norms(self.indptr, self.indices, w, out)
        return out

    def value(self, w: Floats, norms: Floats | None = None) -> float:
        """The penalty at w; ``norms`` are those of its merged groups, where they are at hand."""
        norms = self.norms(w) if norms is None else norms
        return float(self.strengths @ norms + self.lam @ np.abs(w) + self.l2 * (w @ w))

    def spread(self, values: Floats) -> Floats:
        """For every feature the sum of ``values`` over its merged groups: M'(values)."""
        out = np.zeros(self.p)
        group_spread(self.indptr, self.indices, values, out)
        return out

    def duals(self, rates: Floats, w: Floats) -> Floats:
        """u_g = rates_g w_g, ragged."""
        u = np.empty(len(self.indices))
        group_scale(self.indptr, self.indices, rates, w, u)
        return u

    def gather(self, ragged: Floats) -> Floats:
        """For every feature the sum of its entries in a ragged array: M'u."""
        out = np.zeros(self.p)
        group_gather(self.indices, ragged, out)
        return out

    def relieve(self, u: Floats, t: Floats, lam: Floats, sweeps: int) -> None:
        """Move u (ragged) in its balls, and t = a - M'u, to bring |t_j| down to lam_j (D2)."""
        ball_sweeps(
            self.indptr, self.indices, self.strengths, lam, u, t,
            np.empty(self.p, dtype=np.uint8), np.empty(len(self.strengths), dtype=np.int32), sweeps,
        )  # fmt: skip

    def majorizer(self, s: Floats) -> Separable:
        """The quadratic that touches the penalty where ||w_g|| = s_g > 0, and lies above elsewhere.

        price ||w_g|| <= price (||w_g||^2 / (2 s_g) + s_g / 2): eq. (M1).
        """
        q = self.spread(self.strengths / s)
        q += 2.0 * self.l2
        return Separable(q, np.zeros(self.p), self.lam)

    @cached_property
    def floor(self) -> Floats:
        """m > 0 with sum_j m_j |w_j| <= value(w), since ||w_g||_2 >= ||w_g||_1 / sqrt(|g|)."""
        floor = self.lam + self.spread(self.strengths / np.sqrt(self.sizes))
        positive: Floats = np.maximum(floor, np.finfo(np.float64).tiny)
        return positive

    def copies(self, w: Floats, u: Floats) -> Floats:
        """Norms of the copies v_g = prox(w_g + u_g) of the *original* groups: eq. (5), rho = 1.

        w: (p,). u: ragged over the merged groups, ||u_g|| <= price_g. At the optimum v_g = w_g;
        before, a group is exactly zero as soon as its dual variable has room left.
        """
        z = w[self.indices] + u
        length = np.sqrt(np.add.reduceat(z * z, self.indptr[:-1])) if len(self.strengths) else z
        merged = np.maximum(length - self.strengths, 0.0)
        # A length that differs from the price by rounding is no selection.
        merged[merged <= 1e-9 * np.maximum(self.strengths, 1.0)] = 0.0
        return self.original_norms(merged, w)

    def original_norms(self, merged: Floats, w: Floats) -> Floats:
        """Norms of the original groups from those of the merged ones and w (p,)."""
        norms = np.zeros(len(self.original))
        shared = self.origin >= 0
        norms[shared] = merged[self.origin[shared]]
        single = self.origin <= -2
        norms[single] = np.abs(w[-2 - self.origin[single]])
        return norms


class Links:
    """||R [w; v]||_2^2, the virtual features v at their best for every w: what a graph prices.

    rows: CSR (m, p + classes), R. Its last ``classes`` columns belong to virtual features, which no
    document holds; they are free but for the share SLIGHT of their curvature, which decides where
    the links leave them open.
    """

    SLIGHT = 1e-10

    def __init__(self, rows: csr_array, classes: int = 0) -> None:
        self.p = rows.shape[1] - classes
        self.rows, self.cache = rows, Cache()
        self.R = rows[:, : self.p].tocsr() if classes else rows
        self.Rt = self.R.T.tocsr()
        self.diagonal: Floats = np.asarray(self.Rt.power(2).sum(axis=1)).ravel()
        self.S = rows[:, self.p :].tocsr() if classes else None
        if self.S is not None:
            from scipy.sparse import diags
            from scipy.sparse.linalg import splu

            self.St = self.S.T.tocsr()
            curvature = np.asarray(self.St.power(2).sum(axis=1)).ravel()
            slight = np.where(curvature > 0.0, self.SLIGHT * curvature, 1.0)
            self._best = splu((self.St @ self.S + diags(slight)).tocsc())

    @cached_property
    def coupled(self) -> NDArray[np.bool_]:
        """(p,) features that some row ties to another, real or virtual."""
        rows = self.rows[np.diff(self.rows.indptr) > 1]
        coupled: NDArray[np.bool_] = np.bincount(rows.indices, minlength=rows.shape[1]) > 0
        return coupled[: self.p]

    @cached_property
    def floor(self) -> Floats:
        """(p,) m >= 0 with sum_j m_j w_j^2 <= the price: from the rows of one feature alone."""
        alone = self.rows[np.diff(self.rows.indptr) == 1]
        floor = np.zeros(self.rows.shape[1])
        np.add.at(floor, alone.indices, alone.data**2)
        return floor[: self.p]

    def keep(self, features: Int64s) -> Links:
        """The price of these features alone; what is left out must not be coupled."""
        classes = np.arange(self.p, self.rows.shape[1])
        rows = self.rows[:, np.append(features, classes)]
        return Links(rows[np.flatnonzero(np.diff(rows.indptr))], len(classes))

    def product(self, w: Floats) -> Floats:
        """Half the gradient in w (p,): linear in w, and w.product(w) is the value."""
        misfit = self.R @ w
        if self.S is not None:
            misfit = misfit - self.S @ self._best.solve(self.St @ misfit)
        product: Floats = self.Rt @ misfit
        return product


class Quadratic:
    """strength * links(w) + l2 ||w||_2^2, smooth and convex: w.M w with M = strength R'R + l2 I.

    links: from the graph. strength, l2: of the links and of the squared weights.
    """

    def __init__(self, links: Links, strength: float, l2: float) -> None:
        self.links, self.strength, self.l2 = links, float(strength), float(l2)

    def product(self, w: Floats) -> Floats:
        """M w, half the gradient."""
        return self.strength * self.links.product(w) + self.l2 * w

    def value(self, w: Floats) -> float:
        """w.M w."""
        return float(w @ self.product(w))

    @cached_property
    def floor(self) -> Floats:
        """m (p,) with sum_j m_j w_j^2 <= value(w)."""
        return self.strength * self.links.floor + self.l2
