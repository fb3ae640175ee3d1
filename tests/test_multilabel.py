"""Several labels for each document: reading, training, thresholds, metrics, predictions."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from sklearn import metrics

import textreg
import textreg_report
from textreg.errors import DataError, DataWarning, UsageError
from textreg.explain import explain
from textreg.losses import Logistic, SquaredHinge
from textreg.measure.decisions import (
    ThresholdCurve,
    common_threshold,
    joint_thresholds,
    thresholds_of,
)
from textreg.measure.evaluation import evaluate_sets, f1_scores, indicators, ranking_precision
from textreg.model.model import Model
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Problem
from textreg.tasks import Multilabel, Rare, read_target, task_of_header
from textreg.training.splits import holdout, stratify, time_folds
from textreg.training.trials import Fold, Problems
from textreg_report.significance import Answers, SetAnswers, bootstrap

LABELS = ("bird", "cat", "dog", "emu")
LASSO = {"reg": "lasso", "tokenizer": "words", "ngrams": 1, "cv": 2}
FIXED = {"reg": "lasso", "tokenizer": "words", "ngrams": 1, "reg_l1": 1.0}
"""Without a search."""


def animals(n: int, seed: int = 5) -> tuple[list[str], list[list[str]]]:
    """Texts that name most of their labels, none to four of them; few are of an emu."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        own = [
            label
            for label, share in zip(LABELS, (0.5, 0.3, 0.2, 0.08), strict=True)
            if random.random() < share
        ]
        named = [f"{label}s" for label in own if random.random() < 0.9]
        texts.append(" ".join(["we", "saw", *named, f"w{number % 9}"]))
        labels.append(own)
    return texts, labels


TEXTS, SETS = animals(180)
TEST, TEST_SETS = animals(200, seed=6)


@pytest.fixture(scope="module")
def model() -> Model:
    return textreg.train(TEXTS, SETS, **LASSO)


def jsonl(path: Path, texts: list[str], labels: list[Any]) -> Path:
    rows = [{"text": t, "labels": some} for t, some in zip(texts, labels, strict=True)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def table(path: Path, texts: list[str], labels: list[list[str]], sep: str = ";") -> Path:
    rows = [f"{sep.join(some)},{text}\n" for text, some in zip(texts, labels, strict=True)]
    path.write_text("labels,text\n" + "".join(rows))
    return path


# Reading


def test_lists_of_labels(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ["x", "y", "z"], [["b", "a", "b"], [], [" a "]])
    corpus = read_corpus(path)
    assert corpus.labels == [("b", "a"), (), ("a",)]
    assert corpus.multilabel
    assert corpus.label_names() == ["a", "b"]
    assert repr(corpus) == "<Corpus: 3 documents; labels 'a', 'b'>"
    assert Corpus(["x", "y"], [set("hgfedcba"), []]).labels == [tuple("abcdefgh"), ()]
    assert not read_corpus(jsonl(tmp_path / "b.jsonl", ["x"], ["b"])).multilabel


def test_a_separator_makes_lists_of_texts(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["x", "y", "z"], [["b", " a ", "b"], [], ["a", ""]])
    assert read_corpus(path, label_sep=";").labels == [("b", "a"), (), ("a",)]
    mixed = jsonl(tmp_path / "a.jsonl", ["x", "y"], ["a|b", ["c"]])
    assert read_corpus(mixed, label_sep="|").labels == [("a", "b"), ("c",)]
    with pytest.raises(UsageError, match="label_sep is empty"):
        read_corpus(path, label_sep="")


def test_fasttext_with_any_number_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("__label__a __label__b one\n__label__b two\nthree\n")
    assert read_corpus(path, multilabel=True).labels == [("a", "b"), ("b",), ()]
    with pytest.raises(DataError, match=r"a.txt:1: 2 labels .* or pass --task multilabel"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ([["a"], ["b", 3]], "2: the list of labels in 'labels' holds 3, and labels there are text"),
        ([["a"], ["b", None]], "2: the list of labels in 'labels' holds null"),
        ([["a"], [["b"]]], r'2: the list of labels in \'labels\' holds \["b"\]'),
        ([["a"], [""]], "2: the list of labels in 'labels' holds \"\""),
        ([["a"], "b"], "2: the label is 'b', and other documents have a list of labels: write"),
        ([["a"], None], "2: 'labels' is missing"),
    ],
)
def test_wrong_lists_name_their_line(tmp_path: Path, labels: list[Any], what: str) -> None:
    path = jsonl(tmp_path / "a.jsonl", ["x", "y"], labels)
    with pytest.raises(DataError, match=f"a.jsonl:{what}"):
        read_corpus(path)


