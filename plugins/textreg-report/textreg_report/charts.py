"""Pictures in files, drawn by matplotlib: accuracy by size, learning curves, paths."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.model.regularization_path import PathTable, SentencePath, SolutionPath
from textreg_report.wording import clip, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable for all common forms of color vision (Okabe & Ito 2008), in print and on screen.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = "osD^vPX"
QUIET, FAINT = "#5b5f69", "#c3c7cf"

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


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for a wrong ending; commands call it before a long training."""
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: pictures are .svg or .png files: give it such an ending.")


def draw(
    path: str | os.PathLike[str],
    title: str,
    fill: Callable[[Sequence[Axes]], None],
    *,
    panels: int = 1,
    size: tuple[float, float] | None = None,
) -> None:
    """Write a picture whole or not at all.

    Parameters
    ----------
    path : str or path-like
        File to write, ``.svg`` or ``.png``.
    title : str
        What the picture shows, for the file's metadata.
    fill : callable
        Draws into the panels, which stand two in a row.
    panels : int
        Their number.
    size : (float, float), optional
        Inches of each.

    Raises
    ------
    UsageError
        If the picture cannot be written.
    """
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns, kind = min(2, panels), Path(path).suffix.lower()[1:]
    rows = -(-panels // columns)
    width, height = size or (ONE if panels == 1 else PANEL)
    with rc_context(STYLE):
        figure: Figure = Figure((width * columns, height * rows), layout="constrained")
        fill([figure.add_subplot(rows, columns, at + 1) for at in range(panels)])
        written = {"Title": title, "Date": None} if kind == "svg" else {"Software": None}
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=200, metadata=written)
    write_atomically(Path(path), file.getvalue())


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
    path: str | os.PathLike[str],
    titles: tuple[str, str],
    *,
    scales: tuple[str, str] = ("counts", "linear"),
    chosen: float | None = None,
) -> None:
    """Draw lines in one or several panels, with bars for their intervals.

    The same name has the same color and marker in all panels. Chosen points have a ring.

    Parameters
    ----------
    panels
        The lines of each panel, by its title.
    path
        File to write, ``.svg`` or ``.png``.
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
    title = f"{y_title} against {x_title}: {', '.join(filter(None, names))}"
    if len(panels) > 1:
        title += f" on {', '.join(panels)}"
    draw(path, f"{title}.", fill, panels=len(panels), size=size)


def _set_scale(axes: Axes, which: str, kind: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic for counts and strengths; 0 lies half a decade below the least."""
    if kind == "linear":
        return
    least = min((value for value in values if value > 0), default=1.0)
    some = {"value": "log"} if min(values) > 0 else {"value": "symlog", "linthresh": least}
    getattr(axes, f"set_{which}scale")(**some)
    axis = getattr(axes, f"{which}axis")
    close = max(values) < DECADES * least
    axis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0) if close else (1.0,))
    axis.set_major_formatter("{x:,.0f}" if kind == "counts" else "{x:g}")
    axis.set_minor_formatter("")
    axis.set_inverted(kind == "falling")


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
    columns, values = shown.array.T.tolist(), list(shown.values)
    title, names = shown.quantity, list(shown.names)
    if isinstance(shown, SentencePath):
        if not shown.sentences:
            raise UsageError("the documents have no sentences to draw.")
        if len(shown.sentences) <= SENTENCES_SHOWN:
            _plot_sentences(shown, path)
            return
        title, names = f"selected of {len(shown.sentences):,} sentences", [""]
        columns = [list(map(float, shown.counts))]
    elif not names:
        raise UsageError(f"there is no {shown.quantity} to draw: ask for a column.")
    falling = len(values) > 1 and values[0] > values[-1]
    draw_lines(
        {"": [Series(name, values, each) for name, each in zip(names, columns, strict=True)]},
        path,
        (shown.parameter, title),
        scales=("falling" if falling else "counts", "linear"),
        chosen=values[shown.chosen],
    )


def _plot_points(shown: SolutionPath, path: str | os.PathLike[str]) -> None:
    """The metric of each model of a path."""
    sizes = [float(point.nonzero) for point in shown.points]
    metrics = [point.metrics[shown.metric] for point in shown.points]
    if len(set(sizes)) > 1:
        by_size = Series("", sizes, metrics, shown.chosen)
        draw_lines({"": [by_size]}, path, (FEATURES, shown.metric))
        return
    by_parameter = Series(shown.parameter, shown.values, metrics, shown.chosen)
    title = f"{shown.parameter} (all models have {sizes[0]:,.0f} features)"
    draw_lines({"": [by_parameter]}, path, (title, shown.metric), scales=("strengths", "linear"))


def _plot_sentences(shown: SentencePath, path: str | os.PathLike[str]) -> None:
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
    draw(path, f"Sentences that are selected along {shown.parameter}.", fill, size=size)


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
