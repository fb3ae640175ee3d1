"""Charts saved as files: metrics against the size of models, and lines with names at their ends.

Every series differs in color and in marker, and its name stands beside it. The same numbers give
the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from textreg.plotting.axes import Box, Chart, counts, padded, strengths
from textreg.plotting.drawing import (
    Circle,
    Drawing,
    Outline,
    Shape,
    Text,
    check_picture,
    line,
    marker,
)
from textreg.plotting.labels import Label, labels_at_ends, place_labels
from textreg.plotting.style import MARKERS, SERIES

WIDTH, HEIGHT = 640, 400
PANEL_WIDTH, PANEL_HEIGHT = 440, 320
LEFT, RIGHT, TOP, BOTTOM = 66, 24, 16, 48
TITLE = 26
"""Height of a panel's title."""

ROOM = 110
"""Width for names at the ends of lines."""

SCALES = {"counts": counts, "strengths": strengths, "linear": padded}
"""Scales of the size of a model; each takes all values and the share of the width left free."""


class PlottedModel(NamedTuple):
    """A model: its number of features, its accuracy, and the accuracy's interval if known."""

    name: str
    features: float
    accuracy: float
    interval: tuple[float, float] | None = None


class Series(NamedTuple):
    """A line, by the coordinates of its points, and the index of a chosen point."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    chosen: int | None = None


def accuracy_by_size(
    panels: Mapping[str, Sequence[PlottedModel]],
    path: str | os.PathLike[str],
    *,
    size: str = "features with a weight",
    metric: str = "accuracy",
) -> None:
    """Draw a panel for each benchmark: a metric against the number of features, log scale.

    The same name has the same color and marker in all panels; bars are the intervals.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    check_picture(path)
    looks = looks_of(panels)
    title = f"{metric[:1].upper()}{metric[1:]} against {size}"
    label = f"{title}: {', '.join(looks)} on {', '.join(panels)}."

    def panel(points: Sequence[PlottedModel], box: Box) -> list[Shape]:
        return _panel(points, box, (size, metric), looks)

    in_panels(panels, panel, label).save(path)


class Named(Protocol):
    """What has a name beside it in a panel."""

    @property
    def name(self) -> str:
        """The name."""


N = TypeVar("N", bound=Named)


def looks_of(panels: Mapping[str, Sequence[Named]]) -> dict[str, tuple[str, str]]:
    """Color and marker by name, the same in all panels."""
    names = dict.fromkeys(one.name for panel in panels.values() for one in panel)
    return {name: look(number) for number, name in enumerate(names)}


def in_panels(
    panels: Mapping[str, Sequence[N]],
    draw: Callable[[Sequence[N], Box], list[Shape]],
    label: str,
    right: float = RIGHT,
    wider: int = 0,
) -> Drawing:
    """A panel for each title, two beside each other.

    Parameters
    ----------
    panels : mapping of str to sequence
        What is in each, by its title.
    draw : callable
        Gives the shapes of a panel in a box.
    label : str
        What the picture shows.
    right : float
        Room right of each box.
    wider : int
        How much wider than usual a panel is.

    Returns
    -------
    Drawing
    """
    width, height = (WIDTH, HEIGHT) if len(panels) == 1 else (PANEL_WIDTH, PANEL_HEIGHT)
    width += wider
    columns = min(2, len(panels))
    shapes: list[Shape] = []
    for number, (title, content) in enumerate(panels.items()):
        left, top = width * (number % columns), height * (number // columns)
        box = Box(left + LEFT, top + TITLE + 8, left + width - right, top + height - BOTTOM)
        shapes.append(Text(x=box.left, y=top + 19, text=title, style="strong"))
        shapes += draw(content, box)
    return Drawing(shapes, label, width * columns, height * -(-len(panels) // columns))


def _panel(
    points: Sequence[PlottedModel],
    box: Box,
    axes: tuple[str, str],
    looks: Mapping[str, tuple[str, str]],
) -> list[Shape]:
    heights = [end for point in points for end in (point.interval or (point.accuracy,))]
    heights += [point.accuracy for point in points]
    x_scale = counts([point.features for point in points], margin=0.15)
    chart = Chart(box, x_scale, padded(heights, 0.12))
    bars = any(point.interval is not None for point in points)
    size, metric = axes
    shapes = chart.axes(size, f"{metric} (bars: 95 % intervals)" if bars else metric)
    markers: list[Shape] = []
    labels = []
    for point in points:
        color, form = looks[point.name]
        x, y = chart.x(point.features), chart.y(point.accuracy)
        if point.interval is not None:
            low, high = point.interval
            shapes.append(line((x, chart.y(low)), (x, chart.y(high)), "error", "#c3c7cf"))
        markers.append(marker(form, (x, y), 4.2, color))
        labels.append(Label(point.name, (x, y), color))
    return [*shapes, *markers, *place_labels(labels, box, right=box.right + RIGHT)]


def metric_by_size(
    series: Sequence[Series],
    path: str | os.PathLike[str],
    *,
    metric: str = "accuracy",
    size: str = "features with a weight",
    scale: str = "counts",
    metric_scale: str = "linear",
) -> None:
    """Draw a metric along one or several regularization paths against the size of the model.

    Chosen points have a ring; of a single path the chosen point is named.

    Parameters
    ----------
    series
        A line for each path.
    path
        File to write, ``.svg`` or ``.png``.
    metric, size
        Titles of the axes.
    scale : {"counts", "strengths", "linear"}
        Scale of the sizes; the first two are logarithmic.
    metric_scale : {"counts", "strengths", "linear"}
        Scale of the metric.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    check_picture(path)
    alone = len(series) == 1
    box = Box(LEFT, TOP, WIDTH - (RIGHT if alone else ROOM), HEIGHT - BOTTOM)
    x_scale = SCALES[scale]([x for each in series for x in each.x], 0.15 if alone else 0.0)
    y_scale = SCALES[metric_scale]([y for each in series for y in each.y], 0.06)
    chart = Chart(box, x_scale, y_scale)
    shapes = chart.axes(size, metric)
    lines = [chart.points(each.x, each.y) for each in series]
    ends, chosen = [], []
    for number, (each, points) in enumerate(zip(series, lines, strict=True)):
        color, form = look(number)
        shapes.append(Outline(points=points, style="curve", color=color))
        shapes += [marker(form, point, 2.4, color) for point in points]
        ends.append(Label(each.name, points[-1], color))
        if each.chosen is not None:
            x, y = points[each.chosen]
            shapes.append(Circle(x=x, y=y, radius=6, style="ring", color=color))
            at = each.x[each.chosen]
            text = f"{at:,.0f} features" if scale == "counts" else f"{each.name} {at:g}"
            chosen.append(Label(f"chosen: {text}, {each.y[each.chosen]:.3f}", (x, y), color))
    if alone and chosen:
        shapes += place_labels(chosen, box, lines, right=WIDTH)
    else:
        shapes += labels_at_ends(ends, box.bottom)
    Drawing(shapes, f"{metric} against {size}.", WIDTH, HEIGHT).save(path)


def look(number: int) -> tuple[str, str]:
    """Color and marker of a series; no two are the same until both have been used up."""
    form = MARKERS[(number + number // len(SERIES)) % len(MARKERS)]
    return SERIES[number % len(SERIES)], form
