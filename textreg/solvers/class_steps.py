"""Softmax, class by class: steps over a class with the others fixed, for each kind of penalty."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg.penalties import Quadratic, Separable
from textreg.records import Floats, Problem
from textreg.solvers.class_newton import newton_together
from textreg.solvers.classes import Classes
from textreg.solvers.engine import NOISE, Engine
from textreg.solvers.quadratic import NewtonSteps

PASSES, POLISH = 3, 10
"""Rounds of coordinate descent and of conjugate gradients in a step over one class."""

SHARE = 0.1
"""Share of its gradient that a step over one class leaves, where the penalty is quadratic."""


class ClassStep(Protocol):
    """A solver for two classes that makes single steps, and what is to know of its penalty."""

    engine: Engine

    def step(self) -> None:
        """Improve the weights of the engine."""

    def value(self, w: Floats) -> float:
        """The penalty at w (p,)."""

    def smooth(self) -> bool:
        """Whether :meth:`together` needs no turns before it."""

    def together(self, classes: Classes) -> bool:
        """Improve all classes at once, if that is of use; whether it did."""

    def shared(self, ws: Floats) -> Floats:
        """The t (p,) that minimizes the penalty of ws - t, which has the same probabilities."""

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """An upper bound of sum_k penalty*(scale t_k), and the scale in [0, 1] that it is for.

        ts: (classes, p). ws: (classes, p), the present weights, where the bound is tight.
        """


def take_turns(classes: Classes, step: ClassStep) -> None:
    """Improve every class once, then what all have in common, then all of them at once.

    Smooth penalties need no turns, except far from the optimum, where Newton's method may fail.
    """
    from scipy.special import logsumexp

    if step.smooth() and step.together(classes):
        return
    engine, total = step.engine, logsumexp(classes.Z, axis=0)
    for k, y in enumerate(classes.y):
        rest = classes.rest(k, total)
        engine.move_to(classes.W[k].copy(), float(classes.b[k]), classes.Z[k] - rest, y)
        step.step()
        classes.W[k], classes.b[k], classes.Z[k] = engine.w, engine.b, engine.z + rest
        total = np.logaddexp(rest, classes.Z[k])
    shared = step.shared(classes.W)
    classes.W -= shared
    classes.Z -= classes.design.product(shared)
    step.together(classes)


class SeparableStep:
    """For penalties that are sums over single weights.

    Attributes
    ----------
    penalty : Separable
        The same for every class; it may be exchanged between two rounds.
    polish, effort : int
        As in :meth:`Engine.step`.
    """

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self.engine, self.penalty = Engine(problem.replace(start=None)), penalty
        self.polish, self.effort = POLISH, 1

    def step(self) -> None:
        """One proximal Newton step over the active set."""
        engine, penalty = self.engine, self.penalty
        engine.optimize_intercept()
        active = engine.active(penalty, engine.gradient())
        passes = PASSES if penalty.lam.any() else 1  # conjugate gradients do the work without
        engine.step(active, penalty, passes=passes, polish=self.polish, effort=self.effort)

    def smooth(self) -> bool:
        """Whether there is no l1 penalty."""
        return not self.penalty.lam.any()

    def together(self, classes: Classes) -> bool:
        """One Newton step over the weights that are not zero."""
        return newton_together(classes, self.penalty)

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self.penalty.value(w)

    def shared(self, ws: Floats) -> Floats:
        """Between the median and the mean of every feature's weights."""
        penalty, t = self.penalty, np.zeros(ws.shape[1])
        # Where most classes have a weight of zero, the median is zero.
        if self.smooth():
            return np.asarray(ws.mean(axis=0))
        features = np.flatnonzero(np.count_nonzero(ws, axis=0) > len(ws) // 2)
        t[features] = best_shift(ws[:, features], penalty.lam[features], penalty.q[features])
        return t

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """Exact; scaled until |t_j| <= lam_j where there is no ridge, as for two classes."""
        penalty, scale = self.penalty, 1.0
        for t in ts:
            # What is not a number certifies nothing.
            over = ~(np.abs(t) <= penalty.lam) & (penalty.q == 0.0)
            scale = float((penalty.lam[over] / np.abs(t[over])).min(initial=scale))
        total, has_ridge = 0.0, penalty.q > 0.0
        for t in ts:
            excess = np.maximum(scale * np.abs(t) - penalty.lam, 0.0)[has_ridge]
            total += 0.5 * float((excess * excess / penalty.q[has_ridge]).sum())
        return total, scale


class QuadraticStep:
    """For quadratic penalties that couple features."""

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        self._newton, self._penalty = NewtonSteps(problem.replace(start=None), penalty), penalty
        self.engine = self._newton.engine

    def step(self) -> None:
        """One Newton step."""
        newton = self._newton
        self.engine.optimize_intercept()
        newton.product = self._penalty.product(self.engine.w)
        newton.step(SHARE)

    def smooth(self) -> bool:
        """No, as nothing is done together."""
        return False

    def together(self, classes: Classes) -> bool:
        """Nothing more than taking turns."""
        return False

    def value(self, w: Floats) -> float:
        """The penalty."""
        return self._penalty.value(w)

    def shared(self, ws: Floats) -> Floats:
        """The mean."""
        return np.asarray(ws.mean(axis=0))

    def conjugate(self, ts: Floats, ws: Floats) -> tuple[float, float]:
        """t.w - w.Mw + ||t - 2 M w||^2 / (4 l2) for every class; see :mod:`.quadratic`."""
        total = 0.0
        for t, w in zip(ts, ws, strict=True):
            product, l2 = self._penalty.product(w), self._penalty.l2
            rest = t - 2.0 * product
            total += float(t @ w) - float(w @ product) + float(rest @ rest) / (4.0 * l2)
        return total, 1.0


def best_shift(ws: Floats, lam: Floats, q: Floats) -> Floats:
    """argmin_t sum_k lam |w_k - t| + q/2 (w_k - t)^2 for every column of ws (classes, p).

    lam, q: (p,). Between two consecutive weights, in sorted order, the sum is a parabola: its
    minimum there is the clipped vertex, or the median where q is 0.
    """
    ws = np.sort(ws, axis=0)
    k, total = len(ws), ws.sum(axis=0)
    best = np.zeros(ws.shape[1])  # unless another is better by more than rounding
    least = (lam * np.abs(ws).sum(axis=0) + 0.5 * q * (ws * ws).sum(axis=0)) * (1.0 - NOISE)
    divisor = np.where(q > 0.0, q, 1.0)
    for below in range(1, k):  # so many weights lie below t
        t = (total + lam * (k - 2 * below) / divisor) / k
        t = np.clip(np.where(q > 0.0, t, ws[k // 2]), ws[below - 1], ws[below])
        shifted = ws - t
        value = lam * np.abs(shifted).sum(axis=0) + 0.5 * q * (shifted * shifted).sum(axis=0)
        better = value < least
        best[better], least[better] = t[better], value[better]
    return best
