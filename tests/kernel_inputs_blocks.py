"""Arguments for the products with several vectors at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, ragged


def lines(rng: np.random.Generator, k: int, size: int) -> Arguments:
    indptr, indices = ragged(rng, k, size)
    data = rng.normal(size=len(indices)).astype(rng.choice(["f4", "f8"]))
    return {"indptr": indptr, "indices": indices, "data": data}


def of_lines(rng: np.random.Generator, n: int) -> Any:
    """All lines, or some of them in any order; and how many."""
    return (None, n) if rng.random() < 0.5 else (some := chosen(rng, n), len(some))


def block_dots(rng: np.random.Generator, n: int, p: int) -> Arguments:
    width, kind = int(rng.integers(0, 40)), rng.choice(["f4", "f8"])
    which, count = of_lines(rng, n)
    V, out = rng.normal(size=(p, width)).astype(kind), np.full((count, width), np.nan, dtype=kind)
    return {**lines(rng, n, p), "V": V, "out": out, "lines": which}


def block_sums(rng: np.random.Generator, n: int, p: int) -> Arguments:
    width, (which, count) = int(rng.integers(0, 40)), of_lines(rng, n)
    V, out = rng.normal(size=(count, width)), rng.normal(size=(p, width))
    return {**lines(rng, n, p), "V": V, "out": out, "lines": which}


KERNELS = {
    "blocks.block_dots": Kernel(block_dots, "out", "out indptr"),
    "blocks.block_sums": Kernel(block_sums, "out", "V indptr"),
}
