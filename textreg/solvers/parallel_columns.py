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

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

Found = TypeVar("Found", Solution, MultiSolution)

DIGITS = 9
"""Decimals of their ratios by which parallel columns are looked for."""

SAME = 1e-13
"""Relative difference that rounding makes between parallel columns."""


class Folding:
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
        kept = np.flatnonzero(leader == np.arange(len(leader)))
        number = np.zeros(len(leader), dtype=np.int64)
        number[kept] = np.arange(len(kept))
        self.kept, self.column = kept, number[leader]
        length = np.sqrt(np.bincount(self.column, factor**2, len(kept)))
        self.share = factor / length[self.column]
        X = columns[:, kept]
        X.data *= np.repeat(length, np.diff(X.indptr))
        self._problem = Problem(X, np.ones(X.shape[0]))

    def problem(self, problem: Problem) -> Problem:
        """``problem`` over the features that are left."""
        start = problem.start and (self.fold(problem.start[0]), problem.start[1])
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

    def fold(self, w: Floats) -> Any:
        """Weights of the smaller problem with the scores of w (..., p)."""
        if w.ndim == 1:
            return np.bincount(self.column, self.share * w, len(self.kept))
        return np.array([self.fold(row) for row in w])

    def unfold(self, u: Floats) -> Floats:
        """The cheapest weights with the scores of u (..., features left)."""
        w: Floats = u[..., self.column] * self.share
        return w

    def unfolded(self, found: Found) -> Found:
        """What was found for the smaller problem, as an answer to the larger one."""
        return replace(found, w=self.unfold(found.w))


def fold_all(problem: Problem) -> Folding:
    """For a penalty that is the same square of every weight, or none."""
    p = problem.X.shape[1]
    return problem.design.cache.get(
        "merged columns", lambda: Folding(problem, np.zeros(p), np.ones(p, dtype=bool))
    )


def fold_links(problem: Problem, links: Links) -> tuple[Folding, Links]:
    """For a price of links beside the same square of every weight, and what becomes of it."""

    def make() -> tuple[Folding, Links]:
        folding = Folding(problem, links.diagonal, ~links.coupled)
        return folding, links.keep(folding.kept)

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
    indptr, documents, counts = columns.indptr, columns.indices, np.diff(columns.indptr)
    ratios = columns.data / np.repeat(columns.data[indptr[:-1]], counts)
    keys = np.random.default_rng(0).integers(2**64, size=columns.shape[0], dtype=np.uint64)
    marks = _mixed(keys[documents] ^ np.round(ratios, DIGITS).view(np.uint64))
    hashes = np.add.reduceat(marks, indptr[:-1]) + _mixed(cost[among].view(np.uint64))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)

    members = np.flatnonzero(first[group] != np.arange(len(among)))
    heads = first[group[members]]
    same = (counts[members] == counts[heads]) & (cost[among[members]] == cost[among[heads]])
    members, heads = members[same], heads[same]
    if len(members):
        size = counts[members]
        begin = np.cumsum(size) - size
        within = np.arange(size.sum()) - np.repeat(begin, size)
        mine = np.repeat(indptr[members], size) + within
        theirs = np.repeat(indptr[heads], size) + within
        near = np.abs(ratios[mine] - ratios[theirs]) <= SAME * np.abs(ratios[theirs])
        alike = np.logical_and.reduceat(near & (documents[mine] == documents[theirs]), begin)
        leader[among[members[alike]]] = among[heads[alike]]
    return leader


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, equal for equal bits (the mixer of Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed
