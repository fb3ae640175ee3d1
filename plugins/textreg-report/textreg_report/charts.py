"""Charts: of files, drawn by matplotlib, and of pages, whose shapes and text follow their theme.

Files have accuracy by size, learning curves and paths. Those of pages are SVG elements, so that
text can be selected, and a page needs neither matplotlib nor fonts of its own.
"""

from __future__ import annotations

import io
import math
import os
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.measure.decisions import Reliability, Selective
from textreg.model.regularization_path import PathTable, SentencePath, SolutionPath
from textreg.terminal import visible
from textreg_report.page import Estimate, Section, clip, minus, short, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable for all common forms of color vision (Okabe & Ito 2008), in print and on screen.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = "osD^vPX"
QUIET = "#5b5f69"

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib, so pictures look the same everywhere
    "font.size": 9,
    "svg.fonttype": "none",  # text that can be selected
    "svg.hashsalt": "textreg",  # the same picture gives the same file
    "axes.edgecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "grid.color": "#dfe1e6",
    "ytick.left": False,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
}
FORMATS = (".svg", ".png")
# Inches of a picture with one panel, and of each of several.
ONE, PANEL = (6.4, 4.0), (4.4, 3.2)

# Title of the axis of sizes.
FEATURES = "features with a weight"

# Sentences of a picture of selected sentences.
SENTENCES_SHOWN = 30

# Characters of a name in a legend, and of a sentence.
NAME, SENTENCE = 36, 60

# Ratio of the ends of a logarithmic axis up to which 2 and 5 have ticks beside 1, 10 and so on.
DECADES = 300.0


class Series(NamedTuple):
    """A line, by the coordinates of its points, the index of a chosen point, and intervals."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    chosen: int | None = None
    intervals: Sequence[tuple[float, float] | None] = ()


class Picture(NamedTuple):
    """A picture that a notebook shows: its title, the bytes of a file, and ``svg`` or ``png``."""

    title: str
    data: bytes
    kind: str

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str | bytes]:
        svg = self.kind == "svg"
        return {"image/svg+xml": self.data.decode()} if svg else {"image/png": self.data}


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for a wrong ending; commands call it before a long training."""
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: pictures are .svg or .png files: give it such an ending.")


