"""Numbers as labels, and losses other than the logistic one, the whole way from text to model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV

import textreg
from textreg.errors import DataError, PluginError, UsageError
from textreg.measure.evaluation import evaluate_numbers
from textreg.tasks import Regression

STARS = {"awful": -2.0, "poor": -1.0, "decent": 1.0, "superb": 2.0}
FILLER = "the a kettle lamp chair arrived box on monday we bought it for home".split()


def reviews(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts whose words add up to a number of stars."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        words = rng.choice(list(STARS), size=3).tolist()
        rest = [" ".join(rng.choice(FILLER, size=4)) for _ in words]
        texts.append(". ".join(f"{a} {b}" for a, b in zip(words, rest, strict=True)) + ".")
        noise = 0.1 * rng.standard_normal()
        labels.append(f"{5 + sum(STARS[word] for word in words) + noise:.3f}")
    return texts, labels


def write(path: Path, texts: list[str], labels: list[str]) -> str:
    rows = [{"text": t, "label": y} for t, y in zip(texts, labels, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "reg", ["ridge", "lasso", "elastic", "sentence", "omp", "stagewise", "pcr"]
)
def test_the_words_and_their_stars_are_found(reg: str, tmp_path: Path) -> None:
    texts, labels = reviews(300)
    options = {"reg_budget": 4} if reg == "omp" else {"metric": "mse"}
    options |= {"tokenizer": "words", "weighting": "count", "ngrams": 1, "cv": 3}
    model = textreg.train(texts, labels, reg=reg, task="regression", **options)
    more, y_true = reviews(100, seed=1)
    fit = evaluate_numbers([float(y) for y in y_true], model.decision_function(more))
    assert fit.r2 > 0.97
    assert fit.mse < 0.2
    assert model.task == Regression()
    assert model.labels == ()
    top = model.top_features(2)
    assert {name for name, _ in top["higher"]} == {"decent", "superb"}
    assert {name for name, _ in top["lower"]} == {"awful", "poor"}
    model.save(tmp_path / "model")
    loaded = textreg.load(tmp_path / "model")
    assert loaded.predict(more) == model.predict(more)
    assert isinstance(loaded.predict(more)[0], float)
    with pytest.raises(UsageError, match="no probabilities"):
        loaded.predict_proba(more)


IN_MEMORY = ["auto", "ridge", "elastic", "sentence", "network", "laplacian"]


@pytest.mark.parametrize(
    ("reg", "memory"), [*((reg, None) for reg in IN_MEMORY), ("auto", "1GB"), ("ridge", "1GB")]
)
def test_the_unit_of_numbers_does_not_matter(reg: str, memory: str | None) -> None:
    """Strengths of l2 are found for prices in cents as for stars, and for shares below 1."""
    texts, labels = reviews(120)
    more, _ = reviews(40, seed=1)
    answers, measured = [], []
    for unit in (1.0, 1e-4, 1e6):
        numbers = [repr(unit * float(label)) for label in labels]
        options = {"reg": reg, "task": "regression", "tokenizer": "words", "memory": memory}
        model = textreg.train(texts, numbers, **options)
        answers.append(np.array(model.predict(more)) / unit)
        measured.append(model.summary.dev.metrics["r2"])
    for answer, r2 in zip(answers[1:], measured[1:], strict=True):
        np.testing.assert_allclose(answer, answers[0], atol=0.01)
        assert r2 == pytest.approx(measured[0], rel=1e-3)


@pytest.mark.parametrize("reg", ["auto", "ridge"])
def test_noise_is_not_fitted(reg: str) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{at}" for at in range(400)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(700)]
    numbers = 3.0 * rng.normal(size=700)
    labels = list(map(str, numbers[:300].tolist()))
    model = textreg.train(texts[:300], labels, task="regression", reg=reg, tokenizer="words")
    errors = numbers[300:] - np.array(model.predict(texts[300:]))
    assert 1.0 - errors.var() / numbers[300:].var() > -0.03  # of the weakest ridge -.8


def test_the_command_line(tmp_path: Path, cli: Cli) -> None:
    train = write(tmp_path / "train.jsonl", *reviews(200))
    test = write(tmp_path / "test.jsonl", *reviews(60, seed=2))
    target = str(tmp_path / "stars.textreg")
    done = cli(
        "train",
        train,
        "--task",
        "regression",
        "--reg",
        "ridge",
        "--weighting",
        "count",
        "-o",
        target,
    )
    assert done.code == 0, done.err
    assert "R² 0.9" in (done.out + done.err)
    assert re.search(r"^numbers: mean 5\.\d+, standard deviation \d\.\d+$", done.out, re.MULTILINE)
    found = json.loads(cli("evaluate", target, test, "--json").out)
    assert found["documents"] == 60
    assert found["r2"] > 0.9
    assert {"mse", "mae"} <= found.keys()
    assert "MSE" in cli("evaluate", target, test).out
    lines = cli("predict", target, test).out.split()
    assert len(lines) == 60
    y_true = [float(json.loads(line)["label"]) for line in Path(test).read_text().splitlines()]
    assert r2_score(y_true, [float(line) for line in lines]) == pytest.approx(found["r2"])
    shown = json.loads(cli("show", target, "--json").out)
    assert (shown["task"], shown["loss"]) == ("regression", "squared")
    assert set(shown["top"]) == {"lower", "higher"}
    assert shown["labels"] == []
    assert "labels" not in cli("show", target).out
    told = cli("explain", target, "so superb").out
    answer, explained = re.match(r"([\d.]+)   prediction \+([\d.]+) = ", told).groups()
    assert float(answer) == pytest.approx(float(explained), abs=5e-4)
    asked = cli("predict", target, test, "--proba")
    assert asked.code == 2
    assert "no probabilities" in asked.err


def test_a_development_file_and_cross_validation() -> None:
    texts, labels = reviews(120)
    for options in ({"dev": reviews(40, seed=3)}, {"cv": 3}):
        model = textreg.train(texts, labels, reg="lasso", task="regression", **options)
        assert model.summary.dev.metrics["r2"] > 0.5
        assert model.summary.metric == "r2"


def test_a_label_that_is_no_number(tmp_path: Path, cli: Cli) -> None:
    texts, labels = reviews(20)
    path = write(tmp_path / "train.jsonl", texts, [*labels[:6], "five", *labels[7:]])
    done = cli("train", path, "--task", "regression")
    assert done.code == 1
    assert "train.jsonl:7: the label is 'five'" in (done.out + done.err)
    assert "Correct it, or train without" in done.err  # evaluate has no --task to leave out
    with pytest.raises(DataError, match="document 3: the label is 'nan'"):
        textreg.train(texts, [*labels[:2], "nan", *labels[3:]], task="regression")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "regression", "loss": "logistic"}, "the logistic loss is for labels"),
        ({"task": "regression", "metric": "accuracy"}, "r2, mse for regression"),
        ({"task": "regression", "class_weight": "balanced"}, "no classes to weigh"),
        ({"task": "regresion"}, "Did you mean 'regression'"),
        ({"loss": "squared-hinge", "metric": "log-loss"}, "gives no probabilities"),
        ({"metric": "r2"}, "for classification, not 'r2'"),
    ],
)
def test_what_does_not_go_together(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        textreg.train(*reviews(20), **options)


def test_a_loss_that_is_not_there() -> None:
    with pytest.raises(PluginError, match=r"no loss 'hing'\. Did you mean 'hinge'"):
        textreg.train(*reviews(20), loss="hing")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("loss", ["squared-hinge", "hinge", "squared"])
@pytest.mark.parametrize(
    ("reg", "strengths"),
    [
        ("elastic", {"reg_l1": 0.3, "reg_l2": 0.1}),
        ("sentence", {"reg_group": 0.1, "reg_l1": 0.1, "reg_l2": 0.0}),
        ("gomp", {"reg_budget": 10, "reg_l2": 0.1}),
    ],
)
def test_other_losses_classify(
    loss: str, reg: str, strengths: dict[str, Any], tmp_path: Path
) -> None:
    texts, stars = reviews(80)
    labels = ["high" if float(y) > 7 else "low" if float(y) < 3 else "middle" for y in stars]
    options = {"tokenizer": "words", "weighting": "count", "ngrams": 1, "holdout": 0.2, **strengths}
    if (reg, loss) == ("gomp", "hinge"):
        options["loss_smoothing"] = 0.3  # a fit for each step, few of which end at kinks
    model = textreg.train(texts, labels, reg=reg, loss=loss, **options)
    right = np.mean([a == b for a, b in zip(model.predict(texts), labels, strict=True)])
    assert right > 0.6  # the middle is hard to tell by a straight line
    assert "log-loss" not in model.summary.dev.metrics
    assert model.loss == loss
    model.save(tmp_path / "model")
    assert textreg.load(tmp_path / "model").predict(texts) == model.predict(texts)
    with pytest.raises(UsageError, match="no probabilities"):
        model.predict_proba(texts)


def test_numbers_are_measured_as_by_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y_true, predicted = rng.standard_normal(50), rng.standard_normal(50)
    got = Regression().measure(predicted[:, None], y_true)
    assert got["r2"] == pytest.approx(r2_score(y_true, predicted))
    assert got["mse"] == pytest.approx(mean_squared_error(y_true, predicted))
    assert Regression().measure(np.ones((3, 1)), np.ones(3)) == {"r2": 0.0, "mse": 0.0}
    with pytest.raises(DataError, match="no documents"):
        evaluate_numbers([], [])
    with pytest.raises(UsageError, match="one prediction for each"):
        evaluate_numbers([1.0, 2.0], [1.0])


@pytest.mark.parametrize("options", [{}, {"holdout": 0.2}, {"cv": 2}])
def test_one_document_cannot_be_split(options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="There is one document, too few for a split"):
        textreg.train(["good"], ["3"], task="regression", **options)
    with pytest.raises(DataError, match="parts needs as many documents or more, not 1: add"):
        textreg.train(["good"], [["a"]], **options)
    with pytest.raises(UsageError, match="there is no model file"):
        textreg.load("no such file")


def test_the_estimator_is_the_same_regression() -> None:
    texts, labels = reviews(120)
    stars = np.array([float(label) for label in labels])
    regressor = textreg.TextRegressor(reg="ridge", ngrams=1).fit(texts, stars)
    model = textreg.train(texts, labels, task="regression", loss="squared", reg="ridge", ngrams=1)
    np.testing.assert_array_equal(regressor.predict(texts), model.predict(texts))
    assert regressor.score(texts, stars) == pytest.approx(r2_score(stars, model.predict(texts)))
    assert regressor.score(texts, stars) > 0.9
    assert regressor.n_iter_ == model.summary.iterations


def test_the_estimator_in_a_grid_search() -> None:
    texts, labels = reviews(60)
    stars = [float(label) for label in labels]
    tried = GridSearchCV(
        textreg.TextRegressor(reg=textreg.Ridge(l2=0.1), ngrams=1),
        {"reg__l2": [0.01, 1e4]},
        cv=3,
        scoring="r2",
    ).fit(texts, stars)
    assert tried.best_params_ == {"reg__l2": 0.01}
    assert tried.best_estimator_.reg.l2 == 0.01


def test_weights_count_documents() -> None:
    texts, labels = reviews(40)
    stars = [float(label) for label in labels]
    regressor = textreg.TextRegressor(reg=textreg.Ridge(l2=0.1), weighting="unit", tol=1e-12)
    twice = regressor.fit(texts + texts[:20], stars + stars[:20]).predict(texts)
    weighed = regressor.fit(texts, stars, sample_weight=[2.0] * 20 + [1.0] * 20).predict(texts)
    np.testing.assert_allclose(weighed, twice, rtol=1e-6)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["good", "bad", "good"], "y must hold numbers, and could not convert .*TextClassifier"),
        (None, "TextRegressor requires y to be passed"),
        ([1.0, 2.0], "3 texts but 2 labels"),
        ([1.0, float("nan"), 2.0], "Input y contains NaN"),
    ],
)
def test_what_is_no_target_is_refused(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        textreg.TextRegressor(reg="ridge").fit(["a b", "b c", "c d"], y)


def test_weights_of_zero_teach_nothing() -> None:
    with pytest.raises(DataError, match="every text has the weight 0"):
        textreg.TextRegressor(reg="ridge").fit(["a b", "b c"], [1.0, 2.0], sample_weight=[0, 0])


def test_other_metrics_are_refused() -> None:
    with pytest.raises(UsageError, match="metric must be one of r2, mse"):
        textreg.TextRegressor(metric="accuracy").fit(["a b", "b c"], [1.0, 2.0])
