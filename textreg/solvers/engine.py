"""The state of a fit and one proximal Newton step: what every solver here is made of.

One step lowers

    sum_i c_i l(y_i, x_i w + b) + sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|

over an active set of features (docs/maths.md, E1). The loss is replaced by its second-order model
at the present scores (E2); coordinate descent finds which weights are zero and the signs of the
others (E3); conjugate gradients then settle the others, where coordinate descent alone is slow; a
search along the line to the new point makes sure of the true objective.
"""

from __future__ import annotations

import numpy as np

from textreg._core.descent import coordinate_descent, drawn
from textreg.losses import find_loss
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem

SUFFICIENT = 0.01
"""Share of the fall predicted by the slope that a step must achieve (Armijo's constant)."""

SHORTEST = 1e-10
"""Step length at which the line search gives up: no progress is possible in floating point."""

NOISE = 1e-14
"""Relative rounding of the objective; a rise below it does not stop a step."""

IDLE = 5
"""Steps in a row without a visible fall, after which the tolerance is beyond floating point."""

INTERCEPT_STEPS, INTERCEPT_SLOPE = 8, 1e-9
"""Newton steps on the intercept alone: most of them, and the relative sum of r that ends them."""

CG_TOLERANCE = 0.1
"""Conjugate gradients stop when the residual has fallen to this share, divided by the effort."""


