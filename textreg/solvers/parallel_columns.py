"""Columns that are multiples of each other, and features of one kind, merged into one.

Parallel columns are merged into one feature where the penalty cannot tell them apart.

Documents quote each other, and most pairs of words occur once: there are far more features than
ways to occur in documents. Let the columns x_j = c_j x of some features be parallel, and their
penalty be the same q w_j^2 and nothing else. The scores depend on t = sum_j c_j w_j alone, and the
weights of least penalty for any t are w_j = u c_j / ||c|| with u = t / ||c||, whose penalty is
q u^2 (docs/maths.md, F1). So one feature with the column ||c|| x and the weight u takes their
place: same scores, same penalty, same minimum, and every bound on it holds for both.

Overlapping groups over fewer features: those with parallel columns in the same groups are one.

Of the words and pairs of a corpus most occur once, and all that occur in one sentence alone have
parallel columns and are in the same groups. Without an l1 penalty these cannot be told apart by
anything but the factor between their columns, so one feature does for all of them (docs/maths.md,
F2): same scores, same norms of all groups, same minimum, and every bound on it holds for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from textreg._core.ragged import hash_rows
from textreg.penalties import GroupNorms, Links
from textreg.records import Design, Floats, Groups, Int64s, MultiSolution, Problem, Solution
from textreg.records.arrays import as_finite, distinct_rows, first_equal, hash_entries
from textreg.records.design import ScaledColumns
from textreg.records.structure import holders_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array


AnySolution = TypeVar("AnySolution", Solution, MultiSolution)

# Decimals of the ratios of their entries by which candidates are found.
DIGITS = 9

# Relative difference of these ratios that is due to rounding.
SAME = 1e-13

# A problem is much smaller where at most this share of all values, or of columns, is left.
VALUES, COLUMNS = 0.95, 0.5

# What a matrix keeps one variant of for each thread: all of them would take too much memory.
MERGED = "merged matrix"

# Most values that are copied, for the sake of solvers that need their arrays.
COPIED = 1 << 22


class MergedColumns:
    """A problem over fewer features, and the way back to the weights of all.

    Parameters
    ----------
    design : Design
        The matrix of all p features.
    kind : ndarray, shape (p,)
        Features are merged only if these numbers are equal: the curvature q of their penalty, or
        which groups they are in.
    mergeable : bool ndarray, shape (p,)
        Features with the penalty q w_j^2 and no other, or in the same groups.

    Attributes
    ----------
    representatives : ndarray
        The first feature of every set of parallel ones, ascending: the features of the smaller
        problem.
    column : ndarray, shape (p,)
        The feature of the smaller problem that each feature is part of.
    share : ndarray, shape (p,)
        c_j / ||c||; 0 for features that occur in no document, except the first.
    worth_it : bool
        Whether the smaller problem is much smaller.
    """

    def __init__(self, design: Design, kind: Floats, mergeable: NDArray[np.bool_]) -> None:
        X = design.X_csc
        if not X.data.all():
            X = X.copy()
            X.eliminate_zeros()
        first = _first_parallel(X, kind, mergeable)
        factor, occurs = np.ones(len(first)), np.diff(X.indptr) > 0
        factor[occurs] = X.data[X.indptr[:-1][occurs]]
        factor /= factor[first]
        if len(empty := np.flatnonzero(mergeable & ~occurs)):
            first[empty], factor[empty[1:]] = empty[0], 0.0
        own = first == np.arange(len(first))
        self.representatives = np.flatnonzero(own)
        self.column = (np.cumsum(own, dtype=np.int32) - np.int32(1))[first]
        length = np.sqrt(np.bincount(self.column, factor**2, len(self.representatives)))
        self.share = factor / length[self.column]
        self._length = length
        sizes = np.diff(X.indptr)
        left = sizes[self.representatives]
        self.worth_it = bool(
            left.sum() <= VALUES * sizes.sum() or len(left) <= COLUMNS * len(sizes)
        )

    def merge_problem(self, problem: Problem) -> Problem:
        """The smaller problem, with the labels and options of ``problem``.

        A matrix keeps the smaller one that was asked for last.
        """
        whole = problem.design
        design = whole.cache.last(MERGED, self, lambda: self._design(whole))
        start = problem.start and (self.merge(problem.start[0]), problem.start[1])
        return problem.replace(X=design, groups=None, graph=None, validation=None, start=start)

    def _design(self, whole: Design) -> Design:
        """The matrix of the smaller problem. whole: that of all features."""
        merged = ScaledColumns(whole, self.representatives, self._length)
        if merged.values > COPIED:
            return merged
        return Design.of_columns(merged.shape[0], *merged.take_columns(merged.features))

    def merge(self, w: Floats) -> Any:
        """Weights of the smaller problem that give the scores of w (..., p)."""
        if w.ndim == 1:
            return np.bincount(self.column, self.share * w, len(self.representatives))
        return np.array([self.merge(row) for row in w])

    def merge_start(self, start: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The same of a start of several classes; RecordError unless its weights are (any, p)."""
        w = as_finite("the weights of start", start[0], (None, len(self.column)))
        return self.merge(w), start[1]

    def expand(self, u: Floats) -> Floats:
        """The weights (..., p) of least penalty that give the scores of u (..., features)."""
        w: Floats = u[..., self.column] * self.share
        return w

    def expand_solution(self, solution: AnySolution) -> AnySolution:
        """A solution of the smaller problem as a solution of the larger one."""
        return replace(solution, w=self.expand(solution.w))

    def solve(
        self, problems: Sequence[Problem], solve: Callable[[Sequence[Problem]], list[Solution]]
    ) -> list[Solution]:
        """Solutions of larger problems, by ``solve``, which gives those of smaller ones."""
        smaller = [self.merge_problem(problem) for problem in problems]
        return [self.expand_solution(found) for found in solve(smaller)]


