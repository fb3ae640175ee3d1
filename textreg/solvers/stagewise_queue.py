"""Queued look-ups: derivatives in the order of their last update (hooker2004, section 7).

The third strategy that the paper names, and does not try: "a queueing strategy based on each
correlation's last update-time".
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg._core.columns import column_dots
from textreg.records import Floats, Int32s, Int64s, Problem
from textreg.solvers.stagewise_exponential import ExponentialScores
from textreg.solvers.stagewise_likelihood import squares_noise
from textreg.solvers.stagewise_lookup import TIE, Scaling, Steepest, first_of, squares_over
from textreg.solvers.stagewise_loss import LossScores


class Scores(Protocol):
    """A likelihood without its derivatives; for the rest see
    :class:`~textreg.solvers.stagewise_likelihood.Likelihood`.
    """

    noise: float

    @property
    def residual_size(self) -> float: ...

    @property
    def q(self) -> Floats:
        """Derivative of the log-likelihood in the score of every document, (n,)."""

    def move(self, feature: int, change: float) -> None: ...

    def evaluate(self, w: Floats) -> tuple[float, float, float]: ...

    def held_out(self, z: Floats, b: float, y: Floats) -> float: ...


class SquaredScores(LossScores):
    """Those of squared error, whose error is the mean of squares and not of their halves."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.noise = squares_noise(problem)

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """b; half the sum of squares; the mean of squares."""
        b, value, error = super().evaluate(w)
        return b, value, 2.0 * error

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """The mean of squares."""
        return 2.0 * super().held_out(z, b, y)


class QueuedLikelihood:
    """Any scores, with derivatives that are computed when their turn comes.

    Every derivative c_k is kept with the time of its last update. Time is how far q has moved: by
    Cauchy and Schwarz c_k has changed since by at most the time that passed, times the spread of
    its column (T3). Its turn comes when that could make it the largest, so that the path is that of
    a look at all of them.

    lookups: how many derivatives were computed.
    """

    def __init__(self, scores: Scores, problem: Problem, scaling: Scaling, center: bool) -> None:
        self._scores, self._scaling = scores, scaling
        self.noise = scores.noise
        c, p = problem.sample_weight, problem.design.shape[1]
        self._c, self._total = c, float(c.sum()) or 1.0
        self._columns, self._center = problem.design.columns, center
        self._q = scores.q
        self._time = 0.0
        self._values, self._updated = np.zeros(p), np.full(p, -1.0)
        self._leaders = np.zeros(0, dtype=np.int32)
        self.lookups = 0
        self._update(np.arange(p, dtype=np.int32))

    @property
    def residual_size(self) -> float:
        """As of the scores."""
        return self._scores.residual_size

    def move(self, feature: int, change: float) -> None:
        """Move the scores and the time, and no derivative."""
        self._scores.move(feature, change)
        q = self._scores.q
        moved = q - self._q
        square = squares_over(moved, self._c)
        if self._center:
            # A change of all q_i by the same share of c_i changes no derivative.
            square -= float(moved.sum()) ** 2 / self._total
        # Even a step of no effect passes some time, so that values of the past are known as such.
        self._time += float(np.sqrt(self._total * max(square, 0.0))) + self.noise
        self._q = q

    def largest(self, among: Int64s | None = None) -> Steepest:
        """The feature of the largest derivative, after all that may be it were updated."""
        if among is not None:
            features = among.astype(np.int32)
            self._update(features)
            return first_of(features, self._values[features], self.noise)
        if not len(self._values):
            return Steepest(-1, 0.0)
        # The largest of the last look-ups shows how large a derivative has to be.
        self._update(np.array([np.abs(self._values).argmax()], dtype=np.int32))
        best = float(np.abs(self._values[self._updated == self._time]).max())
        upper = np.abs(self._values) + self._scaling.spread * (self._time - self._updated)
        due = np.flatnonzero(upper >= (1.0 - TIE) * best - self.noise).astype(np.int32)
        self._update(due)
        return first_of(due, self._values[due], self.noise)

    def evaluate(self, w: Floats) -> tuple[float, float, float]:
        """As of the scores."""
        return self._scores.evaluate(w)

    def held_out(self, z: Floats, b: float, y: Floats) -> float:
        """As of the scores."""
        return self._scores.held_out(z, b, y)

    def _update(self, features: Int32s) -> None:
        """Compute the derivatives of these features, where they are not of the present time."""
        old = features[self._updated[features] < self._time]
        dots = np.empty(len(old))
        column_dots(*self._columns, self._q, old, dots)
        mean, factor = self._scaling.mean[old], self._scaling.factor[old]
        self._values[old] = factor * (dots - float(self._q.sum()) * mean)
        self._updated[old] = self._time
        self.lookups += len(old)


def queued(problem: Problem, scaling: Scaling, likelihood: str, center: bool) -> QueuedLikelihood:
    """Queued look-ups for one of the likelihoods "loss", "linear" and "exponential"."""
    scores: Scores
    if likelihood == "exponential":
        scores = ExponentialScores(problem)
    elif likelihood == "linear":
        scores = SquaredScores(problem.replace(loss="squared"))
    else:
        scores = LossScores(problem)
    return QueuedLikelihood(scores, problem, scaling, center)
