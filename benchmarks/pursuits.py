"""What options of omp and gomp bring on dev documents (docs/pursuit.md).

    python benchmarks/pursuits.py --data FOLDER [--tasks science,computer,...]

Counts of single words, ridges 0.1 and 1, budgets of 25 to 300 features: the best dev accuracy among
them and the features of that model, in parentheses the mean over all. omp: by its intercept. gomp:
by its sparsity inside groups, with 200 clusters of words and without single features.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from corpora import read

from textreg.builtin.greedy import Gomp, Omp
from textreg.builtin.tokenizers import Words
from textreg.features.vectorize import Vectorizer
from textreg.plugins import registry
from textreg.records import Problem

PARTS = ("train", "dev")
RIDGES, BUDGETS = (0.1, 1.0), (25, 50, 100, 200, 300)
VARIANTS = {
    **{f"omp, intercept {how}": Omp(intercept=how) for how in ("ridge", "free", "feature")},
    **{
        f"gomp, inside {share:g}": Gomp(singletons=False, inside=share)
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    },
}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tasks")
    parser.add_argument("--tasks", default="science,computer,religion,amazon-electronics")
    given = parser.parse_args()
    cells: dict[str, list[str]] = {name: [] for name in VARIANTS}
    tasks = given.tasks.split(",")
    for task in tasks:
        rows, dev = (read(given.data / "tasks" / task / f"{part}.jsonl.gz") for part in PARTS)
        positive = max(row["label"] for row in rows)
        y, y_dev = (np.where([r["label"] == positive for r in of], 1.0, -1.0) for of in (rows, dev))
        vectorizer = Vectorizer(weighting="count", ngrams=1)
        features = vectorizer.fit(Words(), [row["text"] for row in rows])
        X_dev = features.encoder.transform([row["text"] for row in dev])
        groups = registry.create("groups", "clusters").build(features.tokens)
        problem = Problem(features.X, y, groups=groups, max_iter=3000)
        for name, reg in VARIANTS.items():
            found = []
            for l2 in RIDGES:
                grid = [reg.replace(l2=l2, budget=budget) for budget in BUDGETS]
                for _, solution in reg.path(problem, grid):
                    right = (X_dev @ solution.w + solution.b > 0.0) == (y_dev > 0.0)
                    found.append((100.0 * right.mean(), -solution.nonzero))
            (best, size), mean = max(found), np.mean([accuracy for accuracy, _ in found])
            cells[name].append(f"{best:.1f}, {-size} ({mean:.1f})")
    print("| |", " | ".join(tasks), "|\n|---" + "|---" * len(tasks) + "|")
    for name, row in cells.items():
        print(f"| {name} |", " | ".join(row), "|")


if __name__ == "__main__":
    main()
