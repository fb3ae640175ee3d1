"""The features that may have a weight, and a problem over them alone (docs/maths.md, W1).

Where the product of a column with the dual variables of the loss is at most lam_j, l1 alone keeps
the weight of the feature at zero: the groups' dual variables may be zero there, and the rest of the
problem does not change if the feature is left out. The dual point of a fit over a working set looks
at what was left out too, so that its bound holds for the problem over all features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Design, Floats, Int32s, Int64s, Problem
from textreg.solvers.certificate import EngineDual, Excess
from textreg.solvers.engine import Engine
from textreg.solvers.group_fit import VectorFit

SMALL = 100_000
"""Values of a matrix for which working sets are not worth their price."""

MOST = 0.6
"""Largest share of the values of the matrix that the first working set may hold."""

NEAR = 0.9
"""Share of lam above which a product brings its feature into the next working set."""


class Beginning(NamedTuple):
    """The first working set, and the weights (p,) and the intercept to begin at."""

    features: Int32s
    w: Floats
    b: float


def first_working_set(problem: Problem, penalty: GroupNorms) -> Beginning | None:
    """The features that l1 does not keep at zero, at the given start or without any weight.

    None where working sets are not worth their price.
    """
    design = problem.design
    if len(design.columns.indices) <= SMALL or not penalty.lam.all():
        return None
    engine = Engine(problem, penalty.value)
    engine.optimize_intercept()
    chosen = (engine.w != 0.0) | (np.abs(engine.gradient()) > penalty.lam)
    features = np.flatnonzero(chosen).astype(np.int32)
    sizes = np.diff(design.columns.indptr)
    if sizes[features].sum() > MOST * sizes.sum():
        return None
    return Beginning(features, engine.w, engine.b)


class WorkingSet:
    """A problem over some features, and its penalty: groups are what these leave of them.

    features: ascending. problem, penalty: over them alone. kept: the groups of which two features
    or more are left. whole, lam: the matrix and the l1 strengths of all features.
    """

    def __init__(self, problem: Problem, penalty: GroupNorms, features: Int32s) -> None:
        """problem, penalty: over all features."""
        self.features, self.whole, self.lam = features, problem.design, penalty.lam
        self.penalty, self._original_norms = penalty.select(features), penalty.original_norms
        X = Design.by_columns(problem.X_csc[:, features])
        self.problem = problem.replace(X=X, groups=None, graph=None, validation=None, start=None)
        self.kept: Int64s = np.flatnonzero(self.penalty.origin >= 0)

    def fit(self, w: Floats, b: float) -> WorkingFit:
        """A fit that begins at weights (p,) of all features, and an intercept."""
        problem = self.problem.replace(start=(w[self.features], b))
        return WorkingFit(self, Engine(problem, self.penalty.value))

    def expand(self, w: Floats) -> Floats:
        """The weights of all features (p,)."""
        whole = np.zeros(len(self.lam))
        whole[self.features] = w
        return whole

    def norms(self, w: Floats, u: Floats) -> Floats:
        """Those of the copies of all groups as they were given, see :meth:`GroupNorms.copies`.

        w: of the features here. u: ragged, dual variables of the groups here.
        """
        return self._original_norms(self.penalty.copies(w, u), self.expand(w))


class WorkingFit(VectorFit):
    """A fit over a working set.

    near, missing: as in the last :class:`WorkingDual`; there is one as soon as the gap was checked.
    """

    near: Int32s
    missing: Int32s

    def __init__(self, part: WorkingSet, engine: Engine) -> None:
        super().__init__(engine, part.penalty)
        self._part = part

    def dual(self) -> WorkingDual:
        """Dual variables of the loss, with what they say of the features left out."""
        dual = WorkingDual(self._engine, self._part)
        self.near, self.missing = dual.near, dual.missing
        return dual

    def next_features(self) -> Int32s:
        """Those with a weight, and those that the last dual point brings near lam or above."""
        weighted = self._part.features[self._engine.w != 0.0]
        return np.union1d(weighted, self.near)


class WorkingDual(EngineDual):
    """Dual variables of the documents, and what they say of all features.

    near: the features whose products are near lam or above. missing: those above lam that are not
    in the working set.
    """

    def __init__(self, engine: Engine, part: WorkingSet) -> None:
        self._part = part
        super().__init__(engine, part.penalty.lam)

    def _multiply(self) -> None:
        part = self._part
        products = part.whole.transposed_product(self.alpha)
        self.products = products[part.features]
        self.near = np.flatnonzero(np.abs(products) > NEAR * part.lam).astype(np.int32)
        above = self.near[np.abs(products[self.near]) > part.lam[self.near]]
        self.missing = np.setdiff1d(above, part.features, assume_unique=True)
        # sum_j m_j |w_j| <= penalty(w), with the m of the working set and lam of the others (D3).
        lam = part.lam[self.missing]
        self.left_out = Excess(np.abs(products[self.missing]) - lam, lam)
