"""Charts of metrics over the number of documents, a panel for each corpus."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textreg.plotting.axes import Box, Chart, Scale, counts, padded
from textreg.plotting.charts import in_panels, looks_of
from textreg.plotting.drawing import Outline, Shape, check_picture, line, marker, text_width
from textreg.plotting.labels import Label, cut_apart, labels_at_ends

MOST_ROOM = 240
"""The most width for the names at the ends of lines."""

BESIDE = 4.0
"""Distance between the bars of two curves at one size."""

APART = 1.3
"""Ratio of neighboring sizes from which on each has a tick of its own."""


class Curve(NamedTuple):
    """A line, by the sizes of its points, their heights, and the intervals where they are known."""

    name: str
    sizes: Sequence[int]
    heights: Sequence[float]
    intervals: Sequence[tuple[float, float] | None]


def curve_panels(
    panels: Mapping[str, Sequence[Curve]],
    path: str | os.PathLike[str],
    *,
    x_title: str,
    y_title: str,
) -> None:
    """Draw curves over a logarithmic axis of sizes, with bars for their intervals.

    The same name has the same color and marker in all panels.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    check_picture(path)
    looks = looks_of(panels)
    names = cut_apart(looks, MOST_ROOM)
    room = min(max(map(text_width, looks)), MOST_ROOM) + 28
    label = f"{y_title} over {x_title}: {', '.join(looks)} on {', '.join(panels)}."

    def panel(curves: Sequence[Curve], box: Box) -> list[Shape]:
        return _panel(curves, box, (x_title, y_title), (looks, names))

    in_panels(panels, panel, label, right=room, wider=math.floor(room) - 60).save(path)


def _panel(
    curves: Sequence[Curve],
    box: Box,
    titles: tuple[str, str],
    styles: tuple[Mapping[str, tuple[str, str]], Mapping[str, str]],
) -> list[Shape]:
    """styles: color and marker of every curve, and what is shown of its name."""
    looks, names = styles
    ends = [end for curve in curves for interval in curve.intervals for end in interval or ()]
    heights = [height for curve in curves for height in curve.heights]
    sizes = [float(size) for curve in curves for size in curve.sizes]
    chart = Chart(box, _scale(sizes), padded([*heights, *ends]))
    x_title, y_title = titles
    shapes = chart.axes(x_title, f"{y_title} (bars: 95 % intervals)" if ends else y_title)
    labels = []
    for number, curve in enumerate(curves):
        color, form = looks[curve.name]
        beside = BESIDE * (number - (len(curves) - 1) / 2)
        points = [(x + beside, y) for x, y in chart.points(curve.sizes, curve.heights)]
        for (x, _), interval in zip(points, curve.intervals, strict=True):
            if interval is not None:
                low, high = map(chart.y, interval)
                shapes.append(line((x, low), (x, high), "error", color))
        shapes.append(Outline(points=points, style="curve", color=color))
        shapes += [marker(form, point, 3.2, color) for point in points]
        labels.append(Label(names[curve.name], points[-1], color))
    return [*shapes, *labels_at_ends(labels, box.bottom)]


def _scale(sizes: Sequence[float]) -> Scale:
    """A logarithmic scale with the sizes as ticks, where these are far enough apart."""
    distinct = sorted(set(sizes))
    scale = counts(distinct)
    if all(after >= APART * before for before, after in itertools.pairwise(distinct)):
        return scale._replace(ticks=[(size, f"{size:,.0f}") for size in distinct])
    return scale