def merge_parallel_columns(problem: Problem) -> MergedColumns:
    """For penalties that are the same square of every weight, or zero; made once per matrix."""
    return parallel_columns(problem.design)


def parallel_columns(design: Design) -> MergedColumns:
    """The same of a matrix."""
    p = design.shape[1]
    return design.cache.get(
        "merged columns", lambda: MergedColumns(design, np.zeros(p), np.ones(p, dtype=bool))
    )


def over_merged_columns(
    problems: Sequence[Problem], solve: Callable[[Sequence[Problem]], list[Solution]]
) -> list[Solution]:
    """Solutions of problems that share their matrix, by ``solve`` over fewer columns if it pays.

    Their penalty is the same square of every weight.
    """
    if not problems:
        return []
    merged = parallel_columns(problems[0].design)
    if not merged.worth_it:
        return solve(problems)
    return merged.solve(problems, solve)


def merge_linked_columns(problem: Problem, links: Links) -> tuple[MergedColumns, Links]:
    """For the quadratic form of a graph beside a ridge; and that form over fewer features.

    Only features that are coupled to no other are merged. Made once per matrix and graph.
    """

    def make() -> tuple[MergedColumns, Links]:
        merged = MergedColumns(problem.design, links.diagonal, ~links.coupled)
        return merged, links.select(merged.representatives)

    return problem.design.cache.get(links, make)


def _first_parallel(X: csc_array, kind: Floats, mergeable: NDArray[np.bool_]) -> Int64s:
    """(p,) The first feature that each is parallel to; itself where there is none before."""
    first, sizes = np.arange(X.shape[1]), np.diff(X.indptr)
    candidates = np.flatnonzero(sizes > 0)
    left = mergeable[candidates]
    # Most words and pairs of words occur once: all those of a document are parallel.
    once = candidates[left & (sizes[candidates] == 1)]
    if len(once):
        places = X.indices[X.indptr[once]].astype(np.int64)
        if np.ptp(kind[once]) > 0.0:
            kinds, of = np.unique(kind[once], return_inverse=True)
            _, places = np.unique(len(kinds) * places + of, return_inverse=True)
        head = np.empty(int(places.max()) + 1, dtype=first.dtype)
        head[places[::-1]] = once[::-1]  # what is written last, the first of them, stays
        first[once] = head[places]
        left &= sizes[candidates] > 1
    # A hash of the documents alone shows of most columns that they are parallel to no other.
    candidates = candidates[left]
    hashes = np.empty(len(candidates), dtype=np.uint64)
    indptr, documents = X.indptr.astype(np.int64, copy=False), X.indices
    hash_rows(indptr, documents.astype(np.int32, copy=False), candidates, hashes)
    _, group, count = np.unique(hashes, return_inverse=True, return_counts=True)
    candidates = candidates[count[group] > 1]
    X = X[:, candidates]
    indptr, documents = X.indptr, X.indices
    # Divided by their first entries, parallel columns are equal.
    ratios = X.data / np.repeat(X.data[indptr[:-1]], np.diff(indptr))
    numbers = hash_entries(documents, np.round(ratios, DIGITS))

    def equal(one: Int64s, two: Int64s) -> NDArray[np.bool_]:
        near = np.abs(ratios[one] - ratios[two]) <= SAME * np.abs(ratios[two])
        same: NDArray[np.bool_] = near & (documents[one] == documents[two])
        return same

    first[candidates] = candidates[first_equal(indptr, numbers, equal, kind[candidates])]
    return first


# Entries of the groups above which it would take too much memory to compare those of features.
LARGE = 1 << 25

# Features are merged where at most this share of them is left.
SHARE = 0.5


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
