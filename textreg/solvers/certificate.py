"""Certificates: a lower bound of the minimum, and what it proves of the weights.

Lower bounds of the optimum, from the dual: every convex solution comes with a duality gap.

For scores z = Xw + b, the dual variables of the loss are alpha_i = -c_i l'(y_i, z_i). With dual
variables u_g of the groups in the balls ||u_g|| <= lambda_g, the dual value is (docs/maths.md, D1)

    sum_i -c_i l*(-alpha_i / c_i) - sum_j (|t_j| - lam_j)_+^2 / (4 l2),    t = X'alpha - M'u

under sum_i alpha_i = 0 where there is an intercept. Without a ridge the second sum turns into the
constraint |t_j| <= lam_j. Every such point is a lower bound of the objective, by weak duality.
The dual variables must be orthogonal to the columns of features without any penalty, as to a
column of ones for the intercept (docs/maths.md, W4).

What a primal and a dual point prove of the support of the optimum.

Let G be the objective at w minus the dual value at alpha. The dual value is strongly concave, as
the second derivative of the loss is bounded by h_i, and with a ridge the objective is strongly
convex. So the optimal alpha* and w* lie in balls around these points (docs/maths.md, K1), where the
optimality conditions decide some features, whatever solver came how near (ndiaye2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from textreg._core.columns import column_damping
from textreg.penalties import GroupNorms, Separable
from textreg.records import Bools, Floats, Int32s, Problem, Solution
from textreg.records.arrays import squared_norms
from textreg.records.problem import Support, states
from textreg.solvers.state import Engine, slope_of_intercept

# Relative accuracy of the least squares problem, and how many rounds it takes at most.
EXACT, LEVEL_ROUNDS = 1e-14, 1_000

# Share of the sum of the sizes of its terms to which a product counts as zero.
LEFT = 1e-10


def level(engine: Engine, alpha: Floats, features: Int32s) -> Floats | None:
    """Dual variables near alpha (n,) that are orthogonal to the columns of some features.

    And to a column of ones, where there is an intercept: alpha - H A v with A'H A v = A'alpha, for
    these columns A and the second derivatives H of the loss (docs/maths.md, W4). None where that is
    not found.
    """
    from scipy.sparse import csr_array, diags_array, hstack
    from scipy.sparse.linalg import lsmr

    columns = engine.design.X_csc[:, features]
    if engine.fit_intercept:
        columns = hstack([columns, csr_array(np.ones((len(alpha), 1)))])
    roots = np.sqrt(np.where(alpha != 0.0, engine.h, 0.0))
    scaled = diags_array(roots) @ columns.tocsr()
    wanted = np.divide(alpha, roots, out=np.zeros(len(alpha)), where=roots > 0.0)
    v = lsmr(scaled, wanted, atol=EXACT, btol=EXACT, maxiter=LEVEL_ROUNDS)[0]
    leveled: Floats = np.where(roots > 0.0, alpha - roots * (scaled @ v), alpha)
    left = np.abs(columns.T @ leveled)
    return leveled if bool((left <= LEFT * (abs(columns).T @ np.abs(leveled))).all()) else None


# Share of the tolerance that scaling may use up.
SLACK = 0.1

# Largest kappa, times which any strength is still a number.
LARGEST_KAPPA = 1e150

# Shares of the largest excess to remove by scaling, where a ridge pays for the rest.
KAPPAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0)

# Most rounds of damping that make a dual point feasible.
REPAIRS = 6

# Steps of the bisection for the largest multiple of alpha where a conjugate is finite.
HALVINGS = 40

# Relative sum of the loss's derivatives above which the intercept is not at its optimum.
UNBALANCED = 1e-8

# Rounds of block updates of u between two bounds, and most such bounds in a repair.
SWEEPS, REPEATS = 2, 16

# Gap of alpha alone, in tolerances, above which improving u is useless.
USELESS = 2.0

# Share of the missing part of the bound that such rounds must gain to be repeated.
GAIN = 0.2

# Features whose excess is computed at a time.
PIECE = 1 << 16


def dual_scores(engine: Engine) -> Floats:
    """alpha (n,) at the present fit, made feasible for the intercept."""
    alpha = -engine.r
    balance(engine, alpha)
    return alpha


def balance(engine: Engine, alpha: Floats) -> None:
    """Make ``alpha`` sum to zero in place where there is an intercept."""
    if engine.fit_intercept:
        engine.loss.balance(alpha, engine.c)


def dual_value(engine: Engine, alpha: Floats) -> float:
    """The part of the dual value (D1) that is due to the loss."""
    return engine.loss.dual_value(alpha, engine.y, engine.c)


class Bound(NamedTuple):
    """A lower bound of the optimum, and the dual variables of the loss that give it.

    used: with groups the squares of the lengths of their dual variables, as of ``DualPoint.used``.
    """

    value: float
    alpha: Floats
    used: Floats = np.empty(0)


def value_of(bound: Bound) -> float:
    """Its value, by which the best is found."""
    return bound.value


def separable_bound(engine: Engine, penalty: Separable, gradient: Floats, active: Int32s) -> Bound:
    """Lower bound for the penalty sum_j lam_j |w_j| + 1/2 q_j w_j^2 (mu = 0).

    gradient: (p,) of the loss at the present fit. active: all features where it exceeds lam, and
    maybe others. With the intercept at its optimum, X'alpha is minus this gradient.
    """
    alpha, design = dual_scores(engine), engine.design
    if slope_of_intercept(engine) > UNBALANCED * float(np.abs(alpha).sum()):
        gradient, active = -design.transposed_product(alpha), design.features
    t, lam, q = np.abs(gradient[active]), penalty.lam[active], penalty.q[active]
    violated = ~(t <= lam)  # what is not a number certifies nothing
    t, lam, q = t[violated], lam[violated], q[violated]
    feasible, has_ridge = lam / t, q > 0.0
    best = Bound(-np.inf, alpha)
    # Scale alpha until |t_j| <= lam_j: where there is no ridge, or, as a weak ridge makes an excess
    # expensive, for all features.
    for scale in {float(feasible[~has_ridge].min(initial=1.0)), float(feasible.min(initial=1.0))}:
        excess = np.maximum(scale * t - lam, 0.0)[has_ridge]
        conjugate = 0.5 * float((excess * excess / q[has_ridge]).sum())
        scaled = scale * alpha
        best = max(best, Bound(dual_value(engine, scaled) - conjugate, scaled), key=value_of)
    return best


def conjugate_bound(engine: Engine, conjugate: Callable[[Floats], float]) -> float:
    """Lower bound for any penalty, from its conjugate, sup_w t.w - penalty(w) for t (p,).

    Where the conjugate is infinite, alpha is multiplied by the largest factor that makes it finite.
    """
    alpha = dual_scores(engine)
    t = engine.design.transposed_product(alpha)
    value = conjugate(t)
    if not math.isfinite(value):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if math.isfinite(conjugate(middle * t)) else (low, middle)
        alpha *= low
        value = conjugate(low * t)
    return dual_value(engine, alpha) - value


class Excess(NamedTuple):
    """Of features that a dual point leaves out, those whose products cost something.

    excess: by how much they exceed their lam. floor: m_j > 0 as in ``GroupNorms.floor``.
    """

    excess: Floats = np.empty(0)
    floor: Floats = np.empty(0)


class DualPoint(Protocol):
    """Dual variables of the loss, and what they say of every feature.

    Attributes
    ----------
    alpha : ndarray, shape (n,) or (classes, n)
        The dual variables.
    products : ndarray, shape (p,)
        X'alpha, or for several classes the sizes of what l1 leaves of its rows.
    lam : ndarray, shape (p,)
        How large a product may be at no cost.
    left_out : Excess
        The same of features that are not among these p, as they have no weight.
    """

    alpha: Floats
    products: Floats
    lam: Floats
    left_out: Excess = Excess()

    def value(self, scale: float = 1.0) -> float:
        """The part of the dual value (D1) that is due to the loss, or a lower bound of it.

        scale: a factor in [0, 1] of all dual variables.
        """

    def leave_out(self, penalty: GroupNorms, u: Floats) -> Floats | None:
        """Find ``left_out`` for dual variables u of the groups of a penalty over these p features.

        Returns how long each u_g may become from then on; None for its strength.
        """
        return None

    def used(self, penalty: GroupNorms, u: Floats) -> Floats:
        """What u and features left out take of the squared strength of every group.

        Of all groups, where those of the penalty are what a working set leaves of them.
        """
        return squared_norms(penalty.indptr, u)

    def damp(self, features: Int32s, excess: Floats) -> None:
        """Lower the products of some features by ``excess``, in the documents that hold them."""

    def level(self, features: Int32s) -> None:
        """Make the products of some features, which have no penalty, zero, where that is known."""
        return  # by default it is not


class EngineDual(DualPoint):
    """The dual variables of the documents at the present fit of an engine."""

    def __init__(self, engine: Engine, lam: Floats, alpha: Floats | None = None) -> None:
        """alpha: (n,), in the place of those of the fit's scores; balanced."""
        self._engine, self.lam = engine, lam
        self.alpha = dual_scores(engine) if alpha is None else alpha
        self._multiply()

    def _multiply(self) -> None:
        """Compute the products with the features."""
        self.products = self._engine.design.transposed_product(self.alpha)

    def value(self, scale: float = 1.0) -> float:
        """The part of the dual value (D1) that is due to the loss."""
        return dual_value(self._engine, scale * self.alpha)

    def damp(self, features: Int32s, excess: Floats) -> None:
        """Lower the products of some features by ``excess``, in the documents that hold them."""
        factor = np.ones(len(self.alpha))
        column_damping(*self._engine.design.columns, self.alpha, features, excess, factor)
        self.alpha = self.alpha * factor  # who has the variables before keeps them
        balance(self._engine, self.alpha)
        self._multiply()

    def level(self, features: Int32s) -> None:
        """Make the products of some features, which have no penalty, zero (W4)."""
        leveled = level(self._engine, self.alpha, features)
        if leveled is not None:
            self.alpha = leveled
            self._multiply()
            self.products[features] = 0.0  # but for rounding, as the sum of alpha


