"""Plain twins of ``textreg._core.stagewise``, and of forward stagewise as a whole."""

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
    near = np.flatnonzero(np.abs(A + offset * B) >= best - tie * best)
    return int(near[order[near].argmin()])


def dense_path(
    X: Floats,
    y: Floats,
    c: Floats,
    *,
    likelihood: str,
    fit_intercept: bool,
    steps: int,
    epsilon: float,
    scaled: bool = False,
    standardize: bool = True,
    every: int = 100,
    sample: int | None = None,
    keep_best: bool = False,
    seed: int = 0,
    tie: float = 1e-10,
) -> tuple[list[int], list[float], Floats, float]:
    """Forward stagewise as Hooker & Weng (2004) write it, with G and all derivatives made in full.

    X: (n, p) dense. y: (n,), -1 and +1 except for "linear". c: (n,) weights. likelihood: "linear",
    "logistic" or "exponential". Stops after ``steps``, when a step would undo the last, or when all
    derivatives vanish. Returns the feature and the signed size, in epsilons, of every step, the
    weights in the units of X and the intercept, for the logistic that of the last check.
    """
    p = X.shape[1]
    center = fit_intercept or likelihood == "exponential"
    mu = c @ X / c.sum() if center else np.zeros(p)
    variance = c @ (X - mu) ** 2 / c.sum()
    varies = variance > 1e-12 * (c @ X**2) / c.sum()
    gamma = np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    if not standardize:
        gamma = varies.astype(np.float64)
    G = (X - mu) * gamma
    rng = np.random.default_rng(seed)
    units, features, sizes = np.zeros(p), list[int](), list[float]()
    b, residual_size = 0.0, 1.0
    y_mean = float(c @ y / c.sum()) if fit_intercept else 0.0
    for step in range(steps + 1):
        w = epsilon * units * gamma
        check = step % every == 0
        if likelihood == "linear":
            residual = y - y_mean - G @ (epsilon * units)
            derivative = G.T @ (c * residual)
            b = y_mean - float(mu @ w)
        elif likelihood == "logistic":
            if check and fit_intercept:
                b = _best_intercept(X @ w, y, c, b)
            residual = y / (1.0 + np.exp(y * (X @ w + b)))
            derivative = G.T @ (c * residual)
        else:
            observed = c * (y > 0)
            tilted = c * np.exp(X @ w)
            derivative = G.T @ (observed - observed.sum() * tilted / tilted.sum())
        if check and scaled:
            residual_size = float(np.sqrt(c @ residual**2 / c.sum()))
        j = _largest(derivative, np.arange(p), tie)
        if sample is not None:
            sampled = rng.choice(p, sample, replace=False, shuffle=False)
            if keep_best and features:
                sampled = np.append(sampled, features[-1])
            candidate = _largest(derivative, sampled, tie)
            if (
                not _is_loop(candidate, derivative, features, sizes)
                and derivative[candidate] != 0.0
            ):
                j = candidate
        if step == steps or _is_loop(j, derivative, features, sizes):
            break
        if abs(derivative[j]) < 1e-12 * c.sum():
            break
        features.append(j)
        sizes.append(float(np.copysign(residual_size, derivative[j])))
        units[j] += sizes[-1]
    return features, sizes, epsilon * units * gamma, b


def _largest(derivative: Floats, among: NDArray[np.int64], tie: float) -> int:
    """The first feature of the largest derivative."""
    size = np.abs(derivative[among])
    return int(among[size >= (1.0 - tie) * size.max()].min())


def _is_loop(j: int, derivative: Floats, features: list[int], sizes: list[float]) -> bool:
    """Whether a step along j would undo the last one."""
    return bool(features) and features[-1] == j and sizes[-1] * derivative[j] < 0.0


def _best_intercept(z: Floats, y: Floats, c: Floats, b: float) -> float:
    """Newton's method on the logistic loss in the intercept alone."""
    for _ in range(100):
        s = 1.0 / (1.0 + np.exp(y * (z + b)))
        b += float((c * y) @ s / (c @ (s * (1.0 - s))))
    return b
