"""Weights at which penalties are looked at, and how they are told of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from textreg.records import Floats

STEPS = (1e-2, 1.0, 100.0)
"""Steps at which prox is looked at; weights are of the size of one."""


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
