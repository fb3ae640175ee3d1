"""Not knowing: a label for texts that belong to none, its threshold, and coverage against risk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.errors import DataError, DataWarning, UsageError
from textreg.measure.decisions import (
    COVERAGES,
    RiskCurve,
    choose_unknown,
    parse_unknown_rule,
)
from textreg.records import Corpus
from textreg.tasks import classification
from textreg.tasks.base import Held
from textreg.training.settings import TrainingSettings
from textreg_report import report
from textreg_report.benchmark import Benchmark, compare

NAMES = ("ape", "bee", "cat")
TEXTS = [f"the {name}s are w{at % 7} here" for at in range(20) for name in NAMES]
LABELS = [name for _ in range(20) for name in NAMES]
ODD = ["the elks are w1", "owls here", "what is it", "the w3 w4", "nothing of the kind"]
TEST = Corpus(["the apes", "the bees here", "the cats", *ODD], [*NAMES, *["oos"] * 5])
OPTIONS = {"reg": "ridge", "tokenizer": "words", "ngrams": 1, "unknown": "oos"}


def with_odd(**options: object) -> textreg.model.model.Model:
    return textreg.train(TEXTS + ODD, LABELS + ["oos"] * 5, **{**OPTIONS, **options})


cases = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), st.booleans(), st.booleans(), st.integers(1, 3)
    ),
    min_size=1,
    max_size=12,
)


@given(cases, st.sampled_from(["coverage:0.7", "coverage:1", "risk:0.3", "accuracy", "f1"]))
def test_a_rule_finds_the_best_of_all_thresholds(
    rows: list[tuple[float, bool, bool, int]], rule: str
) -> None:
    confidence, inside, right, weights = map(np.array, zip(*rows, strict=True))
    right &= inside
    weights = weights.astype(float)
    if not inside.any() or (rule in ("accuracy", "f1") and inside.all()):
        return
    curve = RiskCurve.of(confidence, inside, right, weights)

    def figures(threshold: float) -> tuple[float, ...]:
        answered = confidence >= threshold
        left = weights[~answered & ~inside].sum()
        share = weights[answered & inside].sum() / weights[inside].sum()
        risk = weights[answered & ~right].sum() / max(weights[answered].sum(), 1e-9)
        f1 = 2 * left / max(weights[~answered].sum() + weights[~inside].sum(), 1e-9)
        return share, risk, weights[answered & right].sum() + left, f1, weights[answered].sum()

    every = {t: figures(t) for t in (-1.0, 0.25, 0.75, 1.25, 1.75, 3.0)}
    try:
        chosen = choose_unknown(rule, curve, "oos")
    except DataError:
        assert rule == "risk:0.3"
        assert not any(some and risk <= 0.3 for _, risk, _, _, some in every.values())
        return
    share, risk, accuracy, f1, answered = figures(chosen.value)
    assert chosen.coverage == pytest.approx(share)
    assert chosen.risk == pytest.approx(risk)
    if rule.startswith("coverage"):
        least = float(rule[9:])
        assert share >= least - 1e-9
        assert not any(s >= least and fewer < answered for s, *_, fewer in every.values())
    elif rule == "risk:0.3":
        assert risk <= 0.3
        assert share >= max(s for s, r, _, _, some in every.values() if some and r <= 0.3) - 1e-9
    elif rule == "accuracy":
        assert accuracy == pytest.approx(max(value[2] for value in every.values()))
    else:
        assert f1 == pytest.approx(max(value[3] for value in every.values()))


def test_the_curve_by_hand() -> None:
    confidence = np.array([1.0, 4.0, 2.0, 3.0])
    right, inside = np.array([False, True, True, False]), np.array([True, True, True, False])
    curve = RiskCurve.of(confidence, inside, right, np.ones(len(right)))
    assert curve.risk == pytest.approx([0, 0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.coverage == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert curve.aurc() == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    table = curve.table("oos", 2.5)
    assert table.now == (0.5, 2.5, 0.5, pytest.approx(1 / 3), 0.0)
    assert table.lines[0].coverage == 1.0
    assert len(table.lines) <= len(COVERAGES)
    assert (table.documents, table.unknown) == (3, 1)
    assert table.curve[-1] == pytest.approx((1.0, 0.5))
    right = np.array([True, False, True])
    equal = RiskCurve.of(np.ones(3), np.ones(3, bool), right, np.ones(3))
    assert equal.ends.tolist() == [0, 3]  # none can be told from the others


@pytest.mark.parametrize(
    "text", ["coverage", "coverage:0", "coverage:1.1", "risk:1", "risk:-1", "f1:2", "acuracy", ""]
)
def test_wrong_rules(text: str) -> None:
    with pytest.raises(UsageError, match="the rule of the unknown label is coverage:C"):
        parse_unknown_rule(text)


def test_without_examples_a_share_is_answered() -> None:
    model = textreg.train(TEXTS, LABELS, unknown_rule="coverage:0.5", cv=3, reg_l2=0.1, **OPTIONS)
    chosen = model.summary.unknown
    assert chosen.rule == "coverage:0.5"
    assert 0.5 <= chosen.coverage < 1
    assert (chosen.documents, chosen.recall) == (0, None)
    assert model.thresholds == {"oos": chosen.value}
    assert model.predict(["what is it"]) == ["oos"]
    assert model.labels == NAMES
    usual = textreg.train(TEXTS, LABELS, reg_l2=0.1, **OPTIONS)
    assert usual.summary.unknown.rule == "coverage:0.95"


@pytest.mark.parametrize("how", [{"cv": 3}, {"multiclass": "softmax"}, {"loss": "squared-hinge"}])
def test_with_examples_accuracy_is_the_best(how: dict[str, object], tmp_path: Path) -> None:
    # The unknown label's documents decide how others are held out, and so a shift.
    how = {"cv": 2, **how, "intercept": "fitted"}
    model = with_odd(**how)
    plain = textreg.train(TEXTS, LABELS, reg="ridge", tokenizer="words", ngrams=1, **how)
    assert np.array_equal(model.weights, plain.weights)  # examples are never fitted
    assert model.encoder.names == plain.encoder.names
    chosen = model.summary.unknown
    assert (chosen.rule, chosen.documents) == ("accuracy", 5)
    assert chosen.recall > 0.5
    assert model.summary.dev == plain.summary.dev
    assert model.predict(["the apes", "nothing of the kind"]) == ["ape", "oos"]
    assert np.array_equal(model.decision_function(ODD), plain.decision_function(ODD))
    model.save(tmp_path / "m.textreg")
    loaded = textreg.load(tmp_path / "m.textreg")
    assert loaded.task == model.task
    assert loaded.summary == model.summary
    assert loaded.predict(ODD) == model.predict(ODD)
    told = model.explain("nothing of the kind")
    assert told.label == "oos"
    assert told.of in NAMES  # the label that it is nearest to


def test_binary_models_too() -> None:
    two = [row for row, label in enumerate(LABELS) if label != "cat"]
    texts, labels = [TEXTS[row] for row in two] + ODD, [LABELS[row] for row in two] + ["oos"] * 5
    model = textreg.train(texts, labels, **OPTIONS, threshold={"ape": "f1"})
    assert set(model.thresholds) == {"ape", "oos"}
    assert model.thresholds["oos"] > 0
    assert model.predict(["the apes", "the bees", "what is it"]) == ["ape", "bee", "oos"]
    task = classification(("a", "b"))
    confidence = task.confidence(np.array([-2.0, 1.0]), {"b": 0.5})
    assert confidence.tolist() == [2.5, 0.5]


def test_examples_in_dev_and_labels_that_training_lacks() -> None:
    dev = Corpus(
        ["the apes", "the bees", "the cats", "owls are", "the elks"], [*NAMES, "oos", "elk"]
    )
    with pytest.warns(DataWarning, match=r"'elk' \(1\)\. They count as 'oos'"):
        model = textreg.train(TEXTS + ODD, LABELS + ["oos"] * 5, dev=dev, **OPTIONS)
    assert model.summary.unknown.documents == 2  # those of dev, as it has some
    assert model.summary.dev.documents == 3
    assert model.summary.documents == 63
    with pytest.raises(DataError, match="all documents of dev have the label 'oos'"):
        textreg.train(TEXTS, LABELS, dev=(["x"], ["oos"]), **OPTIONS)


def test_examples_count_as_the_share_that_is_held_out() -> None:
    # 60 documents, 6 of them held out: an example counts as a tenth of one of these
    task = classification(NAMES)
    scores, y = np.zeros((6, 3)), np.array([0, 1, 2, 0, 1, 2])
    scores[np.arange(6), y] = [1, 2, 3, 4, 5, 6]
    aside = Held(np.full((20, 3), 1.5), np.full(20, 3), np.full(20, 0.1))
    task = type(task)(NAMES, unknown="oos")
    chosen = task.choose_unknown(None, Held(scores, y), aside, {})
    assert 1.5 < chosen.value < 2  # two of twenty are more than the one document below
    light = task.choose_unknown(
        None, Held(scores, y), aside._replace(weights=np.full(20, 0.01)), {}
    )
    assert light.value < 1


def test_refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TrainingSettings.from_options
    with pytest.raises(UsageError, match="unknown_rule is for an unknown label"):
        settings(unknown_rule="f1")
    for other in ({"rare_label": "x"}, {"threshold": {"x": "f1"}}):
        with pytest.raises(UsageError, match="'x' is the unknown label, which is not learned"):
            settings(unknown="x", **other)
    with pytest.raises(UsageError, match="one label each, not for regression: leave out unknown"):
        settings(unknown="x", task="regression", reg="ridge")
    with pytest.raises(DataError, match="'f1' needs documents with the label 'oos'"):
        textreg.train(TEXTS, LABELS, unknown_rule="f1", reg_l2=0.1, **OPTIONS)
    mixed = [*LABELS[1:], LABELS[0]]
    with pytest.raises(DataError, match=r"no threshold gives a risk of 0 .* the lowest is"):
        textreg.train(["the same"] * 60, mixed, unknown_rule="risk:0", reg_l2=0.1, **OPTIONS)
    with pytest.raises(DataError, match="the same label, 'ape'"):
        textreg.train(["a", "b"] * 9, ["ape", "oos"] * 9, **OPTIONS)
    monkeypatch.chdir(tmp_path)
    Path("c.tsv").write_text("text\tlabel\na b\tape\nc d\tbee\n")
    result = cli("train", "c.tsv", "--unknown", "oos:covrage:0.9")
    assert result.code == 2
    assert "Did you mean 'coverage'?" in result.err


def test_commands(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, texts, labels in [
        ("zoo", TEXTS + ODD, LABELS + ["oos"] * 5),
        ("test", TEST.texts, TEST.labels),
        ("odd", ODD, ["oos"] * 5),
    ]:
        lines = [f"{text}\t{label}\n" for text, label in zip(texts, labels, strict=True)]
        Path(f"{name}.tsv").write_text("text\tlabel\n" + "".join(lines))
    made = (
        "train",
        "zoo.tsv",
        "--reg",
        "ridge",
        "--tokenizer",
        "words",
        "--ngrams",
        1,
        "--unknown",
        "oos",
        "-o",
        "m.textreg",
    )
    result = cli(*made, "--cv", 3)
    assert result.code == 0, result.err
    assert "unknown: oos where the highest score is below " in result.out
    assert "(accuracy; there coverage " in result.out
    assert " of 5 such documents found)" in result.out
    result = cli("evaluate", "m.textreg", "test.tsv")
    assert result.err == ""
    assert "coverage (share of documents answered) and risk" in result.out
    assert "3 documents belong to a label, 5 to none; mean risk over all" in result.out
    document = json.loads(cli("evaluate", "m.textreg", "test.tsv", "--json").out)
    assert document["selective"]["now"]["recall"] >= 0.8
    assert document["selective"]["label"] == document["classes"][3]["label"] == "oos"
    assert document["classes"][3]["support"] == 5
    alone = json.loads(cli("evaluate", "m.textreg", "odd.tsv", "--json").out)
    assert alone["log_loss"] is None
    assert alone["selective"]["now"]["accuracy_inside"] is None
    assert alone["accuracy"] == alone["selective"]["now"]["recall"]
    Path("new.txt").write_text("the apes\nnothing of the kind\n")
    assert cli("predict", "m.textreg", "new.txt").out == "ape\noos\n"
    head, *rows = cli("predict", "m.textreg", "new.txt", "--proba").out.splitlines()
    assert head == "label\tape\tbee\tcat"  # probabilities are those of the labels
    assert rows[1].startswith("oos\t0.")


def test_compare_and_report() -> None:
    model = with_odd(cv=3, reg_l2=0.1)
    plain = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, tokenizer="words", ngrams=1)
    with pytest.warns(DataWarning, match=r"'oos' \(5\)"):  # of the model that always answers
        result = compare({"some": model, "all": plain}, Benchmark("zoo", test=TEST))
    some, every = result.measured
    assert some.accuracy > every.accuracy == pytest.approx(3 / 8)
    result = compare(
        [{"reg": "ridge", "reg_l2": 0.1}, {"reg": "lasso", "reg_l1": 0.1}],
        Benchmark("zoo", train=(TEXTS + ODD, LABELS + ["oos"] * 5), test=TEST),
        tokenizer="words",
        ngrams=1,
        unknown="oos",
        cv=3,
    )
    assert result.cell("zoo", "ridge").accuracy == some.accuracy
    page = report(model, TEST, train=Corpus(TEXTS + ODD, LABELS + ["oos"] * 5))
    assert page.scores.result.selective.unknown == 5
    html = page.to_html()
    assert 'id="coverage"' in html
    assert "share of documents answered" in html
    assert "--unknown oos:accuracy" in html


def test_estimators() -> None:
    numbers = np.array([sorted({*NAMES, "oos"}).index(label) for label in LABELS] + [3] * 5)
    classifier = textreg.TextClassifier("ridge", tokenizer="words", ngrams=1, unknown="3", cv=3)
    classifier.fit(TEXTS + ODD, numbers)
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert classifier.predict(["the bees", "nothing of the kind"]).tolist() == [1, 3]
    assert classifier.predict_proba(["nothing of the kind"]).shape == (1, 3)
    assert classifier.score(TEST.texts, [0, 1, 2, *[3] * 5]) > 0.8
    # The label is the one of y, however its number is written.
    classifier.fit(TEXTS + ODD, numbers.astype(np.float64))
    assert classifier.classes_.tolist() == [0.0, 1.0, 2.0]
    assert classifier.predict(["the bees", "nothing of the kind"]).tolist() == [1.0, 3.0]
