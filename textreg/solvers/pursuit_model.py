"""The fit of the columns that a pursuit has selected.

The fit of a growing set of features under a ridge, and how far it is from exact.

    F(u, b) = sum_i c_i l(y_i, z_i) + 1/2 sum_j q_j u_j^2,    z = sum_j u_j x_j + b

over columns x_j of norm one. Newton's method, each step by a few rounds of coordinate descent from
the last fit: one feature more changes little, and most pairs of columns are nearly orthogonal. Once
there are nearly as many features as documents they are not, and conjugate gradients take over where
coordinate descent is slow.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from textreg._core.columns import column_dots, column_sums
from textreg._core.pursuit import ridge_descent
from textreg.penalties import Separable
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution
from textreg.solvers.column_scores import UnitColumns
from textreg.solvers.linear_algebra import (
    Advance,
    Direction,
    backtrack,
    conjugate_gradients,
    step_with_fallback,
)
from textreg.solvers.newton import newton

# Most rounds of coordinate descent on each quadratic model. More of them make a model more exact
# than it is true, as most steps are the only one between two selections.
PASSES = 3

# Conjugate gradients are used once a step leaves more than this share of the radius.
SLOW = 0.5

# Most rounds of conjugate gradients in a step.
ROUNDS = 200

# Newton steps are halved while they are longer than this share; then the fallback is tried.
SHORTEST = 0.2

# Share of the target radius that weights which are not moved, being nearly optimal, may leave.
SHARE = 0.3

# Share of the target radius that the intercept's last move, which is linearized, may leave.
INTERCEPT_SHARE = 0.2

# Most Newton steps on the intercept alone.
INTERCEPT_STEPS = 20

# Relative rounding of the objective; a rise below it does not undo a step.
NOISE = 1e-11

# Curvature that is assumed where the ridge has less; distances are estimates then.
LEAST_RIDGE = 1e-3


class ActiveColumns:
    """Copies of the active columns, in the order in which they were added.

    They lie together in memory because every round of coordinate descent reads all of them.
    """

    def __init__(self, columns: UnitColumns) -> None:
        self._columns = columns
        self._indptr = np.zeros(1, dtype=np.int64)
        self._indices, self._data = np.empty(0, dtype=np.int32), np.empty(0)
        self.every = np.empty(0, dtype=np.int32)

    @property
    def matrix(self) -> tuple[Int64s, Int32s, Floats]:
        """The arrays as kernels take them: offsets of the columns, rows, values."""
        return self._indptr, self._indices, self._data

    def add(self, features: Int32s) -> None:
        """Append the columns of ``features``."""
        indptr, indices, data = self._columns.matrix
        for j in features.tolist():
            begin, size = int(self._indptr[-1]), int(indptr[j + 1] - indptr[j])
            if begin + size > len(self._data):  # doubling: the copies cost O(1) for each entry
                capacity = max(begin + size, 2 * len(self._data))
                self._indices = np.resize(self._indices, capacity)
                self._data = np.resize(self._data, capacity)
            self._indices[begin : begin + size] = indices[indptr[j] : indptr[j + 1]]
            self._data[begin : begin + size] = data[indptr[j] : indptr[j + 1]]
            self._indptr = np.append(self._indptr, begin + size)
        self.every = np.arange(len(self._indptr) - 1, dtype=np.int32)

    def rows(self, added: int) -> Int32s:
        """The documents of the last ``added`` columns."""
        rows = self._indices[self._indptr[-1 - added] : self._indptr[-1]]
        return rows if added == 1 else np.unique(rows)

    def product(self, w: Floats, b: float = 0.0, features: Int32s | None = None) -> Floats:
        """The scores of weights of all columns, or of some, and of an intercept."""
        z = np.full(self._columns.shape[0], b)
        column_sums(*self.matrix, w, self.every if features is None else features, z)
        return z

    def transposed_product(self, v: Floats) -> Floats:
        """The inner products of all columns with v (n,)."""
        dots = np.empty(len(self.every))
        column_dots(*self.matrix, v, self.every, dots)
        return dots

    def curvature(self, h: Floats) -> Floats:
        """sum_i h_i x_ij^2 for every column."""
        curvature = np.empty(len(self.every))
        column_dots(self._indptr, self._indices, self._data**2, h, self.every, curvature)
        return curvature


class ActiveFit:
    """Weights of the active features on columns of norm one, in the order they were added.

    features: their indices. w: their weights. b: intercept. z: scores (n,). r: derivatives of the
    loss there (n,), by which the next feature is selected. radius: a bound on the distance of r
    from that of the exact fit.
    """

    def __init__(self, problem: Problem, columns: UnitColumns, q: Floats) -> None:
        """q: (p,), the ridge of every feature: strength of its halved squared weight."""
        self.problem, self._ridge = problem, q
        self.loss = problem.loss
        self._largest_curvature = self.loss.largest_curvature()
        n = columns.shape[0]
        self._root_n = math.sqrt(float(problem.sample_weight.sum()))
        self.z, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.b = problem.intercept_at_zero()
        self.z[:] = self.b
        self.features: list[int] = []
        self._columns, self._added = ActiveColumns(columns), 0
        self.w, self._q = np.empty(0), np.empty(0)
        self.radius, self._intercept_radius, self._slow = 0.0, 1e-9, False
        self._refresh()
        self._measure()

    @property
    def objective(self) -> float:
        """F at the present weights."""
        return self.value + 0.5 * float(self._q @ (self.w * self.w))

    def add(self, features: Int32s) -> None:
        """Make more features active, with weights of zero."""
        self._columns.add(features)
        self.w = np.append(self.w, np.zeros(len(features)))
        self._q = np.append(self._q, self._ridge[features])
        self.features.extend(features.tolist())
        self.radius, self._slow = math.inf, False
        self._added += len(features)

    def improve(self, target: float) -> bool:
        """One Newton step toward the radius ``target``; False where it is lost in rounding."""
        self._intercept_radius = INTERCEPT_SHARE * target
        start, before = Direction(self.w.copy(), self.b, self.z), self.objective
        last_radius, bounded = self.radius, False
        if self._added:
            self._fit_added()

        def step() -> Advance:
            self._minimize_model(SHARE * target, bounded)
            return self._search(start, before)

        def use_curvature_bound() -> None:
            nonlocal bounded
            bounded = True
            self.w[:], self.b, self.z = start
            self._derive()
            self.h = self.loss.curvature_bound(self.problem.sample_weight)

        fall = step_with_fallback(
            step, use_curvature_bound, failed=lambda advance: advance.length == 0.0
        )
        self._measure()
        self._slow = self._slow or self.radius > SLOW * last_radius
        return not bounded or fall > NOISE * abs(before)

    def _fit_added(self) -> None:
        """Move the new weights alone, then take the derivatives in their documents anew.

        Their way is long and the second derivatives change on it; with those at its end, the other
        weights need only one quadratic model.
        """
        problem, new = self.problem, self._columns.every[-self._added :]
        rows = self._columns.rows(self._added)
        self._descend(new.copy(), 0.0, fit_intercept=False)
        move = self._columns.product(self.w[new], features=new)
        r, h = np.empty(len(rows)), np.empty(len(rows))
        self.loss.derivatives(
            self.z[rows] + move[rows], problem.y[rows], problem.sample_weight[rows], r, h
        )
        self.r[rows], self.h[rows] = r, h
        self._added = 0

    def _minimize_model(self, target: float, bounded: bool) -> None:
        """Move w and b toward the minimum of the quadratic model, by r and h as they are."""
        k = len(self.features)
        slack = target**2 / (0.25 * self._largest_curvature * max(k, 1))
        # The newest weights first: they have the longest way to go.
        self._descend(self._columns.every[::-1].copy(), 0.0 if bounded else slack)
        if self._slow and not bounded:
            self._conjugate(target)

    def _descend(self, features: Int32s, slack: float, fit_intercept: bool = True) -> None:
        """Coordinate descent on the model over ``features`` (overwritten); r follows."""
        self.b = ridge_descent(
            *self._columns.matrix, self.h, self.r, features, self._q, np.empty(len(self.w)),
            self.w, self.b, self.problem.fit_intercept and fit_intercept, slack, PASSES,
        )  # fmt: skip

    def _conjugate(self, target: float) -> None:
        """Conjugate gradients, until r is within ``target`` of the minimum of the model.

        They start at the present weights, and r holds the derivatives of the model there.
        """
        q, intercept = self._q, self.problem.fit_intercept
        model = _ActiveModel(self._columns, self.h, q, intercept)
        if model.h_sum <= 0.0 or not model.diagonal.all():
            return
        enough = target**2 / (0.25 * self._largest_curvature)
        gradient = self._columns.transposed_product(self.r) + q * self.w
        residual = -gradient, -float(self.r.sum()) if intercept else 0.0
        # The bound of docs/pursuit.md, G2, tells when it is near enough.
        self.w[:], self.b, _ = conjugate_gradients(
            model,
            residual,
            Direction(self.w, self.b, self.z),
            rounds=ROUNDS,
            enough=lambda rest, _: (
                float((rest * rest) @ (1.0 / np.maximum(q, LEAST_RIDGE))) <= enough
            ),
        )

    def _search(self, start: Direction, before: float) -> Advance:
        """Go from ``start`` to the present weights, or half or a quarter of that way."""
        change, change_b = self.w - start.w, self.b - start.b
        move = self._columns.product(change, change_b)

        def fall_at(length: float) -> float:
            self.w[:] = start.w + length * change
            self.b, self.z = start.b + length * change_b, start.z + length * move
            self._refresh()
            return before - self.objective

        return backtrack(fall_at, 0.0, NOISE * abs(before), SHORTEST)

    def _derive(self) -> None:
        """Compute the loss and its derivatives at the present scores."""
        problem = self.problem
        self.value = self.loss.derivatives(self.z, problem.y, problem.sample_weight, self.r, self.h)

    def _refresh(self) -> None:
        """Compute the loss and its derivatives, with the intercept moved to its optimum.

        After the last move they are not computed again: r follows it along h, and is wrong by at
        most ``_intercept_error``, the smaller of a bound of first and one of second order.
        """
        self._derive()
        self._intercept_error = 0.0
        if not self.problem.fit_intercept:
            return
        for _ in range(INTERCEPT_STEPS):
            curvature = float(self.h.sum())
            if curvature <= 0.0:
                return
            total = float(self.r.sum())
            shift = -total / curvature
            value, b, z = self.value, self.b, self.z
            self.b, self.z = b + shift, z + shift
            first = self._largest_curvature * self._root_n * abs(shift)
            # The part of r's sum that the second order leaves moves the intercept in turn.
            again = 1.0 + self._largest_curvature * self._root_n**2 / curvature
            second = 0.5 * self.loss.third_derivative_bound * shift * shift * self._root_n * again
            self._intercept_error = min(first, second)
            if self._intercept_error <= self._intercept_radius:
                self.r += shift * self.h
                self.value = value + 0.5 * shift * total
                return
            self._derive()
            if not self.value <= value * (1.0 + NOISE):  # too far, where the loss is flat
                self.b, self.z = b, z
                self._derive()
                return

    def _measure(self) -> None:
        """Bound the distance of r from that of the exact fit (docs/pursuit.md, G2).

        With g the gradient of F and L the largest curvature of the loss, (r - r*).(z - z*) +
        sum_j q_j d_j^2 = g.d for d = u - u*, and the first term is at least |r - r*|^2 / L; so
        |r - r*|^2 <= L/4 sum_j g_j^2 / q_j, whatever d is.
        """
        q = self._q
        g = self._columns.transposed_product(self.r) + q * self.w
        share = float((g * g) @ (1.0 / np.maximum(q, LEAST_RIDGE)))
        self.radius = math.sqrt(0.25 * self._largest_curvature * share) + self._intercept_error


class _ActiveModel:
    """The Hessian of the quadratic model in the active weights and the intercept."""

    def __init__(self, columns: ActiveColumns, h: Floats, q: Floats, fit_intercept: bool) -> None:
        self._columns, self._h, self._q, self._fit_intercept = columns, h, q, fit_intercept
        self.diagonal = columns.curvature(h) + q
        self.h_sum = float(h.sum()) if fit_intercept else 1.0

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        z = self._columns.product(w, b)
        weighted = self._h * z
        product = self._columns.transposed_product(weighted) + self._q * w
        return product, float(weighted.sum()) if self._fit_intercept else 0.0, z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Divide by the diagonal."""
        return w / self.diagonal, b / self.h_sum


