"""The contracts of a loss and of a penalty, the two terms of an objective.

The derivatives of a loss, its conjugate and its bounds belong together. A penalty is an object
with ``value(w)`` and ``prox(w, step)``, where a step stands for a strength: prox(w, step) is
prox(w, 1) of ``step`` times the penalty. So a tiny step shows what a strength of zero does, and a
huge one what an unlimited strength does.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Loss
from textreg.penalties import Penalty, Separable
from textreg.records import Floats
from textreg.solvers.newton import newton
from textreg_testing.checks import (
    SECONDS,
    Applies,
    Checks,
    ContractError,
    Run,
    at_least,
    at_most,
    between,
    contract,
    finite,
    near,
    require,
    run_checks,
)
from textreg_testing.problems import small
from textreg_testing.repeated import Repeats, common_checks, others, settings_check


class Point(NamedTuple):
    """Scores, labels and weights of some documents, and the loss there with its derivatives."""

    z: Floats
    y: Floats
    c: Floats
    r: Floats
    h: Floats
    value: float


def variants(loss: Loss) -> Iterator[tuple[str, Loss]]:
    """The loss with one parameter changed, each in turn, with its name."""
    for key, declared in loss.declared().items():
        value = getattr(loss, key) or 0
        for other in others(declared, getattr(loss, key)):
            named = isinstance(other, (bool, str))
            if named or (other is not None and other / 2 <= value <= 2 * other):
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
    return Point(z, y, c, r, h, loss.value(z, y, c))


def points(loss: Loss) -> Iterator[Point]:
    """Scores on a grid, at random and far out, with weights that include 0."""
    rng = np.random.default_rng(0)
    grid = np.repeat(np.linspace(-6.0, 6.0, 97), 2)
    far = np.repeat([-40.0, -30.0, -20.0, -11.0, 11.0, 20.0, 30.0, 40.0], 2)
    for z in (grid, 3.0 * rng.standard_normal(50), np.zeros(8), far):
        c = rng.uniform(0.1, 3.0, len(z))
        c[::7] = 0.0
        y = labels(loss, len(z))
        for array in (z, y, c):
            array.flags.writeable = False  # so that whoever modifies its input raises
        yield derivatives(loss, z, y, c)


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


settings_check(
    checks, Repeats(each, np.ndarray.tolist, lambda loss: [], lambda loss: list(points(loss)))
)


def add(name: str, *applies: Applies, at_points: bool = False) -> Callable[[Run], Run]:
    """Decorate a check that is made with other values of the parameters as well.

    at_points: whether it is asked at each of some points, and given it.
    """

    def keep(run: Run) -> Run:
        def once(loss: Loss) -> None:
            for at in zip(points(loss), strict=True) if at_points else [()]:
                run(loss, *at)

        @wraps(run)
        def every(loss: Loss) -> None:
            once(loss)
            for key, other in variants(loss):
                try:
                    once(other)
                except ContractError as error:
                    value = f"That is with {key}={getattr(other, key)!r}."
                    error.args = (f"{error} {value}",)
                    raise

        checks.add(name, *applies)(every)
        return run

    return keep


@add("value", at_points=True)
def _value(loss: Loss, at: Point) -> None:
    """The value is a finite number, 0 or more, and a sum over documents, which do not act on each
    other. The same inputs give the same derivatives, and no method modifies them."""
    good = np.ndim(at.value) == 0 and 0.0 <= at.value < math.inf
    require(good, "a number of 0 or more", at.value)
    require(loss.curvature_bound(at.c) is not at.c, "a new array as curvature_bound", "its input")
    again = derivatives(loss, at.z, at.y, at.c)
    turned = derivatives(loss, at.z[::-1].copy(), at.y[::-1].copy(), at.c[::-1].copy())
    for name in ("r", "h"):
        one, other, back = (getattr(it, name) for it in (at, again, turned))
        require(np.array_equal(one, other), f"{one} again", other)
        near(f"{name} of each document, whichever stand before it,", back[::-1], one, ROUNDING)
    near("the sum over documents", each(loss, at).sum(), at.value, ROUNDING)


@add("weights", at_points=True)
def _weights(loss: Loss, at: Point) -> None:
    """The weight of a document multiplies its value, its derivatives, their bound and its dual
    value."""
    for factor in (2.0, 1e-6, 1e6):
        y, c = at.y, factor * at.c
        more = derivatives(loss, at.z, y, c)
        pairs = {
            "value": (more.value, at.value),
            "r": (more.r, at.r),
            "h": (more.h, at.h),
            "curvature_bound": (loss.curvature_bound(c), loss.curvature_bound(at.c)),
        }
        if loss.convex:  # of others it is not asked
            duals = loss.dual_value(-factor * at.r, y, c), loss.dual_value(-at.r, y, at.c)
            pairs["dual_value"] = duals
        for name, (one, other) in pairs.items():
            what = f"{name} {factor:g} times as large with weights {factor:g} times as large"
            near(what, one, factor * np.asarray(other), 1e-7)


@add("derivatives", at_points=True)
def _derivatives_agree(loss: Loss, at: Point) -> None:
    """derivatives fills r and h, which agree with finite differences, and returns the value."""
    r, h = np.empty(len(at.z)), np.empty(len(at.z))
    near("the value", loss.derivatives(at.z, at.y, at.c, r, h), at.value, ROUNDING)
    finite("numbers in all of r", at.r)
    finite("numbers in all of h", at.h)
    after = derivatives(loss, at.z + STEP, at.y, at.c)
    before = derivatives(loss, at.z - STEP, at.y, at.c)
    slope = (each(loss, after) - each(loss, before)) / (2.0 * STEP)
    slack = SLOPE * (1.0 + np.abs(slope)) + STEP * (at.h + after.h + before.h)
    between("r", at.r, slope - slack, slope + slack)
    # Where second derivatives jump, the difference lies between those on both sides.
    bend = (after.r - before.r) / (2.0 * STEP)
    sides = np.array([before.h, at.h, after.h])
    slack = SLOPE * (1.0 + np.abs(bend))
    between("a change of r as h says", bend, sides.min(axis=0) - slack, sides.max(axis=0) + slack)


@add("convex", lambda loss: loss.convex, at_points=True)
def _convex(loss: Loss, at: Point) -> None:
    """The loss is convex, unless the class says convex = False: h is 0 or more, and r never falls
    as the score grows."""
    at_least("h", at.h.min(), 0.0)
    for step in (1e-3, 0.1, 2.0):
        further = derivatives(loss, at.z + step, at.y, at.c)
        fall = float((at.r - further.r).max())
        at_most(f"a fall of r {step:g} further", fall, 0.0, ROUNDING * np.abs(at.r).max())


@add("curvature", at_points=True)
def _curvature(loss: Loss, at: Point) -> None:
    """No second derivative is above curvature_bound(c), (n,) finite numbers. If
    third_derivative_bound is finite, they change by at most that, times the weight, per unit of
    the score."""
    bound = loss.curvature_bound(at.c)
    require(bound.shape == at.c.shape, f"{len(at.c)} numbers", bound)
    finite("curvature_bound", bound)
    size = at.h if loss.convex else np.abs(at.h)
    between("h below curvature_bound", size, -np.inf, bound * (1.0 + ROUNDING))
    for step in (1e-2, 0.3, 3.0) if loss.third_derivative_bound < np.inf else ():
        further = derivatives(loss, at.z + step, at.y, at.c)
        most = loss.third_derivative_bound * at.c * step * (1.0 + ROUNDING) + ROUNDING
        between("a change of h within third_derivative_bound", further.h - at.h, -most, most)


# Scores far beyond those of any fit.
EXTREME = (1e3, 1e6, 1e9)

# Scores on the way there, in steps so small that none skips the place where a loss gives up.
TAIL = (0.0, 2.0, 6.0, 10.0, 15.0, 20.0, 25.0, 30.0, 36.0, 40.0, 100.0, 300.0, 700.0, *EXTREME)


@add("conjugate", lambda loss: loss.convex, at_points=True)
def _conjugate(loss: Loss, at: Point) -> None:
    """By the Fenchel-Young inequality, dual_value(alpha) is at most value(z) + alpha.z at all
    scores, with equality at alpha = -r; it is finite between there and zero."""
    size = at.value + float(np.abs(at.r) @ np.abs(at.z)) + 1e-3
    equal = loss.dual_value(-at.r, at.y, at.c)
    gap = abs(at.value - float(at.r @ at.z) - equal) / size
    require(gap <= 1e-7, "equality at alpha = -r", f"{gap:.2g} apart")
    for share in (0.0, 0.3, 0.9, 1.0):
        alpha = -share * at.r
        alpha.flags.writeable = False
        dual = loss.dual_value(alpha, at.y, at.c)
        finite("dual_value", dual)
        for z in (at.z, at.z[::-1].copy(), np.zeros(len(at.z)), at.z + 1.0, 5.0 * at.z):
            line = loss.value(z, at.y, at.c) + float(alpha @ z)
            at_most("a dual_value", dual, line, 1e-7 * (size + abs(line)))


@add("balance", lambda loss: loss.convex, at_points=True)
def _balance(loss: Loss, at: Point) -> None:
    """balance makes alpha sum to zero in place, and dual_value stays a finite lower bound."""
    alpha = -at.r
    loss.balance(alpha, at.c)
    total, size = float(alpha.sum()), float(np.abs(at.r).sum()) + 1e-3
    require(abs(total) <= ROUNDING * size, "a sum of 0", total)
    dual, line = loss.dual_value(alpha, at.y, at.c), at.value + float(alpha @ at.z)
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
        for move in (-1.0, -1e-2, 1e-2, 1.0) if loss.convex else (-1e-2, 1e-2):
            value = loss.value(np.full(n, best + move), y, c)
            at_least("a value nearby", value, least, 1e-7 * (least + 1e-3))
        more = loss.constant(np.r_[y, y[:1]], np.r_[c, 0.0])
        near("the same beside a document of weight 0", more, best, 1e-6)
    for label in (-1.0, 1.0):
        alone = loss.constant(np.full(3, label), np.ones(3))
        require(bool(np.isfinite(alone)), f"a finite number where all labels are {label:g}", alone)


@add("log-odds", lambda loss: loss.log_odds)
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (*EXTREME, *(-size for size in EXTREME)):
            at = derivatives(loss, np.full(8, size), y, c)
            finite(f"numbers at scores of {size:g}", [at.value, *at.r, *at.h])
    scores = [-score for score in TAIL[:0:-1]] + list(TAIL)
    for one, other in itertools.pairwise(scores) if loss.convex else ():
        before = derivatives(loss, np.full(8, one), y, c)
        after = derivatives(loss, np.full(8, other), y, c)
        rise = each(loss, after) - each(loss, before)
        low, high = (other - one) * before.r, (other - one) * after.r
        slack = 1e-7 * (np.abs(low) + np.abs(high) + each(loss, before)) + 1e-12
        where = f"from a score of {one:g} to {other:g}"
        between(f"a rise {where}", rise, low - slack, high + slack)
        between(f"r, which does not fall {where},", after.r, before.r - ROUNDING, np.inf)


@add("unsmoothed", lambda loss: loss.smoothed)
def _unsmoothed(loss: Loss) -> None:
    """unsmoothed_value is at least the value, so that a lower bound on one holds for the other. It
    is a sum weighted by c, and stays near the value at large scores."""
    above: list[float] = []
    for at in points(loss):
        unsmoothed = loss.unsmoothed_value(at.z, at.y, at.c)
        at_least("an unsmoothed value", unsmoothed, at.value, ROUNDING * at.value)
        for factor in (2.0, 1e-3):
            other = loss.unsmoothed_value(at.z, at.y, factor * at.c)
            near(f"{factor:g} times the weights: the value", other, factor * unsmoothed, ROUNDING)
        above.append((unsmoothed - at.value) / float(at.c.sum()))
    y, ones = labels(loss, 8), np.ones(8)
    for size in (1e2, 1e4):
        z = np.full(8, size)
        apart = loss.unsmoothed_value(z, y, ones) - loss.value(z, y, ones)
        what = f"a distance from the value at scores of {size:g}"
        at_most(what, apart / 8.0, 20.0 * max(above), 1e-6 * size)


@checks.add("fit")
def _fit(loss: Loss) -> None:
    """Ridge and lasso with this loss converge to their tolerance, measured by the duality gap; if
    it is not convex, by the proximal gradient, without a gap."""
    problem = small(loss=loss, tol=1e-6)
    if not loss.binary:
        problem = problem.replace(y=problem.X @ np.linspace(-1.0, 1.0, problem.X.shape[1]) + 0.5)
    for l1, l2 in ((0.0, 1.0), (0.1 * problem.largest_gradient_at_zero(), 0.0)):
        solution = newton(problem, Separable.constant(problem.X.shape[1], l1=l1, l2=l2))
        met = 0.0 <= solution.gap <= problem.tol if loss.convex else math.isnan(solution.gap)
        require(solution.converged and met, f"a gap of 0 to {problem.tol:g}", solution.gap)


# Steps at which prox is looked at; weights are of the size of one.
STEPS = (1e-2, 1.0, 100.0)

# Steps that stand for strengths of zero and of infinity.
TINY, BOUNDLESS = 1e-12, 1e12


class Sized(NamedTuple):
    """A penalty, and the number of weights that it takes."""

    penalty: Any
    size: int

    def value(self, w: Floats) -> float:
        """Its value as a float."""
        return float(self.penalty.value(w))

    def prox(self, w: Floats, step: float) -> Floats:
        """What prox makes of a copy of the weights."""
        return np.asarray(self.penalty.prox(w.copy(), step))


def weights_to_try(size: int) -> list[Floats]:
    """Weights to look at: none, one, few, all, ties, large and small ones."""
    rng = np.random.default_rng(0)
    full = rng.standard_normal(size)
    signs = np.where(np.arange(size) % 2, -1.0, 1.0)
    single = np.where(np.arange(size) == size // 2, 1.0, 0.0)
    few = np.where(np.arange(size) % 3 == 0, full, 0.0)
    more = (100.0 * full[::-1], 1e-3 * full, 1.0 + 0.05 * full)
    return [np.zeros(size), single, few, full, signs, *more]


def spreads(size: int) -> list[Floats]:
    """Weights of all sizes, so dense that some are on both sides of any threshold."""
    count = -(-40 // size)
    sizes = np.geomspace(0.02, 20.0, count * size).reshape(size, count)
    return [np.where(np.arange(size) % 2, -1.0, 1.0) * sizes[:, k] for k in range(count)]


def cases(part: Sized) -> Iterator[tuple[Floats, float, Floats]]:
    """w, step and prox(w, step)."""
    for w, step in itertools.product(weights_to_try(part.size), STEPS):
        yield w, step, part.prox(w, step)


def points_and_answers(part: Sized) -> list[Floats]:
    """The weights to look at, and what prox makes of them at every step."""
    return [*weights_to_try(part.size), *(x for _, _, x in cases(part))]


def moves(size: int) -> list[Floats]:
    """Directions: every weight alone, all together, neighbors, and some at random."""
    rng = np.random.default_rng(1)
    pairs = [np.eye(size)[j] - np.eye(size)[j - 1] for j in range(1, size)]
    halves = [np.where(np.arange(size) < cut, 1.0, 0.0) for cut in (size // 2, size)]
    return [*np.eye(size), *pairs, *halves, *rng.standard_normal((5, size))]


def short(w: Floats) -> str:
    """Weights as they fit into a message: all, or those that are not zero, as {place: weight}."""
    places = np.flatnonzero(w)
    if len(w) > 6 and len(places) <= 4:
        entries = ", ".join(f"{place}: {w[place]:.4g}" for place in places)
        return f"{len(w)} weights, {{{entries}}}" if entries else f"{len(w)} zeros"
    return np.array2string(np.asarray(w), precision=4, threshold=6, edgeitems=3)


# Share of what is compared that is left to rounding, and to a prox found by iteration.
EXACT = 1e-6

PENALTIES = Checks(prefix="penalty-")
penalty_checks = PENALTIES.of


def check_penalty(
    penalty: Penalty, size: int, *, skip: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> None:
    """Check a penalty on its own.

    Parameters
    ----------
    penalty : Penalty
        With ``convex = False`` it is not asked for what only convex ones have.
    size : int
        The number of weights that it is tried on.
    skip : dict of str to str, optional
        Names of checks to leave out, each with the reason.
    seconds : float, default 20.0
        What one check may take.

    Raises
    ------
    ContractError
        If a check fails.
    """
    run_checks(penalty_checks(), Sized(penalty, size), skip, seconds)


@PENALTIES.add("value")
def _penalty_value(part: Sized) -> None:
    """The value is a number, possibly infinite, and finite where every weight is zero. It leaves
    its input as it was."""
    for w in weights_to_try(part.size):
        copied = w.copy()
        value = part.penalty.value(copied)
        require(np.array_equal(copied, w), "its input unchanged", copied)
        require(np.ndim(value) == 0 and float(value) > -math.inf, "one number", value)
    nothing = part.penalty.value(np.zeros(part.size))
    require(math.isfinite(nothing), "a finite value without weights", nothing)


@PENALTIES.add("result")
def _prox_result(part: Sized) -> None:
    """prox gives finite weights of the same shape and of finite value, and does not change its
    input; with a tiny step they stay where they are, and with a huge one only the penalty
    counts."""
    least = min(part.value(u) for u in points_and_answers(part))
    for w, step in itertools.product(weights_to_try(part.size), (TINY, *STEPS, BOUNDLESS)):
        copied = w.copy()
        x = part.penalty.prox(copied, step)
        good = isinstance(x, np.ndarray) and x.shape == w.shape and bool(np.isfinite(x).all())
        require(good, f"an array of {part.size} finite numbers", repr(x))
        require(np.array_equal(copied, w), "its input unchanged", copied)
        value = part.penalty.value(x)
        require(math.isfinite(value), "a finite value at prox(w)", value)
        if step == TINY and math.isfinite(part.value(w)):
            near(f"{short(w)} at a step of {TINY:g}: prox", np.r_[x, 1.0], np.r_[w, 1.0], EXACT)
        if step == BOUNDLESS:
            at_most("a value at a huge step", value, least, EXACT * (1.0 + abs(least)))


@PENALTIES.add("determinism")
def _determinism(part: Sized) -> None:
    """prox depends on w and the step alone, except for rounding; an iterative prox may start from
    its last result."""
    first = list(cases(part))
    again = [part.prox(w, step) for w, step, _ in reversed(first)]
    for (w, step, one), other in zip(first, reversed(again), strict=True):
        off = float(np.abs(one - other).max())
        same = off <= EXACT * (1.0 + float(np.abs(w).max()))
        expected = f"{short(one)} again as prox({short(w)}, {step:g})"
        require(same, expected, short(other))


@PENALTIES.add("prox")
def _prox(part: Sized) -> None:
    """prox follows its definition: no other point has a lower 1/2 ||x - w||^2 + step * value(x)
    than x = prox(w, step). And unless the class says convex = False, by Moreau's identity t =
    (w - x) / step is a slope there: no value lies below value(x) + t.(u - x)."""
    answers = points_and_answers(part)
    few = weights_to_try(part.size)
    for w, step in itertools.product([*few, *spreads(part.size)], STEPS):
        x = part.prox(w, step)
        # One weight more or less at zero is what a threshold at the wrong place gives.
        ones = [np.where(np.arange(part.size) == j, v, x) for v in (0.0, w) for j in range(len(w))]
        length = max(float(np.abs(x).max()), 1e-3)
        sizes = (-0.3, -1e-3, 1e-3, 0.3) if any(w is it for it in few) else ()
        nearby = [x + length * size * move for move in (*moves(part.size), x) for size in sizes]
        _require_least(part, w, step, x, np.array([*answers, w, *ones, *nearby]))


def _require_least(part: Sized, w: Floats, step: float, x: Floats, points: Floats) -> None:
    """ContractError if one of the points, in rows, shows that x is not prox(w, step)."""
    value, values = part.value(x), np.array(list(map(part.value, points)))
    costs = 0.5 * ((points - w) ** 2).sum(axis=1) + step * values
    cost, least = 0.5 * float((x - w) @ (x - w)) + step * value, float(costs.min())
    expected = f"a cost of {least:.8g} at prox({short(w)}, {step:g})"
    enough = cost <= least + EXACT * abs(least) + ROUNDING
    require(enough, expected, f"{cost:.8g} at {short(x)}")
    if getattr(part.penalty, "convex", True):
        t = (w - x) / step
        lines = value + (points - x) @ t
        lengths = np.linalg.norm(t) * np.linalg.norm(points - x, axis=1)
        slack = SLOPE * (lengths + abs(value)) + ROUNDING
        worst = int((values - lines + slack).argmin())
        what = f"a value at {short(points[worst])}"
        at_least(what, values[worst], lines[worst], slack[worst])


@PENALTIES.add("conjugate", applies=lambda part: hasattr(part.penalty, "conjugate"))
def _penalty_conjugate(part: Sized) -> None:
    """conjugate(t) is the maximum of t.w - value(w): not below it for any w, equal to it for x =
    prox(w, step) at t = (w - x) / step, and infinite only where it grows without end."""
    others = points_and_answers(part)
    for w, step, x in cases(part):
        t = (w - x) / step * (1.0 - 1e-7)  # inside, where on the border rounding decides
        conjugate = float(part.penalty.conjugate(t))
        for u in others:
            _require_above(part, t, u, conjugate)
        line = float(t @ x) - part.value(x)
        slack = SLOPE * (1.0 + abs(line)) + EXACT * abs(part.value(x))
        require(abs(conjugate - line) <= slack, f"{line:.8g} at {short(t)}", f"{conjugate:.8g}")
    for w, share in itertools.product(weights_to_try(part.size), (0.05, 0.3, 0.8, 3.0)):
        t = share * w
        conjugate = float(part.penalty.conjugate(t))
        # As the step T grows, t.x - value(x) at x = prox(T t, T) goes to the maximum.
        ends = [part.prox(step * t, step) for step in (1.0, 1e2, 1e4, 1e6)]
        for u in ends:
            _require_above(part, t, u, conjugate)
        lines = [float(t @ u) - part.value(u) for u in ends]
        if conjugate == math.inf:
            grows = lines[-1] > 2.0 * lines[-2] + EXACT
            expected = f"{lines[-1]:.8g} at {short(t)}, where t.w - value(w) does not grow"
            require(grows or lines[-1] > 2.0 * lines[-3] + EXACT, expected, "infinity")


def _require_above(part: Sized, t: Floats, u: Floats, conjugate: float) -> None:
    value = part.value(u)
    line = float(t @ u) - value
    slack = EXACT * (1.0 + abs(line)) + ROUNDING * (abs(value) + float(np.abs(t) @ np.abs(u)))
    at_least(f"a conjugate at {short(t)}", conjugate, line, slack)


@PENALTIES.add("gradient", applies=lambda part: hasattr(part.penalty, "gradient"))
def _gradient(part: Sized) -> None:
    """gradient(w) agrees with finite differences of the value."""
    for w in weights_to_try(part.size)[3:]:
        gradient = np.asarray(part.penalty.gradient(w))
        require(gradient.shape == w.shape, f"the shape {w.shape}", gradient.shape)
        length, ways = 1e-5 * float(np.abs(w).max()), np.array(moves(part.size))
        rises = [part.value(w + move) - part.value(w - move) for move in length * ways]
        slopes = np.array(rises) / (2.0 * length)
        sizes = np.linalg.norm(gradient) * np.linalg.norm(ways, axis=1)
        slack = SLOPE * (np.abs(slopes) + sizes) + EXACT
        between(f"slopes at {short(w)}", ways @ gradient, slopes - slack, slopes + slack)
