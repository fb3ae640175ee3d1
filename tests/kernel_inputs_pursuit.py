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
    given, r = columns(rng, n, p), some(rng, n)
    race = chosen(rng, p)
    scale = np.where(rng.random(len(race)) < 0.7, np.abs(some(rng, len(race))) + 0.1, 0.0)
    floor, floor_reach = ((-np.inf, 0.0), (rng.random(), 0.5))[int(rng.integers(2))]
    pieces = (slice(given["indptr"][j], given["indptr"][j + 1]) for j in race)
    exact = np.array([given["data"][here] @ r[given["indices"][here]] for here in pieces])
    error = float(rng.choice([1e-9, 0.5]))
    return {
        **given, "r": r, "race": race, "scale": scale,
        "products": exact + error * rng.uniform(-1.0, 1.0, len(race)), "error": error,
        "reach": float(scale.max(initial=0.0)), "radius": float(rng.choice([0.0, 0.1])),
        "tie": float(rng.choice([1e-12, 0.1])), "floor": floor, "floor_reach": floor_reach,
        "score": np.full(len(race), np.nan), "fresh": np.full(len(race), -1, dtype=np.int32),
    }  # fmt: skip


KERNELS = {
    "pursuit.ridge_descent": Kernel(
        ridge_descent, "v features bend w", "h v q bend w indptr", "features"
    ),
    "pursuit.best_column": Kernel(
        best_column, "score fresh", "race scale products score fresh", "score fresh"
    ),
}
