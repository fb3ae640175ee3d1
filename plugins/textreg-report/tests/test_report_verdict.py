"""The verdict of a report: every sentence follows from figures, and claims no more than they do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import textreg
from textreg.errors import DataWarning
from textreg.model.model import Model
from textreg.records import Corpus
from textreg_report import report
from textreg_report.page import Estimate, Section, Versus
from textreg_report.predictions import (
    Predictions,
    _confused,
    _parts,
    beside,
    scores_of,
    side_by_side,
)
from textreg_report.sections import confusions_of, documents_of
from textreg_report.verdict import (
    errors_in_words,
    least_sure,
    of_labels,
    of_lengths,
    of_probabilities,
    quality,
    share,
    share_of,
    unsure,
    verdict_of,
    versus_constant,
)


@pytest.fixture(scope="module")
def binary() -> Model:
    return trained(["good film", "bad film"] * 10, ["pos", "neg"] * 10)


@pytest.fixture(scope="module")
def three() -> Model:
    return trained(["red sky", "green sky", "blue sky"] * 10, list("abc") * 10)


@pytest.fixture(scope="module")
def several() -> Model:
    texts = ["red sky", "green sky", "red green sky", "grey sky"] * 10
    return trained(texts, [["r"], ["g"], ["r", "g"], []] * 10)


@pytest.fixture(scope="module")
def regression() -> Model:
    texts, labels = ["good film", "bad film"] * 10, ["1", "0"] * 10
    return trained(texts, labels, task="regression")


def trained(texts: Sequence[str], labels: Sequence[Any], **options: Any) -> Model:
    return textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words", **options)


def answered(model: Model, labels: Sequence[Any], scores: Any) -> Predictions:
    """Answers by given scores, to documents of given labels."""
    texts = [f"document {row}" for row in range(len(labels))]
    every = np.asarray(scores, dtype=np.float64)
    model_of = np.zeros(len(texts), dtype=np.int64)
    return Predictions(Corpus(texts=texts, labels=list(labels)), every, [model], model_of, "them")


def said(predictions: Predictions) -> Section:
    scores = scores_of(predictions)
    return verdict_of(predictions, scores, 0, confusions_of(predictions, scores)[0])


def plain(lines: Sequence[str] | str) -> str:
    text = lines if isinstance(lines, str) else " ".join(lines)
    return text.replace("\N{NO-BREAK SPACE}", " ")


def whole(predictions: Predictions) -> str:
    """All sentences of a verdict and its examples, then the figures, with three digits."""
    verdict, scores = said(predictions), scores_of(predictions)
    told = plain([*verdict.quality, verdict.errors, *verdict.unsure])
    examples = [
        f"{it.y_true} as {it.predicted}: {it.documents} of {it.support}"
        f" {[one.number for one in it.examples]}"
        for it in verdict.confusions
    ]
    figures = []
    for name, *numbers in scores.figures:
        figures.append(" ".join([name, *(f"{it:.3g}" for it in numbers if it is not None)]))
    parts = [told, "; ".join(examples), "; ".join(figures)]
    return "\n".join(textwrap.fill(part, 96, break_on_hyphens=False) for part in parts)


def of_binary(model: Model, right: int, wrong: int, pos: int) -> Predictions:
    """``pos`` documents of the second label; the first ``wrong`` of all are answered wrongly."""
    labels = ["pos"] * pos + ["neg"] * (right + wrong - pos)
    truly = np.where(np.arange(right + wrong) < pos, 1.0, -1.0)
    truly[:wrong] *= -1
    return answered(model, labels, truly * np.linspace(1, 2, len(truly)))


def test_better_than_the_most_frequent_label(binary: Model) -> None:
    verdict = said(of_binary(binary, right=90, wrong=10, pos=50))
    assert verdict.tone == "better"
    assert (
        whole(of_binary(binary, right=90, wrong=10, pos=50))
        == """\
