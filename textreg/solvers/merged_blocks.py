"""Parallel columns of a matrix in blocks, merged (see :mod:`.parallel_columns`).

Most features of text occur in a document or two. Those that occur in one block alone are compared
there, and parallel ones become one. The columns that are left are numbered so that those of several
blocks come first, the most frequent ones before the others, and then those of each block alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from textreg.records import Design, Int32s, Int64s, Problem, Solution
from textreg.records.block_design import ArrayStore, BlockDesign, RowBlock
from textreg.records.design import CompressedArrays
from textreg.records.ragged import sums
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
    """

    def __init__(self, design: BlockDesign) -> None:
        p = design.shape[1]
        self._design = design
        self.column: Int32s = np.full(p, -1, dtype=np.int32)
        self.share = np.ones(p)
        several = _in_several(design)
        self.column[several] = np.arange(len(several), dtype=np.int32)
        rows = _MergedRows(design, len(several))
        for number, block in enumerate(design.each()):
            self._merge(number, block, rows)
        rows.finish()
        absent = self.column < 0
        self.column[absent], self.share[absent] = 0, 0.0
        self.design = BlockDesign(rows)

    def _merge(self, number: int, block: RowBlock, rows: _MergedRows) -> None:
        """Merge the columns that are of this block alone."""
        X = CsrArrays(*block.rows).matrix(len(block.features)).tocsc()
        column = self.column[block.features]
        own, shared = np.flatnonzero(column < 0), np.flatnonzero(column >= 0)
        shared = shared[np.argsort(column[shared])]
        merged = parallel_columns(Design.by_columns(X[:, own]))
        divisors = np.ones(len(block.features))
        divisors[own] = merged.share
        first, count = rows.width, len(merged.representatives)
        self.column[block.features[own]] = first + merged.column
        self.share[block.features[own]] = merged.share
        chosen = np.concatenate([shared, own[merged.representatives]])
        arrays = rows_of_columns(Design.by_columns(X), chosen, divisors, np.float64)
        features = np.arange(len(chosen), dtype=np.int32) + np.int32(first - len(shared))
        features[: len(shared)] = column[shared]
        rows.put(number, features, np.diff(X.indptr)[chosen], CompressedArrays(*arrays), count)

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


class _MergedRows:
    """The rows of the smaller matrix.

    width: number of columns so far.
    """

    def __init__(self, design: BlockDesign, several: int) -> None:
        self.store: ArrayStore = design.blocks.store
        self.starts: Int64s = design.blocks.starts
        self.shape = design.shape[0], several
        self.width = several
        self._sizes = np.zeros(several, dtype=np.int32)
        self._own: list[Int32s] = []

    def put(
        self, number: int, features: Int32s, sizes: Int64s, rows: CompressedArrays, own: int
    ) -> None:
        """Keep those of a block, of whose columns the last ``own`` occur nowhere else."""
        shared = len(features) - own
        self._sizes[features[:shared]] += sizes[:shared].astype(np.int32)
        self._own.append(sizes[shared:].astype(np.int32))
        self.store.put(f"{number}-merged-features", features)
        for name, array in rows._asdict().items():
            self.store.put(f"{number}-merged-{name}", array)
        self.width += own

    def finish(self) -> None:
        """There are no further blocks."""
        self.sizes: Int32s = np.concatenate([self._sizes, *self._own])
        self.shape = self.shape[0], self.width

    def block(self, number: int) -> RowBlock:
        """The rows of one block."""
        get = self.store.get
        features = get(f"{number}-merged-features")
        rows = CompressedArrays(
            *(get(f"{number}-merged-{name}") for name in CompressedArrays._fields)
        )
        start, end = self.starts[number : number + 2].tolist()
        return RowBlock(start, end, features, rows)


def merged_blocks(design: BlockDesign) -> MergedBlocks:
    """Those of a matrix, made once."""
    return design.cache.get("merged blocks", lambda: MergedBlocks(design))


def _in_several(design: BlockDesign) -> Int64s:
    """The features that occur in more than one block, the most frequent first."""
    blocks = np.zeros(design.shape[1], dtype=np.int32)
    for block in design.each():
        blocks[block.features] += 1
    several = np.flatnonzero(blocks > 1)
    order: Int64s = several[np.argsort(-design.blocks.sizes[several], kind="stable")]
    return order
