"""How well single columns correlate with the residual of a fit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg._core.columns import column_sums
from textreg._core.pursuit import best_column
from textreg.records import Floats, Int32s
from textreg.solvers.unit_columns import DistinctColumns, UnitColumns

TOLERANCE = 0.1
"""Share of the best score that products may be off by before they are brought up to date."""

ROUNDING = 1e-10
"""Share of the length of r that rounding may have brought into products that are updated."""


class Candidate(NamedTuple):
    """The column or group of the best score.

    score: the root of what the formulas call the score, which is a Lipschitz function of r with the
    constant ``lipschitz``. margin: the radius for r below which it is certain to be the best.
    features: what it would add. group: its index, -1 for a single column.
    """

    score: float
    lipschitz: float
    margin: float
    features: Int32s
    group: int

    @classmethod
    def none(cls) -> Candidate:
        """Nothing yet, which any other is better than."""
        return cls(-math.inf, 0.0, math.inf, np.empty(0, dtype=np.int32), -1)


class ColumnDots:
    """The inner products x_j . r of all distinct columns with an r that changes.

    ``values`` belong to an earlier r, and are updated in the documents where r has changed much.
    tolerance: how much it may change in all the others together; this bounds the error of values.
    """

    def __init__(self, columns: UnitColumns, distinct: DistinctColumns) -> None:
        self.columns, self.distinct = columns, distinct
        self.values, self.tolerance = np.zeros(len(distinct.columns)), 0.0
        self._r, self._longest = np.zeros(columns.shape[0]), 0.0

    def update(self, r: Floats) -> float:
        """Bring ``values`` nearer to the products with r (n,); returns a bound on their error."""
        columns, distinct = self.columns, self.distinct
        change = r - self._r
        changed = change * change * columns.inverse * len(r) > self.tolerance**2
        # After a step r changes much in the few documents of the new feature, and little elsewhere:
        # only these rows of X are read, and the norm of the other changes bounds the error.
        rows = np.flatnonzero(changed).astype(np.int32)
        column_sums(
            distinct.indptr, distinct.positions, distinct.values, change[rows], rows, self.values
        )
        self._r[rows] = r[rows]
        self._longest = max(self._longest, columns.length(r))
        return columns.length(r - self._r) + ROUNDING * self._longest


class ColumnScores:
    """The scores scale_j |x_j . r| of single columns, computed only when they may be the largest.

    Of columns that are parallel only the first, that of the largest scale, is a candidate; when it
    is selected, the next one replaces it.
    """

    def __init__(self, column_dots: ColumnDots, scale: Floats) -> None:
        """scale: (p,), that of the distinct columns; 0 excludes a column."""
        self.column_dots, self.scale = column_dots, scale
        self.lipschitz = float(scale.max(initial=0.0))
        self._available = scale > 0.0
        distinct = column_dots.distinct
        self._columns, self._scales = distinct.columns.copy(), scale[distinct.columns]
        self._score, self._candidates = np.empty(len(self._columns)), np.empty_like(self._columns)

    def remove(self, features: Int32s) -> None:
        """Remove columns; the next one parallel to each, if there is one, replaces it."""
        self._available[features] = False
        distinct = self.column_dots.distinct
        for j in features.tolist():
            position = distinct.position[j]
            if position < 0 or self._columns[position] != j:
                continue
            # Parallel columns have the same score up to their scale: skip those already selected.
            following = distinct.next_parallel[j]
            while following >= 0 and not self._available[following]:
                following = distinct.next_parallel[following]
            self._scales[position] = 0.0
            if following >= 0:
                self._columns[position], self._scales[position] = following, self.scale[following]

    def best(self, r: Floats, radius: float, rival: Candidate, tie: float) -> Candidate:
        """The best column, or ``rival`` where that is no worse, and how certain that is.

        radius: how far r (n,) may be from its exact value. tie: scores this much lower, relatively,
        count as equal, and the lowest index is selected.
        """
        error = self.column_dots.update(r)
        position, score, margin = best_column(
            *self.column_dots.columns.matrix, r, self._columns, self._scales,
            self.column_dots.values, error, self.lipschitz, radius, tie, rival.score,
            rival.lipschitz, self._score, self._candidates,
        )  # fmt: skip
        if position < 0:
            return rival._replace(margin=min(rival.margin, margin))
        feature = self._columns[position : position + 1].copy()
        return Candidate(score, float(self._scales[position]), margin, feature, -1)
