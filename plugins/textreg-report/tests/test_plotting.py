"""Pictures: their lines, names and scales, and the charts of pages."""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import textreg
from textreg.errors import UsageError
from textreg.measure.decisions import Bin, CoverageLine, Reliability, Selective
from textreg.model.regularization_path import PathPoint, PathTable, SentencePath, SolutionPath
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
from textreg_report.page import Estimate, Section


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


BINS = (Bin(0.1, 0.2, 3, 0.15, 1 / 3, 0.1, 0.7), Bin(0.5, 0.6, 6, 0.55, 0.5, 0.2, 0.8))
TRIED = [Section(features=count, value=value) for count, value in ((1, 0.5), (10, 0.9), (400, 0.7))]
CURVE = Section(tried=TRIED, chosen=1, metric="accuracy")
PROFILES = [
    Section(feature="good", weights=(0.0, 0.5, 2.0)),
    Section(feature="bad and a long name", weights=(0.0, -1.0, -0.5)),
]
STRENGTHS = Section(
    values=(10.0, 1.0, 0.1), whole=False, parameter="l1", curve=CURVE, profiles=PROFILES
)
COUNTS = Section(
    values=(1, 2, 3), whole=True, parameter="budget", curve=CURVE, profiles=PROFILES[:1]
)
NOW = CoverageLine(0.5, 0.7, 0.1, 0.9, None)
RISKS = Selective("none", 10, 2, NOW, (), 0.1, ((0.25, 0.0), (1.0, 0.4)))


def test_names_beside_weights_stand_from_top_to_bottom() -> None:
    profiles = [Section(feature=name, weights=(0.0, 0.5, 1.0)) for name in ("a", "b", "c")]
    strengths = Section(**{**vars(STRENGTHS), "profiles": profiles})
    shown = ET.fromstring(str(charts.profiles(strengths)))
    at = {it.text: float(it.attrib["y"]) for it in shown.iter() if it.text in ("a", "b", "c")}
    top, bottom = at["a"], at["c"]
    assert (top, bottom) == (18.0, 258.0)
    assert at["b"] == pytest.approx((top + bottom) / 2)


