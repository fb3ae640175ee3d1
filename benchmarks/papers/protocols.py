"""The methods, and how each chooses its hyperparameters: as in the papers, and by default."""

from __future__ import annotations

from typing import Any

from textreg import Sentence
from textreg.records import Problem, Solution

STRENGTHS = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2)
"""The grid of Yogatama & Smith (section 5.2) for all strengths; Skianis et al. omit 1000."""

RIDGES = STRENGTHS[1:]
"""The grid of Skianis et al. for the ridge penalty of a pursuit."""

RHOS = (1e3, 1e2, 1e1, 1.0, 1e-1)
"""The grid of Yogatama & Smith for ADMM's rho."""

BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)
"""Numbers of features; 2000 is the most that Skianis et al. allow (section 5.2)."""

PAPERS, DEFAULTS = "papers", "defaults"
"""The two protocols."""

AS_PRINTED = "sentence-admm"
"""Yogatama & Smith's method with their solver and its stopping rule."""

BUILDERS = ("lda", "lsi", "communities", "clusters")
"""Group builders; communities: of graphs of words (GoW); clusters: of word vectors."""

WORDS = {"tokenizer": "words", "weighting": "count", "ngrams": 1, "prune": 0.0}
"""Counts of single words, and every weight."""

COUNTS = {**WORDS, "metric": "accuracy", "refit": False}
"""The same, chosen by accuracy and fitted to the training documents alone."""

Options = dict[str, Any]
"""Keywords of textreg.train."""


class Textbook(Sentence):
    """Algorithm 1 of Yogatama & Smith: every setting starts from zero and stops by their rule."""

    name = "textbook"

    def __init__(self, **values: Any) -> None:
        printed = {"l2": 0.0, "solver": "admm", "stop": "paper", "balanced": False, "relax": 1.0}
        super().__init__(**{**printed, **values})

    def solve(self, problem: Problem) -> Solution:
        """Solve without a warm start."""
        return super().solve(problem.replace(start=None))


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
        AS_PRINTED: ({"reg": Textbook}, {**groups, "reg_rho": RHOS}),
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


CANDIDATES = {PAPERS: papers, DEFAULTS: defaults}
