"""OMP and GOMP beside a plain SciPy version: CPU time, and the order beside that of exact fits.

    python benchmarks/pursuit.py [--data FOLDER] [--budget 2000] [--exact 300] [--repeat 3]

OMP on the whole vocabulary of ``tasks/computer`` (words \\w+ of the lower-cased messages, counts),
columns of norm one, a free intercept, a ridge of 1 and of 0.1. SciPy's version has sparse scores,
a dense block of active columns, and L-BFGS from the last fit to a gradient of 1e-5. Both are
checked against fits that are exact to rounding (Newton, dense) for the first --exact features. GOMP
with the 200 overlapping clusters and all single words of ``golden/gomp_religion.npz``, up to 200
words; there the plain version keeps the inverse of every A'A + 0.01 I until the group shrinks.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from textreg.records import Groups, Problem
from textreg.solvers.pursuit import Pursuit

TIE = 1e-12


def objective(theta: Any, A: Any, y: Any, l2: float) -> tuple[float, Any]:
    """Logistic loss + ridge over the weights and, last, the intercept; and its gradient."""
    w, margins = theta[:-1], y * (A @ theta[:-1] + theta[-1])
    r = -y / (1.0 + np.exp(margins))
    gradient = np.append(A.T @ r + 2.0 * l2 * w, r.sum())
    return float(np.logaddexp(0.0, -margins).sum() + l2 * (w @ w)), gradient


def lbfgs(A: Any, y: Any, l2: float, start: Any) -> Any:
    options = {"gtol": 1e-5, "maxiter": 1000}
    return minimize(objective, start, (A, y, l2), "L-BFGS-B", jac=True, options=options).x


def newton(A: Any, y: Any, l2: float, start: Any) -> Any:
    ones, theta = np.column_stack([A, np.ones(len(y))]), start.copy()
    ridge = np.append(np.full(A.shape[1], 2.0 * l2), 0.0)
    for _ in range(50):
        _, gradient = objective(theta, A, y, l2)
        s = 1.0 / (1.0 + np.exp(y * (ones @ theta)))
        step = np.linalg.solve((ones.T * (s * (1.0 - s))) @ ones + np.diag(ridge), -gradient)
        theta += step
        if np.abs(step).max() < 1e-13:
            break
    return theta


def unit(X: Any) -> Any:
    """The columns divided by their norms."""
    columns = X.tocsc()
    norms = np.sqrt(np.asarray(columns.multiply(columns).sum(axis=0)).ravel())
    return (columns @ diags_array(1.0 / np.where(norms > 0.0, norms, 1.0))).tocsc()


def omp(X: Any, y: Any, l2: float, budget: int, fit: Callable[..., Any]) -> list[int]:
    """The plain version of orthogonal matching pursuit."""
    U, n = unit(X), len(y)
    rows = U.T.tocsr()
    block = np.empty((n, budget), order="F")
    theta, order = np.zeros(1), []
    taken = np.zeros(U.shape[1], dtype=bool)
    while len(order) < budget:
        k = len(order)
        theta = fit(block[:, :k], y, l2, theta)
        r = -y / (1.0 + np.exp(y * (block[:, :k] @ theta[:-1] + theta[-1])))
        scores = np.where(taken, -1.0, np.abs(rows @ r))
        j = int(np.flatnonzero(scores >= scores.max() * (1.0 - TIE))[0])
        block[:, k] = U[:, [j]].toarray().ravel()
        taken[j], theta = True, np.insert(theta, k, 0.0)
        order.append(j)
    return order


def gomp(X: Any, y: Any, l2: float, budget: int, groups: list[Any], fit: Any) -> list[int]:
    """The plain version of group pursuit, with single features and the projection score."""
    U, n = unit(X), len(y)
    rows = U.T.tocsr()
    left = [np.asarray(group) for group in groups]
    inverse: dict[int, Any] = {}
    theta, order = np.zeros(1), []
    block, taken = np.empty((n, 2 * budget), order="F"), np.zeros(U.shape[1], dtype=bool)
    while len(order) < budget:
        k = len(order)
        theta = fit(block[:, :k], y, l2, theta)
        r = -y / (1.0 + np.exp(y * (block[:, :k] @ theta[:-1] + theta[-1])))
        products = rows @ r
        scores = np.full(len(left), -1.0)
        for g, features in enumerate(left):
            if len(features):
                if g not in inverse:
                    A = U[:, features].toarray()
                    inverse[g] = np.linalg.inv(A.T @ A + 0.01 * np.eye(len(features)))
                c = products[features]
                scores[g] = c @ inverse[g] @ c / len(features)
        single = np.where(taken, -1.0, products**2 / 1.01)
        top = max(scores.max(), single.max())
        tied = np.flatnonzero(scores >= top * (1.0 - TIE))
        new = left[tied[0]] if len(tied) else np.flatnonzero(single >= top * (1.0 - TIE))[:1]
        for j in new.tolist():
            block[:, len(order)] = U[:, [j]].toarray().ravel()
            order.append(j)
        taken[new], theta = True, np.insert(theta, [k] * len(new), 0.0)
        for g in np.flatnonzero([np.isin(features, new).any() for features in left]):
            left[g] = left[g][~taken[left[g]]]
            inverse.pop(int(g), None)
    return order


def timed(call: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """Least CPU time of some runs, and what the last one gave."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        result = call()
        times.append(time.process_time() - started)
    return min(times), result


