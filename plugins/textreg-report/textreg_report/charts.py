"""Charts in files: accuracy by size, learning curves, regularization paths."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from textreg.errors import UsageError
from textreg.model.regularization_path import PathTable, SentencePath, SolutionPath
from textreg_report.axes import (
    Box,
    Chart,
    Label,
    Scale,
    counts,
    cut,
    cut_apart,
    labels_at_ends,
    linear,
    padded,
    place_labels,
    strengths,
)
from textreg_report.drawing import (
    MARKERS,
    SERIES,
    Circle,
    Drawing,
    Outline,
    Shape,
    Text,
    check_picture,
    line,
    marker,
    text_width,
)
from textreg_report.wording import short

WIDTH, HEIGHT = 640, 400
PANEL_WIDTH, PANEL_HEIGHT = 440, 320
LEFT, RIGHT, TOP, BOTTOM = 66, 24, 16, 48
TITLE = 26
"""Height of a panel's title."""

ROOM = 110
"""Width for names at the ends of lines."""

SCALES = {"counts": counts, "strengths": strengths, "linear": padded}
"""Scales of the size of a model; each takes all values and the share of the width left free."""


SENTENCES_SHOWN = 30
"""Sentences of a picture of selected sentences."""


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
        return _curves_panel(curves, box, (x_title, y_title), (looks, names))

    in_panels(panels, panel, label, right=room, wider=math.floor(room) - 60).save(path)


