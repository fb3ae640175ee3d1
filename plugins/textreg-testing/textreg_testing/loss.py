"""The contract of a loss: its derivatives, its conjugate and its bounds belong together."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Loss
from textreg.penalties import Separable
from textreg.records import Floats
from textreg.solvers.newton import newton
from textreg_testing.checks import (
    ContractError,
    Run,
    always,
    at_least,
    at_most,
    common_checks,
    contract,
    finite,
    near,
    require,
)
from textreg_testing.regularizer import quiet, small


class Point(NamedTuple):
    """Scores, labels and weights of some documents, and the loss's derivatives there."""

    z: Floats
    y: Floats
    c: Floats
    r: Floats
    h: Floats


def variants(loss: Loss) -> Iterator[tuple[str, Loss]]:
    """The loss with one parameter changed, each in turn, with its name."""
    for key, declared in loss.declared().items():
        value = loss.params()[key]
        others: list[Any] = [choice for choice in declared.choices or () if choice != value]
        if isinstance(value, bool):
            others = [not value]
        elif isinstance(value, int | float) and not others:
            low = -math.inf if declared.min is None else declared.min
            high = math.inf if declared.max is None else declared.max
            near = {min(max(type(value)(each), low), high) for each in (2 * value, 0.5 * value)}
            others = sorted(near - {value})
        for other in others:
            with contextlib.suppress(UsageError):  # it may contradict the others
                yield key, loss.replace(**{key: other})


def labels(loss: Loss, n: int) -> Floats:
    """Labels of ``n`` documents, in turn +1 and -1, or numbers."""
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    return signs if loss.binary else signs * (0.5 + np.arange(n) % 5)


def derivatives(loss: Loss, z: Floats, y: Floats, c: Floats) -> Point:
    # An array that is not written whole shows by its NaN.
    r, h = np.full(len(z), np.nan), np.full(len(z), np.nan)
    loss.derivatives(z, y, c, r, h)
    return Point(z, y, c, r, h)


def points(loss: Loss) -> Iterator[Point]:
    """Scores on a grid, at random and far out, with weights that include 0."""
    rng = np.random.default_rng(0)
    grid = np.repeat(np.linspace(-6.0, 6.0, 97), 2)
    far = np.repeat([-40.0, -30.0, -20.0, -11.0, 11.0, 20.0, 30.0, 40.0], 2)
    for z in (grid, 3.0 * rng.standard_normal(50), np.zeros(8), far):
        c = rng.uniform(0.1, 3.0, len(z))
        c[::7] = 0.0
        yield derivatives(loss, z, labels(loss, len(z)), c)


def each(loss: Loss, at: Point) -> Floats:
    """The values of the documents, one by one."""
    ones = [slice(i, i + 1) for i in range(len(at.z))]
    return np.array([loss.value(at.z[i], at.y[i], at.c[i]) for i in ones])


# Step of the differences that derivatives are compared with.
STEP = 1e-5

# Relative error that differences may have.
SLOPE = 1e-4

# Relative error that is left to floating point.
ROUNDING = 1e-9

checks = common_checks("loss", "loss-")
loss_checks = checks.of
check_loss = contract(loss_checks)


def add(name: str, applies: Callable[..., bool] = always) -> Callable[[Run], Run]:
    """Decorate a check that is made with other values of the parameters as well."""

    def keep(run: Run) -> Run:
        @wraps(run)
        def every(loss: Loss) -> None:
            run(loss)
            for key, other in variants(loss):
                try:
                    run(other)
                except ContractError as error:
                    value = f"That is with {key}={getattr(other, key)!r}."
                    error.args = (f"{error} {value}",)
                    raise

        checks.add(name, applies)(every)
        return run

    return keep


@add("value")
def _value(loss: Loss) -> None:
    """The value is a finite number, 0 or more, and a sum over documents."""
    for at in points(loss):
        value = loss.value(at.z, at.y, at.c)
        good = np.ndim(value) == 0 and np.isfinite(value) and value >= 0.0
        require(bool(good), "a finite number, 0 or more", value)
        near("the sum over documents", each(loss, at).sum(), value, ROUNDING)


@add("weights")
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


@add("parameters-matter", applies=lambda loss: any(True for _ in variants(loss)))
def _parameters_matter(loss: Loss) -> None:
    """Another value of a parameter gives another loss."""
    same: dict[str, bool] = {}
    for key, other in variants(loss):
        pairs = ((each(loss, at), each(other, at)) for at in points(loss))
        same[key] = same.get(key, True) and all(np.array_equal(*pair) for pair in pairs)
    for key, still in same.items():
        require(not still, f"another loss with another {key}", "the same at all scores")


@add("inputs")
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


