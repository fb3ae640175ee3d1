"""From a corpus to a model: settings, what is held out, what is fitted, what the summary says."""

from __future__ import annotations

import json
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from textreg import Lasso, Sentence, group_builder
from textreg.errors import ConvergenceWarning, DataError, DataWarning, UsageError
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.model.summary import (
    GroupsSummary,
    GroupStep,
    RegularizerSummary,
    SplitSummary,
    SupportCounts,
    SupportSummary,
)
from textreg.params import AUTO, LogGrid, param
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Groups, Problem, Solution
from textreg.records.problem import (
    SelectionReport,
    SelectionStep,
    SolverReport,
    Support,
)
from textreg.training import train as training
from textreg.training.prepare import prepare, read_training
from textreg.training.settings import TrainingSettings
from textreg.training.train import train as train_with_defaults
from textreg.training.train import train_corpus

train = partial(train_with_defaults, tokenizer="words", ngrams=1, weighting="log")

WORDS = {
    "pos": ["good", "superb", "fine", "moving"],
    "neg": ["bad", "awful", "dull", "weak"],
    "mid": ["so", "okay", "fair", "plain"],
}


def documents(n: int, labels: tuple[str, ...] = ("neg", "pos"), seed: int = 0) -> Any:
    """Texts of three sentences, one of which supports the label, with some noise."""
    random = np.random.default_rng(seed)
    filler = [f"w{i}" for i in range(40)]
    texts, chosen = [], []
    for row in range(n):
        label = labels[row % len(labels)]
        said = label if random.random() < 0.9 else labels[(row + 1) % len(labels)]
        sentences = [" ".join(random.choice(filler, 4)) for _ in range(2)]
        sentences.append(" ".join(random.choice(WORDS[said], 2)))
        texts.append(". ".join(random.permutation(sentences)) + ".")
        chosen.append(label)
    return texts, chosen


TEXTS, LABELS = documents(120)


def same(one: Model, other: Model) -> None:
    """Two models agree to the last bit."""
    assert one.labels == other.labels
    assert one.encoder.names == other.encoder.names
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.intercepts, other.intercepts)


@pytest.mark.parametrize("reg", ["lasso", "ridge", "elastic", "sentence"])
def test_train_learns(reg: str) -> None:
    model = train(TEXTS, LABELS, reg=reg)
    assert model.labels == ("neg", "pos")
    assert model.predict(["superb, fine", "awful and dull"]) == ["pos", "neg"]
    summary = model.summary
    json.dumps(summary.to_json(), allow_nan=False)
    assert summary.reg.name == reg
    assert all(isinstance(summary.reg.params[key], float) for key in summary.reg.searched)
    assert summary.labels == {"neg": 60, "pos": 60}
    assert summary.documents == 120
    assert summary.features == 48
    assert summary.nonzero == model.n_features <= 48
    assert summary.split == SplitSummary("cv", parts=5, seed=0, by=None)
    assert summary.dev.documents == 120
    assert summary.converged
    assert summary.gap <= 1e-4
    assert set(model.seconds) == {"features", "search", "fit"}
    assert set(summary.dev.metrics) == {"calibrated-log-loss", "accuracy", "macro-f1", "log-loss"}
    assert summary.dev.metrics in [point.metrics for point in summary.search]


def test_groups_are_counted() -> None:
    texts = ["A b. A b. C.", "C d. A.", "B d. D b.", "C a"]
    summary = train(texts, ["x", "y", "x", "y"], reg="sentence", reg_group=0.1, reg_l1=0.1).summary
    # {a b} twice, {c d}, {b d} twice, {c a}, and two of one word
    assert summary.groups.before == 8
    assert summary.groups.after == 4


@pytest.mark.sampled(1)
@pytest.mark.parametrize("labels", [("neg", "pos"), ("neg", "pos", "mid")])
@pytest.mark.parametrize("reg", ["lasso", "sentence"])
def test_results_do_not_depend_on_jobs(labels: tuple[str, ...], reg: str) -> None:
    texts, chosen = documents(90, labels)
    alone = train(texts, chosen, reg=reg, cv=3, jobs=1)
    many = train(texts, chosen, reg=reg, cv=3, jobs=4)
    same(alone, many)
    assert alone.summary == many.summary


def test_more_than_two_classes() -> None:
    texts, chosen = documents(150, ("neg", "pos", "mid"))
    model = train(texts, chosen, reg="lasso")
    assert model.labels == ("mid", "neg", "pos")
    assert model.weights.shape[0] == 3
    assert model.predict(["awful", "okay", "superb"]) == ["neg", "mid", "pos"]


