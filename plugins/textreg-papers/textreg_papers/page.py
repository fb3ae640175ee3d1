"""Write docs/results.md and its pictures from the measured results.

results.md.jinja has the words; here are the figures that it asks for, our results beside the
published ones, and paired tests.
"""

from __future__ import annotations

import os
import platform
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Template

import textreg
from textreg_papers import protocols
from textreg_papers.protocols import DEFAULTS, PAPERS, PEERS, PUBLISHED, SKIANIS, VARIANTS, unpack
from textreg_report.significance import sign_test

# Order of the tasks; any others follow.
ORDER = ("science", "sports", "religion", "computer", "movie", "amazon-books", "amazon-electronics")

# Titles of methods that differ from their names.
METHODS = {
    "lda": "group, lda",
    "lsi": "group, lsi",
    "communities": "group, communities",
    "clusters": "group, clusters",
    "gomp": "gomp, clusters",
}

TaskResult = Mapping[str, Any]
Results = dict[str, TaskResult]
Cell = Mapping[str, Any]


class Contest(NamedTuple):
    """Two methods over several tasks.

    points: difference of the mean accuracies, in percent. won, lost: number of documents that only
    the first, or only the second, classifies correctly. p: of the sign test on these. tasks: number
    of those where the first is more accurate, and of those where it is less.
    """

    points: float
    won: int
    lost: int
    p: float
    tasks: tuple[int, int]


def in_order(tasks: Mapping[str, TaskResult]) -> Results:
    """The tasks in the order of the page."""
    known = {name: place for place, name in enumerate(ORDER)}
    return {name: tasks[name] for name in sorted(tasks, key=lambda it: (known.get(it, 99), it))}


def titled(method: str) -> str:
    return METHODS.get(method, method)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are right-aligned."""
    line = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(row) + " |" for row in [head]] + [line]) + "".join(
        "\n| " + " | ".join(row) + " |" for row in rows
    )


def heads(tasks: Results) -> list[str]:
    return [name.removeprefix("amazon-") for name in tasks]


def methods(tasks: Results, protocol: str) -> list[str]:
    """Methods measured on all tasks, in the order of the protocol."""
    measured = [task.get(protocol, {}) for task in tasks.values()]
    known = protocols.CANDIDATES[protocol]() if protocol in protocols.CANDIDATES else measured[0]
    return [name for name in known if all(name in it for it in measured)]


def cells(tasks: Results, protocol: str, method: str) -> list[Cell]:
    return [task[protocol][method] for task in tasks.values()]


def accuracy(cell: Cell) -> float:
    return 100.0 * float(cell["accuracy"])


def size(cell: Cell) -> float:
    return 100.0 * float(cell["features"]) / float(cell["of"])


def seconds(cell: Cell) -> float:
    return float(cell["cpu"])


def percent(value: float) -> str:
    """A size in percent, to two digits."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def ours_and_theirs(tasks: Results, protocol: str, value: Callable[[Cell], float]) -> str:
    """Accuracies or sizes of every method, published values below ours."""
    form, place = (percent, 1) if value is size else (lambda it: f"{it:.1f}", 0)
    rows = []
    for name in methods(tasks, protocol):
        ours = [value(cell) for cell in cells(tasks, protocol, name)]
        rows.append([f"**{titled(name)}**", *map(form, ours), form(float(np.mean(ours)))])
        for paper, tables in PUBLISHED.items():
            theirs = tables[place].get(name.partition(",")[0])
            if theirs and any(task in theirs for task in tasks):
                known = [theirs.get(task) for task in tasks]
                mean = "" if None in known else form(float(np.mean(known)))  # type: ignore[arg-type]
                rows.append([paper, *("" if it is None else form(it) for it in known), mean])
    return table(["", *heads(tasks), "mean"], rows)


def ours(
    tasks: Results, protocols: Sequence[str], value: Callable[[Cell], float], form: Any
) -> str:
    """The values of every method of the protocols."""
    rows = []
    for protocol in protocols:
        for name in methods(tasks, protocol):
            values = [value(cell) for cell in cells(tasks, protocol, name)]
            rows.append([titled(name), *map(form, values), form(float(np.mean(values)))])
    return table(["", *heads(tasks), "mean"], rows)


