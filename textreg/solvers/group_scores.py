"""How well groups of columns correlate with the residual of a fit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from textreg._core.group_scores import (
    GroupBounds,
    candidate_groups,
    group_correlations,
    group_projections,
)
from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records import Floats, Groups, Int32s
from textreg.records.arrays import sums
from textreg.solvers.column_groups import column_groups
from textreg.solvers.column_scores import Candidate, ColumnDots
from textreg.solvers.unit_columns import UnitColumns

SCORES = ("projection", "mean", "sum", "orthonormal")
"""The scores of a group, see :class:`GroupScores`."""

SMOOTHING = 0.01
"""Added to the diagonal of A'A by the score "projection", as in the code of skianis2018."""

RANK = 1e-10
"""A column adds nothing to a span that it leaves by less than this share of its square."""

LARGEST = 10_000
"""Most features of a group whose score needs A'A, which then takes 0.8 GB."""

BATCH = 16
"""Groups whose scores are computed together at first, in the order of their bounds."""

ORIGINS = 32
"""Residuals that are stored to tell how far r is from where a score was computed."""


class GroupScores:
    """The scores of groups, which lose the features that become active.

    With A the columns that are left in a group, |A| their number and r the derivatives of the loss:

    - "projection": r'A (A'A + 0.01 I)^-1 A'r / |A|, as in the authors' code;
    - "mean": ||A'r||^2 / |A|, eq. (11) of skianis2018;
    - "sum": ||A'r||^2, eq. (9);
    - "orthonormal": r'A (A'A)^-1 A'r, eq. (10), with the pseudo-inverse.

    None of them rises when a group loses a feature, but for the division by |A|; so an old score
    still bounds the new one.
    """

    def __init__(self, groups: Groups, columns: UnitColumns, size: Floats, score: str) -> None:
        """size: (p,), norm of every column as it is scored, 0 for those that cannot be selected."""
        if score not in SCORES:
            raise UsageError(
                f"score must be one of {', '.join(SCORES)}, not {score!r}."
                f"{did_you_mean(score, SCORES)}"
            )
        self.groups, self.columns, self.score = groups, columns, score
        self._averaged = score in ("projection", "mean")
        self._projected = score in ("projection", "orthonormal")
        self._smoothing, self._rank = (SMOOTHING, 0.0) if score == "projection" else (0.0, RANK)
        self._column_groups = prepared = column_groups(groups, columns, size)
        self.column_dots = ColumnDots(columns, prepared.distinct)
        self._available, self._sizes = size > 0.0, prepared.sizes.copy()
        largest = int(prepared.sizes.max(initial=0.0))
        if self._projected and largest > LARGEST:
            name = groups.name(int(prepared.first[prepared.sizes.argmax()]))
            raise DataError(
                f"{name} has {largest:,} features, too many for the score "
                f"'{score}' (at most {LARGEST:,}). Use smaller groups, or score=mean."
            )
        width = int(np.diff(prepared.offsets).max(initial=0))
        self._arrays = prepared.arrays(columns, width, width if self._projected else 0)
        # The square of a score before the division is at most sum_e factors[e] (x_j . r)^2.
        self._squares = self._factors = prepared.squares.copy()
        if self._projected:
            self._factors = np.full(len(self._squares), math.inf)
        if score == "projection":
            self._factors = prepared.projection_bounds(columns, SMOOTHING).copy()
        # The root of each score before the division: a bound on it, at which residual it holds, and
        # its Lipschitz constant. All scores are 0 at the residual 0, the first of the origins.
        count = len(prepared.first)
        self._value, self._origin = np.zeros(count), np.zeros(count, dtype=np.int32)
        self._origins, self._origin_count = np.zeros((ORIGINS, columns.shape[0])), 1
        squares = sums(prepared.group_of, prepared.squares, count)
        self._lipschitz = np.ones(count) if self._projected else np.sqrt(squares)
        self._divisor, self.lipschitz = np.empty(count), 0.0
        self._bounds = GroupBounds(self._value, self._origin, self._lipschitz, self._divisor)
        self._dots = np.empty(len(prepared.distinct.columns))
        self._candidates, self._bound = np.empty(count, dtype=np.int32), np.empty(count)
        self._update_divisor(np.arange(count))

    def column_scale(self, size: Floats) -> Floats:
        """(p,) The root of the score of column j alone, over |x_j . r|; size: (p,), as above."""
        if self.score == "projection":
            return np.asarray(size / np.sqrt(size * size + SMOOTHING))
        return np.sign(size) if self.score == "orthonormal" else size

    def remove(self, features: Int32s) -> None:
        """Take features out of all groups."""
        groups = self._column_groups
        for j in features[self._available[features]].tolist():
            self._available[j] = False
            entries = groups.entries(j)
            self._squares[entries] = left = groups.remaining_squares(entries, self._available)
            self._factors[entries[left == 0.0]] = 0.0
            changed = groups.group_of[entries]
            self._sizes[changed] -= 1.0
            self._update_divisor(changed)

    def _update_divisor(self, groups: NDArray[np.integer]) -> None:
        """Compute what the roots of the scores are divided by, 0 where no feature is left."""
        sizes = self._sizes[groups]
        self._divisor[groups] = np.sqrt(sizes) if self._averaged else np.sign(sizes)
        nonempty = groups[sizes > 0.0]
        lipschitz = self._lipschitz[nonempty] / self._divisor[nonempty]
        self.lipschitz = max(self.lipschitz, float(lipschitz.max(initial=0.0)))

    def best(self, r: Floats, radius: float, rival: Candidate, tie: float) -> Candidate:
        """The best group, or ``rival`` where it is better, and how certain that is.

        radius: how far r (n,) may be from its exact value. tie: scores this much lower, relatively,
        count as equal; then groups go before columns, and the lower index before the higher.
        """
        divisor = self._divisor
        distances, error = self._distances(r), self.column_dots.update(r)
        count = candidate_groups(
            self._arrays, self._bounds, self._factors, self.column_dots.values, error, distances,
            self.columns.length(r), max(self.lipschitz, rival.lipschitz), radius,
            rival.score * (1.0 - tie), self._candidates, self._bound,
        )  # fmt: skip
        # The group of the largest bound first: once a score is above the next bound, the scores of
        # all further groups are below it and need not be computed.
        order = np.argsort(-self._bound[:count], kind="stable")
        candidates, bound = self._candidates[order], self._bound[order]
        top, done, size = rival.score, 0, BATCH
        self._dots[:] = math.nan
        while done < count and bound[done] >= top * (1.0 - tie):
            batch = candidates[done : done + size]
            self._value[batch] = self._scores(batch, r)
            self._origin[batch] = self._origin_count - 1
            top = max(top, float((self._value[batch] / divisor[batch]).max()))
            done, size = done + len(batch), 2 * size
        computed = np.sort(candidates[:done])
        values = self._value[computed] / divisor[computed]
        lipschitz = self._lipschitz[computed] / divisor[computed]
        tied = values >= top * (1.0 - tie)
        of_best = float(lipschitz[tied][0]) if tied.any() else rival.lipschitz
        margins = (top - values[~tied]) / (of_best + lipschitz[~tied])
        margin = float(margins.min(initial=math.inf))
        if not tied.any():
            return rival._replace(margin=min(rival.margin, margin))
        best = int(self._column_groups.first[computed[tied][0]])
        return Candidate(float(values[tied][0]), of_best, margin, self._features(best), best)

    def _scores(self, selected: Int32s, r: Floats) -> Floats:
        """The roots of the scores of some groups before the division."""
        out = np.empty(len(selected))
        given = self._arrays, selected, self._squares, r, self._dots
        if self._projected:
            group_projections(*given, self._smoothing, self._rank, out)
        else:
            group_correlations(*given, out)
        return out

    def _distances(self, r: Floats) -> Floats:
        """How far r is from the stored residuals; it becomes the last of them."""
        length, origins = self.columns.length, self._origins
        if self._origin_count == ORIGINS:  # start again, with a bound for every group at this r
            distances = np.array([length(r - origin) for origin in origins])
            self._value += self._lipschitz * distances[self._origin]
            self._origin[:], self._origin_count = 0, 0
        origins[self._origin_count] = r
        self._origin_count += 1
        return np.array([length(r - origin) for origin in origins[: self._origin_count]])

    def _features(self, g: int) -> Int32s:
        """The features that are left of a group."""
        features = self.groups.members(g)
        return features[self._available[features]]
