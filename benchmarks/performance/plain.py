"""Peers as one would write them with NumPy and SciPy, where no package solves the problem."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import diags_array
from scipy.special import expit, xlogy

from textreg.penalties import GroupNorms
from textreg.records import Problem

TIE = 1e-12


def omp(X: Any, y: Any, l2: float, budget: int) -> list[int]:
    """Orthogonal matching pursuit: sparse scores, a dense block, L-BFGS from the last fit."""
    columns = X.tocsc()
    norms = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
    U = (columns @ diags_array(1.0 / np.where(norms > 0.0, norms, 1.0))).tocsc()
    rows = U.T.tocsr()
    block = np.empty((len(y), budget), order="F")
    theta, order = np.zeros(1), []
    taken = np.zeros(U.shape[1], dtype=bool)
    for k in range(budget):
        theta = _ridge(block[:, :k], y, l2, theta)
        r = -y / (1.0 + np.exp(y * (block[:, :k] @ theta[:-1] + theta[-1])))
        scores = np.where(taken, -1.0, np.abs(rows @ r))
        j = int(np.flatnonzero(scores >= scores.max() * (1.0 - TIE))[0])
        block[:, k] = U[:, [j]].toarray().ravel()
        taken[j], theta = True, np.insert(theta, k, 0.0)
        order.append(j)
    return order


def _ridge(A: Any, y: Any, l2: float, start: Any) -> Any:
    """Weights and, last, the intercept of a logistic ridge."""

    def objective(theta: Any) -> tuple[float, Any]:
        w, margins = theta[:-1], y * (A @ theta[:-1] + theta[-1])
        r = -y / (1.0 + np.exp(margins))
        gradient = np.append(A.T @ r + 2.0 * l2 * w, r.sum())
        return float(np.logaddexp(0.0, -margins).sum() + l2 * (w @ w)), gradient

    options = {"gtol": 1e-5, "maxiter": 1000}
    return minimize(objective, start, (), "L-BFGS-B", jac=True, options=options).x


def admm(problem: Problem, penalty: GroupNorms, rho: float, limit: float) -> float:
    """ADMM for overlapping groups; the relative gap reached.

    One copy of the weights for every group and one for the l1 norm, so that the w step is smooth:
    Newton's method, its system reduced to one of documents by documents. Balanced rho. Stops at
    ``problem.tol`` or after ``limit`` seconds.
    """
    X, y, flat, starts = problem.X, problem.y, penalty.indices, penalty.indptr[:-1]
    XT = X.T.tocsr()
    copies = np.bincount(flat, minlength=penalty.p) + 1.0
    kernel = (X @ diags_array(1.0 / copies) @ XT).toarray()
    v, u = np.zeros(len(flat)), np.zeros(len(flat))
    v1, u1 = np.zeros(penalty.p), np.zeros(penalty.p)
    w, b, best, bound = np.zeros(penalty.p), 0.0, np.inf, -np.inf
    start_time = time.process_time()
    for iteration in range(1, 100_000):
        mean = (np.bincount(flat, weights=v - u, minlength=penalty.p) + v1 - u1) / copies
        for _ in range(20):
            s = expit(-y * (X @ w + b))
            h = np.maximum(s * (1.0 - s), 1e-12)
            slope, slope_b = rho * copies * (w - mean) - XT @ (y * s), -float(y @ s)
            factor = cho_factor(kernel / rho + np.diag(1.0 / h), check_finite=False)
            first = _solve(X, XT, factor, rho * copies, slope)
            second = _solve(X, XT, factor, rho * copies, XT @ h)
            move_b = -(slope_b - h @ (X @ first)) / (h.sum() - h @ (X @ second))
            move = -first - move_b * second
            w, b = w + move, b + move_b
            if max(np.abs(move).max(), abs(move_b)) < 1e-6:
                break
        z = w[flat] + u
        norms = np.sqrt(np.add.reduceat(z * z, starts))
        shrink = np.maximum(1.0 - penalty.strengths / (rho * np.maximum(norms, 1e-300)), 0.0)
        v_old, v1_old = v, v1
        v = np.repeat(shrink, penalty.sizes) * z
        u = z - v
        z1 = w + u1
        v1 = np.sign(z1) * np.maximum(np.abs(z1) - penalty.lam / rho, 0.0)
        u1 = z1 - v1
        if iteration % 20 == 0:
            s = expit(-y * (X @ w + b))
            up, down = s[y > 0].sum(), s[y < 0].sum()
            s[y > 0] *= min(1.0, down / up)
            s[y < 0] *= min(1.0, up / down)
            t = np.abs(XT @ (y * s) - rho * np.bincount(flat, weights=u, minlength=penalty.p))
            s /= max(1.0, float((t / penalty.lam).max()))
            bound = max(bound, float(-(xlogy(s, s) + xlogy(1.0 - s, 1.0 - s)).sum()))
            for point in (w, v1):
                loss = np.logaddexp(0.0, -y * (X @ point + b)).sum()
                best = min(best, float(loss) + penalty.value(point))
            seconds, gap = time.process_time() - start_time, (best - bound) / best
            if gap <= problem.tol or seconds > limit:
                return gap
            primal = np.hypot(np.linalg.norm(w[flat] - v), np.linalg.norm(w - v1))
            dual = rho * np.hypot(np.linalg.norm(v - v_old), np.linalg.norm(v1 - v1_old))
            if max(primal, dual) > 10.0 * min(primal, dual):
                scale = 2.0 if primal > dual else 0.5
                rho, u, u1 = rho * scale, u / scale, u1 / scale
    raise AssertionError("unreachable")


def _solve(X: Any, XT: Any, factor: Any, diagonal: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(diag + X' H X)^-1 right, by Woodbury's identity with the factored n x n system."""
    scaled = right / diagonal
    return scaled - (XT @ cho_solve(factor, X @ scaled, check_finite=False)) / diagonal
