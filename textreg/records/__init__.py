"""The records that cross the borders between modules: frozen, and checked once when made.

Ragged data has one layout everywhere: a flat array and the offsets into it, so item ``i`` is
``flat[ptr[i]:ptr[i + 1]]``.
"""

from textreg._core.arrays import Bools, Floats, Int32s, Int64s
from textreg.records.design import Design
from textreg.records.documents import Documents
from textreg.records.problem import (
    MultiSolution,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    SolverReport,
    Step,
    Unsmoothed,
)
from textreg.records.structure import Graph, Groups, MergedGroups
from textreg.records.text import (
    Corpus,
    SkippedReason,
    SkippedRow,
    SkippedRows,
    Tokens,
)

__all__ = [
    "Bools",
    "Corpus",
    "Design",
    "Documents",
    "Floats",
    "Graph",
    "Groups",
    "Int32s",
    "Int64s",
    "MergedGroups",
    "MultiSolution",
    "Problem",
    "SelectionReport",
    "SelectionStep",
    "SkippedReason",
    "SkippedRow",
    "SkippedRows",
    "Solution",
    "SolverReport",
    "Step",
    "Tokens",
    "Unsmoothed",
]
