"""Forward stagewise at the size of Hooker & Weng (2004), section 6: seconds and memory of one run.

    python benchmarks/stagewise.py                  # 850,000 rows, 190,000 columns, 62,100 steps
    python benchmarks/stagewise.py --share 0.1      # a tenth of each

Their data, statistics of parsed sentences, are not available; ours are simulated with the same
shape. A row is ten values: four words, each with its tag, and two relations, where neighboring
words, a word and its tag, and tags and relations go together. A template is a set of places among
the ten, and every combination of values seen there often enough is a zero-one column; 28 templates
give a row at most 28 ones. The response sums an effect of every such combination and noise; its
variance is that of the paper, 56.5, so that epsilon = 0.01 means the same. A tenth more rows are
held out.

Their run took around 20 minutes on a Pentium 4 of 1.9 GHz for an R^2 of 0.923 and a best error on
test data of 8.576, where 15,342 coefficients were not zero.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from textreg.records import Problem
from textreg.solvers.stagewise import stagewise
from textreg.solvers.stagewise_rules import StepRules

ROWS, COLUMNS, STEPS = 850_000, 190_000, 62_100
LEAST = 5
"""Rows in which a combination must be seen to become a column, as in the paper."""

WORDS, TAGS, RELATIONS = 20_000, 45, 40
SIZES = [WORDS] * 4 + [TAGS] * 4 + [RELATIONS] * 2
TEMPLATES = [
    *[(8,), (9,), (4,), (5,), (6,), (7,), (0,), (1,), (2,), (3,)],
    *[(4, 5), (6, 7), (8, 9), (4, 6), (0, 1), (2, 3), (0, 2), (1, 3), (0, 5), (2, 7), (0, 8)],
    *[(2, 9), (4, 5, 8), (6, 7, 9), (4, 5, 6, 7), (0, 1, 8), (2, 3, 9), (0, 2, 8, 9)],
]
VARIANCE, NOISE = 56.5, 0.05
"""Of the response, and the part of it that no pattern explains."""


def tuples(rng: np.random.Generator, rows: int) -> list[np.ndarray]:
    """The ten values of every row."""

    def zipf(size: int, count: int) -> np.ndarray:
        probability = 1.0 / (np.arange(size) + 3.0)
        return rng.choice(size, size=count, p=probability / probability.sum())

    def either(probability: float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.where(rng.random(rows) < probability, first, second)

    friends = zipf(WORDS, 6 * WORDS).reshape(WORDS, 6)
    tag_of = zipf(TAGS, WORDS)

    def beside(word: np.ndarray) -> np.ndarray:
        return either(0.5, friends[word, rng.integers(0, 6, rows)], zipf(WORDS, rows))

    words = [zipf(WORDS, rows)]
    for _ in range(3):
        words.append(beside(words[-1]))
    tags = [either(0.9, tag_of[word], zipf(TAGS, rows)) for word in words]
    related = zipf(RELATIONS, TAGS * TAGS)
    relations = [
        either(0.8, related[tags[a] * TAGS + tags[b]], zipf(RELATIONS, rows))
        for a, b in ((0, 1), (2, 3))
    ]
    return [*words, *tags, *relations]


def combinations(values: list[np.ndarray], template: tuple[int, ...]) -> np.ndarray:
    """For every row the number of its combination of values at the places of ``template``."""
    code = np.zeros(len(values[0]), dtype=np.int64)
    for place in template:
        code = np.unique(code * SIZES[place] + values[place], return_inverse=True)[1]
    return code


def simulate(
    rows: int, columns: int, seed: int
) -> tuple[tuple[csr_array, np.ndarray], tuple[csr_array, np.ndarray]]:
    """Rows to fit on, and a tenth as many to measure on: zero-one X and y of each."""
    rng = np.random.default_rng(seed)
    held = rows // 10
    values = tuples(rng, rows + held)
    y = np.zeros(rows + held)
    entries, counts = [], []
    start = 0
    for template in TEMPLATES:
        code = combinations(values, template)
        count = np.bincount(code[:rows], minlength=int(code.max()) + 1)
        effects = rng.standard_normal(len(count)) * (count >= LEAST)
        y += effects[code]
        counts.append(count)
        entries.append((code + start).astype(np.int32))
        start += len(effects)
    count = np.concatenate(counts)
    order = np.argsort(-count, kind="stable")[:columns]
    order = order[count[order] >= LEAST]
    rng.shuffle(order)
    column = np.full(start, -1, dtype=np.int32)
    column[order] = np.arange(len(order), dtype=np.int32)
    grid = column[np.stack(entries, axis=1)]
    present = grid >= 0
    indptr = np.zeros(len(y) + 1, dtype=np.int64)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    indices = grid[present]
    del grid, entries
    y += np.sqrt(NOISE / (1.0 - NOISE)) * y.std() * rng.standard_normal(len(y))
    y *= np.sqrt(VARIANCE) / y.std()
    X = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(y), len(order)))
    X.sort_indices()
    return (X[:rows], y[:rows]), (X[rows:], y[rows:])


def peak() -> float:
    """The most memory this process has held, in gigabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the rows, columns and steps")
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument(
        "--sample", type=int, help="consider a random sample of this many columns per step"
    )
    parser.add_argument(
        "--cache", type=float, default=1000, help="megabytes of Gram columns cached"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="not used; every script of this folder is given it")
    options = parser.parse_args()
    rows, columns, steps = (round(options.share * size) for size in (ROWS, COLUMNS, STEPS))

    (X, y), held = simulate(rows, columns, options.seed)
    print(
        f"{X.shape[0]:,} rows, {X.shape[1]:,} columns, {X.nnz:,} ones; {len(TEMPLATES)} templates"
    )
    print(f"memory of the simulation: {peak():.2f} GB at its peak")
    rules = StepRules(
        epsilon=options.epsilon, steps=steps, sample=options.sample, cache=options.cache
    )
    started = time.process_time()
    problem = Problem(X, y, loss="squared", validation=held)
    solution = stagewise(problem, rules)
    seconds = time.process_time() - started
    path = solution.report.path
    variance = y.var()
    print(f"{solution.report.steps:,} steps, stopped by: {solution.report.stopped}")
    print(f"{'step':>8} {'nonzero':>9} {'train':>9} {'held out':>9}")
    for at in np.linspace(0, len(path.checks) - 1, 11).astype(int):
        errors = f"{path.train_error[at]:9.3f} {path.validation_error[at]:9.3f}"
        print(f"{path.checks[at]:8,} {path.nonzero[at]:9,} {errors}")
    print(f"R^2 at the end {1 - path.train_error[-1] / variance:.3f}")
    print(f"Gram columns: {solution.report.gram}")
    print(f"{seconds:.1f} s, {peak():.2f} GB at its peak (paper: 20 minutes)")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