CHARTS = {
    "reliability": (
        lambda: charts.reliability_curve(Reliability("pos", BINS, 0.1)),
        """
Reliability curve: probability of pos against the observed share; the table
below has the numbers.
60 258 end tick 0
60 198 end tick 0.25
60 138 end tick 0.5
60 78 end tick 0.75
60 18 end tick 1
66 271 middle tick 0
150.5 271 middle tick 0.25
235 271 middle tick 0.5
319.5 271 middle tick 0.75
404 271 middle tick 1
235 292 middle title probability of pos
13 134 middle rotate(-90 13 134) title observed share
100.8 224 31.8 30 count
236 194 31.8 60 count
M66.0 254.0L404.0 14.0 ideal
M116.7 174.0L251.9 134.0 curve
M116.7 230.0L116.7 86.0 error
116.7 174 4 dot
M251.9 206.0L251.9 62.0 error
251.9 134 4 dot
""",
    ),
    "search": (
        lambda: charts.search_path(CURVE),
        """
accuracy against the number of features of 3 settings; the chosen one has 10
features and 0.9.
60 245.14 end tick 0.5
60 191.57 end tick 0.6
60 138 end tick 0.7
60 84.43 end tick 0.8
60 30.86 end tick 0.9
83.47 271 middle tick 1
199.94 271 middle tick 10
316.41 271 middle tick 100
235 292 middle title features with a weight
13 134 middle rotate(-90 13 134) title accuracy, held out
83.47 241.14 4 dot faint
199.94 26.86 4 dot faint
386.53 134 4 dot faint
199.94 26.86 8 ring
199.94 50.86 middle strong halo chosen: 10
""",
    ),
    "one setting": (
        lambda: charts.search_path(Section(tried=TRIED[:1], chosen=0, metric="F1"), joined=True),
        """
F1 against the number of features of 1 settings; the chosen one has 1 features
and 0.5.
60 258 end tick 0.49
60 198 end tick 0.495
60 138 end tick 0.5
60 78 end tick 0.505
60 18 end tick 0.51
235 271 middle tick 1
235 292 middle title features with a weight
13 134 middle rotate(-90 13 134) title F1, held out
M235.0 134.0 curve thin
235 134 4 dot faint
235 134 8 ring
235 119 middle strong halo chosen: 1
""",
    ),
    "strengths": (
        lambda: charts.profiles(STRENGTHS),
        """
Weights of features along l1; in the chosen model good 0.5, bad and a long name
−1.
60 258 end tick −1
60 219.04 end tick −0.5
60 180.08 end tick 0
60 141.12 end tick 0.5
60 102.16 end tick 1
60 63.19 end tick 1.5
60 24.23 end tick 2
304 271 middle tick 0.1
268.18 271 middle tick 0.2
220.82 271 middle tick 0.5
185 271 middle tick 1
149.18 271 middle tick 2
101.82 271 middle tick 5
66 271 middle tick 10
185 292 middle title l1
13 134 middle rotate(-90 13 134) title weight
M185.0 254.0L185.0 14.0 ideal
M66.0 176.1L185.0 137.1L304.0 20.2 curve
M66.0 176.1L185.0 254.0L304.0 215.0 curve
M305.0 20.2L314.0 14.0 leader
317 18 start tick good
M305.0 215.0L314.0 254.0 leader
317 258 start tick bad and a long…
""",
    ),
    "counts": (
        lambda: charts.profiles(COUNTS),
        """
Weights of features along budget; in the chosen model good 0.5.
60 258 end tick 0
60 200.31 end tick 0.5
60 142.62 end tick 1
60 84.92 end tick 1.5
60 27.23 end tick 2
66 271 middle tick 1
125.5 271 middle tick 1.5
185 271 middle tick 2
244.5 271 middle tick 2.5
304 271 middle tick 3
185 292 middle title budget
13 134 middle rotate(-90 13 134) title weight
M185.0 254.0L185.0 14.0 ideal
M66.0 254.0L185.0 196.3L304.0 23.2 curve
M305.0 23.2L314.0 14.0 leader
317 18 start tick good
""",
    ),
    "stability": (
        lambda: charts.stability(Section(histogram=[1, 0, 1200], parts=2)),
        """
Features of the model by the number of fits that selected them: 1 in 0, 0 in 1,
1,200 in 2.
60 258 end tick 0
60 221.64 end tick 200
60 185.27 end tick 400
60 148.91 end tick 600
60 112.55 end tick 800
60 76.18 end tick 1,000
60 39.82 end tick 1,200
122.33 271 middle tick 0
235 271 middle tick 1
347.67 271 middle tick 2
235 292 middle title of 2 fits selected the feature
13 134 middle rotate(-90 13 134) title features of the model
82.9 253.82 78.87 0.18 for
122.33 249.82 middle tick 1
195.57 254 78.87 0 for
235 250 middle tick 0
308.23 35.82 78.87 218.18 for
347.67 31.82 middle tick 1,200
""",
    ),
    "risk": (
        lambda: charts.risk_coverage(RISKS),
        """
Risk against coverage; in use coverage 0.500 with risk 0.100, and risk 0.400 if
every document were answered.
60 258 end tick 0
60 200.86 end tick 0.1
60 143.71 end tick 0.2
60 86.57 end tick 0.3
60 29.43 end tick 0.4
66 271 middle tick 0
150.5 271 middle tick 0.25
235 271 middle tick 0.5
319.5 271 middle tick 0.75
404 271 middle tick 1
235 292 middle title coverage: share of documents answered
13 134 middle rotate(-90 13 134) title risk: share of errors
M150.5 254.0L404.0 25.4 curve
235 196.86 5 dot
""",
    ),
    "interval": (
        lambda: charts.interval(Estimate("difference", 0.012, -0.004, 0.028)),
        """
Difference +1.20 points, 95 % interval −0.40 to +2.80.
132.78 61 middle tick 0
217.96 61 middle tick 1
303.15 61 middle tick 2
388.33 61 middle tick 3
235 82 middle title difference in points
13 29 middle rotate(-90 13 29) title
M98.7 29.0L371.3 29.0 error wide
235 29 6 dot
""",
    ),
}


def shapes(chart: str, left_out: Collection[str] = ("grid", "axis")) -> str:
    """The label of a chart, and the numbers, style and text of its shapes but for these styles."""
    page = ET.fromstring(chart)
    told = [
        " ".join([*it.attrib.values(), it.text or ""]).strip()
        for it in page
        if it.attrib["class"] not in left_out
    ]
    return "\n".join([textwrap.fill(page.attrib["aria-label"], 80), *told])


def test_where_everything_lies_in_a_chart() -> None:
    for chart, told in CHARTS.values():
        assert shapes(chart()) == told.strip()


