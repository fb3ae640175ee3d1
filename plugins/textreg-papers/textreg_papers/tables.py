"""Tables of the result page: our results beside the published ones, and paired tests."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textreg.measure.metrics import sign_test
from textreg_papers.measure import unpack
from textreg_papers.protocols import CANDIDATES, PUBLISHED

ORDER = ("science", "sports", "religion", "computer", "movie", "amazon-books", "amazon-electronics")
"""Order of the tasks; any others follow."""

METHODS = {
    "lda": "group, lda",
    "lsi": "group, lsi",
    "communities": "group, communities",
    "clusters": "group, clusters",
    "gomp": "gomp, clusters",
}
"""Titles of methods that differ from their names."""

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
    known = CANDIDATES[protocol]() if protocol in CANDIDATES else measured[0]
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
    base = cells(tasks, protocol, baseline)
    for name in methods(tasks, protocol):
        own = cells(tasks, protocol, name)
        row = [titled(name), f"{np.mean([accuracy(it) for it in own]):.1f}"]
        if name == baseline:
            row += ["", "", "", ""]
        else:
            result = contest(own, base)
            row += [
                f"{result.points:+.1f}",
                f"{result.won} : {result.lost}",
                f"{result.p:.2g}",
                f"{result.tasks[0]} : {result.tasks[1]}",
            ]
        rows.append([*row, percent(float(np.mean([size(it) for it in own])))])
    head = ["", "mean accuracy", f"points over {baseline}", "documents won : lost", "p"]
    return table([*head, "tasks won : lost", "size, %"], rows)


def fill(text: str, **more: Any) -> str:
    """A paragraph in lines of at most 100 characters."""
    return textwrap.fill(" ".join(text.split()), 100, break_on_hyphens=False, **more)


def item(text: str) -> str:
    """An item of a list."""
    return fill(text, initial_indent="- ", subsequent_indent="  ")