def agreement(ours: Sequence[int], theirs: Sequence[int]) -> str:
    """How far two orders are the same."""
    count = min(len(ours), len(theirs))
    same = sum(a == b for a, b in zip(ours, theirs, strict=False))
    common = len(set(ours[:count]) & set(theirs[:count]))
    return f"{same} of {count} at the same place, {common} in common"


def computer(data: Path) -> Problem:
    with gzip.open(data / "tasks/computer/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    words = CountVectorizer(analyzer=lambda text: re.findall(r"\w+", text.lower()))
    X = words.fit_transform([row["text"] for row in rows]).astype(float)
    labels = np.array([row["label"] for row in rows])
    return Problem(csr_array(X), np.where(labels == max(labels), 1.0, -1.0))


def religion(folder: Path) -> Problem:
    with np.load(folder / "gomp_religion.npz", allow_pickle=False) as arrays:
        stored = dict(arrays)
    parts = (stored["train_data"].astype(float), stored["train_indices"], stored["train_indptr"])
    X = csr_array(parts, shape=tuple(stored["train_shape"]))
    indptr = stored["groups_clus_indptr"].astype(np.int64)
    indices = stored["groups_clus_indices"].astype(np.int32)
    groups = Groups(indptr, indices, np.ones(len(indptr) - 1), X.shape[1])
    return Problem(X, stored["train_y"].astype(float), groups=groups)


def report(name: str, problem: Problem, l2: float, budget: int, args: Any) -> None:
    """Print both times, and what the order is worth."""
    X, y, groups = problem.X, problem.y, problem.groups
    # Nothing that one run prepares helps the next; the columns of X are made outside the clock.
    fresh = [problem.replace(X=X) for _ in range(args.repeat)]
    for one in fresh:
        one.X_csc  # noqa: B018

    def ours() -> Any:
        run = Pursuit(fresh.pop(), l2=l2, score="projection" if groups else "")
        return run, run.solution(budget)

    def plain(count: int, fit: Any) -> list[int]:
        if groups is None:
            return omp(X, y, l2, count, fit)
        return gomp(X, y, l2, count, np.split(groups.indices, groups.indptr[1:-1]), fit)

    seconds, (run, solution) = timed(ours, args.repeat)
    theirs, order = timed(lambda: plain(budget, lbfgs))
    exact = plain(min(args.exact, budget), newton)
    print(f"{name}, ridge {l2:g}, {budget:,} of {X.shape[1]:,} features")
    print(f"  textreg {seconds:8.3f} s, with the last fit; {run.uncertain} choices uncertain")
    print(f"  SciPy   {theirs:8.3f} s, without; {theirs / seconds:.1f} times as long")
    print(f"  textreg and exact fits: {agreement(solution.report.order, exact)}")
    print(f"  SciPy and exact fits:   {agreement(order, exact)}")
    print(f"  textreg and SciPy:      {agreement(solution.report.order, order)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TEXTREG_DATA"))
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--exact", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data: name the folder that holds data/ and golden/")
    with threadpool_limits(limits=1):
        problem = computer(args.data / "data")
        for l2 in (1.0, 0.1):
            report("OMP, computer", problem, l2, args.budget, args)
        for l2 in (1.0, 0.1):
            report("GOMP, religion", religion(args.data / "golden"), l2, 200, args)


if __name__ == "__main__":
    main()