def contest(first: Sequence[Cell], second: Sequence[Cell]) -> Contest:
    """Compare two methods by their cells on the same tasks."""
    won = lost = 0
    for one, other in zip(first, second, strict=True):
        mine, theirs = unpack(one), unpack(other)
        won += int((mine & ~theirs).sum())
        lost += int((theirs & ~mine).sum())
    differences = [accuracy(a) - accuracy(b) for a, b in zip(first, second, strict=True)]
    return Contest(
        points=float(np.mean(differences)),
        won=won,
        lost=lost,
        p=sign_test(won, lost),
        tasks=(sum(it > 0 for it in differences), sum(it < 0 for it in differences)),
    )


def contests(tasks: Results, protocol: str, baseline: str) -> str:
    """Every method compared with ``baseline``, or the first method, over all tasks."""
    rows = []
    if baseline not in (measured := methods(tasks, protocol)):
        baseline = measured[0]
    base, shadows = cells(tasks, protocol, baseline), protocols.SHADOWS[protocol]
    for name in methods(tasks, protocol):
        method_cells = cells(tasks, protocol, name)
        row = [titled(name), f"{np.mean([accuracy(it) for it in method_cells]):.1f}"]
        if name == baseline:
            row += ["", "", "", ""]
        else:
            result = contest(method_cells, base)
            row += [
                f"{result.points:+.1f}",
                f"{result.won} : {result.lost}",
                f"{result.p:.2g}",
                f"{result.tasks[0]} : {result.tasks[1]}",
            ]
        gain = ""
        if name in methods(tasks, shadows):
            result = contest(method_cells, cells(tasks, shadows, name))
            gain = f"{result.points:+.1f} (p {result.p:.2g})"
        rows.append([*row, gain, percent(float(np.mean([size(it) for it in method_cells])))])
    head = ["", "mean accuracy", f"points over {baseline}", "documents won : lost", "p"]
    return table([*head, "tasks won : lost", "points over its shadow", "size, %"], rows)


def fill(text: str, **more: Any) -> str:
    """A paragraph in lines of at most 100 characters."""
    return textwrap.fill(" ".join(text.split()), 100, break_on_hyphens=False, **more)


def item(text: str) -> str:
    """An item of a list."""
    return fill(text, initial_indent="- ", subsequent_indent="  ")


SETTINGS = len(protocols.STRENGTHS) ** 2 * len(protocols.RHOS)

BASELINES = ("lasso", "ridge", "elastic")

