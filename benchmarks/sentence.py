"""Overlapping groups: time to a proven gap, beside a careful NumPy ADMM on the same problem.

    python benchmarks/sentence.py --data DIR      # DIR holds data/tasks/science, data/imdb

No maintained Python package solves this problem, so the peer is ADMM as one would write it with
NumPy and SciPy. Times are CPU seconds of the solver alone, one thread; memory is the peak of a
process that does one fit.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import diags_array
from scipy.special import expit, xlogy

from textreg.builtin.sentences import Sentences
from textreg.builtin.words import Words
from textreg.errors import ConvergenceWarning
from textreg.features.vectorize import Vectorizer
from textreg.penalties import GroupNorms
from textreg.reading.corpus import read_corpus
from textreg.records import Problem
from textreg.solvers.admm import admm
from textreg.solvers.majorize import majorize

GROUP = (0.001, 0.003, 0.01, 0.03, 0.1)
L1 = (0.01, 0.03, 0.1, 0.3, 1.0)


def load(path: Path, weighting: str, tol: float) -> Problem:
    """Unigrams of a corpus, and a group for every sentence."""
    corpus = read_corpus([str(path)])
    features = Vectorizer(weighting=weighting, ngrams=1).fit(Words(), corpus.texts)
    positive = max(corpus.labels or ())
    y = np.where(np.array(corpus.labels) == positive, 1.0, -1.0)
    problem = Problem(X=features.X, y=y, groups=Sentences().build(features.tokens), tol=tol)
    _ = problem.X_csc, problem.groups and problem.groups.merged  # made once, not part of a fit
    return problem


def numpy_admm(
    problem: Problem, penalty: GroupNorms, rho: float, limit: float
) -> tuple[float, float]:
    """ADMM with NumPy and SciPy; the CPU seconds used and the relative gap reached.

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
                return seconds, gap
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


def grid(problem: Problem) -> None:
    """All points, each from zero; then the same row by row with warm starts."""
    total = total_warm = 0.0
    for group in GROUP:
        row, start = [], None
        for l1 in reversed(L1):
            start_time = time.process_time()
            solution = majorize(problem, GroupNorms(problem.groups, group, l1))
            seconds = time.process_time() - start_time
            start_time = time.process_time()
            warm = majorize(problem.replace(start=start), GroupNorms(problem.groups, group, l1))
            total_warm += time.process_time() - start_time
            start = (warm.w, warm.b)
            total += seconds
            missed = "" if solution.gap <= problem.tol else f" MISSED {solution.gap:.0e}"
            row.append(f"{l1:g}: {seconds:.2f} s{missed}")
        print(f"  group {group:<6g} l1 {', '.join(row)}", flush=True)
    print(f"  whole grid: {total:.2f} s from zero, {total_warm:.2f} s warm-started")


def one(data: Path, name: str, group: float, l1: float) -> None:
    """A single fit in this process: time and peak memory."""
    problem = load(data / "data" / name, "count", 1e-3)
    start_time = time.process_time()
    solution = majorize(problem, GroupNorms(problem.groups, group, l1))
    seconds = time.process_time() - start_time
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"  group {group:<6g} l1 {l1:<5g} {seconds:6.2f} s  gap {solution.gap:.1e}  "
        f"{solution.nonzero:,} features  peak {peak:.2f} GB",
        flush=True,
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for the peer")
    parser.add_argument("--imdb", choices=("all", "some", "none"), default="some")
    parser.add_argument("--one", nargs=3, metavar=("NAME", "GROUP", "L1"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.one:
        name, group, l1 = options.one
        one(options.data, name, float(group), float(l1))
        return

    science = options.data / "data" / "tasks" / "science" / "train.jsonl.gz"
    for weighting in ("count", "log"):
        problem = load(science, weighting, 1e-4)
        print(
            f"science, {weighting}: {problem.X.shape}, {len(problem.groups):,} sentences, gap 1e-4"
        )
        grid(problem)

    problem = load(science, "count", 1e-3)
    print("science, count, group 0.5, l1 0.2, gap 1e-3, beside ADMM in NumPy")
    penalty = GroupNorms(problem.groups, 0.5, 0.2)
    theirs, gap = numpy_admm(problem, penalty, 1.0, options.limit)
    for solver in (majorize, admm):
        start_time = time.process_time()
        solution = solver(problem, penalty)
        ours = time.process_time() - start_time
        print(
            f"  {solver.__name__:9} {ours:6.2f} s (gap {solution.gap:.0e}), NumPy {theirs:6.2f} s "
            f"(gap {gap:.0e}): {theirs / ours:.0f} times as fast"
        )

    if options.imdb != "none":
        print("imdb, count, gap 1e-3, a process each")
        points = [(g, l1) for g in GROUP for l1 in L1]
        if options.imdb == "some":
            points = [(0.001, 0.01), (0.001, 1.0), (0.01, 0.1), (0.1, 0.01), (0.1, 1.0)]
        for group, l1 in points:
            command = [sys.executable, __file__, "--data", str(options.data), "--one"]
            subprocess.run(
                [*command, "imdb/train.jsonl.gz", str(group), str(l1)], check=True, text=True
            )


if __name__ == "__main__":
    main()
