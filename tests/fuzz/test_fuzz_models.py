"""The first cases of hostile model files."""

from __future__ import annotations

from frame import check


def test_hostile_model_files() -> None:
    outcome = check("models", cases=24)
    assert outcome.counts["raw loaded"] + outcome.counts["re-signed loaded"] > 1
    assert outcome.counts["ModelError"] > 10
