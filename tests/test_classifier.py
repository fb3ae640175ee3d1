"""TextClassifier: a scikit-learn estimator in all that concerns texts."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import textreg
from textreg import Lasso, Ridge, Sentence
from textreg.errors import DataError, PluginError, TextregError, UsageError
from textreg.estimators.linear import LinearClassifier
from textreg.estimators.text import TextClassifier, TextRegressor
from textreg.params import AUTO
from textreg.training.settings import declared_settings

GOOD = ["good film. I liked it.", "a fine plot, good acting", "good good good", "fine and moving"]
BAD = ["bad film. I left.", "a dull plot, bad acting", "bad bad", "dull and slow"]
TEXTS = [*GOOD, *BAD] * 3
SIDES = np.array(([1] * len(GOOD) + [0] * len(BAD)) * 3)
NEW = ["good fine", "bad dull", ""]


def classifier(**params: Any) -> TextClassifier:
    return TextClassifier(**{"reg": Ridge(l2=0.1), "tol": 1e-8, **params})


# Labels


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 1]),
        np.array([7, -3], dtype=np.int8),
        np.array([False, True]),
        np.array(["spam", "ham"]),
        np.array(["no", "yes"], dtype=object),
        np.array([9, 10]),  # as texts the other way round
        np.array([1.0, 2.0]),
    ],
    ids=str,
)
def test_labels_come_back_in_their_type(values: np.ndarray) -> None:
    y = values[SIDES]
    fitted = classifier().fit(TEXTS, y)
    assert fitted.classes_.dtype == values.dtype
    assert fitted.classes_.tolist() == sorted(values.tolist())
    predicted = fitted.predict(TEXTS)
    assert predicted.dtype == values.dtype
    assert predicted.tolist() == y.tolist()
    # A positive score, and the second column, are for classes_[1].
    second = y == fitted.classes_[1]
    assert ((fitted.decision_function(TEXTS) > 0) == second).all()
    assert ((fitted.predict_proba(TEXTS)[:, 1] > 0.5) == second).all()


def test_several_labels_keep_their_order() -> None:
    words = {2: "two", 10: "ten", 100: "hundred"}
    y = np.array([100, 2, 10] * 6)
    texts = [f"{words[label]} and more" for label in y]
    fitted = classifier().fit(texts, y)
    assert fitted.classes_.tolist() == [2, 10, 100]
    assert fitted.predict(["ten", "two", "hundred"]).tolist() == [10, 2, 100]
    assert fitted.decision_function(["ten"]).argmax() == 1
    proba = fitted.predict_proba(["hundred", ""])
    assert proba[0].argmax() == 2
    assert proba.sum(axis=1) == pytest.approx(1.0)


def test_scores_and_probabilities_agree() -> None:
    fitted = classifier().fit(TEXTS, SIDES)
    scores = fitted.decision_function(NEW)
    assert fitted.predict_proba(NEW)[:, 1] == pytest.approx(1 / (1 + np.exp(-scores)))
    np.testing.assert_allclose(fitted.predict_log_proba(NEW), np.log(fitted.predict_proba(NEW)))
    assert fitted.score(TEXTS, SIDES) == 1.0


def test_sequences_of_any_kind() -> None:
    expected = classifier().fit(TEXTS, SIDES).decision_function(NEW)
    for kind in (tuple, np.array, lambda texts: np.array(texts, dtype=object), iter):
        fitted = classifier().fit(kind(TEXTS), SIDES.tolist())
        assert fitted.decision_function(kind(NEW)).tobytes() == expected.tobytes()


# Weights


def test_probabilities_are_there_if_the_loss_gives_them() -> None:
    """As scikit-learn asks with ``hasattr``, so that a stack takes scores in their place."""
    assert hasattr(classifier(), "predict_proba")
    hinge = classifier(loss="hinge")
    assert not hasattr(hinge, "predict_proba")
    assert not hasattr(hinge, "predict_log_proba")
    stacked = StackingClassifier([("hinge", hinge)], cv=2).fit(TEXTS, SIDES)
    assert stacked.stack_method_ == ["decision_function"]
    assert stacked.score(TEXTS, SIDES) == 1.0


def test_a_weight_of_two_is_a_document_twice() -> None:
    weights = np.where(np.arange(len(TEXTS)) % 3 == 0, 2.0, 1.0)
    # idf would count the repeated documents
    weighted = classifier(weighting="unit").fit(TEXTS, SIDES, sample_weight=weights)
    times = weights.astype(int)
    repeated = classifier(weighting="unit").fit(np.repeat(TEXTS, times), np.repeat(SIDES, times))
    expected = repeated.decision_function(NEW)
    assert weighted.decision_function(NEW) == pytest.approx(expected, abs=1e-4)
    plain = classifier(weighting="unit").fit(TEXTS, SIDES).decision_function(NEW)
    assert abs(plain - expected).max() > 1e-2


def test_class_weights_are_by_the_labels_of_y() -> None:
    plain = classifier().fit(TEXTS, SIDES)
    heavy = classifier(class_weight={1: 50.0}).fit(TEXTS, SIDES)
    assert heavy.decision_function([""])[0] > plain.decision_function([""])[0] + 0.5
    uneven = SIDES.copy()
    uneven[: len(GOOD) - 1] = 0
    balanced = classifier(class_weight="balanced").fit(TEXTS, uneven)
    assert (
        balanced.decision_function([""])[0]
        > (classifier().fit(TEXTS, uneven).decision_function([""])[0])
    )


# Parameters


@pytest.mark.parametrize(
    ("estimator", "others", "defaults"),
    [
        (TextClassifier, {"task", "dev", "unlabeled"}, {}),
        (
            TextRegressor,
            {"task", "dev", "unlabeled", "multiclass", "class_weight", "intercept"}
            | {"threshold", "min_label", "rare_label", "at_least_one", "unknown", "unknown_rule"}
            | {"calibrate"},
            {"metric": "r2", "loss": "squared"},
        ),
    ],
)
def test_parameters_are_the_declared_settings(
    estimator: type[Any], others: set[str], defaults: dict[str, Any]
) -> None:
    declared = {name: it for name, it in declared_settings().items() if name not in others}
    given = inspect.signature(estimator).parameters
    assert list(given) == list(declared)
    assert {name: it.default for name, it in given.items()} == {
        name: defaults.get(name, it.default) for name, it in declared.items()
    }
    documented = " ".join((inspect.getdoc(estimator) or "").split())
    for name, it in declared.items():
        assert f"{it.help[1:]}." in documented, name


@pytest.mark.parametrize("estimator", [TextClassifier, TextRegressor, LinearClassifier])
def test_a_parameter_that_there_is_not(estimator: type[Any]) -> None:
    with pytest.raises(TypeError, match=rf"{estimator.__name__}.* argument 'regg'"):
        estimator(regg="lasso")
    with pytest.raises(TypeError, match=rf"{estimator.__name__}.* too many positional"):
        estimator("lasso", "sentences")


def test_options_of_parts_are_taken_as_train_takes_them() -> None:
    estimator = TextClassifier(reg="omp", reg_budget=40, tokenizer="words", tokenizer_min_length=2)
    assert repr(estimator.reg) == "Omp(l2=AUTO, budget=40)"
    assert clone(estimator).reg == estimator.reg
    assert estimator.get_params()["tokenizer__min_length"] == 2
    assert estimator.set_params(reg_budget=3).get_params()["reg__budget"] == 3
    with pytest.raises(UsageError, match="ridge: no parameter 'most'"):
        TextClassifier(reg="ridge", reg_most=40)
    with pytest.raises(TypeError, match="unexpected keyword argument 'rge'"):
        TextClassifier(rge="ridge")


def test_parameters_of_a_part() -> None:
    estimator = TextClassifier(reg="sentence")
    estimator.set_params(reg__l1=0.5, ngrams=2)
    assert estimator.reg == Sentence(l1=0.5)
    assert estimator.get_params()["reg__l1"] == 0.5
    assert estimator.get_params()["reg__group"] is AUTO
    assert "reg__l1" not in estimator.get_params(deep=False)
    estimator.set_params(reg="lasso", reg__l1=0.25)
    assert estimator.reg == Lasso(l1=0.25)
    copy = clone(estimator)
    assert copy.reg == estimator.reg
    assert copy.get_params() == estimator.get_params()


def test_wrong_parameters() -> None:
    estimator = TextClassifier()
    with pytest.raises(UsageError, match="no parameter 'strength'"):
        estimator.set_params(reg__strength=1)
    with pytest.raises(ValueError, match="Invalid parameter 'regg'"):
        estimator.set_params(regg=1)
    with pytest.raises(PluginError, match="Did you mean 'sentence'"):
        TextClassifier(reg="sentense").fit(TEXTS, SIDES)
    with pytest.raises(UsageError, match="weighting must be one of"):
        TextClassifier(weighting="logs").fit(TEXTS, SIDES)


def test_a_name_and_an_instance_are_the_same() -> None:
    by_name = TextClassifier(reg="sentence", seed=3, cv=2).fit(TEXTS, SIDES)
    by_instance = TextClassifier(reg=Sentence(), seed=3, cv=2).fit(TEXTS, SIDES)
    expected = by_name.decision_function(NEW)
    assert by_instance.decision_function(NEW).tobytes() == expected.tobytes()
    assert by_name.predict(NEW[:2]).tolist() == [1, 0]


def test_the_same_as_train() -> None:
    model = textreg.train(TEXTS, SIDES.astype(str).tolist(), reg=Lasso(l1=0.2), ngrams=2)
    fitted = TextClassifier(reg=Lasso(l1=0.2), ngrams=2).fit(TEXTS, SIDES)
    assert fitted.model_.weights.tobytes() == model.weights.tobytes()
    assert fitted.decision_function(NEW).tobytes() == model.decision_function(NEW).tobytes()
    assert fitted.n_iter_ == model.summary.iterations >= 1


# Company


def test_clone_and_pickle() -> None:
    fitted = classifier(ngrams=2).fit(TEXTS, SIDES)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict_proba(NEW).tobytes() == fitted.predict_proba(NEW).tobytes()
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(NEW)


def test_grid_search_over_a_part() -> None:
    search = GridSearchCV(
        TextClassifier(reg="lasso"), {"reg__l1": [0.1, 100.0], "ngrams": [1, 2]}, cv=3
    )
    search.fit(TEXTS, SIDES)
    assert search.best_params_["reg__l1"] == 0.1
    assert search.best_score_ == 1.0
    assert search.predict(NEW[:2]).tolist() == [1, 0]


def test_pipeline_and_cross_validation() -> None:
    lower = FunctionTransformer(lambda texts: [text.replace("film", "movie") for text in texts])
    pipeline = make_pipeline(lower, classifier())
    assert cross_val_score(pipeline, TEXTS, SIDES, cv=3).tolist() == [1.0, 1.0, 1.0]
    assert is_classifier(pipeline)
    pipeline.fit(TEXTS, SIDES, textclassifier__sample_weight=np.ones(len(TEXTS)))
    assert "movie" in pipeline[-1].model_.encoder.names


def test_scikit_learn_is_imported_for_the_classifier_only() -> None:
    code = (
        "import sys, textreg, textreg.model.model, textreg.model.storage, textreg.training.train\n"
        "late = ('sklearn', 'textreg.estimators.text')\n"
        "print([name for name in late if name in sys.modules])\n"
        "textreg.TextClassifier\n"
        "print('sklearn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "[]\nTrue\n", run.stderr


# Refusals


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "expected a list of X, got a single text"),
        (np.array([["a", "b"], ["b", "a"]]), r"not of the shape \(2, 2\)"),
        (["a", None], r"X\[1\] is None, which is not a text"),
        ([b"a", "b"], r"X\[0\] is b'a'"),
        (["a"], "1 texts but 2 labels"),
        ({"a", "b"}, "expected a list of X, got {"),  # of which text each label is, nobody knows
    ],
)
def test_what_are_no_texts(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextClassifier().fit(X, [0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0] * len(TEXTS), r"only 1 class\(es\), \[0\]"),
        (np.linspace(0, 1, len(TEXTS)), "continuous"),
        (np.zeros((len(TEXTS), 2)), "None of the 24 documents has a label"),
        (np.full((len(TEXTS), 2), 3), "1d array"),
        (np.arange(2 * len(TEXTS)).reshape(-1, 2), "1d array"),
        (np.array(["a", 1] * (len(TEXTS) // 2), dtype=object), "common order"),
        (None, "requires y"),
        (np.array([0j, 1j] * (len(TEXTS) // 2)), "y cannot be used: Complex data not supported"),
        (np.array([b"a", b"b"] * (len(TEXTS) // 2)), "labels represented as bytes"),
    ],
)
def test_what_are_no_labels(y: Any, message: str) -> None:
    with pytest.raises(TextregError, match=message):
        TextClassifier().fit(TEXTS, y)


def test_weights_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="sample_weight has the shape"):
        TextClassifier().fit(TEXTS, SIDES, sample_weight=np.ones((len(TEXTS), 1)))
