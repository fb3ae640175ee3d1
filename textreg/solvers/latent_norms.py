"""The latent group lasso: the norm of weights that are a sum of parts, each within one group.

    Omega(w) = min sum_g lambda_g ||v_g||_2  over parts v_g within group g that sum to w

(jacob2009, eq. (2); docs/maths.md, J1). The support of w is a union of groups.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from textreg._core.groups import group_norms, group_spread
from textreg.penalties import check_strengths, soft
from textreg.records import Floats, Groups, Int32s, Int64s
from textreg.records.ragged import row_of, take_rows


class LatentNorms:
    """Omega(w) + l1 ||w||_1 + l2 ||w||_2^2.

    Of equal groups only the one of least strength can have a part, so they are merged. Features of
    no group, or of a group of strength 0, are penalized by l1 and l2 only; where both are 0, those
    of no group have no weight, as Omega is infinite.

    Parameters
    ----------
    groups : Groups
        Sets of features, which may overlap.
    group : float
        Strength of the norms; lambda_g is this times the weight of group g.
    l1 : float
        Strength of the absolute weights.
    l2 : float, default 0
        Strength of the squared weights.

    Attributes
    ----------
    strengths : ndarray, shape (merged groups,)
        lambda_g, above 0.
    indptr, indices : int64 and int32 ndarray
        Merged group g has the features ``indices[indptr[g]:indptr[g + 1]]``.
    free, closed : ndarray of bool, shape (p,)
        The features that l1 and l2 alone penalize, and those that can have no weight.
    p : int
        Number of features.
    """

    def __init__(self, groups: Groups, group: float, l1: float, l2: float = 0.0) -> None:
        check_strengths(group=group, l1=l1, l2=l2)
        self.original, self.group = groups, float(group)
        self.l1, self.l2, self.p = float(l1), float(l2), groups.n_features
        self.free = np.ones(self.p, dtype=bool)
        self.free[groups.distinct.groups.indices] = False
        self.closed = self.free.copy() if l1 == l2 == 0.0 else np.zeros(self.p, dtype=bool)
        self.free &= ~self.closed
        nothing = groups.indices[np.repeat(group * groups.weights == 0.0, np.diff(groups.indptr))]
        if len(nothing):
            self.free[nothing] = True
            groups = _without(groups, self.free)
        merged = groups.distinct
        self.origin = merged.origin
        self.indptr, self.indices = merged.groups.indptr, merged.groups.indices
        filled = self.origin >= 0
        weights = np.full(len(merged.groups), np.inf)
        np.minimum.at(weights, self.origin[filled], groups.weights[filled])
        self.strengths = group * weights

    def norms(self, values: Floats) -> Floats:
        """The norm of ``values`` (p,) over every merged group."""
        out = np.empty(len(self.strengths))
        group_norms(self.indptr, self.indices, values, out)
        return out

    def spread(self, values: Floats) -> Floats:
        """(p,) For every feature the sum of ``values`` (merged groups,) over its groups."""
        out = np.zeros(self.p)
        group_spread(self.indptr, self.indices, values, out)
        return out

    def duals(self, w: Floats, eta: Floats) -> Floats:
        """w / zeta (p,), zeta_j the sum of eta over the groups of j (J2); 0 where that is 0."""
        zeta = self.spread(eta)
        return np.divide(w, zeta, out=np.zeros(self.p), where=zeta > 0.0)

    def separable(self, w: Floats) -> float:
        """The part of the penalty that l1 and l2 are."""
        return self.l1 * float(np.abs(w).sum()) + self.l2 * float(w @ w)

    def ratios(self, t: Floats, kappa: float = 1.0) -> Floats:
        """||S(t_g, kappa l1)|| / (kappa lambda_g) of every merged group: at most 1 inside (J3)."""
        ratios: Floats = self.norms(soft(t, kappa * self.l1)) / (kappa * self.strengths)
        return ratios

    def select(self, groups: Int64s, features: Int32s) -> LatentNorms:
        """The same of some groups (merged ones), and what they have of some features, ascending."""
        place = np.full(self.p, -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        indptr, indices = take_rows(self.indptr, self.indices, groups)
        places = place[indices]
        inside = places >= 0
        ends = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])
        other = object.__new__(LatentNorms)
        other.group, other.l1, other.l2, other.p = self.group, self.l1, self.l2, len(features)
        other.indptr, other.indices = ends[indptr], places[inside]
        other.strengths = self.strengths[groups]
        other.free, other.closed = self.free[features], self.closed[features]
        return other

    def original_norms(self, norms: Floats, w: Floats) -> Floats:
        """The norms of the parts of the original groups, from those of the merged ones.

        Of equal groups only those of the least weight have the part. A group of strength 0 has what
        weights w (p,) there are in it.
        """
        groups, out = self.original, np.zeros(len(self.original))
        filled = self.origin >= 0
        merged = self.origin[filled]
        least = self.group * groups.weights[filled] <= self.strengths[merged]
        out[filled] = np.where(least, norms[merged], 0.0)
        for g in np.flatnonzero(self.group * groups.weights == 0.0):
            out[g] = math.sqrt(float((w[groups.members(int(g))] ** 2).sum()))
        return out


def _without(groups: Groups, features: NDArray[np.bool_]) -> Groups:
    """The same groups without some features (p,)."""
    left = ~features[groups.indices]
    sizes = np.bincount(row_of(groups.indptr)[left], minlength=len(groups))
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Groups(indptr, groups.indices[left], groups.weights, groups.n_features)
