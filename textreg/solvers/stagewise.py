"""Forward stagewise: many small steps, each along the feature that now helps most.

Hooker & Weng (2004), section 4 (docs/stagewise.md, T1). With columns centered and scaled, from
w = 0, again and again

    j = argmax_k |c_k|,    lambda_j += epsilon sign(c_j),

c being the derivative of the log-likelihood: the correlations with the residual where noise is
Gaussian (section 5), else as in section 8. The number of steps is the regularization: one run
passes through the models of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from textreg._core.columns import column_sums
from textreg.errors import DataError, UsageError
from textreg.losses import Squared
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.records.design import Design
from textreg.solvers.stagewise_likelihood import Exponential, General, Likelihood, Linear
from textreg.solvers.stagewise_lookup import Scaling
from textreg.solvers.stagewise_rules import StagewisePath, StagewiseReport, StepRules

MEGABYTE = 1e6


def stagewise(problem: Problem, rules: StepRules) -> Solution:
    """The end of the path, or with ``Problem.validation`` its point of least error there.

    ``Problem.start`` and ``max_iter`` have no part: a path begins at zero, and the rules say how
    long it is. ``converged`` is False only where the callback stopped the run. ``report`` is a
    :class:`StagewiseReport`.
    """
    (solution,) = stagewise_path(problem, rules, [rules.steps])
    return solution


def stagewise_path(problem: Problem, rules: StepRules, steps: Iterable[int]) -> Iterator[Solution]:
    """The solutions of :func:`stagewise` for several numbers of steps, ascending, from one run."""
    walk = Walk(problem, rules)
    for most in steps:
        walk.go(most)
        yield walk.solution()


class _Point(NamedTuple):
    """What was measured after some step."""

    step: int
    objective: float
    train: float
    held: float
    nonzero: int
    b: float


class Walk:
    """One run, which may pause anywhere. ``w``: (p,) weights now; ``stopped``: why, or empty."""

    def __init__(self, problem: Problem, rules: StepRules) -> None:
        self._problem, self._rules = problem, rules
        self._p = problem.X.shape[1]
        center = problem.fit_intercept or rules.likelihood == "exponential"
        self._scaling = Scaling.of(problem, center=center, scale=rules.standardize)
        self._state = _likelihood(problem, rules, self._scaling)
        self._held = _HeldOut.of(problem, rules)
        self._draws = np.random.default_rng(rules.seed)
        self.w, self._units = np.zeros(self._p), np.zeros(self._p)
        self._nonzero, self._place = 0, -1
        self._features: list[int] = []
        self._sizes: list[float] = []
        self._before: dict[int, float] = {}  # weights at the last check, of what moved since
        self.stopped = ""
        start = self._state.lookup.largest()
        self._first = self._largest = self._pull(start) if start >= 0 else 0.0
        self._points: list[_Point] = []
        self._best = 0  # of the points, by the error on held-out documents
        self._note()

    def go(self, most: int) -> None:
        """Go on until ``most`` steps are done or a rule stops the run."""
        while not self.stopped and len(self._features) < most:
            place = self._choose()
            if self.stopped:
                return
            self._step(place)
            if len(self._features) % self._rules.every == 0:
                self._catch_up()
                self._state.refresh(self.w)
                self._note()
            if self._nonzero == self._rules.features and not self.stopped:
                self.stopped = "features"

    def solution(self) -> Solution:
        """Where the run is; with held-out documents its best point so far."""
        points, now = self._points, len(self._features)
        if points[-1].step != now:
            points = [*points, self._measure()]
        path = StagewisePath(
            features=np.array(self._features, dtype=np.int32),
            sizes=np.array(self._sizes),
            epsilon=self._rules.epsilon,
            scale=self._scaling.factor,
            checks=np.array([point.step for point in points], dtype=np.int64),
            train_error=np.array([point.train for point in points]),
            validation_error=np.array([point.held for point in points]),
            nonzero=np.array([point.nonzero for point in points], dtype=np.int64),
            intercepts=np.array([point.b for point in points]),
        )
        best = points[-1]
        if self._held is not None and points[self._best].held <= best.held:
            best = points[self._best]
        stopped = self.stopped or "steps"
        report = StagewiseReport(
            stopped=stopped,
            steps=now,
            best_step=best.step,
            largest=self._largest / self._first if self._first > 0.0 else 0.0,
            path=path,
            gram=self._state.gram.use if isinstance(self._state, Linear) else None,
        )
        return Solution(
            w=path.weights(best.step),
            b=best.b,
            objective=best.objective,
            iterations=now,
            converged=stopped != "callback",
            history=tuple(Step(point.step, point.objective, math.nan) for point in points),
            report=report,
        )

    def _choose(self) -> int:
        """The place of the next step; or why there is none, after a look at all of them."""
        lookup, rules = self._state.lookup, self._rules
        partial = rules.sample is not None and rules.sample < self._p
        place = self._sampled() if partial else lookup.largest()
        if partial and self._reason(place):
            place = lookup.largest()
        self.stopped = self._reason(place)
        if place >= 0:
            self._largest = self._pull(place)
        return place

    def _sampled(self) -> int:
        """The best of a few features drawn at random, section 7."""
        features = self._draws.choice(self._p, self._rules.sample, replace=False, shuffle=False)
        if self._rules.keep_best and self._place >= 0:
            features = np.append(features, self._features[-1])
        return self._state.lookup.largest_among(features)

    def _reason(self, place: int) -> str:
        """Why a step at this place would not be worth it, or an empty text."""
        if place < 0:
            return "threshold"
        if self._pull(place) <= max(self._rules.threshold * self._first, self._state.noise):
            return "threshold"
        sign = np.sign(self._state.lookup.derivative(place))
        if place == self._place and sign != np.sign(self._sizes[-1]):
            return "loop"
        return ""

    def _pull(self, place: int) -> float:
        """Size of the derivative there."""
        return abs(self._state.lookup.derivative(place)) * self._state.factor

    def _step(self, place: int) -> None:
        """lambda_j += epsilon sign(c_j)."""
        lookup, rules = self._state.lookup, self._rules
        feature = int(lookup.order[place])
        size = math.copysign(
            self._state.spread() if rules.scaled else 1.0, lookup.derivative(place)
        )
        old = float(self.w[feature])
        # Whole multiples, so that as many steps back lead to zero itself.
        self._units[feature] += size
        new = rules.epsilon * float(self._units[feature]) * float(self._scaling.factor[feature])
        self.w[feature] = new
        self._nonzero += (new != 0.0) - (old != 0.0)
        self._before.setdefault(feature, old)
        self._state.move(feature, new - old)
        self._features.append(feature)
        self._sizes.append(size)
        self._place = place

    def _catch_up(self) -> None:
        """Let the scores follow the weights that moved since this was last done."""
        features = np.array(sorted(self._before), dtype=np.int32)
        changes = self.w[features] - np.array([self._before[j] for j in features.tolist()])
        self._state.follow(features, changes)
        if self._held is not None:
            self._held.follow(features, changes)
        self._before.clear()

    def _measure(self) -> _Point:
        self._catch_up()
        b, objective, train = self._state.reached(self.w)
        held = math.nan
        if self._held is not None:
            held = self._state.held_out(self._held.z, b, self._held.y)
        return _Point(len(self._features), objective, train, held, self._nonzero, b)

    def _note(self) -> None:
        """Measure, report, and look at the rules that hang on it."""
        point, rules = self._measure(), self._rules
        self._points.append(point)
        if point.held < self._points[self._best].held:
            self._best = len(self._points) - 1
        callback = self._problem.callback
        if callback and callback(Step(point.step, point.objective, math.nan)):
            self.stopped = "callback"
        elif (
            self._held is not None
            and rules.patience is not None
            and point.step - self._points[self._best].step >= rules.patience
        ):
            self.stopped = "patience"


class _HeldOut:
    """Documents to measure on, and their scores z without the intercept."""

    def __init__(self, design: Design, y: Floats) -> None:
        self._design, self.y, self.z = design, y, np.zeros(len(y))

    @classmethod
    def of(cls, problem: Problem, rules: StepRules) -> _HeldOut | None:
        """Those of the problem; DataError where they do not fit, UsageError where a rule asks."""
        if problem.validation is None:
            if rules.patience is not None:
                raise UsageError(
                    "patience needs documents to measure on: give Problem.validation, or leave it "
                    "out."
                )
            return None
        design, y = problem.validation
        if not len(y):
            raise DataError("validation has no documents to measure on: give at least one.")
        return cls(design, y)

    def follow(self, features: Int32s, changes: Floats) -> None:
        """z += X change."""
        column_sums(*self._design.columns, changes, features, self.z)


def _likelihood(problem: Problem, rules: StepRules, scaling: Scaling) -> Likelihood:
    if rules.likelihood == "exponential":
        if not np.isin(problem.y, (-1.0, 1.0)).all():
            raise UsageError(
                "likelihood 'exponential' is for labels of -1 and +1, not for numbers."
            )
        return Exponential(problem, scaling)
    if rules.likelihood == "linear" or isinstance(problem.loss, Squared):
        limit = MEGABYTE * rules.cache
        return Linear(problem, scaling, problem.fit_intercept, limit)
    return General(problem, scaling)
