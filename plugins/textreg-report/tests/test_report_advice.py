"""What would help: a suggestion is made where a measurement speaks for it, and else none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import textreg
from textreg.measure.decisions import Calibration
from textreg.model.model import Model
from textreg.records import Corpus
from textreg_report import report
from textreg_report.page import Estimate, Section, Suggestion, Versus
from textreg_report.predictions import Predictions, half_of
from textreg_report.significance import sign_test
from textreg_report.verdict import (
    calibrated,
    emptier,
    learning_still,
    other_thresholds,
    simpler,
    verdict_of,
)


@pytest.fixture(scope="module")
def binary() -> Model:
    texts, labels = ["good film", "bad film"] * 10, ["pos", "neg"] * 10
    return textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words")


def answered(model: Model, labels: Sequence[Any], scores: Any) -> Predictions:
    """Answers by given scores, to documents of given labels."""
    texts = [f"document {row}" for row in range(len(labels))]
    model_of = np.zeros(len(texts), dtype=np.int64)
    every = np.asarray(scores, dtype=np.float64)
    return Predictions(Corpus(texts=texts, labels=list(labels)), every, [model], model_of, "them")


def shifted(n: int, shift: float) -> tuple[list[str], Any]:
    """Labels, and scores that tell them apart but for a shift."""
    random = np.random.default_rng(0)
    truly = random.random(n) < 0.3
    return ["pos" if one else "neg" for one in truly], np.where(truly, 1.0, -1.0) + (
        random.normal(scale=0.3, size=n) - shift
    )


def test_a_threshold_that_helps(binary: Model) -> None:
    (found,) = other_thresholds(answered(binary, *shifted(100, 1.0)))
    assert found == Suggestion(
        "Set the threshold of a label (--threshold 'pos=f1').",
        "Thresholds that one half of these documents chooses raise the macro-F1 of the other by "
        "0.175 (0.083 to 0.283); its accuracy is then 100.0\N{NO-BREAK SPACE}% in place of "
        "89.0\N{NO-BREAK SPACE}%.",
        11.0,
    )


def test_a_threshold_that_helps_beside_an_unknown_label() -> None:
    texts, labels = ["good film", "bad film"] * 10, ["pos", "neg"] * 10
    model = textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words", unknown="none")
    truly, scores = shifted(200, 1.0)
    (found,) = other_thresholds(answered(model, truly, scores * 9.0))  # no document has it
    assert found.what.startswith("Set the threshold of a label (--threshold 'pos=f1').")


@pytest.mark.parametrize(("n", "shift"), [(400, 0.0), (99, 1.0)])
def test_no_threshold_without_a_gain_or_documents(binary: Model, n: int, shift: float) -> None:
    assert list(other_thresholds(answered(binary, *shifted(n, shift)))) == []


def test_a_calibration_that_helps(binary: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    log_odds = random.normal(scale=2.0, size=600)
    labels = ["pos" if one else "neg" for one in random.random(600) < 1 / (1 + np.exp(-log_odds))]
    (found,) = calibrated(answered(binary, labels[:100], 5 * log_odds[:100]))
    assert found == Suggestion(
        "Calibrate its probabilities (--calibrate temperature).",
        "A temperature that one half of these documents chooses lowers the log-loss of the other "
        "by 0.458 (0.140 to 0.776), from 0.890. Answers stay the same.",
    )
    assert list(calibrated(answered(binary, labels[:99], 5 * log_odds[:99]))) == []
    assert list(calibrated(answered(binary, labels, log_odds))) == []
    monkeypatch.setattr(binary, "calibration", Calibration("temperature", 1.0))  # it has one
    assert list(calibrated(answered(binary, labels[:100], 5 * log_odds[:100]))) == []


def test_more_documents_help_where_half_of_them_is_worse() -> None:
    gains = {"a": (2, 2), "b": (30, 3), "c": (4, 1)}
    difference = Estimate("gain", 0.03, 0.02, 0.04)

    def told(
        gains: dict[str, tuple[int, int]], won: int, lost: int, scale: float = 1.0
    ) -> list[Suggestion]:
        p = sign_test(won, lost)
        versus = Versus("half", "accuracy", 0.9, difference, won, lost, p)
        return list(learning_still(gains, versus, scale))

    (found,) = told(gains, 36, 6, 0.5)
    assert found.what == "Add training documents, above all of “b”."
    assert found.why == (
        "Fitted to all of them rather than half, the accuracy is higher by +3.0 points, "
        "95\N{NO-BREAK SPACE}% interval +2.0 to +4.0, p = 2.8e-06, most for “b” (+27): so more "
        "should help, if less."
    )
    assert found.gain == 15
    both = {"a": (20, 0), "b": (30, 3)}
    (found,) = told(both, 50, 3)
    assert found.what == "Add training documents, of all labels."
    assert "most for “b” (+27) and “a” (+20)" in found.why
    even = {"a": (10, 4), "b": (10, 4)}
    (found,) = told(even, 20, 8)
    assert found.what == "Add training documents, of all labels."
    assert "p = 0.036, for no label measurably more than others: so more" in found.why
    assert told(even, 12, 8) == []
    assert told(even, 8, 20) == []


def test_half_of_the_documents_keeps_every_stratum() -> None:
    strata = np.array([0] * 10 + [1] * 5 + [2])
    rows = half_of(np.arange(16), strata)
    assert np.bincount(strata[rows]).tolist() == [5, 3, 1]
    assert rows.tolist() == [0, 2, 3, 4, 7, 10, 11, 14, 15]
    assert set(half_of(np.array([3, 12, 15]), strata)) == {3, 12, 15}


def test_a_column_that_is_empty_where_answers_are_wrong() -> None:
    wrong = np.arange(400) < 40
    empty = {"title": np.arange(400) < 60, "body": np.arange(400) % 4 == 0}
    (found,) = emptier(empty, wrong)
    assert found == Suggestion(
        "Fill the column “title”.",
        "Where it is empty, 67\N{NO-BREAK SPACE}% of 60 (54 to 77) are wrong, and "
        "10\N{NO-BREAK SPACE}% of all.",
        40 - 0.1 * 60,
    )


def test_empty_columns_of_documents_with_fields() -> None:
    full = {"title": ["good", "bad"] * 40, "body": ["it came", "it went"] * 40}
    labels = ["pos", "neg"] * 40
    model = textreg.train(
        full, labels, reg="ridge", reg_l2=0.1, fields=["title", "body"], tokenizer="words"
    )
    halves = {"title": ["good", "bad"] * 20 + [""] * 40, "body": ["so"] * 80}
    corpus = Corpus(texts=model.encoder.documents(halves), labels=labels)
    whats = [one.what for one in report(model, corpus).verdict.suggestions]
    assert "Fill the column “title”." in whats


@pytest.mark.parametrize(
    ("won", "lost", "p", "there"), [(3, 20, 0.01, 1), (20, 3, 0.01, 0), (3, 9, 0.2, 0)]
)
def test_the_elastic_net_where_it_is_better(won: int, lost: int, p: float, there: int) -> None:
    difference = Estimate("difference", -0.02, -0.03, -0.01)
    versus = Versus("elastic", "accuracy", 0.92, difference, won, lost, p)
    baseline = Section(documents=1000, versus=versus)
    found = list(simpler(baseline, 100))
    assert len(found) == there
    for one in found:
        assert one.why == (
            "On the same documents its accuracy is higher by +2.0 points, 95\N{NO-BREAK SPACE}% "
            "interval +1.0 to +3.0, p = 0.01."
        )
        assert one.gain == pytest.approx(1.7)


def test_suspected_labels_are_listed() -> None:
    random = np.random.default_rng(0)
    words = {"pos": ["good", "fine", "great"], "neg": ["bad", "poor", "awful"]}
    labels = ["pos", "neg"] * 60
    texts = [
        f"{' '.join(random.choice(words[label], 3))} film {k}" for k, label in enumerate(labels)
    ]
    given = list(labels)
    for row in (4, 77):
        given[row] = "neg" if labels[row] == "pos" else "pos"
    model = textreg.train(texts, given, reg="ridge", reg_l2=1.0, tokenizer="words", ngrams=1)
    page = report(model, train=Corpus(texts=texts, labels=given))
    assert page.suspected is not None
    where = {one.where for one in page.suspected.listed}
    assert {"document 5", "document 78"} <= where
    assert page.suspected.count < 8
    (read,) = [one for one in page.verdict.suggestions if one.what.startswith("Read the")]
    assert f"contradict the labels of {page.suspected.count} documents" in read.why
    assert read.gain == 0
    assert 'id="suspected"' in page.to_html()


def test_measured_gains_come_first(binary: Model) -> None:
    from textreg_report.predictions import scores_of

    predictions = answered(binary, *shifted(200, 0.0))
    some = [Suggestion("a", ""), Suggestion("b", "", 1.0), Suggestion("c", "", 9.0)]
    verdict = verdict_of(predictions, scores_of(predictions), 0, suggestions=some)
    assert [one.what for one in verdict.suggestions] == ["c", "b", "a"]
