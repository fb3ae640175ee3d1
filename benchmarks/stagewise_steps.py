"""Forward stagewise on corpora: time and look-ups by the size of steps, sizes of steps, thresholds.

    python benchmarks/stagewise_steps.py                   # corpora in $TEXTREG_DATA/data
    python benchmarks/stagewise_steps.py --corpora imdb

Figures of docs/lab-book.md. Features are words of two documents or more, 1 + log of their
count. Where a corpus has a development set, the least loss on it is searched in 20,000 steps.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from textreg.records import Problem, Solution
from textreg.solvers.stagewise import StagewiseRun, stagewise
from textreg.solvers.stagewise_rules import StepRules


def read(file: Path) -> tuple[list[str], list[str]]:
    """Texts and labels."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def problem_of(folder: Path) -> Problem:
    """The training part, with the development part held out where there is one."""
    vectorizer = CountVectorizer(min_df=2)
    texts, labels = read(folder / "train.jsonl.gz")
    negative = min(labels)

    def numbers(counts: Any, labels: list[str]) -> tuple[csr_array, np.ndarray]:
        X = csr_array(counts, dtype=float)
        X.data = 1.0 + np.log(X.data)
        return X, np.where(np.array(labels) == negative, -1.0, 1.0)

    X, y = numbers(vectorizer.fit_transform(texts), labels)
    dev = folder / "dev.jsonl.gz"
    if not dev.exists():
        return Problem(X, y)
    texts, labels = read(dev)
    return Problem(X, y, validation=numbers(vectorizer.transform(texts), labels))


def timed(problem: Problem, **rules: Any) -> tuple[Solution, float]:
    """A run and its seconds."""
    started = time.process_time()
    solution = stagewise(problem, StepRules(**rules))
    return solution, time.process_time() - started


def measure(problem: Problem) -> None:
    n, p = problem.design.shape
    print(f"{n:,} documents, {p:,} features, {len(problem.design.columns.data):,} counts")
    alone = problem.replace(validation=None)
    for likelihood, epsilon in (("loss", 0.1), ("loss", 0.01), ("loss", 0.001), ("linear", 0.01)):
        rules = {"likelihood": likelihood, "epsilon": epsilon, "scaled": likelihood == "loss"}
        _, bounds = timed(alone, **rules)
        queued, queue = timed(alone, **rules, lookup="queue")
        share = (queued.report.lookups - p) / (queued.iterations * p)
        print(
            f"  {likelihood} {epsilon:g}: bounds {bounds:.2f} s, queue {queue:.2f} s, "
            f"which looked at {share:.2%}"
        )
    largest = StagewiseRun(alone, StepRules())._first_size
    print(f"  largest derivative at the start {largest:.0f}; steps to a threshold")
    for threshold, relative in ((50.0, False), (0.2, True)):
        steps = {"epsilon": 0.1, "scaled": True, "steps": 3000}
        solution, _ = timed(alone, threshold=threshold, relative=relative, **steps)
        print(f"    {threshold:g}: {solution.iterations} ({solution.report.stopped})")
    if problem.validation is None:
        return
    for epsilon, scaled in ((0.01, False), (0.1, False), (0.1, True)):
        rules = {"epsilon": epsilon, "scaled": scaled, "steps": 20_000, "every": 25}
        solution, seconds = timed(problem, patience=3000, **rules)
        least = float(np.min(solution.report.path.validation_error))
        print(
            f"  steps of {epsilon:g}{', scaled' * scaled}: least loss {least:.4f} after "
            f"{solution.report.best_step:,}, {seconds:.1f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("TEXTREG_DATA", "."), help="has data/")
    parser.add_argument("--corpora", default="tasks/science,tasks/amazon-books,imdb")
    options = parser.parse_args()
    for name in options.corpora.split(","):
        print(name)
        measure(problem_of(Path(options.data) / "data" / name))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
