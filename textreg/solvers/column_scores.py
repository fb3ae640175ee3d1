"""Scores of columns and of groups of columns, by which a pursuit selects."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.blocks import block_dots
from textreg._core.group_scores import (
    GroupArrays,
    GroupBounds,
    candidate_groups,
    group_correlations,
    group_projections,
    projection_bounds,
)
from textreg._core.pursuit import best_column, update_dots
from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records import Floats, Groups, Int32s, Int64s, Problem
from textreg.records.arrays import (
    Cache,
    distinct_rows,
    first_equal,
    hash_entries,
    row_of,
    sums,
    take_rows,
)

# Weights of documents up to this one have squares of zero.
NEGLIGIBLE = 1e-150

# Entries of two columns of norm one that differ by no more are equal, up to rounding.
EQUAL = 2.0**-40


def digest(values: Floats) -> bytes:
    """What tells arrays apart by their values."""
    return hashlib.sha256(values.tobytes()).digest()


class DistinctColumns(NamedTuple):
    """Columns of which no two are parallel, and their values by rows.

    columns: (m,) their indices, ascending. next_parallel: (p,), for every column of X the next one
    that is parallel to it, -1 where there is none. position: (p,), in ``columns``, of the column
    parallel to it; -1 for columns that cannot be selected. rows: (indptr, positions, values) as
    kernels take them: row i has ``values[indptr[i]:indptr[i + 1]]`` at these positions.
    """

    columns: Int32s
    next_parallel: Int32s
    position: Int32s
    rows: tuple[Int64s, Int32s, Floats]


def unit_columns(problem: Problem) -> UnitColumns:
    """The columns of a problem, made once for all labels and ridges that share its matrix."""
    key = "unit columns", digest(problem.sample_weight)
    return problem.design.cache.get(key, lambda: UnitColumns(problem))


class UnitColumns:
    """The columns of X divided by their norms; those of no norm stay as they are.

    norms: (p,), sqrt(sum_i c_i x_ij^2) with the weights c of the documents, so that a weight of two
    is the same as a document twice. All inner products of columns are weighted in this way.
    """

    def __init__(self, problem: Problem) -> None:
        # The arrays and not the Design itself, whose cache holds this: no reference cycle.
        (self.indptr, self.indices, data), c = problem.design.columns, problem.sample_weight
        self.shape = problem.design.shape
        self.cache = Cache()
        column = row_of(self.indptr)
        squares = c[self.indices] * data * data
        self.norms = np.sqrt(np.bincount(column, weights=squares, minlength=self.shape[1]))
        self.data = data / np.where(self.norms > 0.0, self.norms, 1.0)[column]
        self.weights = c
        # Squares of derivatives, which are at most in proportion to c, are zero for smaller ones.
        counts = c > NEGLIGIBLE
        self.inverse = np.divide(1.0, c, out=np.zeros_like(c), where=counts)

    def dots(self, v: Floats, features: Int32s) -> Floats:
        """x_j . v for columns of norm one; v: (n,)."""
        out = np.empty(len(features))
        block_dots(self.indptr, self.indices, self.data, v[:, None], out[:, None], features)
        return out

    @property
    def matrix(self) -> tuple[Int64s, Int32s, Floats]:
        """The arrays as kernels take them: offsets of the columns, rows, values."""
        return self.indptr, self.indices, self.data

    def dense(self, count: int) -> tuple[Int32s, Floats, Floats]:
        """The ``count`` columns with the most nonzeros, or all, written out with their zeros.

        Returns the row of every column among them, (p,), -1 for the others; the columns times the
        weights of the documents, (count, n); and their weighted products with each other, (count,
        count).
        """
        # Products of two columns that are nearly full are fastest as one dense matrix product.
        selected = np.argsort(np.diff(-self.indptr), kind="stable")[:count]
        row = np.full(self.shape[1], -1, dtype=np.int32)
        row[selected] = np.arange(len(selected))
        values = np.zeros((len(selected), self.shape[0]))
        for k, j in enumerate(selected.tolist()):
            entries = slice(self.indptr[j], self.indptr[j + 1])
            values[k, self.indices[entries]] = self.data[entries]
        weighted = values * self.weights
        return row, weighted, np.asarray(weighted @ values.T, dtype=np.float64)

    def length(self, v: Floats) -> float:
        """The norm of v (n,), derivatives in the scores, for which |x_j . v| <= length(v)."""
        # A product by BLAS would wait for its threads, for less than they take to wake up.
        return math.sqrt(float(np.einsum("i,i,i", v, v, self.inverse)))

    def distinct(self, scale: Floats) -> DistinctColumns:
        """Of parallel columns the one with the largest ``scale`` (p,), if that is above 0.

        Made once for every order of the columns, as labels and ridges share it.
        """

        def make() -> DistinctColumns:
            from scipy.sparse import csc_array

            following = self.next_parallel(scale)
            has_next = following >= 0
            is_first = scale > 0.0
            is_first[following[has_next]] = False
            columns = np.flatnonzero(is_first).astype(np.int32)
            first = np.arange(len(scale), dtype=np.int32)
            first[following[has_next]] = np.flatnonzero(has_next)
            while (first[first] != first).any():  # pointer doubling: twice as far each round
                first = first[first]
            position = np.full(len(scale), -1, dtype=np.int32)
            position[columns] = np.arange(len(columns))
            X = csc_array(self.matrix[::-1], shape=self.shape)
            rows = X[:, columns].tocsr()
            indptr = rows.indptr.astype(np.int64)
            positions = rows.indices.astype(np.int32, copy=False)
            by_rows = indptr, positions, rows.data
            return DistinctColumns(columns, following, position[first], by_rows)

        # Only the order counts, and which are 0: columns of norm one all have the same scale.
        ranks = np.unique(np.append(0.0, scale), return_inverse=True)[1]
        return self.cache.get(("distinct columns", digest(ranks.astype(np.float64))), make)

    def next_parallel(self, scale: Floats) -> Int32s:
        """(p,) For every column the next one that is parallel to it; -1 where there is none.

        Parallel columns are sorted by descending ``scale`` (p,), then by index. They are found by a
        hash of the entries, and compared; of columns that are parallel but for rounding, some may
        be missed.
        """
        full = np.flatnonzero(np.diff(self.indptr) > 0)
        indptr = np.append(self.indptr[full], len(self.data))  # empty columns have no entries
        # Of norm one, columns are parallel if they are equal but for the sign of the first entry.
        values = self.data * np.repeat(np.sign(self.data[indptr[:-1]]), np.diff(indptr))
        numbers = hash_entries(self.indices, np.rint(values / EQUAL).astype(np.int64))

        def equal(one: Int64s, two: Int64s) -> NDArray[np.bool_]:
            near = np.abs(values[one] - values[two]) <= 2.0 * EQUAL
            same: NDArray[np.bool_] = near & (self.indices[one] == self.indices[two])
            return same

        leader = first_equal(indptr, numbers, equal)
        order = np.lexsort((full, -scale[full], leader))
        before, after = order[:-1], order[1:]
        parallel = leader[before] == leader[after]
        following = np.full(self.shape[1], -1, dtype=np.int32)
        following[full[before[parallel]]] = full[after[parallel]]
        return following


# Share of the best score that products may be off by before they are brought up to date.
TOLERANCE = 0.1

# Share of the length of r that rounding may have brought into products that are updated.
DRIFT = 1e-10


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


# Nothing yet, which any other candidate is better than.
NO_CANDIDATE = Candidate(-math.inf, 0.0, math.inf, np.empty(0, dtype=np.int32), -1)


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
        # After a step r changes much in the few documents of the new feature, and little elsewhere:
        # only these rows of X are read, and the norm of the other changes bounds the error.
        length, rest = update_dots(
            *self.distinct.rows, r, self._r, self.columns.inverse, self.tolerance, self.values
        )
        self._longest = max(self._longest, length)
        return rest + DRIFT * self._longest


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


# Most columns of a group for which bounds on its score are worth the inverse of A'A.
MOST_BOUNDED = 128

# Most columns that are written out with their zeros, and most numbers that they take, 64 MB.
MOST_DENSE, DENSE_ENTRIES = 1000, 8_000_000


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


# The scores of a group, see GroupScores.
SCORES = ("projection", "mean", "sum", "orthonormal")

# Added to the diagonal of A'A by the score "projection", as in the code of skianis2018.
SMOOTHING = 0.01

# A column adds nothing to a span that it leaves by less than this share of its square.
RANK = 1e-10

# Most features of a group whose score needs A'A, which then takes 0.8 GB.
LARGEST_GROUP = 10_000

# Groups whose scores are computed together at first, in the order of their bounds.
BATCH = 16

# Residuals that are stored to tell how far r is from where a score was computed.
ORIGINS = 32


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
        if self._projected and largest > LARGEST_GROUP:
            name = groups.name(int(prepared.first[prepared.sizes.argmax()]))
            raise DataError(
                f"{name} has {largest:,} features, too many for the score "
                f"'{score}' (at most {LARGEST_GROUP:,}). Use smaller groups, or score=mean."
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
        arguments = self._arrays, selected, self._squares, r, self._dots
        if self._projected:
            group_projections(*arguments, self._smoothing, self._rank, out)
        else:
            group_correlations(*arguments, out)
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
