"""Final fits of documents in blocks, one for each label, that a journal keeps as they are done."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from textreg.kinds import Regularizer
from textreg.records import Solution
from textreg.records.block_design import BlockDesign
from textreg.training.search.journal import Journal
from textreg.training.search.trials import Problems


class KeptFits:
    """The fits of one setting.

    Parameters
    ----------
    journal : Journal
    regularizer : Regularizer
    problems : Problems
        The documents in blocks, and how they are fitted.
    """

    def __init__(self, journal: Journal, regularizer: Regularizer, problems: Problems) -> None:
        self._journal = journal
        problem, design = problems.problem, problems.problem.design
        assert isinstance(design, BlockDesign)
        self._p = design.shape[1]
        found = hashlib.sha256()
        parts = [(part.label(), part.params()) for part in (regularizer, problem.loss)]
        how = parts, problem.tol, problem.max_iter, problems.task.labels
        found.update(json.dumps(how, default=str).encode())
        arrays = design.blocks.sizes, design.blocks.starts, problems.y, problem.sample_weight
        for array in arrays:
            found.update(np.ascontiguousarray(array).tobytes())
        self._of = found

    def get(self, row: int) -> Solution | None:
        """The fit of a label; None where it is not there."""
        return self._journal.fit(self._key(row), self._p)

    def put(self, row: int, solution: Solution) -> None:
        """Keep the fit of a label."""
        self._journal.put_fit(self._key(row), solution)

    def _key(self, row: int) -> str:
        of = self._of.copy()
        of.update(str(row).encode())
        return of.hexdigest()
