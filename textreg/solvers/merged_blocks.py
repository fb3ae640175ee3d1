"""Parallel columns of a matrix in blocks, merged (see :mod:`.parallel_columns`).

Most features of text occur in a document or two. Those that occur in one block alone are compared
there, and parallel ones become one. The columns that are left are numbered so that those of several
blocks come first, the most frequent ones before the others, and then those of each block alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution
from textreg.records.arrays import squared_norms, sums
from textreg.records.design import BlockDesign, CompressedArrays, RowBlock
from textreg.solvers.parallel_columns import parallel_columns
from textreg.solvers.transposing import rows_of_columns
from textreg.text import CsrArrays


class MergedBlocks:
    """A problem in blocks over fewer features, and the way back to the weights of all.

    Parameters
    ----------
    design : BlockDesign
        The matrix of all p features.

    Attributes
    ----------
    design : BlockDesign
        The smaller matrix.
    column : int32 ndarray, shape (p,)
        The column there that each feature is part of.
    share : ndarray, shape (p,)
        The entries of its column, as a multiple of those of that column; 0 for features that occur
        nowhere.
    squares : ndarray, shape (columns,)
        The sum of the squared values of every column of the smaller matrix.
    norms : ndarray, shape (n,)
        The same of every row.
    """

    def __init__(self, design: BlockDesign) -> None:
        p = design.shape[1]
        self._design = design
        self.column: Int32s = np.full(p, -1, dtype=np.int32)
        self.share = np.ones(p)
        several = _in_several(design)
        self.column[several] = np.arange(len(several), dtype=np.int32)
        sizes = [np.zeros(len(several), dtype=np.int32)]
        squares = [np.zeros(len(several))]
        norms: list[Floats] = []
        waiting = design.features_of_blocks()

        def take(merged: MergedColumns) -> Int32s:
            norms.append(merged.norms)
            return self._number(next(waiting), merged, sizes, squares)

        design.count_pass()
        columns = (self.column[features] for features in design.features_of_blocks())
        blocks = design.blocks.derive(merged_block, columns, take=take)
        absent = self.column < 0
        self.column[absent], self.share[absent] = 0, 0.0
        blocks.sizes, self.squares = np.concatenate(sizes), np.concatenate(squares)
        self.norms = np.concatenate([np.zeros(0), *norms])
        blocks.shape = design.shape[0], len(blocks.sizes)
        self.design = BlockDesign(blocks)

    def _number(
        self,
        features: Int32s,
        merged: MergedColumns,
        sizes: list[Int32s],
        squares: list[Floats],
    ) -> Int32s:
        """The numbers of the columns of a block with these features, whose own ones get theirs.

        sizes, squares: of the columns of several blocks, and of those of each block so far.
        """
        column = self.column[features]
        own, shared = features[column < 0], np.sort(column[column >= 0])
        first = sum(map(len, sizes))
        self.column[own] = first + merged.column
        self.share[own] = merged.share
        sizes[0][shared] += merged.sizes[: len(shared)]
        sizes.append(merged.sizes[len(shared) :])
        squares[0][shared] += merged.squares[: len(shared)]
        squares.append(merged.squares[len(shared) :])
        new = np.arange(first, first + len(sizes[-1]), dtype=np.int32)
        return np.concatenate([shared, new])

    def merge_problem(self, problem: Problem) -> Problem:
        """The smaller problem, with the labels and options of ``problem``."""
        start = problem.start
        if start is not None:
            start = sums(self.column, self.share * start[0], self.design.shape[1]), start[1]
        return problem.replace(X=self.design, groups=None, start=start)

    def expand_solution(self, solution: Solution) -> Solution:
        """A solution of the smaller problem as a solution of the larger one."""
        w = solution.w[self.column]
        w *= self.share
        self._design.add_passes(self.design)
        return replace(solution, w=w)


class MergedColumns(NamedTuple):
    """What became of the columns that a block has alone.

    column : (own features,) The column that each is part of, among those of the block alone.
    share : (own features,) Its entries as a multiple of those of that column.
    sizes : How many rows have each column: first those of several blocks, then those of this one.
    squares : The sums of their squared values.
    norms : The same of every row.
    """

    column: Int32s
    share: Floats
    sizes: Int32s
    squares: Floats
    norms: Floats


def merged_block(block: RowBlock, column: Int32s) -> tuple[CompressedArrays, MergedColumns]:
    """The rows of a block whose own columns are merged, and what became of these.

    column: of every feature of the block, or -1 if it occurs in no other.
    """
    X = CsrArrays(*block.rows).matrix(len(block.features)).tocsc()
    own, shared = np.flatnonzero(column < 0), np.flatnonzero(column >= 0)
    shared = shared[np.argsort(column[shared])]
    merged = parallel_columns(Design.by_columns(X[:, own]))
    divisors = np.ones(len(block.features))
    divisors[own] = merged.share
    chosen = np.concatenate([shared, own[merged.representatives]])
    arrays = rows_of_columns(Design.by_columns(X), chosen, divisors, np.float64)
    sizes = np.diff(X.indptr)[chosen].astype(np.int32)
    squares = (squared_norms(X.indptr, X.data) / divisors**2)[chosen]
    norms = squared_norms(arrays[0], arrays[2])
    told = MergedColumns(merged.column, merged.share, sizes, squares, norms)
    return CompressedArrays(*arrays), told


def merged_blocks(design: BlockDesign) -> MergedBlocks:
    """Those of a matrix, made once."""
    return design.cache.get("merged blocks", lambda: MergedBlocks(design))


def _in_several(design: BlockDesign) -> Int64s:
    """The features that occur in more than one block, the most frequent first."""
    blocks = np.zeros(design.shape[1], dtype=np.int32)
    for features in design.features_of_blocks():
        blocks[features] += 1
    several = np.flatnonzero(blocks > 1)
    order: Int64s = several[np.argsort(-design.blocks.sizes[several], kind="stable")]
    return order
