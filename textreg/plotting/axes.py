"""Scales and axes: where numbers lie on a chart, and the grid, ticks and titles around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textreg.plotting.drawing import XY, Shape, Text, line
from textreg.plotting.number_format import short

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
