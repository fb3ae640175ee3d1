"""The latent group lasso: the norm of weights that are a sum of parts, each within one group.

    Omega(w) = min sum_g lambda_g ||v_g||_2  over parts v_g within group g that sum to w      (J1)

(jacob2009, eq. (2); docs/maths.md). The support of w is a union of groups. The parts are found by

    Omega(w) = min over eta >= 0 of  1/2 sum_j w_j^2 / zeta_j + 1/2 sum_g lambda_g^2 eta_g,   (J2)
    zeta_j = sum of eta_g over the groups of j,   v_g = eta_g (w / zeta)_g,

with Newton's method on a few groups; the dual point w / zeta shows which others would lower the
sum, and how far that is from its minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from itertools import chain

import numpy as np

from textreg._core.groups import group_norms, group_spread
from textreg.penalties import check_strengths, soft
from textreg.records import Floats, Groups, Int32s, Int64s
from textreg.records.arrays import row_of, take_rows
from textreg.solvers.state import NOISE

# Relative gap of the sum at which it is exact.
EXACT = 1e-12

# Most rounds over a set of groups, and most such sets.
MOST = 200

# Most groups for Newton's method; with more the parts are no more than near those of least sum.
LARGEST = 300

# Rounds of reweighting that choose the groups of the first set, and before Newton's method.
CHOOSING, WARM = 100, 3

# Relative ridge of its matrix, which is singular where groups depend on each other.
SLIGHT = 1e-13

# Most times that a step of Newton is cut to a quarter.
QUARTERS = 12

# Share of its value at which eta has become zero.
ROUNDING = 1e-12


class LatentPenalty:
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
        if len(nothing):  # a group of strength 0 takes its features out of all others
            self.free[nothing] = True
            left = ~self.free[groups.indices]
            sizes = np.bincount(row_of(groups.indptr)[left], minlength=len(groups))
            indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            groups = Groups(indptr, groups.indices[left], groups.weights, self.p)
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

    def value(self, w: Floats) -> float:
        """The penalty at w (p,); infinite where a feature has a weight that can have none."""
        return latent_parts(self, w)[1] + self.separable(w)

    def separable(self, w: Floats) -> float:
        """The part of the penalty that l1 and l2 are."""
        return self.l1 * float(np.abs(w).sum()) + self.l2 * float(w @ w)

    def objective(self, loss: float, w: Floats, norms: Floats) -> float:
        """The loss at w (p,) plus the penalty, by parts of these norms, whatever their sum."""
        return loss + self.separable(w) + float(self.strengths @ norms)

    def ratios(self, t: Floats, kappa: float = 1.0) -> Floats:
        """||S(t_g, kappa l1)|| / (kappa lambda_g) of every merged group: at most 1 inside (J3)."""
        return self.norms(soft(t, kappa * self.l1)) / (kappa * self.strengths)

    def select(self, groups: Int64s, features: Int32s) -> LatentPenalty:
        """The same of some groups (merged ones), and what they have of some features, ascending."""
        place = np.full(self.p, -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        indptr, indices = take_rows(self.indptr, self.indices, groups)
        places = place[indices]
        inside = places >= 0
        ends = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])
        other = copy(self)
        other.p, other.indptr, other.indices = len(features), ends[indptr], places[inside]
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


def latent_parts(
    penalty: LatentPenalty, w: Floats, norms: Floats | None = None
) -> tuple[Floats, float]:
    """The parts of least sum for weights w (p,): ||v_g|| of every merged group, and Omega(w).

    Where more than :data:`LARGEST` groups have a part, they are near those, and their sum is a
    little above Omega; where that is infinite there are none. norms: those of parts of about the
    same weights, to start from.
    """
    values = np.where(penalty.free, 0.0, w)
    support = np.flatnonzero(values).astype(np.int32)
    out = np.zeros(len(penalty.strengths))
    if w[penalty.closed].any():
        return out, math.inf
    if not len(support):
        return out, 0.0
    touched = np.flatnonzero(penalty.norms(values))
    part, values = penalty.select(touched, support), values[support]
    eta = np.zeros(len(touched)) if norms is None else norms[touched] / part.strengths
    if part.spread(eta).all():
        eta = settled(part, values, eta, 1)
        chosen = np.flatnonzero(eta)
    else:
        eta = settled(part, values, part.norms(values) / part.strengths, CHOOSING)
        chosen = _cover(part, eta)
    out[touched] = part.strengths * eta
    best = float(penalty.strengths @ out)
    # At the optimum the dual point t = w / zeta is in all balls, ||t_g|| <= lambda_g. Groups whose
    # ball it leaves join the chosen ones; t / max ratio is a dual point meanwhile.
    every = np.arange(part.p, dtype=np.int32)
    for _ in range(MOST):
        if len(chosen) > LARGEST:
            break
        balanced, t = _balance(part.select(chosen, every), values, eta[chosen])
        ratios = part.norms(t) / part.strengths
        parts = balanced * ratios[chosen]  # ||v_g|| / lambda_g
        value = float(part.strengths[chosen] ** 2 @ parts)
        if value < best:
            best = value
            out[:] = 0.0
            out[touched[chosen]] = part.strengths[chosen] * parts
        bound = float(values @ t) / max(1.0, float(ratios.max()))
        new = np.setdiff1d(np.flatnonzero(ratios > 1.0 + EXACT), chosen, assume_unique=True)
        if best - bound <= EXACT * best or not len(new):
            break
        eta[:] = 0.0
        eta[chosen] = balanced
        most = max(20, len(chosen))
        new = np.sort(new[np.argsort(-ratios[new], kind="stable")[:most]])
        eta[new] = 1e-3 * balanced[balanced > 0.0].min()  # reweighting never leaves zero
        chosen = np.flatnonzero(eta)
    return out, best


def settled(penalty: LatentPenalty, w: Floats, eta: Floats, rounds: int) -> Floats:
    """eta after some rounds of reweighting, each of which lowers (J2) for weights w (p,).

    Groups without an eta stay so; weights that have none but such groups are left out.
    """
    # eta_g <- ||v_g|| / lambda_g with v_g = eta_g (w / zeta)_g.
    for _ in range(rounds):
        eta = eta * (penalty.norms(penalty.duals(w, eta)) / penalty.strengths)
    return eta


def parts_within(penalty: LatentPenalty, w: Floats, groups: Int64s) -> tuple[Floats, Floats]:
    """The parts of least sum for weights w (p,) in some of the merged groups alone.

    Returns eta (merged groups,) and t (p,): the part of group g is eta_g t_g. Weights that are in
    none of these groups are left out.
    """
    used = np.flatnonzero(w).astype(np.int32)
    support = used[np.unique(penalty.select(groups, used).indices)]
    eta, t = np.zeros(len(penalty.strengths)), np.zeros(penalty.p)
    if len(support):
        part = penalty.select(groups, support)
        start = part.norms(w[support]) / part.strengths
        eta[groups], t[support] = _balance(part, w[support], start)
    return eta, t


def _cover(penalty: LatentPenalty, eta: Floats) -> Int64s:
    """Groups that have all features: for every feature the one whose eta is largest."""
    entries = np.repeat(eta, np.diff(penalty.indptr))
    largest = np.zeros(penalty.p)
    np.maximum.at(largest, penalty.indices, entries)
    return np.unique(row_of(penalty.indptr)[entries == largest[penalty.indices]])


def _balance(part: LatentPenalty, w: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """eta of least sum for these groups, and the dual point w / zeta.

    Newton's method where that lowers the sum, else reweighting: eta_g ||t_g|| / lambda_g.
    """
    from scipy.sparse import csr_array

    strengths = part.strengths
    ones = np.ones(len(part.indices))
    B = csr_array((ones, part.indices, part.indptr), shape=(len(strengths), part.p))
    Bt = B.T.tocsr()

    def total(eta: Floats) -> float:
        zeta = Bt @ eta
        if not (zeta > 0.0).all():
            return math.inf
        return 0.5 * float(w @ (w / zeta)) + 0.5 * float(strengths**2 @ eta)

    # The derivatives are 1/2 (lambda_g^2 - ||t_g||^2), the second ones B diag(t^2 / zeta) B'.
    value = total(eta)
    for done in range(MOST):
        zeta = Bt @ eta
        t = w / zeta
        squares = B @ (t * t)
        ratios = np.sqrt(squares) / strengths
        bound = float(w @ t) / max(1.0, float(ratios.max()))
        if float(strengths**2 @ (eta * ratios)) - bound <= 0.1 * EXACT * value:
            break
        trials: Iterator[Floats] = iter([eta * ratios])
        if done >= WARM and len(eta) <= LARGEST:
            slope = 0.5 * (strengths**2 - squares)
            hessian = np.asarray(((B * (t * t / zeta)) @ Bt).todense())
            trials = chain(_newton_trials(eta, slope, hessian), trials)
        for trial in trials:
            new = total(trial)
            if new < value:
                break
        else:
            break
        # A group that leaves ends a step of any length, after which the next may be long.
        left = np.count_nonzero(trial) < np.count_nonzero(eta)
        eta, fall, value = trial, value - new, new
        if fall <= NOISE * value and done > WARM and not left:
            break
    return eta, w / (Bt @ eta)


def _newton_trials(eta: Floats, slope: Floats, hessian: Floats) -> Iterator[Floats]:
    """Where a step of Newton's method may lead: with what would be below 0 at 0, or not as far."""
    moving = np.flatnonzero((eta > 0.0) | (slope < 0.0))
    # Active set: what stands at 0 and would fall leaves the system, until nothing does.
    while True:
        step = _solved(hessian[np.ix_(moving, moving)], -slope[moving])
        stays = (eta[moving] == 0.0) & (step <= 0.0)
        if not stays.any():
            break
        moving = moving[~stays]
    falling = step < 0.0
    first = float((eta[moving][falling] / -step[falling]).min(initial=1.0))
    for length in (1.0, *(first * 0.25**k for k in range(QUARTERS))):
        trial = eta.copy()
        moved = eta[moving] + length * step
        trial[moving] = np.where(moved > ROUNDING * eta[moving], moved, 0.0)
        yield trial


def _solved(matrix: Floats, target: Floats) -> Floats:
    """A solution of a positive semidefinite system, whose diagonal may have any scale."""
    sizes = np.sqrt(np.diag(matrix))
    sizes[sizes == 0.0] = 1.0
    scaled = matrix / sizes / sizes[:, None] + SLIGHT * np.eye(len(matrix))
    return np.linalg.solve(scaled, target / sizes) / sizes
