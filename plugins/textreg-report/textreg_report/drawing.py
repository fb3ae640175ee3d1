"""Drawings: lists of shapes that become part of a page, an SVG file or a PNG file."""

from __future__ import annotations

import io
import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textreg.errors import UsageError
from textreg.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.artist import Artist

# Distinguishable for all common forms of color vision (Okabe & Ito 2008), in print and on screen.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("circle", "square", "diamond", "up", "down", "plus", "cross")

FONT = "DejaVu Sans"  # ships with matplotlib, so PNG files look the same everywhere
FONT_SIZE = 12.5

PALETTE = {
    "text": "#1c1d21",
    "quiet": "#5b5f69",
    "line": "#dfe1e6",
    "back": "#ffffff",
    "for": SERIES[0],
    "against": SERIES[1],
    "band": "#e6eef7",
    "count": "#d5dae2",
}
"""Colors by name. A page has its own values, which depend on its theme, as CSS variables."""

STYLES: Mapping[str, Mapping[str, str | float]] = {
    "title": {"fill": "text"},
    "tick": {"fill": "quiet", "font-size": 11.5},
    "strong": {"fill": "text", "font-weight": 600},
    "halo": {
        "paint-order": "stroke",
        "stroke": "back",
        "stroke-width": 4,
        "stroke-linejoin": "round",
    },
    "background": {"fill": "back"},
    "grid": {"stroke": "line"},
    "axis": {"stroke": "quiet"},
    "ideal": {"stroke": "quiet", "stroke-dasharray": "5 4"},
    "leader": {"stroke": "quiet", "stroke-width": 0.7},
    "curve": {"fill": "none", "stroke": "for", "stroke-width": 2},
    "thin": {"stroke-opacity": 0.45, "stroke-width": 1.5},
    "error": {"stroke": "for", "stroke-width": 1.5},
    "wide": {"stroke-width": 3},
    "dot": {"fill": "for"},
    "faint": {"fill-opacity": 0.55},
    "ring": {"fill": "none", "stroke": "against", "stroke-width": 2.5},
    "band": {"fill": "band"},
    "count": {"fill": "count"},
    "for": {"fill": "for"},
    "against": {"fill": "against"},
}
"""SVG properties of every style; colors are names of PALETTE. Later styles of a shape win."""


def properties(styles: str, color: str | None = None) -> dict[str, str | float]:
    """SVG properties of space-separated styles; ``color`` replaces their fill, or else stroke."""
    merged: dict[str, str | float] = {}
    for style in styles.split():
        merged.update(STYLES[style])
    merged = {key: PALETTE.get(str(value), value) for key, value in merged.items()}
    if color is not None:
        merged["stroke" if merged.get("fill", "none") == "none" else "fill"] = color
    return merged


def page_css() -> str:
    """Rules for charts inside a page, with the page's variables as colors."""
    rules = []
    for style, table in STYLES.items():
        written = []
        for key, value in table.items():
            if value in PALETTE:
                value = f"var(--{value})"
            written.append(f"{key}: {value}{'px' if key == 'font-size' else ''};")
        rules.append(f"svg .{style} {{ {' '.join(written)} }}\n")
    return "".join(rules)


FORMATS = (".svg", ".png")
UNITS_PER_INCH = 100
POINTS_PER_UNIT = 72 / UNITS_PER_INCH
PNG_DPI = 200

XY = tuple[float, float]