def draw(
    path: str | os.PathLike[str] | None,
    title: str,
    fill: Callable[[Sequence[Axes]], None],
    *,
    size: tuple[float, float],
    panels: int = 1,
) -> Picture:
    """Make a picture, and write it whole or not at all.

    Parameters
    ----------
    path : str or path-like, optional
        File to write, ``.svg`` or ``.png``.
    title : str
        What the picture shows, for the file's metadata.
    fill : callable
        Draws into the panels, which stand two in a row.
    size : (float, float)
        Inches of each.
    panels : int
        Their number.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    if path is not None:
        check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns, kind = min(2, panels), "svg" if path is None else Path(path).suffix.lower()[1:]
    rows = -(-panels // columns)
    width, height = size
    with rc_context(STYLE):
        figure: Figure = Figure((width * columns, height * rows), layout="constrained")
        fill([figure.add_subplot(rows, columns, at + 1) for at in range(panels)])
        written = {"Title": title, "Date": None} if kind == "svg" else {"Software": None}
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=200, metadata=written)
    if path is not None:
        write_atomically(Path(path), file.getvalue())
    return Picture(title, file.getvalue(), kind)


def look(number: int) -> tuple[str, str]:
    """Color and marker of a series; no two are the same until both have been used up."""
    form = MARKERS[(number + number // len(SERIES)) % len(MARKERS)]
    return SERIES[number % len(SERIES)], form


def short_names(names: Iterable[str], length: int = NAME) -> dict[str, str]:
    """Names by what is shown of them: those whose beginnings are the same show their ends."""
    shown = {name: clip(name, length) for name in names}
    several = Counter(shown.values())
    return {
        name: start if several[start] == 1 else "…" + name[1 - length :]
        for name, start in shown.items()
    }


def draw_lines(
    panels: Mapping[str, Sequence[Series]],
    path: str | os.PathLike[str] | None,
    titles: tuple[str, str],
    *,
    scales: tuple[str, str] = ("counts", "linear"),
    chosen: float | None = None,
) -> Picture:
    """Draw lines in one or several panels, with bars for their intervals.

    The same name has the same color and marker in all panels. Chosen points have a ring.

    Parameters
    ----------
    panels
        The lines of each panel, by its title.
    path
        File to write, ``.svg`` or ``.png``; none if it is None.
    titles
        Titles of the axes.
    scales
        Of both axes: "linear"; or logarithmic, for "counts" or "strengths", or those "falling" from
        left to right.
    chosen
        The value that a vertical line marks.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    names = dict.fromkeys(each.name for series in panels.values() for each in series)
    looks, shown = {name: look(at) for at, name in enumerate(names)}, short_names(names)
    x_title, y_title = titles
    bars = any(each.intervals for series in panels.values() for each in series)

    def fill(places: Sequence[Axes]) -> None:
        legend: dict[str, Any] = {}
        for axes, (title, series) in zip(places, panels.items(), strict=True):
            axes.set_title(title, parse_math=False)
            axes.set_xlabel(x_title, parse_math=False)
            label = f"{y_title} (bars: 95 % intervals)" if bars else y_title
            axes.set_ylabel(label, parse_math=False)
            _set_scale(axes, "x", scales[0], [x for each in series for x in each.x])
            _set_scale(axes, "y", scales[1], [y for each in series for y in each.y])
            for number, each in enumerate(series):
                color, form = looks[each.name]
                # Bars of one size stand side by side.
                shift = 1.01 ** (number - (len(series) - 1) / 2) if bars else 1.0
                xs = [shift * x for x in each.x]
                for x, interval in zip(xs, each.intervals, strict=False):
                    axes.vlines(x, *(interval or (np.nan, np.nan)), color=color)
                (line,) = axes.plot(xs, each.y, marker=form, color=color, markersize=4)
                legend[shown[each.name]] = line
                if each.chosen is not None:
                    x, y = xs[each.chosen], each.y[each.chosen]
                    (ring,) = axes.plot(x, y, "o", color=color, markersize=10, fillstyle="none")
                    ring.set_gid(f"chosen-{number}")
                    what = f"{x:,.0f} features" if scales[0] == "counts" else f"{each.name} {x:g}"
                    if len(series) == 1:
                        legend[f"chosen: {what}, {y:.3f}"] = ring
            if chosen is not None:
                _mark_chosen(axes, chosen)
        legend.pop("", None)
        # A label that begins with an underscore would be left out.
        labels = [f" {name}" if name.startswith("_") else name for name in legend]
        beside = places[0].figure.legend([*legend.values()], labels, loc="outside right upper")
        for text in beside.get_texts():
            text.set_parse_math(False)

    width, height = ONE if len(panels) == 1 else PANEL
    size = width + 0.05 * max(24, *map(len, shown.values())), height
    named = ", ".join(filter(None, names))
    title = f"{y_title} against {x_title}" + (f": {named}" if named else "")
    if len(panels) > 1:
        title += f" on {', '.join(panels)}"
    return draw(path, f"{title}.", fill, panels=len(panels), size=size)


