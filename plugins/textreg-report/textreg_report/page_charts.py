"""The charts of a page, as SVG: text can be selected, colors follow the theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textreg.measure.calibration import Reliability
from textreg.measure.selective import Selective
from textreg.terminal import visible
from textreg_report.axes import (
    Box,
    Chart,
    Label,
    Tick,
    counts,
    labeled,
    labels_at_ends,
    linear,
    padded,
    round_numbers,
    strengths,
)
from textreg_report.drawing import Circle, Drawing, Outline, Shape, Text, line, rectangle
from textreg_report.records import Estimate, PathSection, SearchSection, Stability
from textreg_report.wording import clip, minus, shown

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 420, 300
BOX = Box(left=66, top=14, right=WIDTH - 16, bottom=HEIGHT - 46)
ROOM = 100
"""Width for names at the ends of lines."""


def _markup(html: str) -> Markup:
    from markupsafe import Markup  # comes with jinja2, which only pages need

    return Markup(html)


def _svg(shapes: Sequence[Shape], label: str, height: float = HEIGHT) -> Markup:
    """The drawing as part of the page."""
    return _markup(shown(Drawing(shapes, label, WIDTH, height).inline_svg()))


def reliability_curve(reliability: Reliability) -> Markup:
    """Predicted probability against observed share, with 95 % intervals; columns: documents."""
    ticks = labeled([0, 0.25, 0.5, 0.75, 1])
    chart = Chart(BOX, linear(0, 1, ticks=ticks), linear(0, 1, ticks=ticks))
    what = (
        f"probability of {reliability.of}"
        if reliability.of
        else "probability of the predicted label"
    )
    shapes = chart.axes(what, "observed share")
    most = max(one.documents for one in reliability.bins)
    for one in reliability.bins:
        left, right = chart.x(one.low) + 1, chart.x(one.high) - 1
        tooltip = f"{one.documents:,} documents"
        upper_left = left, chart.y(0.25 * one.documents / most)
        shapes.append(rectangle(upper_left, (right, chart.y(0)), "count", tooltip))
    shapes.append(line((chart.x(0), chart.y(0)), (chart.x(1), chart.y(1)), "ideal"))
    points = chart.points(
        [one.probability for one in reliability.bins], [one.share for one in reliability.bins]
    )
    shapes.append(Outline(points=points, style="curve"))
    for one, (x, y) in zip(reliability.bins, points, strict=True):
        shapes.append(line((x, chart.y(one.low_share)), (x, chart.y(one.high_share)), "error"))
        tooltip = (
            f"{one.probability:.2f} on average, {one.share:.2f} observed "
            f"({one.low_share:.2f} to {one.high_share:.2f}), {one.documents:,} documents"
        )
        shapes.append(Circle(x=x, y=y, radius=4, style="dot", tooltip=tooltip))
    label = (
        f"Reliability curve: {what} against the observed share; the table below has the numbers."
    )
    return _svg(shapes, label)


def search_path(section: SearchSection, joined: bool = False) -> Markup:
    """The metric of every setting against its number of features; the chosen one has a ring.

    joined: connect the settings by a line, in their order.
    """
    sizes = [one.features for one in section.tried]
    values = [one.value for one in section.tried]
    best = section.tried[section.chosen]
    chart = Chart(BOX, counts(sizes), padded([*values, *(section.interval or ())]))
    shapes = chart.axes("features with a weight", f"{section.metric}, held out")
    if section.interval is not None:
        low, high = (chart.y(end) for end in section.interval)
        tooltip = "95 % interval of the chosen setting"
        shapes.append(rectangle((BOX.left, high), (BOX.right, low), "band", tooltip))
    points = chart.points(sizes, values)
    if joined:
        shapes.append(Outline(points=points, style="curve thin"))
    for one, (x, y) in zip(section.tried, points, strict=True):
        tooltip = f"{section.metric} {one.value:.4g}, {one.features:,.0f} features: {one.settings}"
        shapes.append(Circle(x=x, y=y, radius=4, style="dot faint", tooltip=tooltip))
    x, y = points[section.chosen]
    shapes.append(Circle(x=x, y=y, radius=8, style="ring"))
    shapes.append(
        Text(
            x=min(max(x, BOX.left + 42.0), BOX.right - 42.0),
            y=y - 15 if y > BOX.top + 26 else y + 24,
            text=f"chosen: {best.features:,.0f}",
            anchor="middle",
            style="strong halo",
        )
    )
    return _svg(
        shapes,
        f"{section.metric} against the number of features of {len(section.tried)} settings; the "
        f"chosen one has {best.features:,.0f} features and {best.value:.4g}.",
    )


def profiles(section: PathSection) -> Markup:
    """Weights of features along the path; the name of each feature is at the end of its line."""
    box = BOX._replace(right=BOX.right - ROOM)
    weights = [weight for one in section.profiles for weight in one.weights]
    low, high = min(0.0, *weights), max(0.0, *weights)
    if section.whole:
        x_scale = linear(section.values[0], section.values[-1])
    else:
        x_scale = strengths(section.values, falling=True)
    ticks = labeled(round_numbers(low, high))
    chart = Chart(box, x_scale, linear(low, high * 1.04, ticks=ticks))
    shapes = chart.axes(section.parameter, "weight")
    x = chart.x(section.values[section.curve.chosen])
    shapes.append(line((x, box.bottom), (x, box.top), "ideal"))
    labels = []
    for one in section.profiles:
        points = chart.points(section.values, one.weights)
        feature = visible(one.feature)
        tooltip = f"{feature}, for {one.label}"
        shapes.append(Outline(points=points, style="curve", tooltip=tooltip))
        labels.append(Label(clip(feature, 15), points[-1], ""))
    shapes += labels_at_ends(labels, box.bottom, row=14.0, style="tick")
    weights_chosen = ", ".join(
        f"{visible(one.feature)} {one.weights[section.curve.chosen]:.3g}"
        for one in section.profiles
    )
    return _svg(
        shapes,
        f"Weights of features along {section.parameter}; in the chosen model {weights_chosen}.",
    )


def stability(result: Stability) -> Markup:
    """Number of the model's features by the number of fits that selected them."""
    number_of_bars, most = len(result.histogram), max(result.histogram) or 1
    names: list[Tick] = [(float(number), str(number)) for number in range(number_of_bars)]
    chart = Chart(BOX, linear(-0.5, number_of_bars - 0.5, ticks=names), linear(0, most * 1.1))
    shapes = chart.axes(f"of {result.parts} fits selected the feature", "features of the model")
    for number, value in enumerate(result.histogram):
        left, right = chart.x(number - 0.35), chart.x(number + 0.35)
        shapes.append(rectangle((left, chart.y(value)), (right, chart.y(0)), "for"))
        y = chart.y(value) - 4
        shapes.append(
            Text(x=chart.x(number), y=y, text=f"{value:,}", anchor="middle", style="tick")
        )
    counted = ", ".join(f"{value:,} in {number}" for number, value in enumerate(result.histogram))
    return _svg(
        shapes, f"Features of the model by the number of fits that selected them: {counted}."
    )