Right on 90.0 % of 100 documents (95 % interval 82.6 % to 94.5 %). That is better than always
answering “neg”, which reaches 50.0 % (+40.0 points, 95 % interval +30.0 to +50.0). Labels that
it misses most: “pos”, found 80 % of 50 (67 to 89). It knows when it is unsure: 100 % of its
errors are among the 20 % of the documents that it is least sure of (50 % of 20 (30 to 70) right
there, and 100 % of 80 (95 to 100) elsewhere). Its probabilities are too low: 81.4 % on average,
where 90.0 % are right (82.6 to 94.5).
pos as neg: 10 of 50 [10, 9, 8]
accuracy 0.9 0.826 0.945; macro-F1 0.899 0.836 0.95; log-loss 0.312 0.244 0.38"""
    )


def test_a_bad_model_is_called_one(binary: Model) -> None:
    # Trained on as many of each label, so the constant answer is the first, which 80 % have.
    verdict = said(of_binary(binary, right=40, wrong=60, pos=20))
    assert verdict.tone == "worse"
    assert "worse than always answering “neg”, which reaches 80.0 % (−40.0" in plain(
        verdict.quality
    )
    assert plain(verdict.quality).endswith("do not use it.")


def test_no_difference_is_not_called_one(binary: Model) -> None:
    verdict = said(of_binary(binary, right=82, wrong=18, pos=20))
    assert verdict.tone == "level"
    assert "not measurably better than always answering “neg”" in plain(verdict.quality)
    assert "nothing shows yet" in plain(verdict.quality)


def test_few_documents(binary: Model) -> None:
    verdict = said(of_binary(binary, right=9, wrong=1, pos=5))
    assert plain(verdict.unsure) == "10 documents are too few to tell more."
    assert (
        whole(of_binary(binary, right=9, wrong=1, pos=5))
        == """\
Right on 90.0 % of 10 documents (95 % interval 59.6 % to 98.2 %). 10 documents are too few for
more than a first impression: measure it on others as well. That is not measurably better than
always answering “neg”, which reaches 50.0 % (+40.0 points, 95 % interval +10.0 to +70.0):
nothing shows yet that the model is of use. It misses no label measurably more often than the
others. 10 documents are too few to tell more.
pos as neg: 1 of 5 [1]
accuracy 0.9 0.596 0.982; macro-F1 0.899 0.6 1; log-loss 0.309 0.0994 0.519"""
    )
    assert "first impression" not in plain(
        said(of_binary(binary, right=900, wrong=100, pos=500)).quality
    )


def test_documents_of_one_label(binary: Model) -> None:
    verdict = said(of_binary(binary, right=95, wrong=5, pos=100))
    assert verdict.tone == "unclear"
    assert "All of these documents have the same label" in plain(verdict.quality)
    assert "always answering" not in plain(verdict.quality)
    assert verdict.errors == ""


def test_no_error_at_all(binary: Model) -> None:
    verdict = said(of_binary(binary, right=100, wrong=0, pos=50))
    assert plain(verdict.quality).startswith(
        "Right on 100.0 % of 100 documents (95 % interval 96.3"
    )
    assert verdict.confusions == ()
    assert "does not measurably tell right answers from wrong" in plain(verdict.unsure)


def test_three_labels_and_a_weak_one(three: Model) -> None:
    labels = list("abc") * 60
    scores = np.array([[label == name for name in "abc"] for label in labels], dtype=float)
    for row in [row for row, label in enumerate(labels) if label == "c"][:40]:
        scores[row] = [0.0, 3.0 + row / 1000, 0.0]  # c is taken for b, and surely
    # The examples are the surest of the errors.
    assert (
        whole(answered(three, labels, scores))
        == """\
