"""Small pictures as SVG in the page: their text can be selected, their colors are the page's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from textreg.measure.reliability import Reliability
from textreg.report.digits import minus
from textreg.report.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    across,
    axes,
    picture,
    plain,
    tag,
    ticks,
    up,
)
from textreg.report.records import Figure, Searched, Stability, Traced
from textreg.report.text import clip


def reliability_curve(found: Reliability) -> Markup:
    """Probability against what came true, with 95 % intervals; bars count the documents."""
    x, y = across(0, 1), up(0, 1)
    what = f"probability of {found.of}" if found.of else "probability of the predicted label"
    marks = plain([0, 0.25, 0.5, 0.75, 1])
    parts = axes(x, marks, y, marks, what, "share that came true")
    most = max(one.documents for one in found.bins)
    for one in found.bins:
        height = 0.25 * one.documents / most
        parts.append(
            tag(
                "rect",
                tag("title", f"{one.documents:,} documents"),
                x=x(one.low) + 1,
                y=y(height),
                width=x(one.high) - x(one.low) - 2,
                height=y(0) - y(height),
                class_="count",
            )
        )
    parts.append(tag("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="ideal"))
    path = "L".join(f"{x(one.probability):.1f} {y(one.share):.1f}" for one in found.bins)
    parts.append(tag("path", d=f"M{path}", class_="curve"))
    for one in found.bins:
        at = x(one.probability)
        parts.append(
            tag("line", x1=at, x2=at, y1=y(one.low_share), y2=y(one.high_share), class_="error")
        )
        title = (
            f"{one.probability:.2f} on average, {one.share:.2f} came true "
            f"({one.low_share:.2f} to {one.high_share:.2f}), {one.documents:,} documents"
        )
        parts.append(tag("circle", tag("title", title), cx=at, cy=y(one.share), r=4, class_="dot"))
    label = f"Reliability curve: {what} against the share that came true; the table below holds it."
    return picture(parts, label)


def search_path(found: Searched, joined: bool = False) -> Markup:
    """The metric against the number of features of every setting, the chosen one ringed.

    joined: with a line through all of them in their order.
    """
    sizes = [max(one.features, 0.5) for one in found.tried]  # 0 has its place left of 1
    logs = [math.log10(size) for size in sizes]
    values = [one.value for one in found.tried]
    best = found.tried[found.chosen]
    low, high = min(values), max(values)
    if found.interval is not None:
        low, high = min(low, found.interval[0]), max(high, found.interval[1])
    margin = 0.06 * (high - low) or 0.01
    left, right = min(logs) - 0.15, max(logs) + 0.15
    x, y = across(left, right), up(low - margin, high + margin)
    heights = plain(ticks(low - margin, high + margin))
    title = f"{found.metric}, held out"
    parts = axes(x, _counts(left, right), y, heights, "features with a weight", title)
    if found.interval is not None:
        bottom, top = (y(end) for end in found.interval)
        parts.append(
            tag(
                "rect",
                tag("title", "95 % interval of the chosen setting"),
                x=LEFT,
                y=top,
                width=WIDTH - LEFT - RIGHT,
                height=bottom - top,
                class_="band",
            )
        )
    if joined:
        path = "L".join(
            f"{x(log):.1f} {y(value):.1f}" for log, value in zip(logs, values, strict=True)
        )
        parts.append(tag("path", d=f"M{path}", class_="curve faint"))
    for one, log in zip(found.tried, logs, strict=True):
        title = f"{found.metric} {one.value:.4g}, {one.features:,.0f} features: {one.prices}"
        parts.append(
            tag("circle", tag("title", title), cx=x(log), cy=y(one.value), r=4, class_="dot faint")
        )
    parts += _ringed(x(logs[found.chosen]), y(best.value), f"chosen: {best.features:,.0f}")
    return picture(
        parts,
        f"{found.metric} against the number of features of {len(found.tried)} settings; chosen was "
        f"one with {best.features:,.0f} features and {best.value:.4g}.",
    )


def _counts(left: float, right: float) -> list[tuple[float, str]]:
    """Ticks of whole numbers between two logarithms."""
    steps = (1,) if right - left > 2.5 else (1, 2, 5)
    numbers = [step * 10**power for power in range(10) for step in steps]
    marks = [(math.log10(number), f"{number:,}") for number in numbers]
    return [(at, told) for at, told in marks if left <= at <= right]


def _ringed(at: float, height: float, told: str) -> list[Markup]:
    """A ring around a point, and its name above it, or below where there is no room."""
    name = tag(
        "text",
        told,
        x=min(max(at, LEFT + 42.0), WIDTH - RIGHT - 42.0),
        y=height - 15 if height > TOP + 26 else height + 24,
        text_anchor="middle",
        class_="strong",
    )
    return [tag("circle", cx=at, cy=height, r=8, class_="ring"), name]


def profiles(found: Traced) -> Markup:
    """Weights of features along the path; each line is named at its end."""
    logs = [float(value) if found.whole else -math.log10(value) for value in found.values]
    room = 100  # for the names
    every = [weight for one in found.profiles for weight in one.weights]
    low, high = min(0.0, *every), max(0.0, *every)
    width = (logs[-1] - logs[0]) or 1.0
    y = up(low, high * 1.04)

    def x(value: float) -> float:
        return LEFT + (value - logs[0]) / width * (WIDTH - LEFT - RIGHT - room)

    between = ticks(logs[0], logs[-1])
    if found.whole:
        marks = plain(between)
    else:
        marks = [(value, f"{10**-value:.2g}") for value in between]
    parts = axes(
        x, marks, y, plain(ticks(low, high)), found.parameter, "weight", right=RIGHT + room
    )
    at = x(logs[found.curve.chosen])
    parts.append(tag("line", x1=at, x2=at, y1=y(low), y2=TOP, class_="ideal"))
    ends = _apart([y(one.weights[-1]) + 4 for one in found.profiles], 14.0, float(HEIGHT - BOTTOM))
    for one, place in zip(found.profiles, ends, strict=True):
        title = tag("title", f"{one.feature}, for {one.label}")
        d = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in zip(logs, one.weights, strict=True))
        parts.append(tag("path", title, d=f"M{d}", class_="curve"))
        edge, end = float(WIDTH - RIGHT - room), y(one.weights[-1])
        parts.append(tag("line", x1=edge, x2=edge + 10, y1=end, y2=place - 4, class_="axis"))
        name = clip(one.feature, 15)
        parts.append(tag("text", name, x=edge + 13, y=place, class_="tick"))
    told = ", ".join(
        f"{one.feature} {one.weights[found.curve.chosen]:.3g}" for one in found.profiles
    )
    return picture(
        parts, f"Weights of features along {found.parameter}; in the chosen model {told}."
    )


def _apart(places: Sequence[float], distance: float, lowest: float) -> list[float]:
    """Heights moved so that no two are nearer than ``distance``; none goes below ``lowest``."""
    order = sorted(range(len(places)), key=lambda number: -places[number])
    moved = list(places)
    room = lowest
    for number in order:
        moved[number] = min(moved[number], room)
        room = moved[number] - distance
    return moved


def steadiness(found: Stability) -> Markup:
    """How many of the model's features were chosen in how many of the parts."""
    count, most = len(found.histogram), max(found.histogram) or 1
    x, y = across(-0.5, count - 0.5), up(0, most * 1.1)
    names = [(float(number), str(number)) for number in range(count)]
    title = f"of {found.parts} fits chose the feature"
    parts = axes(x, names, y, plain(ticks(0, most * 1.1)), title, "features of the model")
    for number, value in enumerate(found.histogram):
        wide = (x(1) - x(0)) * 0.7
        parts.append(
            tag(
                "rect",
                x=x(number) - wide / 2,
                y=y(value),
                width=wide,
                height=y(0) - y(value),
                class_="column",
            )
        )
        parts.append(
            tag(
                "text",
                f"{value:,}",
                x=x(number),
                y=y(value) - 4,
                text_anchor="middle",
                class_="tick",
            )
        )
    told = ", ".join(f"{value:,} in {number}" for number, value in enumerate(found.histogram))
    return picture(parts, f"Features of the model by the fits that chose them too: {told}.")


