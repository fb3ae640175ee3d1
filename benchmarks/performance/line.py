"""A line of the table: what is measured, beside what, and what it should reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import Sample, Side

Samples = Mapping[str, Sequence[Sample]]
OURS = "textreg"

UNITS = {
    "cpu": "s",
    "wall": "s of wall time",
    "p50": "ms",
    "most": "s",
    "speed": "MB/s",
    "peak": "MB",
    "right": "%",
}
"""Figures of a line, and their units. most: of the slowest part."""

HIGHER = ("speed", "right")
"""Those of which more is better."""


class Goal(NamedTuple):
    """What a figure should reach: a number, or a multiple of the same figure of another side."""

    figure: str
    limit: float
    of: str = ""
    side: str = OURS

    def reached(self, samples: Samples) -> bool:
        """Whether it does."""
        ours = value(samples[self.side], self.figure)
        if self.of and self.of not in samples:
            return False
        limit = self.limit * (value(samples[self.of], self.figure) if self.of else 1.0)
        return ours >= limit if self.figure in HIGHER else ours <= limit

    def __str__(self) -> str:
        if self.of:
            return f"{self.limit:g} × {self.of}" + ("" if self.side == OURS else f" ({self.side})")
        return f"{self.limit:,g} {UNITS[self.figure]}"


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes
    ----------
    name, what
        Its name, and what is done.
    sides
        What is run, by name, ours first.
    figure
        What is compared.
    goals
        What it should reach.
    bounds
        Sides that are no peers but what nothing can be faster than.
    calls
        The sides are calls, to be made and measured in a process of their own.
    once
        One run of each side, however many others have.
    along
        What grows from side to side: "documents", "labels" or "groups", a figure of each. Such a
        line is a curve.
    """

    name: str
    what: str
    sides: Callable[[Ground], Mapping[str, Side]]
    figure: str = "cpu"
    goals: tuple[Goal, ...] = ()
    bounds: tuple[str, ...] = ()
    calls: bool = False
    once: bool = False
    along: str = ""

    def peers(self, samples: Samples) -> list[str]:
        """The sides beside ours."""
        return [name for name in list(samples)[1:] if name not in self.bounds]


def value(samples: Sequence[Sample], figure: str) -> float:
    """The median of a figure."""
    if figure == "speed":
        return median(sample["bytes"] / sample["cpu"] / 1e6 for sample in samples)
    return median(sample[figure] for sample in samples)


def cost(samples: Sequence[Sample], figure: str) -> float:
    """The median of a figure, or of one over it where more is better."""
    found = value(samples, figure)
    return 1.0 / found if figure == "speed" else found


def ratio(line: Line, samples: Samples) -> float | None:
    """Time of ours in that of the fastest peer; None without one."""
    theirs = [cost(samples[name], line.figure) for name in line.peers(samples)]
    return cost(next(iter(samples.values())), line.figure) / min(theirs) if theirs else None
