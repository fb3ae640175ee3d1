"""Smaller problems with the same solution: merged columns, compact rows, working sets.

Parallel columns are merged into one feature where the penalty cannot tell them apart.

Documents quote each other, and most pairs of words occur once: there are far more features than
ways to occur in documents. Let the columns x_j = c_j x of some features be parallel, and their
penalty be the same q w_j^2 and nothing else. The scores depend on t = sum_j c_j w_j alone, and the
weights of least penalty for any t are w_j = u c_j / ||c|| with u = t / ||c||, whose penalty is
q u^2 (docs/maths.md, F1). So one feature with the column ||c|| x and the weight u takes their
place: same scores, same penalty, same minimum, and every bound on it holds for both.

Compact rows are some columns of a matrix in few bytes, as dual ascent reads them many times.
Columns are sorted by their number of documents, so that the weights of the words that make up most
of a text lie together in the nearest cache. Values are float32 where they have the range: only the
way to the solution depends on them, as the loss and its gradient are computed from the matrix
itself.

A working set holds the features that may have a weight (docs/maths.md, W1). Where the product of a
column with the dual variables of the loss is at most lam_j, l1 alone keeps the weight of the
feature at zero. Beyond that, groups of which nothing is in the working set are free to keep it
there (W2): words that are everywhere are in thousands of them. Without all these features the rest
of the problem is the same. The dual point of a fit over a working set looks at what was left out
too, so that its bound holds for the problem over all features: there groups of the working set help
by what its dual variables leave of them (W5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textreg._core.ragged import hash_rows
from textreg.penalties import GroupNorms, Links
from textreg.records import Design, Floats, Int32s, Int64s, MultiSolution, Problem, Solution
from textreg.records.arrays import (
    Cache,
    as_finite,
    derived,
    first_equal,
    hash_entries,
    squared_norms,
)
from textreg.records.design import ScaledColumns
from textreg.solvers.certificate import EngineDual, Excess
from textreg.solvers.linear_algebra import union
from textreg.solvers.reweighting import VectorFit
from textreg.solvers.state import Engine, Scales, has_kinks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array


AnySolution = TypeVar("AnySolution", Solution, MultiSolution)

# Decimals of the ratios of their entries by which candidates are found.
DIGITS = 9

# Relative difference of these ratios that is due to rounding.
SAME = 1e-13

# A problem is much smaller where at most this share of all values, or of columns, is left.
MOST_VALUES, MOST_COLUMNS = 0.95, 0.5

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
        Features are merged only if these numbers, the curvature q of their penalty, are equal.
    mergeable : bool ndarray, shape (p,)
        Features with the penalty q w_j^2 and no other.

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
        leads = first == np.arange(len(first))
        self.representatives = np.flatnonzero(leads)
        self.column = (np.cumsum(leads, dtype=np.int32) - np.int32(1))[first]
        length = np.sqrt(np.bincount(self.column, factor**2, len(self.representatives)))
        self.share = factor / length[self.column]
        self._length = length
        sizes = np.diff(X.indptr)
        left = sizes[self.representatives]
        self.worth_it = bool(
            left.sum() <= MOST_VALUES * sizes.sum() or len(left) <= MOST_COLUMNS * len(sizes)
        )

    def merge_problem(self, problem: Problem, *, copied: bool = True) -> Problem:
        """The smaller problem, with the labels and options of ``problem``.

        copied: whether its matrix has arrays of its own, if there is room; products are quicker
        then. A matrix keeps the smaller one that was asked for last.
        """
        whole = problem.design
        make = partial(self._design, whole, copied)
        design = whole.cache.last(MERGED, (self, copied), make)
        start = problem.start and (self.merge(problem.start[0]), problem.start[1])
        return problem.over(design, start)

    def _design(self, whole: Design, copied: bool) -> Design:
        """The matrix of the smaller problem. whole: that of all features."""
        merged = ScaledColumns(whole, self.representatives, self._length)
        if not copied or merged.values > COPIED:
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
        self,
        problems: Sequence[Problem],
        solve: Callable[[Sequence[Problem]], list[Solution]],
        *,
        copied: bool = True,
    ) -> list[Solution]:
        """Solutions of larger problems, by ``solve``, which gives those of smaller ones."""
        smaller = [self.merge_problem(problem, copied=copied) for problem in problems]
        return [self.expand_solution(solution) for solution in solve(smaller)]


def merge_parallel_columns(design: Design) -> MergedColumns:
    """For penalties that are the same square of every weight, or zero; made once per matrix."""
    p = design.shape[1]
    return design.cache.get(
        "merged columns", lambda: MergedColumns(design, np.zeros(p), np.ones(p, dtype=bool))
    )


def over_merged_columns(
    problems: Sequence[Problem],
    solve: Callable[[Sequence[Problem]], list[Solution]],
    *,
    copied: bool,
) -> list[Solution]:
    """Solutions of problems that share their matrix, by ``solve`` over fewer columns if it pays.

    Their penalty is the same square of every weight. copied: see
    :meth:`MergedColumns.merge_problem`.
    """
    if problems[0].design.full:  # where parallel columns are hardly to be found
        return solve(problems)
    merged = merge_parallel_columns(problems[0].design)
    if not merged.worth_it:
        return solve(problems)
    return merged.solve(problems, solve, copied=copied)


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

    def equal(a: Int64s, b: Int64s) -> NDArray[np.bool_]:
        near = np.abs(ratios[a] - ratios[b]) <= SAME * np.abs(ratios[b])
        same: NDArray[np.bool_] = near & (documents[a] == documents[b])
        return same

    first[candidates] = candidates[first_equal(indptr, numbers, equal, kind[candidates])]
    return first


class CompactRows:
    """The columns of a matrix, the longest first, by rows; see :meth:`.Design.rows_of`.

    Parameters
    ----------
    design : Design
        The matrix.

    Attributes
    ----------
    size : int
        Number of columns.
    arrays : tuple of ndarray
        Offsets, columns and values by rows.
    place : int32 ndarray, shape (p,)
        The column of every feature.
    """

    def __init__(self, design: Design) -> None:
        sizes = design.sizes
        self.size = len(sizes)
        order = np.argsort(-sizes, kind="stable")
        self.place = np.empty(self.size, dtype=np.int32)
        self.place[order] = np.arange(self.size, dtype=np.int32)
        self.arrays = design.rows_of(order)
        self.cache = Cache()

    @derived
    def norms(self) -> Floats:
        """(n,) the sum of the squared values of every row."""
        indptr, _, data = self.arrays
        return squared_norms(indptr, data)

    @derived
    def squares(self) -> Floats:
        """(size,) the sum of the squared values of every column."""
        _, indices, data = self.arrays
        squares = np.square(data, dtype=np.float64)
        return np.bincount(indices, squares, self.size).astype(np.float64, copy=False)

    def collapse(self, v: Floats) -> Floats:
        """Weights, or a gradient, (p,) of the features in the order of the columns."""
        u = np.empty(self.size)
        u[self.place] = v
        return u

    def expand(self, u: Floats) -> Floats:
        """The same back in the order of the features."""
        w: Floats = u[self.place]
        return w


def compact_rows(design: Design) -> CompactRows:
    """Made once for a matrix."""
    return design.cache.get("compact rows", lambda: CompactRows(design))


# Values of a matrix up to which Newton's steps are quick enough over all features.
SMALL = 100_000


def is_small(problem: Problem) -> bool:
    """Whether Newton's steps are quicker than dual ascent: where p <= n, for so few values.

    For as few cells either takes no time, and Newton's steps come nearer than asked; but past the
    kinks of a hinge there are many of them, for as few as a twentieth.
    """
    (n, p), cells = problem.design.shape, SMALL // 20 if has_kinks(problem.loss) else SMALL
    return problem.design.values <= SMALL and (p <= n or n * p <= cells)


# Largest share of the values of a matrix that a working set may hold.
LARGEST_SHARE = 0.45

# Share of lam above which a product may bring its feature into the next working set.
NEAR = 0.9


# Entries of the rarest features that join a set, as a share of those of the set.
RAREST = 0.4


def first_working_set(problem: Problem, penalty: GroupNorms) -> tuple[Int32s, Floats, float] | None:
    """The features that nothing keeps at zero, at the given start or without any weight.

    Also the weights (p,) and the intercept there. None where working sets are not worth their cost.
    """
    design = problem.design
    values = design.values
    if values <= SMALL or not penalty.lam.all():
        return None
    engine = Engine(problem, penalty.value)
    engine.optimize_intercept()
    sizes = np.abs(engine.gradient())
    above = np.flatnonzero(sizes > penalty.lam).astype(np.int32)
    at_zero = penalty.keep_at_zero(above, sizes[above] - penalty.lam[above])
    features = union(np.flatnonzero(engine.w).astype(np.int32), above[~at_zero])
    if design.sizes[features].sum() > LARGEST_SHARE * values:
        return None
    return features, engine.w, engine.b


def rarest(features: Int32s, entries: Int64s, most: int) -> Int32s:
    """Those with the fewest entries each, which have so many at most together."""
    order = np.argsort(entries, kind="stable")
    return features[order[: np.searchsorted(np.cumsum(entries[order]), most, side="right")]]


class WorkingSet:
    """A problem over some features, and its penalty: groups are what these leave of them.

    features: ascending. problem, penalty: over them alone. kept: the groups of which two features
    or more are left. whole, lam: the matrix and the l1 strengths of all features. every: the
    penalty over all features.
    """

    def __init__(
        self, problem: Problem, penalty: GroupNorms, features: Int32s, scales: Scales
    ) -> None:
        """problem, penalty, scales: over all features."""
        self.features, self.whole, self.lam = features, problem.design, penalty.lam
        self.every, self.scales = penalty, scales
        self.penalty = penalty.select(features)
        self.problem = problem.over(problem.design.select(features), None)
        self.kept: Int64s = np.flatnonzero(self.penalty.origin >= 0)

    def fit(self, w: Floats, b: float) -> WorkingFit:
        """A fit that begins at weights (p,) of all features, and an intercept."""
        return WorkingFit(self, Engine(self.problem.replace(start=(w[self.features], b))))

    def expand(self, w: Floats) -> Floats:
        """The weights of all features (p,)."""
        whole = np.zeros(len(self.lam))
        whole[self.features] = w
        return whole

    def norms(self, w: Floats, u: Floats) -> Floats:
        """Those of the copies of all groups as they were given, see :meth:`GroupNorms.copies`.

        w: of the features here. u: ragged, dual variables of the groups here.
        """
        copies = self.penalty.copies(w, u, self.scales.curvature)
        return self.every.original_norms(copies, self.expand(w))


class WorkingFit(VectorFit):
    """A fit over a working set."""

    def __init__(self, part: WorkingSet, engine: Engine) -> None:
        super().__init__(engine, part.penalty, part.scales.weight)
        self._part = part

    def dual(self) -> WorkingDual:
        """Dual variables of the loss, with what they say of the features left out."""
        self._dual = WorkingDual(self.engine, self._part)
        return self._dual

    @property
    def missing(self) -> Int32s:
        """See :class:`WorkingDual`."""
        return self._dual.missing

    def shrunk(self) -> Int32s:
        """The next set: features with a weight, and those that the last dual point is near to.

        As if all groups were free: those that are not hold little of such a set.
        """
        weighted = self._part.features[self.engine.w != 0.0]
        return union(weighted, self._dual.near())

    def grown(self) -> Int32s:
        """The next set: this one, what is missing, and what may be next."""
        return union(self._part.features, self.missing, self._dual.rare)


class WorkingDual(EngineDual):
    """Dual variables of the documents, and what they say of all features.

    missing: those that are not in the working set and should be. rare: others beyond l1, the
    rarest, for which there are few groups to keep them at zero.
    """

    def __init__(self, engine: Engine, part: WorkingSet) -> None:
        self._part = part
        self.missing = self.rare = np.empty(0, dtype=np.int32)
        super().__init__(engine, part.penalty.lam)

    def _multiply(self) -> None:
        part = self._part
        products = part.whole.transposed_product(self.alpha)
        self.products = products[part.features]
        np.abs(products, out=products)
        self._near = np.flatnonzero(products > NEAR * part.lam).astype(np.int32)
        self._sizes = products[self._near]

    def leave_out(self, penalty: GroupNorms, u: Floats) -> Floats | None:
        """See DualPoint: the groups keep others at zero by what u leaves of their strengths."""
        part = self._part
        # Those in the working set have no excess here.
        outside = ~np.isin(self._near, part.features, assume_unique=True)
        features, sizes = self._near[outside], self._sizes[outside]
        lam = part.lam[features]
        free = part.every.free_of(penalty, u)
        held, taken = part.every.hold(features, sizes - NEAR * lam, sizes - lam, free)
        above = sizes - lam > held
        self.missing = features[above]
        beyond, every = features[sizes > lam], part.every
        self.rare = rarest(beyond, every.degrees(beyond), int(RAREST * len(penalty.indices)))
        # sum_j m_j |w_j| <= penalty(w), with the m of the working set and lam of the others (D3).
        self.left_out = Excess((sizes - lam - held)[above], lam[above])
        self._taken = taken**2
        return np.sqrt(np.maximum(penalty.strengths**2 - self._taken[part.kept], 0.0))

    def used(self, penalty: GroupNorms, u: Floats) -> Floats:
        """See DualPoint; of groups with one feature here all is used."""
        used = np.where(penalty.origin <= -2, self._part.every.strengths**2, self._taken)
        used[self._part.kept] += squared_norms(penalty.indptr, u)
        return used

    def near(self) -> Int32s:
        """The features whose products are near what keeps them at zero, or above.

        As if no group had anything else to take.
        """
        near, every = self._near, self._part.every
        at_zero = every.keep_at_zero(near, self._sizes - NEAR * every.lam[near])
        return near[~at_zero]
