"""The fit of a growing set of features under a ridge, and how far it is from exact.

    F(u, b) = sum_i c_i l(y_i, z_i) + 1/2 sum_j q_j u_j^2,    z = sum_j u_j x_j + b

over columns x_j of norm one. Newton's method, each step by a few rounds of coordinate descent from
the last fit: one feature more changes little, and most pairs of columns are nearly orthogonal. Once
there are nearly as many features as documents they are not, and conjugate gradients go on where
that is slow.
"""

from __future__ import annotations

import math

import numpy as np

from textreg._core.columns import column_dots, column_sums
from textreg._core.pursuit import ridge_descent
from textreg.records import Floats, Int32s, Problem
from textreg.solvers.unit_columns import UnitColumns

PASSES = 12
"""Most rounds of coordinate descent on each quadratic model."""

SLOW = 0.5
"""Share of the radius that is left by a step after which conjugate gradients are called for."""

ROUNDS = 200
"""Most rounds of conjugate gradients in a step."""

SHORTEST = 0.25
"""Smallest part of a step that is tried before another is taken in its place."""

SHARE = 0.3
"""Part of the radius wanted that may be left by weights which are not moved, being nearly right."""

SETTLED = 0.2
"""Part of the radius wanted that may be left by the intercept's last, linearized move."""

SETTLE_ROUNDS = 20
"""Most Newton steps on the intercept alone."""

NOISE = 1e-11
"""Relative rounding of the objective; a rise below it does not undo a step."""

LEAST_RIDGE = 1e-3
"""Curvature that is counted on where the ridge has less; distances are estimates then."""


