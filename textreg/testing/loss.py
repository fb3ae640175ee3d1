"""The contract of a loss: its derivatives, its conjugate and its bounds belong together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from textreg.kinds import Loss
from textreg.penalties import Separable
from textreg.records import Floats
from textreg.solvers.newton import newton
from textreg.testing.checks import Check, near, require, run_checks
from textreg.testing.parts import common_checks
from textreg.testing.problems import quiet, small

STEP = 1e-5
"""Step of the differences that derivatives are compared with."""

SLOPE = 1e-4
"""Relative error that differences may have."""

ROUNDING = 1e-9
"""Relative error that is left to floating point."""

EXTREME = (1e3, 1e6, 1e9)
"""Scores far beyond those of any fit."""

_checks = common_checks("loss", "loss-")


def loss_checks() -> list[Check]:
    """The checks of losses, in order; each is called with a name, a class or an instance."""
    return list(_checks.all)


def check_loss(part: str | type[Loss] | Loss, *, skip: Mapping[str, str] | None = None) -> None:
    """Check that a loss keeps its contract.

    Parameters
    ----------
    part : str, subclass of Loss, or Loss
        The loss; by name or as a class with its default parameters.
    skip : dict of str to str, optional
        Names of checks to leave out, each with the reason why.

    Raises
    ------
    ContractError
        If a check fails.
    UsageError
        If ``skip`` names a check that does not exist.
    """
    run_checks(_checks.all, part, skip)


class Point(NamedTuple):
    """Scores, labels and weights of some documents, and the loss's derivatives there."""

    z: Floats
    y: Floats
    c: Floats
    r: Floats
    h: Floats


def _labels(loss: Loss, n: int) -> Floats:
    """Labels of ``n`` documents, in turn +1 and -1, or numbers."""
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    return signs if loss.binary else signs * (0.5 + np.arange(n) % 5)


def _derivatives(loss: Loss, z: Floats, y: Floats, c: Floats) -> Point:
    # An array that is not written whole shows by its NaN.
    r, h = np.full(len(z), np.nan), np.full(len(z), np.nan)
    loss.derivatives(z, y, c, r, h)
    return Point(z, y, c, r, h)


def _points(loss: Loss) -> Iterator[Point]:
    """Scores on a grid and at random, with weights that include 0."""
    rng = np.random.default_rng(0)
    grid = np.repeat(np.linspace(-6.0, 6.0, 97), 2)
    for z in (grid, 3.0 * rng.standard_normal(50), np.zeros(8)):
        c = rng.uniform(0.1, 3.0, len(z))
        c[::7] = 0.0
        yield _derivatives(loss, z, _labels(loss, len(z)), c)


def _each(loss: Loss, at: Point) -> Floats:
    """The values of the documents, one by one."""
    ones = [slice(i, i + 1) for i in range(len(at.z))]
    return np.array([loss.value(at.z[i], at.y[i], at.c[i]) for i in ones])


@_checks.add("loss-value")
def _value(loss: Loss) -> None:
    """The value is a finite number, 0 or more, and a sum over documents weighted by c."""
    for at in _points(loss):
        value = loss.value(at.z, at.y, at.c)
        good = np.ndim(value) == 0 and np.isfinite(value) and value >= 0.0
        require(bool(good), "a finite number, 0 or more", value)
        near("the sum over documents", _each(loss, at).sum(), value, ROUNDING)
        double = loss.value(at.z, at.y, 2.0 * at.c)
        near("twice the value at twice the weights", double, 2.0 * value, ROUNDING)


@_checks.add("loss-inputs")
def _inputs(loss: Loss) -> None:
    """No method modifies its inputs, and the same inputs give the same outputs."""
    for at in _points(loss):
        z, y, c, alpha = at.z.copy(), at.y.copy(), at.c.copy(), -at.r
        for array in (z, y, c, alpha):
            array.flags.writeable = False  # which would raise
        first = _derivatives(loss, z, y, c)
        loss.value(z, y, c), loss.dual_value(alpha, y, c), loss.constant(y, c)
        loss.unsmoothed_value(z, y, c)
        bound = loss.curvature_bound(c)
        require(bound is not c, "a new array as curvature_bound", "its input")
        again = _derivatives(loss, z, y, c)
        for one, other in zip(first[3:], again[3:], strict=True):
            require(np.array_equal(one, other), f"{one} again", other)


