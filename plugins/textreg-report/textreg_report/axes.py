"""Scales, axes and labels that do not overlap."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textreg_report.drawing import FONT_SIZE, XY, Shape, Text, line, text_width
from textreg_report.wording import short

Tick = tuple[float, str]


class Scale(NamedTuple):
    """Numbers along one axis, from ``low`` to ``high`` after ``transform``."""

    low: float
    high: float
    ticks: Sequence[Tick]
    transform: Callable[[float], float] = float

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        return (self.transform(value) - self.low) / ((self.high - self.low) or 1.0)


class Box(NamedTuple):
    """The rectangle that the axes enclose, in user units."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Chart:
    """Two scales laid over a box."""

    box: Box
    x_scale: Scale
    y_scale: Scale

    def x(self, value: float) -> float:
        """Where a number lies from left to right."""
        return self.box.left + self.x_scale.share(value) * (self.box.right - self.box.left)

    def y(self, value: float) -> float:
        """Where a number lies from bottom to top; y of SVG points down."""
        return self.box.bottom - self.y_scale.share(value) * (self.box.bottom - self.box.top)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> list[XY]:
        """Where pairs of numbers lie."""
        return [(self.x(x), self.y(y)) for x, y in zip(xs, ys, strict=True)]

    def axes(self, x_title: str, y_title: str) -> list[Shape]:
        """Grid, ticks and titles."""
        left, top, right, bottom = self.box
        shapes: list[Shape] = []
        for value, text in self.y_scale.ticks:
            at = self.y(value)
            shapes.append(line((left, at), (right, at), "grid"))
            shapes.append(Text(x=left - 6, y=at + 4, text=text, anchor="end", style="tick"))
        for value, text in self.x_scale.ticks:
            at = self.x(value)
            shapes.append(line((at, bottom), (at, bottom + 4), "axis"))
            shapes.append(Text(x=at, y=bottom + 17, text=text, anchor="middle", style="tick"))
        middle, center = (left + right) / 2, (top + bottom) / 2
        shapes.append(Text(x=middle, y=bottom + 38, text=x_title, anchor="middle"))
        shapes.append(Text(x=left - 53, y=center, text=y_title, anchor="middle", turned=True))
        return shapes


def round_numbers(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between ``low`` and ``high``, about ``count`` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda it: abs(it - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def labeled(values: Iterable[float]) -> list[Tick]:
    """Ticks with their numbers beside them."""
    return [(value, short(value)) for value in values]


def linear(low: float, high: float, *, ticks: Sequence[Tick] | None = None) -> Scale:
    """Equal distances for equal differences."""
    return Scale(low, high, labeled(round_numbers(low, high)) if ticks is None else ticks)


def padded(values: Sequence[float], margin: float = 0.06) -> Scale:
    """The same; a share of the width is left free on both sides of the values."""
    low, high = min(values), max(values)
    pad = margin * (high - low) or 0.01
    return linear(low - pad, high + pad)


def counts(values: Sequence[float], margin: float = 0.0) -> Scale:
    """Logarithmic, for whole numbers; 0 lies where 0.5 would. margin: as for :func:`padded`."""
    low, high = math.log10(max(min(values), 0.5)), math.log10(max(*values, 0.5))
    pad = 0.15 + margin * (high - low)
    low, high = low - pad, high + pad
    steps = (1,) if high - low > 2.5 else (1, 2, 5)
    numbers = [step * 10**power for power in range(10) for step in steps]
    ticks = [(float(n), f"{n:,}") for n in numbers if low <= math.log10(n) <= high]
    zero = [(0.0, "0")] if min(values) < 0.5 else []
    return Scale(low, high, zero + ticks, lambda value: math.log10(max(value, 0.5)))


def strengths(values: Sequence[float], margin: float = 0.0, *, falling: bool = False) -> Scale:
    """Logarithmic, for penalty strengths; 0 lies half a decade below the least other one.

    falling: the largest comes first. margin: as for :func:`padded`.
    """
    least = min((value for value in values if value > 0), default=1.0)
    zero = least / 10**0.5
    sign = -1.0 if falling else 1.0

    def transform(value: float) -> float:
        return sign * math.log10(max(value, zero))

    ends = [transform(value) for value in values]
    pad = margin * (max(ends) - min(ends))
    low, high = min(ends) - pad, max(ends) + pad
    values_at = [10 ** (sign * power) for power in round_numbers(low, high)]
    ticks = [(value, f"{value:.2g}") for value in values_at if value > 0.999 * least]
    return Scale(low, high, ([(0.0, "0")] if min(values) <= 0 else []) + ticks, transform)


UNREADABLE, HIDDEN = 5, 2
"""Cost of covering another name or leaving the chart, and of covering a marker; a line costs 1."""

PLACES = (
    *((9, 0), (-9, 0), (0, 11), (0, -11), (9, 11), (9, -11), (-9, 11), (-9, -11)),
    *((dx, dy) for far in (28, 47, 66) for dy in (-far, far) for dx in (9, -9, 39, -39, 68, -68)),
)
"""Where a name may go, best first: offsets from the point to the nearest edges of the name; with 0,
the name is centered."""

NEAR = 12
"""Vertical distance above which a line leads from the point to its name."""

RADIUS, OVERHANG = 5, 40
"""Half the size of a marker, and how far a name may extend beyond the right edge of the chart."""

ASCENT, DESCENT = 0.78 * FONT_SIZE, 0.24 * FONT_SIZE


class Label(NamedTuple):
    """A name, the point that it belongs to, and its color."""

    text: str
    at: XY
    color: str


def place_labels(
    labels: Sequence[Label], frame: Box, lines: Sequence[Sequence[XY]] = (), right: float = math.inf
) -> list[Shape]:
    """Texts beside their points, each at the first of PLACES where it covers least.

    lines: those of the chart, by their corners. right: where the drawing ends; a name may extend
    beyond the frame up to there.
    """
    limits = frame._replace(right=min(frame.right + OVERHANG, right - RADIUS))
    covered = [
        _square(point, 1)
        for corners in lines
        for start, end in itertools.pairwise(corners)
        for point in _along(start, end)
    ]
    placed: list[tuple[Label, Box]] = []
    for label in labels:
        markers = [_square(other.at, RADIUS) for other in labels if other is not label]
        costs = {}
        for box in (_box(label, offset) for offset in PLACES):
            cost = UNREADABLE * _edges_crossed(box, limits)
            cost += sum(_overlap(box, one) for one in covered)
            cost += HIDDEN * sum(_overlap(box, one) for one in markers)
            for other, taken in placed:
                cost += UNREADABLE * _overlap(box, taken)
                cost += _meets(_leader(label.at, box), taken) + _meets(
                    _leader(other.at, taken), box
                )
            costs[box] = cost
        placed.append((label, min(costs, key=costs.__getitem__)))
    return [shape for label, box in placed for shape in _shapes(label, box)]


def labels_at_ends(
    labels: Sequence[Label], lowest: float, *, row: float = 15.0, style: str = "title"
) -> list[Shape]:
    """Texts to the right of the ends of lines, in their order and at least ``row`` apart.

    at: of each label, the end of its line. lowest: y of the lowest name.
    """
    order = sorted(labels, key=lambda label: label.at[1])
    heights = [label.at[1] for label in order]
    for number in range(1, len(heights)):
        heights[number] = max(heights[number], heights[number - 1] + row)
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], lowest - row * (len(heights) - 1 - number))
    shapes: list[Shape] = []
    for label, height in zip(order, heights, strict=True):
        x, y = label.at
        shapes.append(line((x + 1, y), (x + 10, height), "leader"))
        shapes.append(
            Text(x=x + 13, y=height + 4, text=label.text, color=label.color or None, style=style)
        )
    return shapes


