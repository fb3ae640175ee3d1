"""How well columns, and groups of them, correlate with what a fit leaves over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textreg._core.pursuit import best_column
from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records import Floats, Groups, Int32s
from textreg.solvers.unit import Columns

SCORES = ("projection", "mean", "sum", "orthonormal")
"""The scores of a group, see :class:`GroupScores`."""

SMOOTHING = 0.01
"""Added to the diagonal of A'A by the score "projection", as in the authors' code."""

RANK = 1e-10
"""Eigenvalues of A'A below this share of the largest are zero."""

LARGEST = 10_000
"""Most features of a group whose score needs A'A, which then takes 0.8 GB."""

HELD = 32_000_000
"""Numbers in the roots of A'A that are kept, 256 MB; beyond, they are made anew when needed."""


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

    Of columns that are parallel only the first, that of the largest scale, is in the race; when it is
    taken, the next one has its score.
    """

    def __init__(self, columns: Columns, scale: Floats) -> None:
        """scale: (p,); 0 takes a column out of the race."""
        self.columns, self.scale = columns, scale
        self.reach = float(scale.max(initial=0.0))
        self._alive = scale > 0.0
        self._next = columns.twins(scale)
        self.score = np.where(self._alive, 0.0, -math.inf)
        self.score[self._next[self._next >= 0]] = -math.inf
        self._seen = np.zeros(len(scale))
        self._fresh = np.empty(len(scale), dtype=np.int32)
        self._hint = -1

    def remove(self, features: Int32s) -> None:
        """Take columns out of the race."""
        self._alive[features] = False
        for j in features.tolist():
            score, self.score[j] = self.score[j], -math.inf
            heir = self._next[j]
            while heir >= 0 and not self._alive[heir]:
                heir = self._next[heir]
            if heir >= 0 and score > -math.inf:
                self.score[heir] = score * self.scale[heir] / self.scale[j]
                self._seen[heir] = self._seen[j]

    def leader(self, r: Floats, drift: float, radius: float, rival: Leader, tie: float) -> Leader:
        """The best column, or ``rival`` where that is no worse, and how certain it is.

        drift: the way that r (n,) has gone so far. radius: how far it may be from where it belongs.
        tie: scores this much lower, relatively, are equal; the lowest index has it.
        """
        columns = self.columns
        j, room = best_column(
            columns.indptr, columns.indices, columns.data, r, self.scale, self.reach, drift, radius,
            tie, rival.score, rival.reach, self._hint, self.score, self._seen, self._fresh,
        )  # fmt: skip
        if j < 0:
            return rival._replace(room=min(rival.room, room))
        self._hint = j
        features = np.array([j], dtype=np.int32)
        return Leader(float(self.score[j]), float(self.scale[j]), room, features, -1)


class _Held(NamedTuple):
    """What is kept of a group: its features, A'A over them, and the root M of its score ||M A'r||^2."""

    features: Int32s
    gram: Floats
    root: Floats


class GroupScores:
    """The scores of groups, which lose the features that become active.

    With A the columns that are left in a group, |A| their number and r the derivatives of the loss:

    - "projection": r'A (A'A + 0.01 I)^-1 A'r / |A|, as the authors' code has it;
    - "mean": ||A'r||^2 / |A|, eq. (11) of the paper;
    - "sum": ||A'r||^2, eq. (9);
    - "orthonormal": r'A (A'A)^-1 A'r, eq. (10), with the pseudo-inverse.

    None of them rises when a group loses a feature, but for the division by |A|; so an old score still
    bounds the new one.
    """

    def __init__(self, groups: Groups, columns: Columns, size: Floats, score: str) -> None:
        """size: (p,), norm of every column as it is scored, 0 for those that cannot be chosen."""
        if score not in SCORES:
            raise UsageError(
                f"score must be one of {', '.join(SCORES)}, not {score!r}."
                f"{did_you_mean(score, SCORES)}"
            )
        self.groups, self.columns, self.size, self.score = groups, columns, size, score
        self._needs_gram = score in ("projection", "orthonormal")
        self._alive = size > 0.0
        self._of = np.repeat(np.arange(len(groups)), np.diff(groups.indptr))
        self._left = np.bincount(
            self._of, weights=self._alive[groups.indices], minlength=len(groups)
        )
        if self._needs_gram and self._left.max(initial=0) > LARGEST:
            worst = int(self._left.argmax())
            raise DataError(
                f"{groups.name(worst)} has {int(self._left[worst]):,} features, too many for the "
                f"score '{score}' (at most {LARGEST:,}). Use smaller groups, or score=mean."
            )
        self._by_feature = np.argsort(groups.indices, kind="stable")
        self._ends = np.searchsorted(groups.indices[self._by_feature], np.arange(len(size) + 1))
        # Of the roots of the scores before the division: value when computed, way gone then, constant.
        self._value, self._seen = np.zeros(len(groups)), np.zeros(len(groups))
        squares = np.bincount(self._of, weights=size[groups.indices] ** 2, minlength=len(groups))
        self._lipschitz = np.ones(len(groups)) if self._needs_gram else np.sqrt(squares)
        self._held: dict[int, _Held] = {}
        self._numbers = 0

    def of_singles(self, size: Floats) -> Floats:
        """What the root of the score of column j alone is to |x_j . r|; size: (p,), as above."""
        if self.score == "projection":
            return np.asarray(size / np.sqrt(size * size + SMOOTHING))
        return np.sign(size) if self.score == "orthonormal" else size

    def remove(self, features: Int32s) -> None:
        """Take features out of all groups."""
        for j in features.tolist():
            if self._alive[j]:
                self._alive[j] = False
                entries = self._by_feature[self._ends[j] : self._ends[j + 1]]
                self._left[self._of[entries]] -= 1

    def leader(self, r: Floats, drift: float, radius: float, rival: Leader, tie: float) -> Leader:
        """The best group, or ``rival`` where it is better, and how certain that is.

        drift: the way that r (n,) has gone so far. radius: how far it may be from where it belongs.
        tie: scores this much lower, relatively, are equal; then groups go before columns, and the
        lower index before the higher.
        """
        averaged = self.score in ("projection", "mean")
        divisor = np.sqrt(self._left) if averaged else np.ones(len(self._left))
        divisor[self._left == 0.0] = math.inf
        reach = self._lipschitz / divisor
        bound = (self._value + self._lipschitz * (drift - self._seen)) / divisor
        bound += (reach + max(reach.max(initial=0.0), rival.reach)) * radius
        bound[self._left == 0.0] = -math.inf
        top, fresh = rival.score, {}
        near = np.flatnonzero(bound >= top * (1.0 - tie))
        for g in near[np.argsort(-bound[near])].tolist():
            if bound[g] < top * (1.0 - tie):
                break
            self._value[g], self._seen[g] = self._root_score(g, r), drift
            fresh[g] = self._value[g] / divisor[g]
            top = max(top, fresh[g])
        best = min((g for g, value in fresh.items() if value >= top * (1.0 - tie)), default=-1)
        lead = rival.reach if best < 0 else reach[best]
        room = min(
            ((top - value) / (lead + reach[g]) for g, value in fresh.items()
             if value < top * (1.0 - tie)),
            default=math.inf,
        )  # fmt: skip
        if best < 0:
            return rival._replace(room=min(rival.room, room))
        return Leader(fresh[best], float(reach[best]), room, self._features(best), best)

    def _features(self, g: int) -> Int32s:
        """What is left of a group."""
        features = self.groups.indices[self.groups.indptr[g] : self.groups.indptr[g + 1]]
        return features[self._alive[features]]

    def _root_score(self, g: int, r: Floats) -> float:
        """The root of the score before the division."""
        if not self._needs_gram:
            features = self._features(g)
            return float(np.linalg.norm(self.columns.dots(r, features) * self.size[features]))
        held = self._hold(g)
        products = self.columns.dots(r, held.features) * self.size[held.features]
        return float(np.linalg.norm(held.root @ products))

    def _hold(self, g: int) -> _Held:
        """A'A of what is left of a group, and the root of its inverse."""
        held = self._held.get(g)
        if held is not None:
            keep = self._alive[held.features]
            if keep.all():
                return held
            self._numbers -= 2 * held.gram.size
            features, gram = held.features[keep], held.gram[np.ix_(keep, keep)]
        else:
            features = self._features(g)
            gram = self.columns.products(features) * np.outer(
                self.size[features], self.size[features]
            )
        if self._numbers + 2 * gram.size > HELD:
            self._held.clear()
            self._numbers = 0
        self._numbers += 2 * gram.size
        self._held[g] = _Held(features, gram, self._inverse_root(gram))
        return self._held[g]

    def _inverse_root(self, gram: Floats) -> Floats:
        """M with M'M = (A'A + 0.01 I)^-1, or the pseudo-inverse of A'A."""
        if self.score == "projection":
            lower = np.linalg.cholesky(gram + SMOOTHING * np.eye(len(gram)))
            return np.asarray(np.linalg.inv(lower), dtype=np.float64)
        values, vectors = np.linalg.eigh(gram)
        kept = values > RANK * values.max()
        return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T, dtype=np.float64)
