"""The best way to write weights as a sum of parts within groups: the value of the latent norm.

    Omega(w) = min over eta >= 0 of  1/2 sum_j w_j^2 / zeta_j + 1/2 sum_g lambda_g^2 eta_g,
    zeta_j = sum of eta_g over the groups of j                                  (docs/maths.md, J2)

with the parts v_g = eta_g (w / zeta)_g. Newton's method on a few groups; the dual point w / zeta
shows which others would lower the sum, and how far that is from its minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from textreg.records import Floats, Int32s, Int64s
from textreg.records.ragged import row_of
from textreg.solvers.engine import NOISE
from textreg.solvers.latent_norms import LatentNorms

EXACT = 1e-12
"""Relative gap of the sum at which it is exact."""

MOST = 200
"""Most rounds over a set of groups, and most such sets."""

LARGEST = 2000
"""Most groups for Newton's method; with more the parts are no more than near those of least sum."""

WARM = 3
"""Rounds of reweighting before Newton's method."""

SLIGHT = 1e-13
"""Relative ridge of its matrix, which is singular where groups depend on each other."""

QUARTERS = 12
"""Most times that a step of Newton is cut to a quarter."""

ROUNDING = 1e-12
"""Share of its value at which eta has become zero."""


class LatentParts(NamedTuple):
    """norms: ||v_g|| of every merged group. value: Omega(w), the sum of lambda_g ||v_g||.

    Where Omega is infinite there are no parts.
    """

    norms: Floats
    value: float


class LatentPenalty(LatentNorms):
    """The latent group lasso with its value."""

    def value(self, w: Floats) -> float:
        """The penalty at w (p,); infinite where a feature has a weight that can have none."""
        return latent_parts(self, w).value + self.separable(w)


def latent_parts(penalty: LatentNorms, w: Floats, norms: Floats | None = None) -> LatentParts:
    """The parts of least sum for weights w (p,).

    norms: those of parts of about the same weights, to start from.
    """
    values = np.where(penalty.free, 0.0, w)
    support = np.flatnonzero(values).astype(np.int32)
    out = np.zeros(len(penalty.strengths))
    if w[penalty.closed].any():
        return LatentParts(out, math.inf)
    if not len(support):
        return LatentParts(out, 0.0)
    eta = np.zeros(len(out)) if norms is None else norms / penalty.strengths
    chosen = np.flatnonzero(eta)
    if norms is None or not _covers(penalty, chosen, support):
        eta += _cover(penalty, values, support)
        chosen = np.flatnonzero(eta)
    best = math.inf
    for _ in range(MOST):
        part = penalty.select(chosen, support)
        found, t_support = _balance(part, values[support], eta[chosen])
        t = np.zeros(penalty.p)
        t[support] = t_support
        ratios = penalty.norms(t) / penalty.strengths
        parts = found * ratios[chosen]  # ||v_g|| / lambda_g
        value = float(penalty.strengths[chosen] ** 2 @ parts)
        if value < best:
            best = value
            out[:] = 0.0
            out[chosen] = penalty.strengths[chosen] * parts
        bound = float(values[support] @ t_support) / max(1.0, float(ratios.max()))
        new = np.setdiff1d(np.flatnonzero(ratios > 1.0 + EXACT), chosen, assume_unique=True)
        if best - bound <= EXACT * best or not len(new):
            break
        eta[:] = 0.0
        eta[chosen] = found
        most = max(20, len(chosen))
        new = np.sort(new[np.argsort(-ratios[new], kind="stable")[:most]])
        eta_new = eta[chosen][found > 0.0].min()
        eta[new] = 1e-3 * eta_new
        chosen = np.flatnonzero(eta)
    return LatentParts(out, best)


def settled(penalty: LatentNorms, w: Floats, eta: Floats, rounds: int) -> Floats:
    """eta after some rounds of reweighting, each of which lowers (J2) for weights w (p,).

    Groups without an eta stay so; weights that have none but such groups are left out.
    """
    for _ in range(rounds):
        eta = eta * (penalty.norms(penalty.duals(w, eta)) / penalty.strengths)
    return eta


def parts_within(penalty: LatentNorms, w: Floats, groups: Int64s) -> tuple[Floats, Floats]:
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


def _covers(penalty: LatentNorms, groups: Int64s, support: Int32s) -> bool:
    """Whether every one of some features is in one of these groups."""
    return len(np.unique(penalty.select(groups, support).indices)) == len(support)


def _cover(penalty: LatentNorms, values: Floats, support: Int32s) -> Floats:
    """eta of parts of which every feature is in the one where weights are cheapest."""
    sizes = penalty.norms(values)
    order = np.argsort(sizes / penalty.strengths, kind="stable")
    touched = order[sizes[order] > 0.0]
    part = penalty.select(touched, support)
    best = np.full(len(support), -1, dtype=np.int64)
    np.maximum.at(best, part.indices, row_of(part.indptr))
    squares = np.bincount(best, values[support] ** 2, len(touched))
    eta = np.zeros(len(sizes))
    eta[touched] = np.sqrt(squares) / penalty.strengths[touched]
    return eta


def _balance(part: LatentNorms, w: Floats, eta: Floats) -> tuple[Floats, Floats]:
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
        eta, fall, value = trial, value - new, new
        if fall <= NOISE * value and done > WARM:
            break
    return eta, w / (Bt @ eta)


def _newton_trials(eta: Floats, slope: Floats, hessian: Floats) -> Iterator[Floats]:
    """Where a step of Newton's method may lead: with what would be below 0 at 0, or not as far."""
    moving = np.flatnonzero((eta > 0.0) | (slope < 0.0))
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
    solved: Floats = np.linalg.solve(scaled, target / sizes) / sizes
    return solved
