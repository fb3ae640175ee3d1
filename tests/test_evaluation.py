"""evaluation: figures as scikit-learn and scipy have them, and refusals that name the document."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics

from textreg.errors import DataError, DataWarning, RecordError, UsageError
from textreg.measure.evaluation import Evaluation, MultilabelEvaluation, evaluate
from textreg.records import Corpus

LABELS = ("neg", "pos", "zzz")

pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


@given(pairs)
def test_figures_are_those_of_scikit_learn(rows: list[tuple[str, str]]) -> None:
    true, predicted = map(list, zip(*rows, strict=True))
    result = evaluate(true, predicted, LABELS)
    assert result.documents == len(rows)
    assert result.accuracy == metrics.accuracy_score(true, predicted)
    assert result.macro_f1 == pytest.approx(
        metrics.f1_score(true, predicted, average="macro", zero_division=0.0)
    )
    report = metrics.classification_report(
        true, predicted, labels=LABELS, output_dict=True, zero_division=0.0
    )
    for score in result.classes:
        expected = report[score.label]
        assert [score.precision, score.recall, score.f1, score.support] == pytest.approx(
            [expected[key] for key in ("precision", "recall", "f1-score", "support")]
        )
    assert result.confusion.tolist() == (
        metrics.confusion_matrix(true, predicted, labels=LABELS).tolist()
    )
    right = int(result.confusion.trace())
    interval = binomtest(right, len(rows)).proportion_ci(0.95, method="wilson")
    assert result.accuracy_interval == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_every_figure_by_hand() -> None:
    result = evaluate(["a", "a", "a", "b"], ["a", "a", "b", "b"], ("a", "b"))
    assert result.accuracy == 0.75
    assert result.classes[0] == ("a", 1.0, pytest.approx(2 / 3), pytest.approx(0.8), 3)
    assert result.classes[1] == ("b", 0.5, 1.0, pytest.approx(2 / 3), 1)
    assert result.macro_f1 == pytest.approx((0.8 + 2 / 3) / 2)
    assert result.confusion.tolist() == [[2, 1], [0, 1]]
    assert result.log_loss is None


def test_log_loss_follows_the_order_of_the_labels() -> None:
    # Labels out of alphabetical order: the columns of the probabilities are in this order.
    proba = np.array([[0.9, 0.1], [0.2, 0.8]])
    result = evaluate(["z", "a"], ["z", "a"], ("z", "a"), proba)
    assert result.log_loss == pytest.approx(-(np.log(0.9) + np.log(0.8)) / 2)


@pytest.mark.parametrize("of_lists", [False, True])
def test_a_log_loss_of_zero_has_no_sign(of_lists: bool) -> None:
    y: Any = [["z"]] if of_lists else ["z"]
    assert str(evaluate(y, y, ("z", "a"), np.array([[1.0, 0.0]])).log_loss) == "0.0"


def test_lists_of_labels_need_a_probability_of_each() -> None:
    with pytest.raises(RecordError, match=r"proba has the shape \(1, 1\), but must have .*2"):
        evaluate([["z"]], [["z"]], ("z", "a"), np.array([[1.0]]))


def test_log_loss_of_a_single_true_label() -> None:
    result = evaluate(["z"], ["z"], ("z", "a"), np.array([[0.5, 0.5]]))
    assert result.log_loss == pytest.approx(np.log(2))


def test_a_label_that_does_not_occur_leaves_macro_f1_alone() -> None:
    result = evaluate(["neg", "pos"], ["neg", "pos"], LABELS)
    assert result.macro_f1 == 1.0
    assert result.classes[2] == ("zzz", 0.0, 0.0, 0.0, 0)


def test_to_dict_is_json() -> None:
    result = evaluate(["neg", "pos"], ["pos", "pos"], LABELS, np.full((2, 3), 1 / 3))
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["accuracy"] == 0.5
    assert document["documents"] == 2
    assert document["macro_f1"] == result.macro_f1
    assert document["accuracy_interval"] == list(result.accuracy_interval)
    assert document["classes"][1]["recall"] == 1.0
    assert document["confusion"] == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert document["log_loss"] == pytest.approx(np.log(3))


UNKNOWN = Corpus(
    texts=["", "", ""],
    labels=["pos", "psitive", "other"],
    sources=["test.csv"],
    source_of=np.zeros(3, dtype=np.int32),
    line_of=np.array([2, 3, 4]),
)


def test_unknown_labels_are_errors_with_a_line_each() -> None:
    names, predicted = ("negative", "positive", "pos"), ["pos", "positive", "negative"]
    with pytest.warns(DataWarning) as caught:
        result = evaluate(
            UNKNOWN.labels, predicted, names, np.full((3, 3), 1 / 3), where=UNKNOWN.where
        )
    message = str(caught[0].message)
    assert message.startswith("test.csv:3: labels that the model does not know, in 2 of 3 docum")
    assert "'psitive' (1), 'other' (1). Did you mean 'positive'? They count as errors" in message
    assert result.unknown == ("other", "psitive")
    assert [one.label for one in result.classes] == [*names, "other", "psitive"]
    assert result.classes[3] == ("other", 0.0, 0.0, 0.0, 1)
    assert result.accuracy == pytest.approx(1 / 3)
    # the macro average of scikit-learn, over all labels that are there or predicted
    expected = metrics.f1_score(UNKNOWN.labels, predicted, average="macro", zero_division=0.0)
    assert result.macro_f1 == pytest.approx(expected) == pytest.approx(1 / 5)
    assert result.confusion.tolist()[3] == [1, 0, 0, 0, 0]
    assert result.log_loss == pytest.approx(np.log(3))  # of the one document that has any
    assert json.loads(json.dumps(result.to_dict()))["unknown"] == ["other", "psitive"]


def test_no_label_that_is_known_is_an_error() -> None:
    with pytest.raises(DataError) as caught:
        evaluate(UNKNOWN.labels, ["a"] * 3, ("a", "other one"), where=UNKNOWN.where)
    assert str(caught.value).startswith("test.csv:2: the model does not know the label 'pos', nor")
    assert "any other of the 3 documents" in str(caught.value)
    assert "Its labels are: a, other one." in str(caught.value)


@pytest.mark.parametrize("missing", [None, ""])
def test_a_document_without_label_is_named(missing: str | None) -> None:
    with pytest.raises(DataError, match=r"^document 2: no label"):
        evaluate(["pos", missing], ["pos", "pos"], LABELS)


def test_nothing_to_evaluate() -> None:
    with pytest.raises(DataError, match="no documents"):
        evaluate([], [], LABELS)


def test_lengths_that_disagree() -> None:
    with pytest.raises(UsageError, match="2 true labels but 1 predictions"):
        evaluate(["pos", "neg"], ["pos"], LABELS)


@pytest.mark.parametrize(
    ("labels_true", "labels_pred", "problem"),
    [
        ("ab", ["a", "b"], "expected a list of labels_true, got a single text: put it in a list"),
        (["a", "b"], len, "expected a list of labels_pred, got <built-in"),
        (["a", "b"], ["a", "c"], "labels_pred has 'c', which is none of labels: name it"),
        (["a", "b"], ["a", ""], "labels_pred has '', which is none of labels"),
        (["a", "b"], [None, "a"], "labels_pred has 'None', which is none of labels"),
        (["a", "b"], [0.1, 0.7], r"labels_pred has '0\.1', which is none of labels"),
    ],
)
def test_what_is_no_label(labels_true: Any, labels_pred: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        evaluate(labels_true, labels_pred, ["a", "b"])


@pytest.mark.parametrize(
    ("labels_true", "labels_pred", "problem"),
    [
        (["a", "b"], [["a"], []], r"document 1: the label is 'a', and other documents have a list"),
        (
            [["a"], ["b"]],
            ["a", "b"],
            r"document 1: the document has a list of labels, \['a'\], and",
        ),
        ([["a"], None], [["a"], []], r"document 2: the label is missing \(None\)"),
        ([["a"], []], [["a"], ["b", None]], "document 2: the list of labels holds None"),
    ],
)
def test_lists_and_single_labels_are_not_mixed(
    labels_true: Any, labels_pred: Any, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        evaluate(labels_true, labels_pred, ["a", "b"])


def test_the_labels_are_named_as_those_of_the_documents_are() -> None:
    y: Any = np.array([1, 0, 1])
    of_texts = evaluate(["1", "0", "1"], ["1", "0", "0"], ("0", "1"))
    assert evaluate(y, [1, 0, 0], [0, 1]).to_dict() == of_texts.to_dict()
    result = evaluate(y == 1, [True, False, False], y[:2] == 1)
    assert isinstance(result, Evaluation)
    assert [one.label for one in result.classes] == ["True", "False"]
    floats = evaluate(y.astype(float), [1.0, 0.0, 0.0], np.array([0.0, 1.0]))
    assert isinstance(floats, Evaluation)
    assert ([one.label for one in floats.classes], floats.accuracy) == (["0.0", "1.0"], 2 / 3)
    lists = evaluate([[1], {0}, ()], [["1"], ["0"], []], ["0", "1"])
    assert isinstance(lists, MultilabelEvaluation)
    assert lists.subset_accuracy == 1.0
    with pytest.raises(UsageError, match="expected a list of labels, got a single text"):
        evaluate(["a"], ["a"], "a")


@pytest.mark.parametrize("of_lists", [False, True])
def test_any_table_of_probabilities(of_lists: bool) -> None:
    y: Any = [["pos"], ["neg"]] if of_lists else ["pos", "neg"]
    table = pd.DataFrame({"neg": [0.2, 0.6], "pos": [0.8, 0.4]})
    expected = evaluate(y, y, LABELS[:2], table.to_numpy())
    assert evaluate(y, y, LABELS[:2], table).log_loss == expected.log_loss
    wrong = evaluate(y, y, LABELS[:2], [[1, 0], [0, 1]])
    assert wrong.log_loss == pytest.approx(-np.log(np.finfo(float).eps))
    with pytest.raises(RecordError, match=r"proba has the shape \(2,\), but must have 2 dim"):
        evaluate(y, y, LABELS[:2], np.array([0.2, 0.6]))
    with pytest.raises(RecordError, match=r"proba\[1, 0\] is nan"):
        evaluate(y, y, LABELS[:2], [[0.2, 0.8], [np.nan, 0.4]])
    for scores in ([[-1.5, 1.5], [0.3, -0.3]], [[0.2, 0.8], [60, 40]]):
        with pytest.raises(UsageError, match="proba must lie between 0 and 1"):
            evaluate(y, y, LABELS[:2], np.array(scores))


@pytest.mark.parametrize("of_lists", [False, True])
@pytest.mark.parametrize(("labels", "columns"), [(["neg", "pos"], 3), (["neg", "pos", "pos"], 2)])
def test_labels_are_different_names_of_columns(
    of_lists: bool, labels: list[str], columns: int
) -> None:
    y: Any = [["pos"], ["neg"]] if of_lists else ["pos", "neg"]
    with pytest.raises(UsageError, match="different names, one for each column of proba"):
        evaluate(y, y, labels, np.full((2, columns), 0.5))
