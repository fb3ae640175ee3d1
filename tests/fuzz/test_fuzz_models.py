"""The first cases of hostile model files."""

from __future__ import annotations

from frame import check


def test_hostile_model_files() -> None:
    outcome = check("models", cases=20)
    assert outcome.counts["raw loaded"] + outcome.counts["re-signed loaded"] > 3
    assert outcome.counts["ModelError"] > 18