def group_bound(
    dual: DualPoint, penalty: GroupNorms, size: Floats, u: Floats, objective: float, tol: float
) -> Bound:
    """Lower bound for overlapping groups.

    Block updates of u first pull every |t_j| toward lam_j. Then alpha_i is damped in the documents
    of every feature that is still above: a rare word costs only the few documents that it occurs
    in, while scaling all of alpha would cost every document. :func:`_scaled_bound` handles the
    rest.

    Parameters
    ----------
    dual : DualPoint
        The dual variables of the loss at the present fit; changed.
    penalty : GroupNorms
        The penalty.
    size : ndarray, shape (p,)
        |w_j|, or the norm of the weights of feature j in all classes.
    u : ndarray
        Dual variables to begin with, ragged, ||u_g|| <= lambda_g; changed to those that it ends
        with.
    objective, tol : float
        What is to be certified; a bound within this relative gap of it is good enough.
    """
    useless = relative_gap(objective, dual.value()) > USELESS * tol
    if len(penalty.unpenalized) and not useless:
        dual.level(penalty.unpenalized)
    t = penalty.gather(u)
    np.subtract(dual.products, t, out=t)
    # At the optimum the ridge leaves an excess of 2 l2 |w_j|.
    allowed = 2.0 * penalty.l2 * size
    allowed += dual.lam
    slack = SLACK * tol
    allowed += 0.5 * (slack * penalty.floor)
    room = dual.leave_out(penalty, u)
    best, best_scale = _scaled_bound(dual, penalty, t)
    alpha, used = dual.alpha, dual.used(penalty, u)
    enough, fewest = (1.0 - tol) * objective, len(t) + 1
    for _ in range(0 if useless else REPAIRS):
        before = best
        for _ in range(REPEATS):
            penalty.improve_duals(u, t, allowed, SWEEPS, room)
            bound, scale = _scaled_bound(dual, penalty, t)
            gain = bound - best
            if gain > 0.0:
                best, best_scale, alpha = bound, scale, dual.alpha
                used = dual.used(penalty, u)
            if best >= enough or gain < GAIN * (enough - best):
                break
        violated, excess = _violated(t, allowed, slack, penalty.floor)
        if len(violated) == 0 or relative_gap(objective, best) <= tol:
            break
        # One feature that block updates have raised hides that all others have come down; but where
        # a ridge pays for every excess, the bound sees them all.
        if best <= before and (penalty.l2 > 0.0 or len(violated) >= fewest):
            break
        fewest = min(fewest, len(violated))
        if relative_gap(objective, dual.value()) > tol:
            break  # even without scaling alpha is too far from optimal: improve the primal first
        from_groups = np.subtract(dual.products, t, out=t)
        dual.damp(violated, excess)
        room = dual.leave_out(penalty, u)
        t = np.subtract(dual.products, from_groups, out=from_groups)
    u *= best_scale
    return Bound(best, best_scale * alpha, best_scale**2 * used)


