"""Arguments for the kernels that score groups of columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from kernel_inputs import Arguments, Kernel, columns, ragged, some


def groups_of_columns(rng: np.random.Generator, n: int, p: int) -> Arguments:
    """Columns, four groups of them with the fullest first, and some of the fullest in full."""
    given = columns(rng, n, p)
    race = rng.permutation(p)[: rng.integers(p // 2, p + 1)].astype(np.int32)
    ptr, kinds = ragged(rng, 4, len(race))
    order = np.argsort(-np.diff(given["indptr"])[race], kind="stable")
    rank = np.argsort(order, kind="stable")
    for start, stop in pairwise(ptr):
        kinds[start:stop] = sorted(kinds[start:stop], key=rank.__getitem__)
    weights, whole = rng.random(n), np.zeros((len(race), n))
    for k, j in enumerate(race):
        here = slice(given["indptr"][j], given["indptr"][j + 1])
        whole[k, given["indices"][here]] = given["data"][here]
    full = order[: rng.integers(0, len(race) + 1)]
    place = np.full(len(race), -1, dtype=np.int32)
    place[full] = np.arange(len(full))
    return {
        **given, "race": race, "weights": weights, "ptr": ptr, "kinds": kinds,
        "squares": rng.random(len(kinds)) + 0.1, "place": place,
        "groups": rng.permutation(4)[: rng.integers(1, 5)].astype(np.int32),
        "common": whole[full] * weights, "shared": (whole[full] * weights) @ whole[full].T,
        "dense": np.zeros(n), "gram": np.full((p, p), np.nan), "sizes": np.full(p, np.nan),
        "left": np.full(p, -1, dtype=np.int32),
    }  # fmt: skip


def span_scores(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups_of_columns(rng, n, p)
    given["squares"] *= rng.random(len(given["kinds"])) < 0.8
    smoothing, rank = ((0.01, 0.0), (0.0, 1e-6))[int(rng.integers(2))]
    return {
        **given, "r": some(rng, n), "projected": bool(rng.integers(2)), "smoothing": smoothing,
        "rank": rank, "dots": np.full(len(given["race"]), np.nan),
        "products": np.full(p, np.nan), "out": np.full(len(given["groups"]), np.nan),
    }  # fmt: skip


def span_factors(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups_of_columns(rng, n, p)
    return {
        **given,
        "smoothing": 0.01,
        "whole": np.full(p, np.nan),
        "out": np.full(len(given["kinds"]), np.inf),
    }


def near_groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    ptr, kinds = ragged(rng, n, p)
    factors = np.where(rng.random(len(kinds)) < 0.9, rng.random(len(kinds)), np.inf)
    return {
        "ptr": ptr, "kinds": kinds, "factors": factors, "products": rng.normal(size=p),
        "error": float(rng.choice([1e-9, 0.1])), "lipschitz": rng.random(n) + 0.5,
        "divisor": np.sqrt(rng.integers(0, 4, n)), "gone": rng.random(3),
        "length": 2.0 * rng.random(), "reach": rng.random(),
        "radius": float(rng.choice([0.0, 0.1])), "top": float(rng.choice([-np.inf, rng.random()])),
        "now": 2, "value": rng.random(n), "where": rng.integers(0, 3, n).astype(np.int32),
        "near": np.full(n, -1, dtype=np.int32), "bound": np.full(n, np.nan),
    }  # fmt: skip


KERNELS = {
    "spans.span_scores": Kernel(
        span_scores,
        "dots dense gram products sizes left out",
        "race squares place weights r dots dense products sizes left out",
        "gram products sizes left",
    ),
    "spans.span_factors": Kernel(
        span_factors,
        "dense gram whole sizes left out",
        "race squares place weights dense whole sizes left out",
        "gram whole sizes left",
    ),
    "spans.near_groups": Kernel(
        near_groups,
        "value where near bound",
        "factors lipschitz divisor value where near bound ptr",
    ),
}
