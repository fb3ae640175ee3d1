"""Lower bounds of the optimum, from the dual: the proof that comes with every convex solution.

For scores z = Xw + b, the dual variables of the loss are alpha_i = -c_i l'(y_i, z_i). With copies
u_g inside the balls ||u_g|| <= price_g, the dual value is (docs/maths.md, D1)

    sum_i -c_i l*(-alpha_i / c_i) - sum_j (|t_j| - lam_j)_+^2 / (4 l2),    t = X'alpha - M'u

under sum_i alpha_i = 0 where there is an intercept. Without a ridge the second sum turns into the
constraint |t_j| <= lam_j. Any such point bounds the objective from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from textreg._core.columns import column_damping
from textreg.penalties import GroupNorms, Separable
from textreg.records import Floats, Int32s
from textreg.solvers.engine import Engine

SLACK = 0.1
"""Share of the tolerance that may be left to scaling."""

KAPPAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0)
"""Shares of the largest excess that are tried for scaling where a ridge can take the rest."""

REPAIRS = 6
"""Most rounds of damping documents to make a dual point feasible."""

HALVINGS = 40
"""Rounds of bisection for the largest share of alpha where a conjugate is finite."""

UNSETTLED = 1e-8
"""Relative sum of the loss's derivatives above which the intercept is not at its optimum."""

SWEEPS, SPELLS = 2, 16
"""Rounds over the groups concerned that choose u, and how often they are repeated in a repair."""

HOPELESS = 2.0
"""Multiple of the tolerance that alpha alone may leave for u to be worth the improving."""

GAIN = 0.2
"""Share of what is missing that such rounds must bring to be repeated."""


def dual_scores(engine: Engine) -> Floats:
    """alpha (n,) at the present fit, balanced for the intercept."""
    alpha = -engine.r
    balance(engine, alpha)
    return alpha


def balance(engine: Engine, alpha: Floats) -> None:
    """Make ``alpha`` sum to zero in place where there is an intercept."""
    if engine.fit_intercept:
        engine.loss.balance(alpha, engine.c)


def dual_value(engine: Engine, alpha: Floats) -> float:
    """The loss's part of the dual."""
    return engine.loss.dual_value(alpha, engine.y, engine.c)


def separable_bound(engine: Engine, penalty: Separable, gradient: Floats, active: Int32s) -> float:
    """Lower bound for the penalty sum_j lam_j |w_j| + 1/2 q_j w_j^2 (mu = 0).

    gradient: (p,) of the loss at the present fit. active: all features where it exceeds lam, and
    maybe others. With the intercept settled they serve for the dual point as they are.
    """
    alpha, design = dual_scores(engine), engine.design
    tilt = abs(float(engine.r.sum())) if engine.fit_intercept else 0.0
    if tilt > UNSETTLED * float(np.abs(alpha).sum()):
        gradient, active = -design.transposed_product(alpha), design.features
    t, lam, q = np.abs(gradient[active]), penalty.lam[active], penalty.q[active]
    over = t > lam
    t, lam, q = t[over], lam[over], q[over]
    free, held = lam / t, q > 0.0
    bound = -np.inf
    # Scaled into |t_j| <= lam_j where no ridge meets the excess; or everywhere, if it meets little.
    for scale in {float(free[~held].min(initial=1.0)), float(free.min(initial=1.0))}:
        excess = np.maximum(scale * t - lam, 0.0)[held]
        paid = 0.5 * float((excess * excess / q[held]).sum())
        bound = max(bound, dual_value(engine, scale * alpha) - paid)
    return bound


def conjugate_bound(engine: Engine, conjugate: Callable[[Floats], float]) -> float:
    """Lower bound for any penalty by its conjugate, the largest t.w - penalty(w) over w (p,).

    Where that is infinite, alpha is scaled down just as far as makes it finite.
    """
    alpha = dual_scores(engine)
    t = engine.design.transposed_product(alpha)
    price = conjugate(t)
    if not math.isfinite(price):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if math.isfinite(conjugate(middle * t)) else (low, middle)
        alpha *= low
        price = conjugate(low * t)
    return dual_value(engine, alpha) - price