Right on 77.8 % of 180 documents (95 % interval 71.2 % to 83.2 %). With every label counted
alike, its F1 is 0.750 (0.694 to 0.810). That is better than always answering “a”, which reaches
33.3 % (+44.4 points, 95 % interval +37.8 to +52.2). Labels that it misses most: “c”, found 33 %
of 60 (23 to 46). It is equally unsure of too many documents to tell which ones it gets wrong.
Its probabilities are too low: 43.7 % on average, where 77.8 % are right (71.2 to 83.2). It errs
more often on short texts, of up to 11 characters: on 33 % of 100 (25 to 43), and on 22 % of
all.
c as b: 40 of 60 [120, 117, 114]
accuracy 0.778 0.712 0.832; macro-F1 0.75 0.694 0.81; log-loss 0.973 0.943 1"""
    )


def weak(*counts: tuple[str, int, int]) -> str:
    """What is said of labels, documents of them that are found, and all documents of them."""
    classes = [
        Section(label=label, recall=found / max(support, 1), support=support)
        for label, found, support in counts
    ]
    return plain(errors_in_words(Section(result=Section(classes=classes))))


def test_weak_labels_are_those_of_exact_tests_adjusted_for_all() -> None:
    good = [(f"l{k}", 90, 100) for k in range(9)]
    none = "It misses no label measurably more often than the others."
    told = "Labels that it misses most: “x”, found 50 % of 100 (40 to 60)."
    assert weak(*good, ("x", 50, 100)) == told
    assert weak(*good, ("x", 84, 100)) == none  # as good as chance may have it
    assert weak(*good, ("x", 2, 3)) == none  # too few to tell
    assert weak(("x", 1, 100)) == ""
    assert weak(*good, ("new", 0, 0)) == none


def test_the_label_of_most_documents_is_the_simplest_answer(several: Model) -> None:
    labels: list[Any] = [["r"], ["r"], ["g"]] * 20
    scores = np.array([["g" in own, "r" in own] for own in labels], dtype=float) * 4 - 2
    simplest = versus_constant(answered(several, labels, scores), trained={})
    assert simplest is not None
    assert simplest.name == "always answering “r”"


def test_labels_that_a_model_of_several_does_not_know_are_missed(several: Model) -> None:
    labels: list[Any] = [["r"], ["r", "new"], ["g"]] * 20
    scores = np.array([["g" in own, "r" in own] for own in labels], dtype=float) * 4 - 2
    predictions = answered(several, labels, scores)
    simplest = versus_constant(predictions, trained={})
    assert simplest is not None
    with pytest.warns(DataWarning, match="'new'"):
        micro = scores_of(predictions).figures[0]
    assert micro.value == pytest.approx(2 * 60 / 140)
    assert simplest.other == pytest.approx(2 * 40 / 140)
    assert simplest.difference.value == pytest.approx(micro.value - simplest.other)
    vars(predictions)["certainty"] = np.arange(60.0)  # each document surer than the last
    (told,) = unsure(predictions, 0, None)
    assert "67 % of 12 (39 to 86) right there, and 67 % of 48 (53 to 78) elsewhere" in plain(told)


def test_documents_that_are_all_right_are_not_all_that_there_are(several: Model) -> None:
    labels: list[Any] = [["r"], ["g"], ["r", "g"]]
    scores = np.array([["g" in own, "r" in own] for own in labels], dtype=float) * 4 - 2
    told = plain(said(answered(several, labels, scores)).quality)
    assert "95 % interval 43.9 % to 100.0 %), over 3 documents" in told
    assert "3 documents are too few for more than a first impression" in told
    (one,) = said(answered(several, labels[:1], scores[:1])).unsure
    assert one == "1 document is too little to tell more."


def test_intervals_of_few_documents(binary: Model) -> None:
    right = answered(binary, ["pos", "neg"] * 2, [3, -3, 2, -4])
    accuracy, macro, loss = scores_of(right).figures
    assert macro[1:] == accuracy[1:] == (1.0, pytest.approx(0.51, abs=1e-3), 1.0)
    assert 0 <= loss.low < loss.value < loss.high
    # One is far off, so the normal interval would begin below 0; one alone has none.
    (*_, loss) = scores_of(answered(binary, ["pos", "neg", "neg"], [9, 90, -9])).figures
    assert loss.low == 0 < loss.value < loss.high
    assert loss.value == pytest.approx(-np.log(np.finfo(float).eps) / 3, abs=1e-3)
    assert scores_of(answered(binary, ["pos"], [9])).figures[2].low is None


def test_a_label_of_several_rare_ones_is_right_beside_another_model() -> None:
    texts, of_texts = ["red sky", "green sky", "grey"] * 5, [["r"], ["g"], ["old", "g"]] * 5
    rare = trained(texts, [*of_texts[:-1], ["dim"]], min_label=2, rare_label="g")
    assert rare.labels == ("g", "old", "r")
    labels: list[Any] = [["odd"], ["r", "even"], ["r"], ["g"]]
    scores = [[2, -1, -1], [2, -1, 1], [2, -1, 1], [-1, -1, -1]]
    truth, given, _ = side_by_side(*[answered(rare, labels, scores)] * 2)
    # even, g, odd, r
    assert truth.astype(int).tolist() == [[0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]]
    assert given.astype(int).tolist() == [[0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]


def test_several_labels(several: Model) -> None:
    labels: list[Any] = [["r"], ["g"], ["r", "g"], []] * 30
    scores = np.array([["r" in own, "g" in own] for own in labels], dtype=float)[:, ::-1] * 4 - 2
    assert several.labels == ("g", "r")
    scores[0, :] = [2.0, -2.0]  # g in place of r
    scores[1, :] = [3.0, 3.0]  # r as well
    scores[5, :] = [-1.0, 1.0]  # r in place of g
    assert said(answered(several, labels, scores)).tone == "better"
    assert (
        whole(answered(several, labels, scores))
        == """\
