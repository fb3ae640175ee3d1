"""Forward stagewise on the exponential family of section 8 of Hooker & Weng (2004)."""

from __future__ import annotations

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.solvers.engine import Engine
from textreg.solvers.stagewise_likelihood import LOST, RENEWAL, ROUNDING
from textreg.solvers.stagewise_lookup import DerivativeLookup, ScaledMatrix, Scaling, Steepest

FAR = 300.0
"""Rise of a score after which exponentials are rescaled, well before they overflow."""


def observed_counts(y: Floats, W: Floats) -> Floats:
    """How often every document was observed, n_i in (T4).

    Parameters
    ----------
    y : ndarray, shape (n,)
        Labels, +1 for once and -1 for never; or the counts, 0 or more.
    W : ndarray, shape (n,)
        Weights in C. Documents of weight 0 are left out: no weights of features explain them.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    UsageError
        A target is neither -1 nor 0 or more.
    """
    if not ((y >= 0.0) | (y == -1.0)).all():
        raise UsageError(
            "likelihood 'exponential' takes labels of -1 and +1, or counts of 0 or more as "
            f"targets, not {float(y.min()):g}."
        )
    return np.maximum(y, 0.0) * (W > 0.0)


def minus_log_likelihood(z: Floats, observed: Floats, W: Floats) -> float:
    """Minus (T4) at the scores z plus N log sum W, which is 0 at scores of zero; all (n,)."""
    top = float(z[W > 0.0].max(initial=-np.inf))
    if top == -np.inf:
        return 0.0
    log_C = top + float(np.log(W @ np.exp(np.minimum(z - top, 0.0)) / W.sum()))
    return float(observed.sum()) * log_C - float(observed @ z)


class ExponentialScores:
    """The exponential family of hooker2004, section 8: prod_i (W_i exp(x_i w) / C(w))^n_i.

    X is the design matrix. W_i, the weight in C(w) = sum_i W_i exp(x_i w), is the weight of the
    document (``sample_weight``). n_i says how often it was observed: :func:`observed_counts` of the
    targets. What is maximized is eq. (1), with N = sum_i n_i

        sum_i n_i x_i w - N log C(w),    (T4)

    in the paper with n_i = 1 for all documents. With labels, n_i = 0 for those of -1: it models how
    the documents of +1 differ from all. The intercept has no part in it, and is that of the
    problem's loss for these weights.

    noise, residual_size: as those of a
    :class:`~textreg.solvers.stagewise_likelihood.Likelihood`.
    """

    residual_size = 1.0

    def __init__(self, problem: Problem) -> None:
        self._engine = Engine(problem.replace(start=None))
        self._columns, self._W = problem.design.columns, problem.sample_weight
        self._observed = observed_counts(problem.y, self._W)
        self._count = float(self._observed.sum())
        if not self._count > 0.0:
            raise DataError(
                "the exponential family models the documents with y > 0, and none has a weight: "
                "give some, or use another likelihood."
            )
        self._z = np.zeros(problem.design.shape[0])
        self.noise = ROUNDING * self._count
        self._steps = 0
        self._renew()

    @property
    def q(self) -> Floats:
        """n_i - N W_i exp(x_i w) / C, (n,)."""
        return self._observed - self._count / float(self._tilted.sum()) * self._tilted

    def move(self, feature: int, change: float) -> None:
        """z and W_i exp(x_i w) in the rows of the feature."""
        entries = slice(self._columns.indptr[feature], self._columns.indptr[feature + 1])
        rows = self._columns.indices[entries]
        z = self._z[rows] + change * self._columns.data[entries]
        self._z[rows] = z
        self._steps += 1
        # Only differences of scores matter: subtract a larger maximum before exp(z) overflows.
        weighted = self._W[rows] > 0.0
        if self._steps % RENEWAL == 0 or float(z[weighted].max(initial=-np.inf)) > self._far:
            self._renew()
            return
        after = self._W[rows] * np.exp(np.minimum(z - self._shift, FAR))
        fall = self._tilted[rows] - after
        self._tilted[rows] = after
        self._sum -= float(fall.sum())
        # And a smaller one before all that is left is rounding, or nothing.
        if self._sum < LOST * self._sum_at_renewal:
            self._renew()
            return
        self._fell(rows, fall)

    def _fell(self, rows: Int32s, fall: Floats) -> None:
        """Follow a fall of W_i exp(x_i w) in some rows."""

    def _renew(self) -> None:
        """Compute all sums anew."""
        self._shift = float(self._z[self._W > 0.0].max())
        self._far = self._shift + FAR
        self._tilted = self._W * np.exp(np.minimum(self._z - self._shift, 0.0))
        self._sum = self._sum_at_renewal = float(self._tilted.sum())

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """The intercept; minus (T4) plus N log sum W, which is 0 without weights; that over N."""
        self._engine.restart(w, 0.0)
        self._engine.optimize_intercept()
        value = minus_log_likelihood(self._z, self._observed, self._W)
        return self._engine.b, value, value / self._count

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The same for other documents, with W = 1."""
        observed = observed_counts(y, np.ones(len(y)))
        count = float(observed.sum())
        if not count > 0.0:
            raise DataError("validation has no document with y > 0 to measure the likelihood of.")
        return minus_log_likelihood(z, observed, np.ones(len(y))) / count


class ExponentialLikelihood(ExponentialScores):
    """The same with derivatives: sum_i n_i x_ik - (N / C) C^1_k, C^1_k = sum_i W_i exp(x_i w) x_ik.

    The lookup holds them divided by N / C, so that the offset C / N multiplies the part that never
    changes. What hooker2004 call C^2_jk is computed from the rows of j: their recursions
    (e^epsilon - 1) and e^epsilon hold for columns of zeros and ones, and the last where no other
    feature of the same rows has moved.
    """

    def __init__(self, problem: Problem, scaling: Scaling) -> None:
        observed = observed_counts(problem.y, problem.sample_weight)
        self._lookup = DerivativeLookup(
            scaling.factor * problem.design.transposed_product(observed)
        )
        self._scaled = ScaledMatrix(problem.design, scaling.factor, self._lookup)
        super().__init__(problem)

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest absolute derivative of (T4)."""
        scale = self._lookup.offset
        feature, derivative = self._lookup.largest(self.noise * scale, among)
        return Steepest(feature, derivative / scale)

    def _fell(self, rows: Int32s, fall: Floats) -> None:
        """C^1_k changes by the change of W_i exp(x_i w) x_ik, summed over the rows of j."""
        self._scaled.add(rows, fall, -float(fall.sum()) / self._count)

    def _renew(self) -> None:
        super()._renew()
        self._scaled.reset(-self._tilted, float(self._tilted.sum()) / self._count)
