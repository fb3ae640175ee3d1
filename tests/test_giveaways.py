"""Columns that give the label away, and those that do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.checking import CheckSettings
from textreg.checking.documents import Documents
from textreg.checking.labels import _by_order, _by_value, _tells, _told, giveaway_columns
from textreg.errors import DataError
from textreg.records import Corpus

N = 120
LABELS = ["good" if at % 3 else "bad" for at in range(N)]
RANDOM = np.random.default_rng(0)
TEXTS = [f"text {at} of {N}" for at in range(N)]


def told(**columns: list[Any]) -> dict[str, tuple[str, str, float]]:
    result = textreg.check(TEXTS, LABELS, columns=columns, skip=["suspected-labels"])
    finding = result.find("giveaway-columns")
    if finding is None:
        return {}
    columns = finding.details["columns"]
    assert finding.count == len(columns) == len(finding.examples) <= finding.total
    return {one[0]: one for one in columns}


@pytest.mark.parametrize(
    ("values", "how"),
    [
        ([f" {label.upper()}" for label in LABELS], "is the label"),
        ([label[0] for label in LABELS], "determines the label"),
        ([None if label == "bad" else "because" for label in LABELS], "determines the label"),
        ([f"{label[0]}{at % 20}" for at, label in enumerate(LABELS)], "determines the label"),
        ([f"{label}/{at}.txt" for at, label in enumerate(LABELS)], "is in the order of the labels"),
        (
            [at / 7 + (1000.0 if label == "good" else 0.0) for at, label in enumerate(LABELS)],
            "is in the order of the labels",
        ),
    ],
)
def test_what_gives_the_label_away(values: list[Any], how: str) -> None:
    found = told(column=values)
    assert found["column"][1] == how
    assert found["column"][2] >= 0.9


@pytest.mark.parametrize(
    "values",
    [
        [f"id {at}" for at in range(N)],
        [f"the {label} one, {at} in all" for at, label in enumerate(LABELS)],
        list(range(N)),
        RANDOM.normal(size=N).tolist(),
        RANDOM.choice(["north", "south"], N).tolist(),
        ["always the same"] * N,
        [None] * N,
        TEXTS,
        [
            label if luck < 0.8 else "?"
            for label, luck in zip(LABELS, RANDOM.random(N), strict=True)
        ],
        [float("nan")] * N,
    ],
    ids=lambda values: str(values[0]),
)
def test_what_does_not(values: list[Any]) -> None:
    assert told(column=values) == {}


def test_pairs_of_copies_are_not_enough() -> None:
    """Each value twice: the other one tells nothing surely."""
    assert told(column=[f"customer {at // 2}" for at in range(N)]) == {}


def test_in_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [
        {"text": text, "label": label, "code": label[0], "nested": {"x": [at]}}
        for at, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    rows.insert(5, {"text": None, "label": "good", "code": "?", "nested": {}})  # type: ignore[dict-item]
    del rows[7]["nested"]
    path.write_text("\n".join(map(json.dumps, rows)))
    result = json.loads(cli("check", path, "--skip", "suspected-labels", "--json").out)
    (finding,) = (one for one in result["findings"] if one["name"] == "giveaway-columns")
    assert finding["columns"] == [["code", "determines the label", 1.0]]
    assert finding["total"] == 2
    assert finding["examples"][0]["detail"] == "code b, label bad"


def test_wrong_columns() -> None:
    with pytest.raises(DataError, match="120 texts but 1 values in the column 'code'"):
        told(code=["x"])


def test_what_values_and_their_order_tell() -> None:
    """A document is judged by the others, so a value that occurs once tells nothing."""
    labels = ["a", "a", "b", "a", "a", "b", "c"]
    assert _by_value(["x", "x", "y", "z", "z", "z", "w"], labels) == 2 / 7  # of z none is ahead
    assert _by_value(["x", "x", "y", "x", "x", "y", "w"], labels) == 6 / 7
    assert _by_value(["x", "x", "x", "x", "y", "z", "z"], labels) == 3 / 7
    # 3 5 7 20 100: as numbers, and of equal ones the first
    assert _by_order(["20", "3", "100", "7", "5"], ["b", "a", "b", "b", "a"]) == 3 / 4
    assert _by_order(["20", "3", "x", "7", "5"], ["b", "a", "b", "b", "a"]) == 1 / 2
    assert _by_order(["1", "1", "0", "0"], ["a", "b", "a", "a"]) == 2 / 3
    assert _by_order(["1", "nan", "2"], ["a", "b", "a"]) == 1 / 2
    assert _by_order(["1"], ["a"]) == 0.0


@pytest.mark.parametrize(
    ("share", "without", "tells"),
    [
        (0.9, 0.5, True),
        (0.89, 0.0, False),
        (0.9375, 0.6875, True),
        (0.9375, 0.75, False),
        (1, 1, True),
    ],
)
def test_how_much_more_a_column_must_tell(share: float, without: float, tells: bool) -> None:
    assert _tells(share, without) is tells


def test_columns_that_are_just_good_enough() -> None:
    labels = ["a", "b"] * 10
    for wrong, found in ((2, ("column", "is the label", 0.9)), (3, None)):
        assert _told("column", [*["?"] * wrong, *labels[wrong:]], labels) == found
    codes = {"a": "x", "b": "y"}
    values = [codes[label] for label in labels]
    assert _told("column", ["?", "!", *values[2:]], labels) == (
        *("column", "determines the label", 0.9),
    )
    assert _told("column", ["?", "!", ".", *values[3:]], labels) is None
    # Half of the values differ: more than half must, and most be as short as an id.
    order = sorted(labels)
    eleven = [f"{label} {at // 2 if at < 18 else at}" for at, label in enumerate(order)]
    assert len(set(eleven)) == 11
    ids = [f"{label} {at}" for at, label in enumerate(order)]
    assert _told("column", ids, order) == ("column", "is in the order of the labels", 18 / 19)
    long = [f"{one} more" if at < 10 else one for at, one in enumerate(ids)]
    assert _told("column", long, order) is None
    long[9] = ids[9]
    assert _told("column", long, order) is not None


def test_a_few_documents_are_too_few() -> None:
    for n, count in ((19, 0), (20, 1)):
        labels = ["Ab"[at % 2] for at in range(n)]
        result = Documents(Corpus(TEXTS[:n], labels), CheckSettings())
        code = [" a", "B"] * 10
        finding = giveaway_columns(result, {"code": code[:n], "none": [None] * n})
        assert (finding.count, finding.total) == (count, 2)
    assert finding.details == {"columns": (("code", "is the label", 1.0),)}
    assert finding.what == "they give the label away: 'code' is the label (100.0%)"
    assert finding.examples[0].detail == "code  a, label A"
