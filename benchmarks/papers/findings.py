"""What the results say: the best methods beside the papers', and the papers' claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.papers import tables
from benchmarks.papers.measure import PEERS
from benchmarks.papers.protocols import AS_PRINTED, DEFAULTS, PAPERS
from benchmarks.papers.published import best
from benchmarks.papers.tables import Cell, Results, accuracy, cells, contest, percent

BASELINES = ("lasso", "ridge", "elastic")

_WAYS = tuple((protocol, on_test) for protocol in (PAPERS, DEFAULTS) for on_test in (True, False))
"""Protocols, and whether the method is chosen on the test documents."""


def best_methods(tasks: Results) -> list[str]:
    """Our best method beside the best published one: on which features, chosen on test or dev."""
    rows, published = [], 0
    reached = dict.fromkeys(_WAYS, 0)
    for name, task in tasks.items():
        theirs = best(name)
        row = ["" if theirs is None else _titled(*theirs)]
        published += theirs is not None
        for protocol, on_test in _WAYS:
            own = task.get(protocol)
            if not own:
                row.append("")
                continue
            chosen = min(own, key=lambda it, own=own, on=on_test: _rank(own[it], on_test=on))
            row.append(f"{accuracy(own[chosen]):.1f} ({tables.titled(chosen)})")
            if theirs is not None:
                reached[protocol, on_test] += accuracy(own[chosen]) >= theirs[0] - 1e-9
        rows.append([name.removeprefix("amazon-"), *row])
    if not any(task.get(protocol) for task in tasks.values() for protocol, _ in _WAYS):
        return []
    counts = ["theirs is reached", "", *(f"{count} of {published}" for count in reached.values())]
    head = [
        "",
        "theirs, best on test",
        "counts of words, best on test",
        "counts of words, best on dev",
        "defaults, best on test",
        "defaults, best on dev",
    ]
    return [
        tables.fill(
            "Which method is best can be read off the test documents, as the papers' tables do, "
            "which is optimistic, or be chosen on the dev documents, as who trains a model has to "
            "(ties go to the smallest model). Features are those of the papers, counts of single "
            "words, or those of textreg's defaults, words, pairs of words and characters by "
            "tf-idf. Hyperparameters are always chosen on the dev documents, by accuracy in the "
            "papers' protocol and by log-loss in textreg's. `theirs` is the best of all methods in "
            "both papers. Dev sets of this size cannot separate so many methods."
        ),
        tables.table(head, [*rows, counts]),
    ]


def _rank(cell: Cell, *, on_test: bool) -> tuple[float, int]:
    """Smallest for the method to take: the most accurate, of equal ones the smallest."""
    return -(accuracy(cell) if on_test else 100.0 * cell["dev"]), cell["features"]


def _titled(value: float, method: str, paper: str) -> str:
    return f"{value:.1f} ({tables.titled(method)}, {paper})"


def claims_of(tasks: Results) -> list[str]:
    """Claims about the defaults and in the papers, and what was measured."""
    claims = []
    peers = tables.methods(tasks, PEERS)
    if peers and "sentence" in tables.methods(tasks, DEFAULTS):
        own = cells(tasks, DEFAULTS, "sentence")
        others = []
        for peer in peers:
            theirs = cells(tasks, PEERS, peer)
            result = contest(own, theirs)
            share = sum(it["features"] for it in own) / sum(it["features"] for it in theirs)
            others.append(
                f"{peer} {_mean(theirs)} (documents won and lost: {result.won} and {result.lost}, "
                f"p {result.p:.2g}; sentence has {percent(100 * share)} % of its features)"
            )
        claims.append(
            f"Mean accuracies: `--reg sentence` with no other option {_mean(own)}, "
            f"{', '.join(others)}."
        )
    measured = tables.methods(tasks, PAPERS)
    if not {*BASELINES} <= {*measured}:
        return claims
    ways = []
    for method in (it for it in (AS_PRINTED, "sentence") if it in measured):
        against = []
        for other in BASELINES:
            result = contest(cells(tasks, PAPERS, method), cells(tasks, PAPERS, other))
            against.append(f"{result.points:+.1f} over {other} (p {result.p:.2g})")
        ways.append(f"`{method}` has {', '.join(against)}")
    if ways:
        claims.append(
            "Yogatama & Smith: sentences beat lasso, ridge and elastic net in aggregate, p < 0.01. "
            f"Here, in points, {'; '.join(ways)}."
        )
    if "omp" in measured:
        ahead = [
            name
            for name, task in tasks.items()
            if task[PAPERS]["omp"]["accuracy"]
            > max(task[PAPERS][it]["accuracy"] for it in BASELINES)
        ]
        claims.append(
            "Skianis et al.: OMP beats lasso, ridge and elastic net on every corpus. Here on "
            f"{len(ahead)} of {len(tasks)}{': ' * bool(ahead)}{', '.join(ahead)}."
        )
    return claims


def _mean(cells: Sequence[Cell]) -> str:
    return f"{np.mean([accuracy(cell) for cell in cells]):.1f}"
