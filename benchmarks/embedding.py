"""What lle takes and brings by the number of features (docs/networks.md).

    python benchmarks/embedding.py --data FOLDER [--documents 10000]

Words of reviews of films (imdb) that occur in two or more, log counts, the graph of co-occurrence;
a fifth of the documents is held out. Seconds are CPU time of the embedding in 200 dimensions.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from corpora import read

from textreg.builtin.tokenizers import Words
from textreg.features.vectorize import Vectorizer
from textreg.plugins import registry
from textreg.records import Problem
from textreg_papers.projections import LocallyLinear

SIZES = (6_000, 12_000, 100_000)
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the corpora")
    parser.add_argument("--documents", type=int, default=10_000)
    given = parser.parse_args()
    rows = read(given.data / "imdb" / "train.jsonl.gz")
    chosen = np.random.default_rng(0).permutation(len(rows))[: given.documents]
    held = len(chosen) // 5
    train, dev = ([rows[i] for i in part] for part in (chosen[held:], chosen[:held]))
    vectorizer = Vectorizer(weighting="log", ngrams=1, min_df=2)
    features = vectorizer.fit(Words(), [row["text"] for row in train])
    X_dev = features.encoder.transform([row["text"] for row in dev])
    positive = max(row["label"] for row in rows)
    y, y_dev = (np.where([r["label"] == positive for r in of], 1.0, -1.0) for of in (train, dev))
    graph = registry.create("graph", "cooccurrence").build(features.tokens)
    problem = Problem(features.X, y, graph=graph)
    print("| `--reg-most` | features embedded | CPU seconds | peak MB | dev accuracy |")
    print("|---|---|---|---|---|")
    for most in SIZES:
        reg = LocallyLinear(most=most)
        before = time.process_time()
        embedded = len(np.flatnonzero(reg.replace(l2=STRENGTHS[0]).solve(problem).w))
        seconds = time.process_time() - before
        accuracies = []
        for l2 in STRENGTHS:
            solution = reg.replace(l2=l2).solve(problem)
            right = (X_dev @ solution.w + solution.b > 0.0) == (y_dev > 0.0)
            accuracies.append(100.0 * right.mean())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        cells = (
            f"{most:,}",
            f"{embedded:,}",
            f"{seconds:.0f}",
            str(peak),
            f"{max(accuracies):.1f}",
        )
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
