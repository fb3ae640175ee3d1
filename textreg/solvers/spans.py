"""Groups of columns as pursuits look at them: what does not hang on labels and prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.spans import span_factors, span_scores
from textreg.records import Floats, Groups, Int32s
from textreg.records.ragged import distinct_rows, row_of, sums, take_rows
from textreg.solvers.memo import remember
from textreg.solvers.unit_columns import Columns, Race, digest

WIDEST = 128
"""Most columns of a group for which bounds on its score are worth the inverse of A'A."""

MOST_COMMON, ROOM = 1000, 8_000_000
"""Columns that are kept with all their zeros, and the numbers that they may take, 64 MB."""


def spans_of(groups: Groups, columns: Columns, size: Floats) -> Spans:
    """The groups of a problem, made ready once for all classes and prices that share them."""
    # What is kept holds the groups, so that their number stays theirs.
    key = "spans", id(groups), digest(size)
    return remember(columns, key, lambda: Spans(groups, columns, size))


class Spans:
    """Groups with a single column for all their features whose columns are parallel.

    All scores are the same: k columns of norm one are as good as one of norm sqrt(k), any others as
    one whose square is the sum of theirs.

    Of groups that are the same there is one. first: (groups,) the lowest index of each, rising.
    indptr: group g has the entries from ``indptr[g]`` to ``indptr[g + 1]``, those of the fullest
    columns first. places: (entries,) of the column in the race. squares: (entries,) the square of
    its norm. of: (entries,) the group. sizes: (groups,) number of features; those of no norm are
    not counted.
    """

    def __init__(self, groups: Groups, columns: Columns, size: Floats) -> None:
        """size: (p,), norm of every column as it is scored, 0 for those that cannot be chosen."""
        self.groups, self.race, self._size = groups, columns.race(size), size
        several = np.flatnonzero(np.diff(groups.indptr))
        self.first = several[distinct_rows(groups.indptr, groups.indices, several)[0]]
        indptr, member = take_rows(groups.indptr, groups.indices, self.first)
        place, count = self.race.place[member], len(self.first)
        some = place >= 0
        of, member, place = row_of(indptr)[some], member[some], place[some]
        fullness = np.diff(columns.indptr)[self.race.columns]
        rank = np.empty(len(fullness), dtype=np.int64)
        rank[np.argsort(-fullness, kind="stable")] = np.arange(len(fullness))
        order = np.argsort(of * len(fullness) + rank[place], kind="stable")
        of, place, self._members = of[order], place[order], member[order]
        new = np.ones(len(of), dtype=bool)
        new[1:] = (of[1:] != of[:-1]) | (place[1:] != place[:-1])
        self._inside = np.append(np.flatnonzero(new), len(of)).astype(np.int64)
        self.of, self.places = of[new].astype(np.int32), place[new]
        self.indptr = np.searchsorted(self.of, np.arange(count + 1)).astype(np.int64)
        self.sizes = np.bincount(of, minlength=count).astype(np.float64)
        self.squares = self.left(np.arange(len(self.of)), size > 0.0)
        by_feature = np.argsort(self._members, kind="stable")
        self._entries = (np.cumsum(new) - 1)[by_feature].astype(np.int32)
        self._ends = np.searchsorted(self._members[by_feature], np.arange(len(size) + 1))

    def entries(self, j: int) -> Int32s:
        """Where feature j is."""
        return self._entries[self._ends[j] : self._ends[j + 1]]

    def left(self, entries: NDArray[np.integer], alive: NDArray[np.bool_]) -> Floats:
        """The squares of some entries when only the features ``alive`` (p,) are left."""
        starts = self._inside[entries]
        lengths = self._inside[entries + 1] - starts
        of = np.repeat(np.arange(len(entries)), lengths)
        inside = np.arange(len(of)) - (np.cumsum(lengths) - lengths)[of]
        members = self._members[starts[of] + inside]
        squares = np.where(alive[members], self._size[members] ** 2, 0.0)
        return sums(of, squares, len(entries))

    def factors(self, columns: Columns, smoothing: float) -> Floats:
        """(entries,), see :func:`span_factors`; infinite for groups that are too wide."""

        def make() -> Floats:
            out = np.full(len(self.places), np.inf)
            widths = np.diff(self.indptr)
            groups = np.flatnonzero(widths <= WIDEST).astype(np.int32)
            room = Room.of(columns, self.race, int(widths[groups].max(initial=0)))
            span_factors(
                columns.indptr, columns.indices, columns.data, columns.weights, self.race.columns,
                self.indptr, self.places, self.squares, groups, smoothing, room.place, room.common,
                room.shared, room.dense, room.gram, room.products, room.sizes, room.left, out,
            )  # fmt: skip
            return out

        return remember(self, ("factors", smoothing), make)

    def scores(
        self,
        groups: Int32s,
        columns: Columns,
        r: Floats,
        dots: Floats,
        squares: Floats,
        smoothing: float,
        rank: float,
        room: Room,
    ) -> Floats:
        """See :func:`span_scores`; they are not projected where the room has no ``gram``."""
        out = np.empty(len(groups))
        span_scores(
            columns.indptr, columns.indices, columns.data, columns.weights, r, self.race.columns,
            self.indptr, self.places, squares, groups, len(room.gram) > 0, smoothing, rank,
            room.place, room.common, room.shared, dots, room.dense, room.gram, room.products,
            room.sizes, room.left, out,
        )  # fmt: skip
        return out


class Room(NamedTuple):
    """What the kernels need to work with groups of some width."""

    place: Int32s
    common: Floats
    shared: Floats
    dense: Floats
    gram: Floats
    products: Floats
    sizes: Floats
    left: Int32s

    @classmethod
    def of(cls, columns: Columns, race: Race, width: int, projected: bool = True) -> Room:
        """For groups of as many columns; the products of the fullest are made once."""
        n = columns.shape[0]
        count = min(MOST_COMMON, ROOM // max(n, 1)) if projected else 0
        place, common, shared = remember(
            columns, ("fullest", count), lambda: columns.fullest(count)
        )
        gram = np.empty((width, width) if projected else (0, 0))
        left = np.empty(width, dtype=np.int32)
        return cls(
            place[race.columns], common, shared, np.zeros(n), gram, np.empty(width),
            np.empty(width), left,
        )  # fmt: skip
