"""The line that names a simpler regularizer where the search has seen that it does as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from scipy.sparse import csr_array

import textreg
from textreg import Elastic, Group, Lasso, NoRegularizer, Ridge, Sentence
from textreg.kinds import Regularizer
from textreg.model.summary import TipSummary
from textreg.params import AUTO
from textreg.records import Groups, Problem
from textreg.training.settings import TrainingSettings
from textreg.training.train import _tip
from textreg.training.trials import MeasuredSetting

STRENGTHS: list[tuple[Regularizer, Regularizer | None]] = [
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
    (Sentence(), None),
    (Ridge(l2=0.0), None),
]


@pytest.mark.parametrize(("full", "simple"), STRENGTHS, ids=str)
def test_the_simpler_one_minimizes_the_same(full: Regularizer, simple: Regularizer | None) -> None:
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


def corpus(n: int = 160, seed: int = 0) -> tuple[list[str], list[str]]:
    """Labels that follow from many words together, so that the fewest zeros are best."""
    rng = np.random.default_rng(seed)
    sides = rng.choice([-1.0, 1.0], 60)
    rows = [rng.choice(60, 20, replace=False) for _ in range(n)]
    texts = [" ".join(f"w{word}" for word in row) + "." for row in rows]
    return texts, ["p" if sides[row].sum() > 0 else "n" for row in rows]


def trained(**options: Any) -> textreg.Model:
    texts, labels = corpus()
    return textreg.train(texts, labels, ngrams=1, holdout=0.3, search="grid", **options)


def tip_of(model: textreg.Model) -> Any:
    assert model.summary is not None
    return model.summary.tip


def test_a_search_that_prefers_no_penalty_names_what_is_left() -> None:
    space = {"reg_group": [0.0, 0.05, 0.2], "reg_l1": [0.0, 0.5, 2.0]}
    model = trained(reg="sentence", reg_l2=0.1, search_space=space, metric="log-loss")
    tip, summary = tip_of(model), model.summary
    assert summary is not None
    assert summary.reg.params["group"] == summary.reg.params["l1"] == 0.0
    assert (tip.name, tip.without) == ("ridge", ("group", "l1"))
    others = [point for point in summary.search if point.params["group"] or point.params["l1"]]
    assert tip.best == min(point.metrics["log-loss"] for point in others)
    ridge = trained(reg="ridge", reg_l2=0.1)
    texts = corpus(seed=1)[0]
    np.testing.assert_allclose(
        ridge.decision_function(texts), model.decision_function(texts), atol=1e-2
    )


def test_no_tip_where_nothing_was_seen() -> None:
    space = {"reg_group": [0.05, 0.2], "reg_l1": [0.5, 2.0]}
    assert tip_of(trained(reg="sentence", reg_l2=0.1, search_space=space)) is None
    given = trained(reg="sentence", reg_group=0.0, reg_l1=0.0, reg_l2=0.1)
    assert tip_of(given) is None
    only = trained(reg="elastic", search_space={"reg_l1": [0.0], "reg_l2": [0.1, 1.0]})
    assert tip_of(only) is None  # nothing but zero was measured
    assert tip_of(trained(reg="ridge")) is None


@pytest.mark.parametrize(("sparse", "tipped"), [(0.7, False), (0.8, True), (0.9, True)])
def test_no_tip_where_the_rule_left_a_better_setting(sparse: float, tipped: bool) -> None:
    """The smaller model may be chosen although it is worse, and then nothing does as well."""
    settings = TrainingSettings.from_options(reg="elastic")
    measured = [
        MeasuredSetting(Elastic(l1=2.0, l2=0.0), {"accuracy": sparse}, 3.0, ()),
        MeasuredSetting(Elastic(l1=0.2, l2=0.1), {"accuracy": 0.8}, 30.0, ()),
    ]
    tip = _tip(settings, measured[0], measured, "accuracy")
    assert tip == (TipSummary("lasso", ("l2",), 0.8) if tipped else None)


def test_the_line(tmp_path: Path, cli: Cli) -> None:
    texts, labels = corpus()
    path = tmp_path / "corpus.jsonl"
    rows = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    words = ["train", path, "--reg", "elastic", "--reg-l2", "0.1", "--ngrams", "1"]
    words += ["--metric", "log-loss", "--search-space", "reg-l1=0,0.5,2", "-o", tmp_path / "m"]
    result = cli(*words)
    assert result.code == 0
    (line,) = [line for line in result.out.splitlines() if line.startswith("tip: ")]
    assert line.startswith("tip: elastic does as well with l1 at 0 (log-loss 0.")
    assert line.endswith(" at best): --reg ridge fits the same, and more quickly")
    assert "tip" not in cli(*words, "--quiet").out
    found = json.loads(cli(*words, "--json").out)["tip"]
    assert (found["name"], found["without"]) == ("ridge", ["l1"])
    assert tip_of(textreg.load(tmp_path / "m")).name == "ridge"
    words[words.index("--search-space") + 1] = "reg-l1=0.5,2"
    assert "tip: " not in cli(*words).out
    assert json.loads(cli(*words, "--json").out).get("tip") is None


def test_a_plugin_needs_none() -> None:
    class Own(Regularizer):
        name = "own"

        def solve(self, problem: Problem) -> Any:
            raise NotImplementedError

    assert Own().reduced() is None
    assert Elastic(l1=AUTO, l2=0.1).reduced() is None
