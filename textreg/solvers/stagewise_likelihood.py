"""Likelihoods that forward stagewise maximizes: scores, derivatives, intercept and errors."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg._core.columns import column_sums
from textreg.errors import DataError
from textreg.records import Floats, Int32s, Problem
from textreg.solvers.engine import Engine
from textreg.solvers.stagewise_lookup import DerivativeLookup, GramCache, ScaledMatrix, Scaling

ROUNDING = 1e-13
"""Derivatives below this share of the sum of their absolute terms are rounding."""

FAR = 300.0
"""Rise of a score after which exponentials are rescaled, well before they overflow."""


class Likelihood(Protocol):
    """A fit in progress. ``w`` is always (p,), in the units of the features as they were given.

    lookup: its derivatives; times ``factor`` they are those of the log-likelihood. noise: absolute
    derivatives below it are rounding. residual_size: root of the mean squared residual, as of the
    last refresh; 1 without residuals, as steps are never scaled by them then.
    """

    lookup: DerivativeLookup
    noise: float
    residual_size: float

    @property
    def factor(self) -> float:
        """What the derivatives of the lookup are to be multiplied by."""

    def move(self, feature: int, change: float) -> None:
        """Add ``change`` to the weight of a feature, and update the derivatives."""

    def follow(self, features: Int32s, changes: Floats) -> None:
        """Update the scores by what moved since the last call, where ``move`` has not."""

    def refresh(self, w: Floats) -> None:
        """Bring everything up to date: the offset, and the intercept where it moves."""

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept, the objective and the error per document, after :meth:`follow`."""

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The error per document for others with the scores ``z + b``."""


class LinearLikelihood:
    """Gaussian noise: c_k = gamma_k x_k'C (y - mean y - (X - 1 mu')w), sections 4 and 5.

    A step changes c by a column of the Gram matrix and needs no residuals; these are updated when
    an error is wanted. With Xc the centered X, Xc'C Xc w = X'CX w - N mu (mu'w), N the sum of the
    weights: the offset is N mu'w, and B is gamma mu. (In hooker2004 the update is printed with a
    sign and a factor missing.)
    """

    factor = 1.0

    def __init__(self, problem: Problem, scaling: Scaling, center: bool, cache: float) -> None:
        y, self._c = problem.y, problem.sample_weight
        self._total = float(self._c.sum()) or 1.0
        self._y_mean = float(self._c @ y) / self._total if center else 0.0
        self._design, self._center, self._residual = problem.design, center, y - self._y_mean
        self._scaling = scaling
        self.lookup = lookup = DerivativeLookup(scaling.factor * scaling.mean)
        gamma = scaling.factor[lookup.order]
        lookup.A[:] = gamma * self._design.transposed_product(
            self._c * self._residual, lookup.order
        )
        self.gram = GramCache(problem, lookup, gamma, cache)
        # By Cauchy and Schwarz no derivative exceeds N times the root mean square of y.
        self.noise = ROUNDING * self._total * float(np.sqrt(self._c @ y**2 / self._total))
        self.refresh(np.empty(0))

    def move(self, feature: int, change: float) -> None:
        """c -= change gamma (X'Cx_j - N mu mu_j), the second part by the offset."""
        positions, values = self.gram.column(feature)
        self.lookup.add_entries(positions, values, -change)
        self.lookup.offset += change * self._total * float(self._scaling.mean[feature])

    def follow(self, features: Int32s, changes: Floats) -> None:
        """residual -= X change, the running update of section 5."""
        column_sums(*self._design.columns, -changes, features, self._residual)

    def refresh(self, w: Floats) -> None:
        """Add the offset to all correlations, so that rounding does not grow with it."""
        self.lookup.apply_offset()
        self.residual_size = float(np.sqrt(self.evaluate(w)[2]))

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """b = mean y - mu'w; half the sum of squares; the mean of squares."""
        b = float(self._c @ self._residual) / self._total if self._center else 0.0
        rest = self._residual - b
        squares = float(self._c @ np.square(rest, out=rest))
        return self._y_mean + b, 0.5 * squares, squares / self._total

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean squared error."""
        return float(np.mean((y - z - b) ** 2))


class LossLikelihood:
    """Any loss of the scores: c_k = gamma_k sum_i q_i (x_ik - mu_k), q minus the loss's derivative.

    Section 8 of hooker2004, first half. A step changes q in the rows of one feature, and A in the
    features of these rows. The intercept moves only at the next refresh; until then centering keeps
    its effect out of c.
    """

    factor = 1.0

    def __init__(self, problem: Problem, scaling: Scaling) -> None:
        self._engine = Engine(problem.replace(start=None))
        self._loss, self._y, self._c = problem.loss, problem.y, problem.sample_weight
        self._total = float(self._c.sum()) or 1.0
        self._columns = problem.design.columns
        self.lookup = DerivativeLookup(scaling.factor * scaling.mean)
        self._scaled = ScaledMatrix(problem.design, scaling.factor, self.lookup)
        w = np.zeros(problem.design.shape[1])
        self._engine.restart(w, problem.intercept_at_zero())
        self.noise = ROUNDING * self._total * self._root_mean_square()
        self.refresh(w)

    def move(self, feature: int, change: float) -> None:
        """z and q in the rows of the feature, A in the features of these rows."""
        engine = self._engine
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = engine.z[rows] + change * self._columns.data[entries]
        r, h = np.empty_like(z), np.empty_like(z)
        self._loss.derivatives(z, self._y[rows], self._c[rows], r, h)
        # Centering adds -gamma_k mu_k sum(fall) to every c_k: as B is gamma mu, to the offset.
        fall = engine.r[rows] - r
        engine.z[rows], engine.r[rows] = z, r
        self._scaled.add(rows, fall, -float(fall.sum()))

    def follow(self, features: Int32s, changes: Floats) -> None:
        """Nothing to do: ``move`` updates the scores."""

    def refresh(self, w: Floats) -> None:
        """Move the intercept to its optimum, and compute all derivatives there."""
        engine = self._engine
        engine.move_to(w, engine.b, engine.z)
        engine.optimize_intercept()
        self._scaled.reset(-engine.r, float(engine.r.sum()))
        self.residual_size = self._root_mean_square()

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The optimal intercept for these weights; the loss, and the loss per document."""
        engine = self._engine
        b, z = engine.b, engine.z
        engine.move_to(w, b, z)
        engine.optimize_intercept()
        result = engine.b, engine.value, engine.value / self._total
        engine.move_to(w, b, z)  # the path must not depend on when it is measured
        return result

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean loss."""
        return self._loss.value(z + b, y, np.ones(len(y))) / max(len(y), 1)

    def _root_mean_square(self) -> float:
        weighted = self._c > 0.0
        squares = self._engine.r[weighted] ** 2 / self._c[weighted]
        return float(np.sqrt(squares.sum() / self._total))


class ExponentialLikelihood:
    """The weighted exponential family of section 8, eq. (1): sum_i a_i x_i w - N log C(w).

    C(w) = sum_i W_i exp(x_i w), N = sum_i a_i. In the paper every example was observed once and W
    is given; here an example is observed c_i times if y_i > 0, not at all if y_i < 0, and W = c:
    it models how documents of one label differ from all. The problem's loss fits the intercept.

    The derivative is sum_i a_i x_ik - (N / C) C^1_k, with C^1_k = sum_i W_i exp(x_i w) x_ik. Here
    it is divided by N / C, so that offset = C / N multiplies the part that never changes. What
    hooker2004 call C^2_jk is computed from the rows of j: their recursion holds where one feature
    moves, not where several in one row do.
    """

    residual_size = 1.0

    def __init__(self, problem: Problem, scaling: Scaling) -> None:
        self._engine = Engine(problem.replace(start=None))
        self._columns, self._W = problem.design.columns, problem.sample_weight
        self._observed = np.where(problem.y > 0.0, problem.sample_weight, 0.0)
        self._count = float(self._observed.sum())
        if not self._count > 0.0:
            raise DataError(
                "the exponential family models the documents with y > 0, and none has a weight: "
                "give some, or use another likelihood."
            )
        self.lookup = DerivativeLookup(
            scaling.factor * problem.design.transposed_product(self._observed)
        )
        self._scaled = ScaledMatrix(problem.design, scaling.factor, self.lookup)
        self._z = np.zeros(problem.design.shape[0])
        self._log_total = float(np.log(self._W.sum()))
        self.noise = ROUNDING * self._count
        self._rescale()

    @property
    def factor(self) -> float:
        """N / C."""
        return 1.0 / self.lookup.offset

    def move(self, feature: int, change: float) -> None:
        """C^1_k changes by the change of W_i exp(x_i w) x_ik, summed over the rows of j."""
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = self._z[rows] + change * self._columns.data[entries]
        self._z[rows] = z
        # Only differences of scores matter: subtract a larger maximum before exp(z) overflows.
        if float(z.max()) > self._far:
            self._rescale()
            return
        after = self._W[rows] * np.exp(z - self._shift)
        fall = self._tilted[rows] - after
        self._tilted[rows] = after
        self._scaled.add(rows, fall, -float(fall.sum()) / self._count)

    def follow(self, features: Int32s, changes: Floats) -> None:
        """Nothing to do: ``move`` updates the scores."""

    def refresh(self, w: Floats) -> None:
        """Compute all sums anew, as updates accumulate rounding."""
        self._rescale()

    def _rescale(self) -> None:
        self._shift = float(self._z.max(initial=0.0))
        self._far = self._shift + FAR
        self._tilted = self._W * np.exp(self._z - self._shift)
        self._scaled.reset(-self._tilted, float(self._tilted.sum()) / self._count)

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept; minus (1) plus N log sum W, which is 0 without weights; that over N."""
        self._engine.restart(w, 0.0)
        self._engine.optimize_intercept()
        shift = float(self._z.max(initial=0.0))
        log_C = shift + float(np.log(self._W @ np.exp(self._z - shift)))
        value = self._count * (log_C - self._log_total) - float(self._observed @ self._z)
        return self._engine.b, value, value / self._count

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The same for other documents, all of weight 1."""
        positive = y > 0.0
        if not positive.any():
            raise DataError("validation has no document with y > 0 to measure the likelihood of.")
        shift = float(z.max(initial=0.0))
        return shift + float(np.log(np.mean(np.exp(z - shift)))) - float(z[positive].mean())
