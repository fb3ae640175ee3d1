"""The state of a fit and one proximal Newton step: what every solver here is made of.

One step lowers

    sum_i c_i l(y_i, x_i w + b) + sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|

over an active set of features. The loss is replaced by its second-order model at the present scores;
coordinate descent finds which weights are zero and the signs of the others; conjugate gradients
then settle the others, where coordinate descent alone is slow; a search along the line to the new point
makes sure of the true objective.
"""

from __future__ import annotations

import numpy as np

from textreg._core.columns import column_dots, column_squares, column_sums
from textreg._core.descent import coordinate_descent
from textreg.losses import find_loss
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem

SUFFICIENT = 0.01
"""Share of the fall predicted by the slope that a step must achieve (Armijo's constant)."""

SHORTEST = 1e-10
"""Step length at which the line search gives up: no progress is possible in floating point."""

CG_TOLERANCE = 0.1
"""Conjugate gradients stop when the residual has fallen to this share."""


class Engine:
    """Weights w (p,), intercept b, scores z = Xw + b (n,) and the loss's derivatives r, h there."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.loss = find_loss(problem.loss)
        n, p = problem.X.shape
        X = problem.X_csc
        self.columns = (
            np.ascontiguousarray(X.indptr, dtype=np.int64),
            np.ascontiguousarray(X.indices, dtype=np.int32),
            np.ascontiguousarray(X.data, dtype=np.float64),
        )
        self.features = np.arange(p, dtype=np.int32)
        self.z, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.curvature = np.zeros(p)
        self.value = 0.0
        if problem.start is None:
            self.restart(np.zeros(p), 0.0)
        else:
            w, b = problem.start
            self.restart(
                np.array(w, dtype=np.float64), float(b) if problem.fit_intercept else 0.0
            )

    def restart(self, w: Floats, b: float) -> None:
        """Take other weights; scores and derivatives follow."""
        self.w, self.b = w, b
        self.z.fill(b)
        used = np.flatnonzero(w).astype(np.int32)
        column_sums(*self.columns, w[used], used, self.z)
        self._refresh()

    def _refresh(self) -> None:
        y, c = self.problem.y, self.problem.weights
        self.value = self.loss.derivatives(self.z, y, c, self.r, self.h)

    def loss_at(self, w: Floats) -> float:
        """The loss at other weights, the intercept unchanged."""
        moved = np.flatnonzero(w != self.w).astype(np.int32)
        z = self.z.copy()
        column_sums(*self.columns, w[moved] - self.w[moved], moved, z)
        return self.loss.value(z, self.problem.y, self.problem.weights)

    def gradient(self, features: Int32s) -> Floats:
        """d loss / d w_j for the given features."""
        return self.dots(self.r, features)

    def dots(self, v: Floats, features: Int32s) -> Floats:
        """x_j . v for the given features; v: (n,)."""
        out = np.empty(len(features))
        column_dots(*self.columns, v, features, out)
        return out

    def active(self, penalty: Separable, gradient: Floats) -> Int32s:
        """Features that are in the model, or that the ``gradient`` (p,) of the loss draws into it."""
        pull = np.abs(gradient + penalty.q * (self.w - penalty.mu))
        return self.features[(self.w != 0.0) | (pull > penalty.lam)]

    def step(
        self, active: Int32s, penalty: Separable, *, passes: int, polish: int, tol: float = 0.0
    ) -> float:
        """One proximal Newton step over ``active`` (permuted in place).

        passes: most rounds of coordinate descent. polish: most rounds of conjugate gradients. tol:
        fall of the model at which coordinate descent ends. Returns the fall of the objective, 0.0
        when no progress is possible.
        """
        part = np.empty(len(active))
        column_squares(*self.columns, self.h, active, part)
        self.curvature[active] = part
        v, w = self.r.copy(), self.w.copy()
        b, used, _ = coordinate_descent(
            *self.columns, self.h, v, active, self.curvature, penalty.q, penalty.mu, penalty.lam,
            w, self.b, self.problem.fit_intercept, passes, tol,
        )  # fmt: skip
        if polish and used == passes:
            b = self._polish(active, penalty, v, w, b, polish)
        return self._advance(active[w[active] != self.w[active]], penalty, w, b)

    def _advance(self, moved: Int32s, penalty: Separable, w: Floats, b: float) -> float:
        """Go towards (w, b), which differ from the present point in ``moved``, as far as it helps."""
        present = self.w[moved]
        change = w[moved] - present
        move = np.full(len(self.z), b - self.b)
        column_sums(*self.columns, change, moved, move)
        paid = penalty.of(moved, present)
        slope = float(self.r @ move) + penalty.of(moved, w[moved]) - paid
        if not slope < 0.0:
            return 0.0
        y, c = self.problem.y, self.problem.weights
        t = 1.0
        while t > SHORTEST:
            trial = present + t * change
            z = self.z + t * move
            fall = self.value + paid - self.loss.value(z, y, c) - penalty.of(moved, trial)
            if fall >= -SUFFICIENT * t * slope:
                self.w[moved] = trial
                self.b += t * (b - self.b)
                self.z = z
                self._refresh()
                return fall
            t *= 0.5
        return 0.0

    def _polish(
        self, active: Int32s, penalty: Separable, v: Floats, w: Floats, b: float, rounds: int
    ) -> float:
        """Improve the model's minimum over the weights that are not zero, signs kept.

        Preconditioned conjugate gradients from (w, b), where the model's derivatives in the scores
        are v; then the first point towards their result, weights that would change sign held at
        zero, that lowers the model. Changes w in place, returns the new b.
        """
        support = np.sort(active[w[active] != 0.0])
        start, h, intercept = w[support], self.h, self.problem.fit_intercept
        q, sign = penalty.q[support], np.sign(start)
        h_sum = float(h.sum()) if intercept else 1.0
        scale = self.curvature[support] + q
        if len(support) == 0 or h_sum <= 0.0 or (scale <= 0.0).any():
            return b
        gradient = self.dots(v, support)
        gradient += q * (start - penalty.mu[support]) + penalty.lam[support] * sign
        residual, residual_b = -gradient, -float(v.sum()) if intercept else 0.0
        direction, direction_b = residual / scale, residual_b / h_sum
        size = first = float(residual @ direction) + residual_b * direction_b
        change, change_b, move = np.zeros(len(support)), 0.0, np.zeros(len(v))
        for _ in range(rounds):
            if size <= CG_TOLERANCE**2 * first or size <= 0.0:
                break
            image = np.full(len(v), direction_b)
            column_sums(*self.columns, direction, support, image)
            weighted = h * image
            product = self.dots(weighted, support) + q * direction
            product_b = float(weighted.sum()) if intercept else 0.0
            length = size / (float(direction @ product) + direction_b * product_b)
            change += length * direction
            change_b += length * direction_b
            move += length * image
            residual -= length * product
            residual_b -= length * product_b
            scaled, scaled_b = residual / scale, residual_b / h_sum
            last, size = size, float(residual @ scaled) + residual_b * scaled_b
            direction = scaled + (size / last) * direction
            direction_b = scaled_b + (size / last) * direction_b

        paid = penalty.of(support, start)
        t = 1.0
        while t > 0.01:
            trial = start + t * change
            crossed = trial * sign < 0.0
            trial_move = t * move
            if crossed.any():
                trial[crossed] = 0.0
                trial_move = np.full(len(v), t * change_b)
                column_sums(*self.columns, trial - start, support, trial_move)
            model = float(v @ trial_move) + 0.5 * float(h @ (trial_move * trial_move))
            if model + penalty.of(support, trial) < paid:
                w[support] = trial
                return b + t * change_b
            t *= 0.5
        return b
