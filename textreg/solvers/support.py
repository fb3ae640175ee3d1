"""What a primal and a dual point prove of the support of the optimum.

Let G be the objective at w minus the dual value at alpha. The dual value is strongly concave, as
the second derivative of the loss is bounded by h_i, and with a ridge the objective is strongly
convex. So the optimal alpha* and w* lie in balls around these points (docs/maths.md, K1), where the
optimality conditions decide some features, whatever solver came how near (ndiaye2017).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.groups import ball_sweeps, group_norms, group_spread
from textreg.penalties import GroupNorms, soft
from textreg.records import Floats, Groups, Int32s, Int64s, Problem, Solution
from textreg.records.block_design import BlockDesign
from textreg.records.support import Support, states
from textreg.solvers.latent_norms import LatentNorms

Bools = NDArray[np.bool_]

ROUNDING = 1e-12
"""Relative error of objective, dual value and products, which is added to what they bound."""

SWEEPS, MARGIN = 50, 1e-6
"""Most rounds over the groups that shall keep features at zero, and by how much more than needed,
relatively, they must be able to."""

ROUNDS = 60
"""Most rounds in which features that groups do not keep at zero take away groups of others."""


class Balls:
    """Where the optimum is: products X'alpha* within ``radii`` of ``products``, w* near w.

    products, radii: (p,). far: how far w* is from w, infinite without a ridge.
    """

    def __init__(self, problem: Problem, solution: Solution, l2: float) -> None:
        """solution: with ``alpha`` and a gap."""
        assert solution.alpha is not None
        value = abs(solution.objective)
        gap = (max(solution.gap, 0.0) + ROUNDING) * value
        design, h = problem.design, problem.loss.curvature_bound(problem.sample_weight)
        self.w, self.l2 = solution.w, l2
        self.products = design.transposed_product(solution.alpha)
        squares = design.curvature(h)
        if problem.fit_intercept and h.any():
            # alpha sums to zero, so that a constant may be taken from every column.
            squares -= design.transposed_product(h) ** 2 / float(h.sum())
        slight = ROUNDING * design.curvature(h)
        self.squares = 2.0 * gap * (np.maximum(squares, 0.0) + slight)
        self.radii = np.sqrt(self.squares) + ROUNDING * np.abs(self.products)
        self.far = math.sqrt(gap / l2) if l2 > 0.0 else math.inf

    def nonzero(self) -> Bools:
        """The features whose weights are farther from zero than w* can be from w."""
        return np.abs(self.w) > self.far


def provable(problem: Problem, solution: Solution) -> bool:
    """Whether a solution has what a proof needs."""
    known = solution.alpha is not None and math.isfinite(solution.gap)
    return known and not isinstance(problem.design, BlockDesign)


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
    zero = _kept_at_zero(penalty, sizes + balls.radii, solution.w == 0.0)
    most = penalty.lam + penalty.spread(penalty.strengths)
    nonzero = balls.nonzero() | (sizes - balls.radii > most)
    return Support(states(zero, nonzero), _of_groups(penalty.original, zero, nonzero))


def _kept_at_zero(penalty: GroupNorms, largest: Floats, zero: Bools) -> Bools:
    """Which features l1 keeps at zero, and groups that hold nothing but such features.

    largest: the largest products that the features may have at the optimum. zero: the features to
    try, besides those that l1 alone keeps.
    """
    sure = largest < penalty.lam
    zero = zero | sure
    z = (1.0 + MARGIN) * largest
    # All others are kept by l1 with the margin, and no group has to do anything about them.
    tried = np.flatnonzero(zero & ((z > penalty.lam) | (penalty.lam == 0.0)))
    free = penalty.norms((~zero).astype(np.float64)) == 0.0
    groups = _Held.of(penalty, free, tried)
    own = penalty.lam[tried], largest[tried], z[tried], sure[tried]
    kept = groups.kept_at_zero(*own)
    if kept is None:
        return sure
    zero[tried] = kept
    return zero


class _Held(NamedTuple):
    """What some groups hold of some features: ragged, numbers of these features."""

    indptr: Int64s
    indices: Int32s
    strengths: Floats

    @classmethod
    def of(cls, penalty: GroupNorms, groups: Bools, features: NDArray[np.intp]) -> _Held:
        """Of these groups, a bool for each, those that hold any of these features."""
        place = np.full(penalty.p, -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        places = place[penalty.indices]
        entries = np.flatnonzero((places >= 0) & np.repeat(groups, penalty.sizes))
        held = np.searchsorted(entries, penalty.indptr)
        some = np.flatnonzero(np.diff(held))
        return cls(np.append(0, held[some + 1]), places[entries], penalty.strengths[some])

    def kept_at_zero(
        self, lam: Floats, largest: Floats, start: Floats, sure: Bools
    ) -> Bools | None:
        """Which of the features stay at zero, where all do at first; None where that has no end.

        lam, largest, sure: of the features. start: their ``largest`` with a margin.
        """
        zero, held = np.ones(len(lam), dtype=bool), self
        for _ in range(ROUNDS):
            held = held.within(zero)
            reached = np.zeros(len(lam))
            group_spread(held.indptr, held.indices, held.strengths, reached)
            penalized = (lam > 0.0) | (reached > 0.0)
            # Not even if all its groups did nothing else.
            kept = zero & penalized & (largest <= lam + reached)
            if np.array_equal(kept | sure, zero):
                z, least = start.copy(), np.where(zero, lam, np.inf)
                u, over = np.zeros(len(held.indices)), np.empty(len(lam), dtype=np.uint8)
                active = np.empty(len(held.strengths), dtype=np.int32)
                ball_sweeps(
                    held.indptr, held.indices, held.strengths, least, u, z, over, active, SWEEPS
                )
                kept = zero & penalized & (z <= least + 0.5 * MARGIN * largest)
                if np.array_equal(kept, zero):
                    return zero
            zero = kept | sure
        return None

    def within(self, zero: Bools) -> _Held:
        """The groups that hold nothing but such features."""
        norms = np.empty(len(self.strengths))
        group_norms(self.indptr, self.indices, (~zero).astype(np.float64), norms)
        some = np.flatnonzero(norms == 0.0)
        if len(some) == len(self.strengths):
            return self
        sizes = np.diff(self.indptr)
        indices = self.indices[np.repeat(norms == 0.0, sizes)]
        return _Held(np.append(0, np.cumsum(sizes[some])), indices, self.strengths[some])


def support_of_parts(problem: Problem, solution: Solution, penalty: LatentNorms) -> Support:
    """For the latent group lasso: a group whose ball surely holds t_g has no part."""
    balls = Balls(problem, solution, penalty.l2)
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
    groups, origin = problem.groups, penalty.origin
    assert groups is not None
    zeros, nonzeros = np.ones(len(groups), dtype=bool), np.zeros(len(groups), dtype=bool)
    filled = np.flatnonzero(origin >= 0)
    least = penalty.group * groups.weights[filled] <= penalty.strengths[origin[filled]]
    zeros[filled] = without[origin[filled]] | ~least
    nonzeros[filled] = holds[origin[filled]] & least
    for g in np.flatnonzero(penalty.group * groups.weights == 0.0):
        members = groups.members(int(g))
        zeros[g], nonzeros[g] = zero[members].all(), nonzero[members].any()
    return Support(states(zero, nonzero), states(zeros, nonzeros))


def _of_groups(groups: Groups, zero: Bools, nonzero: Bools) -> NDArray[np.int8]:
    """The states of groups by those of their features."""

    def any_of(features: Bools) -> Bools:
        norms = np.empty(len(groups))
        group_norms(groups.indptr, groups.indices, features.astype(np.float64), norms)
        return norms > 0.0

    return states(~any_of(~zero), any_of(nonzero))
