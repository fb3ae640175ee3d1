"""Fits with an l1 penalty of documents that lie in blocks of rows.

    min  sum_i c_i l(y_i, x_i w + b) + penalty(w),    penalty(w) >= l1 ||w||_1 + l2 ||w||_2^2

A feature whose product with the dual variables of the loss is at most l1 has no weight
(docs/maths.md, W1). So a problem over few features is solved in memory, one pass over all blocks
tells which of the others were left out wrongly, and these are added. Two passes are read for every
such problem: one takes its new columns, one certifies its solution for all features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from textreg.errors import DataWarning, UsageError
from textreg.records import Bools, Floats, Int32s, Problem, Solution, Step
from textreg.records.design import BlockDesign, BlockGroups, KnownColumns
from textreg.solvers.certificate import KAPPAS, relative_gap
from textreg.solvers.engine import Engine
from textreg.solvers.kept_in_blocks import Selected, held_by_groups, left_by_groups
from textreg.solvers.outcome import checks_overflow, finish
from textreg.solvers.working_set import RARE, rarest, union

INNER, FIRST, WITH_GROUPS = 0.3, 3e-2, 3e-3
"""Share of the tolerance to which a problem in memory is solved; and the least for the first one,
whose features are not the last; of few features with groups."""

NEAR = 0.95
"""Share of l1 above which a product may bring its feature into the next problem."""

A_VALUE, AN_ENTRY = 24.0, 42.0
"""Bytes that a problem in memory takes for a value of its matrix, and an entry of its groups."""

SETS = 30
"""Most problems in memory."""

FEW, GROWTH = 2_000, 4
"""Features that may join the first problem, and by how much more the next ones, without groups:
with better dual variables far fewer of them exceed l1 than at the start."""


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
        What to fit; its matrix is a :class:`BlockDesign`, and its groups, if any, are
        :class:`BlockGroups`. ``tol`` is the relative duality gap to stop at.
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
    most = FEW if problem.groups is None else len(w)
    support = np.flatnonzero(w).astype(np.int32)
    beyond = _without(large, support)
    large = _first(problem, group, beyond, l1)
    reduced = len(large.features) < len(beyond.features)
    features = union(support, _largest(large, most))
    history: list[Step] = []
    at_zero = problem.loss.dual_value(np.zeros(len(problem.y)), problem.y, problem.sample_weight)
    iterations, tol = 0, max(WITH_GROUPS if reduced else FIRST, INNER * problem.tol)
    warned = stopped = False
    known: KnownColumns | None = None
    elsewhere = _in_blocks(problem).blocks.elsewhere
    for number in range(1, SETS + 1):
        part = over_features(problem, features, known)
        if elsewhere:  # here it takes less to read them again than to hold them twice
            known = KnownColumns(features, part.design.columns)
        warned = warned or _warn_of_memory(problem, part)
        found = solve(part.replace(start=(w[features], b), tol=tol, max_iter=problem.max_iter))
        del part  # makes room for the next one
        if found.alpha is None:
            raise UsageError(
                "this solver has no dual variables, by which documents in blocks are certified: "
                "train without --memory, or by another solver."
            )
        w = np.zeros(len(w))
        w[features], b = found.w, found.b
        iterations += found.iterations
        every = _large(problem, found.alpha, NEAR * l1)
        large = _without(every, features)
        excess = large.sizes - l1
        if isinstance(problem.groups, BlockGroups):
            selected = Selected(features, found.group_room)
            wanted = large.sizes - NEAR * l1
            excess = excess - held_by_groups(
                problem.groups, group, large.features, wanted, excess, selected
            )
        missing = excess > 0.0
        inner = found.objective * (1.0 - found.gap)
        bound = _bound(inner, at_zero, excess[missing], l1, l2)
        gap = relative_gap(found.objective, bound)
        history.append(Step(iterations, found.objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        exhausted = not missing.any() and tol <= INNER * problem.tol
        if gap <= problem.tol or stopped or exhausted or number == SETS:
            break
        most *= GROWTH
        if problem.groups is None:
            features = union(features, _largest(large, most))
        elif number == 1 and not reduced:  # those at the start were too many
            features = union(np.flatnonzero(w).astype(np.int32), every.features)
        else:
            features = union(features, _joining(problem, features, large, missing, l1))
        tol = INNER * problem.tol
    solution = Solution(
        w=w,
        b=b,
        objective=found.objective,
        gap=gap,
        iterations=iterations,
        converged=gap <= problem.tol,
        history=tuple(history),
    )
    return finish(problem, solution, "iterations", stopped=stopped)


class _Large(NamedTuple):
    """Features, ascending, with the largest sizes of the products of their columns."""

    features: Int32s
    sizes: Floats


def _begin(problem: Problem, l1: float) -> tuple[Floats, float, _Large]:
    """The weights and the intercept to begin at, and the features that l1 does not keep there."""
    engine = Engine(problem)
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
    engine.optimize_intercept()
    return engine.w, engine.b, _large(problem, engine.r, l1)


def _in_blocks(problem: Problem) -> BlockDesign:
    """The matrix of a problem whose documents lie in blocks."""
    assert isinstance(problem.design, BlockDesign)
    return problem.design


def _large(problem: Problem, r: Floats, least: float) -> _Large:
    """The features whose columns have a product with r (n,) above ``least``."""
    features, products = _in_blocks(problem).large_products(r, least)
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
    values = _in_blocks(problem).blocks.sizes[large.features]
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
    sizes = _in_blocks(problem).blocks.sizes.astype(np.int64)
    beyond = large.features[large.sizes > l1]
    rare = rarest(beyond, sizes[beyond], int(RARE * sizes[features].sum()))
    return union(large.features[missing], rare)


def over_features(problem: Problem, features: Int32s, known: KnownColumns | None = None) -> Problem:
    """A problem in blocks as one in memory over some features, ascending; others have no weight.

    Groups are what is left of them. known: columns of some of these features.
    """
    design, groups = _in_blocks(problem), problem.groups
    if isinstance(groups, BlockGroups):
        groups = groups.select(features).compact()
    return problem.replace(
        X=design.select(features, known), groups=groups, start=None, callback=None
    )


def _warn_of_memory(problem: Problem, part: Problem) -> bool:
    """DataWarning where a problem over some features needs more memory than there is to be."""
    design = _in_blocks(problem)
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
