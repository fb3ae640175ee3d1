"""A drawing is a list of shapes. It becomes part of a page, an SVG file or a PNG file.

All three show the same shapes at the same coordinates, so a chart is laid out once. Coordinates
are SVG user units: x to the right, y down, 100 to the inch in a PNG file. matplotlib is imported
only to write PNG and to measure text.
"""

from __future__ import annotations

import html
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.plotting.style import FONT, FONT_SIZE, properties

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
UNITS_PER_INCH = 100
PNG_DPI = 200

XY = tuple[float, float]
Escape = Callable[[str], str]

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

    style: names of :data:`textreg.plotting.style.STYLES`, separated by spaces. color: replaces the
    color of the style. tooltip: text that a page shows while the pointer is on the shape.
    """

    style: str
    color: str | None = None
    tooltip: str = ""

    def element(self) -> tuple[str, dict[str, object], str]:
        """Name, attributes and text of the SVG element, without its style."""
        raise NotImplementedError

    def add_to(self, axes: Axes, look: dict[str, Any]) -> None:
        """Draw with matplotlib; ``look``: color, width and so on, as matplotlib names them."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Polyline(Shape):
    """Straight lines through points."""

    points: Sequence[XY]

    def element(self) -> tuple[str, dict[str, object], str]:
        if len(self.points) == 2:
            (x1, y1), (x2, y2) = self.points
            return "line", {"x1": x1, "x2": x2, "y1": y1, "y2": y2}, ""
        return "path", {"d": "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)}, ""

    def add_to(self, axes: Axes, look: dict[str, Any]) -> None:
        xs, ys = zip(*self.points, strict=True)
        axes.plot(
            xs,
            ys,
            color=look["edgecolor"],
            linewidth=look["linewidth"],
            linestyle=look["linestyle"],
            solid_capstyle="butt",
            alpha=look["alpha"],
            zorder=look["zorder"],
        )


def line(start: XY, end: XY, style: str, color: str | None = None) -> Polyline:
    """One straight line."""
    return Polyline(points=(start, end), style=style, color=color)


@dataclass(frozen=True, kw_only=True)
class Rect(Shape):
    """A rectangle, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def element(self) -> tuple[str, dict[str, object], str]:
        names = ("x", "y", "width", "height")
        return "rect", {name: getattr(self, name) for name in names}, ""

    def add_to(self, axes: Axes, look: dict[str, Any]) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(Rectangle((self.x, self.y), self.width, self.height, **look))


@dataclass(frozen=True, kw_only=True)
class Marker(Shape):
    """A mark of one of :data:`textreg.plotting.style.MARKERS`, by its middle."""

    x: float
    y: float
    radius: float
    marker: str = "circle"

    def element(self) -> tuple[str, dict[str, object], str]:
        if self.marker == "circle":
            return "circle", {"cx": self.x, "cy": self.y, "r": self.radius}, ""
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in self._corners())
        return "path", {"d": f"M{corners}Z"}, ""

    def add_to(self, axes: Axes, look: dict[str, Any]) -> None:
        from matplotlib.patches import Circle, Polygon

        if self.marker == "circle":
            axes.add_patch(Circle((self.x, self.y), self.radius, **look))
        else:
            axes.add_patch(Polygon(self._corners(), closed=True, **look))

    def _corners(self) -> list[XY]:
        return [
            (self.x + self.radius * dx, self.y + self.radius * dy)
            for dx, dy in _POLYGONS[self.marker]
        ]


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

    def element(self) -> tuple[str, dict[str, object], str]:
        attributes: dict[str, object] = {"x": self.x, "y": self.y}
        if self.anchor != "start":
            attributes["text-anchor"] = self.anchor
        if self.turned:
            attributes["transform"] = f"rotate(-90 {self.x:g} {self.y:g})"
        return "text", attributes, self.text

    def add_to(self, axes: Axes, look: dict[str, Any]) -> None:
        sides = {"start": "left", "middle": "center", "end": "right"}
        axes.text(
            self.x,
            self.y,
            self.text,
            color=look["facecolor"],
            fontsize=look["fontsize"],
            fontweight=look["fontweight"],
            horizontalalignment=sides[self.anchor],
            verticalalignment="baseline",
            rotation=90 if self.turned else 0,
            rotation_mode="anchor",
            path_effects=look["path_effects"],
            zorder=look["zorder"],
            parse_math=False,
        )


@dataclass(frozen=True)
class Drawing:
    """Shapes on a canvas; label: says in words what they show."""

    shapes: Sequence[Shape]
    label: str
    width: float
    height: float

    def inline_svg(self, escape: Escape = html.escape, **attributes: str) -> str:
        """An ``<svg>`` element for a page, styled by its classes (:func:`.style.page_css`).

        Without a label it is hidden from screen readers. attributes: more of the element.
        """
        named = {"role": "img", "aria-label": self.label} if self.label else {"aria-hidden": "true"}
        size = {"viewBox": f"0 0 {self.width:g} {self.height:g}"}
        head = {**size, **named, "class": "chart", **attributes}
        return _element("svg", head, self._body(escape, classes=True), escape)

    def file_svg(self) -> str:
        """The text of an SVG file; its text can be selected."""
        head = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {self.width:g} {self.height:g}",
            "width": f"{self.width:g}",
            "height": f"{self.height:g}",
            "role": "img",
            "aria-label": self.label,
            "font-family": f"'{FONT}', sans-serif",
            "font-size": f"{FONT_SIZE:g}",
        }
        background = {"width": "100%", "height": "100%", **properties("background")}
        body = _element("rect", background, "", html.escape) + "\n"
        body += self._body(html.escape, classes=False)
        return _element("svg", head, f"\n{body}", html.escape) + "\n"

    def png(self) -> bytes:
        """The bytes of a PNG file, drawn by matplotlib."""
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context({"font.family": FONT}):
            size = (self.width / UNITS_PER_INCH, self.height / UNITS_PER_INCH)
            figure = Figure(figsize=size, facecolor=properties("background")["fill"])
            axes = figure.add_axes((0, 0, 1, 1))
            axes.set(xlim=(0, self.width), ylim=(self.height, 0))
            axes.set_axis_off()
            for order, shape in enumerate(self.shapes):
                shape.add_to(axes, {**_look(shape), "zorder": order})
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=PNG_DPI, metadata={"Software": None})
        return file.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an SVG or PNG file, whole or not at all; UsageError as :func:`check_picture`."""
        check_picture(path)
        png = Path(path).suffix.lower() == ".png"
        write_atomically(Path(path), self.png() if png else self.file_svg().encode())

    def _body(self, escape: Escape, *, classes: bool) -> str:
        """The elements of all shapes, one a line in files."""
        elements = []
        for shape in self.shapes:
            name, attributes, text = shape.element()
            # A color of its own cannot come from a class, and pages allow no style attributes.
            if classes and shape.color is None:
                attributes["class"] = shape.style
            else:
                attributes.update(properties(shape.style, shape.color))
            content = f"{escape(text)}"  # no Markup, which would escape what is added
            if shape.tooltip:
                content += _element("title", {}, escape(shape.tooltip), escape)
            elements.append(_element(name, attributes, content, escape))
        return ("" if classes else "\n").join(elements)


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
def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width of a line of text in :data:`textreg.plotting.style.FONT`, in user units."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _element(name: str, attributes: dict[str, Any], content: str, escape: Escape) -> str:
    """An SVG element; ``content`` is escaped already."""
    written = "".join(
        f' {key}="{escape(_number(value))}"' for key, value in attributes.items() if value != ""
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _number(value: object) -> str:
    """A text as it is, a number with at most two decimals."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def _look(shape: Shape) -> dict[str, Any]:
    """The style of a shape in matplotlib's names and units."""
    table = properties(shape.style, shape.color)
    points = 72 / UNITS_PER_INCH
    if isinstance(shape, Text):
        from matplotlib.patheffects import withStroke

        effects = []
        if "stroke" in table:
            width = float(table["stroke-width"]) * points
            effects = [withStroke(linewidth=width, foreground=table["stroke"])]
        return {
            "path_effects": effects,
            "facecolor": table["fill"],
            "fontsize": float(table.get("font-size", FONT_SIZE)) * points,
            "fontweight": "bold" if "font-weight" in table else "normal",
        }
    dashes = [float(size) for size in str(table.get("stroke-dasharray", "")).split()]
    return {
        "facecolor": table.get("fill", "none"),
        "edgecolor": table.get("stroke", "none"),
        "linewidth": float(table.get("stroke-width", 1)) * points if "stroke" in table else 0.0,
        "linestyle": (0, tuple(dashes)) if dashes else "-",
        "alpha": table.get("fill-opacity", table.get("stroke-opacity")),
    }