def test_given_hyperparameters_are_used_and_hold_nothing_out() -> None:
    model = train(TEXTS, LABELS, reg="lasso", reg_l1=0.7)
    assert model.summary.reg == RegularizerSummary(
        "lasso", {"weights": "none", "l1": 0.7}, searched=()
    )
    told = model.summary
    assert (told.dev, told.search, told.planned, told.interrupted) == (None, (), 0, None)
    assert (told.ruled_out, told.ruled_out_by, told.ruled_out_on) == (0, 0, 0)
    measured = train(TEXTS, LABELS, reg="lasso", reg_l1=0.7, holdout=0.25)
    assert measured.summary.dev.documents == 30
    scores = [it.decision_function(TEXTS) for it in (measured, model)]
    np.testing.assert_allclose(*scores, atol=1e-2)


def test_chosen_hyperparameters_given_again_make_the_same_model() -> None:
    first = train(TEXTS, LABELS, reg="lasso", tol=1e-7)
    chosen = {f"reg_{key}": value for key, value in first.summary.reg.params.items()}
    again = train(TEXTS, LABELS, reg="lasso", tol=1e-7, **chosen)
    assert first.encoder.names == again.encoder.names
    np.testing.assert_allclose(first.weights, again.weights, atol=1e-4)


def test_dev_is_part_of_the_refit() -> None:
    dev = documents(40, seed=1)
    model = train(TEXTS, LABELS, reg="lasso", dev=dev)
    assert model.summary.split.kind == "dev"
    # So few documents are held out together with those of training.
    assert (model.summary.split.parts, model.summary.dev.documents) == (5, 160)
    assert model.summary.documents == 160
    assert model.summary.refit is True


def test_no_refit_leaves_the_dev_set_out_altogether() -> None:
    texts, labels = documents(40, seed=1)
    texts[0] += " unheard"
    options = {"reg": "lasso", "refit": False, "intercept": "fitted"}
    model = train(TEXTS, LABELS, dev=(texts, labels), **options)
    assert model.summary.documents == 120
    assert model.summary.features == 48
    assert model.summary.refit is False
    chosen = {f"reg_{key}": value for key, value in model.summary.reg.params.items()}
    alone = train(TEXTS, LABELS, reg="lasso", **chosen)
    scores = [it.decision_function(TEXTS) for it in (model, alone)]
    np.testing.assert_allclose(*scores, atol=1e-2)


def test_the_metrics_on_dev_are_those_of_the_model_before_the_refit() -> None:
    texts, labels = documents(40, seed=1)
    model = train(TEXTS, LABELS, reg="lasso", dev=(texts, labels), refit=False, metric="log-loss")
    right = np.mean([a == b for a, b in zip(model.predict(texts), labels, strict=True)])
    assert model.summary.dev.metrics["accuracy"] == pytest.approx(right)
    low, high = model.summary.dev.accuracy_interval
    assert low < right < high


def test_documents_without_a_weight_do_not_narrow_the_interval_of_the_accuracy() -> None:
    texts, labels = documents(40, seed=1)
    few = train(TEXTS, LABELS, reg="lasso", reg_l1=1.0, dev=(texts[:10], labels[:10]), cv=None)
    weights = [1.0] * 10 + [0.0] * 30
    dev = Corpus(texts, labels, sample_weight=weights)
    weighed = train(TEXTS, LABELS, reg="lasso", reg_l1=1.0, dev=dev)
    assert weighed.summary.dev.accuracy_interval == few.summary.dev.accuracy_interval


def test_the_metric_decides() -> None:
    summary = train(TEXTS, LABELS, reg="lasso", metric="log-loss", cv=4).summary
    losses = [point.metrics["log-loss"] for point in summary.search]
    assert summary.dev.metrics["log-loss"] == min(losses)
    assert summary.split.parts == 4
    assert summary.dev.documents == 120


def test_weights_repeat_documents() -> None:
    options = {"reg": "lasso", "reg_l1": 0.5, "tol": 1e-8}
    doubled = train([*TEXTS, *TEXTS[:30]], [*LABELS, *LABELS[:30]], **options)
    weights = np.where(np.arange(120) < 30, 2.0, 1.0)
    weighted = train(TEXTS, LABELS, sample_weight=weights, **options)
    assert doubled.encoder.names == weighted.encoder.names
    np.testing.assert_allclose(doubled.weights, weighted.weights, atol=1e-3)


