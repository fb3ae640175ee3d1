"""Algorithm 1 of Yogatama & Smith (2014) in plain NumPy, and its iterates on a small problem.

    python tests/letters/yogatama2014.py    # writes yogatama2014.npz, in two minutes

Nothing here is of textreg. The w step is a proximal gradient method, as in the paper, but run to
the last digits, so that the iterates are those of the algorithm and not of a tolerance.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
RHOS = (0.1, 1.0, 100.0)
ROUNDS = (1, 2, 5, 20)
SENTENCE, LASSO = 0.3, 0.2
CHANGE, MOST = 1e-4, 100
EXACT = 1e-13


def small() -> tuple[Any, Any, list[list[int]]]:
    """Counts, labels, sentences: one of a single word, two that are the same, a word in none."""
    random = np.random.default_rng(2014)
    X = random.poisson(0.5, size=(40, 12)).astype(float)
    y = np.where(X @ random.normal(size=12) + 0.5 * random.normal(size=40) > 0.0, 1.0, -1.0)
    sentences = [sorted(random.permutation(11)[: random.integers(2, 6)].tolist()) for _ in "ABCDE"]
    return X, y, [*sentences, [3], sentences[0]]


def soft(w: Any, by: float) -> Any:
    """The proximal operator of the lasso, section 4."""
    return np.where(w > by, w - by, np.where(w < -by, w + by, 0.0))


def minimize_w(X: Any, y: Any, N: Any, mu: Any, rho: float, start: Any) -> Any:
    """eq. (2) with the rewritten quadratic; the last entry is the bias, which has no penalty."""
    A = np.column_stack([X, np.ones(len(y))])
    q, lasso = rho * np.append(N, 0.0), LASSO * np.append(np.ones(len(N)), 0.0)
    step = 1.0 / (0.25 * np.linalg.norm(A, 2) ** 2 + q.max())
    w, center = start.copy(), np.append(mu, 0.0)
    while True:
        gradient = A.T @ (-y / (1.0 + np.exp(y * (A @ w)))) + q * (w - center)
        new = w - step * gradient
        new = np.where(lasso > 0.0, soft(new, step * LASSO), new)
        if np.abs(new - w).max() <= EXACT:
            return new
        w = new


def algorithm_1(rho: float) -> dict[str, Any]:
    """w and bias, and the norms of the copies, after ROUNDS; and the round it stops after."""
    X, y, sentences = small()
    p = X.shape[1]
    v = [np.zeros(len(s)) for s in sentences]
    u = [np.zeros(len(s)) for s in sentences]
    w = np.zeros(p + 1)
    N = np.array([sum(j in s for s in sentences) for j in range(p)], dtype=float)
    found: dict[str, Any] = {}
    stop = 0
    for k in range(1, MOST + 1):
        total = np.zeros(p)
        for s, copy, lagrange in zip(sentences, v, u, strict=True):
            total[s] += copy + lagrange / rho
        mu = np.divide(total, N, out=np.zeros(p), where=N > 0)
        before, w = w, minimize_w(X, y, N, mu, rho, w)
        for g, s in enumerate(sentences):
            z = w[s] - u[g] / rho
            norm = np.linalg.norm(z)
            zero = norm <= SENTENCE / rho
            v[g] = np.zeros(len(s)) if zero else (norm - SENTENCE / rho) / norm * z  # eq. (5)
            u[g] = u[g] + rho * (v[g] - w[s])  # eq. (4)
        if k in ROUNDS:
            found[f"w_{rho:g}_{k}"] = w
            found[f"norms_{rho:g}_{k}"] = np.array([np.linalg.norm(copy) for copy in v])
        change = np.linalg.norm((w - before)[:p]) / max(np.linalg.norm(before[:p]), 1e-300)
        if not stop and (change <= CHANGE or k == MOST):
            stop = k
            found[f"w_{rho:g}_last"] = w
    return {**found, f"stop_{rho:g}": np.array(stop)}


if __name__ == "__main__":
    np.savez_compressed(FILE, **{key: a for rho in RHOS for key, a in algorithm_1(rho).items()})
