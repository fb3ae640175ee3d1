"""What the dual of the latent group lasso proves: bounds of the optimum, and of its support.

With S soft thresholding, dual points of the penalty without its ridge are the c with

    ||S(c_g, l1)||_2 <= lambda_g for every group, |c_j| <= l1 for features in none

(docs/maths.md, J3): the dual norm is a maximum, so the bounds are exact. For dual variables alpha
of the loss, t = X'alpha and any such c the optimum is at least the dual value of the loss minus
||t - c||^2 / (4 l2) (J4); without a ridge t = c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from textreg.penalties import soft
from textreg.records import Floats, Problem, Solution
from textreg.records.arrays import take_rows
from textreg.records.problem import Support, states
from textreg.solvers.certificate import KAPPAS, LARGEST_KAPPA, ROUNDING, Balls
from textreg_latent.penalty import LatentPenalty

# Steps of the bisection for the least kappa.
NARROWINGS = 8

# Rounds of reweighting that bring a point near the balls.
ROUNDS = 20

# Share that is added of the eta that a group would need alone, as several do that overlap.
NEW = 0.1


class LatentBound(NamedTuple):
    """A lower bound, the dual variables of the loss that give it, and the dual point c (p,)."""

    value: float
    alpha: Floats
    point: Floats


def latent_bound(
    penalty: LatentPenalty,
    alpha: Floats,
    t: Floats,
    w: Floats,
    dual_value: Callable[[Floats], float],
    least: float,
) -> LatentBound:
    """The best bound by scaling alpha, and by what the ridge pays for.

    t: X'alpha (p,). w: weights, of which the ridge takes 2 l2 w at the optimum. dual_value: the
    part that is due to the loss. least: the kappa below which alpha / kappa leaves what every loss
    has a conjugate for, |alpha_i| <= c_i.
    """
    rest = t - 2.0 * penalty.l2 * w
    largest = min(least_kappa(penalty, rest), LARGEST_KAPPA)
    ridge = penalty.l2 > 0.0
    best = LatentBound(-np.inf, alpha, np.zeros_like(t))
    kappas = [1.0 + share * (largest - 1.0) for share in reversed(KAPPAS)] if ridge else [largest]
    if not ridge and largest == 1.0:
        kappas.append(min(max(tightest(penalty, t), least), 1.0))
    # D(alpha / kappa) - ||t / kappa - c||^2 / (4 l2): a smaller kappa costs the ridge, a larger one
    # the loss.
    for kappa in kappas:
        point = clipped(penalty, rest, kappa) if ridge else t
        scaled, point = alpha / kappa, point / kappa
        value = dual_value(scaled)
        if ridge:
            over = t / kappa - point
            value -= float(over @ over) / (4.0 * penalty.l2)
        if not value >= best.value:  # and so it goes on
            break
        best = LatentBound(value, scaled, point)
    return best


def projected(penalty: LatentPenalty, t: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """Weights w (p,) for which t - 2 l2 w is near the dual point nearest to t: (J4) at its best.

    That point is S(t, l1) / (1 + 2 l2 zeta), besides what l1 takes, with the eta at which its norm
    is lambda_g in every group that has an eta above 0, and smaller in the others (J6). Each eta is
    multiplied by a power of ||c_g|| / lambda_g until then; ``eta`` (merged groups,) is the start.
    Without a ridge there is nothing to choose, and the weights are zero.
    """
    if penalty.l2 == 0.0:
        return np.zeros(penalty.p), eta
    twice, target = 2.0 * penalty.l2, soft(t, penalty.l1)
    w: Floats = target / twice
    w[~penalty.free] = 0.0
    chosen = np.flatnonzero((eta > 0.0) | (penalty.norms(target) > penalty.strengths))
    inside = np.zeros(penalty.p, dtype=bool)
    inside[take_rows(penalty.indptr, penalty.indices, chosen)[1]] = True
    features = np.flatnonzero(inside).astype(np.int32)
    part, target = penalty.select(chosen, features), target[features]
    every, eta = np.zeros(len(eta)), eta[chosen]
    for _ in range(ROUNDS):
        left = 1.0 / (1.0 + twice * part.spread(eta))
        sizes = part.norms(left * target)
        # 1 where eta takes next to nothing of the features of a group, 0 where it takes all.
        share = part.norms(np.sqrt(left) * left * target) ** 2
        share = np.divide(share, sizes * sizes, out=np.ones(len(eta)), where=sizes > 0.0)
        ratios = sizes / part.strengths
        # The power of Newton's method, were the groups disjoint, and its step from zero.
        least = NEW * np.maximum(ratios - 1.0, 0.0) / (twice * share)
        eta = np.maximum(eta * ratios ** (1.0 + share), least)
    w[features] = target * (1.0 - 1.0 / (1.0 + twice * part.spread(eta))) / twice
    every[chosen] = eta
    return w, every


def least_kappa(penalty: LatentPenalty, t: Floats) -> float:
    """A kappa of 1 or more, hardly above the least one, for which t / kappa is a dual point.

    With a ridge features that are in no group do not count, as they are clipped at little cost.
    """
    free = np.abs(t[penalty.free]).max(initial=0.0)
    low = 1.0
    if penalty.l2 == 0.0 and free > penalty.l1:
        low = float(free / penalty.l1) if penalty.l1 > 0.0 else np.inf
    ratios = penalty.ratios(t)
    over = np.flatnonzero(ratios > low)
    if not len(over) or not np.isfinite(low):
        return low
    high = float(ratios.max())
    if penalty.l1 == 0.0:
        return high
    # S(t, kappa l1) <= kappa S(t / kappa, l1): the ratio at any kappa gives one that suffices.
    few = penalty.select(over, np.arange(penalty.p, dtype=np.int32))
    for _ in range(NARROWINGS):
        middle = 0.5 * (low + high)
        ratio = float(few.ratios(t, middle).max())
        low, high = (middle, min(high, middle * ratio)) if ratio > 1.0 else (low, middle)
    return high


def tightest(penalty: LatentPenalty, t: Floats) -> float:
    """A kappa of at most 1 for which a dual point t, divided by it, still is one.

    At the optimum a ball is touched, but at rounding errors from there it may not be.
    """
    free = np.abs(t[penalty.free]).max(initial=0.0) / penalty.l1 if penalty.l1 > 0.0 else 0.0
    low, high = float(penalty.ratios(t).max(initial=free)), 1.0
    if penalty.l1 == 0.0 or low >= high:
        return min(low, high) or 1.0
    for _ in range(NARROWINGS):
        middle = 0.5 * (low + high)
        inside = free <= middle and float(penalty.ratios(t, middle).max(initial=0.0)) <= 1.0
        low, high = (low, middle) if inside else (middle, high)
    return high


def clipped(penalty: LatentPenalty, t: Floats, kappa: float) -> Floats:
    """A point near t (p,) which divided by kappa is a dual point.

    What l1 leaves of a feature is multiplied by the least factor that one of its groups needs.
    """
    inside = np.clip(t, -kappa * penalty.l1, kappa * penalty.l1)
    factor = np.where(penalty.free, 0.0, 1.0)
    ratios = penalty.ratios(t, kappa)
    over = np.flatnonzero(ratios > 1.0)
    indptr, indices = take_rows(penalty.indptr, penalty.indices, over)
    np.minimum.at(factor, indices, np.repeat(1.0 / ratios[over], np.diff(indptr)))
    return inside + factor * soft(t, kappa * penalty.l1)


def support_of_parts(problem: Problem, solution: Solution, penalty: LatentPenalty) -> Support:
    """For the latent group lasso: a group whose ball surely holds t_g has no part."""
    balls = Balls(problem, solution, penalty.l2)
    # t_g - 2 l2 w_g at the optimum is within the radii, and 2 l2 ||w* - w||, of what it is here.
    ridge = 2.0 * penalty.l2 * balls.far if penalty.l2 > 0.0 else 0.0
    left = balls.products - 2.0 * penalty.l2 * balls.w
    sizes = penalty.norms(soft(left, penalty.l1)) + penalty.norms(balls.radii) + ridge
    without = sizes * (1.0 + ROUNDING) < penalty.strengths
    over = np.repeat(~without, np.diff(penalty.indptr))
    reachable = np.bincount(penalty.indices[over], minlength=penalty.p)
    inside = np.abs(left) + balls.radii + ridge < penalty.l1
    zero = inside | ((reachable == 0) & ~penalty.free)
    nonzero = balls.nonzero()
    # A group has a part where a feature that surely has a weight can have it of no other group.
    sole = (nonzero & (reachable == 1) & ~penalty.free).astype(np.float64)
    holds = (penalty.norms(sole) > 0.0) & ~without
    # A group is surely zero where it surely has no part, and of equal ones if it is not the least.
    not_zero = penalty.original_norms(np.where(without, 0.0, 1.0), np.where(zero, 0.0, 1.0))
    surely_nonzero = penalty.original_norms(holds.astype(np.float64), nonzero.astype(np.float64))
    return Support(states(zero, nonzero), states(not_zero == 0.0, surely_nonzero > 0.0))
