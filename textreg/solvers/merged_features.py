"""Overlapping groups over fewer features: those with parallel columns in the same groups are one.

Of the words and pairs of a corpus most occur once, and all that occur in one sentence alone have
parallel columns and are in the same groups. Without an l1 penalty these cannot be told apart by
anything but the factor between their columns, so one feature does for all of them (docs/maths.md,
F2): same scores, same norms of all groups, same minimum, and every bound on it holds for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Design, Floats, Groups, Problem, Solution
from textreg.records.arrays import distinct_rows
from textreg.records.structure import holders_of
from textreg.solvers.parallel_columns import MERGED, MergedColumns

LARGE = 1 << 25
"""Entries of the groups above which it would take too much memory to compare those of features."""

SHARE = 0.5
"""Features are merged where at most this share of them is left."""


class MergedFeatures(NamedTuple):
    """Which columns are one. groups: what that holds for; here, their id stays their own."""

    columns: MergedColumns
    groups: Groups

    @property
    def worth_it(self) -> bool:
        """Whether there are much fewer features."""
        return len(self.columns.representatives) <= SHARE * len(self.columns.column)


def over_merged_features(
    problems: Sequence[Problem],
    penalty: GroupNorms,
    solve: Callable[[Sequence[Problem], GroupNorms], list[Solution]],
) -> list[Solution]:
    """Solutions of problems that share their matrix, by ``solve`` over fewer features if it pays.

    It is called with problems and their penalty.
    """
    merged = merged_features(problems[0].design, penalty) if problems else None
    if merged is None:
        return solve(problems, penalty)
    smaller = penalty.standing_for_all(merged.columns.representatives)
    return merged.columns.solve(problems, lambda some: solve(some, smaller))


def merged_features(design: Design, penalty: GroupNorms) -> MergedFeatures | None:
    """Which features are one; None where that is not worth it, or there is an l1 penalty.

    Made once for a matrix and its groups.
    """
    groups = penalty.distinct
    if groups is None or penalty.lam.any() or len(groups.indices) > LARGE:
        return None

    def make(groups: Groups = groups) -> MergedFeatures:
        design.cache.make_room(MERGED)  # to compare columns takes as much as a matrix
        every = np.ones(design.shape[1], dtype=bool)
        return MergedFeatures(MergedColumns(design, kinds_of(groups), every), groups)

    made = design.cache.get(("merged features", id(groups)), make)
    return made if made.worth_it else None


def kinds_of(groups: Groups) -> Floats:
    """(p,) A number for every feature, the same for those in the same groups."""
    ptr, holders = holders_of(groups)
    kinds = np.zeros(groups.n_features)
    held = np.flatnonzero(np.diff(ptr))
    kinds[held] = 1.0 + distinct_rows(ptr, holders, held)[1]
    return kinds
