"""What a primal and a dual point prove of the support of the optimum.

Let G be the objective at w minus the dual value at alpha. The dual value is strongly concave, as
the second derivative of the loss is bounded by h_i, and with a ridge the objective is strongly
convex. So the optimal alpha* and w* lie in balls around these points (docs/maths.md, K1), where the
optimality conditions decide some features, whatever solver came how near (ndiaye2017).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from textreg.penalties import GroupNorms
from textreg.records import Floats, Problem, Solution
from textreg.records.design import BlockDesign
from textreg.records.problem import Support, states

Bools = NDArray[np.bool_]

ROUNDING = 1e-12
"""Relative error of objective, dual value and products, which is added to what they bound."""

MARGIN = 1e-9
"""By how much more than needed, relatively, groups must be able to keep features at zero."""

ROUNDS = 100
"""Most rounds in which features that groups do not keep at zero take away groups of others."""

MANY, FEWER, SETTLING = 1000, 10, 0.75
"""For so many features, most such rounds, and the share that each has to leave: where one leaves
less, next to none are left in the end."""


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
    zero, inside = _kept_at_zero(penalty, sizes + balls.radii, solution.w == 0.0)
    most = penalty.lam + penalty.reach
    nonzero = balls.nonzero() | (sizes - balls.radii > most)
    holding = np.where(_without(penalty, nonzero), 0.0, 1.0)
    not_zero = penalty.original_norms(np.where(inside, 0.0, 1.0), np.where(zero, 0.0, 1.0))
    some = penalty.original_norms(holding, nonzero.astype(np.float64))
    return Support(states(zero, nonzero), states(not_zero == 0.0, some > 0.0))


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
    many = len(tried) > MANY
    for _ in range(FEWER if many else ROUNDS):
        kept = penalty.keep_at_zero(tried, excess[tried], np.where(inside, penalty.strengths, 0.0))
        most, left, tried = len(tried), tried[~kept], tried[kept]
        if not len(left):
            return zero, inside
        if many and len(tried) < SETTLING * most:
            break
        zero[left] = False
        inside[penalty.holders(left)] = False
    return sure, _without(penalty, ~sure)


def _without(penalty: GroupNorms, features: Bools) -> Bools:
    """Which merged groups hold none of these features."""
    without = np.ones(len(penalty.strengths), dtype=bool)
    without[penalty.holders(np.flatnonzero(features).astype(np.int32))] = False
    return without
