"""Small pictures as SVG in the page: their text can be selected, their colors are the page's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from textreg.reliability import Reliability
from textreg.report.records import Figure, Searched, Stability
from textreg.report.text import safe

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 14, 46

Scale = Callable[[float], float]


def _tag(name: str, content: str | Markup = "", **attributes: object) -> Markup:
    told = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _short(value))
        for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, told, safe(content))


def _short(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def _picture(
    parts: Iterable[Markup], label: str, width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    return _tag(
        "svg",
        Markup("").join(parts),
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=label,
        class_="chart",
    )


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between the two, about ``count`` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda it: abs(it - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _across(low: float, high: float) -> Scale:
    width = (high - low) or 1.0
    return lambda value: LEFT + (value - low) / width * (WIDTH - LEFT - RIGHT)


def _up(low: float, high: float) -> Scale:
    height = (high - low) or 1.0
    return lambda value: HEIGHT - BOTTOM - (value - low) / height * (HEIGHT - BOTTOM - TOP)


def _axes(
    x: Scale,
    x_ticks: Sequence[tuple[float, str]],
    y: Scale,
    y_ticks: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> list[Markup]:
    """Lines of the grid, numbers and titles."""
    parts = []
    for value, name in y_ticks:
        at = y(value)
        parts.append(_tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
        parts.append(_tag("text", name, x=LEFT - 6, y=at + 4, text_anchor="end", class_="tick"))
    for value, name in x_ticks:
        at, bottom = x(value), float(HEIGHT - BOTTOM)
        parts.append(_tag("line", x1=at, x2=at, y1=bottom, y2=bottom + 4, class_="axis"))
        parts.append(_tag("text", name, x=at, y=bottom + 17, text_anchor="middle", class_="tick"))
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(_tag("text", x_title, x=middle, y=HEIGHT - 8, text_anchor="middle"))
    half = TOP + (HEIGHT - TOP - BOTTOM) / 2
    turned = f"rotate(-90 13 {half:g})"
    parts.append(_tag("text", y_title, x=13, y=half, text_anchor="middle", transform=turned))
    return parts


def _plain(values: Iterable[float]) -> list[tuple[float, str]]:
    return [(value, f"{value:,.4g}") for value in values]


def reliability_curve(found: Reliability) -> Markup:
    """Probability against what came true, with 95 % intervals; bars count the documents."""
    x, y = _across(0, 1), _up(0, 1)
    what = f"probability of {found.of}" if found.of else "probability of the predicted label"
    marks = _plain([0, 0.25, 0.5, 0.75, 1])
    parts = _axes(x, marks, y, marks, what, "share that came true")
    most = max(one.documents for one in found.bins)
    for one in found.bins:
        height = 0.25 * one.documents / most
        parts.append(
            _tag(
                "rect",
                _tag("title", f"{one.documents:,} documents"),
                x=x(one.low) + 1,
                y=y(height),
                width=x(one.high) - x(one.low) - 2,
                height=y(0) - y(height),
                class_="count",
            )
        )
    parts.append(_tag("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="ideal"))
    path = "L".join(f"{x(one.probability):.1f} {y(one.share):.1f}" for one in found.bins)
    parts.append(_tag("path", d=f"M{path}", class_="curve"))
    for one in found.bins:
        at = x(one.probability)
        parts.append(
            _tag("line", x1=at, x2=at, y1=y(one.low_share), y2=y(one.high_share), class_="error")
        )
        title = (
            f"{one.probability:.2f} on average, {one.share:.2f} came true "
            f"({one.low_share:.2f} to {one.high_share:.2f}), {one.documents:,} documents"
        )
        parts.append(
            _tag("circle", _tag("title", title), cx=at, cy=y(one.share), r=4, class_="dot")
        )
    label = f"Reliability curve: {what} against the share that came true; the table below holds it."
    return _picture(parts, label)


def search_path(found: Searched) -> Markup:
    """The metric against the number of features of every setting, the chosen one ringed."""
    sizes = [max(one.features, 0.5) for one in found.tried]  # 0 has its place left of 1
    logs = [math.log10(size) for size in sizes]
    values = [one.value for one in found.tried]
    best = found.tried[found.chosen]
    low, high = min(values), max(values)
    if found.interval is not None:
        low, high = min(low, found.interval[0]), max(high, found.interval[1])
    margin = 0.06 * (high - low) or 0.01
    left, right = min(logs) - 0.15, max(logs) + 0.15
    x, y = _across(left, right), _up(low - margin, high + margin)
    powers = [
        (math.log10(m * 10**p), f"{m * 10**p:,}")
        for p in range(10)
        for m in ((1,) if right - left > 2.5 else (1, 2, 5))
        if left <= math.log10(m * 10**p) <= right
    ]
    heights = _plain(ticks(low - margin, high + margin))
    parts = _axes(x, powers, y, heights, "features with a weight", f"{found.metric}, held out")
    if found.interval is not None:
        bottom, top = (y(end) for end in found.interval)
        parts.append(
            _tag(
                "rect",
                _tag("title", "95 % interval of the chosen setting"),
                x=LEFT,
                y=top,
                width=WIDTH - LEFT - RIGHT,
                height=bottom - top,
                class_="band",
            )
        )
    for one, log in zip(found.tried, logs, strict=True):
        title = f"{found.metric} {one.value:.4g}, {one.features:,.0f} features: {one.prices}"
        parts.append(
            _tag(
                "circle", _tag("title", title), cx=x(log), cy=y(one.value), r=4, class_="dot faint"
            )
        )
    at, height = x(logs[found.chosen]), y(best.value)
    parts.append(_tag("circle", cx=at, cy=height, r=8, class_="ring"))
    end = at > WIDTH * 0.6
    parts.append(
        _tag(
            "text",
            f"chosen: {best.features:,.0f}",
            x=at - 13 if end else at + 13,
            y=height + 4,
            text_anchor="end" if end else "start",
            class_="strong",
        )
    )
    return _picture(
        parts,
        f"{found.metric} against the number of features of {len(found.tried)} settings; chosen was "
        f"one with {best.features:,.0f} features and {best.value:.4g}.",
    )


def steadiness(found: Stability) -> Markup:
    """How many of the model's features were chosen in how many of the parts."""
    count, most = len(found.histogram), max(found.histogram) or 1
    x, y = _across(-0.5, count - 0.5), _up(0, most * 1.1)
    names = [(float(number), str(number)) for number in range(count)]
    title = f"of {found.parts} fits chose the feature"
    parts = _axes(x, names, y, _plain(ticks(0, most * 1.1)), title, "features of the model")
    for number, value in enumerate(found.histogram):
        wide = (x(1) - x(0)) * 0.7
        parts.append(
            _tag(
                "rect",
                x=x(number) - wide / 2,
                y=y(value),
                width=wide,
                height=y(0) - y(value),
                class_="column",
            )
        )
        parts.append(
            _tag(
                "text",
                f"{value:,}",
                x=x(number),
                y=y(value) - 4,
                text_anchor="middle",
                class_="tick",
            )
        )
    told = ", ".join(f"{value:,} in {number}" for number, value in enumerate(found.histogram))
    return _picture(parts, f"Features of the model by the fits that chose them too: {told}.")


