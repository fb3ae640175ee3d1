"""What pictures are drawn with: SVG elements, scales and axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from textreg.report.digits import short
from textreg.report.text import safe

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 14, 46

Scale = Callable[[float], float]


def tag(name: str, content: str | Markup = "", **attributes: object) -> Markup:
    """An element; ``class_`` is its class, ``stroke_width`` its stroke-width."""
    told = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), safe(_short(value)))
        for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, told, safe(content))


def _short(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def picture(
    parts: Iterable[Markup], label: str, width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    """The whole drawing; ``label`` says in words what it shows."""
    return tag(
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


def across(low: float, high: float) -> Scale:
    """Places from left to right of the numbers between the two."""
    width = (high - low) or 1.0
    return lambda value: LEFT + (value - low) / width * (WIDTH - LEFT - RIGHT)


def up(low: float, high: float) -> Scale:
    """Heights of the numbers between the two, the larger ones further up."""
    height = (high - low) or 1.0
    return lambda value: HEIGHT - BOTTOM - (value - low) / height * (HEIGHT - BOTTOM - TOP)


def axes(
    x: Scale,
    x_ticks: Sequence[tuple[float, str]],
    y: Scale,
    y_ticks: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
    right: int = RIGHT,
) -> list[Markup]:
    """Lines of the grid, numbers and titles."""
    parts = []
    for value, name in y_ticks:
        at = y(value)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - right, y1=at, y2=at, class_="grid"))
        parts.append(tag("text", name, x=LEFT - 6, y=at + 4, text_anchor="end", class_="tick"))
    for value, name in x_ticks:
        at, bottom = x(value), float(HEIGHT - BOTTOM)
        parts.append(tag("line", x1=at, x2=at, y1=bottom, y2=bottom + 4, class_="axis"))
        parts.append(tag("text", name, x=at, y=bottom + 17, text_anchor="middle", class_="tick"))
    middle = LEFT + (WIDTH - LEFT - right) / 2
    parts.append(tag("text", x_title, x=middle, y=HEIGHT - 8, text_anchor="middle"))
    half = TOP + (HEIGHT - TOP - BOTTOM) / 2
    turned = f"rotate(-90 13 {half:g})"
    parts.append(tag("text", y_title, x=13, y=half, text_anchor="middle", transform=turned))
    return parts


def plain(values: Iterable[float]) -> list[tuple[float, str]]:
    """Ticks with their numbers beside them."""
    return [(value, short(value)) for value in values]
