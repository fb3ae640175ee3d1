"""The methods and how each chooses its hyperparameters, and what the papers published.

The methods are those of Yogatama & Smith (2014) and Skianis, Tziortziotis & Vazirgiannis (2018), as
in the papers and by default. published.tsv has tables 2 and 3 of the latter and table 2 of the
former: accuracies and sizes, in percent.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

# The grid of Yogatama & Smith (section 5.2) for all strengths; Skianis et al. omit 1000.
STRENGTHS = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2)

# The grid of Skianis et al. for the ridge penalty of a pursuit.
RIDGES = STRENGTHS[1:]

# The grid of Yogatama & Smith for ADMM's rho.
RHOS = (1e3, 1e2, 1e1, 1.0, 1e-1)

# Numbers of features; 2000 is the most that Skianis et al. allow (section 5.2).
BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)

# The two protocols, and what the papers leave open, tried where their tables are missed.
PAPERS, DEFAULTS, VARIANTS = "papers", "defaults", "variants"

# Yogatama & Smith's method with their solver and its stopping rule.
AS_PRINTED = "sentence-admm"

# Group builders; communities: of graphs of words (GoW); clusters: of word vectors.
BUILDERS = ("lda", "lsi", "communities", "clusters")

# Counts of single words, and every weight.
WORDS = {"tokenizer": "words", "weighting": "count", "ngrams": 1, "prune": 0.0}

# The same, chosen by accuracy and fitted to the training documents alone.
COUNTS = {**WORDS, "metric": "accuracy", "refit": False}

# Keywords of textreg.train.
Options = dict[str, Any]

# Algorithm 1 of Yogatama & Smith to the letter.
PRINTED: Options = {"reg_solver": "algorithm-1", "reg_l2": 0.0}


def papers() -> dict[str, Options]:
    """Counts of single words, the papers' grids, fitted to the training documents alone."""
    pursuit = {"reg_l2": RIDGES, "reg_budget": BUDGETS}
    groups = {"reg_group": STRENGTHS, "reg_l1": STRENGTHS}
    searched: dict[str, tuple[Options, Options]] = {
        "none": ({"reg": "none"}, {}),
        "lasso": ({"reg": "lasso"}, {"reg_l1": STRENGTHS}),
        "ridge": ({"reg": "ridge"}, {"reg_l2": STRENGTHS}),
        "elastic": ({"reg": "elastic"}, {"reg_l2": STRENGTHS, "reg_l1": STRENGTHS}),
        "sentence": ({"reg": "sentence", "reg_l2": 0.0}, groups),
        AS_PRINTED: ({"reg": "sentence", **PRINTED}, {**groups, "reg_rho": RHOS}),
        **{name: ({"reg": "group", "groups": name, "reg_l2": 0.0}, groups) for name in BUILDERS},
        "omp": ({"reg": "omp"}, pursuit),
        "gomp": ({"reg": "gomp", "groups": "clusters"}, pursuit),
    }
    return {
        name: {**options, **COUNTS, "search": "grid", "search_space": space}
        for name, (options, space) in searched.items()
    }


def defaults() -> dict[str, Options]:
    """``textreg train TRAIN --dev DEV --reg NAME`` and nothing else."""
    names = ("none", "lasso", "ridge", "elastic", "sentence")
    return {
        **{name: {"reg": name} for name in names},
        **{name: {"reg": "group", "groups": name} for name in BUILDERS},
        "omp": {"reg": "omp"},
        "gomp": {"reg": "gomp", "groups": "clusters"},
        "stagewise": {"reg": "stagewise"},
        "network": {"reg": "network"},
    }


def variants() -> dict[str, Options]:
    """Groups of topics as Skianis et al. have them, and under conditions that they leave open."""
    grid = {"reg_group": RIDGES, "reg_l1": RIDGES}
    large = {"groups_topics": 20, "groups_words": 1000, "groups_min_df": 1}
    small = {"groups_topics": 200, "groups_words": 10, "groups_min_df": 1}
    early = {**PRINTED, "search_space": {**grid, "reg_rho": RHOS[1:]}}
    changes: dict[str, Options] = {
        "1000 topics of 10 words": {**small, "groups_topics": 1000},
        "50 topics of 20 words": {},
        "200 topics of 10 words": small,
        "20 topics of 1,000 words": large,
        "the same, lsi": {**large, "groups": "lsi"},
        "the same, lda, ADMM stopped early": {**large, **early},
        "the same, words that occur, not counts": {**large, "weighting": "binary"},
        "the same, rows of length 1": {**large, "weighting": "unit"},
        "the same, words and pairs": {**large, "ngrams": 2},
    }
    common = {"reg": "group", "groups": "lda", "reg_l2": 0.0, "search": "grid"}
    return {
        name: {**COUNTS, **common, "search_space": grid, **change}
        for name, change in changes.items()
    }


# A value by method and task.
Table = dict[str, dict[str, float]]


def _published() -> dict[str, tuple[Table, Table]]:
    """Tables of accuracies and of sizes by paper."""
    papers: dict[str, tuple[Table, Table]] = {}
    with open(Path(__file__).with_name("published.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            tables = papers.setdefault(row["paper"], ({}, {}))
            for table, column in zip(tables, ("accuracy", "size"), strict=True):
                table.setdefault(row["method"], {})[row["task"]] = float(row[column])
    return papers


PUBLISHED = _published()
SKIANIS = "Skianis et al."

# Seconds of the one best fit: Yogatama & Smith on sports (section 5.6; 8 processors of 2.4 GHz),
# Skianis et al. on computer (section 5.4; 4 cores of 3 GHz).
SECONDS = {
    "sports": {"lasso": 27.0, "ridge": 18.0, "elastic": 10.0, "sentence": 33.0},
    "computer": {"lasso": 7.0, "ridge": 1.4, "elastic": 0.8, "omp": 4.0},
}


def best(task: str) -> tuple[float, str, str] | None:
    """Best published accuracy of a task, its method and paper; None if no paper has the task."""
    cells = [
        (values[task], method, paper)
        for paper, (accuracy, _) in PUBLISHED.items()
        for method, values in accuracy.items()
        if task in values
    ]
    return max(cells, key=lambda cell: cell[0]) if cells else None


CANDIDATES = {PAPERS: papers, DEFAULTS: defaults, VARIANTS: variants}
