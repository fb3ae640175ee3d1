"""Plugins of all kinds, as the first release's templates wrote them, run unchanged.

They are never edited: where one fails, it is textreg that has broken its promise.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import textreg
from textreg.demo import make_reviews
from textreg_testing import CHECKS

FOLDER = Path(__file__).parent / "frozen_plugins"
HOOKS = {
    "exporter": "textreg_exporters",
    "graph": "textreg_graph_builders",
    "groups": "textreg_group_builders",
    "loss": "textreg_losses",
    "penalty": "textreg_regularizers",
    "solve": "textreg_regularizers",
    "tokenizer": "textreg_tokenizers",
}
DIGEST = "4e3a9cf4a8d68f13bfa9bebd9e373df82bbab3f5a5eb641cb2dda4f5d1fc8f18"


def part_of(kind: str) -> Any:
    (part,) = getattr(import_module(f"frozen_plugins.frozen_{kind}"), HOOKS[kind])()
    return part


def test_they_are_as_they_were() -> None:
    files = sorted(FOLDER.glob("*.py"))
    assert [path.stem.removeprefix("frozen_") for path in files] == sorted(HOOKS)
    content = b"".join(path.read_bytes() for path in files)
    assert hashlib.sha256(content).hexdigest() == DIGEST


@pytest.mark.parametrize("kind", HOOKS)
def test_they_keep_their_contract(kind: str, request: pytest.FixtureRequest) -> None:
    part = part_of(kind)
    left_out = {"imports", "manifest"}
    if kind != "solve" and not request.config.getoption("--thorough"):
        left_out.add("processes")  # which is the same for all kinds, and begins a process
    for check in CHECKS[part.kind]():
        if check.name.rpartition("-")[2] not in left_out:
            check(part)


@pytest.mark.parametrize("kind", [kind for kind in HOOKS if kind != "exporter"])
def test_a_model_is_trained_with_them(kind: str) -> None:
    part = part_of(kind)
    labels, texts = map(list, zip(*make_reviews(60), strict=True))
    options: dict[str, Any] = {
        "tokenizer": {"tokenizer": part, "reg": "ridge", "reg_l2": 1.0},
        "groups": {"groups": part, "reg": "group", "reg_group": 0.1, "reg_l1": 0.1},
        "graph": {"graph": part, "reg": "network"},
        "loss": {"loss": part, "reg": "ridge", "reg_l2": 1.0, "task": "regression"},
    }.get(kind, {"reg": part})
    if kind == "loss":
        labels = [str(len(text)) for text in texts]
    model = textreg.train(texts, labels, **{"ngrams": 1, "tol": 1e-3, **options})
    assert len(set(map(str, model.predict(texts)))) > 1