def group_bound(
    engine: Engine, penalty: GroupNorms, u: Floats, tol: float, objective: float
) -> tuple[float, Floats]:
    """Lower bound for overlapping groups, and the last dual variables u (ragged) on the way to it.

    u: where to begin, ||u_g|| <= price_g; changed in place. tol: relative accuracy that is asked
    for. objective: the value to be certified; there is no use in a better bound than it asks for.

    First u is improved by block updates that pull every |t_j| toward lam_j. What is then left
    above is met by damping alpha_i in the documents that hold the feature: a rare word costs the
    few documents it occurs in, where scaling all of alpha would cost every document. The rest is
    paid for by :func:`_scaled_bound`.
    """
    held = penalty.gather(u)
    alpha = dual_scores(engine)
    slack = SLACK * tol * penalty.floor
    # What the ridge takes at the optimum may stay.
    near = penalty.lam + 2.0 * penalty.l2 * np.abs(engine.w) + 0.5 * slack
    pull = engine.design.transposed_product(alpha)
    best, best_scale = _scaled_bound(engine, penalty, alpha, np.abs(pull - held))
    enough = (1.0 - tol) * objective
    hopeless = relative_gap(objective, dual_value(engine, alpha)) > HOPELESS * tol
    for _ in range(0 if hopeless else REPAIRS):
        before, t = best, pull - held
        for _ in range(SPELLS):
            penalty.relieve(u, t, near, SWEEPS)
            bound, scale = _scaled_bound(engine, penalty, alpha, np.abs(t))
            gain = bound - best
            if gain > 0.0:
                best, best_scale = bound, scale
            if best >= enough or gain < GAIN * (enough - best):
                break
        held = pull - t
        excess = np.abs(t) - near
        over = np.flatnonzero(excess > 0.5 * slack).astype(np.int32)
        if len(over) == 0 or relative_gap(objective, best) <= tol or best <= before:
            break
        if relative_gap(objective, dual_value(engine, alpha)) > tol:
            break  # even unscaled alpha would not do: the primal has to come closer first
        factor = np.ones(len(alpha))
        asked = np.copysign(excess[over], t[over])
        column_damping(*engine.design.columns, alpha, over, asked, factor)
        alpha *= factor
        balance(engine, alpha)
        pull = engine.design.transposed_product(alpha)
    u *= best_scale
    return best, u


def _scaled_bound(
    engine: Engine, penalty: GroupNorms, alpha: Floats, t: Floats
) -> tuple[float, float]:
    """The bound that (alpha, u) gives with |X'alpha - M'u| = t (p,), and the scale of both in it.

    Since sum_j m_j |w_j| <= penalty(w) (GroupNorms.floor), t_j may lie above lam_j by kappa m_j
    when all is scaled by 1 / (1 + kappa); what is above even that is the ridge's (D3).
    """
    over = np.flatnonzero(t > penalty.lam)
    excess, floor = t[over] - penalty.lam[over], penalty.floor[over]
    largest = float((excess / floor).max(initial=0.0))
    shares = KAPPAS if penalty.l2 > 0.0 else (1.0,)
    best, best_scale = -np.inf, 1.0
    for share in shares:
        kappa = share * largest
        scale = 1.0 / (1.0 + kappa)
        bound = dual_value(engine, scale * alpha)
        if share < 1.0:
            rest = scale * np.maximum(excess - kappa * floor, 0.0)
            bound -= float(rest @ rest) / (4.0 * penalty.l2)
        if bound > best:
            best, best_scale = bound, scale
    return best, best_scale


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / objective, never below zero; 0 for an objective of zero."""
    return max(objective - bound, 0.0) / objective if objective > 0.0 else 0.0