def test_lines_of_axes() -> None:
    chart = Chart(linear(0, 1, [0.5]), linear(0, 2, [0.5, 2]), ("x", "y"), right=266, height=100)
    assert shapes(chart.markup("label"), ()).splitlines() == [
        "label",
        "M66.0 44.0L266.0 44.0 grid",
        "60 48 end tick 0.5",
        "M66.0 14.0L266.0 14.0 grid",
        "60 18 end tick 2",
        "M166.0 54.0L166.0 58.0 axis",
        "166 71 middle tick 0.5",
        "166 92 middle title x",
        "13 34 middle rotate(-90 13 34) title y",
    ]


def test_bars_are_of_their_sign_and_end_at_the_scale() -> None:
    bars = [(0.5, 2.0), (-3.0, 2.0), (0.0, 0.0), (-0.5, 2.0, True), (1.0, 2.0, True)]
    pages = [ET.fromstring(charts.bar(*one)) for one in bars]
    assert [list(page[0].attrib.values()) for page in pages] == [
        ["0", "1", "25", "8", "for"],
        ["0", "1", "100", "8", "against"],
        ["0", "1", "0", "8", "for"],
        ["37.5", "1", "12.5", "8", "against"],
        ["50", "1", "25", "8", "for"],
    ]
    assert [[it.attrib.get("d") for it in page[1:]] for page in pages] == [
        [], [], [], ["M50.0 0.0L50.0 10.0"], ["M50.0 0.0L50.0 10.0"],
    ]  # fmt: skip
    assert pages[0].attrib["viewBox"] == "0 0 100 10"
    assert pages[0].attrib["aria-hidden"] == "true"


