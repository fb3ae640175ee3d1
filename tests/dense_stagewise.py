"""Forward stagewise without any of its shortcuts, for the tests of the fast one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats


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
    sample: int | None = None,
    lookup: str = "random",
    keep_best: bool = False,
    seed: int = 0,
    tie: float = 1e-10,
) -> tuple[list[int], list[float], Floats, float]:
    """Forward stagewise as Hooker & Weng (2004) write it, with G and all derivatives made in full.

    X: (n, p) dense. y: (n,), -1 and +1 except for "linear". c: (n,) weights. likelihood: "linear",
    "logistic" or "exponential". Stops after ``steps``, when a step would undo the last, or when all
    derivatives vanish. Returns the feature and the signed size, in epsilons, of every step, the
    weights in the units of X and the intercept.
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
    looked = np.full(p, -1)
    units, features, sizes = np.zeros(p), list[int](), list[float]()
    b, residual_size = 0.0, 1.0
    y_mean = float(c @ y / c.sum()) if fit_intercept else 0.0
    for step in range(steps + 1):
        w = epsilon * units * gamma
        if likelihood == "linear":
            residual = y - y_mean - G @ (epsilon * units)
            derivative = G.T @ (c * residual)
            b = y_mean - float(mu @ w)
        elif likelihood == "logistic":
            if fit_intercept:
                b = _best_intercept(X @ w, y, c, b)
            residual = y / (1.0 + np.exp(y * (X @ w + b)))
            derivative = G.T @ (c * residual)
        else:
            observed = np.where(c > 0.0, np.maximum(y, 0.0), 0.0)
            tilted = c * np.exp(X @ w)
            derivative = G.T @ (observed - observed.sum() * tilted / tilted.sum())
        if scaled:
            residual_size = float(np.sqrt(c @ residual**2 / c.sum()))
        j = _largest(derivative, np.arange(p), tie)
        if sample is not None:
            sampled = _sample(rng, sample, lookup, looked)
            if keep_best and features:
                sampled = np.append(sampled, features[-1])
            looked[sampled] = step
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


def _sample(
    rng: np.random.Generator, sample: int, lookup: str, looked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Features at random, or those of the earliest last look-up and among equals the first."""
    p = len(looked)
    if lookup == "queue":
        return np.lexsort((np.arange(p), looked))[:sample]
    return rng.choice(p, sample, replace=False, shuffle=False)


def _largest(derivative: Floats, among: NDArray[np.int64], tie: float) -> int:
    """The first feature of the largest derivative."""
    size = np.abs(derivative[among])
    return int(among[size >= (1.0 - tie) * size.max()].min())


def _is_loop(j: int, derivative: Floats, features: list[int], sizes: list[float]) -> bool:
    """Whether a step along j would undo the last one."""
    return bool(features) and features[-1] == j and sizes[-1] * derivative[j] < 0.0


def _best_intercept(z: Floats, y: Floats, c: Floats, b: float) -> float:
    """Newton's method on the logistic loss in the intercept alone."""
    for _ in range(12):
        s = 1.0 / (1.0 + np.exp(y * (z + b)))
        b += float((c * y) @ s / (c @ (s * (1.0 - s))))
    return b
