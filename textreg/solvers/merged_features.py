"""Overlapping groups over fewer features: those with parallel columns in the same groups are one.

Of the words and pairs of a corpus most occur once, and all that occur in one sentence alone have
parallel columns and are in the same groups. Without an l1 penalty these cannot be told apart by
anything but the factor between their columns, so one feature does for all of them (docs/maths.md,
F2): same scores, same norms of all groups, same minimum, and every bound on it holds for both.
"""

from __future__ import annotations

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Design, Floats, Groups, Problem, Solution
from textreg.records.ragged import distinct_rows
from textreg.records.structure import holders_of
from textreg.solvers.parallel_columns import MERGED, MergedColumns

LARGE = 1 << 25
"""Entries of the groups above which it would take too much memory to compare those of features."""

SHARE = 0.5
"""Features are merged where at most this share of them is left."""


class MergedFeatures:
    """The features that are left, and what a problem and its penalty are over them.

    groups: those of the penalty, without equal ones.
    """

    def __init__(self, design: Design, groups: Groups) -> None:
        self.groups = groups  # kept, so that its id stays its own
        every = np.ones(design.shape[1], dtype=bool)
        self.columns = MergedColumns(design, kinds_of(groups), every)
        left = len(self.columns.representatives)
        self.worth_it = left <= SHARE * design.shape[1]

    def problem(self, problem: Problem) -> Problem:
        """The smaller problem."""
        return self.columns.merge_problem(problem)

    def penalty(self, penalty: GroupNorms) -> GroupNorms:
        """The penalty of the smaller problem."""
        return penalty.standing_for_all(self.columns.representatives)

    def solution(self, solution: Solution) -> Solution:
        """A solution of the smaller problem as one of the larger."""
        return self.columns.expand_solution(solution)


def merged_features(problem: Problem, penalty: GroupNorms) -> MergedFeatures | None:
    """What is left of the features; None where that is not worth it, or there is an l1 penalty.

    Made once for a matrix and its groups.
    """
    groups, design = penalty.distinct, problem.design
    if groups is None or penalty.lam.any() or len(groups.indices) > LARGE:
        return None
    kept = groups

    def make() -> MergedFeatures:
        design.cache.make_room(MERGED)  # to compare columns takes as much as a matrix
        return MergedFeatures(design, kept)

    made = design.cache.get(("merged features", id(groups)), make)
    return made if made.worth_it else None


def kinds_of(groups: Groups) -> Floats:
    """(p,) A number for every feature, the same for those in the same groups."""
    ptr, holders = holders_of(groups)
    kinds = np.zeros(groups.n_features)
    held = np.flatnonzero(np.diff(ptr))
    kinds[held] = 1.0 + distinct_rows(ptr, holders, held)[1]
    return kinds
