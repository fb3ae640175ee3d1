"""Write docs/results.md and its pictures from the measured results.

results.md.jinja has the words; here are the figures that it asks for.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Template

import textreg
from textreg_papers import protocols, tables
from textreg_papers.measure import PEERS
from textreg_papers.protocols import (
    AS_PRINTED,
    BUILDERS,
    DEFAULTS,
    PAPERS,
    PUBLISHED,
    RHOS,
    SECONDS,
    SKIANIS,
    STRENGTHS,
    VARIANTS,
    best,
)
from textreg_papers.tables import Cell, Results, accuracy, cells, contest, percent

SETTINGS = len(STRENGTHS) ** 2 * len(RHOS)

SINCE = "2026-11-22"
"""From this day on the default has characters beside words, and chooses by log-loss."""

BASELINES = ("lasso", "ridge", "elastic")

_WAYS = tuple((protocol, on_test) for protocol in (PAPERS, DEFAULTS) for on_test in (True, False))
"""Protocols, and whether the method is chosen on the test documents."""


def machine() -> dict[str, Any]:
    """The machine and the versions."""
    return {
        "textreg": textreg.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def page(results: Mapping[str, Any]) -> str:
    """The whole page."""
    tasks = tables.in_order(results["tasks"])
    text = _template().render(
        tasks=tasks,
        machine=results["machine"],
        best_methods=best_methods(tasks),
        claims=claims_of(tasks),
        by_papers=tables.methods(tasks, PAPERS),
        by_default=tables.methods(tasks, DEFAULTS),
        earlier=_earlier(tasks),
        fits=_fits(tasks),
        grid=tasks.get("sports", {}).get(PAPERS, {}).get(AS_PRINTED),
        missed=missed(tasks),
        **_measured(tasks),
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _template() -> Template:
    """The page without its figures."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(paragraph=tables.fill, item=tables.item)
    environment.globals.update(vars(protocols), t=tables, PEERS=PEERS)
    environment.globals.update(settings=SETTINGS, since=SINCE)
    words = Path(__file__).with_name("results.md.jinja")
    return environment.from_string(words.read_text(encoding="utf-8"))


def best_methods(tasks: Results) -> str:
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
            ranks = {method: _rank(cell, on_test=on_test) for method, cell in own.items()}
            chosen = min(ranks, key=ranks.__getitem__)
            row.append(f"{accuracy(own[chosen]):.1f} ({tables.titled(chosen)})")
            if theirs is not None:
                reached[protocol, on_test] += accuracy(own[chosen]) >= theirs[0] - 1e-9
        rows.append([name.removeprefix("amazon-"), *row])
    if not any(task.get(protocol) for task in tasks.values() for protocol, _ in _WAYS):
        return ""
    counts = ["theirs is reached", "", *(f"{count} of {published}" for count in reached.values())]
    head = [
        "",
        "theirs, best on test",
        "counts of words, best on test",
        "counts of words, best on dev",
        "defaults, best on test",
        "defaults, best on dev",
    ]
    return tables.table(head, [*rows, counts])


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


def missed(tasks: Results) -> dict[str, Any]:
    """What becomes of published cells that are missed if what the paper leaves open is changed."""
    tried = {name: task for name, task in tasks.items() if task.get(VARIANTS)}
    if not tried:
        return {}
    misses = _distances(tasks)
    below = sum(points < 0.0 for _, points, _ in misses)
    apart = [method for method, points, error in misses if points < -error]
    built = sum(method in BUILDERS for method in apart)
    sizes = [PUBLISHED[SKIANIS][1][method][name] for method in BUILDERS for name in tasks]
    names = tables.methods(tried, VARIANTS)
    rows = [
        [name, *(f"{accuracy(task[VARIANTS][name]):.1f}" for task in tried.values())]
        for name in names
    ]
    for method in ("lda", "lsi"):
        rows.append(
            [
                f"**{tables.titled(method)}, {SKIANIS}**",
                *(f"**{PUBLISHED[SKIANIS][0][method][name]:.1f}**" for name in tried),
            ]
        )
    errors = [
        min(_standard_error(cell) for cell in task[VARIANTS].values()) for task in tried.values()
    ]
    rows.append(["one standard error", *(f"{error:.1f}" for error in errors)])
    return {
        "cells": len(misses),
        "below": below,
        "apart": len(apart),
        "built": built,
        "smallest": f"{min(sizes):g}",
        "largest": f"{max(sizes):g}",
        "table": tables.table(["", *tables.heads(tried)], rows),
        "outcome": _outcome(tried),
    }


