"""The table of docs/scaling.md."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from benchmarks.large.lines import IN_MEMORY, ON_DISK, WORKERS, lines
from benchmarks.performance.line import OURS, UNITS, Line, Samples, value
from benchmarks.performance.page import slope
from benchmarks.performance.rows import points_of, short, table

BEGIN = "<!-- Written by `python -m benchmarks.large`: begin -->"
END = "<!-- end -->"
SLOPE = 1.05
"""The power of the number of documents that time is to grow by, at most."""

HEAD = ("", "", "goal", "met", "CPU s", "s", "MB", "blocks", "passes", "accuracy, %")
SHOWN = ("cpu", "wall", "peak", "blocks", "passes")


def between(results: Mapping[str, Any]) -> str:
    """The table, and what it does not hold."""
    every = lines()
    known = {every[name]: entry["sides"] for name, entry in results["lines"].items()}
    found = [one for line, sides in known.items() for one in rows(line, sides)]
    said = [one for line, sides in known.items() for one in remarks(line, sides)]
    dates = sorted({entry["date"] for entry in results["lines"].values()})
    loads = [entry["load"] for entry in results["lines"].values()]
    where = results["machine"]
    said.append(
        f"Measured on {' and '.join(dates)} on one of {where['cores']} cores "
        f"({where['processor']}, {where['system']}) with Python {where['python']}; the load of the "
        f"machine was {min(loads):g} to {max(loads):g}."
    )
    bullets = [
        textwrap.fill(one, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for one in said
    ]
    return f"{table(HEAD, found)}\n\n" + "\n".join(bullets)


def rows(line: Line, sides: Samples) -> list[list[str]]:
    """A row for every side, the smallest first of those that grow."""
    named = list(sides.items())[:: -1 if line.along else 1]
    goal_of = named[-1][0] if line.along else line.goals[0].side
    found = []
    for at, (side, samples) in enumerate(named):
        goals = [
            (str(goal), goal._replace(side=side).reached(sides))
            for goal in (line.goals if side == goal_of else ())
        ]
        figures = [
            short(value(samples, figure)) if figure in samples[0] else "" for figure in SHOWN
        ]
        if line.figure == "speed":
            figures[0] = f"{short(value(samples, 'speed'))} {UNITS['speed']}"
        right = f"{samples[0]['right']:.1f}" if "right" in samples[0] else ""
        found.append(
            [
                "" if at else line.what,
                side,
                ", ".join(goal for goal, _ in goals),
                ", ".join("yes" if reached else "**no**" for _, reached in goals),
                *figures,
                right,
            ]
        )
    return found


def remarks(line: Line, sides: Samples) -> list[str]:
    """What is to say beside the table."""
    said = []
    if line.along and len(sides) > 1:
        points = points_of(sides, line.along)
        power = slope([points[0], points[-1]], 1)
        said.append(
            f"From {points[0][0]:,.0f} to {points[-1][0]:,.0f} documents CPU time grows by the "
            f"power {power:.2f} of their number (goal: {SLOPE}, "
            f"{'yes' if power <= SLOPE else '**no**'}), memory by the power "
            f"{slope([points[0], points[-1]], 2):.2f}."
        )
    if IN_MEMORY in sides:
        (ours, *_), (disk, *_), (memory, *_) = (sides[side] for side in (OURS, ON_DISK, IN_MEMORY))
        gaps = ", ".join(f"{one['gap']:.1e}" for one in (ours, disk, memory))
        said.append(
            f"{ours['groups']:,.0f} groups: the objective in blocks is {ours['objective']:.6g}, "
            f"in memory {memory['objective']:.6g}; the gaps are {gaps}. Blocks in memory and on "
            f"disk give {'the same bits' if disk['same'] else '**different bits**'}."
        )
    if WORKERS[0] in sides:
        (first, *_) = sides[WORKERS[0]]
        gains = [f"{name} {first['wall'] / sides[name][0]['wall']:.2f}" for name in WORKERS[1:]]
        alike = all(sides[name][0]["same"] for name in WORKERS)
        said.append(
            f"On a cluster, times as quick as with 1 worker: {', '.join(gains)} (on 2 cores); "
            f"{'the same bits' if alike else '**different bits**'}. The blocks have "
            f"{first['size']:,.0f} MB. A pass sends {first['sent']:.2g} % of that (goal: 1, "
            f"{'yes' if first['sent'] <= 1 else '**no**'}); the columns of problems in memory "
            f"were {first['columns']:.2g} %. CPU seconds and memory are of the process that trains."
        )
    return said


def put(text: str, results: Mapping[str, Any]) -> str:
    """A page with the table between its marks; ValueError if it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} or no {END} after it.")
    return f"{before}{BEGIN}\n\n{between(results)}\n\n{END}{after}"