# How a pursuit may treat the intercept, see textreg.solvers.pursuit.Pursuit.
INTERCEPTS = ("free", "ridge", "feature")


def with_bias(problem: Problem) -> Problem:
    """The problem with a last feature that is 1 in every document, in the place of an intercept.

    Made once for all labels and ridges that share its matrix and groups.
    """
    n, p = problem.design.shape

    def design() -> Design:
        from scipy.sparse import csr_array, hstack

        return Design(hstack([problem.X, csr_array(np.ones((n, 1)))], format="csr"))

    groups, cache = problem.groups, problem.design.cache
    if groups is not None:
        # The value holds the groups, so that their id stays theirs.
        key, given = ("with a bias", id(groups)), groups
        _, groups = cache.get(key, lambda: (given, given.widened(p + 1)))
    return problem.replace(
        X=cache.get("with a bias", design),
        groups=groups,
        graph=None,
        start=None,
        validation=None,
        fit_intercept=False,
    )


class Models:
    """The fits of the first features of an order, on the columns as they are given.

    The fits of a pursuit are exact enough to select by, not to the tolerance of a model. Each one
    here starts from the last with fewer features.
    """

    def __init__(self, problem: Problem, l2: float, bias: int) -> None:
        """bias: the feature that stands for the intercept, -1 where there is none."""
        self.problem, self._l2, self._bias = problem, l2, bias
        self._found: dict[int, tuple[Floats, float]] = {}

    def fit(self, order: list[int], selecting: ActiveFit, norms: Floats, bias: bool) -> Solution:
        """The weights of the features in ``order``, and the intercept.

        selecting: the fit that they were selected by, on columns of these ``norms``. bias: whether
        the feature that stands for the intercept is in the model.
        """
        features = [*order, self._bias] if bias else order
        if not features:
            b = self.problem.intercept_at_zero()
            scores = np.full(len(self.problem.y), b)
            value = self.problem.loss.value(scores, self.problem.y, self.problem.sample_weight)
            return Solution(w=np.empty(0), b=b, objective=value, residual=0.0, converged=True)
        w, b = self._start(order, selecting, norms)
        small = self.problem.replace(
            X=self.problem.X_csc[:, features],
            groups=None,
            graph=None,
            callback=None,
            start=(np.append(w, b), 0.0) if bias else (w, b),
        )
        found = newton(small, Separable.constant(len(features), l2=self._l2))
        w, b = (found.w[:-1], float(found.w[-1])) if bias else (found.w, found.b)
        self._found[len(order)] = w, b
        return replace(found, w=w, b=b)

    def _start(self, order: list[int], selecting: ActiveFit, norms: Floats) -> tuple[Floats, float]:
        """Weights and an intercept to begin from."""
        last = max((size for size in self._found if size <= len(order)), default=0)
        if last:
            w, b = self._found[last]
            return np.concatenate([w, np.zeros(len(order) - last)]), b
        weights = dict(
            zip(selecting.features, selecting.w / norms[selecting.features], strict=True)
        )
        return np.array([weights[j] for j in order]), weights.get(self._bias, selecting.b)
