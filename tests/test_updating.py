"""New documents on top of those of a model: the same as training on all, and what is noted."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg import Corpus, Model, TextregError, load, train, update
from textreg.errors import DataError, DataWarning, ModelError, UsageError
from textreg.records.text import Names, find_names
from textreg.training import update as update_module
from textreg.training.update import initial_weights, joined

DAY = "2026-01-31"
Labeled = tuple[list[str], list[str]]


def documents(n: int, words: int, seed: int, labels: Sequence[str] = ("neg", "pos")) -> Labeled:
    """Sentences of made-up words, of which every third speaks for a label."""
    random = np.random.default_rng(seed)
    texts, given = [], []
    for _ in range(n):
        drawn = random.integers(words, size=12)
        texts.append(". ".join(" ".join(f"w{j}" for j in part) for part in drawn.reshape(3, 4)))
        score = (drawn % 3 == 0).sum() + random.normal()
        given.append(labels[min(int(score > 4.0) + int(score > 5.5), len(labels) - 1)])
    return texts, given


OLD, NEW = documents(120, 40, 1), documents(40, 60, 2)
THREE = documents(60, 60, 3, ("neg", "pos", "superb"))


def together(*parts: Labeled) -> Labeled:
    texts = [text for texts, _ in parts for text in texts]
    return texts, [label for _, labels in parts for label in labels]


def fresh(model: Model, corpus: Labeled, **more: Any) -> Model:
    """A training on all documents with the strengths of a model."""
    assert model.summary is not None
    strengths = {f"reg_{name}": value for name, value in model.summary.reg.params.items()}
    given = {"reg": model.summary.reg.name, "tokenizer": "words", **strengths, **more}
    return train(*corpus, **given)


def objectives_agree(one: Model, other: Model) -> None:
    """Both are certified, so neither lies above the other by more than its own gap."""
    first, second = one.summary, other.summary
    assert first is not None
    assert second is not None
    assert first.converged
    assert second.converged
    assert first.gap is not None
    assert second.gap is not None
    apart = first.objective - second.objective
    assert -second.gap * second.objective <= apart <= first.gap * first.objective


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reg", ["ridge", "lasso", "elastic", "sentence", "network"])
def test_equals_training_on_all_documents(reg: str) -> None:
    model = train(*OLD, reg=reg, tokenizer="words")
    newer = update(model, *NEW, old=OLD)
    again = fresh(model, together(OLD, NEW))
    objectives_agree(newer, again)
    assert newer.summary is not None
    assert again.summary is not None
    assert newer.summary.documents == 160
    assert newer.summary.features == again.summary.features
    assert newer.summary.reg.params == again.summary.reg.params
    # Nothing is searched any more: the one setting is measured, on what its shift is learned from.
    assert len(newer.summary.search) == 1
    assert newer.summary.shift is not None


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
def test_new_labels(multiclass: str) -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words", multiclass=multiclass)
    newer = update(model, *THREE, old=OLD, date=DAY)
    assert newer.labels == ("neg", "pos", "superb")
    objectives_agree(newer, fresh(model, together(OLD, THREE), multiclass=multiclass))
    assert newer.summary is not None
    assert newer.summary.updates[0].labels == ("superb",)
    further = update(newer, *NEW, old=together(OLD, THREE), date=DAY)
    objectives_agree(further, fresh(model, together(OLD, THREE, NEW), multiclass=multiclass))


def test_what_was_added_when(tmp_path: Path) -> None:
    model = train(*OLD, reg="lasso", reg_l1=1.0, tokenizer="words")
    newer = update(model, *NEW, old=OLD, date="2026-01-31")
    last = update(newer, *THREE, old=together(OLD, NEW), date="2026-02-28")
    last.save(tmp_path / "model.textreg")
    summary = load(tmp_path / "model.textreg").summary
    assert summary is not None
    assert model.summary is not None
    first, second = summary.updates
    assert (first.date, first.documents, first.old, first.labels) == ("2026-01-31", 40, 120, ())
    assert (second.date, second.documents, second.old) == ("2026-02-28", 60, 160)
    assert second.labels == ("superb",)
    assert first.features == model.summary.features
    assert first.features + first.added == second.features
    assert second.features + second.added == summary.features


def test_starts_from_the_weights_of_the_model() -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words", tol=1e-9, prune=0)
    newer = update(model, NEW[0][:1], NEW[1][:1], old=OLD)
    encoder = newer.encoder
    (start,) = initial_weights(model, encoder, newer.task)
    weights, intercept = start.dense(encoder.n_columns)
    names = {name: weights[at] for at, name in enumerate(encoder.names)}
    for at, name in enumerate(model.encoder.names):
        assert names[name] == pytest.approx(model.weights[0, at], rel=1e-6)
    assert np.count_nonzero(weights) == model.n_features
    assert intercept == model.intercepts[0]


def test_a_lasso_starts_from_them() -> None:
    model = train(*OLD, reg="lasso", reg_l1=0.1, tokenizer="words", tol=1e-9)
    newer = update(model, NEW[0][:1], NEW[1][:1], old=OLD)
    again = fresh(model, together(OLD, ([NEW[0][0]], [NEW[1][0]])), tol=1e-9)
    assert newer.summary is not None
    assert again.summary is not None
    assert newer.summary.iterations < again.summary.iterations


def test_starts_of_labels_by_their_names() -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words")
    three = train(*together(OLD, THREE), reg="ridge", reg_l2=0.5, tokenizer="words")
    starts = initial_weights(model, three.encoder, three.task)
    size = three.encoder.n_columns
    negative, positive, unseen = (start.dense(size) for start in starts)
    np.testing.assert_array_equal(negative[0], -positive[0])
    assert negative[1] == -positive[1]
    assert np.count_nonzero(positive[0])
    assert not np.count_nonzero(unseen[0])


def test_find_names() -> None:
    names = ["a", "b c", "ü", ""]
    for others in (["", "b c", "x", "a"], Names.of(["", "b c", "x", "a"])):
        assert find_names(names, others).tolist() == [3, 1, -1, 0]


def test_thresholds_and_calibration_are_chosen_again() -> None:
    given = {"reg": "ridge", "reg_l2": 0.5, "tokenizer": "words"}
    model = train(*OLD, calibrate="temperature", threshold={"pos": "f1"}, **given)
    newer = update(model, *NEW, old=OLD)
    again = train(*together(OLD, NEW), calibrate="temperature", threshold={"pos": "f1"}, **given)
    assert newer.calibration.temperature == pytest.approx(again.calibration.temperature, rel=1e-3)
    assert newer.calibration != model.calibration
    assert newer.thresholds == pytest.approx(again.thresholds, rel=1e-2)
    assert newer.summary.dev.documents == again.summary.dev.documents == 160  # each left out once


def test_several_labels_a_document() -> None:
    sets = [[label] if at % 3 else [label, "long"] for at, label in enumerate(OLD[1])]
    more = [[label] if at % 4 else ["new"] for at, label in enumerate(NEW[1])]
    model = train(OLD[0], sets, reg="ridge", reg_l2=0.5, tokenizer="words")
    newer = update(model, NEW[0], more, old=(OLD[0], sets))
    assert newer.labels == ("long", "neg", "new", "pos")
    assert model.thresholds.keys() <= newer.thresholds.keys()
    again = train(OLD[0] + NEW[0], sets + more, reg="ridge", reg_l2=0.5, tokenizer="words")
    objectives_agree(newer, again)


def test_regression_and_weights() -> None:
    numbers = [[str(len(text) % 7) for text in texts] for texts in (OLD[0], NEW[0])]
    model = train(OLD[0], numbers[0], task="regression", reg="ridge", reg_l2=0.5, tokenizer="words")
    weights = np.linspace(0.5, 2.0, 40)
    newer = update(model, NEW[0], numbers[1], old=(OLD[0], numbers[0]), sample_weight=weights)
    again = train(
        *(OLD[0] + NEW[0], numbers[0] + numbers[1]), task="regression", reg="ridge", reg_l2=0.5,
        tokenizer="words", sample_weight=np.concatenate([np.ones(120), weights]),
    )  # fmt: skip
    objectives_agree(newer, again)


def test_fields() -> None:
    def rows(texts: Sequence[str]) -> list[dict[str, Any]]:
        return [{"title": text[:8], "body": text, "length": len(text)} for text in texts]

    fields = {"title": "text", "body": "text", "length": "number"}
    given: dict[str, Any] = {"reg": "ridge", "reg_l2": 0.5, "fields": fields}
    model = train(rows(OLD[0]), OLD[1], **given)
    newer = update(model, rows(NEW[0]), NEW[1], old=(rows(OLD[0]), OLD[1]))
    objectives_agree(newer, train(rows(OLD[0] + NEW[0]), OLD[1] + NEW[1], **given))


def test_threads_change_nothing(tmp_path: Path) -> None:
    model = train(*together(OLD, THREE), reg="lasso", reg_l1=0.5, tokenizer="words")
    for jobs in (1, 3):
        newer = update(model, *NEW, old=together(OLD, THREE), jobs=jobs, date=DAY)
        newer.save(tmp_path / f"{jobs}.textreg")
    assert (tmp_path / "1.textreg").read_bytes() == (tmp_path / "3.textreg").read_bytes()


def test_fewer_old_documents_are_told() -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words")
    with pytest.warns(DataWarning, match=r"100, and the model was fitted on 120"):
        update(model, *NEW, old=(OLD[0][:100], OLD[1][:100]))


def wrong_updates() -> list[tuple[dict[str, Any], type[TextregError], str]]:
    sets = [[label] for label in NEW[1]]
    return [
        ({"old": None, "labels": ["new"] * 40}, UsageError, "no label 'new', and a new one needs"),
        ({"labels": sets}, DataError, "the new documents have lists of labels"),
        ({"old": (OLD[0], [[label] for label in OLD[1]])}, DataError, "the old documents have"),
        ({"texts": [], "labels": []}, DataError, "the new documents are missing"),
        ({"old": Corpus(OLD[0])}, DataError, "the old documents have no labels"),
        ({"date": "31.1.2026"}, UsageError, "'31.1.2026' is not a date"),
        ({"texts": [[["w1"]]] * 40}, DataError, "all be texts, or all be lists"),
        ({"model": "model.textreg"}, UsageError, r"must be a Model, as textreg.load\(path\)"),
    ]


@pytest.mark.parametrize(("changes", "error", "message"), wrong_updates())
def test_errors(changes: dict[str, Any], error: type[TextregError], message: str) -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words")
    given = {"model": model, "texts": NEW[0], "labels": NEW[1], "old": OLD, **changes}
    with pytest.raises(error, match=message):
        update(**given)


def test_a_model_without_settings() -> None:
    model = train(*OLD, reg="ridge", reg_l2=0.5, tokenizer="words")
    model.summary = None
    with pytest.raises(ModelError, match="does not hold the settings"):
        update(model, *NEW, old=OLD)


def test_a_model_loaded_without_its_tokenizers(tmp_path: Path) -> None:
    train(*OLD, reg="ridge", reg_l2=0.5).save(tmp_path / "m.textreg")
    with pytest.raises(ModelError, match="load it again without tokenizer=False"):
        update(load(tmp_path / "m.textreg", tokenizer=False), *NEW, old=OLD)


# -- the command ------------------------------------------------------------------------------


def write(path: str, corpus: Labeled, text: str = "text", label: str = "label") -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([text, label])
        table.writerows(zip(*corpus, strict=True))
    return path


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    monkeypatch.chdir(tmp_path)
    write("old.csv", OLD, "review", "class")
    write("new.csv", NEW, "review", "class")
    fixed = "--tokenizer words --reg lasso --reg-l1 0.5 --text-col review --label-col class".split()
    assert cli("train", "old.csv", *fixed, "-o", "old.textreg").code == 0
    return tmp_path


def test_the_command(trained: Path, cli: Cli) -> None:
    words = ["update", "old.textreg", "new.csv", "--old", "old.csv", "-o", "new.textreg"]
    result = cli(*words, "--date", DAY)
    assert result.code == 0, result.err
    newer = load("new.textreg")
    objectives_agree(newer, fresh(load("old.textreg"), together(OLD, NEW)))
    assert newer.summary is not None
    (noted,) = newer.summary.updates
    added = f"{DAY}: 40 documents; +{noted.added:,} features to {noted.features:,}"
    assert f"added {added}; 120 old documents read again" in result.out
    assert added in cli("show", "new.textreg").out
    shown = json.loads(cli("show", "new.textreg", "--json").out)["summary"]["updates"]
    assert shown[0]["files"] == ["new.csv"]
    assert shown[0]["date"] == DAY


def test_the_command_of_an_updated_model_makes_the_same(trained: Path, cli: Cli) -> None:
    words = ["update", "old.textreg", "new.csv", "--old", "old.csv", "-o", "new.textreg"]
    result = cli(*words, "--json")
    assert json.loads(result.out)["documents"] == 160
    made = cli("show", "new.textreg", "--command").out.split()
    assert made[:4] == ["textreg", "train", "old.csv", "new.csv"]
    again = cli(*made[1:-1], "again.textreg")
    assert again.code == 0, again.err
    objectives_agree(load("new.textreg"), load("again.textreg"))


def test_a_model_may_be_updated_in_place(trained: Path, cli: Cli) -> None:
    before = load("old.textreg").summary
    words = ["update", "old.textreg", "new.csv", "--old", "old.csv", "-o", "old.textreg", "--quiet"]
    result = cli(*words)
    assert (result.code, result.out) == (0, "")
    after = load("old.textreg").summary
    assert before is not None
    assert after is not None
    assert (before.documents, after.documents) == (120, 160)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["other.csv", "--old", "old.csv"], "The columns are those of old.textreg"),
        (["new.csv", "--old", "old.csv", "--date", "today"], "'today' is not a date"),
        (["missing.csv", "--old", "old.csv"], "missing.csv"),
        (["new.csv", "--old", "new.csv"], "new.csv is named twice"),
        (["new.csv", "--old", "old.csv", "-o", "new.csv"], "overwrite"),
    ],
)
def test_errors_of_the_command(trained: Path, cli: Cli, words: list[str], message: str) -> None:
    write("other.csv", NEW, "review", "sentiment")
    before = Path("old.textreg").read_bytes()
    output = [] if "-o" in words else ["-o", "made.textreg"]
    result = cli("update", "old.textreg", *words, *output)
    assert result.code == 2, result.err
    assert message in result.err
    assert not Path("made.textreg").exists()
    assert Path("old.textreg").read_bytes() == before


def test_other_columns_can_be_named(trained: Path, cli: Cli) -> None:
    write("other.csv", NEW, "review", "sentiment")
    write("older.csv", OLD, "review", "sentiment")
    words = ["update", "old.textreg", "other.csv", "--old", "older.csv", "-o", "new.textreg"]
    assert cli(*words, "--label-col", "sentiment").code == 0
    assert textreg.load("new.textreg").summary is not None


def test_what_is_told_of_the_labels_of_both() -> None:
    summary: Any = SimpleNamespace(labels={"a": 3, "c": 1}, documents=4)
    task: Any = SimpleNamespace(discrete=True, describe=lambda y: {"a": 2, "b": 5})
    assert update_module._described(summary, task, np.zeros(7)) == {"a": 5, "c": 1, "b": 5}
    # Of 1, 3 and 5, 5, 8: the mean and the deviation of all five.
    old, new = np.array([1.0, 3.0]), np.array([5.0, 5.0, 8.0])
    told = [{"mean": it.mean(), "standard_deviation": it.std()} for it in (old, new)]
    summary = SimpleNamespace(labels=told[0], documents=2)
    task = SimpleNamespace(discrete=False, describe=lambda y: told[1])
    every = np.concatenate([old, new])
    assert update_module._described(summary, task, new) == pytest.approx(
        {"mean": every.mean(), "standard_deviation": every.std()}
    )


def test_the_old_documents_come_before_the_new_ones() -> None:
    """With weights of 1 where only some have weights, and the places of all in their files."""
    columns: list[dict[str, Any]] = [
        {"source_of": np.array([0, 1]), "line_of": np.array([4, 7]), "sources": ["a", "b"]},
        {"source_of": np.array([0]), "line_of": np.array([2]), "sources": ["c"]},
    ]
    groups = {"group_of": ["g", "h"], "evidence_of": [[(0, 1)], []]}
    old = Corpus(["x y", "z"], ["p", "n"], sample_weight=[2.0, 3.0], **groups, **columns[0])
    new = Corpus(["w"], ["n"], group_of=["g"], evidence_of=[[]], **columns[1])
    both = joined(old, new, held_out=True)
    assert (list(both.texts), list(both.labels or ())) == (["x y", "z", "w"], ["p", "n", "n"])
    assert both.sample_weight is not None
    assert both.sample_weight.tolist() == [2.0, 3.0, 1.0]
    assert [list(it) for it in both.evidence_of or ()] == [[(0, 1)], [], []]
    assert list(both.group_of or ()) == ["g", "h", "g"]
    assert [both.where(row) for row in range(3)] == ["a:4", "b:7", "c:2"]
    both = joined(replace(old, time_of=[1.0, 5.0]), replace(new, time_of=[2.0]), held_out=True)
    assert list(both.time_of or ()) == [1.0, 5.0, 2.0]
    apart = joined(new, replace(old, line_of=None), held_out=False)
    assert apart.sample_weight is not None
    assert apart.sample_weight.tolist() == [1.0, 2.0, 3.0]
    assert apart.group_of is apart.line_of is apart.time_of is None
    assert apart.source_of is not None
    assert apart.source_of.tolist() == [0, 1, 2]
    plain = joined(Corpus(["x"], ["p"]), Corpus(["y"], ["n"]), held_out=True)
    assert plain.sample_weight is plain.group_of is plain.evidence_of is plain.source_of is None
    for first, second, message in (
        (old, replace(new, group_of=None), "the old documents have groups and the new ones have "),
        (replace(old, group_of=None), new, "the new documents have groups and the old ones have "),
    ):
        with pytest.raises(DataError, match=message + "none: give them to all, or to none."):
            joined(first, second, held_out=True)


def test_days() -> None:
    assert update_module.as_date("2026-01-31") == DAY
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", update_module.as_date(None))
    for wrong in ("", "31.1.2026", "2026-02-30", 20260131):
        with pytest.raises(UsageError, match=f"^'{wrong}' is not a date: write it as 2026-01-31.$"):
            update_module.as_date(wrong)  # type: ignore[arg-type]
