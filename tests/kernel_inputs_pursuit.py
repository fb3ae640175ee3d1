"""Arguments for the kernels of greedy pursuits."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, columns, some


def ridge_descent(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {
        **columns(rng, n, p), "h": np.abs(some(rng, n)), "v": rng.normal(size=n),
        "features": chosen(rng, p), "q": np.abs(some(rng, p)), "curvature": np.full(p, np.nan),
        "w": some(rng, p), "b": rng.normal(), "fit_intercept": bool(rng.integers(2)),
        "slack": float(rng.choice([0.0, 0.1])), "passes": int(rng.integers(0, 5)),
    }  # fmt: skip


def best_column(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given, r = columns(rng, n, p), some(rng, n)
    distinct = chosen(rng, p)
    scale = np.where(rng.random(len(distinct)) < 0.7, np.abs(some(rng, len(distinct))) + 0.1, 0.0)
    rival, rival_lipschitz = ((-np.inf, 0.0), (rng.random(), 0.5))[int(rng.integers(2))]
    pieces = (slice(given["indptr"][j], given["indptr"][j + 1]) for j in distinct)
    exact = np.array([given["data"][here] @ r[given["indices"][here]] for here in pieces])
    error = float(rng.choice([1e-9, 0.5]))
    return {
        **given, "r": r, "columns": distinct, "scale": scale,
        "dots": exact + error * rng.uniform(-1.0, 1.0, len(distinct)), "error": error,
        "lipschitz": float(scale.max(initial=0.0)), "radius": float(rng.choice([0.0, 0.1])),
        "tie": float(rng.choice([1e-12, 0.1])), "rival": rival, "rival_lipschitz": rival_lipschitz,
        "score": np.full(len(distinct), np.nan),
        "candidates": np.full(len(distinct), -1, dtype=np.int32),
    }  # fmt: skip


def update_dots(rng: np.random.Generator, n: int, p: int) -> Arguments:
    rows = columns(rng, p, n)
    return {
        "row_indptr": rows["indptr"], "positions": rows["indices"], "values": rows["data"],
        "r": some(rng, n), "last": some(rng, n), "inverse": np.abs(some(rng, n)),
        "tolerance": float(rng.choice([0.0, 1.0])), "dots": some(rng, p),
    }  # fmt: skip


KERNELS = {
    "pursuit.ridge_descent": Kernel(
        ridge_descent, "v features curvature w", "h v q curvature w indptr", "features"
    ),
    "pursuit.best_column": Kernel(
        best_column, "score candidates", "columns scale dots score candidates", "score candidates"
    ),
    "pursuit.update_dots": Kernel(update_dots, "last dots", "r last inverse row_indptr"),
}