def cut(name: str, width: float) -> str:
    """A name, cut where it is wider than there is room."""
    if text_width(name) <= width:
        return name
    while name and text_width(f"{name}…") > width:
        name = name[:-1]
    return f"{name.rstrip()}…"


def cut_apart(names: Iterable[str], width: float) -> dict[str, str]:
    """Names by what is shown of them: those whose beginnings are the same show their ends."""
    shown = {name: cut(name, width) for name in names}
    several = Counter(shown.values())
    for name, beginning in shown.items():
        if several[beginning] > 1:
            shown[name] = cut(name[::-1], width)[::-1]
    return shown


def _box(label: Label, offset: tuple[int, int]) -> Box:
    """The box of a name at one of PLACES."""
    (x, y), (dx, dy) = label.at, offset
    width, height = text_width(label.text), ASCENT + DESCENT
    left = x + dx - (0 if dx > 0 else width if dx < 0 else width / 2)
    top = y + dy - (0 if dy > 0 else height if dy < 0 else height / 2)
    return Box(left, top, left + width, top + height)


def _leader(at: XY, box: Box) -> list[XY]:
    """Points of the line from a point to the box of its name; none if they are near."""
    nearest = min(max(at[0], box.left), box.right), min(max(at[1], box.top), box.bottom)
    return list(_along(at, nearest)) if abs(nearest[1] - at[1]) > NEAR else []


def _shapes(label: Label, box: Box) -> Iterator[Shape]:
    if leader := _leader(label.at, box):
        yield line(leader[0], leader[-1], "leader", label.color)
    yield Text(
        x=box.left, y=box.top + ASCENT, text=label.text, color=label.color, style="title halo"
    )


def _along(start: XY, end: XY) -> Iterator[XY]:
    """Points along a straight line, at most 5 units apart."""
    steps = 1 + int(math.dist(start, end) / 5)
    for step in range(steps + 1):
        share = step / steps
        yield start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _square(point: XY, half: float) -> Box:
    x, y = point
    return Box(x - half, y - half, x + half, y + half)


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.left < other.right
        and other.left < one.right
        and one.top < other.bottom
        and other.top < one.bottom
    )


def _meets(leader: Sequence[XY], box: Box) -> bool:
    """Whether a leader crosses a box."""
    return any(_overlap(_square(point, 0.5), box) for point in leader)


def _edges_crossed(box: Box, limits: Box) -> int:
    return sum(
        (
            box.left < limits.left,
            box.right > limits.right,
            box.top < limits.top,
            box.bottom > limits.bottom,
        )
    )