def scatter(points: Sequence[tuple[float, float]]) -> Markup:
    """True numbers against predicted ones."""
    every = [value for point in points for value in point]
    low, high = min(every), max(every)
    x, y = across(low, high), up(low, high)
    marks = plain(ticks(low, high))
    parts = axes(x, marks, y, marks, "true number", "predicted number")
    parts.append(tag("line", x1=x(low), y1=y(low), x2=x(high), y2=y(high), class_="ideal"))
    parts += [tag("circle", cx=x(a), cy=y(b), r=3, class_="dot faint") for a, b in points]
    return picture(parts, f"Predicted against true numbers of {len(points):,} documents.")


def interval(found: Figure, unit: float = 100.0) -> Markup:
    """A difference with its interval, beside zero; in points."""
    low, high = unit * (found.low or 0.0), unit * (found.high or 0.0)
    value = unit * found.value
    left, right = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (right - left) or 1.0
    x, height = across(left - margin, right + margin), 74
    parts = []
    for tick in ticks(left - margin, right + margin, 5):
        at = x(tick)
        parts.append(tag("line", x1=at, x2=at, y1=8, y2=42, class_="grid"))
        parts.append(
            tag(
                "text",
                minus(f"{tick:+.4g}") if tick else "0",
                x=at,
                y=58,
                text_anchor="middle",
                class_="tick",
            )
        )
    parts.append(tag("line", x1=x(0), x2=x(0), y1=4, y2=46, class_="axis"))
    parts.append(tag("line", x1=x(low), x2=x(high), y1=25, y2=25, class_="error wide"))
    parts.append(tag("circle", cx=x(value), cy=25, r=6, class_="dot"))
    label = minus(f"Difference {value:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}.")
    return picture(parts, label, height=height)


def bar(value: float, most: float, both: bool = False) -> Markup:
    """A bar of ``value`` on a scale that ends at ``most``; from the middle where ``both`` occur.

    It says nothing that the number beside it does not, so readers of screens pass over it.
    """
    share = min(1.0, abs(value) / most) if most else 0.0
    length = share * (50 if both else 100)
    start = 50 - (length if value < 0 else 0) if both else 0
    parts = [
        tag("rect", x=start, y=1, width=length, height=8, class_="for" if value >= 0 else "against")
    ]
    if both:
        parts.append(tag("line", x1=50, x2=50, y1=0, y2=10, class_="axis"))
    return tag(
        "svg",
        Markup("").join(parts),
        viewBox="0 0 100 10",
        class_="bar",
        aria_hidden="true",
        preserveAspectRatio="none",
    )