def test_texts_to_classify_may_have_labels_of_any_kind(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", ["x", "y"], [["a"], "b"])
    assert read_corpus(path, labeled=False).labels is None


def test_one_label_where_lists_are_expected(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["x"], [["a", "b"]])
    with pytest.raises(DataError, match=r'a.csv:2: label "a;b" .* Name what separates .*label-sep'):
        read_corpus(path, multilabel=True)
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "1.txt").write_text("x")
    with pytest.raises(UsageError, match="a folder for each class gives every document one label"):
        read_corpus(tmp_path, multilabel=True)
    lists, one = Corpus(["x", "y"], [["a"], ["b"]]), Corpus(["x", "y"], ["a", "b"])
    with pytest.raises(DataError, match=r"1: the document has a list .* pass --task multilabel"):
        read_target(lists, "classification")
    with pytest.raises(DataError, match="1: the label is 'a', and documents with several labels"):
        read_target(one, "multilabel")
    with pytest.raises(DataError, match="1: the document has a list of labels, but a regression"):
        read_target(lists, "regression")
    with pytest.raises(DataError, match="None of the 2 documents has a label"):
        read_target(Corpus(["x", "y"], [[], []]))
    single = textreg.train(["a good one", "a bad one"] * 3, ["p", "n"] * 3, reg="ridge", reg_l2=1)
    with pytest.raises(DataError, match=r"document 1: the document has a list of labels, .* one"):
        single.task.targets(lists)


# The task


def test_targets_and_header() -> None:
    task, y = read_target(Corpus(["x", "y", "z"], [["b", "a"], [], ["b"]])).target
    assert isinstance(task, Multilabel)
    assert task.labels == ("a", "b")
    assert y.tolist() == [[True, True], [False, False], [False, True]]
    assert task.rows(y).tolist() == [[1, -1, -1], [1, -1, 1]]
    assert task.strata(y)[0].tolist() == [0, 2, 1]  # the rarest label; the last has none
    assert task.answers(y) == [["a", "b"], [], ["b"]]
    assert [task.text(one) for one in task.answers(y)] == ["a, b", "no label", "b"]
    assert task_of_header(task.to_header()) == task
    forced = Multilabel(("a", "b"), at_least_one=True)
    assert task_of_header(forced.to_header()) == forced
    with pytest.raises(UsageError, match="one or more distinct labels"):
        Multilabel(())


def test_decisions() -> None:
    scores = np.array([[1.0, -1.0], [-2.0, -0.5], [0.5, 0.0]])
    task = Multilabel(("a", "b"))
    assert task.decide(scores).tolist() == [[True, False], [False, False], [True, False]]
    thresholds = {"a": 0.7, "b": -0.2}
    assert task.decide(scores, thresholds).tolist() == [[1, 0], [0, 0], [0, 1]]
    forced = Multilabel(("a", "b"), at_least_one=True)
    assert forced.decide(scores, thresholds).tolist() == [[1, 0], [0, 1], [0, 1]]


def test_options_that_make_no_sense() -> None:
    for options, what in (
        ({"multiclass": "softmax", "task": "multilabel"}, "softmax gives a document one label"),
        ({"task": "multilabel", "metric": "accuracy"}, "metric must be one of micro-macro-f1"),
        ({"task": "classification", "at_least_one": True}, "leave out at_least_one"),
        ({"metric": "r2"}, "metric must be one of calibrated-log-loss"),
    ):
        with pytest.raises(UsageError, match=what):
            textreg.train(TEXTS, SETS, **{**LASSO, **options})
    with pytest.raises(UsageError, match="metric must be one of calibrated-log-loss"):
        textreg.train(["x y", "z"] * 9, ["a", "b"] * 9, metric="micro-f1")
    with pytest.raises(UsageError, match=r"threshold names the label 'cats'.* Did you mean 'cat'"):
        textreg.train(TEXTS, SETS, threshold={"cats": "f1"}, **LASSO)
    with pytest.raises(UsageError, match="class_weight names the label 'cats'"):
        textreg.train(TEXTS, SETS, class_weight={"cats": 2.0}, **LASSO)


# Splits


