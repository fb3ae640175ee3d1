"""Pictures can be read: names beside the marks cover neither each other nor other marks."""

from __future__ import annotations

import io
import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from textreg_report import charts
from textreg_report.axes import (
    ASCENT,
    DESCENT,
    OVERHANG,
    RADIUS,
    Box,
    Label,
    counts,
    labels_at_ends,
    linear,
    place_labels,
    strengths,
)
from textreg_report.charts import PlottedModel, Series, accuracy_by_size, metric_by_size
from textreg_report.drawing import (
    MARKERS,
    STYLES,
    Drawing,
    Outline,
    Text,
    line,
    marker,
    page_css,
    rectangle,
    text_width,
)

FRAME = Box(left=66, top=16, right=416, bottom=272)


def boxes(shapes) -> dict[str, Box]:
    """The boxes of the names, by the names, without the lines that lead to them."""
    return {
        shape.text: Box(
            shape.x, shape.y - ASCENT, shape.x + text_width(shape.text), shape.y + DESCENT
        )
        for shape in shapes
        if isinstance(shape, Text)
    }


def overlaps(one: Box, other: Box) -> bool:
    across = one.left < other.right and other.left < one.right
    return across and one.top < other.bottom and other.top < one.bottom


CROWDS = {
    "one place": [(240.0, 140.0)] * 12,
    "a corner": [(412.0, 19.0)] * 6,
    "a row": [(200.0 + 7 * number, 140.0) for number in range(10)],
}


@pytest.mark.parametrize("crowd", CROWDS.values(), ids=CROWDS)
def test_no_name_covers_another_or_leaves_the_panel(crowd):
    labels = [Label(f"name {number}", at, "black") for number, at in enumerate(crowd)]
    written = boxes(place_labels(labels, FRAME, right=440))
    assert len(written) == len(crowd)
    assert not any(
        overlaps(one, other) for one, other in itertools.combinations(written.values(), 2)
    )
    for box in written.values():
        assert FRAME.left <= box.left < box.right <= min(440, FRAME.right + OVERHANG)
        assert FRAME.top <= box.top < box.bottom <= FRAME.bottom


def test_names_of_a_crowded_benchmark(tmp_path: Path, monkeypatch):
    """Where models crowd, and two are the same, a name rather covers a mark than another name."""
    crowd = {
        "none": (19301, 0.775), "ridge": (19301, 0.78), "lasso": (673, 0.745), "lsi": (543, 0.73),
        "lda": (555, 0.725), "elastic": (2749, 0.755),
        "sentence": (2248, 0.75), "sentence-admm": (1135, 0.76), "communities": (1733, 0.745),
        "clusters": (1028, 0.765), "omp": (1500, 0.76), "gomp": (1500, 0.76),
    }  # fmt: skip
    points = [PlottedModel(name, *where) for name, where in crowd.items()]
    found = {}

    def seen(*arguments, **options):
        shapes = place_labels(*arguments, **options)
        found.update(boxes(shapes))
        return shapes

    monkeypatch.setattr(charts, "place_labels", seen)
    accuracy_by_size({"benchmark": points}, tmp_path / "picture.svg")
    assert found.keys() == crowd.keys()
    for one, other in itertools.combinations(found, 2):
        assert not overlaps(found[one], found[other]), f"{one} and {other}"


def test_a_name_avoids_other_marks_and_lines():
    corners = [(66.0, 140.0), (416.0, 140.0)]
    labels = [Label("one", (240.0, 140.0), "black"), Label("two", (258.0, 140.0), "black")]
    for box in boxes(place_labels(labels, FRAME, [corners])).values():
        assert box.bottom < 140 - RADIUS / 2 or box.top > 140 + RADIUS / 2


def test_a_name_stands_right_of_its_mark_where_there_is_room():
    (box,) = boxes(place_labels([Label("alone", (240.0, 140.0), "black")], FRAME)).values()
    assert box.left > 240
    assert box.top < 140 < box.bottom


def test_names_at_ends_keep_their_order_and_distance():
    labels = [Label(str(k), (300.0, y), "black") for k, y in enumerate((268.0, 40.0, 270.0, 41.0))]
    written = boxes(labels_at_ends(labels, 272.0))
    assert list(written) == ["1", "3", "0", "2"]
    tops = [box.top for box in written.values()]
    assert all(after - before >= 15 - 1e-9 for before, after in itertools.pairwise(tops))
    assert max(box.top + ASCENT for box in written.values()) <= 272 + 4


