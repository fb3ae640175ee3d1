"""Shared by the kernel_inputs_*.py, which say how to make arguments for the compiled kernels.

Structure is drawn by hypothesis, numbers by a seeded generator: then no two of them tie, and the
branch that a kernel takes does not hang on the order of a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

Arguments = dict[str, Any]


class Bundle(NamedTuple):
    """An argument that bundles arrays: a class of the kernel's module, and what it is made of."""

    cls: str
    arguments: Arguments


class Kernel(NamedTuple):
    """How a kernel is to be tried.

    make: its arguments by name, for a generator and two sizes. written: names of those it writes,
    all others are given to it read-only. checked: names of arrays whose length it checks. Both name
    the arrays of bundles too. room: what is not compared with the twin, among the written and
    "result".
    """

    make: Callable[[np.random.Generator, int, int], Arguments]
    written: str = ""
    checked: str = ""
    room: str = ""


def ragged(rng: np.random.Generator, pieces: int, size: int) -> tuple[Any, Any]:
    """``pieces`` sets of numbers below ``size``: some empty, none of them sorted."""
    rows = [rng.permutation(size)[: rng.integers(0, size + 1)] for _ in range(pieces)]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return indptr, np.concatenate([np.empty(0), *rows]).astype(np.int32)


def random_matrix(
    shape: tuple[int, int],
    density: float,
    rng: np.random.Generator,
    values: Callable[..., Any] | None = None,
) -> csr_array:
    """A matrix with values at random places, the same with every SciPy.

    density: the share of values that are not zero. values: draws ``size`` of them; else they are
    uniform between 0 and 1.
    """
    size = round(density * shape[0] * shape[1])
    places = rng.choice(shape[0] * shape[1], size=size, replace=False)
    columns, rows = (part.astype(np.int32) for part in np.divmod(places, shape[0]))
    return csr_array(((values or rng.random)(size=size), (rows, columns)), shape=shape)


def some(rng: np.random.Generator, size: int) -> Any:
    """Numbers of either sign, some of them zero."""
    return rng.normal(size=size) * (rng.random(size) < 0.7)


def columns(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, p, n)
    return {"indptr": indptr, "indices": indices, "data": rng.normal(size=len(indices))}


def chosen(rng: np.random.Generator, p: int) -> Any:
    return rng.permutation(p)[: rng.integers(0, p + 1)].astype(np.int32)
