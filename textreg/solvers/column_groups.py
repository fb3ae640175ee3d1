"""The groups of a problem as a pursuit scores them: what depends on neither labels nor ridge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textreg._core.group_scores import GroupArrays, projection_bounds
from textreg.records import Floats, Groups, Int32s
from textreg.records.arrays import Cache, distinct_rows, row_of, sums, take_rows
from textreg.solvers.unit_columns import UnitColumns, digest

MOST_BOUNDED = 128
"""Most columns of a group for which bounds on its score are worth the inverse of A'A."""

MOST_DENSE, DENSE_ENTRIES = 1000, 8_000_000
"""Most columns that are written out with their zeros, and most numbers that they take, 64 MB."""


def column_groups(groups: Groups, columns: UnitColumns, size: Floats) -> ColumnGroups:
    """The groups of a problem, prepared once for all labels and ridges that share them."""
    # The value holds the groups, so that their id stays theirs.
    key = "column groups", id(groups), digest(size)
    return columns.cache.get(key, lambda: ColumnGroups(groups, columns, size))


class ColumnGroups:
    """Groups in which one column stands for all features whose columns are parallel.

    All scores are the same: k columns of norm one are as good as one of norm sqrt(k), any others as
    one whose square is the sum of their squares. Of equal groups only the first is included.

    first: (groups,) index of each group in ``Problem.groups``, ascending. offsets: group g has the
    entries from ``offsets[g]`` to ``offsets[g + 1]``, columns with the most nonzeros first.
    members: (entries,) position of the column in ``distinct``. squares: (entries,) the square of
    its norm. group_of: (entries,). sizes: (groups,) number of features; those of norm 0 do not
    count.
    """

    def __init__(self, groups: Groups, columns: UnitColumns, size: Floats) -> None:
        """size: (p,), norm of every column as it is scored, 0 for those that cannot be selected."""
        self.cache = Cache()
        self.groups, self.distinct, self._size = groups, columns.distinct(size), size
        nonempty = np.flatnonzero(np.diff(groups.indptr))
        self.first = nonempty[distinct_rows(groups.indptr, groups.indices, nonempty)[0]]
        indptr, feature = take_rows(groups.indptr, groups.indices, self.first)
        position, count = self.distinct.position[feature], len(self.first)
        selectable = position >= 0
        group, feature = row_of(indptr)[selectable], feature[selectable]
        position = position[selectable]
        # Group by group, columns with the most nonzeros first: the kernel that multiplies pairs of
        # them then loops over the nonzeros of the sparser one.
        nonzeros = np.diff(columns.indptr)[self.distinct.columns]
        rank = np.empty(len(nonzeros), dtype=np.int64)
        rank[np.argsort(-nonzeros, kind="stable")] = np.arange(len(nonzeros))
        order = np.argsort(group * len(nonzeros) + rank[position], kind="stable")
        group, position, self._features = group[order], position[order], feature[order]
        new = np.ones(len(group), dtype=bool)
        new[1:] = (group[1:] != group[:-1]) | (position[1:] != position[:-1])
        self._feature_offsets = np.append(np.flatnonzero(new), len(group)).astype(np.int64)
        self.group_of, self.members = group[new].astype(np.int32), position[new]
        self.offsets = np.searchsorted(self.group_of, np.arange(count + 1)).astype(np.int64)
        self.sizes = np.bincount(group, minlength=count).astype(np.float64)
        self.squares = self.remaining_squares(np.arange(len(self.group_of)), size > 0.0)
        by_feature = np.argsort(self._features, kind="stable")
        self._entries = (np.cumsum(new) - 1)[by_feature].astype(np.int32)
        self._entry_offsets = np.searchsorted(self._features[by_feature], np.arange(len(size) + 1))

    def entries(self, j: int) -> Int32s:
        """The entries that feature j is part of."""
        return self._entries[self._entry_offsets[j] : self._entry_offsets[j + 1]]

    def remaining_squares(
        self, entries: NDArray[np.integer], available: NDArray[np.bool_]
    ) -> Floats:
        """The squares of some entries when only the features ``available`` (p,) are left."""
        starts = self._feature_offsets[entries]
        lengths = self._feature_offsets[entries + 1] - starts
        entry = np.repeat(np.arange(len(entries)), lengths)
        inside = np.arange(len(entry)) - (np.cumsum(lengths) - lengths)[entry]
        features = self._features[starts[entry] + inside]
        squares = np.where(available[features], self._size[features] ** 2, 0.0)
        return sums(entry, squares, len(entries))

    def projection_bounds(self, columns: UnitColumns, smoothing: float) -> Floats:
        """(entries,), see the kernel of this name; infinite for groups that are too wide."""

        def make() -> Floats:
            # An infinite factor means no bound: the score itself is computed.
            out = np.full(len(self.members), np.inf)
            widths = np.diff(self.offsets)
            selected = np.flatnonzero(widths <= MOST_BOUNDED).astype(np.int32)
            width = int(widths[selected].max(initial=0))
            arrays = self.arrays(columns, width, width)
            projection_bounds(arrays, selected, self.squares, smoothing, out)
            return out

        return self.cache.get(("projection bounds", smoothing), make)

    def arrays(self, columns: UnitColumns, width: int, gram_width: int) -> GroupArrays:
        """What kernels take, for groups of at most ``width`` columns.

        gram_width: the same where products of columns are needed, 0 if nowhere. Products of the
        columns with the most nonzeros are computed once.
        """
        count = min(MOST_DENSE, DENSE_ENTRIES // max(columns.shape[0], 1)) if gram_width else 0
        row, values, products = columns.cache.get(
            ("dense columns", count), lambda: columns.dense(count)
        )
        dense = row[self.distinct.columns], values, products
        return GroupArrays(
            columns.matrix,
            columns.weights,
            self.distinct.columns,
            dense,
            self.offsets,
            self.members,
            width,
            gram_width,
        )