def test_class_weights() -> None:
    texts, labels = documents(120)
    rare = [row for row, label in enumerate(labels) if label == "neg" or row % 6 == 1]
    texts, labels = [texts[row] for row in rare], [labels[row] for row in rare]
    factor = labels.count("neg") / labels.count("pos")
    options: dict[str, Any] = {"reg": "lasso", "reg_l1": 0.5, "tol": 1e-8}
    balanced = train(texts, labels, class_weight="balanced", **options)
    # Both classes then weigh n / 2 in all.
    half = len(labels) / 2
    given = {"neg": half / labels.count("neg"), "pos": half / labels.count("pos")}
    same(balanced, train(texts, labels, class_weight=given, **options))
    assert factor > 2
    assert (
        balanced.decision_function(["none"])
        > train(texts, labels, **options).decision_function(["none"])
    ).all()


def test_seeds_differ_and_repeat() -> None:
    one, two, other = (train(TEXTS, LABELS, reg="lasso", cv=3, seed=seed) for seed in (3, 3, 4))
    same(one, two)
    assert one.summary.search != other.summary.search


def test_progress_reports_each_stage_to_its_end() -> None:
    seen: list[tuple[str, int, int]] = []
    corpus = Corpus(texts=TEXTS, labels=LABELS)
    settings = TrainingSettings.from_options(reg="lasso")
    train_corpus(corpus, settings, lambda *at: seen.append(at))
    last = {stage: (done, total) for stage, done, total in seen}
    assert list(last) == ["features", "search", "fit"]
    assert all(done == total for done, total in last.values())


class Stubborn(Regularizer):
    """Never converges."""

    name = "stubborn"
    l1: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1, 2), help="unused")

    def solve(self, problem: Problem) -> Solution:
        return Solution(w=np.ones(problem.X.shape[1]), b=0.0, objective=1.0, gap=0.5, iterations=7)


def test_a_missed_tolerance_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match=r"stubborn stopped .* gap of 5.0e-01.* 7 iter"):
        model = train(TEXTS, LABELS, reg=Stubborn())
    assert model.summary.converged is False


def test_procedures_without_a_bound_report_none() -> None:
    class Steps(Stubborn):
        name = "steps"

        def solve(self, problem: Problem) -> Solution:
            return Solution(w=np.ones(problem.X.shape[1]), b=0.0, objective=1.0, converged=True)

    summary = train(TEXTS, LABELS, reg=Steps(l1=1.0)).summary
    assert summary.gap is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rge": "lasso"}, "no option 'rge'"),
        ({"l1": 0.5}, "no option 'l1'.* such as reg_l1"),
        ({"weights": [1.0] * 120}, r"no option 'weights'\. Did you mean 'sample_weight'\?"),
        ({"weight": [1.0] * 120}, r"Did you mean 'sample_weight'\?"),
        ({"sample_weights": [1.0] * 120}, r"Did you mean 'sample_weight'\?"),
        ({"class_weights": {}}, r"Did you mean 'class_weight'\?"),
        ({"group_off": []}, r"Did you mean 'group_of'\?"),
        ({"min_dff": 2}, "Did you mean 'min_df'"),
        ({"reg": "lasso", "reg_l7": 1}, "no parameter 'l7'"),
        ({"reg": "lasso", "groups_weight": "one"}, "lasso makes no use of groups"),
        ({"reg": "lasso", "groups": "sentences"}, "lasso makes no use of groups"),
        ({"class_weight": "even"}, "class_weight must be 'balanced'"),
        ({"class_weight": {"pos": float("nan")}}, "above 0"),
        ({"class_weight": {"pos": "2"}}, "a number above 0, not '2'"),
        ({"class_weight": ["pos"]}, "class_weight must be 'balanced'"),
        ({"threshold": "f1"}, "threshold must be a rule for each label, not 'f1'"),
        ({"threshold": {"pos": 3}}, "the rule of a threshold is f1.*not '3'"),
        ({"metric": "auc"}, "metric must be one of"),
        ({"task": ["classification"]}, r"task must be a text, not \['classification'\]"),
        ({"cv": 3, "dev": (["a"], ["pos"])}, "give one of them"),
        ({"reg": 7}, "regularizer: give a name"),
    ],
)
def test_wrong_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        train(TEXTS, LABELS, **options)


def test_weights_of_documents_are_no_setting() -> None:
    with pytest.raises(
        UsageError, match=r"sample_weight is no setting .* Corpus\(texts, labels, sa"
    ):
        TrainingSettings.from_options(sample_weight=[1.0])


