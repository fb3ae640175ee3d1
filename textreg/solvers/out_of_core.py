"""Fits with an l1 penalty of documents that lie in blocks of rows.

    min  sum_i c_i l(y_i, x_i w + b) + penalty(w),    penalty(w) >= l1 ||w||_1 + l2 ||w||_2^2

A feature whose product with the dual variables of the loss is at most l1 has no weight
(docs/maths.md, W1). So a problem over few features is solved in memory, one pass over all blocks
tells which of the others were left out wrongly, and these are added. Two passes are read for every
such problem: one takes its new columns, one certifies its solution for all features.

Groups keep further features at zero (W2 and W5), as :meth:`.GroupNorms.keep_at_zero` and ``hold``
find in memory, but block by block. Where no feature has a weight, what a feature takes of its
groups is one for all blocks; which features the groups have room for is found in each block by
itself, and those that fit into all of them are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise, repeat
from typing import NamedTuple

import numpy as np

from textreg._core.groups import fill_groups, group_norms, group_spread
from textreg.errors import DataWarning, UsageError
from textreg.penalties import shared_out
from textreg.records import Bools, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.arrays import offsets_of
from textreg.records.design import Block, BlockGroups, KnownColumns
from textreg.records.store import release_memory
from textreg.solvers.certificate import KAPPAS, relative_gap
from textreg.solvers.linear_algebra import union
from textreg.solvers.reduce import LARGEST_SHARE, NEAR, RAREST, rarest
from textreg.solvers.state import Engine, checks_overflow, finish, told_by

# Share of the tolerance to which a problem in memory is solved; and the least for the first one,
# whose features are not the last; of few features with groups.
INNER, FIRST_INNER, WITH_GROUPS = 0.3, 3e-2, 3e-3

# Bytes that a problem in memory takes for a value of its matrix, and an entry of its groups.
A_VALUE, AN_ENTRY = 24.0, 42.0

# Most problems in memory.
MOST_PROBLEMS = 30

# Features that may join the first problem, and by how much more the next ones, without groups:
# with better dual variables far fewer of them exceed l1 than at the start.
FIRST_FEATURES, FEATURE_GROWTH = 2_000, 4


def left_by_groups(
    groups: BlockGroups, group: float, features: Int32s, excess: Floats, values: Int64s
) -> Bools | None:
    """Which features groups do not keep at zero; None where too many are left to be worth it.

    Parameters
    ----------
    groups : BlockGroups
        All groups.
    group : float
        The strength of their norms.
    features : int32 ndarray
        Ascending.
    excess : ndarray, one for each
        Of their products with the dual variables of the loss, above what l1 takes.
    values : int ndarray, one for each
        How many documents have them.
    """
    p, reach = groups.n_features, group * _reach(groups, features)
    share = np.divide(excess, reach, out=np.full(len(reach), np.inf), where=reach > 0.0)
    order = np.argsort(share, kind="stable")
    chosen, shares = features[order], share[order]
    left = shares > 1.0  # even alone in its groups
    most = LARGEST_SHARE * int(values.sum(dtype=np.int64))
    for rest in groups.design.map(without_room, repeat(chosen), repeat(shares), repeat(p)):
        left |= rest
        if values[order][left].sum(dtype=np.int64) > most:
            return None
    mask = np.empty(len(features), dtype=bool)
    mask[order] = left
    return mask


def scale_in_blocks(groups: BlockGroups, sizes: Floats) -> float:
    """The strength at which groups take all of a gradient, of which ``sizes`` (p,) are left.

    Each feature's is split in proportion to the weights of its groups.
    """
    reach = _reach(groups, np.arange(len(sizes), dtype=np.int32))
    shares = sizes / np.where(reach > 0.0, reach, np.inf)
    return max(groups.design.map(largest_of, repeat(shares)), default=0.0)


def _reach(groups: BlockGroups, features: Int32s) -> Floats:
    """For some features the weights of all groups that hold them, summed."""
    reach = np.zeros(len(features))
    for part in groups.design.map(reach_of, repeat(features), repeat(groups.n_features)):
        reach += part
    return reach


def largest_of(block: Block, shares: Floats) -> float:
    """The largest length that shares (p,) have over a group of a block."""
    indptr, indices, weights = block.groups
    lengths = np.empty(len(weights))
    group_norms(indptr, indices, shares, lengths)
    return float(lengths.max(initial=0.0))


def reach_of(block: Block, features: Int32s, p: int) -> Floats:
    """For some of p features the weights of the groups of a block that hold them, summed."""
    reach = np.zeros(p)
    group_spread(*block.groups, reach)
    return reach[features]


def without_room(block: Block, features: Int32s, share: Floats, p: int) -> Bools:
    """Which of some of p features the groups of a block have no room for, one after the other.

    share: what each takes of its groups, ascending.
    """
    from scipy.sparse import csr_array

    place = np.full(p, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    indptr, indices, weights = block.groups
    indices = place[indices]
    present = indices >= 0
    ends = offsets_of(present)[indptr]
    marks, shape = np.ones(ends[-1], dtype=np.int8), (len(weights), len(features))
    holders = csr_array((marks, indices[present], ends), shape=shape).tocsc()
    room = (weights > 0.0).astype(np.float64)
    taken = np.empty(len(features), dtype=np.uint8)
    fill_groups(
        holders.indptr.astype(np.int64), holders.indices.astype(np.int32, copy=False), room,
        np.arange(len(features), dtype=np.int32), share, np.zeros(len(room)), taken,
    )  # fmt: skip
    left: Bools = taken == 0
    return left


def held_by_groups(
    groups: BlockGroups,
    group: float,
    features: Int32s,
    wanted: Floats,
    least: Floats,
    selected: tuple[Int32s, Floats | None],
) -> Floats:
    """What groups take of features outside of a problem in memory (W5).

    Parameters
    ----------
    groups : BlockGroups
        All groups.
    group : float
        The strength of their norms.
    features : int32 ndarray
        Ascending.
    wanted, least : ndarray, one for each
        What is to be taken of each, and what would do.
    selected : tuple of int32 ndarray and ndarray
        The features of the problem in memory, ascending, and what it leaves of its groups: of every
        group with any of these features, as in a Solution; None for nothing.
    """
    p, design, (inside, room) = groups.n_features, groups.design, selected
    counts = list(design.map(number_holding, repeat(inside), repeat(p)))
    ends = np.cumsum([0, *counts]).tolist()
    room = np.zeros(ends[-1]) if room is None else room
    rooms = [room[start:end] for start, end in pairwise(ends)]

    def taken(y: Floats) -> Floats:
        sums = np.zeros(len(features))
        shares = repeat(features), repeat(y), repeat(inside), rooms, repeat(p)
        for part in design.map(shared_in_block, *shares):
            sums += part
        sums *= group
        return sums

    return shared_out(wanted, least, taken(np.zeros(len(features))), taken)


def number_holding(block: Block, features: Int32s, p: int) -> int:
    """How many groups of a block hold any of some of p features."""
    return int(np.count_nonzero(_lengths(block, features, np.ones(len(features)), p)))


def shared_in_block(
    block: Block, features: Int32s, y: Floats, selected: Int32s, room: Floats, p: int
) -> Floats:
    """The sum over the groups of each of some of p features of Lambda_g / max(1, ||y_g||).

    y: the shares of the features. selected, room: as of :func:`held_by_groups`, here.
    """
    indptr, indices, weights = block.groups
    free = weights.copy()
    free[_lengths(block, selected, np.ones(len(selected)), p) > 0.0] *= np.sqrt(room)
    free /= np.maximum(_lengths(block, features, y, p), 1.0)
    sums = np.zeros(p)
    group_spread(indptr, indices, free, sums)
    return sums[features]


def _lengths(block: Block, features: Int32s, values: Floats, p: int) -> Floats:
    """The length over every group of a block of what some of p features have."""
    indptr, indices, weights = block.groups
    dense, lengths = np.zeros(p), np.empty(len(weights))
    dense[features] = values
    group_norms(indptr, indices, dense, lengths)
    return lengths


@checks_overflow
def over_blocks(
    problem: Problem,
    l1: float,
    l2: float,
    solve: Callable[[Problem], Solution],
    group: float = 0.0,
) -> Solution:
    """Minimize loss + penalty, for l1 above 0.

    Parameters
    ----------
    problem : Problem
        What to fit; its rows lie in blocks, and its groups, if any, are :class:`BlockGroups`.
        ``tol`` is the relative duality gap to stop at.
    l1, l2 : float
        Strengths that every weight has at least.
    solve : callable
        Solves a problem over some of the features, in memory, to its ``tol``; its solution has
        ``alpha``.
    group : float
        The strength of the norms of the groups.

    Returns
    -------
    Solution

    Raises
    ------
    UsageError
        If the solutions have no ``alpha``.
    """
    w, b, large = _begin(problem, l1)
    most = FIRST_FEATURES if problem.groups is None else len(w)
    support = np.flatnonzero(w).astype(np.int32)
    beyond = _without(large, support)
    large = _first(problem, group, beyond, l1)
    reduced = len(large.features) < len(beyond.features)
    features = union(support, _largest(large, most))
    history: list[Step] = []
    at_zero = problem.loss.dual_value(np.zeros(len(problem.y)), problem.y, problem.sample_weight)
    iterations, tol = 0, max(WITH_GROUPS if reduced else FIRST_INNER, INNER * problem.tol)
    warned = stopped = False
    known: KnownColumns | None = None
    for number in range(1, MOST_PROBLEMS + 1):
        part = over_features(problem, features, known)
        if problem.design.elsewhere:  # here to read them again takes less than to hold them twice
            known = features, part.design.columns
        warned = warned or _warn_of_memory(problem, part)
        restricted = solve(part.replace(start=(w[features], b), tol=tol, max_iter=problem.max_iter))
        del part  # makes room for the next one
        if restricted.alpha is None:
            raise UsageError(
                "this solver has no dual variables, by which documents in blocks are certified: "
                "train without --memory, or by another solver."
            )
        w = np.zeros(len(w))
        w[features], b = restricted.w, restricted.b
        iterations += restricted.iterations
        every = _large(problem, restricted.alpha, NEAR * l1)
        large = _without(every, features)
        excess = large.sizes - l1
        if isinstance(problem.groups, BlockGroups):
            selected = features, restricted.group_room
            wanted = large.sizes - NEAR * l1
            excess = excess - held_by_groups(
                problem.groups, group, large.features, wanted, excess, selected
            )
        missing = excess > 0.0
        inner = restricted.objective * (1.0 - restricted.gap)
        bound = _bound(inner, at_zero, excess[missing], l1, l2)
        gap = relative_gap(restricted.objective, bound)
        history.append(Step(iterations, restricted.objective, gap))
        stopped = problem.stops(history[-1])
        exhausted = not missing.any() and tol <= INNER * problem.tol
        if gap <= problem.tol or stopped or exhausted or number == MOST_PROBLEMS:
            break
        most *= FEATURE_GROWTH
        if problem.groups is None:
            features = union(features, _largest(large, most))
        elif number == 1 and not reduced:  # those at the start were too many
            features = union(np.flatnonzero(w).astype(np.int32), every.features)
        else:
            features = union(features, _joining(problem, features, large, missing, l1))
        tol = INNER * problem.tol
    solution = Solution(w=w, b=b, **told_by(history, converged=gap <= problem.tol))
    return finish(problem, solution, "iterations", stopped=stopped)


class _Large(NamedTuple):
    """Features, ascending, with the largest sizes of the products of their columns."""

    features: Int32s
    sizes: Floats


def _begin(problem: Problem, l1: float) -> tuple[Floats, float, _Large]:
    """The weights and the intercept to begin at, and the features that l1 does not keep there."""
    engine = Engine.begun(problem)
    engine.optimize_intercept()
    return engine.w, engine.b, _large(problem, engine.r, l1)


def _large(problem: Problem, r: Floats, least: float) -> _Large:
    """The features whose columns have a product with r (n,) above ``least``."""
    release_memory()  # there was a problem in memory before
    features, products = problem.design.large_products(r, least)
    return _Large(features, np.abs(products))


def _without(large: _Large, features: Int32s) -> _Large:
    """Those that are not among some features, ascending."""
    others = ~np.isin(large.features, features, assume_unique=True)
    return _Large(large.features[others], large.sizes[others])


def _first(problem: Problem, group: float, large: _Large, l1: float) -> _Large:
    """Those that groups do not keep at zero, if these are few, where there is no start."""
    groups = problem.groups
    if problem.start is not None or not isinstance(groups, BlockGroups):
        return large
    values = problem.design.sizes[large.features]
    left = left_by_groups(groups, group, large.features, large.sizes - l1, values)
    return large if left is None else _Large(large.features[left], large.sizes[left])


def _largest(large: _Large, most: int) -> Int32s:
    """The features of the largest sizes, so many at most."""
    if len(large.features) <= most:
        return large.features
    return large.features[np.argpartition(-large.sizes, most)[:most]]


def _joining(
    problem: Problem, features: Int32s, large: _Large, missing: Bools, l1: float
) -> Int32s:
    """Those of the large ones that join the features: what groups do not hold, and rare ones."""
    sizes = problem.design.sizes.astype(np.int64)
    beyond = large.features[large.sizes > l1]
    rare = rarest(beyond, sizes[beyond], int(RAREST * sizes[features].sum()))
    return union(large.features[missing], rare)


def over_features(problem: Problem, features: Int32s, known: KnownColumns | None = None) -> Problem:
    """A problem in blocks as one in memory over some features, ascending; others have no weight.

    Groups are what is left of them. known: columns of some of these features.
    """
    design, groups = problem.design, problem.groups
    if isinstance(groups, BlockGroups):
        groups = groups.select(features).compact()
    return problem.replace(
        X=design.select(features, known), groups=groups, start=None, callback=None
    )


def _warn_of_memory(problem: Problem, part: Problem) -> bool:
    """DataWarning where a problem over some features needs more memory than there is to be."""
    design = problem.design
    needed = A_VALUE * part.design.values
    if part.groups is not None:
        needed += AN_ENTRY * int(part.groups.indptr[-1])
    if needed <= design.memory:
        return False
    warnings.warn(
        f"the {part.design.shape[1]:,} features that may have a weight need about "
        f"{needed / 1e6:,.0f} MB of memory in the fit, more than the {design.memory / 1e6:,.0f} MB "
        "that were given: a larger l1 leaves fewer of them.",
        DataWarning,
        stacklevel=6,
    )
    return True


def _bound(inner: float, at_zero: float, excess: Floats, l1: float, l2: float) -> float:
    """Lower bound over all features, from that over those in memory (docs/maths.md, W3).

    inner: that bound. at_zero: the dual value of the loss where all dual variables are zero.
    excess: of the products of other features above l1. Dual variables of a share s of these have at
    least s inner + (1 - s) at_zero, as the dual value is concave; and they are feasible for all
    features if no product is above l1 any more. The ridge pays for the rest.
    """
    largest = float(excess.max(initial=0.0)) / l1
    best = -np.inf
    for share in KAPPAS if l2 > 0.0 and largest > 0.0 else (1.0,):
        kappa = share * largest
        scale = 1.0 / (1.0 + kappa)
        rest = scale * np.maximum(excess - kappa * l1, 0.0)
        paid = float(rest @ rest) / (4.0 * l2) if share < 1.0 else 0.0
        best = max(best, scale * inner + (1.0 - scale) * at_zero - paid)
    return best
