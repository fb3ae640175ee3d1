"""Newton's method on the parts of the latent group lasso (docs/maths.md, J5).

Where a part v_g is not zero, the second derivative of lambda_g ||v_g|| is (I - u u') lambda_g /
||v_g|| with u = v_g / ||v_g||: it bends in every direction but its own. That of the loss and the
ridge depends on the weights alone, the sums of the parts.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from textreg.records import Floats, Int64s
from textreg.records.ragged import sums
from textreg.solvers.engine import Engine
from textreg.solvers.latent_norms import LatentNorms

LARGEST = 1500
"""Most parts whose lengths are preconditioned together."""

SLIGHT = 1e-10
"""Relative ridge of that matrix, which is singular where parts depend on each other."""

ROUNDING = 1e-12
"""Share of its value at which an entry, or a part, has become zero."""


class PartsSystem:
    """The Hessian in all entries of parts that are not zero, and in the intercept.

    Weights of free features are entries too, of no group, and come last. features: of every entry.
    values: the entries.
    """

    def __init__(self, engine: Engine, penalty: LatentNorms, values: Floats) -> None:
        """values: one for every entry of the groups."""
        used = np.flatnonzero(values)
        free = np.flatnonzero(penalty.free & (engine.w != 0.0))
        self._engine, self._penalty, self._grouped = engine, penalty, slice(0, len(used))
        self.features = np.concatenate([penalty.indices[used], free])
        self.values = np.concatenate([values[used], engine.w[free]])
        group_of = np.repeat(np.arange(len(penalty.strengths)), np.diff(penalty.indptr))
        self._groups = group_of[used]
        sizes = self.norms(self.values)
        safe = np.where(sizes > 0.0, sizes, 1.0)
        self._unit, self._eta = np.zeros(len(self.values)), np.ones(len(self.values))
        self._unit[self._grouped] = values[used] / safe[self._groups]
        self._eta[self._grouped] = (safe / penalty.strengths)[self._groups]
        self._bend = np.zeros(len(self.values))
        self._bend[self._grouped] = 1.0 / self._eta[self._grouped]
        self._prepare(np.flatnonzero(sizes > 0.0))

    def _over_groups(self, entries: Floats) -> Floats:
        """Sums of entries over every group."""
        return sums(self._groups, entries[self._grouped], len(self._penalty.strengths))

    def _from_groups(self, values: Floats) -> Floats:
        """(entries,) The value of the group of each, 0 for free features."""
        entries = np.zeros(len(self.values))
        entries[self._grouped] = values[self._groups]
        return entries

    def norms(self, values: Floats) -> Floats:
        """||v_g|| of entries like these."""
        norms: Floats = np.sqrt(self._over_groups(values * values))
        return norms

    def slope(self) -> Floats:
        """The derivative of the objective in every entry."""
        engine, penalty = self._engine, self._penalty
        slope = engine.gradient() + 2.0 * penalty.l2 * engine.w + penalty.l1 * np.sign(engine.w)
        every: Floats = slope[self.features] + self._bend * self.values
        return every

    def first_turn(self, change: Floats) -> float:
        """The share of a change at which the first part turns round, or l1 the first sign."""
        lengths = self._over_groups(self._unit * self.values)
        shares = [_turns(lengths, self._over_groups(self._unit * change))]
        if self._penalty.l1 > 0.0:
            shares.append(_turns(self.values, change))
        return min(shares)

    def moved(self, change: Floats) -> Floats:
        """The entries after a change; zero where a part turns round or l1 would turn a sign."""
        values = self.values + change
        lengths = self._over_groups(self._unit * self.values)
        gone = self._over_groups(self._unit * values) <= ROUNDING * lengths
        turned = self._from_groups(gone.astype(np.float64)) > 0.0
        if self._penalty.l1 > 0.0:
            turned |= values * self.values <= ROUNDING * self.values**2
        return np.where(turned, 0.0, values)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        engine, penalty = self._engine, self._penalty
        weights = sums(self.features, w, penalty.p)
        z = engine.design.product(weights) + b
        weighted = engine.h * z
        image = engine.design.transposed_product(weighted) + 2.0 * penalty.l2 * weights
        along = self._from_groups(self._over_groups(self._unit * w))
        entries = image[self.features] + self._bend * (w - self._unit * along)
        return entries, float(weighted.sum()) if engine.fit_intercept else 0.0, z

    def _prepare(self, groups: Int64s) -> None:
        """What the preconditioner needs: the Hessian as if features were independent.

        Of every feature the entries make a diagonal and one vector; the lengths of all parts
        (``groups``) add as many vectors: the lemma of Sherman, Morrison & Woodbury, twice.
        """
        from scipy.linalg import cho_factor
        from scipy.sparse import csr_array

        engine, penalty = self._engine, self._penalty
        curvature = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        features, p = self.features[self._grouped], penalty.p
        self._share = curvature / (1.0 + curvature * sums(features, self._eta[self._grouped], p))
        alone = curvature[self.features[self._grouped.stop :]]
        self._alone = np.where(alone > 0.0, alone, 1.0)
        self._h_sum = float(engine.h.sum())
        entries = (self._unit * self._eta)[self._grouped]
        shape = len(penalty.strengths), p
        Q = csr_array((entries, (self._groups, features)), shape=shape)[groups]
        self._of, self._factor = groups, None
        self._diagonal = np.asarray((Q * Q) @ self._share)
        self._diagonal += SLIGHT * self._diagonal.max(initial=0.0)
        self._diagonal[self._diagonal == 0.0] = 1.0
        if 0 < len(groups) <= LARGEST:
            matrix = np.asarray(((Q * self._share) @ Q.T).todense())
            matrix[np.diag_indices(len(groups))] = (1.0 + SLIGHT) * self._diagonal
            with suppress(np.linalg.LinAlgError):  # by rounding; the diagonal will do
                self._factor = cho_factor(matrix)

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """The inverse of that, times (w, b)."""
        from scipy.linalg import cho_solve

        scaled = self._by_features(w)
        along = self._over_groups(self._unit * scaled)[self._of]
        lengths = np.zeros(len(self._penalty.strengths))
        factor = self._factor
        lengths[self._of] = along / self._diagonal if factor is None else cho_solve(factor, along)
        scaled += self._by_features(self._unit * self._from_groups(lengths))
        return scaled, b / self._h_sum if self._engine.fit_intercept and self._h_sum else 0.0

    def _by_features(self, w: Floats) -> Floats:
        """The inverse without the lengths."""
        scaled = self._eta * w
        features = self.features[self._grouped]
        taken = self._share * sums(features, scaled[self._grouped], self._penalty.p)
        scaled[self._grouped] -= self._eta[self._grouped] * taken[features]
        scaled[self._grouped.stop :] /= self._alone
        return scaled


def _turns(values: Floats, change: Floats) -> float:
    """The share of the change at which the first value is zero; infinite where none will be."""
    toward = values * change < 0.0
    return float((values[toward] / -change[toward]).min(initial=math.inf))
