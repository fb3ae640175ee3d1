"""Columns that differ by a factor only, made one where the penalty cannot tell them apart.

Documents quote each other, and most pairs of words occur once: far more features than ways to be
in documents. Let the columns x_j = c_j x of some features be parallel, and their weights be priced
by the same q w_j^2 and nothing else. The scores depend on t = sum_j c_j w_j alone, and the cheapest
weights for any t are w_j = u c_j / ||c|| with u = t / ||c||, at the price q u^2: eq. (F1). So one
feature with the column ||c|| x and the weight u takes their place: same scores, same penalty, same
minimum, and every bound on it holds for both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textreg.penalties import Links
from textreg.records import Floats, Int64s, MultiSolution, Problem, Solution
from textreg.records.ragged import first_equal, mix_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

Found = TypeVar("Found", Solution, MultiSolution)

DIGITS = 9
"""Decimals of their ratios by which parallel columns are looked for."""

SAME = 1e-13
"""Relative difference that rounding makes between parallel columns."""


class MergedColumns:
    """Which features became one, and the problem of those that are left.

    column: (p,) the feature of the smaller problem that each is part of. share: (p,) c_j / ||c||, 0
    for a feature that no document holds, which needs no weight.
    """

    def __init__(self, problem: Problem, cost: Floats, free: NDArray[np.bool_]) -> None:
        """cost: (p,) the price of each square. free: (p,) features with no other price."""
        columns = problem.X_csc
        if not columns.data.all():
            columns = columns.copy()
            columns.eliminate_zeros()
        leader = _leaders(columns, cost, free)
        factor = np.ones(len(leader))
        held = np.diff(columns.indptr) > 0
        factor[held] = columns.data[columns.indptr[:-1][held]]
        factor /= factor[leader]
        if len(empty := np.flatnonzero(free & ~held)):
            leader[empty], factor[empty[1:]] = empty[0], 0.0
        representatives = np.flatnonzero(leader == np.arange(len(leader)))
        number = np.zeros(len(leader), dtype=np.int64)
        number[representatives] = np.arange(len(representatives))
        self.representatives, self.column = representatives, number[leader]
        length = np.sqrt(np.bincount(self.column, factor**2, len(representatives)))
        self.share = factor / length[self.column]
        X = columns[:, representatives]
        X.data *= np.repeat(length, np.diff(X.indptr))
        self._problem = Problem(X, np.ones(X.shape[0]))

    def merge_problem(self, problem: Problem) -> Problem:
        """``problem`` over the features that are left."""
        start = problem.start and (self.merge(problem.start[0]), problem.start[1])
        return self._problem.replace(
            y=problem.y,
            weights=problem.weights,
            loss=problem.loss,
            fit_intercept=problem.fit_intercept,
            tol=problem.tol,
            max_iter=problem.max_iter,
            threads=problem.threads,
            callback=problem.callback,
            start=start,
        )

    def merge(self, w: Floats) -> Any:
        """Weights of the smaller problem with the scores of w (..., p)."""
        if w.ndim == 1:
            return np.bincount(self.column, self.share * w, len(self.representatives))
        return np.array([self.merge(row) for row in w])

    def expand(self, u: Floats) -> Floats:
        """The cheapest weights with the scores of u (..., features left)."""
        w: Floats = u[..., self.column] * self.share
        return w

    def expand_solution(self, found: Found) -> Found:
        """What was found for the smaller problem, as an answer to the larger one."""
        return replace(found, w=self.expand(found.w))


def merge_parallel_columns(problem: Problem) -> MergedColumns:
    """For a penalty that is the same square of every weight, or none."""
    p = problem.X.shape[1]
    return problem.design.cache.get(
        "merged columns", lambda: MergedColumns(problem, np.zeros(p), np.ones(p, dtype=bool))
    )


def merge_linked_columns(problem: Problem, links: Links) -> tuple[MergedColumns, Links]:
    """For a price of links beside the same square of every weight, and what becomes of it."""

    def make() -> tuple[MergedColumns, Links]:
        merged = MergedColumns(problem, links.diagonal, ~links.coupled)
        return merged, links.keep(merged.representatives)

    return problem.design.cache.get(links, make)


def _leaders(columns: csc_array, cost: Floats, free: NDArray[np.bool_]) -> Int64s:
    """(p,) the first feature that each is parallel to, itself where there is none before.

    Candidates are found by a hash of their documents and rounded ratios, then compared.
    """
    leader = np.arange(columns.shape[1])
    among = np.flatnonzero(free & (np.diff(columns.indptr) > 0))
    if not len(among):
        return leader
    columns = columns[:, among]
    indptr, documents = columns.indptr, columns.indices
    ratios = columns.data / np.repeat(columns.data[indptr[:-1]], np.diff(indptr))
    bits = mix_bits(documents.astype(np.uint64) + np.uint64(1))
    bits ^= np.round(ratios, DIGITS).view(np.uint64)

    def equal(one: Int64s, two: Int64s) -> NDArray[np.bool_]:
        near = np.abs(ratios[one] - ratios[two]) <= SAME * np.abs(ratios[two])
        same: NDArray[np.bool_] = near & (documents[one] == documents[two])
        return same

    leader[among] = among[first_equal(indptr, bits, equal, cost[among])]
    return leader
