"""Arguments for the kernels of greedy pursuits."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, columns, ragged, some


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


def group_scores(rng: np.random.Generator, n: int, p: int) -> Arguments:
    group_ptr, members = ragged(rng, 4, p)
    groups = chosen(rng, 4)
    smoothing, rank = ((0.01, 0.0), (0.0, 1e-6))[int(rng.integers(2))]
    given = columns(rng, n, p)
    weights, whole = rng.random(n), np.zeros((p, n))
    for j in range(p):
        here = slice(given["indptr"][j], given["indptr"][j + 1])
        whole[j, given["indices"][here]] = given["data"][here]
    # The fullest columns stand in common; the kernel goes from full columns to emptier ones.
    order = np.argsort(-np.diff(given["indptr"]), kind="stable")
    full = order[: rng.integers(0, p + 1)]
    place = np.full(p, -1, dtype=np.int32)
    place[full] = np.arange(len(full))
    return {
        **given, "place": place, "common": whole[full] * weights,
        "shared": (whole[full] * weights) @ whole[full].T, "weights": weights, "r": some(rng, n),
        "size": some(rng, p) ** 2,
        "alive": (rng.random(p) < 0.8).astype(np.uint8), "group_ptr": group_ptr,
        "members": members,
        "groups": groups, "projected": bool(rng.integers(2)),
        "smoothing": smoothing, "rank": rank, "dense": np.zeros(n), "gram": np.full((p, p), np.nan),
        "products": np.full(p, np.nan), "left": np.full(p, -1, dtype=np.int32),
        "out": np.full(len(groups), np.nan),
    }  # fmt: skip


KERNELS = {
    "pursuit.ridge_descent": Kernel(
        ridge_descent, "v features bend w", "h v q bend w indptr", "features"
    ),
    "pursuit.best_column": Kernel(
        best_column, "score fresh", "race scale products score fresh", "score fresh"
    ),
    "pursuit.group_scores": Kernel(
        group_scores,
        "dense gram products left out",
        "size alive place weights r dense products left out indptr",
        "gram products left",
    ),
}