# Corners of the markers that are not circles, around (0, 0), for a radius of 1.
_POLYGONS: dict[str, tuple[XY, ...]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "up": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "down": ((0, 1.15), (-1.1, -0.85), (1.1, -0.85)),
    "plus": (
        *((-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4)),
        *((0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4)),
    ),
    "cross": (
        *((0, -0.55), (0.55, -1.1), (1.1, -0.55), (0.55, 0), (1.1, 0.55), (0.55, 1.1)),
        *((0, 0.55), (-0.55, 1.1), (-1.1, 0.55), (-0.55, 0), (-1.1, -0.55), (-0.55, -1.1)),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What all shapes have.

    style: names of :data:`textreg_report.drawing.STYLES`, separated by spaces. color: replaces the
    color of the style. tooltip: text that a page shows while the pointer is on the shape.
    """

    style: str
    color: str | None = None
    tooltip: str = ""

    def element(self) -> tuple[str, dict[str, Any]]:
        """Name and attributes of the SVG element, without its style."""
        raise NotImplementedError

    def artist(self, look: dict[str, Any]) -> Artist:
        """The same for matplotlib; look: the SVG properties of the style."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Outline(Shape):
    """Straight lines through points; closed: back to the first, which makes a polygon."""

    points: Sequence[XY]
    closed: bool = False

    def element(self) -> tuple[str, dict[str, Any]]:
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)
        return "path", {"d": f"M{corners}{'Z' if self.closed else ''}"}

    def artist(self, look: dict[str, Any]) -> Artist:
        from matplotlib.patches import Polygon

        return Polygon(self.points, closed=self.closed, **_patch_options(look))


@dataclass(frozen=True, kw_only=True)
class Circle(Shape):
    """A circle around a point."""

    x: float
    y: float
    radius: float

    def element(self) -> tuple[str, dict[str, Any]]:
        return "circle", {"cx": self.x, "cy": self.y, "r": self.radius}

    def artist(self, look: dict[str, Any]) -> Artist:
        from matplotlib import patches

        return patches.Circle((self.x, self.y), self.radius, **_patch_options(look))


@dataclass(frozen=True, kw_only=True)
class Text(Shape):
    """A line of text; x, y: the point on its baseline that ``anchor`` names.

    anchor: "start", "middle" or "end". turned: written from bottom to top.
    """

    x: float
    y: float
    text: str
    anchor: str = "start"
    turned: bool = False
    style: str = "title"

    def element(self) -> tuple[str, dict[str, Any]]:
        attributes: dict[str, Any] = {"x": self.x, "y": self.y}
        if self.anchor != "start":
            attributes["text-anchor"] = self.anchor
        if self.turned:
            attributes["transform"] = f"rotate(-90 {self.x:g} {self.y:g})"
        return "text", attributes

    def artist(self, look: dict[str, Any]) -> Artist:
        from matplotlib import text
        from matplotlib.patheffects import withStroke

        sides: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}
        halo = withStroke(
            linewidth=_points(look.get("stroke-width", 0)), foreground=look.get("stroke")
        )
        return text.Text(
            self.x,
            self.y,
            self.text,
            color=look["fill"],
            fontsize=_points(look.get("font-size", FONT_SIZE)),
            fontweight="bold" if "font-weight" in look else "normal",
            horizontalalignment=sides[self.anchor],
            rotation=90 if self.turned else 0,
            rotation_mode="anchor",
            path_effects=[halo] if "stroke" in look else [],
            parse_math=False,
        )


def line(start: XY, end: XY, style: str, color: str | None = None) -> Outline:
    """One straight line."""
    return Outline(points=(start, end), style=style, color=color)


def rectangle(upper_left: XY, lower_right: XY, style: str, tooltip: str = "") -> Outline:
    """A rectangle, by two of its corners."""
    (left, top), (right, bottom) = upper_left, lower_right
    points = ((left, top), (right, top), (right, bottom), (left, bottom))
    return Outline(points=points, closed=True, style=style, tooltip=tooltip)


def marker(name: str, center: XY, radius: float, color: str) -> Shape:
    """One of :data:`textreg_report.drawing.MARKERS`."""
    x, y = center
    if name == "circle":
        return Circle(x=x, y=y, radius=radius, style="dot", color=color)
    points = [(x + radius * dx, y + radius * dy) for dx, dy in _POLYGONS[name]]
    return Outline(points=points, closed=True, style="dot", color=color)


