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
        "b": rng.normal(size=width), "moved": rng.random((n, width)),
        "least": rng.choice([-1.0, 0.5], width), "curvature": float(rng.choice([0.0, 2.0, 10.0])),
        "largest": float(rng.choice([1.0, np.inf])), "first": width // 3,
        "last": int(rng.choice([-1, width - width // 4])),
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


def column_losses(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = dual_sweep(rng, n, p)
    width = given["cy"].shape[1]
    return {
        "Z": rng.normal(size=(n, width)), "cy": given["cy"], "b": given["b"],
        "value": np.ones(width), "slope": np.ones(width), "bend": np.ones(width),
        "curvature": given["curvature"], "largest": given["largest"],
    }  # fmt: skip


def column_conjugates(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = dual_sweep(rng, n, p)
    names = "alpha", "cy", "curvature", "largest"
    return {**{name: given[name] for name in names}, "out": np.ones(given["cy"].shape[1])}


KERNELS = {
    "dual.dual_sweep": Kernel(
        dual_sweep, "alpha W b moved", "squares cy alpha b moved least indptr"
    ),
    "dual.column_losses": Kernel(column_losses, "value slope bend", "Z cy b value slope bend"),
    "dual.column_conjugates": Kernel(column_conjugates, "out", "alpha cy out"),
    "dual.dual_sweep_by_feature": Kernel(
        dual_sweep_by_feature, "alpha T b", "cy lag inverse alpha b indptr"
    ),
}
