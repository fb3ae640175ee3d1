"""TextClassifier with several labels for each text: scikit-learn's multi-label contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import cross_val_score

from textreg import TextClassifier
from textreg.errors import DataError, UsageError

NAMES = np.array(["ape", "bee", "cat"])
HAS = np.random.default_rng(5).random((120, 3)) < 0.5
TEXTS = [
    " ".join(["we", "saw", *(f"{name}s" for name in NAMES[row]), f"w{at % 7}"])
    for at, row in enumerate(HAS)
]
MATRIX = HAS.astype(int)
SETS = [set(NAMES[row].tolist()) for row in HAS]


def made(**options: Any) -> TextClassifier:
    return TextClassifier(
        "ridge", ngrams=1, **{"search_space": {"reg_l2": [1e-3]}, "cv": 3, **options}
    )


def test_an_indicator_matrix_gives_one() -> None:
    classifier = made().fit(TEXTS[:80], MATRIX[:80])
    assert classifier.classes_.tolist() == [0, 1, 2]
    predicted = classifier.predict(TEXTS[80:])
    assert predicted.shape == (40, 3)
    assert predicted.dtype.kind == "i"
    assert np.array_equal(predicted, MATRIX[80:])
    proba, scores = classifier.predict_proba(TEXTS[80:]), classifier.decision_function(TEXTS[80:])
    assert proba.shape == scores.shape == (40, 3)
    assert ((proba > 0.5) == (scores > 0)).all()
    assert (
        classifier.score(TEXTS[80:], MATRIX[80:]) == 1.0 == accuracy_score(MATRIX[80:], predicted)
    )
    assert f1_score(MATRIX[80:], predicted, average="micro") == 1.0
    for same in (csr_array(MATRIX[:80]), MATRIX[:80].tolist(), MATRIX[:80].astype(bool)):
        other = made().fit(TEXTS[:80], same)
        assert np.array_equal(other.model_.weights, classifier.model_.weights)
        assert np.array_equal(other.predict(TEXTS[80:]), predicted)
    again = pickle.loads(pickle.dumps(clone(classifier).fit(TEXTS[:80], MATRIX[:80])))
    assert np.array_equal(again.predict(TEXTS[80:]), predicted)
    assert cross_val_score(made(), TEXTS, MATRIX, cv=3).min() > 0.9


def test_the_tag_of_several_labels() -> None:
    utils = pytest.importorskip("sklearn.utils")
    if not hasattr(utils, "get_tags"):
        pytest.skip("scikit-learn has its tags as classes since 1.6")
    assert utils.get_tags(made()).classifier_tags.multi_label


@pytest.mark.parametrize("kind", [set, list, tuple, frozenset])
def test_lists_and_sets_give_tuples(kind: Any) -> None:
    y = [kind(sorted(labels)) for labels in SETS]
    classifier = made().fit(TEXTS[:80], y[:80])
    assert classifier.classes_.tolist() == ["ape", "bee", "cat"]
    predicted = classifier.predict(TEXTS[80:])
    assert predicted.shape == (40,)
    assert [set(labels) for labels in predicted] == SETS[80:]
    assert isinstance(predicted[0], tuple)
    assert classifier.predict_proba(TEXTS[:5]).shape == (5, 3)
    assert classifier.score(TEXTS[80:], y[80:]) == 1.0
    half = [*y[80:100], *[kind(["ape", "bee"])] * 20]
    assert classifier.score(TEXTS[80:], half) < 0.8
    weights = [1.0] * 20 + [0.0] * 20
    assert classifier.score(TEXTS[80:], half, sample_weight=weights) == 1.0


def test_labels_of_any_type_in_their_order() -> None:
    numbers = np.array([9, 10, 100])  # as strings they are in another order
    y = [numbers[row].tolist() for row in HAS]
    classifier = made().fit(TEXTS, y)
    assert classifier.classes_.tolist() == [9, 10, 100]
    assert classifier.predict(["we saw apes", "we saw bees cats"]).tolist() == [(9,), (10, 100)]
    wide = np.zeros((120, 12), dtype=int)
    wide[:, [2, 9, 11]] = MATRIX  # the columns between have no text, and "11" is before "2"
    classifier = made().fit(TEXTS, wide)
    assert classifier.classes_.tolist() == list(range(12))
    assert np.array_equal(classifier.predict(TEXTS), wide)
    assert classifier.predict_proba(TEXTS)[:, 0].max() == 0.0
    assert classifier.decision_function(TEXTS)[:, 0].max() == -1000.0


@pytest.mark.parametrize("other", [2.5, 2])
def test_labels_of_several_types_are_kept(other: float) -> None:
    """Of 1 and 2.5 NumPy makes 1.0 and 2.5, and of True and 2 the numbers 1 and 2."""
    one = 1 if other == 2.5 else True
    y = [{one if label == "ape" else other for label in labels} for labels in SETS]
    classifier = made().fit(TEXTS, y)
    assert classifier.classes_.tolist() == [1, other]
    assert classifier.score(TEXTS, y) == 1.0


def test_settings_by_label_and_rare_labels() -> None:
    y = [sorted(labels) for labels in SETS]
    y[0] = ["elk"]
    classifier = made(rare_label="other", at_least_one=True, class_weight={"ape": 2.0}).fit(
        TEXTS, y
    )
    assert classifier.classes_.tolist() == ["ape", "bee", "cat", "other"]
    assert all(len(labels) for labels in classifier.predict(["nothing", "at all"]))
    with pytest.raises(UsageError, match="has no column for rare_label"):
        made(rare_label="other").fit(TEXTS, MATRIX)
    with pytest.raises(UsageError, match="one label each, not for multilabel"):
        made(unknown="oos").fit(TEXTS, y)


def test_refused() -> None:
    with pytest.raises(DataError, match=r"y\[1\] is 'ape', and others are lists or sets"):
        made().fit(TEXTS[:3], [["ape"], "ape", ["bee"]])
    for missing in (None, float("nan")):
        with pytest.raises(DataError, match=r"y\[1\] is .*none of them missing"):
            made().fit(TEXTS[:3], [["ape"], [missing], ["bee"]])
    with pytest.raises(DataError, match="no common order"):
        made().fit(TEXTS[:2], [["ape"], [1]])
    with pytest.raises(DataError, match="Unknown label type: the labels in y have no common order"):
        made().fit(TEXTS[:2], np.array(["ape", 1], dtype=object))
    with pytest.raises(DataError, match="3 texts but 2 labels"):
        made().fit(TEXTS[:3], [["ape"], ["bee"]])
    with pytest.raises(DataError, match="None of the 3 documents has a label"):
        made().fit(TEXTS[:3], [[], [], []])
    classifier = made().fit(TEXTS, SETS)
    with pytest.raises(DataError, match="3 texts but 2 labels"):
        classifier.score(TEXTS[:3], SETS[:2])
