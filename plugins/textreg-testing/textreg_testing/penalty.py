"""The contract of a penalty, an object with ``value(w)`` and ``prox(w, step)``.

A step stands for a strength: prox(w, step) of a penalty is prox(w, 1) of ``step`` times it. So a
tiny step shows what a strength of zero does, and a huge one what an unlimited strength does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from textreg.penalties import Penalty
from textreg.records import Floats
from textreg_testing.checks import SECONDS, Checks, at_least, at_most, require, run_checks

# Steps at which prox is looked at; weights are of the size of one.
STEPS = (1e-2, 1.0, 100.0)


class Sized(NamedTuple):
    """A penalty, and the number of weights that it takes."""

    penalty: Any
    size: int


def points(size: int) -> list[Floats]:
    """Weights to look at: none, one, few, all, ties, large and small ones."""
    rng = np.random.default_rng(0)
    full = rng.standard_normal(size)
    signs = np.where(np.arange(size) % 2, -1.0, 1.0)
    one = np.where(np.arange(size) == size // 2, 1.0, 0.0)
    few = np.where(np.arange(size) % 3 == 0, full, 0.0)
    near = 1.0 + 0.05 * full
    return [np.zeros(size), one, few, full, signs, 100.0 * full[::-1], 1e-3 * full, near]


def spreads(size: int) -> list[Floats]:
    """Weights of all sizes, so dense that some are on both sides of any threshold."""
    count = -(-40 // size)
    sizes = np.geomspace(0.02, 20.0, count * size).reshape(size, count)
    return [np.where(np.arange(size) % 2, -1.0, 1.0) * sizes[:, k] for k in range(count)]


def cases(part: Sized) -> Iterator[tuple[Floats, float, Floats]]:
    """w, step and prox(w, step)."""
    for w, step in itertools.product(points(part.size), STEPS):
        yield w, step, part.penalty.prox(w.copy(), step)


def points_and_answers(part: Sized) -> list[Floats]:
    """The weights to look at, and what prox makes of them at every step."""
    return [*points(part.size), *(x for _, _, x in cases(part))]


def moves(size: int) -> list[Floats]:
    """Directions: every weight alone, all together, neighbors, and some at random."""
    rng = np.random.default_rng(1)
    pairs = [np.eye(size)[j] - np.eye(size)[j - 1] for j in range(1, size)]
    halves = [np.where(np.arange(size) < cut, 1.0, 0.0) for cut in (size // 2, size)]
    return [*np.eye(size), *pairs, *halves, *rng.standard_normal((5, size))]


def lowest(cost: Callable[[Floats], float], start: Floats, rounds: int = 24) -> Floats:
    """Where a search along fixed directions ends, with steps that shrink."""
    here, value = start, cost(start)
    length = max(float(np.abs(start).max(initial=0.0)), 1e-3)
    directions = moves(len(start))
    for _ in range(rounds):
        before = value
        for move in directions:
            for sign in (-length, length):
                there = here + sign * move
                if (other := cost(there)) < value:
                    here, value = there, other
        if value == before:
            length *= 0.3
    return here


def short(w: Floats) -> str:
    """Weights as they fit into a message: all, or those that are not zero, as {place: weight}."""
    places = np.flatnonzero(w)
    if len(w) > 6 and len(places) <= 4:
        told = ", ".join(f"{place}: {w[place]:.4g}" for place in places)
        return f"{len(w)} weights, {{{told}}}" if told else f"{len(w)} zeros"
    return np.array2string(np.asarray(w), precision=4, threshold=6, edgeitems=3)


# Steps that stand for strengths of zero and of infinity.
TINY, BOUNDLESS = 1e-12, 1e12

# Share of what is compared that is left to rounding, and to a prox found by iteration.
EXACT = 1e-6

# The same for slopes, which lose half of the digits.
SLOPE = 1e-4

# What is nothing, beside weights of the size of one.
ROUNDING = 1e-9

checks = Checks(prefix="penalty-")
penalty_checks = checks.of


def check_penalty(
    penalty: Penalty,
    size: int,
    *,
    skip: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
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


def _convex(part: Sized) -> bool:
    return getattr(part.penalty, "convex", True)


@checks.add("value")
def _value(part: Sized) -> None:
    """The value is a number, possibly infinite, and finite where every weight is zero. It leaves
    its input as it was."""
    for w in points(part.size):
        given = w.copy()
        value = part.penalty.value(given)
        require(np.array_equal(given, w), "its input unchanged", given)
        good = np.ndim(value) == 0 and float(value) > -math.inf
        require(good, "one number", value)
    nothing = part.penalty.value(np.zeros(part.size))
    require(math.isfinite(nothing), "a finite value without weights", nothing)


@checks.add("result")
def _result(part: Sized) -> None:
    """prox gives finite weights of the same shape and of finite value, and does not change its
    input."""
    for w, step in itertools.product(points(part.size), STEPS):
        given = w.copy()
        x = part.penalty.prox(given, step)
        good = isinstance(x, np.ndarray) and x.shape == w.shape and bool(np.isfinite(x).all())
        require(good, f"an array of {part.size} finite numbers", repr(x))
        require(np.array_equal(given, w), "its input unchanged", given)
        value = part.penalty.value(x)
        require(math.isfinite(value), "a finite value at prox(w)", value)


@checks.add("determinism")
def _determinism(part: Sized) -> None:
    """prox depends on w and the step alone, except for rounding; an iterative prox may start from
    its last result."""
    order = list(itertools.product(points(part.size), STEPS))
    first = [part.penalty.prox(w.copy(), step) for w, step in order]
    again = [part.penalty.prox(w.copy(), step) for w, step in reversed(order)][::-1]
    for (w, step), one, other in zip(order, first, again, strict=True):
        off = float(np.abs(one - other).max())
        same = off <= EXACT * (1.0 + float(np.abs(w).max()))
        told = f"{short(one)} again as prox({short(w)}, {step:g})"
        require(same, told, short(other))


@checks.add("identity", applies=_convex)
def _identity(part: Sized) -> None:
    """By Moreau's identity t = (w - x) / step is a slope at x = prox(w, step): no value lies below
    value(x) + t.(u - x)."""
    others = points_and_answers(part)
    for w, step, x in cases(part):
        t, value = (w - x) / step, float(part.penalty.value(x))
        for u in [*others, *(x * (1.0 + move) for move in (-0.5, -1e-2, 1e-2, 0.5))]:
            line = value + float(t @ (u - x))
            slack = SLOPE * float(np.linalg.norm(t) * np.linalg.norm(u - x) + abs(value))
            what = f"a value at {short(u)}"
            at_least(what, float(part.penalty.value(u)), line, slack + ROUNDING)


@checks.add("prox")
def _prox(part: Sized) -> None:
    """prox follows its definition: neither another point nor numeric minimization gives an x with
    a lower 1/2 ||x - w||^2 + step * value(x)."""
    others = [x for _, _, x in cases(part)]

    def cost(u: Floats, w: Floats, step: float) -> float:
        return 0.5 * float((u - w) @ (u - w)) + step * float(part.penalty.value(u))

    searched = []
    for w, step in itertools.product([*points(part.size), *spreads(part.size)], STEPS):
        x = part.penalty.prox(w.copy(), step)
        at = partial(cost, w=w, step=step)
        # One weight more or less at zero is what a threshold at the wrong place gives.
        single = [
            np.where(np.arange(part.size) == j, v, x) for v in (0.0, w) for j in range(part.size)
        ]
        best = min([x, w, *others, *single], key=at)
        _require_least(at, w, step, x, best)
        searched.append((at, w, step, x, best))
    for at, w, step, x, best in searched[: len(STEPS) * len(points(part.size))]:
        # At length, where what is quick found nothing.
        _require_least(at, w, step, x, lowest(at, best))


def _require_least(
    cost: Callable[[Floats], float], w: Floats, step: float, x: Floats, best: Floats
) -> None:
    least = min(cost(x), cost(best))
    expected = f"a cost of {least:.8g} at prox({short(w)}, {step:g})"
    enough = cost(x) <= least + EXACT * abs(least) + ROUNDING
    require(enough, expected, f"{cost(x):.8g} at {short(x)}")


@checks.add("convex", applies=_convex)
def _convexity(part: Sized) -> None:
    """The value is convex, unless the class says convex = False."""
    for a, b in itertools.combinations(points_and_answers(part), 2):
        mean = 0.5 * (float(part.penalty.value(a)) + float(part.penalty.value(b)))
        halfway = float(part.penalty.value(0.5 * (a + b)))
        at_most("a value halfway", halfway, mean, EXACT * mean + ROUNDING)


@checks.add("zero")
def _zero(part: Sized) -> None:
    """At a strength of zero nothing changes: with a tiny step prox leaves weights of finite
    value where they are."""
    for w in points(part.size):
        if math.isfinite(part.penalty.value(w)):
            x = part.penalty.prox(w, TINY)
            off = float(np.abs(x - w).max())
            near = off <= EXACT * (1.0 + float(np.abs(w).max()))
            require(near, f"{short(w)} at a step of {TINY:g}", short(x))


@checks.add("infinite")
def _infinite(part: Sized) -> None:
    """At an unlimited strength only the penalty counts: with a huge step the value of prox is its
    minimum."""
    least = min(float(part.penalty.value(u)) for u in points_and_answers(part))
    for w in points(part.size):
        value = float(part.penalty.value(part.penalty.prox(w, BOUNDLESS)))
        at_most("a value", value, least, EXACT * (1.0 + abs(least)))


@checks.add("conjugate", applies=lambda part: hasattr(part.penalty, "conjugate"))
def _conjugate(part: Sized) -> None:
    """conjugate(t) is the maximum of t.w - value(w): not below it for any w, equal to it for x =
    prox(w, step) at t = (w - x) / step, and infinite only where it grows without end."""
    others = points_and_answers(part)
    for w, step, x in cases(part):
        t = (w - x) / step * (1.0 - 1e-7)  # inside, where on the border rounding decides
        conjugate = float(part.penalty.conjugate(t))
        for u in others:
            _require_above(part, t, u, conjugate)
        line = float(t @ x) - float(part.penalty.value(x))
        slack = SLOPE * (1.0 + abs(line)) + EXACT * abs(float(part.penalty.value(x)))
        require(abs(conjugate - line) <= slack, f"{line:.8g} at {short(t)}", f"{conjugate:.8g}")
    for w, share in itertools.product(points(part.size), (0.05, 0.3, 0.8, 3.0)):
        t = share * w
        conjugate = float(part.penalty.conjugate(t))
        # As the step T grows, t.x - value(x) at x = prox(T t, T) goes to the maximum.
        ends = [part.penalty.prox(step * t, step) for step in (1.0, 1e2, 1e4, 1e6)]
        for u in ends:
            _require_above(part, t, u, conjugate)
        lines = [float(t @ u) - float(part.penalty.value(u)) for u in ends]
        if conjugate == math.inf:
            grows = lines[-1] > 2.0 * lines[-2] + EXACT
            told = f"{lines[-1]:.8g} at {short(t)}, where t.w - value(w) does not grow"
            require(grows or lines[-1] > 2.0 * lines[-3] + EXACT, told, "infinity")


def _require_above(part: Sized, t: Floats, u: Floats, conjugate: float) -> None:
    value = float(part.penalty.value(u))
    line = float(t @ u) - value
    slack = EXACT * (1.0 + abs(line)) + ROUNDING * (abs(value) + float(np.abs(t) @ np.abs(u)))
    at_least(f"a conjugate at {short(t)}", conjugate, line, slack)


@checks.add("gradient", applies=lambda part: hasattr(part.penalty, "gradient"))
def _gradient(part: Sized) -> None:
    """gradient(w) agrees with finite differences of the value."""
    for w in points(part.size)[3:]:
        gradient = np.asarray(part.penalty.gradient(w))
        require(gradient.shape == w.shape, f"the shape {w.shape}", gradient.shape)
        small = 1e-5 * float(np.abs(w).max())
        for move in moves(part.size):
            rise = part.penalty.value(w + small * move) - part.penalty.value(w - small * move)
            slope, expected = float(rise) / (2.0 * small), float(gradient @ move)
            slack = SLOPE * (abs(slope) + float(np.linalg.norm(gradient) * np.linalg.norm(move)))
            near = abs(slope - expected) <= slack + EXACT
            told = f"a slope of {slope:.6g} at {short(w)}"
            require(near, told, f"{expected:.6g}")