def drawn(picture: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a picture draws: title and size, then of every panel its titles, scales and shapes."""
    told: list[str] = []

    def draw(path: object, title: str, fill: Any, *, panels: int = 1, size: Any = None) -> None:
        figure = Figure()
        fill([figure.add_subplot(1, panels, at + 1) for at in range(panels)])
        told.append(f"{title} {size[0]:.2f} by {size[1]:.2f} inches, {panels} panels")
        for axes in figure.axes:
            told.append(f"[{axes.get_title()}] {axes.get_ylabel()} by {axes.get_xlabel()}")
            told.append(f"{axes.get_xscale()} {axes.get_yscale()}")
            told[-1] += " falling" if axes.xaxis_inverted() else ""
            for line in axes.lines:
                points = zip(*map(np.asarray, line.get_data()), strict=True)
                told.append(f"{line.get_color()} {line.get_marker()} {line.get_gid() or ''}")
                told[-1] += " ".join(f"({x:.4g}, {y:.4g})" for x, y in points)
            for bar in axes.collections:
                if isinstance(bar, LineCollection):
                    ends = map(np.ravel, bar.get_segments())
                    told.extend("bar" + "".join(f" {it:.4g}" for it in each) for each in ends)
            if axes.get_xscale() == "linear":
                ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                told.append(", ".join(f"{at:g} {label.get_text()}" for at, label in ticks))
        told.extend(text.get_text() for legend in figure.legends for text in legend.get_texts())

    monkeypatch.setattr(charts, "draw", draw)
    picture()
    return told


def test_lines_of_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Series("one", [1, 10, 100], [0.5, 0.7, 0.8], 1, [(0.4, 0.6), None, (0.7, 0.9)])
    two = Series("_two", [1, 20], [0.4, 0.6], None, [(0.3, 0.5), (0.5, 0.7)])
    panels = {"A": [one, two], "B": [one]}
    assert drawn(lambda: draw_lines(panels, None, ("size", "F1")), monkeypatch) == LINES_OF_TWO
    bare = {"A": [two, Series("bare", [2, 3], [0.1, 0.2])]}
    found = drawn(lambda: draw_lines(bare, None, ("size", "F1")), monkeypatch)
    assert sum(line.startswith("bar ") for line in found) == 2
    alone = {"": [Series("", [0, 10, 30], [0.5, 0.7, 0.8], 2)]}
    titles = "size", "F1"
    found = drawn(lambda: draw_lines(alone, None, titles, chosen=10.0), monkeypatch)
    assert found == [
        "F1 against size. 7.60 by 4.00 inches, 1 panels",
        "[] F1 by size",
        "symlog linear",
        "#0072b2 o (0, 0.5) (10, 0.7) (30, 0.8)",
        "#0072b2 o chosen-0(30, 0.8)",
        "#5b5f69 None (10, 0) (10, 1)",
        "chosen: 30 features, 0.800",
    ]


LINES_OF_TWO = [
    "F1 against size: one, _two on A, B. 5.60 by 3.20 inches, 2 panels",
    "[A] F1 (bars: 95 % intervals) by size",
    "log linear",
    "#0072b2 o (0.995, 0.5) (9.95, 0.7) (99.5, 0.8)",
    "#0072b2 o chosen-0(9.95, 0.7)",
    "#d55e00 s (1.005, 0.4) (20.1, 0.6)",
    "bar 0.995 0.4 0.995 0.6",
    "bar",
    "bar 99.5 0.7 99.5 0.9",
    "bar 1.005 0.3 1.005 0.5",
    "bar 20.1 0.5 20.1 0.7",
    "[B] F1 (bars: 95 % intervals) by size",
    "log linear",
    "#0072b2 o (1, 0.5) (10, 0.7) (100, 0.8)",
    "#0072b2 o chosen-0(10, 0.7)",
    "bar 1 0.4 1 0.6",
    "bar",
    "bar 100 0.7 100 0.9",
    "one",
    " _two",
    "chosen: 10 features, 0.700",
]


def test_tables_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([[0.0, 0.0], [0.5, -0.2], [1.0, -0.4]])
    table = PathTable("l1", (1.0, 0.5, 0.1), 1, "weight", ("good", "bad"), weights)
    assert drawn(lambda: plot_path(table), monkeypatch) == [
        "weight against l1: good, bad. 7.60 by 4.00 inches, 1 panels",
        "[] weight by l1",
        "log linear falling",
        "#0072b2 o (1, 0) (0.5, 0.5) (0.1, 1)",
        "#d55e00 s (1, 0) (0.5, -0.2) (0.1, -0.4)",
        "#5b5f69 None (0.5, 0) (0.5, 1)",
        "good",
        "bad",
    ]
    norms = np.eye(2, 31)
    many = SentencePath("k", (1, 2), 0, "norm", ("a",) * 31, norms, ("One.",) * 31, (0,) * 31)
    assert drawn(lambda: plot_path(many), monkeypatch) == [
        "selected of 31 sentences against k. 7.60 by 4.00 inches, 1 panels",
        "[] selected of 31 sentences by k",
        "log linear",
        "#0072b2 o (1, 1) (2, 1)",
        "#5b5f69 None (1, 0) (1, 1)",
    ]
    few = replace(many, names=("a",) * 30, array=norms[:, :30], sentences=("One.",) * 30)
    assert drawn(lambda: plot_path(few), monkeypatch) == [
        "Sentences that are selected along k. 9.00 by 8.10 inches, 1 panels",
        "[]  by k",
        "linear linear",
        "#5b5f69 None (0.5, 0) (0.5, 1)",
        "0.5 1, 1.5 2",
    ]


def test_points_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        PathPoint(
            params={"l1": strength},
            nonzero=count,
            metrics={"F1": value},
            training_metrics={"F1": value},
            gap=None,
        )
        for strength, count, value in ((2.0, 1, 0.5), (1.0, 1, 0.75), (0.5, 4, 0.7))
    ]
    path = SolutionPath("l1", 1, "F1", tuple(points), (), csr_array((3, 0)), np.zeros((3, 1)))
    assert drawn(lambda: plot_path(path), monkeypatch) == [
        "F1 against features with a weight. 7.60 by 4.00 inches, 1 panels",
        "[] F1 by features with a weight",
        "log linear",
        "#0072b2 o (1, 0.5) (1, 0.75) (4, 0.7)",
        "#0072b2 o chosen-0(1, 0.75)",
        "chosen: 1 features, 0.750",
    ]
    assert drawn(lambda: plot_path(replace(path, points=tuple(points[:2]))), monkeypatch) == [
        "F1 against l1 (all models have 1 features): l1. 7.60 by 4.00 inches, 1 panels",
        "[] F1 by l1 (all models have 1 features)",
        "log linear",
        "#0072b2 o (2, 0.5) (1, 0.75)",
        "#0072b2 o chosen-0(1, 0.75)",
        "l1",
        "chosen: l1 1, 0.750",
    ]


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
    with pytest.raises(UsageError, match=r"a path to draw is model\.path of train"):
        plot_path(None)  # type: ignore[arg-type]  # as model.path may be


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    model, picture = tmp_path / "m.textreg", tmp_path / "path.svg"
    texts, labels = ["good film", "bad film", "good plot", "bad plot"] * 5, list("pnpn") * 5
    textreg.train(texts, labels, reg="lasso", ngrams=1, path=True).save(model)
    code, _, err = cli("plot", model, "--coefficients", "good", "-o", picture)
    assert (code, err) == (0, f"saved {picture}\n")
    assert ">good</text>" in picture.read_text(encoding="utf-8")
    assert cli("plot", model, "-o", picture).code == 0
    assert ">features with a weight</text>" in picture.read_text(encoding="utf-8")
