"""Pictures in files, drawn by matplotlib: accuracy by size, learning curves, paths."""

from __future__ import annotations

import io
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.model.regularization_path import PathTable, SentencePath, SolutionPath
from textreg_report.page_charts import Scale, counts, linear, padded, spread, strengths
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
}
FORMATS = (".svg", ".png")
ONE, PANEL = (6.4, 4.0), (4.4, 3.2)
"""Inches of a picture with one panel, and of each of several."""

SCALES = {"counts": counts, "strengths": strengths, "linear": padded}
"""Scales of the size of a model; each takes all values and the share of the width left free."""

SENTENCES_SHOWN = 30
"""Sentences of a picture of selected sentences."""

NAME, SENTENCE = 36, 60
"""Characters of a name at the end of a line, and of a sentence."""

APART = 1.3
"""Ratio of neighboring sizes from which on each has a tick of its own."""

PLACES = (
    *((6, 0), (-6, 0), (6, 8), (6, -8), (-6, 8), (-6, -8)),
    *((dx, dy) for far in (20, 34, 48) for dy in (-far, far) for dx in (6, -6, 28, -28, 49, -49)),
)
"""Where a name may go, best first: points from its mark to the nearest edge of the name."""

NEAR = 10
"""Vertical points above which a line leads from a mark to its name."""


class PlottedModel(NamedTuple):
    """A model: its number of features, its accuracy, and the accuracy's interval if known."""

    name: str
    features: float
    accuracy: float
    interval: tuple[float, float] | None = None