def _violated(t: Floats, allowed: Floats, slack: float, floor: Floats) -> tuple[Int32s, Floats]:
    """The features whose |t_j| is above what is ``allowed``, and by how much, with their signs.

    An excess up to half of ``slack`` times the floor does not count.
    """
    features, excess = [np.empty(0, dtype=np.int32)], [np.empty(0)]
    for piece in _pieces(len(t)):
        above = np.abs(t[piece]) - allowed[piece]
        over = np.flatnonzero(above > 0.5 * (slack * floor[piece]))
        features.append((over + piece.start).astype(np.int32))
        excess.append(np.copysign(above[over], t[piece][over]))
    return np.concatenate(features), np.concatenate(excess)


def _scaled_bound(dual: DualPoint, penalty: GroupNorms, t: Floats) -> tuple[float, float]:
    """The best bound from scaling (alpha, u) with X'alpha - M'u = t (p,), and the scale.

    Since sum_j m_j |w_j| <= penalty(w) (GroupNorms.floor), t_j may exceed lam_j by kappa m_j
    if everything is scaled by 1 / (1 + kappa). The ridge pays for any further excess (D3).
    """
    highest = [(excess / floor).max(initial=0.0) for excess, floor in _excesses(dual, penalty, t)]
    # A feature in no group has next to no floor: beyond LARGEST_KAPPA the scale is zero anyway.
    largest = min(float(np.max(highest)), LARGEST_KAPPA)
    kappas = [share * largest for share in KAPPAS]
    rests = [0.0] * len(kappas)
    if penalty.l2 > 0.0 and largest > 0.0:
        for excess, floor in _excesses(dual, penalty, t):
            for at, kappa in enumerate(kappas[1:], 1):
                left = 1.0 / (1.0 + kappa) * np.maximum(excess - kappa * floor, 0.0)
                rests[at] += float(left @ left) / (4.0 * penalty.l2)
    else:
        del kappas[1:]
    best, best_scale = -np.inf, 1.0
    for kappa, rest in zip(kappas, rests, strict=False):  # one of them without a ridge
        scale = 1.0 / (1.0 + kappa)
        bound = dual.value(scale) - rest
        if bound > best:
            best, best_scale = bound, scale
    return best, best_scale