Its labels and the true ones agree by 97.9 % (micro-F1; 95 % interval 94.9 % to 100.0 %), over
120 documents; 98 % of these got exactly their labels. With every label counted alike, its F1 is
0.979 (0.949 to 1.000). That is better than always answering “g”, which reaches 50.0 % (+47.9
points, 95 % interval +40.3 to +55.1). It misses no label measurably more often than the others.
It errs more where it is unsure: 33 % of its errors are among the 1 % of the documents that it
is least sure of (0 % of 1 (0 to 79) right there, and 98 % of 119 (94 to 100) elsewhere).
g as r: 1 of 60 [6]; r as g: 1 of 60 [1]
micro-F1 0.979 0.949 1; macro-F1 0.979 0.949 1; subset accuracy 0.975 0.929 0.991; log-loss
0.165"""
    )


def test_regression(regression: Model) -> None:
    random = np.random.default_rng(0)
    truth = random.normal(size=200)
    labels = [f"{value:.6f}" for value in truth]
    answers = answered(regression, labels, truth + random.normal(scale=0.3, size=200))
    good = said(answers)
    assert good.tone == "better"
    assert (
        whole(answers)
        == """\
Its numbers are off by 0.245 (0.219 to 0.271) on average, over 200 documents. That is better
than always answering the mean, 0.5: its squared errors are 92 % smaller (R² 0.897 (0.861 to
0.922)).

R² 0.897 0.861 0.922; mean squared error 0.0953 0.073 0.118; mean absolute error 0.245 0.219
0.271"""
    )
    bad = said(answered(regression, labels, -truth))
    assert bad.tone == "worse"
    assert "worse than always answering the mean, 0.5 (R² −3.0" in plain(bad.quality)
    none = said(answered(regression, labels, np.full(200, 0.5)))
    assert none.tone == "level"
    assert "not measurably better than always answering the mean, 0.5" in plain(none.quality)
    assert (good.confusions, good.errors) == ((), "")


def test_labels_that_the_model_does_not_know(binary: Model) -> None:
    predictions = answered(binary, ["pos", "neg", "new"] * 40, [2.0, -2.0, 1.0] * 40)
    with pytest.warns(match="labels that the model does not know"):
        told = whole(predictions)
    assert (
        told
        == """\
