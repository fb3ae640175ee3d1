"""What each change to Algorithm 1 of Yogatama & Smith (2014) brings: the table of docs/sentence.md.

    python benchmarks/algorithm_1.py --data FOLDER [--task computer] [--group 0.01] [--l1 1]

Counts of single words, a group for every training sentence, the strengths that the dev documents
choose by the protocol of the paper (docs/results.md), every rho of its grid. A cell is how far the
objective lies above its minimum, as a share of it, and after how many iterations. The minimum is
that of majorize at a gap of 1e-8.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from corpora import read

from textreg import Sentence
from textreg.builtin.group_builders import Sentences
from textreg.builtin.tokenizers import Words
from textreg.errors import ConvergenceWarning
from textreg.features.vectorize import Vectorizer
from textreg.records import Problem

RHOS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""The grid of the paper, section 5.2."""

PRINTED = {"solver": "admm", "stop": "paper", "balanced": False, "relax": 1.0}
VARIANTS: dict[str, dict[str, Any]] = {
    "`--reg-solver algorithm-1`": {"solver": "algorithm-1"},
    "over-relaxed": {**PRINTED, "relax": 1.6},
    "rho adapted": {**PRINTED, "balanced": True},
    "both": {**PRINTED, "balanced": True, "relax": 1.6},
    "stopped by the gap": {**PRINTED, "stop": "gap"},
    "all three: `--reg-solver admm`": {"solver": "admm"},
}
"""Options of each row; those between the first and the last have one change or two."""

MOST = 10_000
"""Most iterations of rows that stop by the gap."""


def problem_of(folder: Path) -> Problem:
    """The training documents of a task, with the counts of the paper and its groups."""
    rows = read(folder / "train.jsonl.gz")
    labels = [row["label"] for row in rows]
    vectorizer = Vectorizer(weighting="count", ngrams=1)
    features = vectorizer.fit(Words(), [row["text"] for row in rows])
    y = np.where(np.array(labels) == sorted(set(labels))[-1], 1.0, -1.0)
    groups = Sentences().build(features.tokens)
    return Problem(features.X, y, groups=groups, tol=1e-4, max_iter=MOST)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tasks")
    parser.add_argument("--task", default="computer")
    parser.add_argument("--group", type=float, default=0.01)
    parser.add_argument("--l1", type=float, default=1.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    problem = problem_of(given.data / "tasks" / given.task)
    sentence = Sentence(group=given.group, l1=given.l1)
    least = sentence.solve(problem.replace(tol=1e-8)).objective
    print("| |", " | ".join(f"rho {rho:g}" for rho in RHOS), "|\n|---" + "|---" * len(RHOS) + "|")
    for name, options in VARIANTS.items():
        cells = []
        for rho in RHOS:
            found = sentence.replace(rho=rho, **options).solve(problem)
            cells.append(f"{found.objective / least - 1.0:.2g}, {found.iterations:,}")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