def _excesses(dual: DualPoint, penalty: GroupNorms, t: Floats) -> Iterator[tuple[Floats, Floats]]:
    """By how much some |t_j| at a time exceed their lam, and their floors; of those that do."""
    for piece in _pieces(len(t)):
        size = np.abs(t[piece])
        violated = np.flatnonzero(~(size <= dual.lam[piece]))  # what is not a number is so, too
        yield size[violated] - dual.lam[piece][violated], penalty.floor[piece][violated]
    yield dual.left_out.excess, dual.left_out.floor


def _pieces(p: int) -> Iterator[slice]:
    """All of p features, a few at a time: vectors over all of them are a good part of memory."""
    for start in range(0, p, PIECE):
        yield slice(start, min(start + PIECE, p))


def relative_gap(objective: float, bound: float) -> float:
    """(objective - bound) / |objective|, never below zero; infinite where that is not a number."""
    distance = max(objective - bound, 0.0)
    if not math.isfinite(distance) or not math.isfinite(objective):
        return math.inf
    return distance / abs(objective) if objective else (math.inf if distance else 0.0)


# Relative error of objective, dual value and products, which is added to what they bound.
ROUNDING = 1e-12

# By how much more than needed, relatively, groups must be able to keep features at zero.
MARGIN = 1e-9

# Most rounds in which features that groups do not keep at zero take away groups of others.
TAKING_ROUNDS = 100


