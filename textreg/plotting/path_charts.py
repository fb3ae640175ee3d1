"""Charts of what changes along a regularization path: lines, and rows that are filled in part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from textreg.plotting.axes import Box, Chart, Scale, counts, linear, padded, strengths
from textreg.plotting.charts import BOTTOM, HEIGHT, LEFT, RIGHT, ROOM, TOP, WIDTH, look
from textreg.plotting.drawing import (
    Drawing,
    Outline,
    Shape,
    Text,
    check_picture,
    line,
    marker,
    text_width,
)
from textreg.plotting.labels import Label, cut, labels_at_ends
from textreg.plotting.number_format import short
from textreg.plotting.style import SERIES

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
