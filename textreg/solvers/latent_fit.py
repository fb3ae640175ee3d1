"""The point of a fit of the latent group lasso over a few groups, and how it moves on.

Weights are sums of parts v_g of the groups. A round makes two kinds of steps:

- reweighting (docs/maths.md, J2): with eta_g = ||v_g|| / lambda_g fixed the penalty is quadratic
  in w, one step of the engine lowers the objective, and the parts follow. Groups that would lower
  the objective begin at the eta that suits them alone;
- Newton's method on all entries of the parts that are not zero (J5), where the objective is smooth.
  A part that would turn round becomes zero.
"""

from __future__ import annotations

import numpy as np

from textreg.penalties import Separable, soft
from textreg.records import Floats, Problem
from textreg.records.ragged import row_of, sums
from textreg.solvers.certificate import dual_scores, dual_value
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.latent_bound import LatentBound, latent_bound
from textreg.solvers.latent_newton import PartsSystem
from textreg.solvers.latent_norms import LatentNorms

PASSES, POLISH = 3, 10
"""Most rounds of coordinate descent and iterations of conjugate gradients in a step of reweighting.
"""

PRODUCTS, ACCURACY = 20, 0.2
"""Most products in a step of Newton's method, and the share of the gradient that it may leave."""

ENTRANCE = 0.5
"""Share of the eta that suits a new group alone, as several enter together."""

SMALLEST = 1e-12
"""Share of the largest eta below which a part is zero."""

RETRIES = 4
"""Most times that entrances are made smaller by a factor of ten."""

HALVINGS = 30
"""Most times that a step of Newton's method is halved."""


class LatentFit:
    """Weights of some features, and their parts in some groups.

    engine: weights and intercept. norms: ||v_g||. value: the objective.
    """

    def __init__(
        self, problem: Problem, penalty: LatentNorms, w: Floats, b: float, norms: Floats
    ) -> None:
        """problem, penalty: over these features and groups alone."""
        self.engine, self.penalty = Engine(problem.replace(start=(w, b))), penalty
        self.norms = norms
        self._group_of = row_of(penalty.indptr)
        self.engine.optimize_intercept()
        self.value = self._objective()

    def _objective(self) -> float:
        penalty = self.penalty
        return (
            self.engine.value
            + penalty.separable(self.engine.w)
            + float(penalty.strengths @ self.norms)
        )

    def dual(self) -> LatentBound:
        """A lower bound for these features and groups."""
        engine = self.engine
        alpha = dual_scores(engine)
        self.products = engine.design.transposed_product(alpha)
        return latent_bound(
            self.penalty, alpha, self.products, engine.w, lambda one: dual_value(engine, one)
        )

    def _zeta(self, eta: Floats) -> Floats:
        return sums(self.penalty.indices, eta[self._group_of], self.penalty.p)

    def _entrances(self) -> Floats:
        """eta for the groups without a part that would lower the objective, else 0."""
        engine, penalty = self.engine, self.penalty
        left = -engine.gradient() - 2.0 * penalty.l2 * engine.w
        left = soft(left, penalty.l1)
        sizes = penalty.norms(left)
        over = (self.norms == 0.0) & (sizes > penalty.strengths)
        curvature = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        along = penalty.norms(np.sqrt(curvature) * left) ** 2
        eta = np.zeros(len(sizes))
        # The minimum along the direction ``left``, were features independent of each other.
        lengths = (sizes[over] - penalty.strengths[over]) * sizes[over] ** 2 / along[over]
        eta[over] = ENTRANCE * lengths / penalty.strengths[over]
        return eta

    def reweight(self) -> None:
        """A step with eta fixed; those of groups that enter are made smaller until it helps."""
        engine, penalty = self.engine, self.penalty
        w, b, z, norms, value = engine.w.copy(), engine.b, engine.z, self.norms, self.value
        entrances = self._entrances()
        for retry in range(RETRIES + 1):
            eta = norms / penalty.strengths + (entrances if retry < RETRIES else 0.0)
            zeta = self._zeta(eta)
            inside = (zeta > 0.0) | penalty.free
            if not inside.any():
                return
            q = np.divide(1.0, zeta, out=np.zeros(penalty.p), where=zeta > 0.0)
            inner = Separable(
                q + 2.0 * penalty.l2, np.zeros(penalty.p), np.full(penalty.p, penalty.l1)
            )
            active = engine.active(inner, engine.gradient())
            engine.step(active[inside[active]], inner, passes=PASSES, polish=POLISH)
            engine.optimize_intercept()
            t = engine.w * q
            eta *= penalty.norms(t) / penalty.strengths
            eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
            self._set_parts(eta, t)
            if self.value <= value + NOISE * abs(value):
                return
            engine.move_to(w.copy(), b, z)
            self.norms, self.value = norms, value
            entrances = 0.1 * entrances

    def _set_parts(self, eta: Floats, t: Floats) -> None:
        """The parts that reweighting gives, lambda_g eta_g long."""
        zeta, engine = self._zeta(eta), self.engine
        lost = (zeta == 0.0) & (engine.w != 0.0) & ~self.penalty.free
        if lost.any():  # with parts that were too small
            engine.restart(np.where(lost, 0.0, engine.w), engine.b)
        self.norms = eta * self.penalty.strengths
        self.value = self._objective()

    def newton(self) -> bool:
        """A step of Newton's method on the entries that are not zero, if it lowers the value.

        It starts from the parts that reweighting would make of these weights, whose sum is no
        larger. Returns whether parts or entries that would turn round shortened or bent it.
        """
        engine, penalty = self.engine, self.penalty
        eta = self.norms / penalty.strengths
        eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
        zeta = self._zeta(eta)
        t = np.divide(engine.w, zeta, out=np.zeros(penalty.p), where=zeta > 0.0)
        parts = PartsSystem(engine, penalty, eta[self._group_of] * t[penalty.indices])
        if not len(parts.features):
            return False
        slope = parts.slope()
        residual = -slope, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        zero = Direction(np.zeros(len(slope)), 0.0, np.zeros(len(engine.z)))
        change = conjugate_gradients(parts, residual, zero, rounds=PRODUCTS, accuracy=ACCURACY)
        first = parts.first_turn(change.w)
        halved = 0.5 ** np.arange(HALVINGS)
        for length in (*halved[halved > first], *(min(first, 1.0) * halved)):
            trial = parts.moved(length * change.w)
            w = sums(parts.features, trial, penalty.p)
            moved = engine.design.product(w - engine.w) + length * change.b
            norms = parts.norms(trial)
            loss = engine.loss.value(engine.z + moved, engine.y, engine.c)
            value = loss + penalty.separable(w) + float(penalty.strengths @ norms)
            if value <= self.value + NOISE * abs(self.value):
                engine.move_to(w, engine.b + length * change.b, engine.z + moved)
                engine.optimize_intercept()
                self.norms = norms
                self.value = self._objective()
                return first < 1.0
        return False