def _outcome(tried: Results) -> str:
    """Whether any of the conditions reaches the published cells."""
    parts = []
    for name, task in tried.items():
        published = PUBLISHED[SKIANIS][0]["lda"][name]
        accuracies = {way: accuracy(cell) for way, cell in task[VARIANTS].items()}
        top = max(accuracies, key=accuracies.__getitem__)
        cell = task[VARIANTS][top]
        distance = accuracy(cell) - published
        within = "within" if distance >= -_standard_error(cell) else "not within"
        parts.append(f"{name}: {distance:+.1f} at best ({top}), {within} one standard error")
    return f"Beside their `lda`, {'; '.join(parts)}."


def _distances(tasks: Results) -> list[tuple[str, float, float]]:
    """Method of every cell, its points above the published one, and its standard error."""
    return [
        (method, accuracy(cell) - table[method][name], _standard_error(cell))
        for table, _ in PUBLISHED.values()
        for method in table
        for name, task in tasks.items()
        if name in table[method] and (cell := task.get(PAPERS, {}).get(method))
    ]


def _standard_error(cell: Cell) -> float:
    """Of an accuracy, in points."""
    share = float(cell["accuracy"])
    return float(100.0 * (share * (1.0 - share) / cell["documents"]) ** 0.5)


def _earlier(tasks: Results) -> list[str]:
    """Which tasks were measured with the default before this one."""
    return [
        name
        for name, task in tasks.items()
        if any(cell.get("date", task["date"]) < SINCE for cell in task.get(DEFAULTS, {}).values())
    ]


def _measured(tasks: Results) -> dict[str, Any]:
    """Dates, number of searches, and minutes of running time."""
    every = [
        {"date": task["date"], **cell}
        for task in tasks.values()
        for protocol in (PAPERS, DEFAULTS, VARIANTS)
        for cell in task.get(protocol, {}).values()
    ]
    minutes = {clock: sum(cell[clock] for cell in every) / 60 for clock in ("wall", "cpu")}
    return {"dates": sorted({cell["date"] for cell in every}), "searches": len(every), **minutes}


def _fits(tasks: Results) -> str:
    """Seconds of the one best fit, ours and published."""
    rows = [
        [f"{name}, {method}", f"{tasks[name]['fits'][method]:.3f}", f"{theirs:g}"]
        for name, published in SECONDS.items()
        for method, theirs in published.items()
        if method in tasks.get(name, {}).get("fits", {})
    ]
    return tables.table(["", "here", "published"], rows) if rows else ""


def pictures(results: Mapping[str, Any], folder: Path) -> None:
    """Figures 3 (by both protocols) and 4."""
    from textreg_report.charts import FEATURES, Series, draw_lines

    folder.mkdir(parents=True, exist_ok=True)
    tasks = tables.in_order(results["tasks"])
    for protocol in (PAPERS, DEFAULTS):
        if not tables.methods(tasks, protocol):
            continue
        panels = {
            name.removeprefix("amazon-"): [
                Series(method, [cell["features"]], [cell["accuracy"]])
                for method in tables.methods(tasks, protocol)
                for cell in [task[protocol][method]]
            ]
            for name, task in tasks.items()
        }
        draw_lines(panels, folder / f"results-{protocol}.svg", (FEATURES, "accuracy"))
    curves = []
    for name, task in tasks.items():
        if "atoms" in task:
            sizes, accuracies = zip(*task["atoms"], strict=True)
            curves.append(Series(name.removeprefix("amazon-"), sizes, accuracies))
    if curves:
        draw_lines({"": curves}, folder / "results-atoms.svg", ("features", "dev accuracy"))