def scatter(points: Sequence[tuple[float, float]]) -> Markup:
    """True numbers against predicted ones."""
    every = [value for point in points for value in point]
    low, high = min(every), max(every)
    x, y = _across(low, high), _up(low, high)
    marks = _plain(ticks(low, high))
    parts = _axes(x, marks, y, marks, "true number", "predicted number")
    parts.append(_tag("line", x1=x(low), y1=y(low), x2=x(high), y2=y(high), class_="ideal"))
    parts += [_tag("circle", cx=x(a), cy=y(b), r=3, class_="dot faint") for a, b in points]
    return _picture(parts, f"Predicted against true numbers of {len(points):,} documents.")


def interval(found: Figure, unit: float = 100.0) -> Markup:
    """A difference with its interval, beside zero; in points."""
    low, high = unit * (found.low or 0.0), unit * (found.high or 0.0)
    value = unit * found.value
    left, right = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (right - left) or 1.0
    x, height = _across(left - margin, right + margin), 74
    parts = []
    for tick in ticks(left - margin, right + margin, 5):
        at = x(tick)
        parts.append(_tag("line", x1=at, x2=at, y1=8, y2=42, class_="grid"))
        parts.append(
            _tag(
                "text",
                f"{tick:+.4g}" if tick else "0",
                x=at,
                y=58,
                text_anchor="middle",
                class_="tick",
            )
        )
    parts.append(_tag("line", x1=x(0), x2=x(0), y1=4, y2=46, class_="axis"))
    parts.append(_tag("line", x1=x(low), x2=x(high), y1=25, y2=25, class_="error wide"))
    parts.append(_tag("circle", cx=x(value), cy=25, r=6, class_="dot"))
    label = f"Difference {value:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}."
    return _picture(parts, label, height=height)


def bar(value: float, most: float, both: bool = False) -> Markup:
    """A bar of ``value`` on a scale that ends at ``most``; from the middle where ``both`` occur.

    It says nothing that the number beside it does not, so readers of screens pass over it.
    """
    share = min(1.0, abs(value) / most) if most else 0.0
    length = share * (50 if both else 100)
    start = 50 - (length if value < 0 else 0) if both else 0
    parts = [
        _tag(
            "rect", x=start, y=1, width=length, height=8, class_="for" if value >= 0 else "against"
        )
    ]
    if both:
        parts.append(_tag("line", x1=50, x2=50, y1=0, y2=10, class_="axis"))
    return _tag(
        "svg",
        Markup("").join(parts),
        viewBox="0 0 100 10",
        class_="bar",
        aria_hidden="true",
        preserveAspectRatio="none",
    )