def risk_coverage(selective: Selective) -> Markup:
    """The share of errors among answered documents against the share of documents answered."""
    coverages, risks = zip(*selective.curve, strict=True)
    now = selective.now
    most = max(*risks, now.risk, 0.01)
    ticks = labeled([0, 0.25, 0.5, 0.75, 1])
    chart = Chart(BOX, linear(0, 1, ticks=ticks), linear(0, most * 1.05))
    shapes = chart.axes("coverage: share of documents answered", "risk: share of errors")
    shapes.append(Outline(points=chart.points(coverages, risks), style="curve"))
    tooltip = f"in use: coverage {now.coverage:.3f}, risk {now.risk:.3f}"
    x, y = chart.x(now.coverage), chart.y(now.risk)
    shapes.append(Circle(x=x, y=y, radius=5, style="dot", tooltip=tooltip))
    return _svg(
        shapes,
        f"Risk against coverage; in use coverage {now.coverage:.3f} with risk {now.risk:.3f}, and "
        f"risk {risks[-1]:.3f} if every document were answered.",
    )


def scatter(points: Sequence[tuple[float, float]]) -> Markup:
    """True numbers against predicted ones."""
    values = [value for point in points for value in point]
    low, high = min(values), max(values)
    chart = Chart(BOX, linear(low, high), linear(low, high))
    shapes = chart.axes("true number", "predicted number")
    shapes.append(line((chart.x(low), chart.y(low)), (chart.x(high), chart.y(high)), "ideal"))
    for x, y in chart.points(*zip(*points, strict=True)):
        shapes.append(Circle(x=x, y=y, radius=3, style="dot faint"))
    return _svg(shapes, f"Predicted against true numbers of {len(points):,} documents.")


def interval(difference: Estimate, unit: float = 100.0) -> Markup:
    """A difference with its interval, and zero, in percentage points."""
    low, high = unit * (difference.low or 0.0), unit * (difference.high or 0.0)
    value = unit * difference.value
    left, right = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (right - left) or 1.0
    left, right = left - margin, right + margin
    chart = Chart(BOX, linear(left, right), linear(0, 1))
    shapes: list[Shape] = []
    for tick in round_numbers(left, right, 5):
        x = chart.x(tick)
        shapes.append(line((x, 8), (x, 42), "grid"))
        text = minus(f"{tick:+.4g}") if tick else "0"
        shapes.append(Text(x=x, y=58, text=text, anchor="middle", style="tick"))
    shapes.append(line((chart.x(0), 4), (chart.x(0), 46), "axis"))
    shapes.append(line((chart.x(low), 25), (chart.x(high), 25), "error wide"))
    shapes.append(Circle(x=chart.x(value), y=25, radius=6, style="dot"))
    label = minus(f"Difference {value:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}.")
    return _svg(shapes, label, height=74)


def bar(value: float, most: float, both: bool = False) -> Markup:
    """A bar of ``value`` on a scale that ends at ``most``; from the middle if ``both`` signs occur.

    Screen readers skip it: the number stands beside it.
    """
    share = min(1.0, abs(value) / most) if most else 0.0
    length = share * (50 if both else 100)
    start = 50 - (length if value < 0 else 0) if both else 0
    style = "for" if value >= 0 else "against"
    shapes: list[Shape] = [rectangle((start, 1), (start + length, 9), style)]
    if both:
        shapes.append(line((50, 0), (50, 10), "axis"))
    drawing = Drawing(shapes, "", 100, 10)
    return _markup(drawing.inline_svg(**{"class": "bar", "preserveAspectRatio": "none"}))
