"""The point of a fit under overlapping groups: of one weight vector, or of one for every class."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from textreg.penalties import GroupNorms, Separable
from textreg.records import Floats
from textreg.solvers.certificate import DualPoint, EngineDual
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.continuation import has_kinks
from textreg.solvers.engine import Engine
from textreg.solvers.requests import alone
from textreg.solvers.ridge_step import Accuracy, ridge_step

ROUGH = 0.1
"""Without an l1 penalty, the share of the gradient that a step may leave, divided by the effort."""

PASSES = 3
"""Most rounds of coordinate descent in a step."""

SMALL = 2e-5
"""Weights below this, in the problem's unit of weights, may be set to zero."""

STEPS, ENOUGH, FINER = 10, 0.1, 3
"""Where the loss has kinks, and there is l1, a step is short and another one follows: so many at
most, until one falls by less than this share of all before; each is finer by this factor."""


class GroupFit(Protocol):
    """Where a solver for overlapping groups stands, and how it moves on."""

    @property
    def w(self) -> Floats:
        """Weights (p,), or (classes, p)."""

    @property
    def unit(self) -> float:
        """The unit of weights, as in :class:`textreg.solvers.scales.Scales`."""

    def improve(self, inner: Separable, polish: int, effort: int) -> float:
        """Lower the loss and the penalty ``inner``; returns the fall of their sum.

        polish, effort: as in :meth:`textreg.solvers.engine.Engine.step`.
        """

    def intercept(self) -> Floats | float:
        """The intercept, or a copy of those of all classes."""

    def size(self) -> Floats:
        """(p,) |w_j|, or the norm of the weights of feature j in all classes."""

    def value(self, norms: Floats) -> float:
        """The objective at the present weights, whose groups have these norms."""

    def value_at(self, w: Floats) -> float:
        """The objective at other weights, the intercept unchanged."""

    def curvature(self) -> Floats:
        """(p,) The curvature of the loss in every feature, or an upper bound of it."""

    def duals(self, rates: Floats, out: Floats) -> None:
        """Dual variables of the groups, ragged: rates_g w_g, or rates_g times the sizes (M3).

        Written to ``out``.
        """

    def dual(self) -> DualPoint:
        """Dual variables of the loss at the present weights."""


class VectorFit:
    """The fit of one weight vector: an engine and the penalty."""

    def __init__(
        self, engine: Engine, penalty: GroupNorms, unit: float, *, quick: bool = False
    ) -> None:
        """quick: whether rounds without l1 take the steps of a ridge."""
        self.engine, self._penalty, self._quick = engine, penalty, quick
        self.unit = unit

    @property
    def w(self) -> Floats:
        """Weights (p,)."""
        return self.engine.w

    def improve(self, inner: Separable, polish: int, effort: int) -> float:
        """One proximal Newton step."""
        engine = self.engine
        if self._quick and not inner.lam.any() and inner.q.all():
            rows, accuracy = compact_rows(engine.design), Accuracy(ROUGH / effort, 0.0)
            fall = alone(ridge_step(engine, rows, inner.q, engine.gradient(), accuracy))
            engine.restart(engine.w, engine.b)
            return fall
        steps, finer = (STEPS, FINER) if has_kinks(engine.loss) and inner.lam.any() else (1, 1)
        passes, polish, total = finer * PASSES, finer * polish, 0.0
        for _ in range(steps):
            active = engine.active(inner, engine.gradient())
            fall = engine.step(active, inner, passes=passes, polish=polish, effort=effort)
            total += fall
            if fall <= ENOUGH * total:
                break
        return total

    def intercept(self) -> float:
        """The intercept."""
        return self.engine.b

    def size(self) -> Floats:
        """(p,) |w_j|."""
        return np.abs(self.engine.w)

    def value(self, norms: Floats | None = None) -> float:
        """The objective at the present weights."""
        return self.engine.value + self._penalty.value(self.engine.w, norms)

    def value_at(self, w: Floats) -> float:
        """The objective at other weights, the intercept unchanged."""
        return self.engine.loss_at(w) + self._penalty.value(w)

    def curvature(self) -> Floats:
        """(p,) The curvature of the loss in every feature."""
        engine = self.engine
        return engine.design.curvature(engine.h) if self._quick else engine.curvature

    def duals(self, rates: Floats, out: Floats) -> None:
        """Dual variables of the groups, ragged: rates_g w_g; written to ``out``."""
        self._penalty.duals(rates, self.engine.w, out)

    def dual(self) -> EngineDual:
        """Dual variables of the loss at the present weights."""
        return EngineDual(self.engine, self._penalty.lam)


def rounded(fit: GroupFit, objective: float, tol: float) -> tuple[Floats, float]:
    """A copy of the weights, small ones set to zero; and its objective.

    If that raised their ``objective`` by a relative ``tol`` / 10 or more, they stay as they are.
    """
    w = fit.w
    sparse: Floats = np.where(np.abs(w) < SMALL * fit.unit, 0.0, w)
    if np.array_equal(sparse, w):
        return sparse, objective
    found = fit.value_at(sparse)
    return (sparse, found) if found <= objective * (1.0 + 0.1 * tol) else (w.copy(), objective)
