"""Arguments for the kernels that score groups of columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from kernel_inputs import Arguments, Bundle, Kernel, columns, ragged, some


def group_arrays(rng: np.random.Generator, n: int, p: int) -> Bundle:
    """Columns, four groups of them in order of their entries, and some of the columns dense."""
    indptr, indices, data = columns(rng, n, p).values()
    distinct = rng.permutation(p)[: rng.integers(p // 2, p + 1)].astype(np.int32)
    offsets, members = ragged(rng, 4, len(distinct))
    order = np.argsort(-np.diff(indptr)[distinct], kind="stable")
    rank = np.argsort(order, kind="stable")
    for start, stop in pairwise(offsets):
        members[start:stop] = sorted(members[start:stop], key=rank.__getitem__)
    weights, values = rng.random(n), np.zeros((len(distinct), n))
    for k, j in enumerate(distinct):
        here = slice(indptr[j], indptr[j + 1])
        values[k, indices[here]] = data[here]
    dense = order[: rng.integers(0, len(distinct) + 1)]
    row = np.full(len(distinct), -1, dtype=np.int32)
    row[dense] = np.arange(len(dense))
    weighted = values[dense] * weights
    return Bundle(
        "GroupArrays",
        {
            "matrix": (indptr, indices, data), "weights": weights, "columns": distinct,
            "dense": (row, weighted, weighted @ values[dense].T), "group_offsets": offsets,
            "members": members, "width": p, "gram_width": p,
        },
    )  # fmt: skip


def selected(rng: np.random.Generator) -> Any:
    return rng.permutation(4)[: rng.integers(1, 5)].astype(np.int32)


def group_correlations(rng: np.random.Generator, n: int, p: int) -> Arguments:
    groups, groups_selected = group_arrays(rng, n, p), selected(rng)
    size = len(groups.arguments["members"])
    return {
        "groups": groups, "selected": groups_selected, "r": some(rng, n),
        "squares": (rng.random(size) + 0.1) * (rng.random(size) < 0.8),
        "dots": np.full(len(groups.arguments["columns"]), np.nan),
        "out": np.full(len(groups_selected), np.nan),
    }  # fmt: skip


def group_projections(rng: np.random.Generator, n: int, p: int) -> Arguments:
    smoothing, rank = ((0.01, 0.0), (0.0, 1e-6))[int(rng.integers(2))]
    return {**group_correlations(rng, n, p), "smoothing": smoothing, "rank": rank}


def projection_bounds(rng: np.random.Generator, n: int, p: int) -> Arguments:
    groups = group_arrays(rng, n, p)
    size = len(groups.arguments["members"])
    return {
        "groups": groups, "selected": selected(rng), "squares": rng.random(size) + 0.1,
        "smoothing": 0.01, "out": np.full(size, np.inf),
    }  # fmt: skip


def candidate_groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    groups = group_arrays(rng, n, p)
    size = len(groups.arguments["members"])
    bounds = {
        "value": rng.random(4), "origin": rng.integers(0, 3, 4).astype(np.int32),
        "lipschitz": rng.random(4) + 0.5, "divisor": np.sqrt(rng.integers(0, 4, 4)),
    }  # fmt: skip
    return {
        "groups": groups, "bounds": Bundle("GroupBounds", bounds),
        "factors": np.where(rng.random(size) < 0.9, rng.random(size), np.inf),
        "dots": rng.normal(size=len(groups.arguments["columns"])),
        "error": float(rng.choice([1e-9, 0.1])), "distances": rng.random(3),
        "length": 2.0 * rng.random(), "reach": rng.random(),
        "radius": float(rng.choice([0.0, 0.1])), "top": float(rng.choice([-np.inf, rng.random()])),
        "candidates": np.full(4, -1, dtype=np.int32), "upper": np.full(4, np.nan),
    }  # fmt: skip


KERNELS = {
    "group_scores.group_correlations": Kernel(
        group_correlations, "dots out", "columns weights members squares r dots out"
    ),
    "group_scores.group_projections": Kernel(
        group_projections, "dots out", "columns weights members squares r dots out"
    ),
    "group_scores.projection_bounds": Kernel(
        projection_bounds, "out", "columns weights members squares out"
    ),
    "group_scores.candidate_groups": Kernel(
        candidate_groups,
        "value origin candidates upper",
        "value origin lipschitz divisor factors dots candidates upper",
    ),
}
