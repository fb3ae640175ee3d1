"""Tables of the result page: cells beside the published ones, and tests between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.papers.measure import unpack
from benchmarks.papers.protocols import CANDIDATES
from benchmarks.papers.published import PAPERS as PUBLISHED
from textreg.measure.significance import sign_test

ORDER = ("science", "sports", "religion", "computer", "movie", "amazon-books", "amazon-electronics")
"""Tasks come in this order, any others after them."""

METHODS = {
    "lda": "group, lda",
    "lsi": "group, lsi",
    "communities": "group, communities",
    "clusters": "group, clusters",
    "gomp": "gomp, clusters",
}
"""What methods are called, where not by their names."""

Task = Mapping[str, Any]
Tasks = dict[str, Task]
Cell = Mapping[str, Any]


class Contest(NamedTuple):
    """Two methods over several tasks.

    points: difference of the mean accuracies, in percent. won, lost: documents that only the first,
    or only the second, has right. p: of the sign test on these. tasks: those where the first is
    more accurate, and those where it is less.
    """

    points: float
    won: int
    lost: int
    p: float
    tasks: tuple[int, int]


def in_order(tasks: Mapping[str, Task]) -> Tasks:
    """The tasks as the page has them."""
    known = {name: place for place, name in enumerate(ORDER)}
    return {name: tasks[name] for name in sorted(tasks, key=lambda it: (known.get(it, 99), it))}


def titled(method: str) -> str:
    return METHODS.get(method, method)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, first column to the left."""
    line = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(row) + " |" for row in [head]] + [line]) + "".join(
        "\n| " + " | ".join(row) + " |" for row in rows
    )


def heads(tasks: Tasks) -> list[str]:
    return [name.removeprefix("amazon-") for name in tasks]


def methods(tasks: Tasks, protocol: str) -> list[str]:
    """Methods that were measured on all tasks, in the protocol's order."""
    measured = [task.get(protocol, {}) for task in tasks.values()]
    known = CANDIDATES[protocol]() if protocol in CANDIDATES else measured[0]
    return [name for name in known if all(name in it for it in measured)]


def cells(tasks: Tasks, protocol: str, method: str) -> list[Cell]:
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


def ours_and_theirs(tasks: Tasks, protocol: str, value: Callable[[Cell], float]) -> str:
    """Accuracies or sizes of every method, the published ones below ours."""
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


def ours(tasks: Tasks, protocols: Sequence[str], value: Callable[[Cell], float], form: Any) -> str:
    """The values of every method of the protocols."""
    rows = []
    for protocol in protocols:
        for name in methods(tasks, protocol):
            found = [value(cell) for cell in cells(tasks, protocol, name)]
            rows.append([titled(name), *map(form, found), form(float(np.mean(found)))])
    return table(["", *heads(tasks), "mean"], rows)


def contest(first: Sequence[Cell], second: Sequence[Cell]) -> Contest:
    """Two methods by their cells on the same tasks."""
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


def contests(tasks: Tasks, protocol: str, baseline: str) -> str:
    """Every method beside one of them, or beside the first if that was not measured, over all."""
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
            found = contest(own, base)
            row += [
                f"{found.points:+.1f}",
                f"{found.won} : {found.lost}",
                f"{found.p:.2g}",
                f"{found.tasks[0]} : {found.tasks[1]}",
            ]
        rows.append([*row, percent(float(np.mean([size(it) for it in own])))])
    head = ["", "mean accuracy", f"points over {baseline}", "documents won : lost", "p"]
    return table([*head, "tasks won : lost", "size, %"], rows)
