"""Pictures: their lines, names and scales, and the charts of pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from textreg.model.regularization_path import SentencePath
from textreg_report import charts
from textreg_report.charts import (
    MARKERS,
    SERIES,
    Chart,
    Scale,
    Series,
    _set_scale,
    draw_lines,
    linear,
    logarithmic,
    look,
    plot_path,
)


@pytest.mark.parametrize(
    "scale",
    [linear(-1, 3), logarithmic([0, 5, 900], margin=0.15), logarithmic([3, 8], margin=0.15)],
)
def test_scales_rise_and_their_ticks_lie_inside(scale: Scale) -> None:
    places = [scale.share(value) for value in scale.ticks]
    assert len(places) > 1
    assert places == sorted(places)
    assert -1e-9 <= places[0] < places[-1] <= 1 + 1e-9


def test_strengths_may_fall_and_hold_zero() -> None:
    scale = logarithmic([10.0, 1.0, 0.0], falling=True)
    assert [round(scale.share(value), 3) for value in (10.0, 1.0, 0.0)] == [0.0, 0.667, 1.0]
    assert [value for value in scale.ticks if value == 0] == [0.0]


def test_charts_of_pages_are_styled_by_classes_alone() -> None:
    chart = Chart(linear(0, 1), linear(0, 1), ("<a> & $b$", "up"))
    chart.line([(0, 60), (50, 90)], "curve")
    chart.circle((5, 5), 4, "dot faint")
    page = ET.fromstring(chart.markup("all kinds"))
    assert page.attrib["aria-label"] == "all kinds"
    assert "<a> & $b$" in [element.text for element in page]
    assert all("style" not in element.attrib for element in page.iter())
    css = (Path(charts.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    styles = {name for element in page for name in element.attrib.get("class", "").split()}
    assert all(f"svg .{name}" in css for name in styles)


def test_no_two_series_look_alike_until_all_looks_are_used() -> None:
    looks = [look(number) for number in range(len(SERIES) * len(MARKERS))]
    assert len(set(looks)) == len(looks)


def test_series_are_named_and_chosen_points_have_rings(tmp_path: Path) -> None:
    series = [Series("one", [1, 10, 100], [0.5, 0.7, 0.8], 1), Series("$_two$", [0, 5], [0.4, 0.6])]
    draw_lines({"": series}, tmp_path / "a.svg", ("size", "F1"))
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(f">{text}</text>" in picture for text in ("one", "$_two$", "F1", "size", "100"))
    assert picture.count('id="chosen-') == 1
    draw_lines({"": [series[0]._replace(name="_one")]}, tmp_path / "a.svg", ("size", "F1"))
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(text in picture for text in ("_one</text>", ">chosen: 10 features, 0.700</text>"))


def test_panels_lie_two_in_a_row(tmp_path: Path) -> None:
    seen = []
    charts.draw(tmp_path / "a.svg", "three", seen.extend, panels=3, size=(3.0, 2.0))
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert 'width="432pt" height="288pt"' in picture
    assert len(seen) == 3
    series = [Series("one", [1, 10], [0.5, 0.7])]
    assert draw_lines({"x": series, "y": series}, None, ("size", "F1")).title.endswith("on x, y.")


def test_a_picture_is_the_same_each_time(tmp_path: Path) -> None:
    series = [Series("one", [1, 10], [0.5, 0.7])]
    for form in ("svg", "png"):
        for name in ("a", "b"):
            draw_lines({"": series}, tmp_path / f"{name}.{form}", ("size", "F1"))
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ("counts", [2.0, 20.0, 200.0]),
        ("counts", [0.0, 3.0, 900.0]),
        ("strengths", [0.01, 0.1, 1.0]),
        ("falling", [10.0, 1.0, 0.1]),
    ],
)
def test_scales_may_be_logarithmic(scale: str, values: list[float]) -> None:
    axes = Figure().add_subplot()
    axes.plot(values, values)
    _set_scale(axes, "x", scale, values)
    (first, second, third) = (axes.transData.transform((value, 1.0))[0] for value in values)
    assert first < second < third
    if values[0]:
        assert third - second == pytest.approx(second - first)


def test_rows_of_sentences_are_darkest_at_the_largest_norm(tmp_path: Path) -> None:
    norms = np.array([[0.0, 0.75], [0.3, 0.5]])
    table = SentencePath("l1", (0.2, 0.1), 1, "norm", ("a", "b"), norms, ("One.", "$Two$."), (0, 0))
    plot_path(table, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    cells = re.search('id="QuadMesh.*?</g>', picture, re.DOTALL)
    assert cells is not None
    assert len(set(re.findall("fill: (#[0-9a-f]{6})", cells[0]))) == 3
    assert all(f">{text}</text>" in picture for text in ("chosen", "One.", "$Two$."))
