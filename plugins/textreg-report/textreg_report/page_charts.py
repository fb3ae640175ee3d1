"""Scales, and the charts of a page as SVG: text can be selected, colors follow the theme."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from textreg.measure.decisions import Reliability, Selective
from textreg.terminal import visible
from textreg_report.page import Estimate, Section
from textreg_report.wording import clip, minus, short, shown

XY = tuple[float, float]
Tick = tuple[float, str]

WIDTH, HEIGHT = 420, 300
# Width for names at the ends of lines.
ROOM = 100


class Scale(NamedTuple):
    """Numbers along one axis, from ``low`` to ``high`` after ``transform``."""

    low: float
    high: float
    ticks: Sequence[Tick]
    transform: Callable[[float], float] = float

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        return (self.transform(value) - self.low) / ((self.high - self.low) or 1.0)


def round_numbers(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between ``low`` and ``high``, about ``count`` of them."""
    if not high > low:
        return [low]
    # The step among 1, 2, 5, 10 times a power of ten that is nearest to an equal division.
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda it: abs(it - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def linear(low: float, high: float, *, ticks: Sequence[Tick] | None = None) -> Scale:
    """Equal distances for equal differences."""
    rounded = [(value, short(value)) for value in round_numbers(low, high)]
    return Scale(low, high, rounded if ticks is None else ticks)


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


def spread(places: Sequence[float], row: float, most: float) -> list[float]:
    """Places in ascending order, moved to be at least ``row`` apart and at most ``most``."""
    moved = list(places)
    # Down from the first, then up from the last where the lowest fall out.
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + row)
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], most - row * (len(moved) - 1 - number))
    return moved


class Chart:
    """An SVG element in the making: two scales laid over a box, and shapes of styles of the page.

    right: where the box ends.
    """

    LEFT, TOP, BOTTOM = 66, 14, HEIGHT - 46

    def __init__(self, x_scale: Scale, y_scale: Scale, right: float = WIDTH - 16) -> None:
        self.x_scale, self.y_scale, self.right = x_scale, y_scale, right
        self.svg = ET.Element("svg")

    def x(self, value: float) -> float:
        """Where a number lies from left to right."""
        return self.LEFT + self.x_scale.share(value) * (self.right - self.LEFT)

    def y(self, value: float) -> float:
        """Where a number lies from bottom to top; y of SVG points down."""
        return self.BOTTOM - self.y_scale.share(value) * (self.BOTTOM - self.TOP)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> list[XY]:
        """Where pairs of numbers lie."""
        return [(self.x(x), self.y(y)) for x, y in zip(xs, ys, strict=True)]

    def line(self, points: Sequence[XY], style: str, tooltip: str = "") -> None:
        """Straight lines through points."""
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self._add("path", style, tooltip, d=f"M{corners}")

    def rectangle(self, corner: XY, opposite: XY, style: str, tooltip: str = "") -> None:
        """A rectangle, by its upper left corner and the lower right one."""
        (x, y), (right, bottom) = corner, opposite
        self._add("rect", style, tooltip, x=x, y=y, width=right - x, height=bottom - y)

    def circle(self, center: XY, radius: float, style: str, tooltip: str = "") -> None:
        """A circle around a point."""
        self._add("circle", style, tooltip, cx=center[0], cy=center[1], r=radius)

    def text(self, at: XY, text: str, style: str, anchor: str = "middle", **more: str) -> None:
        """A line of text; ``anchor`` says which point of its baseline lies at a place."""
        self._add("text", style, x=at[0], y=at[1], text_anchor=anchor, **more).text = text

    def axes(self, x_title: str, y_title: str) -> None:
        """Grid, ticks and titles."""
        for value, text in self.y_scale.ticks:
            at = self.y(value)
            self.line([(self.LEFT, at), (self.right, at)], "grid")
            self.text((self.LEFT - 6, at + 4), text, "tick", "end")
        for value, text in self.x_scale.ticks:
            at = self.x(value)
            self.line([(at, self.BOTTOM), (at, self.BOTTOM + 4)], "axis")
            self.text((at, self.BOTTOM + 17), text, "tick")
        self.text(((self.LEFT + self.right) / 2, self.BOTTOM + 38), x_title, "title")
        left, middle = self.LEFT - 53, (self.TOP + self.BOTTOM) / 2
        turned = f"rotate(-90 {left} {middle:g})"
        self.text((left, middle), y_title, "title", transform=turned)

    def markup(
        self, label: str, width: float = WIDTH, height: float = HEIGHT, **more: str
    ) -> Markup:
        """The element as part of a page; hidden from screen readers without a label."""
        named = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
        box = f"0 0 {width:g} {height:g}"
        self.svg.attrib.update({"viewBox": box, "class": "chart", **named, **more})
        return Markup(shown(ET.tostring(self.svg, encoding="unicode")))

    def _add(
        self, name: str, style: str, tooltip: str = "", **attributes: float | str
    ) -> ET.Element:
        written = {key.replace("_", "-"): _written(it) for key, it in attributes.items()}
        element = ET.SubElement(self.svg, name, {**written, "class": style})
        if tooltip:
            ET.SubElement(element, "title").text = tooltip
        return element