class ActiveFit:
    """Weights of the active features on columns of norm one, in the order they came.

    features: their indices. b: intercept. z: scores (n,). r: derivatives of the loss there (n,), by
    which the next feature is chosen. radius: r is at most this far from that of the exact fit.
    """

    def __init__(self, problem: Problem, columns: UnitColumns, q: Floats) -> None:
        """q: (p,), price of every feature's halved squared weight."""
        self.problem, self.columns, self._q_of = problem, columns, q
        self.loss = problem.loss
        self._bend = self.loss.largest_curvature()
        n = columns.shape[0]
        self._root_n = math.sqrt(float(problem.weights.sum()))
        self.z, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.b = problem.intercept_at_zero()
        self.z[:] = self.b
        self.features: list[int] = []
        self._added = 0
        self._indptr = np.zeros(1, dtype=np.int64)
        self._indices, self._data = np.empty(0, dtype=np.int32), np.empty(0)
        self._w, self._q = np.empty(0), np.empty(0)
        self._curvature, self._oldest_first = np.empty(0), np.empty(0, dtype=np.int32)
        self._newest_first = self._oldest_first
        self.radius, self._settled, self._slow = 0.0, 1e-9, False
        self._refresh()
        self._measure()

    @property
    def w(self) -> Floats:
        """Weights of ``features``, on columns of norm one."""
        return self._w[: len(self.features)]

    @property
    def objective(self) -> float:
        """F at the present weights."""
        w = self.w
        return self.value + 0.5 * float(self._q[: len(w)] @ (w * w))

    def add(self, features: Int32s) -> None:
        """Make more features active, with weights of zero."""
        columns = self.columns
        for j in features.tolist():
            k, start, stop = len(self.features), columns.indptr[j], columns.indptr[j + 1]
            begin = int(self._indptr[k])
            end = begin + int(stop - start)
            self._make_room(k + 1, end)
            self._indptr[k + 1] = end
            self._indices[begin:end] = columns.indices[start:stop]
            self._data[begin:end] = columns.data[start:stop]
            self._w[k], self._q[k] = 0.0, self._q_of[j]
            self.features.append(j)
        self.radius, self._slow = math.inf, False
        self._added += len(features)

    def _make_room(self, features: int, entries: int) -> None:
        """Let the copies of the active columns, which lie together for speed, hold this many."""
        if entries > len(self._data):
            size = max(entries, 2 * len(self._data))
            self._indices, self._data = np.resize(self._indices, size), np.resize(self._data, size)
        if features > len(self._w):
            size = max(features, 2 * len(self._w), 64)
            self._w, self._q = np.resize(self._w, size), np.resize(self._q, size)
            self._indptr = np.resize(self._indptr, size + 1)
            # The newest first: it has the longest way to go.
            self._curvature = np.empty(size)
            self._oldest_first = np.arange(size, dtype=np.int32)
            self._newest_first = self._oldest_first[::-1].copy()

    def improve(self, wanted: float) -> bool:
        """One Newton step toward the radius ``wanted``; False where it is lost in rounding."""
        self._settled = SETTLED * wanted
        slack = (SHARE * wanted) ** 2 / (0.25 * self._bend * max(len(self.features), 1))
        w, b, z, before = self.w.copy(), self.b, self.z, self.objective
        far = self.radius
        if self._added:
            self._begin()
        features = self._newest_first[len(self._newest_first) - len(w) :]
        self._descend(features, slack)
        if self._slow:
            self._conjugate(SHARE * wanted)
        step, step_b = self.w - w, self.b - b
        move = self._scores(step, step_b)
        moved, t = False, 1.0
        while not moved and t >= SHORTEST:
            self.w[:], self.b, self.z = w + t * step, b + t * step_b, z + t * move
            self._refresh()
            moved = self.objective <= before + NOISE * abs(before)
            t *= 0.5
        if not moved:
            # Far out the loss is nearly straight and its curvature leads astray; a bound does not.
            self.w[:], self.b, self.z = w, b, z
            self._derive()
            self.h = self.loss.curvature_bound(self.problem.weights)
            self._descend(features, 0.0)
            self.z = z + self._scores(self.w - w, self.b - b)
            self._refresh()
            moved = self.objective < before - NOISE * abs(before)
        self._measure()
        self._slow = self._slow or self.radius > SLOW * far
        return moved

    def _begin(self) -> None:
        """Move the new weights alone, and see what becomes of the loss in their documents.

        Their way is long and bends the loss; all the others then need one model only.
        """
        k, problem = len(self.features), self.problem
        new = self._oldest_first[k - self._added : k]
        rows = self._indices[self._indptr[k - self._added] : self._indptr[k]]
        if self._added > 1:
            rows = np.unique(rows)
        self._descend(new, 0.0, fit_intercept=False)
        move = np.zeros(len(self.z))
        column_sums(self._indptr[: k + 1], self._indices, self._data, self.w[new], new, move)
        r, h = np.empty(len(rows)), np.empty(len(rows))
        self.loss.derivatives(
            self.z[rows] + move[rows], problem.y[rows], problem.weights[rows], r, h
        )
        self.r[rows], self.h[rows] = r, h
        self._added = 0

    def _scores(self, w: Floats, b: float) -> Floats:
        """The scores of weights for ``features`` and an intercept."""
        z, k = np.full(len(self.z), b), len(w)
        column_sums(self._indptr[: k + 1], self._indices, self._data, w, self._oldest_first[:k], z)
        return z

    def _descend(self, features: Int32s, slack: float, fit_intercept: bool = True) -> None:
        """Move w and b toward the minimum of the model at the present r and h; r follows."""
        k = len(self.features)
        self.b = ridge_descent(
            self._indptr[: k + 1], self._indices, self._data, self.h, self.r, features.copy(),
            self._q[:k], self._curvature[:k], self.w, self.b,
            self.problem.fit_intercept and fit_intercept, slack, PASSES,
        )  # fmt: skip

    def _conjugate(self, wanted: float) -> None:
        """Move w and b on toward that minimum by conjugate gradients, until r is so near it.

        r comes in as the derivatives of the model. Each direction is scaled by the curvature of its
        weight.
        """
        k, h, intercept = len(self.features), self.h, self.problem.fit_intercept
        indptr, every, q = self._indptr[: k + 1], self._oldest_first[:k], self._q[:k]
        enough = wanted**2 / (0.25 * self._bend)
        curvature, g, product = np.empty(k), np.empty(k), np.empty(k)
        column_dots(indptr, self._indices, self._data**2, h, every, curvature)
        column_dots(indptr, self._indices, self._data, self.r, every, g)
        curvature += q
        residual = -(g + q * self.w)
        residual_b, h_sum = (-float(self.r.sum()), float(h.sum())) if intercept else (0.0, 1.0)
        if h_sum <= 0.0 or not curvature.all():
            return
        size, direction, direction_b = 0.0, np.zeros(k), 0.0
        for _ in range(ROUNDS):
            if float((residual * residual) @ (1.0 / np.maximum(q, LEAST_RIDGE))) <= enough:
                return
            scaled, scaled_b = residual / curvature, residual_b / h_sum
            last, size = size, float(residual @ scaled) + residual_b * scaled_b
            turn = size / last if last else 0.0
            direction, direction_b = scaled + turn * direction, scaled_b + turn * direction_b
            image = h * self._scores(direction, direction_b)
            column_dots(indptr, self._indices, self._data, image, every, product)
            product += q * direction
            product_b = float(image.sum()) if intercept else 0.0
            bend = float(direction @ product) + direction_b * product_b
            if bend <= 0.0:  # all curvature has underflowed
                return
            self.w[:] += size / bend * direction
            self.b += size / bend * direction_b
            residual -= size / bend * product
            residual_b -= size / bend * product_b

    def _derive(self) -> None:
        """Take the loss and its derivatives at the present scores."""
        problem = self.problem
        self.value = self.loss.derivatives(self.z, problem.y, problem.weights, self.r, self.h)

    def _refresh(self) -> None:
        """Take the loss and its derivatives, with the intercept moved to its best.

        The last move is not looked at again: r follows it along h, and is wrong by no more than
        ``_unsettled``, the lesser of what its first and its second order say.
        """
        self._derive()
        self._unsettled = 0.0
        if not self.problem.fit_intercept:
            return
        for _ in range(SETTLE_ROUNDS):
            bend = float(self.h.sum())
            if bend <= 0.0:
                return
            total = float(self.r.sum())
            shift = -total / bend
            value, b, z = self.value, self.b, self.z
            self.b, self.z = b + shift, z + shift
            first = self._bend * self._root_n * abs(shift)
            # What the bend of r leaves of its sum is moved to the intercept in turn.
            again = 1.0 + self._bend * self._root_n**2 / bend
            second = 0.5 * self.loss.third_derivative_bound * shift * shift * self._root_n * again
            self._unsettled = min(first, second)
            if self._unsettled <= self._settled:
                self.r += shift * self.h
                self.value = value + 0.5 * shift * total
                return
            self._derive()
            if not self.value <= value * (1.0 + NOISE):  # too far, where the loss is flat
                self.b, self.z = b, z
                self._derive()
                return

    def _measure(self) -> None:
        """Bound the distance of r from that of the exact fit.

        With g the gradient of F and L the largest curvature of the loss, (r - r*).(z - z*) +
        sum_j q_j d_j^2 = g.d for d = u - u*, and the first term is at least |r - r*|^2 / L; so
        |r - r*|^2 <= L/4 sum_j g_j^2 / q_j, whatever d is (docs/pursuit.md, G2).
        """
        k = len(self.features)
        g = np.empty(k)
        column_dots(
            self._indptr[: k + 1], self._indices, self._data, self.r, self._oldest_first[:k], g
        )
        q = self._q[:k]
        g += q * self.w
        distance = 0.25 * self._bend * float((g * g) @ (1.0 / np.maximum(q, LEAST_RIDGE)))
        self.radius = math.sqrt(distance) + self._unsettled
