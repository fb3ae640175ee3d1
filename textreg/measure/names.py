"""Names beside the points of a picture, where they cover neither each other nor what is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

UNREADABLE, HIDDEN = 5, 2
"""What it costs to cover another name or leave the panel, and to cover a mark; a line costs 1."""

PLACES = (
    *((7, 0), (-7, 0), (0, 8), (0, -8), (7, 8), (7, -8), (-7, 8), (-7, -8)),
    *((dx, dy) for far in (20, 34, 48) for dy in (far, -far) for dx in (7, -7, 28, -28, 49, -49)),
)
"""Where a name goes, in order of liking: points from the mark to the name's nearest edges; 0 for
its middle."""

NEAR = 8
"""Points above or below its mark from which on a line leads to a name."""

POINT, BESIDE = 4, 30
"""Pixels: half a mark's size, and how far a name may reach over its panel's right edge."""

Point = tuple[float, float]


class Name(NamedTuple):
    """A name, where its mark is on the axes, and its color."""

    text: str
    at: Point
    color: str


def write_names(axis: Axes, names: Sequence[Name], lines: Sequence[Sequence[Point]] = ()) -> None:
    """Write each name beside its mark, at the first of PLACES where it covers least.

    lines: those that are drawn, by their corners. The picture must have been laid out.
    """
    from matplotlib.transforms import Bbox

    marks: list[Point] = [tuple(axis.transData.transform(name.at).tolist()) for name in names]
    points = [Bbox.from_bounds(x - POINT, y - POINT, 2 * POINT, 2 * POINT) for x, y in marks]
    drawn = [box for line in lines for box in _pieces(axis, line)]
    written: list[Bbox] = []
    leads: list[Path] = []
    for number, (name, mark) in enumerate(zip(names, marks, strict=True)):
        width, height = _size(axis, name.text)
        others = points[:number] + points[number + 1 :]
        best = None
        for place in PLACES:
            box = _box(axis, mark, place, width, height)
            lead = _lead(mark, box, place)
            covered = sum(box.overlaps(other) for other in drawn)
            covered += HIDDEN * sum(box.overlaps(other) for other in others)
            covered += UNREADABLE * sum(box.overlaps(other) for other in written)
            covered += UNREADABLE * _outside(axis, box)
            covered += sum(other.intersects_bbox(box) for other in leads)
            covered += sum(each.intersects_bbox(other) for each in lead for other in written)
            if best is None or covered < best[0]:
                best = covered, place, box, lead
            if not covered:
                break
        assert best is not None
        _, place, box, lead = best
        written.append(box)
        leads += lead
        _write(axis, name, place)


def _pieces(axis: Axes, line: Sequence[Point]) -> list[Bbox]:
    """Small boxes along a line."""
    import numpy as np
    from matplotlib.transforms import Bbox

    boxes = []
    for start, end in itertools.pairwise(axis.transData.transform(np.array(line))):
        steps = np.linspace(0, 1, 2 + int(np.hypot(*(end - start)) / 5))[:, None]
        middles = start + steps * (end - start)
        boxes += [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in middles]
    return boxes


def _size(axis: Axes, text: str) -> tuple[float, float]:
    """Width and height of a text in pixels."""
    trial = axis.text(0, 0, text)
    extent = trial.get_window_extent()
    trial.remove()
    return extent.width, extent.height


def _box(axis: Axes, mark: Point, place: tuple[int, int], width: float, height: float) -> Bbox:
    """Where a name of that size would be, in pixels."""
    from matplotlib.transforms import Bbox

    pixels = axis.figure.dpi / 72
    x, y = (at + move * pixels for at, move in zip(mark, place, strict=True))
    # The share of the name that lies to the left of, or below, that point.
    left, below = ((1 - (move > 0) + (move < 0)) / 2 for move in place)
    return Bbox.from_bounds(x - left * width, y - below * height, width, height)


def _lead(mark: Point, box: Bbox, place: tuple[int, int]) -> list[Path]:
    """The line to a name that is not near."""
    from matplotlib.path import Path

    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    return [Path([mark, middle])] if abs(place[1]) > NEAR else []


def _outside(axis: Axes, box: Bbox) -> int:
    """How many of its panel's edges a name crosses."""
    frame = axis.get_window_extent()
    right = min(frame.x1 + BESIDE, axis.figure.bbox.x1 - POINT)
    return sum((box.x0 < frame.x0, box.x1 > right, box.y0 < frame.y0, box.y1 > frame.y1))


def _write(axis: Axes, name: Name, place: tuple[int, int]) -> None:
    dx, dy = place
    label = axis.annotate(
        name.text,
        name.at,
        place,
        textcoords="offset points",
        ha="left" if dx > 0 else "right" if dx else "center",
        va="bottom" if dy > 0 else "top" if dy else "center",
        color=name.color,
        arrowprops={"arrowstyle": "-", "color": name.color, "lw": 0.5} if abs(dy) > NEAR else None,
        zorder=5,
    )
    label.set_in_layout(False)  # or the panel would shrink, and its points move