def _written(value: float | str) -> str:
    """A text as it is, a number with at most two decimals."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


QUARTERS = [(value, short(value)) for value in (0, 0.25, 0.5, 0.75, 1)]


def reliability_curve(reliability: Reliability) -> Markup:
    """Predicted probability against observed share, with 95 % intervals; columns: documents."""
    chart = Chart(linear(0, 1, ticks=QUARTERS), linear(0, 1, ticks=QUARTERS))
    what = f"probability of {reliability.of or 'the predicted label'}"
    chart.axes(what, "observed share")
    most = max(one.documents for one in reliability.bins)
    for one in reliability.bins:
        upper_left = chart.x(one.low) + 1, chart.y(0.25 * one.documents / most)
        lower_right = chart.x(one.high) - 1, chart.y(0)
        chart.rectangle(upper_left, lower_right, "count", f"{one.documents:,} documents")
    chart.line(chart.points([0, 1], [0, 1]), "ideal")
    points = [(chart.x(one.probability), chart.y(one.share)) for one in reliability.bins]
    chart.line(points, "curve")
    for one, (x, y) in zip(reliability.bins, points, strict=True):
        chart.line([(x, chart.y(one.low_share)), (x, chart.y(one.high_share))], "error")
        tooltip = (
            f"{one.probability:.2f} on average, {one.share:.2f} observed "
            f"({one.low_share:.2f} to {one.high_share:.2f}), {one.documents:,} documents"
        )
        chart.circle((x, y), 4, "dot", tooltip)
    return chart.markup(
        f"Reliability curve: {what} against the observed share; the table below has the numbers."
    )


def search_path(section: Section, joined: bool = False) -> Markup:
    """The metric of every setting against its number of features; the chosen one has a ring.

    joined: connect the settings by a line, in their order.
    """
    sizes = [one.features for one in section.tried]
    values = [one.value for one in section.tried]
    best = section.tried[section.chosen]
    chart = Chart(counts(sizes), padded([*values, *(section.interval or ())]))
    chart.axes("features with a weight", f"{section.metric}, held out")
    if section.interval is not None:
        low, high = (chart.y(end) for end in section.interval)
        tooltip = "95 % interval of the chosen setting"
        chart.rectangle((chart.LEFT, high), (chart.right, low), "band", tooltip)
    points = chart.points(sizes, values)
    if joined:
        chart.line(points, "curve thin")
    for one, point in zip(section.tried, points, strict=True):
        tooltip = f"{section.metric} {one.value:.4g}, {one.features:,.0f} features: {one.settings}"
        chart.circle(point, 4, "dot faint", tooltip)
    x, y = points[section.chosen]
    chart.circle((x, y), 8, "ring")
    inside = min(max(x, chart.LEFT + 42.0), chart.right - 42.0)
    place = inside, y - 15 if y > chart.TOP + 26 else y + 24
    chart.text(place, f"chosen: {best.features:,.0f}", "strong halo")
    return chart.markup(
        f"{section.metric} against the number of features of {len(section.tried)} settings; the "
        f"chosen one has {best.features:,.0f} features and {best.value:.4g}."
    )


def profiles(section: Section) -> Markup:
    """Weights of features along the path; the name of each feature is at the end of its line."""
    weights = [weight for one in section.profiles for weight in one.weights]
    low, high = min(0.0, *weights), max(0.0, *weights)
    if section.whole:
        x_scale = linear(section.values[0], section.values[-1])
    else:
        x_scale = strengths(section.values, falling=True)
    chart = Chart(x_scale, linear(low, high)._replace(high=high * 1.04), WIDTH - 16 - ROOM)
    chart.axes(section.parameter, "weight")
    x = chart.x(section.values[section.curve.chosen])
    chart.line([(x, chart.BOTTOM), (x, chart.TOP)], "ideal")
    ends = []
    for one in section.profiles:
        points, feature = chart.points(section.values, one.weights), visible(one.feature)
        chart.line(points, "curve", f"{feature}, for {one.label}")
        ends.append((points[-1][1], clip(feature, 15)))
    ends.sort(key=lambda end: end[0])
    moved = spread([y for y, _ in ends], 14.0, chart.BOTTOM)
    for (y, name), height in zip(ends, moved, strict=True):
        chart.line([(chart.right + 1, y), (chart.right + 10, height)], "leader")
        chart.text((chart.right + 13, height + 4), name, "tick", "start")
    weights_chosen = ", ".join(
        f"{visible(one.feature)} {one.weights[section.curve.chosen]:.3g}"
        for one in section.profiles
    )
    return chart.markup(
        f"Weights of features along {section.parameter}; in the chosen model {weights_chosen}."
    )


def stability(result: Section) -> Markup:
    """Number of the model's features by the number of fits that selected them."""
    number_of_bars, most = len(result.histogram), max(result.histogram) or 1
    names: list[Tick] = [(float(number), str(number)) for number in range(number_of_bars)]
    chart = Chart(linear(-0.5, number_of_bars - 0.5, ticks=names), linear(0, most * 1.1))
    chart.axes(f"of {result.parts} fits selected the feature", "features of the model")
    for number, value in enumerate(result.histogram):
        y = chart.y(value)
        chart.rectangle((chart.x(number - 0.35), y), (chart.x(number + 0.35), chart.y(0)), "for")
        chart.text((chart.x(number), y - 4), f"{value:,}", "tick")
    counted = ", ".join(f"{value:,} in {number}" for number, value in enumerate(result.histogram))
    return chart.markup(
        f"Features of the model by the number of fits that selected them: {counted}."
    )