@add("derivatives")
def _derivatives_agree(loss: Loss) -> None:
    """derivatives fills r and h, which agree with finite differences, and returns the value."""
    for at in points(loss):
        r, h = np.empty(len(at.z)), np.empty(len(at.z))
        returned = loss.derivatives(at.z, at.y, at.c, r, h)
        near("the value", returned, loss.value(at.z, at.y, at.c), ROUNDING)
        finite("numbers in all of r", at.r)
        finite("numbers in all of h", at.h)
        after = derivatives(loss, at.z + STEP, at.y, at.c)
        before = derivatives(loss, at.z - STEP, at.y, at.c)
        slope = (each(loss, after) - each(loss, before)) / (2.0 * STEP)
        slack = SLOPE * (1.0 + np.abs(slope)) + STEP * (at.h + after.h + before.h)
        wrong = np.abs(at.r - slope) > slack
        require(not wrong.any(), f"r = {slope[wrong]}", at.r[wrong])
        # Where second derivatives jump, the difference lies between those on both sides.
        bend = (after.r - before.r) / (2.0 * STEP)
        sides = np.array([before.h, at.h, after.h])
        slack = SLOPE * (1.0 + np.abs(bend))
        wrong = (bend > sides.max(axis=0) + slack) | (bend < sides.min(axis=0) - slack)
        require(not wrong.any(), f"h = {bend[wrong]}", at.h[wrong])


@add("convex")
def _convex(loss: Loss) -> None:
    """The loss is convex: h is 0 or more, and r never falls as the score grows."""
    for at in points(loss):
        at_least("h", at.h.min(), 0.0)
        for step in (1e-3, 0.1, 2.0):
            further = derivatives(loss, at.z + step, at.y, at.c)
            fall = float((at.r - further.r).max())
            at_most(f"a fall of r {step:g} further", fall, 0.0, ROUNDING * np.abs(at.r).max())


@add("curvature")
def _curvature(loss: Loss) -> None:
    """No second derivative is above curvature_bound(c), (n,) finite numbers."""
    for at in points(loss):
        bound = loss.curvature_bound(at.c)
        good = bound.shape == at.c.shape and bool(np.isfinite(bound).all())
        require(good, f"{len(at.c)} finite numbers", bound)
        at_most("h above the bound", float((at.h - bound * (1.0 + ROUNDING)).max()), 0.0)


@add("third-derivative", applies=lambda loss: loss.third_derivative_bound < np.inf)
def _third_derivative(loss: Loss) -> None:
    """If third_derivative_bound is finite, h changes by at most that, times the weight, per unit
    of the score."""
    for at in points(loss):
        for step in (1e-2, 0.3, 3.0):
            further = derivatives(loss, at.z + step, at.y, at.c)
            most = loss.third_derivative_bound * at.c * step
            over = float((np.abs(further.h - at.h) - most * (1.0 + ROUNDING)).max())
            at_most("a change beyond it", over, 0.0, ROUNDING)


# Scores far beyond those of any fit.
EXTREME = (1e3, 1e6, 1e9)

# Scores on the way there, in steps so small that none skips the place where a loss gives up.
TAIL = (0.0, 2.0, 6.0, 10.0, 15.0, 20.0, 25.0, 30.0, 36.0, 40.0, 100.0, 300.0, 700.0, 1e3, 1e6)


@add("conjugate")
def _conjugate(loss: Loss) -> None:
    """By the Fenchel-Young inequality, dual_value(alpha) is at most value(z) + alpha.z at all
    scores, with equality at alpha = -r; it is finite between there and zero."""
    for at in points(loss):
        value = loss.value(at.z, at.y, at.c)
        size = value + float(np.abs(at.r) @ np.abs(at.z)) + 1e-3
        equal = loss.dual_value(-at.r, at.y, at.c)
        gap = abs(value - float(at.r @ at.z) - equal) / size
        require(gap <= 1e-7, "equality at alpha = -r", f"{gap:.2g} apart")
        for share in (0.0, 0.3, 0.9, 1.0):
            alpha = -share * at.r
            dual = loss.dual_value(alpha, at.y, at.c)
            finite("dual_value", dual)
            for z in (at.z, at.z[::-1].copy(), np.zeros(len(at.z)), at.z + 1.0, 5.0 * at.z):
                line = loss.value(z, at.y, at.c) + float(alpha @ z)
                at_most("a dual_value", dual, line, 1e-7 * (size + abs(line)))


