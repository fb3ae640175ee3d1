"""Plain twins of ``textreg._core.stagewise``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s


def gram_column(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    c: Floats,
    gamma: Floats,
    j: int,
    sums: Floats,
    visited: NDArray[np.uint8],
    out_positions: Int32s,
    out_values: Floats,
) -> int:
    """Twin of :func:`textreg._core.stagewise.gram_column`."""
    column: dict[int, float] = {}
    for e in range(indptr[j], indptr[j + 1]):
        row = slice(row_indptr[indices[e]], row_indptr[indices[e] + 1])
        for k, value in zip(positions[row], values[row], strict=True):
            column[int(k)] = column.get(int(k), 0.0) + c[indices[e]] * data[e] * value
    nonzero = sorted(column) if 16 * len(column) > len(gamma) else list(column)
    for t, k in enumerate(nonzero):
        out_positions[t], out_values[t] = k, gamma[k] * column[k]
    return len(nonzero)


def add_entries(
    positions: Int32s, values: Floats, t: float, A: Floats, top: Floats, bottom: Floats, shift: int
) -> None:
    """Twin of :func:`textreg._core.stagewise.add_entries`."""
    for k, value in zip(positions, values, strict=True):
        A[k] += t * value
        top[k >> shift] = max(top[k >> shift], A[k])
        bottom[k >> shift] = max(bottom[k >> shift], -A[k])


def add_rows(
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    rows: Int32s,
    change: Floats,
    A: Floats,
    top: Floats,
    bottom: Floats,
    shift: int,
) -> None:
    """Twin of :func:`textreg._core.stagewise.add_rows`."""
    for i, t in zip(rows, change, strict=True):
        here = slice(row_indptr[i], row_indptr[i + 1])
        add_entries(positions[here], values[here], t, A, top, bottom, shift)


def apply_offset(
    A: Floats, B: Floats, offset: float, top: Floats, bottom: Floats, shift: int
) -> None:
    """Twin of :func:`textreg._core.stagewise.apply_offset`."""
    A += offset * B
    for b in range(len(top)):
        _bound_block(A, B, 0.0, top, bottom, shift, b)


def _bound_block(
    A: Floats, B: Floats, offset: float, top: Floats, bottom: Floats, shift: int, b: int
) -> float:
    here = slice(b << shift, (b + 1) << shift)
    top[b], bottom[b] = A[here].max(), (-A[here]).max()
    return float(np.abs(A[here] + offset * B[here]).max())


def largest_derivative(
    A: Floats,
    B: Floats,
    offset: float,
    low: Floats,
    high: Floats,
    top: Floats,
    bottom: Floats,
    order: Int32s,
    shift: int,
    tie: float,
    noise: float,
) -> int:
    """Twin of :func:`textreg._core.stagewise.largest_derivative`."""
    if not len(A):
        return -1
    ranges = offset * np.stack([low, high])

    def bounds() -> Floats:
        return np.asarray(np.maximum(top + ranges.max(axis=0), bottom - ranges.min(axis=0)))

    first = int(bounds().argmax())
    best = _bound_block(A, B, offset, top, bottom, shift, first)
    for b in range(len(top)):
        if b != first and bounds()[b] > best:
            best = max(best, _bound_block(A, B, offset, top, bottom, shift, b))
    near = np.flatnonzero(np.abs(A + offset * B) >= best - tie * best - noise)
    return int(near[order[near].argmin()])
