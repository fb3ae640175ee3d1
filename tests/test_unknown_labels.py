"""Labels that only dev or test documents have: errors, with a warning, that stop nothing."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.errors import DataWarning
from textreg.measure.metrics import measure_labels
from textreg.model.model import Model
from textreg.records import Corpus
from textreg.tasks import classification
from textreg_report import report
from textreg_report.benchmark import Benchmark, compare

NAMES = ("ape", "bee", "cat")
TEXTS = [f"the {name}s are w{at % 7} here" for at in range(20) for name in NAMES]
LABELS = [name for _ in range(20) for name in NAMES]
DEV = Corpus(["the apes", "the bees", "the cats", "the elks", "no elks", "the owls"] * 2)
DEV_LABELS = ["ape", "bee", "cat", "elk", "elk", "owl"] * 2
KNOWN = [row for row, label in enumerate(DEV_LABELS) if label in NAMES]
OPTIONS = {"reg": "ridge", "ngrams": 1}

told = pytest.warns(DataWarning, match=r"6 of 12 documents: 'elk' \(4\), 'owl' \(2\)")


def dev(rows: list[int] | None = None) -> Corpus:
    whole = Corpus(DEV.texts, DEV_LABELS)
    return whole if rows is None else whole.select(np.array(rows))


def test_dev_counts_them_as_errors_and_fits_none() -> None:
    with told:
        model = textreg.train(TEXTS, LABELS, dev=dev(), **OPTIONS)
    assert model.labels == NAMES
    assert model.summary.dev.documents == 60 + 12  # few are held out together with the others
    assert model.summary.dev.metrics["accuracy"] == 66 / 72
    assert model.summary.dev.metrics["macro-f1"] < 3 / 5  # over five labels
    assert model.summary.documents == 66  # of the final fit
    assert sum(model.summary.labels.values()) == 66


def test_log_loss_calibration_and_thresholds_leave_them_out() -> None:
    options = {
        **OPTIONS,
        "metric": "log-loss",
        "calibrate": "temperature",
        "threshold": {"ape": "f1"},
        "refit": False,  # so that features do not depend on the documents of dev
    }
    with told:
        some = textreg.train(TEXTS, LABELS, dev=dev(), **options)
    none = textreg.train(TEXTS, LABELS, dev=dev(KNOWN), **options)
    assert some.summary.dev.metrics["log-loss"] == none.summary.dev.metrics["log-loss"]
    assert some.calibration == none.calibration
    assert some.thresholds == none.thresholds
    assert some.summary.thresholds == none.summary.thresholds
    assert np.array_equal(some.weights, none.weights)


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
@pytest.mark.parametrize("labels", [NAMES, NAMES[:2]])
def test_metrics_with_weights(labels: tuple[str, ...], multiclass: str) -> None:
    task = classification(labels, multiclass=multiclass)
    scores = np.random.default_rng(1).normal(size=(6, task.n_rows))
    y = np.array([0, 1, 0, len(labels), len(labels) + 1, len(labels) + 1])
    weights = np.array([1.0, 2.0, 0.5, 4.0, 1.0, 0.0])
    known = task.known(y)
    assert known.tolist() == [True] * 3 + [False] * 3
    measured = task.measure(scores, y, weights)
    own = task.measure(scores[known], y[known], weights[known])
    assert measured["log-loss"] == own["log-loss"]
    assert measured["accuracy"] == pytest.approx(own["accuracy"] * 3.5 / 8.5)
    assert task.measure(scores[3:], y[3:])["log-loss"] == 0.0  # there is nothing to measure
    decided = np.array([0, 1, 1, 0, 0, 1])
    both = measure_labels(y, decided, len(labels))["macro-f1"]
    from sklearn.metrics import f1_score

    assert both == pytest.approx(f1_score(y, decided, average="macro", zero_division=0.0))
    # The unknown label may be predicted of documents none of which has it.
    found = measure_labels(decided, y, len(labels))["macro-f1"]
    assert found == pytest.approx(f1_score(decided, y, average="macro", zero_division=0.0))


def trained() -> Model:
    return textreg.train(TEXTS, LABELS, reg_l2=1e-3, **OPTIONS)


def test_evaluate_prints_a_line_for_each(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trained().save("m.textreg")
    rows = zip(DEV.texts, DEV_LABELS, strict=True)
    Path("test.tsv").write_text(
        "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)
    )
    result = cli("evaluate", "m.textreg", "test.tsv", "--reliability", "--thresholds")
    assert result.code == 0
    assert "Warning: test.tsv:5: labels that the model does not know, in 6 of 12" in result.err
    assert result.err.count("Warning") == 1
    assert "accuracy 0.500" in result.out
    assert "elk        0.000   0.000  0.000          4" in result.out
    assert "unknown to the model, so counted as errors: elk, owl" in result.out
    assert "thresholds of elk" not in result.out
    document = json.loads(cli("evaluate", "m.textreg", "test.tsv", "--json").out)
    assert document["unknown"] == ["elk", "owl"]
    assert [one["label"] for one in document["classes"]] == [*NAMES, "elk", "owl"]
    assert sum(one["documents"] for one in document["reliability"]["bins"]) == 6


def test_compare_trains_and_measures() -> None:
    with pytest.warns(DataWarning, match="6 of 12 documents"):
        result = compare(
            [{"reg": "lasso", "reg_l1": 0.1}, {"reg": "ridge", "reg_l2": 0.1}],
            Benchmark("zoo", train=(TEXTS, LABELS), test=dev(), dev=dev()),
            ngrams=1,
        )
    assert {one.accuracy for one in result.measured} == {0.5}
    assert result.contrast("lasso" if result.baseline == "ridge" else "ridge").p == 1.0


def test_reports_name_them() -> None:
    model = trained()
    with told:
        page = report(model, dev())
    result = page.scores.result
    assert result.unknown == ("elk", "owl")
    assert [one.label for one in page.scores.labels] == [*NAMES, "elk", "owl"]
    assert page.scores.figures[1].low < 0.6
    assert [label for label, _ in page.scores.thresholds] == list(NAMES)
    html = page.to_html()
    assert "The model does not know elk, owl" in html


def test_estimators_score_them_as_errors() -> None:
    classifier = textreg.TextClassifier("ridge", ngrams=1, search_space={"reg_l2": [1e-3]})
    classifier.fit(TEXTS, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classifier.score(DEV.texts, DEV_LABELS) == 0.5