# Protocols, and whether the method is chosen on the test documents.
_WAYS = tuple((protocol, on_test) for protocol in (PAPERS, DEFAULTS) for on_test in (True, False))


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
    tasks = in_order(results["tasks"])
    text = _template().render(
        tasks=tasks,
        machine=results["machine"],
        best_methods=best_methods(tasks),
        claims=claims_of(tasks),
        by_papers=methods(tasks, PAPERS),
        by_default=methods(tasks, DEFAULTS),
        fits=_fits(tasks),
        grid=tasks.get("sports", {}).get(PAPERS, {}).get(protocols.AS_PRINTED),
        missed=missed(tasks),
        **_measured(tasks),
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _template() -> Template:
    """The page without its figures."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(paragraph=fill, item=item)
    environment.globals.update(vars(protocols))
    environment.globals["settings"] = SETTINGS
    figures = (accuracy, contests, ours, ours_and_theirs, percent, seconds, size)
    environment.globals.update({figure.__name__: figure for figure in figures})
    words = Path(__file__).with_name("results.md.jinja")
    return environment.from_string(words.read_text(encoding="utf-8"))


def best_methods(tasks: Results) -> str:
    """Our best method beside the best published one: on which features, chosen on test or dev."""
    rows, published = [], 0
    reached = dict.fromkeys(_WAYS, 0)
    for name, task in tasks.items():
        theirs = protocols.best(name)
        row = ["" if theirs is None else _titled(*theirs)]
        published += theirs is not None
        for protocol, on_test in _WAYS:
            by_method = task.get(protocol)
            if not by_method:
                row.append("")
                continue
            # The most accurate method; of equal ones the smallest.
            ranks = {
                method: (-accuracy(cell) if on_test else -100.0 * cell["dev"], cell["features"])
                for method, cell in by_method.items()
            }
            chosen = min(ranks, key=ranks.__getitem__)
            row.append(f"{accuracy(by_method[chosen]):.1f} ({titled(chosen)})")
            if theirs is not None:
                reached[protocol, on_test] += accuracy(by_method[chosen]) >= theirs[0] - 1e-9
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
    return table(head, [*rows, counts])


def _titled(value: float, method: str, paper: str) -> str:
    return f"{value:.1f} ({titled(method)}, {paper})"


def claims_of(tasks: Results) -> list[str]:
    """Claims about the defaults and in the papers, and what was measured."""
    claims = []
    peers = methods(tasks, PEERS)
    if peers and "sentence" in methods(tasks, DEFAULTS):
        sentence = cells(tasks, DEFAULTS, "sentence")
        comparisons = []
        for peer in peers:
            theirs = cells(tasks, PEERS, peer)
            result = contest(sentence, theirs)
            share = sum(it["features"] for it in sentence) / sum(it["features"] for it in theirs)
            comparisons.append(
                f"{peer} {_mean(theirs)} (documents won and lost: {result.won} and {result.lost}, "
                f"p {result.p:.2g}; sentence has {percent(100 * share)} % of its features)"
            )
        claims.append(
            f"Mean accuracies: `--reg sentence` with no other option {_mean(sentence)}, "
            f"{', '.join(comparisons)}."
        )
    measured = methods(tasks, PAPERS)
    if not {*BASELINES} <= {*measured}:
        return claims
    ways = []
    for method in (it for it in (protocols.AS_PRINTED, "sentence") if it in measured):
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
    built = sum(method in protocols.BUILDERS for method in apart)
    sizes = [PUBLISHED[SKIANIS][1][method][name] for method in protocols.BUILDERS for name in tasks]
    names = methods(tried, VARIANTS)
    rows = [
        [name, *(f"{accuracy(task[VARIANTS][name]):.1f}" for task in tried.values())]
        for name in names
    ]
    for method in ("lda", "lsi"):
        rows.append(
            [
                f"**{titled(method)}, {SKIANIS}**",
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
        "table": table(["", *heads(tried)], rows),
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


def _measured(tasks: Results) -> dict[str, Any]:
    """Dates, number of searches, and minutes of running time."""
    every = [
        {"date": task["date"], **cell}
        for task in tasks.values()
        for protocol in protocols.CANDIDATES
        for cell in task.get(protocol, {}).values()
    ]
    minutes = {clock: sum(cell[clock] for cell in every) / 60 for clock in ("wall", "cpu")}
    return {"dates": sorted({cell["date"] for cell in every}), "searches": len(every), **minutes}


def _fits(tasks: Results) -> str:
    """Seconds of the one best fit, ours and published."""
    rows = [
        [f"{name}, {method}", f"{tasks[name]['fits'][method]:.3f}", f"{theirs:g}"]
        for name, published in protocols.SECONDS.items()
        for method, theirs in published.items()
        if method in tasks.get(name, {}).get("fits", {})
    ]
    return table(["", "here", "published"], rows) if rows else ""


def pictures(results: Mapping[str, Any], folder: Path) -> None:
    """Figures 3 (by both protocols) and 4."""
    from textreg_report.charts import FEATURES, Series, draw_lines

    folder.mkdir(parents=True, exist_ok=True)
    tasks = in_order(results["tasks"])
    for protocol in (PAPERS, DEFAULTS):
        if not methods(tasks, protocol):
            continue
        panels = {
            name.removeprefix("amazon-"): [
                Series(method, [cell["features"]], [cell["accuracy"]])
                for method in methods(tasks, protocol)
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