Right on 66.7 % of 120 documents (95 % interval 57.8 % to 74.5 %). With every label counted
alike, its F1 is 0.556 (0.517 to 0.585). That is better than always answering “neg”, which
reaches 33.3 % (+33.3 points, 95 % interval +24.2 to +41.7). Labels that it misses most: “new”,
found 0 % of 40 (0 to 9). It is equally unsure of too many documents to tell which ones it gets
wrong. Its probabilities are too high: 83.1 % on average, where 66.7 % are right (57.8 to 74.5).
new as pos: 40 of 40 [3, 6, 9]
accuracy 0.667 0.578 0.745; macro-F1 0.556 0.517 0.585; log-loss 0.127 0.127 0.127"""
    )


def test_a_model_that_does_not_answer_everything() -> None:
    texts = ["red sky", "green sky", "blue sky"] * 20 + ["no color"] * 15
    labels = list("abc") * 20 + ["none"] * 15
    model = textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words", unknown="none")
    page = report(model, Corpus(texts=texts[:50] + texts[-9:], labels=labels[:50] + labels[-9:]))
    assert (
        textwrap.fill(plain(page.verdict.unsure), 96)
        == """\
It answers 85 % of the documents, and calls the others “none”; 0.0 % of its answers are wrong.
Of the documents that belong to no label it holds back 100 % of 9 (70 to 100). 9 documents have
no word that the model knows: it answers by the intercept alone. How sure it is does not
measurably tell right answers from wrong ones: among the 15 % that it is least sure of, 100 % of
9 (70 to 100) right there, and 100 % of 50 (93 to 100) elsewhere. It is most often unsure where
it answers “none” (9 of 9). Its probabilities are neither measurably too high nor too low: 99.2
% on average, where 100.0 % are right (92.9 to 100.0)."""
    )


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0 %"), (0.004, "0.4 %"), (0.996, "99.6 %"), (1.0, "100 %")]
)
def test_shares_are_never_rounded_to_nothing_or_all(value: float, words: str) -> None:
    assert plain(share(value)) == words


def test_intervals_are_those_of_wilson() -> None:
    assert plain(share_of(5, 10)) == "50 % of 10 (24 to 76)"


def test_where_answers_are_least_sure() -> None:
    sure = np.arange(100.0)
    right = np.ones(100, dtype=bool)
    right[:15] = False
    (told,) = least_sure(sure, right)
    assert plain(told) == (
        "It knows when it is unsure: 100 % of its errors are among the 20 % of the documents that "
        "it is least sure of (25 % of 20 (11 to 47) right there, and 100 % of 80 (95 to 100) "
        "elsewhere)."
    )
    some = right & (np.arange(100) % 4 > 0)  # of 36 errors 16 are among the least sure
    (told,) = least_sure(sure, some)
    assert plain(told) == (
        "It errs more where it is unsure: 44 % of its errors are among the 20 % of the documents "
        "that it is least sure of (20 % of 20 (8 to 42) right there, and 75 % of 80 (65 to 83) "
        "elsewhere)."
    )
    (told,) = least_sure(sure, ~right[::-1] | (np.arange(100) % 2 == 0))
    assert plain(told) == (
        "How sure it is does not measurably tell right answers from wrong ones: among the 20 % "
        "that it is least sure of, 50 % of 20 (30 to 70) right there, and 60 % of 80 (49 to 70) "
        "elsewhere."
    )
    (told,) = least_sure(np.ones(100), right)
    assert told.startswith("It is equally unsure of too many documents")


def test_answers_that_are_often_unsure() -> None:
    sure = np.arange(100.0)
    answer = np.where(sure < 30, 1, 0)
    (told,) = of_labels(sure, answer, ["a", "b"])
    assert told == "It is most often unsure where it answers “b” (20 of 30)."
    assert list(of_labels(sure, np.arange(100) % 2, ["a", "b"])) == []


def test_probabilities_on_average() -> None:
    right = np.arange(200) % 10 > 0
    assert plain(of_probabilities(np.full(200, 0.97), right)).startswith(
        "Its probabilities are too high: 97.0 % on average, where 90.0 % are right (85.1 to 93.4)"
    )
    assert "too low" in of_probabilities(np.full(200, 0.7), right)
    assert "neither measurably" in of_probabilities(np.full(200, 0.92), right)


def test_lengths() -> None:
    lengths = np.arange(300)
    right = (lengths >= 100) | (lengths % 2 == 0)
    (told,) = of_lengths(lengths, right)
    assert plain(told) == (
        "It errs more often on short texts, of up to 99 characters: on 50 % of 100 (40 to 60), and "
        "on 17 % of all."
    )
    (told,) = of_lengths(lengths, right[::-1])
    assert plain(told).startswith("It errs more often on long texts, of 199 characters or more: on")
    assert list(of_lengths(lengths, lengths % 6 > 0)) == []


@pytest.mark.parametrize(
    ("won", "lost", "p", "words"),
    [
        (30, 5, 0.001, "Better than last in accuracy (+2.0 points"),
        (5, 30, 0.001, "Worse than last in accuracy (+2.0 points"),
        (9, 8, 0.9, "No measurable difference from last in accuracy (+2.0 points"),
        (30, 5, 0.06, "No measurable difference from last in accuracy (+2.0 points"),
    ],
)
def test_beside_another_model(binary: Model, won: int, lost: int, p: float, words: str) -> None:
    scores = scores_of(of_binary(binary, right=90, wrong=10, pos=50))
    other = Versus("last", "accuracy", 0.88, Estimate("difference", 0.02, 0.01, 0.03), won, lost, p)
    told = plain(list(quality(scores, None, [other]))[-1])
    keep = ": keep the other one" if won < lost else ""
    assert told == (
        f"{words}, 95 % interval +1.0 to +3.0; right on {won} documents that the other one gets "
        f"wrong, wrong on {lost} that it gets right, p = {p:g}){keep}."
    )
    same = other._replace(won=0, lost=0, p=1.0)
    assert list(quality(scores, None, [same]))[-1] == "It is right on the same documents as last."
    numbers = other._replace(metric="R²", p=None, won=0, lost=0, comparisons=2)
    assert list(quality(scores, None, [numbers]))[-1] == (
        "Better than last in R² (0.020 (0.010 to 0.030))."
    )


def test_the_constant_answer_is_the_most_frequent_of_the_training(binary: Model) -> None:
    predictions = of_binary(binary, right=90, wrong=10, pos=80)
    of_training, of_these = (
        versus_constant(predictions, counts) for counts in ({"neg": 9.0, "pos": 1.0}, {})
    )
    assert of_training is not None
    assert of_these is not None
    assert (of_training.name, of_training.other) == ("always answering “neg”", 0.2)
    assert (of_these.name, of_these.other) == ("always answering “pos”", 0.8)


def figures(versus: Versus) -> list[float]:
    """Metrics, difference and interval, documents won and lost, and p."""
    found = [versus.own, versus.other, *versus.difference[1:], versus.won, versus.lost, versus.p]
    return [it for it in found if it is not None]


def test_answers_beside_others(binary: Model, several: Model, regression: Model) -> None:
    truth: Any = (np.arange(40) % 3 > 0).astype(int)
    first, second = truth.copy(), truth.copy()
    first[20:22], second[:7] = 1 - first[20:22], 1 - second[:7]
    versus = beside("x", binary.task, truth, first, second)
    assert versus.metric == "accuracy"
    assert figures(versus) == pytest.approx([0.95, 0.825, 0.125, -0.025, 0.275, 7, 2, 0.1796875])
    truth = np.arange(80).reshape(40, 2) % 3 > 0
    first, second = truth.copy(), truth.copy()
    first[20:22], second[:7] = ~first[20:22], ~second[:7]
    versus = beside("x", several.task, truth, first, second)
    assert versus.metric == "micro-F1"
    assert figures(versus) == pytest.approx(
        [0.962, 0.863, 0.0988, -0.0204, 0.231, 7, 2, 0.18], rel=3e-3
    )
    truth = np.arange(40.0)
    second = truth.copy()
    second[:7] -= 3
    versus = beside("x", regression.task, truth, truth + 1, second)
    assert (versus.metric, versus.name, versus.p) == ("R²", "x", None)
    assert figures(versus) == pytest.approx(
        [0.9925, 0.9882, 0.00432, -0.00324, 0.0118, 0, 0], abs=5e-5
    )


def test_answers_in_the_same_numbers(binary: Model, several: Model) -> None:
    truth: list[Any] = [["r"], [], ["g", "r"], ["g"]]
    first = answered(several, truth, [[-1, 2], [1, -1], [2, 1], [-1, -0.5]])
    second = answered(several, truth, [[2, -1], [-1, -1], [2, -1], [1, 1]])
    assert [it.astype(int).tolist() for it in side_by_side(first, second)] == [
        [[0, 1], [0, 0], [1, 1], [1, 0]],
        [[0, 1], [1, 0], [1, 1], [0, 0]],
        [[1, 0], [0, 0], [1, 0], [1, 1]],
    ]
    labels = ["pos", "neg", "pos"]
    both = (answered(binary, labels, scores) for scores in ([1, 1, -1], [-1, -2, 3]))
    assert [it.tolist() for it in side_by_side(*both)] == [[1, 0, 1], [1, 1, 0], [0, 0, 1]]


def test_documents_of_several_labels_and_of_numbers(several: Model, regression: Model) -> None:
    truth: list[Any] = [["r"], [], ["g", "r"], ["g"]]
    some = answered(several, truth, [[-1, 2], [1, -1], [2, 1], [-1, -0.5]])
    some = replace(some, corpus=Corpus(["red sky", "sky", "green red sky", "green"], truth))
    assert some.certainty.tolist() == [1.0, 1.0, 1.0, 0.5]
    assert [
        (it.number, it.kind, it.y_true, it.predicted, it.of, it.certainty)
        for it in documents_of(some)
    ] == [
        (2, "wrong", "no label", "g", "g", 1.0),
        (4, "wrong", "g", "no label", "g", 0.5),
        (1, "unsure", "r", "r", "r", 1.0),
        (3, "unsure", "g, r", "g, r", "r", 1.0),
    ]
    errors = np.linspace(-3, 3, 30) ** 3 / 10
    numbers = answered(regression, [str(k) for k in range(30)], np.arange(30) + errors)
    assert numbers.certainty == pytest.approx(-np.abs(errors))
    kinds: dict[str, list[int]] = {}
    for it in documents_of(numbers):
        kinds.setdefault(it.kind, []).append(it.number)
    assert kinds == {
        "wrong": [1, 30, 2, 29, 28, 3, 4],
        "unsure": [8, 23, 22, 9, 24, 7, 21],
        "right": [15, 16, 17, 14, 18, 13],
    }


def test_labels_that_are_confused() -> None:
    matrix = np.array([[9, 1, 4], [4, 9, 0], [2, 0, 9]])
    assert [
        (it.y_true, it.predicted, it.documents) for it in _confused(matrix, ["a", "b", "c"])
    ] == [("a", "c", 4), ("b", "a", 4), ("c", "a", 2), ("a", "b", 1)]


def test_parts_to_leave_out() -> None:
    def parts(count: int, **columns: Any) -> int:
        return _parts(Corpus(texts=["t"] * count, labels=["a"] * count, **columns))

    assert [parts(count) for count in (1, 3, 5, 9)] == [2, 3, 5, 5]
    assert parts(9, group_of=list("aabbbcccc")) == 3
    assert parts(9, time_of=[1, 1, 2, 2, 3, 3, 3, 4, 4]) == 3
    assert parts(3, time_of=[1, 1, 1]) == 2
    assert [parts(count) for count in (10_000, 10_001)] == [5, 3]