def _set_scale(axes: Axes, which: str, kind: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic for counts and strengths; 0 lies half a decade below the least."""
    if kind == "linear":
        return
    least = min((value for value in values if value > 0), default=1.0)
    options = {"value": "log"} if min(values) > 0 else {"value": "symlog", "linthresh": least}
    getattr(axes, f"set_{which}scale")(**options)
    axis = getattr(axes, f"{which}axis")
    close = max(values) < DECADES * least
    axis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0) if close else (1.0,))
    axis.set_major_formatter("{x:,.0f}" if kind == "counts" else "{x:g}")
    axis.set_minor_formatter("")
    axis.set_inverted(kind == "falling")


def plot_path(
    shown: SolutionPath | PathTable, path: str | os.PathLike[str] | None = None
) -> Picture:
    """Draw a regularization path, or a table of one.

    A path is drawn as the metric over the number of features, or over the parameter where all
    models have as many. A table is a line for each column, the fullest model at the right; that of
    sentences a row for each, filled where it is selected, darker for a larger norm. Of more than 30
    sentences the number that is selected is drawn as a line.

    Parameters
    ----------
    shown : SolutionPath or PathTable
        ``model.path``, or a table such as ``model.path.coefficients()``.
    path : str or path-like, optional
        File to write, ``.svg`` or ``.png``.

    Returns
    -------
    Picture
        It shows itself in a notebook.

    Raises
    ------
    UsageError
        If there is nothing to draw, or the picture cannot be written.
    """
    if isinstance(shown, SolutionPath):
        return _plot_points(shown, path)
    if not isinstance(shown, PathTable):
        raise UsageError("a path to draw is model.path of train(path=True), or a table of it.")
    columns, values = shown.array.T.tolist(), list(shown.values)
    title, names = shown.quantity, list(shown.names)
    if isinstance(shown, SentencePath):
        if not shown.sentences:
            raise UsageError("the documents have no sentences to draw.")
        if len(shown.sentences) <= SENTENCES_SHOWN:
            return _plot_sentences(shown, path)
        title, names = f"selected of {len(shown.sentences):,} sentences", [""]
        columns = [list(map(float, shown.counts))]
    elif not names:
        raise UsageError(f"there is no {shown.quantity} to draw: ask for a column.")
    falling = len(values) > 1 and values[0] > values[-1]
    return draw_lines(
        {"": [Series(name, values, each) for name, each in zip(names, columns, strict=True)]},
        path,
        (shown.parameter, title),
        scales=("falling" if falling else "counts", "linear"),
        chosen=values[shown.chosen],
    )


def _plot_points(shown: SolutionPath, path: str | os.PathLike[str] | None) -> Picture:
    """The metric of each model of a path."""
    sizes = [float(point.nonzero) for point in shown.points]
    metrics = [point.metrics[shown.metric] for point in shown.points]
    if len(set(sizes)) > 1:
        by_size = Series("", sizes, metrics, shown.chosen)
        return draw_lines({"": [by_size]}, path, (FEATURES, shown.metric))
    by_parameter = Series(shown.parameter, shown.values, metrics, shown.chosen)
    title = f"{shown.parameter} (all models have {sizes[0]:,.0f} features)"
    scales = "strengths", "linear"
    return draw_lines({"": [by_parameter]}, path, (title, shown.metric), scales=scales)


def _plot_sentences(shown: SentencePath, path: str | os.PathLike[str] | None) -> Picture:
    """A row of cells for each sentence, filled where it is selected, darker for a larger norm."""
    norms = shown.array.T
    places = sorted({0, len(shown.values) // 2, len(shown.values) - 1})
    sentences = [clip(text, SENTENCE) for text in shown.sentences]

    def fill(panels: Sequence[Axes]) -> None:
        (axes,) = panels
        filled = np.ma.masked_equal(norms, 0.0)
        axes.pcolormesh(filled, cmap="Blues", vmin=-0.2 * norms.max(), edgecolors="white")
        axes.set_xticks([at + 0.5 for at in places], [short(shown.values[at]) for at in places])
        axes.set_yticks(np.arange(len(norms)) + 0.5, sentences, parse_math=False)
        axes.set_xlabel(shown.parameter, parse_math=False)
        axes.invert_yaxis()
        _mark_chosen(axes, shown.chosen + 0.5)

    size = 9.0, 0.9 + 0.24 * len(norms)
    return draw(path, f"Sentences that are selected along {shown.parameter}.", fill, size=size)


def _mark_chosen(axes: Axes, x: float) -> None:
    """The line of the chosen point, and its name above."""
    axes.axvline(x, color=QUIET, linestyle="--", linewidth=0.8)
    axes.annotate(
        "chosen",
        (x, 1),
        xytext=(0, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        color=QUIET,
    )


XY = tuple[float, float]

WIDTH, HEIGHT = 420, 300
# Width for names at the ends of lines.
ROOM = 100


class Scale(NamedTuple):
    """Numbers along one axis, from ``low`` to ``high`` after ``transform``."""

    low: float
    high: float
    ticks: Sequence[float]
    transform: Callable[[float], float] = float

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        return (self.transform(value) - self.low) / ((self.high - self.low) or 1.0)


def linear(low: float, high: float, ticks: Sequence[float] | None = None) -> Scale:
    """Equal distances for equal differences, with about four round numbers as ticks."""
    if ticks is None and high > low:
        # The step among 1, 2, 5, 10 times a power of ten that is nearest to an equal division.
        rough = (high - low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda it: abs(it - rough))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        ticks = [round(number * step, 12) for number in range(first, last + 1)]
    return Scale(low, high, [low] if ticks is None else ticks)


def logarithmic(values: Sequence[float], *, margin: float = 0.0, falling: bool = False) -> Scale:
    """Equal distances for equal factors; 0 lies half a decade below the least number above it.

    margin: decades that are free at both ends. falling: the largest number comes first.
    """
    least = min((value for value in values if value > 0), default=1.0)
    sign = -1 if falling else 1

    def transform(value: float) -> float:
        return sign * math.log10(max(value, least / 10**0.5))

    low, *_, high = sorted(map(transform, (*values, max(values))))
    low, high = low - margin, high + margin
    steps = (1,) if high - low > 2.5 else (1, 2, 5)
    numbers = [step * 10.0**power for power in range(-12, 10) for step in steps]
    ticks = [it for it in numbers if it > 0.999 * least and low <= transform(it) <= high]
    return Scale(low, high, [0.0, *ticks] if min(values) <= 0 else ticks, transform)


class Chart:
    """An SVG element in the making: two scales laid over a box, and shapes of styles of the page.

    titles: of the axes, which are drawn with their ticks; none without them. right: where the box
    ends.
    """

    LEFT, TOP = 66, 14

    def __init__(
        self,
        x_scale: Scale,
        y_scale: Scale,
        titles: tuple[str, str] | None = None,
        *,
        right: float = WIDTH - 16,
        height: float = HEIGHT,
    ) -> None:
        self.x_scale, self.y_scale, self.right = x_scale, y_scale, right
        self.height, self.bottom = height, height - 46
        self.svg = ET.Element("svg")
        if titles is None:
            return
        for value in y_scale.ticks:
            at = self.y(value)
            self.line([(self.LEFT, at), (right, at)], "grid")
            self.text((self.LEFT - 6, at + 4), minus(f"{value:,g}"), "tick", "end")
        for value in x_scale.ticks:
            at = self.x(value)
            self.line([(at, self.bottom), (at, self.bottom + 4)], "axis")
            self.text((at, self.bottom + 17), minus(f"{value:,g}"), "tick")
        self.text(((self.LEFT + right) / 2, self.bottom + 38), titles[0], "title")
        left, middle = self.LEFT - 53, (self.TOP + self.bottom) / 2
        self.text((left, middle), titles[1], "title", transform=f"rotate(-90 {left} {middle:g})")

    def x(self, value: float) -> float:
        """Where a number lies from left to right."""
        return self.LEFT + self.x_scale.share(value) * (self.right - self.LEFT)

    def y(self, value: float) -> float:
        """Where a number lies from bottom to top; y of SVG points down."""
        return self.bottom - self.y_scale.share(value) * (self.bottom - self.TOP)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> list[XY]:
        """Where pairs of numbers lie."""
        return [(self.x(x), self.y(y)) for x, y in zip(xs, ys, strict=True)]

    def line(self, points: Sequence[XY], style: str) -> None:
        """Straight lines through points."""
        self._add("path", style, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))

    def rectangle(self, corner: XY, opposite: XY, style: str) -> None:
        """A rectangle, by its upper left corner and the lower right one."""
        (x, y), (right, bottom) = corner, opposite
        self._add("rect", style, x=x, y=y, width=right - x, height=bottom - y)

    def circle(self, center: XY, radius: float, style: str) -> None:
        """A circle around a point."""
        self._add("circle", style, cx=center[0], cy=center[1], r=radius)

    def text(self, at: XY, text: str, style: str, anchor: str = "middle", **more: str) -> None:
        """A line of text; ``anchor`` says which point of its baseline lies at a place."""
        self._add("text", style, x=at[0], y=at[1], text_anchor=anchor, **more).text = text

    def markup(self, label: str, width: float = WIDTH, **more: str) -> Markup:
        """The element as part of a page; hidden from screen readers without a label."""
        named = {"role": "img", "aria-label": minus(label)} if label else {"aria-hidden": "true"}
        box = f"0 0 {width:g} {self.height:g}"
        self.svg.attrib.update({"viewBox": box, "class": "chart", **named, **more})
        return Markup(shown(ET.tostring(self.svg, encoding="unicode")))

    def _add(self, name: str, style: str, **attributes: Any) -> ET.Element:
        written = {
            key.replace("_", "-"): it if isinstance(it, str) else f"{round(it, 2):g}"
            for key, it in attributes.items()
        }
        return ET.SubElement(self.svg, name, {**written, "class": style})


UNIT = linear(0, 1, (0, 0.25, 0.5, 0.75, 1))


def reliability_curve(reliability: Reliability) -> Markup:
    """Predicted probability against observed share, with 95 % intervals; columns: documents."""
    bins, what = reliability.bins, f"probability of {reliability.of or 'the predicted label'}"
    chart = Chart(UNIT, UNIT, (what, "observed share"))
    most = max(bin.documents for bin in bins)
    points = chart.points((bin.probability for bin in bins), (bin.share for bin in bins))
    for bin in bins:
        upper_left = chart.x(bin.low) + 1, chart.y(0.25 * bin.documents / most)
        chart.rectangle(upper_left, (chart.x(bin.high) - 1, chart.y(0)), "count")
    chart.line(chart.points([0, 1], [0, 1]), "ideal")
    chart.line(points, "curve")
    for bin, point in zip(bins, points, strict=True):
        ends = chart.y(bin.low_share), chart.y(bin.high_share)
        chart.line([(point[0], end) for end in ends], "error")
        chart.circle(point, 4, "dot")
    return chart.markup(
        f"Reliability curve: {what} against the observed share; the table below has the numbers."
    )


def search_path(section: Section, joined: bool = False) -> Markup:
    """The metric of every setting against its number of features; the chosen one has a ring.

    joined: connect the settings by a line, in their order.
    """
    sizes, values = [row.features for row in section.tried], [row.value for row in section.tried]
    best, low, high = section.tried[section.chosen], min(values), max(values)
    pad = 0.06 * (high - low) or 0.01
    titles = FEATURES, f"{section.metric}, held out"
    chart = Chart(logarithmic(sizes, margin=0.15), linear(low - pad, high + pad), titles)
    points = chart.points(sizes, values)
    if joined:
        chart.line(points, "curve thin")
    for point in points:
        chart.circle(point, 4, "dot faint")
    x, y = points[section.chosen]
    chart.circle((x, y), 8, "ring")
    inside = min(max(x, chart.LEFT + 42.0), chart.right - 42.0)
    place = inside, y - 15 if y > chart.TOP + 26 else y + 24
    chart.text(place, f"chosen: {best.features:,.0f}", "strong halo")
    return chart.markup(
        f"{section.metric} against the number of features of {len(section.tried)} settings; the "
        f"chosen one has {best.features:,.0f} features and {best.value:.4g}."
    )


def profiles(section: Section) -> Markup:
    """Weights of features along the path; leaders go from the ends of lines to their names."""
    weights = [weight for profile in section.profiles for weight in profile.weights]
    low, high = min(0.0, *weights), max(0.0, *weights)
    x_scale = logarithmic(section.values, falling=True)
    if section.whole:
        x_scale = linear(section.values[0], section.values[-1])
    y_scale, chosen = linear(low, high)._replace(high=high * 1.04), section.curve.chosen
    chart = Chart(x_scale, y_scale, (section.parameter, "weight"), right=WIDTH - 16 - ROOM)
    x = chart.x(section.values[chosen])
    chart.line([(x, chart.bottom), (x, chart.TOP)], "ideal")
    ends = []
    for profile in section.profiles:
        points = chart.points(section.values, profile.weights)
        chart.line(points, "curve")
        ends.append((points[-1][1], clip(visible(profile.feature), 15)))
    row = (chart.bottom - chart.TOP) / max(1, len(ends) - 1)
    for place, (y, name) in enumerate(sorted(ends)):
        height = chart.TOP + row * place
        chart.line([(chart.right + 1, y), (chart.right + 10, height)], "leader")
        chart.text((chart.right + 13, height + 4), name, "tick", "start")
    chosen_weights = ", ".join(
        f"{visible(profile.feature)} {profile.weights[chosen]:.3g}" for profile in section.profiles
    )
    return chart.markup(
        f"Weights of features along {section.parameter}; in the chosen model {chosen_weights}."
    )


def stability(result: Section) -> Markup:
    """Number of the model's features by the number of fits that selected them."""
    bars, most = range(len(result.histogram)), max(result.histogram) or 1
    titles = f"of {result.parts} fits selected the feature", "features of the model"
    chart = Chart(linear(-0.5, len(bars) - 0.5, bars), linear(0, most * 1.1), titles)
    for number, value in zip(bars, result.histogram, strict=True):
        y = chart.y(value)
        chart.rectangle((chart.x(number - 0.35), y), (chart.x(number + 0.35), chart.y(0)), "for")
        chart.text((chart.x(number), y - 4), f"{value:,}", "tick")
    counted = ", ".join(f"{value:,} in {number}" for number, value in enumerate(result.histogram))
    return chart.markup(
        f"Features of the model by the number of fits that selected them: {counted}."
    )


def risk_coverage(selective: Selective) -> Markup:
    """The share of errors among answered documents against the share of documents answered."""
    (coverages, risks), now = zip(*selective.curve, strict=True), selective.now
    titles = "coverage: share of documents answered", "risk: share of errors"
    chart = Chart(UNIT, linear(0, 1.05 * max(*risks, now.risk, 0.01)), titles)
    chart.line(chart.points(coverages, risks), "curve")
    chart.circle((chart.x(now.coverage), chart.y(now.risk)), 5, "dot")
    return chart.markup(
        f"Risk against coverage; in use coverage {now.coverage:.3f} with risk {now.risk:.3f}, and "
        f"risk {risks[-1]:.3f} if every document were answered."
    )


def interval(difference: Estimate) -> Markup:
    """A difference with its interval, and zero, in percentage points."""
    value, low, high = (100 * (it or 0.0) for it in difference[1:])
    left, right = min(low, 0.0), max(high, 0.0)
    margin = 0.12 * (right - left) or 1.0
    scale, titles = linear(left - margin, right + margin), ("difference in points", "")
    chart = Chart(scale, linear(0, 1, ()), titles, height=90)
    chart.line(chart.points([0, 0], [0, 1]), "axis")
    chart.line(chart.points([low, high], [0.5, 0.5]), "error wide")
    chart.circle((chart.x(value), chart.y(0.5)), 6, "dot")
    return chart.markup(f"Difference {value:+.2f} points, 95 % interval {low:+.2f} to {high:+.2f}.")


def bar(value: float, most: float, both: bool = False) -> Markup:
    """A bar of ``value`` on a scale that ends at ``most``; from the middle if ``both`` signs occur.

    Screen readers skip it: the number stands beside it.
    """
    share = min(1.0, abs(value) / most) if most else 0.0
    length = share * (50 if both else 100)
    start = 50 - (length if value < 0 else 0) if both else 0
    chart = Chart(UNIT, UNIT, height=10)
    chart.rectangle((start, 1), (start + length, 9), "for" if value >= 0 else "against")
    if both:
        chart.line([(50, 0), (50, 10)], "axis")
    return chart.markup("", 100, **{"class": "bar", "preserveAspectRatio": "none"})
