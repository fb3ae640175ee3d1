"""How well single columns correlate with what a fit leaves over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg._core.columns import column_sums
from textreg._core.pursuit import best_column
from textreg.records import Floats, Int32s
from textreg.solvers.unit_columns import Columns, Race

NEAR = 0.1
"""Share of the best score that products may be off by before they are brought up to date."""

ROUNDING = 1e-10
"""Share of the length of r that rounding may have brought into products that are carried on."""


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


class Products:
    """The inner products x_j . r of all columns in a race with an r that moves.

    They are known for an r that was, and follow it in the documents where it has gone far. near:
    how far it may go in all the others together. The way left bounds how wrong the products are.
    """

    def __init__(self, columns: Columns, race: Race) -> None:
        self.columns, self.race = columns, race
        self.values, self.near = np.zeros(len(race.columns)), 0.0
        self._at, self._longest = np.zeros(columns.shape[0]), 0.0

    def follow(self, r: Floats) -> float:
        """Bring ``values`` nearer to the products with r (n,); how wrong they may still be."""
        columns, race = self.columns, self.race
        way = r - self._at
        far = way * way * columns.inverse * len(r) > self.near**2
        rows = np.flatnonzero(far).astype(np.int32)
        column_sums(race.indptr, race.places, race.values, way[rows], rows, self.values)
        self._at[rows] = r[rows]
        self._longest = max(self._longest, columns.length(r))
        return columns.length(r - self._at) + ROUNDING * self._longest


class ColumnScores:
    """The scores scale_j |x_j . r| of single columns, computed only when they may matter.

    Of columns that are parallel only the first, that of the largest scale, is in the race; when it
    is taken, the next one takes its place.
    """

    def __init__(self, products: Products, scale: Floats) -> None:
        """scale: (p,), which the race of the products was made for; 0 takes a column out."""
        self.products, self.scale = products, scale
        self.reach = float(scale.max(initial=0.0))
        self._alive = scale > 0.0
        race = products.race
        self._race, self._scales = race.columns.copy(), scale[race.columns]
        self._score, self._fresh = np.empty(len(self._race)), np.empty_like(self._race)

    def remove(self, features: Int32s) -> None:
        """Take columns out of the race."""
        self._alive[features] = False
        race = self.products.race
        for j in features.tolist():
            place = race.place[j]
            if place < 0 or self._race[place] != j:
                continue
            heir = race.following[j]
            while heir >= 0 and not self._alive[heir]:
                heir = race.following[heir]
            self._scales[place] = 0.0
            if heir >= 0:
                self._race[place], self._scales[place] = heir, self.scale[heir]

    def leader(self, r: Floats, radius: float, rival: Leader, tie: float) -> Leader:
        """The best column, or ``rival`` where that is no worse, and how certain it is.

        radius: how far r (n,) may be from where it belongs. tie: scores this much lower,
        relatively, are equal; the lowest index has it.
        """
        columns, error = self.products.columns, self.products.follow(r)
        place, score, room = best_column(
            columns.indptr, columns.indices, columns.data, r, self._race, self._scales,
            self.products.values, error, self.reach, radius, tie, rival.score, rival.reach,
            self._score, self._fresh,
        )  # fmt: skip
        if place < 0:
            return rival._replace(room=min(rival.room, room))
        reach = float(self._scales[place])
        return Leader(score, reach, room, self._race[place : place + 1].copy(), -1)
