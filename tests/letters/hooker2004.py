"""Forward stagewise of Hooker & Weng (2004) in plain NumPy, and its paths on a small problem.

    python tests/letters/hooker2004.py    # writes hooker2004.npz, in seconds

Nothing here is of textreg. As in the paper: the columns of zeros and ones are centered and scaled
to variance one, epsilon is fixed, and a run ends with a loop of length two or after STEPS steps.
The paper has no intercept other than the centered targets: with the logistic loss it is the best
one at every step, found by bisection to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
EPSILON, STEPS = 0.01, 400


def small() -> tuple[Any, Any, Any, Any]:
    """Patterns, responses, labels, and the W of section 8."""
    random = np.random.default_rng(2004)
    X = (random.random((60, 25)) < random.uniform(0.1, 0.5, 25)).astype(float)
    z = X[:, :6] @ random.normal(size=6)
    y = 2.0 + z + 0.3 * random.normal(size=60)
    labels = np.where(z + random.logistic(size=60) > np.median(z), 1.0, -1.0)
    return X, y, labels, random.uniform(0.2, 2.0, 60)


def centered_and_scaled(X: Any, W: Any) -> Any:
    """Section 5: G = (X - 1 mu') D(gamma), mean and variance weighted by W."""
    mu = W @ X / W.sum()
    return (X - mu) / np.sqrt(W @ (X - mu) ** 2 / W.sum())


def path(c: Callable[[Any], Any], p: int) -> tuple[Any, Any]:
    """Section 4: the features of all steps, and lambda at their end."""
    lam, features, last = np.zeros(p), list[int](), 0.0
    for _ in range(STEPS):
        correlations = c(lam)
        j = int(np.argmax(np.abs(correlations)))
        step = EPSILON * np.sign(correlations[j])
        if features and features[-1] == j and step == -last:
            break  # section 5.1
        lam[j] += step
        features.append(j)
        last = step
    return np.array(features), lam


def best_intercept(z: Any, y: Any) -> float:
    """Where the derivatives of the logistic loss sum to zero."""
    low, high = -50.0, 50.0
    while low < (middle := 0.5 * (low + high)) < high:
        if np.sum(y / (1.0 + np.exp(y * (z + middle)))) > 0.0:
            low = middle
        else:
            high = middle
    return middle


def paths() -> dict[str, Any]:
    """Features and lambda with squared error, the logistic loss and eq. (1)."""
    X, y, labels, W = small()
    n, p = X.shape
    G, weighted = centered_and_scaled(X, np.ones(n)), centered_and_scaled(X, W)

    def linear(lam: Any) -> Any:
        return G.T @ (y - y.mean() - G @ lam)

    def logistic(lam: Any) -> Any:
        z = G @ lam
        return G.T @ (labels / (1.0 + np.exp(labels * (z + best_intercept(z, labels)))))

    def exponential(lam: Any) -> Any:
        tilted = W * np.exp(weighted @ lam)
        return weighted.sum(axis=0) - n * (weighted.T @ tilted) / tilted.sum()

    known: dict[str, Any] = {}
    for name, c in (("linear", linear), ("loss", logistic), ("exponential", exponential)):
        known[f"{name}_features"], known[f"{name}_lambda"] = path(c, p)
    known["loss_intercept"] = best_intercept(G @ known["loss_lambda"], labels)
    return known


if __name__ == "__main__":
    np.savez_compressed(FILE, **paths())
