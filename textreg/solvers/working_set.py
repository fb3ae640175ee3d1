"""The features that may have a weight, and a problem over them alone (docs/maths.md, W1).

Where the product of a column with the dual variables of the loss is at most lam_j, l1 alone keeps
the weight of the feature at zero. Beyond that, groups of which nothing is in the working set are
free to keep it there (W2): words that are everywhere are in thousands of them. Without all these
features the rest of the problem is the same. The dual point of a fit over a working set looks at
what was left out too, so that its bound holds for the problem over all features: there groups of
the working set help by what its dual variables leave of them (W5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Design, Floats, Int32s, Int64s, Problem
from textreg.records.arrays import squared_norms
from textreg.solvers.certificate import EngineDual, Excess
from textreg.solvers.engine import Engine, Scales
from textreg.solvers.reweighting import VectorFit

# Values of a matrix for which working sets are not worth their cost.
SMALL = 100_000

# Entries of the groups above which it would take too much memory to know the groups of a feature.
LARGE = 1 << 25

# Largest share of the values of the matrix that the first working set may hold.
MOST = 0.6

# Share of lam above which a product may bring its feature into the next working set.
NEAR = 0.9


# Entries of the rarest features that join a set, as a share of those of the set.
RARE = 0.4


class Beginning(NamedTuple):
    """The first working set, and the weights (p,) and the intercept to begin at."""

    features: Int32s
    w: Floats
    b: float


def first_working_set(problem: Problem, penalty: GroupNorms) -> Beginning | None:
    """The features that nothing keeps at zero, at the given start or without any weight.

    None where working sets are not worth their cost.
    """
    design = problem.design
    values, entries = design.values, len(penalty.indices)
    if values <= SMALL or entries > LARGE or not penalty.lam.all():
        return None
    engine = Engine(problem, penalty.value)
    engine.optimize_intercept()
    sizes = np.abs(engine.gradient())
    above = np.flatnonzero(sizes > penalty.lam).astype(np.int32)
    kept = penalty.keep_at_zero(above, sizes[above] - penalty.lam[above])
    features = union(np.flatnonzero(engine.w).astype(np.int32), above[~kept])
    if design.sizes[features].sum() > MOST * values:
        return None
    return Beginning(features, engine.w, engine.b)


def union(*sets: Int32s) -> Int32s:
    """What is in any of these sets of features, ascending."""
    every = np.concatenate(sets)
    held = np.zeros(int(every.max(initial=-1)) + 1, dtype=bool)
    held[every] = True
    return np.flatnonzero(held).astype(np.int32)


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
        X = Design.by_columns(problem.X_csc[:, features])
        self.problem = problem.replace(X=X, groups=None, graph=None, validation=None, start=None)
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
        others = ~np.isin(self._near, part.features, assume_unique=True)
        features, sizes = self._near[others], self._sizes[others]
        lam = part.lam[features]
        free = part.every.free_of(penalty, u)
        held, taken = part.every.hold(features, sizes - NEAR * lam, sizes - lam, free)
        above = sizes - lam > held
        self.missing = features[above]
        beyond, every = features[sizes > lam], part.every
        self.rare = rarest(beyond, every.degrees(beyond), int(RARE * len(penalty.indices)))
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
        kept = every.keep_at_zero(near, self._sizes - NEAR * every.lam[near])
        return near[~kept]
