"""Calibration and decision thresholds: against counts by hand, and in the model file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

import textreg
from textreg.errors import DataError, ModelError, UsageError
from textreg.measure.decisions import (
    HOTTEST,
    Calibration,
    log_odds,
    lowest,
    parse_rule,
)
from textreg.model.json_records import from_json
from textreg.tasks import Multilabel, Task, classification
from textreg.tasks.base import Held

RANDOM = np.random.default_rng(7)
WORDS = ["superb", "awful", "lamp", "box", "film", "row", "bus", "hall", "plot", "odd"]


def noisy(n: int, labels: str) -> tuple[list[str], list[str]]:
    """Texts whose one telling word is right four times in five."""
    random = np.random.default_rng(3)
    texts, y_true = [], []
    for _ in range(n):
        said = int(random.integers(len(labels)))
        told = said if random.random() < 0.8 else int(random.integers(len(labels)))
        texts.append(" ".join([WORDS[said], *random.choice(WORDS[3:], 3)]))
        y_true.append(labels[told])
    return texts, y_true


@pytest.mark.parametrize("shape", ["parabola", "kink", "flat", "slope", "two"])
def test_the_lowest_point_of_a_curve_is_that_of_scipy(shape: str) -> None:
    from scipy.optimize import minimize_scalar

    curves = {
        "parabola": lambda x: (x - 1.3) ** 2 + 0.1 * np.cosh(x),
        "kink": lambda x: abs(x + 2.6),
        "flat": lambda x: 1.0,
        "slope": lambda x: x,
        "two": lambda x: np.cos(x) + 0.1 * x,
    }
    asked: list[float] = []

    def curve(x: float) -> float:
        asked.append(x)
        return float(curves[shape](x))

    found = lowest(curve, -7.0, 7.0)
    theirs = minimize_scalar(curves[shape], bounds=(-7.0, 7.0), method="bounded")
    assert found == pytest.approx(theirs.x, abs=2e-5)
    assert len(asked) <= theirs.nfev + 1
    assert all(-7.0 <= x <= 7.0 for x in asked)


def test_temperature_finds_the_true_scale() -> None:
    scores = RANDOM.normal(size=(4000, 1)) * 2
    y_true = (RANDOM.random(4000) < 1 / (1 + np.exp(-scores[:, 0]))).astype(np.int64)
    task = classification("ab")
    found = task.calibrate("temperature", Held(scores * 5, y_true))
    assert found.temperature == pytest.approx(5, rel=0.1)

    def log_loss(calibration: Calibration) -> float:
        proba = task.log_probabilities(scores * 5, calibration)
        return float(-proba[np.arange(len(y_true)), y_true].mean())

    best = log_loss(found)
    for factor in (0.9, 1.1):
        other = Calibration("temperature", found.temperature * factor)
        assert best < log_loss(other)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_isotonic_probabilities_are_observed_fractions(loss: str) -> None:
    if loss == "logistic":
        scores, y_true = np.repeat([-2.0, 0.0, 1.0], 10)[:, None], np.zeros(30, dtype=np.int64)
        y_true[[0, 10, 11, 12, 13]] = 1
        y_true[20:28] = 1
        binary = classification("ab")
        found = binary.calibrate("isotonic", Held(scores, y_true))
        proba = binary.probabilities(scores[::10, 0], found)[:, 1]
        assert proba == pytest.approx([0.1, 0.4, 0.8])
        return
    scores = np.repeat(np.eye(3), 10, axis=0)
    y_true = np.repeat([0, 1, 2], 10)
    y_true[::10] = [1, 2, 0]
    softmax = classification("abc", multiclass="softmax")
    found = softmax.calibrate("isotonic", Held(scores, y_true))
    proba = softmax.probabilities(np.eye(3), found)
    assert np.diag(proba) == pytest.approx(0.9 / (0.9 + 2 * 0.05))


def test_isotonic_is_never_certain() -> None:
    scores, y_true = np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([0, 0, 1, 1])
    task = classification("ab")
    found = task.calibrate("isotonic", Held(scores, y_true))
    proba = task.probabilities(np.array([-9.0, 9.0]), found)[:, 1]
    assert proba == pytest.approx([1 / 6, 5 / 6])


@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.booleans(), st.integers(-2, 2)), min_size=2, max_size=25
    ),
    st.sampled_from(["f1", "costs:1:3", "costs:4:1"]),
    st.booleans(),
)
def test_no_other_threshold_is_better(
    rows: list[tuple[int, bool, int]], rule: str, three: bool
) -> None:
    own = np.array([row[0] for row in rows], dtype=float)
    true = np.array([row[1] for row in rows])
    labels = ("a", "b", "c") if three else ("a", "b")
    if three:
        scores = np.column_stack([[row[2] for row in rows], own, np.zeros(len(rows))])
    else:
        scores = own[:, None]
    task = classification(labels)

    def worth(threshold: float) -> float:
        given_b = task.decide(scores, {"b": threshold}) == 1
        right, given, all_true = (given_b & true).sum(), given_b.sum(), true.sum()
        if rule == "f1":
            return float(2 * right / max(1, given + all_true))
        _, wrong, missed = rule.split(":")
        return float(-(int(wrong) * (given - right) + int(missed) * (all_true - right)))

    y_true = true.astype(np.int64)
    chosen = task.choose_thresholds({"b": rule}, Held(scores, y_true))["b"]
    every = np.arange(-8.9, 9, 0.25)  # ties fall to either side by the order of labels
    assert worth(chosen.value) == pytest.approx(max(worth(value) for value in every))


def test_precision_is_kept_with_the_most_found() -> None:
    scores = np.array([[3.0], [2.0], [1.0], [0.0], [-1.0], [-2.0]])
    y_true = np.array([1, 1, 0, 1, 0, 0])
    task = classification("ab")
    found = task.choose_thresholds({"b": "precision:0.75"}, Held(scores, y_true))["b"]
    assert (found.value, found.precision, found.recall) == (-0.5, 0.75, 1.0)
    found = task.choose_thresholds({"b": "precision:1"}, Held(scores, y_true))["b"]
    assert (found.value, found.precision, found.recall) == (1.5, 1.0, 2 / 3)
    with pytest.raises(DataError, match=r"no threshold gives 'b' a precision of 0\.75.*0\.667"):
        task.choose_thresholds(
            {"b": "precision:0.75"}, Held(np.array([[3.0], [2.0], [1.0]]), np.array([0, 1, 1]))
        )


def test_the_first_of_two_labels_has_one_too() -> None:
    scores, task = np.array([-2.0, -1.0, 0.5]), classification("ab")
    assert task.decide(scores).tolist() == [0, 0, 1]
    assert task.decide(scores, {"a": 1.5}).tolist() == [0, 1, 1]
    assert task.decide(scores, {"b": -1.5}).tolist() == [0, 1, 1]
    found = task.choose_thresholds({"a": "f1"}, Held(scores[:, None], np.array([0, 1, 1])))
    assert task.decide(scores, {"a": found["a"].value}).tolist() == [0, 1, 1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["temperature", "isotonic"])
@pytest.mark.parametrize(
    ("labels", "multiclass"), [("pn", "ovr"), ("pnq", "ovr"), ("pnq", "softmax")]
)
def test_through_training_and_the_model_file(
    method: str, labels: str, multiclass: str, tmp_path: Path
) -> None:
    texts, y_true = noisy(400, labels)
    options = {"reg": "ridge", "reg_l2": 0.01, "multiclass": multiclass, "holdout": 0.5}
    options["tokenizer"] = "words"
    plain = textreg.train(texts, y_true, calibrate="none", **options)
    model = textreg.train(texts, y_true, calibrate=method, threshold={"p": "costs:1:9"}, **options)
    assert (model.weights == plain.weights).all()
    assert model.summary.calibration == method
    assert model.summary.thresholds["p"].value == model.thresholds["p"] != 0
    assert model.predict(texts).count("p") > plain.predict(texts).count("p")

    fresh, wanted = noisy(900, labels)[0][400:], noisy(900, labels)[1][400:]
    proba = model.predict_proba(fresh)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    at = [model.labels.index(label) for label in wanted]
    every = np.arange(len(at))
    before = -np.log(plain.predict_proba(fresh)[every, at]).mean()
    assert -np.log(proba[every, at]).mean() < before
    assert np.log(proba) == pytest.approx(model.log_probabilities(model.decision_function(fresh)))

    # What explain says of the one sentence is the log-probability with it less that without.
    found = model.explain(fresh[0], of="p")
    own = model.labels.index("p")
    without = model.predict_proba([""])[0, own]
    assert found.sentences[0].removal == pytest.approx(np.log(proba[0, own] / without))

    model.save(tmp_path / "m.textreg")
    again = textreg.load(tmp_path / "m.textreg")
    assert (again.calibration, again.thresholds) == (model.calibration, model.thresholds)
    assert (again.predict_proba(fresh) == proba).all()
    assert again.predict(fresh) == model.predict(fresh)


def test_documents_without_a_weight_choose_nothing() -> None:
    rng = np.random.default_rng(0)
    words = {"good": 1, "fine": 1, "bad": -1, "poor": -1, "lamp": 0, "pan": 0}

    def documents(n: int) -> tuple[list[str], list[str]]:
        lists = [rng.choice([*words], 6).tolist() for _ in range(n)]
        signs = [sum(words[word] for word in each) + rng.normal() for each in lists]
        return [" ".join(each) for each in lists], ["p" if sign > 0 else "n" for sign in signs]

    (texts, labels), (more, of_more) = documents(120), documents(80)
    weights = np.arange(80) % 3 > 0
    wrong = [
        "n" if label == "p" and not w else label for label, w in zip(of_more, weights, strict=True)
    ]
    left = [at for at in range(80) if weights[at]]
    options = {"reg": "ridge", "reg_l2": 1.0, "threshold": {"p": "f1"}, "refit": False}
    first, second = (
        textreg.train(texts, labels, dev=dev, intercept="fitted", **options)
        for dev in (
            textreg.Corpus(more, wrong, sample_weight=weights),
            textreg.Corpus([more[at] for at in left], [wrong[at] for at in left]),
        )
    )
    assert first.calibration == second.calibration
    assert first.thresholds == second.thresholds


def test_uncalibrated_logarithms() -> None:
    for labels, multiclass in (("pn", "ovr"), ("pnq", "ovr"), ("pnq", "softmax")):
        model = textreg.train(*noisy(60, labels), reg="ridge", reg_l2=0.1, multiclass=multiclass)
        scores = model.decision_function(["superb box", "awful"])
        assert np.exp(model.log_probabilities(scores)) == pytest.approx(model.probabilities(scores))


def test_the_estimator() -> None:
    texts, y_true = noisy(300, "pn")
    y = [10 if label == "p" else 9 for label in y_true]  # as texts, 10 comes before 9
    common = {"reg": "ridge", "holdout": 0.3}
    plain = textreg.TextClassifier(**common).fit(texts, y)
    tuned = textreg.TextClassifier(threshold={9: "costs:1:9"}, calibrate="isotonic", **common)
    tuned.fit(texts, y)
    assert set(tuned.predict(texts)) <= {9, 10}
    assert (tuned.predict(texts) == 9).sum() > (plain.predict(texts) == 9).sum()
    assert [str(label) for label in tuned.predict(texts)] == tuned.model_.predict(texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calibrate": "temprature"}, "temperature, isotonic"),
        ({"calibrate": "isotonic", "loss": "squared-hinge"}, "logistic"),
        ({"threshold": {"p": "recall:0.9"}}, "precision:P"),
        ({"threshold": {"p": "precision:1.5"}}, "precision:P"),
        ({"threshold": {"p": "costs:1"}}, "costs:FP:FN"),
        ({"threshold": {"p": "f1:2"}}, "f1"),
        ({"threshold": {"pp": "f1"}}, "label 'pp'"),
        ({"threshold": {"p": "f1", "n": "f1"}}, "only one"),
        ({"threshold": {"p": "f1"}, "task": "regression"}, "regression"),
    ],
)
def test_refusals(options: dict[str, object], message: str) -> None:
    texts, y_true = noisy(40, "pn")
    if "task" in options:
        y_true = ["1", "2"] * 20
    with pytest.raises(UsageError, match=message):
        textreg.train(texts, y_true, reg="ridge", reg_l2=0.1, **options)


@pytest.mark.parametrize(
    "plain",
    [
        7,
        {},
        {"method": "magic"},
        {"method": "temperature", "temperature": 0},
        {"method": "temperature", "temperature": "warm"},
        {"method": "temperature", "temperature": 10**400},
        {"method": "isotonic"},
        {"method": "isotonic", "curves": [[[1, 0], [0.1, 0.2]]]},
        {"method": "isotonic", "curves": [[[0, 1], [0.2, 0.1]]]},
        {"method": "isotonic", "curves": [[[0, 1], [0.2, 1.0]]]},
        {"method": "isotonic", "curves": [[[0, 1], [0.2]]]},
    ],
)
def test_calibrations_that_are_none(plain: object) -> None:
    with pytest.raises(ModelError, match="calibration"):
        from_json(Calibration, plain, "calibration")


def test_model_files_are_checked(tmp_path: Path) -> None:
    model = textreg.train(*noisy(40, "pn"), reg="ridge", reg_l2=0.1)
    path = tmp_path / "m.textreg"
    curve = ((0.0, 1.0), (0.2, 0.8))
    for calibration, thresholds, message in (
        (Calibration("isotonic", curves=(curve, curve)), {}, "2 curves"),
        (None, {"x": 1.0}, "label 'x'"),
        (None, {"p": "much"}, "must be a finite number"),
        (None, {"p": 1.0, "n": 1.0}, "only one"),
    ):
        model.calibration, model.thresholds = calibration, thresholds
        model.save(path)
        with pytest.raises(ModelError, match=message):
            textreg.load(path)


def test_rules() -> None:
    assert parse_rule("f1") == ("f1", ())
    assert parse_rule("precision:0.9") == ("precision", (0.9,))
    assert parse_rule("costs:1:5") == ("costs", (1.0, 5.0))
    classification("abc").check_thresholds({"a": 1.0, "b": 1.0})


def test_the_command_line(cli: Cli, tmp_path: Path) -> None:
    texts, y_true = noisy(300, "pn")
    corpus, path = tmp_path / "c.tsv", tmp_path / "m.textreg"
    rows = [f"{label}\t{text}" for label, text in zip(y_true, texts, strict=True)]
    corpus.write_text("label\ttext\n" + "\n".join(rows) + "\n", encoding="utf-8")
    train = ["train", corpus, "--reg", "ridge", "--reg-l2", "0.1", "-o", path]
    code, out, err = cli(*train, "--calibrate", "temperature", "--threshold", "p=f1")
    assert (code, err) == (0, "")
    assert "calibration: temperature" in out
    assert "threshold of p: " in out
    out = cli("show", path).out
    assert "method temperature, temperature " in out
    assert "thresholds" in out
    shown = json.loads(cli("show", path, "--json").out)
    assert shown["thresholds"] == textreg.load(path).thresholds
    result = json.loads(cli("evaluate", path, corpus, "--json").out)
    right = np.mean(np.array(textreg.load(path).predict(texts)) == y_true)
    assert result["accuracy"] == pytest.approx(right)

    for wrong in ("f1", "p=", "p=best"):
        code, out, err = cli(*train, "--threshold", wrong)
        assert (code, out) == (2, "")
        assert "threshold" in err
    code, out, err = cli(*train, "--threshold", "p=f1", "--threshold", "p=costs:1:2")
    assert code == 2
    assert "once for a label" in err


@pytest.mark.parametrize("limit", [1 / HOTTEST, HOTTEST])
def test_how_far_a_temperature_may_be_from_one(limit: float) -> None:
    assert Calibration("temperature", limit).temperature == limit
    with pytest.raises(UsageError, match="the temperature must be from 1e-06 to 1e\\+06"):
        Calibration("temperature", limit * (1.1 if limit > 1.0 else 0.9))


@pytest.mark.parametrize("scale", [1.0, 1e3])  # exp(1e3) is no float
def test_log_odds_by_softmax(scale: float) -> None:
    scores = scale * np.random.default_rng(0).normal(size=(20, 5))
    others = [np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1) for c in range(5)]
    np.testing.assert_allclose(log_odds(scores), scores - np.array(others).T, rtol=1e-12)


@pytest.mark.parametrize("several", [False, True], ids=["one label", "several labels"])
def test_a_document_of_weight_three_counts_as_three(several: bool) -> None:
    random = np.random.default_rng(5)
    heavy = np.arange(400) % 2 == 0
    y_true = random.integers(2, size=(400, 3)).astype(bool)
    # Heavy documents are right more seldom, and their thresholds lie elsewhere.
    signs = np.where(heavy[:, None], 0.5 * (2 * y_true - 1) + 1.0, 2.0 * (2 * y_true - 1))
    scores = signs + random.normal(size=y_true.shape)
    weights = np.where(heavy, 0.6, 0.2)
    task: Task = Multilabel(labels=("a", "b", "c"))
    if not several:
        y_true, scores, task = y_true[:, 0].astype(int), scores[:, :1], classification("ab")
    thrice = np.concatenate([np.flatnonzero(heavy)] * 2 + [np.arange(400)])
    weighted = Held(scores, y_true, weights)
    copied, plain = Held(scores[thrice], y_true[thrice]), Held(scores, y_true)
    rules = ["f1", "costs:1:3", "precision:0.6"]
    found, alike, others = (
        [task.choose_thresholds({"b": rule}, held)["b"] for rule in rules]
        for held in (weighted, copied, plain)
    )
    for of_weights, of_copies, other in zip(found, alike, others, strict=True):
        assert of_weights == pytest.approx(of_copies)
        assert of_weights != pytest.approx(other)
    temperatures = [
        task.calibrate("temperature", it).temperature for it in (weighted, copied, plain)
    ]
    # Laplace's one document more is of 400 here, and of 800 there.
    assert temperatures[0] == pytest.approx(temperatures[1], rel=0.02)
    assert abs(temperatures[2] / temperatures[1] - 1) > 0.1
    curves = [task.calibrate("isotonic", it).curves[0] for it in (weighted, copied, plain)]
    at = np.linspace(-2, 2, 9)
    assert np.interp(at, *curves[0]) == pytest.approx(np.interp(at, *curves[1]), abs=0.01)
    assert np.abs(np.interp(at, *curves[2]) - np.interp(at, *curves[1])).max() > 0.05
