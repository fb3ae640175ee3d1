"""Arguments for the kernels of greedy pursuits."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, columns, some


def ridge_descent(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {
        **columns(rng, n, p), "h": np.abs(some(rng, n)), "v": rng.normal(size=n),
        "features": chosen(rng, p), "q": np.abs(some(rng, p)), "bend": np.full(p, np.nan),
        "w": some(rng, p), "b": rng.normal(), "fit_intercept": bool(rng.integers(2)),
        "slack": float(rng.choice([0.0, 0.1])), "passes": int(rng.integers(0, 5)),
    }  # fmt: skip


def best_column(rng: np.random.Generator, n: int, p: int) -> Arguments:
    scale = np.abs(some(rng, p)) + 0.1
    score = np.where(rng.random(p) < 0.7, rng.random(p), -np.inf)
    floor, floor_reach = ((-np.inf, 0.0), (rng.random(), 0.5))[int(rng.integers(2))]
    return {
        **columns(rng, n, p), "r": some(rng, n), "scale": scale,
        "reach": float(scale.max(initial=0.0)), "drift": 1.0 + rng.random(),
        "radius": float(rng.choice([0.0, 0.1])), "tie": float(rng.choice([1e-12, 0.1])),
        "floor": floor, "floor_reach": floor_reach, "hint": int(rng.integers(-1, p)),
        "score": score, "seen": rng.random(p), "fresh": np.full(p, -1, dtype=np.int32),
    }  # fmt: skip


KERNELS = {
    "pursuit.ridge_descent": Kernel(
        ridge_descent, "v features bend w", "h v q bend w indptr", "features"
    ),
    "pursuit.best_column": Kernel(
        best_column, "score seen fresh", "scale score seen fresh indptr", "fresh"
    ),
}
