"""Arguments for dual coordinate ascent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from kernel_inputs import Arguments, Kernel, ragged


def dual_sweep(rng: np.random.Generator, n: int, p: int) -> Arguments:
    width = int(rng.integers(0, 40))
    indptr, indices = ragged(rng, n, p)
    data = rng.normal(size=len(indices)).astype("f4")
    squares = np.array([np.square(data[a:b]).sum() for a, b in pairwise(indptr)])
    weights = rng.integers(0, 3, (n, width)).astype(float)
    y = np.where(rng.random((n, width)) < 0.4, 1.0, -1.0)
    return {
        "indptr": indptr, "indices": indices, "data": data,
        "order": rng.permutation(n).astype(np.int32), "squares": squares.astype(float),
        "cy": weights * y, "q": float(rng.uniform(0.01, 2.0)),
        "lag": float(rng.choice([0.0, 1.5])),
        "alpha": y * weights * rng.random((n, width)), "W": rng.normal(size=(p, width)),
        "b": rng.normal(size=width), "curvature": float(rng.choice([0.0, 2.0, 10.0])),
        "largest": float(rng.choice([1.0, np.inf])),
    }  # fmt: skip


def dual_sweep_by_feature(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = dual_sweep(rng, n, p)
    width = given["cy"].shape[1]
    names = "indptr", "indices", "data", "order", "cy"
    return {
        **{name: given[name] for name in names},
        "lag": rng.choice([0.0, 1.5], width),
        "lam": rng.uniform(0.0, 1.0, int(rng.choice([0, p]))).astype("f4"),
        "inverse": rng.uniform(0.5, 50.0, (p, width)).astype("f4"), "alpha": given["alpha"],
        "T": rng.normal(size=(p, width)).astype("f4"), "b": given["b"],
    }  # fmt: skip


KERNELS = {
    "dual.dual_sweep": Kernel(dual_sweep, "alpha W b", "squares cy alpha b indptr"),
    "dual.dual_sweep_by_feature": Kernel(
        dual_sweep_by_feature, "alpha T b", "cy lag inverse alpha b indptr"
    ),
}
