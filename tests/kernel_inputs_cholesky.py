"""Arguments for the kernel that solves with a triangle."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel


def triangle(rng: np.random.Generator, n: int) -> Arguments:
    """Rows whose diagonal comes first, and some of what stands to the right of it."""
    rows = [
        np.append(c, c + 1 + rng.permutation(n - c - 1)[: rng.integers(0, n - c)]) for c in range(n)
    ]
    indices = np.concatenate([np.empty(0), *rows]).astype(np.int32)
    return {"indptr": np.cumsum([0, *map(len, rows)], dtype=np.int64), "indices": indices}


def solve_normal(rng: np.random.Generator, n: int, _: int) -> Arguments:
    arguments = triangle(rng, n)
    data = 0.3 * rng.normal(size=len(arguments["indices"]))
    data[arguments["indptr"][:-1]] = rng.uniform(1.0, 2.0, n)
    return arguments | {"data": data, "x": rng.normal(size=n)}


KERNELS = {
    "cholesky.solve_normal": Kernel(solve_normal, written="x", checked="x"),
}
