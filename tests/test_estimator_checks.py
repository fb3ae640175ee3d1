"""scikit-learn's own checks of the estimators, counted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError, SkipTestWarning
from thoroughness import thorough

from textreg import Elastic, Lasso, LinearClassifier, LinearRegressor, Ridge, Sentence
from textreg.builtin.greedy import Omp, Stagewise
from textreg.estimators.text import TextClassifier, TextEstimator, TextRegressor

pytest.importorskip("sklearn", minversion="1.6", reason="check_estimator reports since 1.6")

from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data


class Told(TextEstimator):
    """Takes rows of numbers, each told as words: one for each column's bin.

    The checks of scikit-learn feed numbers, and skip whatever declares to take only texts. All
    that they check (state, types, weights, order, pickling, ...) is that of the estimator.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        X = validate_data(self, X)
        return super().fit(self._tell(X), y, sample_weight)

    def _told(self, X: Any) -> list[str]:
        if not hasattr(self, "model_"):
            raise NotFittedError("not fitted")
        return self._tell(validate_data(self, X, reset=False))

    @staticmethod
    def _tell(X: Any) -> list[str]:
        bins = (np.clip(X, -20, 20) * 2).astype(int) + 100
        return [" ".join(f"c{j}b{b}" for j, b in enumerate(row)) for row in bins]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.string = tags.input_tags.one_d_array = False
        return tags


class Labels(Told, TextClassifier):
    """A classifier of rows of numbers."""

    def decision_function(self, X: Any) -> Any:
        return super().decision_function(self._told(X))

    def predict(self, X: Any) -> Any:
        return super().predict(self._told(X))

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(self._told(X))


class Stars(Told, TextRegressor):
    """A regression on rows of numbers."""

    def predict(self, X: Any) -> Any:
        return super().predict(self._told(X))


EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"
EXPECTED_FAILURES = {
    EQUIVALENCE: "gives cv, here a number of parts, a list of splits. Without, it holds where no "
    "part of the training counts documents: test_a_weight_is_as_many_documents. Three parts do: "
    "idf, as scikit-learn's; sentence groups, of which a repeated document brings more; and the "
    "splits of a search, which may put copies of a document on both sides.",
}
# Reasons of the machine: no pandas, or no SCIPY_ARRAY_API in the environment.
MAY_BE_SKIPPED = {
    "check_sample_weights_pandas_series",
    "check_classifier_data_not_an_array",
    "check_regressor_data_not_an_array",
    "check_array_api_input",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("estimator", "expected_failures"),
    [
        thorough(Labels(reg=Ridge(l2=0.1), tol=1e-9, intercept="fitted"), EXPECTED_FAILURES),
        (Stars(reg=Ridge(l2=0.1), tol=1e-9), EXPECTED_FAILURES),
        # A repeated row is told from a weight of 2 at 1e-7. So near are weights at the root of the
        # gap, or where the ridge is strong.
        (LinearClassifier(Lasso(l1=0.01), tol=1e-12), {}),
        (LinearClassifier(Ridge(l2=0.1), multiclass="softmax", tol=1e-14), {}),
        (LinearRegressor(Ridge(l2=10.0), tol=1e-13), {}),
        (Labels(reg=Ridge(l2=0.01), tol=1e-9), EXPECTED_FAILURES),
    ],
    ids=["labels", "stars", "classes", "softmax", "numbers", "shifted labels"],
)
def test_checks_of_scikit_learn(estimator: Any, expected_failures: dict[str, str]) -> None:
    results = check_estimator(
        estimator, on_skip=None, on_fail=None, expected_failed_checks=expected_failures
    )
    names: dict[str, set[str]] = {"passed": set(), "skipped": set(), "xfail": set()}
    failed = {}
    for result in results:
        if result["status"] == "failed":
            failed[result["check_name"]] = result["exception"]
        else:
            names[result["status"]].add(result["check_name"])
    assert failed == {}
    assert names["xfail"] == set(expected_failures)
    assert names["skipped"] <= MAY_BE_SKIPPED
    assert len(names["passed"]) >= 50


def test_predictions_of_several_labels_follow_their_thresholds() -> None:
    # as check_classifier_multioutput, whose thresholds are all 0
    X, y = make_multilabel_classification(random_state=42, n_samples=42, n_classes=3)
    estimator = Labels(reg=Ridge(l2=0.01)).fit(X, y)
    predicted, scores = estimator.predict(X), estimator.decision_function(X)
    assert predicted.shape == scores.shape == (42, 3)
    assert predicted.dtype.kind == "i"
    thresholds = [estimator.model_.thresholds.get(str(label), 0.0) for label in range(3)]
    assert np.array_equal(predicted, (scores > thresholds).astype(int))
    proba = estimator.predict_proba(X)
    assert np.array_equal(rankdata(proba, axis=0), rankdata(scores, axis=0))


class WithoutCv:
    """Hides ``cv``, so that the check of weights gives whole documents and no splits."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        return {name: value for name, value in params.items() if name != "cv"}


class WeightedLabels(WithoutCv, Labels):
    """A classifier."""


class WeightedStars(WithoutCv, Stars):
    """A regression."""


@pytest.mark.parametrize("kind", [WeightedLabels, WeightedStars])
@pytest.mark.parametrize(
    "reg", [Elastic(l1=0.01, l2=0.01), Omp(budget=3, l2=0.1), Stagewise(steps=30)], ids=repr
)
def test_a_weight_is_as_many_documents(kind: type[Told], reg: Any) -> None:
    options = {"tokenizer": "words", "weighting": "count", "tol": 1e-14, "max_iter": 100_000}
    estimator = kind(reg=reg, **options)
    getattr(estimator_checks, EQUIVALENCE)(kind.__name__, estimator)


@pytest.mark.parametrize(
    "reg",
    [Sentence(group=0.01, l1=0.01), Lasso(l1=0.01), Elastic(l1=0.01, l2=0.01), Ridge(l2=0.01)],
    ids=repr,
)
def test_class_weights_at_a_given_strength(reg: Any) -> None:
    estimator_checks.check_class_weight_classifiers("Labels", Labels(reg=reg))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reg", ["sentence", "elastic", "lasso"])
def test_class_weights_at_a_searched_strength(reg: str) -> None:
    estimator_checks.check_class_weight_classifiers("Labels", Labels(reg=reg, cv=2))


@pytest.mark.parametrize("estimator", [LinearClassifier(), LinearRegressor()], ids=repr)
def test_a_weight_is_as_many_rows_in_a_search_too(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The intercept is learned from the fits of the search, which are to be as near here.
    monkeypatch.setattr("textreg.training.prepare.SEARCH_TOL", 1e-15)
    estimator.set_params(tol=1e-15)
    getattr(estimator_checks, EQUIVALENCE)(type(estimator).__name__, estimator)


def test_texts_alone_would_pass_unchecked() -> None:
    # Why Told is there: scikit-learn leaves out nearly all checks of an estimator of texts.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        assert len(check_estimator(TextClassifier())) < 5
        assert len(check_estimator(TextRegressor())) < 5


@pytest.mark.parametrize("estimator", [LinearClassifier(), LinearRegressor()])
def test_sparse_matrices_are_declared(estimator: Any) -> None:
    assert get_tags(estimator).input_tags.sparse