@_checks.add("loss-derivatives")
def _derivatives_agree(loss: Loss) -> None:
    """derivatives fills r and h, which agree with finite differences, and returns the value."""
    for at in _points(loss):
        r, h = np.empty(len(at.z)), np.empty(len(at.z))
        returned = loss.derivatives(at.z, at.y, at.c, r, h)
        near("the value", returned, loss.value(at.z, at.y, at.c), ROUNDING)
        for name, array in (("r", at.r), ("h", at.h)):
            whole = bool(np.isfinite(array).all())
            require(whole, f"finite numbers in all of {name}", array)
        after = _derivatives(loss, at.z + STEP, at.y, at.c)
        before = _derivatives(loss, at.z - STEP, at.y, at.c)
        slope = (_each(loss, after) - _each(loss, before)) / (2.0 * STEP)
        slack = SLOPE * (1.0 + np.abs(slope)) + STEP * (at.h + after.h + before.h)
        wrong = np.abs(at.r - slope) > slack
        require(not wrong.any(), f"r = {slope[wrong]}", at.r[wrong])
        # Where second derivatives jump, the difference lies between those on both sides.
        bend = (after.r - before.r) / (2.0 * STEP)
        sides = np.array([before.h, at.h, after.h])
        slack = SLOPE * (1.0 + np.abs(bend))
        wrong = (bend > sides.max(axis=0) + slack) | (bend < sides.min(axis=0) - slack)
        require(not wrong.any(), f"h = {bend[wrong]}", at.h[wrong])


@_checks.add("loss-convex")
def _convex(loss: Loss) -> None:
    """The loss is convex: h is 0 or more, and r never falls as the score grows."""
    for at in _points(loss):
        require(bool((at.h >= 0.0).all()), "h of 0 or more", at.h.min())
        for step in (1e-3, 0.1, 2.0):
            further = _derivatives(loss, at.z + step, at.y, at.c)
            fall = float((at.r - further.r).max())
            enough = fall <= ROUNDING * float(np.abs(at.r).max())
            require(enough, f"no fall of r {step:g} further", fall)


@_checks.add("loss-curvature")
def _curvature(loss: Loss) -> None:
    """No second derivative is above curvature_bound(c), (n,) finite numbers."""
    for at in _points(loss):
        bound = loss.curvature_bound(at.c)
        good = bound.shape == at.c.shape and bool(np.isfinite(bound).all())
        require(good, f"{len(at.c)} finite numbers", bound)
        over = float((at.h - bound * (1.0 + ROUNDING)).max())
        require(over <= 0.0, "h below the bound", f"{over:g} above")


@_checks.add("loss-third-derivative", applies=lambda loss: loss.third_derivative_bound < np.inf)
def _third_derivative(loss: Loss) -> None:
    """If third_derivative_bound is finite, h changes by at most that, times the weight, per unit
    of the score."""
    for at in _points(loss):
        for step in (1e-2, 0.3, 3.0):
            further = _derivatives(loss, at.z + step, at.y, at.c)
            most = loss.third_derivative_bound * at.c * step
            over = float((np.abs(further.h - at.h) - most * (1.0 + ROUNDING)).max())
            require(over <= ROUNDING, "changes within it", f"{over:g} more")


@_checks.add("loss-conjugate")
def _conjugate(loss: Loss) -> None:
    """By the Fenchel-Young inequality, dual_value(alpha) is at most value(z) + alpha.z at all
    scores, with equality at alpha = -r; it is finite between there and zero."""
    for at in _points(loss):
        value = loss.value(at.z, at.y, at.c)
        size = value + float(np.abs(at.r) @ np.abs(at.z)) + 1e-3
        equal = loss.dual_value(-at.r, at.y, at.c)
        gap = abs(value - float(at.r @ at.z) - equal) / size
        require(gap <= 1e-7, "equality at alpha = -r", f"{gap:.2g} apart")
        for share in (0.0, 0.3, 0.9, 1.0):
            alpha = -share * at.r
            dual = loss.dual_value(alpha, at.y, at.c)
            require(bool(np.isfinite(dual)), "a finite dual_value", dual)
            for z in (at.z, at.z[::-1].copy(), np.zeros(len(at.z)), at.z + 1.0, 5.0 * at.z):
                line = loss.value(z, at.y, at.c) + float(alpha @ z)
                slack = 1e-7 * (size + abs(line))
                expected = f"a dual_value of {line:.8g} at most"
                require(dual <= line + slack, expected, f"{dual:.8g}")


