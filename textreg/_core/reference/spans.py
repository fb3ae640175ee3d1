"""Plain twins of ``textreg._core.spans``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


def _group(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    n: int,
    race: Int32s,
    ptr: Int64s,
    kinds: Int32s,
    squares: Floats,
    g: int,
) -> Floats:
    """The columns that are left in a group, (n, m)."""
    entries = [e for e in range(ptr[g], ptr[g + 1]) if squares[e] > 0.0]
    A = np.zeros((n, len(entries)))
    for a, e in enumerate(entries):
        here = slice(indptr[race[kinds[e]]], indptr[race[kinds[e]] + 1])
        A[indices[here], a] = math.sqrt(squares[e]) * data[here]
    return A


def span_scores(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    weights: Floats,
    r: Floats,
    race: Int32s,
    ptr: Int64s,
    kinds: Int32s,
    squares: Floats,
    groups: Int32s,
    projected: bool,
    smoothing: float,
    rank: float,
    place: Int32s,
    common: Floats,
    shared: Floats,
    dots: Floats,
    dense: Floats,
    gram: Floats,
    products: Floats,
    sizes: Floats,
    left: Int32s,
    out: Floats,
) -> None:
    """Twin of :func:`textreg._core.spans.span_scores`."""
    for k, g in enumerate(groups.tolist()):
        A = _group(indptr, indices, data, len(r), race, ptr, kinds, squares, g)
        u = A.T @ r
        for e in range(ptr[g], ptr[g + 1]):
            here = slice(indptr[race[kinds[e]]], indptr[race[kinds[e]] + 1])
            if squares[e] > 0.0:
                dots[kinds[e]] = data[here] @ r[indices[here]]
        if not projected:
            out[k] = math.sqrt(u @ u)
            continue
        whole = (A.T * weights) @ A + smoothing * np.eye(len(u))
        kept: list[int] = []
        for a in range(len(u)):
            span = whole[np.ix_(kept, kept)]
            part = whole[a, a] - whole[a, kept] @ np.linalg.solve(span, whole[kept, a])
            if part > rank * whole[a, a]:
                kept.append(a)
        out[k] = math.sqrt(u[kept] @ np.linalg.solve(whole[np.ix_(kept, kept)], u[kept]))


def span_factors(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    weights: Floats,
    race: Int32s,
    ptr: Int64s,
    kinds: Int32s,
    squares: Floats,
    groups: Int32s,
    smoothing: float,
    place: Int32s,
    common: Floats,
    shared: Floats,
    dense: Floats,
    gram: Floats,
    whole: Floats,
    sizes: Floats,
    left: Int32s,
    out: Floats,
) -> None:
    """Twin of :func:`textreg._core.spans.span_factors`."""
    for g in groups.tolist():
        A = _group(indptr, indices, data, len(weights), race, ptr, kinds, squares, g)
        inverse = np.linalg.inv((A.T * weights) @ A + smoothing * np.eye(A.shape[1]))
        here = slice(ptr[g], ptr[g + 1])
        out[here] = squares[here] * np.abs(inverse).sum(axis=1)


def near_groups(
    ptr: Int64s,
    kinds: Int32s,
    factors: Floats,
    products: Floats,
    error: float,
    lipschitz: Floats,
    divisor: Floats,
    gone: Floats,
    length: float,
    reach: float,
    radius: float,
    top: float,
    now: int,
    value: Floats,
    where: Int32s,
    near: Int32s,
    bound: Floats,
) -> int:
    """Twin of :func:`textreg._core.spans.near_groups`."""
    count = 0
    for g in np.flatnonzero(divisor).tolist():
        more = (lipschitz[g] / divisor[g] + reach) * radius
        most = min(value[g] + lipschitz[g] * gone[where[g]], lipschitz[g] * length)
        if most / divisor[g] + more < top:
            continue
        here = slice(ptr[g], ptr[g + 1])
        total = math.sqrt(factors[here] @ products[kinds[here]] ** 2) + lipschitz[g] * error
        if total < most:
            value[g], where[g], most = total, now, total
        if most / divisor[g] + more >= top:
            near[count], bound[count] = g, most / divisor[g] + more
            count += 1
    return count