@add("balance")
def _balance(loss: Loss) -> None:
    """balance makes alpha sum to zero in place, and dual_value stays a finite lower bound."""
    for at in points(loss):
        alpha = -at.r
        loss.balance(alpha, at.c)
        total, size = float(alpha.sum()), float(np.abs(at.r).sum()) + 1e-3
        require(abs(total) <= ROUNDING * size, "a sum of 0", total)
        dual, line = loss.dual_value(alpha, at.y, at.c), loss.value(at.z, at.y, at.c)
        line += float(alpha @ at.z)
        finite("dual_value", dual)
        at_most("a dual_value", dual, line, 1e-7 * (size + abs(line)))


@add("constant")
def _constant(loss: Loss) -> None:
    """constant gives the best score that is the same for all documents, however rare a label is;
    those of weight 0 do not count."""
    rng = np.random.default_rng(1)
    for n, rare in itertools.product((2, 3, 10, 41), (1.0, 1e-3)):
        y, c = labels(loss, n), rng.uniform(0.1, 3.0, n)
        c[y < 0.0] *= rare
        best = loss.constant(y, c)
        require(np.ndim(best) == 0 and bool(np.isfinite(best)), "a finite number", best)
        least = loss.value(np.full(n, best), y, c)
        for move in (-1.0, -1e-2, 1e-2, 1.0):
            value = loss.value(np.full(n, best + move), y, c)
            at_least("a value nearby", value, least, 1e-7 * (least + 1e-3))
        more = loss.constant(np.r_[y, y[:1]], np.r_[c, 0.0])
        near("the same beside a document of weight 0", more, best, 1e-6)
    for label in (-1.0, 1.0):
        alone = loss.constant(np.full(3, label), np.ones(3))
        require(bool(np.isfinite(alone)), f"a finite number where all labels are {label:g}", alone)


@add("log-odds", applies=lambda loss: loss.log_odds)
def _log_odds(loss: Loss) -> None:
    """If log_odds is True, the best score of documents that are +1 with a probability q is
    log(q / (1 - q))."""
    require(loss.binary, "binary = True where scores are log odds", "False")
    y = np.array([1.0, -1.0])
    for q in (0.02, 0.3, 0.5, 0.9):
        best = loss.constant(y, np.array([q, 1.0 - q]))
        near(f"the best score for a probability of {q}", best, np.log(q / (1.0 - q)), 1e-5)


@add("extremes")
def _extremes(loss: Loss) -> None:
    """Extreme scores give finite numbers and no warnings, and on the way there the value changes
    as its derivatives say."""
    y, c = labels(loss, 8), np.ones(8)
    last = derivatives(loss, np.zeros(8), y, c).r
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in EXTREME:
            for z in (np.full(8, -size), np.full(8, size)):
                value, at = loss.value(z, y, c), derivatives(loss, z, y, c)
                finite = np.isfinite([value, *at.r, *at.h]).all()
                require(finite, f"finite numbers at scores of {size:g}", at)
            require(bool((at.r >= last - ROUNDING).all()), f"{last} at least", at.r)
            last = at.r
    scores = [-score for score in TAIL[:0:-1]] + list(TAIL)
    for one, other in itertools.pairwise(scores):
        before = derivatives(loss, np.full(8, one), y, c)
        after = derivatives(loss, np.full(8, other), y, c)
        rise = each(loss, after) - each(loss, before)
        low, high = (other - one) * before.r, (other - one) * after.r
        slack = 1e-7 * (np.abs(low) + np.abs(high) + each(loss, before)) + 1e-12
        wrong = (rise < low - slack) | (rise > high + slack)
        expected = (
            f"a rise of {low[wrong]} to {high[wrong]} between scores of {one:g} and {other:g}"
        )
        require(not wrong.any(), expected, rise[wrong])


@add("unsmoothed", applies=lambda loss: loss.smoothed)
def _unsmoothed(loss: Loss) -> None:
    """unsmoothed_value is at least the value, so that a lower bound on one holds for the other. It
    is a sum weighted by c, and stays near the value at large scores."""
    above: list[float] = []
    for at in points(loss):
        value, unsmoothed = loss.value(at.z, at.y, at.c), loss.unsmoothed_value(at.z, at.y, at.c)
        at_least("an unsmoothed value", unsmoothed, value, ROUNDING * value)
        for factor in (2.0, 1e-3):
            other = loss.unsmoothed_value(at.z, at.y, factor * at.c)
            near(f"{factor:g} times the weights: the value", other, factor * unsmoothed, ROUNDING)
        above.append((unsmoothed - value) / float(at.c.sum()))
    y, ones = labels(loss, 8), np.ones(8)
    for size in (1e2, 1e4):
        z = np.full(8, size)
        apart = loss.unsmoothed_value(z, y, ones) - loss.value(z, y, ones)
        what = f"a distance from the value at scores of {size:g}"
        at_most(what, apart / 8.0, 20.0 * max(above), 1e-6 * size)


@checks.add("fit")
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