class Balls:
    """Where the optimum is: products X'alpha* within ``radii`` of ``products``, w* near w.

    products, radii: (p,). far: how far w* is from w, infinite without a ridge.
    """

    def __init__(self, problem: Problem, solution: Solution, l2: float) -> None:
        """solution: with ``alpha`` and a gap."""
        assert solution.alpha is not None
        value = abs(solution.objective)
        gap = (max(solution.gap, 0.0) + ROUNDING) * value
        self.w, self.l2 = solution.w, l2
        self.products = problem.design.transposed_product(solution.alpha)
        self.squares = 2.0 * gap * _widths(problem)
        self.radii = np.sqrt(self.squares) + ROUNDING * np.abs(self.products)
        self.far = math.sqrt(gap / l2) if l2 > 0.0 else math.inf

    def nonzero(self) -> Bools:
        """The features whose weights are farther from zero than w* can be from w."""
        return np.abs(self.w) > self.far


def _widths(problem: Problem) -> Floats:
    """(p,) The squared radii of the products for 2 G = 1, the same for all labels."""
    design, h = problem.design, problem.loss.curvature_bound(problem.sample_weight)

    def widths() -> Floats:
        squares = design.curvature(h)
        slight = ROUNDING * squares
        if problem.fit_intercept and h.any():
            # alpha sums to zero, so that a constant may be taken from every column.
            squares -= design.transposed_product(h) ** 2 / float(h.sum())
        return np.maximum(squares, 0.0) + slight

    return design.cache.last("widths of balls", (problem.fit_intercept, h.tobytes()), widths)


def provable(problem: Problem, solution: Solution) -> bool:
    """Whether a solution has what a proof needs."""
    known = solution.alpha is not None and math.isfinite(solution.gap)
    return known and not problem.design.blocks


def support_of_features(problem: Problem, solution: Solution, l1: float, l2: float) -> Support:
    """For l1 ||w||_1 + l2 ||w||_2^2, l1 above 0: |x_j . alpha*| < l1 where w_j* is zero alone."""
    balls = Balls(problem, solution, l2)
    sizes = np.abs(balls.products)
    nonzero = balls.nonzero() | (sizes - balls.radii > l1)
    return Support(states(sizes + balls.radii < l1, nonzero))


def support_of_groups(problem: Problem, solution: Solution, penalty: GroupNorms) -> Support:
    """For overlapping groups (docs/maths.md, K2).

    A group is surely zero where all its features are, and surely not where one of them surely is
    not.
    """
    balls = Balls(problem, solution, penalty.l2)
    sizes = np.abs(balls.products)
    zero, inside = _kept_at_zero(penalty, sizes + balls.radii, solution.w == 0.0)
    most = penalty.lam + penalty.reach
    nonzero = balls.nonzero() | (sizes - balls.radii > most)
    holding = np.where(_without(penalty, nonzero), 0.0, 1.0)
    not_zero = penalty.original_norms(np.where(inside, 0.0, 1.0), np.where(zero, 0.0, 1.0))
    surely_nonzero = penalty.original_norms(holding, nonzero.astype(np.float64))
    return Support(states(zero, nonzero), states(not_zero == 0.0, surely_nonzero > 0.0))


def _kept_at_zero(penalty: GroupNorms, largest: Floats, zero: Bools) -> tuple[Bools, Bools]:
    """Which features l1 keeps at zero, and groups that hold nothing else; and which groups do.

    largest: the largest products that the features may have at the optimum. zero: the features to
    try, besides those that l1 alone keeps.
    """
    sure = largest < penalty.lam
    zero = zero | sure
    tried = np.flatnonzero(zero & ~sure).astype(np.int32)
    excess = np.maximum((1.0 + MARGIN) * largest - penalty.lam, 0.0)
    inside = _without(penalty, ~zero)
    for _ in range(TAKING_ROUNDS):
        kept = penalty.keep_at_zero(tried, excess[tried], np.where(inside, penalty.strengths, 0.0))
        left, tried = tried[~kept], tried[kept]
        if not len(left):
            return zero, inside
        zero[left] = False
        inside[penalty.holders(left)] = False
    return sure, _without(penalty, ~sure)


def _without(penalty: GroupNorms, features: Bools) -> Bools:
    """Which merged groups hold none of these features."""
    without = np.ones(len(penalty.strengths), dtype=bool)
    without[penalty.holders(np.flatnonzero(features).astype(np.int32))] = False
    return without