def test_documents_are_dealt_out_in_proportion() -> None:
    random = np.random.default_rng(0)
    y = random.random((500, 6)) < [0.5, 0.3, 0.1, 0.05, 0.02, 0.0]
    part = stratify(y, [0.2] * 5, seed=1)
    assert np.bincount(part).tolist() == pytest.approx([100] * 5, abs=3)
    for label in y.T:
        counts = np.bincount(part[label], minlength=5)
        assert counts.max() - counts.min() <= 2
    assert np.array_equal(part, stratify(y, [0.2] * 5, seed=1))
    assert not np.array_equal(part, stratify(y, [0.2] * 5, seed=2))
    lonely = np.eye(12, dtype=bool)  # every label once: they stay among the fitted
    assert np.bincount(stratify(lonely, [0.9, 0.1], 0)).tolist() == [11, 1]
    with pytest.raises(DataError, match="A split into 3 parts needs as many documents"):
        stratify(lonely[:2], [1 / 3] * 3, 0)


def test_splits_of_groups_and_times_need_not_have_all_labels() -> None:
    y = np.zeros((20, 2), dtype=bool)
    y[:, 0], y[3, 1] = True, True
    split = holdout(y, ("a", "b"), 0.2, 0)
    assert 3 in split.train
    grouped = holdout(y, ("a", "b"), 0.2, 0, [str(at // 4) for at in range(20)])
    assert len(grouped.held) == 4
    assert [len(one.held) for one in time_folds(y, ("a", "b"), np.arange(20.0), 4)] == [4] * 4


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
def test_a_label_of_all_documents_or_of_none(loss: Any) -> None:
    X = np.random.default_rng(0).random((6, 3))
    y = np.array([[True, False, True]] * 5 + [[True, False, False]])
    problem = Problem(X=X, y=np.ones(6), loss=loss)
    problems = Problems(problem, Multilabel(("a", "b", "c"), loss.name), y)
    always, never, varying = (problems.constant(row) for row in range(3))
    assert varying is None
    assert always is not None
    assert never is not None
    assert always.b == pytest.approx(-never.b)
    assert always.b > 0
    assert not always.w.any()
    if loss.log_odds:
        assert always.b == pytest.approx(np.log(7))
    assert np.array_equal(problems.hardest().y, problems.task.row(problems.y, 2))


# Thresholds


def f1_of(scores: Any, y: Any, thresholds: Any) -> tuple[float, float]:
    return f1_scores(y, scores > thresholds)


def common_of(scores: Any, y: Any, counts: Any) -> float:
    curves = [ThresholdCurve.of(*label, counts) for label in zip(scores.T, y.T, strict=True)]
    return common_threshold(scores[y], curves)


def test_joint_thresholds_raise_micro_and_macro_f1() -> None:
    random = np.random.default_rng(0)
    y = random.random((600, 8)) < np.geomspace(0.4, 0.02, 8)
    scores = 1.5 * y + random.normal(size=y.shape) - np.linspace(0, 4, 8)
    ones = np.ones(600)
    half = slice(0, 300), slice(300, 600)
    found = joint_thresholds(scores[half[0]], y[half[0]], ones[:300])
    assert found.shape == (8,)
    common = common_of(scores[half[0]], y[half[0]], ones[:300])
    mine, others = (f1_of(scores[half[1]], y[half[1]], t) for t in (found, common))
    assert mine[0] > others[0]
    assert mine[1] > others[1]
    assert f1_of(scores, y, thresholds_of(scores, y, ones))[1] > f1_of(scores, y, 0.0)[1]
    assert np.array_equal(found, joint_thresholds(scores[half[0]], y[half[0]], ones[:300]))


def test_one_label_takes_the_threshold_that_maximizes_its_f1() -> None:
    random = np.random.default_rng(1)
    y = random.random((80, 1)) < 0.4
    scores, ones = y + random.normal(size=y.shape), np.ones(80)
    every = [f1_of(scores, y, value)[0] for value in np.sort(scores.ravel())]
    assert f1_of(scores, y, common_of(scores, y, ones))[0] == pytest.approx(max(every))
    assert (
        f1_of(scores, y, thresholds_of(scores, y, ones))[0] >= max(every) - 0.02
    )  # it is smoothed


def test_labels_without_documents_take_the_common_threshold() -> None:
    scores = np.array([[2.0, 1.0], [1.0, 0.5], [-1.0, 0.2]])
    y, ones = np.array([[True, False], [True, False], [False, False]]), np.ones(3)
    assert thresholds_of(scores, y, ones)[1] == common_of(scores, y, ones)
    assert common_of(scores, np.zeros_like(y), ones) == 0.0
    assert thresholds_of(scores, np.zeros_like(y), ones).tolist() == [0.0, 0.0]
    assert joint_thresholds(scores[:1], y[:1], ones[:1]).shape == (2,)


def test_shared_thresholds_count_documents_by_their_weights() -> None:
    random = np.random.default_rng(6)
    y_true = random.random((300, 4)) < 0.3
    scores = y_true + random.normal(size=y_true.shape)
    scores[:60] += 1.0
    counts = np.where(np.arange(300) < 60, 3.0, 1.0)
    thrice = np.concatenate([np.arange(60)] * 2 + [np.arange(300)])
    for of in (thresholds_of, common_of):
        copied = of(scores[thrice], y_true[thrice], np.ones(420))
        assert of(scores, y_true, counts) == pytest.approx(copied)
        assert of(scores, y_true, np.ones(300)) != pytest.approx(copied)


def test_training_chooses_thresholds_where_documents_are_held_out(model: Model) -> None:
    assert set(model.thresholds) == set(LABELS)
    assert model.summary is not None
    assert {one.rule for one in model.summary.thresholds.values()} == {"joint-f1"}
    assert model.summary.metric == "micro-macro-f1"
    given = textreg.train(TEXTS, SETS, reg="ridge", reg_l2=1.0, tokenizer="words")
    assert given.thresholds == {}
    own = textreg.train(TEXTS, SETS, threshold={"emu": "precision:0.5"}, **LASSO)
    assert own.summary is not None
    assert own.summary.thresholds["emu"].rule == "precision:0.5"
    assert own.thresholds["cat"] == model.thresholds["cat"]


# Training and models


def test_train_predict_and_load(model: Model, tmp_path: Path) -> None:
    assert model.labels == LABELS
    result = model.task.evaluate(
        Corpus(TEST, TEST_SETS), model.decision_function(TEST), model.thresholds, None
    )
    assert result.micro_f1 > 0.9
    answers = model.predict(["we saw cats", "birds and dogs", "we saw"])
    assert answers == [["cat"], ["bird", "dog"], []]
    assert model.decision_function(TEST).shape == model.predict_proba(TEST).shape == (200, 4)
    scores = model.decision_function(TEST)
    assert model.calibration is not None
    log_odds = scores / model.calibration.temperature
    assert model.predict_proba(TEST) == pytest.approx(1 / (1 + np.exp(-log_odds)))
    assert np.exp(model.log_probabilities(scores)) == pytest.approx(model.predict_proba(TEST))
    path = tmp_path / "a.textreg"
    model.save(path)
    loaded = textreg.load(path)
    assert loaded.task == model.task
    assert loaded.predict(TEST) == model.predict(TEST)
    again = textreg.train(TEXTS, SETS, **LASSO)
    again.save(tmp_path / "b.textreg")
    assert path.read_bytes() == (tmp_path / "b.textreg").read_bytes()


def test_at_least_one_label(tmp_path: Path) -> None:
    model = textreg.train(TEXTS, SETS, at_least_one=True, **FIXED)
    model.save(tmp_path / "a.textreg")
    loaded = textreg.load(tmp_path / "a.textreg")
    (answer,) = loaded.predict(["nothing known"])
    assert len(answer) == 1
    assert all(loaded.predict(TEST))


def test_a_single_label_of_all_documents_trains() -> None:
    sets = [[*some, "seen"] for some in SETS]
    model = textreg.train(TEXTS, sets, **FIXED)
    assert all("seen" in answer for answer in model.predict(TEST))
    rare = [["once"] if row == 7 else some for row, some in enumerate(SETS)]
    model = textreg.train(TEXTS, rare, **LASSO)
    assert "once" in model.labels


def test_class_weights_are_of_the_documents_with_the_label() -> None:
    options = {
        "reg": "ridge",
        "reg_l2": 1.0,
        "ngrams": 1,
        "weighting": "tfidf",
        "tokenizer": "words",
        "tol": 1e-8,
    }
    plain, weighted, balanced = (
        textreg.train(TEXTS, SETS, class_weight=weight, **options)
        for weight in (None, {"emu": 5.0}, "balanced")
    )
    scores = [model.decision_function(TEST) for model in (plain, weighted, balanced)]
    assert np.array_equal(scores[0][:, :3], scores[1][:, :3])
    assert (scores[1][:, 3] > scores[0][:, 3]).all()
    assert scores[2][:, 3].mean() > scores[1][:, 3].mean()
    repeated = [row for row, some in enumerate(SETS) for _ in range(5 if "emu" in some else 1)]
    texts, sets = [TEXTS[row] for row in repeated], [SETS[row] for row in repeated]
    five_times = textreg.train(texts, sets, **{**options, "weighting": "binary"})
    alike = textreg.train(
        TEXTS, SETS, class_weight={"emu": 5.0}, **{**options, "weighting": "binary"}
    )
    both = five_times.decision_function(TEST)[:, 3], alike.decision_function(TEST)[:, 3]
    assert both[0] == pytest.approx(both[1], abs=1e-3)


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_calibration_of_each_label(method: str) -> None:
    model = textreg.train(TEXTS, SETS, calibrate=method, **LASSO)
    assert model.calibration is not None
    scores, corpus = model.decision_function(TEST), Corpus(TEST, TEST_SETS)
    log_loss = [
        model.task.evaluate(corpus, scores, {}, calibration).log_loss
        for calibration in (None, model.calibration)
    ]
    assert log_loss[1] < log_loss[0]
    assert model.predict_proba(TEST).sum(axis=1) != pytest.approx(1)


def test_paths_searches_and_groups() -> None:
    group_of = [str(at // 3) for at in range(len(TEXTS))]
    model = textreg.train(TEXTS, SETS, path=True, group_of=group_of, **LASSO)
    assert model.path is not None
    assert model.path.metric == "micro-macro-f1"
    assert model.summary is not None
    assert set(model.summary.search[0].metrics) == set(Multilabel.metrics)
    by_loss = textreg.train(TEXTS, SETS, metric="log-loss", select="1se", **LASSO)
    assert by_loss.summary is not None
    assert by_loss.summary.metric == "log-loss"


def test_labels_that_only_dev_has_warn() -> None:
    dev = Corpus(TEST, [[*some, "elk"] for some in TEST_SETS])
    with pytest.warns(DataWarning, match=r"know, in 200 of 200 documents: 'elk'"):
        model = textreg.train(TEXTS, SETS, dev=dev, **{**LASSO, "cv": None})
    assert model.labels == LABELS
    scores = model.decision_function(TEST)
    with pytest.warns(DataWarning, match="'elk'"):
        result = model.task.evaluate(dev, scores, model.thresholds, None)
    assert result.unknown == ("elk",)
    assert [one.label for one in result.classes] == [*LABELS, "elk"]
    assert result.subset_accuracy == result.classes[-1].recall == 0.0


# Metrics


@pytest.mark.parametrize("seed", range(4))
def test_metrics_are_those_of_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k = 60, 5
    y_true, y_pred = (random.random((n, k)) < 0.3 for _ in range(2))
    y_true[:, 4] = y_pred[:, 4] = seed == 1  # a label that nothing has, or all
    scores = random.normal(size=(n, k)).round(1)  # with ties
    result = evaluate_sets(y_true, y_pred, list("abcde"), scores)

    def f1(average: str, zero: float) -> float:
        return float(metrics.f1_score(y_true, y_pred, average=average, zero_division=zero))

    assert result.micro_f1 == pytest.approx(f1("micro", 0.0))
    assert result.macro_f1 == pytest.approx(f1("macro", np.nan))
    assert result.sample_f1 == pytest.approx(f1("samples", 1.0))
    assert result.subset_accuracy == pytest.approx(metrics.accuracy_score(y_true, y_pred))
    assert result.hamming_loss == pytest.approx(metrics.hamming_loss(y_true, y_pred))
    lrap = metrics.label_ranking_average_precision_score(y_true, scores)
    assert result.lrap == pytest.approx(lrap)
    assert ranking_precision(y_true, scores) == result.lrap
    columns = metrics.precision_recall_fscore_support(y_true, y_pred, zero_division=0.0)
    for one, *expected in zip(result.classes, *columns, strict=True):
        assert one[1:5] == pytest.approx(expected)
        assert one.f1_interval[0] <= one.f1 <= one.f1_interval[1]
    assert result.micro_f1_interval[0] < result.micro_f1 < result.micro_f1_interval[1]
    weights = random.integers(0, 3, n).astype(float)
    micro, macro = f1_scores(y_true, y_pred, weights)
    rows = np.repeat(np.arange(n), weights.astype(int))
    assert (micro, macro) == pytest.approx(f1_scores(y_true[rows], y_pred[rows]))


def test_log_loss_is_the_mean_over_documents_and_labels(model: Model) -> None:
    scores, corpus = model.decision_function(TEST), Corpus(TEST, TEST_SETS)
    y = model.task.targets(corpus)
    each = [metrics.log_loss(y[:, c], model.predict_proba(TEST)[:, c]) for c in range(4)]
    result = model.task.evaluate(corpus, scores, {}, model.calibration)
    assert result.log_loss == pytest.approx(np.mean(each))
    assert model.calibration is not None
    measured = model.task.measure(scores / model.calibration.temperature, y)
    assert measured["log-loss"] == pytest.approx(np.mean(each))
    with pytest.raises(DataError, match="no documents to evaluate"):
        evaluate_sets(y[:0], y[:0], LABELS, scores[:0])
    with pytest.raises(UsageError, match="shape"):
        evaluate_sets(y, y[:, :2], LABELS, scores)


# The command line


def test_commands(cli: Cli, tmp_path: Path) -> None:
    train = jsonl(tmp_path / "train.jsonl", TEXTS, SETS)
    test = table(tmp_path / "test.csv", TEST, TEST_SETS)
    file = tmp_path / "a.textreg"
    done = cli("train", train, "--reg", "lasso", "--ngrams", 1, "--cv", 2, "-o", file)
    assert done.code == 0
    assert "labels: bird" in done.out
    assert "by micro-macro-f1" in done.out
    assert "thresholds: 4 of joint-f1" in done.out
    measured = cli("evaluate", file, test, "--label-sep", ";", "--reliability", "--thresholds")
    assert measured.code == 0
    assert "micro-F1 0.9" in measured.out
    assert "LRAP" in measured.out
    assert "95 % CI" in measured.out
    plain = json.loads(cli("evaluate", file, test, "--label-sep", ";", "--json").out)
    assert plain["micro_f1"] > 0.9
    assert len(plain["classes"]) == 4
    failed = cli("evaluate", file, test)
    assert failed.code == 1
    assert "test.csv:2: label" in failed.err
    assert "--label-sep" in failed.err
    assert "multilabel" in cli("show", file).out

    texts = tmp_path / "texts.txt"
    texts.write_text("we saw birds and dogs\nnothing\ncats\n")
    assert cli("predict", file, texts).out == "bird;dog\n\ncat\n"
    assert cli("predict", file, texts, "--label-sep", "|").out == "bird|dog\n\ncat\n"
    head, first, *_ = cli("predict", file, texts, "--proba").out.splitlines()
    assert head == "labels\tbird\tcat\tdog\temu"
    assert first.startswith("bird;dog\t0.")
    rows = [
        json.loads(it) for it in cli("predict", file, texts, "--format", "jsonl").out.splitlines()
    ]
    assert [row["predicted"] for row in rows] == [["bird", "dog"], [], ["cat"]]
    answers = json.loads(cli("predict", file, test, "--json").out)["predictions"]
    assert answers[0]["predicted"] == textreg.load(file).predict(TEST[:1])[0]


def test_commands_refuse(cli: Cli, tmp_path: Path) -> None:
    train = jsonl(tmp_path / "train.jsonl", TEXTS, SETS)
    one = table(tmp_path / "one.csv", TEXTS, SETS)
    out = ("-o", tmp_path / "a.textreg")
    for arguments, code, what in (
        (
            (train, "--task", "classification"),
            1,
            "train.jsonl:1: the document has a list of labels",
        ),
        ((one, "--task", "multilabel"), 1, "one.csv:2: label"),
        ((train, "--multiclass", "softmax", "--reg", "ridge"), 2, "softmax gives a document one"),
        ((train, "--metric", "accuracy"), 2, "metric must be one of micro-macro-f1"),
        ((train, "--label-sep", ""), 2, "label_sep is empty"),
    ):
        done = cli("train", *arguments, *out)
        assert (done.code, done.out) == (code, done.out)
        assert what in done.err
    strength = ("--reg", "lasso", "--reg-l1", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = cli("train", one, "--label-sep", ";", "--at-least-one", *strength, *out)
    assert done.code == 0


def test_labels_of_few_documents(tmp_path: Path) -> None:
    sets = [[*some, "odd"] if at in (3, 9) else some for at, some in enumerate(SETS)]
    with pytest.warns(DataWarning, match=r"left out 1 label .* 'odd' \(2\)"):
        model = textreg.train(TEXTS, sets, min_label=3, **FIXED)
    assert model.labels == LABELS
    assert model.summary is not None
    assert model.summary.documents == len(TEXTS)
    joined = textreg.train(TEXTS, sets, min_label=3, rare_label="other", **FIXED)
    assert joined.labels == (*LABELS, "other")
    joined.save(tmp_path / "a.textreg")
    task = textreg.load(tmp_path / "a.textreg").task
    assert task == joined.task
    assert task.targets(Corpus(["x"], [["elk", "cat"]])).tolist() == [[0, 1, 0, 0, 1]]
    weights = [1.0] * len(TEXTS)
    weighted = textreg.train(
        TEXTS, sets, sample_weight=weights, min_label=3, rare_label="other", **FIXED
    )
    weighted.save(tmp_path / "b.textreg")  # numbers of documents are written as well
    corpus, rare = Corpus(TEXTS, sets), Rare(1000)
    with (
        pytest.warns(DataWarning, match="left out 5 labels"),
        pytest.raises(DataError, match=r"None of the 180 documents has a label.*--min-label"),
    ):
        read_target(corpus, rare=rare)


# Comparing


def test_paired_tests_of_sets() -> None:
    random = np.random.default_rng(0)
    y_true = random.random((300, 4)) < 0.3
    first, second = (y_true ^ (random.random(y_true.shape) < noise) for noise in (0.1, 0.2))
    answers = SetAnswers(y_true, first, second)
    own = metrics.f1_score(y_true.T, first.T, average=None, zero_division=1.0)
    other = metrics.f1_score(y_true.T, second.T, average=None, zero_division=1.0)
    assert (answers.won, answers.lost) == ((own > other).sum(), (own < other).sum())
    accuracy, macro, micro = bootstrap([answers])
    both = f1_scores(y_true, first), f1_scores(y_true, second)
    assert micro.low < both[0][0] - both[1][0] < micro.high
    assert macro.low < both[0][1] - both[1][1] < macro.high
    right = [(y_true == it).all(axis=1).mean() for it in (first, second)]
    assert accuracy.low < right[0] - right[1] < accuracy.high
    assert bootstrap([answers]) == (accuracy, macro, micro)
    # With one label for each document, the sets are as the labels are.
    single = [random.integers(0, 3, 200) for _ in range(3)]
    sets = SetAnswers(*(np.eye(3, dtype=bool)[codes] for codes in single))
    codes = Answers(*single)
    assert (sets.won, sets.lost) == (codes.won, codes.lost)
    of_codes = bootstrap([codes])[0]
    assert bootstrap([sets])[0] == pytest.approx(of_codes, abs=0.02)


def test_compare(cli: Cli, tmp_path: Path) -> None:
    benchmark = textreg_report.Benchmark("animals", (TEXTS, SETS), (TEST, TEST_SETS))
    weak = {"lasso": "lasso", "ridge": {"reg": "ridge", "reg_l2": 30.0}}
    result = textreg_report.compare(weak, benchmark, baseline="ridge", ngrams=1)
    assert result.metric == "micro-F1"
    one, contrast = result.cell("animals", "lasso"), result.contrast("lasso")
    assert one.micro_f1 == one.headline[0] > 0.9
    assert one.accuracy < one.micro_f1
    assert contrast.micro_f1 == one.micro_f1 - result.cell("animals", "ridge").micro_f1
    assert contrast.won + contrast.lost > 0
    assert "micro-F1" in result.to_markdown()
    assert "micro_f1" in result.to_csv()
    assert "points" in result.verdicts()[0]
    assert result.to_dict()["measured"][0]["micro_f1"] == one.micro_f1
    held = textreg_report.Benchmark("held", (TEXTS, SETS))
    fixed = [FIXED, weak["ridge"]]
    both = textreg_report.compare(fixed, [benchmark, held], ngrams=1, seed=3)
    assert both.mean("lasso").micro_f1 > 0.9
    single = textreg_report.Benchmark("single", (["a b", "c d"] * 10, ["x", "y"] * 10))
    with pytest.raises(UsageError, match="those of others several"):
        textreg_report.compare(fixed, [benchmark, single], ngrams=1)
    train = jsonl(tmp_path / "train.jsonl", TEXTS, SETS)
    test = table(tmp_path / "test.csv", TEST, TEST_SETS)
    strengths = ("--reg", "lasso reg-l1=0.1", "--reg", "lasso reg-l1=1")
    told = cli("compare", train, "--test", test, "--label-sep", ";", *strengths)
    assert told.code == 0
    assert "micro-F1" in told.out


# Explaining


def test_explanations_are_of_the_strongest_label_or_any(model: Model, cli: Cli) -> None:
    told = model.explain("we saw birds and dogs")
    assert told.label == "bird, dog"
    margins = {label: told.probabilities[label] for label in told.label.split(", ")}
    assert told.of in margins
    scores = dict(zip(LABELS, model.decision_function([told.text])[0], strict=True))
    best = max(LABELS, key=lambda label: scores[label] - model.thresholds[label])
    assert told.of == best
    both = list(explain(model, ["we saw birds and dogs", "nothing", "emus"]))
    assert [one.text for one in both[:2]] == [told.text] * 2
    assert {one.of for one in both[:2]} == {"bird", "dog"}
    assert [one.text for one in both[2:]] == ["nothing", *["emus"] * (len(both) - 3)]
    for label in LABELS:
        one = model.explain(told.text, label)
        assert one.score == pytest.approx(scores[label])
        assert one.intercept + sum(word.value for word in one.words) == pytest.approx(one.score)
        (sentence,) = one.sentences
        empty = model.predict_proba([""])[0][LABELS.index(label)]
        fall = np.log(told.probabilities[label]) - np.log(empty)
        assert sentence.removal == pytest.approx(fall)
    assert model.explain("nothing").label == "no label"


def test_explain_on_the_command_line(model: Model, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.textreg"
    model.save(file)
    train = table(tmp_path / "train.csv", TEXTS, SETS)
    assert "score of emu" in cli("explain", file, "we saw emus", "--of", "emu").out
    told = cli("explain", file, "--train", train, "--label-sep", ";", "--top", 2)
    assert told.code == 0
    assert "typical of emu" in told.out
    assert "leave out --label-col" in cli("explain", file, train, "--label-sep", ";").err


def test_held_out_documents_are_scored_as_new_ones_will_be() -> None:
    from scipy.sparse import csr_array

    fitted = csr_array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0]])
    held = csr_array([[0.0, 0.6, 0.0, 0.8], [0.0, 0.0, 0.0, 1.0], [0.8, 0.6, 0.0, 0.0]])
    problem, task = Problem(X=fitted, y=[1.0, -1.0]), Multilabel(("a",))
    y = np.array([[True], [False]])
    folds = {
        normed: Fold(problem, task, y, held, np.zeros((3, 1), dtype=bool), normed=normed)
        for normed in ((), ((0, 4),), ((0, 2), (2, 4)))
    }
    new = {normed: fold.X_new().toarray().tolist() for normed, fold in folds.items()}
    assert new[()] == [[0, 0.6, 0, 0], [0, 0, 0, 0], [0.8, 0.6, 0, 0]]
    assert new[((0, 4),)] == [[0, 1, 0, 0], [0, 0, 0, 0], [0.8, 0.6, 0, 0]]
    assert new[((0, 2), (2, 4))] == [[0, 1, 0, 0], [0, 0, 0, 0], [0.8, 0.6, 0, 0]]


def test_balanced_weights_of_a_label_that_all_documents_have() -> None:
    corpus = Corpus(["x"] * 4, [["a", "b"], ["a"], ["a"], ["a"]])
    task = read_target(corpus, "multilabel").target.task
    y = np.array([[1, 1], [1, 0], [1, 0], [1, 0]], dtype=np.int8)
    factors = task.row_factors(y, np.ones(4), "balanced")
    assert factors is not None
    np.testing.assert_array_equal(factors, [[1.0, 0.5], [2 / 3, 2.0]])


def test_evaluate_lists(model: Model) -> None:
    proba = model.predict_proba(TEST)
    result = textreg.evaluate(TEST_SETS, model.predict(TEST), LABELS, proba)
    corpus, scores = Corpus(TEST, TEST_SETS), model.decision_function(TEST)
    calibration = model.calibration
    expected = model.task.evaluate(corpus, scores, model.thresholds, calibration).to_dict()
    assert result.to_dict().pop("log_loss") == pytest.approx(expected.pop("log_loss"))
    assert {**result.to_dict(), "log_loss": 0} == {**expected, "log_loss": 0}
    some = [[*labels, "new"] for labels in TEST_SETS]
    ranked = textreg.evaluate(some, model.predict(TEST), LABELS, proba)
    y_true = indicators(some, [*LABELS, "new"])[:, :-1]
    last = np.hstack([proba, np.zeros((len(TEST), 1))])  # what the model does not know
    assert ranked.lrap == ranking_precision(y_true, last)
    other = textreg.evaluate([["a"], []], [{"a"}, {"b"}], ["a"])
    assert (other.unknown, other.lrap, other.subset_accuracy) == (("b",), None, 0.5)


# Reports


def test_report(cli: Cli, tmp_path: Path) -> None:
    sets = [[*some, "seen"] for some in SETS]  # a label of all documents
    train = table(tmp_path / "train.csv", TEXTS[:150], sets[:150])
    test = table(tmp_path / "test.csv", TEST, TEST_SETS)
    file, page = tmp_path / "a.textreg", tmp_path / "a.html"
    options = ("--label-sep", ";", "--reg", "lasso", "--reg-l1", 1, "--ngrams", 1)
    options += ("--at-least-one", "-o", file)
    assert cli("train", train, *options).code == 0
    told = cli("report", file, test, "--train", train, "--label-sep", ";", "-o", page)
    assert told.code == 0, told.err
    text = page.read_text()
    for shown in ("micro-F1", "subset accuracy", "Thresholds of", "Documents that lack", "elastic"):
        assert shown in text
    assert "Confusion matrix" not in text
    assert "--at-least-one" in text