class Series(NamedTuple):
    """A line, by the coordinates of its points, the index of a chosen point, and intervals."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    chosen: int | None = None
    intervals: Sequence[tuple[float, float] | None] = ()


class Name(NamedTuple):
    """A name, the point that it belongs to, and its color."""

    text: str
    at: tuple[float, float]
    color: str


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
    names = dict.fromkeys(point.name for points in panels.values() for point in points)
    looks = {name: look(number) for number, name in enumerate(names)}

    def fill(places: Sequence[Axes]) -> None:
        for axes, (title, points) in zip(places, panels.items(), strict=True):
            heights = [it for one in points for it in (one.accuracy, *(one.interval or ()))]
            x_scale = counts([point.features for point in points], margin=0.15)
            bars = any(point.interval for point in points)
            titles = size, f"{metric} (bars: 95 % intervals)" if bars else metric
            _frame(axes, x_scale, padded(heights, 0.12), titles)
            axes.set_title(title, parse_math=False)
            beside = []
            for point in points:
                color, form = looks[point.name]
                x = x_scale.transform(point.features)
                if point.interval is not None:
                    axes.vlines(x, *point.interval, color=FAINT)
                axes.plot(x, point.accuracy, form, color=color)
                beside.append(Name(point.name, (x, point.accuracy), color))
            _name_points(axes, beside)

    title = f"{metric[:1].upper()}{metric[1:]} against {size}"
    draw(path, f"{title}: {', '.join(looks)} on {', '.join(panels)}.", fill, panels=len(panels))


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
    alone = len(series) == 1
    x_scale = SCALES[scale]([x for each in series for x in each.x], 0.15 if alone else 0.0)
    y_scale = SCALES[metric_scale]([y for each in series for y in each.y], 0.06)

    def fill(places: Sequence[Axes]) -> None:
        (axes,) = places
        _frame(axes, x_scale, y_scale, (size, metric))
        ends = _lines(axes, series, x_scale, y_scale)
        chosen = []
        for number, each in enumerate(series):
            if each.chosen is None:
                continue
            color, _ = look(number)
            at, value = each.x[each.chosen], each.y[each.chosen]
            point = x_scale.transform(at), y_scale.transform(value)
            ring = axes.plot(*point, "o", color=color, markersize=10, fillstyle="none")[0]
            ring.set_gid(f"chosen-{number}")
            text = f"{at:,.0f} features" if scale == "counts" else f"{each.name} {at:g}"
            chosen.append(Name(f"chosen: {text}, {value:.3f}", point, color))
        if alone and chosen:
            _name_points(axes, chosen)
        else:
            _name_ends(axes, ends)

    draw(path, f"{metric} against {size}.", fill)


def curve_panels(
    panels: Mapping[str, Sequence[Series]],
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
    names = dict.fromkeys(curve.name for curves in panels.values() for curve in curves)
    looks, shown = {name: look(at) for at, name in enumerate(names)}, short_names(names)

    def fill(places: Sequence[Axes]) -> None:
        for axes, (title, curves) in zip(places, panels.items(), strict=True):
            ends = [end for one in curves for interval in one.intervals for end in interval or ()]
            sizes = sorted({size for curve in curves for size in curve.x})
            x_scale = counts(sizes)
            if all(after >= APART * before for before, after in itertools.pairwise(sizes)):
                x_scale = x_scale._replace(ticks=[(size, f"{size:,.0f}") for size in sizes])
            y_scale = padded([*(y for curve in curves for y in curve.y), *ends])
            titles = x_title, f"{y_title} (bars: 95 % intervals)" if ends else y_title
            _frame(axes, x_scale, y_scale, titles)
            axes.set_title(title, parse_math=False)
            lines = _lines(axes, curves, x_scale, y_scale, looks)
            _name_ends(axes, [end._replace(text=shown[end.text]) for end in lines])

    title = f"{y_title} over {x_title}: {', '.join(looks)} on {', '.join(panels)}."
    width, height = ONE if len(panels) == 1 else PANEL
    size = width + 0.05 * max(map(len, shown.values())), height
    draw(path, title, fill, panels=len(panels), size=size)


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
    columns = shown.array.T.tolist()
    if not isinstance(shown, SentencePath):
        if not shown.names:
            raise UsageError(f"there is no {shown.quantity} to draw: ask for a column.")
        _plot_columns(shown, shown.names, columns, path, shown.quantity)
        return
    if not shown.sentences:
        raise UsageError("the documents have no sentences to draw.")
    if len(shown.sentences) <= SENTENCES_SHOWN:
        _plot_sentences(shown, columns, path)
        return
    title = f"selected of {len(shown.sentences):,} sentences"
    _plot_columns(shown, [""], [[float(count) for count in shown.counts]], path, title)


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


def _plot_columns(
    shown: PathTable,
    names: Sequence[str],
    columns: Sequence[Sequence[float]],
    path: str | os.PathLike[str],
    title: str,
) -> None:
    """A line for each column; the fullest model lies at the right."""
    values = shown.values
    falling = len(values) > 1 and values[0] > values[-1]
    x_scale = strengths(values, falling=True) if falling else counts(values)
    y_scale = padded([y for each in columns for y in each])
    lines = [Series(name, values, each) for name, each in zip(names, columns, strict=True)]

    def fill(places: Sequence[Axes]) -> None:
        (axes,) = places
        _frame(axes, x_scale, y_scale, (shown.parameter, title))
        _mark_chosen(axes, x_scale.transform(values[shown.chosen]))
        ends = _lines(axes, lines, x_scale, y_scale)
        _name_ends(axes, [end._replace(text=clip(end.text, NAME)) for end in ends if end.text])

    draw(path, f"{title} along {shown.parameter}: {', '.join(names)}.", fill)


def _plot_sentences(
    shown: SentencePath, rows: Sequence[Sequence[float]], path: str | os.PathLike[str]
) -> None:
    """A row of cells for each sentence, filled where it is selected, darker for a larger norm."""
    n, largest = len(shown.values), max(map(max, rows)) or 1.0
    places = sorted({0, n // 3, 2 * n // 3, n - 1})
    x_scale = linear(-0.5, n - 0.5, ticks=[(at, short(shown.values[at])) for at in places])
    sentences = [(at, clip(text, SENTENCE)) for at, text in enumerate(shown.sentences)]

    def fill(panels: Sequence[Axes]) -> None:
        (axes,) = panels
        _frame(axes, x_scale, linear(-0.5, len(rows) - 0.5, ticks=sentences), (shown.parameter, ""))
        axes.invert_yaxis()
        for row, values in enumerate(rows):
            for at, value in enumerate(values):
                if value > 0.0:
                    strength = 1 - 0.8 * (1 - value / largest)
                    (cell,) = axes.barh(row, 0.9, 0.6, at - 0.45, color=SERIES[0], alpha=strength)
                    cell.set_gid(f"cell-{row}-{at}")
        _mark_chosen(axes, shown.chosen)

    size = 9.0, 0.9 + 0.24 * len(rows)
    draw(path, f"Sentences that are selected along {shown.parameter}.", fill, size=size)


def _frame(axes: Axes, x_scale: Scale, y_scale: Scale, titles: tuple[str, str]) -> None:
    """Ends, ticks and titles of both axes."""
    axes.set_xlim(x_scale.low, x_scale.high)
    axes.set_ylim(y_scale.low, y_scale.high)
    for scale, place in ((x_scale, axes.set_xticks), (y_scale, axes.set_yticks)):
        at = [scale.transform(value) for value, _ in scale.ticks]
        place(at, [text for _, text in scale.ticks], parse_math=False)
    axes.set_xlabel(titles[0], parse_math=False)
    axes.set_ylabel(titles[1], parse_math=False)


def _lines(
    axes: Axes,
    series: Sequence[Series],
    x_scale: Scale,
    y_scale: Scale,
    looks: Mapping[str, tuple[str, str]] | None = None,
) -> list[Name]:
    """A line for each series, with bars for intervals side by side; gives the names of the ends."""
    ends = []
    for number, each in enumerate(series):
        color, form = look(number) if looks is None else looks[each.name]
        shift = 0.008 * (x_scale.high - x_scale.low) * (number - (len(series) - 1) / 2)
        xs = [x_scale.transform(x) + (shift if each.intervals else 0.0) for x in each.x]
        ys = [y_scale.transform(y) for y in each.y]
        for x, interval in zip(xs, each.intervals, strict=False):
            if interval is not None:
                axes.vlines(x, *interval, color=color)
        axes.plot(xs, ys, marker=form, color=color, markersize=4)
        ends.append(Name(each.name, (xs[-1], ys[-1]), color))
    return ends


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


def _name_points(axes: Axes, names: Sequence[Name]) -> None:
    """Names beside their marks, each at the first of PLACES where it covers least."""
    from matplotlib.transforms import Bbox

    _lay_out(axes)
    frame = axes.get_window_extent()
    marks = [Bbox([at - 4, at + 4]) for at in (axes.transData.transform(it.at) for it in names)]
    taken: list[Bbox] = []
    for number, name in enumerate(names):
        others = marks[:number] + marks[number + 1 :]
        offset: Any = {"textcoords": "offset points", "in_layout": False}
        label = axes.annotate(
            name.text, name.at, PLACES[0], va="center", color=name.color, parse_math=False, **offset
        )

        def cost(place: tuple[int, int], label: Any = label, others: Any = others) -> int:
            # A name that is covered, or leaves the panel, cannot be read; a mark can be guessed.
            box = _move(label, place)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 + 20
            inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
            covered = box.count_overlaps(taken) + (0 if inside else 1)
            return int(5 * covered + box.count_overlaps(others))

        best = min(PLACES, key=cost)
        taken.append(_move(label, best))
        if abs(best[1]) > NEAR:
            leader = {"arrowstyle": "-", "color": name.color, "linewidth": 0.5}
            axes.annotate("", name.at, best, arrowprops=leader, **offset)


def _lay_out(axes: Axes) -> None:
    """Give the panel its place in the picture, which places of names depend on."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()


def _move(label: Any, place: tuple[int, int]) -> Any:
    """Put a name at one of PLACES; gives its box."""
    label.set_position(place)
    label.set_horizontalalignment("left" if place[0] > 0 else "right")
    return label.get_window_extent()


def _name_ends(axes: Axes, names: Sequence[Name]) -> None:
    """Names to the right of the ends of lines, in their order and a row apart."""
    _lay_out(axes)
    low, high = axes.get_ylim()
    order = sorted(names, key=lambda name: -name.at[1])
    row = 15 / axes.get_window_extent().height
    places = spread([(high - name.at[1]) / (high - low) for name in order], row, 1.0)
    for name, place in zip(order, places, strict=True):
        axes.annotate(
            name.text,
            name.at,
            xytext=(1.03, 1 - place),
            textcoords="axes fraction",
            va="center",
            color=name.color,
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.5},
        )
