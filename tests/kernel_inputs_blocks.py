"""Arguments for the products with several vectors at once."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, ragged


def lines(rng: np.random.Generator, k: int, size: int) -> Arguments:
    indptr, indices = ragged(rng, k, size)
    data = rng.normal(size=len(indices)).astype(rng.choice(["f4", "f8"]))
    return {"indptr": indptr, "indices": indices, "data": data}


def block_dots(rng: np.random.Generator, n: int, p: int) -> Arguments:
    width, kind = int(rng.integers(0, 40)), rng.choice(["f4", "f8"])
    out = np.full((n, width), np.nan, dtype=kind)
    return {**lines(rng, n, p), "V": rng.normal(size=(p, width)).astype(kind), "out": out}


def block_sums(rng: np.random.Generator, n: int, p: int) -> Arguments:
    width = int(rng.integers(0, 40))
    out = rng.normal(size=(p, width))
    return {**lines(rng, n, p), "V": rng.normal(size=(n, width)), "out": out}


KERNELS = {
    "blocks.block_dots": Kernel(block_dots, "out", "out indptr"),
    "blocks.block_sums": Kernel(block_sums, "out", "V indptr"),
}
