"""The table of the page: what a row says of a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.performance.line import UNITS, Line, Samples, cost, ratio, value

HEADS = (
    "",
    "goal",
    "met",
    "textreg",
    "peers",
    "ratio",
    "bound",
    "MB",
    "accuracy, %",
)


def lines_table(known: Mapping[Line, Samples]) -> list[str]:
    """A table with a row for each line; columns without any entry are left out."""
    rows = [row(line, sides) for line, sides in known.items()]
    used = [at for at in range(len(HEADS)) if at == 0 or any(cells[at] for cells in rows)]
    return [table([HEADS[at] for at in used], [[cells[at] for at in used] for cells in rows])]


def row(line: Line, sides: Samples) -> list[str]:
    """What there is to say of a line."""
    ours = next(iter(sides))
    peers = line.peers(sides)
    apart = ratio(line, sides)
    memory = [_figure(sides[name], "peak") for name in (ours, *peers) if "peak" in sides[name][0]]
    right = [
        f"{sides[name][0]['right']:.1f}" for name in (ours, *peers) if "right" in sides[name][0]
    ]
    return [
        line.what,
        ", ".join(map(str, line.goals)),
        ", ".join("yes" if goal.reached(sides) else "**no**" for goal in line.goals),
        f"{_figure(sides[ours], line.figure)} {UNITS[line.figure]}",
        ", ".join(_peer(line, sides, name) for name in peers),
        "" if apart is None else f"{apart:.2f}",
        ", ".join(_bound(line, sides, name) for name in line.bounds if name in sides),
        ", ".join(memory),
        ", ".join(right),
    ]


def _peer(line: Line, sides: Samples, name: str) -> str:
    once = len(sides[name]) == 1 < len(next(iter(sides.values())))
    return f"{name} {_figure(sides[name], line.figure)}{' (one run)' if once else ''}"


def _bound(line: Line, sides: Samples, name: str) -> str:
    figure = "speed" if line.figure == "speed" else "cpu"
    times = cost(next(iter(sides.values())), line.figure) / cost(sides[name], figure)
    found = value(sides[name], figure)
    small = figure == "cpu" and found < 0.01
    shown = f"{short(1e3 * found)} ms" if small else f"{short(found)} {UNITS[figure]}"
    return f"{name} {shown}: × {short(times)}"


def _figure(samples: Sequence[Mapping[str, float]], figure: str) -> str:
    more = "> " if any("ended" in sample for sample in samples) else ""
    return more + short(value(samples, figure))


def short(number: float) -> str:
    """Three digits at most, thousands with a comma."""
    if number >= 99.5:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 9.95 else f"{number:.2g}"


def points_of(sides: Samples, along: str) -> list[tuple[float, float, float]]:
    """Size, seconds and megabytes of every side, by size."""
    return sorted(
        (samples[0][along], value(samples, "cpu"), value(samples, "peak"))
        for samples in sides.values()
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def summary(line: Line, sides: Samples) -> str:
    """A line for the terminal."""
    if line.along:
        points = [f"{x:,.0f}: {s:.3g} s, {mb:.0f} MB" for x, s, mb in points_of(sides, line.along)]
        return f"{line.name}: {'; '.join(points)}"
    cells = row(line, sides)
    said = [f"{head}: {cell}" for head, cell in zip(HEADS[1:], cells[1:], strict=True) if cell]
    return f"{line.name}: {'; '.join(said)}"
