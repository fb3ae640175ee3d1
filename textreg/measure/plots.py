"""Pictures of accuracy against the size of a model, drawn by matplotlib (extra ``report``).

Every series differs in color and in shape, is named beside its points, and the colors are told
apart by every eye (Okabe & Ito 2008), in print and on a screen. The same figures give the same
bytes.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.measure.names import Name, write_names
from textreg.measure.significance import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png")
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
SHAPES = "osD^vPX"
_GRAY = "#555555"
_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so pictures are the same everywhere
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GRAY,
    "axes.labelcolor": _GRAY,
    "xtick.color": _GRAY,
    "ytick.color": _GRAY,
    "axes.titlesize": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "textreg",
}


class Mark(NamedTuple):
    """A model: its size, its accuracy, and the interval of that where there is one."""

    name: str
    features: float
    accuracy: float
    interval: Interval | None = None


class Curve(NamedTuple):
    """Sizes of models along a path, the metric of each, and the index of the chosen one."""

    name: str
    sizes: Sequence[float]
    values: Sequence[float]
    chosen: int | None = None


def check_picture(path: str | os.PathLike[str]) -> None:
    """Refuse before an hour of training what could not be drawn after it: UsageError."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: pictures are .svg or .png files: give it such an ending.")
    try:
        import matplotlib  # noqa: F401  # only to know whether it is there
    except ImportError:
        raise UsageError(
            "pictures are drawn by matplotlib, which is not installed: pip install "
            "'textreg[report]'"
        ) from None


def accuracy_by_size(
    panels: Mapping[str, Sequence[Mark]],
    path: str | os.PathLike[str],
    *,
    size: str = "features with a weight",
) -> None:
    """Draw a panel for each task: accuracy against size, upper left being the place to be.

    The same name has the same color and shape in all panels; bars are the intervals. UsageError
    where the picture cannot be written.
    """
    check_picture(path)
    names = list(dict.fromkeys(mark.name for marks in panels.values() for mark in marks))
    with _style():
        figure, axes = _panels(len(panels))
        for axis, (title, marks) in zip(axes, panels.items(), strict=True):
            axis.set_title(title, loc="left")
            for mark in marks:
                number = names.index(mark.name)
                if mark.interval is not None:
                    axis.plot([mark.features] * 2, mark.interval, color="#cccccc", zorder=1)
                axis.plot(mark.features, mark.accuracy, linestyle="none", **_look(number))
            _count_axis(axis, [mark.features for mark in marks], size)
            bars = any(mark.interval is not None for mark in marks)
            axis.set_ylabel("accuracy (bars: 95 % intervals)" if bars else "accuracy")
        figure.draw_without_rendering()
        for axis, marks in zip(axes, panels.values(), strict=True):
            write_names(axis, [_named(mark, names.index(mark.name)) for mark in marks])
        _save(figure, path)


def metric_by_size(
    curves: Sequence[Curve],
    path: str | os.PathLike[str],
    *,
    metric: str = "accuracy",
    size: str = "features with a weight",
    scale: str = "counts",
) -> None:
    """Draw a metric along one or several paths against the size of the model.

    Chosen points are ringed, and named where there is one curve only. scale: that of the sizes,
    "counts", "prices" or "linear"; the first two are logarithmic. UsageError where the picture
    cannot be written.
    """
    check_picture(path)
    with _style():
        figure, (axis,) = _panels(1)
        named = []
        for number, curve in enumerate(curves):
            look = {**_look(number), "markersize": 3}
            axis.plot(curve.sizes, curve.values, linewidth=1.2, **look)
            named.append(Mark(curve.name, curve.sizes[-1], curve.values[-1]))
            if curve.chosen is not None:
                at = curve.sizes[curve.chosen], curve.values[curve.chosen]
                axis.plot(*at, "o", markersize=10, fillstyle="none", color=look["color"], zorder=4)
                if len(curves) == 1:
                    price = f"{curve.name} {at[0]:g}"
                    shown = f"{at[0]:,.0f} features" if scale == "counts" else price
                    named = [Mark(f"chosen: {shown}, {at[1]:.3f}", *at)]
        if scale == "counts":
            _count_axis(axis, [each for curve in curves for each in curve.sizes], size)
        else:
            if scale == "prices":  # among which there may be 0
                least = min((each for each in curves[0].sizes if each > 0), default=1.0)
                axis.set_xscale("symlog", linthresh=least)
            axis.set_xlabel(size)
            axis.margins(x=0.15)
        axis.set_ylabel(metric)
        figure.draw_without_rendering()
        lines = [list(zip(curve.sizes, curve.values, strict=True)) for curve in curves]
        write_names(axis, [_named(mark, number) for number, mark in enumerate(named)], lines)
        _save(figure, path)


def _style() -> Any:
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, two a row."""
    from matplotlib.figure import Figure

    columns = min(2, count)
    rows = -(-count // columns)
    width, height = (6.4, 4.0) if count == 1 else (4.4 * columns, 3.2 * rows)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes[count:]:
        axis.set_visible(False)
    return figure, axes[:count]


def _look(number: int) -> dict[str, Any]:
    return {
        "color": COLORS[number % len(COLORS)],
        "marker": SHAPES[(number + number // len(COLORS)) % len(SHAPES)],
        "markersize": 6,
        "zorder": 3,
    }


def _named(mark: Mark, number: int) -> Name:
    """What is written beside a mark."""
    return Name(mark.name, (mark.features, mark.accuracy), _look(number)["color"])


def _count_axis(axis: Axes, sizes: Sequence[float], title: str) -> None:
    """A logarithmic axis of sizes, linear from 0 to 1 where there is an empty model."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    if min(sizes) < 1:
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(left=-0.2)
    else:
        axis.set_xscale("log")
        few = max(sizes) / min(sizes) < 100
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axis.margins(x=0.15, y=0.12)
    axis.set_xlabel(title)


def _save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write the picture, whole or not at all."""
    ending = Path(path).suffix.lower()[1:]
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    file = io.BytesIO()
    figure.savefig(file, format=ending, dpi=200, metadata=metadata)
    write_atomically(Path(path), file.getvalue())
