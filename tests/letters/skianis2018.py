"""Algorithms 1 and 2 of Skianis et al. (2018) in plain NumPy, and what they give on small problems.

    python tests/letters/skianis2018.py    # writes skianis2018.npz, in seconds

Nothing here is of textreg. As in the paper: the bias is a last column of ones, under the ridge; r
is y at first; X stays as it is. Where the paper has two versions: a run ends when |I| >= K, as in
figure 1 (line 1 of Algorithm 1 would add one more), or when the norm of r is at most epsilon, as in
section 4 (line 3 has the correlation, which is ``ends_by="score"`` here).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
RIDGE, BUDGET = 0.5, 16


def small() -> tuple[Any, Any, list[list[int]]]:
    """Counts, labels, overlapping groups."""
    random = np.random.default_rng(2018)
    X = random.poisson(0.4, size=(50, 15)) * random.integers(1, 3, 15).astype(float)
    y = np.where(X @ random.normal(size=15) + random.normal(size=50) > 2.0, 1.0, -1.0)
    return (
        X,
        y,
        [sorted(random.permutation(15)[: random.integers(2, 6)].tolist()) for _ in "abcdef"],
    )


def theta_of(A: Any, y: Any) -> Any:
    """eq. (7): the least log loss plus ridge over the columns A, by Newton to the last digits."""
    theta = np.zeros(A.shape[1])
    while True:
        p = 1.0 / (1.0 + np.exp(-(A @ theta)))
        gradient = A.T @ (p - (y > 0.0)) + 2.0 * RIDGE * theta
        hessian = (A.T * (p * (1.0 - p))) @ A + 2.0 * RIDGE * np.eye(A.shape[1])
        step = np.linalg.solve(hessian, gradient)
        theta = theta - step
        if np.abs(step).max() < 1e-14:
            return theta


def residual(A: Any, y: Any, theta: Any) -> Any:
    """eq. (8)."""
    return 1.0 / (1.0 + np.exp(-(A @ theta))) - (y > 0.0)


def score(A: Any, r: Any, kind: str) -> float:
    """eq. (9), (10) and (11) for the columns A of a group."""
    products = A.T @ r
    if kind == "orthonormal":
        return float(products @ np.linalg.pinv(A.T @ A) @ products)
    return float(products @ products) / (A.shape[1] if kind == "mean" else 1)


def pursuit(
    kind: str, epsilon: float = 0.0, ends_by: str = "residual", inside: float = 0.0
) -> tuple[list[int], list[Any], list[float]]:
    """The order of the features, 15 being the bias; theta and the norm of r after every step.

    kind: "" for Algorithm 1, else the score of Algorithm 2, where the bias is a group of its own.
    inside: above 0, a group's features are taken one at a time, each by the residual of the fit
    before it, until their |x_j . r| is below this share of the first: the outlook of section 6.
    """
    X, y, groups = small()
    A = np.column_stack([X, np.ones(len(y))])
    left = [list(g) for g in groups] + [[15]] if kind else [[j] for j in range(16)]
    order: list[int] = []
    thetas, norms = [], []
    r = -y / 2.0 if inside else y  # where fits are compared, of one scale with eq. (8)
    while len(order) < BUDGET and any(left):
        scores = [score(A[:, g], r, kind or "sum") if g else -1.0 for g in left]
        best = int(np.argmax(scores))
        if ends_by == "score" and (scores[best] if kind else np.sqrt(scores[best])) <= epsilon:
            break
        if not inside:
            order += left[best]
        members, first = list(left[best]) if inside else [], 0.0
        while members:
            sizes = np.abs(A[:, members].T @ r)
            at = int(np.argmax(sizes))
            first = first or float(sizes[at])
            if sizes[at] < inside * first:
                break
            order.append(members.pop(at))
            r = residual(A[:, order], y, theta_of(A[:, order], y))
        left = [[j for j in g if j not in order] for g in left]
        thetas.append(theta_of(A[:, order], y))
        r = residual(A[:, order], y, thetas[-1])
        norms.append(float(np.linalg.norm(r)))
        if ends_by == "residual" and norms[-1] <= epsilon:
            break
    return order, thetas, norms


if __name__ == "__main__":
    kept: dict[str, Any] = {}
    for kind in ("", "sum", "orthonormal", "mean"):
        order, thetas, norms = pursuit(kind)
        name = kind or "omp"
        kept |= {f"{name}_order": order, f"{name}_norms": norms}
        for k, theta in enumerate(thetas):
            kept[f"{name}_theta_{k}"] = theta
    np.savez_compressed(FILE, **kept)
