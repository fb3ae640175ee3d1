"""How well groups of columns correlate with what a fit leaves over."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from textreg._core.spans import near_groups
from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records import Floats, Groups, Int32s
from textreg.records.ragged import sums
from textreg.solvers.scores import Leader, Products
from textreg.solvers.spans import Room, spans_of
from textreg.solvers.unit_columns import Columns

SCORES = ("projection", "mean", "sum", "orthonormal")
"""The scores of a group, see :class:`GroupScores`."""

SMOOTHING = 0.01
"""Added to the diagonal of A'A by the score "projection", as in the authors' code."""

RANK = 1e-10
"""A column adds nothing to a span that it leaves by less than this share of its square."""

LARGEST = 10_000
"""Most features of a group whose score needs A'A, which then takes 0.8 GB."""

BATCH = 16
"""Groups whose scores are computed together at first, in the order of what they may reach."""

PLACES = 32
"""Derivatives of the loss that are kept to tell how far they have gone since a score was new."""


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
        self.groups, self.columns, self.score = groups, columns, score
        averaged = score in ("projection", "mean")
        projected = score in ("projection", "orthonormal")
        self._smoothing, self._rank = (SMOOTHING, 0.0) if score == "projection" else (0.0, RANK)
        self._spans = spans = spans_of(groups, columns, size)
        self.products = Products(columns, spans.race)
        self._alive, self._sizes = size > 0.0, spans.sizes.copy()
        largest = int(spans.sizes.max(initial=0.0))
        if projected and largest > LARGEST:
            name = groups.name(int(spans.first[spans.sizes.argmax()]))
            raise DataError(
                f"{name} has {largest:,} features, too many for the score "
                f"'{score}' (at most {LARGEST:,}). Use smaller groups, or score=mean."
            )
        self._room = Room.of(
            columns, spans.race, int(np.diff(spans.indptr).max(initial=0)), projected
        )
        self._squares = self._factors = spans.squares.copy()
        if projected:
            self._factors = np.full(len(self._squares), math.inf)
        if score == "projection":
            self._factors = spans.factors(columns, SMOOTHING).copy()
        # The root of each score before the division: a bound on it at some r, which of the places
        # where r was, and its constant. Where r = 0, all scores are.
        count = len(spans.first)
        self._value, self._where = np.zeros(count), np.zeros(count, dtype=np.int32)
        self._places, self._known = np.zeros((PLACES, columns.shape[0])), 1
        squares = sums(spans.of, spans.squares, count)
        self._lipschitz = np.ones(count) if projected else np.sqrt(squares)
        self._averaged, self._divisor, self.reach = averaged, np.empty(count), 0.0
        self._dots = np.empty(len(spans.race.columns))
        self._near, self._bound = np.empty(count, dtype=np.int32), np.empty(count)
        self._divide(np.arange(count))

    def of_singles(self, size: Floats) -> Floats:
        """What the root of the score of column j alone is to |x_j . r|; size: (p,), as above."""
        if self.score == "projection":
            return np.asarray(size / np.sqrt(size * size + SMOOTHING))
        return np.sign(size) if self.score == "orthonormal" else size

    def remove(self, features: Int32s) -> None:
        """Take features out of all groups."""
        spans = self._spans
        for j in features[self._alive[features]].tolist():
            self._alive[j] = False
            entries = spans.entries(j)
            self._squares[entries] = left = spans.left(entries, self._alive)
            self._factors[entries[left == 0.0]] = 0.0
            groups = spans.of[entries]
            self._sizes[groups] -= 1.0
            self._divide(groups)

    def _divide(self, groups: NDArray[np.integer]) -> None:
        """Find what the roots of the scores are divided by, 0 where nothing is left."""
        sizes = self._sizes[groups]
        self._divisor[groups] = np.sqrt(sizes) if self._averaged else np.sign(sizes)
        some = groups[sizes > 0.0]
        reach = self._lipschitz[some] / self._divisor[some]
        self.reach = max(self.reach, float(reach.max(initial=0.0)))

    def leader(self, r: Floats, radius: float, rival: Leader, tie: float) -> Leader:
        """The best group, or ``rival`` where it is better, and how certain that is.

        radius: how far r (n,) may be from where it belongs. tie: scores this much lower,
        relatively, are equal; then groups go before columns, and the lower index before the higher.
        """
        spans, divisor = self._spans, self._divisor
        gone, error = self._gone(r), self.products.follow(r)
        count = near_groups(
            spans.indptr, spans.places, self._factors, self.products.values, error,
            self._lipschitz, divisor, gone, self.columns.length(r), max(self.reach, rival.reach),
            radius, rival.score * (1.0 - tie), self._known - 1, self._value, self._where,
            self._near, self._bound,
        )  # fmt: skip
        order = np.argsort(-self._bound[:count], kind="stable")
        near, bound = self._near[order], self._bound[order]
        top, done, size = rival.score, 0, BATCH
        self._dots[:] = math.nan
        while done < count and bound[done] >= top * (1.0 - tie):
            batch = near[done : done + size]
            self._value[batch] = spans.scores(
                batch, self.columns, r, self._dots, self._squares, self._smoothing, self._rank,
                self._room,
            )  # fmt: skip
            self._where[batch] = self._known - 1
            top = max(top, float((self._value[batch] / divisor[batch]).max()))
            done, size = done + len(batch), 2 * size
        fresh = np.sort(near[:done])
        values, reach = self._value[fresh] / divisor[fresh], self._lipschitz[fresh] / divisor[fresh]
        tied = values >= top * (1.0 - tie)
        lead = float(reach[tied][0]) if tied.any() else rival.reach
        room = float(((top - values[~tied]) / (lead + reach[~tied])).min(initial=math.inf))
        if not tied.any():
            return rival._replace(room=min(rival.room, room))
        best = int(spans.first[fresh[tied][0]])
        return Leader(float(values[tied][0]), lead, room, self._features(best), best)

    def _gone(self, r: Floats) -> Floats:
        """How far r is from the places where scores are known; it is the last of them now."""
        length, places = self.columns.length, self._places
        if self._known == PLACES:  # begin anew, all groups from here
            gone = np.array([length(r - place) for place in places])
            self._value += self._lipschitz * gone[self._where]
            self._where[:], self._known = 0, 0
        places[self._known] = r
        self._known += 1
        return np.array([length(r - place) for place in places[: self._known]])

    def _features(self, g: int) -> Int32s:
        """What is left of a group."""
        features = self.groups.members(g)
        return features[self._alive[features]]