def risk_coverage(selective: Selective) -> Markup:
    """The share of errors among answered documents against the share of documents answered."""
    coverages, risks = zip(*selective.curve, strict=True)
    now = selective.now
    most = max(*risks, now.risk, 0.01)
    chart = Chart(linear(0, 1, ticks=QUARTERS), linear(0, most * 1.05))
    chart.axes("coverage: share of documents answered", "risk: share of errors")
    chart.line(chart.points(coverages, risks), "curve")
    tooltip = f"in use: coverage {now.coverage:.3f}, risk {now.risk:.3f}"
    chart.circle((chart.x(now.coverage), chart.y(now.risk)), 5, "dot", tooltip)
    return chart.markup(
        f"Risk against coverage; in use coverage {now.coverage:.3f} with risk {now.risk:.3f}, and "
        f"risk {risks[-1]:.3f} if every document were answered."
    )


def interval(difference: Estimate) -> Markup:
    """A difference with its interval, and zero, in percentage points."""
    value, low, high = (100 * (it or 0.0) for it in difference[1:])
    left, right = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (right - left) or 1.0
    left, right = left - margin, right + margin
    chart = Chart(linear(left, right), linear(0, 1))
    for tick in round_numbers(left, right, 5):
        x = chart.x(tick)
        chart.line([(x, 8), (x, 42)], "grid")
        chart.text((x, 58), minus(f"{tick:+.4g}") if tick else "0", "tick")
    chart.line([(chart.x(0), 4), (chart.x(0), 46)], "axis")
    chart.line([(chart.x(low), 25), (chart.x(high), 25)], "error wide")
    chart.circle((chart.x(value), 25), 6, "dot")
    label = minus(f"Difference {value:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}.")
    return chart.markup(label, height=74)


def bar(value: float, most: float, both: bool = False) -> Markup:
    """A bar of ``value`` on a scale that ends at ``most``; from the middle if ``both`` signs occur.

    Screen readers skip it: the number stands beside it.
    """
    share = min(1.0, abs(value) / most) if most else 0.0
    length = share * (50 if both else 100)
    start = 50 - (length if value < 0 else 0) if both else 0
    chart = Chart(linear(0, 1), linear(0, 1))
    chart.rectangle((start, 1), (start + length, 9), "for" if value >= 0 else "against")
    if both:
        chart.line([(50, 0), (50, 10)], "axis")
    return chart.markup("", 100, 10, **{"class": "bar", "preserveAspectRatio": "none"})
