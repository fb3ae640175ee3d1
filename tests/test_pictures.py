"""Pictures can be read: names beside the marks cover neither each other nor other marks."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from textreg.measure import plots
from textreg.measure.names import POINT, Name, write_names
from textreg.measure.plots import Mark, accuracy_by_size


def panel() -> Axes:
    figure = Figure(figsize=(4.4, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.set_xlim(0, 10)
    axis.set_ylim(0, 10)
    figure.draw_without_rendering()
    return axis


def boxes(axis: Axes):
    """The boxes of the names written, without the lines that lead to them."""
    axis.get_figure(root=True).draw_without_rendering()
    names = [text for text in axis.texts if isinstance(text, Annotation)]
    return [Text.get_window_extent(name) for name in names]


CROWDS = {
    "one place": [(5, 5)] * 12,
    "a corner": [(9.9, 9.9)] * 6,
    "a row": [(4 + number / 5, 5) for number in range(10)],
}


@pytest.mark.parametrize("crowd", CROWDS.values(), ids=CROWDS)
def test_no_name_covers_another_or_leaves_the_panel(crowd):
    axis = panel()
    write_names(axis, [Name(f"name {number}", at, "black") for number, at in enumerate(crowd)])
    written = boxes(axis)
    assert len(written) == len(crowd)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(written, 2))
    picture = axis.get_figure(root=True).bbox
    for box in written:
        assert picture.x0 <= box.x0 < box.x1 <= picture.x1
        assert picture.y0 <= box.y0 < box.y1 <= picture.y1


def test_names_of_a_crowded_task(tmp_path: Path, monkeypatch):
    """Where models crowd, and two are the same, a name rather covers a mark than another name."""
    crowd = {
        "none": (19301, 0.775), "ridge": (19301, 0.78), "lasso": (673, 0.745), "lsi": (543, 0.73),
        "lda": (555, 0.725), "elastic": (2749, 0.755),
        "sentence": (2248, 0.75), "sentence-admm": (1135, 0.76), "communities": (1733, 0.745),
        "clusters": (1028, 0.765), "omp": (1500, 0.76), "gomp": (1500, 0.76),
    }  # fmt: skip
    marks = [Mark(name, *where) for name, where in crowd.items()]
    found = {}

    def seen(axis, names, lines=()):
        write_names(axis, names, lines)
        found.update(zip([name.text for name in names], boxes(axis), strict=True))

    monkeypatch.setattr(plots, "write_names", seen)
    accuracy_by_size({"task": marks}, tmp_path / "picture.svg")
    assert found.keys() == crowd.keys()
    for one, other in itertools.combinations(found, 2):
        assert not found[one].overlaps(found[other]), f"{one} and {other}"


def test_a_name_keeps_off_other_marks_and_lines():
    axis = panel()
    line = [(0, 5), (10, 5)]
    write_names(axis, [Name("one", (5, 5), "black"), Name("two", (5.5, 5), "black")], [line])
    level = axis.transData.transform((0, 5))[1]
    for box in boxes(axis):
        assert box.y1 < level - POINT / 2 or box.y0 > level + POINT / 2


def test_a_name_stands_right_of_its_mark_where_there_is_room():
    axis = panel()
    write_names(axis, [Name("alone", (5, 5), "black")])
    (box,) = boxes(axis)
    x, y = axis.transData.transform((5, 5))
    assert box.x0 > x
    assert box.y0 < y < box.y1


def test_names_leave_the_layout_as_it_was(tmp_path: Path, monkeypatch):
    """Were names to shrink the panels, they would no longer be where room was found."""
    marks = [
        Mark(f"a name that has no room beside its mark {number}", 100, 0.9) for number in range(8)
    ]
    places = []

    def seen(axis, names, lines=()):
        before = axis.get_position().bounds
        write_names(axis, names, lines)
        axis.get_figure(root=True).draw_without_rendering()
        places.append((before, axis.get_position().bounds))

    monkeypatch.setattr(plots, "write_names", seen)
    accuracy_by_size({"task": marks}, tmp_path / "picture.svg")
    (found,) = places
    assert found[0] == pytest.approx(found[1])
