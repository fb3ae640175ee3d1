"""Pipelines of scikit-learn that were exported answer as the models do."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import random_rows, random_texts, reviews_model

import textreg
from textreg.errors import UsageError
from textreg.model.model import Model
from textreg.plugins import registry
from textreg_export.description import export

NONE = {"tokenizer_sentences": "none"}
OPTIONS: dict[str, dict[str, Any]] = {
    "words": {"tokenizer": "words", "ngrams": 1, "weighting": "count"},
    "pairs": {"tokenizer": "words", "weighting": "tfidf", **NONE},
    "as given": {
        "tokenizer": "words",
        "ngrams": 3,
        "weighting": "binary",
        "tokenizer_lowercase": False,
        "tokenizer_normalize": "nfkc",
        **NONE,
    },
    "characters": {"tokenizer": "chars", "weighting": "log", "min_df": 2, **NONE},
    "fewer characters": {
        "tokenizer": "chars",
        "tokenizer_normalize": "none",
        "tokenizer_lowercase": False,
        "tokenizer_max_n": 3,
        "weighting": "tfidf",
        "max_features": 500,
        **NONE,
    },
    "both": {"tokenizer": "words,chars", "weighting": "tfidf", "min_df": 2, **NONE},
}
CARRIED: dict[str, dict[str, Any]] = {
    "the default": {},
    "pairs in sentences": {"tokenizer": "words", "weighting": "tfidf"},
    "words by length": {"tokenizer_min_length": 2, **OPTIONS["words"]},
    "across words": {
        "tokenizer": "chars",
        "tokenizer_analyzer": "char",
        "weighting": "log",
        **NONE,
    },
    "emoji": {"tokenizer_emoji": True, **OPTIONS["words"]},
    "without HTML": {"strip_html": True, **OPTIONS["words"]},
}
"""What no vectorizer of scikit-learn does."""
# Of a mark that becomes a letter in small texts, which no pattern after that can tell.
TEXTS = [text.replace("\u0345", "") for text in random_texts(300, seed=3, html=False)]


def pipeline_of(model: Model) -> Any:
    return pickle.loads(export(model, registry.create("exporter", "sklearn")))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", [*OPTIONS, *CARRIED])
def test_it_answers_as_the_model(name: str) -> None:
    model = reviews_model(**{**OPTIONS, **CARRIED}[name])
    exported = pickle.loads(pickle.dumps(pipeline_of(model)))
    scores = model.decision_function(TEXTS)
    np.testing.assert_allclose(exported.decision_function(TEXTS), scores, rtol=0, atol=1e-9)
    chances = exported.predict_proba(TEXTS)
    np.testing.assert_allclose(chances, model.predict_proba(TEXTS), rtol=0, atol=1e-9)
    assert exported.predict(TEXTS).tolist() == model.predict(TEXTS)


def test_pairs_stay_within_sentences() -> None:
    texts = ["All good. Bad not", "Not bad. Good all"] * 5
    options = {"tokenizer": "words", "ngrams": 2, "reg": "ridge", "reg_l2": 1.0}
    model = textreg.train(texts, ["yes", "no"] * 5, **options)
    some = [*texts, "All. Good", "Bad. Not"]
    scores = pipeline_of(model).decision_function(some)
    np.testing.assert_allclose(scores, model.decision_function(some), rtol=0, atol=1e-9)


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
def test_more_labels(multiclass: str) -> None:
    model = reviews_model(labels=4, multiclass=multiclass, **OPTIONS["both"])
    exported = pipeline_of(model)
    chances = exported.predict_proba(TEXTS)
    np.testing.assert_allclose(chances, model.predict_proba(TEXTS), rtol=0, atol=1e-9)
    assert exported.predict(TEXTS).tolist() == model.predict(TEXTS)
    assert exported.classes_.tolist() == list(model.labels)


def test_without_probabilities() -> None:
    model = reviews_model(loss="squared-hinge", **OPTIONS["words"])
    exported = pipeline_of(model)
    assert exported.predict(TEXTS).tolist() == model.predict(TEXTS)
    assert not hasattr(exported, "predict_proba")


def test_numbers() -> None:
    numbers = [str(len(text)) for text in TEXTS]
    options = {"reg": "ridge", "reg_l2": 1.0, **OPTIONS["words"]}
    model = textreg.train([f"x {text}" for text in TEXTS], numbers, task="regression", **options)
    np.testing.assert_allclose(pipeline_of(model).predict(TEXTS), model.predict(TEXTS), atol=1e-8)


def test_stop_words(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("the\nis\na\nx\n")
    model = reviews_model(stop_words=str(tmp_path / "stop.txt"), **OPTIONS["pairs"])
    scores = pipeline_of(model).decision_function(TEXTS)
    np.testing.assert_allclose(scores, model.decision_function(TEXTS), rtol=0, atol=1e-9)


FIELDS: dict[str, Any] = {
    "the title": {"tokenizer": "words,chars", **NONE},
    "body": {"ngrams": 1, "weighting": "log"},
    "brand": "category",
    "paid": "category",
    "price": "number",
}


def table_of(number: int, seed: int) -> list[dict[str, Any]]:
    """Documents that a data frame holds as they are: one kind of value in each column."""
    rows = random_rows(number, seed, html=False)
    for row in rows:
        for key in ("the title", "body"):
            row[key] = row[key] and re.sub("[\u0345\ud800-\udfff]", "", row[key])
        row["brand"] = None if row["brand"] is None else str(row["brand"])
        row["price"] = None if row["price"] in (None, "") else float(row["price"])
        row["paid"] = (True, False, None)[len(row["body"] or "") % 3]
    return rows


@pytest.mark.parametrize("weighting", ["tfidf", "unit-idf"])
@pytest.mark.parametrize("reg", ["ridge", "lasso"])
def test_columns_of_a_data_frame(reg: str, weighting: str) -> None:
    pandas = pytest.importorskip("pandas")
    rows, labels = table_of(120, 4), [f"queue {at % 3}" for at in range(120)]
    strength = {"reg": reg, {"ridge": "reg_l2", "lasso": "reg_l1"}[reg]: 1.0}
    options = {"fields": FIELDS, "tokenizer": "words", "weighting": weighting, **NONE, **strength}
    model = textreg.train(rows, labels, **options)
    exported, more = pipeline_of(model), table_of(60, 9)
    for some in (more, more[:1], [row for row in more if row["paid"] is not None]):
        frame, scores = pandas.DataFrame(some), model.decision_function(some)
        np.testing.assert_allclose(exported.decision_function(frame), scores, rtol=0, atol=1e-9)
        assert exported.predict(frame).tolist() == model.predict(some)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [OPTIONS["both"], CARRIED["the default"]])
def test_it_needs_no_textreg(options: dict[str, Any], tmp_path: Path) -> None:
    model = reviews_model(**options)
    file = tmp_path / "model.pkl"
    file.write_bytes(export(model, registry.create("exporter", "sklearn")))
    code = (
        "import pickle, sys; model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(*model.predict(['A superb film.', 'An awful one.']))\n"
        "print('textreg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True)
    assert done.stderr == ""
    answers = " ".join(model.predict(["A superb film.", "An awful one."]))
    assert done.stdout.splitlines() == [answers, "False"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"threshold": {"pos": "f1"}, "holdout": 0.3, **OPTIONS["words"]}, "with thresholds"),
        ({"calibrate": "isotonic", **OPTIONS["words"]}, "with an isotonic calibration"),
        ({"tokenizer": "value", "weighting": "count"}, "the tokenizer value cannot"),
    ],
)
def test_what_scikit_learn_cannot_express_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        pipeline_of(reviews_model(**options))
