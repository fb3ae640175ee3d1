"""The default regularizer, ``auto``: what it tries, chooses, and says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from scipy.sparse import csr_array

import textreg
from textreg import Elastic, Group, Lasso, Ridge, Sentence
from textreg.builtin.separable import Auto, NoRegularizer
from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.params import AUTO
from textreg.records import Groups, Problem
from textreg.training.settings import TrainingSettings

STRENGTHS: list[tuple[Elastic | Group | Sentence, Regularizer | None]] = [
    (Sentence(group=0.0, l1=0.2, l2=0.1), Elastic(l1=0.2, l2=0.1)),
    (Sentence(group=0.0, l1=0.0, l2=0.1), Ridge(l2=0.1)),
    (Group(group=0.0, l1=0.2, l2=0.0), Lasso(l1=0.2)),
    (Group(group=0.1, l1=0.0, l2=0.0), None),
    (Group(group=0.0, l1=0.0, l2=0.0), NoRegularizer()),
    (Elastic(l1=0.2, l2=0.1), None),
    (Elastic(l1=0.0, l2=0.1), Ridge(l2=0.1)),
    (Elastic(l1=0.2, l2=0.0), Lasso(l1=0.2)),
    (Elastic(l1=0.0, l2=0.0), NoRegularizer()),
    (Elastic(), None),
    (Elastic(l1=AUTO, l2=0.1), None),
    (Sentence(), None),
]


@pytest.mark.parametrize(("full", "simple"), STRENGTHS, ids=str)
def test_the_simpler_one_minimizes_the_same(
    full: Elastic | Group | Sentence, simple: Regularizer | None
) -> None:
    assert full.reduced() == simple
    if simple is None or isinstance(simple, NoRegularizer):
        return
    rng = np.random.default_rng(0)
    problem = Problem(
        csr_array(rng.poisson(0.5, (40, 6)).astype(float)),
        rng.choice([-1.0, 1.0], 40),
        tol=1e-9,
        groups=Groups([0, 3, 6], np.arange(6), [1.0, 1.0], 6),
    )
    one, other = full.solve(problem), simple.solve(problem)
    assert one.objective == pytest.approx(other.objective, rel=1e-8)
    np.testing.assert_allclose(one.w, other.w, atol=1e-4)


X = np.random.default_rng(0).poisson(1.0, (30, 5)).astype(float)
PROBLEM = Problem(X, np.tile([1.0, -1.0], 15))
UNIT = PROBLEM.largest_gradient_at_zero()


def test_ridges_first_then_elastic_nets() -> None:
    *ridges, third, second, first = Auto().candidates(PROBLEM)
    np.testing.assert_allclose(
        [part.params()["l2"] for part in ridges], [0.3 * UNIT, 3e-2 * UNIT, 3e-4 * UNIT], rtol=1e-3
    )
    nets = third, second, first
    assert {type(part) for part in ridges} == {Ridge}
    assert {type(part) for part in nets} == {Elastic}
    shares = [part.params()["l1"] / UNIT for part in nets]
    np.testing.assert_allclose(shares, [1e-2, np.sqrt(1e-5), 1e-3], rtol=1e-3)
    np.testing.assert_allclose([part.params()["l2"] / UNIT for part in nets], 1e-3, rtol=1e-3)


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({"l1": 0.0}, {Ridge}),
        ({"l1": 0.2}, {Elastic}),
        ({"l2": 0.2}, {Ridge, Elastic}),
        ({"l2": 0.0}, {NoRegularizer, Lasso}),
        ({"l1": 0.2, "l2": 0.1}, {Elastic}),
    ],
)
def test_strengths_that_are_given(given: dict[str, float], kinds: set[type]) -> None:
    candidates = Auto(**given).candidates(PROBLEM)
    assert {type(part) for part in candidates} == kinds
    for part in candidates:
        assert all(part.params().get(key, 0.0) == value for key, value in given.items())


def corpus(kind: str, n: int = 160) -> tuple[list[str], list[str]]:
    """Labels that follow from many words together, or from one of many."""
    rng = np.random.default_rng(0)
    sides = rng.choice([-1.0, 1.0], 60) if kind == "many" else np.eye(60)[0] - 0.5 / 60
    rows = [rng.choice(60, 20, replace=False) for _ in range(n)]
    texts = [" ".join(f"w{word:02}" for word in row) + "." for row in rows]
    return texts, ["p" if sides[row].sum() > 0 else "n" for row in rows]


WORDS: dict[str, Any] = {"tokenizer": "words", "ngrams": 1, "holdout": 0.3}


@pytest.mark.parametrize(("kind", "chosen"), [("many", "ridge"), ("one", "elastic")])
def test_the_model_names_what_was_chosen(kind: str, chosen: str) -> None:
    texts, labels = corpus(kind)
    model = textreg.train(texts, labels, **WORDS)
    summary = model.summary
    assert summary is not None
    assert summary.reg.name == chosen == summary.chosen["reg"]
    assert set(summary.reg.searched) == ({"l2"} if chosen == "ridge" else {"l2", "l1"})
    tried = [point.settings["reg"] for point in summary.search]
    assert tried[:4] == ["ridge", "ridge", "ridge", "elastic"]
    # More of the elastic nets only where the first is better.
    assert tried.count("elastic") == (1 if chosen == "ridge" else tried.count("elastic"))
    named = textreg.train(
        texts, labels, reg=textreg.regularizer(chosen, **summary.reg.params), **WORDS
    )
    np.testing.assert_allclose(named.weights, model.weights, atol=1e-2)


def test_everything_is_measured_by_a_grid() -> None:
    model = textreg.train(*corpus("many"), search="grid", **WORDS)
    assert model.summary is not None
    assert len(model.summary.search) == 6


class Doubled(Ridge):
    """A ridge of twice the strength."""

    name = "doubled"


def test_others_may_join() -> None:
    textreg.register(Doubled)
    model = textreg.train(*corpus("many"), reg_also="doubled, none", **WORDS)
    assert model.summary is not None
    tried = [point.settings["reg"] for point in model.summary.search]
    assert {"ridge", "elastic", "doubled", "none"} == set(tried)
    doubled = [point for point in model.summary.search if point.settings["reg"] == "doubled"]
    assert [set(point.params) for point in doubled] == [{"l2"}] * len(doubled)


def test_one_that_cannot_join() -> None:
    with pytest.raises(UsageError, match="auto has no groups to try sentence with"):
        TrainingSettings.from_options(reg="auto", reg_also="sentence")
    with pytest.raises(textreg.TextregError, match="no regularizer 'nosuch'"):
        TrainingSettings.from_options(reg_also="nosuch")


def test_an_update_goes_on_with_what_was_chosen() -> None:
    from textreg.training.update import update

    texts, labels = corpus("one", 200)
    model = textreg.train(texts[:160], labels[:160], **WORDS)
    newer = update(model, texts[160:], labels[160:], old=(texts[:160], labels[:160]))
    assert newer.summary is not None
    assert newer.summary.reg.name == "elastic"
    assert len(newer.summary.search) == 1  # to learn the shift


def test_the_line(tmp_path: Path, cli: Cli) -> None:
    texts, labels = corpus("many")
    path = tmp_path / "corpus.jsonl"
    rows = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    words = ["train", path, "--ngrams", "1", "-o", tmp_path / "m"]
    out = cli(*words).out
    (line,) = [line for line in out.splitlines() if line.startswith("chosen: ")]
    assert line.startswith("chosen: ridge, l2 ")
    assert "(elastic at best " in line
    assert "settings of auto" in out
    (line,) = [it for it in cli(*words, "--reg", "elastic").out.splitlines() if "chosen" in it]
    assert "at best" not in line