class Engine:
    """Weights w (p,), intercept b, scores z = Xw + b (n,) and the loss's derivatives r, h there."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.loss = find_loss(problem.loss)
        self.design = problem.design
        self.y, self.c, self.fit_intercept = problem.y, problem.weights, problem.fit_intercept
        n, p = self.design.shape
        self.z, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.curvature = np.zeros(p)
        self.value = 0.0
        if problem.start is None:
            self.restart(np.zeros(p), 0.0)
        else:
            w, b = problem.start
            self.restart(np.array(w, dtype=np.float64), float(b) if self.fit_intercept else 0.0)

    def restart(self, w: Floats, b: float) -> None:
        """Take other weights; scores and derivatives follow."""
        self.move_to(w, b, self.design.product(w, intercept=b))

    def move_to(self, w: Floats, b: float, z: Floats, y: Floats | None = None) -> None:
        """Take other weights whose scores z are known, and other targets y where they are given."""
        self.w, self.b, self.z = w, b, z
        if y is not None:
            self.y = y
        self._refresh()

    def _refresh(self) -> None:
        self.value = self.loss.derivatives(self.z, self.y, self.c, self.r, self.h)

    def optimize_intercept(self) -> None:
        """Move the intercept alone to its optimum, where the derivatives r sum to zero."""
        if not self.fit_intercept:
            return
        for _ in range(INTERCEPT_STEPS):
            slope, bend = float(self.r.sum()), float(self.h.sum())
            if abs(slope) <= INTERCEPT_SLOPE * float(np.abs(self.r).sum()) or bend <= 0.0:
                return
            value, b, z = self.value, self.b, self.z
            self.b, self.z = b - slope / bend, z - slope / bend
            self._refresh()
            if not self.value <= value * (1.0 + NOISE):  # too far, where the loss is flat
                self.b, self.z = b, z
                self._refresh()
                return

    def loss_at(self, w: Floats) -> float:
        """The loss at other weights, the intercept unchanged."""
        z = self.z + self.design.product(w - self.w)
        return self.loss.value(z, self.y, self.c)

    def gradient(self) -> Floats:
        """d loss / d w, (p,)."""
        return self.design.transposed_product(self.r)

    def active(self, penalty: Separable, gradient: Floats) -> Int32s:
        """Features in the model, or drawn into it by the ``gradient`` (p,) of the loss."""
        out = np.empty(len(self.w), dtype=np.int32)
        count = drawn(gradient, self.w, penalty.q, penalty.mu, penalty.lam, out)
        return out[:count]

    def step(
        self, active: Int32s, penalty: Separable, *, passes: int, polish: int, effort: int = 1
    ) -> float:
        """One proximal Newton step over ``active`` (permuted in place).

        passes: most rounds of coordinate descent. polish: most rounds of conjugate gradients, which
        take over as soon as coordinate descent leaves signs as they are. effort: how many times
        more of them, finer, and how often they go on when weights have met zero. Returns the fall
        of the objective, 0.0 where it is lost in rounding.
        """
        fall = self._step(active, penalty, passes, polish, effort)
        if fall == 0.0:
            # Far out the loss is nearly straight and its curvature leads astray; a bound does not.
            self.h = self.loss.curvature_bound(self.c)
            fall = self._step(active, penalty, passes, polish, effort)
            if fall == 0.0:
                self._refresh()
        return fall

    def _step(
        self, active: Int32s, penalty: Separable, passes: int, polish: int, effort: int
    ) -> float:
        """The step for the second derivatives h as they stand."""
        v, w = self.r.copy(), self.w.copy()
        b = coordinate_descent(
            *self.design.columns, self.h, v, active, self.curvature,
            penalty.q, penalty.mu, penalty.lam,
            w, self.b, self.fit_intercept, passes, polish > 0,
        )  # fmt: skip
        if polish:
            b = self._polish(active, penalty, v, w, b, polish, effort)
        return self._advance(active[w[active] != self.w[active]], penalty, w, b)

    def _advance(self, moved: Int32s, penalty: Separable, w: Floats, b: float) -> float:
        """Go toward (w, b), which differs from the present point in ``moved``, while it helps."""
        present = self.w[moved]
        change = w[moved] - present
        move = self.design.product(change, moved, b - self.b)
        paid = penalty.of(moved, present)
        slope = float(self.r @ move) + penalty.of(moved, w[moved]) - paid
        noise = NOISE * (abs(self.value) + abs(paid))
        if slope > noise:
            return 0.0
        t = 1.0
        while t > SHORTEST:
            trial = present + t * change
            z = self.z + t * move
            fall = self.value + paid - self.loss.value(z, self.y, self.c) - penalty.of(moved, trial)
            if fall >= -SUFFICIENT * t * slope - noise:
                self.w[moved] = trial
                self.b += t * (b - self.b)
                self.z = z
                self._refresh()
                return max(fall, 0.0)
            t *= 0.5
        return 0.0

    def _polish(
        self,
        active: Int32s,
        penalty: Separable,
        v: Floats,
        w: Floats,
        b: float,
        rounds: int,
        effort: int,
    ) -> float:
        """Improve the model's minimum over the weights that are not zero, signs kept.

        Conjugate gradients from (w, b), where the model's derivatives in the scores are v. Priced
        weights that would change sign stay at zero and the others go on without them; all at once
        if that lowers the model, else the first of them alone, which always does. Changes v and w
        in place, returns the new b.
        """
        support = np.sort(active[w[active] != 0.0])
        support = support[self.curvature[support] + penalty.q[support] > 0.0]
        for _ in range(effort):
            start, sign = w[support], np.sign(w[support])
            change, change_b, move = self._conjugate(
                support, penalty, v, start, rounds * effort, CG_TOLERANCE / effort
            )
            paid = penalty.of(support, start)
            crossing = ((start + change) * sign < 0.0) & (penalty.lam[support] > 0.0)
            cut = np.divide(-start, change, out=np.ones(len(support)), where=crossing)
            for t in (1.0, float(cut.min(initial=1.0))):
                held = crossing & (cut <= t)
                trial = np.where(held, 0.0, start + t * change)
                if held.any():
                    step = self.design.product(trial - start, support, t * change_b)
                else:
                    step = t * move
                model = float(v @ step) + 0.5 * float(self.h @ (step * step))
                if not held.any() or model + penalty.of(support, trial) < paid:
                    break
            w[support] = trial
            b += t * change_b
            v += self.h * step
            if not held.any():
                return b
            support = support[~held]
        return b

    def _conjugate(
        self,
        support: Int32s,
        penalty: Separable,
        v: Floats,
        start: Floats,
        rounds: int,
        accuracy: float,
    ) -> tuple[Floats, float, Floats]:
        """Preconditioned conjugate gradients for the weights of ``support``, now ``start``.

        They end when the residual has fallen to the share ``accuracy``. Returns the change of the
        weights, of the intercept and of the scores.
        """
        h, intercept = self.h, self.fit_intercept
        change, change_b, move = np.zeros(len(support)), 0.0, np.zeros(len(v))
        q, lam, mu = penalty.q[support], penalty.lam[support], penalty.mu[support]
        h_sum = float(h.sum()) if intercept else 1.0
        scale = self.curvature[support] + q
        if h_sum <= 0.0:
            return change, change_b, move
        residual = -self.design.transposed_product(v, support) - q * (start - mu)
        residual -= lam * np.sign(start)
        residual_b = -float(v.sum()) if intercept else 0.0
        direction, direction_b = residual / scale, residual_b / h_sum
        size = first = float(residual @ direction) + residual_b * direction_b
        for _ in range(rounds):
            if size <= accuracy**2 * first:
                break
            image = self.design.product(direction, support, direction_b)
            weighted = h * image
            product = self.design.transposed_product(weighted, support) + q * direction
            product_b = float(weighted.sum()) if intercept else 0.0
            bend = float(direction @ product) + direction_b * product_b
            if bend <= 0.0:  # all curvature has underflowed
                break
            length = size / bend
            change += length * direction
            change_b += length * direction_b
            move += length * image
            residual -= length * product
            residual_b -= length * product_b
            scaled, scaled_b = residual / scale, residual_b / h_sum
            last, size = size, float(residual @ scaled) + residual_b * scaled_b
            direction = scaled + (size / last) * direction
            direction_b = scaled_b + (size / last) * direction_b
        return change, change_b, move