def test_a_text_is_as_wide_as_matplotlib_draws_it():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 1), dpi=100)
    drawn = figure.text(0, 0.5, "sentence-admm $1", fontsize=9, parse_math=False)
    drawn.set_fontfamily("DejaVu Sans")
    extent = drawn.get_window_extent()
    assert text_width("sentence-admm $1") == pytest.approx(extent.width, rel=0.05)


@pytest.mark.parametrize(
    "scale",
    [linear(-1, 3), counts([0, 5, 900]), counts([3, 8]), strengths([0.0, 0.01, 10.0])],
)
def test_scales_rise_and_their_ticks_lie_inside(scale):
    places = [scale.share(value) for value, _ in scale.ticks]
    assert len(places) > 1
    assert places == sorted(places)
    assert -1e-9 <= places[0] < places[-1] <= 1 + 1e-9


def test_strengths_may_fall_and_hold_zero():
    scale = strengths([10.0, 1.0, 0.0], falling=True)
    assert [round(scale.share(value), 3) for value in (10.0, 1.0, 0.0)] == [0.0, 0.667, 1.0]
    assert [text for _, text in scale.ticks if text == "0"] == ["0"]


def shapes_of_all_kinds():
    yield rectangle((10, 10), (90, 40), "band", tooltip="<tip>")
    yield line((0, 50), (100, 50), "ideal")
    yield Outline(points=[(0, 60), (50, 90), (100, 60)], style="curve", color="#d55e00")
    for number, name in enumerate(MARKERS):
        yield marker(name, (10 + 12 * number, 75), 4, "#0072b2")
    yield Text(x=50, y=30, text="<a> & $b$", anchor="middle", style="strong halo")
    yield Text(x=9, y=90, text="up", turned=True)


def test_files_and_pages_hold_the_same_shapes():
    drawing = Drawing(list(shapes_of_all_kinds()), "all kinds", 100, 100)
    file, page = ET.fromstring(drawing.file_svg()), ET.fromstring(drawing.inline_svg())
    names = [element.tag.rpartition("}")[2] for element in file]
    assert file[0].attrib["fill"] == "#ffffff"  # the background
    assert names[1:] == [element.tag for element in page]
    assert "<a> & $b$" in [element.text for element in page]
    assert page.attrib["aria-label"] == "all kinds"
    assert [title.text for title in page.iter("title")] == ["<tip>"]
    assert all("style" not in element.attrib for element in page.iter())
    classes = {name for element in page for name in element.attrib.get("class", "").split()}
    assert classes <= STYLES.keys()
    assert all(f"svg .{name} {{" in page_css() for name in classes)


def test_a_png_shows_what_the_svg_does():
    from matplotlib.image import imread

    drawing = Drawing(list(shapes_of_all_kinds()), "all kinds", 100, 100)
    pixels = imread(io.BytesIO(drawing.png()), format="png")
    assert pixels.shape[:2] == (200, 200)
    assert drawing.png() == drawing.png()

    def color_at(x: float, y: float) -> list[int]:
        return [round(255 * value) for value in pixels[int(2 * y), int(2 * x), :3]]

    assert color_at(15, 35) == [0xE6, 0xEE, 0xF7]
    assert color_at(10, 75) == [0x00, 0x72, 0xB2]
    assert color_at(97, 95) == [255, 255, 255]


def test_series_are_named_and_chosen_points_have_rings(tmp_path: Path):
    series = [Series("one", [1, 10, 100], [0.5, 0.7, 0.8], 1), Series("two", [1, 5], [0.4, 0.6])]
    metric_by_size(series, tmp_path / "a.svg", metric="F1")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(
        f">{text}</text>" in picture for text in ("one", "two", "F1", "features with a weight")
    )
    rings = [one for one in ET.fromstring(picture) if one.attrib.get("r") == "6"]
    assert len(rings) == 1
    metric_by_size(series[:1], tmp_path / "a.svg")
    assert ">chosen: 10 features, 0.700</text>" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_metrics_may_be_on_a_logarithmic_scale(tmp_path: Path):
    series = [Series("time", [1e3, 1e4, 1e5], [2.0, 20.0, 200.0])]
    metric_by_size(series, tmp_path / "a.svg", metric="seconds", metric_scale="counts")
    root = ET.fromstring((tmp_path / "a.svg").read_text(encoding="utf-8"))
    heights = [float(one.attrib["cy"]) for one in root.iter() if one.attrib.get("r") == "2.4"]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
