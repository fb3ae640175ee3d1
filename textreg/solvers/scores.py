"""How well columns, and groups of them, correlate with what a fit leaves over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.columns import column_sums
from textreg._core.pursuit import best_column, group_scores
from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records import Floats, Groups, Int32s
from textreg.records.ragged import row_of
from textreg.solvers.unit import Columns

SCORES = ("projection", "mean", "sum", "orthonormal")
"""The scores of a group, see :class:`GroupScores`."""

SMOOTHING = 0.01
"""Added to the diagonal of A'A by the score "projection", as in the authors' code."""

RANK = 1e-10
"""A column adds nothing to a span that it leaves by less than this share of its square."""

LARGEST = 10_000
"""Most features of a group whose score needs A'A, which then takes 0.8 GB."""

BATCH = 16
"""Groups that are looked at together at first, in the order of what they may reach."""


NEAR = 0.1
"""Share of the best score that products may be off by before they are brought up to date."""

ROUNDING = 1e-10
"""Share of the length of r that rounding may have brought into products that are carried on."""

MOST_COMMON, ROOM = 1000, 8_000_000
"""Columns that are kept with all their zeros, and the numbers that they may take, 64 MB."""

PLACES = 64
"""Derivatives of the loss that are kept to tell how far they have gone since a score was new."""


class Leader(NamedTuple):
    """Who leads.

    score: the root of what the formulas call the score, which is Lipschitz in r with the constant
    ``reach``. room: the radius for r below which the lead is certain. features: those it would add.
    group: its index, -1 for a single column.
    """

    score: float
    reach: float
    room: float
    features: Int32s
    group: int

    @classmethod
    def none(cls) -> Leader:
        """The leader of an empty field."""
        return cls(-math.inf, 0.0, math.inf, np.empty(0, dtype=np.int32), -1)


class ColumnScores:
    """The scores scale_j |x_j . r| of single columns, computed only when they may matter.

    All products x_j . r are known for an r that was, and follow it in the documents where it has
    gone far; the distance that is left bounds how wrong they are. Of columns that are parallel only
    the first, that of the largest scale, is in the race; when it is taken, the next one takes its
    place and its product.
    """

    def __init__(self, columns: Columns, scale: Floats) -> None:
        """scale: (p,); 0 takes a column out of the race."""
        self.columns, self.scale = columns, scale
        self.reach = float(scale.max(initial=0.0))
        self._alive = scale > 0.0
        self._shared = race = columns.race(scale)
        self._race, self._scales = race.columns.copy(), scale[race.columns]
        self._place = np.full(len(scale), -1, dtype=np.int32)
        self._place[self._race] = np.arange(len(self._race))
        self._products, self._at = np.zeros(len(self._race)), np.zeros(columns.shape[0])
        self._near, self._longest = 0.0, 0.0
        self._score, self._fresh = np.empty(len(self._race)), np.empty_like(self._race)

    def remove(self, features: Int32s) -> None:
        """Take columns out of the race."""
        self._alive[features] = False
        following = self._shared.following
        for j in features.tolist():
            place = self._place[j]
            if place < 0:
                continue
            heir = following[j]
            while heir >= 0 and not self._alive[heir]:
                heir = following[heir]
            self._scales[place] = 0.0
            if heir >= 0:
                self._race[place], self._place[heir] = heir, place
                self._scales[place] = self.scale[heir]

    def leader(self, r: Floats, radius: float, rival: Leader, tie: float) -> Leader:
        """The best column, or ``rival`` where that is no worse, and how certain it is.

        radius: how far r (n,) may be from where it belongs. tie: scores this much lower,
        relatively, are equal; the lowest index has it.
        """
        columns, error = self.columns, self._follow(r)
        place, score, room = best_column(
            columns.indptr, columns.indices, columns.data, r, self._race, self._scales,
            self._products, error, self.reach, radius, tie, rival.score, rival.reach, self._score,
            self._fresh,
        )  # fmt: skip
        if place < 0:
            return rival._replace(room=min(rival.room, room))
        reach = float(self._scales[place])
        self._near = NEAR * score / reach
        return Leader(score, reach, room, self._race[place : place + 1].copy(), -1)

    def _follow(self, r: Floats) -> float:
        """Bring the products nearer to those with r; how far they may still be from them."""
        columns, race = self.columns, self._shared
        way = r - self._at
        far = way * way * columns.inverse > self._near**2 / len(r)
        rows = np.flatnonzero(far).astype(np.int32)
        column_sums(race.indptr, race.places, race.values, way[rows], rows, self._products)
        self._at[rows] = r[rows]
        self._longest = max(self._longest, columns.length(r))
        return columns.length(r - self._at) + ROUNDING * self._longest


