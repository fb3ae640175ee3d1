"""Pictures can be read: names beside the marks cover neither each other nor other marks."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from textreg.model.regularization_path import SentencePath
from textreg_report import charts
from textreg_report.charts import (
    MARKERS,
    SERIES,
    Name,
    PlottedModel,
    Series,
    accuracy_by_size,
    look,
    metric_by_size,
    plot_path,
)
from textreg_report.page_charts import Chart, counts, linear, spread, strengths


def boxes(axes: Axes) -> dict[str, Bbox]:
    """The boxes of the names of a panel, by the names."""
    labels = [it for it in axes.get_children() if isinstance(it, Annotation) and it.get_text()]
    return {label.get_text(): label.get_window_extent() for label in labels}


def placed(points: Sequence[tuple[float, float]]) -> tuple[Axes, dict[str, Bbox]]:
    """Names of points in a panel from 0 to 1, and their boxes."""
    axes = Figure((4.4, 3.2), layout="constrained").add_subplot(xlim=(0, 1), ylim=(0, 1))
    charts._name_points(axes, [Name(f"name {at}", one, "black") for at, one in enumerate(points)])
    return axes, boxes(axes)


CROWDS = {
    "one place": [(0.5, 0.5)] * 12,
    "a corner": [(0.99, 0.98)] * 6,
    "a row": [(0.4 + 0.02 * number, 0.5) for number in range(10)],
}


@pytest.mark.parametrize("crowd", CROWDS.values(), ids=CROWDS)
def test_no_name_covers_another_or_leaves_the_panel(crowd: list[tuple[float, float]]) -> None:
    axes, found = placed(crowd)
    assert len(found) == len(crowd)
    assert not any(one.overlaps(two) for one, two in itertools.combinations(found.values(), 2))
    frame = axes.get_window_extent()
    for box in found.values():
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1 + 20
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_names_of_a_crowded_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where models crowd, and two are the same, a name rather covers a mark than another name."""
    crowd = {
        "none": (19301, 0.775), "ridge": (19301, 0.78), "lasso": (673, 0.745), "lsi": (543, 0.73),
        "lda": (555, 0.725), "elastic": (2749, 0.755),
        "sentence": (2248, 0.75), "sentence-admm": (1135, 0.76), "communities": (1733, 0.745),
        "clusters": (1028, 0.765), "omp": (1500, 0.76), "gomp": (1500, 0.76),
    }  # fmt: skip
    points = [PlottedModel(name, *where) for name, where in crowd.items()]
    found: dict[str, Bbox] = {}
    place = charts._name_points

    def seen(axes: Axes, names: Sequence[Name]) -> None:
        place(axes, names)
        found.update(boxes(axes))

    monkeypatch.setattr(charts, "_name_points", seen)
    accuracy_by_size({"benchmark": points}, tmp_path / "picture.svg")
    assert found.keys() == crowd.keys()
    for one, other in itertools.combinations(found, 2):
        assert not found[one].overlaps(found[other]), f"{one} and {other}"


def test_a_name_stands_right_of_its_mark_where_there_is_room() -> None:
    axes, found = placed([(0.5, 0.5)])
    (box,) = found.values()
    x, y = axes.transData.transform((0.5, 0.5))
    assert box.x0 > x
    assert box.y0 < y < box.y1


def test_places_keep_their_order_and_distance() -> None:
    moved = spread([40.0, 41.0, 268.0, 270.0], 15.0, 272.0)
    assert all(after - before >= 15 - 1e-9 for before, after in itertools.pairwise(moved))
    assert max(moved) <= 272
    assert moved[0] == 40.0


@pytest.mark.parametrize(
    "scale",
    [linear(-1, 3), counts([0, 5, 900]), counts([3, 8]), strengths([0.0, 0.01, 10.0])],
)
def test_scales_rise_and_their_ticks_lie_inside(scale: Any) -> None:
    places = [scale.share(value) for value, _ in scale.ticks]
    assert len(places) > 1
    assert places == sorted(places)
    assert -1e-9 <= places[0] < places[-1] <= 1 + 1e-9


def test_strengths_may_fall_and_hold_zero() -> None:
    scale = strengths([10.0, 1.0, 0.0], falling=True)
    assert [round(scale.share(value), 3) for value in (10.0, 1.0, 0.0)] == [0.0, 0.667, 1.0]
    assert [text for _, text in scale.ticks if text == "0"] == ["0"]


def test_charts_of_pages_are_styled_by_classes_alone() -> None:
    chart = Chart(linear(0, 1), linear(0, 1))
    chart.axes("<a> & $b$", "up")
    chart.line([(0, 60), (50, 90)], "curve", "<tip>")
    chart.circle((5, 5), 4, "dot faint")
    page = ET.fromstring(chart.markup("all kinds"))
    assert page.attrib["aria-label"] == "all kinds"
    assert "<a> & $b$" in [element.text for element in page]
    assert [title.text for title in page.iter("title")] == ["<tip>"]
    assert all("style" not in element.attrib for element in page.iter())
    css = (Path(charts.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    styles = {name for element in page for name in element.attrib.get("class", "").split()}
    assert all(f"svg .{name}" in css for name in styles)


def test_no_two_series_look_alike_until_all_looks_are_used() -> None:
    looks = [look(number) for number in range(len(SERIES) * len(MARKERS))]
    assert len(set(looks)) == len(looks)


def test_series_are_named_and_chosen_points_have_rings(tmp_path: Path) -> None:
    series = [Series("one", [1, 10, 100], [0.5, 0.7, 0.8], 1), Series("$two$", [1, 5], [0.4, 0.6])]
    metric_by_size(series, tmp_path / "a.svg", metric="F1")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    names = ("one", "$two$", "F1", "features with a weight")
    assert all(f">{text}</text>" in picture for text in names)
    assert picture.count('id="chosen-') == 1
    metric_by_size(series[:1], tmp_path / "a.svg")
    assert ">chosen: 10 features, 0.700</text>" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_a_picture_is_the_same_each_time(tmp_path: Path) -> None:
    series = [Series("one", [1, 10], [0.5, 0.7])]
    for form in ("svg", "png"):
        for name in ("a", "b"):
            metric_by_size(series, tmp_path / f"{name}.{form}")
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def drawn(axes: Axes) -> Iterator[Sequence[float]]:
    yield from (line.get_ydata() for line in axes.get_lines())


def test_metrics_may_be_on_a_logarithmic_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heights: list[Sequence[float]] = []
    ends = charts._name_ends

    def seen(axes: Axes, names: Sequence[Name]) -> None:
        heights.extend(drawn(axes))
        ends(axes, names)

    monkeypatch.setattr(charts, "_name_ends", seen)
    series = [Series("time", [1e3, 1e4, 1e5], [2.0, 20.0, 200.0])]
    metric_by_size(series, tmp_path / "a.svg", metric="seconds", metric_scale="counts")
    (line,) = heights
    assert line[1] - line[0] == pytest.approx(line[2] - line[1])


def test_rows_of_sentences_are_darkest_at_the_largest_norm(tmp_path: Path) -> None:
    norms = np.array([[0.0, 0.75], [0.3, 0.5]])  # 0.2 + 0.8 * 0.75 / 0.75 is above 1
    table = SentencePath("l1", (0.2, 0.1), 1, "norm", ("a", "b"), norms, ("One.", "Two."), (0, 0))
    plot_path(table, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert picture.count('id="cell-') == 3
    assert ">chosen</text>" in picture
