"""Scores, labels and weights that losses are looked at, and losses with other parameters."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Loss
from textreg.records import Floats
from textreg.testing.checks import Checks, ContractError, always


def adder(checks: Checks) -> Callable[..., Callable[[Callable[[Loss], None]], Any]]:
    """What adds a check to ``checks`` that is made with other values of the parameters as well."""

    def add(name: str, applies: Callable[[Loss], bool] = always) -> Any:
        def keep(run: Callable[[Loss], None]) -> Any:
            @wraps(run)
            def every(loss: Loss) -> None:
                run(loss)
                for key, other in variants(loss):
                    try:
                        run(other)
                    except ContractError as error:
                        told = f"That is with {key}={getattr(other, key)!r}."
                        error.args = (f"{error} {told}",)
                        raise

            return checks.add(name, applies)(every)

        return keep

    return add


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