@_checks.add("loss-balance")
def _balance(loss: Loss) -> None:
    """balance makes alpha sum to zero in place, and dual_value stays a finite lower bound."""
    for at in _points(loss):
        alpha = -at.r
        loss.balance(alpha, at.c)
        total, size = float(alpha.sum()), float(np.abs(at.r).sum()) + 1e-3
        require(abs(total) <= ROUNDING * size, "a sum of 0", total)
        dual, line = loss.dual_value(alpha, at.y, at.c), loss.value(at.z, at.y, at.c)
        line += float(alpha @ at.z)
        require(bool(np.isfinite(dual)), "a finite dual_value", dual)
        below = dual <= line + 1e-7 * (size + abs(line))
        require(below, f"a dual_value of {line:.8g} at most", f"{dual:.8g}")


@_checks.add("loss-constant")
def _constant(loss: Loss) -> None:
    """constant gives the best score that is the same for all documents; those of weight 0 do not
    count."""
    rng = np.random.default_rng(1)
    for n in (2, 3, 10, 41):
        y, c = _labels(loss, n), rng.uniform(0.1, 3.0, n)
        best = loss.constant(y, c)
        least = loss.value(np.full(n, best), y, c)
        for move in (-1.0, -1e-2, 1e-2, 1.0):
            value = loss.value(np.full(n, best + move), y, c)
            enough = value >= least - 1e-7 * (least + 1e-3)
            require(enough, f"no value below {least:.8g} nearby", f"{value:.8g}")
        more = loss.constant(np.r_[y, y[:1]], np.r_[c, 0.0])
        near("the same beside a document of weight 0", more, best, 1e-6)


@_checks.add("loss-extremes")
def _extremes(loss: Loss) -> None:
    """Extreme scores give finite numbers, no warnings, and monotone derivatives."""
    y, c = _labels(loss, 8), np.ones(8)
    last = _derivatives(loss, np.zeros(8), y, c).r
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in EXTREME:
            for z in (np.full(8, -size), np.full(8, size)):
                value, at = loss.value(z, y, c), _derivatives(loss, z, y, c)
                finite = np.isfinite([value, *at.r, *at.h]).all()
                require(finite, f"finite numbers at scores of {size:g}", at)
            require(bool((at.r >= last - ROUNDING).all()), f"{last} at least", at.r)
            last = at.r


@_checks.add("loss-unsmoothed", applies=lambda loss: loss.smoothed)
def _unsmoothed(loss: Loss) -> None:
    """unsmoothed_value is at least the value, so that a lower bound on one holds for the other."""
    for at in _points(loss):
        value, above = loss.value(at.z, at.y, at.c), loss.unsmoothed_value(at.z, at.y, at.c)
        enough = above >= value - ROUNDING * value
        require(enough, f"{value:.8g} at least", f"{above:.8g}")


@_checks.add("loss-fit")
def _fit(loss: Loss) -> None:
    """Ridge and lasso with this loss converge to their tolerance, measured by the duality gap."""
    problem = small(loss=loss, tol=1e-6)
    if not loss.binary:
        problem = problem.replace(y=problem.X @ np.linspace(-1.0, 1.0, problem.X.shape[1]) + 0.5)
    for l1, l2 in ((0.0, 1.0), (0.1 * problem.largest_gradient_at_zero(), 0.0)):
        with quiet():
            found = newton(problem, Separable.constant(problem.X.shape[1], l1=l1, l2=l2))
        reached = found.converged and 0.0 <= found.gap <= problem.tol
        require(reached, f"a gap of 0 to {problem.tol:g}", found.gap)