def _curves_panel(
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


ROW = 24
"""Height of a row."""

NAME_WIDTH = 330
"""The most width of the name of a row."""

CELLS_WIDTH = 360
"""Width of the cells of all points of a path."""

SHADES = 4
"""Levels of the filling of a row."""


class PathAxis(NamedTuple):
    """The parameter of a path, its values from the emptiest model on, and which was chosen."""

    parameter: str
    values: Sequence[float]
    chosen: int

    def x_scale(self) -> Scale:
        """The fullest model lies at the right: penalty strengths fall, whole numbers rise."""
        if len(self.values) > 1 and self.values[0] > self.values[-1]:
            return strengths(self.values, falling=True)
        return counts(self.values)


def lines_along(
    axis: PathAxis,
    names: Sequence[str],
    lines: Sequence[Sequence[float]],
    path: str | os.PathLike[str],
    *,
    title: str,
) -> None:
    """Draw a line for each name, with the name at its end; a dashed line is the chosen point.

    Parameters
    ----------
    axis
        The parameter.
    names, lines
        The lines by their heights, point by point.
    path
        File to write, ``.svg`` or ``.png``.
    title
        What the heights are.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    check_picture(path)
    named = any(names)
    box = Box(LEFT, TOP + ROW / 2, WIDTH - (ROOM if named else RIGHT), HEIGHT - BOTTOM)
    chart = Chart(box, axis.x_scale(), padded([y for each in lines for y in each]))
    shapes = chart.axes(axis.parameter, title)
    ends = []
    for number, (name, heights) in enumerate(zip(names, lines, strict=True)):
        color, form = look(number)
        points = chart.points(axis.values, heights)
        shapes.append(Outline(points=points, style="curve", color=color))
        shapes += [marker(form, point, 2.4, color) for point in points]
        ends.append(Label(cut(name, ROOM - 16), points[-1], color))
    shapes += _chosen(axis, chart)
    shapes += labels_at_ends(ends, box.bottom) if named else []
    label = f"{title} along {axis.parameter}{': ' if named else ''}{', '.join(names)}."
    Drawing(shapes, label, WIDTH, HEIGHT).save(path)


def rows_along(
    axis: PathAxis,
    names: Sequence[str],
    rows: Sequence[Sequence[float]],
    path: str | os.PathLike[str],
) -> None:
    """Draw a row of cells for each name, one for each point, filled where its number is not zero.

    Larger numbers have a darker cell. Parameters and errors as for :func:`lines_along`.
    """
    check_picture(path)
    shown = [cut(name, NAME_WIDTH) for name in names]
    left = RIGHT + max(map(text_width, shown)) + 8
    box = Box(left, TOP + ROW / 2, left + CELLS_WIDTH, TOP + ROW / 2 + ROW * len(rows))
    n_points = len(axis.values)
    step = CELLS_WIDTH / n_points
    ticks = [
        (float(at), short(axis.values[at]))
        for at in sorted({0, n_points // 3, 2 * n_points // 3, n_points - 1})
    ]
    chart = Chart(box, linear(-0.5, n_points - 0.5, ticks=ticks), linear(0, 1, ticks=[]))
    shapes = chart.axes(axis.parameter, "")
    largest = max((value for row in rows for value in row), default=0.0)
    for number, (name, row) in enumerate(zip(shown, rows, strict=True)):
        top = box.top + ROW * number
        shapes.append(line((box.left, top + ROW), (box.right, top + ROW), "grid"))
        shapes.append(Text(x=left - 8, y=top + 0.68 * ROW, text=name, anchor="end"))
        for at, value in enumerate(row):
            if value > 0.0:
                shapes.append(_cell((left + at * step, top), step, value / largest))
    shapes += _chosen(axis._replace(values=range(n_points)), chart)
    label = f"Sentences that are selected along {axis.parameter}."
    Drawing(shapes, label, box.right + RIGHT, box.bottom + BOTTOM).save(path)


def _cell(corner: tuple[float, float], width: float, share: float) -> Shape:
    """A filled cell, the darker the larger the share."""
    x, y = corner
    corners = ((x + 1, y + 4), (x + width - 1, y + 4), (x + width - 1, y + ROW - 4))
    points = (*corners, (x + 1, y + ROW - 4))
    level = -(-share * SHADES // 1) / SHADES
    mixed = "".join(
        f"{round(255 - (255 - int(SERIES[0][at : at + 2], 16)) * (0.15 + 0.85 * level)):02x}"
        for at in (1, 3, 5)
    )
    return Outline(points=points, closed=True, style="dot", color=f"#{mixed}")


def _chosen(axis: PathAxis, chart: Chart) -> list[Shape]:
    """The line of the chosen point, and its name above."""
    x, box = chart.x(axis.values[axis.chosen]), chart.box
    return [
        line((x, box.bottom), (x, box.top), "ideal"),
        Text(x=x, y=box.top - 6, text="chosen", anchor="middle", style="tick"),
    ]


def plot_path(shown: SolutionPath | PathTable, path: str | os.PathLike[str]) -> None:
    """Draw a regularization path, or a table of one.

    A path is drawn as the metric over the number of features, or over the parameter where all
    models have as many. A table is a line for each column, the fullest model at the right; that of
    sentences a row for each, filled where it is selected, darker for a larger norm. Of more than 30
    sentences the number that is selected is drawn as a line.

    Parameters
    ----------
    shown : SolutionPath or PathTable
        ``model.path``, or a table such as ``model.path.coefficients()``.
    path : str or path-like
        File to write, ``.svg`` or ``.png``.

    Raises
    ------
    UsageError
        If there is nothing to draw, or the picture cannot be written.
    """
    if isinstance(shown, SolutionPath):
        _plot_points(shown, path)
        return
    axis = PathAxis(shown.parameter, shown.values, shown.chosen)
    columns = shown.array.T.tolist()
    if not isinstance(shown, SentencePath):
        if not shown.names:
            raise UsageError(f"there is no {shown.quantity} to draw: ask for a column.")
        lines_along(axis, shown.names, columns, path, title=shown.quantity)
        return
    if not shown.sentences:
        raise UsageError("the documents have no sentences to draw.")
    if len(shown.sentences) <= SENTENCES_SHOWN:
        rows_along(axis, shown.sentences, columns, path)
        return
    title = f"selected of {len(shown.sentences):,} sentences"
    lines_along(axis, [""], [[float(count) for count in shown.counts]], path, title=title)


def _plot_points(shown: SolutionPath, path: str | os.PathLike[str]) -> None:
    """The metric of each model of a path."""
    sizes = [float(point.nonzero) for point in shown.points]
    metrics = [point.metrics[shown.metric] for point in shown.points]
    if len(set(sizes)) > 1:
        by_size = Series("", sizes, metrics, shown.chosen)
        metric_by_size([by_size], path, metric=shown.metric)
        return
    by_parameter = Series(shown.parameter, shown.values, metrics, shown.chosen)
    title = f"{shown.parameter} (all models have {sizes[0]:,.0f} features)"
    metric_by_size([by_parameter], path, metric=shown.metric, size=title, scale="strengths")
