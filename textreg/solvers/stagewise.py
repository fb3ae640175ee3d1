"""Forward stagewise selection.

Queued look-ups: derivatives in the order of their last update (hooker2004, section 7).

The third strategy that the paper names, and does not try: "a queueing strategy based on each
correlation's last update-time".

Forward stagewise: many small steps, each along the feature that now helps most.

Section 4 of hooker2004 (docs/stagewise.md, T1). With columns centered and scaled, starting from
w = 0, repeat

    j = argmax_k |c_k|,    lambda_j += epsilon sign(c_j),

where c is the derivative of the log-likelihood: the correlations with the residual for Gaussian
noise (section 5), else as in section 8. The number of steps is the regularization: one run
passes through the models of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from textreg._core.columns import column_dots, column_sums
from textreg.errors import DataError, UsageError
from textreg.losses import Squared
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.solvers.outcome import check_finite, checks_overflow
from textreg.solvers.stagewise_likelihood import (
    ExponentialLikelihood,
    ExponentialScores,
    Likelihood,
    LinearLikelihood,
    LossLikelihood,
    LossScores,
    squares_noise,
)
from textreg.solvers.stagewise_lookup import TIE, Scaling, Steepest, first_of, squares_over
from textreg.solvers.stagewise_rules import StagewisePath, StagewiseReport, StepRules


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


MEGABYTE = 1e6

# The largest derivative is as many times the rounding, or which one it is would be chance.
STANDS_OUT = 100.0


def stagewise(problem: Problem, rules: StepRules) -> Solution:
    """The end of the path, or with ``Problem.validation`` its point of least error there.

    Parameters
    ----------
    problem : Problem
        What to fit. ``start`` and ``max_iter`` are ignored: a path begins at zero, and the rules
        say how long it is. ``callback`` is called at every check.
    rules : StepRules
        How to step and when to stop.

    Returns
    -------
    Solution
        ``gap`` is NaN, as the method has no dual. ``converged`` is False only where the callback
        stopped the run. ``report`` is a
        :class:`~textreg.solvers.stagewise_rules.StagewiseReport`.

    Raises
    ------
    UsageError
        The rules do not fit the problem: ``patience`` without held-out documents, or an exponential
        family for targets that are neither labels nor counts.
    DataError
        The held-out documents are none, or an exponential family has no positive document.

    References
    ----------
    .. [1] Hooker & Weng (2004), "Subset selection in large, sparse systems" (hooker2004).
    """
    (solution,) = stagewise_path(problem, rules, [rules.steps])
    return solution


def stagewise_path(problem: Problem, rules: StepRules, steps: Iterable[int]) -> Iterator[Solution]:
    """The solutions of :func:`stagewise` for several numbers of steps, from one run.

    Parameters
    ----------
    problem, rules
        As for :func:`stagewise`; ``rules.steps`` is ignored.
    steps : iterable of int
        Numbers of steps, ascending.

    Yields
    ------
    Solution
        One for each number of steps.
    """
    run = StagewiseRun(problem, rules)
    for count in steps:
        run.advance(count)
        yield run.solution()


class _Checkpoint(NamedTuple):
    """What was measured after some step; ``validation_error`` is NaN without held-out documents."""

    step: int
    objective: float
    train_error: float
    validation_error: float
    nonzero: int
    b: float


class StagewiseRun:
    """One run, which may pause at any step and continue.

    w: (p,) the present weights. stopped: the rule that ended the run, or empty.
    """

    @checks_overflow
    def __init__(self, problem: Problem, rules: StepRules) -> None:
        self._problem, self._rules = problem, rules
        self._p = problem.design.shape[1]
        center = problem.fit_intercept or rules.likelihood == "exponential"
        self._scaling = Scaling.of(problem, center=center, scale=rules.standardize)
        self._state = _likelihood(problem, rules, self._scaling, center)
        self._held_out = _HeldOut.of(problem, rules)
        self._rng = np.random.default_rng(rules.seed)
        self._queue = np.arange(self._p)  # features, the longest waiting first
        self.w, self._units = np.zeros(self._p), np.zeros(self._p)
        self._nonzero = 0
        self._features: list[int] = []
        self._sizes: list[float] = []
        self._old_weights: dict[int, float] = {}  # at the last check, of all that moved since
        self.stopped = ""
        self._first_size = self._last_size = abs(self._state.largest().derivative)
        self._checkpoints: list[_Checkpoint] = []
        self._best = 0  # index of the checkpoint of least validation error
        self._check()

    @checks_overflow
    def advance(self, steps: int) -> None:
        """Continue until ``steps`` steps are done in all, or a rule stops the run."""
        while not self.stopped and len(self._features) < steps:
            steepest = self._select()
            if self.stopped:
                return
            self._step(steepest)
            if len(self._features) % self._rules.every == 0:
                self._check()
            if self._nonzero == self._rules.features and not self.stopped:
                self.stopped = "features"

    @checks_overflow
    def solution(self) -> Solution:
        """The present model; with held-out documents the best one so far."""
        points, steps = self._checkpoints, len(self._features)
        if points[-1].step != steps:
            points = [*points, self._measure()]
        path = StagewisePath(
            features=np.array(self._features, dtype=np.int32),
            sizes=np.array(self._sizes),
            epsilon=self._rules.epsilon,
            scale=self._scaling.factor,
            checks=np.array([point.step for point in points], dtype=np.int64),
            train_error=np.array([point.train_error for point in points]),
            validation_error=np.array([point.validation_error for point in points]),
            nonzero=np.array([point.nonzero for point in points], dtype=np.int64),
            intercepts=np.array([point.b for point in points]),
        )
        best, least = points[-1], points[self._best]
        if self._held_out is not None and least.validation_error <= best.validation_error:
            best = least
        stopped = self.stopped or "steps"
        report = StagewiseReport(
            stopped=stopped,
            steps=steps,
            best_step=best.step,
            largest=self._last_size / self._first_size if self._first_size > 0.0 else 0.0,
            path=path,
            lookups=self._state.lookups if isinstance(self._state, QueuedLikelihood) else None,
            gram=self._state.gram.use if isinstance(self._state, LinearLikelihood) else None,
        )
        found = Solution(
            w=path.weights(best.step),
            b=best.b,
            objective=best.objective,
            iterations=steps,
            converged=stopped != "callback",
            history=tuple(Step(point.step, point.objective, math.nan) for point in points),
            report=report,
        )
        check_finite(found)
        return found

    def _select(self) -> Steepest:
        """The feature of the next step; where there is none, ``stopped`` says why."""
        state, rules = self._state, self._rules
        sampled = rules.sample is not None and rules.sample < self._p
        steepest = self._largest_sampled() if sampled else state.largest()
        if sampled and self._reason_to_stop(steepest):
            # The sample may have missed the best feature: only all of them can end the run.
            steepest = state.largest()
        self.stopped = self._reason_to_stop(steepest)
        self._last_size = abs(steepest.derivative)
        return steepest

    def _largest_sampled(self) -> Steepest:
        """The best of a few features: drawn at random, or in turn (hooker2004, section 7)."""
        rules = self._rules
        if rules.lookup == "queue":
            features = self._queue[: rules.sample]
        else:
            features = self._rng.choice(self._p, rules.sample, replace=False, shuffle=False)
        if rules.keep_best and self._features:
            features = np.append(features, self._features[-1])
        if rules.lookup == "queue":
            waiting = np.ones(self._p, dtype=bool)
            waiting[features] = False
            self._queue = np.append(self._queue[waiting[self._queue]], np.unique(features))
        return self._state.largest(features)

    def _reason_to_stop(self, steepest: Steepest) -> str:
        """The rule that forbids this step, or an empty text (section 5.1)."""
        feature, derivative = steepest
        size, rules = abs(derivative), self._rules
        threshold = rules.threshold * (self._first_size if rules.relative else 1.0)
        if size <= STANDS_OUT * self._state.noise or size < threshold:
            return "threshold"
        if self._features and self._features[-1] == feature and derivative * self._sizes[-1] < 0.0:
            return "loop"  # it would undo the last step, the next one would undo it, and so on
        return ""

    def _step(self, steepest: Steepest) -> None:
        """lambda_j += epsilon sign(c_j)."""
        feature, rules = steepest.feature, self._rules
        unit = self._state.residual_size if rules.scaled else 1.0
        size = math.copysign(unit, steepest.derivative)
        old = float(self.w[feature])
        # Weights are products with a sum of steps, so that as many steps back give exactly zero.
        self._units[feature] += size
        new = rules.epsilon * float(self._units[feature]) * float(self._scaling.factor[feature])
        self.w[feature] = new
        self._nonzero += (new != 0.0) - (old != 0.0)
        if self._held_out is not None:
            self._old_weights.setdefault(feature, old)
        self._state.move(feature, new - old)
        self._features.append(feature)
        self._sizes.append(size)

    def _update_held_out(self, held_out: _HeldOut) -> None:
        """Update their scores by the weights that moved since the last update."""
        features = np.array(sorted(self._old_weights), dtype=np.int32)
        old = np.array([self._old_weights[j] for j in features.tolist()])
        changes = self.w[features] - old
        held_out.follow(features, changes)
        self._old_weights.clear()

    def _measure(self) -> _Checkpoint:
        """The objective and the errors now."""
        b, objective, error = self._state.evaluate(self.w)
        validation_error = math.nan
        if self._held_out is not None:
            self._update_held_out(self._held_out)
            validation_error = self._state.held_out(self._held_out.z, b, self._held_out.y)
        step = len(self._features)
        return _Checkpoint(step, objective, error, validation_error, self._nonzero, b)

    def _check(self) -> None:
        """Measure, call back, and apply the rules that depend on what was measured."""
        point, rules = self._measure(), self._rules
        self._checkpoints.append(point)
        if point.validation_error < self._checkpoints[self._best].validation_error:
            self._best = len(self._checkpoints) - 1
        callback = self._problem.callback
        if callback and callback(Step(point.step, point.objective, math.nan)):
            self.stopped = "callback"
        elif (
            self._held_out is not None
            and rules.patience is not None
            and point.step - self._checkpoints[self._best].step >= rules.patience
        ):
            self.stopped = "patience"


class _HeldOut:
    """Held-out documents and their scores z without the intercept."""

    def __init__(self, design: Design, y: Floats) -> None:
        self._design, self.y, self.z = design, y, np.zeros(len(y))

    @classmethod
    def of(cls, problem: Problem, rules: StepRules) -> _HeldOut | None:
        """Those of the problem, None where it has none; raises where a rule needs them."""
        if problem.validation is None:
            if rules.patience is not None:
                raise UsageError(
                    "patience needs held-out documents to measure the error on: give "
                    "Problem.validation, or leave patience out."
                )
            return None
        design, y = problem.validation
        if not len(y):
            raise DataError("validation has no documents to measure the error on: give some.")
        return cls(design, y)

    def follow(self, features: Int32s, changes: Floats) -> None:
        """z += X change."""
        column_sums(*self._design.columns, changes, features, self.z)


def _maximized(problem: Problem, rules: StepRules) -> str:
    """The likelihood that the rules name, "linear" also where it is the loss."""
    if rules.likelihood == "loss" and isinstance(problem.loss, Squared):
        return "linear"
    return rules.likelihood


def _likelihood(problem: Problem, rules: StepRules, scaling: Scaling, center: bool) -> Likelihood:
    """The likelihood that the rules name, at weights of zero."""
    if rules.lookup == "queue" and rules.sample is None:
        return queued(problem, scaling, _maximized(problem, rules), center)
    if rules.likelihood == "exponential":
        return ExponentialLikelihood(problem, scaling)
    if _maximized(problem, rules) == "linear":
        limit = MEGABYTE * rules.cache
        return LinearLikelihood(problem, scaling, problem.fit_intercept, limit)
    return LossLikelihood(problem, scaling)