@dataclass(frozen=True)
class Drawing:
    """Shapes on a canvas; label: says in words what they show."""

    shapes: Sequence[Shape]
    label: str
    width: float
    height: float

    def inline_svg(self, **attributes: str) -> str:
        """An ``<svg>`` element for a page, styled by its classes (:func:`.style.page_css`).

        Without a label it is hidden from screen readers. attributes: more of the element.
        """
        named = {"role": "img", "aria-label": self.label} if self.label else {"aria-hidden": "true"}
        return ET.tostring(self._svg({**named, "class": "chart", **attributes}), encoding="unicode")

    def file_svg(self) -> str:
        """The text of an SVG file; its text can be selected."""
        head = {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": f"{self.width:g}",
            "height": f"{self.height:g}",
            "role": "img",
            "aria-label": self.label,
            "font-family": f"'{FONT}', sans-serif",
            "font-size": f"{FONT_SIZE:g}",
        }
        svg = self._svg(head, classes=False)
        ET.indent(svg, "")
        return ET.tostring(svg, encoding="unicode") + "\n"

    def png(self) -> bytes:
        """The bytes of a PNG file, drawn by matplotlib."""
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context({"font.family": FONT}):
            figure = Figure(figsize=(self.width / UNITS_PER_INCH, self.height / UNITS_PER_INCH))
            axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
            axes.set_axis_off()
            for order, shape in enumerate(self._on_background()):
                artist = shape.artist(properties(shape.style, shape.color))
                axes.add_artist(artist).set_zorder(order)
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=PNG_DPI, metadata={"Software": None})
        return file.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an SVG or PNG file, whole or not at all; UsageError as :func:`check_picture`."""
        check_picture(path)
        png = Path(path).suffix.lower() == ".png"
        write_atomically(Path(path), self.png() if png else self.file_svg().encode())

    def _svg(self, head: dict[str, str], *, classes: bool = True) -> ET.Element:
        svg = ET.Element("svg", {"viewBox": f"0 0 {self.width:g} {self.height:g}", **head})
        for shape in self.shapes if classes else self._on_background():
            name, attributes = shape.element()
            # A color of its own cannot come from a class, and pages allow no style attributes.
            if classes and shape.color is None:
                attributes["class"] = shape.style
            else:
                attributes.update(properties(shape.style, shape.color))
            written = {key: _number(value) for key, value in attributes.items()}
            element = ET.SubElement(svg, name, written)
            if isinstance(shape, Text):
                element.text = shape.text
            if shape.tooltip:
                ET.SubElement(element, "title").text = shape.tooltip
        return svg

    def _on_background(self) -> list[Shape]:
        """The shapes of a file; a page has a background of its own."""
        return [rectangle((0, 0), (self.width, self.height), "background"), *self.shapes]


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise UsageError where no picture can be written to ``path``.

    Commands call it before a long training: for a wrong ending and where matplotlib is missing.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: pictures are .svg or .png files: give it such an ending.")
    try:
        import matplotlib  # noqa: F401  # only to know whether it is there
    except ImportError:
        raise UsageError(
            "pictures are drawn by matplotlib, which is not installed: pip install "
            "'textreg[report]'"
        ) from None


@cache
def text_width(text: str) -> float:
    """Width of a line of text in :data:`textreg_report.drawing.FONT`, in user units."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=FONT_SIZE)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _number(value: object) -> str:
    """A text as it is, a number with at most two decimals."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def _points(units: Any) -> float:
    return float(units) * POINTS_PER_UNIT


def _patch_options(look: dict[str, Any]) -> dict[str, Any]:
    """SVG properties in matplotlib's names and units."""
    dashes = tuple(map(float, look.get("stroke-dasharray", "").split()))
    return {
        "facecolor": look.get("fill", "none"),
        "edgecolor": look.get("stroke", "none"),
        "linewidth": _points(look.get("stroke-width", 1)),
        "linestyle": (0, dashes) if dashes else "-",
        "alpha": look.get("fill-opacity", look.get("stroke-opacity")),
    }
