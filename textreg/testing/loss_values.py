"""The contract of a loss, its first half: value, weights, derivatives and their bounds."""

from __future__ import annotations

import itertools

import numpy as np

from textreg.kinds import Loss
from textreg.testing.checks import near, require
from textreg.testing.hints import ratio
from textreg.testing.loss_points import adder, derivatives, each, points, variants
from textreg.testing.parts import common_checks

STEP = 1e-5
"""Step of the differences that derivatives are compared with."""

SLOPE = 1e-4
"""Relative error that differences may have."""

ROUNDING = 1e-9
"""Relative error that is left to floating point."""

checks = common_checks("loss", "loss-")
add = adder(checks)


@add("loss-value")
def _value(loss: Loss) -> None:
    """The value is a finite number, 0 or more, and a sum over documents."""
    for at in points(loss):
        value = loss.value(at.z, at.y, at.c)
        good = np.ndim(value) == 0 and np.isfinite(value) and value >= 0.0
        require(bool(good), "a finite number, 0 or more", value)
        near("the sum over documents", each(loss, at).sum(), value, ROUNDING)


@add("loss-weights")
def _weights(loss: Loss) -> None:
    """The weight of a document multiplies its value, its derivatives, their bound and its dual
    value."""
    for at, factor in itertools.product(points(loss), (2.0, 1e-6, 1e6)):
        z, y, c = at.z, at.y, factor * at.c
        more = derivatives(loss, z, y, c)
        pairs = {
            "value": (loss.value(z, y, c), loss.value(z, y, at.c)),
            "r": (more.r, at.r),
            "h": (more.h, at.h),
            "curvature_bound": (loss.curvature_bound(c), loss.curvature_bound(at.c)),
            "dual_value": (
                loss.dual_value(-factor * at.r, y, c),
                loss.dual_value(-at.r, y, at.c),
            ),
        }
        for name, (one, other) in pairs.items():
            what = f"{name} {factor:g} times as large with weights {factor:g} times as large"
            near(what, one, factor * np.asarray(other), 1e-7)


@add("loss-parameters-matter", applies=lambda loss: any(True for _ in variants(loss)))
def _parameters_matter(loss: Loss) -> None:
    """Another value of a parameter gives another loss."""
    same: dict[str, bool] = {}
    for key, other in variants(loss):
        pairs = ((each(loss, at), each(other, at)) for at in points(loss))
        same[key] = same.get(key, True) and all(np.array_equal(*pair) for pair in pairs)
    for key, still in same.items():
        require(not still, f"another loss with another {key}", "the same at all scores")


@add("loss-inputs")
def _inputs(loss: Loss) -> None:
    """No method modifies its inputs, the same inputs give the same outputs, and documents do not
    act on each other."""
    for at in points(loss):
        z, y, c, alpha = at.z.copy(), at.y.copy(), at.c.copy(), -at.r
        for array in (z, y, c, alpha):
            array.flags.writeable = False  # which would raise
        first = derivatives(loss, z, y, c)
        loss.value(z, y, c), loss.dual_value(alpha, y, c), loss.constant(y, c)
        loss.unsmoothed_value(z, y, c)
        bound = loss.curvature_bound(c)
        require(bound is not c, "a new array as curvature_bound", "its input")
        again = derivatives(loss, z, y, c)
        for one, other in zip(first[3:], again[3:], strict=True):
            require(np.array_equal(one, other), f"{one} again", other)
        turned = derivatives(loss, z[::-1].copy(), y[::-1].copy(), c[::-1].copy())
        for name, one, other in (("r", turned.r, first.r), ("h", turned.h, first.h)):
            near(f"{name} of each document, whichever stand before it,", one[::-1], other, ROUNDING)


@add("loss-derivatives")
def _derivatives_agree(loss: Loss) -> None:
    """derivatives fills r and h, which agree with finite differences, and returns the value."""
    for at in points(loss):
        r, h = np.empty(len(at.z)), np.empty(len(at.z))
        returned = loss.derivatives(at.z, at.y, at.c, r, h)
        near("the value", returned, loss.value(at.z, at.y, at.c), ROUNDING)
        for name, array in (("r", at.r), ("h", at.h)):
            whole = bool(np.isfinite(array).all())
            require(whole, f"finite numbers in all of {name}", array)
        after = derivatives(loss, at.z + STEP, at.y, at.c)
        before = derivatives(loss, at.z - STEP, at.y, at.c)
        slope = (each(loss, after) - each(loss, before)) / (2.0 * STEP)
        slack = SLOPE * (1.0 + np.abs(slope)) + STEP * (at.h + after.h + before.h)
        wrong = np.abs(at.r - slope) > slack
        told = ratio(slope, at.r)
        require(not wrong.any(), f"r = {slope[wrong]}", f"{at.r[wrong]}{told and f': {told}'}")
        # Where second derivatives jump, the difference lies between those on both sides.
        bend = (after.r - before.r) / (2.0 * STEP)
        sides = np.array([before.h, at.h, after.h])
        slack = SLOPE * (1.0 + np.abs(bend))
        wrong = (bend > sides.max(axis=0) + slack) | (bend < sides.min(axis=0) - slack)
        told = ratio(bend, at.h)
        require(not wrong.any(), f"h = {bend[wrong]}", f"{at.h[wrong]}{told and f': {told}'}")


@add("loss-convex")
def _convex(loss: Loss) -> None:
    """The loss is convex: h is 0 or more, and r never falls as the score grows."""
    for at in points(loss):
        require(bool((at.h >= 0.0).all()), "h of 0 or more", at.h.min())
        for step in (1e-3, 0.1, 2.0):
            further = derivatives(loss, at.z + step, at.y, at.c)
            fall = float((at.r - further.r).max())
            enough = fall <= ROUNDING * float(np.abs(at.r).max())
            require(enough, f"no fall of r {step:g} further", fall)


@add("loss-curvature")
def _curvature(loss: Loss) -> None:
    """No second derivative is above curvature_bound(c), (n,) finite numbers."""
    for at in points(loss):
        bound = loss.curvature_bound(at.c)
        good = bound.shape == at.c.shape and bool(np.isfinite(bound).all())
        require(good, f"{len(at.c)} finite numbers", bound)
        over = float((at.h - bound * (1.0 + ROUNDING)).max())
        require(over <= 0.0, "h below the bound", f"{over:g} above")


@add("loss-third-derivative", applies=lambda loss: loss.third_derivative_bound < np.inf)
def _third_derivative(loss: Loss) -> None:
    """If third_derivative_bound is finite, h changes by at most that, times the weight, per unit
    of the score."""
    for at in points(loss):
        for step in (1e-2, 0.3, 3.0):
            further = derivatives(loss, at.z + step, at.y, at.c)
            most = loss.third_derivative_bound * at.c * step
            over = float((np.abs(further.h - at.h) - most * (1.0 + ROUNDING)).max())
            require(over <= ROUNDING, "changes within it", f"{over:g} more")