class GroupScores:
    """The scores of groups, which lose the features that become active.

    With A the columns that are left in a group, |A| their number and r the derivatives of the loss:

    - "projection": r'A (A'A + 0.01 I)^-1 A'r / |A|, as the authors' code has it;
    - "mean": ||A'r||^2 / |A|, eq. (11) of the paper;
    - "sum": ||A'r||^2, eq. (9);
    - "orthonormal": r'A (A'A)^-1 A'r, eq. (10), with the pseudo-inverse.

    None of them rises when a group loses a feature, but for the division by |A|; so an old score
    still bounds the new one.
    """

    def __init__(self, groups: Groups, columns: Columns, size: Floats, score: str) -> None:
        """size: (p,), norm of every column as it is scored, 0 for those that cannot be chosen."""
        if score not in SCORES:
            raise UsageError(
                f"score must be one of {', '.join(SCORES)}, not {score!r}."
                f"{did_you_mean(score, SCORES)}"
            )
        self.groups, self.columns, self.size, self.score = groups, columns, size, score
        self._projected = score in ("projection", "orthonormal")
        self._averaged = score in ("projection", "mean")
        self._smoothing, self._rank = (SMOOTHING, 0.0) if score == "projection" else (0.0, RANK)
        self._alive = (size > 0.0).astype(np.uint8)
        self._of = row_of(groups.indptr)
        alive = self._alive[groups.indices]
        self._left = np.bincount(self._of, weights=alive, minlength=len(groups))
        largest = int(self._left.max(initial=0))
        if self._projected and largest > LARGEST:
            raise DataError(
                f"{groups.name(int(self._left.argmax()))} has {largest:,} features, too many for "
                f"the score '{score}' (at most {LARGEST:,}). Use smaller groups, or score=mean."
            )
        self._by_feature = np.argsort(groups.indices, kind="stable")
        self._ends = np.searchsorted(groups.indices[self._by_feature], np.arange(len(size) + 1))
        # The root of each score before the division: a bound on it at some r, which of the places
        # where r was, and its constant. Where r = 0, all scores are.
        self._value, self._where = np.zeros(len(groups)), np.zeros(len(groups), dtype=np.intp)
        self._places = np.zeros((PLACES, columns.shape[0]))
        self._known = 1
        squares = np.bincount(self._of, weights=size[groups.indices] ** 2, minlength=len(groups))
        self._lipschitz = np.ones(len(groups)) if self._projected else np.sqrt(squares)
        self._dense = np.zeros(columns.shape[0])
        self._gram = np.empty((largest, largest) if self._projected else (0, 0))
        count = min(MOST_COMMON, ROOM // columns.shape[0]) if self._projected else 0
        self._place, self._common, self._shared = columns.fullest(count)
        self._products, self._members = np.empty(largest), np.empty(largest, dtype=np.int32)

    def of_singles(self, size: Floats) -> Floats:
        """What the root of the score of column j alone is to |x_j . r|; size: (p,), as above."""
        if self.score == "projection":
            return np.asarray(size / np.sqrt(size * size + SMOOTHING))
        return np.sign(size) if self.score == "orthonormal" else size

    def remove(self, features: Int32s) -> None:
        """Take features out of all groups."""
        for j in features.tolist():
            if self._alive[j]:
                self._alive[j] = 0
                entries = self._by_feature[self._ends[j] : self._ends[j + 1]]
                self._left[self._of[entries]] -= 1

    def leader(self, r: Floats, radius: float, rival: Leader, tie: float) -> Leader:
        """The best group, or ``rival`` where it is better, and how certain that is.

        radius: how far r (n,) may be from where it belongs. tie: scores this much lower,
        relatively, are equal; then groups go before columns, and the lower index before the higher.
        """
        divisor = np.sqrt(self._left) if self._averaged else np.ones(len(self._left))
        divisor[self._left == 0.0] = math.inf
        reach = self._lipschitz / divisor
        bound = self._bounds(r) / divisor
        bound += (reach + max(reach.max(initial=0.0), rival.reach)) * radius
        bound[self._left == 0.0] = -math.inf
        near = np.flatnonzero(bound >= rival.score * (1.0 - tie))
        near = near[np.argsort(-bound[near], kind="stable")]
        top, done, size = rival.score, 0, BATCH
        while done < len(near) and bound[near[done]] >= top * (1.0 - tie):
            batch = near[done : done + size]
            self._value[batch], self._where[batch] = self._root_scores(batch, r), self._known - 1
            top = max(top, float((self._value[batch] / divisor[batch]).max()))
            done, size = done + len(batch), 2 * size
        fresh = np.sort(near[:done])
        values = self._value[fresh] / divisor[fresh]
        tied = values >= top * (1.0 - tie)
        best = int(fresh[tied][0]) if tied.any() else -1
        lead = rival.reach if best < 0 else reach[best]
        rooms = (top - values[~tied]) / (lead + reach[fresh[~tied]])
        room = float(rooms.min(initial=math.inf))
        if best < 0:
            return rival._replace(room=min(rival.room, room))
        value = float(self._value[best] / divisor[best])
        return Leader(value, float(reach[best]), room, self._features(best), best)

    def _bounds(self, r: Floats) -> Floats:
        """Bounds on the roots before the division; r is the last of the places from now on."""
        length = self.columns.length
        if self._known == PLACES:  # begin anew, all groups from here
            gone = np.array([length(r - place) for place in self._places])
            self._value += self._lipschitz * gone[self._where]
            self._where[:], self._known = 0, 0
        self._places[self._known] = r
        self._known += 1
        gone = np.array([length(r - place) for place in self._places[: self._known]])
        bound = self._value + self._lipschitz * gone[self._where]
        return np.asarray(np.minimum(bound, self._lipschitz * length(r)), dtype=np.float64)

    def _features(self, g: int) -> Int32s:
        """What is left of a group."""
        features = self.groups.indices[self.groups.indptr[g] : self.groups.indptr[g + 1]]
        return features[self._alive[features] > 0]

    def _root_scores(self, which: NDArray[np.intp], r: Floats) -> Floats:
        """The roots of the scores before the division."""
        columns, groups, out = self.columns, self.groups, np.empty(len(which))
        group_scores(
            columns.indptr, columns.indices, columns.data, columns.weights, r, self.size,
            self._alive, groups.indptr, groups.indices, which.astype(np.int32), self._projected,
            self._smoothing, self._rank, self._place, self._common, self._shared,
            self._dense, self._gram, self._products, self._members, out,
        )  # fmt: skip
        return out
