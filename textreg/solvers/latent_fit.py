"""The point of a fit of the latent group lasso over a few groups, and how it moves on.

Weights are sums of parts v_g of the groups. There are two kinds of steps:

- reweighting (docs/maths.md, J2): with eta_g = ||v_g|| / lambda_g fixed the penalty is quadratic
  in w, one step of the engine lowers the objective, and the parts follow. It starts ahead of the
  last point (beck2009), unless that would raise the objective. Most groups vanish quickly;
- Newton's method on all entries of the parts that are not zero (J5), where the objective is smooth:
  expensive where many groups have a part, and exact where few do. A part that would turn round
  becomes zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textreg.penalties import Separable, soft
from textreg.records import Floats, Problem
from textreg.records.ragged import row_of, sums
from textreg.solvers.certificate import dual_scores, dual_value
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.latent_bound import latent_bound, projected
from textreg.solvers.latent_newton import PartsSystem
from textreg.solvers.latent_norms import LatentNorms
from textreg.solvers.latent_parts import settled

PASSES, POLISH = 1, 6
"""Most rounds of coordinate descent and iterations of conjugate gradients in a step of reweighting.
"""

SETTLING = 10
"""Rounds in which parts follow the weights: each costs a pass over the entries of the groups."""

PRODUCTS, ACCURACY = 20, 0.2
"""Most products in a step of Newton's method, and the share of the gradient that it may leave."""

SMALLEST = 1e-12
"""Share of the largest eta below which a part is zero."""

SLACK = 100.0 * NOISE
"""Relative rise of the objective that may be rounding, as its terms are sums of different order."""

HALVINGS = 30
"""Most times that a step of Newton's method is halved."""


class _Point(NamedTuple):
    """Where a fit was."""

    w: Floats
    b: float
    z: Floats
    norms: Floats
    value: float


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
        self._last: _Point | None = None
        self._steps = 0
        self.engine.optimize_intercept()
        self.value = self._objective()

    def _objective(self) -> float:
        penalty = self.penalty
        return (
            self.engine.value
            + penalty.separable(self.engine.w)
            + float(penalty.strengths @ self.norms)
        )

    def _point(self) -> _Point:
        engine = self.engine
        return _Point(engine.w.copy(), engine.b, engine.z, self.norms, self.value)

    def bound(self) -> float:
        """A lower bound for these features and groups."""
        engine = self.engine
        alpha = dual_scores(engine)
        t = engine.design.transposed_product(alpha)
        w = projected(self.penalty, t, self.norms / self.penalty.strengths).w
        return latent_bound(self.penalty, alpha, t, w, lambda one: dual_value(engine, one)).value

    def enter(self, eta: Floats, share: float) -> None:
        """Give parts to the groups without one that would lower the objective.

        eta: what they are to have at most. share: of the part that suits a new group alone, as
        several enter together.
        """
        engine, penalty = self.engine, self.penalty
        left = soft(-engine.gradient() - 2.0 * penalty.l2 * engine.w, penalty.l1)
        sizes = penalty.norms(left)
        over = (self.norms == 0.0) & (sizes > penalty.strengths)
        curvature = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        along = penalty.norms(np.sqrt(curvature) * left)[over] ** 2
        # The minimum along the direction ``left``, were features independent of each other.
        lengths = (sizes[over] - penalty.strengths[over]) * sizes[over] ** 2 / along
        self.norms = self.norms.copy()
        self.norms[over] = np.minimum(share * lengths, (eta * penalty.strengths)[over])
        self.value = self._objective()

    def reweight(self, effort: int = 1) -> None:
        """A step with eta fixed, from ahead of the last one; then the parts follow the weights.

        effort: how accurate the step is.
        """
        before, last, engine = self._point(), self._last, self.engine
        if last is not None and self._steps > 0:
            ahead = self._steps / (self._steps + 3.0)
            engine.move_to(
                before.w + ahead * (before.w - last.w),
                before.b + ahead * (before.b - last.b),
                before.z + ahead * (before.z - last.z),
            )
        start = engine.w.copy()
        self._step(effort)
        self._settle()
        if not self.value <= before.value + SLACK * abs(before.value):
            self._go_back(before)
            return
        self._last = before
        turns = float((start - engine.w) @ (engine.w - before.w)) > 0.0
        self._steps = 0 if turns else self._steps + 1

    def _go_back(self, point: _Point) -> None:
        self.engine.move_to(point.w, point.b, point.z)
        self.norms, self.value = point.norms, point.value
        self._last, self._steps = None, 0

    def _step(self, effort: int) -> None:
        """A step of the engine with eta fixed."""
        engine, penalty = self.engine, self.penalty
        zeta = penalty.spread(self.norms / penalty.strengths)
        inside = (zeta > 0.0) | penalty.free
        q = np.divide(1.0, zeta, out=np.zeros(penalty.p), where=zeta > 0.0)
        inner = Separable(q + 2.0 * penalty.l2, np.zeros(penalty.p), np.full(penalty.p, penalty.l1))
        active = np.flatnonzero(inside).astype(np.int32)
        if not len(active):
            return
        engine.step(active, inner, passes=PASSES * effort, polish=POLISH, effort=effort)
        engine.optimize_intercept()

    def _settle(self) -> None:
        """Parts of smaller sum for these weights, and no part where it would be next to zero."""
        engine, penalty = self.engine, self.penalty
        eta = settled(penalty, engine.w, self.norms / penalty.strengths, SETTLING)
        eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
        lost = (penalty.spread(eta) == 0.0) & (engine.w != 0.0) & ~penalty.free
        if lost.any():  # with parts that were too small
            engine.restart(np.where(lost, 0.0, engine.w), engine.b)
        self.norms = eta * penalty.strengths
        self.value = self._objective()

    def newton(self, effort: int = 1) -> bool:
        """A step of Newton's method on the entries that are not zero, if it lowers the value.

        It starts from the parts that reweighting would make of these weights, whose sum is no
        larger. Returns whether parts or entries that would turn round shortened or bent it.
        """
        engine, penalty = self.engine, self.penalty
        eta = self.norms / penalty.strengths
        eta[eta < SMALLEST * eta.max(initial=0.0)] = 0.0
        t = penalty.duals(engine.w, eta)
        parts = PartsSystem(engine, penalty, eta[self._group_of] * t[penalty.indices])
        if not len(parts.features):
            return False
        slope = parts.slope()
        residual = -slope, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        zero = Direction(np.zeros(len(slope)), 0.0, np.zeros(len(engine.z)))
        change = conjugate_gradients(
            parts, residual, zero, rounds=effort * PRODUCTS, accuracy=ACCURACY**effort
        )
        first = parts.first_turn(change.w)
        halved = 0.5 ** np.arange(HALVINGS)
        for length in (*halved[halved > first], *(min(first, 1.0) * halved)):
            trial = parts.moved(length * change.w)
            w = sums(parts.features, trial, penalty.p)
            moved = engine.design.product(w - engine.w) + length * change.b
            norms = parts.norms(trial)
            loss = engine.loss.value(engine.z + moved, engine.y, engine.c)
            value = loss + penalty.separable(w) + float(penalty.strengths @ norms)
            if value <= self.value + SLACK * abs(self.value):
                engine.move_to(w, engine.b + length * change.b, engine.z + moved)
                engine.optimize_intercept()
                self.norms, self._last, self._steps = norms, None, 0
                self.value = self._objective()
                return first < 1.0
        return False
