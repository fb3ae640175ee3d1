"""Columns that give the label away, and those that do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.errors import DataError

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