@pytest.mark.parametrize(
    "labels", [[0, 1], [False, True], np.array([0, 1]), np.array([False, True])], ids=repr
)
def test_labels_that_are_no_texts(labels: Any) -> None:
    options: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "tokenizer": "words"}
    names = [str(label) for label in labels]
    model = train(["good", "bad"] * 5, list(labels) * 5, **options)
    assert model.predict(["good", "bad"]) == names
    assert all(type(label) is str for label in model.labels)
    lists = train(["good", "bad"] * 5, [[label] for label in labels] * 5, **options)
    assert lists.predict(["good"]) == [[names[0]]]


@pytest.mark.parametrize("reg", ["sentence", "lasso", "ridge"])
def test_a_feature_that_tells_nothing(reg: str) -> None:
    """All penalty strengths of the search are zero: it is one setting, measured once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        options = {"tokenizer": "words", "intercept": "fitted"}
        model = train(["the"] * 24, LABELS[:24], reg=reg, **options)
    assert model.decision_function(["the"]) == pytest.approx(0.0, abs=1e-9)
    assert len(model.summary.search) == 1


def test_wrong_data() -> None:
    with pytest.raises(DataError, match="give one for each"):
        train(TEXTS, LABELS[1:])
    with pytest.raises(DataError, match="no documents"):
        train([], [])
    with pytest.raises(DataError, match=r"document 1: the label is 0.5, .*str\(label\)"):
        train(TEXTS, [0.5, 1] * 60)
    with pytest.raises(DataError, match="document 2: no label, and every document must have one"):
        train(TEXTS, ["a", "", "b", "b"] * 30)
    with pytest.raises(DataError, match="same label, 'a'"):
        train(["x", "y"], ["a", "a"])
    with pytest.raises(DataError, match="document 3: the weight is -1"):
        train(TEXTS, LABELS, sample_weight=np.where(np.arange(120) == 2, -1.0, 1.0))
    with pytest.raises(DataError, match="label 'pos' have the weight 0"):
        train(TEXTS, LABELS, sample_weight=np.array([1.0, 0.0] * 60))
    with pytest.raises(DataError, match="document 1: the model does not know the label 'poss'"):
        train(TEXTS, LABELS, dev=(["a"], ["poss"]))
    for options in ({"texts": "good"}, {"dev": ("good", LABELS[:4])}, {"unlabeled": "good"}):
        with pytest.raises(UsageError, match="expected a list of texts"):
            train(**{"texts": TEXTS, "labels": LABELS, "reg": "network", **options})


@pytest.mark.thorough
def test_science_reaches_what_was_published(data_dir: Path) -> None:
    """As in the papers: hyperparameters are chosen on dev, 790 messages are for the test."""
    task = data_dir / "data" / "tasks" / "science"
    parts = {
        name: read_corpus([str(task / f"{name}.jsonl.gz")]) for name in ("train", "dev", "test")
    }
    settings = TrainingSettings.from_options(reg="sentence", dev=parts["dev"], jobs=2)
    model = train_corpus(parts["train"], settings)
    test = parts["test"]
    assert test.labels is not None
    right = [a == b for a, b in zip(model.predict(test.texts), test.labels, strict=True)]
    assert np.mean(right) >= 0.945
    assert model.summary.nonzero <= 0.15 * model.summary.features
    assert model.summary.converged


def test_what_is_told_of_groups() -> None:
    """Selected are those with a norm, or without any norms those with a feature that has weight."""
    groups = Groups([0, 2, 3, 5], [0, 1, 1, 0, 2], np.ones(3), n_features=4)
    builder = group_builder("windows", size=3)

    def told(part: Regularizer, weights: list[float], norms: Any = None) -> Any:
        fit: Any = SimpleNamespace(
            problems=SimpleNamespace(problem=SimpleNamespace(groups=groups)),
            data=SimpleNamespace(settings=SimpleNamespace(groups=builder)),
            regularizer=part,
            fitted=SimpleNamespace(w=np.array([weights]), group_norms=norms),
        )
        return training._of_groups(fit)

    part = Sentence(group=0.5, l1=0.0, l2=1.0)
    weights = [0.0, 1.0, 0.0, 2.0]
    # Two differ, beside one of a single feature.
    assert told(part, weights) == GroupsSummary("windows", builder.params(), 3, 2, 2)
    assert told(part, [0.0, 0.0, 1.0, 2.0]).selected == 1
    assert told(part, weights, np.array([0.0, 0.0, 3.0])).selected == 1
    assert told(part.replace(group=0.0), weights).selected is None
    assert told(Lasso(l1=0.5), weights).selected is None


def test_what_is_told_of_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "MAX_ORDER", 3)
    groups = SimpleNamespace(names=["first", "second"])
    steps = [SelectionStep(1, 2), SelectionStep(-1, 3), SelectionStep(0, 4)]
    report = SelectionReport((2, 0, 1, 3), tuple(steps))

    def told(groups: Any, *reports: Any) -> Any:
        fit: Any = SimpleNamespace(
            problems=SimpleNamespace(problem=SimpleNamespace(groups=groups)),
            data=SimpleNamespace(encoder=SimpleNamespace(names="abcd")),
            fitted=SimpleNamespace(reports=reports),
        )
        return training._orders(fit)

    group, single = GroupStep(1, "second", ("c", "a")), GroupStep(None, None, ("b",))
    assert told(groups, report) == ((("c", "a", "b"),), ((group, single),))
    unnamed = told(SimpleNamespace(names=None), report)[1]
    assert unnamed == ((GroupStep(1, None, ("c", "a")), single),)
    nothing, silent = SelectionReport(), SelectionReport((3,))
    assert told(groups, report, nothing) == ((("c", "a", "b"), ()), ((group, single), ()))
    assert told(groups, report, silent) == ((("c", "a", "b"), ("d",)), ())
    assert told(None, report) == ((("c", "a", "b"),), ())
    assert told(groups, None, SolverReport()) == ((), ())


def test_what_is_told_of_the_optimum() -> None:
    first = Support(np.array([-1, 0, 1, 1, 0, 0], dtype=np.int8), np.array([-1, 1], dtype=np.int8))
    second = Support(np.array([-1, -1, 1], dtype=np.int8))
    counts = SupportCounts(1, 2, 3), SupportCounts(2, 1, 0)
    assert training._support([first]) == SupportSummary(counts[:1], (SupportCounts(1, 1, 0),))
    assert training._support([first, second]) == SupportSummary(counts, ())
    assert training._support([first, None]) is None
    assert training._support([]) is None
    assert training._bound(0.25) == 0.25
    assert training._bound(float("nan")) is None


def test_batches_are_told_apart() -> None:
    texts, labels = ["good", "bad"], ["pos", "neg"]
    assert training._parts(1, (texts, labels), None) == (texts, labels, [])
    assert training._parts(1, [texts, labels, (1, 2)], None) == (texts, labels, [1, 2])
    assert training._parts(2, (texts, labels, (1, 2)), True)[2] == [1, 2]
    assert training._parts(2, ([], []), True) == ([], [], [])
    for batch, weighed, message in [
        (5, None, "batch 7 is 5, which is not a tuple of texts and labels: give (texts, labels), "),
        ((texts,), None, "batch 7 is (['good', 'bad'],), which is not a tuple of texts and labels"),
        ((texts, labels, [1, 2], 0), None, "batch 7 is (['good', 'bad'], ['pos', 'neg'], [1, 2], "),
        ((texts, labels[:1]), None, "batch 7: 2 texts but 1 labels: give one for each text."),
        ((texts, labels, [1]), None, "batch 7: 2 texts but 1 weights: give one for each text."),
        (([1, 2], labels), None, "batch 7: "),
        (
            *((texts, labels), True),
            "batch 7 has no weights, unlike those before it: give weights with every batch, or",
        ),
        ((texts, labels, [1, 2]), False, "batch 7 has weights, unlike those before it: give "),
    ]:
        with pytest.raises(DataError) as raised:
            training._parts(7, batch, weighed)
        assert str(raised.value).startswith(message)
    with pytest.raises(UsageError, match="expected a list of weights, got None"):
        training._parts(7, (texts, labels, None), None)


class Mine(Sentence):
    """Of another distribution."""

    name = "mine"


def test_only_parts_of_others_get_all_arrays_of_groups() -> None:
    """Built-in ones read the merged groups alone, so that the others take no memory."""
    corpus = Corpus(TEXTS[:8], LABELS[:8])
    for part, there in ((Sentence, False), (Mine, True)):
        settings = TrainingSettings.from_options(reg=part(group=0.1, l1=0.1), tokenizer="words")
        target = read_training(corpus, settings).target
        problem = prepare(corpus, target, settings).problem(np.arange(8), 1e-3)
        assert ("indices" in vars(problem.groups)) is there
